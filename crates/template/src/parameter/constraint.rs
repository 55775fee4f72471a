//! What values must keep to.
//!
//! A constraint says why a value does not keep to it in the words that clients know, unless its description
//! says it better: then that is all that is said.

use jiff::Timestamp;
use serde_json::{Map, Number, Value, json};

use super::custom;
use super::pattern::Pattern;
use crate::function::python::{self, Numeric};
use crate::schema::{Kind, boolean, number};

#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    pub rule: Rule,
    /// Said instead of everything else.
    pub description: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// Of a text in letters, of a list or a mapping in entries.
    Length {
        min: Option<Number>,
        max: Option<Number>,
    },
    Range {
        min: Option<Number>,
        max: Option<Number>,
    },
    /// What is left when divided by `step` is `offset`.
    Modulo {
        step: Number,
        offset: Number,
    },
    AllowedValues(Vec<Value>),
    /// Matches the whole of a text.
    AllowedPattern(Pattern),
    /// Is known by its name.
    Custom(String),
}

/// Constraints that are known by name and need more than the value.
pub trait CustomConstraints {
    /// Whether the value keeps to it, or why not; `None` when there is no constraint of this name.
    fn check(&self, name: &str, value: &Value) -> Option<Result<(), String>>;
}

/// What is at hand when values are looked at.
#[derive(Clone, Copy, Default)]
pub struct Checks<'a> {
    /// Without it, nothing has expired.
    pub now: Option<Timestamp>,
    pub custom: Option<&'a dyn CustomConstraints>,
    /// Custom constraints are passed over, as they are for defaults.
    pub without_custom: bool,
}

impl Constraint {
    pub fn new(rule: Rule) -> Constraint {
        Constraint { rule, description: None }
    }

    /// Why a value of this kind does not keep to it.
    pub fn check(&self, value: &Value, kind: Kind, checks: &Checks<'_>) -> Result<(), String> {
        let found = self.rule.check(value, kind, checks);
        match &self.description {
            Some(description) if !description.is_empty() => found.map_err(|_| description.clone()),
            _ => found,
        }
    }

    /// The shape that clients know.
    pub fn describe(&self) -> Value {
        let mut out = Map::new();
        if let Some(description) = &self.description {
            out.insert("description".to_owned(), description.as_str().into());
        }
        let (name, value) = match &self.rule {
            Rule::Length { min, max } => ("length", bounds(min.as_ref(), max.as_ref())),
            Rule::Range { min, max } => ("range", bounds(min.as_ref(), max.as_ref())),
            Rule::Modulo { step, offset } => ("modulo", json!({"step": step, "offset": offset})),
            Rule::AllowedValues(values) => ("allowed_values", values.clone().into()),
            Rule::AllowedPattern(pattern) => ("allowed_pattern", pattern.as_str().into()),
            Rule::Custom(name) => ("custom_constraint", name.as_str().into()),
        };
        out.insert(name.to_owned(), value);
        Value::Object(out)
    }
}

fn bounds(min: Option<&Number>, max: Option<&Number>) -> Value {
    let named = [("min", min), ("max", max)];
    let given = named.into_iter().filter_map(|(name, bound)| {
        bound.map(|bound| (name.to_owned(), Value::Number(bound.clone())))
    });
    Value::Object(given.collect())
}

