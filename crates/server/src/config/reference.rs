//! The page about every setting, made from the list of them.

use super::{Kind, SETTINGS, Setting};

/// `docs/reference/config.md`.
pub fn reference_markdown() -> String {
    let mut text = String::from(
        "# Configuration of a server\n\nA TOML file named by `--config`. Every key can also be set in the environment, as `HOSTLER_SERVER__` and its name in capitals (`HOSTLER_SERVER__LISTEN`, `HOSTLER_SERVER__PATIENCE__LOST_AFTER`); lists are separated by commas there. Flags win over the environment, which wins over the file. Durations are written as `500ms`, `30s`, `1m30s`, `2h`, `7d`.\n",
    );
    table(&mut text, SETTINGS);
    for setting in SETTINGS {
        if let Kind::Named(inner) = setting.kind {
            text.push_str(&format!("\n## `[{}.NAME]`\n\n{}\n", setting.name, setting.doc));
            table(&mut text, inner);
        }
        if let Kind::Section(inner) = setting.kind {
            text.push_str(&format!("\n## `[{}]`\n\n{}\n", setting.name, setting.doc));
            table(&mut text, inner);
            for several in inner {
                if let Kind::Section(keys) = several.kind {
                    let name = format!("{}.{}", setting.name, several.name);
                    text.push_str(&format!("\n### `[{name}]`\n\n{}\n", several.doc));
                    table(&mut text, keys);
                }
                if let Kind::Sections(keys) = several.kind {
                    let name = format!("{}.{}", setting.name, several.name);
                    text.push_str(&format!("\n### `[[{name}]]`\n\n{}\n", several.doc));
                    table(&mut text, keys);
                }
            }
        }
    }
    text
}

fn table(text: &mut String, settings: &[Setting]) {
    let is_section = |kind: Kind| matches!(kind, Kind::Section(_) | Kind::Named(_));
    if settings.iter().all(|setting| is_section(setting.kind)) {
        return;
    }
    text.push_str("\n| key | type | default | meaning |\n|---|---|---|---|\n");
    for setting in settings {
        let kind = match setting.kind {
            Kind::Text => "text",
            Kind::Number => "number",
            Kind::Flag => "true or false",
            Kind::List => "list of text",
            Kind::Section(_) | Kind::Sections(_) | Kind::Named(_) => continue,
        };
        let Setting { name, default, doc, .. } = setting;
        text.push_str(&format!("| `{name}` | {kind} | {default} | {doc} |\n"));
    }
}
