use std::borrow::Cow;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const FIELD_LIST: &[Field] = &[
    Field::any("kind"),
    Field::any("object.kind"),
    Field::any("object.name"),
    Field::any("actor.name"),
    Field::any("message"),
    Field::any("sequence"),
    Field::any("payload.**"),
    Field::any("labels.**"),
];
const FIELDS: Fields = Fields(Cow::Borrowed(FIELD_LIST));

fn document() -> Value {
    json!({
        "kind": "task.failed",
        "sequence": 42,
        "object": { "kind": "task", "name": "web-7" },
        "actor": { "name": "ada" },
        "message": "exit code 3",
        "payload": { "exitCode": 3, "isLast": true, "nodes": ["a", "b"], "none": null },
        "labels": { "zone.name": "eu-1" },
    })
}

#[test]
fn what_is_below_an_open_field_can_be_known() {
    let names = ["exitCode".to_owned(), "node".to_owned()];
    let inner = Inner { open: "payload", names: Some(&names) };
    let read = |text: &str| Filter::read_within(text, &FIELDS, inner).map_err(|m| m.to_string());
    for good in ["payload.exitCode == 1", "has(payload.node.name)", "labels.x == 1", "has(payload)"]
    {
        assert!(read(good).is_ok(), "{good}");
    }
    assert_eq!(
        read("kind == 'a' and payload.exitcode == 1").unwrap_err(),
        "line 1, column 17: there is no field `payload.exitcode`\n  kind == 'a' and payload.exitcode == 1\n                  ^\n  hint: did you mean `payload.exitCode`?"
    );
    let unknown = read("payload[\"colour\"] == 1").unwrap_err();
    assert!(unknown.contains("below `payload` there are exitCode, node"), "{unknown}");
}

#[test]
fn conditions_hold_or_not() {
    for (text, expected) in [
        ("kind == \"task.failed\"", true),
        ("kind == 'task.failed'", true),
        ("kind != \"task.failed\"", false),
        ("payload.exitCode > 2 and payload.exitCode <= 3", true),
        ("payload.exitCode >= 4 or sequence < 43", true),
        ("payload.exitCode == \"3\"", false),
        ("payload.exitCode != \"3\"", true),
        ("payload.isLast", true),
        ("payload.exitCode", false),
        ("not payload.isLast", false),
        ("!payload.isLast || true", true),
        ("false", false),
        ("kind in [\"a\", \"task.failed\"]", true),
        ("kind not in [\"a\", \"task.failed\"]", false),
        ("kind in []", false),
        ("object.name =~ \"^web-\\\\d+$\"", true),
        ("object.name !~ \"^db\"", true),
        ("payload.exitCode =~ \"3\"", false),
        ("object.name startsWith \"web\"", true),
        ("object.name endsWith \"-7\"", true),
        ("message contains \"code\"", true),
        ("payload.nodes contains \"b\"", true),
        ("payload.nodes contains \"c\"", false),
        ("payload.nodes[1] == \"b\" and payload.nodes.0 == \"a\"", true),
        ("labels[\"zone.name\"] == \"eu-1\"", true),
        ("has(payload.exitCode) and not has(payload.reason)", true),
        ("has(payload.none) and payload.none == null", true),
        // What is not there matches nothing, and `not` turns that round.
        ("payload.reason == \"x\"", false),
        ("payload.reason != \"x\"", false),
        ("payload.reason < 3", false),
        ("not (payload.reason == \"x\")", true),
        ("payload.reason not in [\"x\"]", true),
        ("payload == payload", false),
        // `and` binds stronger than `or`, and `not` strongest.
        ("true or false and false", true),
        ("(true or false) and false", false),
        ("not false and true", true),
        ("kind==\"task.failed\"and(true)", true),
        ("\n  kind\n== \"task.failed\"\n", true),
        ("payload.exitCode > -1.5", true),
        ("actor.name < \"b\"", true),
    ] {
        let filter = Filter::read(text, &FIELDS).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        assert_eq!(filter.matches(&document()), expected, "{text}");
        assert_eq!(filter.text(), text);
    }
}

