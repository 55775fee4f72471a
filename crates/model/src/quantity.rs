//! Amounts of a machine: cores and bytes, exact integers inside, friendly outside.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Processor cores, in thousandths. JSON number: `2`, `0.5`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cores(u32);

impl Cores {
    pub const ZERO: Cores = Cores(0);
    pub const fn from_millis(millis: u32) -> Cores {
        Cores(millis)
    }
    pub const fn millis(self) -> u32 {
        self.0
    }
    pub const fn is_whole(self) -> bool {
        self.0.is_multiple_of(1000)
    }
    #[must_use]
    pub const fn saturating_sub(self, other: Cores) -> Cores {
        Cores(self.0.saturating_sub(other.0))
    }
    #[must_use]
    pub const fn saturating_add(self, other: Cores) -> Cores {
        Cores(self.0.saturating_add(other.0))
    }
    /// From a number of cores as people write it; more than three decimals are refused.
    pub fn from_f64(cores: f64) -> Option<Cores> {
        let millis = cores * 1000.0;
        let whole = millis.round();
        if !(0.0..=1_000_000_000.0).contains(&whole) || (millis - whole).abs() > 1e-6 {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked above"
        )]
        Some(Cores(whole as u32))
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&(f64::from(self.0) / 1000.0).to_string())
    }
}

impl FromStr for Cores {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<f64>()
            .ok()
            .and_then(Cores::from_f64)
            .ok_or_else(|| format!("`{text}` is not a number of cores; write for example 2 or 0.5"))
    }
}

impl Serialize for Cores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1000) {
            serializer.serialize_u32(self.0 / 1000)
        } else {
            serializer.serialize_f64(f64::from(self.0) / 1000.0)
        }
    }
}

impl<'de> Deserialize<'de> for Cores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cores::from_f64(f64::deserialize(deserializer)?).ok_or_else(|| {
            de::Error::custom(
                "expected a number of cores with at most three decimals, such as 2 or 0.5",
            )
        })
    }
}

impl schemars::JsonSchema for Cores {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cores".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "minimum": 0, "maximum": 1_000_000, "multipleOf": 0.001 })
    }
}

/// A number of bytes: a JSON number, or a text such as `512MiB` or `2GiB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Bytes(u64);

impl Bytes {
    pub const ZERO: Bytes = Bytes(0);
    const UNITS: [(&'static str, u64); 9] = [
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("KB", 1_000),
        ("B", 1),
    ];
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }
    pub const fn mib(mib: u64) -> Bytes {
        Bytes(mib << 20)
    }
    pub const fn get(self) -> u64 {
        self.0
    }
    #[must_use]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
    #[must_use]
    pub const fn saturating_add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, size) =
            Self::UNITS[..4].iter().find(|(_, size)| self.0 >= *size).copied().unwrap_or(("B", 1));
        if self.0.is_multiple_of(size) {
            return f.pad(&format!("{}{unit}", self.0 / size));
        }
        #[expect(clippy::cast_precision_loss, reason = "one decimal for people")]
        f.pad(&format!("{:.1}{unit}", self.0 as f64 / size as f64))
    }
}

impl FromStr for Bytes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || {
            format!("`{text}` is not a size; write for example 512MiB, 2GiB or a number of bytes")
        };
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let number: u64 = number.parse().map_err(|_| bad())?;
        let size = match unit {
            "" => 1,
            _ => {
                Self::UNITS
                    .iter()
                    .find(|(name, _)| name.eq_ignore_ascii_case(unit))
                    .ok_or_else(bad)?
                    .1
            }
        };
        number.checked_mul(size).filter(|n| *n <= i64::MAX as u64).map(Bytes).ok_or_else(bad)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Size;
        impl de::Visitor<'_> for Size {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of bytes, or a size such as 512MiB")
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Bytes, E> {
                Some(Bytes(bytes))
                    .filter(|_| i64::try_from(bytes).is_ok())
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(bytes), &self))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Bytes, E> {
                u64::try_from(bytes)
                    .map(Bytes)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Size)
    }
}

impl schemars::JsonSchema for Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "integer", "format": "int64", "minimum": 0, "maximum": i64::MAX },
            { "type": "string", "pattern": "^[0-9]{1,6}([KMGkmg]i?[Bb]|[Bb])?$" },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_exact_thousandths() {
        assert_eq!("0.5".parse::<Cores>().unwrap().millis(), 500);
        assert_eq!(serde_json::to_string(&Cores::from_millis(2000)).unwrap(), "2");
        assert_eq!(serde_json::from_str::<Cores>("0.02").unwrap().millis(), 20);
        assert!("0.0001".parse::<Cores>().is_err());
        assert!("-1".parse::<Cores>().is_err());
        assert!("NaN".parse::<Cores>().is_err());
    }

    #[test]
    fn bytes_read_units() {
        assert_eq!("512MiB".parse::<Bytes>().unwrap(), Bytes::mib(512));
        assert_eq!("1kb".parse::<Bytes>().unwrap().get(), 1000);
        assert_eq!(Bytes::mib(1536).to_string(), "1.5GiB");
        assert_eq!(serde_json::from_str::<Bytes>("\"512MiB\"").unwrap(), Bytes::mib(512));
        assert_eq!(serde_json::from_str::<Bytes>("7").unwrap(), Bytes::new(7));
        assert!(serde_json::from_str::<Bytes>("-7").is_err());
        assert!("1XB".parse::<Bytes>().is_err());
        assert!("99999999TiB".parse::<Bytes>().is_err());
    }
}
