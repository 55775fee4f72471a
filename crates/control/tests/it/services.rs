//! Short stories about services, with simulated agents.

use std::time::Duration;

use hostler_base::ids::Ids;
use hostler_control::{Applied, EventQuery, NewTask, WorkloadDetail, WorkloadQuery};
use hostler_model::{
    Code, Desired, EventKind, Generation, Labels, Limit, Mode, Name, NodeState, ObjectKind,
    OperationState, Phase, Placement, Role, RunCause, RunState, Span, StatusReport, Timestamp,
    WorkloadSpec,
};
use hostler_testkit::{Operations, Random, SimAgent, Truth, World, caller_cx};

/// A world, its machines and what truly happens there.
struct Fleet {
    world: World,
    agents: Vec<SimAgent>,
    random: Random,
    truth: Truth,
    operations: Operations,
}

impl Fleet {
    async fn new(seed: u64, nodes: usize) -> Fleet {
        let world = World::new(seed).await;
        let mut agents = Vec::new();
        for n in 1..=nodes {
            agents.push(world.join(&format!("n{n}")).await);
        }
        let operations = world.operations();
        let (random, truth) = (Random::new(seed), Truth::default());
        let mut fleet = Fleet { world, agents, random, truth, operations };
        Box::pin(fleet.round()).await;
        fleet
    }

    async fn round(&mut self) {
        let control = self.world.control.clone();
        control.place_services(Timestamp::EPOCH).await.unwrap();
        let now = self.world.now();
        for agent in &mut self.agents {
            agent.is_calm = true;
            agent.start(now);
            agent.connect(&control).await;
            agent.heartbeat(&control);
            agent.pull(&control, &mut self.random).await;
            agent.act(now, &mut self.random, &mut self.truth);
            agent.run_programs(now, &mut self.random, &mut self.truth);
            agent.report(&control, &mut self.random).await;
            agent.report_statuses(&control, &mut self.random).await;
        }
        control.flush_leases().await.unwrap();
        control.judge_nodes(Timestamp::EPOCH).await.unwrap();
        self.operations.pass().await;
        self.world.advance(Duration::from_secs(1));
    }

    /// Goes on until it is so.
    async fn until(&mut self, what: &str, is_so: impl AsyncFn(&Fleet) -> bool) {
        for round in 0..200 {
            if is_so(self).await {
                return;
            }
            self.round().await;
            if round % 10 == 9 {
                self.agents.iter_mut().for_each(SimAgent::disconnect);
            }
        }
        panic!("it never came about: {what}");
    }

    async fn apply(&self, name: &str, spec: &WorkloadSpec) -> (WorkloadDetail, Applied) {
        let name: Name = name.parse().unwrap();
        let World { control, cx, project, .. } = &self.world;
        control.workload_apply(cx, project, &name, spec, None).await.unwrap()
    }

    async fn get(&self, name: &str) -> Option<WorkloadDetail> {
        let World { control, cx, project, .. } = &self.world;
        control.workload_get(cx, project, name).await.ok()
    }

    /// The nodes it is on and how it stands there, as the server knows it.
    async fn standing(&self, name: &str) -> Vec<(String, Option<Phase>)> {
        let placements = self.get(name).await.map(|detail| detail.placements).unwrap_or_default();
        let phase = |p: &Placement| p.status.as_ref().map(|status| status.phase);
        placements.iter().map(|p| (p.node.to_string(), phase(&p.placement))).collect()
    }

    async fn is(&self, name: &str, expected: &[(&str, Phase)]) -> bool {
        let found = self.standing(name).await;
        let found: Vec<_> = found.iter().map(|(node, phase)| (node.as_str(), *phase)).collect();
        found == expected.iter().map(|(node, phase)| (*node, Some(*phase))).collect::<Vec<_>>()
    }

