//! The query language: what it gives, what it refuses, and that it ends.

use std::time::{Duration, Instant};

use hostler_template::template::Version;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::function::resolve;

/// What an expression makes of data.
fn query(expression: &str, data: &Value) -> Result<Value, String> {
    let value = json!({"yaql": {"expression": expression, "data": data}});
    resolve(Version::NEWEST, &value).map(|resolved| resolved.or_null())
}

fn all_give(data: &Value, rows: &[(&str, Value)]) {
    for (expression, expected) in rows {
        assert_eq!(query(expression, data).as_ref(), Ok(expected), "{expression}");
    }
}

fn all_fail(data: &Value, rows: &[(&str, &str)]) {
    for (expression, expected) in rows {
        assert_eq!(query(expression, data), Err((*expected).to_owned()), "{expression}");
    }
}

#[test]
fn operators_bind_as_they_should() {
    all_give(
        &json!({}),
        &[
            ("1 + 2 * 3", json!(7)),
            ("(1 + 2) * 3", json!(9)),
            ("-2 * 3 - -1", json!(-5)),
            ("7 / 2", json!(3)),
            ("-7 / 2", json!(-4)),
            ("-7 mod 3", json!(2)),
            ("7 mod -3", json!(-2)),
            ("7.0 / 2", json!(3.5)),
            ("1 + 0.5", json!(1.5)),
            ("not 1 = 2 and true", json!(true)),
            ("false or not true or 3", json!(3)),
            ("1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2 and 1 != 2", json!(true)),
            ("'a' + 'b' = 'ab'", json!(true)),
            ("'a' < 'b'", json!(true)),
            ("null < 1 and 1 > null and null <= null", json!(true)),
            ("true = 1", json!(true)),
            ("'x' * 3", json!("xxx")),
            ("2 * [1, 2]", json!([1, 2, 1, 2])),
            ("[1, 2] + [3]", json!([1, 2, 3])),
            ("{a => 1, 'b c' => 2} + {a => 3}", json!({"a": 3, "b c": 2})),
            ("2 in [1, 2]", json!(true)),
            ("'b' in 'abc'", json!(true)),
            ("{1 => true, null => 2}", json!({"1": true, "null": 2})),
            ("'it\\'s' + \"\\\"\" + `\\n`", json!("it's\"\\n")),
            ("'\\x41\\u00e9\\101\\q'", json!("A\u{e9}A\\q")),
            ("'abc' =~ 'b.' and 'abc' !~ '^b'", json!(true)),
            ("null and 1", json!(null)),
            ("[] or 'x'", json!("x")),
            ("word", json!("word")),
            ("$nothing", json!(null)),
        ],
    );
}

#[test]
fn paths_lead_into_data() {
    let data = json!({
        "list": [3, 1, 2],
        "users": [{"name": "a", "age": 30}, {"name": "b", "age": 20}],
        "map": {"x": {"y": [1, 2]}, "n": null},
        "text": "one two",
    });
    all_give(
        &data,
        &[
            ("$.data.map.x.y[1]", json!(2)),
            ("$.data.map.x.y[-1]", json!(2)),
            ("$.data.users.name", json!(["a", "b"])),
            ("$.data['text']", json!("one two")),
            ("$.data['nope', 5]", json!(5)),
            ("$.data.map.n?.x?.y", json!(null)),
            ("$.data.get(nope)", json!(null)),
            ("$.data.get(nope, {}).get('x', 1)", json!(1)),
            ("$.data.list", json!([3, 1, 2])),
            ("$.data.map.keys()", json!(["x", "n"])),
            ("$.data.map.x.items()", json!([["y", [1, 2]]])),
            ("$.data.map.x.values().first()", json!([1, 2])),
            ("$.data.map.containsKey(x) and $.data.map.x.containsValue([1, 2])", json!(true)),
        ],
    );
    all_fail(
        &data,
        &[
            ("$.data.nope", "The map has no key 'nope'"),
            ("$.data.list[7]", "The list has no index 7"),
            ("$.data.text[0]", "No function \"#indexer\" matches supplied arguments"),
            ("$.data.text.size", "Unknown function \"#property#size\""),
            ("$.data.map.n.x", "Unknown function \"#property#x\""),
            ("$.data.list.where(true)[0]", "No function \"#indexer\" matches supplied arguments"),
        ],
    );
}

