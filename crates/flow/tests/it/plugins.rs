//! Plugins of stacks: both examples hold everything, and what does wrong is told by name.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use hostler_flow::plugin::kit::{Mark, Trial, examine};
use hostler_flow::plugin::{Plugin, PluginSource};
use hostler_lua::Bundle;
use hostler_model::stack::{PluginReply, PluginRequest, PluginVerb};
use serde_json::{Map, json};
use tokio::task::LocalSet;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stacks/plugins").join(name)
}

fn plugin(source: PluginSource, workdir: &Path) -> Plugin {
    let path = std::env::var("PATH").unwrap();
    Plugin {
        source,
        workdir: workdir.to_owned(),
        environment: BTreeMap::from([("PATH".to_owned(), path)]),
        secrets: BTreeMap::new(),
        timeout: Duration::from_secs(20),
        hear: Rc::new(|_, _| {}),
    }
}

fn lua(text: &str) -> PluginSource {
    let (name, text) = ("plugin.lua".to_owned(), text.to_owned());
    PluginSource::Lua(Bundle { name, text, ..Bundle::default() })
}

/// A program with that text for the shell.
fn program(folder: &Path, body: &str) -> PluginSource {
    let path = folder.join("plugin.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    PluginSource::Executable(path)
}

fn request(verb: PluginVerb) -> PluginRequest {
    PluginRequest {
        id: "1".to_owned(),
        verb,
        kind: "Test::Thing".to_owned(),
        key: "key".to_owned(),
        name: "thing".to_owned(),
        properties: Map::new(),
        prior: None,
        changed: Vec::new(),
        waiting: None,
        left: Map::new(),
        deadline: 20,
    }
}

async fn kit(source: PluginSource) -> Vec<Trial> {
    let folder = tempfile::tempdir().unwrap();
    let plugin = plugin(source, folder.path());
    LocalSet::new().run_until(examine(&plugin, folder.path())).await
}

fn failed(trials: &[Trial]) -> Vec<(&'static str, &str)> {
    let failed = trials.iter().filter(|trial| trial.result == Mark::Failed);
    failed.map(|trial| (trial.check, trial.message.as_str())).collect()
}

#[tokio::test]
async fn both_examples_hold_everything() {
    let text = std::fs::read_to_string(example("notes.lua")).unwrap();
    for source in [PluginSource::Executable(example("lines.py")), lua(&text)] {
        let trials = kit(source).await;
        assert_eq!(failed(&trials), []);
        let checks: Vec<&str> = trials.iter().map(|trial| trial.check).collect();
        for check in [
            "handshake",
            "schema",
            "create",
            "create-again",
            "attributes",
            "check",
            "get",
            "update",
            "unknown-property",
            "adopt",
            "replace",
            "delete",
            "delete-again",
            "crash",
            "parallel",
            "time",
        ] {
            assert!(checks.contains(&check), "{check}: {checks:?}");
        }
        assert!(trials.iter().all(|trial| trial.result == Mark::Passed), "{trials:?}");
    }
}

/// A type of Lua with these functions, whose example is a file below the directory.
fn type_of(functions: &str) -> String {
    format!(
        r#"return {{ ["Test::Thing"] = {{
            description = "A thing.",
            properties = {{
                path = {{ type = "string", description = "Where.", required = true }},
                text = {{ type = "string", description = "What.", updatable = true, default = "" }},
            }},
            example = {{ create = {{ path = "${{workdir}}/x" }}, update = {{ text = "new" }}, replace = {{ path = "${{workdir}}/y" }} }},
            {functions}
        }} }}"#
    )
}

#[tokio::test]
async fn the_kit_says_what_does_not_hold() {
    let gone = "delete = function(ctx, props) if ctx.prior.reference then fs.rm(ctx.prior.reference) end end,";
    let file = "local file = props.path .. '.' .. crypto.sha256(ctx.key)";
    let write = "assert(fs.write(file, props.text)) return { reference = file }";
    let create = format!("create = function(ctx, props) {file} {write} end,");
    let update =
        "update = function(ctx, props) assert(fs.write(ctx.prior.reference, props.text)) end,";
    let get = "get = function(ctx, props) if not fs.exists(ctx.prior.reference) then return { not_found = true } end
        return { properties = { path = props.path, text = fs.read(ctx.prior.reference) } } end,";
    let cases = [
        // Each create makes another one, whatever its key is.
        (
            format!(
                "create = function(ctx, props) local file = props.path .. crypto.sha256(tostring(os.clock()) .. ctx.key .. tostring(math.random())) {write} end, {update} {gone}"
            ),
            "create-again",
            "the same key made another one",
        ),
        (
            format!("create = function() return {{}} end, {update} {gone}"),
            "create",
            "without a reference",
        ),
        (format!("create = function() error('no disk') end, {update} {gone}"), "create", "no disk"),
        // What differs is not written.
        (
            format!("{create} update = function() end, {gone} {get}"),
            "update",
            "text is \"\", and was \"new\"",
        ),
        (
            format!("{create} {update} {get} delete = function() end,"),
            "delete",
            "`get` says done of what is gone",
        ),
        (
            format!(
                "{create} {update} delete = function(ctx) if not fs.rm(ctx.prior.reference) then return {{ failed = 'no such file' }} end end,"
            ),
            "delete-again",
            "when it was gone already: no such file",
        ),
        // A create that nobody heard the end of leaves something for ever.
        (
            format!("{create} {update} {gone} {get}"),
            "crash",
            "still there when it was removed by its key",
        ),
        // All are the same object.
        (
            format!(
                "create = function(ctx, props) return {{ reference = 'one' }} end, {update} delete = function() end,"
            ),
            "parallel",
            "and they are 1",
        ),
    ];
    for (functions, check, expected) in cases {
        let trials = kit(lua(&type_of(&functions))).await;
        let failed = failed(&trials);
        let is_told = failed.iter().any(|(of, why)| *of == check && why.contains(expected));
        assert!(is_told, "{check}: {failed:?}");
    }
    let no_example = type_of(&format!("{create} {update} {gone}")).replace("example =", "_ =");
    assert_eq!(failed(&kit(lua(&no_example)).await)[0].0, "example");
    let trials = kit(lua(&type_of(&create))).await;
    assert!(failed(&trials)[0].1.contains("functions create and delete"), "{trials:?}");
    let trials =
        kit(lua("return { Thing = { description = '', create = print, delete = print } }")).await;
    assert!(failed(&trials)[0].1.contains("two or more parts"), "{trials:?}");
    let trials = kit(lua("return {")).await;
    assert_eq!(failed(&trials)[0].0, "handshake");
}

