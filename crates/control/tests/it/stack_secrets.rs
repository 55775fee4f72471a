//! What is secret of stacks, in every place where somebody could find it: hidden parameters, what types make and keep, in stacks
//! above and below, and in what fails.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hostler_control::{Cx, EventQuery, StackEventQuery, StackForm, StackSubject};
use hostler_model::stack::StackPoint;
use hostler_model::{Code, Limit, Role};
use hostler_store::AuditFilter;
use serde_json::{Value, json};

use crate::stack_rig::{Rig, giving, inside, output_of, outside, random, refused, with};

const CANARY: &str = "cANARY/7Zq+Wm\"pL9x&K2~tV";

fn needles(value: &str) -> Vec<String> {
    let quoted = serde_json::to_string(value).unwrap();
    let twice = serde_json::to_string(&quoted).unwrap();
    vec![
        value.to_owned(),
        quoted.trim_matches('"').to_owned(),
        twice.trim_matches('"').trim_start_matches("\\\"").to_owned(),
        STANDARD.encode(value).trim_end_matches('=').to_owned(),
        value.bytes().map(|byte| format!("{byte:02x}")).collect(),
    ]
}

fn assert_clean(what: &str, text: &str, secrets: &[String]) {
    for needle in secrets.iter().flat_map(|secret| needles(secret)) {
        assert!(!text.contains(&needle), "{needle} stands in {what}: {text}");
    }
}

/// A parameter, a text that is made, and a template below, each of which leads the values on.
fn leading(fails: bool) -> StackForm {
    let get = json!({ "get_param": "secret" });
    let made = json!({ "get_attr": ["made", "value"] });
    let inner = "heat_template_version: 2021-04-16\nparameters: { given: { type: string }, made: { type: string } }\nresources: { in: { type: OS::Heat::TestResource, properties: { value: { get_param: given } }, metadata: { said: { get_param: given } } } }\noutputs: { back: { value: { get_param: made } } }\n";
    let mut resources = json!({
        "plain": inside(get.clone()),
        "out": outside(json!({ "list_join": ["-", ["pre", get]] })),
        "made": random(20),
        "named": { "type": "OS::Heat::Value", "properties": { "value": { "get": get } }, "metadata": { "m": get } },
        "below": { "type": "inner.yaml", "properties": { "given": get, "made": made } },
    });
    if fails {
        resources["bad"] = json!({ "type": "OS::Heat::Value", "properties": {
            "type": "number", "value": { "get_attr": ["named", "value", "get"] },
        } });
        resources["worse"] = json!({ "type": "Hostler::StateEntry", "depends_on": "below",
            "properties": { "key": { "get_attr": ["named", "value", "get"] }, "value": "x" } });
    }
    let mut form = giving(
        resources,
        json!({
            "whole": { "value": get }, "part": { "value": { "str_replace": { "template": "a X", "params": { "X": get } } } },
            "made": { "value": made }, "back": { "value": { "get_attr": ["below", "back"] } },
            "open": { "value": { "get_param": "word" } },
        }),
    );
    form.files.insert("inner.yaml".to_owned(), json!(inner));
    with(form, "secret", CANARY)
}

/// Everything that somebody is told of a stack.
async fn sinks(it: &Rig, cx: &Cx, name: &str) -> Vec<(&'static str, String)> {
    let (control, project) = (it.control(), it.project());
    let mut found = Vec::new();
    let mut put = |what: &'static str, text: String| found.push((what, text));
    let stack = control.stack_get(cx, &project, name, true).await.unwrap();
    put("show", format!("{:?} {:?} {:?}", stack.parameters, stack.outputs, stack.stack.standing));
    put("outputs", format!("{:?}", control.stack_outputs(cx, &project, name).await.unwrap()));
    for one in control.stack_resources(cx, &project, name, 5).await.unwrap() {
        let (row, rest) = (&one.row, (&one.properties, &one.metadata, &one.attributes));
        put("resource", format!("{:?} {:?} {rest:?}", row.standing, row.name));
        let below = one.stack.id.to_string();
        let definition = control.stack_definition_of(cx, &project, &below, None).await.unwrap();
        put("definition", format!("{:?}", definition.body));
        let child = control.stack_get(cx, &project, &below, true).await.unwrap();
        put("show below", format!("{:?} {:?}", child.parameters, child.outputs));
    }
    let of = StackSubject::Stack(name.to_owned());
    put("checklist", format!("{:?}", control.stack_checklist(cx, &project, &of).await.unwrap()));
    found
}

