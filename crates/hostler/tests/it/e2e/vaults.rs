//! Linked secrets from one end to the other, with a vault that is a program.

use std::fs;

use super::secrets::assert_not_on_disk;
use crate::rig::{Agent, Rig, Server, until};

/// What the vault has; made there, so that no file has it.
const VALUE: &str = "canary-40002-of-the-vault";

const KEEPER: &str = r#"read -r mood < MOOD
case "$mood" in
away) echo '{"error": "away", "message": "closed for lunch"}' ;;
gone) echo '{"error": "absent", "message": "thrown away"}' ;;
*) echo "{\"value\": \"canary-$((40000 + 2))-of-the-vault\", \"version\": 5}" ;;
esac
"#;

#[test]
fn a_run_gets_what_its_link_leads_to_and_waits_while_the_vault_is_away() {
    let rig = Rig::new();
    let (mood, keeper) = (rig.path("mood"), rig.path("keeper.sh"));
    fs::write(&mood, "away\n").unwrap();
    fs::write(&keeper, KEEPER.replace("MOOD", mood.to_str().unwrap())).unwrap();
    let settings = format!(
        "[vault.own]\nkind = 'exec'\ncommand = ['/bin/sh', '{}']\nprojects = ['*']\nprefix = 'teams/{{project}}'\nkeep = '0s'\n",
        keeper.display()
    );
    let mut server = Server::configured(&rig, "one", &settings);
    let cli = server.first_login(&rig);
    let _agent = Agent::join(&rig, &cli, &server, "n1");
    let vaults = cli.json(&["secret", "vaults"]);
    assert_eq!(vaults["items"][0]["prefix"], "teams/default/", "{vaults}");
    cli.ok(&["secret", "link", "db", "--provider", "own", "--path", "db/app#password"]);
    let submit = |name: &str| {
        let given = ["task", "submit", "--name", name, "--secret-env", "DB=db", "--"];
        let words = ["sh", "-c", "echo got $DB; echo $DB | rev"];
        cli.ok(&[&given[..], &words].concat());
    };
    submit("patient");
    until("it says what it waits for", || {
        let explained = cli.json(&["task", "explain", "patient"]);
        explained["summary"].as_str()?.contains("closed for lunch").then_some(())
    });
    fs::write(&mood, "open\n").unwrap();
    cli.wait_state("patient", "completed");
    let logs = cli.ok(&["logs", "patient"]);
    let backwards: String = VALUE.chars().rev().collect();
    assert!(logs.contains("got [secret:db]") && logs.contains(&backwards), "{logs}");
    assert!(!logs.contains(VALUE), "{logs}");
    assert_eq!(cli.ok(&["secret", "get", "db"]), VALUE);

    fs::write(&mood, "gone\n").unwrap();
    submit("hopeless");
    let failed = cli.wait_state("hopeless", "failed");
    assert!(failed.to_string().contains("thrown away"), "{failed}");

    for words in [&["audit", "ls"][..], &["event", "ls"], &["secret", "ls"]] {
        let said = cli.json(words).to_string();
        assert!(!said.contains(VALUE), "{said}");
    }
    assert_not_on_disk(&rig, &[VALUE.to_owned()]);
    let audit = cli.json(&["audit", "ls"]).to_string();
    for action in ["secret.link", "secret.deliver", "secret.read"] {
        assert!(audit.contains(action), "{action} in {audit}");
    }
}
