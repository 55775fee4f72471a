//! Constraints on nodes: `ATTRIBUTE OPERATOR VALUE`, such as `kernel >= 6.1`.
//!
//! Attributes are `node`, `os`, `kernel`, `arch`, `cgroup`, `cpu`, `cores`, `memory`, `gpus`,
//! `gpu.model`, `agent` and `label.KEY`. An attribute that a node does not have makes every operator
//! false but `!=`, `not in`, `!~` and `missing`.
//!
//! `<`, `<=`, `>` and `>=` compare versions: runs of digits as numbers, the rest as text, so that
//! `6.9 < 6.10` holds. What is released later comes later: `1.2-rc1` and `1.2~rc1`, which count as the
//! same, are below `1.2`, while `6.1.0-18-amd64` is above `6.1.0`. For `memory` they compare amounts: `memory >= 512MiB`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use regex::Regex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::Bytes;

/// One condition; written and stored as text.
#[derive(Clone, Debug)]
pub struct Constraint {
    pub attribute: Attribute,
    test: Test,
}

/// What of a node is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    Node,
    Os,
    Kernel,
    Architecture,
    Cgroup,
    CpuModel,
    Cores,
    Memory,
    GpuCount,
    GpuModel,
    Agent,
    Label(String),
}

#[derive(Clone, Debug)]
enum Test {
    Equal(String),
    NotEqual(String),
    In(Vec<String>),
    NotIn(Vec<String>),
    Compare(Comparison, String),
    Matches(Regex),
    MatchesNot(Regex),
    Exists,
    Missing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Comparison {
    const ALL: [(Comparison, &'static str); 4] = [
        (Comparison::AtMost, "<="),
        (Comparison::AtLeast, ">="),
        (Comparison::Less, "<"),
        (Comparison::More, ">"),
    ];

    fn word(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::AtMost => "<=",
            Comparison::More => ">",
            Comparison::AtLeast => ">=",
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::More => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

impl Constraint {
    /// The longest text of one.
    const MAX: usize = 1024;

    /// Whether it holds for a node with these values of the attribute (several GPUs have several).
    pub fn holds(&self, values: &[&str]) -> bool {
        let any = |test: &dyn Fn(&str) -> bool| values.iter().any(|value| test(value));
        match &self.test {
            Test::Equal(wanted) => any(&|value| value == wanted),
            Test::NotEqual(wanted) => !any(&|value| value == wanted),
            Test::In(wanted) => any(&|value| wanted.iter().any(|one| one == value)),
            Test::NotIn(wanted) => !any(&|value| wanted.iter().any(|one| one == value)),
            Test::Compare(how, wanted) => any(&|value| how.holds(self.order(value, wanted))),
            Test::Matches(pattern) => any(&|value| pattern.is_match(value)),
            Test::MatchesNot(pattern) => !any(&|value| pattern.is_match(value)),
            Test::Exists => !values.is_empty(),
            Test::Missing => values.is_empty(),
        }
    }

    /// Memory is compared as an amount, everything else as a version.
    fn order(&self, value: &str, wanted: &str) -> Ordering {
        match (&self.attribute, value.parse::<Bytes>(), wanted.parse::<Bytes>()) {
            (Attribute::Memory, Ok(value), Ok(wanted)) => value.cmp(&wanted),
            _ => compare_versions(value, wanted),
        }
    }
}

/// Runs of digits count as numbers; `~`, and `-` with a word for what comes before a release, are below the
/// bare version.
pub fn compare_versions(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    loop {
        match (is_early(left), is_early(right)) {
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (true, true) => {
                (left, right) = (&left[1..], &right[1..]);
                continue;
            }
            (false, false) => {}
        }
        match (left.first(), right.first()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(l), Some(r)) if l.is_ascii_digit() && r.is_ascii_digit() => {
                let ((one, rest_left), (other, rest_right)) = (number(left), number(right));
                let order = one.len().cmp(&other.len()).then_with(|| one.cmp(other));
                if order.is_ne() {
                    return order;
                }
                (left, right) = (rest_left, rest_right);
            }
            (Some(l), Some(r)) if l != r => return l.cmp(r),
            _ => (left, right) = (&left[1..], &right[1..]),
        }
    }
}

/// Whether what is left of a version makes it one before the release.
fn is_early(rest: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"alpha", b"beta", b"dev", b"pre", b"rc"];
    let begins = |rest: &[u8], word: &[u8]| {
        rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    match rest.split_first() {
        Some((b'~', _)) => true,
        Some((b'-', rest)) => WORDS.iter().any(|word| begins(rest, word)),
        _ => false,
    }
}

/// The digits at the beginning, without leading zeros, and what follows.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let zeros = digits.iter().position(|b| *b != b'0').unwrap_or(digits.len());
    (&digits[zeros..], rest)
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::Label(key) => write!(f, "label.{key}"),
            other => {
                f.write_str(NAMES.iter().find(|(_, a)| a == other).map_or("", |(name, _)| name))
            }
        }
    }
}

