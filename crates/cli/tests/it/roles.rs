use axum::Json;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, patch, post, put};
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

type Asked = Query<std::collections::HashMap<String, String>>;

fn role(name: &str, permissions: Value) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(7), "name": name, "description": "puts things up", "isBuiltIn": false,
        "permissions": permissions, "generation": 4,
        "timeCreated": "2026-01-31T11:00:00Z", "timeModified": "2026-01-31T11:00:00Z",
    })
}

fn built_in(name: &str) -> Value {
    json!({
        "name": name, "description": "sees everything in the scope", "isBuiltIn": true,
        "permissions": ["task.read"], "generation": 0,
    })
}

fn group(members: Value) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(8), "name": "ops", "description": "on call", "members": members,
        "roles": [{ "role": "deployer", "project": "lab" }, { "role": "viewer" }], "generation": 2,
        "timeCreated": "2026-01-31T11:00:00Z", "timeModified": "2026-01-31T11:00:00Z",
    })
}

#[tokio::test]
async fn roles_are_made_shown_changed_and_removed() {
    let create = |Json(body): Json<Value>| async move {
        assert_eq!(
            body,
            json!({ "name": "deployer", "description": "", "permissions": ["workload.*", "task.read"] })
        );
        (StatusCode::CREATED, Json(role("deployer", json!(["task.read"]))))
    };
    let change = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "permissions": ["task.read", "task.kill"] }));
        Json(role("deployer", json!(["task.read", "task.kill"])))
    };
    let list = json!({ "items": [built_in("viewer"), role("deployer", json!(["task.read", "task.kill"]))] });
    let holders =
        json!({ "items": [{ "holder": "ada" }, { "holder": "group:ops", "project": "lab" }] });
    let held = || async {
        refusal(Code::Conflict, "the role deployer is held by ada, group:ops").into_response()
    };
    let router = axum::Router::new()
        .route("/api/v1/roles", post(create).get(|| async { Json(list) }))
        .route(
            "/api/v1/roles/deployer",
            get(|| async { Json(role("deployer", json!(["task.read", "task.output"]))) })
                .patch(change)
                .delete(held),
        )
        .route("/api/v1/roles/deployer/holders", get(|| async { Json(holders) }));
    let world = World::new(router).await;
    let words = ["role", "create", "deployer", "--can", "workload.*,task.read"];
    let ran = world.hostler(&words).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "role deployer created\n"));
    let words = ["role", "edit", "deployer", "--add", "task.kill", "--remove", "task.output"];
    let ran = world.hostler(&words).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "role deployer changed\n"));
    let ran = world.hostler(&["role", "edit", "deployer", "--add", "task.fly"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no permission `task.fly`"), "{}", ran.err);
    assert!(hostler_cli::parse_from(["hostler", "role", "edit", "deployer"]).is_err());
    let ran = world.hostler(&["role", "ls"]).await;
    insta::assert_snapshot!("role_list", ran.text());
    let ran = world.hostler(&["role", "show", "deployer"]).await;
    insta::assert_snapshot!("role_shown", ran.text());
    let ran = world.hostler(&["role", "show", "deployer", "-o", "json"]).await;
    let shown: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(shown["permissions"], json!(["task.read", "task.output"]));
    let ran = world.hostler(&["-y", "role", "rm", "deployer"]).await;
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("held by ada, group:ops"), "{}", ran.err);
}

#[tokio::test]
async fn groups_are_made_filled_and_given_roles() {
    let create = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "name": "ops", "description": "", "members": ["ada"] }));
        (StatusCode::CREATED, Json(group(json!(["ada"]))))
    };
    let bind = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "role": "none" }));
        Json(group(json!([])))
    };
    let member = |Json(body): Json<Value>| async move {
        let id = uuid::Uuid::from_u128(8);
        Json(json!({ "user": "group:ops", "id": id, "role": body["role"] }))
    };
    let shown = || async { Json(group(json!(["ada", "grace"]))) };
    let router = axum::Router::new()
        .route(
            "/api/v1/groups",
            post(create)
                .get(|| async { Json(json!({ "items": [group(json!(["ada", "grace"]))] })) }),
        )
        .route(
            "/api/v1/groups/ops",
            patch(bind).get(shown).delete(|| async { StatusCode::NO_CONTENT }),
        )
        .route("/api/v1/groups/ops/members/grace", put(shown).delete(shown))
        .route("/api/v1/projects/lab/members/{who}", put(member));
    let world = World::new(router).await;
    let said = async |words: &[&str]| {
        let ran = world.hostler(words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.err
    };
    assert_eq!(said(&["group", "create", "ops", "ada"]).await, "group ops created\n");
    assert_eq!(said(&["group", "add", "ops", "grace"]).await, "grace is in the group ops\n");
    assert_eq!(
        said(&["group", "remove", "ops", "grace"]).await,
        "grace is not in the group ops any more\n"
    );
    assert_eq!(
        said(&["project", "grant", "lab", "group:ops", "deployer"]).await,
        "member group:ops is deployer in project lab\n"
    );
    assert_eq!(
        said(&["user", "role", "group:ops", "none"]).await,
        "group ops has role none on the whole installation\n"
    );
    let ran = world.hostler(&["group", "ls", "-o", "wide"]).await;
    insta::assert_snapshot!("group_list", ran.text());
    assert_eq!(said(&["-y", "group", "rm", "ops"]).await, "group ops removed\n");
}

