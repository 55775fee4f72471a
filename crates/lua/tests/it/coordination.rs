//! What works together: things at the same time, what is shared with others, and what check mode leaves alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::{
    Answer, Change, Changed, Entry, Holder, LocalServices, Pattern, Registered, Resource,
    ResourceSpec, ServiceError, Services, Stack, StackAct, Taken, Watcher,
};
use hostler_lua::modules::{Acting, Sink, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::{StepEnd, StepResult};
use hostler_model::{Span, Timestamp};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[derive(Default)]
struct Kept(RefCell<Vec<String>>);

impl Sink for Kept {
    fn say(&self, _: Stream, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

/// A directory to work in, and one that is shared with others.
struct World {
    work: tempfile::TempDir,
    shared: tempfile::TempDir,
    sink: Rc<Kept>,
    check: bool,
}

impl World {
    fn new() -> World {
        let folder = || tempfile::tempdir().unwrap();
        World { work: folder(), shared: folder(), sink: Rc::default(), check: false }
    }

    fn services(&self) -> LocalServices {
        LocalServices::new(self.shared.path()).with_stack("shop")
    }

    fn acting(&self) -> Rc<Acting> {
        self.acting_with(Rc::new(self.services()))
    }

    fn acting_with(&self, services: Rc<dyn Services>) -> Rc<Acting> {
        let path = std::env::var("PATH").unwrap_or_default();
        Rc::new(Acting {
            workdir: self.work.path().to_owned(),
            environment: BTreeMap::from([("PATH".to_owned(), path)]),
            secrets: BTreeMap::new(),
            sink: Rc::clone(&self.sink) as Rc<dyn Sink>,
            check: self.check,
            exported: RefCell::default(),
            services,
        })
    }

    fn said(&self) -> Vec<String> {
        self.sink.0.borrow().clone()
    }

    fn run(&self, text: &str) -> StepResult {
        block_on(async {
            let performer = performer(text);
            performer.step("example", "main", Input::default(), self.acting()).await
        })
    }

    /// Runs a text as the body of a task.
    fn run_in_task(&self, body: &str) -> StepResult {
        let text =
            format!("workflow.define('w'):tasks({{ task('t'):command(function()\n{body}\nend) }})");
        block_on(async { performer(&text).step("w", "t", Input::default(), self.acting()).await })
    }

    /// Runs a text that has to go well.
    fn well(&self, text: &str) {
        let result = self.run(text);
        assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
    }
}

fn performer(text: &str) -> Performer {
    let bundle = Bundle { name: "example.lua".into(), text: text.into(), files: BTreeMap::new() };
    Performer::new(bundle, &Given::default()).unwrap()
}

fn block_on<T>(f: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, f)
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let over = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < over, "waited too long: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn goroutines_really_go_on_at_the_same_time() {
    let world = World::new();
    let began = Instant::now();
    world.well(
        "goroutine.map({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, function() goroutine.sleep(200) end)
         local wg = goroutine.wait_group()
         wg:add(2)
         goroutine.spawn(function() exec.run('sleep 0.2') wg:done() end)
         goroutine.spawn(function() exec.run('sleep 0.2') wg:done() end)
         wg:wait()",
    );
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
}

#[test]
fn goroutines_act_for_the_step_that_started_them() {
    let world = World::new();
    world.well(
        "local ok, out = goroutine.await(goroutine.async(function() return exec.run('pwd').stdout end))
         print(ok, out)
         goroutine.spawn(function() log.info('from beside') end)
         goroutine.sleep(5)",
    );
    let work = world.work.path().canonicalize().unwrap();
    assert_eq!(world.said(), [format!("true\t{}\n", work.display()), "from beside".to_owned()]);
}

#[test]
fn what_a_goroutine_raises_is_told() {
    let world = World::new();
    world.well(
        "goroutine.spawn(function() error('spawned') end)
         goroutine.async(function() error('unheard') end)
         local heard = goroutine.async(function() error('heard') end)
         assert(not goroutine.await(heard))
         goroutine.sleep(2)",
    );
    let said = world.said().join("\n");
    assert!(said.contains("error: a goroutine: spawned (example.lua:1)"), "{said}");
    assert!(said.contains("nobody waited for: unheard"), "{said}");
    assert!(!said.contains(": heard"), "{said}");
}

#[test]
fn what_still_runs_when_the_body_returns_is_ended_with_its_programs() {
    let world = World::new();
    block_on(async {
        let performer = performer(
            "workflow.define('w'):tasks({ task('t'):command(function()
                goroutine.spawn(function() exec.run('echo $$ > pid; exec sleep 600') end)
                repeat goroutine.sleep(5) until exec.run('test -s pid').success
             end) })",
        );
        let result = performer.step("w", "t", Input::default(), world.acting()).await;
        assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
        let pid = std::fs::read_to_string(world.work.path().join("pid")).unwrap();
        until("the program is gone", || !is_running(&pid)).await;
    });
}

