//! Nothing runs away and nothing panics, whatever a template says.

use std::time::{Duration, Instant};

use hostler_template::diagnostic::Fault;
use hostler_template::function::{DEPTH_MAX, Dialect, parse};
use hostler_template::template::Version;
use hostler_template::value::Node;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::function::{World, conditions, here, read};

const NEW: Version = Version::NEWEST;

/// Refused for what it would produce, and soon.
fn is_refused(value: &Value) {
    let world = World::new();
    let set = conditions(NEW);
    let expr = read(NEW, value, &set.decided(&world)).expect("only its size is wrong");
    let start = Instant::now();
    let error = expr.resolve(&world).expect_err("it is too large");
    assert_eq!(error.fault, Fault::LimitExceeded, "{error}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn products_are_bounded() {
    let ten: Vec<String> = (0..10).map(|i| i.to_string()).collect();
    let lists: Map<String, Value> = (0..12).map(|i| (format!("%{i}%"), json!(ten))).collect();
    is_refused(&json!({"repeat": {"template": "x", "for_each": lists}}));
    is_refused(&json!({"repeat": {"template": {}, "for_each": lists}}));
    is_refused(&json!({"repeat": {"template": [], "for_each": lists}}));
    is_refused(&json!({"repeat": {"template": 1, "for_each": lists}}));
}

#[test]
fn doubling_is_bounded() {
    let double =
        |value: Value| json!({"str_replace": {"template": "aaaaaaaaaa", "params": {"a": value}}});
    let mut value = json!("a");
    for _ in 0..9 {
        value = double(value);
    }
    is_refused(&value);
    let mut list = json!(["a", "b"]);
    for _ in 0..20 {
        list = json!({"repeat": {"template": list, "for_each": {"a": ["aa", "aaaa"]}}});
    }
    is_refused(&list);
    let long = "x".repeat(100_000);
    let many: Vec<&str> = vec!["y"; 10_000];
    is_refused(&json!({"list_join": [long, many]}));
}

#[test]
fn depth_is_bounded() {
    let mut value = json!("a");
    for _ in 0..DEPTH_MAX {
        value = json!({"list_concat": [[value]]});
    }
    let found = parse(
        &Node::from_json(&value),
        &here(),
        Dialect::new(NEW),
        &hostler_template::function::NoConditions,
    );
    let found = found.unwrap_err();
    assert_eq!(found.0[0].fault, Fault::LimitExceeded);
    assert_eq!(found.0[0].message, format!("A value is more than {DEPTH_MAX} levels deep."));

    let mut value = json!(["a"]);
    for _ in 0..(DEPTH_MAX - 2) / 2 {
        value = json!({"list_concat": [value]});
    }
    let world = World::new();
    let expr = read(NEW, &value, &hostler_template::function::NoConditions).unwrap();
    assert_eq!(expr.resolve(&world).map(|r| r.or_null()), Ok(json!(["a"])));
}

#[test]
fn much_is_not_too_much() {
    let text = "line\n".repeat(100_000);
    let value = json!({"str_replace": {"template": text, "params": {"line": "longer line"}}});
    let world = World::new();
    let expr = read(NEW, &value, &hostler_template::function::NoConditions).unwrap();
    let found = expr.resolve(&world).unwrap().or_null();
    assert_eq!(found.as_str().unwrap().len(), 12 * 100_000);
}

/// Values in which functions stand everywhere, with arguments that fit and that do not.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        (-3_i64..70_000).prop_map(|value| json!(value)),
        any::<f64>().prop_map(|value| json!(value)),
        "[a-c,$.é/:%]{0,6}".prop_map(|text| json!(text)),
        prop::sample::select(vec![
            "yes",
            "no",
            "is_prod",
            "name",
            "list",
            "json",
            "none",
            "r",
            "map",
            "md5",
            "k",
            "$.data",
            "$.data.select($ + 1)",
            "metadata",
        ])
        .prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(5, 64, 5, |inner| {
        let names: Vec<&'static str> = Version::ALL
            .into_iter()
            .flat_map(|version| {
                let dialect = Dialect::new(version);
                dialect.names().chain(dialect.condition_names()).collect::<Vec<_>>()
            })
            .collect();
        let keys = prop::sample::select(vec![
            "template",
            "params",
            "for_each",
            "permutations",
            "expression",
            "data",
            "keys",
            "values",
            "host",
            "port",
            "query",
            "scheme",
            "a",
            "b",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(keys, inner.clone(), 0..4).prop_map(|map| json!(map)),
            (prop::sample::select(names.clone()), prop::collection::vec(inner.clone(), 0..4))
                .prop_map(|(name, arguments)| json!({name: arguments})),
            (prop::sample::select(names), inner)
                .prop_map(|(name, argument)| json!({name: argument})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(value in any_value(), version in prop::sample::select(Version::ALL.to_vec())) {
        let world = World::new();
        let set = conditions(version);
        for conditions in [&set.decided(&world) as &dyn hostler_template::function::Conditions, &set.undecided()] {
            if let Ok(expr) = read(version, &value, conditions) {
                let first = expr.resolve_with(&world, &set.decided(&world));
                prop_assert_eq!(&first, &expr.resolve_with(&world, &set.decided(&world)));
                let _ = expr.references_in(&world);
                prop_assert!(expr.references() == expr.references());
            }
        }
    }

    #[test]
    fn what_has_no_function_stays_what_it_is(value in any_value()) {
        let plain = json!({"wrapped": value, "beside": 1});
        let text = plain.to_string();
        let dialect = Dialect::new(Version::HeatCfn);
        let names: Vec<&str> = dialect.names().collect();
        prop_assume!(!names.iter().any(|name| text.contains(&format!("\"{name}\""))));
        let expr = read(Version::HeatCfn, &plain, &hostler_template::function::NoConditions).unwrap();
        prop_assert!(expr.is_plain());
        prop_assert_eq!(expr.resolve(&World::new()).unwrap().or_null(), plain);
    }
}
