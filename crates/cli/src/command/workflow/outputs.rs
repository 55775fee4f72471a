//! What the steps of an execution on the server print, as it comes.
//!
//! Every task of a step is listened to from its beginning, so nothing is missed by whoever comes late; of very many
//! some wait until others have ended.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll};
use hostler_api::task::{LogLine, LogsQuery, OutputStream, TaskPath};
use hostler_api::workflow::{ExecutionView, StepTaskView};
use hostler_client::decode_data;
use hostler_model::WorkloadId;

use super::super::{Cx, Link};
use crate::ui::Spinner;

/// How many tasks are listened to at a time.
const AT_ONCE: usize = 16;
/// How long one listens to the rest when everything is over and nothing comes.
const REST: Duration = Duration::from_secs(3);
/// A longer line is cut.
const LONGEST: usize = 64 << 10;

type Heard = (WorkloadId, Result<LogLine, hostler_client::Error>);

pub struct Outputs<'a> {
    cx: &'a Cx,
    link: &'a Link,
    known: BTreeSet<WorkloadId>,
    waiting: VecDeque<WorkloadId>,
    open: SelectAll<BoxStream<'static, Heard>>,
    tasks: BTreeMap<WorkloadId, Task>,
}

/// What is known of a task that is listened to.
struct Task {
    /// As its lines begin.
    name: String,
    /// What it printed of a line that has not ended, on stdout and on stderr.
    begun: [Vec<u8>; 2],
}

impl<'a> Outputs<'a> {
    pub fn new(cx: &'a Cx, link: &'a Link) -> Outputs<'a> {
        let (known, waiting, tasks) = Default::default();
        Outputs { cx, link, known, waiting, open: SelectAll::new(), tasks }
    }

    /// Listens to what is new.
    pub fn look(&mut self, found: &ExecutionView) {
        for step in &found.steps {
            for task in step.tasks.iter().rev().filter(|task| self.known.insert(task.id)) {
                let is_beside =
                    |other: &&StepTaskView| other.number == task.number && other.kind == task.kind;
                let is_one = step.tasks.iter().filter(is_beside).count() == 1;
                let name = match task.node.as_ref().filter(|_| !is_one) {
                    Some(node) => format!("{}@{node}", step.name),
                    None => step.name.clone(),
                };
                self.tasks.insert(task.id, Task { name, begun: [Vec::new(), Vec::new()] });
                self.waiting.push_back(task.id);
            }
        }
        self.begin();
    }

    fn begin(&mut self) {
        while self.open.len() < AT_ONCE
            && let Some(id) = self.waiting.pop_front()
        {
            let path = TaskPath { project: self.link.project.clone(), task: id.to_string() };
            let query = LogsQuery { follow: Some(true), stream: None, tail: None, cursor: None };
            if let Ok(lines) = self.link.client.logs(&path, &query) {
                self.open.push(lines.map(move |line| (id, line)).boxed());
            }
        }
    }

    /// Prints what comes next; for ever where nothing does.
    pub async fn next(&mut self, spinner: &Spinner) {
        match self.open.next().await {
            Some((id, line)) => self.heard(id, line, spinner),
            None => std::future::pending().await,
        }
    }

    /// Prints what is left when everything is over.
    pub async fn rest(&mut self, spinner: &Spinner) {
        while let Ok(Some((id, line))) = tokio::time::timeout(REST, self.open.next()).await {
            self.heard(id, line, spinner);
        }
    }

    fn heard(
        &mut self,
        id: WorkloadId,
        line: Result<LogLine, hostler_client::Error>,
        spinner: &Spinner,
    ) {
        let Some(task) = self.tasks.get_mut(&id) else { return };
        let mut told = Vec::new();
        match line {
            Ok(LogLine::Data { stream, data, .. }) => {
                let bytes = decode_data(&data).unwrap_or_default();
                let is_error = stream == OutputStream::Stderr;
                task.take(&bytes, is_error, &mut told);
            }
            Ok(LogLine::Gap { detail }) => {
                let text = format!("{}: output is missing here: {detail}", task.name);
                spinner.aside(|| self.cx.ui.warn(&text));
            }
            Ok(LogLine::End { .. }) | Err(_) => {
                task.take(&[], false, &mut told);
                task.take(&[], true, &mut told);
                // What a task that never ran has not printed is not missed.
                self.begin();
            }
        }
        spinner.aside(|| {
            for (is_error, line) in told {
                let _nobody_listens = if is_error || !self.cx.is_for_people() {
                    self.cx.ui.task_error_data(&line)
                } else {
                    self.cx.ui.task_data(&line)
                };
            }
        });
    }
}

impl Task {
    /// Whole lines, with the name before each; what is left without an end when nothing follows.
    fn take(&mut self, bytes: &[u8], is_error: bool, told: &mut Vec<(bool, Vec<u8>)>) {
        let begun = &mut self.begun[usize::from(is_error)];
        let mut say = |line: &[u8]| {
            told.push((is_error, [self.name.as_bytes(), b" | ", line, b"\n"].concat()));
        };
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            begun.extend_from_slice(&rest[..end]);
            say(begun.as_slice());
            begun.clear();
            rest = &rest[end + 1..];
        }
        begun.extend_from_slice(rest);
        if !begun.is_empty() && (bytes.is_empty() || begun.len() > LONGEST) {
            say(begun.as_slice());
            begun.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_name_of_their_step() {
        let mut task = Task { name: "build".into(), begun: [Vec::new(), Vec::new()] };
        let mut told = Vec::new();
        task.take(b"one\ntw", false, &mut told);
        task.take(b"wrong\n", true, &mut told);
        task.take(b"o\n\n\xff", false, &mut told);
        task.take(b"", false, &mut told);
        let shown: Vec<String> = told
            .iter()
            .map(|(is_error, line)| format!("{is_error} {}", String::from_utf8_lossy(line)))
            .collect();
        assert_eq!(
            shown,
            [
                "false build | one\n",
                "true build | wrong\n",
                "false build | two\n",
                "false build | \n",
                "false build | \u{fffd}\n"
            ]
        );
    }
}
