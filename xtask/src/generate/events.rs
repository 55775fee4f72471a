//! `docs/reference/events.md`: every kind of event, grouped by what it is about.

use std::fmt::Write as _;
use std::path::Path;

use hostler_model::{EventKind, EventPayload, ObjectKind};

use super::labels::Docs;

const SOURCE: &str = "crates/model/src/event.rs";

/// What programs find in the payload of events about `noun`.
fn payload(page: &mut String, noun: &str) -> anyhow::Result<()> {
    let Some(schema) = EventPayload::schema(noun) else { return Ok(()) };
    let schema = schema.as_value();
    let Some(fields) = schema["properties"].as_object() else { return Ok(()) };
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    writeln!(page, "Payload:\n\n| field | means |\n|---|---|")?;
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
         never changed; new ones may be added. Some have a payload, for [filters and hooks](../hooks.md);\n\
         a field that is not there is left out. `correlation` says what caused an event: the id of a\n\
         request, `execution/ID`, `task/ID`, `workload/ID`, `fire/ID/TIME` or `hook/ID/SEQUENCE`. Users tell\n\
         of [events of their own](../events.md), too: `custom.NAME`, with a payload of any form.\n",
    );
    let mut group = "";
    for kind in EventKind::ALL {
        let label = kind.label();
        let noun = label.split('.').next().unwrap_or(label);
        if noun != group {
            write!(page, "\n## {noun}\n\n")?;
            payload(&mut page, noun)?;
            page.push_str("| event | means |\n|---|---|\n");
            group = noun;
        }
        writeln!(page, "| `{label}` | {} |", docs.require(label)?)?;
    }
    let objects: Vec<String> = ObjectKind::ALL.iter().map(|kind| format!("`{kind}`")).collect();
    write!(
        page,
        "\n## Objects\n\nAn event names the object it is about by kind, id and name. The kinds are {}.\n",
        objects.join(", ")
    )?;
    Ok(page)
}
