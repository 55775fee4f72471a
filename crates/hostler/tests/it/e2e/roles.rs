//! Roles, groups and limited tokens, as admins and programs meet them.

use crate::rig::{Cli, Rig, Server};

/// Somebody without a password, with a token that is only as limited as they are.
fn person<'a>(cli: &Cli<'a>, name: &str) -> Cli<'a> {
    cli.ok(&["user", "create", name, "--service"]);
    let secret = cli.ok(&["token", "create", "all", "--user", name, "--role", "admin"]);
    cli.token(secret.trim())
}

#[test]
fn a_role_of_ones_own_given_through_a_group() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&["project", "create", "lab"]);
    let robot = person(&cli, "robot");
    let ask = ["auth", "can-i", "task.submit", "-p", "lab"];
    robot.run(&ask).must(1);
    cli.ok(&["role", "create", "submitter", "--can", "task.submit,task.read"]);
    cli.ok(&["group", "create", "robots", "robot"]);
    cli.ok(&["project", "grant", "lab", "group:robots", "submitter"]);
    assert_eq!(robot.run(&ask).must(0).text(), "yes\n");
    let why = cli.ok(&["auth", "explain", "task.submit", "-p", "lab", "--as", "robot"]);
    for words in ["holds the role submitter in project lab through the group robots", "robots"] {
        assert!(why.contains(words), "{why}");
    }
    robot.ok(&["-p", "lab", "task", "submit", "--name", "job", "--env", "A=b", "--", "true"]);
    robot.ok(&["-p", "lab", "wait", "job"]);
    let refused = robot.run(&["-p", "lab", "logs", "job"]).must(6);
    assert!(refused.err.contains("this needs task.output in this project"), "{}", refused.err);
    robot.run(&["-p", "lab", "task", "rm", "job"]).must(6);
    cli.ok(&["role", "edit", "submitter", "--add", "task.output"]);
    robot.ok(&["-p", "lab", "logs", "job"]);
    let held = cli.run(&["-y", "role", "rm", "submitter"]).must(5);
    assert!(held.err.contains("held by group:robots"), "{}", held.err);
    cli.ok(&["group", "remove", "robots", "robot"]);
    robot.run(&ask).must(1);
    cli.ok(&["project", "revoke", "lab", "group:robots"]);
    cli.ok(&["-y", "role", "rm", "submitter"]);
    cli.ok(&["-y", "group", "rm", "robots"]);
}

#[test]
fn a_viewer_sees_that_there_is_an_environment_but_not_what_it_is() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&["task", "submit", "--name", "job", "--env", "PASSWORD=hunter-two", "--", "true"]);
    let viewer = person(&cli, "viewer");
    cli.ok(&["user", "role", "viewer", "viewer"]);
    for format in ["json", "yaml"] {
        let text = viewer.ok(&["task", "get", "job", "-o", format]);
        assert!(text.contains("PASSWORD") && text.contains("(hidden)"), "{text}");
        assert!(!text.contains("hunter-two"), "{text}");
    }
    assert!(!viewer.ok(&["task", "ls", "-o", "json"]).contains("hunter-two"));
    assert!(cli.ok(&["task", "get", "job", "-o", "json"]).contains("hunter-two"));
}

#[test]
fn a_token_for_little() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    for project in ["lab", "field", "office"] {
        cli.ok(&["project", "create", project]);
    }
    let make = |more: &[&str]| {
        let words = [&["token", "create", "robot", "--ttl", "1h"], more].concat();
        cli.token(cli.ok(&words).trim())
    };
    let robot = make(&["--only-project", "lab,field", "--can", "task.submit,task.read"]);
    for project in ["lab", "field"] {
        robot.ok(&["-p", project, "task", "submit", "--name", "job", "--", "true"]);
        robot.ok(&["-p", project, "task", "ls"]);
        robot.run(&["-p", project, "logs", "job"]).must(6);
    }
    robot.run(&["-p", "office", "task", "ls"]).must(3);
    robot.run(&["node", "ls"]).must(6);
    robot.run(&["token", "create", "more", "--role", "admin"]).must(6);
    let why = robot.ok(&["-p", "lab", "auth", "explain", "task.kill"]);
    assert!(why.contains("the token is for task.read, task.submit only"), "{why}");
    let here = make(&["--role", "viewer", "--from", "127.0.0.0/8,::1"]);
    here.ok(&["node", "ls"]);
    let elsewhere = make(&["--role", "viewer", "--from", "192.0.2.0/24"]);
    let refused = elsewhere.run(&["node", "ls"]).must(6);
    assert!(refused.err.contains("this token is not for use from"), "{}", refused.err);
    let listed = cli.ok(&["token", "ls", "-o", "wide"]);
    for words in ["lab,field", "task.read, task.submit", "192.0.2.0/24"] {
        assert!(listed.contains(words), "{listed}");
    }
}
