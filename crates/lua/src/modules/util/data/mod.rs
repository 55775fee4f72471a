//! `data`: texts of JSON, YAML, TOML, XML and CSV as tables and back, and what can be done with tables.
//!
//! A table with the keys 1 to n is a list; an empty one is an object, because Lua cannot tell. `null` is nil.

mod csv;
mod formats;
mod shape;
mod xml;

use mlua::{Lua, Result, Table, Value};
use serde_json::Value as Json;

use super::given::{Answer, Text, answer};
use crate::budget::{Budget, NODE};
use crate::modules::{Described, Installer, Module};
use crate::value::{from_json, json};
use formats::Format;

pub(crate) const MODULE: Module = Module {
    name: "data",
    about: "Texts of JSON, YAML, TOML, XML and CSV as tables and back, and what can be done with tables. What cannot be read gives `nil` and why, with the place.",
    functions: &[
        Described {
            name: "json_encode",
            signature: "(value) -> text",
            about: "A value as JSON, its keys sorted.",
            example: "assert(data.json_encode({ b = { 1, 2 }, a = 'x' }) == '{\"a\":\"x\",\"b\":[1,2]}')",
        },
        Described {
            name: "json_decode",
            signature: "(text) -> value | nil, error",
            about: "The value of a JSON text.",
            example: "assert(data.json_decode('{\"a\":[1,2.5]}').a[2] == 2.5)\nlocal none, why = data.json_decode('{')\nassert(none == nil and why:find('line 1'))",
        },
        Described {
            name: "json_pretty",
            signature: "(value) -> text",
            about: "A value as JSON for people.",
            example: "assert(data.json_pretty({ a = 1 }) == '{\\n  \"a\": 1\\n}')",
        },
        Described {
            name: "json_validate",
            signature: "(text) -> boolean, error",
            about: "Whether a text is JSON, and why not.",
            example: "assert(data.json_validate('[1]'))\nlocal ok, why = data.json_validate('[')\nassert(not ok and why)",
        },
        Described {
            name: "yaml_encode",
            signature: "(value) -> text",
            about: "A value as YAML.",
            example: "assert(data.yaml_decode(data.yaml_encode({ a = { 'x', 1 } })).a[1] == 'x')",
        },
        Described {
            name: "yaml_decode",
            signature: "(text) -> value | nil, error",
            about: "The value of a YAML text.",
            example: "local t = data.yaml_decode('a:\\n  - x\\n  - 2\\n')\nassert(t.a[1] == 'x' and t.a[2] == 2)",
        },
        Described {
            name: "yaml_decode_all",
            signature: "(text) -> { value } | nil, error",
            about: "The values of a YAML text with several documents.",
            example: "local all = data.yaml_decode_all('a: 1\\n---\\na: 2\\n')\nassert(#all == 2 and all[2].a == 2)",
        },
        Described {
            name: "yaml_to_json",
            signature: "(text) -> text | nil, error",
            about: "YAML as JSON.",
            example: "assert(data.yaml_to_json('a: 1') == '{\"a\":1}')",
        },
        Described {
            name: "json_to_yaml",
            signature: "(text) -> text | nil, error",
            about: "JSON as YAML.",
            example: "assert(data.json_to_yaml('{\"a\":1}'):find('a: 1'))",
        },
        Described {
            name: "toml_encode",
            signature: "(table) -> text | nil, error",
            about: "A table as TOML.",
            example: "assert(data.toml_decode(data.toml_encode({ a = { b = 'x' } })).a.b == 'x')",
        },
        Described {
            name: "toml_decode",
            signature: "(text) -> table | nil, error",
            about: "The table of a TOML text; dates are texts.",
            example: "local t = data.toml_decode('[a]\\nb = [1, 2]\\nd = 2024-01-02')\nassert(t.a.b[2] == 2 and t.a.d == '2024-01-02')",
        },
        Described {
            name: "xml_encode",
            signature: "(value[, root]) -> text | nil, error",
            about: "A value as XML below an element `root`, or one of that name. `@name` is an attribute, `#text` the text beside attributes, a list is the element several times (a list at the root, elements `item`).",
            example: "assert(data.xml_encode({ ['@id'] = 7, item = { 'a', 'b' } }, 'box') == '<box id=\"7\"><item>a</item><item>b</item></box>')",
        },
        Described {
            name: "xml_decode",
            signature: "(text) -> table | nil, error",
            about: "The table of an XML text: the element at the root by its name, as `xml_encode` understands it. Values are texts.",
            example: "local t = data.xml_decode('<box id=\"7\"><item>a</item><item>b</item><n>&lt;</n></box>')\nassert(t.box['@id'] == '7' and t.box.item[2] == 'b' and t.box.n == '<')",
        },
        Described {
            name: "xml_to_json",
            signature: "(text) -> text | nil, error",
            about: "XML as JSON.",
            example: "assert(data.xml_to_json('<a><b>1</b></a>') == '{\"a\":{\"b\":\"1\"}}')",
        },
        Described {
            name: "csv_parse",
            signature: "(text[, separator[, { header }]]) -> rows, rows | nil, error",
            about: "The rows of a CSV text, each a list of its fields; with `header` each a table by the names in the first row.",
            example: "local ok, rows = data.csv_parse('a,b\\n1,\"x,y\"\\n')\nassert(ok and rows[2][2] == 'x,y')\nlocal named = data.csv_parse('a;b\\n1;2\\n', ';', { header = true })\nassert(#named == 1 and named[1].b == '2')",
        },
        Described {
            name: "csv_generate",
            signature: "(rows[, separator]) -> text | nil, error",
            about: "Rows as CSV; each is a list of fields.",
            example: "assert(data.csv_generate({ { 'a', 'b' }, { 1, 'x,y' } }) == 'a,b\\n1,\"x,y\"\\n')",
        },
        Described {
            name: "deep_merge",
            signature: "(a, b) -> table, table",
            about: "A new table with everything of both; where both say something the second holds. Tables are merged, lists are not.",
            example: "local ok, t = data.deep_merge({ a = { x = 1, y = 1 }, l = { 1, 2 } }, { a = { y = 2 }, l = { 3 } })\nassert(ok and t.a.x == 1 and t.a.y == 2 and #t.l == 1)",
        },
        Described {
            name: "flatten",
            signature: "(table[, separator]) -> table",
            about: "A table without tables in it: keys become paths, with dots if nothing else is said.",
            example: "local t = data.flatten({ a = { b = 1, c = { 'x' } } })\nassert(t['a.b'] == 1 and t['a.c.1'] == 'x')",
        },
        Described {
            name: "unflatten",
            signature: "(table[, separator]) -> table, table",
            about: "What `data.flatten` made, back again.",
            example: "local ok, t = data.unflatten({ ['a.b'] = 1, ['a.c.1'] = 'x' })\nassert(ok and t.a.b == 1 and t.a.c[1] == 'x')",
        },
        Described {
            name: "get_path",
            signature: "(table, path[, separator]) -> value",
            about: "What lies at a path, or nil.",
            example: "local t = { a = { { b = 1 } } }\nassert(data.get_path(t, 'a.1.b') == 1 and data.get_path(t, 'a.2.b') == nil and data.get_path(t, 'a/1/b', '/') == 1)",
        },
        Described {
            name: "set_path",
            signature: "(table, path, value[, separator]) -> table",
            about: "Puts a value at a path of the table, with the tables on the way, and gives the table.",
            example: "local t = {}\nassert(data.set_path(t, 'a.b', 1) == t and t.a.b == 1)",
        },
        Described {
            name: "parse_json",
            signature: "(text) -> value | nil, error",
            about: "The same as `data.json_decode`.",
            example: "assert(data.parse_json('[1]')[1] == 1)",
        },
        Described {
            name: "to_json",
            signature: "(value[, pretty]) -> text",
            about: "The same as `data.json_encode`, or as `data.json_pretty` with `true`.",
            example: "assert(data.to_json({ 1 }) == '[1]')",
        },
        Described {
            name: "parse_yaml",
            signature: "(text) -> value | nil, error",
            about: "The same as `data.yaml_decode`.",
            example: "assert(data.parse_yaml('a: 1').a == 1)",
        },
        Described {
            name: "to_yaml",
            signature: "(value) -> text",
            about: "The same as `data.yaml_encode`.",
            example: "assert(data.to_yaml({ a = 1 }):find('a: 1'))",
        },
    ],
    install,
};

