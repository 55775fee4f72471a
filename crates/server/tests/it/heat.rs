//! Heat's API over its real router: what the clients of OpenStack send, and what they compare in the answers.

use std::time::Duration;

use axum::Router;
use hostler_control::{ControlConfig, StackAdvance, StackConfig};
use hostler_server::heat::{DoorParts, Doors, heat_router, signal_router};
use hostler_server::http::{Rate, Rates};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Reply, World, request};

pub(crate) const SIGNALS: &str = "http://signals.test:8000";

pub(crate) struct Heat {
    pub(crate) world: World,
    pub(crate) heat: Router,
    pub(crate) signals: Router,
    hand: StackAdvance,
    /// Of somebody with the role user in the project `one`.
    pub(crate) owner: String,
}

impl Heat {
    pub(crate) async fn new() -> Heat {
        let rates = Rates { login_source: Rate::new(1000.0, 1000.0), ..Rates::default() };
        let stacks = StackConfig { address: SIGNALS.to_owned(), ..StackConfig::default() };
        let config = ControlConfig { stacks, ..ControlConfig::default() };
        let world = World::configured(rates, config).await;
        world.project("one").await;
        let owner = world.account("owner", None, Some(("one", "user"))).await;
        let parts = DoorParts {
            is_tls: false,
            address: "nowhere:1".to_owned(),
            signals: SIGNALS.to_owned(),
        };
        let doors = Doors::new(world.app.clone(), parts);
        let hand = world.control.stack_reconciler();
        let (heat, signals) = (heat_router(&doors), signal_router(&doors));
        Heat { world, heat, signals, hand, owner }
    }

    /// A request at any path, as any caller.
    pub(crate) async fn ask(
        &self,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Reply {
        let mut request = request(method, path, None, body);
        let headers = request.headers_mut();
        headers.insert("host", "heat.test:8004".parse().unwrap());
        if let Some(token) = token {
            headers.insert("x-auth-token", token.parse().unwrap());
        }
        World::send_to(&self.heat, request).await
    }

    /// A request in the project, without going where it leads.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        self.ask(Some(&self.owner), method, &format!("/v1/one{path}"), body).await
    }

