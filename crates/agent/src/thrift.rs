//! Holding little memory: after a busy time, when all is quiet again, the agent gives back what the
//! busy time took (`sys::memory`). The start is such a time, and a reload of many workloads. Nothing
//! depends on it, and nothing is lost by it but the few faults of touching a page again.

use std::time::Duration;

use hostler_base::Clock;
use tokio::sync::watch;

use crate::runner::Runner;
use crate::supervisor::Supervisor;
use crate::sys::{self, SingleThreaded};

/// How long nothing has to change on the board.
const QUIET: Duration = Duration::from_secs(1);
/// How often that is waited for.
const LOOKS: usize = 10;
/// How many changes make a time busy.
const BUSY: u64 = 64;

/// To be called in a process that is to be an agent and nothing else, before it has threads.
pub fn prepare_process() {
    if let Ok(Some(alone)) = SingleThreaded::prove() {
        sys::share_heap(&alone);
        sys::give_back_text_and_stack(&alone);
    }
}

fn give_back() {
    sys::give_back_heap();
    sys::give_back_text();
}

pub(crate) struct Thrift {
    pub clock: Clock,
    pub runner: Runner,
    pub supervisor: Supervisor,
}

impl Thrift {
    pub async fn run(self) {
        let mut changes = self.supervisor.board().changes();
        loop {
            let since = self.quiet(&mut changes).await;
            self.runner.apart(give_back).await;
            if changes.wait_for(|number| *number >= since + BUSY).await.is_err() {
                return;
            }
        }
    }

    /// Waits until nothing changes for a while, but not for ever.
    async fn quiet(&self, changes: &mut watch::Receiver<u64>) -> u64 {
        let mut seen = *changes.borrow_and_update();
        for _ in 0..LOOKS {
            self.clock.sleep(QUIET).await;
            let before = std::mem::replace(&mut seen, *changes.borrow_and_update());
            if seen == before {
                break;
            }
        }
        seen
    }
}
