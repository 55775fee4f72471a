//! Functions of conditions, and `if`.
//!
//! A text where a condition is expected is the name of another condition. Nothing at all holds.

use serde_json::Value;

use super::dialect::Function;
use super::form::Form;
use super::python;
use super::{Context, Expr, ResolveError};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Equals(Expr, Expr),
    Not(Expr),
    All(Expr),
    Any(Expr),
}

impl Condition {
    pub fn read(name: &str, function: Function, arguments: Expr) -> Result<Condition, String> {
        match function {
            Function::Equals => {
                let parts: Option<[Expr; 2]> =
                    arguments.into_items().ok().and_then(|items| items.try_into().ok());
                match parts {
                    Some([left, right]) => Ok(Condition::Equals(left, right)),
                    None => Err(format!(
                        "Arguments to \"{name}\" must be of the form: [value_1, value_2]"
                    )),
                }
            }
            Function::Not if arguments == Expr::Plain(Value::Null) => {
                Err(format!("Argument to \"{name}\" must be a condition"))
            }
            Function::Not => Ok(Condition::Not(arguments)),
            Function::CfnNot => {
                let one: Option<[Expr; 1]> =
                    arguments.into_items().ok().and_then(|items| items.try_into().ok());
                match one {
                    Some([condition]) => Ok(Condition::Not(condition)),
                    None => {
                        Err(format!("Arguments to \"{name}\" must be of the form: [condition]"))
                    }
                }
            }
            _ => {
                if !arguments.is_list() {
                    return Err(format!("Arguments to \"{name}\" must be a list of conditions"));
                }
                let many = match &arguments {
                    Expr::List(items) => items.len(),
                    Expr::Plain(Value::Array(items)) => items.len(),
                    _ => 0,
                };
                match (many < 2, function) {
                    (true, _) => Err(format!(
                        "The minimum number of condition arguments to \"{name}\" is 2."
                    )),
                    (false, Function::And) => Ok(Condition::All(arguments)),
                    (false, _) => Ok(Condition::Any(arguments)),
                }
            }
        }
    }

    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Condition::Equals(left, right) => vec![left, right],
            Condition::Not(one) | Condition::All(one) | Condition::Any(one) => vec![one],
        }
    }

    /// What stands in the list is resolved first, all of it; only names are not looked at any more once
    /// the answer is known.
    pub fn resolve(&self, context: &Context<'_>) -> Result<Value, ResolveError> {
        let answer = match self {
            Condition::Equals(left, right) => {
                let left = left.value(context)?;
                python::is_equal(&left, &right.value(context)?)
            }
            Condition::Not(one) => !holds(&one.value(context)?, context)?,
            Condition::All(list) => {
                for item in items(list, context)? {
                    if !holds(&item, context)? {
                        return Ok(Value::Bool(false));
                    }
                }
                true
            }
            Condition::Any(list) => {
                for item in items(list, context)? {
                    if holds(&item, context)? {
                        return Ok(Value::Bool(true));
                    }
                }
                false
            }
        };
        Ok(Value::Bool(answer))
    }
}

fn items(list: &Expr, context: &Context<'_>) -> Result<Vec<Value>, ResolveError> {
    match list.value(context)? {
        Value::Array(items) => Ok(items),
        other => Err(ResolveError::condition(&python::text(&other))),
    }
}

/// Whether a condition holds that was resolved to true, false or a name.
pub(crate) fn holds(value: &Value, context: &Context<'_>) -> Result<bool, ResolveError> {
    match value {
        Value::Null => Ok(true),
        Value::Bool(value) => Ok(*value),
        Value::String(name) => match context.conditions.decide(name)? {
            Some(value) => Ok(value),
            None => Err(ResolveError::wrong(format!(
                "Whether the condition \"{name}\" holds depends on parameters that are not known"
            ))),
        },
        other => Err(ResolveError::condition(&python::text(other))),
    }
}

/// The names of conditions that a condition refers to.
pub(crate) fn names(condition: &Expr) -> Vec<String> {
    match condition {
        Expr::Plain(Value::String(name)) => vec![name.clone()],
        Expr::Call(call) => match &call.form {
            Form::Condition(Condition::Not(one)) => names(one),
            Form::Condition(Condition::All(list) | Condition::Any(list)) => match list {
                Expr::List(items) => items.iter().flat_map(names).collect(),
                Expr::Plain(Value::Array(items)) => {
                    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// An `if` that could not be decided while it was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct If {
    pub condition: Expr,
    pub then: Expr,
    pub otherwise: Expr,
}

impl If {
    pub fn parts(&self) -> Vec<&Expr> {
        vec![&self.condition, &self.then, &self.otherwise]
    }

    pub fn resolve(&self, context: &Context<'_>) -> Result<Option<Value>, ResolveError> {
        match holds(&self.condition.value(context)?, context)? {
            true => self.then.or_absent(context),
            false => self.otherwise.or_absent(context),
        }
    }
}