#[test]
fn values_are_put_into_places_of_texts() {
    all_give(
        &json!({"user": "u", "n": 1.5, "none": null}),
        &[
            ("'{0}.client.{1}'.format(a, $.data.user)", json!("a.client.u")),
            ("'{}-{}'.format($.data.n, true)", json!("1.5-True")),
            ("'{who}/{0}'.format($.data.none, who => x)", json!("x/None")),
            ("'{{{0}}}'.format(1)", json!("{1}")),
            ("str('{0}'.format('a/b').split('/')[-1])", json!("b")),
        ],
    );
    all_fail(
        &json!({"list": [1]}),
        &[
            ("'{1}'.format(a)", "format() was not given a value for {1}"),
            ("'{who}'.format(a)", "format() was not given a value for {who}"),
            ("'{'.format(a)", "format() found a single brace; write it twice"),
            ("'{0}'.format($.data.list)", "format() takes texts, numbers and truths"),
        ],
    );
}

#[test]
fn collections_are_asked() {
    let data = json!({
        "n": [3, 1, 2, 3],
        "s": ["b", "a", null],
        "nested": [1, [2, [3, []]], "x"],
        "users": [
            {"name": "c", "team": "x", "age": 3},
            {"name": "a", "team": "y", "age": 2},
            {"name": "b", "team": "x", "age": 2},
        ],
    });
    all_give(
        &data,
        &[
            ("$.data.n.where($ > 1).select($ * 10)", json!([30, 20, 30])),
            ("$.data.n.filter($ > 1).map($ + 1)", json!([4, 3, 4])),
            ("$.data.users.where($.age = 2).select($.name)", json!(["a", "b"])),
            ("$.data.nested.flatten()", json!([1, 2, 3, "x"])),
            ("$.data.users.selectMany([$.name, $.age])", json!(["c", 3, "a", 2, "b", 2])),
            ("$.data.n.distinct()", json!([3, 1, 2])),
            ("distinct($.data.users, $.team).select($.name)", json!(["c", "a"])),
            ("$.data.n.len() + len($.data.n) + $.data.n.count()", json!(12)),
            ("$.data.n.where($ > 1).len()", json!(3)),
            ("$.data.n.sum()", json!(9)),
            ("[].sum(0)", json!(0)),
            ("$.data.n.min() + $.data.n.max()", json!(4)),
            ("min(2, 1) + max(2, 1)", json!(3)),
            ("$.data.s.max()", json!("b")),
            ("$.data.n.first() + $.data.n.last()", json!(6)),
            ("[].first(null)", json!(null)),
            ("[].last(default => 'd')", json!("d")),
            ("[7].single()", json!(7)),
            ("$.data.n.skip(1).take(2)", json!([1, 2])),
            ("$.data.n.limit(2)", json!([3, 1])),
            ("$.data.n.takeWhile($ != 2)", json!([3, 1])),
            ("$.data.n.skipWhile($ != 2)", json!([2, 3])),
            ("$.data.n.any($ > 2) and not $.data.n.all($ > 2)", json!(true)),
            ("[].any() or [0].all()", json!(false)),
            ("$.data.n.orderBy($)", json!([1, 2, 3, 3])),
            ("$.data.n.orderByDescending($).first()", json!(3)),
            (
                "$.data.users.orderBy($.age).thenByDescending($.name).select($.name)",
                json!(["b", "a", "c"]),
            ),
            ("$.data.n.reverse()", json!([3, 2, 1, 3])),
            ("$.data.n.reduce($1 * 10 + $2)", json!(3123)),
            ("$.data.n.aggregate($1 + $2, 100)", json!(109)),
            ("[1, 2, 3].accumulate($1 + $2)", json!([1, 3, 6])),
            ("$.data.users.groupBy($.team, $.age)", json!([["x", [3, 2]], ["y", [2]]])),
            ("$.data.users.groupBy($.team, $.age, $.sum())", json!([["x", 5], ["y", 2]])),
            (
                "$.data.users.groupBy($.team, $.age, [$[0], $[1].sum()])",
                json!([["x", 5], ["y", 2]]),
            ),
            ("$.data.n.zip($.data.s, [1, 2])", json!([[3, "b", 1], [1, "a", 2]])),
            ("[1].zipLongest([2, 3], default => 0)", json!([[1, 2], [0, 3]])),
            ("['a', 'b'].enumerate()", json!([[0, "a"], [1, "b"]])),
            ("$.data.n.append(9, 8).len()", json!(6)),
            ("concat([1], [2], [3])", json!([1, 2, 3])),
            ("$.data.n.indexOf(2)", json!(2)),
            ("$.data.n.lastIndexOf(3)", json!(3)),
            ("$.data.n.indexWhere($ < 3)", json!(1)),
            ("$.data.n.lastIndexWhere($ > 9)", json!(-1)),
            ("$.data.n.slice(3)", json!([[3, 1, 2], [3]])),
            ("$.data.n.splitAt(1)", json!([[3], [1, 2, 3]])),
            ("$.data.n.splitWhere($ = 1)", json!([[3], [2, 3]])),
            ("$.data.n.sliceWhere($ = 3)", json!([[3], [1, 2], [3]])),
            ("[].defaultIfEmpty([1])", json!([1])),
            ("'x'.repeat(2)", json!(["x", "x"])),
            ("range(3).toList() + list(range(5, 1, -2))", json!([0, 1, 2, 5, 3])),
            ("$.data.n.contains(2)", json!(true)),
            ("[[1, 2], [3, 4]].select($[1])", json!([2, 4])),
            ("list(1, [2], [3, 4].where($ > 3))", json!([1, [2], 4])),
            ("$.data.n.toSet()", json!([3, 1, 2])),
            ("set(1, 2).union(set(2, 3)) - set(1)", json!([2, 3])),
            ("set(1, 2).intersect([2, 3].toSet())", json!([2])),
            ("set(1, 2).symmetricDifference(set(2, 3)).add(4).remove(1)", json!([3, 4])),
            (
                "$.data.users.join($.data.n.distinct(), $1.age = $2, $1.name)",
                json!(["c", "a", "b"]),
            ),
        ],
    );
    all_fail(
        &data,
        &[
            ("[].first()", "The collection is empty"),
            ("[].sum()", "reduce() of empty iterable with no initial value"),
            ("[1, 2].single()", "Collection contains more than one item"),
            ("[1, 'a'].max()", "No function \"#operator_>\" matches supplied arguments"),
            ("null.where($)", "No method \"where\" for receiver None matches supplied arguments"),
            ("{}.where($)", "No method \"where\" for receiver {} matches supplied arguments"),
            (
                "'abc'.contains('b')",
                "No method \"contains\" for receiver 'abc' matches supplied arguments",
            ),
            ("[1].where()", "No method \"where\" for receiver [1] matches supplied arguments"),
            ("[1].first(1, 2)", "No method \"first\" for receiver [1] matches supplied arguments"),
            (
                "[1].first(bogus => 2)",
                "No method \"first\" for receiver [1] matches supplied arguments",
            ),
            ("1 + 'a'", "No function \"#operator_+\" matches supplied arguments"),
            ("1 / 0", "division by zero"),
            (
                "[1].thenBy($)",
                "No method \"thenBy\" for receiver what is not sorted matches supplied arguments",
            ),
            ("let(x => 1)", "Names are no result: `let(..) -> ..`"),
            ("[1, let(x => 1)]", "Names are no value: `let(..) -> ..`"),
        ],
    );
}

