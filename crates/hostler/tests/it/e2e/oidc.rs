//! People log in at a real identity provider, through a terminal and through the dashboard.

use serde_json::{Value, json};

use crate::rig::{Cli, DEADLINE, Https, PASSWORD, Provider, Reply, Returned, Rig, Server};

const ADA: &str = Provider::ADA;
const BOB: &str = Provider::BOB;
/// What a browser says of a request that one of our own pages makes.
const OWN_PAGE: (&str, &str) = ("Sec-Fetch-Site", "same-origin");

/// A login as the command line has it: the address that it shows, a browser, the code that is pasted.
fn through_terminal(
    rig: &Rig,
    server: &Server,
    provider: &Provider,
    context: &str,
    subject: &str,
) -> (i32, String) {
    let (url, pin) = (server.url(), &server.fingerprint);
    let words = ["login", &url, "--context", context, "--fingerprint", pin, "--oidc"];
    let mut login = Cli::new(rig).spawn_fed(&format!("login-{context}"), &words);
    let shown = login.line(&[&provider.issuer, "/auth?"]);
    let back = provider.log_in(shown.trim(), subject);
    login.tell(&format!("{}.{}", back.state, back.code));
    let (code, _) = login.wait_within(DEADLINE);
    (code, login.log())
}

/// A login with the calls that the dashboard makes.
struct Page<'a> {
    https: &'a Https,
    url: String,
    ticket: String,
}

impl Page<'_> {
    fn begin(https: &Https) -> Page<'_> {
        let begun = https.request("POST", "/api/v1/oidc/begin", &[OWN_PAGE], b"");
        let view = begun.json();
        let text =
            |field: &str| view[field].as_str().unwrap_or_else(|| panic!("{view}")).to_owned();
        Page { https, url: text("url"), ticket: text("ticket") }
    }

    fn finish(&self, state: &str, code: &str) -> Reply {
        let body = json!({ "ticket": self.ticket, "state": state, "code": code, "kind": "cookie" });
        let more = [OWN_PAGE, ("Content-Type", "application/json")];
        self.https.request("POST", "/api/v1/oidc/finish", &more, body.to_string().as_bytes())
    }

    fn finish_with(&self, back: &Returned) -> Reply {
        self.finish(&back.state, &back.code)
    }
}

/// A whole one.
fn through_page(https: &Https, provider: &Provider, subject: &str) -> Reply {
    let page = Page::begin(https);
    page.finish_with(&provider.log_in(&page.url, subject))
}

/// Who the cookie of a login belongs to.
fn whoami(https: &Https, entered: &Reply) -> Value {
    let shown = String::from_utf8_lossy(&entered.body);
    assert_eq!(entered.status, 200, "{shown}");
    let cookie = entered.header("set-cookie").unwrap().split(';').next().unwrap();
    let me = https.request("GET", "/api/v1/whoami", &[OWN_PAGE, ("Cookie", cookie)], b"");
    assert_eq!(me.status, 200);
    me.json()
}

#[track_caller]
fn refused(reply: &Reply, status: u16, code: &str, why: &str) {
    let problem = reply.problem(status, code);
    assert!(problem["detail"].as_str().unwrap().contains(why), "{problem}");
}

