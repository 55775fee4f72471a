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
