//! The section `conditions`: names for what holds or does not, made of parameters and of each other.
//!
//! Reading it finds the functions and says what is wrong with their shapes. Whether a condition holds is
//! decided when somebody asks for it, once, and only if somebody asks: a condition that is not used may be
//! nonsense, and is merely warned of. Where parameters are known ([`ConditionSet::decided`]) every answer is
//! yes, no, or what is wrong; where they are not ([`ConditionSet::undecided`]) the answer is open, but a name
//! that does not exist and a circle are found all the same.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::{
    Conditions, Dialect, Expr, NoConditions, ResolveError, Resolved, Scope, condition_names,
    parse_condition, python,
};
use crate::place::{Path, Place};
use crate::template::Version;
use crate::value::Node;

/// Conditions that depend on each other, in a row.
const CHAIN_MAX: usize = 24;

/// Where there are more names than these, nobody is told which one was probably meant.
const HINTED_MAX: usize = 200;

/// The conditions of a template, by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConditionSet {
    definitions: Vec<Definition>,
    index: BTreeMap<String, usize>,
    /// What is wrong with the condition of the same number, or with one that it is made of.
    troubles: Vec<Option<ResolveError>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Definition {
    name: String,
    at: Path,
    place: Option<Place>,
    expr: Expr,
    /// Conditions that it is made of.
    uses: Vec<String>,
}

impl ConditionSet {
    /// Reads the section, and says what is wrong with it.
    pub fn read(section: Option<&Node>, dialect: Dialect) -> (ConditionSet, Diagnostics) {
        let mut set = ConditionSet::default();
        let mut found = Diagnostics::new();
        let is_cfn = dialect.version() == Version::Aws;
        let at = Path::of([if is_cfn { "Conditions" } else { "conditions" }]);
        let Some(section) = section.filter(|section| !section.is_null()) else {
            return (set, found);
        };
        let Some(entries) = section.as_map() else {
            let kind = python::type_name(&section.to_json());
            let message = format!("Condition definitions must be a map. Found a {kind} instead");
            found.push(Diagnostic::new(Fault::StructureInvalid, &at, message).at(section.place));
            return (set, found);
        };
        for entry in entries {
            let (at, place) = (at.key(&entry.key), entry.place.or(entry.node.place));
            match parse_condition(&entry.node, &at, dialect, &NoConditions) {
                Ok(expr @ (Expr::Call(_) | Expr::Plain(Value::Bool(_)))) => {
                    let (name, uses) = (entry.key.clone(), condition_names(&expr));
                    set.index.insert(name.clone(), set.definitions.len());
                    set.definitions.push(Definition { name, at, place, expr, uses });
                }
                Ok(_) => {
                    let message = invalid(&entry.key, &entry.node.to_json());
                    found.push(Diagnostic::new(Fault::StructureInvalid, &at, message).at(place));
                }
                Err(more) => found.extend(more),
            }
        }
        set.troubles = set.follow();
        set.warn(&mut found);
        (set, found)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().map(|definition| definition.name.as_str())
    }

    /// The conditions where parameters are known.
    pub fn decided<'s>(&'s self, scope: &'s dyn Scope) -> Decided<'s> {
        Decided { set: self, scope, known: RefCell::default(), depth: Cell::new(0) }
    }

    /// The conditions where nothing is known of parameters.
    pub fn undecided(&self) -> Undecided<'_> {
        Undecided { set: self }
    }

    fn get(&self, name: &str) -> Option<&Definition> {
        self.index.get(name).map(|at| &self.definitions[*at])
    }

    /// What will be wrong as soon as somebody uses it.
    fn warn(&self, found: &mut Diagnostics) {
        for (definition, trouble) in self.definitions.iter().zip(&self.troubles) {
            let Some(trouble) = trouble else { continue };
            let message = trouble.message.clone();
            let warning = Diagnostic::new(Fault::Warning, &definition.at, message);
            let warning = warning.at(definition.place);
            let unknown = definition.uses.iter().find(|name| self.get(name).is_none());
            found.push(match unknown.filter(|_| self.definitions.len() <= HINTED_MAX) {
                Some(unknown) => warning.meant(unknown, self.names()),
                None => warning,
            });
        }
    }

    /// Follows what conditions are made of, each of them once: names that do not exist, and circles.
    fn follow(&self) -> Vec<Option<ResolveError>> {
        let mut troubles = vec![None; self.definitions.len()];
        let mut is_done = vec![false; self.definitions.len()];
        let mut is_open = vec![false; self.definitions.len()];
        for start in 0..self.definitions.len() {
            // Each condition on the way, with how many of those that it is made of were looked at.
            let mut way = if is_done[start] { Vec::new() } else { vec![(start, 0)] };
            while let Some((at, looked_at)) = way.last_mut() {
                let at = *at;
                is_open[at] = true;
                let Some(used) = self.definitions[at].uses.get(*looked_at) else {
                    (is_open[at], is_done[at]) = (false, true);
                    way.pop();
                    if let (Some((above, _)), Some(trouble)) = (way.last(), troubles[at].clone()) {
                        troubles[*above].get_or_insert(trouble);
                    }
                    continue;
                };
                *looked_at += 1;
                let trouble = match self.index.get(used) {
                    None => Some(ResolveError::condition(used)),
                    Some(next) if is_open[*next] => Some(circle(used)),
                    Some(next) if is_done[*next] => troubles[*next].clone(),
                    Some(next) => {
                        way.push((*next, 0));
                        None
                    }
                };
                if let Some(trouble) = trouble {
                    troubles[at].get_or_insert(trouble);
                }
            }
        }
        troubles
    }
}

