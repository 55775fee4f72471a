//! Functions over lists and maps, and URLs.

use hostler_template::template::Version;
use serde_json::{Value, json};

use crate::function::{all_fail, all_resolve};

const OLD: Version = Version::Icehouse;
const NEW: Version = Version::NEWEST;

fn repeat(template: Value, for_each: Value) -> Value {
    json!({"repeat": {"template": template, "for_each": for_each}})
}

#[test]
fn templates_are_repeated() {
    let together = |for_each: Value| json!({"repeat": {"template": "%k%%v%", "for_each": for_each, "permutations": false}});
    all_resolve(&[
        (
            NEW,
            repeat(json!({"%k%": "%v%-%k%"}), json!({"%k%": ["a", "b"], "%v%": ["1", "2"]})),
            json!([{"a": "1-a"}, {"a": "2-a"}, {"b": "1-b"}, {"b": "2-b"}]),
        ),
        (NEW, together(json!({"%k%": ["a", "b"], "%v%": ["1", "2"]})), json!(["a1", "b2"])),
        (NEW, together(json!({"%k%": null, "%v%": ["1"]})), json!([])),
        (NEW, repeat(json!("x%k%"), json!({"%k%": null})), json!([])),
        (NEW, repeat(json!("x%k%"), json!({"%k%": []})), json!([])),
        (NEW, repeat(json!("x%k%"), json!({"%k%": {"a": 1, "b": 2}})), json!(["xa", "xb"])),
        (NEW, repeat(json!([1, null, ["%k%"]]), json!({"%k%": ["a"]})), json!([[1, null, ["a"]]])),
        (NEW, repeat(json!(7), json!({"%k%": [1, 2]})), json!([7, 7])),
        // A value that holds another key is looked through again.
        (NEW, repeat(json!("a"), json!({"a": ["b"], "b": ["c"]})), json!(["c"])),
        (
            NEW,
            repeat(json!({"get_param": "name"}), json!({"w": {"get_param": "list"}})),
            json!(["aeb", " beb", "ceb"]),
        ),
        (NEW, repeat(json!("%k%"), json!({"%k%": ["a", {"if": ["no", "b"]}]})), json!(["a"])),
        (Version::Kilo, repeat(json!("%k%"), json!({"%k%": ["a"]})), json!(["a"])),
        (
            Version::Kilo,
            json!({"repeat": {"template": "%k%", "for_each": {"%k%": ["a"]}, "permutations": "x"}}),
            json!(["a"]),
        ),
    ]);
    let path = "read: outputs.o.value.repeat: :";
    all_fail(&[
        (NEW, json!({"repeat": [1]}), &format!("{path} Arguments to \"repeat\" must be a map")),
        (
            NEW,
            json!({"repeat": {"template": "x"}}),
            &format!(
                "{path} \"repeat\" syntax should be repeat:\n  template: This is %var%\n  for_each:\n    %var%: ['a', 'b', 'c']"
            ),
        ),
        (
            NEW,
            repeat(json!("x"), json!(["a"])),
            &format!("{path} The \"for_each\" argument to \"repeat\" must contain a map"),
        ),
        (
            NEW,
            repeat(json!("x"), json!({})),
            "The \"for_each\" argument to \"repeat\" must contain a map",
        ),
        (
            NEW,
            repeat(json!("x"), json!({"get_param": "list"})),
            "The \"for_each\" argument to \"repeat\" must contain a map",
        ),
        (
            NEW,
            repeat(json!("x"), json!({"x": "abc"})),
            "The values of the \"for_each\" argument to \"repeat\" must be lists or maps",
        ),
        (
            Version::Kilo,
            repeat(json!("x"), json!({"x": {"a": 1}})),
            "The values of the \"for_each\" argument to \"repeat\" must be lists",
        ),
        (
            NEW,
            together(json!({"%k%": {"a": 1}})),
            "The values of the \"for_each\" argument to \"repeat\" must be lists",
        ),
        (
            NEW,
            together(json!({"%k%": ["a"], "%v%": ["1", "2"]})),
            "For repeat, the length of for_each values should be equal if no nested loop.",
        ),
        (
            NEW,
            repeat(json!("x"), json!({"x": [1]})),
            "\"repeat\" can only put strings into its template, not 1",
        ),
        (
            NEW,
            json!({"repeat": {"template": "x", "for_each": {"x": []}, "permutations": "no"}}),
            &format!("{path} \"permutations\" should be boolean type for repeat function."),
        ),
    ]);
}