#[test]
fn a_step_that_nobody_wants_any_more_takes_its_goroutines_with_it() {
    let world = World::new();
    block_on(async {
        let performer = performer(
            "local h = goroutine.async(function() exec.run('echo $$ > pid; exec sleep 600') end)
             goroutine.await(h)",
        );
        let pid_file = world.work.path().join("pid");
        let read = || std::fs::read_to_string(&pid_file).unwrap_or_default();
        {
            let step = performer.step("example", "main", Input::default(), world.acting());
            tokio::select! {
                _ = step => panic!("it does not end by itself"),
                () = until("the program runs", || !read().trim().is_empty()) => {}
            }
        }
        until("the program is gone", || !is_running(&read())).await;
    });
}

#[test]
fn a_timeout_kills_what_is_waited_for() {
    let world = World::new();
    block_on(async {
        let performer = performer(
            "local ok, err = goroutine.timeout(200, function() exec.run('echo $$ > pid; exec sleep 600') end)
             assert(not ok and err == 'timeout exceeded')
             goroutine.sleep(20)",
        );
        let result = performer.step("example", "main", Input::default(), world.acting()).await;
        assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
        let pid = std::fs::read_to_string(world.work.path().join("pid")).unwrap();
        until("the program is gone", || !is_running(&pid)).await;
    });
}

#[test]
fn a_value_for_somebody_who_gave_up_is_not_lost() {
    World::new().well(
        "local c = goroutine.channel()
         for i = 1, 50 do
            local got
            goroutine.spawn(function() goroutine.sleep(1) c:send(i) end)
            local ok, v = goroutine.timeout(1, function() return (c:receive()) end)
            got = ok and v or c:receive()
            assert(got == i, `wanted {i}, got {got}`)
         end",
    );
}

#[test]
fn a_select_takes_one_case_and_leaves_the_others_alone() {
    World::new().well(
        "local a, b = goroutine.channel(), goroutine.channel()
         local got = {}
         goroutine.spawn(function()
            for _ = 1, 2 do
                goroutine.select({
                    { channel = a, receive = true, handler = function(v) table.insert(got, v) end },
                    { channel = b, receive = true, handler = function(v) table.insert(got, v) end },
                })
            end
         end)
         goroutine.sleep(1)
         a:send('a')
         b:send('b')
         assert(not a:try_send('c') and not b:try_send('c'))
         goroutine.sleep(1)
         assert(table.concat(got) == 'ab')",
    );
}

#[test]
fn mistakes_name_the_function_and_say_what_to_do() {
    for (text, expected) in [
        ("goroutine.pool_submit('w', function() end)", "goroutine.pool_create(\"w\")"),
        ("goroutine.sleep('soon')", "goroutine.sleep: `soon` is no length of time"),
        ("goroutine.sleep(-1)", "goroutine.sleep: -1 milliseconds"),
        ("goroutine.select({ { receive = true } })", "goroutine.select: case 1 needs a channel"),
        (
            "goroutine.map({ 1, 2 }, function(n) error('bad ' .. n) end)",
            "2 of 2 failed: item 1: bad 1",
        ),
        ("goroutine.semaphore(2):acquire(3)", "would wait for ever"),
        ("goroutine.await(5)", "goroutine.await needs what goroutine.async gave"),
        (
            "reliability.retry_with_config({ strategy = 'custom' }, print)",
            "CUSTOM_BACKOFF needs backoff",
        ),
        ("reliability.retry(0, 1, print)", "reliability.retry: attempts"),
        ("async.race({})", "async.race needs at least one"),
        ("stack.update_resource('a', 'b', { state = 'odd' })", "state is one of pending"),
        ("export({ 1, 2 })", "export needs a table of names"),
        ("notifications.slack.send('x')", "notifications.slack.send needs a table"),
    ] {
        let result = World::new().run_in_task(text);
        assert_eq!(result.end, StepEnd::Failed, "{text}");
        assert!(result.message.contains(expected), "{text}: {}", result.message);
    }
}

