//! Says that this server lives, and writes down which credentials were used. Lets go of what vaults said too
//! long ago. Notices when the database is restored from a backup under the server, which then stops.

use std::sync::PoisonError;
use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use hostler_store::{RESTORE_UNFINISHED, RESTORED};
use serde::Serialize;
use tracing::error;

use super::pass;
use crate::Control;
use crate::control::Touched;

/// A server that was not heard of for this long is taken off the list.
const SERVER_STALE: Duration = Duration::from_secs(60);

pub struct ServerRenew {
    control: Control,
    /// What the database said of the last restore when this server began.
    restored: Option<Option<Vec<u8>>>,
}

#[derive(Debug, Default, Serialize)]
pub struct ServerRenewReport {
    credentials: usize,
    servers_gone: usize,
}

impl ServerRenew {
    pub(super) fn new(control: Control) -> ServerRenew {
        ServerRenew { control, restored: None }
    }

    /// Whether the database is not the one that this server began with.
    async fn is_restored(&mut self) -> Result<bool, Error> {
        let mut read = self.control.store.read().await?;
        let is_unfinished = read.setting_get(RESTORE_UNFINISHED).await?.is_some();
        let restored = read.setting_get(RESTORED).await?;
        let before = self.restored.get_or_insert_with(|| restored.clone());
        Ok(is_unfinished || *before != restored)
    }

    async fn renew(&mut self) -> Result<ServerRenewReport, Error> {
        if self.control.is_restored() {
            return Ok(ServerRenewReport::default());
        }
        if self.is_restored().await? {
            error!("the database was restored from a backup under this server, which stops");
            self.control.note_restored();
            return Ok(ServerRenewReport::default());
        }
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
            Ok(gone) => Ok(ServerRenewReport {
                credentials: tokens.len() + sessions.len(),
                servers_gone: gone.len(),
            }),
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

impl Control {
    /// The reconciler that says that this server lives, for whoever drives it by hand.
    pub fn server_renew_reconciler(&self) -> ServerRenew {
        ServerRenew::new(self.clone())
    }
}

impl Reconciler for ServerRenew {
    const NAME: &'static str = "server_renew";
    const DESCRIPTION: &'static str =
        "says that this server lives, and notes which credentials were used";
    type Report = ServerRenewReport;

    async fn reconcile(&mut self) -> Pass<ServerRenewReport> {
        pass(self.renew().await.map(Pass::done))
    }
}
