//! Reads `labels!` blocks from source text, for the doc comments that do not exist at run time.
//!
//! It understands the shape that rustfmt gives such a block: the enum's line, then per variant its
//! doc lines, attributes, and `Variant = "label",`. What it finds is checked against the real enum by
//! whoever asks, so a shape it does not understand is an error and never a silent gap.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, ensure};

/// The documentation of every label of an enum, as one line each; empty where there is none.
pub struct Docs {
    enum_name: String,
    of: BTreeMap<String, String>,
}

impl Docs {
    /// Reads the enum `enum_name` from the file `path`; `expected` are the labels it really has.
    pub fn read<'a>(
        root: &Path,
        path: &str,
        enum_name: &str,
        expected: impl IntoIterator<Item = &'a str>,
    ) -> anyhow::Result<Docs> {
        let text = super::read(root, path)?;
        let docs = parse(&text, enum_name).with_context(|| format!("looking in {path}"))?;
        for label in expected {
            ensure!(
                docs.of.contains_key(label),
                "`{enum_name}` in {path} has the label `{label}`, but it was not found in the text"
            );
        }
        Ok(docs)
    }

    /// The documentation of a label, which may be empty.
    pub fn get(&self, label: &str) -> &str {
        self.of.get(label).map_or("", String::as_str)
    }

    /// The documentation of a label that must have one.
    pub fn require(&self, label: &str) -> anyhow::Result<&str> {
        let text = self.get(label);
        ensure!(!text.is_empty(), "`{label}` of `{}` has no doc comment", self.enum_name);
        Ok(text)
    }
}

fn parse(text: &str, enum_name: &str) -> anyhow::Result<Docs> {
    let opening = format!("pub enum {enum_name} (");
    let (_, body) = text
        .split_once(&opening)
        .with_context(|| format!("there is no `labels!` enum `{enum_name}`"))?;
    let mut of = BTreeMap::new();
    let mut doc: Vec<&str> = Vec::new();
    for line in body.lines().skip(1).map(str::trim) {
        if line == "}" {
            break;
        }
        if let Some(words) = line.strip_prefix("///") {
            doc.push(words.trim());
        } else if let Some((_, value)) = line.split_once(" = \"") {
            let label = value.trim_end_matches("\",");
            of.insert(label.to_owned(), doc.join(" "));
            doc.clear();
        }
    }
    Ok(Docs { enum_name: enum_name.to_owned(), of })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
crate::labels! {
    /// Of the whole.
    pub enum Colour ("colour") {
        /// Like blood.
        /// Or wine.
        #[default]
        Red = "red",
        Deep = "deep-blue",
    }
}
pub enum Other (
"#;

    #[test]
    fn doc_lines_belong_to_the_label_after_them() {
        let docs = parse(SOURCE, "Colour").unwrap();
        assert_eq!(docs.get("red"), "Like blood. Or wine.");
        assert_eq!(docs.get("deep-blue"), "");
        assert_eq!(docs.of.len(), 2);
        assert!(docs.require("deep-blue").is_err());
        assert!(parse(SOURCE, "Absent").is_err());
    }
}
