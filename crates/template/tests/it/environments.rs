//! Environments: sections, registry, merging, children.

use hostler_template::environment::{Environment, Hook, Provider, RestrictedAction, Types};
use hostler_template::parameter::ParameterSchema;
use hostler_template::schema::{Kind, ResourceSchema};
use serde_json::{Map, Value, json};

use crate::catalogue::{Catalogue, files};

struct Shared(Catalogue, hostler_template::environment::Registry);

impl Types for Shared {
    fn schema(&self, type_name: &str) -> Option<&ResourceSchema> {
        self.0.schema(type_name)
    }

    fn global(&self) -> Option<&hostler_template::environment::Registry> {
        Some(&self.1)
    }
}

fn environment(value: Value) -> Environment {
    Environment::from_value("env", &value).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn registry(value: Value) -> Environment {
    environment(json!({"resource_registry": value}))
}

#[test]
fn types_lead_to_what_makes_them() {
    let global = registry(json!({
        "OS::Metering::*": "OS::Heat::*",
        "Shared::Thing": "shared.yaml",
        "My::Thing": "OS::Heat::None",
    }));
    let types = Shared(Catalogue::new(), global.registry);
    let user = registry(json!({
        "My::Thing": "OS::Heat::Value",
        "My::Other": "My::Thing",
        "My::*": "OS::Heat::None",
        "Deep::*": "My::*",
        "OS::Heat::RandomString": "random.yaml",
        "OS::Heat::*": "OS::Heat::None",
        "Round::A": "Round::B",
        "Round::B": "Round::A",
        "Gone::*": "Nowhere::*",
        "resources": {"special": {"My::Thing": "special.yaml"}},
    }));
    for (kind, name, expected) in [
        ("My::Thing", "r", "OS::Heat::Value/none"),
        ("My::Thing", "special", "special.yaml user"),
        ("My::Other", "r", "OS::Heat::Value/none"),
        ("My::Unheard", "r", "OS::Heat::None"),
        ("Deep::Thing", "r", "OS::Heat::Value/none"),
        ("OS::Heat::RandomString", "r", "random.yaml user"),
        ("OS::Heat::TestResource", "r", "OS::Heat::None"),
        ("OS::Heat::None", "r", "OS::Heat::None"),
        ("OS::Metering::None", "r", "OS::Heat::None"),
        ("Shared::Thing", "r", "shared.yaml shared"),
        ("a/b.yaml", "r", "a/b.yaml user"),
        ("x.template", "r", "x.template user"),
        ("Round::A", "r", "nothing"),
        ("Gone::Thing", "r", "nothing"),
        ("Unknown", "r", "nothing"),
    ] {
        let found = match user.registry.resolve(kind, name, &types) {
            Some(Provider::Type(name)) => name,
            Some(Provider::Template { name, is_of_user: true, .. }) => format!("{name} user"),
            Some(Provider::Template { name, .. }) => format!("{name} shared"),
            None => "nothing".to_owned(),
        };
        let expected = match expected {
            "OS::Heat::Value/none" => "OS::Heat::None",
            other => other,
        };
        assert_eq!(found, expected, "{kind} {name}");
    }
    let plain = registry(json!({}));
    let value = Some(Provider::Type("OS::Heat::Value".to_owned()));
    assert_eq!(plain.registry.resolve("OS::Heat::Value", "r", &types), value);
}

#[test]
fn nothing_takes_out() {
    let mut first =
        registry(json!({"A::B": "x.yaml", "A::C": "y.yaml", "B": "z.yaml", "A::*": null}));
    assert_eq!(first.registry.to_json(), json!({"resources": {}, "B": "z.yaml"}));
    first = registry(json!({"B": "z.yaml", "C": null}));
    assert_eq!(first.registry.to_json(), json!({"resources": {}, "B": "z.yaml"}));
}

#[test]
fn hooks_and_restrictions_match_names() {
    let found = registry(json!({"resources": {
        "web*": {"hooks": ["pre-create", "post-update"]},
        "web1": {"restricted_actions": "replace"},
        "*": {"restricted_actions": ["update"]},
        "nested": {"inner": {"hooks": "pre-delete"}},
    }}));
    let registry = &found.registry;
    assert!(registry.has_hook("web1", Hook::PreCreate));
    assert!(registry.has_hook("web2", Hook::PostUpdate));
    assert!(!registry.has_hook("Web1", Hook::PreCreate));
    assert!(!registry.has_hook("web1", Hook::PreUpdate));
    let both = [RestrictedAction::Update, RestrictedAction::Replace];
    assert_eq!(registry.restricted_actions("web1"), both.into());
    assert_eq!(registry.restricted_actions("db"), [RestrictedAction::Update].into());
    let child = found.child(Map::new(), None, "nested");
    assert!(child.registry.has_hook("inner", Hook::PreDelete));
    assert!(!child.registry.has_hook("web1", Hook::PreCreate));
}

#[test]
fn a_child_has_what_its_parent_leaves_it() {
    let parent = environment(json!({
        "parameters": {"a": 1},
        "parameter_defaults": {"b": 2},
        "event_sinks": [{"type": "zaqar-queue", "target": "q"}],
        "encrypted_param_names": ["a"],
        "resource_registry": {"T": "t.yaml", "U": "u.yaml", "resources": {"r": {"X": "x.yaml"}}},
    }));
    let provider = parent.registry.resolve("T", "r", &Catalogue::new()).unwrap();
    let given = json!({"c": 3}).as_object().unwrap().clone();
    let child = parent.child(given, Some(&provider), "r");
    assert_eq!(
        child.to_json(),
        json!({
            "parameters": {"c": 3},
            "parameter_defaults": {"b": 2},
            "event_sinks": [{"type": "zaqar-queue", "target": "q"}],
            "resource_registry": {"U": "u.yaml", "resources": {"X": "x.yaml"}},
        })
    );
    assert_eq!(parent.to_stored_json()["encrypted_param_names"], json!(["a"]));
    assert_eq!(Environment::from_stored("e", &json!({"p": 1})).unwrap().parameters["p"], 1);
}

fn merged(texts: &[&str], given: &Value) -> Result<Value, Vec<String>> {
    let kinds = [
        ("s", Kind::String),
        ("n", Kind::Number),
        ("l", Kind::List),
        ("m", Kind::Map),
        ("b", Kind::Boolean),
    ];
    let schemas: Vec<_> =
        kinds.iter().map(|(name, kind)| ParameterSchema::new(name, *kind)).collect();
    let mut all = files([]);
    let names: Vec<String> = (0..texts.len()).map(|i| format!("e{i}")).collect();
    for (name, text) in names.iter().zip(texts) {
        all.insert(name.clone(), (*text).to_owned());
    }
    let given = given.as_object().expect("the cases have mappings");
    match Environment::of_request(
        Some(&json!({"parameters": {"s": "body"}})),
        &names,
        &all,
        given,
        &schemas,
    ) {
        Ok(found) => Ok(found.to_json()),
        Err(wrong) => Err(wrong.iter().map(|one| one.api_message()).collect()),
    }
}

#[test]
fn files_are_merged_one_over_the_other() {
    let none = json!({});
    for (texts, given, expected) in [
        (vec![], &none, json!({"s": "body"})),
        (vec!["parameters: {s: a}"], &json!({"s": "zz"}), json!({"s": "a"})),
        (vec!["parameters: {s: a, n: 1}", "parameters: {s: b}"], &none, json!({"s": "b", "n": 1})),
        (
            vec![
                "parameters: {s: a, n: 1, l: 'a,b', m: {x: {y: 1}, z: 1}}",
                "parameter_merge_strategies: {s: merge}\nparameters: {s: b, n: 2, l: [c], m: {x: {w: 2}}}",
            ],
            &none,
            json!({"conflict": true}),
        ),
        (
            vec![
                "parameter_merge_strategies: {default: merge}\nparameters: {s: a, n: 1, l: 'a,b', m: {x: {y: 1}, z: 1}}",
                "parameter_merge_strategies: {default: merge}\nparameters: {s: b, n: 2, l: [c], m: {x: {w: 2}}}",
            ],
            &none,
            json!({"s": "ab", "n": 3, "l": ["a", "b", "c"], "m": {"x": {"w": 2}, "z": 1}}),
        ),
        (
            vec![
                "parameter_merge_strategies: {m: deep_merge, l: merge}\nparameters: {l: 'a', m: {x: {y: [1]}, z: p}}",
                "parameters: {l: 'b', m: {x: {y: [2]}, z: q}}",
            ],
            &none,
            json!({"l": "a,b", "m": {"x": {"y": [1, 2]}, "z": "pq"}}),
        ),
    ] {
        let found = merged(&texts, given);
        match expected.get("conflict") {
            Some(_) => {
                let wrong = found.unwrap_err();
                assert_eq!(
                    wrong[0],
                    "Conflicting merge strategy 'merge' for parameter 's' in file 'e1'."
                );
                assert_eq!(wrong.len(), 1);
            }
            None => assert_eq!(found.unwrap()["parameters"], expected, "{texts:?}"),
        }
    }
    let wrong = merged(
        &[
            "parameter_merge_strategies: {b: merge}\nparameters: {b: 'on'}",
            "parameters: {b: 'off'}",
        ],
        &none,
    );
    assert_eq!(wrong, Err(vec!["Invalid merge strategy 'merge' for parameter 'b'.".to_owned()]));
    let found = merged(
        &["resource_registry: {A: a.yaml, resources: {r: {hooks: pre-create}}}\nevent_sinks: [{type: x}]",
          "resource_registry: {B: b.yaml}\nevent_sinks: [{type: y}]"],
        &none,
    )
    .unwrap();
    assert_eq!(
        found["resource_registry"],
        json!({"resources": {"r": {"hooks": "pre-create"}}, "A": "a.yaml", "B": "b.yaml"})
    );
    assert_eq!(found["event_sinks"], json!([{"type": "x"}, {"type": "y"}]));
}