#[test]
fn maps_are_made_and_merged() {
    let data = json!({
        "a": {"x": 1, "l": [1, 2], "m": {"p": 1}},
        "b": {"y": 2, "l": [2, 3], "m": {"q": 2}},
        "users": [{"n": "u", "v": 1}, {"n": "w", "v": 2}],
    });
    all_give(
        &data,
        &[
            ("dict(a => 1, 'b' => 2)", json!({"a": 1, "b": 2})),
            ("dict([[a, 1], [b, 2]])", json!({"a": 1, "b": 2})),
            ("dict($.data.users.select([$.n, $.v]))", json!({"u": 1, "w": 2})),
            ("$.data.users.toDict($.n, $.v)", json!({"u": 1, "w": 2})),
            ("$.data.users.toDict($.n).u.v", json!(1)),
            ("dict($.data.a.items().where($[0] != l and $[0] != m))", json!({"x": 1})),
            (
                "$.data.a.mergeWith($.data.b)",
                json!({"x": 1, "l": [1, 2, 3], "m": {"p": 1, "q": 2}, "y": 2}),
            ),
            (
                "$.data.a.mergeWith($.data.b, $1 + $2)",
                json!({"x": 1, "l": [1, 2, 2, 3], "m": {"p": 1, "q": 2}, "y": 2}),
            ),
            (
                "$.data.a.mergeWith($.data.b, maxLevels => 1)",
                json!({"x": 1, "l": [2, 3], "m": {"q": 2}, "y": 2}),
            ),
            ("{a => 1}.mergeWith({a => 2}, itemMerger => $1 + $2)", json!({"a": 3})),
            (
                "[{a => 1}, null, {b => 2}].where($ != null).reduce($1.mergeWith($2), {})",
                json!({"a": 1, "b": 2}),
            ),
            ("{a => 1}.set(b, 2).set({c => 3}).set(a => 0)", json!({"a": 0, "b": 2, "c": 3})),
            ("{a => 1, b => 2}.deleteAll([a])", json!({"b": 2})),
            ("isDict({}) and isList([]) and not isList([].where($)) and isSet(set())", json!(true)),
        ],
    );
    all_fail(
        &data,
        &[
            ("{a => [1]}.mergeWith({a => {}})", "Cannot merge [1] with {}"),
            ("dict([1])", "dict() takes pairs of a key and a value"),
            ("{[1] => 2}", "A list or a map cannot be a key of a result"),
        ],
    );
}

