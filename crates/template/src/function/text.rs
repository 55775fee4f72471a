//! Functions that make texts: joining, splitting, replacing.

use serde_json::Value;

use super::dialect::{Dialect, Function};
use super::python;
use super::{Context, Expr, ResolveError, values};

/// `list_join`, `Fn::Join`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Join {
    delimiter: Expr,
    lists: Vec<Expr>,
    /// One list of texts; otherwise any number of lists, and what is no text is written as JSON.
    is_strict: bool,
}

impl Join {
    /// One list.
    pub fn read_one(name: &str, arguments: Expr) -> Result<Join, String> {
        let parts: Option<[Expr; 2]> =
            arguments.into_items().ok().and_then(|items| items.try_into().ok());
        match parts {
            Some([delimiter, list]) => Ok(Join { delimiter, lists: vec![list], is_strict: true }),
            None => Err(incorrect(name, &format!("\"{name}\" : [ \" \", [ \"str1\", \"str2\"]]"))),
        }
    }

    /// Any number of lists, but one.
    pub fn read_many(name: &str, arguments: Expr) -> Result<Join, String> {
        let mut items = arguments.into_items().unwrap_or_default().into_iter();
        match (items.next(), items.collect::<Vec<_>>()) {
            (Some(delimiter), lists) if !lists.is_empty() => {
                Ok(Join { delimiter, lists, is_strict: false })
            }
            _ => Err(incorrect(name, &format!("\"{name}\" : [ \" \", [ \"str1\", \"str2\"] ...]"))),
        }
    }

    pub fn parts(&self) -> Vec<&Expr> {
        std::iter::once(&self.delimiter).chain(&self.lists).collect()
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let not_a_list = || ResolveError::wrong(format!("\"{name}\" must operate on a list"));
        let mut items = Vec::new();
        let lists = match self.is_strict {
            true => vec![self.lists[0].value(context)?],
            false => values(&self.lists, context)?,
        };
        for list in lists {
            match list {
                Value::Array(list) => items.extend(list),
                Value::Null => {}
                other if !self.is_strict && !python::is_true(&other) => {}
                _ => return Err(not_a_list()),
            }
        }
        let Value::String(delimiter) = self.delimiter.value(context)? else {
            let message = format!("\"{name}\" delimiter must be a string");
            return Err(ResolveError::wrong(message));
        };
        context.meter.pay(delimiter.len().saturating_mul(items.len()))?;
        let texts = items.iter().map(|item| self.text(item));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        context.meter.pay(texts.iter().map(String::len).sum())?;
        Ok(Value::String(texts.join(&delimiter)))
    }

    fn text(&self, item: &Value) -> Result<String, ResolveError> {
        match item {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text.clone()),
            Value::Array(_) | Value::Object(_) if !self.is_strict => Ok(python::json(item, true)),
            other => {
                let wanted = if self.is_strict { "strings" } else { "string, map or list" };
                let given = python::repr_short(other);
                let message = format!("Items to join must be {wanted} not {given}");
                Err(ResolveError::wrong(message))
            }
        }
    }
}

fn incorrect(name: &str, example: &str) -> String {
    format!("Incorrect arguments to \"{name}\" should be: {example}")
}

/// `str_split`, `Fn::Split`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Split {
    Hot(Expr),
    Cfn { delimiter: String, text: Expr },
}

impl Split {
    pub fn read(name: &str, arguments: Expr) -> Result<Split, String> {
        match arguments.as_text().is_some() || arguments.is_map() {
            true => Err(incorrect(name, &Split::example(name))),
            false => Ok(Split::Hot(arguments)),
        }
    }

    pub fn read_cfn(name: &str, arguments: Expr) -> Result<Split, String> {
        let parts: Option<[Expr; 2]> =
            arguments.into_items().ok().and_then(|items| items.try_into().ok());
        let Some([delimiter, text]) = parts else {
            return Err(incorrect(name, &format!("\"{name}\" : [ \",\", \"str1,str2\"]")));
        };
        match delimiter.as_text() {
            Some(delimiter) if !delimiter.is_empty() => {
                Ok(Split::Cfn { delimiter: delimiter.to_owned(), text })
            }
            _ => Err(format!("Delimiter for {name} must be string")),
        }
    }

