//! No space left where the agent keeps its memory.

use crate::rig::{Agent, Barrier, Rig, Server, birth, fill, is_root, skipped, until};

const NEW: [&str; 3] = ["new-1", "new-2", "new-3"];

#[test]
fn a_full_disk_makes_the_agent_wait_and_loses_nothing() {
    if !is_root() {
        return skipped("a file system of its own needs root");
    }
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let dir = rig.mount_small("node-1", "8m");
    let mut agent = Agent::join(&rig, &cli, &server, "node-1");
    let (early, late) = (Barrier::new(&rig, "early"), Barrier::new(&rig, "late"));
    cli.submit("early", &format!("echo before; {}; exit 41", early.wait()));
    cli.submit("late", &format!("echo before; {}; echo after; exit 42", late.wait()));
    let born = [cli.wait_pid("early"), cli.wait_pid("late")].map(|pid| birth(pid).unwrap());
    until("the output is on disk", || {
        ["early", "late"].iter().all(|name| cli.ok(&["logs", name]) == "before\n").then_some(())
    });

    fill(&dir);
    // More than fits into what the file system has left of the ledger's last page.
    let long = "#".repeat(4000);
    for name in NEW {
        cli.submit(name, &format!("echo {name}; exit 43; {long}"));
    }
    let line = agent.process.line(&["ledger cannot be written"]);
    assert!(line.contains("WARN"), "{line}");
    let status = agent.status(&rig).unwrap();
    assert!(status["ledgerProblem"].as_str().unwrap().contains("space"), "{status}");
    assert!(NEW.iter().all(|name| cli.task(name)["status"]["state"] == "assigning"));
    let why = cli.json(&["task", "explain", NEW[0]])["summary"].clone();
    assert!(why.as_str().unwrap().contains("space"), "{why}");
    until("the early one has ended", || {
        early.open();
        birth(born[0].0).is_none().then_some(())
    });
    assert_eq!(birth(born[1].0).as_ref(), Some(&born[1]));
    let state = cli.task("early")["status"]["state"].clone();
    assert!(state == "running" || state == "failed", "{state}");
    assert!(agent.process.ended().is_none());

    std::fs::remove_file(dir.join("filler")).unwrap();
    agent.process.line(&["ledger can be written again"]);
    for (name, code) in [("early", 41), (NEW[0], 43), (NEW[1], 43), (NEW[2], 43)] {
        let task = cli.wait_state(name, "failed");
        let exit = &task["status"]["exit"];
        assert_eq!((&exit["reason"], &exit["code"]), (&"exited".into(), &code.into()), "{task}");
    }
    for name in NEW {
        assert_eq!(cli.ok(&["logs", name]), format!("{name}\n"));
    }
    assert_eq!(cli.wait_pid("late"), born[1].0);
    until("the late one has ended", || {
        late.open();
        Some(cli.task("late")).filter(|task| task["status"]["exit"]["code"] == 42)
    });
    assert_eq!(cli.ok(&["logs", "late"]), "before\nafter\n");
    assert_eq!(agent.status(&rig).unwrap()["ledgerProblem"], serde_json::Value::Null);
}
