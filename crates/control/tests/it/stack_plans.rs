//! Plans of stacks: what they say is what is done, and they are carried out once, from what they were made of.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hostler_control::{StackAsk, StackEdit, StackForm, StackIntent};
use hostler_model::stack::{StackChangeKind, StackOptions};
use hostler_model::{Code, Limit};
use hostler_testkit::Random;
use serde_json::{Value, json};

use crate::stack_rig::{
    Rig, form, giving, inside, lines, outside, parameters, random, refused, with,
};

fn create(name: &str, form: StackForm) -> StackIntent {
    let options = StackOptions::default();
    StackIntent::Create(StackAsk {
        name: name.parse().unwrap(),
        form,
        options,
        left: None,
        reason: String::new(),
    })
}

/// What an update really did, from the rows before and after it; as [`lines`] has it.
async fn done(it: &mut Rig, name: &str, plan: &hostler_control::StackPlanDetail) -> Vec<String> {
    type Seen = BTreeMap<(String, String), (Option<String>, u32)>;
    async fn seen(it: &Rig, name: &str) -> Seen {
        let all = it.resources(name).await;
        let of = |one: &hostler_control::StackResourceDetail| {
            let path = one.parent_resource.clone().map(|it| format!("{it}/")).unwrap_or_default();
            ((path, one.row.name.clone()), (one.row.physical.clone(), one.row.deeds))
        };
        all.iter().map(of).collect()
    }
    let before = seen(it, name).await;
    it.apply(plan).await.unwrap();
    let after = seen(it, name).await;
    let mut found = Vec::new();
    for (key, (physical, deeds)) in &after {
        let word = match before.get(key) {
            None => "create",
            Some((was, _)) if was != physical => "replace",
            Some((_, was)) if was != deeds => "update",
            Some(_) => continue,
        };
        found.push(format!("{word} {}{}", key.0, key.1));
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        found.push(format!("delete {}{}", key.0, key.1));
    }
    found.sort();
    found
}

#[tokio::test]
async fn what_a_plan_says_is_what_is_done() {
    Rig::on_both("plans", async |mut it| {
        let word = || json!({ "get_param": "word" });
        let output = |name: &str| json!({ "get_attr": [name, "output"] });
        let base = json!({
            "a": inside(word()),
            "b": inside(output("a")),
            "c": inside(json!("same")),
            "r": random(8),
            "user": inside(json!({ "get_resource": "r" })),
            "o": outside(word()),
            "after": inside(json!({ "get_attr": ["o", "value"] })),
            "old": inside(json!("x")),
        });
        it.create("web", form(base.clone())).await;

        let same = it.plan("web", form(base.clone())).await;
        assert!(same.changes.is_empty(), "{:?}", lines(&same));
        assert_eq!(same.changes.resources.len(), 8);

        let mut next = base.clone();
        next["r"] = random(9);
        next["new"] = inside(output("b"));
        next.as_object_mut().unwrap().shift_remove("old");
        let plan = it.plan("web", with(form(next), "word", "two")).await;
        let wanted = [
            "create new",
            "delete old",
            "replace r",
            "update a",
            "update after?",
            "update b",
            "update o",
            "update user?",
        ];
        assert_eq!(lines(&plan), wanted);
        let line = |name: &str| plan.changes.resources.iter().find(|it| it.name == name).unwrap();
        let b = &line("b").properties[0];
        assert_eq!((b.before.clone(), b.after.clone()), (Some(json!("one")), Some(json!("two"))));
        let r = line("r");
        assert_eq!(r.reason, "length cannot be changed in its place");
        assert!(r.properties.iter().any(|it| it.name == "length" && it.replaces));
        assert!(line("user").properties[0].is_unknown);
        assert_eq!(line("c").change, StackChangeKind::Unchanged);
        assert_eq!(plan.changes.parameters[0].name, "word");
        let exact: Vec<String> = wanted.iter().map(|it| it.replace('?', "")).collect();
        assert_eq!(done(&mut it, "web", &plan).await, exact);
        assert_eq!(it.stack("web").await.standing.heat(), "UPDATE_COMPLETE");
    })
    .await;
}

fn pick(random: &mut Random, count: usize) -> usize {
    usize::try_from(random.next()).unwrap() % count
}

/// Up to six resources of three types, each of which may use those before it.
fn some_template(random: &mut Random) -> Value {
    let mut all = serde_json::Map::new();
    let mut before: Vec<(&str, &str)> = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        if random.below(5) == 0 {
            continue;
        }
        let other = match before.len() {
            0 => None,
            count => before.get(pick(random, 2 * count)).copied(),
        };
        let value = match other {
            Some((other, _)) if random.below(3) == 0 => json!({ "get_resource": other }),
            Some((other, attribute)) => json!({ "get_attr": [other, attribute] }),
            None => json!(["one", "two"][pick(random, 2)]),
        };
        let (resource, attribute) = match random.below(6) {
            0 => (crate::stack_rig::random([4, 5][pick(random, 2)]), "value"),
            1 | 2 => (outside(value), "value"),
            _ => (inside(value), "output"),
        };
        all.insert(name.to_owned(), resource);
        before.push((name, attribute));
    }
    Value::Object(all)
}

