//! The process that carries out a step of another user: what it is told, and what it tells.

use std::io::{BufRead, Read, Write};
use std::sync::Arc;

use hostler_lua::Given;
use hostler_lua::account::Account;
use hostler_lua::body::Sharing;
use hostler_lua::modules::services::Line;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::{Errand, Word};
use crate::job::perform_beside;
use crate::run::Setup;

/// Becomes a user, and does what stdin says until it is closed. Nothing else may have begun in this process.
pub fn act_as(name: &str) -> Result<(), String> {
    Account::find(name)?.take_on()?;
    let (told, errand) = oneshot::channel();
    let (closed, over) = oneshot::channel::<()>();
    std::thread::Builder::new()
        .name("errand".to_owned())
        .spawn(move || {
            let mut stdin = std::io::stdin().lock();
            let mut line = String::new();
            let read = stdin.read_line(&mut line);
            let _nobody_waits = told.send(read.map(|_| line));
            // Nothing more comes but the end.
            let mut rest = [0; 64];
            while stdin.read(&mut rest).is_ok_and(|read| read > 0) {}
            drop(closed);
        })
        .map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let work = async {
        let line = errand.await.map_err(|error| error.to_string())?;
        let line = line.map_err(|error| error.to_string())?;
        let errand: Errand = serde_json::from_str(&line)
            .map_err(|error| format!("what is to be done is not understood: {error}"))?;
        let mut asked = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let stop = async {
            tokio::select! {
                _ = over => {}
                _ = asked.recv() => {}
            }
        };
        let result = Box::pin(carried_out(errand, stop)).await?;
        tell(&Word::Ended { result: Box::new(result) });
        Ok(())
    };
    LocalSet::new().block_on(&runtime, work)
}

async fn carried_out(
    errand: Errand,
    stop: impl Future<Output = ()>,
) -> Result<hostler_model::workflow::StepResult, String> {
    let Errand { order, bundle, environment, workdir, .. } = errand;
    let given = Given {
        values: order.values.clone(),
        env: environment.clone(),
        now: order.now,
        ..Given::default()
    };
    let setup = Setup {
        workdir,
        environment,
        secrets: errand.secrets,
        services: match errand.socket {
            Some(socket) => Sharing::Agent(Arc::new(Line::new(socket))),
            None => Sharing::Nothing,
        },
        at_once: 1,
        is_here: true,
        check: errand.check,
        values: order.values.clone(),
        now: order.now,
        artifacts: errand.artifacts,
        consumed: errand.consumed,
        outputs: errand.outputs,
        tried: order.attempt.saturating_sub(1),
        ..Setup::default()
    };
    Box::pin(perform_beside(order, bundle, &given, setup, stop)).await
}

/// Tells whoever started this; nobody listens any more where that cannot be done.
pub(crate) fn tell(word: &Word) {
    let mut line = serde_json::to_vec(word).unwrap_or_default();
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    let _nobody_listens = out.write_all(&line).and_then(|()| out.flush());
}
