//! Random submits, kills, partitions, crashes and reboots over simulated agents, with services that are
//! applied, changed, stopped, restarted and removed beside the tasks (`services`).
//!
//! The control plane is the real one (services, reconcilers, SQL on an in-memory SQLite), the agents
//! decide with the real `engine::supervise`; time, processes and the network are pretended. Each seed
//! is one course of events and repeats exactly.
//!
//! Checked at every step: no run's program is executed twice; no placement has two programs; what an
//! agent has accepted and what the database knows of a run or a placement never goes back. Checked at
//! the end, after the network healed: every task is settled, and says what truly happened; every
//! service is on the nodes it asks for and said to run there; what was removed is gone; nothing else is
//! reserved; the audit chain is intact.
//!
//! `HOSTLER_SIM_SEEDS=from..to` runs other seeds; a failure names its seed.

mod services;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hostler_control::NewTask;
use hostler_model::{
    Code, Cores, Desired, Exit, ExitReason, Generation, PlacementId, RunId, RunState, TaskState,
    TaskStateKind, WorkloadId, WorkloadSpec,
};
use hostler_testkit::{Random, SimAgent, Truth, World};

const STEPS: u64 = 60;

struct Sim {
    world: World,
    agents: Vec<SimAgent>,
    truth: Truth,
    random: Random,
    tasks: Vec<WorkloadId>,
    seen: BTreeMap<RunId, Generation>,
    applied: Vec<Generation>,
    /// Names of services that were applied and not asked to go.
    services: BTreeSet<String>,
    /// The newest status seen of each placement.
    standing: BTreeMap<PlacementId, Generation>,
    looks: u32,
}

impl Sim {
    async fn new(seed: u64) -> Sim {
        let world = World::new(seed).await;
        let mut random = Random::new(seed);
        let count = usize::try_from(1 + random.below(3)).unwrap();
        let mut agents = Vec::new();
        for i in 0..count {
            agents.push(world.join(&format!("n{i}")).await);
        }
        let applied = vec![Generation::ZERO; count];
        Sim {
            world,
            agents,
            truth: Truth::default(),
            random,
            tasks: Vec::new(),
            seen: BTreeMap::new(),
            applied,
            services: BTreeSet::new(),
            standing: BTreeMap::new(),
            looks: 0,
        }
    }

    async fn step(&mut self) {
        let now = self.world.now();
        let which = usize::try_from(self.random.below(self.agents.len() as u64)).unwrap();
        match self.random.below(100) {
            0..20 => self.submit().await,
            20..25 => self.kill().await,
            25..30 => self.agents[which].is_cut_off ^= true,
            30..33 => self.agents[which].crash(),
            33..35 => self.agents[which].reboot(&mut self.truth),
            35..38 => self.agents[which].disconnect(),
            38..40 => self.world.restart_server().await,
            40..42 => self.world.advance(Duration::from_secs(700)),
            42..52 => self.apply_service().await,
            52..58 => self.ask_of_service().await,
            58..60 => self.remove_service().await,
            60..63 => self.cordon(which).await,
            63..69 => self.pause().await,
            _ => {}
        }
        if self.random.chance(60) {
            self.world.control.place_pending().await.expect("placement");
        }
        if self.random.chance(40) {
            self.place_services().await;
        }
        for agent in &mut self.agents {
            if self.random.chance(50) {
                agent.start(now);
            }
            if self.random.chance(60) {
                agent.connect(&self.world.control).await;
            }
            agent.heartbeat(&self.world.control);
            agent.pull(&self.world.control, &mut self.random).await;
            agent.act(now, &mut self.random, &mut self.truth);
            agent.run_programs(now, &mut self.random, &mut self.truth);
            agent.report(&self.world.control, &mut self.random).await;
            agent.report_statuses(&self.world.control, &mut self.random).await;
        }
        self.housekeep().await;
        self.check().await;
    }

    async fn housekeep(&mut self) {
        self.world.control.flush_leases().await.expect("leases");
        let since = hostler_model::Timestamp::EPOCH;
        self.world.control.judge_nodes(since).await.expect("liveness");
        self.world.advance(Duration::from_secs(2));
    }

