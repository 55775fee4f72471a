//! Modules that a project keeps, for its workflows to ask for with `require`.
//!
//! A version is known by name and number, and never changes; what it needs itself is part of it. Who asks for `web`
//! means the newest version of that moment, who asks for `web@3` the third.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Digest, ModuleId, PrincipalId, ProjectId, Timestamp};

const NAME_MAX: usize = 128;

/// One version of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleVersion {
    pub id: ModuleId,
    pub project_id: ProjectId,
    pub name: String,
    pub version: u32,
    /// The text of the file and of what it needs.
    pub bundle: Digest,
    /// The name of the file.
    pub file: String,
    /// Modules that it needs itself, and that are part of it.
    pub modules: Vec<ModuleRef>,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
}

/// A version of a module, by name and number: `web@3`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct ModuleRef {
    pub name: String,
    pub version: u32,
}

impl ModuleRef {
    /// From how it is written.
    pub fn of(word: &str) -> Option<ModuleRef> {
        let ModuleAsk { name, version } = ModuleAsk::of(word)?;
        Some(ModuleRef { name, version: version? })
    }
}

impl fmt::Display for ModuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

/// What a module is asked for by: `web` for the newest version, or `web@3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleAsk {
    pub name: String,
    pub version: Option<u32>,
}

impl ModuleAsk {
    /// Nothing when no module can be called so.
    pub fn of(word: &str) -> Option<ModuleAsk> {
        let (name, version) = match word.split_once('@') {
            Some((name, number)) => {
                let is_number =
                    number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
                (name, Some(number.parse::<u32>().ok().filter(|_| is_number)?))
            }
            None => (word, None),
        };
        is_module_name(name).then(|| ModuleAsk { name: name.to_owned(), version })
    }
}

impl fmt::Display for ModuleAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            Some(version) => write!(f, "{}@{version}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Letters, digits, `_`, `-`, and `.` between them.
pub fn is_module_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    name.len() <= NAME_MAX && name.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_asked_for_by_name_or_by_name_and_number() {
        for (word, expected) in [
            ("web", Some(("web", None))),
            ("acme.web_2-x", Some(("acme.web_2-x", None))),
            ("web@3", Some(("web", Some(3)))),
            ("web@4294967295", Some(("web", Some(u32::MAX)))),
            ("web@4294967296", None),
            ("web@0", None),
            ("web@03", None),
            ("web@+3", None),
            ("web@", None),
            ("web@3@4", None),
            ("", None),
            (".web", None),
            ("a..b", None),
            ("a/b", None),
            ("wéb", None),
        ] {
            let found = ModuleAsk::of(word);
            let told = found.as_ref().map(|ask| (ask.name.as_str(), ask.version));
            assert_eq!(told, expected, "{word}");
            if let Some(ask) = found {
                assert_eq!(ask.to_string(), word);
            }
        }
        assert!(!is_module_name(&"x".repeat(129)));
        assert_eq!(ModuleRef::of("web@3").map(|one| one.to_string()).as_deref(), Some("web@3"));
        assert_eq!(ModuleRef::of("web"), None);
    }
}
