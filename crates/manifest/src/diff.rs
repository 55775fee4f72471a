//! What changes from one set of workloads to another.

use std::fmt;

use hostler_model::{Name, WorkloadSpec};
use serde_json::Value;

use crate::set::Set;

/// One field that is not what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// As people write it: `command[1]`, `limits.memory`.
    pub path: String,
    /// `None`: was not set.
    pub old: Option<Value>,
    /// `None`: is not set any more.
    pub new: Option<Value>,
}

/// Shown as `command[1] "a" -> "b"`.
impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |value: &Option<Value>| match value {
            Some(value) => short(value.to_string()),
            None => "unset".to_owned(),
        };
        write!(f, "{} {} -> {}", self.path, side(&self.old), side(&self.new))
    }
}

fn short(text: String) -> String {
    match text.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    pub added: Vec<Name>,
    pub removed: Vec<Name>,
    pub changed: Vec<(Name, Vec<FieldChange>)>,
    pub unchanged: Vec<Name>,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// A line for everything that is added (`+ web`), removed (`- web`) or changed
/// (`~ web: command[1] "a" -> "b"`).
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = Vec::new();
        lines.extend(self.added.iter().map(|name| format!("+ {name}")));
        lines.extend(self.removed.iter().map(|name| format!("- {name}")));
        for (name, changes) in &self.changed {
            lines.extend(changes.iter().map(|change| format!("~ {name}: {change}")));
        }
        f.write_str(&lines.join("\n"))
    }
}

/// What becomes different when `new` takes the place of `old`. Where workloads are written does not
/// count, and neither does a default that is spelled out.
pub fn diff(old: &Set, new: &Set) -> Difference {
    let mut difference = Difference::default();
    for (name, item) in &new.workloads {
        match old.workloads.get(name) {
            None => difference.added.push(name.clone()),
            Some(before) if before.spec == item.spec => difference.unchanged.push(name.clone()),
            Some(before) => {
                let changes = changes(&before.spec, &item.spec);
                difference.changed.push((name.clone(), changes));
            }
        }
    }
    let gone = old.workloads.keys().filter(|name| !new.workloads.contains_key(name));
    difference.removed.extend(gone.cloned());
    difference
}

fn changes(old: &WorkloadSpec, new: &WorkloadSpec) -> Vec<FieldChange> {
    let mut found = Vec::new();
    compare(String::new(), Some(value(old)), Some(value(new)), &mut found);
    found
}

fn value(spec: &WorkloadSpec) -> Value {
    serde_json::to_value(spec).expect("a spec is made of what JSON has")
}

fn compare(path: String, old: Option<Value>, new: Option<Value>, found: &mut Vec<FieldChange>) {
    match (old, new) {
        (old, new) if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(mut new))) => {
            let join = |key: &str| match path.is_empty() {
                true => key.to_owned(),
                false => format!("{path}.{key}"),
            };
            for (key, value) in old {
                let other = new.shift_remove(&key);
                compare(join(&key), Some(value), other, found);
            }
            for (key, value) in new {
                compare(join(&key), None, Some(value), found);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            let longer = old.len().max(new.len());
            let (mut old, mut new) = (old.into_iter(), new.into_iter());
            for i in 0..longer {
                compare(format!("{path}[{i}]"), old.next(), new.next(), found);
            }
        }
        (old, new) => found.push(FieldChange { path, old, new }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_str;

    fn set(text: &str) -> Set {
        load_str("f", text).unwrap_or_else(|report| panic!("{report}"))
    }

    #[test]
    fn only_what_changed_is_said() {
        let old = set(
            "workloads:\n- {name: same, command: [a]}\n- {name: gone, command: [a]}\n- {name: api, command: [run, a], env: {A: x}, limits: {pids: 5}}\n",
        );
        let new = set(
            "workloads:\n- {name: api, command: [run, b, c], env: {B: y}, limits: {pids: 6}, mode: forever}\n- {name: web, command: [a]}\n- {name: same, command: [a], mode: once, resources: {cores: 0.02}}\n",
        );
        let difference = diff(&old, &new);
        assert_eq!(
            difference.to_string(),
            "+ web\n- gone\n~ api: mode \"once\" -> \"forever\"\n~ api: command[1] \"a\" -> \"b\"\n~ api: command[2] unset -> \"c\"\n~ api: env.A \"x\" -> unset\n~ api: env.B unset -> \"y\"\n~ api: limits.pids 5 -> 6"
        );
        assert_eq!(difference.unchanged.len(), 1);
        assert!(diff(&new, &new).is_empty() && !difference.is_empty());
    }
}
