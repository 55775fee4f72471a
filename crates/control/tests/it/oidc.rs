//! Logins at an identity provider, against a small one of our own over real HTTP: who gets in, and as whom.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostler_control::{ControlConfig, LoginGrant, LoginKind, OidcConfig};
use hostler_egress::{Egress, Options, Policy};
use hostler_model::{Code, Error, EventKind, LoginOutcome, Permission, PrincipalKind, Role, Scope};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::World;
use hostler_trust::SecretString;
use hostler_trust::jwt::SigningKey;
use serde_json::{Value, json};

use crate::people::{events, from};

/// A provider that says what a test wants, and remembers what it was asked.
struct Provider {
    issuer: String,
    told: Arc<Mutex<Told>>,
}

struct Told {
    issuer: String,
    keys: Vec<SigningKey>,
    /// Which of the keys are published.
    published: usize,
    id_token: String,
    /// Answers nothing that is of use.
    is_away: bool,
    forms: Vec<String>,
    asked: Vec<String>,
}

impl Provider {
    fn start() -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let key = || SigningKey::from_pkcs8(SigningKey::generate().unwrap().expose()).unwrap();
        let told = Arc::new(Mutex::new(Told {
            issuer: issuer.clone(),
            keys: vec![key(), key()],
            published: 1,
            id_token: String::new(),
            is_away: false,
            forms: Vec::new(),
            asked: Vec::new(),
        }));
        let shared = Arc::clone(&told);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(&stream, &shared);
            }
        });
        Provider { issuer, told }
    }

    fn asked(&self, path: &str) -> usize {
        self.told.lock().unwrap().asked.iter().filter(|asked| *asked == path).count()
    }

    fn say(&self, key: usize, claims: &Value) {
        let mut told = self.told.lock().unwrap();
        told.id_token = told.keys[key].sign(claims).unwrap();
    }
}

fn answer(stream: &TcpStream, told: &Mutex<Told>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut told = told.lock().unwrap();
    told.asked.push(path.clone());
    let reply = match path.as_str() {
        "/.well-known/openid-configuration" => {
            let at = |path: &str| format!("{}{path}", told.issuer);
            json!({
                "issuer": told.issuer, "authorization_endpoint": at("/authorize"),
                "token_endpoint": at("/token"), "jwks_uri": at("/keys"),
            })
        }
        "/keys" => {
            let keys: Vec<_> = told.keys[..told.published].iter().map(SigningKey::jwk).collect();
            json!({ "keys": keys })
        }
        _ => {
            told.forms.push(String::from_utf8_lossy(&body).into_owned());
            json!({ "id_token": told.id_token, "access_token": "x", "token_type": "Bearer" })
        }
    };
    let text = reply.to_string();
    let status = if told.is_away { "503 Service Unavailable" } else { "200 OK" };
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
}

fn config(provider: &Provider) -> OidcConfig {
    OidcConfig {
        issuer: provider.issuer.clone(),
        client_id: "hostler".into(),
        client_secret_file: None,
        redirect_uri: "https://hostler.example/".into(),
        scopes: vec!["openid".into(), "email".into()],
        label: "Example".into(),
        name_claim: "preferred_username".into(),
        email_domains: Vec::new(),
        required: None,
        groups_claim: "groups".into(),
        groups: Vec::new(),
        creates_accounts: false,
        role: None,
        is_password_off: false,
    }
}

async fn world(seed: u64, oidc: OidcConfig) -> World {
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let policy = Policy { allow: vec!["127.0.0.1".parse().unwrap()], ..Policy::default() };
    let config = ControlConfig {
        oidc: Some(oidc),
        egress: Egress::new(Options { policy, ..Options::default() }),
        ..ControlConfig::default()
    };
    World::configured(store, seed, config).await
}

fn part<'u>(url: &'u str, name: &str) -> &'u str {
    let (_, query) = url.split_once('?').unwrap();
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).unwrap().1
}

