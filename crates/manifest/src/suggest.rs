//! Words that other tools use.

use hostler_model::suggest::plain;

/// Words that other tools use for a field of ours.
pub(crate) fn translated(given: &str) -> Option<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("after", "depends"),
        ("args", "command"),
        ("argv", "command"),
        ("autorestart", "restart"),
        ("cmd", "command"),
        ("cwd", "workdir"),
        ("dependencies", "depends"),
        ("dependson", "depends"),
        ("directory", "workdir"),
        ("entrypoint", "command"),
        ("environment", "env"),
        ("exec", "command"),
        ("execstart", "command"),
        ("healthcheck", "health"),
        ("healthchecks", "health"),
        ("labels", "tags"),
        ("needs", "depends"),
        ("nodeselector", "placement"),
        ("requires", "depends"),
        ("selector", "placement"),
        ("workingdir", "workdir"),
        ("workingdirectory", "workdir"),
    ];
    let given = plain(given);
    WORDS.iter().find(|(word, _)| *word == given).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_told_in_ours() {
        assert_eq!(translated("depends_on"), Some("depends"));
        assert_eq!(translated("image"), None);
    }
}
