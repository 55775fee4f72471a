//! Stacks over HTTP: what is made, shown, changed, planned, refused and hidden.

use hostler_control::StackAdvance;
use http::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World, request};

const STACKS: &str = "/api/v1/projects/one/stacks";

pub(crate) const TEMPLATE: &str = "\
heat_template_version: 2021-04-16
description: two words
parameters:
  word: { type: string, default: one }
  secret: { type: string, default: s3cret, hidden: true }
resources:
  first:
    type: OS::Heat::TestResource
    properties: { value: { get_param: word } }
  second:
    type: OS::Heat::TestResource
    properties: { value: { get_attr: [first, output] } }
  third:
    type: OS::Heat::Value
    properties: { value: { get_param: secret } }
outputs:
  out: { description: the second word, value: { get_attr: [second, output] } }
";

pub(crate) struct Bench {
    pub(crate) world: World,
    hand: StackAdvance,
    /// Of somebody with the role user in the project.
    owner: String,
}

impl Bench {
    pub(crate) async fn new() -> Bench {
        let world = World::new().await;
        world.project("one").await;
        let owner = world.account("owner", None, Some(("one", "user"))).await;
        let hand = world.control.stack_reconciler();
        Bench { world, hand, owner }
    }

    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        self.world.call_as(&self.owner, method, &format!("{STACKS}{path}"), body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let reply = self.call(Method::GET, path, None).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.json());
        reply.json()
    }

    /// Something that succeeds, with what it answers.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let reply = self.call(Method::POST, path, Some(body)).await;
        assert!(reply.status.is_success(), "{path}: {}", reply.json());
        reply.json()
    }

    pub(crate) async fn of_project(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Reply {
        let path = format!("/api/v1/projects/one/{path}");
        self.world.call_as(&self.owner, method, &path, body).await
    }

    /// A change that names the state it was made from.
    pub(crate) async fn change(
        &self,
        method: Method,
        name: &str,
        etag: &str,
        body: Value,
    ) -> Reply {
        let path = format!("{STACKS}/{name}");
        let mut request = request(method, &path, Some(&self.owner), Some(body));
        request.headers_mut().insert("if-match", etag.parse().unwrap());
        self.world.send(request).await
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

    pub(crate) async fn made(&mut self, name: &str, template: &str) -> Value {
        let made = self.post("", body(name, template)).await;
        self.settle().await;
        made
    }
}

pub(crate) fn body(name: &str, template: &str) -> Value {
    json!({ "name": name, "form": { "template": template } })
}

pub(crate) fn items(listing: &Value) -> &Vec<Value> {
    listing["items"].as_array().unwrap()
}

pub(crate) fn texts(listing: &Value, field: &str) -> Vec<String> {
    items(listing).iter().map(|one| one[field].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_stack_is_made_shown_changed_and_taken_down() {
    let mut bench = Bench::new().await;
    let made = bench.call(Method::POST, "", Some(body("web", TEMPLATE))).await;
    assert_eq!(made.status, 201, "{}", made.json());
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(made.header("location"), format!("{STACKS}/{id}"));
    assert_eq!(made.json()["standing"]["status"], "in-progress");
    bench.settle().await;
    let reply = bench.call(Method::GET, "/web", None).await;
    let (etag, shown) = (reply.header("etag").to_owned(), reply.json());
    assert_eq!(shown["id"], id);
    assert_eq!(
        (&shown["standing"]["action"], &shown["standing"]["status"], &shown["owner"]),
        (&json!("create"), &json!("complete"), &json!("owner")),
        "{shown}"
    );
    assert_eq!((&shown["revision"], &shown["description"]), (&json!(1), &json!("two words")));
    let outputs = json!([{ "name": "out", "description": "the second word", "value": "one" }]);
    assert_eq!(shown["outputs"], outputs);
    assert_eq!(bench.get("/web/outputs").await["items"], outputs);
    assert_eq!(shown["parameters"]["word"], "one");
    assert_eq!(shown["parameters"]["secret"], "******");
    let listed = bench.get("?tag=none").await;
    assert!(items(&listed).is_empty(), "{listed}");
    let listed = bench.get("?name=web&status=complete&action=create").await;
    assert_eq!(texts(&listed, "name"), ["web"]);

    let change =
        json!({ "form": { "parameters": { "word": "two" } }, "options": { "tags": ["a"] } });
    let blind = bench.call(Method::PATCH, "/web", Some(change.clone())).await;
    assert_eq!(blind.code(), "precondition-required");
    let stale = bench.change(Method::PATCH, "web", "\"77\"", change.clone()).await;
    assert_eq!(stale.code(), "stale");
    let changed = bench.change(Method::PATCH, "web", &etag, change).await;
    assert_eq!(changed.status, 200, "{}", changed.json());
    assert_ne!(changed.header("etag"), etag);
    bench.settle().await;
    let shown = bench.get("/web").await;
    assert_eq!((&shown["outputs"][0]["value"], &shown["revision"]), (&json!("two"), &json!(2)));
    assert_eq!(texts(&bench.get("?tag=a").await, "name"), ["web"]);

    let etag = changed.header("etag").to_owned();
    let whole = bench.change(Method::PUT, "web", &etag, json!({ "form": {} })).await;
    assert_eq!(
        (whole.code().as_str(), &whole.json()["errors"][0]["pointer"]),
        ("invalid", &json!("/form/template"))
    );
    let less = TEMPLATE.replace("third", "fourth");
    let whole =
        bench.change(Method::PUT, "web", &etag, json!({ "form": { "template": less } })).await;
    assert_eq!(whole.status, 200, "{}", whole.json());
    bench.settle().await;
    let shown = bench.get("/web").await;
    assert_eq!(
        shown["outputs"][0]["value"], "one",
        "parameters that are not given have their defaults"
    );
    assert_eq!(shown["options"]["tags"], json!(["a"]), "options that are not given stay");
    let numbers = bench.get("/web/revisions").await;
    let numbers: Vec<_> = items(&numbers).iter().map(|one| one["number"].as_u64()).collect();
    assert_eq!(numbers, [Some(3), Some(2), Some(1)]);
    let first = bench.get("/web/revisions/1").await;
    assert_eq!(first["count"], 3);
    assert!(first["resources"]["third"].is_object(), "{first}");
    let was = bench.get("/web/definition?revision=1").await;
    assert!(was["template"]["resources"]["third"].is_object(), "{was}");
    let missing = bench.call(Method::GET, "/web/definition?revision=9", None).await;
    assert_eq!(missing.code(), "not-found");

    let going = bench.call(Method::DELETE, "/web", None).await;
    assert_eq!(
        (going.status.as_u16(), &going.json()["standing"]["action"]),
        (200, &json!("delete"))
    );
    bench.settle().await;
    assert_eq!(bench.call(Method::GET, "/web", None).await.code(), "not-found");
    let gone = bench.get(&format!("/{id}")).await;
    assert!(gone["timeDeleted"].is_string(), "{gone}");
    assert!(items(&bench.get("").await).is_empty());
    assert_eq!(texts(&bench.get("?deleted=true").await, "id"), [id]);
}

#[tokio::test]
async fn resources_and_events_of_a_stack_are_told() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    let all = bench.get("/web/resources").await;
    assert_eq!(texts(&all, "name"), ["first", "second", "third"]);
    assert_eq!(all["items"][0]["requiredBy"], json!(["second"]));
    assert_eq!(all["items"][0]["properties"], Value::Null, "lists are short");
    let page = bench.get("/web/resources?limit=2").await;
    let cursor = page["nextCursor"].as_str().unwrap();
    let rest = bench.get(&format!("/web/resources?limit=2&cursor={cursor}")).await;
    assert_eq!((texts(&rest, "name"), &rest["nextCursor"]), (vec!["third".into()], &Value::Null));
    let deep = bench.call(Method::GET, "/web/resources?depth=6", None).await;
    assert_eq!(deep.code(), "malformed");
    let second = bench.get("/web/resources/second").await;
    assert_eq!(
        (&second["action"], &second["status"], &second["type"]),
        (&json!("create"), &json!("complete"), &json!("OS::Heat::TestResource"))
    );
    assert_eq!(second["properties"]["value"], "one");
    assert_eq!(second["attributes"]["output"], "one");
    let physical = second["physical"].as_str().unwrap();
    assert_eq!(bench.get(&format!("/web/resources/{physical}")).await["name"], "second");
    let third = bench.get("/web/resources/third").await;
    assert!(!third["properties"].to_string().contains("s3cret"), "{third}");
    let missing = bench.call(Method::GET, "/web/resources/fourth", None).await;
    assert_eq!(missing.code(), "not-found");
    let graph = bench.get("/web/graph").await;
    assert_eq!(graph["edges"], json!([{ "from": "second", "to": "first" }]));
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 3);

    let told = bench.get("/web/events").await;
    let lines: Vec<String> = items(&told)
        .iter()
        .map(|one| format!("{} {} {}", one["resource"], one["action"], one["status"]))
        .collect();
    assert_eq!(lines.first().unwrap(), "null \"create\" \"in-progress\"");
    assert_eq!(lines.last().unwrap(), "null \"create\" \"complete\"");
    assert_eq!(lines.len(), 8, "{lines:?}");
    let known = told["items"][5]["id"].as_str().unwrap();
    let new = bench.get(&format!("/web/events?after={known}")).await;
    assert_eq!(texts(&new, "id"), texts(&told, "id")[6..]);
    let newest = bench.get("/web/events?newest=true&limit=1").await;
    assert_eq!(newest["items"][0]["id"], told["items"][7]["id"]);
    let of_one = bench.get("/web/events?resource=second&status=complete").await;
    assert_eq!(texts(&of_one, "resource"), ["second"]);
    let both =
        format!("/web/events?after={known}&cursor={}", newest["nextCursor"].as_str().unwrap());
    assert_eq!(bench.call(Method::GET, &both, None).await.code(), "malformed");
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_template_is_told_at_its_place() {
    let bench = Bench::new().await;
    let head = "heat_template_version: 2021-04-16\n";
    let cases: [(&str, &str, &[&str]); 6] = [
        (
            "a circle",
            "resources:\n  a: { type: OS::Heat::None, depends_on: b }\n  b: { type: OS::Heat::None, depends_on: a }\n",
            &["Circular Dependency Found"],
        ),
        (
            "an unknown type",
            "resources:\n  a: { type: OS::Heat::TestResorce }\n",
            &["OS::Heat::TestResorce"],
        ),
        (
            "bad properties",
            "resources:\n  a:\n    type: OS::Heat::RandomString\n    properties:\n      length: many\n      lenght: 3\n  b:\n    type: OS::Heat::TestResource\n    properties: { wait_secs: x }\n",
            &["length", "lenght", "wait_secs"],
        ),
        (
            "a parameter without a value",
            "parameters:\n  size: { type: number }\n  colour: { type: string }\n",
            &["size"],
        ),
        (
            "a function that does not exist",
            "resources:\n  a: { type: OS::Heat::None, properties: { get_parm: x } }\noutputs:\n  o: { value: { get_attr: [nope, x] } }\n",
            &["nope"],
        ),
        ("no template", "resources: [\n", &[""]),
    ];
    for (what, text, expected) in cases {
        let reply = bench.call(Method::POST, "", Some(body("bad", &format!("{head}{text}")))).await;
        assert_eq!(reply.code(), "invalid", "{what}: {}", reply.json());
        let errors = reply.json()["errors"].clone();
        let details: Vec<&str> =
            errors.as_array().unwrap().iter().map(|one| one["detail"].as_str().unwrap()).collect();
        for word in expected {
            assert!(details.iter().any(|detail| detail.contains(word)), "{what}: {details:#?}");
        }
    }
    let wrong = format!("{head}{}", cases[2].1);
    let reply = bench.call(Method::POST, "", Some(body("bad", &wrong))).await.json();
    for one in reply["errors"].as_array().unwrap() {
        assert_eq!(one["pointer"], "/form/template", "{one}");
        let detail = one["detail"].as_str().unwrap();
        assert!(detail.starts_with("template:") && detail.contains("^"), "{detail}");
    }
    let check = json!({ "form": { "template": wrong } });
    let checked = bench.of_project(Method::POST, "stack-template-check", Some(check)).await;
    assert_eq!(checked.json()["errors"], reply["errors"], "a check says the same");
    let plan = json!({ "create": body("bad", &wrong) });
    let planned = bench.of_project(Method::POST, "stack-plans", Some(plan)).await;
    assert_eq!(planned.code(), "invalid");
    assert_eq!(planned.json()["errors"][0]["pointer"], "/create/form/template");
    assert_eq!(bench.call(Method::GET, "/bad", None).await.code(), "not-found", "nothing was made");
}

#[tokio::test]
async fn values_and_options_that_cannot_be_are_refused() {
    let bench = Bench::new().await;
    let typed = "heat_template_version: 2021-04-16\nparameters:\n  size: { type: number, constraints: [{ range: { max: 5 } }] }\n";
    let with = |parameters: Value| json!({ "name": "a", "form": { "template": typed, "parameters": parameters } });
    for (parameters, word) in [
        (json!({ "size": 9 }), "range"),
        (json!({ "size": "x" }), "size"),
        (json!({ "size": 1, "sise": 2 }), "sise"),
    ] {
        let reply = bench.call(Method::POST, "", Some(with(parameters))).await;
        assert_eq!(reply.code(), "invalid");
        assert!(reply.json()["errors"].to_string().contains(word), "{word}: {}", reply.json());
    }
    let options =
        json!({ "name": "a", "form": { "template": TEMPLATE }, "options": { "tags": ["a,b"] } });
    let reply = bench.call(Method::POST, "", Some(options)).await;
    assert_eq!(
        (reply.code().as_str(), &reply.json()["errors"][0]["pointer"]),
        ("invalid", &json!("/options/tags"))
    );
    let long = format!("{TEMPLATE}# {}\n", "x".repeat(600 << 10));
    let reply = bench.call(Method::POST, "", Some(body("a", &long))).await;
    assert_eq!(reply.code(), "invalid");
    let detail = reply.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("524288"), "{detail}");
    for bad in ["1st", "a b", ""] {
        let reply = bench.call(Method::POST, "", Some(body(bad, TEMPLATE))).await;
        assert_eq!(
            (reply.code().as_str(), &reply.json()["errors"][0]["pointer"]),
            ("invalid", &json!("/name"))
        );
    }
    assert_eq!(bench.call(Method::POST, "", Some(body("a", TEMPLATE))).await.status, 201);
    assert_eq!(
        bench.call(Method::POST, "", Some(body("a", TEMPLATE))).await.code(),
        "already-exists"
    );
}

#[tokio::test]
async fn a_request_that_is_repeated_makes_one_stack() {
    let bench = Bench::new().await;
    let send = async |name: &str| {
        let mut request =
            request(Method::POST, STACKS, Some(&bench.owner), Some(body(name, TEMPLATE)));
        request.headers_mut().insert("idempotency-key", "once".parse().unwrap());
        bench.world.send(request).await
    };
    let (first, second) = (send("web").await, send("web").await);
    assert_eq!((first.status.as_u16(), second.status.as_u16()), (201, 201));
    assert_eq!(first.json()["id"], second.json()["id"]);
    assert_eq!(send("other").await.code(), "idempotency-key-reused");
    assert_eq!(items(&bench.get("").await).len(), 1);
}

#[tokio::test]
async fn a_stack_is_for_those_who_may_and_unknown_to_others() {
    let mut bench = Bench::new().await;
    bench.world.project("two").await;
    bench.made("web", TEMPLATE).await;
    let world = &bench.world;
    let viewer = world.account("viewer", None, Some(("one", "viewer"))).await;
    let stranger = world.account("stranger", None, Some(("two", "admin"))).await;
    let at = format!("{STACKS}/web");
    for (path, is_for_viewers) in [
        (STACKS.to_owned(), true),
        (at.clone(), true),
        (format!("{at}/resources"), true),
        (format!("{at}/events"), true),
        (format!("{at}/definition"), true),
        (format!("{at}/revisions/1"), false),
        (format!("{at}/export"), false),
    ] {
        let seen = world.call_as(&viewer, Method::GET, &path, None).await;
        assert_eq!(seen.status == 200, is_for_viewers, "{path}: {}", seen.json());
        assert!(
            !seen.json().to_string().contains("s3cret") || path.ends_with("definition"),
            "{path}"
        );
        let hidden = world.call_as(&stranger, Method::GET, &path, None).await;
        assert_eq!(hidden.code(), "not-found", "{path}");
        assert_eq!(hidden.json()["detail"], "there is no project `one`", "{path}");
    }
    for (method, path, body) in [
        (Method::POST, STACKS.to_owned(), Some(body("b", TEMPLATE))),
        (Method::DELETE, at.clone(), None),
        (Method::POST, format!("{at}/check"), None),
        (Method::POST, format!("{at}/resources/first/signal"), Some(json!({}))),
    ] {
        let refused = world.call_as(&viewer, method, &path, body).await;
        assert_eq!(refused.code(), "forbidden", "{path}");
    }
    let id = bench.get("/web").await["id"].as_str().unwrap().to_owned();
    for name in ["web", id.as_str()] {
        let path = format!("/api/v1/projects/two/stacks/{name}");
        let foreign = world.call_as(&stranger, Method::GET, &path, None).await;
        assert_eq!(foreign.code(), "not-found", "a stack of another project is not found: {name}");
    }
}

#[tokio::test]
async fn values_of_hidden_parameters_are_for_those_who_may_change_a_stack() {
    let mut bench = Bench::new().await;
    let given = json!({ "name": "web", "form": { "template": TEMPLATE, "parameters": { "secret": "gi5en" } } });
    bench.post("", given).await;
    bench.settle().await;
    let viewer = bench.world.account("viewer", None, Some(("one", "viewer"))).await;
    let path = format!("{STACKS}/web/definition");
    let seen = bench.world.call_as(&viewer, Method::GET, &path, None).await.json();
    assert_eq!(seen["environment"]["parameters"]["secret"], "******", "{seen}");
    let own = bench.get("/web/definition").await;
    assert_eq!(own["environment"]["parameters"]["secret"], "gi5en", "{own}");
    for path in ["/web", "/web/resources/third", "/web/events", "/web/outputs"] {
        assert!(!bench.get(path).await.to_string().contains("gi5en"), "{path}");
    }
}

#[tokio::test]
async fn a_project_has_as_many_stacks_as_its_quota_says() {
    let mut bench = Bench::new().await;
    let path = "/api/v1/projects/one";
    let etag = bench.world.get(path).await.header("etag").to_owned();
    let body_ = Some(json!({ "quota": { "stacks": 1 } }));
    let mut set = request(Method::PATCH, path, Some(&bench.world.admin), body_);
    set.headers_mut().insert("if-match", etag.parse().unwrap());
    assert_eq!(bench.world.send(set).await.status, 200);
    bench.made("web", TEMPLATE).await;
    let refused = bench.call(Method::POST, "", Some(body("more", TEMPLATE))).await;
    assert_eq!(refused.code(), "quota-exceeded");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("stacks") && detail.contains('1'), "{detail}");
    let queue = bench.world.get("/api/v1/queue").await.json();
    let projects = queue["projects"].as_array().unwrap();
    let one = projects.iter().find(|project| project["project"] == "one").unwrap();
    assert_eq!((&one["stacks"], &one["quota"]["stacks"]), (&json!(1), &json!(1)), "{one}");
}

