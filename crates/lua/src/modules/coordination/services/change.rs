//! What a change of state does to an entry: decided here, without a clock and without a disk.

use hostler_model::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value as Json};

use super::{Entry, ServiceError};

/// What is to become of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Whatever there is; without a time to live it stays.
    Set {
        value: Json,
        ttl: Option<Span>,
    },
    /// Only when there is what is expected; nothing expected is no entry.
    Swap {
        old: Option<Json>,
        new: Json,
    },
    /// Counts from 0 when there is nothing.
    Add(f64),
    /// Puts text at the end.
    Append(String),
    /// Puts a value at the end of a list.
    Push(Json),
    /// Takes the value at the end of a list.
    Pop,
    /// Lets it live so long from now on, or for ever.
    Expire(Option<Span>),
    Delete,
}

/// What has to be written for a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Keep,
    Put(Entry),
    Remove,
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    pub is_applied: bool,
    pub before: Option<Json>,
    pub after: Option<Json>,
}

impl Change {
    /// What becomes of an entry. One whose time is over is none.
    pub fn apply(
        self,
        key: &str,
        found: Option<&Entry>,
        now: Timestamp,
    ) -> Result<(Next, Changed), ServiceError> {
        let found = found.filter(|entry| entry.is_alive(now));
        let before = found.map(|entry| entry.value.clone());
        let lives = found.and_then(|entry| entry.time_expires);
        let put = |value: Json, time_expires: Option<Timestamp>, before: Option<Json>| {
            let changed = Changed { is_applied: true, before, after: Some(value.clone()) };
            (Next::Put(Entry { value, time_modified: now, time_expires }), changed)
        };
        let keep = |is_applied: bool, value: Option<Json>| {
            (Next::Keep, Changed { is_applied, before: value.clone(), after: value })
        };
        Ok(match self {
            Change::Set { value, ttl } => {
                put(value, ttl.map(|ttl| now.plus(ttl.duration())), before)
            }
            Change::Swap { old, .. } if old != before => keep(false, before),
            Change::Swap { new, .. } => put(new, lives, before),
            Change::Add(delta) => {
                let sum = number(key, before.as_ref())? + delta;
                put(whole(sum), lives, before)
            }
            Change::Append(more) => {
                let text = match &before {
                    None => more,
                    Some(Json::String(text)) => format!("{text}{more}"),
                    Some(Json::Number(number)) => format!("{number}{more}"),
                    Some(other) => return Err(misfit(key, other, "a text")),
                };
                put(Json::String(text), lives, before)
            }
            Change::Push(value) => {
                let mut items = list(key, before.as_ref())?;
                items.push(value);
                put(Json::Array(items), lives, before)
            }
            Change::Pop => {
                let mut items = list(key, before.as_ref())?;
                match items.pop() {
                    None => keep(false, before),
                    Some(last) => {
                        let (next, _) = put(Json::Array(items), lives, None);
                        (next, Changed { is_applied: true, before, after: Some(last) })
                    }
                }
            }
            Change::Expire(_) if before.is_none() => keep(false, None),
            Change::Expire(ttl) => {
                let value = before.clone().unwrap_or_default();
                put(value, ttl.map(|ttl| now.plus(ttl.duration())), before)
            }
            Change::Delete => {
                let is_applied = before.is_some();
                (Next::Remove, Changed { is_applied, before, after: None })
            }
        })
    }

    /// What it does, for people.
    pub fn told(&self, key: &str) -> String {
        match self {
            Change::Set { value, .. } => format!("set state `{key}` to {value}"),
            Change::Swap { new, .. } => format!("set state `{key}` to {new}"),
            Change::Add(delta) => format!("add {delta} to state `{key}`"),
            Change::Append(text) => format!("append {} bytes to state `{key}`", text.len()),
            Change::Push(value) => format!("push {value} to state `{key}`"),
            Change::Pop => format!("pop from state `{key}`"),
            Change::Expire(Some(ttl)) => format!("let state `{key}` expire in {ttl}"),
            Change::Expire(None) => format!("let state `{key}` stay"),
            Change::Delete => format!("delete state `{key}`"),
        }
    }
}

