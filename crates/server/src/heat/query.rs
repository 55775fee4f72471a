//! Reading what stands behind the `?` of an address, as Heat does: names may be repeated, and those that mean nothing do not
//! matter.

use hostler_model::Limit;

use super::fault::Fault;
use crate::http::decode::form_text;

/// Names and values, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    raw: String,
    pairs: Vec<(String, String)>,
}

impl Query {
    pub(super) fn read(raw: Option<&str>) -> Result<Query, Fault> {
        let raw = raw.unwrap_or_default();
        let mut pairs = Vec::new();
        for part in raw.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            pairs.push((form_text(key)?, form_text(value)?));
        }
        Ok(Query { raw: raw.to_owned(), pairs })
    }

    /// As it was sent, with its `?`; nothing where there was none.
    pub(super) fn written(&self) -> String {
        if self.raw.is_empty() { String::new() } else { format!("?{}", self.raw) }
    }

    /// As it was sent, without the values of one name.
    pub(super) fn without(&self, name: &str) -> String {
        let other = |part: &&str| part.split('=').next() != Some(name);
        self.raw
            .split('&')
            .filter(|part| !part.is_empty())
            .filter(other)
            .collect::<Vec<_>>()
            .join("&")
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|(name, _)| name.as_str())
    }

    /// The last one counts.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.pairs.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn all(&self, name: &str) -> Vec<&str> {
        self.pairs
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    /// Of several names that mean the same.
    pub(super) fn any_of(&self, names: &[&str]) -> Vec<&str> {
        names.iter().flat_map(|name| self.all(name)).collect()
    }

    /// Lists that are separated by commas.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let words = self.all(name).into_iter().flat_map(|value| value.split(','));
        words.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    pub(super) fn flag(&self, name: &str, otherwise: bool) -> Result<bool, Fault> {
        self.get(name).map_or(Ok(otherwise), |value| flag(name, value))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, Fault> {
        self.get(name).map(|value| number(name, value)).transpose()
    }

    /// Whether the last come first; `otherwise` where nothing is said.
    pub(super) fn is_descending(&self, otherwise: bool) -> Result<bool, Fault> {
        match self.get("sort_dir") {
            None => Ok(otherwise),
            Some("asc") => Ok(false),
            Some("desc") => Ok(true),
            Some(other) => Err(Fault::bad(format!(
                "Unknown sort direction \"{other}\", must be one of: asc, desc."
            ))),
        }
    }

    /// How many are asked for at most; everything where nothing is said.
    pub(super) fn limit(&self) -> Result<Option<usize>, Fault> {
        let limit = self.number("limit")?;
        Ok(limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)))
    }
}

/// How many are read at once on the way to so many.
pub(super) fn step(wanted: Option<usize>, has: usize) -> Limit {
    let left = wanted.map_or(usize::MAX, |wanted| wanted.saturating_sub(has));
    let left = u32::try_from(left).unwrap_or(u32::MAX).clamp(1, Limit::MAX);
    Limit::new(left).unwrap_or(Limit::LARGEST)
}

pub(super) fn flag(name: &str, value: &str) -> Result<bool, Fault> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "t" | "yes" | "y" | "on" => Ok(true),
        "false" | "0" | "f" | "no" | "n" | "off" => Ok(false),
        _ => Err(Fault::bad(format!(
            "Unrecognized value \"{value}\" for \"{name}\", acceptable values are: true, false."
        ))),
    }
}

pub(super) fn number(name: &str, value: &str) -> Result<u32, Fault> {
    let given = value.trim();
    given.parse().map_err(|_| match given.strip_prefix('-').map(str::parse::<u64>) {
        Some(Ok(_)) => Fault::bad(format!(
            "Value '{given}' is invalid for '{name}' which only accepts non-negative integer."
        )),
        _ => Fault::bad(format!("Only integer is acceptable by '{name}'.")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_repeat_and_values_are_decoded_once() {
        let query = Query::read(Some("type=OS%3A%3AHeat&a=1&a=2&tags=x,%20y,&flag=False")).unwrap();
        assert_eq!(query.get("type"), Some("OS::Heat"));
        assert_eq!(query.all("a"), ["1", "2"]);
        assert_eq!(query.words("tags"), ["x", "y"]);
        assert!(!query.flag("flag", true).unwrap());
        assert!(query.flag("other", true).unwrap());
        assert_eq!(query.without("a"), "type=OS%3A%3AHeat&tags=x,%20y,&flag=False");
        assert!(query.number("type").is_err());
        let said = |text: &str| format!("{:?}", number("limit", text).unwrap_err());
        assert!(said("-1").contains("Value '-1' is invalid for 'limit' which only accepts"));
        assert!(said("--1").contains("Only integer is acceptable by 'limit'."));
        let order = |text| Query::read(Some(text)).unwrap().is_descending(true);
        assert!(order("a=1").unwrap() && !order("sort_dir=asc").unwrap());
        assert!(order("sort_dir=sideways").is_err());
        assert_eq!(Query::read(None).unwrap().written(), "");
    }
}
