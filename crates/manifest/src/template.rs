//! Files with templates: `{{ name }}` and `{% if … %}` are filled in before the YAML is read.
//!
//! Names come from, strongest first: `vars:` at the top of the file itself, the folder's
//! `vars.yaml`, and `env` with the environment. A name that is not there is a mistake, never an empty
//! text. Work and size are bounded.

use std::collections::BTreeMap;
use std::io;

use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::mistake::{Mistake, Notes, Place};
use crate::parse::parse;
use crate::reader::Reader;

const FUEL: u64 = 1_000_000;

/// What templates can name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub env: BTreeMap<String, String>,
    pub shared: Map<String, Value>,
}

pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}

/// Fills a file in; the result is at most `limit` bytes.
pub(crate) fn render(
    file: &str,
    text: &str,
    context: &Context,
    limit: usize,
) -> Result<String, Vec<Mistake>> {
    let mut names = context.shared.clone();
    let inline = match vars_block(text) {
        Some(block) if is_template(&block) => {
            Some(fill(file, text, &block, &names, &context.env, limit)?)
        }
        block => block,
    };
    if let Some(block) = inline {
        names.extend(variables(file, &block, "vars")?);
    }
    fill(file, text, text, &names, &context.env, limit)
}

fn fill(
    file: &str,
    whole: &str,
    text: &str,
    names: &Map<String, Value>,
    env: &BTreeMap<String, String>,
    limit: usize,
) -> Result<String, Vec<Mistake>> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let mut context = names.clone();
    context.entry("env").or_insert_with(|| json!(env));
    let mut out = Bounded { bytes: Vec::new(), limit };
    let rendered = environment.template_from_named_str(file, text).and_then(|template| {
        template.render_captured_to(minijinja::value::Serde(&context), &mut out).map(drop)
    });
    match rendered {
        Ok(()) => {
            let mut filled = String::from_utf8_lossy(&out.bytes).into_owned();
            if text.ends_with('\n') && !filled.ends_with('\n') {
                filled.push('\n');
            }
            Ok(filled)
        }
        Err(error) => Err(vec![mistake(file, whole, &error, out.bytes.len() >= limit)]),
    }
}

fn mistake(file: &str, text: &str, error: &minijinja::Error, is_full: bool) -> Mistake {
    let line = error.line().unwrap_or(1);
    let before = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let start = |mark: &str| before.find(mark).map(|at| before[..at].chars().count() + 1);
    let column = start("{{").into_iter().chain(start("{%")).min().unwrap_or(1);
    let mut notes = Notes::new(file, text);
    let (detail, hint) = if is_full {
        ("the filled-in file is too large".to_owned(), "a file has at most 1 MiB")
    } else {
        let kind = error.kind();
        let detail = match error.detail() {
            Some(detail) => format!("the template cannot be filled in: {kind}: {detail}"),
            None => format!("the template cannot be filled in: {kind}"),
        };
        let hint = match kind {
            minijinja::ErrorKind::UndefinedError => {
                "give it a value below `vars:` in this file or in vars.yaml, or take `env.NAME`"
            }
            _ => "to keep braces as they are, write {% raw %} before and {% endraw %} after them",
        };
        (detail, hint)
    };
    notes.at(Place { line, column }, detail, hint);
    notes.found.remove(0)
}

/// The lines of a top-level `vars:`, as they stand; the rest of the file need not be YAML yet.
fn vars_block(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| {
        !line.strip_prefix("vars:").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let first = lines.next()?;
    let rest = lines.take_while(|line| {
        line.is_empty() || line.starts_with([' ', '\t', '#']) || line.trim().is_empty()
    });
    let block: Vec<&str> = std::iter::once(first).chain(rest).collect();
    Some(block.join("\n") + "\n")
}

/// The mapping in a text of variables; `below` is the field it is in, or nothing.
pub(crate) fn variables(
    file: &str,
    text: &str,
    below: &str,
) -> Result<Map<String, Value>, Vec<Mistake>> {
    let mut notes = Notes::new(file, text);
    let documents = parse(text, &mut notes).documents;
    let node = documents.first().and_then(|document| match below {
        "" => Some(document),
        below => document.get(below),
    });
    let mut names = Map::new();
    match node.filter(|node| !node.is_nothing()) {
        Some(node) => match Map::deserialize(Reader(node)) {
            Ok(found) => names = found,
            Err(_) => notes.at(
                node.place,
                "variables are a mapping of names to values",
                "write them as `name: value`",
            ),
        },
        None if documents.len() > 1 => {
            notes.at(Place { line: 1, column: 1 }, "variables are one document", "");
        }
        None => {}
    }
    if notes.found.is_empty() { Ok(names) } else { Err(notes.found) }
}

struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > self.limit {
            self.bytes.resize(self.limit, b' ');
            return Err(io::Error::other("too large"));
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        let env = [("REGION".to_owned(), "eu".to_owned())].into();
        let shared = json!({ "port": 80, "zone": "shared" });
        Context { env, shared: shared.as_object().cloned().unwrap() }
    }

    #[test]
    fn names_come_from_the_file_then_the_folder_then_the_environment() {
        let text = "vars:\n  zone: '{{ env.REGION }}-1'\n\nname: a\nx: {{ zone }} {{ port }} {{ env.REGION }}\n{% if port == 80 %}y: 1\n{% endif %}";
        let out = render("f", text, &context(), 1 << 20).unwrap();
        assert!(out.contains("x: eu-1 80 eu\n"), "{out}");
        assert!(out.contains("y: 1"), "{out}");
    }

    #[test]
    fn braces_in_values_are_not_escaped() {
        let text = "x: {{ '<a href=\"b\">' }} {% raw %}{{ kept }}{% endraw %}\n";
        let out = render("f.yaml", text, &context(), 1 << 20).unwrap();
        assert_eq!(out, "x: <a href=\"b\"> {{ kept }}\n");
    }

    #[test]
    fn failures_have_a_place() {
        for (text, line, column) in [
            ("a: 1\nb: {{ gone }}\n", 2, 4),
            ("a: {{ env.GONE }}\n", 1, 4),
            ("{% for x in %}\n", 1, 1),
            ("vars: 5\na: {{ b }}\n", 1, 7),
            ("a: 1\n{% for x in range(1000000) %}{{ x }}{% endfor %}\n", 2, 1),
        ] {
            let mistakes = render("f", text, &context(), 1 << 20).unwrap_err();
            let at = (mistakes[0].line, mistakes[0].column);
            assert_eq!(at, (line, column), "{text}: {mistakes:?}");
        }
        let large = "{% for x in range(9000) %}{{ 'x' }}{% endfor %}";
        let mistakes = render("f", large, &context(), 1000).unwrap_err();
        assert!(mistakes[0].detail.contains("too large"), "{mistakes:?}");
    }
}
