//! Functions that make texts.

use hostler_template::template::Version;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::function::{all_fail, all_resolve, resolve};

const OLD: Version = Version::Icehouse;
const NEW: Version = Version::NEWEST;

#[test]
fn texts_are_joined() {
    all_resolve(&[
        (OLD, json!({"list_join": [", ", ["a", "b", null]]}), json!("a, b, ")),
        (OLD, json!({"Fn::Join": ["-", ["a", "b"]]}), json!("a-b")),
        (OLD, json!({"list_join": ["-", null]}), json!("")),
        (
            NEW,
            json!({"list_join": ["-", ["a", {"k": 1}], [[1], null]]}),
            json!("a-{\"k\": 1}-[1]-"),
        ),
        (NEW, json!({"list_join": ["", ["a"], null, [], "", ["b"]]}), json!("ab")),
        (
            NEW,
            json!({"list_join": ["", [{"b": 2, "a": [true, null, "é"]}]]}),
            json!("{\"a\": [true, null, \"\\u00e9\"], \"b\": 2}"),
        ),
        (
            NEW,
            json!({"list_join": [{"get_param": "name"}, {"get_param": "list"}]}),
            json!("aweb bwebc"),
        ),
        (
            NEW,
            json!({"list_join": ["-", ["a", {"if": ["no", "b"]}, "c"], {"if": ["no", ["d"]]}]}),
            json!("a-c"),
        ),
        (NEW, json!({"list_join": ["-", []]}), json!("")),
    ]);
    let many = "read: outputs.o.value.list_join: : Incorrect arguments to \"list_join\" should be: \"list_join\" : [ \" \", [ \"str1\", \"str2\"] ...]";
    let one = "read: outputs.o.value.list_join: : Incorrect arguments to \"list_join\" should be: \"list_join\" : [ \" \", [ \"str1\", \"str2\"]]";
    all_fail(&[
        (NEW, json!({"list_join": ["-", [1]]}), "Items to join must be string, map or list not 1"),
        (
            NEW,
            json!({"list_join": ["-", [true]]}),
            "Items to join must be string, map or list not True",
        ),
        (
            OLD,
            json!({"list_join": ["-", [{"a": 1}]]}),
            "Items to join must be strings not {'a': 1}",
        ),
        (NEW, json!({"list_join": ["-", "abc"]}), "\"list_join\" must operate on a list"),
        (NEW, json!({"list_join": ["-", {"a": 1}]}), "\"list_join\" must operate on a list"),
        (OLD, json!({"list_join": ["-", ""]}), "\"list_join\" must operate on a list"),
        (NEW, json!({"list_join": [1, ["a"]]}), "\"list_join\" delimiter must be a string"),
        (NEW, json!({"list_join": ["-"]}), many),
        (NEW, json!({"list_join": "x"}), many),
        (NEW, json!({"list_join": {"get_param": "list"}}), many),
        (OLD, json!({"list_join": ["-", ["a"], ["b"]]}), one),
    ]);
}

#[test]
fn texts_are_split() {
    all_resolve(&[
        (NEW, json!({"str_split": [",", "a,b,,c"]}), json!(["a", "b", "", "c"])),
        (NEW, json!({"str_split": [",", "a,b,c", -1]}), json!("c")),
        (NEW, json!({"str_split": [",", "a,b,c", "1"]}), json!("b")),
        (NEW, json!({"str_split": [",", "a,b,c", 1.9]}), json!("b")),
        (NEW, json!({"str_split": [",", null]}), json!(null)),
        (NEW, json!({"str_split": [",", ""]}), json!([""])),
        (NEW, json!({"str_split": [null, " a  b "]}), json!(["a", "b"])),
        (NEW, json!({"str_split": ["::", {"get_param": "name"}]}), json!(["web"])),
        (OLD, json!({"Fn::Split": [",", "a,b"]}), json!(["a", "b"])),
    ]);
    let example = "Incorrect arguments to \"str_split\" should be: \"str_split\" : [ \",\", \"apples,pears\", <index>]";
    all_fail(&[
        (
            NEW,
            json!({"str_split": "a,b"}),
            &format!("read: outputs.o.value.str_split: : {example}"),
        ),
        (
            NEW,
            json!({"str_split": {"a": "b"}}),
            &format!("read: outputs.o.value.str_split: : {example}"),
        ),
        (NEW, json!({"str_split": [","]}), example),
        (NEW, json!({"str_split": [",", 5]}), example),
        (NEW, json!({"str_split": ["", "ab"]}), "empty separator"),
        (
            NEW,
            json!({"str_split": [",", "a,b", 2]}),
            "Incorrect index to \"str_split\" should be between 0 and 1",
        ),
        (
            NEW,
            json!({"str_split": [",", "a,b", -3]}),
            "Incorrect index to \"str_split\" should be between 0 and 1",
        ),
        (
            NEW,
            json!({"str_split": [",", "a,b", "x"]}),
            "Incorrect index to \"str_split\" should be: \"str_split\" : [ \",\", \"apples,pears\", <index>]",
        ),
        (OLD, json!({"Fn::Split": [",", 7]}), "String to split must be string; got <class 'int'>"),
        (
            OLD,
            json!({"Fn::Split": [7, "a"]}),
            "read: outputs.o.value.Fn::Split: : Delimiter for Fn::Split must be string",
        ),
    ]);
}

