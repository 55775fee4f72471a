//! The loop that decides on the times of schedules and does what they are for. See `crate::schedule`.

use hostler_base::reconcile::{Pass, Reconciler};

use super::pass;
use crate::Control;
use crate::schedule::ScheduleReport;

pub(super) struct ScheduleFollow {
    control: Control,
}

impl ScheduleFollow {
    pub(super) fn new(control: Control) -> ScheduleFollow {
        ScheduleFollow { control }
    }
}

impl Reconciler for ScheduleFollow {
    const NAME: &'static str = "schedule";
    const DESCRIPTION: &'static str = "does what schedules are for when their time comes";
    type Report = ScheduleReport;

    async fn reconcile(&mut self) -> Pass<ScheduleReport> {
        let done = self.control.schedules_advance().await;
        pass(done.map(|(report, is_full, due)| Pass::done(report).again_if(is_full).due_at(due)))
    }
}
