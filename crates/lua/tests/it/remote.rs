//! What steps on nodes share, through a socket that somebody else answers at.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::codec::bytes_of;
use hostler_lua::modules::services::wire::{Ask, Reply, StackWant};
use hostler_lua::modules::services::{
    Change, Changed, Entry, Line, RemoteServices, Services, Stack, StackAct,
};
use hostler_lua::modules::{Acting, Sink, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::Timestamp;
use hostler_model::workflow::{StepEnd, StepResult};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixListener;

#[derive(Default)]
struct Words(RefCell<Vec<String>>);

impl Sink for Words {
    fn say(&self, _: Stream, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

type Heard = Arc<Mutex<Vec<Ask>>>;

/// Answers at a socket, for as long as the thread's runtime lives; `None` is to hang up without an answer.
fn agent(socket: &Path, answer: impl Fn(usize, &Ask) -> Option<Reply> + 'static) -> Heard {
    let heard = Heard::default();
    let (listener, told) = (UnixListener::bind(socket).unwrap(), Arc::clone(&heard));
    let answer = Rc::new(answer);
    tokio::task::spawn_local(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (told, answer) = (Arc::clone(&told), Rc::clone(&answer));
            tokio::task::spawn_local(async move {
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                stream.read_line(&mut line).await.unwrap();
                let ask: Ask = serde_json::from_str(&line).unwrap();
                let number = {
                    let mut told = told.lock().unwrap();
                    told.push(ask.clone());
                    told.len()
                };
                if let Some(reply) = answer(number, &ask) {
                    stream.write_all(&serde_json::to_vec(&reply).unwrap()).await.unwrap();
                }
            });
        }
    });
    heard
}

fn block_on<T>(f: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, f)
}

struct World {
    folder: tempfile::TempDir,
    line: Arc<Line>,
    words: Rc<Words>,
}

impl World {
    fn new(patience: Duration) -> World {
        let folder = tempfile::tempdir().unwrap();
        let line = Line::new(folder.path().join("steps.sock")).with_patience(patience);
        World { folder, line: Arc::new(line), words: Rc::default() }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("steps.sock")
    }

    fn services(&self) -> RemoteServices {
        RemoteServices::new(Arc::clone(&self.line))
    }

    async fn run(&self, text: &str) -> StepResult {
        let bundle =
            Bundle { name: "example.lua".into(), text: text.into(), files: BTreeMap::new() };
        let performer = Performer::new(bundle, &Given::default()).unwrap();
        let acting = Rc::new(Acting {
            workdir: self.folder.path().to_owned(),
            environment: BTreeMap::new(),
            secrets: BTreeMap::new(),
            sink: Rc::clone(&self.words) as Rc<dyn Sink>,
            check: false,
            exported: RefCell::default(),
            services: Rc::new(self.services()),
        });
        performer.step("example", "main", Input::default(), acting).await
    }

    async fn well(&self, text: &str) {
        let result = self.run(text).await;
        assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
    }
}

const LONG: Duration = Duration::from_secs(20);

fn entry(value: Json) -> Entry {
    Entry { value, time_modified: Timestamp::EPOCH, time_expires: None }
}

fn changed(after: Json) -> Reply {
    Reply::Changed(Changed { is_applied: true, before: None, after: Some(after) })
}

