//! Conditions, and what depends on them.

use hostler_template::condition::{ConditionSet, decide};
use hostler_template::diagnostic::{Diagnostics, Fault};
use hostler_template::function::{Conditions, Dialect, NoConditions, Resolved};
use hostler_template::place::Path;
use hostler_template::template::Version;
use hostler_template::value::Node;
use serde_json::{Value, json};

use crate::function::{World, all_fail, all_resolve, read, resolve};

const NEW: Version = Version::NEWEST;

fn set(version: Version, section: &Value) -> (ConditionSet, Diagnostics) {
    ConditionSet::read(Some(&Node::from_json(section)), Dialect::new(version))
}

/// What `c` is among these conditions, or what is said of it.
fn decided(version: Version, section: &Value) -> Result<bool, String> {
    let (set, found) = set(version, section);
    if let Some(wrong) = found.iter().find(|one| one.fault != Fault::Warning) {
        return Err(format!("read: {}", wrong.api_message()));
    }
    let world = World::new();
    let answer = set.decided(&world).decide("c");
    answer.map(|answer| answer.expect("parameters are known")).map_err(|error| error.message)
}

#[test]
fn conditions_are_decided() {
    for (condition, expected) in [
        (json!(true), true),
        (json!({"equals": ["a", "a"]}), true),
        (json!({"equals": [1, "1"]}), false),
        (json!({"equals": [1, true]}), true),
        (json!({"equals": [{"get_param": "name"}, "web"]}), true),
        (json!({"equals": [{"get_param": ["json", "1"]}, "one"]}), true),
        (json!({"not": true}), false),
        (json!({"not": "no"}), true),
        (json!({"not": {"not": "no"}}), false),
        (json!({"and": ["yes", true, {"equals": [1, 1]}]}), true),
        (json!({"and": ["yes", "no"]}), false),
        (json!({"or": ["no", {"equals": [1, 2]}, "yes"]}), true),
        (json!({"or": [false, "no"]}), false),
        (json!({"contains": ["a", {"get_param": "list"}]}), true),
        (json!({"yaql": {"expression": "$.data = 1", "data": 1}}), true),
        // A name that is not reached is not looked at.
        (json!({"or": ["yes", "nowhere"]}), true),
        (json!({"and": ["no", "nowhere"]}), false),
        (json!({"get_param": "yes"}), true),
    ] {
        let section = json!({"c": condition, "yes": true, "no": {"not": "yes"}});
        assert_eq!(decided(NEW, &section), Ok(expected), "{condition}");
    }
    for (condition, expected) in [
        (json!({"Fn::Equals": [{"Ref": "name"}, "web"]}), true),
        (json!({"Fn::Not": [{"Fn::Equals": ["a", "b"]}]}), true),
        (json!({"Fn::And": ["yes", {"Fn::Not": ["yes"]}]}), false),
        (json!({"Fn::Or": ["yes", false]}), true),
        (json!({"Fn::Equals": [{"Fn::FindInMap": ["Sizes", "small", "cpu"]}, "1"]}), true),
    ] {
        let section = json!({"c": condition, "yes": true});
        assert_eq!(decided(Version::Aws, &section), Ok(expected), "{condition}");
    }
}

#[test]
fn what_is_wrong_with_conditions() {
    for (version, condition, expected) in [
        (NEW, json!("yes"), "read: The definition of condition \"c\" is invalid: yes"),
        (NEW, json!(null), "read: The definition of condition \"c\" is invalid: None"),
        (
            NEW,
            json!({"a": [1, "x"]}),
            "read: The definition of condition \"c\" is invalid: {'a': [1, 'x']}",
        ),
        (
            NEW,
            json!({"equals": ["a"]}),
            "read: conditions.c.equals: : Arguments to \"equals\" must be of the form: [value_1, value_2]",
        ),
        (
            NEW,
            json!({"not": null}),
            "read: conditions.c.not: : Argument to \"not\" must be a condition",
        ),
        (
            NEW,
            json!({"and": "yes"}),
            "read: conditions.c.and: : Arguments to \"and\" must be a list of conditions",
        ),
        (
            NEW,
            json!({"or": ["yes"]}),
            "read: conditions.c.or: : The minimum number of condition arguments to \"or\" is 2.",
        ),
        (
            NEW,
            json!({"get_attr": ["r", "x"]}),
            "read: conditions.c.get_attr: : The function \"get_attr\" is invalid in this context",
        ),
        (
            NEW,
            json!({"if": ["yes", true, false]}),
            "read: conditions.c.if: : The function \"if\" is invalid in this context",
        ),
        (
            NEW,
            json!({"equals": [{"Ref": "a"}, 1]}),
            "read: conditions.c.equals[0].Ref: : The template version is invalid: The function Ref is not supported in this version of HOT.",
        ),
        (
            Version::Newton,
            json!({"yaql": {"expression": "1"}}),
            "read: conditions.c.yaql: : The function \"yaql\" is invalid in this context",
        ),
        (NEW, json!({"get_param": "name"}), "The definition of condition \"c\" is invalid: web"),
        (NEW, json!({"get_param": "nope"}), "The Parameter (nope) was not provided."),
        (NEW, json!({"not": "nope"}), "Invalid condition \"nope\""),
        (NEW, json!({"not": {"get_param": "number"}}), "Invalid condition \"1.5\""),
        (NEW, json!({"not": "c"}), "Circular definition for condition \"c\""),
        (
            Version::Aws,
            json!({"Fn::Not": "x"}),
            "read: Conditions.c.Fn::Not: : Arguments to \"Fn::Not\" must be of the form: [condition]",
        ),
    ] {
        let found = decided(version, &json!({"c": condition}));
        assert_eq!(found, Err(expected.to_owned()), "{condition}");
    }
    let circle = json!({"c": {"not": "a"}, "a": {"and": ["b", true]}, "b": {"not": "a"}});
    assert_eq!(decided(NEW, &circle), Err("Circular definition for condition \"a\"".to_owned()));
    let (_, found) = set(NEW, &json!(["a"]));
    assert_eq!(found.0[0].message, "Condition definitions must be a map. Found a list instead");
    assert_eq!(set(NEW, &json!(null)), (ConditionSet::default(), Diagnostics::new()));
}

