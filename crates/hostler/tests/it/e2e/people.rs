//! Somebody is invited, comes in, proves who they are with two factors, and gets a new password.

use hostler_base::Clock;
use hostler_testkit::Authenticator;

use crate::rig::{Cli, PASSWORD, Rig, Server};

fn link(output: &str) -> String {
    output.trim().to_owned()
}

#[test]
fn an_invitation_a_second_factor_and_a_new_password() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "front", None);
    let admin = server.first_login(&rig);
    admin.ok(&["project", "create", "lab"]);
    let words = ["user", "invite", "--role", "operator", "--only-project", "lab", "--name", "ada"];
    let invitation = link(&admin.ok(&words));
    assert!(invitation.contains("/#invitation=hst_inv_"), "{invitation}");

    // The link says whom to trust: nothing is asked, and no fingerprint is given.
    let ada = Cli::new(&rig).context("ada");
    let come = ["login", "--context", "ada", "--password-stdin", "--invitation", &invitation];
    let came = Cli::new(&rig).run_with(&come, PASSWORD).must(0);
    assert!(came.err.contains("admin invites you to be operator in project lab"), "{}", came.err);
    assert_eq!(ada.json(&["whoami"])["name"], "ada");
    ada.ok(&["task", "ls", "-p", "lab"]);
    ada.run(&["task", "ls", "-p", "default"]).must(3);
    ada.run(&["user", "invite", "--role", "viewer"]).must(6);
    Cli::new(&rig).run_with(&come, PASSWORD).must(6);
    let listed = admin.json(&["invitation", "ls"]);
    assert_eq!(listed["items"][0]["usedBy"], "ada", "{listed}");

    let words = ["auth", "totp", "enrol", "--password-stdin", "-o", "json"];
    let enrolled = ada.run_with(&words, PASSWORD).must(0);
    let enrolled: serde_json::Value = serde_json::from_slice(&enrolled.out).unwrap();
    let device = Authenticator::new(enrolled["secret"].as_str().unwrap());
    let code = |ahead: i64| device.code(Clock::system().now(), ahead);
    let codes = ada.json(&["auth", "totp", "confirm", &code(0)]);
    let recovery = codes["recoveryCodes"][0].as_str().unwrap().to_owned();

    let enter = |input: &str| {
        let words = ["login", "--context", "ada", "--name", "ada", "--password-stdin"];
        Cli::new(&rig).run_with(&words, input)
    };
    let needed = enter(PASSWORD).must(6);
    assert!(needed.err.contains("second-factor-required"), "{}", needed.err);
    enter(&format!("{PASSWORD}\n{}\n", code(1))).must(0);
    enter(&format!("{PASSWORD}\n{recovery}\n")).must(0);
    enter(&format!("{PASSWORD}\n{recovery}\n")).must(6);
    assert_eq!(ada.json(&["auth", "totp", "show"])["recoveryCodesLeft"], 9);

    let reset = link(&admin.ok(&["user", "reset", "ada"]));
    let new = "a mill, a river, a raven";
    let words = ["login", "--context", "ada", "--password-stdin", "--reset", &reset];
    let other = codes["recoveryCodes"][1].as_str().unwrap();
    let set = Cli::new(&rig).run_with(&words, &format!("{new}\n{other}\n")).must(0);
    assert!(set.err.contains("the password of ada is set"), "{}", set.err);
    enter(&format!("{PASSWORD}\n{}\n", codes["recoveryCodes"][2].as_str().unwrap())).must(6);
    Cli::new(&rig).run_with(&words, new).must(6);

    admin.ok(&["user", "totp-reset", "ada", "--yes"]);
    enter(new).must(0);
    let ended = admin.json(&["session", "rm", "--all", "--user", "ada"]);
    assert_eq!(ended["commandLines"], 2, "{ended}");
    ada.run(&["whoami"]).must(6);
    assert_eq!(admin.json(&["audit", "verify"])["isIntact"], true);
    let log = server.process.log();
    for secret in ["hst_inv_", "hst_reset_", PASSWORD, new, &recovery] {
        assert!(!log.contains(secret), "the server's log has {secret}");
    }
}

#[test]
fn who_guesses_waits_even_after_a_restart() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "front", None);
    let admin = server.first_login(&rig);
    let password = "a mill, a river, a raven";
    admin.run_with(&["user", "create", "ada", "--password-stdin"], password).must(0);
    let url = server.url();
    let enter = |password: &str| {
        let words = ["login", &url, "--context", "ada", "--name", "ada", "--password-stdin"];
        Cli::new(&rig).run_with(&words, password)
    };
    let mut tries = 0;
    let waiting = loop {
        tries += 1;
        let refused = enter("not the password");
        if refused.code == 1 {
            break refused;
        }
        assert!(refused.code == 6 && tries < 20, "{refused:?}");
    };
    assert!(tries > 10, "ten are free");
    assert!(waiting.err.contains("too many logins failed"), "{}", waiting.err);
    assert!(waiting.err.contains("wait"), "{}", waiting.err);
    let seen = admin.json(&["event", "ls", "--kind", "login.throttled"]);
    assert_eq!(seen["items"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!(seen["items"][0]["object"]["name"], "ada");
    server.restart(&rig);
    // The counts are in the database: a few more guesses, and the waits go on where they were.
    let mut tries = 0;
    loop {
        tries += 1;
        let refused = enter("not the password");
        if refused.code == 1 {
            break;
        }
        assert!(refused.code == 6 && tries < 4, "the restart forgave: {refused:?}");
    }
    assert_eq!(admin.json(&["whoami"])["name"], "admin", "who is logged in goes on");
}
