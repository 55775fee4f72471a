//! A world with everything that resources of stacks are made of: servers, nodes that run things, and a machine that is looked
//! after. For the tests of our own types.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_control::{
    Attach, Attached, Control, HelloFacts, NodeAsk, NodeLink, OutputItem, OutputReceiver,
    StackAdvance, StackAsk, StackCommand, StackEdit, StackEventQuery, StackForm, StackRefusal,
};
use hostler_model::host::{HostAsk, HostChange, HostDeed, HostOutcome};
use hostler_model::stack::{Stack, StackOptions};
use hostler_model::{
    Bytes, Cores, Error, Facts, Generation, JobState, Limit, NodeMetrics, OperationId,
    OutputStream, Timestamp, WorkloadUsage,
};
use hostler_testkit::{Operations, Random, SimAgent, Truth, World};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::node_backups::Machine as Keeper;
use crate::postgres::Schema;

/// What somebody declared to a machine, by kind and name.
type Declared = BTreeMap<(String, String), Map<String, Value>>;

/// A machine of which only what was declared to it is known.
pub(crate) struct Machine {
    keeper: Keeper,
    declared: Mutex<Declared>,
    jobs: Mutex<BTreeMap<OperationId, u32>>,
    /// It does what it is asked, and says that it is still at it.
    is_slow: AtomicBool,
}

impl Machine {
    fn key(deed: &HostDeed) -> (String, String) {
        let HostDeed::Primitive { primitive, declaration, .. } = deed else { panic!("{deed:?}") };
        let name = ["path", "packages", "username", "key", "name", "command"]
            .iter()
            .find_map(|name| declaration.get(*name))
            .map(ToString::to_string);
        (primitive.to_string(), name.unwrap_or_default())
    }

    fn outcome(&self, deed: &HostDeed) -> HostOutcome {
        let HostDeed::Primitive { declaration, absent, .. } = deed else { panic!("{deed:?}") };
        let (kind, name) = Machine::key(deed);
        let declared = self.declared.lock().unwrap();
        let text = |value: &Value| Some(value.to_string());
        let changes = match declared.get(&(kind, name.clone())) {
            None if *absent => Vec::new(),
            None => vec![HostChange { what: name, before: None, after: Some("made".into()) }],
            Some(_) if *absent => {
                vec![HostChange { what: name, before: Some("there".into()), after: None }]
            }
            Some(known) => declaration
                .iter()
                .filter(|(key, value)| known.get(*key) != Some(value))
                .map(|(key, value)| HostChange {
                    what: format!("{key} of {name}"),
                    before: known.get(key).map_or(Some("unset".into()), text),
                    after: text(value),
                })
                .collect(),
        };
        HostOutcome { changed: !changes.is_empty(), changes, ..HostOutcome::default() }
    }

    fn carry_out(&self, job: OperationId, deed: &HostDeed) -> HostOutcome {
        *self.jobs.lock().unwrap().entry(job).or_default() += 1;
        let outcome = self.outcome(deed);
        let HostDeed::Primitive { declaration, absent, .. } = deed else { panic!("{deed:?}") };
        let mut declared = self.declared.lock().unwrap();
        match absent {
            true => declared.remove(&Machine::key(deed)),
            false => declared.insert(Machine::key(deed), declaration.clone()),
        };
        outcome
    }

    /// How many things are declared.
    pub(crate) fn count(&self) -> usize {
        self.declared.lock().unwrap().len()
    }

    /// The paths that are declared.
    pub(crate) fn paths(&self) -> Vec<String> {
        let declared = self.declared.lock().unwrap();
        declared.values().filter_map(|it| Some(it.get("path")?.as_str()?.to_owned())).collect()
    }

    pub(crate) fn be_slow(&self, is_slow: bool) {
        self.is_slow.store(is_slow, Ordering::Relaxed);
    }

    /// Somebody logs in and changes everything, a little.
    pub(crate) fn meddle(&self) {
        for known in self.declared.lock().unwrap().values_mut() {
            known.insert("mode".into(), json!("0777"));
            for name in ["content", "value", "gid", "shell", "schedule", "running", "check"] {
                if known.contains_key(name) {
                    known.insert(name.to_owned(), json!("meddled with"));
                }
            }
        }
    }

    /// Somebody logs in and throws everything away.
    pub(crate) fn clear(&self) {
        self.declared.lock().unwrap().clear();
    }

    async fn answer(&self, ask: HostAsk) -> Vec<u8> {
        match ask {
            HostAsk::Check { deed } => serde_json::to_vec(&self.outcome(&deed)).unwrap(),
            HostAsk::Do { job, deed } => {
                let content = Some(self.carry_out(job, &deed));
                let state = match self.is_slow.load(Ordering::Relaxed) {
                    true => JobState::Going { words: "still at it".into() },
                    false => JobState::Done { content },
                };
                serde_json::to_vec(&state).unwrap()
            }
            ask => Box::pin(self.keeper.answer(ask)).await,
        }
    }
}

