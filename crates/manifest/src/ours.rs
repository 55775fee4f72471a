//! One workload in Hostler's own form: `name` and the fields of a spec beside it.

use hostler_model::{Name, WorkloadSpec};

use crate::fault::short;
use crate::mistake::{Notes, Place};
use crate::recover;
use crate::scalar::Scalar;
use crate::tree::{Node, Value};

/// A workload of a document, as far as it could be read.
pub(crate) struct Written {
    pub name: Option<Name>,
    pub name_place: Place,
    /// Without what is wrong in it; `None` when too little is left.
    pub spec: Option<WorkloadSpec>,
    /// Nothing is wrong in it.
    pub is_right: bool,
    /// What it was read from.
    pub node: Node,
}

/// Reads a mapping; every mistake is noted.
pub(crate) fn read(mut node: Node, notes: &mut Notes<'_>) -> Written {
    let before = notes.found.len();
    let (name, name_place) = read_name(&mut node, notes);
    let recovered = recover::read::<WorkloadSpec>(&mut node, "a workload", notes);
    if let Some(spec) = &recovered.value {
        for problem in spec.problems("") {
            let path = node.steps(&problem.pointer);
            if !recovered.is_doubtful(&path) {
                let name = recover::dotted(&path);
                let words: Vec<&str> = problem.detail.split_whitespace().collect();
                let (detail, hint) = recover::advice(&words.join(" "));
                notes.at(node.place_of(&path), format!("`{name}`: {detail}"), hint);
            }
        }
    }
    let is_right = notes.found.len() == before;
    Written { name, name_place, spec: recovered.value, is_right, node }
}

fn read_name(node: &mut Node, notes: &mut Notes<'_>) -> (Option<Name>, Place) {
    let Some(entry) = node.take("name") else {
        let hint = "add `name: …` with lowercase letters, digits and `-`";
        notes.at(node.place, "a workload needs `name`", hint);
        return (None, node.place);
    };
    let place = entry.node.place;
    match entry.node.value {
        Value::Scalar(scalar) if !scalar.is_nothing() => match scalar.text.parse() {
            Ok(name) => (Some(name), place),
            Err(_) => {
                let detail = format!("`{}` is not a name", short(&scalar.text));
                notes.at(place, detail, name_hint(&scalar));
                (None, place)
            }
        },
        Value::Lost | Value::Gone => (None, place),
        Value::Scalar(_) | Value::List(_) | Value::Map(_) => {
            notes.at(entry.place, "`name` must be a text", "write `name: …`");
            (None, entry.place)
        }
    }
}

fn name_hint(scalar: &Scalar) -> String {
    let rule = "use 1 to 63 lowercase letters, digits or `-`, with no `-` at either end";
    match as_name(&scalar.text) {
        Some(name) => format!("{rule}; for example `{name}`"),
        None => rule.to_owned(),
    }
}

/// The nearest text that can be a name.
pub(crate) fn as_name(text: &str) -> Option<Name> {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => out.push(c),
            _ if out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    let cut: String = out.trim_matches('-').chars().take(Name::MAX).collect();
    cut.trim_matches('-').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_names() {
        for (text, name) in [
            ("my_job", Some("my-job")),
            ("My Job!", Some("my-job")),
            ("a__b", Some("a-b")),
            ("_x_", Some("x")),
            ("web", Some("web")),
            ("___", None),
            ("", None),
        ] {
            assert_eq!(as_name(text).as_ref().map(Name::as_str), name, "{text}");
        }
        assert_eq!(as_name(&"a_".repeat(40)).unwrap().as_str().len(), 63);
    }
}