#[tokio::test]
async fn whatever_changes_the_plan_says_it() {
    let mut random = Random::new(7);
    let mut it = Rig::new().await;
    it.create("web", form(some_template(&mut random))).await;
    for round in 0..60 {
        let next = some_template(&mut random);
        let plan = it.plan("web", form(next.clone())).await;
        let planned = lines(&plan);
        let done = done(&mut it, "web", &plan).await;
        let certain = planned.iter().filter(|line| !line.ends_with('?'));
        for line in certain {
            assert!(done.contains(line), "{round}: `{line}` was not done: {done:?}\n{next}");
        }
        for line in &done {
            let is_said = planned.iter().any(|said| said.trim_end_matches('?') == line);
            assert!(is_said, "{round}: `{line}` was not planned: {planned:?}\n{next}");
        }
    }
}

#[tokio::test]
async fn a_plan_makes_a_stack_and_takes_it_down() {
    let mut it = Rig::new().await;
    let outputs = json!({ "word": { "value": { "get_attr": ["a", "output"] } } });
    let wanted = giving(json!({ "a": inside(json!("x")), "r": random(8) }), outputs);
    let plan = it.planned(create("web", wanted)).await.unwrap();
    assert_eq!(lines(&plan), ["create a", "create r"]);
    assert!(plan.changes.outputs[0].is_unknown);
    let (cx, project) = (it.cx(), it.project());
    let none = it.control().stack_resolve(&cx, &project, "web").await;
    assert_eq!(refused(none).0, Code::NotFound, "a plan makes nothing");
    let made = it.apply(&plan).await.unwrap();
    assert_eq!(made.id, plan.plan.stack_id);
    assert_eq!(it.stack("web").await.standing.heat(), "CREATE_COMPLETE");

    let going =
        StackIntent::Delete { stack: "web".to_owned(), is_forced: false, reason: String::new() };
    let plan = it.planned(going).await.unwrap();
    assert_eq!(lines(&plan), ["delete a", "delete r"]);
    it.apply(&plan).await.unwrap();
    assert!(it.stack(&made.id.to_string()).await.is_deleted());
    let all =
        it.control().stack_plan_list(&cx, &project, None, None, Limit::LARGEST).await.unwrap();
    assert_eq!(all.items.len(), 2);
    assert!(all.items.iter().all(|one| one.plan.time_used.is_some() && one.plan.sealed.is_empty()));
}

#[tokio::test]
async fn a_plan_is_carried_out_once_from_what_it_was_made_of() {
    let mut it = Rig::new().await;
    let of = |value: &str| form(json!({ "a": inside(json!(value)) }));
    it.create("web", of("one")).await;
    let (first, second) = (it.plan("web", of("two")).await, it.plan("web", of("three")).await);
    it.apply(&first).await.unwrap();
    let (code, words) = refused(it.apply(&first).await);
    assert_eq!(code, Code::Conflict, "{words}");
    assert_eq!(refused(it.apply(&second).await).0, Code::Stale, "the base has moved");
    assert_eq!(it.resources("web").await[0].attributes["output"], json!("two"));

    let third = it.plan("web", of("three")).await;
    it.world.advance(Duration::from_secs(3601));
    let (code, words) = refused(it.apply(&third).await);
    assert_eq!((code, words.contains("expired")), (Code::Conflict, true), "{words}");
    let (cx, project) = (it.cx(), it.project());
    it.control().stack_plan_remove(&cx, &project, third.plan.id).await.unwrap();
    let gone = it.control().stack_plan_get(&cx, &project, third.plan.id).await;
    assert_eq!(refused(gone).0, Code::NotFound);
}

#[tokio::test]
async fn secrets_are_not_in_plans() {
    let it = &mut Rig::new().await;
    let resources = json!({
        "a": inside(json!({ "list_join": ["-", ["x", { "get_param": "secret" }]] })),
    });
    it.create("web", form(resources.clone())).await;
    let plan = it.plan("web", with(form(resources), "secret", "whisper")).await;
    let text = serde_json::to_string(&plan.changes).unwrap();
    assert!(!text.contains("hush") && !text.contains("whisper"), "{text}");
    let a = &plan.changes.resources[0].properties[0];
    assert_eq!((a.is_secret, a.after.clone()), (true, Some(json!("******"))));
    let secret = &plan.changes.parameters[0];
    assert_eq!((secret.name.as_str(), secret.is_secret), ("secret", true));
}