#[tokio::test]
async fn a_stack_is_checked_suspended_resumed_and_nothing_is_cancelled_that_is_over() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    for (verb, action) in [("check", "check"), ("suspend", "suspend"), ("resume", "resume")] {
        let begun = bench.post(&format!("/web/{verb}"), json!({})).await;
        assert_eq!(begun["standing"]["status"], "in-progress", "{verb}");
        bench.settle().await;
        let standing = bench.get("/web").await["standing"].clone();
        assert_eq!(
            (&standing["action"], &standing["status"]),
            (&json!(action), &json!("complete"))
        );
    }
    for rollback in [true, false] {
        let body = Some(json!({ "rollback": rollback }));
        assert_eq!(bench.call(Method::POST, "/web/cancel", body).await.code(), "conflict");
    }
}

#[tokio::test]
async fn a_hook_is_found_and_cleared_and_what_is_broken_is_said() {
    let mut bench = Bench::new().await;
    let environment = "resource_registry: { resources: { second: { hooks: pre-create } } }";
    let given =
        json!({ "name": "web", "form": { "template": TEMPLATE, "environment": environment } });
    bench.post("", given).await;
    bench.settle().await;
    let hooks = bench.get("/web/hooks").await;
    assert_eq!(items(&hooks).len(), 1, "{hooks}");
    assert_eq!(
        (&hooks["items"][0]["resource"], &hooks["items"][0]["hook"]),
        (&json!("second"), &json!("pre-create"))
    );
    assert_eq!(bench.get("/web/resources/second").await["hook"], "pre-create");
    let clear = async |resource: &str, hook: &str| {
        bench
            .call(Method::POST, &format!("/web/resources/{resource}/hooks/{hook}/clear"), None)
            .await
    };
    assert_eq!(clear("first", "pre-create").await.code(), "invalid");
    assert_eq!(clear("second", "before-create").await.code(), "malformed");
    assert_eq!(clear("second", "pre-create").await.status, 204);
    bench.settle().await;
    assert!(items(&bench.get("/web/hooks").await).is_empty());
    assert_eq!(bench.get("/web").await["standing"]["status"], "complete");

    let other = bench.call(
        Method::POST,
        "/web/resources/first/signal",
        Some(json!({ "data": { "unset_hook": "pre-create" } })),
    );
    assert_eq!(other.await.code(), "malformed");
    let broken = json!({ "unhealthy": true, "reason": "it smells" });
    let marked = bench.call(Method::POST, "/web/resources/first/mark", Some(broken)).await;
    assert_eq!(marked.status, 204);
    let first = bench.get("/web/resources/first").await;
    assert_eq!(
        (&first["action"], &first["status"], &first["reason"]),
        (&json!("check"), &json!("failed"), &json!("it smells"))
    );
}

