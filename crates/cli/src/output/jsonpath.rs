//! A small part of JSONPath, enough to take fields out of a result.
//!
//! Text with expressions in braces: `{.items[*].name}`, `{.status.state}`, `{.labels['a/b']}`,
//! `{.items[0].id}{"\n"}`. Without braces the whole is one expression. Several values are joined by
//! spaces; strings print bare, everything else as JSON; what is not there prints nothing.

use std::str::FromStr;

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Path(Vec<Step>),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(i64),
    All,
}

impl FromStr for JsonPath {
    type Err = String;

    fn from_str(text: &str) -> Result<JsonPath, String> {
        if !text.contains('{') {
            return Ok(JsonPath(vec![Piece::Path(steps(text)?)]));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let (inside, after) = after
                .split_once('}')
                .ok_or_else(|| format!("`{text}` has a `{{` without its `}}`"))?;
            pieces.push(match inside.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
                Some(literal) => Piece::Text(literal.replace("\\n", "\n").replace("\\t", "\t")),
                None => Piece::Path(steps(inside)?),
            });
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(JsonPath(pieces))
    }
}

fn steps(expression: &str) -> Result<Vec<Step>, String> {
    let bad = || format!("`{expression}` is not a path; write for example {{.items[*].name}}");
    let mut rest = expression.trim().trim_start_matches('$');
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (inside, after) = after.split_once(']').ok_or_else(bad)?;
            let quoted = inside
                .strip_prefix('\'')
                .and_then(|t| t.strip_suffix('\''))
                .or_else(|| inside.strip_prefix('"').and_then(|t| t.strip_suffix('"')));
            steps.push(match (inside, quoted) {
                ("*", _) => Step::All,
                (_, Some(key)) => Step::Key(key.to_owned()),
                (index, None) => Step::Index(index.parse().map_err(|_| bad())?),
            });
            rest = after;
            continue;
        }
        let after = rest.strip_prefix('.').ok_or_else(bad)?;
        let end = after.find(['.', '[']).unwrap_or(after.len());
        let (key, after) = after.split_at(end);
        match key {
            "" if after.is_empty() && steps.is_empty() => {}
            "" if after.starts_with('[') => {}
            "" => return Err(bad()),
            "*" => steps.push(Step::All),
            key => steps.push(Step::Key(key.to_owned())),
        }
        rest = after;
    }
    Ok(steps)
}

impl JsonPath {
    pub fn render(&self, root: &Value) -> String {
        self.0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Path(steps) => {
                    find(root, steps).into_iter().map(bare).collect::<Vec<_>>().join(" ")
                }
            })
            .collect()
    }
}

fn find<'a>(root: &'a Value, steps: &[Step]) -> Vec<&'a Value> {
    steps.iter().fold(vec![root], |found, step| {
        found.into_iter().flat_map(|value| children(value, step)).collect()
    })
}

fn children<'a>(value: &'a Value, step: &Step) -> Vec<&'a Value> {
    match (step, value) {
        (Step::Key(key), Value::Object(fields)) => fields.get(key).into_iter().collect(),
        (Step::All, Value::Object(fields)) => fields.values().collect(),
        (Step::All, Value::Array(items)) => items.iter().collect(),
        (Step::Index(index), Value::Array(items)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let index = if *index < 0 { length + index } else { *index };
            usize::try_from(index).ok().and_then(|i| items.get(i)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_take_what_they_name() {
        let root = json!({ "items": [{ "name": "a", "n": 1 }, { "name": "b" }], "labels": { "x/y": "z" } });
        let cases = [
            ("{.items[*].name}", "a b"),
            (".items[*].name", "a b"),
            ("{.items[0].n}", "1"),
            ("{.items[-1].name}", "b"),
            ("{.labels['x/y']}", "z"),
            ("{$.labels.*}", "z"),
            ("{.nothing.here}", ""),
            ("first: {.items[0].name}{\"\\n\"}", "first: a\n"),
            ("{.labels}", "{\"x/y\":\"z\"}"),
        ];
        for (expression, expected) in cases {
            let path: JsonPath = expression.parse().unwrap();
            assert_eq!(path.render(&root), expected, "{expression}");
        }
        for bad in ["{.items", "{items}", "{.items[x]}", "{.a..b}", "{.a[1}"] {
            assert!(bad.parse::<JsonPath>().is_err(), "{bad}");
        }
    }
}
