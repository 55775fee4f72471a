//! Two projects, and somebody who is an admin of one and nothing in the other.
//!
//! Every endpoint is called with everything that the other project has, by name and by id, below that
//! project and below one's own. Nothing of it may be answered, and nothing of it may change.

use std::collections::BTreeMap;

use axum::body::Body;
use hostler_api::{Access, Described, IfMatch};
use http::{Method, Request};
use serde_json::{Value, json};

use super::{goes_on, problems, refusals};
use crate::world::{Reply, World};

/// Stands in everything of the other project that has a text.
const CANARY: &str = "canary-of-the-neighbour";
/// Of a secret, whose value is answered as base64.
const CANARY_BASE64: &str = "Y2FuYXJ5LW9mLXRoZS1uZWlnaGJvdXI=";
/// Make what is named where it is not there, and so may do it in one's own project.
const MAKERS: &[&str] = &[
    "workload_apply",
    "schedule_apply",
    "secret_set",
    "secret_generate",
    "secret_link",
    "member_set",
    "project_approval_policy_set",
    "project_hook_set",
    "watcher_apply",
    "state_put",
    "lock_acquire",
];
/// What is there by being named, and holds nothing in one's own project.
const EMPTY: &[&str] = &["state_list"];
/// Ada's.
const HOLD: &str = "01932b1e-0000-7000-8000-00000000ada0";
/// Kinds of what has a timeline.
const TIMELINES: &[&str] = &[
    "task",
    "workload",
    "schedule",
    "hook",
    "lock",
    "workflow",
    "execution",
    "secret",
    "custom",
    "stack",
];
/// What everybody who is logged in may read.
const SHARED: &[&str] = &["role_get"];

struct Neighbours {
    world: World,
    eve: String,
    /// What each path parameter can be, to point at the neighbour's.
    targets: BTreeMap<&'static str, Vec<String>>,
    /// Ids that somebody who was told nothing cannot know.
    ids: Vec<String>,
}

async fn bytes(world: &World, method: Method, path: &str, bytes: &[u8]) -> Reply {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {}", world.admin))
        .header("content-type", "application/octet-stream")
        .body(Body::from(bytes.to_vec()))
        .unwrap();
    world.send(request).await
}

