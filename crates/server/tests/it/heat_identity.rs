//! As much of Keystone as clients ask for: tokens for passwords, for API tokens, and for tokens; where everything is.

use http::Method;
use serde_json::{Value, json};

use crate::heat::Heat;
use crate::world::Reply;

const TOKENS: &str = "/identity/v3/auth/tokens";
const PASSWORD: &str = "correct horse battery";

async fn with_people() -> Heat {
    let heat = Heat::new().await;
    let user = json!({ "name": "ada", "kind": "user", "password": PASSWORD });
    assert_eq!(heat.world.post("/api/v1/users", user).await.status, 201);
    let path = "/api/v1/projects/one/members/ada";
    let set = heat.world.call(Method::PUT, path, Some(json!({ "role": "user" }))).await;
    assert_eq!(set.status, 200);
    heat
}

fn by_password(user: &Value, scope: Option<Value>) -> Value {
    let mut auth = json!({ "identity": { "methods": ["password"], "password": { "user": user } } });
    if let Some(scope) = scope {
        auth["scope"] = scope;
    }
    json!({ "auth": auth })
}

fn ada(password: &str) -> Value {
    json!({ "name": "ada", "domain": { "name": "Default" }, "password": password })
}

async fn login(heat: &Heat, body: Value) -> Reply {
    heat.ask(None, Method::POST, TOKENS, Some(body)).await
}

/// The status and the message of a refusal of Keystone's shape.
fn refused(reply: &Reply) -> (u16, String) {
    let body = reply.json();
    assert_eq!(body["error"]["code"], reply.status.as_u16(), "{body}");
    assert!(body["error"]["title"].is_string(), "{body}");
    (reply.status.as_u16(), body["error"]["message"].as_str().unwrap().to_owned())
}

