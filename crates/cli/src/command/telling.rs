//! Telling whoever waits for a task why it waits.
//!
//! Where there is a spinner, it says what the task itself says, as of the last look. When the wait gets
//! long the reason is also told, once, as a line of its own: as the server explains it, or as the task
//! says it where the server does not. An answer that is lost changes nothing; the next look tells.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::time::Duration;

use hostler_api::task::{Explanation, TaskExplain, TaskGet, TaskGetQuery, TaskPath, TaskView};
use hostler_client::{Client, Error};
use hostler_model::{Name, TaskStateKind};
use tokio::time::Instant;

use super::{Cx, NONE, pause};
use crate::ui::Spinner;

/// How often it is looked where nothing but the telling depends on it.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Nobody is told in a line of its own of a wait that is shorter.
const SILENCE: Duration = Duration::from_secs(3);

pub struct Telling<'a> {
    cx: &'a Cx,
    client: &'a Client,
    path: &'a TaskPath,
    /// What is waited for when it is not the task that waits.
    otherwise: &'static str,
    spinner: RefCell<Option<Spinner>>,
    since: Instant,
    is_told: Cell<bool>,
}

impl<'a> Telling<'a> {
    pub fn new(
        cx: &'a Cx,
        client: &'a Client,
        path: &'a TaskPath,
        otherwise: &'static str,
    ) -> Telling<'a> {
        Telling {
            cx,
            client,
            path,
            otherwise,
            spinner: RefCell::new(Some(cx.ui.spinner(otherwise))),
            since: Instant::now(),
            is_told: Cell::new(false),
        }
    }

    /// Looks at the task, and tells what it waits for.
    pub async fn look(&self) -> Result<TaskView, Error> {
        let task = self.client.call::<TaskGet>(self.path, &TaskGetQuery::default(), &NONE).await?;
        let is_waiting = is_waiting(&task);
        if let Some(spinner) = &*self.spinner.borrow() {
            match is_waiting {
                true => spinner.message(task.status.message.clone()),
                false => spinner.message(self.otherwise),
            }
        }
        if is_waiting && !self.is_over() && self.since.elapsed() >= SILENCE {
            self.tell_once(&task).await;
        }
        Ok(task)
    }

    /// Goes on until the task waits no longer, and then rests. Whoever waits tells of what goes wrong.
    pub async fn keep_on(&self) -> Infallible {
        while !self.is_over() {
            pause(LOOK_EVERY).await;
            if self.look().await.is_ok_and(|task| !is_waiting(&task)) {
                break;
            }
        }
        std::future::pending().await
    }

    /// Nothing is waited for any more.
    pub fn end(&self) {
        self.spinner.take();
    }

    fn is_over(&self) -> bool {
        self.spinner.borrow().is_none()
    }

    async fn tell_once(&self, task: &TaskView) {
        if self.is_told.replace(true) {
            return;
        }
        let explained = self.client.call::<TaskExplain>(self.path, &NONE, &NONE).await;
        if self.is_over() {
            return;
        }
        let words =
            explained.map_or_else(|_| task.status.message.clone(), |why| reason(&task.name, &why));
        self.cx.ui.say(&format!("task {}: {words}", task.name));
    }
}

/// Whether nothing of a task has begun, so that there is a reason to tell.
pub fn is_waiting(task: &TaskView) -> bool {
    let state = task.status.state;
    state == TaskStateKind::Assigning || TaskStateKind::WAITING.contains(&state)
}

/// Why a task waits, on one line.
fn reason(name: &Name, why: &Explanation) -> String {
    let Explanation { summary, nodes, .. } = why;
    match nodes.as_slice() {
        [] => summary.clone(),
        [one] if !one.reasons.is_empty() => format!("{summary}: {}", one.reasons.join("; ")),
        _ => format!("{summary}; `hostler explain {name}` says why for each"),
    }
}

#[cfg(test)]
mod tests {
    use hostler_api::task::NodeExplanation;
    use hostler_model::Labels;

    use super::*;

    /// Nodes with their reasons.
    type Nodes<'a> = &'a [(&'a str, &'a [&'a str])];

    fn why(nodes: Nodes<'_>) -> Explanation {
        let explained = nodes.iter().map(|(name, reasons)| NodeExplanation {
            node: name.parse().unwrap(),
            is_fitting: false,
            reasons: reasons.iter().map(|&reason| reason.to_owned()).collect(),
            labels: Labels::default(),
        });
        Explanation {
            state: TaskStateKind::Pending,
            summary: "no node fits".to_owned(),
            nodes: explained.collect(),
            hints: Vec::new(),
            trace: None,
            readiness: None,
        }
    }

    #[test]
    fn one_node_is_told_of_and_many_are_pointed_to() {
        let many = "no node fits; `hostler explain job` says why for each";
        let cases: [(Nodes<'_>, &str); 4] = [
            (&[], "no node fits"),
            (&[("a", &["too small", "cordoned"])], "no node fits: too small; cordoned"),
            (&[("a", &[])], many),
            (&[("a", &["too small"]), ("b", &["cordoned"])], many),
        ];
        for (nodes, expected) in cases {
            assert_eq!(reason(&"job".parse().unwrap(), &why(nodes)), expected);
        }
    }
}