#[test]
fn a_definition_that_waits_still_defines_its_workflow() {
    let text = "local c, m, wg = goroutine.channel(), goroutine.mutex(), goroutine.wait_group()
        m:lock() m:lock() wg:add(1) wg:wait()
        goroutine.spawn(function() c:send(1) end)
        local v = c:receive()
        state.set('x', 1)
        workflow.define('w'):tasks({ task('t'):command(function()
            goroutine.spawn(function() c:send(7) end)
            assert(c:receive() == 7)
        end) })";
    let world = World::new();
    let result =
        block_on(async { performer(text).step("w", "t", Input::default(), world.acting()).await });
    assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
}

#[test]
fn retries_and_circuits_tell_what_they_do() {
    World::new().well(
        "local told = {}
         local r = reliability.retry_with_config({
            max_attempts = 3, strategy = reliability.strategy.CUSTOM_BACKOFF,
            backoff = function(attempt) return 0.001 * attempt end,
            on_retry = function(attempt, delay, err) table.insert(told, `{attempt} {delay} {err}`) end,
         }, function() return nil, 'down' end)
         assert(r == nil and told[1] == '1 0.001 down' and told[2] == '2 0.002 down')

         local changes = {}
         local opts = { max_failures = 2, timeout = '20ms', success_threshold = 2,
            on_state_change = function(from, to) table.insert(changes, from .. '>' .. to) end }
         local function try(ok) return circuit.protect('api', opts, function() if not ok then error('down') end return 'up' end) end
         try(false) try(false)
         local none, err = try(true)
         assert(none == nil and err:find('open'))
         goroutine.sleep(30)
         assert(try(true) == 'up' and try(true) == 'up')
         assert(table.concat(changes, ' ') == 'closed>open open>half-open half-open>closed')
         assert(reliability.get_circuit_stats('api').total_failures == 2)",
    );
}

#[test]
fn parallel_carries_out_what_has_a_name_and_tells_what_failed() {
    let world = World::new();
    let began = Instant::now();
    world.well(
        "local results, err = async.parallel({
            { name = 'a', command = 'sleep 0.2; echo from a' },
            { name = 'b', command = function() goroutine.sleep(200) return true, 'ok' end },
            { name = 'c', command = function() return false, 'no luck' end },
            { name = 'd', command = 'exit 7' },
            { name = 'e', command = function() return { failed = true, message = 'odd' } end },
            { name = 'f' },
         })
         local told = {}
         for _, r in ipairs(results) do table.insert(told, `{r.name}={r.status}:{r.error or ''}`) end
         print(table.concat(told, ' '))
         print(err)
         assert(results[1].duration >= 0.2)",
    );
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(
        world.said(),
        [
            "from a",
            "a=Success: b=Success: c=Failed:no luck d=Failed:exit code 7 e=Failed:odd f=Success:",
            "3 of 6 failed: c: no luck; d: exit code 7; e: odd",
        ]
    );
}

#[test]
fn what_is_exported_comes_back_with_the_result() {
    let result = World::new().run("export({ a = 1, b = { 'x' } }) export({ a = 2 })");
    assert_eq!(result.exported, json!({ "a": 2, "b": ["x"] }));
}