    async fn submit(&mut self) {
        let count = 1 + self.random.below(4);
        let new = (0..count)
            .map(|_| {
                let mut spec = WorkloadSpec::command(["true"]);
                spec.resources.cores =
                    Cores::from_millis(u32::try_from(100 + self.random.below(900)).unwrap());
                NewTask { name: None, spec }
            })
            .collect();
        let made = self
            .world
            .control
            .task_submit(&self.world.cx, &self.world.project, new)
            .await
            .expect("submit");
        self.tasks.extend(made.iter().map(|detail| detail.workload.id));
    }

    async fn kill(&mut self) {
        if self.tasks.is_empty() {
            return;
        }
        let which = usize::try_from(self.random.below(self.tasks.len() as u64)).unwrap();
        let id = self.tasks[which].to_string();
        self.world
            .control
            .task_kill(&self.world.cx, &self.world.project, &id, None)
            .await
            .expect("kill");
    }

    /// Freezes a task, or lets one go on.
    async fn pause(&mut self) {
        if self.tasks.is_empty() {
            return;
        }
        let which = usize::try_from(self.random.below(self.tasks.len() as u64)).unwrap();
        let (cx, project, id) =
            (&self.world.cx, &self.world.project, self.tasks[which].to_string());
        let control = &self.world.control;
        let outcome = match self.random.chance(60) {
            true => control.task_pause(cx, project, &id).await,
            false => control.task_resume(cx, project, &id).await,
        };
        if let Err(e) = outcome {
            assert_eq!(e.code, Code::Conflict, "{e}");
        }
    }

    /// Lets everything go on that does not end otherwise.
    async fn resume_all(&mut self) {
        for id in &self.tasks {
            let (cx, project) = (&self.world.cx, &self.world.project);
            let outcome = self.world.control.task_resume(cx, project, &id.to_string()).await;
            if let Err(e) = outcome {
                assert_eq!(e.code, Code::Conflict, "{e}");
            }
        }
    }

    async fn check(&mut self) {
        for (run, times) in &self.truth.executed {
            assert_eq!(*times, 1, "run {run} was executed {times} times");
        }
        for (agent, applied) in self.agents.iter().zip(&mut self.applied) {
            assert!(agent.state.applied >= *applied, "an agent's generation went back");
            *applied = agent.state.applied;
            for placement in agent.busy() {
                assert_eq!(agent.running_of(placement), 1, "programs of {placement}");
            }
        }
        // Generations only grow, so a step back shows at the next look as well.
        self.looks += 1;
        if !self.looks.is_multiple_of(8) {
            return;
        }
        let mut read = self.world.store.read().await.unwrap();
        for id in &self.tasks {
            for run in read.run_list(*id).await.unwrap() {
                let seen = self.seen.entry(run.id).or_default();
                assert!(run.report_generation >= *seen, "a run's report generation went back");
                *seen = run.report_generation;
            }
        }
        drop(read);
        self.check_services().await;
    }

    /// The network heals, machines come up, and nothing new is asked for.
    async fn heal(&mut self) {
        self.world.restart_server().await;
        self.uncordon_all().await;
        self.resume_all().await;
        for round in 0..400 {
            let now = self.world.now();
            self.world.control.place_pending().await.expect("placement");
            if round % 3 == 0 {
                self.place_services().await;
            }
            for agent in &mut self.agents {
                agent.is_cut_off = false;
                agent.is_calm = true;
                agent.start(now);
                agent.connect(&self.world.control).await;
                agent.heartbeat(&self.world.control);
                agent.pull(&self.world.control, &mut self.random).await;
                agent.act(now, &mut self.random, &mut self.truth);
                agent.run_programs(now, &mut self.random, &mut self.truth);
                agent.report(&self.world.control, &mut self.random).await;
                agent.report_statuses(&self.world.control, &mut self.random).await;
                // A lost message is noticed by a real agent when it connects again.
                if round % 10 == 9 {
                    agent.disconnect();
                }
            }
            self.housekeep().await;
            self.check().await;
            if round % 3 == 2 && self.is_settled().await {
                let frozen: usize = self.agents.iter().map(SimAgent::frozen).sum();
                assert_eq!(frozen, 0, "something is frozen though nothing is paused");
                return;
            }
        }
        let mut left = self.unsettled().await;
        left.extend(self.services_unsettled().await);
        panic!("not settled after the network healed: {}", left.join(", "));
    }