const HELLO: &str =
    r#"read line; echo '{"id":"hello","reply":"hello","protocol":1,"types":{}}'; read line"#;

#[tokio::test]
async fn what_a_program_does_wrong_is_told() {
    let cases = [
        ("exit 3", "it ended before it answered (exit status: 3)"),
        ("echo broken >&2; exit 1", "broken"),
        ("echo hello", "it wrote what is no document: hello"),
        (r#"echo '{"id":"x","reply":"hello"}'"#, "it answered `x` when `hello` was asked"),
        (r#"echo '{"id":"hello","reply":"done"}'"#, "it does not say what it is"),
        (
            r#"echo '{"id":"hello","reply":"hello","protocol":1,"types":{"A::B":{"colour":1}}}'"#,
            "unknown field `colour`",
        ),
        ("head -c 2000000 /dev/zero", "a line of more than 1048576 bytes"),
        (&format!("{HELLO}; kill -9 $$"), "signal: 9"),
        (&format!("{HELLO}; echo '{{\"id\":\"1\",\"reply\":\"maybe\"}}'"), "its answer is wrong"),
        (
            &format!("{HELLO}; echo '{{\"id\":\"2\",\"reply\":\"done\"}}'"),
            "it answered `2` when `1` was asked",
        ),
        (
            &format!(
                "{HELLO}; while :; do echo '{{\"id\":\"1\",\"reply\":\"log\",\"message\":\"x\"}}'; done"
            ),
            "more than 10000 words",
        ),
    ];
    for (body, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let plugin = plugin(program(folder.path(), body), folder.path());
        let trouble = plugin.call(&request(PluginVerb::Create)).await.unwrap_err().to_string();
        assert!(trouble.contains(expected), "{body}: {trouble}");
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = PluginSource::Executable(folder.path().join("nope"));
    let trouble = plugin(missing, folder.path()).manifest().await.unwrap_err().to_string();
    assert!(trouble.contains("cannot be started"), "{trouble}");
}

#[tokio::test]
async fn who_says_nothing_is_ended_with_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let body = format!("{HELLO}; sleep 1000 & echo $! > child; wait");
    let hurried = Plugin {
        timeout: Duration::from_millis(500),
        ..plugin(program(folder.path(), &body), folder.path())
    };
    let began = Instant::now();
    let trouble = hurried.call(&request(PluginVerb::Create)).await.unwrap_err().to_string();
    assert!(trouble.contains("it did not answer within 0.5 s"), "{trouble}");
    assert!(began.elapsed() < Duration::from_secs(10));
    let child = std::fs::read_to_string(folder.path().join("child")).unwrap();
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim())).ok()?;
        stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next())?
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while state().is_some_and(|state| state != 'Z') {
        assert!(Instant::now() < deadline, "what it started runs on");
        tokio::task::yield_now().await;
    }
    let forever =
        lua(&type_of("create = function() while true do end end, update = print, delete = print,"));
    let hurried = Plugin { timeout: Duration::from_millis(300), ..plugin(forever, folder.path()) };
    let asked = request(PluginVerb::Create);
    let work = hurried.call(&asked);
    let trouble = LocalSet::new().run_until(work).await.unwrap_err().to_string();
    assert!(trouble.contains("did not answer within"), "{trouble}");
}

#[tokio::test]
async fn words_on_the_way_are_heard_and_what_takes_time_is_polled() {
    let folder = tempfile::tempdir().unwrap();
    let heard = Rc::new(std::cell::RefCell::new(Vec::new()));
    let ears = Rc::clone(&heard);
    let body = format!(
        "{HELLO}; echo 'for people' >&2; echo '{{\"id\":\"1\",\"reply\":\"progress\",\"message\":\"half\"}}'; echo '{{\"id\":\"1\",\"reply\":\"in_progress\",\"state\":7,\"poll_after\":0.1}}'"
    );
    let talkative = Plugin {
        hear: Rc::new(move |is_error, line| ears.borrow_mut().push((is_error, line.to_owned()))),
        ..plugin(program(folder.path(), &body), folder.path())
    };
    let (_, reply) = talkative.call(&request(PluginVerb::Create)).await.unwrap();
    let expected =
        PluginReply::InProgress { reference: None, state: json!(7), poll_after: Some(0.1) };
    assert_eq!(reply, expected);
    assert!(heard.borrow().contains(&(false, "half".to_owned())), "{heard:?}");
    assert!(heard.borrow().contains(&(true, "for people".to_owned())), "{heard:?}");
}
