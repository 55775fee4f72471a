//! A node that lived on while the database was put back: it says what it holds, before it is told anything.
//!
//! Without that, two things would go wrong. A run that ended after the backup was acknowledged and forgotten
//! by its node: the rows say for ever that it runs, or, told again, it would be begun a second time. And a run
//! that was placed after the backup is unknown here, and would hold room that is given away. So a node that
//! is waited for (`node_resync`) gets no wishes; its agent is asked for everything it holds; what the engine
//! decides (`engine::resync`) is done; and what is unknown here is answered so, and stopped by the agent.
//!
//! Every step may be repeated: the node is waited for until the last of them is written.

use std::collections::BTreeSet;

use hostler_engine::resync::{Cause, Placed, Verdict, verdict};
use hostler_model::{Code, Error, Generation, PlacementId, Report, Run, RunId, RunStateKind};

use crate::{Attached, Control, ReportAck};

/// Everything an agent holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Holdings {
    /// Also those of which there is nothing to say yet.
    pub runs: Vec<RunId>,
    pub reports: Vec<Report>,
}

const GONE: &str = "the database was restored, and its node does not hold it any more";

impl Control {
    /// Takes what an agent holds. The answer says what it is to let go of.
    pub async fn node_holdings(
        &self,
        attached: &Attached,
        holdings: &Holdings,
    ) -> Result<Vec<ReportAck>, Error> {
        let node = attached.node_id;
        let Some(cause) = self.store.read().await?.node_resync_cause(node).await? else {
            return Err(Error::new(
                Code::Conflict,
                "nobody asked what this node holds",
                "connect again",
            ));
        };
        let cause = if cause == AHEAD { Cause::Ahead } else { Cause::Restored };
        let held: BTreeSet<RunId> = holdings.runs.iter().copied().collect();
        let (again, gone) = self.judge(attached, cause, &held).await?;
        let runs: Vec<Run> = gone.iter().filter_map(|(_, run)| run.clone()).collect();
        self.runs_lose_these(&runs, GONE).await?;
        let released: Vec<PlacementId> = gone.iter().map(|(placement, _)| *placement).collect();
        let (again, released) = (&again, &released);
        let told = self
            .store
            .tx("node_holdings", |tx| {
                Box::pin(async move {
                    tx.placement_release_batch(released, self.now()).await?;
                    let mut told = 0_u64;
                    for mut placement in tx.placement_active_on(node).await? {
                        if again.contains(&placement.id)
                            && let Some(generation) = tx.node_desired_bump(node, 1).await?
                        {
                            placement.desired_generation = generation;
                            tx.placement_update(&placement)
                                .await?
                                .required("placement", placement.id)?;
                            told += 1;
                        }
                    }
                    tx.node_resync_delete(node).await?;
                    Ok::<_, Error>(told)
                })
            })
            .await?;
        tracing::info!(node = %attached.node_name, held = holdings.runs.len(), told, gone = released.len(), "node and database agree again");
        let acks = self.holdings_answer(attached, holdings).await?;
        self.wakers.placement.wake();
        self.wakers.service_place.wake();
        Ok(acks)
    }

    /// Which placements are told again, and which are gone, with their runs.
    async fn judge(
        &self,
        attached: &Attached,
        cause: Cause,
        held: &BTreeSet<RunId>,
    ) -> Result<(BTreeSet<PlacementId>, Vec<(PlacementId, Option<Run>)>), Error> {
        let mut read = self.store.read().await?;
        let (mut again, mut gone) = (BTreeSet::new(), Vec::new());
        for placement in read.placement_active_on(attached.node_id).await? {
            let run = match placement.run_id {
                Some(id) => read.run_get(id).await?,
                None => None,
            };
            let placed = Placed {
                placement: placement.id,
                run: placement.run_id,
                number: placement.desired_generation,
                is_begun: run.as_ref().is_some_and(|r| r.state.kind() != RunStateKind::Assigned),
            };
            match verdict(cause, attached.applied_generation, &placed, held) {
                Verdict::Leave => {}
                Verdict::TellAgain => {
                    again.insert(placement.id);
                }
                Verdict::Gone => gone.push((placement.id, run)),
            }
        }
        Ok((again, gone))
    }

    async fn holdings_answer(
        &self,
        attached: &Attached,
        holdings: &Holdings,
    ) -> Result<Vec<ReportAck>, Error> {
        let mut acks = self.node_report(attached.node_id, &holdings.reports).await?;
        let told: BTreeSet<RunId> = holdings.reports.iter().map(|report| report.run_id).collect();
        let quiet: Vec<RunId> =
            holdings.runs.iter().filter(|run| !told.contains(run)).copied().collect();
        let known = self.store.read().await?.run_context(&quiet).await?;
        let known: BTreeSet<RunId> = known
            .into_iter()
            .filter(|context| context.run.node_id == attached.node_id)
            .map(|context| context.run.id)
            .collect();
        let unknown = quiet.into_iter().filter(|run| !known.contains(run));
        acks.extend(unknown.map(|run_id| ReportAck {
            run_id,
            generation: Generation::ZERO,
            is_unknown: true,
        }));
        Ok(acks)
    }
}

/// Why a node is asked, as it is kept.
pub(crate) const AHEAD: &str = "ahead";
