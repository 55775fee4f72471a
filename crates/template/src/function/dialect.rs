//! Which functions there are in which version, and how they differ between versions.

use crate::template::Version;

/// The functions of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    version: Version,
}

/// The functions by what they do; some have a name in each of the two languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    GetParam,
    GetResource,
    GetAttr,
    GetFile,
    ResourceFacade,
    Ref,
    GetAtt,
    FindInMap,
    GetAzs,
    ListJoin,
    StrSplit,
    StrReplace,
    StrReplaceStrict,
    StrReplaceVstrict,
    Digest,
    Repeat,
    MapMerge,
    MapReplace,
    ListConcat,
    ListConcatUnique,
    Filter,
    Contains,
    MakeUrl,
    Yaql,
    If,
    Equals,
    Not,
    And,
    Or,
    Join,
    Split,
    Select,
    Replace,
    Base64,
    MemberListToMap,
    CfnResourceFacade,
    CfnNot,
}

/// What a name means where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Is(&'static str, Function),
    /// There was such a function in older versions.
    Removed(&'static str),
    /// There is such a function, but not in conditions.
    Misplaced(&'static str),
}

use Function as F;
use Version as V;

/// Name, function, the first version that has it in values, the last one.
const VALUES: &[(&str, Function, Version, Version)] = &[
    ("get_param", F::GetParam, V::Icehouse, V::NEWEST),
    ("get_resource", F::GetResource, V::Icehouse, V::NEWEST),
    ("get_attr", F::GetAttr, V::Icehouse, V::NEWEST),
    ("get_file", F::GetFile, V::Icehouse, V::NEWEST),
    ("list_join", F::ListJoin, V::Icehouse, V::NEWEST),
    ("str_replace", F::StrReplace, V::Icehouse, V::NEWEST),
    ("resource_facade", F::ResourceFacade, V::Icehouse, V::NEWEST),
    ("repeat", F::Repeat, V::Kilo, V::NEWEST),
    ("digest", F::Digest, V::Kilo, V::NEWEST),
    ("str_split", F::StrSplit, V::Liberty, V::NEWEST),
    ("map_merge", F::MapMerge, V::Mitaka, V::NEWEST),
    ("yaql", F::Yaql, V::Newton, V::NEWEST),
    ("map_replace", F::MapReplace, V::Newton, V::NEWEST),
    ("if", F::If, V::Newton, V::NEWEST),
    ("filter", F::Filter, V::Ocata, V::NEWEST),
    ("str_replace_strict", F::StrReplaceStrict, V::Ocata, V::NEWEST),
    ("str_replace_vstrict", F::StrReplaceVstrict, V::Pike, V::NEWEST),
    ("make_url", F::MakeUrl, V::Pike, V::NEWEST),
    ("list_concat", F::ListConcat, V::Pike, V::NEWEST),
    ("list_concat_unique", F::ListConcatUnique, V::Pike, V::NEWEST),
    ("contains", F::Contains, V::Pike, V::NEWEST),
    ("Ref", F::Ref, V::Aws, V::Icehouse),
    ("Fn::GetAZs", F::GetAzs, V::Aws, V::Icehouse),
    ("Fn::Join", F::Join, V::Aws, V::Icehouse),
    ("Fn::Split", F::Split, V::Aws, V::Icehouse),
    ("Fn::Replace", F::Replace, V::Aws, V::Icehouse),
    ("Fn::Base64", F::Base64, V::Aws, V::Icehouse),
    ("Fn::MemberListToMap", F::MemberListToMap, V::Aws, V::Icehouse),
    ("Fn::ResourceFacade", F::CfnResourceFacade, V::Aws, V::Icehouse),
    ("Fn::Select", F::Select, V::Aws, V::Kilo),
    ("Fn::GetAtt", F::GetAtt, V::Aws, V::HeatCfn),
    ("Fn::FindInMap", F::FindInMap, V::Aws, V::HeatCfn),
    ("Fn::If", F::If, V::Aws, V::Aws),
];

/// The same for conditions.
const CONDITIONS: &[(&str, Function, Version, Version)] = &[
    ("get_param", F::GetParam, V::Newton, V::NEWEST),
    ("equals", F::Equals, V::Newton, V::NEWEST),
    ("not", F::Not, V::Newton, V::NEWEST),
    ("and", F::And, V::Newton, V::NEWEST),
    ("or", F::Or, V::Newton, V::NEWEST),
    ("yaql", F::Yaql, V::Pike, V::NEWEST),
    ("contains", F::Contains, V::Pike, V::NEWEST),
    ("Fn::Equals", F::Equals, V::Aws, V::Aws),
    ("Fn::Not", F::CfnNot, V::Aws, V::Aws),
    ("Fn::And", F::And, V::Aws, V::Aws),
    ("Fn::Or", F::Or, V::Aws, V::Aws),
    ("Ref", F::Ref, V::Aws, V::Aws),
    ("Fn::FindInMap", F::FindInMap, V::Aws, V::Aws),
];

impl Dialect {
    pub fn new(version: Version) -> Dialect {
        Dialect { version }
    }

    pub fn version(self) -> Version {
        self.version
    }

    /// The names of the functions that may stand in values.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let has =
            move |row: &&(_, _, Version, Version)| row.2 <= self.version && self.version <= row.3;
        VALUES.iter().filter(has).map(|row| row.0)
    }

    /// The names of the functions that may stand in conditions.
    pub fn condition_names(self) -> impl Iterator<Item = &'static str> {
        let has =
            move |row: &&(_, _, Version, Version)| row.2 <= self.version && self.version <= row.3;
        CONDITIONS.iter().filter(has).map(|row| row.0)
    }

    /// What the only key of a map means; data when nothing.
    pub(crate) fn find(self, name: &str, is_condition: bool) -> Option<Found> {
        let in_value = VALUES.iter().find(|row| row.0 == name).and_then(|row| self.found(row));
        if !is_condition {
            return in_value;
        }
        let row = CONDITIONS.iter().find(|row| row.0 == name);
        match (row.filter(|row| row.2 <= self.version && self.version <= row.3), in_value) {
            (Some(row), _) => Some(Found::Is(row.0, row.1)),
            (None, Some(Found::Is(name, _))) => Some(Found::Misplaced(name)),
            (None, other) => other,
        }
    }

    /// Functions of the old language are still known where they are gone, but only in the new one.
    fn found(self, row: &(&'static str, Function, Version, Version)) -> Option<Found> {
        let (name, function, first, last) = *row;
        match () {
            () if self.version < first => None,
            () if self.version <= last => Some(Found::Is(name, function)),
            () if last >= Version::Icehouse => Some(Found::Removed(name)),
            () => None,
        }
    }

    pub(crate) fn attr_selects(self) -> bool {
        self.version <= Version::Icehouse
    }

    pub(crate) fn attr_all(self) -> bool {
        self.version >= Version::Liberty
    }

    pub(crate) fn has_json_texts(self) -> bool {
        self.version >= Version::Liberty
    }

    pub(crate) fn repeats_maps(self) -> bool {
        self.version >= Version::Newton
    }

    pub(crate) fn has_permutations(self) -> bool {
        self.version >= Version::Pike
    }

    pub(crate) fn if_nullable(self) -> bool {
        self.version >= Version::Wallaby
    }
}
