//! Templates that stand for resources.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::resource::Made;
use super::{Level, NESTING, Nested, Walk};
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::environment::{Environment, Provider};
use crate::function::python;
use crate::place::Path;
use crate::schema::{Kind, Known};
use crate::template::{LoadedResource, Template};

/// What a property of a resource is as a parameter of the template that makes it: lists are texts with commas
/// in between, and lists of mappings say of each entry where it belongs.
pub fn child_parameter(kind: Kind, value: &Value) -> Value {
    let (Kind::List, Value::Array(items)) = (kind, value) else { return value.clone() };
    let text = |value: &Value| if value.is_null() { String::new() } else { python::text(value) };
    let parts: Vec<String> = match items.first() {
        Some(Value::Object(_)) => {
            let maps =
                items.iter().enumerate().filter_map(|(at, item)| Some((at, item.as_object()?)));
            let members = maps.flat_map(|(at, map): (usize, &Map<String, Value>)| {
                map.iter()
                    .map(move |(key, one)| format!(".member.{at}.{key}={}", python::text(one)))
            });
            members.collect()
        }
        _ => items.iter().map(text).collect(),
    };
    parts.join(",").into()
}

impl Walk<'_> {
    /// The template of this name, read once; `None` as a mistake when there is no such file.
    pub fn template(&self, name: &str) -> Result<Arc<Template>, Option<Diagnostics>> {
        let Some(text) = self.of.files.get(name) else { return Err(None) };
        let known = self.templates.borrow().get(name).cloned();
        let read = known.unwrap_or_else(|| {
            let read = Template::from_text(name, text).map(Arc::new);
            self.templates.borrow_mut().insert(name.to_owned(), read.clone());
            read
        });
        read.map_err(Some)
    }
}

impl Level<'_> {
    pub fn nested(
        &self,
        resource: &LoadedResource,
        made: &Made<'_>,
        properties: &Known,
        environment: &Environment,
        wrong: &mut Diagnostics,
    ) -> Option<Nested> {
        let template = made.template.clone()?;
        let path = Path::of([self.template.words().resources, &resource.name]);
        if self.depth >= NESTING {
            let message = format!("Request limit exceeded: Recursion depth exceeds {NESTING}.");
            let found = Diagnostic::new(Fault::LimitExceeded, &path, message);
            wrong.extend(self.template.located(found.at(resource.type_place).into()));
            return None;
        }
        if self.walk.is_over.get() {
            return None;
        }
        let given = self.given(made, properties);
        let child = environment.child(given, Some(&made.provider), &resource.name);
        let (validated, found) = self.walk.level(&template, &child, self.depth + 1, false);
        let within = match &made.provider {
            Provider::Template { name, .. } => format!("{path}<{name}>"),
            Provider::Type(_) => path.to_string(),
        };
        let found = found.into_iter().map(|one| inside(one, &within));
        found.for_each(|one| wrong.push(one));
        let type_name = resource.type_name.clone();
        Some(Nested { resource: resource.name.clone(), type_name, template, validated })
    }
}

/// What is wrong inside of a resource, as it is told from outside.
fn inside(mut found: Diagnostic, within: &str) -> Diagnostic {
    let shows_path = matches!(
        found.fault,
        Fault::ValidationFailed
            | Fault::PropertyInvalid
            | Fault::GroupInvalid
            | Fault::OutputInvalid
    );
    found.path = match found.path.is_empty() {
        true => within.to_owned(),
        false => format!("{within}.{}", found.path),
    };
    if !shows_path && !matches!(found.fault, Fault::LimitExceeded | Fault::Warning) {
        found.fault = Fault::ValidationFailed;
        found.path = within.to_owned();
    }
    found
}