#[test]
fn lists_are_joined_and_sieved() {
    all_resolve(&[
        (NEW, json!({"list_concat": [["a", 1], null, [], [["b"]]]}), json!(["a", 1, ["b"]])),
        (
            NEW,
            json!({"list_concat_unique": [["a", "b"], null, ["b", "c"]]}),
            json!(["a", "b", "c"]),
        ),
        (
            NEW,
            json!({"list_concat_unique": [[1, true, 1.0, "1", {"a": 1}], [{"a": true}]]}),
            json!([1, "1", {"a": 1}]),
        ),
        (NEW, json!({"filter": [["b"], ["a", "b", "c", "b"]]}), json!(["a", "c"])),
        (NEW, json!({"filter": [[1], [true, 2, "1"]]}), json!([2, "1"])),
        (NEW, json!({"filter": [null, ["a"]]}), json!(["a"])),
        (NEW, json!({"filter": ["", ["a"]]}), json!(["a"])),
        (NEW, json!({"filter": [["a"], null]}), json!(null)),
        (NEW, json!({"filter": ["x", ""]}), json!("")),
        (NEW, json!({"contains": ["b", ["a", "b"]]}), json!(true)),
        (NEW, json!({"contains": ["b", "abc"]}), json!(true)),
        (NEW, json!({"contains": ["x", "abc"]}), json!(false)),
        (NEW, json!({"contains": [1, [true]]}), json!(true)),
        (OLD, json!({"Fn::Select": ["1", ["a", "b"]]}), json!("b")),
        (OLD, json!({"Fn::Select": [-1, ["a", "b"]]}), json!("b")),
        (OLD, json!({"Fn::Select": [5, ["a", "b"]]}), json!("")),
        (OLD, json!({"Fn::Select": ["k", {"k": 1, "l": 2}]}), json!(1)),
        (OLD, json!({"Fn::Select": ["x", {"k": 1, "l": 2}]}), json!("")),
        (OLD, json!({"Fn::Select": ["0", "[\"j\"]"]}), json!("j")),
        (OLD, json!({"Fn::Select": ["0", ""]}), json!("")),
        (OLD, json!({"Fn::Select": ["0", null]}), json!("")),
    ]);
    let concat = "Incorrect arguments to \"list_concat\" should be: \"list_concat\" : [ [ <value 1>, <value 2> ], [ <value 3>, <value 4> ] ]";
    all_fail(&[
        (NEW, json!({"list_concat": "ab"}), concat),
        (
            NEW,
            json!({"list_concat": [["a"], "b"]}),
            "Incorrect arguments: Items to concat must be lists. [[\"a\"], \"b\"] contains an item that is not a list: \"b\"",
        ),
        (
            NEW,
            json!({"filter": "a"}),
            "read: outputs.o.value.filter: : Argument to \"filter\" must be a list",
        ),
        (
            NEW,
            json!({"filter": [["a"]]}),
            "read: outputs.o.value.filter: : \"filter\" expected 2 arguments of the form [values, sequence] but got 1 arguments instead",
        ),
        (NEW, json!({"filter": [["a"], "abc"]}), "\"filter\" only works with lists"),
        (NEW, json!({"filter": ["a", ["a"]]}), "\"filter\" filters a list of values"),
        (
            NEW,
            json!({"contains": []}),
            "read: outputs.o.value.contains: : Incorrect arguments to \"contains\" should be: \"contains\" : [ \"value1\", [ \"value1\", \"value2\"]]",
        ),
        (
            NEW,
            json!({"contains": ["a"]}),
            "read: outputs.o.value.contains: : Arguments to \"contains\" must be of the form: [value1, [value1, value2]]",
        ),
        (
            NEW,
            json!({"contains": ["a", {"a": 1}]}),
            "Second argument to \"contains\" should be a sequence.",
        ),
        (
            NEW,
            json!({"contains": [1, "1"]}),
            "\"contains\" can look for strings in a string, not for int",
        ),
        (
            OLD,
            json!({"Fn::Select": ["0"]}),
            "read: outputs.o.value.Fn::Select: : Arguments to \"Fn::Select\" must be of the form [index, collection]",
        ),
        (OLD, json!({"Fn::Select": ["x", ["a"]]}), "Index to \"Fn::Select\" must be an integer"),
        (
            OLD,
            json!({"Fn::Select": [0, {"a": 1, "b": 2}]}),
            "Index to \"Fn::Select\" must be a string",
        ),
        (OLD, json!({"Fn::Select": [0, 5]}), "Arguments to Fn::Select not fully resolved"),
    ]);
}

