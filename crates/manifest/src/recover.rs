//! Reading on after a failure.
//!
//! A type is read from the tree; when that fails, the failure is noted, what caused it is taken out
//! of the tree (or, for a misspelt field, given its right name), and reading begins again. Each round
//! makes the tree smaller or better, so there is an end. What follows only from an earlier repair is
//! not noted: somebody who wrote a bad port is not told that the port is missing.

use serde::de::DeserializeOwned;

use crate::fault::{Fault, Kind};
use crate::mistake::{Notes, Place};
use crate::reader::Reader;
use crate::suggest::translated;
use crate::tree::{Node, Step, Value};
use hostler_model::suggest::nearest;

/// More mistakes than this in one workload help nobody.
const ROUNDS: usize = 200;

/// What could be read, and what of it cannot be relied on.
pub(crate) struct Recovered<T> {
    /// `None` when too little was left.
    pub value: Option<T>,
    /// Pointers to what was taken out.
    gone: Vec<String>,
}

impl<T> Recovered<T> {
    /// Whether what was taken out may be the only reason for a problem at this place.
    pub fn is_doubtful(&self, path: &[Step]) -> bool {
        let pointer = pointer(path);
        let is_below = |a: &str, b: &str| a == b || a.starts_with(&format!("{b}/"));
        self.gone.iter().any(|gone| {
            is_below(gone, &pointer)
                || is_below(&pointer, gone)
                || pointer == "/command" && is_below(gone, "/python")
        })
    }
}

/// Reads a `T`, noting every mistake. `what` is the noun for the whole.
pub(crate) fn read<T: DeserializeOwned>(
    node: &mut Node,
    what: &str,
    notes: &mut Notes<'_>,
) -> Recovered<T> {
    let mut gone: Vec<String> = Vec::new();
    for _ in 0..ROUNDS {
        match T::deserialize(Reader(node)) {
            Ok(value) => return Recovered { value: Some(value), gone },
            Err(fault) => {
                let path = fault.path();
                if !is_consequence(&fault, &path, &gone) {
                    let told = tell(&fault, node, &path, what);
                    notes.at(told.place, told.detail, told.hint);
                }
                if !repair(&fault, node, &path, &mut gone) {
                    return Recovered { value: None, gone };
                }
            }
        }
    }
    notes.at(node.place, "there are more mistakes here", "correct the ones above first");
    Recovered { value: None, gone }
}

fn is_consequence(fault: &Fault, path: &[Step], gone: &[String]) -> bool {
    let here = pointer(path);
    match &fault.kind {
        Kind::Noted => true,
        Kind::Missing(field) => gone.contains(&format!("{here}/{field}")),
        Kind::UnknownField { .. } => false,
        _ => gone.iter().any(|gone| gone.starts_with(&format!("{here}/"))),
    }
}

/// Takes out or renames what failed; `false` when nothing is left to be read.
fn repair(fault: &Fault, node: &mut Node, path: &[Step], gone: &mut Vec<String>) -> bool {
    let Some((_, above)) = path.split_last() else {
        return false;
    };
    if let (Kind::UnknownField { field, known }, Some(parent)) = (&fault.kind, node.at_mut(above)) {
        let meant = nearest(field, known.iter().copied()).filter(|m| parent.get(m).is_none());
        if let (Some(meant), Value::Map(entries)) = (meant, &mut parent.value) {
            for entry in entries.iter_mut().filter(|entry| entry.key == *field) {
                meant.clone_into(&mut entry.key);
            }
            return true;
        }
        let other = translated(field).filter(|ours| parent.get(ours).is_none());
        gone.extend(other.map(|ours| format!("{}/{ours}", pointer(above))));
    }
    gone.push(pointer(path));
    node.remove(path)
}

fn pointer(path: &[Step]) -> String {
    let escape = |key: &String| key.replace('~', "~0").replace('/', "~1");
    path.iter()
        .map(|step| match step {
            Step::Key(key) => format!("/{}", escape(key)),
            Step::Index(at) => format!("/{at}"),
        })
        .collect()
}

/// A path as people write it: `health[0].check`.
pub(crate) fn dotted(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Index(at) => out.push_str(&format!("[{at}]")),
            Step::Key(key) if out.is_empty() => out.push_str(key),
            Step::Key(key) => out.push_str(&format!(".{key}")),
        }
    }
    out
}

struct Told {
    place: Place,
    detail: String,
    hint: String,
}

fn tell(fault: &Fault, node: &Node, path: &[Step], what: &str) -> Told {
    let name = dotted(path);
    let told = |place, detail, hint| Told { place, detail, hint };
    match &fault.kind {
        Kind::UnknownField { field, known } => {
            let above = path.split_last().map_or(&[][..], |(_, above)| above);
            let of = if above.is_empty() { what.into() } else { format!("`{}`", dotted(above)) };
            let hint = field_hint(field, known, above.is_empty());
            told(node.key_place(path), format!("`{field}` is not a field of {of}"), hint)
        }
        Kind::UnknownVariant { given, known, is_key } => {
            let hint = match nearest(given, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("use one of: {}", known.join(", ")),
            };
            let mut place = path.to_vec();
            place.extend(is_key.then(|| Step::Key(given.clone())));
            let place = if *is_key { node.key_place(&place) } else { node.place_of(&place) };
            told(place, format!("`{name}` cannot be `{given}`"), hint)
        }
        Kind::Missing(field) => {
            let of = if path.is_empty() { what.to_owned() } else { format!("`{name}`") };
            let place = node.key_place(path);
            told(place, format!("{of} needs `{field}`"), format!("add `{field}: …`"))
        }
        Kind::Type { found, expected } => {
            let hint = type_hint(path, found, expected);
            let subject = if name.is_empty() { what.to_owned() } else { format!("`{name}`") };
            let detail = format!("{subject} must be {expected}, not {found}");
            told(node.place_of(path), detail, hint)
        }
        Kind::Other(message) => {
            let (detail, hint) = advice(message);
            let subject = if name.is_empty() { String::new() } else { format!("`{name}`: ") };
            told(node.place_of(path), format!("{subject}{detail}"), hint)
        }
        Kind::Noted => told(node.place_of(path), String::new(), String::new()),
    }
}