/// What is kept in clear, or told to everybody.
async fn kept(it: &Rig, name: &str) -> Vec<(&'static str, String)> {
    let (cx, control, project) = (it.cx(), it.control(), it.project());
    let query = StackEventQuery { depth: 5, ..StackEventQuery::default() };
    let page = (None, Limit::LARGEST);
    let events = control.stack_events(&cx, &project, name, &query, page).await.unwrap();
    let told = control.event_list(&cx, &EventQuery::default(), None, Limit::LARGEST).await.unwrap();
    let audits = {
        let mut read = it.world.store.read().await.unwrap();
        read.audit_list(AuditFilter::default(), None, Limit::LARGEST).await.unwrap()
    };
    let drift = control.stack_drift_detect(&cx, &project, name).await.unwrap();
    let plans = control.stack_plan_list(&cx, &project, None, None, Limit::LARGEST).await.unwrap();
    let resources = control.stack_resources(&cx, &project, name, 5).await.unwrap();
    let reasons: Vec<_> = resources.iter().map(|one| one.row.standing.clone()).collect();
    vec![
        ("stack events", format!("{events:?}")),
        ("events", format!("{told:?}")),
        ("audit", format!("{audits:?}")),
        ("drift", format!("{drift:?}")),
        ("plans", format!("{plans:?}")),
        ("reasons", format!("{reasons:?} {:?}", it.stack(name).await)),
    ]
}

