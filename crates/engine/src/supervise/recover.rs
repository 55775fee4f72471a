//! What a restart of the agent makes of runs that had begun; and the fewest records that say it all.

use hostler_model::{Exit, ExitReason, RunId, Timestamp};

use super::{AgentState, Local, Record};

/// What the driver found of a run after a restart of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    Live {
        pid: u32,
        since: Timestamp,
    },
    Exited {
        started: Option<Timestamp>,
        pid: Option<u32>,
        exit: Exit,
    },
    /// There is no sign that the program was ever executed.
    NeverStarted,
    /// It was executed, but what became of it cannot be known.
    Vanished {
        started: Option<Timestamp>,
        pid: Option<u32>,
        why: String,
    },
}

impl AgentState {
    /// `None` means nothing is to be written.
    pub fn recover(
        &self,
        run: RunId,
        finding: Finding,
        boot_id: &str,
        now: Timestamp,
    ) -> Option<Record> {
        let held = self.by_run(run)?;
        let vanished = |why: String| Exit {
            reason: ExitReason::Vanished,
            code: None,
            signal: None,
            message: Some(why),
            time: now,
        };
        match (&held.local, finding) {
            (Local::Exited { .. }, _) => None,
            (Local::Waiting | Local::Starting { .. }, Finding::Live { pid, since }) => {
                self.running_record(run, pid, since)
            }
            (Local::Running { .. } | Local::Paused { .. }, Finding::Live { .. }) => None,
            (
                Local::Waiting
                | Local::Starting { .. }
                | Local::Running { .. }
                | Local::Paused { .. },
                Finding::Exited { started, pid, exit },
            ) => self.exit_record(run, started, pid, exit),
            (Local::Waiting, Finding::NeverStarted) => None,
            (Local::Starting { boot_id: begun }, Finding::NeverStarted) if begun == boot_id => None,
            (Local::Starting { .. }, Finding::NeverStarted) => self.exit_record(
                run,
                None,
                None,
                vanished("the node rebooted while the run was being started".into()),
            ),
            (
                Local::Running { pid, since } | Local::Paused { pid, since },
                Finding::NeverStarted,
            ) => {
                let exit = vanished("its records are gone from the node".into());
                self.exit_record(run, Some(*since), Some(*pid), exit)
            }
            (
                Local::Waiting
                | Local::Starting { .. }
                | Local::Running { .. }
                | Local::Paused { .. },
                Finding::Vanished { started, pid, why },
            ) => self.exit_record(run, started, pid, vanished(why)),
        }
    }
}
