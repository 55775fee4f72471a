//! What the functions of a template ask for: parameters, resources and their attributes, files, and what the resource says
//! that the whole stack is.

use std::sync::Arc;

use hostler_template::function::{Facade as Asked, ResolveError, Scope};
use serde_json::Value;

use super::blueprint::Blueprint;
use super::plugin::{Plugin, Seen};

/// The resource of the stack above.
#[derive(Clone, Debug)]
pub(crate) struct Facade {
    pub metadata: Value,
    pub update_policy: Value,
    pub deletion_policy: &'static str,
}

/// Resources by their names in the template.
pub(crate) trait Resources {
    fn seen(&self, name: &str) -> Option<Seen<'_>>;
    fn plugin(&self, name: &str) -> Option<Arc<dyn Plugin>>;
}

/// A scope over what is there.
pub(crate) struct StackScope<'a> {
    pub blueprint: &'a Blueprint,
    pub resources: &'a dyn Resources,
    pub facade: Option<&'a Facade>,
}

impl StackScope<'_> {
    fn of(&self, name: &str) -> Option<(Seen<'_>, Arc<dyn Plugin>)> {
        Some((self.resources.seen(name)?, self.resources.plugin(name)?))
    }
}

impl Scope for StackScope<'_> {
    fn parameter(&self, name: &str) -> Result<Value, ResolveError> {
        self.blueprint.parameter(name)
    }

    fn reference(&self, resource: &str) -> Result<Value, ResolveError> {
        match self.of(resource) {
            Some((seen, plugin)) => Ok(plugin.reference(&seen)),
            None if self.blueprint.loaded.resource(resource).is_none() => {
                Err(ResolveError::reference(resource, "unknown"))
            }
            None => Ok(Value::String(resource.to_owned())),
        }
    }

    fn attribute(&self, resource: &str, path: &[Value]) -> Result<Value, ResolveError> {
        let Some((seen, plugin)) = self.of(resource) else { return Ok(Value::Null) };
        if path.is_empty() {
            return Ok(Value::Object(plugin.attributes(&seen)));
        }
        let name = path[0].as_str().map_or_else(|| path[0].to_string(), str::to_owned);
        plugin.attribute(&seen, path).map_err(|_| ResolveError::attribute(resource, &name))
    }

    fn file(&self, key: &str) -> Result<String, ResolveError> {
        match self.blueprint.files.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Ok(other.to_string()),
            None => Err(ResolveError::file_missing("get_file", key)),
        }
    }

    fn facade(&self, what: Asked) -> Result<Value, ResolveError> {
        let Some(facade) = self.facade else {
            return Err(ResolveError::wrong("resource_facade is for templates of nested stacks"));
        };
        Ok(match what {
            Asked::Metadata => facade.metadata.clone(),
            Asked::UpdatePolicy => facade.update_policy.clone(),
            Asked::DeletionPolicy => Value::String(facade.deletion_policy.to_owned()),
        })
    }

    fn mapping(&self, name: &str) -> Result<Value, ResolveError> {
        self.blueprint.mapping(name)
    }
}
