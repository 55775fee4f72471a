//! Why a service is where it is, and where it is not: every reason, for every node.

use hostler_engine::place;
use hostler_engine::spread::Host;
use hostler_model::{Desired, Error, NodeState, PlacementStatus, Project, Timestamp};

use crate::reconcile::service_place::wish;
use crate::{
    Control, Cx, PlacementDetail, WorkloadDetail, WorkloadExplanation, WorkloadNodeExplanation,
};

impl Control {
    pub async fn workload_explain(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<WorkloadExplanation, Error> {
        let detail = self.workload_get(cx, project, name_or_id).await?;
        let mut read = self.store.read().await?;
        let hosts = self.hosts(&mut read, Timestamp::EPOCH).await?;
        let wish = wish(&detail.service);
        let nodes: Vec<WorkloadNodeExplanation> = hosts
            .iter()
            .map(|host| {
                let here = detail.placements.iter().find(|p| p.placement.node_id == host.offer.id);
                let reasons = match here {
                    Some(_) => Vec::new(),
                    None => place::reasons(&wish.shape, &host.offer),
                };
                WorkloadNodeExplanation {
                    node: host.offer.name.clone(),
                    labels: host.offer.labels.clone(),
                    standing: here.map(|here| standing(here, host)),
                    reasons: reasons.iter().map(ToString::to_string).collect(),
                }
            })
            .collect();
        let fitting = nodes.iter().filter(|n| n.standing.is_none() && n.reasons.is_empty()).count();
        Ok(WorkloadExplanation {
            summary: summary(&detail, &nodes, fitting),
            hints: hints(&detail, &hosts, fitting),
            nodes,
        })
    }
}

fn standing(here: &PlacementDetail, host: &Host) -> String {
    let placement = &here.placement;
    let heard = match &placement.status {
        None => "the node has not said anything of it yet".to_owned(),
        Some(status) => phase(status),
    };
    let change = match placement.desired {
        Desired::Remove => "; it is leaving",
        Desired::Stop => "; it is asked to stop",
        Desired::Run | Desired::Pause => "",
    };
    let silence = match host.offer.state {
        NodeState::Online => String::new(),
        _ if host.is_away => format!("; the node is {} and not waited for", host.offer.state),
        state => format!("; the node is {state}"),
    };
    format!("{heard}{change}{silence}")
}

fn phase(status: &PlacementStatus) -> String {
    match &status.reason {
        Some(reason) => format!("{}: {reason}", status.phase),
        None => status.phase.to_string(),
    }
}

fn summary(detail: &WorkloadDetail, nodes: &[WorkloadNodeExplanation], fitting: usize) -> String {
    let rules = &detail.service.spec.placement;
    let held = detail.placements.len();
    match detail.service.desired {
        Desired::Remove => {
            let names: Vec<&str> = detail.placements.iter().map(|p| p.node.as_str()).collect();
            return match names.as_slice() {
                [] => "it is being removed and will be gone in a moment".to_owned(),
                names => format!("it is being removed; waiting for {}", names.join(", ")),
            };
        }
        Desired::Stop => return format!("it is stopped, and kept on {held} nodes"),
        Desired::Run | Desired::Pause => {}
    }
    let here = detail.placements.iter().filter(|p| p.placement.desired != Desired::Remove).count();
    if let Some(asked) = &rules.node {
        return match (here, nodes.iter().any(|n| n.node == *asked)) {
            (0, false) => format!("it waits for node `{asked}`, which is not there"),
            (0, true) => format!("it waits until node `{asked}` can take it"),
            _ => format!("it is on node `{asked}`, as it asks for"),
        };
    }
    if rules.every {
        return match fitting {
            0 => format!("it is on {here} of {} nodes; no other fits", nodes.len()),
            more => format!("it is on {here} nodes and comes to {more} more in a moment"),
        };
    }
    let wanted = rules.count.unwrap_or(1) as usize;
    match (here >= wanted, fitting) {
        (true, _) => format!("it is on {here} nodes and asks for {wanted}"),
        (false, 0) => format!("it is on {here} of {wanted} nodes, and no other node fits now"),
        (false, _) => format!("it is on {here} of {wanted} nodes; more come in a moment"),
    }
}

fn hints(detail: &WorkloadDetail, hosts: &[Host], fitting: usize) -> Vec<String> {
    let mut hints = Vec::new();
    let name = &detail.service.name;
    if hosts.is_empty() {
        hints.push("add a node: `hostler node token create`, then run the command it prints on the machine".to_owned());
    }
    if detail.service.desired == Desired::Stop {
        hints.push(format!("`hostler workload start {name}` starts it again"));
    }
    if fitting == 0 && hosts.iter().any(|host| host.offer.cordon.is_some()) {
        hints.push("`hostler node uncordon NODE` lets a cordoned node take work again".to_owned());
    }
    let is_waiting = |p: &PlacementDetail| {
        p.placement.desired == Desired::Remove && p.node_state != NodeState::Online
    };
    if detail.placements.iter().any(is_waiting) {
        hints.push(
            "a node that is away lets go of it when it is back, or when it is removed with `hostler node rm`"
                .to_owned(),
        );
    }
    hints
}
