//! What a value refers to, found without calling anything.

use serde_json::Value;

use super::form::Form;
use super::lookup::Lookup;
use super::meter::Meter;
use super::scope::NoConditions;
use super::{Call, Context, Expr, Facade, ResolveError, Scope};
use crate::place::{Path, Place};

/// Something that is referred to, and from where.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub name: String,
    /// Where the function stands; its name is not part of it.
    pub at: Path,
    pub place: Option<Place>,
    /// The function, as the template calls it.
    pub function: &'static str,
    /// Of an attribute: its name and the way into it, as far as it is known; empty when all attributes are
    /// meant. Absent when not even the name of the attribute is known before it is resolved.
    pub path: Option<Vec<Value>>,
}

/// Everything that a value refers to, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References {
    pub resources: Vec<Reference>,
    pub attributes: Vec<Reference>,
    pub parameters: Vec<Reference>,
    /// What `Ref` names: a resource when there is one of this name, and else a parameter.
    pub either: Vec<Reference>,
    pub files: Vec<Reference>,
    /// Some names are themselves made by functions that could not be called, or it is not decided yet which branch counts.
    pub is_open: bool,
}

impl Expr {
    /// What is referred to by names that stand in the template.
    pub fn references(&self) -> References {
        self.references_in(&Nothing)
    }

    /// What is referred to, where names are made from what the scope knows, too.
    pub fn references_in(&self, scope: &dyn Scope) -> References {
        let mut found = References::default();
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Plain(_) | Expr::Absent => {}
                Expr::List(items) => open.extend(items.iter().rev()),
                Expr::Map(entries) => open.extend(entries.iter().rev().map(|(_, item)| item)),
                Expr::Call(call) => {
                    found.note(call, scope);
                    open.extend(call.form.parts().into_iter().rev());
                }
            }
        }
        found
    }
}

impl References {
    fn note(&mut self, call: &Call, scope: &dyn Scope) {
        self.is_open |= matches!(call.form, Form::If(_));
        let Form::Lookup(lookup) = &call.form else { return };
        let context = Context { scope, conditions: &NoConditions, meter: Meter::new() };
        let known = |expr: &Expr| expr.value(&context).ok();
        match lookup {
            Lookup::GetParam(arguments) => {
                let name = match arguments {
                    Expr::List(items) => items.first().and_then(known),
                    other => known(other),
                };
                let name = match name {
                    Some(Value::Array(items)) => items.first().cloned(),
                    other => other,
                };
                let list = &mut self.parameters;
                self.is_open |= !put(list, call, name, None);
            }
            Lookup::ParamRef(arguments) => {
                self.is_open |= !put(&mut self.parameters, call, known(arguments), None);
            }
            Lookup::GetResource(arguments) => {
                self.is_open |= !put(&mut self.resources, call, known(arguments), None);
            }
            Lookup::Ref(arguments) => {
                self.is_open |= !put(&mut self.either, call, known(arguments), None);
            }
            Lookup::File(arguments) => {
                self.is_open |= !put(&mut self.files, call, known(arguments), None);
            }
            Lookup::Attribute(attribute) => {
                let path = match &attribute.attribute {
                    None => Some(Vec::new()),
                    Some(first) => known(first).map(|first| {
                        let rest = attribute.path.iter().map_while(known);
                        std::iter::once(first).chain(rest).collect()
                    }),
                };
                let name = known(&attribute.resource);
                self.is_open |= path.is_none();
                self.is_open |= !put(&mut self.attributes, call, name, path);
            }
            Lookup::FindInMap(_) | Lookup::Zones(_) | Lookup::Facade(_) => {}
        }
    }
}

/// Notes a reference when its name is known. What is no name is no reference either.
fn put(
    list: &mut Vec<Reference>,
    call: &Call,
    name: Option<Value>,
    path: Option<Vec<Value>>,
) -> bool {
    match name {
        Some(Value::String(name)) => {
            let (at, place, function) = (call.at.clone(), call.place, call.name);
            list.push(Reference { name, at, place, function, path });
            true
        }
        Some(_) => true,
        None => false,
    }
}

/// A scope that knows nothing.
struct Nothing;

impl Nothing {
    fn unknown<T>() -> Result<T, ResolveError> {
        Err(ResolveError::wrong("this is not known before it is resolved"))
    }
}

impl Scope for Nothing {
    fn parameter(&self, _: &str) -> Result<Value, ResolveError> {
        Nothing::unknown()
    }

    fn reference(&self, _: &str) -> Result<Value, ResolveError> {
        Nothing::unknown()
    }

    fn attribute(&self, _: &str, _: &[Value]) -> Result<Value, ResolveError> {
        Nothing::unknown()
    }

    fn file(&self, _: &str) -> Result<String, ResolveError> {
        Nothing::unknown()
    }

    fn facade(&self, _: Facade) -> Result<Value, ResolveError> {
        Nothing::unknown()
    }

    fn zones(&self) -> Result<Vec<String>, ResolveError> {
        Nothing::unknown()
    }

    fn mapping(&self, _: &str) -> Result<Value, ResolveError> {
        Nothing::unknown()
    }
}
