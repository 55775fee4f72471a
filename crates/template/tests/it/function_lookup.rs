//! Functions that ask for what is not in the value: parameters, resources, files.

use hostler_template::function::{Dialect, NoConditions, parse};
use hostler_template::place::Path;
use hostler_template::template::Version;
use hostler_template::value::Node;
use serde_json::json;

use crate::function::{World, all_fail, all_resolve, read};

const OLD: Version = Version::Icehouse;
const NEW: Version = Version::NEWEST;

#[test]
fn parameters_and_what_lies_in_them() {
    all_resolve(&[
        (OLD, json!({"get_param": "name"}), json!("web")),
        (NEW, json!({"get_param": ["name"]}), json!("web")),
        (NEW, json!({"get_param": "number"}), json!(1.5)),
        (NEW, json!({"get_param": "none"}), json!(null)),
        (NEW, json!({"get_param": ["list", "1"]}), json!(" b")),
        (NEW, json!({"get_param": ["list", 1]}), json!(" b")),
        (NEW, json!({"get_param": ["list", -1]}), json!("c")),
        (NEW, json!({"get_param": ["list", " 1 "]}), json!(" b")),
        (NEW, json!({"get_param": ["list", 7]}), json!("")),
        (NEW, json!({"get_param": ["list", "x"]}), json!("")),
        (NEW, json!({"get_param": ["list", 1.0]}), json!("")),
        (NEW, json!({"get_param": ["json", "a", "b", 1]}), json!(2)),
        (NEW, json!({"get_param": ["json", "a", "b", "2", "c"]}), json!("deep")),
        (NEW, json!({"get_param": ["json", "nope"]}), json!("")),
        (NEW, json!({"get_param": ["json", 1]}), json!("")),
        (NEW, json!({"get_param": ["json", "1"]}), json!("one")),
        (NEW, json!({"get_param": ["json", null]}), json!("")),
        (NEW, json!({"get_param": ["name", "0"]}), json!("w")),
        (NEW, json!({"get_param": ["none", "x"]}), json!("")),
        (NEW, json!({"get_param": {"list_join": ["", ["na", "me"]]}}), json!("web")),
    ]);
    all_fail(&[
        (NEW, json!({"get_param": "nope"}), "The Parameter (nope) was not provided."),
        (NEW, json!({"get_param": "OS::region"}), "The Parameter (OS::region) was not provided."),
        (NEW, json!({"get_param": []}), "Function \"get_param\" must have arguments"),
        (NEW, json!({"get_param": ""}), "Function \"get_param\" must have arguments"),
        (
            NEW,
            json!({"get_param": {"a": 1, "b": 2}}),
            "Argument to \"get_param\" must be string or list",
        ),
        (NEW, json!({"get_param": [1]}), "Parameter name in \"get_param\" must be string"),
    ]);
}

#[test]
fn resources_and_their_attributes() {
    all_resolve(&[
        (OLD, json!({"get_resource": "r"}), json!("r-id")),
        (OLD, json!({"Ref": "r"}), json!("r-id")),
        (OLD, json!({"Ref": "name"}), json!("web")),
        (OLD, json!({"get_attr": ["r", "value"]}), json!("v")),
        (OLD, json!({"get_attr": ["r", "map", "k", 1]}), json!("y")),
        (NEW, json!({"get_attr": ["r", "map", "k", 1]}), json!("y")),
        (NEW, json!({"get_attr": ["r", "map", "k", "1"]}), json!(null)),
        (NEW, json!({"get_attr": ["r", "map", 1]}), json!(null)),
        (NEW, json!({"get_attr": ["r", "list", 0, "a"]}), json!(1)),
        (NEW, json!({"get_attr": ["r", "list", -1]}), json!("two")),
        (NEW, json!({"get_attr": ["r", "none", "x"]}), json!(null)),
        (
            NEW,
            json!({"get_attr": ["r"]}),
            json!({"value": "v", "map": {"k": ["x", "y"], "1": "one"}, "list": [{"a": 1}, "two"], "none": null}),
        ),
        (Version::Aws, json!({"Fn::GetAtt": ["r", "value"]}), json!("v")),
        (Version::Aws, json!({"Ref": "r"}), json!("r-id")),
    ]);
    all_fail(&[
        (
            NEW,
            json!({"get_resource": "x"}),
            "The specified reference \"x\" (in here) is incorrect.",
        ),
        (
            NEW,
            json!({"get_attr": ["r", "bogus"]}),
            "The Referenced Attribute (r bogus) is incorrect.",
        ),
        (OLD, json!({"Ref": "x"}), "The specified reference \"x\" (in unknown) is incorrect."),
        (
            NEW,
            json!({"get_attr": []}),
            "read: outputs.o.value.get_attr: : Arguments to \"get_attr\" can be of the next forms: [resource_name] or [resource_name, attribute, (path), ...]",
        ),
        (
            NEW,
            json!({"get_attr": "r"}),
            "read: outputs.o.value.get_attr: : Argument to \"get_attr\" must be a list",
        ),
        (
            OLD,
            json!({"get_attr": ["r"]}),
            "read: outputs.o.value.get_attr: : Arguments to \"get_attr\" must be of the form [resource_name, attribute, (path), ...]",
        ),
        (
            Version::Aws,
            json!({"Fn::GetAtt": ["r"]}),
            "read: outputs.o.value.Fn::GetAtt: : Arguments to \"Fn::GetAtt\" must be of the form [resource_name, attribute]",
        ),
    ]);
}