async fn neighbours() -> Neighbours {
    let world = World::new().await;
    let project = json!({ "name": "theirs", "description": CANARY });
    let project = world.post("/api/v1/projects", project).await.json();
    world.project("mine").await;
    let ada = world.account("ada", None, Some(("theirs", "admin"))).await;
    let eve = world.account("eve", None, Some(("mine", "admin"))).await;
    let post = async |path: &str, body: Value| {
        let path = format!("/api/v1/projects/theirs/{path}");
        let made = world.call_as(&ada, Method::POST, &path, Some(body)).await;
        assert!(made.status.is_success(), "{path}: {}", made.json());
        made.json()
    };
    let spec = json!({ "command": ["echo", CANARY], "env": { "TOKEN": CANARY } });
    let task = post("tasks", json!({ "name": "their-task", "spec": spec })).await;
    let array = json!({ "name": "their-array", "spec": spec, "range": "1-2" });
    let array = post("task-arrays", array).await;
    let invitation = json!({ "role": "viewer", "email": format!("{CANARY}@example.org") });
    let invitation = post("invitations", invitation).await;
    let text = format!("workflow.define('their-flow'):tasks({{ task('a'):command('{CANARY}') }})");
    post("workflows", json!({ "bundle": { "name": "their.sloth", "text": text } })).await;
    let execution = post("workflows/their-flow/executions", json!({})).await;
    let text = format!("return '{CANARY}'");
    let bundle = json!({ "name": "their.lua", "text": text });
    post("modules", json!({ "name": "their-module", "bundle": bundle })).await;
    let template = json!({
        "heat_template_version": "2021-04-16",
        "description": CANARY,
        "parameters": { "word": { "type": "string", "default": CANARY } },
        "resources": {
            "their-thing": { "type": "OS::Heat::Value", "properties": { "value": CANARY } },
        },
        "outputs": { "word": { "value": { "get_param": "word" } } },
    });
    let form = json!({ "template": template.to_string() });
    let stack = post("stacks", json!({ "name": "their-stack", "form": form })).await;
    let plan = json!({ "create": { "name": "their-other", "form": form } });
    let plan = post("stack-plans", plan).await;
    let path = "/api/v1/projects/theirs/workloads/their-web";
    let web = world.call_as(&ada, Method::PUT, path, Some(spec.clone())).await;
    assert_eq!(web.status, 200, "{}", web.json());
    let path = "/api/v1/projects/theirs/schedules/their-schedule";
    let nightly =
        json!({ "cron": "@daily", "description": CANARY, "target": { "task": { "spec": spec } } });
    let schedule = world.call_as(&ada, Method::PUT, path, Some(nightly)).await;
    assert_eq!(schedule.status, 200, "{}", schedule.json());
    let path = "/api/v1/projects/theirs/hooks/their-hook";
    let action = json!({ "task": { "spec": spec } });
    let hook = json!({ "on": ["task.failed"], "description": CANARY, "action": action });
    let hook = world.call_as(&ada, Method::PUT, path, Some(hook)).await;
    assert_eq!(hook.status, 200, "{}", hook.json());
    let path = "/api/v1/projects/theirs/watchers/their-watcher";
    let file = json!({ "path": format!("/srv/{CANARY}") });
    let watcher = json!({ "description": CANARY, "watch": { "file": file } });
    let watcher = world.call(Method::PUT, path, Some(watcher)).await;
    assert_eq!(watcher.status, 200, "{}", watcher.json());
    let path = format!("/api/v1/projects/theirs/locks/their-lock/holds/{HOLD}");
    let hold = json!({ "ttl": "1h", "holder": { "why": CANARY } });
    let hold = world.call_as(&ada, Method::PUT, &path, Some(hold)).await;
    assert_eq!(hold.json()["outcome"], "held", "{}", hold.json());
    let path = "/api/v1/projects/theirs/state/their-space/value?key=their-entry";
    assert_eq!(bytes(&world, Method::PUT, path, CANARY.as_bytes()).await.status, 200);
    let path = "/api/v1/projects/theirs/secrets/their-key?environment=default";
    assert_eq!(bytes(&world, Method::PUT, path, CANARY.as_bytes()).await.status, 200);
    let digest = blake3::hash(CANARY.as_bytes()).to_hex().to_string();
    let path = format!("/api/v1/projects/theirs/chunks/{digest}");
    assert_eq!(bytes(&world, Method::PUT, &path, CANARY.as_bytes()).await.status, 204);
    let chunks = json!([{ "digest": digest, "size": CANARY.len() }]);
    post("blobs", json!({ "digest": digest, "label": CANARY, "chunks": chunks })).await;
    post("events", json!({ "kind": "custom.their-event", "payload": CANARY })).await;
    let token = world.call_as(&ada, Method::GET, "/api/v1/tokens", None).await.json();
    let path = "/api/v1/projects/theirs/approval-policies/their-policy";
    let rule = json!({ "verbs": ["secret.value"], "by": ["ada"] });
    let policy = world.call_as(&ada, Method::PUT, path, Some(rule)).await;
    assert_eq!(policy.status, 200, "{}", policy.json());
    let path = "/api/v1/projects/theirs/secrets/their-key/value";
    let held = world.call_as(&ada, Method::GET, path, None).await;
    assert_eq!(held.code(), "approval-required");
    let approval = world.call_as(&ada, Method::GET, "/api/v1/approvals?mine=true", None).await;
    let approval = approval.json()["items"][0].clone();

    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let both = |value: &Value, name: &str| vec![id(value), name.to_owned()];
    let (web, schedule, token) = (web.json(), schedule.json(), &token["items"][0]);
    let invitation = &invitation["invitation"];
    let user = world.get("/api/v1/users/ada").await.json();
    let timelines = [id(&task), id(&web), id(&execution)]
        .into_iter()
        .chain(
            ["their-hook", "their-lock", "their-flow", "their-key", "their-event", "their-stack"]
                .map(Into::into),
        )
        .collect();
    let targets = BTreeMap::from([
        ("{project}", both(&project, "theirs")),
        ("{task}", both(&task, "their-task")),
        ("{array}", both(&array, "their-array")),
        ("{workload}", both(&web, "their-web")),
        ("{schedule}", both(&schedule, "their-schedule")),
        ("{hook}", vec!["their-hook".to_owned()]),
        ("{watcher}", both(&watcher.json(), "their-watcher")),
        ("{kind}", TIMELINES.iter().map(|kind| (*kind).to_owned()).collect()),
        ("{object}", timelines),
        ("{lock}", vec!["their-lock".to_owned()]),
        ("{hold}", vec![HOLD.to_owned()]),
        ("{namespace}", vec!["their-space".to_owned()]),
        ("{workflow}", vec!["their-flow".to_owned()]),
        ("{execution}", vec![id(&execution)]),
        ("{module}", vec!["their-module".to_owned()]),
        ("{secret}", vec!["their-key".to_owned()]),
        ("{version}", vec!["1".to_owned()]),
        ("{stack}", both(&stack, "their-stack")),
        ("{resource}", vec!["their-thing".to_owned()]),
        ("{plan}", vec![id(&plan)]),
        ("{revision}", vec!["1".to_owned()]),
        ("{snapshot}", vec![HOLD.to_owned()]),
        ("{blob}", vec![digest.clone()]),
        ("{chunk}", vec![digest.clone()]),
        ("{invitation}", vec![id(invitation)]),
        ("{token}", vec![id(token)]),
        ("{approval}", vec![id(&approval)]),
        ("{policy}", vec!["their-policy".to_owned()]),
        ("{user}", both(&user, "ada")),
    ]);
    let ids =
        [&project, &task, &array, &web, &schedule, &execution, &stack, &plan, invitation, token]
            .into_iter()
            .chain([&approval, &user])
            .map(id);
    let ids = ids.chain([digest]).collect();
    Neighbours { world, eve, targets, ids }
}

