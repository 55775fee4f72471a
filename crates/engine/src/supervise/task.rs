//! A task: one run, made by the control plane.

use hostler_model::{Desired, Exit, ExitReason};

use super::{Action, AgentState, Held, Local, Moment, Record};

impl AgentState {
    pub(super) fn task_action(&self, held: &Held, now: Moment<'_>) -> Option<Action> {
        let id = held.assignment.run_id?;
        let run = self.by_run(id)?;
        match (&run.local, held.assignment.desired) {
            (Local::Waiting, Desired::Run) => {
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
            (Local::Starting { .. } | Local::Running { .. }, Desired::Stop | Desired::Remove) => {
                Some(Action::Stop { runs: vec![id] })
            }
            (Local::Starting { .. } | Local::Running { .. }, Desired::Run) => None,
            (Local::Exited { .. }, _) => {
                run.is_done().then_some(Action::Write(Record::Forgotten {
                    placement: held.assignment.placement_id,
                }))
            }
        }
    }
}
