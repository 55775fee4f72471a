//! What all of them have in common.

use std::time::Duration;

use hostler_lua::body::Input;
use hostler_model::workflow::StepEnd;

use super::{World, block_on, performer};

#[test]
fn a_program_that_is_not_there_is_said_so_with_what_to_do() {
    let world = World::bare();
    let said = world
        .run(
            "for _, call in ipairs({\n\
             function() return docker.push{ tag = 'a' } end,\n\
             function() return kubernetes.get('pods') end,\n\
             function() return helm.list() end,\n\
             function() return git.status{ path = '.' } end,\n\
             function() return incus.instance('a'):state() end,\n\
             function() return stow.stow{ package = 'a' } end }) do\n\
             local value, why = call()\n\
             assert(value == nil)\n\
             print(why)\n\
             end\n\
             local ok, why = kubernetes.scale('deployment', 'a', 1)\n\
             assert(ok == false)\n\
             print(why)",
        )
        .unwrap();
    for (line, name) in
        said.iter().zip(["docker", "kubectl", "helm", "git", "incus", "stow", "kubectl"])
    {
        assert!(line.starts_with(&format!("{name} is not installed here; ")), "{line}");
    }
    assert_eq!(said.len(), 7);
}

#[test]
fn mistakes_are_told_with_the_name_of_the_function_and_what_it_takes() {
    let world = World::new();
    for (body, expected) in [
        ("docker.build{ path = '.' }", "docker.build{ tag, path, "),
        ("docker.build{ path = '.' }", "`tag` is missing"),
        (
            "docker.run{ image = 'a', port = 1 }",
            "it does not know `port`; it knows args, command, cpus",
        ),
        ("docker.pull('-x')", "`image` is `-x`, which docker would take for an option"),
        ("docker.pull('a', 'b')", "it takes fewer arguments"),
        ("stow.stow{ package = 'a', delegate_to = 'x' }", "give the task `delegate_to`"),
        ("incus.instance('a'):delegate_to('x')", "give the task `delegate_to`"),
        ("frp.server('a'):delegate_to('x')", "give the task `delegate_to`"),
        ("kubernetes.apply('a', { delegate_to = 'x' })", "give the task `delegate_to`"),
        ("pulumi.stack('a').up()", "pulumi stack:up is called with a colon"),
        ("git.clone{ local_path = 'x' }", "git.clone: `url` is missing"),
    ] {
        let error = world.run(body).unwrap_err();
        assert!(error.contains(expected), "{body}: {error}");
    }
    assert_eq!(world.calls(), [""; 0]);
}

#[test]
fn options_that_all_have_are_those_of_the_process() {
    let world = World::new();
    std::fs::create_dir(world.path("inner")).unwrap();
    world.program("terraform", "pwd; printf '%s-' \"$FOO\"; cat; sleep \"${NAP:-0}\"");
    let said = world
        .run(
            "local r = terraform.taint('a', { workdir = 'inner', env = { FOO = 7 }, stdin = 'in', args = { '--x' } })\n\
             print(r.stdout)\n\
             local r, why = terraform.taint('b', { env = { NAP = 60 }, timeout = '50ms' })\n\
             assert(r.exit_code == 124 and not r.success)\n\
             print(why)",
        )
        .unwrap();
    assert_eq!(said[0], format!("{}\n7-in", world.path("inner").display()));
    assert_eq!(said[1], "terraform took longer than it may");
    assert_eq!(world.calls(), ["terraform|taint|a|--x", "terraform|taint|b"]);
}

