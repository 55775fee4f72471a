//! When a scheduled workload will run: on each of its nodes by that node's time zone and its share of the
//! jitter, exactly as the node itself decides it. Nothing is asked of the nodes; what they said of their
//! time zone when they last connected is used.

use std::collections::BTreeMap;

use hostler_engine::schedule::{Timetable, first_starts};
use hostler_model::{Desired, Error, Mode, Name, Node, NodeId, Project, Schedule};

use crate::{Control, Cx, FireDetail, PlacementDetail, WorkloadDetail};

/// Nodes on which the schedule comes at the same moments.
struct Alike {
    timetable: Timetable,
    nodes: Vec<Name>,
}

impl Control {
    /// The next starts of a scheduled workload, over all its nodes or on one of them.
    pub async fn workload_next(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        node: Option<&str>,
        count: usize,
    ) -> Result<Vec<FireDetail>, Error> {
        let detail = self.workload_get(cx, project, name_or_id).await?;
        let schedule = schedule_of(&detail)?;
        let placements: Vec<&PlacementDetail> = match node {
            Some(_) => vec![self.chosen(&detail, node).await?],
            None => detail
                .placements
                .iter()
                .filter(|p| p.placement.desired != Desired::Remove)
                .collect(),
        };
        if placements.is_empty() {
            return self.somewhere(&detail, schedule, count);
        }
        let ids: Vec<NodeId> = placements.iter().map(|p| p.placement.node_id).collect();
        let nodes = self.store.read().await?.node_get_many(&ids).await?;
        let groups = grouped(&detail, schedule, &placements, &nodes)?;
        let timetables: Vec<Timetable> = groups.iter().map(|one| one.timetable.clone()).collect();
        let starts = first_starts(&timetables, self.now(), count).into_iter().map(|together| {
            let mut nodes: Vec<Name> =
                together.of.iter().flat_map(|index| groups[*index].nodes.clone()).collect();
            nodes.sort();
            FireDetail { time: together.fire.time, start: Some(together.fire.start), nodes }
        });
        Ok(starts.collect())
    }

    /// It is on no node yet: the times alone are known, and not even those where they are a node's own.
    fn somewhere(
        &self,
        detail: &WorkloadDetail,
        schedule: &Schedule,
        count: usize,
    ) -> Result<Vec<FireDetail>, Error> {
        let undecided = Schedule { jitter: Default::default(), ..schedule.clone() };
        let no_node = NodeId::from_uuid(Default::default());
        let timetable = Timetable::on_node(&undecided, no_node, detail.service.id, None);
        let timetable = timetable.map_err(|_| {
            Error::conflict(
                format!(
                    "workload `{}` follows the time zone of its node, and is on none",
                    detail.service.name
                ),
                "`hostler workload explain` says why",
            )
        })?;
        let fires = timetable.preview(self.now(), count).into_iter();
        Ok(fires
            .map(|fire| FireDetail { time: fire.time, start: None, nodes: Vec::new() })
            .collect())
    }
}

fn schedule_of(detail: &WorkloadDetail) -> Result<&Schedule, Error> {
    let spec = &detail.service.spec;
    match &spec.mode {
        Mode::Schedule(schedule) => Ok(schedule),
        Mode::Once | Mode::Forever | Mode::Times(_) => Err(Error::conflict(
            format!(
                "workload `{}` has no schedule: its mode is {}",
                detail.service.name,
                spec.mode.kind()
            ),
            "only workloads with `mode: {schedule: …}` have times at which they run",
        )),
    }
}

fn grouped(
    detail: &WorkloadDetail,
    schedule: &Schedule,
    placements: &[&PlacementDetail],
    nodes: &[Node],
) -> Result<Vec<Alike>, Error> {
    let zone_of = |id: NodeId| {
        let facts = nodes.iter().find(|node| node.id == id)?.facts.as_ref();
        facts.and_then(|facts| facts.timezone.as_deref())
    };
    let mut groups: BTreeMap<(Option<&str>, Option<NodeId>), Alike> = BTreeMap::new();
    let mut unknown = Vec::new();
    for placement in placements {
        let id = placement.placement.node_id;
        let zone = zone_of(id);
        let key = (zone, (!schedule.jitter.is_zero()).then_some(id));
        if let Some(alike) = groups.get_mut(&key) {
            alike.nodes.push(placement.node.clone());
            continue;
        }
        match Timetable::on_node(schedule, id, detail.service.id, zone) {
            Ok(timetable) => {
                groups.insert(key, Alike { timetable, nodes: vec![placement.node.clone()] });
            }
            Err(_) => unknown.push(placement.node.to_string()),
        }
    }
    match unknown.is_empty() {
        true => Ok(groups.into_values().collect()),
        false => Err(zone_unknown(detail, &unknown)),
    }
}

fn zone_unknown(detail: &WorkloadDetail, nodes: &[String]) -> Error {
    let named = nodes.iter().take(5).map(|node| format!("`{node}`")).collect::<Vec<_>>().join(", ");
    let more = match nodes.len().saturating_sub(5) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Error::conflict(
        format!(
            "workload `{}` follows the time zone of its node, and that of {named}{more} is not known here",
            detail.service.name
        ),
        "`hostler agent next` on such a node tells; its agent may be older than this server, or its zone has no name in the time zone database. Name another node with --node (`node` in the request)",
    )
}