    /// The same, going where it leads, as clients do.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        let reply = self.send(method.clone(), path, body.clone()).await;
        if reply.status != StatusCode::FOUND {
            return reply;
        }
        let location = reply.header("location");
        let rest = location
            .strip_prefix("http://heat.test:8004/v1/one")
            .unwrap_or_else(|| panic!("{location}"));
        self.send(method, rest, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let reply = self.call(Method::GET, path, None).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.json());
        reply.json()
    }

    /// The status, the type and the message of a refusal, whose shape is looked at.
    pub(crate) async fn refused(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (u16, String, String) {
        fault(&self.call(method, path, body).await)
    }

    /// As far as one pass goes.
    pub(crate) async fn pass(&mut self) {
        let pass = self.hand.advance().await.unwrap();
        assert_eq!(pass.report.failed, 0, "a pass over a stack failed");
    }

    /// Until a stack, at its path in Hostler's own API, is not under way any more; some of its objects take their time.
    pub(crate) async fn at_rest(&mut self, path: &str) {
        let all = async {
            loop {
                self.settle().await;
                let reply = self.world.call_as(&self.owner, Method::GET, path, None).await;
                if !reply.status.is_success() || reply.json()["standing"]["status"] != "in-progress"
                {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), all).await.expect("it comes to rest");
    }

    pub(crate) async fn settle(&mut self) {
        for _ in 0..2000 {
            let pass = self.hand.advance().await.unwrap();
            assert_eq!(pass.report.failed, 0, "a pass over a stack failed");
            if !pass.again && !self.hand.deed_ended().await {
                return;
            }
        }
        panic!("stacks do not come to rest");
    }

    pub(crate) async fn made(&mut self, name: &str, template: &Value) -> String {
        let body = json!({ "stack_name": name, "template": template });
        let reply = self.call(Method::POST, "/stacks", Some(body)).await;
        assert_eq!(reply.status, 201, "{}", reply.json());
        self.settle().await;
        reply.json()["stack"]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn status(&self, name: &str) -> String {
        self.get(&format!("/stacks/{name}")).await["stack"]["stack_status"].as_str().unwrap().into()
    }
}

pub(crate) fn fault(reply: &Reply) -> (u16, String, String) {
    let body = reply.json();
    assert_eq!(reply.header("content-type"), "application/json", "{body}");
    assert_eq!(body["code"], reply.status.as_u16(), "{body}");
    assert_eq!(body["error"]["traceback"], Value::Null, "{body}");
    assert!(reply.header("x-openstack-request-id").starts_with("req-"));
    for field in ["title", "explanation"] {
        assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {body}");
    }
    let text = |field: &str| body["error"][field].as_str().unwrap_or_default().to_owned();
    (reply.status.as_u16(), text("type"), text("message"))
}

pub(crate) const NESTED: &str = r#"{"heat_template_version": "2018-08-31", "parameters": {"np": {"type": "string"}}, "resources": {"v": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "np"}}}}, "outputs": {"nout": {"value": {"get_attr": ["v", "value"]}}}}"#;

pub(crate) fn demo() -> Value {
    json!({
        "heat_template_version": "2021-04-16",
        "description": "demo stack",
        "parameters": {
            "p": { "type": "string", "default": "x", "description": "a param", "constraints": [{ "length": { "min": 1, "max": 5 } }] },
            "secret": { "type": "string", "hidden": true, "default": "s3" },
        },
        "resources": {
            "r1": { "type": "OS::Heat::TestResource", "properties": { "value": { "get_param": "p" } }, "metadata": { "k": "v" } },
            "r2": { "type": "OS::Heat::RandomString", "properties": { "length": 6 }, "depends_on": "r1" },
            "n1": { "type": "file:///w/nested.yaml", "properties": { "np": { "get_attr": ["r1", "output"] } } },
        },
        "outputs": {
            "o1": { "description": "first", "value": { "get_attr": ["r1", "output"] } },
            "o2": { "value": { "get_attr": ["n1", "nout"] } },
        },
    })
}

/// What `openstack stack create -e` sends.
fn create(name: &str) -> Value {
    json!({
        "stack_name": name,
        "disable_rollback": false,
        "parameters": { "p": "zz" },
        "template": demo(),
        "files": { "file:///w/nested.yaml": NESTED, "file:///w/env.yaml": "{\"parameters\": {\"p\": \"yy\"}}" },
        "environment": { "parameters": { "p": "yy" } },
        "environment_files": ["file:///w/env.yaml"],
        "tags": "a,b",
        "timeout_mins": 10,
    })
}

pub(crate) async fn demo_made(heat: &mut Heat) -> String {
    let reply = heat.call(Method::POST, "/stacks", Some(create("d1"))).await;
    assert_eq!(reply.status, 201, "{}", reply.json());
    let id = reply.json()["stack"]["id"].as_str().unwrap().to_owned();
    let href = format!("http://heat.test:8004/v1/one/stacks/d1/{id}");
    assert_eq!(reply.header("location"), href);
    assert_eq!(reply.json()["stack"]["links"], json!([{ "href": href, "rel": "self" }]));
    heat.settle().await;
    id
}

#[tokio::test]
async fn a_stack_is_made_and_shown_as_clients_know_it() {
    let mut heat = Heat::new().await;
    let id = demo_made(&mut heat).await;
    let stack = heat.get("/stacks/d1").await["stack"].clone();
    assert_eq!(stack["id"], id);
    assert_eq!(stack["stack_status"], "CREATE_COMPLETE");
    assert_eq!(stack["stack_status_reason"], "Stack CREATE completed successfully");
    assert_eq!(stack["parameters"]["p"], "yy", "environment files count more than parameters");
    assert_eq!(stack["parameters"]["secret"], "******");
    assert_eq!(stack["parameters"]["OS::stack_id"], id);
    assert_eq!((&stack["timeout_mins"], &stack["disable_rollback"]), (&json!(10), &json!(false)));
    assert_eq!((&stack["tags"], &stack["stack_owner"]), (&json!(["a", "b"]), &json!("owner")));
    assert_eq!(stack["template_description"], "demo stack");
    let files = heat.get("/stacks/d1/files").await;
    assert_eq!(files["file:///w/nested.yaml"], NESTED);
    assert!(
        files["file:///w/env.yaml"].as_str().is_some_and(|text| text.contains("yy")),
        "{files}"
    );
    let viewer = heat.world.account("viewer", None, Some(("one", "viewer"))).await;
    let path = format!("/v1/one/stacks/d1/{id}/files");
    let files = heat.ask(Some(&viewer), Method::GET, &path, None).await.json();
    assert_eq!(files["file:///w/nested.yaml"], NESTED);
    assert_eq!(files["file:///w/env.yaml"], "******", "it may hold what is hidden");
    let output = |key: &str| {
        let outputs = stack["outputs"].as_array().unwrap();
        outputs.iter().find(|one| one["output_key"] == key).unwrap().clone()
    };
    assert_eq!(
        output("o1"),
        json!({ "output_key": "o1", "description": "first", "output_value": "yy" })
    );
    assert_eq!(output("o2")["description"], "No description given");
    assert_eq!(output("o2")["output_value"], "yy");
    let brief = heat.get("/stacks/d1?resolve_outputs=False").await["stack"].clone();
    assert_eq!(brief.get("outputs"), None);
    let one = heat.get(&format!("/stacks/d1/{id}/outputs/o1")).await;
    assert_eq!(one["output"]["output_value"], "yy");
    let all = heat.get(&format!("/stacks/d1/{id}/outputs")).await;
    assert_eq!(all["outputs"].as_array().unwrap().len(), 2);
    assert_eq!(all["outputs"][0].get("output_value"), None);
    let (code, _, message) =
        heat.refused(Method::GET, &format!("/stacks/d1/{id}/outputs/none"), None).await;
    assert_eq!((code, message.as_str()), (404, "Specified output key none not found."));
    assert_eq!(heat.get("/stacks/d1/template").await["description"], "demo stack");
    let environment = heat.get("/stacks/d1/environment").await;
    assert_eq!(environment["parameters"], json!({ "p": "yy" }));
    assert_eq!(environment["resource_registry"]["file:///w/nested.yaml"], "file:///w/nested.yaml");
    assert_eq!(environment["encrypted_param_names"], json!([]));
    let files = heat.get("/stacks/d1/files").await;
    assert_eq!(files["file:///w/nested.yaml"], NESTED);
}

#[tokio::test]
async fn names_lead_to_whole_addresses() {
    let mut heat = Heat::new().await;
    let id = demo_made(&mut heat).await;
    let whole = format!("http://heat.test:8004/v1/one/stacks/d1/{id}");
    let project =
        heat.world.get("/api/v1/projects/one").await.json()["id"].as_str().unwrap().to_owned();
    let arn = format!("arn%3Aopenstack%3Aheat%3A%3A{project}%3Astacks%2Fd1%2F{id}");
    for name in ["d1", id.as_str(), arn.as_str()] {
        for method in [Method::GET, Method::PUT, Method::PATCH, Method::DELETE, Method::POST] {
            let reply = heat.send(method, &format!("/stacks/{name}"), None).await;
            assert_eq!((reply.status.as_u16(), reply.header("location")), (302, whole.as_str()));
        }
    }
    let plain = format!("/stacks/arn:openstack:heat::{project}:stacks/d1/{id}");
    assert_eq!(heat.send(Method::GET, &plain, None).await.header("location"), whole);
    for part in ["resources", "events", "template", "actions", "environment", "files"] {
        let reply = heat.send(Method::GET, &format!("/stacks/d1/{part}?a=1&b=x%20y"), None).await;
        let expected = format!("{whole}/{part}?a=1&b=x%20y");
        assert_eq!((reply.status.as_u16(), reply.header("location")), (302, expected.as_str()));
    }
    let by_id =
        heat.ask(Some(&heat.owner), Method::GET, &format!("/v1/{project}/stacks/d1"), None).await;
    assert_eq!(by_id.header("location"), whole.replace("/one/", &format!("/{project}/")));
    let (code, kind, message) = heat.refused(Method::GET, "/stacks/nosuch", None).await;
    assert_eq!(
        (code, kind.as_str(), message.as_str()),
        (404, "EntityNotFound", "The Stack (nosuch) could not be found.")
    );
    let (code, _, message) = heat.refused(Method::GET, &format!("/stacks/other/{id}"), None).await;
    assert_eq!((code, message.as_str()), (404, "The Stack (other) could not be found."));
}

#[tokio::test]
async fn a_stack_is_changed_suspended_and_taken_down() {
    let mut heat = Heat::new().await;
    let id = demo_made(&mut heat).await;
    let mut body = json!({ "template": demo(), "files": { "file:///w/nested.yaml": NESTED }, "parameters": { "p": "ab" }, "environment": {} });
    let reply = heat.call(Method::PUT, "/stacks/d1", Some(body.clone())).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["code"]), (202, &json!("202 Accepted")));
    heat.settle().await;
    assert_eq!(heat.status("d1").await, "UPDATE_COMPLETE");
    let patch = json!({ "parameters": { "p": "cd" }, "template": null, "files": {}, "environment": {}, "tags": "c", "clear_parameters": ["secret"], "disable_rollback": false });
    assert_eq!(heat.call(Method::PATCH, "/stacks/d1", Some(patch)).await.status, 202);
    heat.settle().await;
    let stack = heat.get("/stacks/d1").await["stack"].clone();
    assert_eq!((&stack["parameters"]["p"], &stack["tags"]), (&json!("cd"), &json!(["c"])));
    body["template"] = Value::Null;
    let (code, _, message) = heat.refused(Method::PUT, "/stacks/d1", Some(body)).await;
    assert_eq!((code, message.as_str()), (400, "No template specified"));
    for (action, status) in [("check", "CHECK_COMPLETE"), ("suspend", "SUSPEND_COMPLETE")] {
        let reply =
            heat.call(Method::POST, "/stacks/d1/actions", Some(json!({ action: null }))).await;
        assert_eq!((reply.status.as_u16(), reply.bytes.as_slice()), (200, &b"null"[..]));
        heat.settle().await;
        assert_eq!(heat.status("d1").await, status);
    }
    let (code, kind, message) =
        heat.refused(Method::PATCH, "/stacks/d1", Some(json!({ "parameters": {} }))).await;
    assert_eq!((code, kind.as_str()), (400, "NotSupported"), "{message}");
    assert_eq!(message, "Updating a stack when it is suspended is not supported.");
    for (body, message) in [
        (json!({ "foo": null }), "Invalid action foo specified"),
        (json!({}), "No action specified"),
        (json!({ "check": null, "suspend": null }), "Multiple actions specified"),
    ] {
        let told = heat.refused(Method::POST, "/stacks/d1/actions", Some(body)).await;
        assert_eq!((told.0, told.2.as_str()), (400, message));
    }
    heat.call(Method::POST, "/stacks/d1/actions", Some(json!({ "resume": null }))).await;
    heat.settle().await;
    let reply = heat.call(Method::DELETE, "/stacks/d1", None).await;
    assert_eq!((reply.status.as_u16(), reply.bytes.len()), (204, 0));
    heat.settle().await;
    assert_eq!(heat.send(Method::GET, "/stacks/d1", None).await.status, 404);
    assert_eq!(heat.send(Method::GET, &format!("/stacks/{id}"), None).await.status, 302);
    let gone = heat.get(&format!("/stacks/d1/{id}")).await["stack"].clone();
    assert_eq!(gone["stack_status"], "DELETE_COMPLETE");
    assert_ne!(gone["deletion_time"], Value::Null);
    assert_eq!(heat.call(Method::DELETE, &format!("/stacks/d1/{id}"), None).await.status, 404);
}

