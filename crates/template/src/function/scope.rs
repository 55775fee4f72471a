//! What functions ask for, and how it goes wrong.

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Fault};
use crate::place::{Path, Place};

use super::python;

/// What a function of a provider template asks of the resource that stands for the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Facade {
    Metadata,
    DeletionPolicy,
    UpdatePolicy,
}

/// Everything that is not in the template itself. One who knows only a part says so with an error.
pub trait Scope {
    fn parameter(&self, name: &str) -> Result<Value, ResolveError>;

    /// What `get_resource` gives: how others call the resource.
    fn reference(&self, resource: &str) -> Result<Value, ResolveError>;

    /// An attribute, the first of the path, and what lies at the rest of the path in it. All attributes when
    /// the path is empty. Whether there is something at the end of the path, the resource decides:
    /// [`select`] does what most do.
    fn attribute(&self, resource: &str, path: &[Value]) -> Result<Value, ResolveError>;

    fn file(&self, key: &str) -> Result<String, ResolveError>;

    fn facade(&self, what: Facade) -> Result<Value, ResolveError>;

    /// What `Fn::GetAZs` gives.
    fn zones(&self) -> Result<Vec<String>, ResolveError> {
        Ok(vec!["nova".to_owned()])
    }

    /// A map of the section `Mappings`, which templates of CloudFormation have.
    fn mapping(&self, name: &str) -> Result<Value, ResolveError> {
        Err(ResolveError::wrong(format!("There is no mapping \"{name}\"")))
    }
}

/// Which conditions hold. Who knows parameters decides; who does not says that it is open.
pub trait Conditions {
    /// Whether a condition holds; `None` when that is not known yet.
    fn decide(&self, name: &str) -> Result<Option<bool>, ResolveError>;

    /// Where a condition that is written in place takes parameters from, when they are known.
    fn scope(&self) -> Option<&dyn Scope>;

    /// All there are, for those who mistype one.
    fn names(&self) -> Vec<&str>;
}

/// No condition has a name, and nothing is known of parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoConditions;

impl Conditions for NoConditions {
    fn decide(&self, name: &str) -> Result<Option<bool>, ResolveError> {
        Err(ResolveError::condition(name))
    }

    fn scope(&self) -> Option<&dyn Scope> {
        None
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }
}

/// Why a value could not be had. The message is what clients are told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ResolveError {
    pub fault: Fault,
    pub message: String,
    /// Of the function that failed, the innermost one.
    pub path: Option<Path>,
}

impl ResolveError {
    pub fn new(fault: Fault, message: impl Into<String>) -> ResolveError {
        ResolveError { fault, message: message.into(), path: None }
    }

    /// Arguments that a function cannot do anything with.
    pub fn wrong(message: impl Into<String>) -> ResolveError {
        ResolveError::new(Fault::ValidationFailed, message)
    }

    pub fn parameter_missing(name: &str) -> ResolveError {
        let message = format!("The Parameter ({name}) was not provided.");
        ResolveError::new(Fault::ParameterMissing, message)
    }

    /// A resource that there is not, referred to from somewhere.
    pub fn reference(name: &str, within: &str) -> ResolveError {
        let message = format!("The specified reference \"{name}\" (in {within}) is incorrect.");
        ResolveError::new(Fault::InvalidReference, message)
    }

    pub fn attribute(resource: &str, attribute: &str) -> ResolveError {
        let message = format!("The Referenced Attribute ({resource} {attribute}) is incorrect.");
        ResolveError::wrong(message)
    }

    pub fn file_missing(function: &str, key: &str) -> ResolveError {
        let section = "No content found in the \"files\" section for";
        ResolveError::new(Fault::FileMissing, format!("{section} {function} path: {key}"))
    }

    pub fn condition(name: &str) -> ResolveError {
        ResolveError::wrong(format!("Invalid condition \"{name}\""))
    }

    pub fn limit(message: impl Into<String>) -> ResolveError {
        ResolveError::new(Fault::LimitExceeded, message)
    }

    /// Says where it was, unless that is known more precisely.
    #[must_use]
    pub fn within(mut self, path: &Path) -> ResolveError {
        self.path.get_or_insert_with(|| path.clone());
        self
    }

    /// As a mistake in a template: where the function is that failed, or else where the whole value is.
    pub fn diagnostic(self, at: &Path, place: Option<Place>) -> Diagnostic {
        let path = self.path.as_ref().unwrap_or(at);
        Diagnostic::new(self.fault, path, self.message).at(place)
    }
}

/// What lies at the end of a path in an attribute; nothing where the path leads nowhere. Lists are asked by
/// number, from the end when it is negative, and never by text.
pub fn select(value: &Value, path: &[Value]) -> Value {
    path.iter()
        .try_fold(value.clone(), |value, key| python::item(&value, key))
        .unwrap_or(Value::Null)
}
