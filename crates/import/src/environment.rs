//! Files of variables: `.env` and its like.

use std::collections::BTreeMap;

use crate::plan::{Place, Source, Unreadable, numbered};

/// Variables by name.
pub type Variables = BTreeMap<String, String>;

/// Reads `KEY=VALUE` lines: an `export` before it, quotes around the value and comments are fine.
pub fn variables(source: Source<'_>) -> Result<Variables, Unreadable> {
    let mut found = Variables::new();
    for (line, text) in numbered(source.text) {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let text = text.strip_prefix("export ").unwrap_or(text).trim_start();
        match text.split_once('=') {
            Some((key, value)) if is_variable(key.trim_end()) => {
                found.insert(key.trim_end().to_owned(), unquoted(value.trim()));
            }
            _ => {
                let place = Place { file: source.file, line };
                let hint = "write one KEY=VALUE a line; lines that begin with # are skipped";
                return Err(place.unreadable(1, "this is not a variable", hint));
            }
        }
    }
    Ok(found)
}

/// Whether it can name a variable in a shell.
pub fn is_variable(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unquoted(value: &str) -> String {
    let quoted = |mark: char| {
        let inner = value.strip_prefix(mark)?;
        let end = inner.find(mark)?;
        let rest = inner[end + 1..].trim_start();
        (rest.is_empty() || rest.starts_with('#')).then(|| &inner[..end])
    };
    if let Some(inner) = quoted('\'') {
        return inner.to_owned();
    }
    if let Some(inner) = quoted('"') {
        return inner.replace("\\n", "\n");
    }
    match value.find(" #") {
        Some(comment) => value[..comment].trim_end().to_owned(),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read() {
        let text =
            "# hi\n\nA=1\nexport B = two words # why\nC='x # y' # z\nD=\"a\\nb\"\nE=\nF=a=b\n";
        let found = variables(Source { file: ".env", text }).unwrap();
        let found: Vec<_> = found.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(found, ["A=1", "B=two words", "C=x # y", "D=a\nb", "E=", "F=a=b"]);
        let wrong = variables(Source { file: ".env", text: "A=1\nnonsense\n" }).unwrap_err();
        assert_eq!(wrong.to_string(), ".env:2:1: this is not a variable");
    }
}
