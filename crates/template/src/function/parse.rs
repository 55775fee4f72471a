//! From a value that was read to one in which the functions are found.

use serde_json::{Map, Value};

use super::dialect::{Dialect, Found, Function};
use super::form::Form;
use super::logic::{self, If};
use super::meter::{DEPTH_MAX, Meter};
use super::python;
use super::scope::Conditions;
use super::{Call, Context, Expr, ResolveError};
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::place::{Path, Place};
use crate::value::{Data, Entry, Node};

/// Where there are more conditions than these, nobody is told which one was probably meant.
const HINTED_MAX: usize = 200;

/// Finds the functions of a value that stands at a path.
pub fn parse(
    node: &Node,
    at: &Path,
    dialect: Dialect,
    conditions: &dyn Conditions,
) -> Result<Expr, Diagnostics> {
    Reader::of(dialect, conditions).whole(node, at, false)
}

/// Finds the functions of a condition, which are others.
pub fn parse_condition(
    node: &Node,
    at: &Path,
    dialect: Dialect,
    conditions: &dyn Conditions,
) -> Result<Expr, Diagnostics> {
    Reader::of(dialect, conditions).whole(node, at, true)
}

struct Reader<'r> {
    dialect: Dialect,
    conditions: &'r dyn Conditions,
    found: Diagnostics,
    depth: usize,
    is_too_deep: bool,
}

/// Where something stands, for what is said of it.
#[derive(Clone, Copy)]
struct Here<'h> {
    at: &'h Path,
    place: Option<Place>,
}

