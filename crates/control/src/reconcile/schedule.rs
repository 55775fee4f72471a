//! The loops that follow schedules: one decides and does, the other makes calls. See `crate::schedule`.

use hostler_base::reconcile::{Pass, Reconciler};

use super::pass;
use crate::Control;
use crate::schedule::{ScheduleCallReport, ScheduleReport};

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

pub(super) struct ScheduleCalls {
    control: Control,
}

impl ScheduleCalls {
    pub(super) fn new(control: Control) -> ScheduleCalls {
        ScheduleCalls { control }
    }
}

impl Reconciler for ScheduleCalls {
    const NAME: &'static str = "schedule_call";
    const DESCRIPTION: &'static str = "makes the calls that schedules are for";
    type Report = ScheduleCallReport;

    async fn reconcile(&mut self) -> Pass<ScheduleCallReport> {
        let done = self.control.schedule_calls().await;
        pass(done.map(|(report, due)| Pass::done(report).due_at(due)))
    }
}
