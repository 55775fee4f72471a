//! Stacks: how they are made, changed and taken down, what is told of it, and what a crash leaves.

use std::time::Duration;

use hostler_control::stack_bench::{self, Looked, OUTSIDE, Outside};
use hostler_control::{Control, EventQuery, StackAdvance};
use hostler_model::stack::{DefinitionBody, StackAction, StackOptions};
use hostler_model::{EventKind, Limit, StackId};
use hostler_testkit::World;
use serde_json::{Value, json};

use crate::postgres::Schema;

/// One server's hand on stacks.
struct Bench {
    world: World,
    hand: StackAdvance,
    /// Transactions that carried a stack on.
    writes: usize,
}

fn template(resources: Value) -> DefinitionBody {
    with_outputs(resources, json!({}))
}

fn with_outputs(resources: Value, outputs: Value) -> DefinitionBody {
    let template = json!({
        "heat_template_version": "2021-04-16",
        "resources": resources,
        "outputs": outputs,
    });
    DefinitionBody { template, environment: json!({}), ..DefinitionBody::default() }
}

/// A resource that does nothing but be told of.
fn bench(value: &str) -> Value {
    json!({ "type": "OS::Heat::TestResource", "properties": { "value": value } })
}

fn with(mut resource: Value, path: &str, value: Value) -> Value {
    match path.split_once('/') {
        Some((first, rest)) => resource[first][rest] = value,
        None => resource[path] = value,
    }
    resource
}

impl Bench {
    async fn new() -> Bench {
        Bench::on(World::new(1).await)
    }

    fn on(world: World) -> Bench {
        let hand = world.control.stack_reconciler();
        Bench { world, hand, writes: 0 }
    }

    fn control(&self) -> &Control {
        &self.world.control
    }

    async fn create(&mut self, name: &str, body: &DefinitionBody) -> StackId {
        self.create_with(name, body, StackOptions::default()).await
    }

    async fn create_with(
        &mut self,
        name: &str,
        body: &DefinitionBody,
        options: StackOptions,
    ) -> StackId {
        let (cx, project) = (&self.world.cx, self.world.project.id);
        let id = stack_bench::create(self.control(), cx, project, name, body, options).await;
        let id = id.unwrap();
        self.settle().await;
        id
    }

    async fn begin(&mut self, id: StackId, action: StackAction, body: Option<&DefinitionBody>) {
        stack_bench::begin(self.control(), &self.world.cx, id, action, body).await.unwrap();
        self.settle().await;
    }

    async fn update(&mut self, id: StackId, body: &DefinitionBody) {
        self.begin(id, StackAction::Update, Some(body)).await;
    }

    /// Does what can be done without time passing.
    async fn settle(&mut self) {
        for _ in 0..2000 {
            let pass = self.hand.advance().await.unwrap();
            assert_eq!(pass.report.failed, 0, "a pass over a stack failed");
            self.writes += pass.report.moved;
            if !pass.again && !self.hand.deed_ended().await {
                return;
            }
        }
        panic!("stacks do not come to rest");
    }

    async fn after(&mut self, seconds: u64) {
        self.world.advance(Duration::from_secs(seconds));
        self.settle().await;
    }

    async fn look(&self, id: StackId) -> Looked {
        stack_bench::look(self.control(), id).await.unwrap()
    }

    async fn standing(&self, id: StackId) -> (String, String) {
        let stack = self.look(id).await.stack;
        (stack.standing.heat(), stack.standing.reason)
    }

    async fn catalogued(&self) -> Vec<EventKind> {
        let query = EventQuery::default();
        let page = self.control().event_list(&self.world.cx, &query, None, Limit::LARGEST);
        let mut kinds: Vec<EventKind> =
            page.await.unwrap().items.into_iter().map(|event| event.event.kind).collect();
        kinds.retain(|kind| kind.noun() == "stack");
        kinds
    }
}

