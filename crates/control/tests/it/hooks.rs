//! Event hooks against receivers that fail, hang and recover: nothing is lost, and the order of events about one
//! object is kept.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostler_base::reconcile::Reconciler as _;
use hostler_control::{Control, ControlConfig, EventQuery, HookDeliver, HookDispatch, NewTask};
use hostler_egress::{Egress, Options, Policy};
use hostler_model::{
    Actor, ActorKind, Code, DeliveryState, Event, EventHookSpec, EventKind, Generation, Limit,
    Name, NewEvent, ObjectKind, ObjectRef, TaskStateKind, WorkloadSpec,
};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::World;
use serde_json::{Value, json};

/// `HOSTLER_HOOK_EVENTS=100000` raises it, and takes some minutes; `bench/hooks` does as many on a real server.
const EVENTS: usize = 2_000;
const HOOKS: usize = 50;
const OBJECTS: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Manner {
    Well,
    Fails,
    /// Every third call is answered badly, every seventh not at all.
    Moody,
}

/// What was accepted: the delivery's id, the object and the event's number, in order of arrival.
type Got = (String, String, u64);

/// A receiver that behaves as the test wants and remembers what it accepted.
struct Receiver {
    port: u16,
    manner: Arc<AtomicU8>,
    got: Arc<Mutex<Vec<Got>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let receiver = Receiver {
            port,
            manner: Arc::new(AtomicU8::new(Manner::Well as u8)),
            got: Arc::default(),
            requests: Arc::default(),
        };
        let (manner, got) = (Arc::clone(&receiver.manner), Arc::clone(&receiver.got));
        let requests = Arc::clone(&receiver.requests);
        std::thread::spawn(move || {
            for (n, stream) in listener.incoming().enumerate() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = read_request(&mut stream) else { continue };
                let manner = manner.load(Ordering::SeqCst);
                let status = match manner {
                    m if m == Manner::Fails as u8 => 503,
                    m if m == Manner::Moody as u8 && n % 7 == 6 => continue,
                    m if m == Manner::Moody as u8 && n % 3 == 2 => 500,
                    _ => 200,
                };
                if status == 200 {
                    got.lock().unwrap().push(parsed(&request));
                }
                requests.lock().unwrap().push(request);
                let answer = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n");
                let _gone = stream.write_all(answer.as_bytes());
            }
        });
        receiver
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/in", self.port)
    }

    fn behave(&self, manner: Manner) {
        self.manner.store(manner as u8, Ordering::SeqCst);
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    fn request(&self, n: usize) -> String {
        self.requests.lock().unwrap()[n].clone()
    }
}

fn parsed(request: &str) -> Got {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let key = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("idempotency-key: ").map(str::to_owned)
        })
        .unwrap();
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let object = body["object"]["id"].as_str().unwrap_or_default().to_owned();
    (key, object, body["sequence"].as_u64().unwrap_or_default())
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let (mut bytes, mut part) = (Vec::new(), [0; 8192]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            if body.len() >= length.unwrap_or(0usize) {
                return Some(text);
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
        }
    }
}

async fn world() -> World {
    world_on(Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap()).await
}

