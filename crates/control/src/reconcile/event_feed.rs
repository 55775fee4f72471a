//! Notices events that other servers wrote, and rings for those who wait here.

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;

pub(super) struct EventFeed {
    control: Control,
    head: u64,
}

#[derive(Default, Serialize)]
pub(super) struct Report {
    head: u64,
}

impl EventFeed {
    pub(super) fn new(control: Control) -> EventFeed {
        EventFeed { control, head: 0 }
    }

    async fn look(&mut self) -> Result<Report, Error> {
        let head = self.control.event_head().await?;
        if head != self.head {
            self.head = head;
            self.control.feed.ring();
        }
        Ok(Report { head })
    }
}

impl Reconciler for EventFeed {
    const NAME: &'static str = "event_feed";
    const DESCRIPTION: &'static str = "notices what happened through other servers";
    type Report = Report;

    async fn reconcile(&mut self) -> Pass<Report> {
        pass(self.look().await.map(Pass::done))
    }
}