#[tokio::test]
async fn lists_are_filtered_sorted_and_paged() {
    let mut heat = Heat::new().await;
    let none = json!({ "heat_template_version": "2021-04-16" });
    for (name, tags) in [("a", "x"), ("b", "x,y"), ("c", "z")] {
        let minutes = if name == "b" { 7 } else { 0 };
        let body =
            json!({ "stack_name": name, "template": none, "tags": tags, "timeout_mins": minutes });
        assert_eq!(heat.call(Method::POST, "/stacks", Some(body)).await.status, 201);
    }
    heat.settle().await;
    heat.call(Method::DELETE, "/stacks/c", None).await;
    heat.settle().await;
    let names = async |heat: &Heat, query: &str| -> Vec<String> {
        let body = heat.get(&format!("/stacks{query}")).await;
        let stacks = body["stacks"].as_array().unwrap().clone();
        stacks.iter().map(|one| one["stack_name"].as_str().unwrap().to_owned()).collect()
    };
    for (query, expected) in [
        ("", vec!["b", "a"]),
        ("?sort_keys=stack_name&sort_dir=asc", vec!["a", "b"]),
        ("?show_deleted=True", vec!["c", "b", "a"]),
        ("?tags=x,y", vec!["b"]),
        ("?tags_any=x,y&sort_dir=asc", vec!["a", "b"]),
        ("?not_tags_any=y", vec!["a"]),
        ("?status=COMPLETE&action=CREATE", vec!["b", "a"]),
        ("?stack_status=CREATE_COMPLETE", vec!["b", "a"]),
        ("?stack_status=FAILED", vec![]),
        ("?stack_status=NONSENSE", vec![]),
        ("?name=a&name=b&sort_dir=asc", vec!["a", "b"]),
        ("?stack_owner=owner&tenant=one", vec!["b", "a"]),
        ("?username=nobody", vec![]),
        ("?tenant=two", vec![]),
        ("?disable_rollback=True", vec!["b", "a"]),
        ("?disable_rollback=False", vec![]),
        ("?timeout_mins=7", vec!["b"]),
        ("?bogus=1", vec!["b", "a"]),
        ("/detail", vec!["b", "a"]),
    ] {
        assert_eq!(names(&heat, query).await, expected, "{query}");
    }
    let first = heat.get("/stacks?limit=1&with_count=true").await;
    assert_eq!((&first["count"], first["stacks"].as_array().unwrap().len()), (&json!(2), 1));
    let next = first["links"][0]["href"].as_str().unwrap().to_owned();
    assert_eq!(first["links"][0]["rel"], "next");
    let path = next.strip_prefix("http://heat.test:8004/v1/one").unwrap();
    let second = heat.get(path).await;
    assert_eq!(second["stacks"][0]["stack_name"], "a");
    let one = &first["stacks"][0];
    assert_eq!((&one["description"], &one["tags"]), (&json!(""), &json!(["x", "y"])));
    assert_eq!(one.get("project"), None);
    assert_eq!(heat.get("/stacks?limit=5").await.get("links"), None);
    let (code, _, message) = heat.refused(Method::GET, "/stacks?limit=x", None).await;
    assert_eq!((code, message.as_str()), (400, "Only integer is acceptable by 'limit'."));
    let admin = heat.world.admin.clone();
    heat.world.project("two").await;
    let reply =
        heat.ask(Some(&admin), Method::GET, "/v1/two/stacks?global_tenant=True", None).await;
    let all = reply.json()["stacks"].as_array().unwrap().clone();
    assert_eq!(all.len(), 2);
    assert!(
        all[0]["project"].is_string()
            && !all[0]["links"][0]["href"].as_str().unwrap().contains("/v1/two/")
    );
}