impl Rule {
    /// What constraints of this sort are called in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Rule::Length { .. } => "Length",
            Rule::Range { .. } => "Range",
            Rule::Modulo { .. } => "Modulo",
            Rule::AllowedValues(_) => "AllowedValues",
            Rule::AllowedPattern(_) => "AllowedPattern",
            Rule::Custom(_) => "CustomConstraint",
        }
    }

    /// Whether values of this kind can have such a constraint.
    pub fn suits(&self, kind: Kind) -> bool {
        match self {
            Rule::Length { .. } => matches!(kind, Kind::String | Kind::List | Kind::Map),
            Rule::Range { .. } | Rule::Modulo { .. } => {
                matches!(kind, Kind::Integer | Kind::Number)
            }
            Rule::AllowedPattern(_) => kind == Kind::String,
            Rule::AllowedValues(_) | Rule::Custom(_) => !matches!(kind, Kind::Map | Kind::Any),
        }
    }

    fn check(&self, value: &Value, kind: Kind, checks: &Checks<'_>) -> Result<(), String> {
        match self {
            Rule::Length { min, max } => {
                let length = length(value, kind)?;
                let length = Number::from(length);
                let out = format!("length ({length}) is out of range");
                is_within(&length, min.as_ref(), max.as_ref())
                    .then_some(())
                    .ok_or_else(|| out + &shown_bounds(min.as_ref(), max.as_ref()))
            }
            Rule::Range { min, max } => is_within(&number(value)?, min.as_ref(), max.as_ref())
                .then_some(())
                .ok_or_else(|| {
                    let shown = shown_bounds(min.as_ref(), max.as_ref());
                    format!("{} is out of range{shown}", python::text(value))
                }),
            Rule::Modulo { step, offset } => {
                is_step(&number(value)?, step, offset).then_some(()).ok_or_else(|| {
                    let given = python::text(value);
                    let (step, offset) = (python::number_text(step), python::number_text(offset));
                    format!("{given} is not a multiple of {step} with an offset of {offset}")
                })
            }
            Rule::AllowedValues(allowed) => allowed_values(value, kind, allowed),
            Rule::AllowedPattern(pattern) => {
                let text = python::text(value);
                pattern.is_match(&text).then_some(()).ok_or_else(|| {
                    format!("\"{text}\" does not match pattern \"{}\"", pattern.as_str())
                })
            }
            Rule::Custom(_) if checks.without_custom => Ok(()),
            Rule::Custom(name) => custom::check(name, value, checks),
        }
    }
}

fn length(value: &Value, kind: Kind) -> Result<usize, String> {
    match value {
        Value::Array(items) => Ok(items.len()),
        Value::Object(entries) => Ok(entries.len()),
        Value::String(text) => Ok(text.chars().count()),
        other if kind == Kind::String => Ok(python::text(other).chars().count()),
        other => Err(format!("object of type '{}' has no len()", python::type_name(other))),
    }
}

fn is_within(value: &Number, min: Option<&Number>, max: Option<&Number>) -> bool {
    let order = |bound: &Number| Numeric::of(value).order(Numeric::of(bound));
    min.is_none_or(|min| order(min).is_some_and(std::cmp::Ordering::is_ge))
        && max.is_none_or(|max| order(max).is_some_and(std::cmp::Ordering::is_le))
}

fn shown_bounds(min: Option<&Number>, max: Option<&Number>) -> String {
    let shown = |bound: Option<&Number>| bound.map_or("None".to_owned(), python::number_text);
    format!(" (min: {}, max: {})", shown(min), shown(max))
}

/// The remainder has the sign of the step.
fn is_step(value: &Number, step: &Number, offset: &Number) -> bool {
    let whole = |number: &Number| Numeric::of(number).whole();
    match (whole(value), whole(step), whole(offset)) {
        (Some(value), Some(step), Some(offset)) if step != 0 && !value_is_broken(value) => {
            let rest = value % step;
            let rest = if rest != 0 && (rest < 0) != (step < 0) { rest + step } else { rest };
            rest == offset
        }
        _ => false,
    }
}

/// Beyond this, numbers are not exact any more and no remainder means anything.
fn value_is_broken(value: i128) -> bool {
    value.unsigned_abs() > u128::from(u64::MAX)
}

fn allowed_values(value: &Value, kind: Kind, allowed: &[Value]) -> Result<(), String> {
    let is_allowed = match value {
        Value::Array(items) => items.iter().all(|item| python::is_in(item, allowed)),
        _ => {
            let value = comparable(value, kind)?;
            let mut found = false;
            for one in allowed {
                found |= python::is_equal(&comparable(one, kind)?, &value);
            }
            found
        }
    };
    is_allowed.then_some(()).ok_or_else(|| {
        let allowed: Vec<String> = allowed.iter().map(|one| python::json(one, false)).collect();
        let value = python::json(value, false);
        format!("{value} is not an allowed value [{}]", allowed.join(", "))
    })
}