fn claims(world: &World, provider: &Provider, nonce: &str) -> Value {
    let now = world.now().micros() / 1_000_000;
    json!({
        "iss": provider.issuer, "aud": "hostler", "sub": "u-1", "nonce": nonce,
        "exp": now + 300, "iat": now, "preferred_username": "Ada", "groups": ["platform"],
    })
}

/// A whole login, with claims that a test may change and a key of the provider's.
async fn login(
    world: &World,
    provider: &Provider,
    key: usize,
    change: impl Fn(&mut Value),
) -> Result<LoginGrant, Error> {
    let begun = world.control.oidc_begin().await?;
    let mut said = claims(world, provider, part(&begun.url, "nonce"));
    change(&mut said);
    provider.say(key, &said);
    let (request, state) = (&world.cx.request, part(&begun.url, "state"));
    world.control.oidc_finish(request, &begun.ticket, state, "the-code", LoginKind::Cookie).await
}

async fn code(world: &World, provider: &Provider, change: impl Fn(&mut Value)) -> Code {
    login(world, provider, 0, change).await.unwrap_err().code
}

#[tokio::test]
async fn people_who_are_linked_get_in_and_others_are_told_what_to_do() {
    let provider = Provider::start();
    let world = world(91, config(&provider)).await;
    let error = login(&world, &provider, 0, |_| ()).await.unwrap_err();
    assert_eq!(error.code, Code::Forbidden);
    assert!(error.hint.contains("hostler user identity add NAME u-1"), "{error:?}");
    let control = &world.control;
    control.user_identity_add(&world.cx, "admin", "u-1").await.unwrap();
    let again = control.user_identity_add(&world.cx, "admin", "u-1").await.unwrap_err();
    assert_eq!(again.code, Code::Conflict);
    let grant = login(&world, &provider, 0, |_| ()).await.unwrap();
    assert_eq!(grant.principal.name.as_str(), "admin");
    let who = control.caller_by_session(grant.secret.expose()).await.unwrap();
    assert_eq!(who.principal_id, world.cx.caller.principal_id, "a session as any other");
    let listed = control.user_identity_list(&world.cx, "admin").await.unwrap();
    assert_eq!((listed.len(), listed[0].time_last_used), (1, Some(world.now())));

    let form = provider.told.lock().unwrap().forms.pop().unwrap();
    assert!(form.contains("code=the-code") && form.contains("code_verifier="), "{form}");
    assert!(form.contains("redirect_uri=https%3A%2F%2Fhostler.example%2F"), "{form}");
    let issuer = &provider.issuer;
    control.user_identity_remove(&world.cx, "admin", issuer, "u-1").await.unwrap();
    assert_eq!(code(&world, &provider, |_| ()).await, Code::Forbidden);
    let gone = control.user_identity_remove(&world.cx, "admin", issuer, "u-1").await;
    assert_eq!(gone.unwrap_err().code, Code::NotFound);
}

#[tokio::test]
async fn what_is_forged_late_or_somebody_elses_is_refused() {
    let provider = Provider::start();
    let world = world(92, config(&provider)).await;
    let control = &world.control;
    control.user_identity_add(&world.cx, "admin", "u-1").await.unwrap();
    let wrong = Code::Unauthenticated;
    assert_eq!(code(&world, &provider, |said| said["nonce"] = "x".into()).await, wrong);
    assert_eq!(code(&world, &provider, |said| said["aud"] = "other".into()).await, wrong);
    assert_eq!(code(&world, &provider, |said| said["iss"] = "https://x".into()).await, wrong);
    assert_eq!(code(&world, &provider, |said| said["exp"] = 5.into()).await, wrong);
    let unsigned = |token: &str| {
        let (_, rest) = token.split_once('.').unwrap();
        let (payload, _) = rest.split_once('.').unwrap();
        format!("eyJhbGciOiJub25lIn0.{payload}.")
    };
    let begun = control.oidc_begin().await.unwrap();
    provider.say(0, &claims(&world, &provider, part(&begun.url, "nonce")));
    let good = provider.told.lock().unwrap().id_token.clone();
    provider.told.lock().unwrap().id_token = unsigned(&good);
    let finish = async |ticket: &str, state: &str| {
        let done = control.oidc_finish(&world.cx.request, ticket, state, "c", LoginKind::Token);
        done.await.map(|_| ()).map_err(|error| error.code)
    };
    let state = part(&begun.url, "state");
    assert_eq!(finish(&begun.ticket, state).await, Err(wrong), "not signed");
    provider.told.lock().unwrap().id_token = good;
    assert_eq!(finish(&begun.ticket, "another").await, Err(wrong), "another state");
    assert_eq!(finish("AAAA", state).await, Err(wrong), "no ticket of ours");
    let other = control.oidc_begin().await.unwrap();
    assert_eq!(finish(&other.ticket, state).await, Err(wrong), "of another login");
    assert_eq!(finish(&begun.ticket, state).await, Ok(()));
    // This provider takes a code as often as it comes: one login is ours to say.
    assert_eq!(finish(&begun.ticket, state).await, Err(wrong), "finished already");
    world.advance(Duration::from_mins(10));
    assert_eq!(finish(&begun.ticket, state).await, Err(wrong), "too late");
}