#[test]
fn texts_are_worked_on() {
    all_give(
        &json!({"t": "a:b:c"}),
        &[
            ("$.data.t.split(':')", json!(["a", "b", "c"])),
            ("$.data.t.split(':', 1)", json!(["a", "b:c"])),
            ("$.data.t.rightSplit(':', 1)[0]", json!("a:b")),
            ("$.data.t.rightSplit(separator => ':', maxSplits => 1)[1]", json!("c")),
            ("' a  b '.split()", json!(["a", "b"])),
            ("' a  b  c '.split(null, 1)", json!(["a", "b  c "])),
            ("' a  b  c '.rightSplit(null, 1)", json!([" a  b", "c"])),
            ("[1, null, true, 1.5, 'x'].join(',')", json!("1,null,true,1.5,x")),
            ("','.join([1, 2])", json!("1,2")),
            ("concat('a', 'b', 'c')", json!("abc")),
            ("'Ab'.toUpper() + 'Ab'.toLower()", json!("ABab")),
            ("'xaxx'.trim('x') + ' b '.trim() + ' c'.trimLeft() + 'd '.trimRight()", json!("abcd")),
            ("norm('  ')", json!(null)),
            (
                "isEmpty('  ') and '  '.isEmpty() and not isEmpty(' ', trimSpaces => false)",
                json!(true),
            ),
            ("'aaa'.replace('a', 'b', 2)", json!("bba")),
            ("'ab'.replace({a => 1, b => 2})", json!("12")),
            ("'héllo'.substring(1, 2) + 'hello'.substring(-2)", json!("éllo")),
            ("'hello'.indexOf('l') + 'hello'.lastIndexOf('l') * 10 + 'é'.indexOf('x')", json!(31)),
            ("'éxy'.indexOf('y')", json!(2)),
            ("'ab'.toCharArray()", json!(["a", "b"])),
            ("'abc'.startsWith('x', 'a') and 'abc'.endsWith('c')", json!(true)),
            ("str(null) + str(true) + str(1.0) + str(7)", json!("nulltrue1.07")),
            ("int('12') + int(1.9) + int(true) + int(null)", json!(14)),
            ("float('1.5') + float(1)", json!(2.5)),
            ("bool('') or bool('x')", json!(true)),
            ("abs(-3) + sign(-9) + round(2.5) + pow(2, 3)", json!(12.0)),
            ("round(1.256, 2)", json!(1.26)),
            ("hex(255)", json!("0xff")),
            (
                "isString('') and isInteger(1) and isNumber(1.5) and isBoolean(true) and not isInteger(true)",
                json!(true),
            ),
            ("len('héllo')", json!(5)),
        ],
    );
    all_fail(
        &json!({}),
        &[
            ("int('x')", "'x' is not a number"),
            ("'a'.split('')", "empty separator"),
            ("str([1])", "A list or a map is not made a text here: use join()"),
            ("pow(10, 100)", "A number is too large"),
            ("9223372036854775807 * 4", "A number is too large"),
        ],
    );
}