fn endpoint(token: &Value, kind: &str) -> String {
    let catalog = token["catalog"].as_array().unwrap();
    let service = catalog.iter().find(|one| one["type"] == kind).unwrap();
    assert_eq!(service["endpoints"].as_array().unwrap().len(), 3);
    service["endpoints"][0]["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_name_and_a_password_give_a_session_that_can_be_ended() {
    let heat = with_people().await;
    let scope = json!({ "project": { "name": "one", "domain": { "id": "default" } } });
    let reply = login(&heat, by_password(&ada(PASSWORD), Some(scope))).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    let secret = reply.header("x-subject-token").to_owned();
    assert!(secret.starts_with("hst_ses_"));
    let token = reply.json()["token"].clone();
    assert!(!token.to_string().contains(&secret));
    assert_eq!((&token["user"]["name"], &token["project"]["name"]), (&json!("ada"), &json!("one")));
    assert_eq!(
        (&token["methods"], &token["roles"]),
        (&json!(["password"]), &json!([{ "id": "user", "name": "user" }]))
    );
    let project = token["project"]["id"].as_str().unwrap();
    assert_eq!(endpoint(&token, "orchestration"), format!("http://heat.test:8004/v1/{project}"));
    assert_eq!(endpoint(&token, "identity"), "http://heat.test:8004/identity/v3");
    assert_eq!(endpoint(&token, "cloudformation"), "http://signals.test:8000/v1");
    let stacks = format!("/v1/{project}/stacks");
    assert_eq!(heat.ask(Some(&secret), Method::GET, &stacks, None).await.status, 200);
    let made = json!({ "stack_name": "s", "template": { "heat_template_version": "2021-04-16" } });
    assert_eq!(heat.ask(Some(&secret), Method::POST, &stacks, Some(made)).await.status, 201);
    let sessions = heat.world.get("/api/v1/users/ada/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "it is in the list of sessions");
    let audit = heat.world.get("/api/v1/audit?action=login").await.json().to_string();
    assert!(audit.contains("ada") && !audit.contains(&secret));
    let about = async |method: Method| {
        let mut request = crate::world::request(method, TOKENS, None, None);
        for name in ["x-auth-token", "x-subject-token"] {
            request.headers_mut().insert(name, secret.parse().unwrap());
        }
        crate::world::World::send_to(&heat.heat, request).await
    };
    let shown = about(Method::GET).await;
    assert_eq!((shown.status.as_u16(), shown.header("x-subject-token")), (200, secret.as_str()));
    assert_eq!(shown.json()["token"]["expires_at"], token["expires_at"]);
    assert_eq!(about(Method::HEAD).await.status, 200);
    assert_eq!(about(Method::DELETE).await.status, 204);
    assert_eq!(heat.ask(Some(&secret), Method::GET, &stacks, None).await.status, 401);
}

#[tokio::test]
async fn whoever_is_not_somebody_gets_nothing_and_has_to_wait() {
    let heat = with_people().await;
    for user in [
        ada("wrong"),
        json!({ "name": "nobody", "password": PASSWORD }),
        json!({ "id": "x", "password": "y" }),
    ] {
        let told = refused(&login(&heat, by_password(&user, None)).await);
        assert_eq!(told, (401, "name or password is wrong".to_owned()));
    }
    for scope in [
        json!({ "project": { "name": "default", "domain": { "id": "default" } } }),
        json!({ "project": { "id": "none-such" } }),
    ] {
        let told = refused(&login(&heat, by_password(&ada(PASSWORD), Some(scope))).await);
        assert_eq!(told, (401, "The request you have made requires authentication.".to_owned()));
    }
    let system = json!({ "system": { "all": true } });
    assert_eq!(login(&heat, by_password(&ada(PASSWORD), Some(system))).await.status, 403);
    for body in [
        json!({}),
        json!({ "auth": {} }),
        json!({ "auth": { "identity": { "methods": ["password"] } } }),
    ] {
        assert_eq!(refused(&login(&heat, body).await).0, 400);
    }
    let other = json!({ "auth": { "identity": { "methods": ["oauth1"] } } });
    assert_eq!(login(&heat, other).await.status, 401);
    let mut last = 0;
    for _ in 0..20 {
        last = login(&heat, by_password(&ada("wrong"), None)).await.status.as_u16();
    }
    assert_eq!(last, 429, "guesses are counted as on the login page");
}

#[tokio::test]
async fn an_api_token_is_an_application_credential() {
    let heat = with_people().await;
    let made = heat
        .world
        .post(
            "/api/v1/tokens",
            json!({ "name": "ci", "user": "owner", "role": "user", "projects": ["one"] }),
        )
        .await;
    let (id, secret) = (made.json()["token"]["id"].clone(), made.json()["secret"].clone());
    let ask = |credential: Value| json!({ "auth": { "identity": { "methods": ["application_credential"], "application_credential": credential } } });
    let reply = login(&heat, ask(json!({ "id": id, "secret": secret }))).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    assert_eq!(reply.header("x-subject-token"), secret.as_str().unwrap(), "nothing new is made");
    let token = reply.json()["token"].clone();
    assert_eq!(
        (&token["user"]["name"], &token["project"]["name"]),
        (&json!("owner"), &json!("one"))
    );
    let named = json!({ "name": "ci", "user": { "name": "owner", "domain": { "id": "default" } }, "secret": secret });
    assert_eq!(login(&heat, ask(named)).await.status, 201);
    for wrong in [
        json!({ "id": "0192aaaa-0000-7000-8000-000000000000", "secret": secret }),
        json!({ "id": id, "secret": "hst_pat_wrong" }),
        json!({ "name": "other", "user": { "name": "owner" }, "secret": secret }),
        json!({ "name": "ci", "user": { "name": "ada" }, "secret": secret }),
        json!({ "id": id }),
    ] {
        assert_eq!(refused(&login(&heat, ask(wrong)).await).0, 401);
    }
    let again =
        json!({ "auth": { "identity": { "methods": ["token"], "token": { "id": secret } } } });
    let reply = login(&heat, again).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("x-subject-token")),
        (201, secret.as_str().unwrap())
    );
    let mut revoke = crate::world::request(Method::DELETE, TOKENS, None, None);
    for name in ["x-auth-token", "x-subject-token"] {
        revoke.headers_mut().insert(name, secret.as_str().unwrap().parse().unwrap());
    }
    let told = crate::world::World::send_to(&heat.heat, revoke).await;
    assert_eq!(told.status, 403, "what somebody set up is not tidied away");
    let stacks = heat.ask(secret.as_str(), Method::GET, "/v1/one/stacks", None).await;
    assert_eq!(stacks.status, 200);
}

#[tokio::test]
async fn only_ones_own_tokens_and_projects_are_told_of() {
    let heat = with_people().await;
    let mut foreign = crate::world::request(Method::GET, TOKENS, None, None);
    foreign.headers_mut().insert("x-auth-token", heat.owner.parse().unwrap());
    foreign.headers_mut().insert("x-subject-token", heat.world.admin.parse().unwrap());
    assert_eq!(crate::world::World::send_to(&heat.heat, foreign).await.status, 404);
    let get = async |path: &str| heat.ask(Some(&heat.owner), Method::GET, path, None).await;
    for path in ["/identity/v3/auth/projects", "/identity/v3/projects?name=one"] {
        let all = get(path).await.json()["projects"].clone();
        assert_eq!((all.as_array().unwrap().len(), &all[0]["name"]), (1, &json!("one")), "{path}");
    }
    let id =
        get("/identity/v3/projects").await.json()["projects"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(get(&format!("/identity/v3/projects/{id}")).await.json()["project"]["name"], "one");
    assert_eq!(get("/identity/v3/projects/default").await.status, 404);
    let catalog = get("/identity/v3/auth/catalog").await.json();
    assert_eq!(catalog["catalog"].as_array().unwrap().len(), 3);
    let version = heat.ask(None, Method::GET, "/identity/v3", None).await.json();
    assert_eq!(version["version"]["links"][0]["href"], "http://heat.test:8004/identity/v3/");
    let versions = heat.ask(None, Method::GET, "/identity", None).await;
    assert_eq!(
        (versions.status.as_u16(), &versions.json()["versions"]["values"][0]["id"]),
        (300, &json!("v3.14"))
    );
}