#[tokio::test]
async fn a_key_that_is_not_known_is_looked_for_once_a_minute() {
    let provider = Provider::start();
    let world = world(93, config(&provider)).await;
    world.control.user_identity_add(&world.cx, "admin", "u-1").await.unwrap();
    login(&world, &provider, 0, |_| ()).await.unwrap();
    login(&world, &provider, 0, |_| ()).await.unwrap();
    assert_eq!(provider.asked("/keys"), 1, "kept");
    for _ in 0..3 {
        assert!(login(&world, &provider, 1, |_| ()).await.is_err(), "not published");
    }
    assert_eq!(provider.asked("/keys"), 2, "looked for once, and not so soon again");
    provider.told.lock().unwrap().published = 2;
    world.advance(Duration::from_mins(1));
    login(&world, &provider, 1, |_| ()).await.unwrap();
    assert_eq!(provider.asked("/keys"), 3);
}

#[tokio::test]
async fn a_provider_that_is_away_is_left_alone_for_a_moment() {
    let provider = Provider::start();
    let world = world(95, config(&provider)).await;
    let control = &world.control;
    let place = "/.well-known/openid-configuration";
    provider.told.lock().unwrap().is_away = true;
    for _ in 0..3 {
        let error = control.oidc_begin().await.map(|_| ()).unwrap_err();
        assert_eq!(error.code, Code::Unavailable, "{error:?}");
        assert!(error.hint.contains("password"), "{error:?}");
    }
    assert_eq!(provider.asked(place), 1);
    provider.told.lock().unwrap().is_away = false;
    world.advance(Duration::from_secs(5));
    let begun = control.oidc_begin().await.unwrap();
    assert_eq!(provider.asked(place), 2);

    // Nobody is blamed for a provider that is away in the middle of a login.
    provider.told.lock().unwrap().is_away = true;
    let (request, state) = (from("10.0.0.1"), part(&begun.url, "state"));
    for _ in 0..40 {
        let finish = control.oidc_finish(&request, &begun.ticket, state, "c", LoginKind::Token);
        assert_eq!(finish.await.map(|_| ()).unwrap_err().code, Code::Unavailable);
    }
}