#[test]
fn what_is_not_used_is_only_warned_of() {
    let section =
        json!({"c": true, "lost": {"not": "prodd"}, "round": {"not": "round"}, "prod": false});
    assert_eq!(decided(NEW, &section), Ok(true));
    let (set, found) = set(NEW, &section);
    let shown: Vec<_> =
        found.iter().map(|one| (one.fault, one.message.as_str(), one.hint.as_deref())).collect();
    assert_eq!(
        shown,
        [
            (Fault::Warning, "Invalid condition \"prodd\"", Some("did you mean `prod`?")),
            (Fault::Warning, "Circular definition for condition \"round\"", None),
        ]
    );
    let open = set.undecided();
    assert_eq!(open.decide("c"), Ok(Some(true)));
    assert_eq!(open.decide("lost").unwrap_err().message, "Invalid condition \"prodd\"");
    assert_eq!(open.decide("x").unwrap_err().message, "Invalid condition \"x\"");
    assert!(open.decide("round").is_err());
}

#[test]
fn long_chains_end() {
    let chain = |many: usize| -> Value {
        let nth = |i: usize| {
            (format!("c{i}"), json!({"and": [{"not": {"not": format!("c{}", i + 1)}}, true]}))
        };
        let mut map: serde_json::Map<_, _> = (0..many).map(nth).collect();
        map.insert(format!("c{many}"), json!(true));
        map.insert("c".to_owned(), json!({"not": "c0"}));
        Value::Object(map)
    };
    assert_eq!(decided(NEW, &chain(20)), Ok(false));
    let found = decided(NEW, &chain(3000)).unwrap_err();
    assert_eq!(found, "More than 24 conditions depend on each other in a row");
    let wide = |many: usize| -> Value {
        let all = |i: usize| {
            (
                format!("c{i}"),
                json!({"or": (i..many).map(|j| format!("c{}", j + 1)).collect::<Vec<_>>()}),
            )
        };
        let mut map: serde_json::Map<_, _> = (0..many - 1).map(all).collect();
        map.insert(format!("c{}", many - 1), json!({"not": "nope"}));
        Value::Object(map)
    };
    let (_, found) = set(NEW, &wide(300));
    assert_eq!(found.len(), 300);
    assert!(found.iter().all(|one| one.fault == Fault::Warning));
}

