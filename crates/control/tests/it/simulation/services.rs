//! Services in the simulation: what is asked of them, and what must hold.

use hostler_control::WorkloadQuery;
use hostler_model::{
    Code, Desired, Generation, Limit, Mode, Name, Phase, Placement, RunState, Service, Span,
    Timestamp, WorkloadSpec,
};

use super::Sim;

impl Sim {
    fn service_name(&mut self) -> String {
        format!("s{}", self.random.below(4))
    }

    fn service_spec(&mut self) -> WorkloadSpec {
        let mut spec = WorkloadSpec::command(["serve"]);
        spec.mode = match self.random.below(3) {
            0 => Mode::Times(3),
            _ => Mode::Forever,
        };
        spec.restart.max_delay = Span::from_secs(5);
        spec.env.insert("VERSION".into(), self.random.below(3).to_string());
        match self.random.below(4) {
            0 => spec.placement.every = true,
            1 => spec.placement.node = Some("n0".parse().unwrap()),
            _ => spec.placement.count = Some(u32::try_from(1 + self.random.below(3)).unwrap()),
        }
        spec
    }

    pub(super) async fn apply_service(&mut self) {
        let text = self.service_name();
        let name: Name = text.parse().unwrap();
        let spec = self.service_spec();
        let (control, cx, project) = (&self.world.control, &self.world.cx, &self.world.project);
        match control.workload_apply(cx, project, &name, &spec, None).await {
            Ok((detail, _)) => {
                assert_eq!(detail.service.spec, spec);
                self.services.insert(text);
            }
            Err(error) => assert_eq!(error.code, Code::Conflict, "{error}"),
        }
    }

    pub(super) async fn ask_of_service(&mut self) {
        let name = self.service_name();
        let what = self.random.below(3);
        let (control, cx, project) = (&self.world.control, &self.world.cx, &self.world.project);
        let asked = match what {
            0 => control.workload_start(cx, project, &name).await,
            1 => control.workload_stop(cx, project, &name).await,
            _ => control.workload_restart(cx, project, &name).await,
        };
        if let Err(error) = asked {
            assert!(matches!(error.code, Code::Conflict | Code::NotFound), "{error}");
            assert!(!self.services.contains(&name), "{error}");
        }
    }

    pub(super) async fn remove_service(&mut self) {
        let name = self.service_name();
        let (control, cx, project) = (&self.world.control, &self.world.cx, &self.world.project);
        match control.workload_remove(cx, project, &name, None).await {
            Ok(detail) => assert_eq!(detail.service.desired, Desired::Remove),
            Err(error) => assert_eq!(error.code, Code::NotFound, "{error}"),
        }
        self.services.remove(&name);
    }

    pub(super) async fn cordon(&mut self, which: usize) {
        let node = self.agents[which].node_id.to_string();
        let (control, cx) = (&self.world.control, &self.world.cx);
        if self.random.chance(50) {
            control.node_cordon(cx, &node, "disk swap".into()).await.expect("cordon");
        } else {
            control.node_uncordon(cx, &node).await.expect("uncordon");
        }
    }

    pub(super) async fn uncordon_all(&mut self) {
        for agent in &self.agents {
            let node = agent.node_id.to_string();
            self.world.control.node_uncordon(&self.world.cx, &node).await.expect("uncordon");
        }
    }

    pub(super) async fn place_services(&mut self) {
        self.world.control.place_services(Timestamp::EPOCH).await.expect("services");
    }

    pub(super) async fn check_services(&mut self) {
        let mut read = self.world.store.read().await.unwrap();
        for placement in read.service_placements_all().await.unwrap() {
            let seen = self.standing.entry(placement.id).or_default();
            assert!(placement.status_generation >= *seen, "a status went back");
            *seen = placement.status_generation;
        }
    }

    async fn all_services(&self) -> Vec<(Service, Vec<Placement>)> {
        let mut read = self.world.store.read().await.unwrap();
        let mut found = Vec::new();
        for service in read.service_list_all().await.unwrap() {
            let placements = read.service_placements(&[service.id]).await.unwrap();
            found.push((service, placements));
        }
        found
    }