macro_rules! alias {
    ($name:literal, $about:literal, $text:literal, $install:expr) => {
        Module {
            name: $name,
            about: $about,
            functions: &[
                Described {
                    name: "encode",
                    signature: "(table) -> text | nil, error",
                    about: concat!("The same as `data.", $name, "_encode`."),
                    example: concat!(
                        "assert(",
                        $name,
                        ".decode(",
                        $name,
                        ".encode({ a = 1 })).a == 1)"
                    ),
                },
                Described {
                    name: "decode",
                    signature: "(text) -> value | nil, error",
                    about: concat!("The same as `data.", $name, "_decode`."),
                    example: concat!("assert(", $name, ".decode('", $text, "').a == 1)"),
                },
            ],
            install: $install,
        }
    };
}

pub(crate) const JSON: Module =
    alias!("json", "JSON, as in `data`.", "{\"a\":1}", |module| { both(module, Format::Json) });
pub(crate) const YAML: Module =
    alias!("yaml", "YAML, as in `data`.", "a: 1", |module| { both(module, Format::Yaml) });
pub(crate) const TOML: Module =
    alias!("toml", "TOML, as in `data`.", "a = 1", |module| { both(module, Format::Toml) });

fn both(module: &mut Installer<'_>, format: Format) -> Result<()> {
    encoder(module, "encode", format)?;
    decoder(module, "decode", format)
}