#[test]
fn maps_are_merged_and_renamed() {
    let replace = |map: Value, with: Value| json!({"map_replace": [map, with]});
    all_resolve(&[
        (
            NEW,
            json!({"map_merge": [{"a": {"x": 1}}, null, {"a": {"y": 2}}]}),
            json!({"a": {"y": 2}}),
        ),
        (NEW, json!({"map_merge": []}), json!({})),
        (NEW, json!({"map_merge": [{"k": {"if": ["no", "b"]}, "m": 1}]}), json!({"m": 1})),
        (
            NEW,
            replace(
                json!({"k1": "v1", "k2": "v2"}),
                json!({"keys": {"k1": "K1"}, "values": {"v2": "V2"}}),
            ),
            json!({"K1": "v1", "k2": "V2"}),
        ),
        (
            NEW,
            replace(json!({"a": 2, "b": [1], "c": "2"}), json!({"values": {"2": "two"}})),
            json!({"a": 2, "b": [1], "c": "two"}),
        ),
        (NEW, replace(json!({"a": 1}), json!(null)), json!({"a": 1})),
        (NEW, replace(json!(null), json!({"keys": {"a": "b"}})), json!({})),
        (
            NEW,
            replace(json!({"a": 1}), json!({"keys": {"a": "a"}, "values": null})),
            json!({"a": 1}),
        ),
        (
            NEW,
            replace(json!({"a": "x"}), json!({"values": {"x": {"y": 1}}})),
            json!({"a": {"y": 1}}),
        ),
        (
            OLD,
            json!({"Fn::MemberListToMap": ["Name", "Value", [".member.1.Name=b", ".member.1.Value=2=3", ".member.0.Name=a", ".member.0.Value=1", ".member.2.Name=c", "other=1"]]}),
            json!({"a": "1", "b": "2=3"}),
        ),
    ]);
    let example = "\"map_replace\" : [ { \"key1\": \"val1\" }, {\"keys\": {\"key1\": \"key2\"}, \"values\": {\"val1\": \"val2\"}}]";
    let wrong = format!("Incorrect arguments to \"map_replace\" should be: {example}");
    let no_maps = format!(
        "Incorrect arguments: to \"map_replace\", arguments must be a list of maps. Example:  {example}"
    );
    all_fail(&[
        (
            NEW,
            json!({"map_merge": {"a": 1}}),
            "Incorrect arguments to \"map_merge\" should be: \"map_merge\" : [ { \"key1\": \"val1\" }, { \"key2\": \"val2\" } ]",
        ),
        (
            NEW,
            json!({"map_merge": [{}, "x"]}),
            "Incorrect arguments: Items to merge must be maps. 'x' is type <class 'str'> instead of a dict",
        ),
        (NEW, json!({"map_replace": [{}]}), &wrong),
        (NEW, json!({"map_replace": [{}, {}, {}]}), &wrong),
        (NEW, replace(json!({}), json!({"bogus": {}})), &wrong),
        (NEW, replace(json!("x"), json!({})), &no_maps),
        (NEW, replace(json!({}), json!({"keys": ["a"]})), &no_maps),
        (
            NEW,
            replace(json!({"a": 1, "b": 2}), json!({"keys": {"a": "b"}})),
            "key replacement b collides with a key in the input map",
        ),
        (
            NEW,
            replace(json!({"a": 1, "b": 2}), json!({"keys": {"a": "c", "b": "c"}})),
            "key replacement c collides with a key in the output map",
        ),
        (
            OLD,
            json!({"Fn::MemberListToMap": ["a", "b"]}),
            "read: outputs.o.value.Fn::MemberListToMap: : Wrong Arguments try: \"{'Fn::MemberListToMap': ['Name', 'Value', ['.member.0.Name=key', '.member.0.Value=door']]}\"",
        ),
        (
            OLD,
            json!({"Fn::MemberListToMap": [1, "b", []]}),
            "read: outputs.o.value.Fn::MemberListToMap: : Fn::MemberListToMap Key Name must be a string",
        ),
        (OLD, json!({"Fn::MemberListToMap": ["a", "b", [1]]}), "Member list items must be strings"),
    ]);
}

