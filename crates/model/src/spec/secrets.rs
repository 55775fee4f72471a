//! Secrets that a workload is given when it starts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Problems, Runtime, WorkloadSpec};
use crate::SecretRef;

const USES_MAX: usize = 100;
const FILE_MAX: usize = 128;

/// A secret, and how what runs gets it: as a variable, or as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretUse {
    /// `NAME`, `ENVIRONMENT/NAME`, or either with `:VERSION`; without one, the version that is current
    /// when a run starts.
    pub secret: SecretRef,
    /// The environment variable that holds it. Not for containers, whose engine writes their variables to
    /// its disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// The file that holds it, in the directory that `HOSTLER_SECRETS` names; `/run/secrets` in a
    /// container.
    #[schemars(length(max = 128))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Why this cannot be the name of a secret's file, or `None`.
pub fn secret_file_problem(name: &str) -> Option<&'static str> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let fits = (1..=FILE_MAX).contains(&name.len())
        && name.bytes().all(is_plain)
        && !name.starts_with(['.', '-']);
    (!fits).then_some(
        "a file name has 1 to 128 letters, digits, `-`, `_` or `.`, and begins with neither `.` nor `-`",
    )
}

impl WorkloadSpec {
    pub(super) fn look_at_secrets(&self, say: &mut Problems<'_>) {
        if self.secrets.len() > USES_MAX {
            say.at("/secrets", "at most 100; put several values into one secret");
        }
        let (mut variables, mut files) = (BTreeSet::new(), BTreeSet::new());
        for (i, given) in self.secrets.iter().enumerate() {
            let at = |part: &str| format!("/secrets/{i}{part}");
            match (&given.env, &given.file) {
                (None, None) => say.at(&at(""), "say how it is given: `env` or `file`"),
                (Some(_), Some(_)) => {
                    say.at(&at(""), "either `env` or `file`; name it twice to have both");
                }
                (Some(_), None) if self.runtime == Runtime::Container => say.at(
                    &at("/env"),
                    "a container engine writes variables to its disk; give it as a `file`, which is below /run/secrets",
                ),
                (Some(name), None) => {
                    if let Some(why) = super::variable_problem(name) {
                        say.at(&at("/env"), why);
                    } else if self.env.contains_key(name) || !variables.insert(name) {
                        say.at(&at("/env"), "this variable is given twice");
                    }
                }
                (None, Some(name)) => {
                    if let Some(why) = secret_file_problem(name) {
                        say.at(&at("/file"), why);
                    } else if !files.insert(name) {
                        say.at(&at("/file"), "this file is given twice");
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Container;

    fn given(env: Option<&str>, file: Option<&str>) -> SecretUse {
        let own = |text: Option<&str>| text.map(str::to_owned);
        SecretUse { secret: "prod/db:2".parse().unwrap(), env: own(env), file: own(file) }
    }

    fn pointers(spec: &WorkloadSpec) -> Vec<String> {
        spec.problems("").into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn a_secret_is_given_in_one_way() {
        let with = |secrets| WorkloadSpec { secrets, ..WorkloadSpec::command(["true"]) };
        let good = with(vec![
            given(Some("DB"), None),
            given(Some("DB_2"), None),
            given(None, Some("db.key")),
        ]);
        assert_eq!(pointers(&good), Vec::<String>::new());
        let text = serde_json::to_string(&good.secrets).unwrap();
        assert!(text.contains(r#"{"secret":"prod/db:2","env":"DB"}"#), "{text}");
        assert_eq!(serde_json::from_str::<Vec<SecretUse>>(&text).unwrap(), good.secrets);
        for (wrong, at) in [
            (given(None, None), "/secrets/0"),
            (given(Some("A"), Some("a")), "/secrets/0"),
            (given(Some("A=B"), None), "/secrets/0/env"),
            (given(Some("HOSTLER_X"), None), "/secrets/0/env"),
            (given(None, Some("../x")), "/secrets/0/file"),
            (given(None, Some(".x")), "/secrets/0/file"),
            (given(None, Some("a/b")), "/secrets/0/file"),
            (given(None, Some("")), "/secrets/0/file"),
        ] {
            assert_eq!(pointers(&with(vec![wrong.clone()])), [at], "{wrong:?}");
        }
        let twice = with(vec![given(Some("A"), None), given(Some("A"), None)]);
        assert_eq!(pointers(&twice), ["/secrets/1/env"]);
        let mut both = with(vec![given(Some("A"), None)]);
        both.env.insert("A".to_owned(), "plain".to_owned());
        assert_eq!(pointers(&both), ["/secrets/0/env"]);
    }

    #[test]
    fn containers_get_files_only() {
        let container = Container { image: "debian:12".to_owned(), ..Container::default() };
        let spec = |secret| WorkloadSpec {
            runtime: Runtime::Container,
            container: Some(container.clone()),
            secrets: vec![secret],
            ..WorkloadSpec::command(["true"])
        };
        assert_eq!(pointers(&spec(given(None, Some("db")))), Vec::<String>::new());
        assert_eq!(pointers(&spec(given(Some("DB"), None))), ["/secrets/0/env"]);
    }
}