    async fn is_settled(&self) -> bool {
        self.unsettled().await.is_empty() && self.services_unsettled().await.is_empty()
    }

    async fn unsettled(&self) -> Vec<String> {
        let mut read = self.world.store.read().await.unwrap();
        let mut left = Vec::new();
        for id in &self.tasks {
            let task = read.workload_get(*id).await.unwrap().expect("tasks are not lost");
            if !task.state.is_settled() || task.state.kind() == TaskStateKind::Lost {
                left.push(format!("{} is {}", task.name, task.state.kind()));
            }
        }
        left
    }

    /// Every task says what truly happened.
    async fn compare_with_truth(&self) {
        let mut read = self.world.store.read().await.unwrap();
        for id in &self.tasks {
            let task = read.workload_get(*id).await.unwrap().expect("task");
            for run in read.run_list(*id).await.unwrap() {
                let RunState::Exited { exit } = &run.state else {
                    panic!("run {} is {:?}", run.id, run.state)
                };
                self.compare_end(run.id, exit);
            }
            match &task.state {
                TaskState::Completed { exit, .. } => assert!(exit.is_success()),
                TaskState::Failed { exit, .. } => assert!(!exit.is_success()),
                TaskState::Killed { .. } => assert_eq!(task.desired, Desired::Stop),
                other => panic!("{} ended as {other:?}", task.name),
            }
        }
        let reserved: u64 =
            read.placement_usage().await.unwrap().iter().map(|usage| usage.placements).sum();
        let services = read.service_placements_all().await.unwrap().len() as u64;
        assert_eq!(reserved, services, "something is still reserved");
        assert!(read.audit_verify().await.unwrap().is_intact);
        drop(read);
        self.compare_services_with_truth().await;
    }

    fn compare_end(&self, run: RunId, exit: &Exit) {
        match (self.truth.ended.get(&run), self.truth.vanished.contains_key(&run)) {
            (Some(true_exit), _) => assert_eq!(exit, true_exit, "run {run}"),
            (None, true) => assert_eq!(exit.reason, ExitReason::Vanished),
            (None, false) => {
                let never_ran = matches!(exit.reason, ExitReason::Stopped | ExitReason::Vanished);
                let is_executed = self.truth.executed.contains_key(&run);
                assert!(never_ran && !is_executed, "run {run} ended as {exit}");
            }
        }
    }
}

async fn course(seed: u64) {
    let mut sim = Sim::new(seed).await;
    for _ in 0..STEPS {
        sim.step().await;
    }
    sim.heal().await;
    sim.compare_with_truth().await;
}

fn seeds() -> std::ops::Range<u64> {
    let text = std::env::var("HOSTLER_SIM_SEEDS").unwrap_or_default();
    match text.split_once("..") {
        Some((from, to)) => {
            from.parse().expect("first seed")..to.parse().expect("seed after the last")
        }
        None => 0..2000,
    }
}

const SHARES: u64 = 20;

fn run_share(share: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for seed in seeds().filter(|seed| seed % SHARES == share) {
        let run = std::panic::AssertUnwindSafe(|| runtime.block_on(course(seed)));
        let result = std::panic::catch_unwind(run);
        let repeat = format!("HOSTLER_SIM_SEEDS={seed}..{}", seed + 1);
        assert!(result.is_ok(), "seed {seed} fails; repeat it with {repeat}");
    }
}

/// Each share of the seeds is a test of its own, so that they run side by side.
macro_rules! shares {
    ($($name:ident = $share:literal,)+) => {$(
        #[test]
        fn $name() {
            run_share($share);
        }
    )+};
}

shares! {
    random_courses_00 = 0,
    random_courses_01 = 1,
    random_courses_02 = 2,
    random_courses_03 = 3,
    random_courses_04 = 4,
    random_courses_05 = 5,
    random_courses_06 = 6,
    random_courses_07 = 7,
    random_courses_08 = 8,
    random_courses_09 = 9,
    random_courses_10 = 10,
    random_courses_11 = 11,
    random_courses_12 = 12,
    random_courses_13 = 13,
    random_courses_14 = 14,
    random_courses_15 = 15,
    random_courses_16 = 16,
    random_courses_17 = 17,
    random_courses_18 = 18,
    random_courses_19 = 19,
}
