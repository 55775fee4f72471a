//! Following: whatever is new is applied, again and again, beside the body of a step.

use std::cell::RefCell;
use std::time::Duration;

use tokio::sync::oneshot;

use super::super::super::{acting, tasks};
use super::state::State;
use super::sync;

/// How long between two looks, where nobody says.
const INTERVAL: Duration = Duration::from_secs(60);
/// No remote is asked more often.
const SHORTEST: Duration = Duration::from_secs(1);

/// Who ends it.
#[derive(Default)]
struct Following(RefCell<Option<oneshot::Sender<()>>>);

/// Begins to follow; what was begun before ends.
pub(super) fn start(interval: Option<Duration>) {
    let interval = interval.unwrap_or(INTERVAL).max(SHORTEST);
    let (stop, mut stopped) = oneshot::channel();
    let before = tasks().kept::<Following>().0.replace(Some(stop));
    drop(before);
    tasks().spawn(async move {
        loop {
            tokio::select! {
                _ = &mut stopped => return,
                () = every() => {}
            }
            tokio::select! {
                _ = &mut stopped => return,
                () = tokio::time::sleep(interval) => {}
            }
        }
    });
}

/// Whether there was something to end.
pub(super) fn stop() -> bool {
    tasks().kept::<Following>().0.take().is_some_and(|stop| stop.send(()).is_ok())
}

async fn every() {
    let state = State::open();
    for workflow in state.workflows().await.into_iter().filter(|workflow| workflow.is_followed) {
        match sync::sync(&state, &workflow.id).await {
            Ok(result) if result["changed"] == true => {
                let words = result["message"].as_str().unwrap_or_default();
                acting().say(&format!("{}: {words}", workflow.id));
            }
            Ok(_) => {}
            Err(why) => acting().complain(&format!("{}: {why}", workflow.id)),
        }
    }
}