#[tokio::test]
async fn what_lies_below_is_planned_too() {
    let mut it = Rig::new().await;
    let group = |count: u32, value: &str| {
        let member = inside(json!({ "list_join": ["", [value, "%index%"]] }));
        form(json!({ "g": {
            "type": "OS::Heat::ResourceGroup",
            "properties": { "count": count, "resource_def": member },
        } }))
    };
    let plan = it.planned(create("web", group(2, "x"))).await.unwrap();
    assert_eq!(lines(&plan), ["create g", "create g/0", "create g/1"]);
    it.apply(&plan).await.unwrap();
    let same = it.plan("web", group(2, "x")).await;
    assert!(same.changes.is_empty(), "{:?}", lines(&same));
    let more = it.plan("web", group(3, "x")).await;
    assert_eq!(lines(&more), ["create g/2", "update g"]);
    it.apply(&more).await.unwrap();
    assert_eq!(it.resources("web").await.len(), 4);
    let going =
        StackIntent::Delete { stack: "web".to_owned(), is_forced: false, reason: String::new() };
    let plan = it.planned(going).await.unwrap();
    assert_eq!(lines(&plan), ["delete g", "delete g/0", "delete g/1", "delete g/2"]);
}

#[tokio::test]
async fn what_cannot_be_done_is_in_the_plan() {
    let mut it = Rig::new().await;
    let mut wanted = form(json!({ "a": inside(json!("x")) }));
    it.create("web", wanted.clone()).await;
    wanted.template["resources"]["a"] = inside(json!("y"));
    wanted.environment = json!({ "resource_registry": { "resources": { "a": { "restricted_actions": "update" } } } });
    let plan = it.plan("web", wanted).await;
    assert_eq!(lines(&plan), ["impossible a"]);
    assert!(plan.changes.is_impossible());
    assert_eq!(plan.changes.resources[0].reason, "the environment forbids to update it");
}

#[tokio::test]
async fn previews_keep_nothing() {
    let mut it = Rig::new().await;
    let (cx, project) = (it.cx(), it.project());
    let wanted =
        form(json!({ "a": inside(json!("x")), "b": inside(json!({ "get_resource": "a" })) }));
    let ask = StackAsk {
        name: "web".parse().unwrap(),
        form: wanted.clone(),
        options: StackOptions::default(),
        left: None,
        reason: String::new(),
    };
    let preview = it.control().stack_preview_create(&cx, &project, ask).await.unwrap();
    let names: Vec<&str> = preview.resources.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(preview.resources[0].properties["value"], json!("x"));
    assert_eq!(preview.resources[0].required_by, ["b"]);
    assert_eq!(preview.parameters["secret"], json!("******"));
    assert!(it.control().stack_resolve(&cx, &project, "web").await.is_err());

    let before = it.create("web", wanted).await;
    let next = form(json!({ "a": inside(json!("y")), "c": inside(json!("z")) }));
    let edit = StackEdit { form: next, ..StackEdit::default() };
    let preview =
        it.control().stack_preview_update(&cx, &project, "web", edit, false).await.unwrap();
    let of = |kind| -> Vec<&str> {
        let all = preview.changes.resources.iter().filter(|one| one.change == kind);
        all.map(|one| one.name.as_str()).collect()
    };
    assert_eq!(of(StackChangeKind::Update), ["a"]);
    assert_eq!(of(StackChangeKind::Delete), ["b"]);
    assert_eq!(preview.added[0].name, "c");
    assert_eq!(preview.resources.len(), 2);
    assert_eq!(it.stack("web").await, before);
}

#[tokio::test]
async fn a_patch_plans_only_what_it_says() {
    let mut it = Rig::new().await;
    let wanted = form(json!({ "a": inside(json!({ "get_param": "word" })) }));
    it.create("web", wanted).await;
    let form = StackForm { parameters: parameters(&[("word", "two")]), ..StackForm::default() };
    let edit = StackEdit { form, is_patch: true, ..StackEdit::default() };
    let intent = StackIntent::Update { stack: "web".to_owned(), edit };
    let plan = it.planned(intent).await.unwrap();
    assert_eq!(lines(&plan), ["update a"]);
}

/// How long it takes is told, and not judged: machines differ.
#[tokio::test]
async fn a_plan_of_thousands_is_made_in_one_go() {
    let mut it = Rig::new().await;
    let all: serde_json::Map<String, Value> =
        (0..5000).map(|n| (format!("r{n}"), inside(json!("x")))).collect();
    it.create("many", form(Value::Object(all.clone()))).await;
    let begun = Instant::now();
    let plan = it.plan("many", form(Value::Object(all))).await;
    eprintln!("a plan of 5,000 resources that stay as they are took {:?}", begun.elapsed());
    assert!(plan.changes.is_empty());
    assert_eq!(plan.changes.resources.len(), 5000);
}