#[test]
fn patterns_are_linear() {
    let data = json!("docker.io/tripleo/image:tag");
    all_give(
        &data,
        &[
            (
                "let(location => $.data.rightSplit(':', 1)[0]) -> regex('(?:https?://)?(.*?)/(.*)').split($location)[1]",
                json!("docker.io"),
            ),
            (
                "let(location => $.data.rightSplit(':', 1)[0]) -> regex('(?:https?://)?(.*?)/(.*)').split($location)[2]",
                json!("tripleo/image"),
            ),
            ("$.data.split('/')[0].matches('(\\.|:)')", json!(true)),
            ("regex('TAG', ignoreCase => true).matches($.data)", json!(true)),
            ("regex('[a-z]+').search($.data)", json!("docker")),
            ("regex('(o)(c)').search($.data, $3.value + $2.value + str($1.start))", json!("co1")),
            ("regex('x').search($.data)", json!(null)),
            ("regex('[/:]').searchAll($.data)", json!(["/", "/", ":"])),
            ("$.data.split(regex('[/:]'), 1)", json!(["docker.io", "tripleo/image:tag"])),
            (
                "$.data.replace(regex('([a-z]+):(?P<t>.*)'), '\\\\2-\\\\g<t>$1')",
                json!("docker.io/tripleo/tag-tag$1"),
            ),
            ("regex('o').replace('foo', '0', 1)", json!("f0o")),
        ],
    );
    let error = query("'a'.matches('(?=a)')", &data).unwrap_err();
    assert!(error.starts_with("The regular expression \"(?=a)\" is not supported: "), "{error}");
}

#[test]
fn choices_and_names() {
    let data = json!({"cred": {"ns": {"k": "v"}}, "ns": "ns", "none": null, "kind": 2});
    all_give(
        &data,
        &[
            ("coalesce($.data.none, null, 3, $.data.nope)", json!(3)),
            ("switch($.data.kind = 1 => one, $.data.kind = 2 => two, true => many)", json!("two")),
            ("switch(false => 1)", json!(null)),
            ("$.data.kind.switchCase(a, b, c)", json!("c")),
            ("(9).switchCase(a, b)", json!("b")),
            ("selectCase(false, true)", json!(1)),
            ("examine(0, 1)", json!([false, true])),
            ("let(a => 1, b => 2) -> $a + $b", json!(3)),
            ("let(a => 1) -> let(b => $a + 1) -> $a + $b", json!(3)),
            ("with(5, 6) -> $1 * $2", json!(30)),
            ("let(5) -> [1, 2].select($ + 1)", json!([2, 3])),
            ("[1, 2].unpack(x, y) -> $x + $y", json!(3)),
            (
                "let(c => $.data.cred) -> $c.get($.data.ns, {}).keys().last(default => '')",
                json!("k"),
            ),
            (
                "let(c => $.data.cred) -> $c.get(x, {}).values().last(default => '').isEmpty()",
                json!(true),
            ),
            ("let(x => 2) -> $.data.cred.keys().select($ + str($x))", json!(["ns2"])),
        ],
    );
}