fn number(key: &str, value: Option<&Json>) -> Result<f64, ServiceError> {
    let found = match value {
        None => Some(0.0),
        Some(Json::Number(number)) => number.as_f64(),
        Some(Json::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match (found, value) {
        (Some(number), _) => Ok(number),
        (None, value) => Err(misfit(key, value.unwrap_or(&Json::Null), "a number")),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53 are exact")]
fn whole(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        Json::from(number as i64)
    } else {
        Number::from_f64(number).map_or(Json::Null, Json::Number)
    }
}

fn list(key: &str, value: Option<&Json>) -> Result<Vec<Json>, ServiceError> {
    match value {
        None => Ok(Vec::new()),
        Some(Json::Array(items)) => Ok(items.clone()),
        Some(Json::Object(entries)) if entries.is_empty() => Ok(Vec::new()),
        Some(other) => Err(misfit(key, other, "a list")),
    }
}

fn misfit(key: &str, value: &Json, wanted: &str) -> ServiceError {
    let kind = match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "a table",
    };
    ServiceError::Refused(format!(
        "state `{key}` is {kind}, not {wanted}; set it anew or use another key"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    fn entry(value: Json, expires: Option<i64>) -> Entry {
        Entry { value, time_modified: at(0), time_expires: expires.map(at) }
    }

    #[test]
    fn every_change_does_what_it_says() {
        let set = |value: Json| Change::Set { value, ttl: None };
        let swap = |old: Option<Json>, new: Json| Change::Swap { old, new };
        for (found, change, applied, after) in [
            (None, set(json!("x")), true, Some(json!("x"))),
            (Some(json!(1)), set(json!({"a": 1})), true, Some(json!({"a": 1}))),
            (None, swap(None, json!(1)), true, Some(json!(1))),
            (Some(json!(1)), swap(None, json!(2)), false, Some(json!(1))),
            (Some(json!(1)), swap(Some(json!(1)), json!(2)), true, Some(json!(2))),
            (Some(json!(3)), swap(Some(json!(1)), json!(2)), false, Some(json!(3))),
            (None, swap(Some(json!(1)), json!(2)), false, None),
            (None, Change::Add(2.0), true, Some(json!(2))),
            (Some(json!("40")), Change::Add(2.0), true, Some(json!(42))),
            (Some(json!(1)), Change::Add(0.5), true, Some(json!(1.5))),
            (None, Change::Append("a".into()), true, Some(json!("a"))),
            (Some(json!("a")), Change::Append("b".into()), true, Some(json!("ab"))),
            (None, Change::Push(json!(1)), true, Some(json!([1]))),
            (Some(json!({})), Change::Push(json!(1)), true, Some(json!([1]))),
            (Some(json!([1, 2])), Change::Pop, true, Some(json!(2))),
            (Some(json!([])), Change::Pop, false, Some(json!([]))),
            (None, Change::Pop, false, None),
            (None, Change::Expire(None), false, None),
            (Some(json!(1)), Change::Delete, true, None),
            (None, Change::Delete, false, None),
        ] {
            let entry = found.clone().map(|value| entry(value, None));
            let (_, changed) = change.clone().apply("k", entry.as_ref(), at(1)).unwrap();
            assert_eq!(
                (changed.is_applied, changed.after),
                (applied, after),
                "{found:?} {change:?}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (found, change) in [
            (json!("x"), Change::Add(1.0)),
            (json!([1]), Change::Append("x".into())),
            (json!("x"), Change::Push(json!(1))),
            (json!({"a": 1}), Change::Pop),
        ] {
            let entry = entry(found, None);
            assert!(change.clone().apply("k", Some(&entry), at(1)).is_err(), "{change:?}");
        }
    }

    #[test]
    fn an_entry_is_there_until_its_time_and_not_a_moment_longer() {
        let kept = entry(json!(5), Some(10));
        let before = Timestamp::from_micros(at(10).micros() - 1);
        let (_, changed) = Change::Add(1.0).apply("k", Some(&kept), before).unwrap();
        assert_eq!(changed.after, Some(json!(6)));
        let (next, changed) = Change::Add(1.0).apply("k", Some(&kept), at(10)).unwrap();
        assert_eq!(changed.after, Some(json!(1)));
        let Next::Put(anew) = next else { panic!("it is written") };
        assert_eq!(anew.time_expires, None);
    }

    #[test]
    fn counting_does_not_prolong_and_setting_does() {
        let kept = entry(json!(5), Some(10));
        let Next::Put(counted) = Change::Add(1.0).apply("k", Some(&kept), at(1)).unwrap().0 else {
            panic!("it is written")
        };
        assert_eq!(counted.time_expires, Some(at(10)));
        let ttl = Some(Span::from_secs(60));
        let set = Change::Set { value: json!(1), ttl };
        let Next::Put(set) = set.apply("k", Some(&kept), at(1)).unwrap().0 else {
            panic!("it is written")
        };
        assert_eq!(set.time_expires, Some(at(61)));
    }
}