impl<'r> Reader<'r> {
    fn of(dialect: Dialect, conditions: &'r dyn Conditions) -> Reader<'r> {
        let (found, depth, is_too_deep) = (Diagnostics::new(), 0, false);
        Reader { dialect, conditions, found, depth, is_too_deep }
    }

    fn whole(mut self, node: &Node, at: &Path, is_condition: bool) -> Result<Expr, Diagnostics> {
        let expr = self.read(node, at, is_condition);
        self.found.or(expr)
    }

    fn read(&mut self, node: &Node, at: &Path, is_condition: bool) -> Expr {
        if self.depth >= DEPTH_MAX {
            if !self.is_too_deep {
                self.is_too_deep = true;
                let message = format!("A value is more than {DEPTH_MAX} levels deep.");
                let deep = Diagnostic::new(Fault::LimitExceeded, at, message).at(node.place);
                self.found.push(deep);
            }
            return Expr::Plain(Value::Null);
        }
        self.depth += 1;
        let expr = match &node.data {
            Data::Null => Expr::Plain(Value::Null),
            Data::Bool(value) => Expr::Plain(Value::Bool(*value)),
            Data::Number(number) => Expr::Plain(Value::Number(number.clone())),
            Data::String(text) => Expr::Plain(Value::String(text.clone())),
            Data::List(items) => {
                let items = items.iter().enumerate();
                list(items.map(|(i, item)| self.read(item, &at.index(i), is_condition)).collect())
            }
            Data::Map(entries) => match entries.as_slice() {
                [only] => self.single(node, only, at, is_condition),
                _ => map(entries
                    .iter()
                    .map(|entry| {
                        let value = self.read(&entry.node, &at.key(&entry.key), is_condition);
                        (entry.key.clone(), value)
                    })
                    .collect()),
            },
        };
        self.depth -= 1;
        expr
    }

    /// A map with one key, which is perhaps a function.
    fn single(&mut self, node: &Node, only: &Entry, at: &Path, is_condition: bool) -> Expr {
        let below = at.key(&only.key);
        let here = Here { at: &below, place: only.place.or(node.place) };
        match self.dialect.find(&only.key, is_condition) {
            None => {
                let value = self.read(&only.node, &below, is_condition);
                map(vec![(only.key.clone(), value)])
            }
            Some(Found::Is(name, Function::If)) => {
                let expr = self.choice(name, &only.node, here);
                expr.unwrap_or(Expr::Plain(Value::Null))
            }
            Some(Found::Is(name, function)) => {
                let before = self.found.len();
                let arguments = self.read(&only.node, &below, is_condition);
                if self.found.len() > before {
                    return Expr::Plain(Value::Null);
                }
                match Form::read(name, function, self.dialect, is_condition, arguments) {
                    Ok(form) => {
                        let (at, place) = (at.clone(), here.place);
                        Expr::Call(Box::new(Call { name, at, place, form }))
                    }
                    Err(message) => self.wrong(here, message),
                }
            }
            Some(Found::Removed(name)) => {
                self.read(&only.node, &below, is_condition);
                let message = format!(
                    "The template version is invalid: \
                     The function {name} is not supported in this version of HOT."
                );
                let removed = Diagnostic::new(Fault::ValidationFailed, here.at, message);
                self.found.push(removed.at(here.place).hint(instead(name)));
                Expr::Plain(Value::Null)
            }
            Some(Found::Misplaced(name)) => {
                let message = format!("The function \"{name}\" is invalid in this context");
                let known: Vec<&str> = self.dialect.condition_names().collect();
                let misplaced = Diagnostic::new(Fault::ValidationFailed, here.at, message);
                let hint = format!("in conditions there are {}", known.join(", "));
                self.found.push(misplaced.at(here.place).hint(hint));
                Expr::Plain(Value::Null)
            }
        }
    }

    /// `if`. Of two branches the one that is not taken is not read.
    fn choice(&mut self, name: &'static str, node: &Node, here: Here<'_>) -> Option<Expr> {
        let items = node.as_list().unwrap_or_default();
        let (condition, then, otherwise) = match items {
            [condition, then, otherwise] => (condition, then, Some(otherwise)),
            [condition, then] if self.dialect.if_nullable() => (condition, then, None),
            _ => {
                let form = "[condition_name, value_if_true, value_if_false]";
                let message = format!("Arguments to \"{name}\" must be of the form: {form}");
                self.wrong(here, message);
                return None;
            }
        };
        let before = self.found.len();
        let condition = self.read(condition, &here.at.index(0), true);
        if self.found.len() > before {
            return None;
        }
        let decided = match self.decide(&condition) {
            Ok(decided) => decided,
            Err(error) => {
                self.wrong_condition(error, here, &condition);
                return None;
            }
        };
        let mut branch = |index: usize, node: Option<&Node>| match node {
            Some(node) => self.read(node, &here.at.index(index), false),
            None => Expr::Absent,
        };
        Some(match decided {
            Some(true) => branch(1, Some(then)),
            Some(false) => branch(2, otherwise),
            None => {
                let (then, otherwise) = (branch(1, Some(then)), branch(2, otherwise));
                let at = here.at.parent();
                let form = Form::If(If { condition, then, otherwise });
                Expr::Call(Box::new(Call { name, at, place: here.place, form }))
            }
        })
    }

    /// Whether a condition holds, when what it depends on is known. Where nothing can be decided, all the
    /// names are looked up at least.
    fn decide(&self, condition: &Expr) -> Result<Option<bool>, ResolveError> {
        if let Some(scope) = self.conditions.scope() {
            let conditions = self.conditions;
            let context = Context { scope, conditions, meter: Meter::new() };
            return logic::holds(&condition.value(&context)?, &context).map(Some);
        }
        for name in logic::names(condition) {
            self.conditions.decide(&name)?;
        }
        match condition {
            Expr::Plain(Value::Null) => Ok(Some(true)),
            Expr::Plain(Value::Bool(value)) => Ok(Some(*value)),
            Expr::Plain(Value::String(name)) => self.conditions.decide(name),
            Expr::Call(_) => Ok(None),
            other => {
                let shown = match other {
                    Expr::Plain(value) => python::text(value),
                    _ => "...".to_owned(),
                };
                Err(ResolveError::condition(&shown))
            }
        }
    }

    fn wrong(&mut self, here: Here<'_>, message: String) -> Expr {
        let wrong = Diagnostic::new(Fault::ValidationFailed, here.at, message);
        self.found.push(wrong.at(here.place));
        Expr::Plain(Value::Null)
    }

    fn wrong_condition(&mut self, error: ResolveError, here: Here<'_>, condition: &Expr) {
        let names = self.conditions.names();
        let given = logic::names(condition).into_iter().find(|n| !names.contains(&n.as_str()));
        let wrong = error.diagnostic(here.at, here.place);
        self.found.push(match given.filter(|_| names.len() <= HINTED_MAX) {
            Some(given) => wrong.meant(&given, names),
            None => wrong,
        });
    }
}

/// What does the same as a function that is gone.
fn instead(name: &str) -> &'static str {
    match name {
        "Fn::Join" => "write `list_join`",
        "Fn::Split" => "write `str_split`",
        "Fn::Replace" => "write `str_replace`",
        "Fn::Select" => "write the index into the path of `get_param` or `get_attr`",
        "Fn::Base64" => "leave it out: it changes nothing",
        "Fn::ResourceFacade" => "write `resource_facade`",
        "Ref" => "write `get_param` or `get_resource`",
        _ => "",
    }
}

/// A list, plain when everything in it is.
fn list(items: Vec<Expr>) -> Expr {
    if !items.iter().all(Expr::is_plain) {
        return Expr::List(items);
    }
    let plain = items.into_iter().filter_map(|item| match item {
        Expr::Plain(value) => Some(value),
        _ => None,
    });
    Expr::Plain(Value::Array(plain.collect()))
}

/// A map, plain when everything in it is.
fn map(entries: Vec<(String, Expr)>) -> Expr {
    if !entries.iter().all(|(_, item)| item.is_plain()) {
        return Expr::Map(entries);
    }
    let plain = entries.into_iter().filter_map(|(key, item)| match item {
        Expr::Plain(value) => Some((key, value)),
        _ => None,
    });
    Expr::Plain(Value::Object(plain.collect::<Map<_, _>>()))
}