#[tokio::test]
async fn mistakes_are_told_in_the_words_that_clients_compare() {
    let mut heat = Heat::new().await;
    let with = |resources: Value| json!({ "stack_name": "s", "template": { "heat_template_version": "2021-04-16", "resources": resources } });
    let bad = "HTTPBadRequest";
    let failed = "StackValidationFailed";
    for (body, code, kind, message) in [
        (json!({}), 400, bad, "No stack name specified"),
        (json!({ "stack_name": "s" }), 400, bad, "No template specified"),
        (
            json!({ "stack_name": "1bad", "template": {} }),
            400,
            failed,
            "Invalid stack name 1bad must contain only alphanumeric or \"_-.\" characters, must start with alpha and must be 255 characters or less.",
        ),
        (
            with(json!({ "a": { "type": "OS::Heat::Nope" } })),
            400,
            failed,
            "The Resource Type (OS::Heat::Nope) could not be found.",
        ),
        (
            with(
                json!({ "r": { "type": "OS::Heat::RandomString", "properties": { "length": 600 } } }),
            ),
            400,
            failed,
            "Property error: : resources.r.properties.length: : 600 is out of range (min: 1, max: 512)",
        ),
        (
            with(
                json!({ "r": { "type": "OS::Heat::Value", "properties": { "value": { "get_resource": "nope" } } } }),
            ),
            400,
            "InvalidTemplateReference",
            "The specified reference \"nope\" (in r.Properties.value) is incorrect.",
        ),
        (
            json!({ "stack_name": "s", "template": { "heat_template_version": "2021-04-16", "parameters": { "p": { "type": "string" } } } }),
            400,
            "UserParameterMissing",
            "The Parameter (p) was not provided.",
        ),
        (json!({ "stack_name": "s", "template": "{" }), 400, bad, ""),
        (
            json!({ "stack_name": "s", "template": { "heat_template_version": "2021-04-16" }, "environment": { "bogus": {} } }),
            400,
            bad,
            "Environment not in valid format: environment has wrong section \"bogus\"",
        ),
    ] {
        let told = heat.refused(Method::POST, "/stacks", Some(body.clone())).await;
        assert_eq!((told.0, told.1.as_str()), (code, kind), "{body}: {}", told.2);
        assert!(message.is_empty() || told.2 == message, "{body}: {}", told.2);
    }
    let all = with(json!({ "a": { "type": "OS::Heat::Nope" }, "b": { "type": "OS::Heat::Nix" } }));
    let told = heat.refused(Method::POST, "/stacks", Some(all)).await.2;
    assert!(told.contains("(OS::Heat::Nope)") && told.contains("(OS::Heat::Nix)"), "{told}");
    let none = json!({ "heat_template_version": "2021-04-16" });
    heat.made("s", &none).await;
    let again = json!({ "stack_name": "s", "template": none });
    let told = heat.refused(Method::POST, "/stacks", Some(again)).await;
    assert_eq!(told, (409, "StackExists".into(), "The Stack (s) already exists.".into()));
    let list = heat.ask(Some(&heat.owner), Method::POST, "/v1/one/stacks", Some(json!([]))).await;
    assert_eq!(fault(&list).0, 400);
}