#[test]
fn mistakes_say_where_and_what_is_meant() {
    let wrong = |text: &str| Filter::read(text, &FIELDS).unwrap_err().to_string();
    let mistakes = [
        "",
        "knid == \"a\"",
        "object.nam == \"a\"",
        "paylod.exitCode == 1",
        "colour == 1",
        "kind = \"a\"",
        "kind == task",
        "kind == \"a",
        "kind == \"\\d\"",
        "kind == \"a\" adn message == \"b\"",
        "kind == \"a\" message",
        "(kind == \"a\"",
        "kind in \"a\"",
        "kind =~ message",
        "kind =~ \"(\"",
        "kind =~ \"(?=a)\"",
        "kind =~ \"((a{100}){100}){100}\"",
        "kind not \"a\"",
        "sequence < true",
        "kind startsWith 3",
        "\"a\"",
        "kind ==\n  \"a\" and\n  mesage == \"b\"",
        "has(kind",
        "12x == kind",
        "kind == \u{e9}",
    ]
    .map(wrong)
    .join("\n\n");
    insta::assert_snapshot!(mistakes);
}

/// A list of things whose form is known.
fn known() -> Fields {
    let of = |(path, kind): (&'static str, Kind)| Field { path: path.into(), kind };
    let states = ["pending", "running", "failed"].map(str::to_owned).to_vec();
    Fields(Cow::Owned(
        [
            ("name", Kind::Text),
            ("attempts", Kind::Number),
            ("isPaused", Kind::Bool),
            ("timeCreated", Kind::Time),
            ("spec.timeLimit", Kind::Span),
            ("spec.memory", Kind::Number),
            ("spec.tags", Kind::List),
            ("spec.tags.#", Kind::Text),
            ("spec.labels.*", Kind::Text),
            ("spec.mounts", Kind::List),
            ("spec.mounts.#.path", Kind::Text),
            ("status.state", Kind::OneOf(states)),
        ]
        .map(of)
        .to_vec(),
    ))
}

#[test]
fn values_are_compared_as_what_they_are() {
    let document = json!({
        "name": "web", "attempts": 3, "isPaused": true,
        "timeCreated": "2026-11-19T15:26:08.000000Z",
        "spec": {
            "timeLimit": "1m30s", "memory": 2_147_483_648_u64, "tags": ["blue"],
            "labels": { "zone.name": "eu-1" }, "mounts": [{ "path": "/data" }],
        },
        "status": { "state": "running" },
    });
    for (text, expected) in [
        ("attempts >= 3 and isPaused", true),
        ("spec.timeLimit == \"90s\"", true),
        ("spec.timeLimit > \"9s\"", true),
        ("\"2m\" > spec.timeLimit", true),
        ("spec.timeLimit in [\"90s\", \"1h\"]", true),
        ("spec.timeLimit in [\"91s\"]", false),
        ("spec.timeLimit == spec.timeLimit", true),
        ("spec.timeLimit startsWith \"1m\"", true),
        ("spec.memory >= 2GiB and spec.memory < 2049MiB", true),
        ("timeCreated == \"2026-11-19T15:26:08Z\"", true),
        ("timeCreated >= \"2026-11-19T16:26:08+01:00\"", true),
        ("timeCreated > \"2026-11-19\" and timeCreated < \"2026-11-20\"", true),
        ("timeCreated startsWith \"2026-11\"", true),
        ("spec.tags contains \"blue\" and spec.tags[0] == \"blue\"", true),
        ("spec.labels[\"zone.name\"] =~ \"^eu\"", true),
        ("spec.mounts[0].path == \"/data\" and spec.mounts.0.path == \"/data\"", true),
        ("has(spec) and has(spec.mounts[0]) and not has(spec.mounts[1])", true),
        ("status.state in [\"running\", \"failed\"]", true),
        ("status.state != null", true),
        ("status.state contains \"run\"", true),
    ] {
        let filter = Filter::read(text, &known()).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        assert_eq!(filter.matches(&document), expected, "{text}");
    }
}

#[test]
fn what_can_never_hold_of_a_known_field_is_a_mistake() {
    let wrong = |text: &str| Filter::read(text, &known()).unwrap_err().to_string();
    let mistakes = [
        "state == \"failed\"",
        "spec.label.zone == \"a\"",
        "spce.timeLimit == \"a\"",
        "spec.mounts.path == \"a\"",
        "status == \"failed\"",
        "colour == 1",
        "attempts == \"3\"",
        "attempts =~ \"3\"",
        "attempts",
        "name",
        "isPaused == \"yes\"",
        "name == 3",
        "status.state == \"runing\"",
        "status.state in [\"failed\", \"gone\"]",
        "spec.timeLimit > \"soon\"",
        "spec.timeLimit > 30",
        "timeCreated > \"yesterday\"",
        "spec.tags == \"blue\"",
        "spec.tags in [\"blue\"]",
        "spec.memory > 2XB",
    ]
    .map(wrong)
    .join("\n\n");
    insta::assert_snapshot!(mistakes);
}

#[test]
fn what_is_too_large_is_refused() {
    let deep = format!("{}true{}", "(".repeat(40), ")".repeat(40));
    let nots = format!("{} true", "not ".repeat(40));
    let wide = ["true"; 300].join(" and ");
    let list = format!("kind in [{}]", ["1"; 300].join(","));
    let long = format!("kind == \"{}\"", "x".repeat(TEXT_MAX));
    let regexes = ["kind =~ \"a\""; 9].join(" or ");
    for text in [deep, nots, wide, list, long, regexes] {
        let wrong = Filter::read(&text, &FIELDS).unwrap_err();
        assert!(wrong.detail.contains("at most"), "{wrong}");
    }
    let allowed = format!("{}true{}", "(".repeat(30), ")".repeat(30));
    assert!(Filter::read(&allowed, &FIELDS).is_ok());
}

#[test]
fn every_path_is_taken_where_no_field_is_known() {
    let filter = Filter::read("a.b.c == 1", &Fields::ANY).unwrap();
    assert!(filter.matches(&json!({ "a": { "b": { "c": 1 } } })));
    assert!(!filter.matches(&json!({ "a": [] })));
}

proptest! {
    #[test]
    fn nothing_breaks_it(text in "[ -~\n\u{e9}]{0,80}") {
        if let Ok(filter) = Filter::read(&text, &Fields::ANY) {
            let _holds = filter.matches(&document());
        }
    }

    /// Words that belong to the language, in any order.
    #[test]
    fn no_order_of_words_breaks_it(words in prop::collection::vec(
        prop::sample::select(vec![
            "and", "or", "not", "in", "has", "(", ")", "[", "]", ",", ".", "==", "=~", "!~", "<",
            "kind", "payload", "\"a\"", "3", "true", "null", "contains", "startsWith", "!",
        ]), 0..30,
    )) {
        let text = words.join(" ");
        match Filter::read(&text, &FIELDS) {
            Ok(filter) => { let _holds = filter.matches(&document()); }
            Err(wrong) => {
                prop_assert!(wrong.line == 1 && wrong.column <= text.chars().count() + 1);
            }
        }
    }

    #[test]
    fn not_turns_round_and_and_or_are_what_they_are(a in 0i32..5, b in 0i32..5, x in 0i32..5) {
        let holds = |text: &str| {
            Filter::read(text, &Fields::ANY).unwrap().matches(&json!({ "x": x }))
        };
        let (left, right) = (format!("x < {a}"), format!("x == {b}"));
        prop_assert_eq!(holds(&left), x < a);
        prop_assert_eq!(holds(&format!("not ({left})")), x >= a);
        prop_assert_eq!(holds(&format!("{left} and {right}")), x < a && x == b);
        prop_assert_eq!(holds(&format!("{left} or {right}")), x < a || x == b);
    }
}