#[test]
fn state_is_shared_between_steps_and_outlives_them() {
    let world = World::new();
    world.well("state.set('k', { list = { 1, 2 }, on = true }) stack.set_output('url', 'x')");
    world.well(
        "assert(state.get('k').list[2] == 2 and state.get('k').on == true)
         assert(stack.get_name() == 'shop' and stack.get_output('url') == 'x')",
    );
    let mode = std::os::unix::fs::MetadataExt::mode(
        &std::fs::metadata(world.shared.path().join("state.json")).unwrap(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn many_count_together_without_losing_one() {
    let shared = tempfile::tempdir().unwrap();
    let path = shared.path().to_owned();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                let services = LocalServices::new(path);
                block_on(async {
                    for _ in 0..25 {
                        services.state_change("n", Change::Add(1.0)).await.unwrap();
                    }
                });
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let entry = block_on(async { LocalServices::new(path).state_get("n").await.unwrap() });
    assert_eq!(entry.unwrap().value, json!(100));
}

/// Services with a clock that is moved by hand.
fn clocked(folder: &Path) -> (LocalServices, Arc<AtomicI64>) {
    let millis = Arc::new(AtomicI64::new(1_000_000));
    let hands = Arc::clone(&millis);
    let services = LocalServices::new(folder)
        .with_clock(move || Timestamp::from_micros(hands.load(Ordering::SeqCst) * 1000));
    (services, millis)
}

#[test]
fn an_entry_is_gone_exactly_when_its_time_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let (services, millis) = clocked(folder.path());
    block_on(async {
        let ttl = Some(Span::from_millis(500));
        services.state_change("k", Change::Set { value: json!(1), ttl }).await.unwrap();
        millis.fetch_add(499, Ordering::SeqCst);
        assert!(services.state_get("k").await.unwrap().is_some());
        millis.fetch_add(1, Ordering::SeqCst);
        assert!(services.state_get("k").await.unwrap().is_none());
        assert!(services.state_list(&Pattern::everything()).await.unwrap().is_empty());
        let swap = Change::Swap { old: None, new: json!(2) };
        assert!(services.state_change("k", swap).await.unwrap().is_applied);
    });
}

#[test]
fn a_lock_has_one_holder_and_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let (services, millis) = clocked(folder.path());
    let holder = |token: &str| Holder { token: token.into(), who: format!("who {token}") };
    let ttl = Span::from_secs(10);
    block_on(async {
        assert_eq!(
            services.lock_take("l", &holder("a"), ttl).await.unwrap(),
            Taken::Yes { fence: 1 }
        );
        let Taken::No { who, .. } = services.lock_take("l", &holder("b"), ttl).await.unwrap()
        else {
            panic!("somebody has it")
        };
        assert_eq!(who, "who a");
        assert!(!services.lock_release("l", "b").await.unwrap());
        assert!(!services.lock_renew("l", "b", ttl).await.unwrap());
        millis.fetch_add(9_999, Ordering::SeqCst);
        assert!(services.lock_renew("l", "a", ttl).await.unwrap());
        millis.fetch_add(10_000, Ordering::SeqCst);
        assert!(!services.lock_renew("l", "a", ttl).await.unwrap());
        assert_eq!(
            services.lock_take("l", &holder("b"), ttl).await.unwrap(),
            Taken::Yes { fence: 2 }
        );
        assert!(!services.lock_release("l", "a").await.unwrap());
        assert!(services.lock_release("l", "b").await.unwrap());
    });
}

#[test]
fn one_step_at_a_time_holds_a_lock() {
    let world = World::new();
    block_on(async {
        let text = "state.with_lock('deploy', function()
                local n = state.get('inside', 0)
                assert(n == 0, 'somebody else is inside')
                state.set('inside', 1)
                goroutine.sleep(20)
                state.set('inside', 0)
            end, 20)
            state.increment('done')";
        let (a, b, c) = (performer(text), performer(text), performer(text));
        let step = async |performer: &Performer| {
            performer.step("example", "main", Input::default(), world.acting()).await
        };
        let (a, b, c) = tokio::join!(step(&a), step(&b), step(&c));
        for result in [a, b, c] {
            assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
        }
    });
    world.well("assert(state.get('done') == 3)");
}

#[test]
fn a_lock_is_given_back_when_its_function_fails_or_is_given_up() {
    let world = World::new();
    world.well(
        "assert(not pcall(state.with_lock, 'l', function() error('no') end))
         assert(state.try_lock('l'))
         state.unlock('l')
         goroutine.timeout(30, function() state.with_lock('l', function() goroutine.sleep(60000) end) end)
         assert(state.lock('l', 5))",
    );
    world.well(
        "local ok, err = state.lock('l', 0.01) assert(not ok and err:find('held by process'))",
    );
}