async fn world_on(store: Store) -> World {
    let policy = Policy { allow: vec!["127.0.0.1".parse().unwrap()], ..Policy::default() };
    let egress = Egress::new(Options { policy, ..Options::default() });
    World::configured(store, 7, ControlConfig { egress, ..ControlConfig::default() }).await
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn spec(json: Value) -> EventHookSpec {
    serde_json::from_value(json).unwrap()
}

async fn hook(world: &World, called: &str, json: Value) {
    let called = name(called);
    let set = world.control.event_hook_set(
        &world.cx,
        Some(&world.project),
        &called,
        spec(json),
        Generation::ZERO,
    );
    Box::pin(set).await.unwrap();
}

fn happened(world: &World, object: &str, message: &str) -> NewEvent {
    NewEvent {
        kind: EventKind::TaskFailed,
        project_id: Some(world.project.id),
        object: ObjectRef::new(ObjectKind::Task, object, object),
        actor: Actor { kind: ActorKind::System, name: "test".to_owned() },
        message: message.to_owned(),
        payload: None,
        correlation: None,
        time: world.now(),
    }
}

async fn happen(world: &World, events: &[NewEvent]) {
    for part in events.chunks(500) {
        let written: Result<(), hostler_store::Error> =
            world.store.tx("test", |tx| Box::pin(tx.journal_append(part, &[]))).await;
        written.unwrap();
    }
}

/// One server's hands: dispatching and delivering, advanced by the test.
struct Server {
    dispatch: HookDispatch,
    deliver: HookDeliver,
}

impl Server {
    fn new(control: &Control) -> Server {
        Server {
            dispatch: control.hook_dispatch_reconciler(),
            deliver: control.hook_deliver_reconciler(),
        }
    }

    async fn pass(&mut self) -> usize {
        let dispatched = self.dispatch.reconcile().await;
        assert_eq!(dispatched.error, None);
        let delivered = self.deliver.reconcile().await;
        assert_eq!(delivered.error, None);
        tokio::task::yield_now().await;
        delivered.report.under_way
    }
}

/// Passes until `is_over`; the clock runs, so that what waits for its next try gets it.
async fn until(world: &World, servers: &mut [Server], is_over: impl AsyncFn(&World) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(240);
    while !is_over(world).await {
        assert!(Instant::now() < deadline, "it does not come to an end");
        let mut under_way = 0;
        for server in &mut *servers {
            under_way += server.pass().await;
        }
        if under_way > 0 {
            tokio::time::timeout(Duration::from_millis(5), std::future::pending::<()>()).await.ok();
        }
        world.advance(Duration::from_millis(200));
    }
}

async fn counts(world: &World) -> BTreeMap<DeliveryState, u64> {
    world.store.read().await.unwrap().hook_delivery_counts(None).await.unwrap()
}

async fn is_done(world: &World, done: u64) -> bool {
    counts(world).await.get(&DeliveryState::Done).copied().unwrap_or_default() == done
}

async fn events(world: &World, kind: EventKind) -> Vec<Event> {
    let query = EventQuery { kind: Some(kind.into()), ..EventQuery::default() };
    world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap().items
}

/// In the order in which they were accepted first, the numbers of each object only grow.
fn assert_ordered(got: &[Got]) {
    let mut last: HashMap<(&str, &str), u64> = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    for (key, object, sequence) in got {
        if !seen.insert(key) {
            continue;
        }
        let hook = key.rsplit_once('/').unwrap().0;
        let before = last.insert((hook, object), *sequence);
        assert!(before.is_none_or(|before| before < *sequence), "{object}: {before:?}, {sequence}");
    }
}

#[tokio::test]
async fn an_event_is_delivered_signed_and_once() {
    let world = world().await;
    let receiver = Receiver::start();
    let secret = hostler_trust::SecretBytes::new(b"key".to_vec());
    world
        .control
        .secret_set(&world.cx, &world.project, &"hook-key".parse().unwrap(), &secret, false)
        .await
        .unwrap();
    hook(
        &world,
        "tell",
        json!({
            "on": ["task.failed"], "filter": "object.name startsWith \"web\"",
            "action": { "webhook": { "url": receiver.url(), "sign": "hook-key" } },
        }),
    )
    .await;
    happen(&world, &[happened(&world, "web-1", "a"), happened(&world, "db-1", "b")]).await;
    let mut servers = [Server::new(&world.control)];
    until(&world, &mut servers, async |world| is_done(world, 1).await).await;
    servers[0].pass().await;
    let got = receiver.got();
    assert_eq!(got.len(), 1, "the filter takes one, and it is delivered once");
    assert_eq!(got[0].1, "web-1");
    let request = receiver.request(0);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let line = head.lines().find(|line| line.starts_with("hostler-signature: t=")).unwrap();
    let time: i64 =
        line["hostler-signature: t=".len()..].split(',').next().unwrap().parse().unwrap();
    let expected = hostler_trust::webhook::signature(b"key", time, body.as_bytes());
    assert_eq!(line, format!("hostler-signature: {expected}"));
    let page = world
        .control
        .hook_delivery_list(&world.cx, Some(&world.project), "tell", None, None, Limit::DEFAULT)
        .await
        .unwrap();
    assert_eq!(page.items[0].status, Some(200));
    assert_eq!(page.items[0].key(), got[0].0);
}

fn events_of_the_run() -> usize {
    let asked = std::env::var("HOSTLER_HOOK_EVENTS");
    asked.map_or(EVENTS, |number| number.parse().expect("HOSTLER_HOOK_EVENTS is a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_events_through_many_hooks_with_bad_receivers() {
    let world = world().await;
    many(&world, events_of_the_run()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_events_on_postgres_with_two_servers() {
    let Some(schema) = crate::postgres::Schema::create("hooks") else { return };
    let world = world_on(schema.open().await).await;
    many(&world, events_of_the_run() / 10).await;
}

/// Through two servers, with receivers that fail at first, hang now and then, and recover.
async fn many(world: &World, count: usize) {
    let receivers: Vec<Receiver> = (0..5).map(|_| Receiver::start()).collect();
    for n in 0..HOOKS {
        let receiver = &receivers[n % receivers.len()];
        // Each event is for one of ten hooks, so that the number of deliveries stays that of five times the events.
        let filter = format!("message == \"{}\"", n % 10);
        hook(
            world,
            &format!("h{n}"),
            json!({
                "on": ["task.*"], "filter": filter, "timeLimit": "2s",
                "retry": { "attempts": 100, "min": "100ms", "max": "1s", "giveUpAfter": "30d" },
                "action": { "webhook": { "url": receiver.url() } },
            }),
        )
        .await;
    }
    receivers[0].behave(Manner::Fails);
    receivers[1].behave(Manner::Moody);
    let news: Vec<NewEvent> = (0..count)
        .map(|n| happened(world, &format!("t{}", n % OBJECTS), &(n % 10).to_string()))
        .collect();
    happen(world, &news).await;
    let mut servers = [Server::new(&world.control), Server::new(&world.another_server().await)];
    let expected = (count * HOOKS / 10) as u64;
    let of_the_well = expected * 4 / 5;
    until(world, &mut servers, async |world| {
        let done = counts(world).await.get(&DeliveryState::Done).copied().unwrap_or_default();
        done >= of_the_well * 9 / 10
    })
    .await;
    assert!(receivers[0].got().is_empty());
    receivers[0].behave(Manner::Well);
    until(world, &mut servers, async |world| is_done(world, expected).await).await;
    assert_eq!(counts(world).await, BTreeMap::from([(DeliveryState::Done, expected)]));
    let mut ids = std::collections::HashSet::new();
    for receiver in &receivers {
        let got = receiver.got();
        assert_ordered(&got);
        ids.extend(got.into_iter().map(|(key, ..)| key));
    }
    assert_eq!(ids.len() as u64, expected, "none is lost");
}

#[tokio::test]
async fn a_server_that_dies_in_between_delivers_again_under_the_same_id() {
    let world = world().await;
    let receiver = Receiver::start();
    hook(
        &world,
        "tell",
        json!({ "on": ["*"], "action": { "webhook": { "url": receiver.url() } } }),
    )
    .await;
    happen(&world, &[happened(&world, "a", "1"), happened(&world, "a", "2")]).await;
    let mut first = Server::new(&world.control);
    first.pass().await;
    let deadline = Instant::now() + Duration::from_secs(20);
    while receiver.got().is_empty() {
        assert!(Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    drop(first);
    assert_eq!(counts(&world).await.get(&DeliveryState::Performing), Some(&1), "nobody noted it");
    let mut second = Server::new(&world.another_server().await);
    second.pass().await;
    assert_eq!(receiver.got().len(), 1, "its lease is not over");
    world.advance(Duration::from_secs(60));
    until(&world, &mut [second], async |world| is_done(world, 2).await).await;
    let got = receiver.got();
    let numbers: Vec<u64> = got.iter().map(|(.., sequence)| *sequence).collect();
    assert_eq!((got.len(), got[0].0 == got[1].0), (3, true), "at least once, with the same id");
    assert!(numbers[0] == numbers[1] && numbers[1] < numbers[2], "{numbers:?}");
}

#[tokio::test]
async fn what_cannot_be_delivered_is_a_dead_letter_and_can_be_replayed() {
    let world = world().await;
    let receiver = Receiver::start();
    receiver.behave(Manner::Fails);
    hook(
        &world,
        "tell",
        json!({
            "on": ["task.failed"], "retry": { "attempts": 3 }, "onDead": "block",
            "action": { "webhook": { "url": receiver.url() } },
        }),
    )
    .await;
    happen(&world, &[happened(&world, "a", "1"), happened(&world, "a", "2")]).await;
    let mut servers = [Server::new(&world.control)];
    until(&world, &mut servers, async |world| {
        counts(world).await.contains_key(&DeliveryState::Dead)
    })
    .await;
    let told = events(&world, EventKind::HookDeadLetter).await;
    assert_eq!(told.len(), 1);
    let payload = serde_json::to_value(told[0].event.payload.as_ref()).unwrap();
    assert_eq!(payload["attempts"], 3, "{payload}");
    assert!(payload["reason"].as_str().unwrap().contains("503"), "{payload}");
    world.advance(Duration::from_secs(3600));
    servers[0].pass().await;
    assert_eq!(counts(&world).await.get(&DeliveryState::Queued), Some(&1), "the next one waits");
    receiver.behave(Manner::Well);
    let replay = world.control.hook_delivery_replay(&world.cx, Some(&world.project), "tell", None);
    assert_eq!(replay.await.unwrap(), 1);
    until(&world, &mut servers, async |world| is_done(world, 2).await).await;
    assert_ordered(&receiver.got());
    let again = world.control.hook_delivery_replay(
        &world.cx,
        Some(&world.project),
        "tell",
        Some(told[0].sequence),
    );
    assert_eq!(again.await.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn addresses_inside_are_refused_when_the_hook_is_made() {
    let world = World::new(3).await;
    let set = async |url: &str| {
        let spec = spec(json!({ "on": ["*"], "action": { "webhook": { "url": url } } }));
        Box::pin(world.control.event_hook_set(
            &world.cx,
            Some(&world.project),
            &name("tell"),
            spec,
            Generation::ZERO,
        ))
        .await
    };
    for url in ["http://127.0.0.1:1/", "http://10.0.0.1/x", "http://169.254.169.254/latest"] {
        let refused = set(url).await.unwrap_err();
        assert_eq!(refused.code, Code::Invalid);
        let problem = &refused.errors[0];
        assert_eq!(problem.pointer, "/action/webhook/url");
        assert!(problem.detail.contains("is not called from here"), "{}", problem.detail);
    }
}

#[tokio::test]
async fn a_hook_acts_with_the_rights_its_owner_has_then() {
    let world = world().await;
    let receiver = Receiver::start();
    hook(
        &world,
        "tell",
        json!({ "on": ["task.failed"], "action": { "webhook": { "url": receiver.url() } } }),
    )
    .await;
    let id = world.cx.caller.principal_id;
    let taken: Result<(), hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            Box::pin(tx.role_binding_set(
                id,
                hostler_model::Scope::Global,
                hostler_model::Role::Viewer,
            ))
        })
        .await;
    taken.unwrap();
    happen(&world, &[happened(&world, "a", "1")]).await;
    let mut servers = [Server::new(&world.control)];
    until(&world, &mut servers, async |world| {
        counts(world).await.contains_key(&DeliveryState::Dead)
    })
    .await;
    assert!(receiver.got().is_empty());
    let told = events(&world, EventKind::HookDeadLetter).await;
    assert!(
        told[0].event.message.contains("may not do this any more"),
        "{}",
        told[0].event.message
    );
}

#[tokio::test]
async fn a_hook_that_answers_tasks_with_tasks_is_stopped_and_told_of_once() {
    let world = world().await;
    let json = json!({
        "on": ["task.created"],
        "action": { "task": { "spec": { "command": ["true"] } } },
        "retry": { "attempts": 1 },
    });
    hook(&world, "echo", json.clone()).await;
    let task = NewTask { name: Some(name("first")), spec: WorkloadSpec::command(["true"]) };
    world.control.task_submit(&world.cx, &world.project, vec![task]).await.unwrap();
    let mut servers = [Server::new(&world.control)];
    until(&world, &mut servers, async |world| {
        !events(world, EventKind::HookLoopCut).await.is_empty()
    })
    .await;
    for _ in 0..20 {
        servers[0].pass().await;
        world.advance(Duration::from_secs(1));
    }
    assert_eq!(events(&world, EventKind::HookLoopCut).await.len(), 1, "told once");
    let made = events(&world, EventKind::TaskCreated).await;
    assert_eq!(made.len(), 5, "the first, the answer, and three answers to itself");
    let causes: Vec<&str> = made
        .iter()
        .filter_map(|event| event.event.correlation.as_deref())
        .filter(|cause| cause.starts_with("hook/"))
        .collect();
    assert_eq!(causes.len(), 4);
    let counts = counts(&world).await;
    assert_eq!(counts.get(&DeliveryState::Following), Some(&4), "they wait for their tasks");
}

#[tokio::test]
async fn a_task_is_followed_knows_the_event_and_is_stopped_when_it_never_ends() {
    let world = world().await;
    hook(
        &world,
        "run",
        json!({
            "on": ["task.failed"], "timeLimit": "1m",
            "action": { "task": { "name": "answer", "spec": { "command": ["sleep", "9"] } } },
        }),
    )
    .await;
    happen(&world, &[happened(&world, "a", "1")]).await;
    let mut servers = [Server::new(&world.control)];
    until(&world, &mut servers, async |world| {
        counts(world).await.contains_key(&DeliveryState::Following)
    })
    .await;
    let made = events(&world, EventKind::TaskCreated).await.remove(0).event.object;
    let task = world.control.task_get(&world.cx, &world.project, &made.id).await.unwrap();
    let env = &task.workload.spec.env;
    assert_eq!(env["EVENT_KIND"], "task.failed");
    let event: Value = serde_json::from_str(&env["EVENT"]).unwrap();
    assert_eq!(event["object"]["id"], "a");
    world.advance(Duration::from_secs(61));
    until(&world, &mut servers, async |world| {
        counts(world).await.contains_key(&DeliveryState::Dead)
    })
    .await;
    let told = events(&world, EventKind::HookDeadLetter).await;
    assert!(told[0].event.message.contains("ran longer than 1m"), "{}", told[0].event.message);
    let task = world.control.task_get(&world.cx, &world.project, &made.id).await.unwrap();
    assert_eq!(task.workload.state.kind(), TaskStateKind::Killed);
}

#[tokio::test]
async fn a_lua_file_becomes_a_workflow_that_is_given_the_event() {
    let world = world().await;
    let lua = |text: &str| json!({ "on": ["task.failed"], "action": { "lua": { "file": "tidy.lua", "text": text } } });
    let refused = Box::pin(world.control.event_hook_set(
        &world.cx,
        Some(&world.project),
        &name("tidy"),
        spec(lua("workflow.define('x')")),
        Generation::ZERO,
    ))
    .await
    .unwrap_err();
    assert!(refused.errors[0].detail.contains("has no function `on_event(event)`"), "{refused:?}");
    hook(&world, "tidy", lua("function on_event(event) return event.kind == 'task.failed' end"))
        .await;
    happen(&world, &[happened(&world, "a", "1")]).await;
    let mut servers = [Server::new(&world.control)];
    until(&world, &mut servers, async |world| {
        counts(world).await.contains_key(&DeliveryState::Following)
    })
    .await;
    let begun = events(&world, EventKind::ExecutionCreated).await.remove(0).event;
    assert_eq!(begun.object.name, "hook:tidy");
    let id = begun.object.id.parse().unwrap();
    let execution = world.control.execution_get(&world.project, id).await.unwrap().execution;
    assert_eq!(execution.values["event"]["kind"], "task.failed");
    assert_eq!(execution.values["event"]["type"], "task.failed", "as other tools call it");

    let kept = async || {
        let page = world.control.workflow_list(&world.project, None, Limit::DEFAULT).await.unwrap();
        page.items.into_iter().map(|one| one.version.name).collect::<Vec<_>>()
    };
    assert_eq!(kept().await, ["hook:tidy"]);
    let (control, project) = (&world.control, Some(&world.project));
    let set = async |given: Value| {
        let known = control.event_hook_get(&world.cx, project, "tidy").await.unwrap();
        let at = known.hook.generation;
        Box::pin(control.event_hook_set(&world.cx, project, &name("tidy"), spec(given), at)).await
    };
    let task = json!({ "task": { "spec": { "command": ["true"] } } });
    set(json!({ "on": ["task.failed"], "action": task })).await.unwrap();
    assert_eq!(kept().await, [""; 0], "nothing needs it any more");
    set(lua("function on_event(event) return true end")).await.unwrap();
    assert_eq!(kept().await, ["hook:tidy"]);
    let at = control.event_hook_get(&world.cx, project, "tidy").await.unwrap().hook.generation;
    control.event_hook_remove(&world.cx, project, "tidy", at).await.unwrap();
    assert_eq!(kept().await, [""; 0], "it goes with its hook");
}

#[tokio::test]
async fn hooks_hear_nothing_of_what_was_before_them_or_while_they_were_off() {
    let world = world().await;
    let receiver = Receiver::start();
    let mut servers = [Server::new(&world.control)];
    happen(&world, &[happened(&world, "before", "1")]).await;
    hook(
        &world,
        "tell",
        json!({ "on": ["task.failed"], "action": { "webhook": { "url": receiver.url() } } }),
    )
    .await;
    let (control, project) = (&world.control, Some(&world.project));
    control.event_hook_enable(&world.cx, project, "tell", false).await.unwrap();
    happen(&world, &[happened(&world, "off", "1")]).await;
    servers[0].pass().await;
    control.event_hook_enable(&world.cx, project, "tell", true).await.unwrap();
    happen(&world, &[happened(&world, "on", "1")]).await;
    until(&world, &mut servers, async |world| is_done(world, 1).await).await;
    assert_eq!(receiver.got().iter().map(|got| got.1.as_str()).collect::<Vec<_>>(), ["on"]);
}

#[tokio::test]
async fn a_test_delivers_one_event_and_says_what_happened() {
    let world = world().await;
    let receiver = Receiver::start();
    hook(
        &world,
        "tell",
        json!({
            "on": ["node.*"],
            "action": { "webhook": { "url": receiver.url(), "format": "slack" } },
        }),
    )
    .await;
    happen(&world, &[happened(&world, "a", "1")]).await;
    let newest = world.control.event_head().await.unwrap();
    let test = async |number| {
        Box::pin(world.control.event_hook_test(&world.cx, Some(&world.project), "tell", number))
            .await
    };
    let done = test(newest).await.unwrap();
    assert!(done.is_done && !done.is_match, "{done:?}");
    assert_eq!(done.status, Some(200));
    assert!(receiver.request(0).contains("*task.failed* task `a`: 1"), "{}", receiver.request(0));
    receiver.behave(Manner::Fails);
    let failed = test(newest).await.unwrap();
    assert!(!failed.is_done && failed.status == Some(503), "{failed:?}");
    assert_eq!(test(newest + 100).await.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn events_are_listed_and_followed_by_a_filter() {
    let world = world().await;
    let news: Vec<NewEvent> =
        (0..30).map(|n| happened(&world, &format!("t{n}"), &n.to_string())).collect();
    happen(&world, &news).await;
    let filter =
        hostler_model::filter::Filter::read("object.name =~ \"^t1\"", &hostler_model::EVENT_FIELDS);
    let query = EventQuery { filter: Some(filter.unwrap()), ..EventQuery::default() };
    let page =
        world.control.event_list(&world.cx, &query, None, Limit::new(5).unwrap()).await.unwrap();
    let names: Vec<&str> = page.items.iter().map(|one| one.event.object.name.as_str()).collect();
    assert_eq!(names, ["t19", "t18", "t17", "t16", "t15"]);
    let next = page.next.unwrap().parse().unwrap();
    let rest =
        world.control.event_list(&world.cx, &query, Some(next), Limit::DEFAULT).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (6, None));
    let mut follower = world.control.event_follow(&world.cx, query, 0);
    let seen = follower.next(Duration::ZERO).await.unwrap();
    assert_eq!(seen.len(), 11);
}
