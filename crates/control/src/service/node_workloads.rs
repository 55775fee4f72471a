//! The workloads on a node, whichever project they are of.

use std::collections::HashMap;

use hostler_model::{Error, Name, PlacementId, ProjectId, Run};

use crate::{Control, Cx, NodeWorkloadDetail, PlacementDetail};

impl Control {
    /// What a node holds or should hold, by project and name, with how it stands there.
    pub async fn node_workloads(
        &self,
        cx: &Cx,
        name_or_id: &str,
    ) -> Result<Vec<NodeWorkloadDetail>, Error> {
        let node = self.node_get(cx, name_or_id).await?;
        let mut read = self.store.read().await?;
        let placements = read.service_placements_on(node.id).await?;
        let ids: Vec<PlacementId> = placements.iter().map(|placement| placement.id).collect();
        let live = read.service_runs_live_of(&ids).await?;
        let mut runs: HashMap<PlacementId, Run> =
            live.into_iter().map(|run| (run.placement_id, run)).collect();
        let mut projects: HashMap<ProjectId, Name> = HashMap::new();
        let mut found = Vec::with_capacity(ids.len());
        for there in read.service_placement_context(&ids).await? {
            let placement = there.placement;
            let project = match projects.get(&placement.project_id) {
                Some(name) => name.clone(),
                None => {
                    let Some(project) = read.project_get(placement.project_id).await? else {
                        continue;
                    };
                    projects.insert(project.id, project.name.clone());
                    project.name
                }
            };
            let run = runs.remove(&placement.id);
            let (node, node_state) = (node.name.clone(), node.state);
            let placement = PlacementDetail { placement, node, node_state, run };
            found.push(NodeWorkloadDetail { project, workload: there.workload_name, placement });
        }
        found.sort_by(|a, b| (&a.project, &a.workload).cmp(&(&b.project, &b.workload)));
        Ok(found)
    }
}
