//! What a change would do, and in what points in time differ, in words.

use std::fmt::Write;

use hostler_model::stack::{
    StackAction, StackChangeKind, StackChanges, StackResourceChange, StackValueChange,
};

use crate::output::{counted, lies, one_line, short};

/// Whether there is nothing to do.
pub fn is_nothing(changes: &StackChanges) -> bool {
    let is_making = matches!(changes.action, StackAction::Create | StackAction::Adopt);
    !is_making && changes.is_empty() && changes.parameters.is_empty() && changes.outputs.is_empty()
}

/// Everything that would be done, and how much of each.
pub fn told(changes: &StackChanges) -> String {
    let mut text = String::new();
    for change in changes.resources.iter().filter(|it| it.change != StackChangeKind::Unchanged) {
        text.push_str(&resource(change));
    }
    text.push_str(&values("parameters", &changes.parameters));
    text.push_str(&values("outputs", &changes.outputs));
    for warning in &changes.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if is_nothing(changes) {
        let all = changes.resources.len();
        let are = if all == 1 { "is" } else { "are" };
        return format!("{text}nothing to do: {} {are} as wanted", counted(all, "resource"));
    }
    let parts = [
        (StackChangeKind::Create, "to create"),
        (StackChangeKind::Adopt, "to take over"),
        (StackChangeKind::Update, "to change"),
        (StackChangeKind::Replace, "to replace"),
        (StackChangeKind::Delete, "to remove"),
        (StackChangeKind::Forget, "to forget"),
        (StackChangeKind::Impossible, "that cannot be done"),
        (StackChangeKind::Unchanged, "as they are"),
    ];
    let counted = parts.iter().map(|(kind, words)| (changes.count(*kind), words));
    let said: Vec<String> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    format!("{text}{}", said.join(", "))
}

/// One resource, with every value that differs.
pub fn resource(change: &StackResourceChange) -> String {
    let (mark, verb) = match change.change {
        StackChangeKind::Create => ("+", "create"),
        StackChangeKind::Adopt => ("+", "take over"),
        StackChangeKind::Update => ("~", "change"),
        StackChangeKind::Replace => ("±", "replace"),
        StackChangeKind::Delete => ("-", "remove"),
        StackChangeKind::Forget => ("-", "forget"),
        StackChangeKind::Unchanged => (" ", "as it is"),
        StackChangeKind::Impossible => ("!", "impossible"),
    };
    let mut text = format!("{mark} {verb} {} ({})", lies(&change.path, &change.name), change.kind);
    if change.is_uncertain {
        text.push_str(", perhaps");
    }
    if !change.reason.is_empty() {
        let _ = write!(text, ": {}", one_line(&change.reason));
    }
    text.push('\n');
    for property in &change.properties {
        let _ = writeln!(text, "    {}", value(property));
    }
    text
}

/// Values below a heading; nothing where there are none.
pub fn values(heading: &str, changes: &[StackValueChange]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let lines = changes.iter().map(|change| format!("    {}\n", value(change)));
    format!("  {heading}:\n{}", lines.collect::<String>())
}

fn value(change: &StackValueChange) -> String {
    let shown = |value: Option<&serde_json::Value>| value.map(short);
    let before = shown(change.before.as_ref());
    let after = match change.is_unknown {
        true => Some("(known when it is done)".to_owned()),
        false => shown(change.after.as_ref()),
    };
    let replaces = if change.replaces { "  (replaces)" } else { "" };
    let what = match (before, after) {
        (None, Some(after)) => after,
        (Some(before), Some(after)) => format!("{before} → {after}"),
        (Some(before), None) => format!("{before} → nothing"),
        (None, None) if change.is_secret => "(secret)".to_owned(),
        (None, None) => "nothing".to_owned(),
    };
    format!("{}: {what}{replaces}", change.name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(resources: serde_json::Value) -> StackChanges {
        serde_json::from_value(json!({ "action": "update", "resources": resources })).unwrap()
    }

    #[test]
    fn a_plan_says_what_would_be_done() {
        let plan = changes(json!([
            { "name": "net", "kind": "OS::Heat::None", "change": "unchanged" },
            { "name": "web", "kind": "OS::Heat::Value", "change": "update", "isUncertain": true, "properties": [
                { "name": "value", "before": "a", "after": "b" },
                { "name": "more", "after": {"x": 1} },
                { "name": "less", "before": 2 },
                { "name": "later", "before": 2, "isUnknown": true },
            ] },
            { "name": "0", "path": ["group"], "kind": "My::Type", "change": "replace", "reason": "its type differs", "properties": [
                { "name": "key", "before": "******", "after": "******", "isSecret": true, "replaces": true },
            ] },
        ]));
        assert_eq!(
            told(&plan),
            "~ change web (OS::Heat::Value), perhaps\n    value: a → b\n    more: {\"x\":1}\n    less: 2 → nothing\n    later: 2 → (known when it is done)\n± replace group/0 (My::Type): its type differs\n    key: ****** → ******  (replaces)\n1 to change, 1 to replace, 1 as they are"
        );
        assert!(!is_nothing(&plan));
    }

    #[test]
    fn nothing_is_nothing() {
        let plan = changes(json!([{ "name": "a", "kind": "k", "change": "unchanged" }]));
        assert!(is_nothing(&plan));
        assert_eq!(told(&plan), "nothing to do: 1 resource is as wanted");
        let empty = StackChanges { action: StackAction::Create, ..changes(json!([])) };
        assert!(!is_nothing(&empty), "a stack without resources is one, too");
    }
}