#[tokio::test]
async fn a_resource_that_waits_is_signalled() {
    let mut bench = Bench::new().await;
    let template = "\
heat_template_version: 2021-04-16
resources:
  handle: { type: OS::Heat::WaitConditionHandle }
  wait:
    type: OS::Heat::WaitCondition
    properties: { handle: { get_resource: handle }, count: 1, timeout: 300 }
outputs:
  data: { value: { get_attr: [wait, data] } }
";
    bench.made("web", template).await;
    assert_eq!(bench.get("/web").await["standing"]["status"], "in-progress");
    let data = json!({ "data": { "id": "a", "status": "SUCCESS", "data": "done", "reason": "r" } });
    let answer = bench.post("/web/resources/handle/signal", data).await;
    assert_eq!(answer["answer"]["a"]["data"], "done", "{answer}");
    bench.settle().await;
    let shown = bench.get("/web").await;
    assert_eq!(shown["standing"]["status"], "complete", "{shown}");
    let cannot = bench.call(Method::POST, "/web/resources/wait/signal", Some(json!({}))).await;
    assert_eq!(cannot.code(), "invalid");
}

#[tokio::test]
async fn what_stacks_can_be_made_of_is_told() {
    let bench = Bench::new().await;
    let get = async |path: &str| bench.of_project(Method::GET, path, None).await;
    let types = get("stack-types?name=RANDOM").await.json();
    assert!(texts(&types, "name").contains(&"OS::Heat::RandomString".to_owned()), "{types}");
    let one = get("stack-types/OS::Heat::RandomString").await.json();
    assert_eq!(one["schema"]["properties"]["length"]["type"], "integer", "{one}");
    assert!(one["template"]["resources"]["RandomString"].is_object(), "{one}");
    let alias = get("stack-types/Xloud::RandomString").await.json();
    assert_eq!(alias["of"], "OS::Heat::RandomString", "{alias}");
    assert_eq!(get("stack-types/OS::Heat::Nothing").await.code(), "not-found");
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(&format!("stack-types?limit=7{cursor}")).await.json();
        names.extend(texts(&page, "name"));
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let whole = get("stack-types?limit=1000").await.json();
    assert_eq!(names, texts(&whole, "name"));
    let editions = get("stack-editions").await.json();
    let newest = items(&editions).last().unwrap();
    assert_eq!((&newest["version"], &newest["alias"]), (&json!("2021-04-16"), &json!("wallaby")));
    let good = json!({ "form": { "template": TEMPLATE } });
    let checked = bench.of_project(Method::POST, "stack-template-check", Some(good)).await.json();
    assert_eq!(
        (&checked["resources"], &checked["summary"]["Description"]),
        (&json!(3), &json!("two words"))
    );
}