    async fn events(&self, name: &str) -> Vec<EventKind> {
        let query = EventQuery { object: Some(ObjectKind::Workload), ..EventQuery::default() };
        let World { control, cx, .. } = &self.world;
        let page = control.event_list(cx, &query, None, Limit::DEFAULT).await.unwrap();
        let of_it = page.items.iter().rev().filter(|e| e.event.object.name == name);
        of_it.map(|e| e.event.kind).collect()
    }
}

fn forever() -> WorkloadSpec {
    let mut spec = WorkloadSpec::command(["serve"]);
    spec.mode = Mode::Forever;
    spec
}

fn bound(node: &str) -> WorkloadSpec {
    let mut spec = forever();
    spec.placement.node = Some(node.parse().unwrap());
    spec
}

fn count(n: u32) -> WorkloadSpec {
    let mut spec = forever();
    spec.placement.count = Some(n);
    spec
}

#[tokio::test]
async fn a_service_is_applied_runs_and_is_removed() {
    let mut fleet = Fleet::new(1, 1).await;
    let (detail, applied) = fleet.apply("web", &forever()).await;
    assert_eq!((applied, detail.service.revision), (Applied::Created, Generation::FIRST));
    fleet.until("it runs", async |f| f.is("web", &[("n1", Phase::Running)]).await).await;
    let World { control, cx, project, .. } = &fleet.world;
    let runs = control.workload_runs(cx, project, "web", None, None, Limit::DEFAULT).await.unwrap();
    let run = &runs.items[0].run;
    assert_eq!((run.attempt, run.cause), (1, Some(RunCause::Start)));
    assert!(matches!(run.state, RunState::Running { .. }));
    let removing = control.workload_remove(cx, project, "web", None).await.unwrap();
    assert_eq!(removing.service.desired, Desired::Remove);
    let name: Name = "web".parse().unwrap();
    let refused = control.workload_apply(cx, project, &name, &forever(), None).await;
    assert_eq!(refused.unwrap_err().code, Code::Conflict);
    let why = control.workload_explain(cx, project, "web").await.unwrap();
    assert!(why.summary.contains("waiting for n1"), "{}", why.summary);
    fleet.until("it is gone", async |f| f.get("web").await.is_none()).await;
    assert_eq!(
        fleet.events("web").await,
        [
            EventKind::WorkloadCreated,
            EventKind::WorkloadPlaced,
            EventKind::WorkloadStarted,
            EventKind::WorkloadRemoveRequested,
            EventKind::WorkloadUnplaced,
            EventKind::WorkloadStopped,
            EventKind::WorkloadRemoved,
        ]
    );
    let is_let_go = async |f: &Fleet| f.agents[0].state.held.is_empty();
    fleet.until("the agent holds nothing", is_let_go).await;
    let (_, applied) = fleet.apply("web", &forever()).await;
    assert_eq!(applied, Applied::Created, "the name is free again");
}