const NAMES: [(&str, Attribute); 11] = [
    ("node", Attribute::Node),
    ("os", Attribute::Os),
    ("kernel", Attribute::Kernel),
    ("arch", Attribute::Architecture),
    ("cgroup", Attribute::Cgroup),
    ("cpu", Attribute::CpuModel),
    ("cores", Attribute::Cores),
    ("memory", Attribute::Memory),
    ("gpus", Attribute::GpuCount),
    ("gpu.model", Attribute::GpuModel),
    ("agent", Attribute::Agent),
];

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attribute = &self.attribute;
        match &self.test {
            Test::Equal(value) => write!(f, "{attribute} = {value}"),
            Test::NotEqual(value) => write!(f, "{attribute} != {value}"),
            Test::In(values) => write!(f, "{attribute} in ({})", values.join(", ")),
            Test::NotIn(values) => write!(f, "{attribute} not in ({})", values.join(", ")),
            Test::Compare(how, value) => write!(f, "{attribute} {} {value}", how.word()),
            Test::Matches(pattern) => write!(f, "{attribute} ~ {pattern}"),
            Test::MatchesNot(pattern) => write!(f, "{attribute} !~ {pattern}"),
            Test::Exists => write!(f, "{attribute} exists"),
            Test::Missing => write!(f, "{attribute} missing"),
        }
    }
}

impl FromStr for Constraint {
    type Err = String;

    fn from_str(text: &str) -> Result<Constraint, String> {
        let text = text.trim();
        let too_long = || "a constraint has at most 1024 printable characters".to_owned();
        if text.len() > Constraint::MAX || text.contains(char::is_control) {
            return Err(too_long());
        }
        let end = text
            .find(|c: char| c.is_whitespace() || "=!<>~".contains(c))
            .ok_or_else(|| format!("`{text}` is not a constraint; write ATTRIBUTE OPERATOR VALUE, such as `kernel >= 6.1`"))?;
        let (attribute, rest) = text.split_at(end);
        let read = Constraint {
            attribute: parse_attribute(attribute)?,
            test: parse_test(text, rest.trim())?,
        };
        // It is stored as it is printed, with spaces that may not have been there.
        if read.to_string().len() > Constraint::MAX { Err(too_long()) } else { Ok(read) }
    }
}

fn parse_attribute(name: &str) -> Result<Attribute, String> {
    if let Some(key) = name.strip_prefix("label.")
        && !key.is_empty()
    {
        return Ok(Attribute::Label(key.to_owned()));
    }
    let known = NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, attribute)| attribute.clone()).ok_or_else(|| {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        format!("unknown attribute `{name}`; there are {}, and label.KEY", names.join(", "))
    })
}

fn parse_test(text: &str, rest: &str) -> Result<Test, String> {
    let pattern = |words: &str| {
        regex::RegexBuilder::new(words)
            .size_limit(1 << 18)
            .build()
            .map_err(|e| format!("`{words}`: {}", crate::pattern_mistake(&e)))
    };
    let (test, value) = match rest {
        "exists" => return Ok(Test::Exists),
        "missing" => return Ok(Test::Missing),
        _ => {
            if let Some(words) = rest.strip_prefix("not in") {
                (Test::NotIn(list(words)?), words.trim())
            } else if let Some(words) =
                rest.strip_prefix("in").filter(|w| w.trim_start().starts_with('('))
            {
                (Test::In(list(words)?), words.trim())
            } else if let Some(value) = rest.strip_prefix("!=") {
                (Test::NotEqual(value.trim().to_owned()), value.trim())
            } else if let Some(value) = rest.strip_prefix("!~") {
                (Test::MatchesNot(pattern(value.trim())?), value.trim())
            } else if let Some(value) = rest.strip_prefix('~') {
                (Test::Matches(pattern(value.trim())?), value.trim())
            } else if let Some(value) = rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')) {
                (Test::Equal(value.trim().to_owned()), value.trim())
            } else if let Some((how, value)) = Comparison::ALL
                .iter()
                .find_map(|(how, word)| Some((*how, rest.strip_prefix(word)?.trim())))
            {
                (Test::Compare(how, value.to_owned()), value)
            } else {
                return Err(format!(
                    "`{text}` has no operator; there are =, !=, <, <=, >, >=, ~, !~, in (..), not in (..), exists, missing"
                ));
            }
        }
    };
    if value.is_empty() {
        return Err(format!("`{text}` has no value"));
    }
    Ok(test)
}