struct Link(Arc<Machine>);

impl NodeLink for Link {
    fn wake(&self) {}

    fn open(&self, ask: NodeAsk) -> BoxFuture<'_, Result<OutputReceiver, Error>> {
        let machine = Arc::clone(&self.0);
        Box::pin(async move {
            let NodeAsk::Host(ask) = ask else { panic!("{ask:?}") };
            let bytes = machine.answer(ask).await;
            let (stream, cursor) = (OutputStream::Stdout, String::new());
            let time = Timestamp::from_micros(0);
            let (items, reader) = mpsc::channel(2);
            items.send(Ok(OutputItem::Data { stream, time, bytes, cursor })).await.unwrap();
            items.send(Ok(OutputItem::End { complete: true })).await.unwrap();
            Ok(reader)
        })
    }

    fn close(&self, _: &str, _: bool) {}
}

pub(crate) struct Bed {
    pub(crate) world: World,
    pub(crate) hand: StackAdvance,
    /// `n1`, `n2`, …, which run what they are given.
    pub(crate) agents: Vec<SimAgent>,
    random: Random,
    truth: Truth,
    operations: Operations,
    /// `m1`, whose machine is looked after.
    pub(crate) machine: Arc<Machine>,
    attached: Attached,
    /// What `m1` says of itself, and of what it runs.
    pub(crate) metrics: Option<NodeMetrics>,
    pub(crate) usage: Vec<WorkloadUsage>,
    _state: hostler_base::shutdown::Shutdown,
    /// Where it is on PostgreSQL.
    _schema: Option<Schema>,
}

impl Bed {
    /// One on SQLite, and one on PostgreSQL where there is one.
    pub(crate) async fn both(seed: u64, nodes: usize) -> Vec<Bed> {
        let mut beds = vec![Box::pin(Bed::new(seed, nodes)).await];
        if let Some(schema) = Schema::create(&format!("bed_{seed}")) {
            let world = World::on(schema.open().await, seed).await;
            beds.push(Box::pin(Bed::on(world, Some(schema), seed, nodes)).await);
        }
        beds
    }

    pub(crate) async fn new(seed: u64, nodes: usize) -> Bed {
        Bed::on(World::new(seed).await, None, seed, nodes).await
    }

    async fn on(world: World, schema: Option<Schema>, seed: u64, nodes: usize) -> Bed {
        let mut agents = Vec::new();
        for n in 1..=nodes {
            agents.push(world.join(&format!("n{n}")).await);
        }
        let node = world.join("m1").await;
        let hello = HelloFacts {
            agent_version: "t".into(),
            session_epoch: Generation::from_u64(1),
            applied_generation: Generation::ZERO,
            facts: Some(Facts {
                cores: Cores::from_millis(2000),
                memory: Bytes::mib(1000),
                ..Facts::default()
            }),
            heartbeat_wish: None,
            can_tell_holdings: true,
        };
        let attached =
            world.control.node_attach(node.node_id, node.serial(), &hello).await.unwrap();
        let Attach::Attached(attached) = attached else { panic!("{attached:?}") };
        let machine = Arc::new(Machine {
            keeper: Keeper::new(world.control.clone(), node.node_id, b"kept"),
            declared: Mutex::default(),
            jobs: Mutex::default(),
            is_slow: AtomicBool::new(false),
        });
        world.control.node_link(&attached, Arc::new(Link(Arc::clone(&machine))));
        let (hand, operations) = (world.control.stack_reconciler(), world.operations());
        let state = world.serve_state(&world.control);
        let (random, truth) = (Random::new(seed), Truth::default());
        let mut bed = Bed {
            world,
            hand,
            agents,
            random,
            truth,
            operations,
            machine,
            attached,
            metrics: None,
            usage: Vec::new(),
            _state: state,
            _schema: schema,
        };
        Box::pin(bed.round()).await;
        bed
    }

    pub(crate) fn control(&self) -> &Control {
        &self.world.control
    }

    /// A second in which everybody does what there is to do.
    pub(crate) async fn round(&mut self) {
        let control = self.world.control.clone();
        self.settle().await;
        control.place_services(Timestamp::EPOCH).await.unwrap();
        control.place_pending().await.unwrap();
        control.advance_executions().await.unwrap();
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
        let usage = Some(self.usage.clone());
        control.node_heartbeat(&self.attached, Generation::ZERO, self.metrics.clone(), usage);
        control.flush_leases().await.unwrap();
        control.judge_nodes(Timestamp::EPOCH).await.unwrap();
        Box::pin(self.operations.pass()).await;
        self.settle().await;
        self.world.advance(Duration::from_secs(1));
    }