/// Services that are asked at once for locks, and answer late.
struct Slow(LocalServices);

impl Slow {
    const PAUSE: Duration = Duration::from_millis(200);
}

#[rustfmt::skip]
impl Services for Slow {
    fn lock_take(&self, name: &str, holder: &Holder, ttl: Span) -> Answer<'_, Taken> {
        let (name, holder) = (name.to_owned(), holder.clone());
        Box::pin(async move {
            let taken = self.0.lock_take(&name, &holder, ttl).await;
            tokio::time::sleep(Slow::PAUSE).await;
            taken
        })
    }
    fn lock_release(&self, name: &str, token: &str) -> Answer<'_, bool> {
        let (name, token) = (name.to_owned(), token.to_owned());
        Box::pin(async move {
            tokio::time::sleep(Slow::PAUSE).await;
            self.0.lock_release(&name, &token).await
        })
    }
    fn state_get(&self, key: &str) -> Answer<'_, Option<Entry>> { self.0.state_get(key) }
    fn state_change(&self, key: &str, change: Change) -> Answer<'_, Changed> { self.0.state_change(key, change) }
    fn state_list(&self, pattern: &Pattern) -> Answer<'_, Vec<(String, Entry)>> { self.0.state_list(pattern) }
    fn state_clear(&self, pattern: &Pattern) -> Answer<'_, usize> { self.0.state_clear(pattern) }
    fn state_backend(&self) -> &'static str { self.0.state_backend() }
    fn lock_renew(&self, name: &str, token: &str, ttl: Span) -> Answer<'_, bool> { self.0.lock_renew(name, token, ttl) }
    fn event_dispatch(&self, kind: &str, data: Json) -> Answer<'_, String> { self.0.event_dispatch(kind, data) }
    fn watcher_register(&self, watcher: Watcher) -> Answer<'_, ()> { self.0.watcher_register(watcher) }
    fn watcher_list(&self) -> Answer<'_, Vec<Watcher>> { self.0.watcher_list() }
    fn watcher_remove(&self, id: &str) -> Answer<'_, bool> { self.0.watcher_remove(id) }
    fn stack(&self) -> Answer<'_, Option<Stack>> { self.0.stack() }
    fn stack_output_set(&self, key: &str, value: Json) -> Answer<'_, ()> { self.0.stack_output_set(key, value) }
    fn resource_register(&self, wanted: ResourceSpec) -> Answer<'_, (Registered, Resource)> { self.0.resource_register(wanted) }
    fn resource_get(&self, kind: &str, name: &str) -> Answer<'_, Option<Resource>> { self.0.resource_get(kind, name) }
    fn resource_update(&self, kind: &str, name: &str, state: Option<String>, error: Option<String>) -> Answer<'_, Option<Resource>> { self.0.resource_update(kind, name, state, error) }
    fn resource_delete(&self, kind: &str, name: &str) -> Answer<'_, bool> { self.0.resource_delete(kind, name) }
    fn stack_act(&self, act: StackAct) -> Answer<'_, serde_json::Value> { self.0.stack_act(act) }
}

#[test]
fn a_lock_is_not_lost_with_whoever_was_given_up_while_it_came_or_went() {
    for (at, given_up) in [
        ("while it comes", "state.lock('l')"),
        ("while it comes for a time", "state.try_lock('l', 60)"),
        ("while it comes for a function", "state.with_lock('l', function() end)"),
        ("while it goes", "state.unlock('l')"),
        ("while it goes after a function", "state.with_lock('l', function() end)"),
    ] {
        let world = World::new();
        let before = if at == "while it goes" { "assert(state.lock('l'))" } else { "" };
        let millis = if at.ends_with("after a function") { 300 } else { 60 };
        let text = format!(
            "{before}
             local ok, err = goroutine.timeout({millis}, function() {given_up} end)
             assert(not ok and err == 'timeout exceeded', tostring(ok))
             local begun = time.now()
             assert(state.lock('l', 10))
             assert(time.now() - begun < 5, 'it was free only after its lease')"
        );
        let slow: Rc<dyn Services> = Rc::new(Slow(world.services()));
        let result = block_on(async {
            let acting = world.acting_with(slow);
            performer(&text).step("example", "main", Input::default(), acting).await
        });
        assert_eq!(result.end, StepEnd::Succeeded, "{at}: {}", result.message);
    }
}