    fn example(name: &str) -> String {
        format!("\"{name}\" : [ \",\", \"apples,pears\", <index>]")
    }

    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Split::Hot(arguments) => vec![arguments],
            Split::Cfn { text, .. } => vec![text],
        }
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let arguments = match self {
            Split::Hot(arguments) => arguments.value(context)?,
            Split::Cfn { delimiter, text } => match text.value(context)? {
                Value::String(text) => return pieces(&text, Some(delimiter), context),
                other => {
                    let found = python::type_name(&other);
                    let message = "String to split must be string; got";
                    return Err(ResolveError::wrong(format!("{message} <class '{found}'>")));
                }
            },
        };
        let wrong = || ResolveError::wrong(incorrect(name, &Split::example(name)));
        let Value::Array(items) = arguments else { return Err(wrong()) };
        let (delimiter, text) = match items.as_slice() {
            [_, Value::Null, ..] => return Ok(Value::Null),
            [Value::String(delimiter), Value::String(text), ..] => (Some(delimiter), text),
            [Value::Null, Value::String(text), ..] => (None, text),
            _ => return Err(wrong()),
        };
        if delimiter.is_some_and(String::is_empty) {
            return Err(ResolveError::wrong("empty separator"));
        }
        let Value::Array(pieces) = pieces(text, delimiter.map(String::as_str), context)? else {
            return Err(wrong());
        };
        let Some(index) = items.get(2) else { return Ok(Value::Array(pieces)) };
        let Some(index) = python::whole(index) else {
            let example = Split::example(name);
            let message = format!("Incorrect index to \"{name}\" should be: {example}");
            return Err(ResolveError::wrong(message));
        };
        match python::position(index, pieces.len()) {
            Some(at) => Ok(pieces[at].clone()),
            None => {
                let last = pieces.len().saturating_sub(1);
                let message =
                    format!("Incorrect index to \"{name}\" should be between 0 and {last}");
                Err(ResolveError::wrong(message))
            }
        }
    }
}

/// Between delimiters, or between blanks when there is none.
fn pieces(
    text: &str,
    delimiter: Option<&str>,
    context: &Context<'_>,
) -> Result<Value, ResolveError> {
    let pieces: Box<dyn Iterator<Item = &str>> = match delimiter {
        Some(delimiter) => Box::new(text.split(delimiter)),
        None => Box::new(text.split_whitespace()),
    };
    let mut list = Vec::new();
    for piece in pieces {
        context.meter.pay(piece.len())?;
        list.push(Value::String(piece.to_owned()));
    }
    Ok(Value::Array(list))
}

/// `str_replace` and those that are stricter, `Fn::Replace`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replace {
    pub template: Expr,
    pub params: Expr,
    /// Lists and maps are written as JSON.
    takes_json: bool,
    /// Every key has to be in the template.
    needs_all: bool,
    /// Every key needs something to be replaced with.
    needs_values: bool,
}

impl Replace {
    pub fn read(
        name: &str,
        function: Function,
        dialect: Dialect,
        arguments: Expr,
    ) -> Result<Replace, String> {
        let Ok(entries) = arguments.into_entries() else {
            return Err(format!("Arguments to \"{name}\" must be a map"));
        };
        let mut template = None;
        let mut params = None;
        for (key, value) in entries {
            match key.as_str() {
                "template" => template = Some(value),
                "params" => params = Some(value),
                _ => {}
            }
        }
        let (Some(template), Some(params)) = (template, params) else {
            return Err(format!(
                "\"{name}\" syntax should be {name}:\n  template: This is var1 template var2\n  \
                 params:\n    var1: a\n    var2: string"
            ));
        };
        let replace = Replace {
            template,
            params,
            takes_json: dialect.has_json_texts(),
            needs_all: function != Function::StrReplace,
            needs_values: function == Function::StrReplaceVstrict,
        };
        replace.checked(name)
    }

    pub fn read_cfn(name: &str, arguments: Expr) -> Result<Replace, String> {
        let parts: Option<[Expr; 2]> =
            arguments.into_items().ok().and_then(|items| items.try_into().ok());
        let Some([params, template]) = parts else {
            let example = "[ {\"$var1\": \"foo\", \"%var2%\": \"bar\"}, \"$var1 is %var2%\"]";
            return Err(incorrect(name, &format!("{{\"{name}\": {example}}}")));
        };
        let (needs_all, needs_values) = (false, false);
        Replace { template, params, takes_json: false, needs_all, needs_values }.checked(name)
    }

