//! Event hooks as people meet them: a task fails, and a receiver, a Lua file and a task on a node are told of it.

use std::fs;

use super::approvals::webhook;
use crate::rig::{Agent, Rig, Server, until};

#[test]
fn a_failed_task_is_told_to_a_receiver_a_lua_file_and_a_task() {
    let rig = Rig::new();
    let (port, told) = webhook();
    let settings = format!("[egress]\nallow = ['127.0.0.1:{port}']\n");
    let mut server = Server::configured(&rig, "server", &settings);
    let admin = server.first_login(&rig);
    let _agent = Agent::join(&rig, &admin, &server, "node-1");

    let url = format!("http://127.0.0.1:{port}/in");
    let refused =
        admin.run(&["hook", "add", "inside", "--on", "*", "--webhook", "http://10.0.0.1/"]);
    assert!(refused.must(2).err.contains("egress.allow"), "it says what to do");
    let wrong =
        admin.run(&["hook", "add", "x", "--on", "*", "--filter", "knid == 1", "--webhook", &url]);
    assert!(wrong.must(2).err.contains("did you mean `kind`?"));
    admin.ok(&[
        "hook",
        "add",
        "tell",
        "--on",
        "task.failed",
        "--filter",
        "payload.exitCode == 3",
        "--webhook",
        &url,
    ]);

    let (lua, seen) = (rig.path("note.lua"), rig.path("seen"));
    let text = format!(
        "function on_event(event)\n  fs.write('{}', event.kind .. ' ' .. event.object.name .. ' ' .. event.type)\n  return true\nend\n",
        seen.display()
    );
    fs::write(&lua, text).unwrap();
    let lua = lua.display().to_string();
    admin.ok(&[
        "hook",
        "add",
        "note",
        "--on",
        "task.failed",
        "--filter",
        "object.name == \"bad\"",
        "--lua",
        &lua,
    ]);

    let ran = rig.path("ran");
    let script = format!("printf %s \"$EVENT_OBJECT_NAME\" > {}", ran.display());
    admin.ok(&[
        "hook",
        "add",
        "run",
        "--on",
        "task.failed",
        "--filter",
        "object.name == \"bad\"",
        "--",
        "sh",
        "-c",
        &script,
    ]);

    admin.submit("bad", "exit 3");
    admin.wait_state("bad", "failed");
    let event = until("the receiver is told", || told.lock().unwrap().first().cloned());
    assert_eq!(event["object"]["name"], "bad");
    assert_eq!(event["payload"]["node"], "node-1");
    let read =
        |path| until("it ran", || fs::read_to_string(path).ok().filter(|text| !text.is_empty()));
    assert_eq!(read(&seen), "task.failed bad task.failed");
    assert_eq!(read(&ran), "bad");
    for hook in ["tell", "note", "run"] {
        until("it is noted as done", || {
            let log = admin.json(&["hook", "log", hook]);
            (log["items"][0]["state"] == "done" || log[0]["state"] == "done").then_some(())
        });
    }

    let number = event["sequence"].to_string();
    admin.ok(&["hook", "test", "tell", "--event", &number]);
    until("the test arrives", || (told.lock().unwrap().len() == 2).then_some(()));
    let listed = admin.ok(&[
        "event",
        "ls",
        "--filter",
        "payload.exitCode == 3 and kind == \"task.failed\"",
        "-o",
        "name",
    ]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    admin.ok(&["hook", "disable", "tell"]);
    admin.ok(&["hook", "rm", "tell", "note", "run", "--yes"]);
    assert!(admin.ok(&["hook", "ls", "-o", "name"]).is_empty());
}