#[test]
fn only_one_branch_is_looked_at() {
    all_resolve(&[
        (NEW, json!({"if": ["yes", "a", "b"]}), json!("a")),
        (NEW, json!({"if": ["not_prod", {"get_attr": ["nowhere"]}, "b"]}), json!("b")),
        (NEW, json!({"if": ["no", {"list_join": "wrong"}, {"get_param": "name"}]}), json!("web")),
        (
            NEW,
            json!({"if": [{"equals": [{"get_param": "name"}, "web"]}, {"if": ["no", 1, 2]}, 3]}),
            json!(2),
        ),
        (NEW, json!({"if": [{"and": ["yes", {"not": "no"}]}, 1, 2]}), json!(1)),
        (NEW, json!({"if": [true, 1, 2]}), json!(1)),
        (NEW, json!(["a", {"if": [false, "b"]}, "c"]), json!(["a", "c"])),
        (NEW, json!({"k": {"if": [false, "b"]}, "m": 1}), json!({"m": 1})),
        (Version::Aws, json!({"Fn::If": ["yes", "a", "b"]}), json!("a")),
    ]);
    assert_eq!(resolve(NEW, &json!({"if": [false, "b"]})), Ok(Resolved::Absent));
    assert_eq!(resolve(NEW, &json!({"if": [true, {"if": ["no", "b"]}, 1]})), Ok(Resolved::Absent));
    let form =
        "Arguments to \"if\" must be of the form: [condition_name, value_if_true, value_if_false]";
    let wrong = format!("read: outputs.o.value.if: : {form}");
    all_fail(&[
        (
            NEW,
            json!({"if": ["nope", 1, 2]}),
            "read: outputs.o.value.if: : Invalid condition \"nope\"",
        ),
        (NEW, json!({"if": [[1], 1, 2]}), "read: outputs.o.value.if: : Invalid condition \"[1]\""),
        (NEW, json!({"if": ["yes"]}), &wrong),
        (NEW, json!({"if": "yes"}), &wrong),
        (NEW, json!({"if": []}), &wrong),
        (Version::Rocky, json!({"if": ["yes", 1]}), &wrong),
        (
            NEW,
            json!({"if": [{"get_file": "x"}, 1, 2]}),
            "read: outputs.o.value.if[0].get_file: : The function \"get_file\" is invalid in this context",
        ),
    ]);
}

#[test]
fn without_parameters_both_branches_count() {
    let (set, found) = set(NEW, &json!({"c": {"equals": [{"get_param": "p"}, 1]}, "d": true}));
    assert!(found.is_empty());
    let open = set.undecided();
    let value = json!({
        "a": {"if": ["c", {"get_resource": "x"}, {"get_resource": "y"}]},
        "b": {"if": ["d", {"get_resource": "z"}, {"get_resource": "never"}]},
        "c": {"if": [{"equals": [{"get_param": "q"}, 2]}, 1, 2]},
    });
    let expr = read(NEW, &value, &open).unwrap();
    let references = expr.references();
    let names: Vec<_> = references.resources.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "z"]);
    let names: Vec<_> = references.parameters.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["q"]);
    let wrong = read(NEW, &json!({"if": ["c", {"list_join": 1}, {"filter": 1}]}), &open);
    assert_eq!(wrong.unwrap_err().len(), 2);
    let wrong = read(NEW, &json!({"if": [{"not": "d2"}, 1, 2]}), &open).unwrap_err();
    assert_eq!(wrong.0[0].message, "Invalid condition \"d2\"");

    let late = read(NEW, &json!({"if": ["c", 1, 2]}), &open).unwrap();
    let world = World::with_parameters(json!({"p": 1}));
    let resolved = late.resolve_with(&world, &set.decided(&world));
    assert_eq!(resolved, Ok(Resolved::Value(json!(1))));
    assert!(late.resolve(&world).is_err());
}

#[test]
fn conditions_of_resources_are_decided() {
    let (set, _) = set(NEW, &json!({"prod": {"equals": [{"get_param": "prod"}, "prod"]}}));
    let world = World::new();
    let at = Path::of(["resources", "r", "condition"]);
    let dialect = Dialect::new(NEW);
    let known = set.decided(&world);
    for (condition, expected) in [
        (json!("prod"), Ok(Some(true))),
        (json!(false), Ok(Some(false))),
        (json!(null), Ok(Some(true))),
        (json!({"not": "prod"}), Ok(Some(false))),
        (json!("nope"), Err("resources.r.condition: : Invalid condition \"nope\"")),
        (json!(7), Err("resources.r.condition: : Invalid condition \"7\"")),
        (
            json!({"equals": 1}),
            Err(
                "resources.r.condition.equals: : Arguments to \"equals\" must be of the form: [value_1, value_2]",
            ),
        ),
    ] {
        let found = decide(&Node::from_json(&condition), &at, dialect, &known);
        let found = found.map_err(|found| found.first().unwrap().api_message());
        assert_eq!(
            found.as_ref().map_err(String::as_str),
            expected.as_ref().map_err(|text| *text),
            "{condition}"
        );
    }
    let open = set.undecided();
    let decide_open = |value: Value| decide(&Node::from_json(&value), &at, dialect, &open);
    assert_eq!(decide_open(json!("prod")), Ok(None));
    assert_eq!(decide_open(json!(true)), Ok(Some(true)));
    assert_eq!(decide_open(json!({"not": "prod"})), Ok(None));
    let wrong = decide_open(json!("prd")).unwrap_err();
    assert_eq!(wrong.0[0].hint.as_deref(), Some("did you mean `prod`?"));
    assert!(decide(&Node::from_json(&json!("x")), &at, dialect, &NoConditions).is_err());
}
