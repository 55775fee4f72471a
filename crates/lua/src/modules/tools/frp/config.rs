//! The configuration of frp, which is TOML, and a unit of systemd.

use std::path::Path;

use serde_json::Value as Json;

/// A document as TOML: texts and numbers are written as in JSON, tables in one line, lists of tables as such.
pub(super) fn toml(document: &Json) -> String {
    let Json::Object(entries) = document else { return String::new() };
    let mut text = String::new();
    let is_tables = |value: &Json| match value {
        Json::Array(items) => !items.is_empty() && items.iter().all(Json::is_object),
        _ => false,
    };
    for (name, value) in entries.iter().filter(|(_, value)| !is_tables(value) && !value.is_null()) {
        text.push_str(&format!("{} = {}\n", key(name), inline(value)));
    }
    for (name, value) in entries.iter().filter(|(_, value)| is_tables(value)) {
        for item in value.as_array().into_iter().flatten() {
            text.push_str(&format!("\n[[{}]]\n", key(name)));
            for (name, value) in item.as_object().into_iter().flatten() {
                text.push_str(&format!("{} = {}\n", key(name), inline(value)));
            }
        }
    }
    text
}

fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    // Names with dots lead into tables, as `transport.protocol`.
    if !name.is_empty() && name.split('.').all(|part| !part.is_empty() && part.chars().all(is_bare))
    {
        name.to_owned()
    } else {
        Json::from(name).to_string()
    }
}

fn inline(value: &Json) -> String {
    match value {
        Json::Object(entries) => {
            let pairs = entries.iter().filter(|(_, value)| !value.is_null());
            let pairs: Vec<String> =
                pairs.map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
            if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.to_string(),
    }
}

pub(super) fn unit(name: &str, program: &str, binary: &Path, config: &Path) -> String {
    let (binary, config) = (binary.display(), config.display());
    format!(
        "[Unit]\nDescription={program} {name}\nAfter=network-online.target\nWants=network-online.target\n\n[Service]\nExecStart=\"{binary}\" -c \"{config}\"\nRestart=on-failure\nRestartSec=5\nLimitNOFILE=1048576\n\n[Install]\nWantedBy=multi-user.target\n"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_become_toml() {
        let document = json!({
            "bindPort": 7000, "a b": "x\"y", "log.level": "info", "none": null,
            "auth": { "method": "token", "deep": { "on": true } },
            "proxies": [{ "name": "ssh", "customDomains": ["a", "b"] }, { "name": "web" }],
        });
        assert_eq!(
            toml(&document),
            "bindPort = 7000\n\"a b\" = \"x\\\"y\"\nlog.level = \"info\"\nauth = { method = \"token\", deep = { on = true } }\n\n[[proxies]]\nname = \"ssh\"\ncustomDomains = [\"a\", \"b\"]\n\n[[proxies]]\nname = \"web\"\n"
        );
    }
}