#[test]
fn the_modules_say_what_is_meant_and_read_what_is_answered() {
    let world = World::new(LONG);
    block_on(async {
        let heard = agent(&world.socket(), |_, ask| {
            Some(match ask {
                Ask::StateGet { key } if key == "none" => Reply::Entry(None),
                Ask::StateGet { .. } => Reply::Entry(Some(entry(json!({ "a": [1, "x"] })))),
                Ask::StateChange { change: Change::Add(by), .. } => changed(json!(by + 1.0)),
                Ask::StateChange { change: Change::Set { value, .. }, .. } => {
                    changed(value.clone())
                }
                Ask::StateChange { .. } => changed(json!("abc")),
                Ask::StateList { after: None, .. } => Reply::Entries {
                    entries: vec![("a.1".into(), entry(json!(1))), ("b".into(), entry(json!(2)))],
                    next: Some("b".into()),
                },
                Ask::StateList { .. } => {
                    Reply::Entries { entries: vec![("a.2".into(), entry(json!(3)))], next: None }
                }
                Ask::StateForget { keys } => Reply::Forgotten(keys.len()),
                Ask::EventEmit { .. } => Reply::Event("17".into()),
                other => panic!("{other:?}"),
            })
        });
        world
            .well(
                "assert(state.get('k').a[2] == 'x' and state.get('none') == nil and state.get('none', 7) == 7)
                 assert(state.increment('n', 4) == 5)
                 assert(state.append('log', 'c') == 3)
                 assert(state.set('b', '\\0\\255'))
                 assert(table.concat(state.keys('a.*'), ' ') == 'a.1 a.2')
                 local ok, count = state.clear('a.*')
                 assert(ok and count == 2)
                 local ok, id = event.dispatch('deploy.started', { message = 'it begins' })
                 assert(ok and id == '17')
                 assert(event.dispatch_custom('team', 'done'))",
            )
            .await;
        let heard = heard.lock().unwrap();
        let set = heard.iter().find_map(|ask| match ask {
            Ask::StateChange { change: Change::Set { value, .. }, .. } => Some(value.clone()),
            _ => None,
        });
        assert_eq!(bytes_of(&set.unwrap()).unwrap(), [0, 255]);
        let events: Vec<_> = heard
            .iter()
            .filter_map(|ask| match ask {
                Ask::EventEmit { name, message, .. } => Some((name.as_str(), message.as_str())),
                _ => None,
            })
            .collect();
        assert_eq!(events, [("deploy.started", "it begins"), ("team", "done")]);
    });
}