impl Neighbours {
    /// Every way to write the path of an endpoint, with the project given or the neighbour's.
    fn paths(&self, endpoint: &Described, project: Option<&str>) -> Vec<String> {
        let mut paths = vec![String::new()];
        for part in endpoint.path.split('/').skip(1) {
            let parts = match (part, project) {
                ("{project}", Some(own)) => vec![own.to_owned()],
                (part, _) if part.starts_with('{') => {
                    self.targets.get(part).cloned().unwrap_or_else(|| vec!["none-such".to_owned()])
                }
                (part, _) => vec![part.to_owned()],
            };
            let longer = |path: &String| {
                let path = path.clone();
                parts.iter().map(move |part| format!("{path}/{part}")).collect::<Vec<_>>()
            };
            paths = paths.iter().flat_map(longer).collect();
        }
        if endpoint.name == "execution_output" {
            paths.iter_mut().for_each(|path| path.push_str("?step=a"));
        }
        if endpoint.name == "timeline_find" {
            paths.iter_mut().for_each(|path| path.push_str("?object=their-web"));
        }
        if endpoint.name == "stack_hook_clear" {
            for path in &mut paths {
                *path = path.replace("their-hook", "pre-create");
            }
        }
        if endpoint.name == "stack_compare" {
            paths.iter_mut().for_each(|path| path.push_str("?from=v1"));
        }
        if endpoint.path.contains("{namespace}/") {
            paths.iter_mut().for_each(|path| path.push_str("?key=their-entry"));
        }
        paths
    }

    async fn try_as_eve(&self, endpoint: &Described, path: &str) -> Reply {
        let mut request = Request::builder()
            .method(endpoint.method.clone())
            .uri(path)
            .header("authorization", format!("Bearer {}", self.eve));
        if endpoint.if_match == IfMatch::Always {
            request = request.header("if-match", "\"1\"");
        }
        let (kind, body) = match (&endpoint.method, endpoint.raw_body, endpoint.name) {
            (&Method::GET, ..) => return self.sent(request.body(Body::empty()).unwrap()).await,
            (_, Some(_), _) => ("application/octet-stream", CANARY.to_owned()),
            (_, None, name) if has_body(name) => ("application/json", body_of(name).to_string()),
            (_, None, _) => return self.sent(request.body(Body::empty()).unwrap()).await,
        };
        let request = request.header("content-type", kind);
        self.sent(request.body(Body::from(body)).unwrap()).await
    }

    async fn sent(&self, request: Request<Body>) -> Reply {
        let reply = self.world.send(request).await;
        let text = String::from_utf8_lossy(&reply.bytes);
        assert!(!text.contains(CANARY) && !text.contains(CANARY_BASE64), "{text}");
        reply
    }

