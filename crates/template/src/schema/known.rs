//! Values of which parts are not known yet.

use serde_json::{Map, Value};

use crate::function::{Expr, ResolveError, Resolved, Scope};

/// A value as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Comes from a resource that does not exist yet.
    Unknown,
    /// Neither a list nor a mapping.
    Value(Value),
    List(Vec<Known>),
    Map(Vec<(String, Known)>),
}

impl Known {
    /// What can be known of an expression before any resource exists. `None` is what is as if nobody had
    /// written it.
    pub fn of(expr: &Expr, scope: &dyn Scope) -> Result<Option<Known>, ResolveError> {
        Ok(Some(match expr {
            Expr::Absent => return Ok(None),
            Expr::List(items) => {
                let items: Result<Vec<_>, _> =
                    items.iter().map(|item| Known::of(item, scope)).collect();
                Known::List(items?.into_iter().flatten().collect())
            }
            Expr::Map(entries) => {
                let mut known = Vec::with_capacity(entries.len());
                for (key, item) in entries {
                    known.extend(Known::of(item, scope)?.map(|item| (key.clone(), item)));
                }
                Known::Map(known)
            }
            Expr::Plain(value) => Known::from(value),
            Expr::Call(_) => {
                let found = expr.references_in(scope);
                let depends = !found.resources.is_empty() || !found.attributes.is_empty();
                let mut either = found.either.iter();
                if depends || found.is_open || either.any(|one| scope.parameter(&one.name).is_err())
                {
                    return Ok(Some(Known::Unknown));
                }
                match expr.resolve(scope)? {
                    Resolved::Value(value) => Known::from(&value),
                    Resolved::Absent => return Ok(None),
                }
            }
        }))
    }

    /// The value, with nothing in place of what is not known.
    pub fn to_json(&self) -> Value {
        match self {
            Known::Unknown => Value::Null,
            Known::Value(value) => value.clone(),
            Known::List(items) => items.iter().map(Known::to_json).collect(),
            Known::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, item)| (key.clone(), item.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// Whether nothing of it is unknown.
    pub fn is_whole(&self) -> bool {
        match self {
            Known::Unknown => false,
            Known::Value(_) => true,
            Known::List(items) => items.iter().all(Known::is_whole),
            Known::Map(entries) => entries.iter().all(|(_, item)| item.is_whole()),
        }
    }
}

impl From<&Value> for Known {
    fn from(value: &Value) -> Known {
        match value {
            Value::Array(items) => Known::List(items.iter().map(Known::from).collect()),
            Value::Object(entries) => {
                Known::Map(entries.iter().map(|(key, item)| (key.clone(), item.into())).collect())
            }
            other => Known::Value(other.clone()),
        }
    }
}