#[test]
fn what_is_wrong_is_said_when_it_is_read() {
    let value = |arguments: Value| resolve(Version::NEWEST, &json!({"yaql": arguments}));
    let path = "read: outputs.o.value.yaql: :";
    for (expression, expected) in [
        ("invalid(", "Bad expression Unknown function \"invalid\"."),
        ("len(", "Bad expression Parse error: unexpected end of statement."),
        ("1 +", "Bad expression Parse error: unexpected end of statement."),
        ("", "Bad expression Parse error: unexpected end of statement."),
        ("1 2", "Bad expression Parse error: unexpected '2' at position 2 of expression '1 2'."),
        (
            "$.data..x",
            "Bad expression Parse error: unexpected '.' at position 7 of expression '$.data..x'.",
        ),
        ("'abc", "Bad expression Lexical error: illegal character ''' at position 0."),
        ("1 ; 2", "Bad expression Lexical error: illegal character ';' at position 2."),
        ("$.data.random()", "Bad expression The yaql function \"random\" is not supported here."),
        (
            "generate(1, true, $ + 1)",
            "Bad expression The yaql function \"generate\" is not supported here.",
        ),
        ("$.data.wher($)", "Bad expression Unknown function \"wher\", did you mean `where`?."),
        (
            "where($.data)",
            "Bad expression \"where\" is a method and no function: write x.where(..).",
        ),
        ("$.str()", "Bad expression \"str\" is a function and no method: write str(..)."),
        ("[a => 1]", "Bad expression A list has no names; write a map between { and }."),
        ("{1}", "Bad expression Between { and } there are pairs: key => value."),
    ] {
        let found = value(json!({"expression": expression}));
        assert_eq!(found, Err(format!("{path} {expected}")), "{expression}");
    }
    assert_eq!(value(json!("x")), Err(format!("{path} Arguments to \"yaql\" must be a map.")));
    let number = format!("{path} The \"expression\" argument to yaql must contain a string.");
    assert_eq!(value(json!({"expression": 1})), Err(number));
    let syntax = format!(
        "{path} \"yaql\" syntax should be yaql:\n  expression: $.data.var1.sum()\n  data:\n    var1: [3, 2, 1]"
    );
    assert_eq!(value(json!({"data": 1})), Err(syntax.clone()));
    assert_eq!(value(json!({"expression": "1", "bogus": 1})), Err(syntax));
    let made = json!({"expression": {"list_join": ["", ["$.data", " + 1"]]}, "data": 2});
    assert_eq!(value(made).map(|resolved| resolved.or_null()), Ok(json!(3)));
    let made = json!({"expression": {"list_join": ["", ["1 +"]]}});
    let late = "Bad expression Parse error: unexpected end of statement.";
    assert_eq!(value(made), Err(late.to_owned()));
}

#[test]
fn limits_hold() {
    let many: Vec<i32> = (0..201).collect();
    let memory = "Expression consumed too much memory";
    let length = "Collection length exceeds 200 elements";
    all_give(
        &json!(many[..200]),
        &[("$.data.len()", json!(200)), ("$.data.select($).len()", json!(200))],
    );
    all_fail(
        &json!(many),
        &[
            ("$.data", length),
            ("$.data.where(true)", length),
            ("$.data.sum()", length),
            ("[$.data]", length),
        ],
    );
    all_give(&json!(many), &[("$.data.len()", json!(201)), ("$.data[200]", json!(200))]);
    all_fail(
        &json!({"t": "x".repeat(9_952), "n": [1, 2]}),
        &[
            ("$.data.t", memory),
            ("'x' * 10001", memory),
            ("[1] * 5000", memory),
            ("range(200).select('xxxxxxxxxx' * 10).join('')", memory),
            ("range(1000000)", length),
            ("'x'.repeat(-1)", "repeat() without a number of times never ends"),
            ("'x'.repeat(100000)", length),
            ("range(100).reduce([$1, $1])", memory),
            (
                "range(200).select(range(200).select(range(200).select(range(200).select($ + 1).len()).len()).len())",
                "Expression took too many steps",
            ),
        ],
    );
    let exact = json!({"t": "x".repeat(9_951)});
    assert_eq!(query("$.data.t.len()", &exact), Ok(json!(9951)));
}

