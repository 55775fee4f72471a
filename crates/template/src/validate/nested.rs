//! Templates that stand for resources, and what members of groups are.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::resource::Made;
use super::{Level, NESTING, Nested, Walk};
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::environment::{Environment, Provider};
use crate::function::python;
use crate::place::Path;
use crate::schema::{Kind, Known};
use crate::template::{LoadedResource, Template, Version};

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
            let read = Template::of_text(name, text).map(Arc::new);
            self.templates.borrow_mut().insert(name.to_owned(), read.clone());
            read
        });
        read.map_err(Some)
    }
}

/// What stands for the template of a group in messages.
const MEMBERS: &str = "nested_stack";

/// What the number of a member stands for in its properties, where a group says nothing else.
const VARIABLE: &str = "%index%";

/// What a resource is made of.
struct Member {
    template: Arc<Template>,
    /// Everything of it is known.
    is_whole: bool,
}

/// A definition with the number of the first member in it, and without what is nothing.
fn numbered(value: &Known, variable: &str) -> Value {
    match value {
        Known::Unknown => Value::Null,
        Known::Value(Value::String(text)) => text.replace(variable, "0").into(),
        Known::Value(value) => value.clone(),
        Known::List(items) => items.iter().map(|item| numbered(item, variable)).collect(),
        Known::Map(entries) => {
            let entries = entries.iter().map(|(key, item)| (key.clone(), numbered(item, variable)));
            Value::Object(entries.filter(|(_, item)| !item.is_null()).collect())
        }
    }
}

impl Level<'_> {
    /// The first member of a group as a template of its own, when there will be one and its type is known.
    fn member(&self, made: &Made<'_>, properties: &Known) -> Option<Result<Member, Diagnostics>> {
        let Known::Map(entries) = properties else { return None };
        let named = |name: &str| {
            let found = entries.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value)
        };
        let definition = named(made.schema.members?)?;
        let none = named("count").is_some_and(|count| count.to_json() == 0);
        let variable = named("index_var").map(Known::to_json);
        let variable = variable.as_ref().and_then(Value::as_str).unwrap_or(VARIABLE);
        let member = numbered(definition, variable);
        if none || !member["type"].is_string() {
            return None;
        }
        let document = json!({
            Version::NEWEST.key(): Version::NEWEST.date(),
            "resources": { "0": member },
        });
        let is_whole = definition.is_whole();
        let template = Template::from_value("", &document);
        let says_all =
            made.schema.get(made.schema.members?).is_some_and(|one| one.nested.is_some());
        if says_all && template.is_err() {
            return None;
        }
        Some(template.map(|template| Member { template: template.into(), is_whole }))
    }

    /// What is said of a member, at the place of its group.
    fn of_member(&self, mut found: Diagnostics, resource: &LoadedResource) -> Diagnostics {
        for one in found.0.iter_mut().filter(|one| one.file.is_empty()) {
            one.place = resource.type_place.or(resource.place);
        }
        self.template.located(found)
    }

    pub fn nested(
        &self,
        resource: &LoadedResource,
        made: &Made<'_>,
        properties: &Known,
        environment: &Environment,
        wrong: &mut Diagnostics,
    ) -> Option<Nested> {
        let member = match &made.template {
            Some(template) => Member { template: Arc::clone(template), is_whole: true },
            None => match self.member(made, properties)? {
                Ok(member) => member,
                Err(found) => {
                    let within = Path::of([self.template.words().resources, &resource.name]);
                    let within = format!("{within}<{MEMBERS}>");
                    let found = found.into_iter().map(|one| inside(one, &within)).collect();
                    let found = Diagnostics(found).eased(|_| !self.walk.of.checks_values);
                    wrong.extend(self.of_member(found, resource));
                    return None;
                }
            },
        };
        let (template, is_whole) = (member.template, member.is_whole);
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
        let is_template = made.template.is_some();
        let given = if is_template { self.given(made, properties) } else { Map::new() };
        let child = environment.child(given, Some(&made.provider), &resource.name);
        let (validated, found) = self.walk.level(&template, &child, self.depth + 1, false);
        let within = match &made.provider {
            Provider::Template { name, .. } => format!("{path}<{name}>"),
            Provider::Type(_) => format!("{path}<{MEMBERS}>"),
        };
        let checks_values = self.walk.of.checks_values;
        let is_known = |one: &Diagnostic| is_whole || !one.message.ends_with(" not assigned");
        let found = found.into_iter().filter(is_known).map(|one| inside(one, &within));
        let found = Diagnostics(found.collect()).eased(|_| !checks_values);
        wrong.extend(if is_template { found } else { self.of_member(found, resource) });
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