#[test]
fn secrets_are_known_by_their_names_while_a_step_runs() {
    let world = World::new();
    let mut acting = Rc::into_inner(world.acting()).unwrap();
    acting.secrets.insert("TOKEN".to_owned(), "s3cret".to_owned());
    let text = "workflow.define('w'):tasks({ task('t'):command(function()
        assert(secrets.get('TOKEN') == 's3cret')
        assert(secrets.TOKEN == 's3cret' and secrets.OTHER == nil)
        local none, err = secrets.get('OTHER')
        assert(none == nil and err:find('--secret OTHER', 1, true))
        assert(require('secrets').TOKEN == 's3cret')
    end) })";
    let result = block_on(performer(text).step("w", "t", Input::default(), Rc::new(acting)));
    assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
}

#[test]
fn events_are_lines_of_json() {
    let world = World::new();
    world.well(
        "exec.run('printf abc > a.txt')
         event.dispatch('deploy.started', { version = '1.2' })
         event.dispatch_custom('notify', 'hello')
         event.dispatch_file('file.created', 'a.txt', 'w1')
         event.register.file({ file_path = 'a.txt', when = 'changed' })
         local none, err = event.register.cpu({ threshold = 90, when = { 'changed' } })
         assert(none == nil and err == 'watcher.register.cpu: `when` knows above, below here, not `changed`')
         none, err = watcher.register.log({ log_path = 'x', when = { 'matches' } })
         assert(none == nil and err:find('pattern'))
         assert(watcher.list()[1].file_path:sub(1, 1) == '/')",
    );
    let text = std::fs::read_to_string(world.shared.path().join("events.jsonl")).unwrap();
    let events: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 3);
    assert_eq!(events[0]["type"], "deploy.started");
    assert_eq!(events[0]["data"], json!({ "version": "1.2" }));
    assert_eq!(events[1]["data"], json!({ "name": "notify", "message": "hello" }));
    assert_eq!(events[2]["data"]["file"]["size"], 3);
    assert_eq!(events[2]["data"]["watcher"], "w1");
}

