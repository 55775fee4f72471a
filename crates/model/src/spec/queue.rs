//! How a task waits: in which order, for what, until when, and what happens after a failure.

use serde::{Deserialize, Serialize};

use super::Problems;
use crate::{Exit, ExitReason, Span, Timestamp};

/// How a task waits for its turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct QueueRules {
    /// Higher goes first; -1000 to 1000.
    #[schemars(range(min = -1000, max = 1000))]
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// Other tasks of the project that have to end first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// Not before this much time has passed since it was submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Not before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// Given up when it has not begun this long after it could have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_within: Option<Span>,
    #[serde(skip_serializing_if = "RetryPolicy::is_default")]
    pub retry: RetryPolicy,
    /// May be stopped, and put back into the queue, for one of higher priority.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub preemptible: bool,
    /// Runs on this many nodes at once, or not at all; each run knows its rank and the others' addresses.
    #[schemars(range(min = 1, max = 1024))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

/// A task that has to end first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// Name or id of a task, or of an array (then of all its tasks).
    pub task: String,
    #[serde(default)]
    pub on: AfterCondition,
}

crate::labels! {
    /// How another task has to have ended.
    #[derive(Default)]
    pub enum AfterCondition ("condition") {
        /// Completed.
        #[default]
        Ok = "ok",
        /// Ended, however.
        Any = "any",
        /// Ended in another way than completed.
        Fail = "fail",
    }
}

/// What happens after a run that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RetryPolicy {
    /// How often it is tried again.
    #[schemars(range(max = 1000))]
    pub times: u32,
    /// Wait before the first retry; doubled each time.
    pub delay: Span,
    pub max_delay: Span,
    /// After which ends.
    pub on: Vec<RetryOn>,
}

crate::labels! {
    /// Ends after which a task is tried again.
    pub enum RetryOn ("retry condition") {
        /// It failed by itself, or could not be started.
        Failed = "failed",
        /// It ran longer than its timeout.
        TimedOut = "timed-out",
        /// The kernel killed it for memory.
        OutOfMemory = "out-of-memory",
        /// Its node went away with it.
        Lost = "lost",
    }
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy {
            times: 0,
            delay: Span::from_secs(1),
            max_delay: Span::from_secs(300),
            on: vec![RetryOn::Failed, RetryOn::TimedOut, RetryOn::Lost],
        }
    }
}

impl RetryPolicy {
    fn is_default(&self) -> bool {
        *self == RetryPolicy::default()
    }

    /// What kind of end this is, where a retry could follow.
    pub fn kind_of(exit: &Exit) -> Option<RetryOn> {
        match exit.reason {
            ExitReason::Exited if exit.is_success() => None,
            ExitReason::Exited | ExitReason::StartFailed | ExitReason::Unhealthy => {
                Some(RetryOn::Failed)
            }
            ExitReason::TimedOut => Some(RetryOn::TimedOut),
            ExitReason::OutOfMemory => Some(RetryOn::OutOfMemory),
            ExitReason::Vanished => Some(RetryOn::Lost),
            ExitReason::Stopped | ExitReason::GivenUp => None,
        }
    }

    /// How long to wait before trying again, if that is to be done at all; `attempts` were made.
    pub fn wait_after(&self, attempts: u32, end: RetryOn) -> Option<Span> {
        if attempts > self.times || !self.on.contains(&end) {
            return None;
        }
        let doubled = self.delay.millis().saturating_mul(1 << attempts.saturating_sub(1).min(20));
        Some(Span::from_millis(doubled.min(self.max_delay.millis())))
    }
}

impl QueueRules {
    pub(crate) fn is_default(&self) -> bool {
        *self == QueueRules::default()
    }

    pub(super) fn look(&self, say: &mut Problems<'_>) {
        if !(-1000..=1000).contains(&self.priority) {
            say.at("/queue/priority", "a priority is between -1000 and 1000");
        }
        if self.retry.times > 1000 {
            say.at("/queue/retry/times", "at most 1000 retries");
        }
        if self.nodes.is_some_and(|nodes| !(1..=1024).contains(&nodes)) {
            say.at("/queue/nodes", "between 1 and 1024 nodes");
        }
        if self.delay.is_some() && self.not_before.is_some() {
            say.at("/queue/delay", "either `delay` or `notBefore`, not both");
        }
        if self.start_within == Some(Span::from_millis(0)) {
            say.at("/queue/startWithin", "it could never begin; leave it out for no limit");
        }
        if self.after.len() > 1000 {
            say.at("/queue/after", "at most 1000 tasks; use an array to wait for many");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_wait_longer_each_time_and_end() {
        let policy =
            RetryPolicy { times: 4, max_delay: Span::from_secs(3), ..RetryPolicy::default() };
        let waits: Vec<_> = (1..=5).map(|made| policy.wait_after(made, RetryOn::Failed)).collect();
        let seconds = |n| Some(Span::from_secs(n));
        assert_eq!(waits, [seconds(1), seconds(2), seconds(3), seconds(3), None]);
        assert_eq!(policy.wait_after(1, RetryOn::OutOfMemory), None);
    }
}
