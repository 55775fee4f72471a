//! When reports go out: at once when there is little to say, together when there is much.
//!
//! Reports wait a little while the server still works on those before: the busier it is, the more of
//! them go into one message and one transaction, and of a run that came and went meanwhile only its end.

use std::time::Duration;

use hostler_proto::v1::{self, agent_message};
use hostler_proto::{report_to_message, status_to_message};

use super::talk::Talk;
use super::{End, Session};

const REPORTS_MAX: usize = 200;
/// Runs that are named in one message.
const HOLDINGS_MAX: usize = 5000;
/// How long reports wait at most for the answer to those before.
const GATHER_BUSY: Duration = Duration::from_millis(100);

/// What was sent, as far as it says when the next are.
#[derive(Default)]
pub(super) struct Sent {
    /// Messages that the server has not answered yet.
    unanswered: u32,
}

impl Sent {
    pub(super) fn is_answered(&self) -> bool {
        self.unanswered == 0
    }

    pub(super) fn answer(&mut self) {
        self.unanswered = self.unanswered.saturating_sub(1);
    }
}

impl Session {
    /// How long reports are gathered now.
    pub(super) fn gathers_for(&self, sent: &Sent) -> Duration {
        let busy = if sent.is_answered() { Duration::ZERO } else { GATHER_BUSY };
        self.manner.gather.max(busy)
    }

    /// Says everything that is held here, in parts.
    pub(super) async fn tell_holdings(&self, talk: &mut Talk) -> Result<(), End> {
        let held = self.supervisor.holdings().await.map_err(|_| End::Stopping)?;
        tracing::warn!(
            runs = held.runs.len(),
            "server was put back to an earlier moment, it is told what is held here"
        );
        let mut runs = held.runs.chunks(HOLDINGS_MAX);
        let mut reports = held.reports.chunks(REPORTS_MAX).peekable();
        loop {
            let run_ids = runs.next().unwrap_or_default().iter().map(ToString::to_string);
            let part = v1::Holdings {
                run_ids: run_ids.collect(),
                reports: reports.next().unwrap_or_default().iter().map(report_to_message).collect(),
                more: runs.len() > 0 || reports.peek().is_some(),
            };
            let is_last = !part.more;
            self.send(talk, agent_message::Body::Holdings(part)).await?;
            if is_last {
                talk.sent.unanswered += 1;
                return Ok(());
            }
        }
    }

    pub(super) async fn send_reports(&self, talk: &mut Talk) -> Result<(), End> {
        let outbox = self.supervisor.outbox();
        while !outbox.is_empty() {
            let reports: Vec<_> = outbox.take(REPORTS_MAX).iter().map(report_to_message).collect();
            if !reports.is_empty() {
                self.send(talk, agent_message::Body::Reports(v1::Reports { reports })).await?;
                talk.sent.unanswered += 1;
            }
            let reports: Vec<_> =
                outbox.take_statuses(REPORTS_MAX).iter().map(status_to_message).collect();
            if !reports.is_empty() {
                let statuses = v1::StatusReports { reports };
                self.send(talk, agent_message::Body::StatusReports(statuses)).await?;
                talk.sent.unanswered += 1;
            }
        }
        Ok(())
    }
}
