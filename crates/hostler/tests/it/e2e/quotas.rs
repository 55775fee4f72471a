//! What a project may keep of its output, on two nodes.

use std::path::Path;

use crate::rig::{Agent, Rig, Server, until};

const QUOTA: u64 = 256 << 10;

/// What lies in a node's runs as output.
fn kept(data_dir: &Path) -> u64 {
    let Ok(runs) = std::fs::read_dir(data_dir.join("runs")) else { return 0 };
    let files = runs.flatten().filter_map(|run| std::fs::read_dir(run.path()).ok()).flatten();
    files
        .flatten()
        .filter(|file| file.file_name().to_string_lossy().starts_with("out."))
        .filter_map(|file| file.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}

/// The node's share, once it is in force.
fn share(data_dir: &Path) -> Option<u64> {
    let bytes = std::fs::read(data_dir.join("shares/default")).ok()?;
    let word =
        |at: usize| Some(u64::from_le_bytes(bytes.get(at * 8..at * 8 + 8)?.try_into().ok()?));
    let (share, generation, settled) = (word(0)?, word(1)?, word(3)?);
    (share != u64::MAX && generation == settled).then_some(share)
}

#[test]
fn output_on_two_nodes_is_within_the_quota_of_its_project() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "one", None);
    let cli = server.first_login(&rig);
    let agents = ["n1", "n2"].map(|name| Agent::join(&rig, &cli, &server, name));
    let print = "i=0; while [ $i -lt 1500 ]; do i=$((i+1)); echo \"line $i of a task that has much to say about nothing at all\"; done";
    cli.submit("before", print);
    cli.wait_state("before", "completed");
    cli.ok(&["project", "edit", "default", "--quota-logs", "256KiB"]);
    let sum = || agents.iter().map(|agent| kept(&agent.data_dir)).sum::<u64>();
    let shares = || agents.iter().map(|agent| share(&agent.data_dir)).sum::<Option<u64>>();
    until("both nodes have a share in force", || shares().filter(|sum| *sum > 0));

    let tasks: Vec<(String, String)> =
        (0..12).map(|n| (format!("t{n}"), print.to_owned())).collect();
    cli.submit_all(&tasks);
    until("all have ended", || {
        assert!(sum() <= QUOTA, "{}", sum());
        let tasks = cli.tasks();
        tasks.values().all(|task| task["status"]["state"] == "completed").then_some(())
    });
    let most = sum();
    assert!(most <= QUOTA && most > 0, "{most}");
    if let Some(shares) = shares() {
        assert!(shares <= QUOTA, "{shares}");
    }
    until("the quota shows what is kept", || {
        let shown = cli.json(&["project", "quota", "default"]);
        let lines = shown["items"].as_array()?.iter();
        let logs = lines.clone().find(|line| line["what"] == "logs")?;
        assert_eq!(logs["limit"], QUOTA);
        logs["used"].as_u64().filter(|used| *used > 0 && *used <= QUOTA)
    });

    cli.ok(&["project", "edit", "default", "--quota-logs", "none"]);
    until("nothing limits it any more", || {
        let is_lifted = |agent: &Agent| {
            let bytes = std::fs::read(agent.data_dir.join("shares/default")).ok()?;
            bytes.starts_with(&u64::MAX.to_le_bytes()).then_some(())
        };
        agents.iter().map(is_lifted).collect::<Option<Vec<()>>>()
    });
}
