//! What can be known of a definition while some of what it names is not there yet, or may become something else.
//!
//! Functions that ask for what is open are not called: their whole value is not known. Everything else is resolved as it
//! is when there is nothing open.

use std::collections::{BTreeSet, HashMap};

use hostler_engine::stack::Failure;
use hostler_template::function::{Expr, References, ResolveError, Resolved, Scope};
use hostler_template::schema::Known;
use serde_json::Value;

/// What stands in the place of a value that nobody knows yet.
pub(crate) const UNKNOWN: &str = "(known when it is done)";

/// What is not known of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// What it is called in the world, and its attributes.
    Whole,
    /// Its attributes may become others.
    Attributes,
}

/// Somebody who resolves values.
pub(crate) struct Sight<'a> {
    scope: &'a dyn Scope,
    /// Resources that are not known as they will be; nobody when everything is there.
    open: Option<&'a HashMap<String, Open>>,
}

impl<'a> Sight<'a> {
    /// Everything is there.
    pub fn whole(scope: &'a dyn Scope) -> Sight<'a> {
        Sight { scope, open: None }
    }

    pub fn with(scope: &'a dyn Scope, open: &'a HashMap<String, Open>) -> Sight<'a> {
        Sight { scope, open: Some(open).filter(|open| !open.is_empty()) }
    }

    /// A value as far as it is known. What is as if nobody had written it is nothing.
    pub fn known(&self, expr: &Expr) -> Result<Known, Failure> {
        let Some(open) = self.open else {
            let value = expr.resolve(self.scope).map(Resolved::or_null).map_err(failure)?;
            return Ok(Known::from(&value));
        };
        Ok(self.part(expr, open)?.unwrap_or(Known::Value(Value::Null)))
    }

    fn part(&self, expr: &Expr, open: &HashMap<String, Open>) -> Result<Option<Known>, Failure> {
        Ok(Some(match expr {
            Expr::Absent => return Ok(None),
            Expr::Plain(value) => Known::from(value),
            Expr::List(items) => {
                let items: Result<Vec<_>, _> =
                    items.iter().map(|item| self.part(item, open)).collect();
                Known::List(items?.into_iter().flatten().collect())
            }
            Expr::Map(entries) => {
                let mut known = Vec::with_capacity(entries.len());
                for (key, item) in entries {
                    known.extend(self.part(item, open)?.map(|item| (key.clone(), item)));
                }
                Known::Map(known)
            }
            Expr::Call(_) if asks(&expr.references_in(self.scope), open) => Known::Unknown,
            Expr::Call(_) => match expr.resolve(self.scope).map_err(failure)? {
                Resolved::Value(value) => Known::from(&value),
                Resolved::Absent => return Ok(None),
            },
        }))
    }
}

fn failure(error: ResolveError) -> Failure {
    Failure::new(error.fault.heat_type(), error.message)
}

/// Whether something open is asked for.
fn asks(found: &References, open: &HashMap<String, Open>) -> bool {
    let is_whole = |name: &String| open.get(name) == Some(&Open::Whole);
    found.is_open
        || found.attributes.iter().any(|one| open.contains_key(&one.name))
        || found.resources.iter().chain(&found.either).any(|one| is_whole(&one.name))
}

/// Names of what is not known whole.
pub(crate) fn unknown_of(given: &Known) -> BTreeSet<String> {
    let Known::Map(entries) = given else { return BTreeSet::new() };
    let unknown = entries.iter().filter(|(_, value)| !value.is_whole());
    unknown.map(|(name, _)| name.clone()).collect()
}
