//! `repeat`: one copy of a template for each combination of values.

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::python;
use super::{Context, Expr, ResolveError};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Repeat {
    pub for_each: Expr,
    pub template: Expr,
    /// Every value with every other; otherwise the first ones together, the second ones, and so on.
    is_nested: bool,
    takes_maps: bool,
}

impl Repeat {
    pub fn read(name: &str, dialect: Dialect, arguments: Expr) -> Result<Repeat, String> {
        let Ok(entries) = arguments.into_entries() else {
            return Err(format!("Arguments to \"{name}\" must be a map"));
        };
        let (mut for_each, mut template, mut is_nested) = (None, None, true);
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("for_each", value) => for_each = Some(value),
                ("template", value) => template = Some(value),
                ("permutations", value) if dialect.has_permutations() => match value {
                    Expr::Plain(Value::Bool(value)) => is_nested = value,
                    _ => {
                        let message = "should be boolean type for";
                        return Err(format!("\"permutations\" {message} {name} function."));
                    }
                },
                _ => {}
            }
        }
        let (Some(for_each), Some(template)) = (for_each, template) else {
            return Err(format!(
                "\"{name}\" syntax should be {name}:\n  template: This is %var%\n  \
                 for_each:\n    %var%: ['a', 'b', 'c']"
            ));
        };
        match for_each.is_map() || for_each.is_call() {
            true => {
                let takes_maps = dialect.repeats_maps() && is_nested;
                Ok(Repeat { for_each, template, is_nested, takes_maps })
            }
            false => Err(no_map(name)),
        }
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let for_each = match self.for_each.value(context)? {
            Value::Object(map) if !map.is_empty() => map,
            _ => return Err(ResolveError::wrong(no_map(name))),
        };
        let mut lists = Vec::with_capacity(for_each.len());
        let mut lengths = Vec::new();
        for value in for_each.values() {
            let items = self.items(name, value)?;
            if !value.is_null() {
                lengths.push(items.len());
            }
            lists.push(items);
        }
        if !self.is_nested && lengths.windows(2).any(|two| two[0] != two[1]) {
            return Err(ResolveError::wrong(format!(
                "For {name}, the length of for_each values should be equal if no nested loop."
            )));
        }
        let template = self.template.value(context)?;
        let keys: Vec<&str> = for_each.keys().map(String::as_str).collect();
        let many = match self.is_nested {
            true => lists.iter().map(Vec::len).fold(1, usize::saturating_mul),
            false => lists.iter().map(Vec::len).min().unwrap_or(0),
        };
        let mut copies = Vec::new();
        for nth in 0..many {
            let values: Vec<&Value> = match self.is_nested {
                true => combination(&lists, nth),
                false => lists.iter().map(|list| &list[nth]).collect(),
            };
            let copy = Copy { name, keys: &keys, values: &values, context };
            copies.push(copy.of(&template)?);
        }
        Ok(Value::Array(copies))
    }

    /// What is gone through; the keys of a map, and nothing of nothing.
    fn items(&self, name: &str, value: &Value) -> Result<Vec<Value>, ResolveError> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => Ok(items.clone()),
            Value::Object(map) if self.takes_maps => {
                Ok(map.keys().cloned().map(Value::String).collect())
            }
            _ => {
                let wanted = if self.takes_maps { "lists or maps" } else { "lists" };
                Err(ResolveError::wrong(format!(
                    "The values of the \"for_each\" argument to \"{name}\" must be {wanted}"
                )))
            }
        }
    }
}

fn no_map(name: &str) -> String {
    format!("The \"for_each\" argument to \"{name}\" must contain a map")
}

/// The combination with this number; the last list is gone through the fastest.
fn combination(lists: &[Vec<Value>], nth: usize) -> Vec<&Value> {
    let mut rest = nth;
    let mut values: Vec<&Value> = lists
        .iter()
        .rev()
        .map(|list| {
            let value = &list[rest % list.len()];
            rest /= list.len();
            value
        })
        .collect();
    values.reverse();
    values
}

struct Copy<'r> {
    name: &'r str,
    keys: &'r [&'r str],
    values: &'r [&'r Value],
    context: &'r Context<'r>,
}

impl Copy<'_> {
    fn of(&self, template: &Value) -> Result<Value, ResolveError> {
        Ok(match template {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                self.context.meter.pay(0)?;
                let items = items.iter().map(|item| self.of(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(map) => {
                self.context.meter.pay(0)?;
                let mut copy = Map::with_capacity(map.len());
                for (key, value) in map {
                    copy.insert(self.text(key)?, self.of(value)?);
                }
                Value::Object(copy)
            }
            other => {
                self.context.meter.pay(0)?;
                other.clone()
            }
        })
    }

    /// One key after the other, so that what a key was replaced with is looked through for the next ones.
    fn text(&self, template: &str) -> Result<String, ResolveError> {
        let mut text = template.to_owned();
        for (key, value) in self.keys.iter().zip(self.values) {
            let Value::String(value) = value else {
                return Err(ResolveError::wrong(format!(
                    "\"{}\" can only put strings into its template, not {}",
                    self.name,
                    python::repr_short(value)
                )));
            };
            let many = text.matches(key).count();
            let made = many.saturating_mul(value.len()).saturating_add(text.len());
            self.context.meter.pay(made)?;
            text = text.replace(key, value);
        }
        Ok(text)
    }
}
