//! Housekeeping: now and then the output that the node keeps is packed and brought within its bounds.
//! Packing writes; when the day's write budget is used up it waits for another day.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::Clock;
use hostler_model::{Bytes, LogPolicy, PlacementId};

use crate::output::{Keeper, KeptWorkload};
use crate::runner::Runner;
use crate::supervisor::Supervisor;
use crate::writes::{Tally, What};

const FIRST_AFTER: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_secs(600);

pub(crate) struct Housekeeper {
    pub clock: Clock,
    pub runner: Runner,
    pub supervisor: Supervisor,
    pub tally: Arc<Tally>,
}

impl Housekeeper {
    pub async fn run(self) {
        self.clock.sleep(FIRST_AFTER).await;
        loop {
            self.tidy_output().await;
            self.clock.sleep(EVERY).await;
        }
    }

    async fn tidy_output(&self) {
        let policies: BTreeMap<PlacementId, LogPolicy> = (self.supervisor.board().services())
            .iter()
            .map(|one| (one.assignment.placement_id, one.assignment.spec.logs.clone()))
            .collect();
        let runs = match self.runner.kept_runs().await {
            Ok(runs) => runs,
            Err(error) => {
                tracing::warn!(%error, "kept runs cannot be listed, their output is not tidied");
                return;
            }
        };
        let mut by_workload: BTreeMap<Option<PlacementId>, Vec<PathBuf>> = BTreeMap::new();
        for (run, placement) in runs {
            let whose = placement.filter(|placement| policies.contains_key(placement));
            by_workload.entry(whose).or_default().push(self.runner.run_dir(run));
        }
        let kept: Vec<KeptWorkload> = by_workload
            .into_iter()
            .flat_map(|(whose, runs)| match whose.and_then(|id| policies.get(&id)) {
                Some(policy) => vec![KeptWorkload { policy: policy.clone(), runs }],
                None => runs
                    .into_iter()
                    .map(|run| KeptWorkload { policy: LogPolicy::default(), runs: vec![run] })
                    .collect(),
            })
            .collect();
        let now = self.clock.now();
        let keeper = keeper(self.tally.is_saving());
        let pass = self.runner.apart(move || keeper.pass(&kept, now)).await;
        self.runner.accounts().settle_all().await;
        if let Some(pass) = pass {
            self.tally.count(What::Packing, pass.compressed.bytes_after);
            for problem in &pass.problems {
                tracing::warn!(problem, "output could not be tidied");
            }
            tracing::debug!(
                packed = pass.compressed.bytes_before,
                removed = pass.removed_bytes,
                kept = pass.bytes_kept,
                "output tidied"
            );
        }
    }
}

fn keeper(is_saving: bool) -> Keeper {
    let usual = Keeper::default();
    if is_saving { Keeper { pack_at_most: Bytes::ZERO, ..usual } } else { usual }
}
