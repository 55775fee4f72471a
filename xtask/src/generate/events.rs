//! `docs/reference/events.md`: every kind of event, grouped by what it is about.

use std::fmt::Write as _;
use std::path::Path;

use hostler_model::{EventKind, EventPayload, ObjectKind};
use serde_json::Value;

use super::labels::Docs;

const SOURCE: &str = "crates/model/src/event.rs";

/// What programs find in the payloads of these kinds: one table for all that have the same.
fn payloads(page: &mut String, kinds: &[EventKind]) -> anyhow::Result<()> {
    let mut forms: Vec<(Value, Vec<&str>)> = Vec::new();
    for kind in kinds {
        let Some(schema) = EventPayload::schema(*kind) else { continue };
        let schema = schema.to_value();
        match forms.iter_mut().find(|(known, _)| *known == schema) {
            Some((_, labels)) => labels.push(kind.label()),
            None => forms.push((schema, vec![kind.label()])),
        }
    }
    let is_one = forms.iter().all(|(_, labels)| labels.len() == kinds.len());
    for (schema, labels) in &forms {
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let of = if is_one { String::new() } else { format!(" of {}", labels.join(", ")) };
        payload(page, schema, &of)?;
    }
    Ok(())
}

fn payload(page: &mut String, schema: &Value, of: &str) -> anyhow::Result<()> {
    let Some(fields) = schema["properties"].as_object() else { return Ok(()) };
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    writeln!(page, "Payload{of}:\n\n| field | means |\n|---|---|")?;
    for (name, field) in fields {
        let words = field["description"].as_str().unwrap_or_default();
        let optional = if required(name) { "" } else { " (where there is one)" };
        writeln!(page, "| `payload.{name}` | {words}{optional} |")?;
    }
    page.push('\n');
    Ok(())
}

pub fn page(root: &Path) -> anyhow::Result<String> {
    let labels = EventKind::ALL.iter().map(|kind| kind.label());
    let docs = Docs::read(root, SOURCE, "EventKind", labels)?;
    let mut page = super::heading("Events", &format!("`{SOURCE}`"));
    page.push_str(
        "Everything that happens is recorded as an event, in commit order. `hostler event ls` lists\n\
         them, `hostler event watch` follows them, and `GET /api/v1/events` serves both. Names are\n\
         never changed; new ones may be added. They have payloads, for [filters and hooks](../hooks.md);\n\
         a field that is not there is left out. `correlation` says what caused an event: the id of a\n\
         request, `execution/ID`, `task/ID`, `workload/ID`, `fire/ID/TIME` or `hook/ID/SEQUENCE`. Users tell\n\
         of [events of their own](../events.md), too: `custom.NAME`, with a payload of any form.\n",
    );
    let mut nouns: Vec<&str> = Vec::new();
    for kind in EventKind::ALL {
        if !nouns.contains(&kind.noun()) {
            nouns.push(kind.noun());
        }
    }
    for noun in nouns {
        let kinds: Vec<EventKind> =
            EventKind::ALL.iter().copied().filter(|kind| kind.noun() == noun).collect();
        write!(page, "\n## {noun}\n\n")?;
        payloads(&mut page, &kinds)?;
        page.push_str("| event | means |\n|---|---|\n");
        for kind in kinds {
            writeln!(page, "| `{kind}` | {} |", docs.require(kind.label())?)?;
        }
    }
    let objects: Vec<String> = ObjectKind::ALL.iter().map(|kind| format!("`{kind}`")).collect();
    write!(
        page,
        "\n## Objects\n\nAn event names the object it is about by kind, id and name. The kinds are {}.\n",
        objects.join(", ")
    )?;
    Ok(page)
}
