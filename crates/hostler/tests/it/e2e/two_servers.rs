//! Two servers on one database, and one of them dies.

use std::path::Path;

use crate::rig::{Agent, Cli, Database, Rig, Server, birth, is_running, until};

const MANY: usize = 10;

#[test]
fn the_death_of_a_server_moves_its_agent_and_loses_nothing() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let mut first = Server::alone(&rig, "first", Some(&database.url));
    let through_first = first.first_login(&rig);
    let agent = Agent::join(&rig, &through_first, &first, "node-1");
    let second = Server::alone(&rig, "second", Some(&database.url));
    let through_second = second.login(&rig, &[]);
    until("the agent has heard of the server that came later", || {
        let known = std::fs::read_to_string(agent.data_dir.join("identity/node.json")).unwrap();
        known.contains(&second.agents.to_string()).then_some(())
    });
    let attached = |server: &Server| {
        let status = agent.status(&rig);
        status.is_some_and(|status| status["address"] == server.agents.to_string())
    };
    assert!(attached(&first), "{:?}", agent.status(&rig));
    assert_eq!(through_second.json(&["server", "ls"])["items"].as_array().unwrap().len(), 2);

    let marks = rig.path("marks");
    std::fs::create_dir(&marks).unwrap();
    let go_on = rig.path("stop");
    let long = format!(
        "{}; n=0; while [ ! -e {} ]; do n=$((n+1)); echo line $n; sleep 0.1; done; echo end; exit 21",
        marking(&marks),
        go_on.display()
    );
    through_second.submit("long", &long);
    let pid = through_second.wait_pid("long");
    let born = birth(pid).unwrap();
    assert_eq!(through_first.wait_pid("long"), pid);

    let (mut follower, heard) =
        through_second.spawn_split("follow", &["task", "logs", "-f", "long"]);
    until("the output is followed through the other server", || {
        std::fs::read_to_string(&heard).unwrap().contains("line 3\n").then_some(())
    });
    assert!(is_running(pid) && attached(&first));

    let reloaded = through_second.json(&["node", "reload", "node-1"]);
    assert_eq!(reloaded["placements"], 1, "{reloaded}");
    assert_eq!(reloaded["factsChanged"], serde_json::json!([]), "{reloaded}");
    until("the node has taken in what it was told again", || {
        let node = through_first.json(&["node", "get", "node-1"]);
        (node["appliedGeneration"].as_u64() >= reloaded["node"]["desiredGeneration"].as_u64())
            .then_some(())
    });
    let audited = through_second.ok(&["audit", "ls", "-o", "json"]);
    assert!(audited.contains("node.reload"), "{audited}");
    assert!(is_running(pid) && attached(&first), "nothing of it was touched");

    submit(&through_second, "before", &marks);
    first.process.kill();
    submit(&through_second, "after", &marks);
    until("the agent is attached to the other server", || attached(&second).then_some(()));
    assert_eq!(birth(pid).as_ref(), Some(&born));
    let seen = std::fs::read_to_string(&heard).unwrap().lines().count();
    until("the output goes on", || {
        (std::fs::read_to_string(&heard).unwrap().lines().count() > seen + 3).then_some(())
    });
    assert_eq!(through_second.wait_pid("long"), pid);

    std::fs::write(&go_on, "").unwrap();
    let ended = until("every task has ended", || {
        let tasks = through_second.tasks();
        tasks.values().all(|task| task["status"]["exit"].is_object()).then_some(tasks)
    });
    assert_eq!(ended.len(), 2 * MANY + 1);
    assert_eq!(ended["long"]["status"]["exit"]["code"], 21);
    let (code, _) = follower.wait_within(crate::rig::DEADLINE);
    assert_eq!(code, 0, "{}", follower.log());

    let said = through_second.ok(&["logs", "long"]);
    let lines = said.lines().count() - 1;
    let expected: String = (1..=lines).map(|n| format!("line {n}\n")).collect();
    assert_eq!(said, expected + "end\n");
    assert_eq!(std::fs::read_to_string(&heard).unwrap(), said, "{}", follower.log());

    for when in ["before", "after"] {
        for number in 1..=MANY {
            let name = format!("{when}-{number}");
            assert_eq!(ended[&name]["status"]["exit"]["code"], number + 30, "{}", ended[&name]);
            assert_eq!(through_second.ok(&["logs", &name]), format!("I am {name}\n"));
            let runs = through_second.json(&["task", "runs", &name]);
            assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
        }
    }
    let mut ran: Vec<String> = std::fs::read_dir(&marks)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    ran.sort();
    let mut submitted: Vec<String> = ended.keys().cloned().collect();
    submitted.sort();
    assert_eq!(ran, submitted);
    assert_eq!(through_second.json(&["audit", "verify"])["isIntact"], true);
}

/// Leaves one file for the task, and another if there was one already.
fn marking(marks: &Path) -> String {
    let marks = marks.display();
    format!("set -C; true > {marks}/$HOSTLER_TASK || true > {marks}/twice-$HOSTLER_RUN")
}

fn submit(cli: &Cli<'_>, when: &str, marks: &Path) {
    let script = |number: usize| {
        format!("{}; echo I am $HOSTLER_TASK; exit {}", marking(marks), number + 30)
    };
    let scripts: Vec<(String, String)> =
        (1..=MANY).map(|number| (format!("{when}-{number}"), script(number))).collect();
    cli.submit_all(&scripts);
}