#[test]
fn check_mode_tells_what_would_be_done_and_does_nothing() {
    let mut world = World::new();
    world.well("state.set('kept', 1) stack.set_output('url', 'old')");
    let before = files(world.shared.path());
    world.check = true;
    world.well(
        "state.set('kept', 2)
         assert(state.get('kept') == 2 and state.increment('n', 3) == 3 and state.get('n') == 3)
         state.delete('kept')
         assert(not state.exists('kept') and #state.keys() == 1)
         assert(state.try_lock('l') and not state.try_lock('l') and state.unlock('l'))
         assert(event.dispatch('deploy.started', {}))
         local id = watcher.register.port({ port = 22, when = 'deleted' })
         assert(id and #watcher.list() == 1)
         stack.set_output('url', 'new')
         assert(stack.get_output('url') == 'new')
         assert(stack.register_resource({ type = 'file', name = 'motd' }) == 'created')
         assert(stack.register_resource({ type = 'file', name = 'motd' }) == 'unchanged')
         assert(notifications.slack.send({ webhook_url = 'http://127.0.0.1:9', message = 'x' }))
         async.parallel({ 'touch touched' })",
    );
    assert_eq!(files(world.shared.path()), before);
    assert!(!world.work.path().join("touched").exists());
    assert_eq!(
        world.said(),
        [
            "would set state `kept` to 2",
            "would add 3 to state `n`",
            "would delete state `kept`",
            "would take the lock `l`",
            "would dispatch the event deploy.started with {}",
            "would register a watcher of a port",
            "would set the output `url` to \"new\"",
            "would register the file `motd`",
            "would send a message by slack",
            "would run touch touched",
        ]
    );
}

/// Every file and what is in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn a_damaged_file_is_told_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("state.json"), "{").unwrap();
    let error =
        block_on(async { LocalServices::new(folder.path()).state_get("k").await.unwrap_err() });
    assert!(matches!(error, ServiceError::Unavailable { .. }));
    assert!(error.to_string().contains("state.json is damaged"), "{error}");
}

#[test]
fn without_a_stack_its_functions_say_so() {
    let world = World::new();
    let mut acting = Rc::into_inner(world.acting()).unwrap();
    acting.services = Rc::new(LocalServices::new(world.shared.path()));
    let text = "assert(stack.get_name() == nil and stack.get_output('x') == nil)
        local ok, err = stack.set_output('x', 1)
        assert(not ok and err:find('belongs to no stack'))
        stack.register_resource({ type = 'a', name = 'b' })";
    let result = block_on(async {
        performer(text).step("example", "main", Input::default(), Rc::new(acting)).await
    });
    assert_eq!(result.end, StepEnd::Failed);
    assert!(result.message.contains("belongs to no stack"), "{}", result.message);
}

#[test]
fn a_lock_that_is_given_back_was_held_however_busy_its_keeper_is() {
    World::new().well(
        "for i = 1, 200 do
           assert(state.lock('deploy'))
           local ok, why = state.unlock('deploy')
           assert(ok, why)
         end",
    );
}

/// Answers one request, and gives its text.
async fn answer_once(listener: tokio::net::TcpListener, answer: &str) -> String {
    let answered = tokio::time::timeout(Duration::from_secs(20), answer_one(listener, answer));
    answered.await.unwrap_or_default()
}

async fn answer_one(listener: tokio::net::TcpListener, answer: &str) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        request.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
            .unwrap_or(0);
        if body.len() >= length {
            stream.write_all(answer.as_bytes()).await.unwrap();
            return text;
        }
    }
}

#[test]
fn messages_are_what_each_service_expects() {
    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
    for (call, path, body) in [
        (
            "slack.send({ webhook_url = url .. '/hook', message = 'm', pipeline = 'p', error_details = 'e' })",
            "POST /hook ",
            json!({ "text": "*p*\nm\n```e```" }),
        ),
        (
            "ntfy.send({ server = url, topic = 't', message = 'm', title = 'T', priority = 'high', tags = 'a, b' })",
            "POST / ",
            json!({ "topic": "t", "message": "m", "title": "T", "priority": 4, "tags": ["a", "b"] }),
        ),
        (
            "discord({ webhook_url = url .. '/d', message = 'm' })",
            "POST /d ",
            json!({ "content": "m" }),
        ),
        (
            "telegram({ server = url, token = '1:x', chat_id = 5, message = 'm' })",
            "POST /bot1:x/sendMessage ",
            json!({ "chat_id": "5", "text": "m" }),
        ),
        (
            "webhook({ url = url .. '/w', method = 'put', payload = { a = 1 }, headers = { ['X-A'] = 'b' } })",
            "PUT /w ",
            json!({ "a": 1 }),
        ),
    ] {
        let world = World::new();
        block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let text = format!("local url = '{url}'\nassert(notifications.{call})");
            let performer = performer(&text);
            let step = performer.step("example", "main", Input::default(), world.acting());
            let (result, request) = tokio::join!(step, answer_once(listener, OK));
            assert_eq!(result.end, StepEnd::Succeeded, "{call}: {}", result.message);
            assert!(request.starts_with(path), "{request}");
            let sent: Json =
                serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
            assert_eq!(sent, body, "{call}");
        });
    }
}

/// Takes one letter as a server of mail does; what it was told.
async fn take_letter(listener: tokio::net::TcpListener, refused: &str) -> String {
    let taken = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"220 here\r\n").await.unwrap();
        let (mut all, mut is_letter) = (String::new(), false);
        let mut lines = tokio::io::BufReader::new(stream);
        loop {
            let mut line = String::new();
            let read = tokio::io::AsyncBufReadExt::read_line(&mut lines, &mut line).await.unwrap();
            all.push_str(&line);
            let line = line.trim_end();
            let answer = match line {
                _ if read == 0 || line == "QUIT" => return all,
                "." => "250 taken",
                _ if is_letter => continue,
                _ if !refused.is_empty() && line.starts_with(refused) => "550 not here",
                "EHLO localhost" => "250-hello\r\n250 SIZE 1000",
                "DATA" => "354 go on",
                _ => "250 well",
            };
            is_letter = line == "DATA";
            lines.get_mut().write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(20), taken).await.unwrap_or_default()
}

