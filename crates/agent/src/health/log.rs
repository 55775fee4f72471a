//! Has a line of the run's output matched a pattern? Once is enough for the life of the run.
//!
//! The output is followed from the beginning of the run, so an agent that comes later finds what an
//! earlier one found. A match ends the wait for the next question: programs that say when they are
//! ready are ready then, not an interval later.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use hostler_model::{Health, RunId};
use regex::bytes::Regex;

use super::{Lines, Subject};

pub(super) struct Pattern {
    run: RunId,
    source: Arc<dyn Lines>,
    state: State,
}

enum State {
    Invalid(String),
    Matched,
    Searching {
        pattern: Regex,
        /// Absent before the first look, and after the output could not be followed further.
        lines: Option<BoxStream<'static, Vec<u8>>>,
    },
}

impl Pattern {
    pub fn new(pattern: &str, source: Arc<dyn Lines>, subject: &Subject) -> Pattern {
        let state = match Regex::new(pattern) {
            _ if subject.before == Some(Health::Healthy) => State::Matched,
            Ok(pattern) => State::Searching { pattern, lines: None },
            Err(error) => State::Invalid(format!("not a regular expression: {error}")),
        };
        Pattern { run: subject.run, source, state }
    }

    pub fn has_matched(&self) -> bool {
        matches!(self.state, State::Matched)
    }

    pub fn answer(&self) -> Result<(), String> {
        match &self.state {
            State::Matched => Ok(()),
            State::Invalid(why) => Err(why.clone()),
            State::Searching { pattern, .. } => {
                Err(format!("no line of its output has matched `{pattern}` yet"))
            }
        }
    }

    /// Reads on until a line matches or `wait` is over.
    pub async fn watch_until(&mut self, wait: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = self.search() => {}
            () = wait => {}
        }
    }

    /// Resolves when a line has matched. Nothing is lost when it is dropped before.
    async fn search(&mut self) {
        if let State::Searching { pattern, lines } = &mut self.state {
            let lines = lines.get_or_insert_with(|| self.source.follow(self.run));
            while let Some(line) = lines.next().await {
                if pattern.is_match(&line) {
                    self.state = State::Matched;
                    return;
                }
                tokio::task::coop::consume_budget().await;
            }
        }
        if let State::Searching { lines, .. } = &mut self.state {
            *lines = None;
        }
        std::future::pending().await
    }
}