#[tokio::test]
async fn answers_of_the_authoriser_are_exit_codes_and_words() {
    let check = |Query(asked): Asked| async move {
        let may = asked["permission"] == "task.submit";
        if may {
            assert_eq!(asked.get("project").map(String::as_str), Some("lab"));
            assert_eq!(asked.get("as").map(String::as_str), Some("ada"));
        } else {
            assert_eq!(asked.get("project"), None);
        }
        Json(json!({ "isAllowed": may, "reason": "because" }))
    };
    let explain = |Query(asked): Asked| async move {
        Json(json!({
            "isAllowed": false, "reason": "ada has task.kill, but the token is for task.read only", "who": "ada",
            "permission": asked["permission"], "meaning": "Stop tasks and task arrays of one's own.",
            "project": "default", "grants": [{ "role": "user", "group": "ops", "project": "default" }, { "role": "admin" }],
            "limit": "the token is for task.read only", "neededRole": "user", "needed": "another token",
        }))
    };
    let router = axum::Router::new()
        .route("/api/v1/access/check", get(check))
        .route("/api/v1/access/explain", get(explain));
    let world = World::new(router).await;
    let ran = world.hostler(&["auth", "can-i", "task.submit", "-p", "lab", "--as", "ada"]).await;
    assert_eq!((ran.code, ran.text().as_str(), ran.err.as_str()), (0, "yes\n", "because\n"));
    let ran = world.hostler(&["auth", "can-i", "cordon", "node"]).await;
    assert_eq!((ran.code, ran.text().as_str()), (1, "no\n"));
    let ran = world.hostler(&["-q", "auth", "can-i", "task.kill", "--global"]).await;
    assert_eq!((ran.code, ran.text().as_str(), ran.err.as_str()), (1, "", ""));
    let ran = world.hostler(&["auth", "can-i", "node.read", "-o", "json"]).await;
    let answer: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!((ran.code, &answer["isAllowed"]), (1, &json!(false)));
    let ran = world.hostler(&["auth", "can-i", "task.fly"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("of task there are task.read"), "{}", ran.err);
    let ran = world.hostler(&["auth", "explain", "task.kill"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    insta::assert_snapshot!("access_explained", ran.text());
}

#[tokio::test]
async fn tokens_are_limited_by_project_permission_and_address() {
    let create = |Json(body): Json<Value>| async move {
        assert_eq!(
            body,
            json!({
                "name": "robot", "projects": ["lab", "field"], "can": ["task.submit", "task.read"],
                "from": ["10.0.0.0/8", "2001:db8::1/128"], "ttl": "1d",
            })
        );
        let token = json!({
            "id": uuid::Uuid::from_u128(6), "name": "robot", "user": "ada", "role": "admin", "isRevoked": false,
            "projects": ["lab", "field"], "can": ["task.read", "task.submit"], "from": ["10.0.0.0/8"],
            "timeCreated": "2026-01-31T12:00:00Z", "timeExpires": "2026-02-02T12:00:00Z",
        });
        (StatusCode::CREATED, Json(json!({ "token": token, "secret": "hst_pat_secret" })))
    };
    let router = axum::Router::new().route("/api/v1/tokens", post(create));
    let world = World::new(router).await;
    let words = [
        "token",
        "create",
        "robot",
        "--only-project",
        "lab,field",
        "--can",
        "task.submit,task.read",
        "--from",
        "10.0.0.0/8,2001:db8::1",
        "--ttl",
        "1d",
    ];
    let ran = world.hostler(&words).await;
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (
            0,
            "token robot of ada for task.read, task.submit, expires in 2d; it is shown this once:\n"
        )
    );
    assert!(hostler_cli::parse_from(["hostler", "token", "create", "robot"]).is_err());
    let words = ["hostler", "token", "create", "x", "--can", "task.read", "--from", "10/8"];
    let refused = hostler_cli::parse_from(words).err().unwrap().to_string();
    assert!(refused.contains("is not a range of addresses"), "{refused}");
}