async fn text_of(it: &Rig, name: &str, output: &str) -> String {
    let outputs = it.control().stack_outputs(&it.cx(), &it.project(), name).await.unwrap();
    let found = outputs.into_iter().find(|one| one.name == output).unwrap();
    found.value.unwrap().as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_canary_is_found_nowhere_by_who_may_only_look() {
    let mut it = Rig::new().await;
    let (cx, project) = (it.cx(), it.project());
    let viewer = it.somebody("eve", Role::Viewer);
    let plan = hostler_control::StackAsk {
        name: "web".parse().unwrap(),
        form: leading(false),
        options: Default::default(),
        left: None,
        reason: String::new(),
    };
    it.planned(hostler_control::StackIntent::Create(plan)).await.unwrap();
    let made = it.create("web", leading(false)).await;
    assert_eq!(made.standing.heat(), "CREATE_COMPLETE", "{}", made.standing.reason);
    assert_eq!(text_of(&it, "web", "whole").await, CANARY, "who may change it sees what it gives");
    let first = text_of(&it, "web", "made").await;
    assert_eq!((first.len(), text_of(&it, "web", "back").await), (20, first.clone()));

    // Whoever uses it gets what is secret, and it is secret there too.
    it.create(
        "user",
        giving(
            json!({ "o": output_of("web", "part") }),
            json!({ "o": { "value": { "get_attr": ["o", "value"] } } }),
        ),
    )
    .await;
    assert_eq!(text_of(&it, "user", "o").await, format!("a {CANARY}"));

    let made = it.control().stack_snapshot_create(&cx, &project, "web", "kept").await.unwrap();
    it.settle().await;
    it.plan("web", with(leading(false), "secret", "another-canary")).await;
    let mut longer = leading(false);
    longer.template["resources"]["made"] = random(24);
    it.update("web", with(longer, "secret", "another-canary")).await;
    let second = text_of(&it, "web", "made").await;
    assert_ne!(first, second);
    it.outside.meddle(&it.physical("web", "out").await, "value", "somebody was here");

    let secrets = [CANARY.to_owned(), "another-canary".to_owned(), first, second];
    for stack in ["web", "user"] {
        for (what, text) in
            sinks(&it, &viewer, stack).await.into_iter().chain(kept(&it, stack).await)
        {
            assert_clean(what, &text, &secrets);
        }
    }
    let points = [
        StackPoint::Revision(1),
        StackPoint::Revision(2),
        StackPoint::Now,
        StackPoint::Snapshot(made.id),
    ];
    for from in points {
        for to in points {
            let found =
                it.control().stack_compare(&viewer, &project, "web", from, to).await.unwrap();
            assert_clean("compare", &format!("{found:?}"), &secrets);
        }
    }
    let first = it.control().stack_definition_of(&viewer, &project, "web", Some(1)).await.unwrap();
    assert_clean("definition of v1", &format!("{:?}", first.body), &secrets);
    assert_eq!(first.body.template["parameters"]["word"]["default"], json!("one"));
    // What has everything in it is for who may change the stack.
    let control = it.control();
    assert_eq!(refused(control.stack_export(&viewer, &project, "web").await).0, Code::Forbidden);
    assert_eq!(
        refused(control.stack_revision_get(&viewer, &project, "web", 1).await).0,
        Code::Forbidden
    );
    let snapshot = control.stack_snapshot_get(&viewer, &project, "web", made.id).await;
    assert_eq!(refused(snapshot).0, Code::Forbidden);
    assert_eq!(refused(control.stack_abandon(&viewer, &project, "web").await).0, Code::Forbidden);
    let exported = control.stack_export(&cx, &project, "web").await.unwrap();
    assert!(exported.to_string().contains("another-canary"), "a stack can be made of it elsewhere");
    let open = control.stack_outputs(&viewer, &project, "web").await.unwrap();
    assert_eq!(open.iter().find(|one| one.name == "open").unwrap().value, Ok(json!("one")));
}

#[tokio::test]
async fn what_fails_does_not_say_what_is_secret() {
    let mut it = Rig::new().await;
    let viewer = it.somebody("eve", Role::Viewer);
    let failed = it.create("web", leading(true)).await;
    assert_eq!(failed.standing.heat(), "CREATE_FAILED");
    assert!(failed.standing.reason.contains("******"), "{}", failed.standing.reason);
    let secrets = [CANARY.to_owned()];
    for (what, text) in sinks(&it, &viewer, "web").await.into_iter().chain(kept(&it, "web").await) {
        assert_clean(what, &text, &secrets);
    }

    // Nor does what is refused at once, to whoever is told, and to the log.
    let wrong = |resources: Value| with(giving(resources, json!({})), "secret", CANARY);
    let length = json!({ "r": { "type": "OS::Heat::RandomString", "properties": { "length": { "get_param": "secret" } } } });
    let class = json!({ "r": { "type": "OS::Heat::RandomString", "properties": { "character_classes": [{ "class": { "get_param": "secret" } }] } } });
    for resources in [length, class] {
        let refusal = it.ask("bad", wrong(resources)).await.unwrap_err();
        assert_clean("refusal", &format!("{refusal:?}"), &secrets);
        assert!(refusal.message.contains("******"), "{refusal:?}");
    }
}

#[tokio::test]
async fn hidden_values_of_every_kind_are_hidden() {
    let mut it = Rig::new().await;
    let (cx, project) = (it.cx(), it.project());
    let mut form = giving(
        json!({ "v": { "type": "OS::Heat::Value", "properties": { "value": [
            { "get_param": ["map", "deep", 0] }, { "get_param": ["list", 1] }, { "get_param": "number" },
            { "digest": ["md5", { "get_param": "word" }] },
        ] } } }),
        json!({}),
    );
    let parameters = form.template["parameters"].as_object_mut().unwrap();
    parameters.insert("map".into(), json!({ "type": "json", "hidden": true }));
    parameters.insert("list".into(), json!({ "type": "comma_delimited_list", "hidden": true }));
    parameters.insert("number".into(), json!({ "type": "number", "hidden": true }));
    form.parameters.insert("map".into(), json!({ "deep": ["in-a-map"] }));
    form.parameters.insert("list".into(), json!("open,in-a-list"));
    form.parameters.insert("number".into(), json!(471_147));
    it.create("web", form).await;
    let found = it.control().stack_resource(&cx, &project, "web", "v").await.unwrap();
    let text = format!("{:?}", found.properties);
    for hidden in ["in-a-map", "in-a-list", "471147"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    let value = &found.properties["value"];
    assert_eq!(
        (&value[0], &value[1], &value[2]),
        (&json!("******"), &json!("******"), &json!("******"))
    );
    assert_eq!(value[3].as_str().unwrap().len(), 32, "what is open stays");
}
