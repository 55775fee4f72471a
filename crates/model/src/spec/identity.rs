//! Tokens that a workload is given while it runs, with which it proves what it is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Problems, WorkloadSpec, secret_file_problem};
use crate::RoleName;

/// The token for Hostler's own API, in the directory with the files of secrets.
pub const TOKEN_FILE: &str = "hostler-token";
/// Files that begin like this are Hostler's own.
const OWN_FILES: &str = "hostler-";
/// Whom tokens of [`TOKEN_FILE`] are for.
pub const HOSTLER_AUDIENCE: &str = "hostler";

const TOKENS_MAX: usize = 10;
const AUDIENCE_MAX: usize = 256;

/// What it proves itself with. A token for Hostler's API is always among it, in the file that
/// `HOSTLER_TOKEN_FILE` names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Identity {
    /// What it may do through Hostler's API, in its own project: this role, and never more than whoever
    /// submitted it. Without one it can ask who it is, and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    /// Tokens for others, who check them with the keys of this installation.
    #[schemars(length(max = 10))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<AudienceToken>,
}

/// A token for somebody else than Hostler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AudienceToken {
    /// Whom it is for, as they call themselves; nobody else should take it.
    #[schemars(length(max = 256))]
    pub audience: String,
    /// The file that holds it, beside that of `HOSTLER_TOKEN_FILE`.
    #[schemars(length(max = 128))]
    pub file: String,
}

impl WorkloadSpec {
    pub(super) fn look_at_identity(&self, say: &mut Problems<'_>) {
        let Some(identity) = &self.identity else { return };
        if identity.tokens.len() > TOKENS_MAX {
            say.at("/identity/tokens", "at most 10");
        }
        let secrets = self.secrets.iter().filter_map(|given| given.file.as_deref());
        let mut files: BTreeSet<&str> = secrets.collect();
        for name in files.iter().filter(|name| name.starts_with(OWN_FILES)) {
            let text = format!(
                "`{name}`: files that begin with `hostler-` are Hostler's own where there is an identity"
            );
            say.at("/secrets", text);
        }
        for (i, token) in identity.tokens.iter().enumerate() {
            let at = |part: &str| format!("/identity/tokens/{i}/{part}");
            let audience = &token.audience;
            if audience == HOSTLER_AUDIENCE {
                say.at(&at("audience"), "a token for `hostler` is there already: `hostler-token`");
            } else if audience.is_empty()
                || audience.len() > AUDIENCE_MAX
                || audience.contains(|c: char| c.is_whitespace() || c.is_control())
            {
                say.at(&at("audience"), "an audience has 1 to 256 characters without spaces");
            }
            if let Some(why) = secret_file_problem(&token.file) {
                say.at(&at("file"), why);
            } else if token.file.starts_with(OWN_FILES) {
                say.at(&at("file"), "files that begin with `hostler-` are Hostler's own");
            } else if !files.insert(&token.file) {
                say.at(&at("file"), "this file is given twice");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretUse;

    fn token(audience: &str, file: &str) -> AudienceToken {
        AudienceToken { audience: audience.to_owned(), file: file.to_owned() }
    }

    fn pointers(tokens: Vec<AudienceToken>, secret_file: Option<&str>) -> Vec<String> {
        let secrets = secret_file.map(|file| SecretUse {
            secret: "db".parse().unwrap(),
            env: None,
            file: Some(file.to_owned()),
        });
        let spec = WorkloadSpec {
            secrets: secrets.into_iter().collect(),
            identity: Some(Identity { role: None, tokens }),
            ..WorkloadSpec::command(["true"])
        };
        spec.problems("").into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn each_token_has_an_audience_and_a_file_of_its_own() {
        let vault = || token("https://vault.example", "vault.jwt");
        assert_eq!(pointers(vec![vault()], Some("db")), Vec::<String>::new());
        for (wrong, at) in [
            (token("hostler", "a"), "/identity/tokens/0/audience"),
            (token("", "a"), "/identity/tokens/0/audience"),
            (token("two words", "a"), "/identity/tokens/0/audience"),
            (token("a", "../x"), "/identity/tokens/0/file"),
            (token("a", "hostler-token"), "/identity/tokens/0/file"),
            (token("a", "db"), "/identity/tokens/0/file"),
        ] {
            assert_eq!(pointers(vec![wrong.clone()], Some("db")), [at], "{wrong:?}");
        }
        let twice = pointers(vec![vault(), vault()], None);
        assert_eq!(twice, ["/identity/tokens/1/file"]);
        let many = (0..11).map(|n| token("a", &format!("f{n}"))).collect();
        assert_eq!(pointers(many, None), ["/identity/tokens"]);
        assert_eq!(pointers(vec![], Some("hostler-token")), ["/secrets"]);
    }

    #[test]
    fn it_is_written_as_people_write_it() {
        let text = r#"{"role":"viewer","tokens":[{"audience":"vault","file":"vault.jwt"}]}"#;
        let identity: Identity = serde_json::from_str(text).unwrap();
        assert_eq!(identity.role, Some(crate::Role::Viewer.into()));
        assert_eq!(serde_json::to_string(&identity).unwrap(), text);
        assert_eq!(serde_json::from_str::<Identity>("{}").unwrap(), Identity::default());
        assert!(serde_json::from_str::<Identity>(r#"{"rule":"viewer"}"#).is_err());
    }
}
