//! What runs calls the API as itself, with the real command line, until its run is over.

use std::fs;

use crate::rig::{BINARY, Rig, Server};

#[test]
fn the_command_line_works_inside_a_run_and_the_token_ends_with_it() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let kept = rig.path("kept-token");
    let script = format!(
        r#"
        {BINARY} whoami -o json
        {BINARY} task get me -o name; echo "read $?"
        {BINARY} task submit --name next -- true; echo "submit $?"
        {BINARY} node ls; echo "nodes $?"
        {BINARY} token create mine --role viewer; echo "token $?"
        cat "$HOSTLER_ADDR_FILE"; echo
        ls "$HOSTLER_SECRETS"
        cp "$HOSTLER_TOKEN_FILE" {}"#,
        kept.display()
    );
    let words = ["task", "submit", "--name", "me", "--wait", "--identity", "viewer", "--"];
    cli.run(&[&words[..], &["sh", "-c", &script]].concat()).must(0);
    let said = cli.run(&["logs", "me"]).must(0);
    let said = format!("{}{}", said.text(), said.err);
    for line in ["read 0", "submit 6", "nodes 6", "token 6", "hostler-token", "hostler-ca.pem"] {
        assert!(said.lines().any(|said| said == line), "{line} in {said}");
    }
    assert!(said.contains(r#""workload""#), "{said}");

    let token = fs::read_to_string(&kept).unwrap();
    let over = server.https().token(token.trim()).get("/api/v1/whoami");
    let problem = over.problem(401, "unauthenticated");
    assert!(problem["detail"].as_str().unwrap().contains("its run is over"), "{problem}");
    let keys = server.https().get("/oauth/jwks").json();
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(1), "{keys}");
    assert_eq!(keys["keys"][0]["alg"], "ES256");
    let audit = cli.json(&["audit", "ls"]).to_string();
    assert!(audit.contains("identity.issue") && !audit.contains(token.trim()), "{audit}");

    let refused = cli.run(&["task", "submit", "--identity", "nonesuch", "--", "true"]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("there is no role `nonesuch`"), "{}", refused.err);
}

/// A workload file says the same, and `get` shows it.
#[test]
fn a_service_with_an_identity_has_tokens_for_others_too() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let file = rig.path("workload.yaml");
    let text = "
name: svc
mode: forever
command: [sh, -c, 'cut -d. -f2 $HOSTLER_SECRETS/vault.jwt; exec sleep 100000']
identity: {tokens: [{audience: vault, file: vault.jwt}]}
";
    fs::write(&file, text).unwrap();
    cli.run(&["workload", "apply", "-f", file.to_str().unwrap()]).must(0);
    crate::rig::until("it has printed its token", || {
        let said = cli.ok(&["workload", "logs", "svc"]);
        said.contains("eyJ").then_some(())
    });
    let shown = cli.json(&["workload", "get", "svc"]).to_string();
    assert!(shown.contains("vault.jwt"), "{shown}");
}