fn list(words: &str) -> Result<Vec<String>, String> {
    let inner = words.trim().strip_prefix('(').and_then(|w| w.strip_suffix(')'));
    let inner = inner.ok_or_else(|| format!("`{}` is not a list; write (a, b)", words.trim()))?;
    let values: Vec<String> = inner.split(',').map(|value| value.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err(format!("`{}` has an empty value", words.trim()));
    }
    Ok(values)
}

impl PartialEq for Constraint {
    fn eq(&self, other: &Constraint) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Constraint {}

impl std::hash::Hash for Constraint {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl Serialize for Constraint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Constraint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Constraint {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Constraint".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "examples": ["kernel >= 6.1"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, values: &[&str]) -> bool {
        text.parse::<Constraint>().unwrap_or_else(|e| panic!("{e}")).holds(values)
    }

    #[test]
    fn every_operator() {
        assert!(holds("os = Debian GNU/Linux 12", &["Debian GNU/Linux 12"]));
        assert!(holds("arch!=arm64", &["x86_64"]) && holds("label.x != a", &[]));
        assert!(holds("label.zone in (a, b)", &["b"]) && !holds("label.zone in (a,b)", &[]));
        assert!(holds("label.zone not in (a, b)", &["c"]) && holds("label.zone not in (a)", &[]));
        assert!(holds("kernel >= 6.1", &["6.10.2-amd64"]) && !holds("kernel < 6.1", &["6.10"]));
        assert!(
            holds("gpu.model ~ (?i)a100", &["NVIDIA A100-SXM4"]) && holds("node !~ ^x", &["y"])
        );
        assert!(holds("label.ssd exists", &["yes"]) && holds("label.ssd missing", &[]));
        assert!(
            holds("memory >= 512MiB", &["68719476736"])
                && !holds("memory > 64GiB", &["68719476736"])
        );
        assert!(holds("gpu.model = B", &["A", "B"]));
    }

    #[test]
    fn versions_are_ordered_as_people_read_them() {
        let ordered = [
            "1.2-alpha2",
            "1.2~rc1",
            "1.2-rc1",
            "1.2-rc2",
            "1.2",
            "1.2-18-amd64",
            "1.2.0",
            "1.10-rc1",
            "1.10",
            "1.010.1",
            "2",
        ];
        for (at, one) in ordered.iter().enumerate() {
            for other in &ordered[at + 1..] {
                let is_same = one.replace('~', "-") == *other;
                let expected = if is_same { Ordering::Equal } else { Ordering::Less };
                assert_eq!(compare_versions(one, other), expected, "{one} {other}");
                assert_eq!(compare_versions(other, one), expected.reverse(), "{other} {one}");
            }
        }
        assert_eq!(compare_versions("6.01", "6.1"), Ordering::Equal);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let errors: Vec<String> = [
            "kernel",
            "kernle = 1",
            "kernel ? 1",
            "kernel =",
            "os ~ (",
            "node in a",
            "node in (a,)",
        ]
        .iter()
        .map(|text| text.parse::<Constraint>().unwrap_err())
        .collect();
        assert!(
            errors[1].contains("unknown attribute") && errors[4].contains("regular expression"),
            "{errors:?}"
        );
    }

    #[test]
    fn what_is_read_is_short_enough_to_be_read_again() {
        let tight = |length: usize| format!("kernel={}", "x".repeat(length - "kernel=".len()));
        assert!(
            tight(1022).parse::<Constraint>().unwrap().to_string().parse::<Constraint>().is_ok()
        );
        assert!(tight(1023).parse::<Constraint>().is_err(), "with its spaces it is too long");
    }

    #[test]
    fn text_survives() {
        for text in [
            "kernel >= 6.1",
            "label.zone in (a, b)",
            "node !~ ^x",
            "label.a exists",
            "arch = x86_64",
        ] {
            assert_eq!(text.parse::<Constraint>().unwrap().to_string(), text);
        }
    }
}