#[test]
fn in_check_mode_what_changes_is_told_and_what_looks_is_done() {
    let mut world = World::new();
    world.check = true;
    world.program("docker", "echo '{\"ID\":\"1\"}'");
    world.program("kubectl", "");
    world.program("incus", "echo '{\"status\":\"Stopped\"}'");
    let said = world
        .run(
            "local r = docker.push{ tag = 'a b' }\n\
             assert(r.success and r.changed and r.check)\n\
             local ok, text = kubernetes.delete('pod', 'x')\n\
             assert(ok == true and text == 'would run: kubectl delete pod x')\n\
             assert(docker.ps()[1].ID == '1')\n\
             incus.instance('web'):start():restart()",
        )
        .unwrap();
    assert_eq!(
        said,
        [
            "would run: docker push 'a b'",
            "would run: kubectl delete pod x",
            "would run: incus start web",
            "would run: incus restart web",
        ]
    );
    assert_eq!(
        world.calls(),
        ["docker|ps|--no-trunc|--format|{{json .}}", "incus|query|/1.0/instances/web/state"]
    );
}

#[test]
fn a_chain_stops_where_something_failed() {
    let world = World::new();
    world.program("pulumi", "case \"$1\" in up) echo boom >&2; exit 3;; esac");
    let error =
        world.run("pulumi.stack('dev'):select{ create = true }:up():refresh()").unwrap_err();
    assert!(error.contains("pulumi stack: pulumi ended with 3: boom"), "{error}");
    assert_eq!(
        world.calls(),
        [
            "pulumi|stack|select|--non-interactive|--create|--stack|dev",
            "pulumi|up|--yes|--non-interactive|--color|never|--stack|dev",
        ]
    );
}

#[test]
fn what_is_defined_touches_nothing_and_objects_made_then_work_later() {
    let world = World::new();
    world.program("incus", "case \"$*\" in *state) echo '{\"status\":\"Running\"}';; *) echo 'Error: not found' >&2; exit 1;; esac");
    let text = "local web = incus.instance{ name = 'web', image = 'i' }:set_config{ a = 1 }\n\
                docker.push{ tag = 'a' }\n\
                workflow.define('w', { tasks = { { name = 'main', command = function() web:create() return true end } } })";
    let performer = performer(text).unwrap();
    let result = block_on(performer.step("w", "main", Input::default(), world.acting()));
    assert!(result.message.is_empty(), "{}", result.message);
    assert_eq!(world.calls(), ["incus|query|/1.0/instances/web", "incus|init|i|web|--config|a=1"]);
}

#[test]
fn others_go_on_while_a_program_runs() {
    let world = World::new();
    // Each waits for the other.
    world.program(
        "helm",
        "touch \"$1\"; for i in $(seq 200); do [ -e \"$2\" ] && exit 0; sleep 0.02; done; exit 1",
    );
    let text = "local function go(a, b) return function() return helm.exec({ a, b }).success, a end end\n\
                workflow.define('w', { tasks = { { name = 'a', command = go('a', 'b') }, { name = 'b', command = go('b', 'a') } } })";
    let performer = performer(text).unwrap();
    let (a, b) = block_on(async {
        tokio::join!(
            performer.step("w", "a", Input::default(), world.acting()),
            performer.step("w", "b", Input::default(), world.acting())
        )
    });
    assert_eq!((a.end, b.end), (StepEnd::Succeeded, StepEnd::Succeeded));
}

#[test]
fn a_step_that_is_given_up_takes_its_programs_with_it() {
    let world = World::new();
    world.program("helm", "echo $$ > pid; sleep 600");
    let pid = block_on(async {
        let step = world.step("helm.exec({ 'a' })");
        tokio::pin!(step);
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            let pause = tokio::time::sleep(Duration::from_millis(20));
            tokio::select! {
                ended = &mut step => panic!("it ended: {ended:?}"),
                () = pause => {}
            }
            let text = std::fs::read_to_string(world.path("pid")).unwrap_or_default();
            if text.ends_with('\n') {
                break text.trim().to_owned();
            }
            assert!(tokio::time::Instant::now() < deadline, "it never began");
        }
    });
    let is_gone = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    block_on(async {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        while !is_gone() {
            assert!(tokio::time::Instant::now() < deadline, "it is still there");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}

#[test]
fn many_calls_one_after_the_other_come_to_an_end() {
    let world = World::new();
    world.program("helm", "");
    world.run("for i = 1, 100 do helm.exec({ tostring(i) }) end").unwrap();
    assert_eq!(world.calls().len(), 100);
}
