//! Who may call what: every endpoint with every kind of caller, compared with the contract.

use hostler_api::{Access, Described, IfMatch, Stream};
use hostler_model::Role;
use hostler_server::http::{Rate, Rates};
use http::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World, request};

pub(crate) struct Caller {
    pub(crate) label: String,
    pub(crate) token: Option<String>,
    global: Option<Role>,
    /// In the project `one`, which the requests name.
    project: Option<Role>,
}

impl Caller {
    fn role(&self) -> Option<Role> {
        self.global.max(self.project)
    }
}

#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Allowed,
    Unauthenticated,
    Forbidden,
    /// The project does not exist for this caller.
    Hidden,
}

pub(crate) fn expected(access: Access, caller: &Caller) -> Outcome {
    let enough = |held: Option<Role>, needed: Role| held.is_some_and(|role| role >= needed);
    match access {
        Access::Public => Outcome::Allowed,
        _ if caller.token.is_none() => Outcome::Unauthenticated,
        Access::LoggedIn => Outcome::Allowed,
        Access::Global(needed) if enough(caller.global, needed) => Outcome::Allowed,
        Access::Global(_) => Outcome::Forbidden,
        Access::Project(needed) if enough(caller.role(), needed) => Outcome::Allowed,
        Access::Project(_) if caller.role().is_some() => Outcome::Forbidden,
        Access::Project(_) => Outcome::Hidden,
    }
}

pub(crate) fn outcome(reply: &Reply) -> Outcome {
    match reply.status.as_u16() {
        401 => Outcome::Unauthenticated,
        403 => Outcome::Forbidden,
        404 if reply.json()["detail"] == "there is no project `one`" => Outcome::Hidden,
        _ => Outcome::Allowed,
    }
}

/// A request that changes nothing even where it is allowed: its body cannot be read.
pub(crate) async fn probe(world: &World, endpoint: &Described, token: Option<&str>) -> Reply {
    let path = endpoint.path.replace("{project}", "one");
    let path = path
        .split('/')
        .map(|part| if part.starts_with('{') { "none-such" } else { part })
        .collect::<Vec<_>>()
        .join("/");
    let mut request = request(endpoint.method.clone(), &path, token, None);
    if endpoint.method != Method::GET {
        let kind = match endpoint.raw_body {
            Some(_) => "application/octet-stream",
            None => "application/json",
        };
        request.headers_mut().insert("content-type", kind.parse().unwrap());
        *request.body_mut() = "{".into();
    }
    world.send(request).await
}

pub(crate) async fn callers(world: &World) -> Vec<Caller> {
    let mut callers =
        vec![Caller { label: "nobody".into(), token: None, global: None, project: None }];
    for role in Role::ALL {
        let token = world.account(&format!("global-{role}"), Some(role.label()), None).await;
        let (label, global) = (format!("global {role}"), Some(*role));
        callers.push(Caller { label, token: Some(token), global, project: None });
        let binding = Some(("one", role.label()));
        let token = world.account(&format!("project-{role}"), None, binding).await;
        let (label, project) = (format!("{role} of the project"), Some(*role));
        callers.push(Caller { label, token: Some(token), global: None, project });
    }
    let stranger = world.account("stranger", None, Some(("two", "admin"))).await;
    let (label, token) = ("admin of another project".into(), Some(stranger));
    callers.push(Caller { label, token, global: None, project: None });
    world.account("narrowed", Some("admin"), None).await;
    let viewer = world.token(json!({ "name": "v", "user": "narrowed", "role": "viewer" })).await;
    let (label, token) = ("admin with a viewer token".into(), Some(viewer));
    callers.push(Caller { label, token, global: Some(Role::Viewer), project: None });
    for (project, held) in [("one", Some(Role::Operator)), ("two", None)] {
        let body =
            json!({ "name": project, "user": "narrowed", "role": "operator", "project": project });
        let token = Some(world.token(body).await);
        let label = format!("admin with an operator token of project {project}");
        callers.push(Caller { label, token, global: None, project: held });
    }
    callers
}