/// Values are compared as what they are declared to be, so that "5" is 5 where numbers are meant.
fn comparable(value: &Value, kind: Kind) -> Result<Value, String> {
    let found = match kind {
        Kind::Integer => number(value).ok().filter(|number| !number.is_f64()).map(Value::Number),
        Kind::Number => number(value).ok().map(Value::Number),
        Kind::String => Some(python::text(value).into()),
        Kind::Boolean => boolean(value).ok().map(Value::Bool),
        Kind::List | Kind::Map | Kind::Any => Some(value.clone()),
    };
    let invalid = || {
        let (value, kind) = (python::text(value), kind.name());
        format!("Value \"{value}\" is invalid for data type \"{kind}\".")
    };
    found.ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(rule: Rule, kind: Kind, value: Value) -> Option<String> {
        Constraint::new(rule).check(&value, kind, &Checks::default()).err()
    }

    #[test]
    fn values_are_refused_in_known_words() {
        let n = |n: i64| Some(Number::from(n));
        let f = |f: f64| Number::from_f64(f);
        let values = |list: Value| Rule::AllowedValues(list.as_array().unwrap().clone());
        let pattern = |text: &str| Rule::AllowedPattern(Pattern::new(text).unwrap());
        for (rule, kind, value, expected) in [
            (Rule::Length { min: None, max: n(3) }, Kind::String, json!("äöü"), ""),
            (
                Rule::Length { min: None, max: n(3) },
                Kind::String,
                json!("abcdef"),
                "length (6) is out of range (min: None, max: 3)",
            ),
            (
                Rule::Length { min: n(2), max: None },
                Kind::List,
                json!([1]),
                "length (1) is out of range (min: 2, max: None)",
            ),
            (Rule::Length { min: n(1), max: None }, Kind::Map, json!({"a": 1}), ""),
            (
                Rule::Length { min: n(1), max: None },
                Kind::Map,
                json!(1),
                "object of type 'int' has no len()",
            ),
            (
                Rule::Range { min: n(1), max: n(512) },
                Kind::Integer,
                json!(600),
                "600 is out of range (min: 1, max: 512)",
            ),
            (Rule::Range { min: n(1), max: f(1.5) }, Kind::Number, json!("1.5"), ""),
            (
                Rule::Range { min: n(1), max: f(1.5) },
                Kind::Number,
                json!("1.6"),
                "1.6 is out of range (min: 1, max: 1.5)",
            ),
            (Rule::Modulo { step: 3.into(), offset: 1.into() }, Kind::Number, json!(-2), ""),
            (Rule::Modulo { step: (-3).into(), offset: (-1).into() }, Kind::Number, json!(2), ""),
            (
                Rule::Modulo { step: 3.into(), offset: 1.into() },
                Kind::Number,
                json!("5"),
                "5 is not a multiple of 3 with an offset of 1",
            ),
            (
                values(json!(["a", "b"])),
                Kind::String,
                json!("c"),
                "\"c\" is not an allowed value [\"a\", \"b\"]",
            ),
            (values(json!([1, 2])), Kind::Number, json!("1.0"), ""),
            (values(json!([1])), Kind::String, json!("1"), ""),
            (values(json!(["on"])), Kind::Boolean, json!("yes"), ""),
            (values(json!(["a", "b"])), Kind::List, json!(["a", "b", "a"]), ""),
            (
                values(json!(["a"])),
                Kind::List,
                json!(["a", "c"]),
                "[\"a\", \"c\"] is not an allowed value [\"a\"]",
            ),
            (pattern("[a-z]+"), Kind::String, json!("abc"), ""),
            (
                pattern("[a-z]+"),
                Kind::String,
                json!("abc1"),
                "\"abc1\" does not match pattern \"[a-z]+\"",
            ),
            (
                Rule::Custom("shop.flavor".into()),
                Kind::String,
                json!("m1"),
                "\"m1\" does not validate shop.flavor (constraint not found)",
            ),
            (Rule::Custom("nova.flavor".into()), Kind::String, json!("m1"), ""),
        ] {
            assert_eq!(said(rule, kind, value.clone()).unwrap_or_default(), expected, "{value}");
        }
    }

    #[test]
    fn a_description_is_all_that_is_said() {
        let rule = Rule::Range { min: Some(1.into()), max: None };
        let constraint = Constraint { rule, description: Some("at least one".into()) };
        let found = constraint.check(&json!(0), Kind::Number, &Checks::default());
        assert_eq!(found, Err("at least one".to_owned()));
        assert_eq!(
            constraint.describe(),
            json!({"description": "at least one", "range": {"min": 1}})
        );
    }
}
