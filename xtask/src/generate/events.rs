//! `docs/reference/events.md`: every kind of event, grouped by what it is about.

use std::fmt::Write as _;
use std::path::Path;

use hostler_model::{EventKind, ObjectKind};

use super::labels::Docs;

const SOURCE: &str = "crates/model/src/event.rs";

pub fn page(root: &Path) -> anyhow::Result<String> {
    let labels = EventKind::ALL.iter().map(|kind| kind.label());
    let docs = Docs::read(root, SOURCE, "EventKind", labels)?;
    let mut page = super::heading("Events", &format!("`{SOURCE}`"));
    page.push_str(
        "Everything that happens is recorded as an event, in commit order. `hostler event ls` lists\n\
         them, `hostler event watch` follows them, and `GET /api/v1/events` serves both. Names are\n\
         never changed; new ones may be added.\n",
    );
    let mut group = "";
    for kind in EventKind::ALL {
        let label = kind.label();
        let noun = label.split('.').next().unwrap_or(label);
        if noun != group {
            write!(page, "\n## {noun}\n\n| event | means |\n|---|---|\n")?;
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