fn encoder(module: &mut Installer<'_>, name: &str, format: Format) -> Result<()> {
    module.pure(name, move |lua, value: Value| encoded(lua, &value, format))
}

fn decoder(module: &mut Installer<'_>, name: &str, format: Format) -> Result<()> {
    module.pure(name, move |lua, text: Text| value_of(lua, decoded(lua, &text, format)?))
}

fn encoded(lua: &Lua, value: &Value, format: Format) -> Result<Answer<String>> {
    let budget = Budget::of(lua);
    let json = json(value, &budget)?;
    budget.take(format.more(&json))?;
    Ok(answer(format.write(&json)))
}

fn decoded(lua: &Lua, text: &Text, format: Format) -> Result<std::result::Result<Json, String>> {
    Budget::of(lua).take_each(format.most(&text.0), NODE)?;
    Ok(format.read(&text.0))
}

fn value_of(lua: &Lua, json: std::result::Result<Json, String>) -> Result<Answer<Value>> {
    match json {
        Ok(json) => Ok((Some(from_json(lua, &json)?), None)),
        Err(why) => Ok((None, Some(why))),
    }
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    for (encode, decode, format) in [
        ("json_encode", "json_decode", Format::Json),
        ("yaml_encode", "yaml_decode", Format::Yaml),
        ("toml_encode", "toml_decode", Format::Toml),
    ] {
        encoder(module, encode, format)?;
        decoder(module, decode, format)?;
    }
    decoder(module, "parse_json", Format::Json)?;
    decoder(module, "parse_yaml", Format::Yaml)?;
    encoder(module, "to_yaml", Format::Yaml)?;
    encoder(module, "json_pretty", Format::PrettyJson)?;
    module.pure("to_json", |lua, (value, pretty): (Value, Option<bool>)| {
        let format = if pretty == Some(true) { Format::PrettyJson } else { Format::Json };
        encoded(lua, &value, format)
    })?;
    module.pure("json_validate", |lua, text: Text| {
        Ok(match decoded(lua, &text, Format::Json)? {
            Ok(_) => (true, None),
            Err(why) => (false, Some(why)),
        })
    })?;
    for (name, from, to) in
        [("yaml_to_json", Format::Yaml, Format::Json), ("json_to_yaml", Format::Json, Format::Yaml)]
    {
        module.pure(name, move |lua, text: Text| {
            Ok(answer(decoded(lua, &text, from)?.and_then(|json| to.write(&json))))
        })?;
    }
    module.pure("yaml_decode_all", |lua, text: Text| {
        Budget::of(lua).take_each(Format::Yaml.most(&text.0), NODE)?;
        value_of(lua, formats::documents(&text.0))
    })?;
    module.pure("xml_encode", |lua, (value, root): (Value, Option<Text>)| {
        let root = root.map_or_else(|| "root".to_owned(), |root| root.lossy());
        let budget = Budget::of(lua);
        let json = json(&value, &budget)?;
        budget.take(xml::length(&json, root.len()))?;
        Ok(answer(xml::write(&json, &root)))
    })?;
    module.pure("xml_decode", |lua, text: Text| value_of(lua, read_xml(lua, &text)?))?;
    module.pure("xml_to_json", |lua, text: Text| {
        Ok(answer(read_xml(lua, &text)?.map(|json| json.to_string())))
    })?;
    csv::install(module)?;
    tables(module)
}

fn read_xml(lua: &Lua, text: &Text) -> Result<std::result::Result<Json, String>> {
    let nodes = text.0.iter().filter(|byte| b"<=".contains(byte)).count();
    Budget::of(lua).take_each(nodes, 2 * NODE)?;
    Ok(xml::read(&text.lossy()))
}

fn tables(module: &mut Installer<'_>) -> Result<()> {
    module.pure("deep_merge", |lua, (a, b): (Table, Table)| {
        let merged = shape::merge(lua, &Budget::of(lua), &a, &b, 0)?;
        Ok((merged.clone(), merged))
    })?;
    module.pure("flatten", |lua, (table, separator): (Table, Option<Text>)| {
        let flat = lua.create_table()?;
        let separator = shape::separator(separator)?;
        shape::flatten(&Budget::of(lua), &table, "", &separator, &flat, 0)?;
        Ok(flat)
    })?;
    module.pure("unflatten", |lua, (table, separator): (Table, Option<Text>)| {
        let deep = shape::unflatten(lua, &table, &shape::separator(separator)?)?;
        Ok((deep.clone(), deep))
    })?;
    module.pure("get_path", |_, (table, path, separator): (Value, Text, Option<Text>)| {
        shape::get(table, &path.lossy(), &shape::separator(separator)?)
    })?;
    module.pure(
        "set_path",
        |lua, (table, path, value, separator): (Table, Text, Value, Option<Text>)| {
            shape::set(lua, &table, &path.lossy(), value, &shape::separator(separator)?)?;
            Ok(table)
        },
    )
}