    fn checked(self, name: &str) -> Result<Replace, String> {
        match self.params.is_map() || self.params.is_call() {
            true => Ok(self),
            false => Err(format!("\"{name}\" parameters must be a mapping")),
        }
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let template = self.template.value(context)?;
        let params = self.params.value(context)?;
        let Value::String(template) = template else {
            return Err(ResolveError::wrong(format!("\"{name}\" template must be a string")));
        };
        let Value::Object(params) = params else {
            return Err(ResolveError::wrong(format!("\"{name}\" params must be a map")));
        };
        let mut keys: Vec<&String> = params.keys().collect();
        keys.sort_by(|a, b| b.chars().count().cmp(&a.chars().count()).then(a.cmp(b)));
        let mut texts = Vec::with_capacity(keys.len());
        for key in &keys {
            texts.push((key.as_str(), self.text(name, key, &params[key.as_str()])?));
        }
        let (replaced, missed) = replace_once(&template, &texts, context)?;
        if self.needs_all && !missed.is_empty() {
            let missed = missed.join(",");
            let message = "The following params were not found in the template:";
            return Err(ResolveError::wrong(format!("{message} {missed}")));
        }
        Ok(Value::String(replaced))
    }

    /// What a key is replaced with.
    fn text(&self, name: &str, key: &str, value: &Value) -> Result<String, ResolveError> {
        let text = match value {
            Value::Null => String::new(),
            Value::Array(items) if items.is_empty() && self.needs_values => String::new(),
            Value::Object(map) if map.is_empty() && self.needs_values => String::new(),
            Value::Array(_) | Value::Object(_) if self.takes_json => python::json(value, true),
            Value::Array(_) | Value::Object(_) => {
                return Err(ResolveError::wrong(format!(
                    "\"{name}\" params must be strings or numbers, param {key} is not valid"
                )));
            }
            other => python::text(other),
        };
        match self.needs_values && text.is_empty() {
            true => Err(ResolveError::wrong(format!(
                "{name} has an undefined or empty value for param {key}, \
                 must be a defined non-empty value"
            ))),
            false => Ok(text),
        }
    }
}

/// A part of a text in which keys are replaced.
enum Part<'t> {
    /// Not looked through to its end.
    Open(&'t str),
    /// What a key was replaced with, which is not looked at again.
    Done(usize),
}

/// Replaces every key by its text, in the order of the keys, and never in what was replaced. Gives the keys
/// too that were not there.
fn replace_once<'k>(
    template: &str,
    texts: &[(&'k str, String)],
    context: &Context<'_>,
) -> Result<(String, Vec<&'k str>), ResolveError> {
    let mut parts = vec![Part::Open(template)];
    let mut missed = Vec::new();
    for (at, (key, _)) in texts.iter().enumerate() {
        if key.is_empty() {
            return Err(ResolveError::wrong("empty separator"));
        }
        // What is looked through costs as much as what is made: many keys and a long text are not free.
        context.meter.pay(template.len() / 64)?;
        let is_there = |part: &Part<'_>| matches!(part, Part::Open(text) if text.contains(key));
        if !parts.iter().any(is_there) {
            missed.push(*key);
            continue;
        }
        let mut next = Vec::with_capacity(parts.len() + 2);
        for part in parts {
            let Part::Open(text) = part else {
                next.push(part);
                continue;
            };
            for (nth, piece) in text.split(key).enumerate() {
                if nth > 0 {
                    context.meter.pay(0)?;
                    next.push(Part::Done(at));
                }
                if !piece.is_empty() {
                    next.push(Part::Open(piece));
                }
            }
        }
        parts = next;
    }
    let lengths = parts.iter().map(|part| match part {
        Part::Open(text) => text.len(),
        Part::Done(at) => texts[*at].1.len(),
    });
    context.meter.pay(lengths.fold(0, usize::saturating_add))?;
    let mut out = String::new();
    for part in parts {
        out.push_str(match part {
            Part::Open(text) => text,
            Part::Done(at) => &texts[at].1,
        });
    }
    Ok((out, missed))
}

/// `Fn::Base64`, which changes nothing: data for machines is plain here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Identity(pub Expr);

impl Identity {
    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        match self.0.value(context)? {
            Value::String(text) => Ok(Value::String(text)),
            _ => Err(ResolveError::wrong(format!("\"{name}\" argument must be a string"))),
        }
    }
}