#[test]
fn depth_is_bounded() {
    for expression in [
        "(".repeat(5_000),
        "[".repeat(5_000),
        "-".repeat(5_000),
        "not ".repeat(5_000),
        format!("$.data{}", ".x".repeat(5_000)),
        format!("$.data{}", ".len()".repeat(5_000)),
        format!("1{}", " + 1".repeat(5_000)),
        format!("$.data{}", "[0]".repeat(5_000)),
        format!("{}1", "let(a => 1) -> ".repeat(3_000)),
        format!("{}1{}", "len(".repeat(5_000), ")".repeat(5_000)),
    ] {
        let found = query(&expression, &json!(1)).unwrap_err();
        assert!(found.contains("levels deep"), "{found}");
    }
    let long = format!("'{}'", "x".repeat(70_000));
    assert!(query(&long, &json!(1)).unwrap_err().contains("longer than"));
}

fn any_expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "$",
        "$.data",
        "$.data.a",
        "$.data.b",
        "$1",
        "$2",
        "$x",
        "1",
        "0",
        "2.5",
        "'s'",
        "''",
        "null",
        "true",
        "word",
        "[]",
        "{}",
        "[1, 2]",
        "{a => 1}",
        "range(3)",
        "regex('s')",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(5, 48, 3, |inner| {
        let methods = prop::sample::select(vec![
            "where",
            "select",
            "selectMany",
            "first",
            "last",
            "sum",
            "min",
            "max",
            "len",
            "join",
            "split",
            "keys",
            "values",
            "items",
            "toDict",
            "groupBy",
            "orderBy",
            "reverse",
            "reduce",
            "mergeWith",
            "zip",
            "flatten",
            "distinct",
            "contains",
            "get",
            "set",
            "replace",
            "substring",
            "indexOf",
            "slice",
            "splitAt",
            "repeat",
            "skip",
            "take",
            "matches",
            "search",
            "union",
            "toSet",
            "toList",
            "unpack",
            "switchCase",
            "trim",
        ]);
        let functions = prop::sample::select(vec![
            "len", "list", "dict", "set", "str", "int", "float", "bool", "coalesce", "with",
            "range", "concat", "abs", "round", "pow", "max", "isEmpty", "regex", "hex", "any",
        ]);
        let infix = prop::sample::select(vec![
            "+", "-", "*", "/", "mod", "=", "!=", "<", ">=", "in", "and", "or", "=~", "->",
        ]);
        let arguments = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            (inner.clone(), methods, arguments.clone()).prop_map(|(of, name, arguments)| format!(
                "({of}).{name}({})",
                arguments.join(", ")
            )),
            (functions, arguments)
                .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(", "))),
            (inner.clone(), infix, inner.clone())
                .prop_map(|(a, sign, b)| format!("({a}) {sign} ({b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a})[{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("let(x => {a}) -> ({b})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("switch({a} => {b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_expression_ends(expression in any_expression()) {
        let data = json!({"a": [3, "s", {"k": [1]}, null], "b": {"x": 1, "y": "s"}});
        let start = Instant::now();
        let first = query(&expression, &data);
        prop_assert!(start.elapsed() < Duration::from_secs(20), "{}", expression);
        prop_assert_eq!(first, query(&expression, &data));
    }

    #[test]
    fn no_text_panics(expression in "[\\$a-z0-9.()\\[\\]{}'\"\\\\`=>!~ ,+*/é-]{0,40}") {
        let _ = query(&expression, &json!({"a": 1, "b": 2}));
    }

    #[test]
    fn numbers_are_computed_like_numbers(a in -1000_i64..1000, b in -1000_i64..1000) {
        let data = json!([a, b]);
        let both = "$.data[0] + $.data[1] = $.data.sum() and $.data[0] - $.data[1] = -($.data[1] - $.data[0])";
        prop_assert_eq!(query(both, &data), Ok(json!(true)));
        if b != 0 {
            let back = "($.data[0] / $.data[1]) * $.data[1] + $.data[0] mod $.data[1] = $.data[0]";
            prop_assert_eq!(query(back, &data), Ok(json!(true)));
        }
    }
}
