//! Custom roles, groups and limits of tokens, through the real router.

use std::collections::BTreeSet;

use hostler_api::{Access, Described};
use hostler_model::{Permission, PermissionSet, Role};
use hostler_server::http::Peer;
use http::Method;
use serde_json::{Value, json};

use crate::access::{Outcome, outcome, probe};
use crate::world::{Reply, World, request};

fn labels(permissions: impl IntoIterator<Item = Permission>) -> Vec<&'static str> {
    permissions.into_iter().map(Permission::label).collect()
}

async fn role(world: &World, name: &str, permissions: &[&str]) {
    let made =
        world.post("/api/v1/roles", json!({ "name": name, "permissions": permissions })).await;
    assert_eq!(made.status, 201, "{}", made.json());
}

/// A change that names the state it was made from.
async fn change(
    world: &World,
    token: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Reply {
    let etag = world.get(path).await.header("etag").to_owned();
    let mut request = request(method, path, Some(token), body);
    request.headers_mut().insert("if-match", etag.parse().unwrap());
    world.send(request).await
}

fn needing(permission: Permission) -> impl Iterator<Item = Described> {
    hostler_api::all().into_iter().filter(move |e| e.permission == Some(permission))
}

#[tokio::test]
async fn every_endpoint_asks_for_exactly_the_permission_it_names() {
    let world = World::new().await;
    world.project("one").await;
    let asked: BTreeSet<Permission> =
        hostler_api::all().iter().filter_map(|endpoint| endpoint.permission).collect();
    let everything = Role::Admin.permissions();
    let mut wrong = Vec::new();
    for permission in asked {
        let name = permission.label().replace('.', "-");
        let only = labels([permission]);
        let others = everything.without(PermissionSet::EMPTY.with(permission));
        let others = labels(others.iter());
        role(&world, &format!("only-{name}"), &only).await;
        role(&world, &format!("others-{name}"), &others).await;
        let by_role = [
            (world.account(&format!("o-{name}"), Some(&format!("only-{name}")), None).await, true),
            (
                world.account(&format!("p-{name}"), Some(&format!("others-{name}")), None).await,
                false,
            ),
        ];
        let by_token = [
            (world.token(json!({ "name": "t", "can": only })).await, true),
            (world.token(json!({ "name": "t", "can": others })).await, false),
        ];
        for endpoint in needing(permission) {
            let is_own = endpoint.access == Access::LoggedIn;
            let roles = by_role.iter().map(|(token, may)| (token, *may || is_own, "role"));
            let tokens = by_token.iter().map(|(token, may)| (token, *may, "token"));
            for (token, may, kind) in roles.chain(tokens) {
                let is = outcome(&probe(&world, &endpoint, Some(token)).await);
                let should = if may { Outcome::Allowed } else { Outcome::Forbidden };
                if is != should {
                    wrong.push(format!("{} by {kind}: {is:?}, not {should:?}", endpoint.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_role_is_bound_in_a_project_and_counts_there_only() {
    let world = World::new().await;
    world.project("one").await;
    world.project("two").await;
    role(&world, "reader", &["task.read", "task.output"]).await;
    let ada = world.account("ada", None, Some(("one", "reader"))).await;
    let status = async |method: Method, path: &str, body: Option<Value>| {
        world.call_as(&ada, method, path, body).await.status.as_u16()
    };
    assert_eq!(status(Method::GET, "/api/v1/projects/one/tasks", None).await, 200);
    let task = json!({ "spec": { "command": ["true"] } });
    let refused = world.call_as(&ada, Method::POST, "/api/v1/projects/one/tasks", Some(task)).await;
    assert_eq!(refused.code(), "forbidden");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail, "this needs task.submit in this project (the role user has it)");
    assert_eq!(status(Method::GET, "/api/v1/projects/one/workloads", None).await, 403);
    assert_eq!(status(Method::GET, "/api/v1/projects/two/tasks", None).await, 404);
    assert_eq!(status(Method::GET, "/api/v1/nodes", None).await, 403);
    let who = world.call_as(&ada, Method::GET, "/api/v1/whoami", None).await.json();
    assert_eq!(who["role"], Value::Null);
    assert_eq!(who["projects"][0]["permissions"], json!(["task.read", "task.output"]));
    let path = "/api/v1/roles/reader";
    let body = Some(json!({ "permissions": ["task.*"] }));
    let admin = world.admin.clone();
    assert_eq!(change(&world, &admin, Method::PATCH, path, body).await.status, 200);
    let task = json!({ "spec": { "command": ["true"] } });
    assert_eq!(status(Method::POST, "/api/v1/projects/one/tasks", Some(task)).await, 201);
}

#[tokio::test]
async fn a_role_that_somebody_holds_is_not_removed() {
    let world = World::new().await;
    world.project("one").await;
    let admin = world.admin.clone();
    role(&world, "reader", &["task.read"]).await;
    world.account("ada", None, Some(("one", "reader"))).await;
    let group = json!({ "name": "ops" });
    assert_eq!(world.post("/api/v1/groups", group).await.status, 201);
    let member = "/api/v1/projects/one/members/group:ops";
    let body = Some(json!({ "role": "reader" }));
    assert_eq!(world.call(Method::PUT, member, body).await.status, 200);
    let path = "/api/v1/roles/reader";
    let refused = change(&world, &admin, Method::DELETE, path, None).await;
    assert_eq!(refused.code(), "conflict");
    assert_eq!(refused.json()["detail"], "the role reader is held by ada, group:ops");
    let holders = world.get("/api/v1/roles/reader/holders").await.json();
    assert_eq!(
        holders["items"],
        json!([{ "holder": "ada", "project": "one" }, { "holder": "group:ops", "project": "one" }])
    );
    let listed = world.get("/api/v1/projects/one/members").await.json();
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|m| &m["user"]).collect();
    assert_eq!(names, ["ada", "group:ops"]);
    for who in ["ada", "group:ops"] {
        let path = format!("/api/v1/projects/one/members/{who}");
        assert_eq!(world.call(Method::DELETE, &path, None).await.status, 204);
    }
    assert_eq!(change(&world, &admin, Method::DELETE, path, None).await.status, 204);
    assert_eq!(world.get(path).await.code(), "not-found");
    let unknown = Some(json!({ "role": "reader" }));
    let refused = world.call(Method::PUT, member, unknown).await;
    assert_eq!(refused.code(), "not-found");
    assert_eq!(refused.json()["detail"], "there is no role `reader`");
}

#[tokio::test]
async fn roles_have_names_and_permissions_that_make_sense() {
    let world = World::new().await;
    let create = async |body: Value| world.post("/api/v1/roles", body).await;
    let built_in = create(json!({ "name": "admin", "permissions": ["task.read"] })).await;
    assert_eq!(built_in.code(), "already-exists");
    let none = create(json!({ "name": "none", "permissions": ["task.read"] })).await;
    assert_eq!(none.code(), "invalid");
    let wrong = create(json!({ "name": "x", "permissions": ["task.read", "task.fly"] })).await;
    assert_eq!(wrong.code(), "invalid");
    assert_eq!(wrong.json()["errors"][0]["pointer"], "/permissions/1");
    assert!(wrong.json()["detail"].as_str().unwrap().contains("of task there are task.read"));
    assert_eq!(create(json!({ "name": "x", "permissions": [] })).await.code(), "invalid");
    let made = create(json!({ "name": "x", "permissions": ["member.*"] })).await.json();
    assert_eq!(made["permissions"], json!(["member.read", "member.set", "member.remove"]));
    let twin = create(json!({ "name": "x", "permissions": ["task.read"] })).await;
    assert_eq!(twin.code(), "already-exists");
    let admin = world.admin.clone();
    let body = Some(json!({ "permissions": ["task.read"] }));
    let kept = change(&world, &admin, Method::PATCH, "/api/v1/roles/viewer", body).await;
    assert_eq!(kept.code(), "conflict");
    let mut names = Vec::new();
    let mut path = "/api/v1/roles?limit=3".to_owned();
    loop {
        let page = world.get(&path).await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3);
        names.extend(items.iter().map(|role| role["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["nextCursor"].as_str() else { break };
        path = format!("/api/v1/roles?limit=3&cursor={next}");
    }
    assert_eq!(names, ["viewer", "user", "operator", "admin", "x"]);
}

#[tokio::test]
async fn nobody_gives_what_they_do_not_hold() {
    let world = World::new().await;
    world.project("one").await;
    role(&world, "giver", &["member.*", "task.read", "task.kill"]).await;
    role(&world, "less", &["task.read"]).await;
    role(&world, "more", &["task.read", "task.submit"]).await;
    let giver = world.account("giver", None, Some(("one", "giver"))).await;
    world.account("boss", None, Some(("one", "admin"))).await;
    world.account("ada", None, None).await;
    let give = async |who: &str, role: &str| {
        let path = format!("/api/v1/projects/one/members/{who}");
        world.call_as(&giver, Method::PUT, &path, Some(json!({ "role": role }))).await
    };
    assert_eq!(give("ada", "less").await.status, 200);
    for role in ["more", "viewer", "admin"] {
        assert_eq!(give("ada", role).await.code(), "forbidden", "{role}");
    }
    let refused = give("ada", "more").await.json();
    assert_eq!(
        refused["detail"],
        "the role more allows task.submit, which you do not hold in this project yourself"
    );
    assert_eq!(give("boss", "less").await.code(), "forbidden");
    let path = "/api/v1/projects/one/members/boss";
    let taken = world.call_as(&giver, Method::DELETE, path, None).await;
    assert_eq!(taken.code(), "forbidden");
    assert_eq!(give("giver", "admin").await.code(), "forbidden");
    assert_eq!(give("giver", "less").await.status, 200);
}

#[tokio::test]
async fn a_clerk_does_not_become_admin() {
    let world = World::new().await;
    let rights =
        ["user.*", "group.*", "role.*", "token.manage", "member.read", "project.read", "task.read"];
    role(&world, "clerk", &rights).await;
    role(&world, "small", &["task.read"]).await;
    let clerk = world.account("clerk", Some("clerk"), None).await;
    let boss = json!({ "name": "boss", "kind": "user", "role": "admin", "password": "correct horse battery" });
    assert_eq!(world.post("/api/v1/users", boss).await.status, 201);
    world.account("robot", Some("operator"), None).await;
    let post =
        async |path: &str, body: Value| world.call_as(&clerk, Method::POST, path, Some(body)).await;
    for body in [
        json!({ "password": "another horse battery" }),
        json!({ "isDisabled": true }),
        json!({ "role": "none" }),
    ] {
        let path = "/api/v1/users/boss";
        let refused = change(&world, &clerk, Method::PATCH, path, Some(body)).await;
        assert_eq!(refused.code(), "forbidden");
    }
    let gone = change(&world, &clerk, Method::DELETE, "/api/v1/users/boss", None).await;
    assert_eq!(gone.code(), "forbidden");
    let own = Some(json!({ "role": "admin" }));
    let promoted = change(&world, &clerk, Method::PATCH, "/api/v1/users/clerk", own).await;
    assert_eq!(promoted.code(), "forbidden");
    let user = json!({ "name": "evil", "kind": "service", "role": "admin" });
    assert_eq!(post("/api/v1/users", user).await.code(), "forbidden");
    let token = json!({ "name": "t", "user": "robot", "role": "admin" });
    assert_eq!(post("/api/v1/tokens", token).await.code(), "forbidden");
    let wide = json!({ "name": "wide", "permissions": ["node.drain"] });
    assert_eq!(post("/api/v1/roles", wide).await.code(), "forbidden");
    let widen = Some(json!({ "permissions": ["task.read", "node.drain"] }));
    let path = "/api/v1/roles/small";
    assert_eq!(change(&world, &clerk, Method::PATCH, path, widen).await.code(), "forbidden");
    assert_eq!(world.post("/api/v1/groups", json!({ "name": "admins" })).await.status, 201);
    let admin = world.admin.clone();
    let bind = Some(json!({ "role": "admin" }));
    let bound = change(&world, &admin, Method::PATCH, "/api/v1/groups/admins", bind.clone()).await;
    assert_eq!(bound.status, 200, "{}", bound.json());
    let path = "/api/v1/groups/admins/members/clerk";
    let joined = world.call_as(&clerk, Method::PUT, path, None).await;
    assert_eq!(joined.code(), "forbidden");
    assert_eq!(post("/api/v1/groups", json!({ "name": "mine" })).await.status, 201);
    let bound = change(&world, &clerk, Method::PATCH, "/api/v1/groups/mine", bind).await;
    assert_eq!(bound.code(), "forbidden");
    let small = json!({ "name": "helper", "kind": "service", "role": "small" });
    assert_eq!(post("/api/v1/users", small).await.status, 201);
    let token = json!({ "name": "t", "user": "helper", "role": "viewer" });
    assert_eq!(post("/api/v1/tokens", token).await.status, 201);
    let who = world.call_as(&clerk, Method::GET, "/api/v1/whoami", None).await.json();
    assert_eq!(who["role"], Value::Null);
}

#[tokio::test]
async fn a_group_counts_from_the_next_request_and_its_end_ends_streams() {
    let world = World::new().await;
    world.project("one").await;
    let ada = world.account("ada", None, None).await;
    let group = json!({ "name": "ops", "members": ["ada"] });
    assert_eq!(world.post("/api/v1/groups", group).await.status, 201);
    let tasks = "/api/v1/projects/one/tasks";
    assert_eq!(world.call_as(&ada, Method::GET, tasks, None).await.status, 404);
    let member = "/api/v1/projects/one/members/group:ops";
    let bound = world.call(Method::PUT, member, Some(json!({ "role": "user" }))).await;
    assert_eq!(bound.json()["user"], "group:ops");
    assert_eq!(world.call_as(&ada, Method::GET, tasks, None).await.status, 200);
    let mut watch = world.open(&ada, &format!("{tasks}?watch=true")).await;
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    let path = "/api/v1/groups/ops/members/ada";
    let left = world.call(Method::DELETE, path, None).await;
    assert_eq!((left.status.as_u16(), &left.json()["members"]), (200, &json!([])));
    assert_eq!(watch.next().await, None);
    assert_eq!(world.call_as(&ada, Method::GET, tasks, None).await.status, 404);
    assert_eq!(world.call(Method::DELETE, path, None).await.code(), "not-found");
    assert_eq!(world.call(Method::PUT, path, None).await.status, 200);
    assert_eq!(world.call_as(&ada, Method::GET, tasks, None).await.status, 200);
    let shown = world.get("/api/v1/groups/ops").await.json();
    assert_eq!(shown["roles"], json!([{ "role": "user", "project": "one" }]));
    let admin = world.admin.clone();
    let gone = change(&world, &admin, Method::DELETE, "/api/v1/groups/ops", None).await;
    assert_eq!(gone.status, 204);
    assert_eq!(world.call_as(&ada, Method::GET, tasks, None).await.status, 404);
    let kinds = |reply: Value, field: &str| -> Vec<String> {
        let items = reply["items"].as_array().unwrap().clone();
        items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
    };
    let events = kinds(world.get("/api/v1/events?object=group").await.json(), "kind");
    let expected = ["group.removed", "group.changed", "group.changed", "group.created"];
    assert_eq!(events, expected);
    let audit = kinds(world.get("/api/v1/audit").await.json(), "action");
    for action in ["group.create", "group.add", "group.remove-member", "group.remove"] {
        assert!(audit.iter().any(|entry| entry == action), "{action}");
    }
}

#[tokio::test]
async fn a_token_works_in_its_projects_for_its_permissions() {
    let world = World::new().await;
    for project in ["one", "two", "six"] {
        world.project(project).await;
    }
    let body =
        json!({ "name": "robot", "projects": ["one", "two"], "can": ["task.submit", "task.read"] });
    let made = world.post("/api/v1/tokens", body).await.json();
    assert_eq!(made["token"]["projects"], json!(["one", "two"]));
    assert_eq!(made["token"]["can"], json!(["task.read", "task.submit"]));
    let robot = made["secret"].as_str().unwrap();
    let status = async |method: Method, path: &str, body: Option<Value>| {
        world.call_as(robot, method, path, body).await.status.as_u16()
    };
    let task = || Some(json!({ "name": "t", "spec": { "command": ["true"] } }));
    for project in ["one", "two"] {
        let path = format!("/api/v1/projects/{project}/tasks");
        assert_eq!(status(Method::POST, &path, task()).await, 201);
        assert_eq!(status(Method::GET, &path, None).await, 200);
        assert_eq!(status(Method::POST, &format!("{path}/t/kill"), Some(json!({}))).await, 403);
    }
    assert_eq!(status(Method::GET, "/api/v1/projects/six/tasks", None).await, 404);
    assert_eq!(status(Method::GET, "/api/v1/nodes", None).await, 403);
    assert_eq!(status(Method::GET, "/api/v1/events", None).await, 403);
    assert_eq!(status(Method::GET, "/api/v1/tokens", None).await, 403);
    assert_eq!(status(Method::GET, "/api/v1/whoami", None).await, 200);
    let queue = world.call_as(robot, Method::GET, "/api/v1/queue", None).await.json();
    let seen: BTreeSet<_> = queue["projects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["project"].as_str().unwrap())
        .collect();
    assert_eq!(seen, BTreeSet::from(["one", "two"]));
    for (body, pointer) in [
        (json!({ "name": "x" }), "/role"),
        (json!({ "name": "x", "role": "user", "projects": [] }), "/projects"),
        (json!({ "name": "x", "can": [] }), "/can"),
        (json!({ "name": "x", "can": ["task.read", "no.such"] }), "/can/1"),
        (json!({ "name": "x", "role": "user", "from": [] }), "/from"),
    ] {
        let refused = world.post("/api/v1/tokens", body).await;
        assert_eq!(refused.code(), "invalid");
        assert_eq!(refused.json()["errors"][0]["pointer"], pointer);
    }
}

#[tokio::test]
async fn a_token_makes_none_that_reaches_further() {
    let world = World::new().await;
    world.project("one").await;
    world.project("two").await;
    let limits = json!({
        "name": "parent", "role": "user", "projects": ["one"], "from": ["10.0.0.0/8"],
        "can": ["token.create", "task.read"],
    });
    let parent = world.token(limits.clone()).await;
    let make = async |change: &[(&str, Value)]| {
        let mut body = limits.clone();
        body["name"] = "child".into();
        for (field, value) in change {
            match value {
                Value::Null => drop(body.as_object_mut().unwrap().remove(*field)),
                value => body[*field] = value.clone(),
            }
        }
        let mut request = request(Method::POST, "/api/v1/tokens", Some(&parent), Some(body));
        request.extensions_mut().insert(Peer("10.1.2.3:5000".parse().unwrap()));
        world.send(request).await.status.as_u16()
    };
    assert_eq!(make(&[]).await, 201);
    assert_eq!(make(&[("can", json!(["task.read"])), ("from", json!(["10.1.0.0/16"]))]).await, 201);
    for (field, value) in [
        ("role", json!("operator")),
        ("projects", Value::Null),
        ("can", Value::Null),
        ("can", json!(["task.read", "task.kill"])),
        ("from", Value::Null),
        ("from", json!(["0.0.0.0/0"])),
        ("from", json!(["10.0.0.0/8", "192.0.2.1"])),
    ] {
        let changed = [(field, value), ("role", json!("user"))];
        let changed = if field == "role" { &changed[..1] } else { &changed[..] };
        assert_eq!(make(changed).await, 403, "{changed:?}");
    }
    assert_eq!(make(&[("projects", json!(["two"]))]).await, 404);
}

#[tokio::test]
async fn a_token_is_refused_from_elsewhere() {
    let world = World::new().await;
    let body = json!({ "name": "t", "role": "viewer", "from": ["10.0.0.0/8", "2001:db8::/32"] });
    let token = world.token(body).await;
    let from = async |address: Option<&str>| {
        let mut request = request(Method::GET, "/api/v1/whoami", Some(&token), None);
        if let Some(address) = address {
            request.extensions_mut().insert(Peer(address.parse().unwrap()));
        }
        world.send(request).await
    };
    for address in ["10.9.8.7:1", "[2001:db8::7]:1", "[::ffff:10.9.8.7]:1"] {
        assert_eq!(from(Some(address)).await.status, 200, "{address}");
    }
    for address in ["11.0.0.1:1", "[2001:db9::1]:1", "127.0.0.1:1"] {
        let refused = from(Some(address)).await;
        assert_eq!(refused.code(), "forbidden", "{address}");
    }
    assert_eq!(from(None).await.code(), "forbidden");
}

#[tokio::test]
async fn what_decides_is_told() {
    let world = World::new().await;
    world.project("one").await;
    let ada = world.account("ada", None, None).await;
    let group = json!({ "name": "ops", "members": ["ada"] });
    assert_eq!(world.post("/api/v1/groups", group).await.status, 201);
    let member = "/api/v1/projects/one/members/group:ops";
    assert_eq!(world.call(Method::PUT, member, Some(json!({ "role": "user" }))).await.status, 200);
    let path = |permission: &str, more: &str| {
        format!("/api/v1/access/explain?permission={permission}{more}")
    };
    let ask = async |permission: &str, more: &str| world.get(&path(permission, more)).await.json();
    let yes = ask("task.submit", "&project=one&as=ada").await;
    assert_eq!(yes["isAllowed"], true);
    assert_eq!(
        yes["reason"],
        "ada holds the role user in project one through the group ops, which has task.submit"
    );
    assert_eq!(yes["grants"], json!([{ "role": "user", "group": "ops", "project": "one" }]));
    let no = ask("task.env", "&project=one&as=ada").await;
    assert_eq!(no["reason"], "no role that ada holds in project one has task.env");
    assert_eq!(
        no["needed"],
        "the role operator in project one, or a custom role with task.env: `hostler project grant one ada operator`"
    );
    let no = ask("node.drain", "&project=one&as=ada").await;
    assert_eq!((&no["isAllowed"], &no["project"]), (&json!(false), &Value::Null));
    assert_eq!(no["reason"], "ada holds no role on the whole installation");
    assert_eq!(ask("token.create", "&as=ada").await["isAllowed"], true);
    let own = world.call_as(&ada, Method::GET, &path("task.kill", "&project=one"), None).await;
    assert_eq!(own.json()["isAllowed"], true);
    let (hidden, unknown) =
        (path("task.kill", "&project=default"), path("task.kill", "&project=nosuch"));
    let hidden = world.call_as(&ada, Method::GET, &hidden, None).await.json();
    let unknown = world.call_as(&ada, Method::GET, &unknown, None).await.json();
    assert_eq!(hidden["isAllowed"], false);
    let text = |answer: &Value| answer["reason"].as_str().unwrap().replace("default", "nosuch");
    assert_eq!(text(&hidden), text(&unknown));
    let other = world.call_as(&ada, Method::GET, &path("task.kill", "&as=local"), None).await;
    assert_eq!(other.code(), "forbidden");
    let body = json!({ "name": "t", "role": "admin", "can": ["task.read"], "projects": ["one"] });
    let made = world.post("/api/v1/tokens", body).await.json();
    let who = format!("&as=token:{}", made["token"]["id"].as_str().unwrap());
    let limited = ask("task.kill", &format!("{who}&project=one")).await;
    assert_eq!(limited["limit"], "the token is for task.read only");
    let limited = ask("task.read", &format!("{who}&project=default")).await;
    assert_eq!(limited["limit"], "the token works in other projects only");
    let secret = made["secret"].as_str().unwrap();
    let check = "/api/v1/access/check?permission=task.kill&project=one";
    let check = world.call_as(secret, Method::GET, check, None).await.json();
    assert_eq!(check["isAllowed"], false);
    let id = made["token"]["id"].as_str().unwrap();
    assert_eq!(world.call(Method::DELETE, &format!("/api/v1/tokens/{id}"), None).await.status, 204);
    let revoked = ask("task.read", &format!("{who}&project=one")).await;
    assert_eq!(revoked["reason"], "the token t is revoked or has expired");
    let off = Some(json!({ "isDisabled": true }));
    let admin = world.admin.clone();
    assert_eq!(change(&world, &admin, Method::PATCH, "/api/v1/users/ada", off).await.status, 200);
    let disabled = ask("task.submit", "&project=one&as=ada").await;
    assert_eq!(disabled["reason"], "the account ada is disabled");
    assert_eq!(disabled["needed"], "`hostler user enable ada`");
    assert_eq!(world.get(&path("task.fly", "")).await.code(), "malformed");
    assert_eq!(world.get(&path("task.read", "&as=nobody")).await.code(), "not-found");
}