/// What was told after a number of lines, with names of objects left out.
fn told_since(looked: &Looked, from: usize) -> Vec<&str> {
    looked.told[from..].iter().map(String::as_str).collect()
}

fn complete(action: &str) -> (String, String) {
    (format!("{action}_COMPLETE"), format!("Stack {action} completed successfully"))
}

async fn a_stack_is_made_changed_and_taken_down(world: World) {
    let mut bench_ = Bench::on(world);
    let resources = |first: &str| {
        json!({
            "a": bench(first),
            "b": with(bench(""), "properties/value", json!({ "get_attr": ["a", "output"] })),
            "word": { "type": "OS::Heat::RandomString", "properties": { "length": 12 } },
        })
    };
    let outputs = json!({
        "b": { "value": { "get_attr": ["b", "output"] } },
        "word": { "value": { "get_resource": "word" } },
    });
    let body = with_outputs(resources("one"), outputs.clone());
    let id = bench_.create("first", &body).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    let looked = bench_.look(id).await;
    assert_eq!(
        looked.told,
        [
            "first CREATE_IN_PROGRESS Stack CREATE started",
            "a CREATE_IN_PROGRESS state changed",
            "a CREATE_COMPLETE state changed",
            "b CREATE_IN_PROGRESS state changed",
            "b CREATE_COMPLETE state changed",
            "word CREATE_IN_PROGRESS state changed",
            "word CREATE_COMPLETE state changed",
            "first CREATE_COMPLETE Stack CREATE completed successfully",
        ]
        .map(str::to_owned)
    );
    let outputs_of = |looked: &Looked| looked.outputs.clone();
    assert_eq!(outputs_of(&looked)[0], ("b".to_owned(), Ok(json!("one"))));
    let word = outputs_of(&looked)[1].1.clone().unwrap();
    assert_eq!(word.as_str().unwrap().len(), 12);
    assert_eq!((looked.stack.revision, looked.revisions.len()), (1, 1));
    assert_eq!(looked.revisions[0].resources, 3);

    let physical = looked.resource("a").0.physical.clone();
    bench_.update(id, &with_outputs(resources("two"), outputs)).await;
    assert_eq!(bench_.standing(id).await, complete("UPDATE"));
    let changed = bench_.look(id).await;
    assert_eq!(changed.resource("a").0.physical, physical, "it was changed in place");
    assert_eq!(outputs_of(&changed)[0].1, Ok(json!("two")));
    assert_eq!(outputs_of(&changed)[1].1, Ok(word), "and nothing else was touched");
    assert_eq!(
        told_since(&changed, looked.told.len()),
        [
            "first UPDATE_IN_PROGRESS Stack UPDATE started",
            "a UPDATE_IN_PROGRESS state changed",
            "a UPDATE_COMPLETE state changed",
            "b UPDATE_IN_PROGRESS state changed",
            "b UPDATE_COMPLETE state changed",
            "first UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
    assert_eq!(changed.stack.revision, 2);

    bench_.begin(id, StackAction::Delete, None).await;
    let gone = bench_.look(id).await;
    assert!(gone.stack.is_deleted());
    assert_eq!(gone.rows.len(), 0);
    let told = told_since(&gone, changed.told.len());
    let place = |line: &str| told.iter().position(|it| it.starts_with(line)).unwrap();
    assert!(place("b DELETE_COMPLETE") < place("a DELETE_IN_PROGRESS"), "{told:?}");
    assert_eq!(told.last(), Some(&"first DELETE_COMPLETE Stack DELETE completed successfully"));
    let mut kinds = bench_.catalogued().await;
    kinds.sort();
    kinds.dedup();
    assert!(kinds.contains(&EventKind::StackCompleted) && kinds.contains(&EventKind::StackRemoved));
    bench_.world.store.close().await;
}

#[tokio::test]
async fn a_stack_is_made_changed_and_taken_down_on_sqlite() {
    Box::pin(a_stack_is_made_changed_and_taken_down(World::new(1).await)).await;
}

#[tokio::test]
async fn a_stack_is_made_changed_and_taken_down_on_postgres() {
    let Some(schema) = Schema::create("stacks") else { return };
    let world = World::on(schema.open().await, 1).await;
    Box::pin(a_stack_is_made_changed_and_taken_down(world)).await;
}

#[tokio::test]
async fn what_cannot_be_changed_is_replaced() {
    let mut bench_ = Bench::new().await;
    let word = |length: u32| {
        template(json!({
            "word": { "type": "OS::Heat::RandomString", "properties": { "length": length } },
            "after": with(bench("x"), "depends_on", json!("word")),
        }))
    };
    let id = bench_.create("s", &word(8)).await;
    let before = bench_.look(id).await;
    bench_.update(id, &word(9)).await;
    assert_eq!(bench_.standing(id).await, complete("UPDATE"));
    let after = bench_.look(id).await;
    assert_eq!(after.rows.len(), 2, "what was replaced is gone");
    assert_ne!(after.resource("word").0.physical, before.resource("word").0.physical);
    assert_eq!(after.resource("word").1.attributes["value"].as_str().unwrap().len(), 9);
    let told = told_since(&after, before.told.len());
    let words: Vec<&str> = told.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(
        words,
        [
            "UPDATE_IN_PROGRESS",
            "UPDATE_IN_PROGRESS",
            "UPDATE_COMPLETE",
            "CREATE_IN_PROGRESS",
            "CREATE_COMPLETE",
            "DELETE_IN_PROGRESS",
            "DELETE_COMPLETE",
            "UPDATE_COMPLETE",
        ]
    );
    assert!(told[2].ends_with("requires replacement."), "{told:?}");
}

#[tokio::test]
async fn what_fails_fails_the_stack_and_is_made_anew_by_the_next_update() {
    let mut bench_ = Bench::new().await;
    let body = |is_bad: bool| {
        template(json!({
            "a": bench("x"),
            "z": with(with(bench("z"), "properties/fail", json!(is_bad)), "depends_on", json!("a")),
            "after": with(bench("x"), "depends_on", json!("z")),
        }))
    };
    let id = bench_.create("s", &body(true)).await;
    let reason = "Resource CREATE failed: ValueError: resources.z: Test Resource failed z";
    assert_eq!(bench_.standing(id).await, ("CREATE_FAILED".to_owned(), reason.to_owned()));
    let looked = bench_.look(id).await;
    assert_eq!((looked.stack.revision, looked.stack.settled), (0, None));
    let event = looked.events.iter().find(|it| it.status.status() == "FAILED").unwrap();
    assert_eq!(event.properties.as_ref().unwrap()["fail"], json!(true));
    bench_.update(id, &body(false)).await;
    assert_eq!(bench_.standing(id).await, complete("UPDATE"));
    assert_eq!(bench_.look(id).await.rows.len(), 3);
}

#[tokio::test]
async fn an_update_that_fails_is_undone_where_that_was_chosen() {
    let mut bench_ = Bench::new().await;
    let options = StackOptions { is_rollback_enabled: true, ..StackOptions::default() };
    let id = bench_.create_with("s", &template(json!({ "a": bench("1") })), options.clone()).await;
    let before = bench_.look(id).await;
    let bad = json!({
        "a": bench("2"),
        "z": with(with(bench("z"), "properties/fail", json!(true)), "depends_on", json!("a")),
    });
    bench_.update(id, &template(bad)).await;
    assert_eq!(bench_.standing(id).await, complete("ROLLBACK"));
    let after = bench_.look(id).await;
    assert_eq!(after.rows.len(), 1);
    assert_eq!(after.resource("a").1.attributes["output"], json!("1"));
    let told = told_since(&after, before.told.len());
    assert!(told.contains(
        &"s UPDATE_FAILED Resource CREATE failed: ValueError: resources.z: Test Resource failed z"
    ));
    assert!(told.contains(&"s ROLLBACK_IN_PROGRESS Stack ROLLBACK started"));

    // Of a stack that was never complete nothing is left but itself.
    let bad = json!({ "f": with(bench("z"), "properties/fail", json!(true)), "g": bench("g") });
    let id = bench_.create_with("t", &template(bad), options).await;
    assert_eq!(bench_.standing(id).await, complete("ROLLBACK"));
    assert_eq!(bench_.look(id).await.rows.len(), 0);
}

#[tokio::test]
async fn what_is_under_way_is_finished_and_then_looked_at_anew() {
    let mut bench_ = Bench::new().await;
    let body = |value: &str, with_c: bool| {
        let slow = json!({ "update": 8 });
        let mut resources = json!({
            "a": with(bench(value), "properties/action_wait_secs", slow),
            "b": with(bench(""), "properties/value", json!({ "get_attr": ["a", "output"] })),
        });
        if with_c {
            resources["c"] = bench("c");
        }
        template(resources)
    };
    let id = bench_.create("S", &body("1", false)).await;
    let from = bench_.look(id).await.told.len();
    bench_.update(id, &body("2", false)).await;
    bench_.after(3).await;
    bench_.update(id, &body("3", true)).await;
    bench_.after(5).await;
    bench_.after(8).await;
    let looked = bench_.look(id).await;
    assert_eq!(
        told_since(&looked, from),
        [
            "S UPDATE_IN_PROGRESS Stack UPDATE started",
            "a UPDATE_IN_PROGRESS state changed",
            "S UPDATE_IN_PROGRESS Stack UPDATE started",
            "c CREATE_IN_PROGRESS state changed",
            "c CREATE_COMPLETE state changed",
            "a UPDATE_COMPLETE state changed",
            "a UPDATE_IN_PROGRESS state changed",
            "a UPDATE_COMPLETE state changed",
            "b UPDATE_IN_PROGRESS state changed",
            "b UPDATE_COMPLETE state changed",
            "S UPDATE_COMPLETE Stack UPDATE completed successfully",
        ]
    );
    assert_eq!(looked.resource("b").1.attributes["output"], json!("3"), "b never saw 2");
}

#[tokio::test]
async fn what_takes_too_long_is_given_up() {
    let mut bench_ = Bench::new().await;
    let body = template(json!({ "a": with(bench("x"), "properties/wait_secs", json!(-1)) }));
    let timeout = Some(hostler_model::Span::from_secs(60));
    let id =
        bench_.create_with("s", &body, StackOptions { timeout, ..StackOptions::default() }).await;
    assert_eq!(bench_.standing(id).await.0, "CREATE_IN_PROGRESS");
    bench_.after(61).await;
    assert_eq!(bench_.standing(id).await, ("CREATE_FAILED".to_owned(), "Timed out".to_owned()));
}

#[tokio::test]
async fn thousands_are_a_few_transactions() {
    let mut bench_ = Bench::new().await;
    let one = json!({ "type": "OS::Heat::RandomString", "properties": { "length": 8 } });
    let all: serde_json::Map<String, Value> =
        (0..5000).map(|n| (format!("r{n}"), one.clone())).collect();
    let id = bench_.create("wide", &template(Value::Object(all))).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    assert!(bench_.writes <= 4, "{} transactions", bench_.writes);
    assert_eq!(bench_.look(id).await.rows.len(), 5000);
    bench_.writes = 0;
    bench_.begin(id, StackAction::Delete, None).await;
    assert!(bench_.look(id).await.stack.is_deleted());
    assert!(bench_.writes <= 4, "{} transactions", bench_.writes);
}

#[tokio::test]
async fn a_long_chain_is_a_few_transactions() {
    let mut bench_ = Bench::new().await;
    let all: serde_json::Map<String, Value> = (0..500)
        .map(|n: u32| {
            let value = match n {
                0 => json!("first"),
                n => json!({ "get_attr": [format!("r{}", n - 1), "output"] }),
            };
            (format!("r{n}"), with(bench(""), "properties/value", value))
        })
        .collect();
    let id = bench_.create("long", &template(Value::Object(all))).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    assert!(bench_.writes <= 2, "{} transactions", bench_.writes);
    let looked = bench_.look(id).await;
    assert_eq!(looked.resource("r499").1.attributes["output"], json!("first"));
}

#[tokio::test]
async fn another_server_carries_on_where_one_stopped() {
    let mut bench_ = Bench::new().await;
    let body = template(json!({
        "a": with(bench("x"), "properties/wait_secs", json!(10)),
        "b": with(bench("y"), "depends_on", json!("a")),
    }));
    let id = bench_.create("s", &body).await;
    assert_eq!(bench_.standing(id).await.0, "CREATE_IN_PROGRESS");
    bench_.world.restart_server().await;
    bench_.hand = bench_.world.control.stack_reconciler();
    bench_.after(10).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    let looked = bench_.look(id).await;
    assert_eq!(looked.resource("a").0.deeds, 1, "it was not begun twice");
}

fn outside(count: usize) -> DefinitionBody {
    let one = json!({ "type": OUTSIDE, "properties": { "value": "x" } });
    let all: serde_json::Map<String, Value> =
        (0..count).map(|n| (format!("r{n}"), one.clone())).collect();
    template(Value::Object(all))
}

#[tokio::test]
async fn what_is_outside_is_done_side_by_side_and_written_together() {
    let mut bench_ = Bench::new().await;
    let world = Outside::new(1000);
    stack_bench::reach(bench_.control(), &world);
    let id = bench_.create("s", &outside(200)).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    assert_eq!(world.asked(), vec![1; 200]);
    assert!(world.most() <= 64, "{} at once", world.most());
    let looked = bench_.look(id).await;
    assert_eq!(looked.resource("r7").1.attributes["value"], json!("x"));
    assert!(bench_.writes < 100, "{} transactions", bench_.writes);
    let options = StackOptions { at_once: Some(3), ..StackOptions::default() };
    let world = Outside::new(1000);
    let mut few = Bench::new().await;
    stack_bench::reach(few.control(), &world);
    let id = few.create_with("few", &outside(20), options).await;
    assert_eq!(few.standing(id).await, complete("CREATE"));
    assert_eq!(few.look(id).await.stack.options.at_once, Some(3));
    assert!(world.most() <= 3, "{} at once", world.most());
}

#[tokio::test]
async fn what_a_dead_server_had_in_hand_is_carried_out_again_under_the_same_key() {
    let mut bench_ = Bench::new().await;
    let world = Outside::new(0);
    stack_bench::reach(bench_.control(), &world);
    let (cx, project) = (bench_.world.cx.clone(), bench_.world.project.id);
    let options = StackOptions::default();
    let made = stack_bench::create(bench_.control(), &cx, project, "s", &outside(5), options).await;
    let id = made.unwrap();
    // The deeds are committed, and perhaps begun outside; then the server is gone.
    bench_.hand.advance().await.unwrap();
    tokio::task::yield_now().await;
    bench_.world.restart_server().await;
    bench_.hand = bench_.world.control.stack_reconciler();
    stack_bench::reach(bench_.control(), &world);
    bench_.hand.advance().await.unwrap();
    assert_eq!(bench_.look(id).await.stack.standing.heat(), "CREATE_IN_PROGRESS");
    assert!(world.asked().iter().all(|count| *count <= 1), "others wait for the lease");
    world.open(100);
    bench_.after(31).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    assert_eq!(world.asked().len(), 5, "the same keys");
    let looked = bench_.look(id).await;
    assert!(looked.rows.iter().all(|(row, _)| row.deeds == 1));
}

#[tokio::test]
async fn a_server_that_is_at_a_deed_says_so_again_and_again() {
    let mut bench_ = Bench::new().await;
    let world = Outside::new(0);
    stack_bench::reach(bench_.control(), &world);
    let (cx, project) = (bench_.world.cx.clone(), bench_.world.project.id);
    let options = StackOptions::default();
    let made = stack_bench::create(bench_.control(), &cx, project, "s", &outside(1), options).await;
    let id = made.unwrap();
    let other = bench_.world.another_server().await;
    stack_bench::reach(&other, &world);
    let mut second = other.stack_reconciler();
    bench_.hand.advance().await.unwrap();
    for _ in 0..6 {
        bench_.world.advance(Duration::from_secs(11));
        bench_.hand.advance().await.unwrap();
        second.advance().await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(world.asked(), [1], "nobody else began it");
    world.open(1);
    bench_.settle().await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
}

#[tokio::test]
async fn two_servers_do_everything_once() {
    let mut bench_ = Bench::new().await;
    let other = bench_.world.another_server().await;
    let mut second = other.stack_reconciler();
    let (cx, project) = (bench_.world.cx.clone(), bench_.world.project.id);
    let mut ids = Vec::new();
    for n in 0..10 {
        let all: serde_json::Map<String, Value> =
            (0..20).map(|m| (format!("r{m}"), bench("x"))).collect();
        let body = template(Value::Object(all));
        let name = format!("s{n}");
        let options = StackOptions::default();
        let made = stack_bench::create(bench_.control(), &cx, project, &name, &body, options);
        ids.push(made.await.unwrap());
    }
    for _ in 0..20 {
        let (first, second) = tokio::join!(bench_.hand.advance(), second.advance());
        first.unwrap();
        second.unwrap();
    }
    for id in ids {
        let looked = bench_.look(id).await;
        assert_eq!(looked.stack.standing.heat(), "CREATE_COMPLETE");
        assert_eq!(looked.told.len(), 42, "each line once");
        assert!(looked.rows.iter().all(|(row, _)| row.deeds == 1));
    }
}

#[tokio::test]
async fn a_template_is_a_stack_below() {
    let mut bench_ = Bench::new().await;
    let inner = |value: &str| {
        json!({
            "heat_template_version": "2021-04-16",
            "parameters": { "p": { "type": "string" } },
            "resources": { "inside": with(bench(""), "properties/value", json!({ "list_join": ["-", [{ "get_param": "p" }, value]] })) },
            "outputs": { "got": { "value": { "get_attr": ["inside", "output"] } } },
        })
        .to_string()
    };
    let body = |given: &str, value: &str| {
        let mut body = with_outputs(
            json!({
                "n": { "type": "inner.yaml", "properties": { "p": given } },
                "after": with(bench(""), "properties/value", json!({ "get_attr": ["n", "got"] })),
            }),
            json!({ "got": { "value": { "get_attr": ["after", "output"] } } }),
        );
        body.files.insert("inner.yaml".to_owned(), json!(inner(value)));
        body
    };
    let id = bench_.create("above", &body("a", "1")).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    let looked = bench_.look(id).await;
    assert_eq!(looked.outputs[0].1, Ok(json!("a-1")));
    let child: StackId = looked.children["n"].as_str().unwrap().parse().unwrap();
    assert_eq!(looked.resource("n").0.physical, Some(child.to_string()));
    let below = bench_.look(child).await;
    assert_eq!(below.stack.standing.heat(), "CREATE_COMPLETE");
    assert_eq!((below.stack.depth, below.stack.root_id), (1, id));
    assert!(below.stack.name.as_str().starts_with("above-n-"));

    bench_.update(id, &body("b", "2")).await;
    assert_eq!(bench_.standing(id).await, complete("UPDATE"));
    let looked = bench_.look(id).await;
    assert_eq!(looked.outputs[0].1, Ok(json!("b-2")));
    assert_eq!(looked.resource("n").0.physical, Some(child.to_string()), "the same one");

    bench_.begin(id, StackAction::Delete, None).await;
    assert!(bench_.look(id).await.stack.is_deleted());
    assert!(bench_.look(child).await.stack.is_deleted());
}

#[tokio::test]
async fn what_fails_below_fails_above() {
    let mut bench_ = Bench::new().await;
    let inner = json!({
        "heat_template_version": "2021-04-16",
        "resources": { "bad": with(bench("x"), "properties/fail", json!(true)) },
    });
    let mut body = template(json!({ "n": { "type": "inner.yaml" } }));
    body.files.insert("inner.yaml".to_owned(), json!(inner.to_string()));
    let id = bench_.create("above", &body).await;
    let reason =
        "Resource CREATE failed: ValueError: resources.n.resources.bad: Test Resource failed bad";
    assert_eq!(bench_.standing(id).await, ("CREATE_FAILED".to_owned(), reason.to_owned()));
}

#[tokio::test]
async fn a_resource_waits_at_its_hook() {
    let mut bench_ = Bench::new().await;
    let mut body = template(json!({ "h": bench("x") }));
    body.environment =
        json!({ "resource_registry": { "resources": { "h": { "hooks": "pre-create" } } } });
    let id = bench_.create("s", &body).await;
    let looked = bench_.look(id).await;
    assert_eq!(looked.stack.standing.heat(), "CREATE_IN_PROGRESS");
    assert_eq!(
        looked.told.last().unwrap(),
        "h INIT_COMPLETE CREATE paused until Hook pre-create is cleared"
    );
    bench_.begin(id, StackAction::Delete, None).await;
    assert!(bench_.look(id).await.stack.is_deleted());
}

#[tokio::test]
async fn everything_is_looked_at_put_to_sleep_and_woken() {
    let mut bench_ = Bench::new().await;
    let body = template(json!({
        "a": bench("x"),
        "b": with(bench("y"), "depends_on", json!("a")),
    }));
    let id = bench_.create("s", &body).await;
    let from = bench_.look(id).await.told.len();
    bench_.begin(id, StackAction::Suspend, None).await;
    bench_.begin(id, StackAction::Resume, None).await;
    bench_.begin(id, StackAction::Check, None).await;
    let looked = bench_.look(id).await;
    let words: Vec<String> = told_since(&looked, from)
        .into_iter()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .filter(|line| line.ends_with("COMPLETE"))
        .collect();
    assert_eq!(
        words,
        [
            "b SUSPEND_COMPLETE",
            "a SUSPEND_COMPLETE",
            "s SUSPEND_COMPLETE",
            "a RESUME_COMPLETE",
            "b RESUME_COMPLETE",
            "s RESUME_COMPLETE",
            "a CHECK_COMPLETE",
            "b CHECK_COMPLETE",
            "s CHECK_COMPLETE",
        ]
    );
    assert_eq!(looked.stack.revision, 1, "nothing became otherwise");
}

#[tokio::test]
async fn what_cannot_be_read_fails_with_the_reason() {
    let mut bench_ = Bench::new().await;
    let id = bench_.create("s", &template(json!({ "a": { "type": "No::Such::Type" } }))).await;
    let (standing, reason) = bench_.standing(id).await;
    assert_eq!(standing, "CREATE_FAILED");
    assert!(reason.contains("No::Such::Type"), "{reason}");
}

#[tokio::test]
async fn what_is_to_be_kept_is_forgotten_and_what_is_forbidden_is_refused() {
    let mut bench_ = Bench::new().await;
    let world = Outside::new(100);
    stack_bench::reach(bench_.control(), &world);
    let one = |value: &str| json!({ "type": OUTSIDE, "properties": { "value": value } });
    let mut body = template(json!({ "kept": with(one("1"), "deletion_policy", json!("Retain")) }));
    body.environment = json!({
        "resource_registry": { "resources": { "kept": { "restricted_actions": "update" } } },
    });
    let id = bench_.create("s", &body).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    let other = json!({ "kept": with(one("2"), "deletion_policy", json!("Retain")) });
    let other = DefinitionBody { template: template(other).template, ..body };
    bench_.update(id, &other).await;
    let (standing, reason) = bench_.standing(id).await;
    assert_eq!(standing, "UPDATE_FAILED");
    assert!(reason.contains("update is restricted for resource."), "{reason}");
    assert_eq!(bench_.look(id).await.resource("kept").1.attributes["value"], json!("1"));
    bench_.begin(id, StackAction::Delete, None).await;
    assert!(bench_.look(id).await.stack.is_deleted());
    assert_eq!(world.asked(), [1], "nobody was asked to remove it");
}

#[tokio::test]
async fn an_object_of_somebody_else_is_only_known() {
    let mut bench_ = Bench::new().await;
    let world = Outside::new(0);
    stack_bench::reach(bench_.control(), &world);
    let body = with_outputs(
        json!({ "theirs": { "type": OUTSIDE, "external_id": "abc-1" } }),
        json!({ "id": { "value": { "get_resource": "theirs" } } }),
    );
    let id = bench_.create("s", &body).await;
    assert_eq!(bench_.standing(id).await, complete("CREATE"));
    let looked = bench_.look(id).await;
    assert_eq!(looked.outputs[0].1, Ok(json!("abc-1")));
    assert_eq!(
        told_since(&looked, 0)[1..4],
        [
            "theirs ADOPT_IN_PROGRESS state changed",
            "theirs ADOPT_COMPLETE state changed",
            "theirs CHECK_COMPLETE CHECK not supported for Hostler::Bench::Outside",
        ]
    );
    bench_.begin(id, StackAction::Delete, None).await;
    assert!(bench_.look(id).await.stack.is_deleted());
    assert!(world.asked().is_empty(), "it was never touched");
}

#[tokio::test]
async fn what_is_kept_of_a_stack_has_no_secret_in_the_open() {
    let mut bench_ = Bench::new().await;
    let mut body = template(json!({
        "a": with(bench(""), "properties/value", json!({ "get_param": "secret" })),
        "bad": with(
            with(bench(""), "properties/value", json!({ "get_param": "secret" })),
            "properties/fail",
            json!(true),
        ),
    }));
    body.template["parameters"] = json!({ "secret": { "type": "string", "hidden": true } });
    body.environment = json!({ "parameters": { "secret": "open-sesame" } });
    let id = bench_.create("s", &body).await;
    let looked = bench_.look(id).await;
    assert_eq!(looked.stack.standing.heat(), "CREATE_FAILED");
    assert_eq!(looked.resource("a").1.properties["value"], json!("open-sesame"));
    let shown = format!("{:?}", looked.events);
    assert!(shown.contains("******") && !shown.contains("open-sesame"), "{shown}");
    let mut read = bench_.world.store.read().await.unwrap();
    for row in read.stack_resources(id).await.unwrap() {
        assert!(!String::from_utf8_lossy(&row.sealed).contains("sesame"));
    }
}

#[tokio::test]
async fn an_update_that_replaced_something_is_undone_with_what_was_there() {
    let mut bench_ = Bench::new().await;
    let options = StackOptions { is_rollback_enabled: true, ..StackOptions::default() };
    let body = |length: u32, is_bad: bool| {
        let mut all = json!({
            "word": { "type": "OS::Heat::RandomString", "properties": { "length": length } },
        });
        if is_bad {
            all["z"] =
                with(with(bench("z"), "properties/fail", json!(true)), "depends_on", json!("word"));
        }
        template(all)
    };
    let id = bench_.create_with("s", &body(8, false), options).await;
    let before = bench_.look(id).await;
    bench_.update(id, &body(9, true)).await;
    assert_eq!(bench_.standing(id).await, complete("ROLLBACK"));
    let after = bench_.look(id).await;
    assert_eq!(after.rows.len(), 1);
    assert_eq!(after.resource("word").0.id, before.resource("word").0.id, "the former one is back");
    assert_eq!(after.resource("word").1, before.resource("word").1);
}