#[test]
fn people_log_in_at_a_real_provider_and_nothing_is_good_twice() {
    let rig = Rig::new();
    let Some(mut provider) = Provider::start(&rig) else { return };
    let mut server = Server::configured(&rig, "server", &provider.settings(""));
    let admin = server.first_login(&rig);
    let https = server.https();
    assert_eq!(https.get("/api/v1/oidc").json()["label"], "Example SSO");

    // Whom nobody linked is told what to ask for.
    let (code, said) = through_terminal(&rig, &server, &provider, "ada", ADA);
    assert_eq!(code, 6, "{said}");
    assert!(said.contains("hostler user identity add NAME 00u1-ada"), "{said}");
    admin.run_with(&["user", "create", "ada", "--password-stdin"], PASSWORD).must(0);
    refused(&through_page(&https, &provider, ADA), 403, "forbidden", "no account here is linked");
    admin.ok(&["user", "identity", "add", "ada", ADA]);

    let (code, said) = through_terminal(&rig, &server, &provider, "ada", ADA);
    assert_eq!(code, 0, "{said}");
    let ada = Cli::new(&rig).context("ada");
    assert_eq!(ada.json(&["whoami"])["name"], "ada");
    let page = Page::begin(&https);
    let back = provider.log_in(&page.url, ADA);
    assert_eq!(whoami(&https, &page.finish_with(&back))["name"], "ada");
    let logins = admin.json(&["audit", "search", "--action", "login"]);
    let newest = &logins["items"][0];
    assert_eq!(
        (&newest["actor"]["name"], &newest["detail"]["subject"]),
        (&"ada".into(), &ADA.into())
    );
    refused(&through_page(&https, &provider, BOB), 403, "forbidden", "no account here is linked");

    // Once more with the same: the provider does not take a code twice, nor we a login.
    refused(&page.finish_with(&back), 401, "unauthenticated", "used already");
    let fresh = provider.log_in(&page.url, ADA);
    assert_eq!(fresh.state, back.state);
    refused(&page.finish_with(&fresh), 401, "unauthenticated", "finished already");

    // What belongs to one login is of no use in another.
    let (first, second) = (Page::begin(&https), Page::begin(&https));
    let of_first = provider.log_in(&first.url, ADA);
    let of_second = provider.log_in(&second.url, ADA);
    refused(&second.finish_with(&of_first), 401, "unauthenticated", "belongs to another login");
    let mixed = second.finish(&of_second.state, &of_first.code);
    refused(&mixed, 401, "unauthenticated", "the provider does not take it");
    refused(&second.finish(&of_second.state, ""), 401, "unauthenticated", "no code");
    let log = server.process.log();
    let codes = [back.code.as_str(), of_second.code.as_str()];
    for secret in codes.into_iter().chain([page.ticket.as_str(), Provider::SECRET]) {
        assert!(!log.contains(secret), "the server's log has {secret}");
    }

    // The provider goes away in the middle of a login, and stays away.
    provider.process.kill();
    let away = second.finish_with(&of_second).problem(503, "unavailable");
    assert_eq!(away["detail"], "the identity provider cannot be asked");
    server.restart(&rig);
    let url = server.url();
    let out = Cli::new(&rig).run(&["login", &url, "--context", "ada", "--oidc"]).must(8);
    assert!(out.err.contains("the identity provider cannot be asked"), "{}", out.err);
    assert!(out.err.contains("who has a password can log in with that"), "{}", out.err);
    server.login(&rig, &[]);
    assert_eq!(ada.json(&["whoami"])["name"], "ada", "who is in stays in");
    assert_eq!(admin.json(&["audit", "verify"])["isIntact"], true);
}

#[test]
fn the_provider_says_who_comes_in_and_in_which_groups_they_are() {
    let rig = Rig::new();
    let Some(provider) = Provider::start(&rig) else { return };
    let more = "create_accounts = true\n\
                email_domains = ['example.org']\n\
                required = 'groups=hostler-users'\n\
                groups = ['platform=ops']\n";
    let mut server = Server::configured(&rig, "server", &provider.settings(more));
    let admin = server.first_login(&rig);
    admin.ok(&["group", "create", "ops"]);
    admin.ok(&["user", "role", "group:ops", "operator"]);
    let https = server.https();
    let enter = |subject: &str| through_page(&https, &provider, subject);
    let members = || admin.json(&["group", "show", "ops"])["members"].clone();

    refused(&enter(BOB), 403, "forbidden", "in none of the domains");
    let ada = whoami(&https, &enter(ADA));
    assert_eq!((&ada["name"], &ada["role"]), (&"ada".into(), &"operator".into()));
    assert_eq!(members(), json!(["ada"]));
    provider.change(ADA, &json!({ "groups": ["hostler-users"] }));
    let less = whoami(&https, &enter(ADA));
    assert_eq!((&less["id"], &less["role"]), (&ada["id"], &Value::Null), "{less}");
    assert_eq!(members(), json!([]));
    provider.change(ADA, &json!({ "groups": [] }));
    refused(&enter(ADA), 403, "forbidden", "not among those");
    provider.change(ADA, &json!({ "groups": ["hostler-users"], "email_verified": false }));
    refused(&enter(ADA), 403, "forbidden", "is not checked");

    // Neither an address nor a name makes anybody somebody else.
    let posing = json!({ "email": "ada@example.org", "preferred_username": "ada" });
    provider.change(BOB, &posing);
    refused(&enter(BOB), 409, "conflict", "is not linked with this identity");

    // A new key is found at once; nobody can have the keys fetched again and again.
    provider.change(ADA, &json!({ "email_verified": true }));
    assert_eq!(provider.asked("/jwks"), 1);
    provider.rotate();
    assert_eq!(whoami(&https, &enter(ADA))["name"], "ada");
    assert_eq!(provider.asked("/jwks"), 2);
    provider.rotate();
    refused(&enter(ADA), 401, "unauthenticated", "unknown key");
    assert_eq!(provider.asked("/jwks"), 2, "once a minute");
    assert_eq!(provider.asked("/.well-known/openid-configuration"), 1);
}