#[test]
fn urls_are_made_of_their_parts() {
    let url = |parts: Value| json!({"make_url": parts});
    all_resolve(&[
        (
            NEW,
            url(
                json!({"scheme": "http", "username": "u:@", "password": "p/", "host": "fe80::1", "port": 80, "path": "/a b", "query": {"k": "v/1 2"}, "fragment": "f"}),
            ),
            json!("http://u%3A%40:p%2F@[fe80::1]:80/a%20b?k=v/1+2#f"),
        ),
        (NEW, url(json!({"scheme": "https", "host": "[::1]"})), json!("https://[::1]")),
        (NEW, url(json!({"host": "example.com", "path": "a/b"})), json!("//example.com/a/b")),
        (NEW, url(json!({"path": "/a"})), json!("/a")),
        (NEW, url(json!({"scheme": "file", "path": "/a"})), json!("file:///a")),
        (NEW, url(json!({"scheme": "file", "path": "a/b"})), json!("file:///a/b")),
        (NEW, url(json!({"scheme": "x", "path": "/a"})), json!("x:/a")),
        (NEW, url(json!({"password": "p", "host": "h"})), json!("//:p@h")),
        (
            NEW,
            url(json!({"host": "h", "port": "8080", "query": {"a": 1, "b": [1, "x"], "é": true}})),
            json!("//h:8080?a=1&b=%5B1%2C+%27x%27%5D&%C3%A9=True"),
        ),
        (
            NEW,
            url(json!({"host": {"get_param": "name"}, "port": {"str_split": [",", "80,81", 1]}})),
            json!("//web:81"),
        ),
        (NEW, url(json!({})), json!("")),
    ]);
    let path = "read: outputs.o.value.make_url: :";
    all_fail(&[
        (NEW, url(json!(["a"])), &format!("{path} The arguments to \"make_url\" must be a map")),
        (
            NEW,
            url(json!({"hots": "h", "bad": 1})),
            &format!("{path} Invalid arguments to \"make_url\": bad, hots"),
        ),
        (
            NEW,
            url(json!({"host": 1})),
            &format!("{path} The \"host\" argument to \"make_url\" must be a string"),
        ),
        (
            NEW,
            url(json!({"host": [{"get_param": "name"}]})),
            &format!("{path} The \"host\" argument to \"make_url\" must be a string"),
        ),
        (
            NEW,
            url(json!({"query": "a=b"})),
            &format!("{path} The \"query\" argument to \"make_url\" must be a map"),
        ),
        (
            NEW,
            url(json!({"port": 0})),
            &format!("{path} Invalid URL port 0, must be in range 1-65535"),
        ),
        (
            NEW,
            url(json!({"port": 65536})),
            &format!("{path} Invalid URL port 65536, must be in range 1-65535"),
        ),
        (
            NEW,
            url(json!({"port": "x"})),
            &format!("{path} Invalid URL port \"x\" for make_url called with {{'port': 'x'}}"),
        ),
        (
            NEW,
            url(json!({"port": {"get_param": "name"}})),
            "Invalid URL port \"web\" for make_url called with {'port': 'web'}",
        ),
        (NEW, url(json!({"scheme": "a:b"})), "URL \"scheme\" should not contain ':'"),
    ]);
}
