//! Functions over lists.

use serde_json::Value;

use super::python;
use super::{Context, Expr, ResolveError};

/// `list_concat`, `list_concat_unique`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Concat {
    pub lists: Expr,
    pub is_unique: bool,
}

impl Concat {
    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let arguments = self.lists.value(context)?;
        let Value::Array(lists) = &arguments else {
            let example = "[ [ <value 1>, <value 2> ], [ <value 3>, <value 4> ] ]";
            let message =
                format!("Incorrect arguments to \"{name}\" should be: \"{name}\" : {example}");
            return Err(ResolveError::wrong(message));
        };
        let mut joined: Vec<Value> = Vec::new();
        for list in lists {
            match list {
                Value::Null => {}
                Value::Array(items) => joined.extend(items.iter().cloned()),
                other => {
                    let (all, item) = (python::json(&arguments, false), python::json(other, false));
                    return Err(ResolveError::wrong(format!(
                        "Incorrect arguments: Items to concat must be lists. \
                         {all} contains an item that is not a list: {item}"
                    )));
                }
            }
        }
        match self.is_unique {
            true => Ok(Value::Array(unique(joined, context)?)),
            false => Ok(Value::Array(joined)),
        }
    }
}

/// The first of those that are equal. Every comparison is paid for, as all of them are made.
fn unique(items: Vec<Value>, context: &Context<'_>) -> Result<Vec<Value>, ResolveError> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        context.meter.pay(kept.len() / 8)?;
        if !python::is_in(&item, &kept) {
            kept.push(item);
        }
    }
    Ok(kept)
}

/// `filter`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filter {
    pub values: Expr,
    pub list: Expr,
}

impl Filter {
    pub fn read(name: &str, arguments: Expr) -> Result<Filter, String> {
        let Ok(items) = arguments.into_items() else {
            return Err(format!("Argument to \"{name}\" must be a list"));
        };
        let many = items.len();
        let parts: Result<[Expr; 2], _> = items.try_into();
        match parts {
            Ok([values, list]) => Ok(Filter { values, list }),
            Err(_) => Err(format!(
                "\"{name}\" expected 2 arguments of the form [values, sequence] \
                 but got {many} arguments instead"
            )),
        }
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let list = self.list.value(context)?;
        if !python::is_true(&list) {
            return Ok(list);
        }
        let Value::Array(items) = list else {
            return Err(ResolveError::wrong(format!("\"{name}\" only works with lists")));
        };
        let values = self.values.value(context)?;
        if !python::is_true(&values) {
            return Ok(Value::Array(items));
        }
        let Value::Array(values) = values else {
            return Err(ResolveError::wrong(format!("\"{name}\" filters a list of values")));
        };
        context.meter.pay(items.len().saturating_mul(values.len() / 8))?;
        let kept = items.into_iter().filter(|item| !python::is_in(item, &values));
        Ok(Value::Array(kept.collect()))
    }
}

/// `contains`: in a list, or as a part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contains {
    pub value: Expr,
    pub sequence: Expr,
}

impl Contains {
    pub fn read(name: &str, arguments: Expr) -> Result<Contains, String> {
        let items = arguments.into_items().ok().filter(|items| !items.is_empty());
        let Some(items) = items else {
            let example = "[ \"value1\", [ \"value1\", \"value2\"]]";
            return Err(format!(
                "Incorrect arguments to \"{name}\" should be: \"{name}\" : {example}"
            ));
        };
        let parts: Result<[Expr; 2], _> = items.try_into();
        match parts {
            Ok([value, sequence]) => Ok(Contains { value, sequence }),
            Err(_) => Err(format!(
                "Arguments to \"{name}\" must be of the form: [value1, [value1, value2]]"
            )),
        }
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let value = self.value.value(context)?;
        match (self.sequence.value(context)?, value) {
            (Value::Array(items), value) => Ok(Value::Bool(python::is_in(&value, &items))),
            (Value::String(text), Value::String(part)) => Ok(Value::Bool(text.contains(&part))),
            (Value::String(_), other) => Err(ResolveError::wrong(format!(
                "\"{name}\" can look for strings in a string, not for {}",
                python::type_name(&other)
            ))),
            _ => Err(ResolveError::wrong(format!(
                "Second argument to \"{name}\" should be a sequence."
            ))),
        }
    }
}

/// `Fn::Select`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Select {
    pub index: Expr,
    pub from: Expr,
}

impl Select {
    pub fn read(name: &str, arguments: Expr) -> Result<Select, String> {
        let parts: Option<[Expr; 2]> =
            arguments.into_items().ok().and_then(|items| items.try_into().ok());
        match parts {
            Some([index, from]) => Ok(Select { index, from }),
            None => Err(format!("Arguments to \"{name}\" must be of the form [index, collection]")),
        }
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let nothing = || Value::String(String::new());
        let index = self.index.value(context)?;
        let from = match self.from.value(context)? {
            Value::String(text) if text.is_empty() => return Ok(nothing()),
            Value::String(text) => {
                let read = serde_json::from_str(&text);
                read.map_err(|error| ResolveError::wrong(format!("\"{name}\": {error}")))?
            }
            other => other,
        };
        let found = match (&from, &index) {
            (Value::Object(map), Value::String(key)) => map.get(key).cloned(),
            (Value::Object(_), _) => {
                return Err(ResolveError::wrong(format!("Index to \"{name}\" must be a string")));
            }
            (Value::Array(items), index) => {
                let Some(index) = python::whole(index) else {
                    let message = format!("Index to \"{name}\" must be an integer");
                    return Err(ResolveError::wrong(message));
                };
                python::position(index, items.len()).map(|at| items[at].clone())
            }
            (Value::Null, _) => None,
            _ => {
                let message = format!("Arguments to {name} not fully resolved");
                return Err(ResolveError::wrong(message));
            }
        };
        let found = found.unwrap_or_else(nothing);
        context.meter.take(&found)?;
        Ok(found)
    }
}
