//! A task: one run, made by the control plane.
//!
//! A run that is to pause is frozen and kept. [`Record::Freezing`] is written before the driver is asked,
//! so that a run which was frozen is never taken for one that runs, whatever died in between: until it
//! was seen to run again, a wish for it to run lets it go on first.

use hostler_model::{Desired, Exit, ExitReason};

use super::{Action, AgentState, Held, Local, Moment, Record};

impl AgentState {
    pub(super) fn task_action(&self, held: &Held, now: Moment<'_>) -> Option<Action> {
        let id = held.assignment.run_id?;
        let run = self.by_run(id)?;
        match (&run.local, held.assignment.desired) {
            (Local::Waiting, Desired::Run | Desired::Pause) => {
                let record = Record::Starting { run: id, boot_id: now.boot_id.to_owned() };
                Some(Action::Start { run: id, record })
            }
            (Local::Waiting, Desired::Stop | Desired::Remove) => {
                Some(Action::Write(self.exit_record(
                    id,
                    None,
                    None,
                    Exit {
                        reason: ExitReason::Stopped,
                        code: None,
                        signal: None,
                        message: Some("stopped before it ran".into()),
                        time: now.wall,
                    },
                )?))
            }
            (
                Local::Starting { .. } | Local::Running { .. } | Local::Paused { .. },
                Desired::Stop | Desired::Remove,
            ) => Some(Action::Stop { runs: vec![id] }),
            (Local::Running { .. }, Desired::Pause) if run.may_be_frozen => {
                Some(Action::Freeze { run: id })
            }
            (Local::Running { .. }, Desired::Pause) => {
                Some(Action::Write(Record::Freezing { run: id }))
            }
            (Local::Running { .. }, Desired::Run) if run.may_be_frozen => {
                Some(Action::Thaw { run: id })
            }
            (Local::Paused { .. }, Desired::Run) => Some(Action::Thaw { run: id }),
            (Local::Starting { .. }, Desired::Run | Desired::Pause)
            | (Local::Running { .. }, Desired::Run)
            | (Local::Paused { .. }, Desired::Pause) => None,
            (Local::Exited { .. }, _) => {
                run.is_done().then_some(Action::Write(Record::Forgotten {
                    placement: held.assignment.placement_id,
                }))
            }
        }
    }
}