#[tokio::test]
async fn every_endpoint_asks_for_exactly_the_role_it_declares() {
    let rates = Rates { login_source: Rate::new(1000.0, 1000.0), ..Rates::default() };
    let world = World::with_rates(rates).await;
    world.project("one").await;
    world.project("two").await;
    let callers = callers(&world).await;
    let mut wrong = Vec::new();
    for endpoint in hostler_api::all() {
        for caller in &callers {
            let reply = probe(&world, &endpoint, caller.token.as_deref()).await;
            let (is, should) = (outcome(&reply), expected(endpoint.access, caller));
            if is != should {
                let status = reply.status;
                wrong.push(format!(
                    "{} by {}: {is:?} ({status}), not {should:?}",
                    endpoint.name, caller.label
                ));
            }
            // A stream has begun its answer before it reads anything.
            let is_read = endpoint.method != Method::GET && endpoint.stream != Stream::Duplex;
            if is_read && is == Outcome::Allowed {
                assert_eq!(
                    reply.code(),
                    if endpoint.if_match == IfMatch::Always {
                        "precondition-required"
                    } else {
                        "malformed"
                    }
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_project_of_others_is_like_one_that_does_not_exist() {
    let world = World::new().await;
    world.project("one").await;
    world.project("two").await;
    let token = world.account("ada", None, Some(("two", "admin"))).await;
    let foreign = world.call_as(&token, Method::GET, "/api/v1/projects/one", None).await;
    let unknown = world.call_as(&token, Method::GET, "/api/v1/projects/six", None).await;
    assert_eq!(foreign.code(), "not-found");
    let text = |reply: &Reply| reply.json()["detail"].as_str().unwrap().replace("one", "six");
    assert_eq!(text(&foreign), text(&unknown));
    let own = world.call_as(&token, Method::GET, "/api/v1/projects/two", None).await;
    assert_eq!(own.status, 200);
    let events = world.call_as(&token, Method::GET, "/api/v1/events?project=one", None).await;
    assert_eq!(events.code(), "not-found");
    let listed = world.call_as(&token, Method::GET, "/api/v1/projects", None).await.json();
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|p| &p["name"]).collect();
    assert_eq!(names, ["two"]);
}

#[tokio::test]
async fn a_project_does_not_set_its_own_weight_and_quota() {
    let world = World::new().await;
    world.project("one").await;
    let token = world.account("ada", None, Some(("one", "admin"))).await;
    let path = "/api/v1/projects/one";
    let patch = async |token: &str, body: Value| {
        let etag = world.get(path).await.header("etag").to_owned();
        let mut request = request(Method::PATCH, path, Some(token), Some(body));
        request.headers_mut().insert("if-match", etag.parse().unwrap());
        world.send(request).await
    };
    for body in [json!({ "weight": 9 }), json!({ "quota": {} })] {
        assert_eq!(patch(&token, body).await.code(), "forbidden");
    }
    assert_eq!(patch(&token, json!({ "description": "ours" })).await.status, 200);
    let set =
        patch(&world.admin, json!({ "weight": 9, "quota": { "cores": 1.5, "gpus": 2 } })).await;
    assert_eq!(set.status, 200, "{}", set.json());
    let (is, quota) = (world.get(path).await.json(), json!({ "cores": 1.5, "gpus": 2 }));
    assert_eq!(
        (&is["description"], &is["weight"], &is["quota"]),
        (&json!("ours"), &json!(9), &quota)
    );
    assert_eq!(patch(&world.admin, json!({ "weight": 0 })).await.code(), "invalid");
}

#[tokio::test]
async fn a_task_of_another_project_is_not_found_by_its_id() {
    let world = World::new().await;
    world.project("one").await;
    world.project("two").await;
    let made =
        world.post("/api/v1/projects/one/tasks", json!({ "spec": { "command": ["true"] } })).await;
    assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.bytes));
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(world.get(&format!("/api/v1/projects/one/tasks/{id}")).await.status, 200);
    for tail in ["", "/explain", "/runs", "/logs"] {
        let reply = world.get(&format!("/api/v1/projects/two/tasks/{id}{tail}")).await;
        assert_eq!(reply.code(), "not-found", "{tail}");
    }
}

#[tokio::test]
async fn revoked_and_unknown_tokens_are_refused() {
    let world = World::new().await;
    let token = world.account("ada", Some("viewer"), None).await;
    assert_eq!(world.call_as(&token, Method::GET, "/api/v1/whoami", None).await.status, 200);
    assert_eq!(world.call_as(&token, Method::POST, "/api/v1/logout", None).await.status, 204);
    let after = world.call_as(&token, Method::GET, "/api/v1/whoami", None).await;
    assert_eq!(after.code(), "unauthenticated");
    assert!(after.header("www-authenticate").starts_with("Bearer"));
    for token in ["x", "hst_pat_x", &world.admin[..world.admin.len() - 1]] {
        let reply = world.call_as(token, Method::GET, "/api/v1/whoami", None).await;
        assert_eq!(reply.code(), "unauthenticated");
    }
}
