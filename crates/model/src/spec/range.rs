//! The indexes of a task array: `1-10000`, `0-99:5`, `1,4,7-9`, each with `%50` for at most fifty at once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Which indexes, in order, and how many of them at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayRange {
    parts: Vec<Part>,
    /// At most this many at once; none when absent.
    pub at_once: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    first: u32,
    last: u32,
    step: u32,
}

impl Part {
    fn len(self) -> u64 {
        u64::from((self.last - self.first) / self.step) + 1
    }

    fn indexes(self) -> impl Iterator<Item = u32> {
        (self.first..=self.last).step_by(self.step as usize)
    }
}

impl ArrayRange {
    /// More would be a mistake rather than a wish.
    pub const MAX: u64 = 1_000_000;

    #[expect(clippy::len_without_is_empty, reason = "a range has at least one index")]
    pub fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// In the order they were written.
    pub fn indexes(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().flat_map(|part| part.indexes())
    }
}

impl FromStr for ArrayRange {
    type Err = String;

    fn from_str(text: &str) -> Result<ArrayRange, String> {
        let wrong = |what: &str| {
            format!(
                "`{text}` is not a range: {what}; write for example 1-100, 0-99:5, 1,4,7-9 or 1-1000%50"
            )
        };
        let (ranges, at_once) = match text.split_once('%') {
            Some((ranges, limit)) => {
                let limit = limit.parse().ok().filter(|limit| *limit > 0);
                (ranges, Some(limit.ok_or_else(|| wrong("after % stands how many at once"))?))
            }
            None => (text, None),
        };
        let mut parts = Vec::new();
        for words in ranges.split(',') {
            let (range, step) = words.split_once(':').unwrap_or((words, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let number = |word: &str| {
                word.trim()
                    .parse::<u32>()
                    .map_err(|_| wrong("indexes are whole numbers from 0 to 2147483647"))
            };
            let part = Part { first: number(first)?, last: number(last)?, step: number(step)? };
            if part.step == 0 {
                return Err(wrong("a step is at least 1"));
            }
            if part.last < part.first {
                return Err(wrong("a range ends before it begins"));
            }
            if part.last > i32::MAX as u32 {
                return Err(wrong("an index is at most 2147483647"));
            }
            parts.push(part);
        }
        let range = ArrayRange { parts, at_once };
        if range.len() > Self::MAX {
            return Err(wrong("at most a million tasks"));
        }
        let mut seen: Vec<u32> =
            if range.parts.len() > 1 { range.indexes().collect() } else { Vec::new() };
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() < count {
            return Err(wrong("an index is named twice"));
        }
        Ok(range)
    }
}

impl fmt::Display for ArrayRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.parts.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match (part.first == part.last, part.step) {
                (true, _) => write!(f, "{comma}{}", part.first)?,
                (false, 1) => write!(f, "{comma}{}-{}", part.first, part.last)?,
                (false, step) => write!(f, "{comma}{}-{}:{step}", part.first, part.last)?,
            }
        }
        self.at_once.map_or(Ok(()), |limit| write!(f, "%{limit}"))
    }
}

impl Serialize for ArrayRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ArrayRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for ArrayRange {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ArrayRange".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9,:%-]+$", "examples": ["1-1000%50"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written() {
        for (text, len) in
            [("1-10000%50", 10_000), ("0-99:5", 20), ("1,4,7-9", 5), ("7", 1), ("0-10:3", 4)]
        {
            let range: ArrayRange = text.parse().unwrap();
            assert_eq!((range.len(), range.to_string().as_str()), (len, text));
        }
        let range: ArrayRange = "5,0-4:2".parse().unwrap();
        assert_eq!(range.indexes().collect::<Vec<_>>(), [5, 0, 2, 4]);
    }

    #[test]
    fn wrong_ranges_are_refused() {
        for text in [
            "",
            "5-1",
            "a",
            "1-",
            "-1",
            "1-5:0",
            "1-5%0",
            "1-5%",
            "1,1",
            "1-3,2",
            "0-2000000",
            "1-4294967295",
        ] {
            assert!(text.parse::<ArrayRange>().is_err(), "{text}");
        }
    }
}
