//! Says that this server lives, and writes down which credentials were used. Lets go of what vaults said too
//! long ago.

use std::sync::PoisonError;
use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;
use crate::control::Touched;

/// A server that was not heard of for this long is taken off the list.
const SERVER_STALE: Duration = Duration::from_secs(60);

pub(super) struct ServerRenew {
    control: Control,
}

#[derive(Default, Serialize)]
pub(super) struct Report {
    credentials: usize,
    servers_gone: usize,
}

impl ServerRenew {
    pub(super) fn new(control: Control) -> ServerRenew {
        ServerRenew { control }
    }

    async fn renew(&self) -> Result<Report, Error> {
        let control = &self.control;
        control.vaults.sweep(control.clock.instant());
        let touched =
            std::mem::take(&mut *control.touched.lock().unwrap_or_else(PoisonError::into_inner));
        let tokens: Vec<_> = touched.tokens.iter().map(|(id, time)| (*id, *time)).collect();
        let sessions: Vec<_> = touched.sessions.iter().map(|(id, time)| (*id, *time)).collect();
        let (tokens_ref, sessions_ref) = (&tokens, &sessions);
        let written = control
            .store
            .tx("server_renew", |tx| {
                Box::pin(async move {
                    let now = control.now();
                    tx.server_renew(control.server_id, now).await?;
                    tx.token_touch_batch(tokens_ref).await?;
                    tx.web_session_touch_batch(sessions_ref).await?;
                    Ok::<_, Error>(tx.server_remove_stale(now.minus(SERVER_STALE)).await?)
                })
            })
            .await;
        match written {
            Ok(gone) => {
                Ok(Report { credentials: tokens.len() + sessions.len(), servers_gone: gone.len() })
            }
            Err(error) => {
                let mut now_touched =
                    control.touched.lock().unwrap_or_else(PoisonError::into_inner);
                let Touched { tokens, sessions } = touched;
                for (id, time) in tokens {
                    now_touched.tokens.entry(id).or_insert(time);
                }
                for (id, time) in sessions {
                    now_touched.sessions.entry(id).or_insert(time);
                }
                Err(error)
            }
        }
    }
}

impl Reconciler for ServerRenew {
    const NAME: &'static str = "server_renew";
    const DESCRIPTION: &'static str =
        "says that this server lives, and notes which credentials were used";
    type Report = Report;

    async fn reconcile(&mut self) -> Pass<Report> {
        pass(self.renew().await.map(Pass::done))
    }
}