#[test]
fn files_facades_zones_and_mappings() {
    all_resolve(&[
        (NEW, json!({"get_file": "file:///a.sh"}), json!("#!/bin/sh\n")),
        (
            NEW,
            json!({"get_file": {"str_replace": {"template": "X", "params": {"X": "k"}}}}),
            json!("content"),
        ),
        (NEW, json!({"resource_facade": "metadata"}), json!({"m": 1})),
        (NEW, json!({"resource_facade": "deletion_policy"}), json!("Retain")),
        (OLD, json!({"Fn::ResourceFacade": "UpdatePolicy"}), json!({})),
        (OLD, json!({"Fn::GetAZs": ""}), json!(["nova"])),
        (Version::Aws, json!({"Fn::FindInMap": ["Sizes", "small", "cpu"]}), json!("1")),
    ]);
    all_fail(&[
        (
            NEW,
            json!({"get_file": "nope"}),
            "No content found in the \"files\" section for get_file path: nope",
        ),
        (NEW, json!({"get_file": ["k"]}), "Argument to \"get_file\" must be a string"),
        (
            NEW,
            json!({"resource_facade": "bogus"}),
            "read: outputs.o.value.resource_facade: : Incorrect arguments to \"resource_facade\" should be one of: metadata, deletion_policy, update_policy",
        ),
        (
            OLD,
            json!({"Fn::ResourceFacade": "metadata"}),
            "read: outputs.o.value.Fn::ResourceFacade: : Incorrect arguments to \"Fn::ResourceFacade\" should be one of: Metadata, DeletionPolicy, UpdatePolicy",
        ),
        (
            Version::Aws,
            json!({"Fn::FindInMap": ["Sizes", "huge", "cpu"]}),
            "There is no \"huge\" in the mapping \"Sizes\"",
        ),
        (
            Version::Aws,
            json!({"Fn::FindInMap": ["Sizes"]}),
            "read: outputs.o.value.Fn::FindInMap: : Arguments to \"Fn::FindInMap\" must be of the form [mapping, key, value]",
        ),
    ]);
}

#[test]
fn what_is_referred_to_is_known_without_resolving() {
    let value = json!({
        "a": {"get_resource": "r1"},
        "b": [{"list_join": ["", [{"get_attr": ["r2", "x", 0]}, {"get_param": ["p1", "y"]}]]}],
        "c": {"get_attr": [{"get_param": "name"}, "value"]},
        "d": {"get_file": "f"},
        "e": {"get_attr": ["r3", {"get_param": "nope"}]},
        "f": {"get_param": "p2"},
        "g": {"get_attr": ["r4"]},
    });
    let expr = read(NEW, &value, &NoConditions).unwrap();
    let found = expr.references();
    let names = |list: &[hostler_template::function::Reference]| {
        list.iter().map(|one| format!("{} at {}", one.name, one.at)).collect::<Vec<_>>()
    };
    assert_eq!(names(&found.resources), ["r1 at outputs.o.value.a"]);
    assert_eq!(
        names(&found.attributes),
        [
            "r2 at outputs.o.value.b[0].list_join[1][0]",
            "r3 at outputs.o.value.e",
            "r4 at outputs.o.value.g"
        ]
    );
    let paths: Vec<_> = found.attributes.iter().map(|one| one.path.clone()).collect();
    assert_eq!(paths, [Some(vec![json!("x"), json!(0)]), None, Some(vec![])]);
    assert_eq!(
        names(&found.parameters),
        [
            "p1 at outputs.o.value.b[0].list_join[1][1]",
            "name at outputs.o.value.c.get_attr[0]",
            "nope at outputs.o.value.e.get_attr[1]",
            "p2 at outputs.o.value.f"
        ]
    );
    assert_eq!(names(&found.files), ["f at outputs.o.value.d"]);
    assert!(found.is_open);

    let known = expr.references_in(&World::new());
    assert_eq!(known.attributes[1].name, "web");
    assert!(known.is_open, "the parameter that gives the attribute is not there");

    let cfn = json!([{"Ref": "x"}, {"Fn::GetAtt": ["y", "z"]}]);
    let path = Path::of(["Resources"]);
    let dialect = Dialect::new(Version::Aws);
    let cfn = parse(&Node::from_json(&cfn), &path, dialect, &NoConditions).unwrap().references();
    assert_eq!(names(&cfn.either), ["x at Resources[0]"]);
    assert_eq!(names(&cfn.attributes), ["y at Resources[1]"]);
    assert!(!cfn.is_open);
}

