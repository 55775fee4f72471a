//! Which edition of the template language a template is written in.

use std::fmt;

/// The editions, from the oldest to the newest. The two of CloudFormation come before all of HOT, so that
/// `version >= Version::Newton` says that something of HOT is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `AWSTemplateFormatVersion: 2010-09-09`
    Aws,
    /// `HeatTemplateFormatVersion: 2012-12-12`
    HeatCfn,
    /// 2013-05-23
    Icehouse,
    /// 2014-10-16
    Juno,
    /// 2015-04-30
    Kilo,
    /// 2015-10-15
    Liberty,
    /// 2016-04-08
    Mitaka,
    /// 2016-10-14 or `newton`
    Newton,
    /// 2017-02-24 or `ocata`
    Ocata,
    /// 2017-09-01 or `pike`
    Pike,
    /// 2018-03-02 or `queens`
    Queens,
    /// 2018-08-31 or `rocky`
    Rocky,
    /// 2021-04-16 or `wallaby`
    Wallaby,
}

impl Version {
    pub const ALL: [Version; 13] = [
        Version::Aws,
        Version::HeatCfn,
        Version::Icehouse,
        Version::Juno,
        Version::Kilo,
        Version::Liberty,
        Version::Mitaka,
        Version::Newton,
        Version::Ocata,
        Version::Pike,
        Version::Queens,
        Version::Rocky,
        Version::Wallaby,
    ];

    pub const NEWEST: Version = Version::Wallaby;

    /// The key under which a template says its version.
    pub fn key(self) -> &'static str {
        match self {
            Version::Aws => "AWSTemplateFormatVersion",
            Version::HeatCfn => "HeatTemplateFormatVersion",
            _ => "heat_template_version",
        }
    }

    pub fn date(self) -> &'static str {
        match self {
            Version::Aws => "2010-09-09",
            Version::HeatCfn => "2012-12-12",
            Version::Icehouse => "2013-05-23",
            Version::Juno => "2014-10-16",
            Version::Kilo => "2015-04-30",
            Version::Liberty => "2015-10-15",
            Version::Mitaka => "2016-04-08",
            Version::Newton => "2016-10-14",
            Version::Ocata => "2017-02-24",
            Version::Pike => "2017-09-01",
            Version::Queens => "2018-03-02",
            Version::Rocky => "2018-08-31",
            Version::Wallaby => "2021-04-16",
        }
    }

    /// The other name that may be written instead of the date.
    pub fn alias(self) -> Option<&'static str> {
        match self {
            Version::Newton => Some("newton"),
            Version::Ocata => Some("ocata"),
            Version::Pike => Some("pike"),
            Version::Queens => Some("queens"),
            Version::Rocky => Some("rocky"),
            Version::Wallaby => Some("wallaby"),
            _ => None,
        }
    }

    pub fn is_hot(self) -> bool {
        self >= Version::Icehouse
    }

    /// The version that is written as `word` under `key`.
    pub fn read(key: &str, word: &str) -> Option<Version> {
        let is_meant =
            |v: &Version| v.key() == key && (v.date() == word || v.alias() == Some(word));
        Version::ALL.into_iter().find(is_meant)
    }

    /// Everything that may be written under a key, sorted.
    pub fn words(key: &str) -> Vec<&'static str> {
        let of_key = Version::ALL.into_iter().filter(|version| version.key() == key);
        let mut words: Vec<_> =
            of_key.flat_map(|v| [Some(v.date()), v.alias()]).flatten().collect();
        words.sort_unstable();
        words
    }

    /// Whether templates of this version may say what depends on conditions.
    pub fn has_conditions(self) -> bool {
        self >= Version::Newton || self == Version::Aws
    }
}

/// `heat_template_version.2018-08-31`, as the list of versions has it.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.key(), self.date())
    }
}