    /// Everything of the neighbour's as an admin sees it.
    async fn state(&self) -> Vec<Value> {
        let mut seen = Vec::new();
        for path in [
            "",
            "/tasks",
            "/task-arrays",
            "/workloads",
            "/schedules",
            "/workflows",
            "/modules",
            "/executions",
            "/secrets",
            "/secrets/their-key/versions",
            "/blobs",
            "/members",
            "/invitations",
            "/approval-policies",
            "/stacks",
            "/stack-plans",
        ] {
            let path = format!("/api/v1/projects/theirs{path}");
            let reply = self.world.get(&path).await;
            assert_eq!(reply.status, 200, "{path}: {}", reply.json());
            let mut value = reply.json();
            if let Some(listing) = value.as_object_mut() {
                // It tells where a watch would go on, which anything at all moves.
                listing.remove("watchCursor");
            }
            seen.push(value);
        }
        seen
    }
}

fn has_body(name: &str) -> bool {
    !body_of(name).is_null()
}

/// A body that would do something, if it were let.
fn body_of(name: &str) -> Value {
    match name {
        "task_kill" | "array_kill" | "secret_generate" | "workflow_run" | "execution_retry" => {
            json!({})
        }
        "workflow_push" => json!({ "bundle": { "name": "x.lua", "text": "print(1)" } }),
        "module_push" => {
            json!({ "name": "their-module", "bundle": { "name": "x.lua", "text": "return 1" } })
        }
        "stack_plugin_push" => {
            json!({ "name": "their-plugin", "lua": { "name": "x.lua", "text": "return {}" } })
        }
        "task_submit" | "array_submit" => {
            json!({ "spec": { "command": ["true"] }, "range": "1-2" })
        }
        "workload_apply" => json!({ "command": ["true"] }),
        "workload_exec" => json!({ "command": ["true"] }),
        "schedule_apply" | "schedule_preview" => {
            json!({ "every": "1m", "target": { "task": { "spec": { "command": ["true"] } } } })
        }
        "lock_acquire"
        | "lock_renew"
        | "stack_lock_acquire"
        | "stack_lock_renew"
        | "stack_snapshot_create"
        | "stack_cancel"
        | "hook_replay"
        | "project_hook_replay"
        | "hook_discard"
        | "project_hook_discard" => json!({}),
        "hook_test" | "project_hook_test" => json!({ "sequence": 1 }),
        "hook_set" | "project_hook_set" => {
            json!({ "on": ["*"], "action": { "task": { "spec": { "command": ["true"] } } } })
        }
        "lock_force_release" | "stack_lock_force_release" => json!({ "reason": "because I can" }),
        "stack_update" | "stack_patch" => json!({ "form": {} }),
        "stack_signal" => json!({ "data": {} }),
        "stack_mark" => json!({ "unhealthy": true }),
        "stack_restore" => json!({ "point": "v1" }),
        "event_emit" => json!({ "kind": "custom.deploy" }),
        "state_commit" => json!({ "then": [{ "op": "get", "key": "their-entry" }] }),
        "schedule_pause" => json!({ "reason": "because I can" }),
        "project_update" => json!({ "description": "taken over" }),
        "member_set" => json!({ "role": "admin" }),
        "project_invitation_create" => json!({ "role": "admin" }),
        "chunks_missing" => json!({ "chunks": [] }),
        "approval_approve" => json!({}),
        "approval_deny" => json!({ "reason": "because I can" }),
        "approval_policy_set" | "project_approval_policy_set" => {
            json!({ "verbs": ["task.submit"], "by": ["eve"] })
        }
        _ => Value::Null,
    }
}