fn replace(template: &str, params: Value) -> Value {
    json!({"str_replace": {"template": template, "params": params}})
}

#[test]
fn texts_are_replaced_once() {
    all_resolve(&[
        (NEW, replace("a ab b", json!({"a": "b", "ab": "X", "b": "a"})), json!("b X a")),
        (
            NEW,
            replace("$v", json!({"$v": {"b": [1, 2], "a": true}})),
            json!("{\"a\": true, \"b\": [1, 2]}"),
        ),
        (
            NEW,
            replace("n=$n b=$b f=$f x=$x", json!({"$n": 1, "$b": true, "$f": 1.0, "$x": null})),
            json!("n=1 b=True f=1.0 x="),
        ),
        (NEW, replace("éa", json!({"éa": "1", "aaa": "2", "é": "3"})), json!("1")),
        (NEW, replace("aaa", json!({"aa": "b"})), json!("ba")),
        (NEW, replace("x", json!({})), json!("x")),
        (
            NEW,
            json!({"str_replace": {"template": {"get_param": "name"}, "params": {"w": {"get_param": "number"}}}}),
            json!("1.5eb"),
        ),
        (OLD, json!({"Fn::Replace": [{"$a": "1"}, "$a$a"]}), json!("11")),
        (OLD, replace("$a", json!({"$a": 2})), json!("2")),
        (NEW, replace("a", json!({"a": {"if": ["no", "x"]}})), json!("a")),
    ]);
    let syntax = "read: outputs.o.value.str_replace: : \"str_replace\" syntax should be str_replace:\n  template: This is var1 template var2\n  params:\n    var1: a\n    var2: string";
    all_fail(&[
        (
            NEW,
            json!({"str_replace": ["a"]}),
            "read: outputs.o.value.str_replace: : Arguments to \"str_replace\" must be a map",
        ),
        (NEW, json!({"str_replace": {"template": "x"}}), syntax),
        (
            NEW,
            replace("x", json!(["a"])),
            "read: outputs.o.value.str_replace: : \"str_replace\" parameters must be a mapping",
        ),
        (
            NEW,
            json!({"str_replace": {"template": ["x"], "params": {}}}),
            "\"str_replace\" template must be a string",
        ),
        (
            NEW,
            json!({"str_replace": {"template": "x", "params": {"get_param": "list"}}}),
            "\"str_replace\" params must be a map",
        ),
        (NEW, replace("x", json!({"": "a"})), "empty separator"),
        (
            OLD,
            replace("$a", json!({"$a": ["x"]})),
            "\"str_replace\" params must be strings or numbers, param $a is not valid",
        ),
        (
            OLD,
            json!({"Fn::Replace": [["x"], "a"]}),
            "read: outputs.o.value.Fn::Replace: : \"Fn::Replace\" parameters must be a mapping",
        ),
    ]);
}