#[test]
fn functions_come_and_go_with_versions() {
    let every = |name: &str| -> Vec<Version> {
        let has = |version: &Version| Dialect::new(*version).names().any(|own| own == name);
        Version::ALL.into_iter().filter(has).collect()
    };
    for (name, first) in [
        ("get_param", Version::Icehouse),
        ("repeat", Version::Kilo),
        ("digest", Version::Kilo),
        ("str_split", Version::Liberty),
        ("map_merge", Version::Mitaka),
        ("yaql", Version::Newton),
        ("map_replace", Version::Newton),
        ("if", Version::Newton),
        ("filter", Version::Ocata),
        ("str_replace_strict", Version::Ocata),
        ("str_replace_vstrict", Version::Pike),
        ("make_url", Version::Pike),
        ("list_concat", Version::Pike),
        ("list_concat_unique", Version::Pike),
        ("contains", Version::Pike),
    ] {
        let expected: Vec<Version> = Version::ALL.into_iter().filter(|v| *v >= first).collect();
        assert_eq!(every(name), expected, "{name}");
    }
    assert_eq!(
        every("Fn::Select"),
        [Version::Aws, Version::HeatCfn, Version::Icehouse, Version::Juno, Version::Kilo]
    );
    assert_eq!(every("Ref"), [Version::Aws, Version::HeatCfn, Version::Icehouse]);
    assert_eq!(every("Fn::If"), [Version::Aws]);
}

#[test]
fn what_is_no_function_is_data() {
    all_resolve(&[
        (Version::Juno, json!({"repeat": {"x": 1}}), json!({"repeat": {"x": 1}})),
        (NEW, json!({"equals": [1, 1]}), json!({"equals": [1, 1]})),
        (NEW, json!({"Fn::GetAtt": ["a", "b"]}), json!({"Fn::GetAtt": ["a", "b"]})),
        (Version::Aws, json!({"get_param": "name"}), json!({"get_param": "name"})),
        (NEW, json!({"get_param": "name", "more": 1}), json!({"get_param": "name", "more": 1})),
        (NEW, json!({"nope": {"get_param": "name"}}), json!({"nope": "web"})),
        (NEW, json!({}), json!({})),
    ]);
    let removed = "The template version is invalid: The function Fn::Join is not supported in this version of HOT.";
    let path = Path::of(["resources", "r", "properties", "value"]);
    let node = Node::from_json(&json!({"Fn::Join": ["", ["a"]]}));
    let found = parse(&node, &path, Dialect::new(NEW), &NoConditions).unwrap_err();
    let first = found.first().unwrap();
    assert_eq!(first.api_message(), format!("resources.r.properties.value.Fn::Join: : {removed}"));
    assert_eq!(first.hint.as_deref(), Some("write `list_join`"));
    assert_eq!(first.fault.heat_type(), "StackValidationFailed");
}

#[test]
fn everything_wrong_is_said_at_once() {
    let value = json!({
        "a": {"list_join": "x"},
        "b": [{"Ref": "x"}, {"filter": [1]}],
        "c": {"if": ["yes"]},
        "d": {"str_replace": {"template": {"digest": ["md5", "x"]}}},
    });
    let found = read(NEW, &value, &NoConditions).unwrap_err();
    let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "outputs.o.value.a.list_join",
            "outputs.o.value.b[0].Ref",
            "outputs.o.value.b[1].filter",
            "outputs.o.value.c.if",
            "outputs.o.value.d.str_replace"
        ]
    );
}