/// Parts what is wrong from what to do, where a message says both.
pub(crate) fn advice(message: &str) -> (String, String) {
    let (detail, hint) = message.split_once("; ").unwrap_or((message, ""));
    (detail.to_owned(), hint.to_owned())
}

fn field_hint(field: &str, known: &[&str], is_root: bool) -> String {
    let elsewhere = match field {
        "spec" => Some("write the fields of `spec` beside `name`"),
        "schedule" | "cron" => Some("write `mode: {schedule: {cron: \"0 3 * * *\"}}`"),
        "times" => Some("write `mode: {times: 3}`"),
        "module" | "entry_point" => Some("write `python: {module: …, entry: …}`"),
        "memory" | "cpu" | "nice" => Some("write it below `limits`"),
        "node" | "count" => Some("write it below `placement`"),
        _ => None,
    };
    if let Some(meant) = nearest(field, known.iter().copied()) {
        return format!("did you mean `{meant}`?");
    }
    if let Some(hint) = elsewhere.filter(|_| is_root) {
        return hint.to_owned();
    }
    match translated(field).filter(|ours| known.contains(ours)) {
        Some(ours) => format!("it is called `{ours}` here"),
        None => format!("the fields here are: {}", known.join(", ")),
    }
}

fn type_hint(path: &[Step], found: &str, expected: &str) -> String {
    let is_command = matches!(path.last(), Some(Step::Key(key)) if ["command", "exec", "hook"].contains(&key.as_str()));
    let hint = match expected {
        "a list" if is_command => {
            "write program and arguments as a list: [program, argument]; with a shell: [sh, -c, \"…\"]"
        }
        "a list" => "write each of them on a line of its own after `- `",
        "a mapping" => "write its fields indented below it, as `field: value`",
        "a text" if found == "nothing" => "write '' for an empty text",
        "true or false" => "write true or false, without quotes",
        _ if expected.starts_with("a whole number") && found.starts_with("the text") => {
            "write digits only, without quotes"
        }
        _ => "",
    };
    hint.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Mode, WorkloadSpec};

    fn spec(text: &str) -> (Recovered<WorkloadSpec>, Vec<String>) {
        let mut notes = Notes::new("f", text);
        let mut node = crate::parse::parse(text, &mut notes).documents.remove(0);
        let recovered = read(&mut node, "a workload", &mut notes);
        let found = notes.found.iter();
        (recovered, found.map(|m| format!("{}:{}: {}", m.line, m.column, m.detail)).collect())
    }

    #[test]
    fn what_is_meant_for_certain_is_taken() {
        let (read, found) = spec(
            "command: [sleep, 60, true]\nenv: {A: 1.50}\numask: 022\nlimits:\nversion: 1.10\nmode: {times: 3}\n",
        );
        assert!(found.is_empty(), "{found:?}");
        let spec = read.value.unwrap();
        assert_eq!(spec.command, ["sleep", "60", "true"]);
        assert_eq!(spec.env["A"], "1.50");
        assert_eq!(spec.umask.as_deref(), Some("022"));
        assert_eq!(spec.version.as_deref(), Some("1.10"));
        assert_eq!(spec.mode, Mode::Times(3));
    }

    #[test]
    fn every_mistake_is_found_and_no_consequence() {
        let (read, found) = spec(
            "comand: [a]\nmode: sometimes\ntimeout: 5\nlimits: {memory: lots, pids: x}\nhealth:\n- check: {tcp: {port: 99999}}\n- {}\n- check: process\n  interval: no\n",
        );
        assert_eq!(
            found,
            [
                "1:1: `comand` is not a field of a workload",
                "2:7: `mode` cannot be `sometimes`",
                "3:10: `timeout`: `5` is not a duration",
                "4:18: `limits.memory`: `lots` is not a size",
                "4:30: `limits.pids` must be a whole number from 0 to 4294967295, not the text `x`",
                "6:23: `health[0].check.tcp.port` must be a whole number from 0 to 65535, not the number 99999",
                "7:3: `health[1]` needs `check`",
                "9:13: `health[2].interval`: `no` is not a duration",
            ]
        );
        let doubtful = |words: &[&str]| {
            let path: Vec<Step> = words.iter().map(|word| Step::Key((*word).into())).collect();
            read.is_doubtful(&path)
        };
        assert!(doubtful(&["limits", "memory"]) && doubtful(&["health"]));
        assert!(!doubtful(&["command"]) && !doubtful(&["limits", "memoryHigh"]));
        assert_eq!(read.value.unwrap().command, ["a"]);
    }
}