#[test]
fn stricter_replacing_wants_all_of_it() {
    let strict =
        |params: Value| json!({"str_replace_strict": {"template": "a b", "params": params}});
    let very =
        |params: Value| json!({"str_replace_vstrict": {"template": "a b", "params": params}});
    all_resolve(&[
        (NEW, strict(json!({"a": "x", "b": null})), json!("x ")),
        (NEW, very(json!({"a": "x", "b": 0})), json!("x 0")),
        (NEW, very(json!({"a": false})), json!("False b")),
    ]);
    let missing = "The following params were not found in the template:";
    let empty = "str_replace_vstrict has an undefined or empty value for param";
    all_fail(&[
        (
            NEW,
            strict(json!({"a": "x", "d": "", "ccc": "y", "c": "z"})),
            &format!("{missing} ccc,c,d"),
        ),
        (NEW, strict(json!({"a b": "x", "b": "y"})), &format!("{missing} b")),
        (NEW, very(json!({"a": ""})), &format!("{empty} a, must be a defined non-empty value")),
        (NEW, very(json!({"a": null})), &format!("{empty} a, must be a defined non-empty value")),
        (
            NEW,
            very(json!({"a": {}, "z": "1"})),
            &format!("{empty} a, must be a defined non-empty value"),
        ),
        (NEW, very(json!({"a": []})), &format!("{empty} a, must be a defined non-empty value")),
        (NEW, very(json!({"a": "1", "z": "1"})), &format!("{missing} z")),
    ]);
}

#[test]
fn digests_are_of_latin_1() {
    let digest = |algorithm: &str, text: &str| json!({"digest": [algorithm, text]});
    all_resolve(&[
        (NEW, digest("md5", "hello"), json!("5d41402abc4b2a76b9719d911017c592")),
        (NEW, digest("MD5", "é"), json!("3406877694691ddd1dfb0aca54681407")),
        (NEW, digest("sha1", "hello"), json!("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")),
        (
            NEW,
            digest("sha224", "hello"),
            json!("ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193"),
        ),
        (
            NEW,
            digest("sha256", "hello"),
            json!("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
        ),
        (
            NEW,
            digest("sha384", "hello"),
            json!(
                "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f"
            ),
        ),
        (
            NEW,
            digest("sha512", "hello"),
            json!(
                "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043"
            ),
        ),
    ]);
    all_fail(&[
        (
            NEW,
            digest("md5", "\u{107}"),
            "\"digest\" can only take characters of latin-1, and U+0107 is none",
        ),
        (
            NEW,
            digest("crc32", "x"),
            "Algorithm must be one of md5, sha1, sha224, sha256, sha384, sha512",
        ),
        (
            NEW,
            json!({"digest": ["md5"]}),
            "Function \"digest\" usage: [\"<algorithm>\", \"<value>\"]",
        ),
        (
            NEW,
            json!({"digest": ["md5", 1]}),
            "Argument to function \"digest\" must be a list of strings",
        ),
        (
            NEW,
            json!({"digest": "md5"}),
            "Argument to function \"digest\" must be a list of strings",
        ),
    ]);
}

#[test]
fn base64_changes_nothing() {
    all_resolve(&[(OLD, json!({"Fn::Base64": "text"}), json!("text"))]);
    all_fail(&[(OLD, json!({"Fn::Base64": 5}), "\"Fn::Base64\" argument must be a string")]);
}

/// The same, as one would say it: at every place the longest key that is not inside something replaced
/// already by a longer one. Keys are taken one after the other, cutting the text up.
fn naive(text: &str, keys: &[(String, String)]) -> String {
    match keys.split_first() {
        None => text.to_owned(),
        Some(((key, value), rest)) => {
            let pieces = text.split(key.as_str()).map(|piece| naive(piece, rest));
            pieces.collect::<Vec<_>>().join(value)
        }
    }
}

proptest! {
    #[test]
    fn replacing_is_a_single_pass(
        template in "[abc]{0,20}",
        params in prop::collection::btree_map("[abc]{1,3}", "[abcd]{0,3}", 0..6),
    ) {
        let map: Map<String, Value> =
            params.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        let mut keys: Vec<(String, String)> = params.into_iter().collect();
        keys.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.0.cmp(&b.0)));
        let found = resolve(NEW, &replace(&template, Value::Object(map)));
        let expected = json!(naive(&template, &keys));
        prop_assert_eq!(found.map(|resolved| resolved.or_null()), Ok(expected));
    }

    #[test]
    fn splitting_undoes_joining(parts in prop::collection::vec("[a-c]{0,4}", 1..6)) {
        let value = json!({"str_split": [",", {"list_join": [",", parts]}]});
        prop_assert_eq!(resolve(NEW, &value).map(|resolved| resolved.or_null()), Ok(json!(parts)));
    }
}
