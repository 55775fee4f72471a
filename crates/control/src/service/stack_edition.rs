//! The editions of the template language.

use hostler_template::function::Dialect;
use hostler_template::template::Version;

use crate::Control;

/// One edition of the template language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackEdition {
    /// The key under which a template says it, and what it says there, or may say instead.
    pub key: &'static str,
    pub version: &'static str,
    pub alias: Option<&'static str>,
    /// Names of the functions that values may have, sorted.
    pub functions: Vec<&'static str>,
    /// Names of the functions that conditions may have, sorted; none where there are no conditions.
    pub conditions: Vec<&'static str>,
}

impl Control {
    /// From the oldest to the newest; those of CloudFormation first.
    pub fn stack_editions(&self) -> Vec<StackEdition> {
        Version::ALL.into_iter().map(edition).collect()
    }
}

fn edition(version: Version) -> StackEdition {
    let dialect = Dialect::new(version);
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names
    };
    let conditions = match version.has_conditions() {
        true => dialect.condition_names().collect(),
        false => Vec::new(),
    };
    StackEdition {
        key: version.key(),
        version: version.date(),
        alias: version.alias(),
        functions: sorted(dialect.names().collect()),
        conditions: sorted(conditions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edition_names_its_functions() {
        let newest = edition(Version::NEWEST);
        assert_eq!((newest.version, newest.alias), ("2021-04-16", Some("wallaby")));
        assert!(newest.functions.contains(&"get_param") && newest.conditions.contains(&"equals"));
        let oldest = edition(Version::Icehouse);
        assert!(!oldest.functions.contains(&"str_split") && oldest.conditions.is_empty());
    }
}