    /// Carries stacks on as far as that goes without time passing.
    pub(crate) async fn settle(&mut self) {
        for _ in 0..2000 {
            let pass = self.hand.advance().await.unwrap();
            assert_eq!(pass.report.failed, 0, "a pass over a stack failed");
            if !pass.again && !self.hand.deed_ended().await {
                return;
            }
        }
        panic!("stacks do not come to rest");
    }

    pub(crate) async fn begin(&self, name: &str, resources: Value) -> Result<Stack, StackRefusal> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let options = StackOptions { converges: true, ..StackOptions::default() };
        let ask = StackAsk {
            name: name.parse().unwrap(),
            form: form(resources),
            options,
            left: None,
            reason: String::new(),
        };
        self.control().stack_create(cx, project, ask).await
    }

    /// Makes a stack, and says how it ended.
    pub(crate) async fn create(&mut self, name: &str, resources: Value) -> String {
        self.begin(name, resources).await.unwrap();
        self.ended(name).await
    }

    pub(crate) async fn update(&mut self, name: &str, resources: Value) -> String {
        self.ask(name, resources).await;
        self.ended(name).await
    }

    /// Asks for an update, and waits for nothing.
    pub(crate) async fn ask(&self, name: &str, resources: Value) {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let edit = StackEdit { form: form(resources), ..StackEdit::default() };
        self.control().stack_update(cx, project, name, edit).await.unwrap();
    }

    pub(crate) async fn command(&mut self, name: &str, command: StackCommand) -> String {
        let (cx, project) = (self.world.cx.clone(), self.world.project.clone());
        self.control().stack_command(&cx, &project, name, command).await.unwrap();
        self.ended(name).await
    }

    pub(crate) async fn delete(&mut self, name: &str) {
        let (cx, project) = (self.world.cx.clone(), self.world.project.clone());
        let id = self.stack(name).await.id.to_string();
        self.control().stack_delete(&cx, &project, name).await.unwrap();
        let how = self.ended(&id).await;
        assert!(how.starts_with("DELETE_COMPLETE"), "{name}: {how}");
    }

    pub(crate) async fn stack(&self, name: &str) -> Stack {
        let (cx, project) = (&self.world.cx, &self.world.project);
        self.control().stack_resolve(cx, project, name).await.unwrap()
    }

    /// How a stack ends, and why.
    pub(crate) async fn ended(&mut self, name: &str) -> String {
        for round in 0..300 {
            let standing = self.stack(name).await.standing;
            if !standing.is_under_way() {
                return format!("{} {}", standing.heat(), standing.reason);
            }
            Box::pin(self.round()).await;
            if round % 20 == 19 {
                self.agents.iter_mut().for_each(SimAgent::disconnect);
            }
        }
        panic!("{name} does not end: {:?}", self.told(name).await);
    }

    /// What an object is in the world.
    pub(crate) async fn physical(&self, name: &str, resource: &str) -> String {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let found = self.control().stack_resource(cx, project, name, resource).await.unwrap();
        found.row.physical.unwrap_or_default()
    }

    pub(crate) async fn attribute(&self, name: &str, resource: &str, attribute: &str) -> Value {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let found = self.control().stack_resource(cx, project, name, resource).await.unwrap();
        found.attributes.get(attribute).cloned().unwrap_or_default()
    }

    /// The history of a stack, as `NAME ACTION_STATUS REASON`.
    pub(crate) async fn told(&self, name: &str) -> Vec<String> {
        let (cx, project) = (&self.world.cx, &self.world.project);
        let query = StackEventQuery { depth: 5, ..StackEventQuery::default() };
        let page = (None, Limit::LARGEST);
        let events = self.control().stack_events(cx, project, name, &query, page).await.unwrap();
        let line = |it: &hostler_model::stack::StackEvent| {
            format!("{} {}_{} {}", it.name, it.status.action(), it.status.status(), it.reason)
        };
        events.items.iter().map(line).collect()
    }

    /// How often something happened to a resource.
    pub(crate) async fn times(&self, name: &str, what: &str) -> usize {
        self.told(name).await.iter().filter(|line| line.starts_with(what)).count()
    }

    /// What is at hand is done, and written down.
    pub(crate) async fn step(&mut self) {
        self.hand.advance().await.unwrap();
        while self.hand.deed_ended().await {}
        self.hand.advance().await.unwrap();
    }

    /// The server dies after what it was at was done, and before anybody wrote it down; another goes on.
    pub(crate) async fn crash(&mut self) {
        self.hand.advance().await.unwrap();
        while self.hand.deed_ended().await {}
        self.hand = self.world.control.stack_reconciler();
        self.world.advance(Duration::from_secs(31));
    }
}

pub(crate) fn form(resources: Value) -> StackForm {
    let template = json!({ "heat_template_version": "2021-04-16", "resources": resources });
    StackForm { template, ..StackForm::default() }
}
