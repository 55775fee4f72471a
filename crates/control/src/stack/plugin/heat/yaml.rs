//! Data as YAML, the way people write it: blocks, and quotes only where they are needed.

use serde_json::Value;

/// The text, with a line break at its end. Keys are sorted, so that the same data is the same text.
pub(super) fn written(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

fn block(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            for (at, (key, value)) in entries.into_iter().enumerate() {
                indent(at, depth, out);
                out.push_str(&scalar(key));
                out.push(':');
                below(value, depth, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                indent(at, depth, out);
                out.push('-');
                if is_block(value) {
                    out.push(' ');
                    block(value, depth + 1, out);
                } else {
                    below(value, depth, out);
                }
            }
        }
        other => {
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
}

/// The first line stands where its dash or its beginning already is.
fn indent(at: usize, depth: usize, out: &mut String) {
    if at > 0 || out.is_empty() || out.ends_with('\n') {
        out.push_str(&"  ".repeat(depth));
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// What follows a colon: a list stands as far out as its key.
fn below(value: &Value, depth: usize, out: &mut String) {
    if is_block(value) {
        out.push('\n');
        block(value, if value.is_array() { depth } else { depth + 1 }, out);
    } else {
        out.push(' ');
        out.push_str(&flow(value));
        out.push('\n');
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text that cannot be taken for anything else stands as it is.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "~"];
    let is_plain_char = |c: char| c.is_ascii_alphanumeric() || " _./@%+=-".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_');
    let is_plain = begins
        && text.chars().all(is_plain_char)
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::String(text.to_owned()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks_are_as_people_write_them() {
        let cases = [
            (json!({}), "{}\n"),
            (json!("text"), "text\n"),
            (
                json!({"b": 1, "a": {"x": [1, "two"], "e": []}}),
                "a:\n  e: []\n  x:\n  - 1\n  - two\nb: 1\n",
            ),
            (json!([{"k": "v", "l": 2}, [1, 2]]), "- k: v\n  l: 2\n- - 1\n  - 2\n"),
            (
                json!({"q": ["yes", "a: b", "1.5", "", "x\ny", "#no"]}),
                "q:\n- \"yes\"\n- \"a: b\"\n- \"1.5\"\n- \"\"\n- \"x\\ny\"\n- \"#no\"\n",
            ),
            (
                json!({"nil": null, "t": true, "p": "/etc/motd", "w": "0644"}),
                "nil: null\np: /etc/motd\nt: true\nw: \"0644\"\n",
            ),
        ];
        for (value, wanted) in cases {
            assert_eq!(written(&value), wanted);
        }
    }
}