#[tokio::test]
async fn logins_that_fail_at_the_provider_slow_down_the_address_they_come_from() {
    let provider = Provider::start();
    let world = world(96, config(&provider)).await;
    let control = &world.control;
    control.user_identity_add(&world.cx, "admin", "u-1").await.unwrap();
    let attempt = async |source: &str, ticket: &str, state: &str| {
        let done = control.oidc_finish(&from(source), ticket, state, "c", LoginKind::Token).await;
        done.map(|_| ()).map_err(|error| error.code)
    };
    // Half of them bring nothing, half are somebody whom nobody linked.
    for round in 0..30 {
        let begun = control.oidc_begin().await.unwrap();
        let mut said = claims(&world, &provider, part(&begun.url, "nonce"));
        said["sub"] = "u-2".into();
        provider.say(0, &said);
        let (state, wrong) = match round % 2 {
            0 => ("another", Code::Unauthenticated),
            _ => (part(&begun.url, "state"), Code::Forbidden),
        };
        assert_eq!(attempt("192.0.2.1", &begun.ticket, state).await, Err(wrong), "{round}");
    }
    let begun = control.oidc_begin().await.unwrap();
    provider.say(0, &claims(&world, &provider, part(&begun.url, "nonce")));
    let state = part(&begun.url, "state");
    let waits = Err(Code::RateLimited);
    assert_eq!(attempt("192.0.2.1", &begun.ticket, state).await, waits, "not even the right one");
    let password = SecretString::new("whatever it is");
    let other = control.login(&from("192.0.2.1"), "ada", &password, None, LoginKind::Token).await;
    assert_eq!(other.unwrap_err().code, Code::RateLimited, "nor a password");
    let told = events(&world, EventKind::LoginThrottled).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("30 logins of this address failed"), "{told:?}");
    let count = |of: LoginOutcome| {
        control.login_counts().into_iter().find(|(outcome, _)| *outcome == of).unwrap().1
    };
    assert_eq!((count(LoginOutcome::Wrong), count(LoginOutcome::Waiting)), (30, 2));
    // Others are not kept out by it, and who waited gets in.
    assert_eq!(attempt("192.0.2.9", &begun.ticket, state).await, Ok(()));
    assert_eq!(count(LoginOutcome::Ok), 1);
    world.advance(Duration::from_secs(1));
    login(&world, &provider, 0, |_| ()).await.unwrap();
    let begun = control.oidc_begin().await.unwrap();
    provider.say(0, &claims(&world, &provider, part(&begun.url, "nonce")));
    let state = part(&begun.url, "state");
    assert_eq!(attempt("192.0.2.1", &begun.ticket, state).await, Ok(()));
}

#[tokio::test]
async fn accounts_and_groups_come_with_a_login_where_the_installation_says_so() {
    let provider = Provider::start();
    let oidc = OidcConfig {
        creates_accounts: true,
        role: Some(Role::Viewer.into()),
        required: Some(("groups".into(), "platform".into())),
        groups: vec![("operators".into(), "ops".parse().unwrap())],
        is_password_off: true,
        ..config(&provider)
    };
    let world = world(94, oidc).await;
    let control = &world.control;
    assert_eq!(code(&world, &provider, |said| said["groups"] = json!([])).await, Code::Forbidden);
    let new = hostler_control::NewGroup {
        name: "ops".parse().unwrap(),
        description: String::new(),
        members: vec![],
    };
    control.group_create(&world.cx, new).await.unwrap();
    let ops = async || {
        let group = control.group_get(&world.cx, "ops").await.unwrap();
        group.members.len()
    };
    let both = |said: &mut Value| said["groups"] = json!(["platform", "operators"]);
    let ada = login(&world, &provider, 0, both).await.unwrap().principal;
    assert_eq!((ada.name.as_str(), ada.kind), ("ada", PrincipalKind::User));
    assert_eq!(ops().await, 1);
    let grant = login(&world, &provider, 0, |_| ()).await.unwrap();
    assert_eq!((grant.principal.id, ops().await), (ada.id, 0), "the same, and not in it any more");
    let who = control.caller_by_session(grant.secret.expose()).await.unwrap();
    let read = hostler_model::Need { permission: Permission::NodeRead, scope: Scope::Global };
    assert!(who.may(read), "a viewer");

    let other = |said: &mut Value| {
        said["sub"] = "u-2".into();
    };
    let error = login(&world, &provider, 0, other).await.unwrap_err();
    assert_eq!(error.code, Code::Conflict, "a name alone is nobody: {error:?}");
    let patch = hostler_control::UserPatch {
        is_disabled: None,
        password: Some(SecretString::new("a long enough phrase 17")),
        role: None,
    };
    control.user_update(&world.cx, "ada", patch, ada.generation).await.unwrap();
    let password = SecretString::new("a long enough phrase 17");
    let refused = control.login(&world.cx.request, "ada", &password, None, LoginKind::Token).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden, "at the provider only");
}