#[tokio::test]
async fn idor_below_a_foreign_project_finds_no_project() {
    let both = neighbours().await;
    let before = both.state().await;
    let mut tried = 0;
    for endpoint in hostler_api::all() {
        if !matches!(endpoint.access, Access::Project(_)) {
            continue;
        }
        for path in both.paths(&endpoint, None) {
            let reply = both.try_as_eve(&endpoint, &path).await;
            assert_eq!(reply.code(), "not-found", "{} {path}", endpoint.name);
            let detail = reply.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.starts_with("there is no project"), "{path}: {detail}");
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
    assert_eq!(both.state().await, before, "nothing of the neighbour's has changed");
    assert!(refusals(&both.world, "task_get").await >= 4);
    goes_on(&both.world).await;
}

#[tokio::test]
async fn idor_below_ones_own_project_finds_nothing_of_others() {
    let both = neighbours().await;
    let before = both.state().await;
    let mut found = Vec::new();
    for endpoint in hostler_api::all() {
        let is_about_an_object = endpoint.path.matches('{').count() > 1;
        let is_meant = matches!(endpoint.access, Access::Project(_)) && is_about_an_object;
        // A chunk is named by its content: who has that may put it, and learns nothing.
        if !is_meant || MAKERS.contains(&endpoint.name) || endpoint.name == "chunk_put" {
            continue;
        }
        let is_empty = EMPTY.contains(&endpoint.name);
        for path in both.paths(&endpoint, Some("mine")) {
            let reply = both.try_as_eve(&endpoint, &path).await;
            let is_refused = [403, 404].contains(&reply.status.as_u16());
            let shown = String::from_utf8_lossy(&reply.bytes).into_owned();
            let tells = shown.contains(CANARY) || shown.contains("their-entry");
            if !(is_refused || (is_empty && !tells)) {
                found.push(format!("{} {path}: {} {shown}", endpoint.name, reply.status));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(both.state().await, before, "nothing of the neighbour's has changed");
    assert!(refusals(&both.world, "secret_read").await >= 1);
    goes_on(&both.world).await;
}

#[tokio::test]
async fn idor_by_names_of_others_finds_no_timeline() {
    let both = neighbours().await;
    for given in both.targets["{object}"].iter().chain(&both.targets["{schedule}"]) {
        let path = format!("/api/v1/projects/mine/timeline?object={given}");
        let request = crate::world::request(Method::GET, &path, Some(&both.eve), None);
        let found = both.sent(request).await;
        assert_eq!(found.status, 200, "{}", found.json());
        assert_eq!(found.json()["items"], json!([]), "{given}");
    }
    // What caused something of theirs is named in the question, and still nothing is told.
    let task = &both.targets["{task}"][0];
    for path in [
        format!("/api/v1/events?cause=task/{task}"),
        format!("/api/v1/events?object=task&id={task}"),
        "/api/v1/events?kind=custom.their-event".to_owned(),
        "/api/v1/events/export?kind=custom.their-event".to_owned(),
        "/api/v1/events/export?cause=task/".to_owned(),
    ] {
        let request = crate::world::request(Method::GET, &path, Some(&both.eve), None);
        let found = both.sent(request).await;
        assert_eq!(found.json()["items"], json!([]), "{path}");
    }
    let path = "/api/v1/events/export?project=theirs";
    let request = crate::world::request(Method::GET, path, Some(&both.eve), None);
    assert_eq!(both.sent(request).await.code(), "not-found");
    goes_on(&both.world).await;
}

#[tokio::test]
async fn idor_outside_of_projects_tells_and_changes_nothing() {
    let both = neighbours().await;
    let before = both.state().await;
    let (noted, mut refused) = (problems(&both.world, "").await, 0);
    for endpoint in hostler_api::all() {
        let is_meant = matches!(endpoint.access, Access::Global(_) | Access::LoggedIn);
        let is_own = ["logout", "web_session_end_others"].contains(&endpoint.name);
        if !is_meant || is_own || SHARED.contains(&endpoint.name) {
            continue;
        }
        for path in both.paths(&endpoint, None) {
            let reply = both.try_as_eve(&endpoint, &path).await;
            refused += u64::from(reply.status.as_u16() >= 400);
            if endpoint.path.contains('{') {
                assert!(reply.status.is_client_error(), "{} {path}", endpoint.name);
            } else if reply.status.is_success() {
                let text = String::from_utf8_lossy(&reply.bytes);
                let told = both.ids.iter().find(|id| text.contains(*id));
                assert_eq!(told, None, "{} tells: {text}", endpoint.name);
            }
        }
    }
    for path in [
        "/api/v1/events?project=theirs",
        "/api/v1/accounts?project=theirs",
        "/api/v1/events?kind=task.created",
        "/api/v1/events?watch=false&limit=1000",
    ] {
        let request = crate::world::request(Method::GET, path, Some(&both.eve), None);
        let reply = both.sent(request).await;
        refused += u64::from(reply.status.as_u16() >= 400);
        let text = String::from_utf8_lossy(&reply.bytes);
        assert_eq!(both.ids.iter().find(|id| text.contains(*id)), None, "{path}: {text}");
    }
    for body in [
        json!({ "name": "x", "user": "ada", "role": "viewer" }),
        json!({ "name": "x", "role": "viewer", "project": "theirs" }),
    ] {
        let path = "/api/v1/tokens";
        let made = both.world.call_as(&both.eve, Method::POST, path, Some(body)).await;
        assert!(made.status.is_client_error(), "{}", made.json());
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
    assert_eq!(problems(&both.world, "").await, noted + refused, "each refusal is counted");
    assert_eq!(both.state().await, before, "nothing of the neighbour's has changed");
    goes_on(&both.world).await;
}