    /// What is not as it should be when nothing is in the way any more.
    pub(super) async fn services_unsettled(&self) -> Vec<String> {
        let mut left = Vec::new();
        let services = self.all_services().await;
        for (service, placements) in &services {
            let name = &service.name;
            if !self.services.contains(name.as_str()) {
                left.push(format!("{name} is not gone"));
            }
            let rules = &service.spec.placement;
            let nodes = self.agents.len();
            let wanted = match (&rules.node, rules.every) {
                (Some(_), _) => 1,
                (None, true) => nodes,
                (None, false) => nodes.min(rules.count.unwrap_or(1) as usize),
            };
            if service.desired == Desired::Run && placements.len() != wanted {
                left.push(format!("{name} is on {} of {wanted} nodes", placements.len()));
            }
            for placement in placements {
                left.extend(self.placement_unsettled(service, placement));
            }
        }
        if services.len() != self.services.len() {
            left.push(format!("{} of {} services", services.len(), self.services.len()));
        }
        let placed: Vec<_> =
            services.iter().flat_map(|(_, held)| held.iter().map(|p| p.id)).collect();
        for agent in &self.agents {
            for (placement, held) in &agent.state.held {
                if held.service.is_none() || !placed.contains(placement) {
                    left.push(format!("{placement} of {}", held.assignment.workload_name));
                }
            }
            left.extend(agent.state.reports().iter().map(|r| format!("{} is not told", r.run_id)));
            left.extend(agent.busy().filter(|p| !placed.contains(p)).map(|p| format!("{p} runs")));
        }
        left
    }

    fn placement_unsettled(&self, service: &Service, placement: &Placement) -> Option<String> {
        let agent = self.agents.iter().find(|agent| agent.node_id == placement.node_id).unwrap();
        let running = agent.running_of(placement.id);
        let status = placement.status.as_ref();
        let phase = status
            .filter(|status| status.revision == service.revision)
            .map(|status| (status.phase, running));
        let is_right = placement.desired == service.desired
            && placement.revision == service.revision
            && match (service.desired, &service.spec.mode) {
                (Desired::Run, Mode::Forever) => phase == Some((Phase::Running, 1)),
                (Desired::Run, _) => phase == Some((Phase::Completed, 0)),
                (Desired::Stop, _) => phase == Some((Phase::Stopped, 0)),
                (Desired::Pause | Desired::Remove, _) => false,
            };
        let state = status.map(|status| status.phase);
        (!is_right).then(|| {
            format!(
                "{} is to {} at {} and is {state:?} with {running} programs; told {} at {}",
                service.name,
                service.desired,
                service.revision,
                placement.desired,
                placement.revision
            )
        })
    }

    /// Every run of every service says what truly happened.
    pub(super) async fn compare_services_with_truth(&self) {
        let (control, cx, project) = (&self.world.control, &self.world.cx, &self.world.project);
        let query = WorkloadQuery::default();
        let listed =
            control.workload_list(cx, project, &query, None, Limit::DEFAULT).await.unwrap();
        assert_eq!(listed.items.len(), self.services.len());
        for detail in listed.items {
            let name = detail.service.name.to_string();
            let runs = control
                .workload_runs(cx, project, &name, None, None, Limit::DEFAULT)
                .await
                .unwrap();
            for run in runs.items.into_iter().map(|detail| detail.run) {
                assert!(run.report_generation > Generation::ZERO);
                match &run.state {
                    RunState::Exited { exit } => self.compare_end(run.id, exit),
                    RunState::Running { .. } => {
                        assert_eq!(self.truth.executed.get(&run.id), Some(&1));
                        assert!(
                            !self.truth.ended.contains_key(&run.id),
                            "run {} has ended",
                            run.id
                        );
                    }
                    other => panic!("run {} is {other:?}", run.id),
                }
            }
        }
    }
}