#[tokio::test]
async fn only_what_changes_a_run_replaces_it() {
    let mut fleet = Fleet::new(2, 2).await;
    let mut spec = forever();
    fleet.apply("web", &spec).await;
    fleet.until("it runs", async |f| f.is("web", &[("n1", Phase::Running)]).await).await;
    let executed = fleet.truth.executed.len();
    let (detail, applied) = fleet.apply("web", &spec).await;
    assert_eq!((applied, detail.service.generation), (Applied::Unchanged, Generation::FIRST));
    spec.placement.count = Some(2);
    spec.tags = vec!["edge".into()];
    let (detail, applied) = fleet.apply("web", &spec).await;
    assert_eq!((applied, detail.service.revision), (Applied::Changed, Generation::FIRST));
    let both = [("n1", Phase::Running), ("n2", Phase::Running)];
    fleet.until("it runs on both", async |f| f.is("web", &both).await).await;
    assert_eq!(fleet.truth.executed.len(), executed + 1, "what ran goes on");
    spec.command.push("--faster".into());
    let (detail, _) = fleet.apply("web", &spec).await;
    assert_eq!(detail.service.revision, Generation::from_u64(2));
    fleet
        .until("both are replaced", async |f| {
            f.truth.executed.len() == executed + 3 && f.is("web", &both).await
        })
        .await;
    let World { control, cx, project, .. } = &fleet.world;
    let name: Name = "web".parse().unwrap();
    let old = Some(Generation::FIRST);
    let stale = control.workload_apply(cx, project, &name, &forever(), old).await.unwrap_err();
    assert_eq!(stale.code, Code::Stale);
    let missing = control.workload_apply(cx, project, &"other".parse().unwrap(), &spec, old).await;
    assert_eq!(missing.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn stopping_starting_and_restarting() {
    let mut fleet = Fleet::new(3, 1).await;
    fleet.apply("web", &forever()).await;
    let running = [("n1", Phase::Running)];
    fleet.until("it runs", async |f| f.is("web", &running).await).await;
    let World { control, cx, project, .. } = &fleet.world;
    control.workload_stop(cx, project, "web").await.unwrap();
    let again = control.workload_stop(cx, project, "web").await.unwrap();
    assert_eq!(again.service.generation, Generation::from_u64(2), "asked once");
    fleet.until("it is stopped", async |f| f.is("web", &[("n1", Phase::Stopped)]).await).await;
    assert_eq!(fleet.agents[0].running(), 0);
    let World { control, cx, project, .. } = &fleet.world;
    control.workload_start(cx, project, "web").await.unwrap();
    fleet.until("it runs again", async |f| f.is("web", &running).await).await;
    let World { control, cx, project, .. } = &fleet.world;
    let same = control.workload_start(cx, project, "web").await.unwrap();
    assert_eq!(same.service.generation, Generation::from_u64(3), "it runs: nothing to do");
    let executed = fleet.truth.executed.len();
    let after = control.workload_restart(cx, project, "web").await.unwrap();
    assert_eq!(after.service.revision, Generation::from_u64(2));
    fleet
        .until("another run", async |f| {
            f.truth.executed.len() == executed + 1 && f.is("web", &running).await
        })
        .await;
}

#[tokio::test]
async fn a_repeated_request_is_carried_out_once() {
    let fleet = Fleet::new(13, 1).await;
    let World { control, cx, project, .. } = &fleet.world;
    let keyed = |key: &str| {
        let mut cx = cx.clone();
        let (key, request_hash) = (key.to_owned(), [1; 32]);
        cx.request.idempotency = Some(hostler_control::Idempotency { key, request_hash });
        cx
    };
    let name: Name = "web".parse().unwrap();
    let (first, second) = (forever(), count(2));
    for expected in [Applied::Created, Applied::Unchanged] {
        let done = control.workload_apply(&keyed("a"), project, &name, &first, None).await;
        assert_eq!(done.unwrap().1, expected);
    }
    control.workload_apply(cx, project, &name, &second, None).await.unwrap();
    control.workload_apply(&keyed("a"), project, &name, &first, None).await.unwrap();
    assert_eq!(fleet.get("web").await.unwrap().service.spec, second, "not taken back by a repeat");
    for _ in 0..2 {
        let after = control.workload_restart(&keyed("b"), project, "web").await.unwrap();
        assert_eq!(after.service.revision, Generation::from_u64(2));
    }
    control.workload_remove(cx, project, "web", None).await.unwrap();
    control.place_services(Timestamp::EPOCH).await.unwrap();
    assert!(fleet.get("web").await.is_none());
    let late = control.workload_apply(&keyed("a"), project, &name, &first, None).await;
    assert_eq!(late.unwrap_err().code, Code::Conflict);
}

#[tokio::test]
async fn what_has_ended_can_be_started_anew() {
    let mut fleet = Fleet::new(4, 1).await;
    let mut spec = forever();
    spec.mode = Mode::Times(2);
    fleet.apply("job", &spec).await;
    let completed = [("n1", Phase::Completed)];
    fleet.until("it is done", async |f| f.is("job", &completed).await).await;
    assert_eq!(fleet.truth.executed.len(), 2);
    assert!(fleet.events("job").await.contains(&EventKind::WorkloadCompleted));
    let World { control, cx, project, .. } = &fleet.world;
    control.workload_start(cx, project, "job").await.unwrap();
    fleet
        .until("it is done again", async |f| {
            f.truth.executed.len() == 4 && f.is("job", &completed).await
        })
        .await;
}

#[tokio::test]
async fn a_drain_moves_what_can_move_and_stops_what_cannot() {
    let mut fleet = Fleet::new(5, 2).await;
    fleet.apply("here", &bound("n1")).await;
    let mut once = forever();
    once.mode = Mode::Times(1);
    once.placement.node = Some("n1".parse().unwrap());
    fleet.apply("done", &once).await;
    fleet
        .until("all are up", async |f| {
            f.is("here", &[("n1", Phase::Running)]).await
                && f.is("done", &[("n1", Phase::Completed)]).await
        })
        .await;
    fleet.apply("second", &count(2)).await;
    let both = [("n1", Phase::Running), ("n2", Phase::Running)];
    fleet.until("it is on both", async |f| f.is("second", &both).await).await;
    let executed = fleet.truth.executed.len();
    let World { control, cx, .. } = &fleet.world;
    let drain = control.node_drain(cx, "n1", "new disk".into(), None).await.unwrap();
    let id = drain.id;
    fleet
        .until("the drain is over", async |f| {
            let World { control, cx, .. } = &f.world;
            control.operation_get(cx, id).await.unwrap().state == OperationState::Succeeded
        })
        .await;
    assert_eq!(fleet.agents[0].running(), 0);
    assert!(fleet.is("here", &[("n1", Phase::Stopped)]).await);
    assert!(fleet.is("second", &[("n2", Phase::Running)]).await);
    for _ in 0..20 {
        fleet.round().await;
    }
    assert_eq!(fleet.agents[0].running(), 0, "it stays empty while it is cordoned");
    let World { control, cx, .. } = &fleet.world;
    control.node_uncordon(cx, "n1").await.unwrap();
    fleet
        .until("all are back", async |f| {
            f.is("here", &[("n1", Phase::Running)]).await && f.is("second", &both).await
        })
        .await;
    assert!(fleet.is("done", &[("n1", Phase::Completed)]).await);
    assert_eq!(fleet.truth.executed.len(), executed + 2, "what was done is not done again");
}

#[tokio::test]
async fn a_node_that_is_away_is_replaced_and_not_wanted_when_it_is_back() {
    let mut fleet = Fleet::new(6, 2).await;
    fleet.apply("web", &count(1)).await;
    fleet.until("it runs", async |f| f.is("web", &[("n1", Phase::Running)]).await).await;
    fleet.agents[0].is_cut_off = true;
    fleet.agents[0].disconnect();
    for _ in 0..200 {
        fleet.round().await;
    }
    let node = fleet.world.control.node_get(&fleet.world.cx, "n1").await.unwrap();
    assert_eq!(node.state, NodeState::Offline);
    assert_eq!(fleet.standing("web").await.len(), 1, "it is not away for long enough");
    let both = [("n1", Phase::Running), ("n2", Phase::Running)];
    fleet.until("it is replaced", async |f| f.is("web", &both).await).await;
    let World { control, cx, project, .. } = &fleet.world;
    let why = control.workload_explain(cx, project, "web").await.unwrap();
    let told = why.nodes[0].standing.clone().unwrap();
    assert!(told.contains("offline and not waited for"), "{told}");
    fleet.agents[0].is_cut_off = false;
    let only = [("n2", Phase::Running)];
    fleet.until("the first one went", async |f| f.is("web", &only).await).await;
    assert_eq!((fleet.agents[0].running(), fleet.agents[1].running()), (0, 1));
}

#[tokio::test]
async fn what_a_removed_node_held_is_gone() {
    let mut fleet = Fleet::new(7, 2).await;
    fleet.apply("web", &count(1)).await;
    fleet.apply("here", &bound("n1")).await;
    fleet
        .until("both run", async |f| {
            f.standing("web").await.iter().all(|(_, phase)| *phase == Some(Phase::Running))
                && f.is("here", &[("n1", Phase::Running)]).await
        })
        .await;
    fleet.agents[0].is_cut_off = true;
    fleet.agents[0].disconnect();
    let is_offline = async |f: &Fleet| {
        let node = f.world.control.node_get(&f.world.cx, "n1").await.unwrap();
        node.state == NodeState::Offline
    };
    fleet.until("the node is offline", is_offline).await;
    let World { control, cx, .. } = &fleet.world;
    let node = control.node_get(cx, "n1").await.unwrap();
    let removal = control.node_remove(cx, "n1", node.generation).await.unwrap();
    let id = removal.id;
    fleet
        .until("the node is removed", async |f| {
            let World { control, cx, .. } = &f.world;
            control.operation_get(cx, id).await.unwrap().state == OperationState::Succeeded
        })
        .await;
    fleet.agents.remove(0);
    fleet.until("it runs elsewhere", async |f| f.is("web", &[("n2", Phase::Running)]).await).await;
    fleet.until("the other is nowhere", async |f| f.standing("here").await.is_empty()).await;
    let World { control, cx, project, .. } = &fleet.world;
    let runs = control.workload_runs(cx, project, "here", None, None, Limit::DEFAULT).await;
    assert!(matches!(runs.unwrap().items[0].run.state, RunState::Lost { .. }));
    let why = control.workload_explain(cx, project, "here").await.unwrap();
    assert_eq!(why.summary, "it waits for node `n1`, which is not there");
    control.workload_remove(cx, project, "here", None).await.unwrap();
    fleet.until("it is gone", async |f| f.get("here").await.is_none()).await;
}

#[tokio::test]
async fn every_node_that_comes_later_gets_it_too() {
    let mut fleet = Fleet::new(8, 1).await;
    let mut spec = forever();
    spec.placement.every = true;
    fleet.apply("agent", &spec).await;
    fleet.until("it runs", async |f| f.is("agent", &[("n1", Phase::Running)]).await).await;
    let late = fleet.world.join("n2").await;
    fleet.agents.push(late);
    let both = [("n1", Phase::Running), ("n2", Phase::Running)];
    fleet.until("it runs on both", async |f| f.is("agent", &both).await).await;
    spec.placement.selector = Labels::from([("zone".to_owned(), "a".to_owned())]);
    fleet.apply("agent", &spec).await;
    fleet.until("it is nowhere", async |f| f.standing("agent").await.is_empty()).await;
    let World { control, cx, project, .. } = &fleet.world;
    let why = control.workload_explain(cx, project, "agent").await.unwrap();
    assert_eq!(why.summary, "it is on 0 of 2 nodes; no other fits");
    assert_eq!(why.nodes[0].reasons, ["label zone is missing, it asks for `a`"]);
}

#[tokio::test]
async fn what_services_reserve_is_not_given_to_tasks() {
    let mut fleet = Fleet::new(9, 1).await;
    let mut spec = forever();
    spec.resources.cores = hostler_model::Cores::from_millis(1500);
    fleet.apply("big", &spec).await;
    fleet.until("it runs", async |f| f.is("big", &[("n1", Phase::Running)]).await).await;
    let mut task = NewTask { name: None, spec: WorkloadSpec::command(["true"]) };
    task.spec.resources.cores = hostler_model::Cores::from_millis(600);
    let World { control, cx, project, .. } = &fleet.world;
    control.task_submit(cx, project, vec![task]).await.unwrap();
    assert_eq!(control.place_pending().await.unwrap().0.placed, 0);
    spec.resources.cores = hostler_model::Cores::from_millis(100);
    fleet.apply("big", &spec).await;
    fleet.round().await;
    assert_eq!(fleet.world.control.place_pending().await.unwrap().0.placed, 1);
}

#[tokio::test]
async fn only_the_owner_or_an_operator_changes_a_service() {
    let fleet = Fleet::new(10, 1).await;
    fleet.apply("web", &forever()).await;
    let World { control, project, .. } = &fleet.world;
    let stranger = caller_cx(&Ids::seeded(99), "eve", Role::User);
    let name: Name = "web".parse().unwrap();
    let other = WorkloadSpec::command(["other"]);
    let refused = [
        control.workload_apply(&stranger, project, &name, &other, None).await.map(|_| ()),
        control.workload_stop(&stranger, project, "web").await.map(|_| ()),
        control.workload_restart(&stranger, project, "web").await.map(|_| ()),
        control.workload_remove(&stranger, project, "web", None).await.map(|_| ()),
    ];
    for outcome in refused {
        assert_eq!(outcome.unwrap_err().code, Code::Forbidden);
    }
    let operator = caller_cx(&Ids::seeded(98), "ops", Role::Operator);
    control.workload_stop(&operator, project, "web").await.unwrap();
}

#[tokio::test]
async fn tasks_and_services_are_told_apart() {
    let fleet = Fleet::new(11, 1).await;
    fleet.apply("web", &forever()).await;
    let World { control, cx, project, .. } = &fleet.world;
    assert_eq!(control.task_get(cx, project, "web").await.unwrap_err().code, Code::NotFound);
    let named = NewTask { name: Some("web".parse().unwrap()), spec: WorkloadSpec::command(["x"]) };
    let taken = control.task_submit(cx, project, vec![named]).await.unwrap_err();
    assert_eq!(taken.code, Code::AlreadyExists);
    let mut wrong = NewTask { name: None, spec: forever() };
    wrong.spec.placement.every = true;
    let refused = control.task_submit(cx, project, vec![wrong]).await.unwrap_err();
    assert_eq!(refused.errors.len(), 2, "{refused:?}");
    let task = NewTask { name: Some("job".parse().unwrap()), spec: WorkloadSpec::command(["x"]) };
    control.task_submit(cx, project, vec![task]).await.unwrap();
    let name: Name = "job".parse().unwrap();
    let taken = control.workload_apply(cx, project, &name, &forever(), None).await.unwrap_err();
    assert_eq!(taken.code, Code::AlreadyExists);
    let query =
        WorkloadQuery { mode: Some(hostler_model::ModeKind::Forever), ..Default::default() };
    let listed = control.workload_list(cx, project, &query, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    let mut bad = forever();
    bad.stop.grace = Span::from_secs(99_999_999);
    let refused = control.workload_apply(cx, project, &name, &bad, None).await.unwrap_err();
    assert_eq!(refused.errors[0].pointer, "/spec/stop/grace");
}

#[tokio::test]
async fn a_node_speaks_only_for_its_own_placements() {
    let mut fleet = Fleet::new(12, 2).await;
    fleet.apply("web", &bound("n1")).await;
    fleet.until("it runs", async |f| f.is("web", &[("n1", Phase::Running)]).await).await;
    let placement = fleet.get("web").await.unwrap().placements.remove(0).placement;
    let status = StatusReport {
        placement_id: placement.id,
        generation: Generation::from_u64(u64::MAX >> 1),
        status: hostler_model::PlacementStatus::new(Phase::Failed, Generation::FIRST),
    };
    let other = fleet.agents[1].node_id;
    let acks = fleet.world.control.node_status(other, &[status]).await.unwrap();
    assert!(acks[0].is_unknown);
    assert!(fleet.is("web", &[("n1", Phase::Running)]).await);
    let ran = *fleet.truth.executed.keys().next().unwrap();
    let report = fleet.agents[0].state.by_run(ran).unwrap().report(ran).unwrap();
    let acks = fleet.world.control.node_report(other, &[report]).await.unwrap();
    assert!(acks[0].is_unknown);
}