#[test]
fn what_is_refused_is_said_and_whoever_is_away_is_waited_for() {
    let world = World::new(LONG);
    block_on(async {
        let heard = agent(&world.socket(), |number, ask| match (number, ask) {
            (_, Ask::StateGet { .. }) => Some(Reply::Refused("you may not: state.read".into())),
            (2, _) => None,
            (3, _) => Some(Reply::Later("no server".into())),
            _ => Some(changed(json!(1))),
        });
        world
            .well(
                "local none, err = state.get('k')
                 assert(none == nil and err:find('state.read'), err)
                 assert(state.increment('n') == 1)",
            )
            .await;
        let heard = heard.lock().unwrap();
        let ids: Vec<_> = heard
            .iter()
            .filter_map(|ask| match ask {
                Ask::StateChange { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(ids.len(), 3, "it is asked until somebody answers");
        assert!(ids.iter().all(|id| *id == ids[0]), "and is the same change");
    });
}

#[test]
fn nobody_waits_for_ever() {
    let world = World::new(Duration::from_millis(200));
    block_on(async {
        let begun = Instant::now();
        world
            .well(
                "local n, err = state.increment('n')
                 assert(n == nil and err:find('agent of this node') and err:find('try again'), err)
                 local ok, err = event.dispatch('a')
                 assert(not ok and err:find('agent of this node'), err)
                 local ok, err = state.lock('l')
                 assert(not ok and err:find('agent of this node'), err)",
            )
            .await;
        assert!(begun.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn a_lock_keeps_its_place_is_told_to_be_held_and_is_given_back() {
    let world = World::new(LONG);
    block_on(async {
        let heard = agent(&world.socket(), |number, ask| {
            Some(match ask {
                Ask::LockTake { wait: Some(_), .. } if number < 3 => {
                    Reply::Busy { who: "n2".into(), until: Timestamp::EPOCH }
                }
                Ask::LockTake { wait: None, .. } => {
                    Reply::Busy { who: "n2".into(), until: Timestamp::EPOCH }
                }
                Ask::LockTake { .. } => Reply::Held(7),
                Ask::LockRenew { .. } | Ask::LockRelease { .. } => Reply::Done(true),
                other => panic!("{other:?}"),
            })
        });
        world
            .well(
                "local ok, number = state.lock('deploy')
                 assert(ok and number == 7)
                 assert(state.unlock('deploy'))
                 local ok, err = state.try_lock('deploy')
                 assert(not ok and err:find('held by n2'), err)
                 assert(state.lock('kept'))",
            )
            .await;
        let words: Vec<_> = heard
            .lock()
            .unwrap()
            .iter()
            .map(|ask| match ask {
                Ask::LockTake { name, wait, .. } => format!("take {name} {}", wait.is_some()),
                Ask::LockRenew { name, .. } => format!("renew {name}"),
                Ask::LockRelease { name, .. } => format!("release {name}"),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [
            "take deploy true",
            "take deploy true",
            "take deploy true",
            "renew deploy",
            "release deploy",
            "take deploy false",
            "take kept true",
            "renew kept",
        ];
        assert_eq!(words, expected);
        let holds: Vec<_> = heard
            .lock()
            .unwrap()
            .iter()
            .filter_map(|ask| match ask {
                Ask::LockTake { hold, wait: Some(_), .. } => Some(hold.clone()),
                _ => None,
            })
            .collect();
        assert!(holds[0] == holds[1] && holds[1] == holds[2] && holds[2] != holds[3]);

        // What a step still holds is given back at its end, however it ended.
        world.line.let_go().await;
        let last = heard.lock().unwrap().last().cloned();
        assert!(matches!(last, Some(Ask::LockRelease { name, .. }) if name == "kept"));
        world.line.let_go().await;
        assert_eq!(heard.lock().unwrap().len(), words.len() + 1, "once");
    });
}

#[test]
fn whoever_gives_up_gives_the_place_back() {
    let world = World::new(LONG);
    block_on(async {
        let heard = agent(&world.socket(), |_, ask| {
            Some(match ask {
                Ask::LockTake { .. } => Reply::Busy { who: "n2".into(), until: Timestamp::EPOCH },
                Ask::LockRelease { .. } => Reply::Done(true),
                other => panic!("{other:?}"),
            })
        });
        world
            .well(
                "local ok, err = state.lock('deploy', 0.05)
                 assert(not ok and err:find('held by n2'), err)",
            )
            .await;
        let heard = heard.lock().unwrap();
        let Some(Ask::LockTake { hold: asked, .. }) = heard.first() else { panic!("{heard:?}") };
        let Some(Ask::LockRelease { hold, .. }) = heard.last() else { panic!("{heard:?}") };
        assert_eq!(asked, hold);
    });
}

#[test]
fn what_is_done_with_the_stack_is_asked_for_and_answered() {
    let world = World::new(LONG);
    block_on(async {
        let heard = agent(&world.socket(), |_, ask| {
            Some(match ask {
                Ask::Stack { want: StackWant::Look, .. } => Reply::Stack(Some(Stack {
                    id: "7".into(),
                    name: "web".into(),
                    status: "completed".into(),
                    outputs: [("url".to_owned(), json!("x"))].into_iter().collect(),
                    lock: "stack/web".into(),
                    is_locked: true,
                })),
                Ask::Stack { want: StackWant::Act(StackAct::Validate), .. } => {
                    let line = json!({ "check": "disk", "result": "failed", "message": "full" });
                    Reply::Came(json!({ "passed": false, "checks": [line] }))
                }
                Ask::Stack { want: StackWant::Act(StackAct::Snapshot { name }), .. } => {
                    assert_eq!(name, "before");
                    Reply::Came(json!({ "id": "s-1" }))
                }
                Ask::Stack { want: StackWant::Act(StackAct::Rollback { point }), .. } => {
                    assert_eq!(point.as_deref(), Some("v3"));
                    Reply::Refused("there is no v3".into())
                }
                Ask::Watcher { .. } => Reply::Refused("`hostler watcher apply`".into()),
                other => panic!("{other:?}"),
            })
        });
        world
            .well(
                "assert(stack.get_name() == 'web' and stack.get_output('url') == 'x')
                 assert(stack.acquire_lock(), 'the execution has it')
                 local ok, lines = stack.validate()
                 assert(ok == false and lines[1].message == 'full')
                 assert(stack.snapshot('before') == 's-1')
                 local done, why = stack.rollback('v3')
                 assert(not done and why:find('no v3'), why)",
            )
            .await;
        let why = world.services().watcher_list().await.unwrap_err().to_string();
        assert!(why.contains("watcher apply"), "{why}");
        let taken = heard.lock().unwrap().iter().any(|ask| matches!(ask, Ask::LockTake { .. }));
        assert!(!taken, "it is not taken twice");
    });
}