/// The conditions of a template whose parameters are known.
pub struct Decided<'s> {
    set: &'s ConditionSet,
    scope: &'s dyn Scope,
    known: RefCell<BTreeMap<String, State>>,
    depth: Cell<usize>,
}

#[derive(Clone)]
enum State {
    Deciding,
    Known(Result<bool, ResolveError>),
}

impl Conditions for Decided<'_> {
    fn decide(&self, name: &str) -> Result<Option<bool>, ResolveError> {
        let definition = self.set.get(name).ok_or_else(|| ResolveError::condition(name))?;
        let known = self.known.borrow().get(name).cloned();
        match known {
            Some(State::Known(answer)) => return answer.map(Some),
            Some(State::Deciding) => return Err(circle(name)),
            None => {}
        }
        if self.depth.get() >= CHAIN_MAX {
            let message = format!("More than {CHAIN_MAX} conditions depend on each other in a row");
            return Err(ResolveError::limit(message));
        }
        self.depth.set(self.depth.get() + 1);
        self.known.borrow_mut().insert(name.to_owned(), State::Deciding);
        let answer = self.answer(definition);
        self.known.borrow_mut().insert(name.to_owned(), State::Known(answer.clone()));
        self.depth.set(self.depth.get() - 1);
        answer.map(Some)
    }

    fn scope(&self) -> Option<&dyn Scope> {
        Some(self.scope)
    }

    fn names(&self) -> Vec<&str> {
        self.set.names().collect()
    }
}

impl Decided<'_> {
    fn answer(&self, definition: &Definition) -> Result<bool, ResolveError> {
        let resolved = definition.expr.resolve_with(self.scope, self);
        match resolved.map_err(|error| error.within(&definition.at))?.or_null() {
            Value::Bool(answer) => Ok(answer),
            other => {
                let message = invalid(&definition.name, &other);
                let error = ResolveError::new(Fault::StructureInvalid, message);
                Err(error.within(&definition.at))
            }
        }
    }
}

/// The conditions of a template of which nothing else is known.
pub struct Undecided<'s> {
    set: &'s ConditionSet,
}

impl Conditions for Undecided<'_> {
    fn decide(&self, name: &str) -> Result<Option<bool>, ResolveError> {
        let at = *self.set.index.get(name).ok_or_else(|| ResolveError::condition(name))?;
        match (&self.set.troubles[at], &self.set.definitions[at].expr) {
            (Some(trouble), _) => Err(trouble.clone()),
            (None, Expr::Plain(Value::Bool(answer))) => Ok(Some(*answer)),
            (None, _) => Ok(None),
        }
    }

    fn scope(&self) -> Option<&dyn Scope> {
        None
    }

    fn names(&self) -> Vec<&str> {
        self.set.names().collect()
    }
}

/// Reads the condition of a resource or an output, and decides it when that can be done: the name of a
/// condition, true or false, or a function.
pub fn decide(
    node: &Node,
    at: &Path,
    dialect: Dialect,
    conditions: &dyn Conditions,
) -> Result<Option<bool>, Diagnostics> {
    let expr = parse_condition(node, at, dialect, conditions)?;
    let answer = match conditions.scope() {
        Some(scope) => expr.resolve_with(scope, conditions).and_then(|resolved| match resolved {
            Resolved::Absent | Resolved::Value(Value::Null) => Ok(Some(true)),
            Resolved::Value(Value::Bool(answer)) => Ok(Some(answer)),
            Resolved::Value(Value::String(name)) => conditions.decide(&name),
            Resolved::Value(other) => Err(ResolveError::condition(&python::text(&other))),
        }),
        None => decide_openly(&expr, conditions),
    };
    answer.map_err(|mut error| {
        error.path = error.path.filter(|path| path.steps().starts_with(at.steps()));
        let known = conditions.names();
        let names = condition_names(&expr);
        let unknown = names.iter().find(|name| !known.contains(&name.as_str()));
        let wrong = error.diagnostic(at, node.place);
        Diagnostics::from(match unknown.filter(|_| known.len() <= HINTED_MAX) {
            Some(unknown) => wrong.meant(unknown, known),
            None => wrong,
        })
    })
}

fn decide_openly(expr: &Expr, conditions: &dyn Conditions) -> Result<Option<bool>, ResolveError> {
    for name in condition_names(expr) {
        conditions.decide(&name)?;
    }
    match expr {
        Expr::Plain(Value::Null) => Ok(Some(true)),
        Expr::Plain(Value::Bool(answer)) => Ok(Some(*answer)),
        Expr::Plain(Value::String(name)) => conditions.decide(name),
        Expr::Plain(other) => Err(ResolveError::condition(&python::text(other))),
        _ => Ok(None),
    }
}

fn invalid(name: &str, definition: &Value) -> String {
    let definition = python::text(definition);
    format!("The definition of condition \"{name}\" is invalid: {definition}")
}

fn circle(name: &str) -> ResolveError {
    let message = format!("Circular definition for condition \"{name}\"");
    ResolveError::new(Fault::StructureInvalid, message)
}