#[test]
fn a_letter_is_given_to_a_server() {
    for (refused, expected) in
        [("", "true nil"), ("RCPT TO:<bea", "false notifications.email: 127.0.0.1 port")]
    {
        let world = World::new();
        let letter = block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let text = format!(
                "local letter = {{ server = '127.0.0.1', port = {port}, tls = 'none', from = 'ci@example.org', to = {{ 'ann@example.org', 'bea@example.org' }}, subject = 'déployé', message = 'one\\n.\\ntwo' }}
                 local ok, err = notifications.email(letter)
                 print(tostring(ok) .. ' ' .. tostring(err))"
            );
            let performer = performer(&text);
            let step = performer.step("example", "main", Input::default(), world.acting());
            let (result, letter) = tokio::join!(step, take_letter(listener, refused));
            assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
            letter
        });
        assert!(world.said()[0].starts_with(expected), "{:?}", world.said());
        assert!(letter.starts_with("EHLO localhost\r\nMAIL FROM:<ci@example.org>\r\nRCPT TO:<ann@example.org>\r\nRCPT TO:<bea@example.org>\r\n"), "{letter}");
        assert_eq!(letter.contains("Subject: =?UTF-8?B?ZMOpcGxvecOp?=\r\n"), refused.is_empty());
        assert_eq!(
            letter.contains("\r\n\r\nb25lCi4KdHdv\r\n.\r\n"),
            refused.is_empty(),
            "{letter}"
        );
    }
    let world = World::new();
    world.well(
        "local letter = { server = 'mail.example.org', from = 'a@b', to = 'c@d', message = 'm' }
         local function refuse(name, value)
           local given = table.clone(letter) given[name] = value
           local ok, err = notifications.email(given) assert(ok == false) print(err)
         end
         refuse('to', 'ann') refuse('subject', 'a\\r\\nBcc: x@y') refuse('tls', 'some')
         letter.username, letter.password = 'u', 'hunter2'
         refuse('tls', 'none')",
    );
    let said = world.said();
    assert_eq!(said.len(), 4);
    assert!(said[0].contains("`ann` is no address") && said[1].contains("one line"), "{said:?}");
    assert!(said[3].contains("not sent without TLS") && !said[3].contains("hunter2"), "{said:?}");
}

#[test]
fn a_message_that_is_refused_is_told_without_its_address() {
    const NO: &str =
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 9\r\nconnection: close\r\n\r\nbad token";
    let world = World::new();
    block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/secret", listener.local_addr().unwrap());
        let text = format!(
            "local ok, err = notifications.slack.send({{ webhook_url = '{url}', message = 'm' }})
             assert(not ok) print(err)"
        );
        let performer = performer(&text);
        let step = performer.step("example", "main", Input::default(), world.acting());
        let (result, _) = tokio::join!(step, answer_once(listener, NO));
        assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
    });
    assert_eq!(
        world.said(),
        ["notifications.slack: it was answered with 403 Forbidden: bad token"]
    );
}

#[test]
fn the_global_parallel_carries_out_what_a_body_gives_it() {
    let world = World::new();
    let result = world.run_in_task(
        "local results, err = parallel({
            { name = 'a', command = 'echo from a' },
            task('b'):command(function() return true end),
            function() return false, 'no' end,
         })
         print(results[1].status, results[2].name, results[2].status, results[3].status, err)",
    );
    assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
    assert_eq!(world.said(), ["from a", "Success\tb\tSuccess\tFailed\t1 of 3 failed: 3: no"]);
}

#[test]
fn a_mistake_in_what_waits_is_told_where_the_file_made_it() {
    let result = World::new().run_in_task("goroutine.sleep('soon')");
    assert!(result.message.ends_with("(example.lua:2)"), "{}", result.message);
}
