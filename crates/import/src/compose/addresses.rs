//! Names of services as addresses: Compose resolves them, nodes do not.

use hostler_model::WorkloadSpec;

/// Other services that the environment or the command seems to call by name, each once.
pub fn called<'s>(
    spec: &WorkloadSpec,
    own: &str,
    services: impl Iterator<Item = &'s str>,
) -> Vec<&'s str> {
    let texts: Vec<&str> =
        spec.env.values().chain(&spec.command[1..]).map(String::as_str).collect();
    services
        .filter(|service| *service != own && texts.iter().any(|text| names(text, service)))
        .collect()
}

/// `db`, `db:5432`, `postgres://shop@db/shop`, `--host=db`, but not `--database db-name`.
fn names(text: &str, service: &str) -> bool {
    text.match_indices(service).any(|(at, _)| {
        let before = &text[..at];
        let after = &text[at + service.len()..];
        let is_host_before =
            before.is_empty() || before.ends_with("//") || before.ends_with(['@', ',', '=']);
        let is_host_after = after.starts_with([':', '/', ',', '?']) || after.is_empty();
        let is_bare = before.is_empty() && after.is_empty();
        let is_url = before.ends_with("//") || before.ends_with('@') || after.starts_with(':');
        is_host_before && is_host_after && (is_bare || is_url || before.ends_with("host="))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_other_words() {
        for (text, expected) in [
            ("db", true),
            ("db:5432", true),
            ("postgres://u:p@db/shop", true),
            ("http://db:80/x", true),
            ("--host=db", true),
            ("kafka:1,db:2", true),
            ("--name=db", false),
            ("dbname", false),
            ("/var/db", false),
            ("a db b", false),
        ] {
            assert_eq!(names(text, "db"), expected, "{text}");
        }
    }
}
