//! Single values, and what can be said of two of them.

use serde_json::Value;

use super::Comparison;

/// A value that can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
}

impl Literal {
    /// `None` for objects and lists, which nothing is compared with.
    pub(super) fn of(value: &Value) -> Option<Literal> {
        match value {
            Value::Null => Some(Literal::Null),
            Value::Bool(bool) => Some(Literal::Bool(*bool)),
            Value::Number(number) => number.as_f64().map(Literal::Number),
            Value::String(text) => Some(Literal::Text(text.clone())),
            Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// How long a length of time is, in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "exact up to thousands of years")]
pub(super) fn length(value: &Value) -> Option<Literal> {
    let span: crate::Span = value.as_str()?.parse().ok()?;
    Some(Literal::Number(span.millis() as f64))
}

/// What is at a path; parts of numbers are places in lists.
pub(super) fn at<'v>(document: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(document, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

pub(super) fn compare(left: &Literal, comparison: Comparison, right: &Literal) -> bool {
    let order = match (left, right) {
        (Literal::Number(a), Literal::Number(b)) => a.partial_cmp(b),
        (Literal::Text(a), Literal::Text(b)) => Some(a.cmp(b)),
        _ => None,
    };
    let parts = match (left, right) {
        (Literal::Text(a), Literal::Text(b)) => Some((a.as_str(), b.as_str())),
        _ => None,
    };
    match comparison {
        Comparison::Equal => left == right,
        Comparison::Unequal => left != right,
        Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
        Comparison::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
        Comparison::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
        Comparison::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
        Comparison::StartsWith => parts.is_some_and(|(a, b)| a.starts_with(b)),
        Comparison::EndsWith => parts.is_some_and(|(a, b)| a.ends_with(b)),
        Comparison::Contains => parts.is_some_and(|(a, b)| a.contains(b)),
    }
}
