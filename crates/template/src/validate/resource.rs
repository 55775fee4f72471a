//! Types, properties, policies and attributes of the resources of one template.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Level, Nested};
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::environment::{Environment, Provider};
use crate::function::Expr;
use crate::place::Path;
use crate::schema::{Known, ResourceSchema, facade_problems};
use crate::template::{DeletionPolicy, LoadedResource, Template};

/// What makes a resource.
pub(super) struct Made<'a> {
    pub provider: Provider,
    pub schema: Cow<'a, ResourceSchema>,
    pub template: Option<Arc<Template>>,
}

type AllMade<'a> = BTreeMap<&'a str, Made<'a>>;

impl Level<'_> {
    /// Finds out what makes every resource. Templates that are used as types are registered.
    pub fn types(&self, environment: &mut Environment, wrong: &mut Diagnostics) -> AllMade<'_> {
        for resource in &self.loaded.resources {
            environment.registry.register(&resource.type_name);
        }
        let mut all = AllMade::new();
        for resource in &self.loaded.resources {
            match self.made(resource, environment) {
                Ok(Some(made)) => {
                    if let Some(template) = &made.template {
                        wrong.extend(self.walk.mistakes(template));
                    }
                    wrong.extend(self.facade(resource, &made, environment));
                    all.insert(&resource.name, made);
                }
                Ok(None) => {}
                Err(found) => wrong.extend(found),
            }
        }
        all
    }

    fn path(&self, resource: &LoadedResource) -> Path {
        Path::of([self.template.words().resources, &resource.name])
    }

    fn said(&self, found: Diagnostic) -> Diagnostics {
        self.template.located(found.into())
    }

    fn made(
        &self,
        resource: &LoadedResource,
        environment: &Environment,
    ) -> Result<Option<Made<'_>>, Diagnostics> {
        let types = self.walk.of.types;
        let type_name = &resource.type_name;
        let path = self.path(resource).key(self.template.words().kind);
        if type_name.is_empty() {
            return Ok(None);
        }
        let provider = environment.registry.resolve(type_name, &resource.name, types);
        let Some(provider) = provider else {
            let message = format!("The Resource Type ({type_name}) could not be found.");
            let found = Diagnostic::new(Fault::TypeUnknown, &path, message).at(resource.type_place);
            let known = types.names();
            return Err(self.said(found.meant(type_name, known.iter().copied())));
        };
        match &provider {
            Provider::Type(name) => Ok(types.schema(name).map(|schema| Made {
                provider: provider.clone(),
                schema: Cow::Borrowed(schema),
                template: None,
            })),
            Provider::Template { name, .. } => {
                let template = self.walk.template(name).map_err(|found| match found {
                    Some(found) => found,
                    None => {
                        let message = format!("Could not fetch remote template \"{name}\"");
                        let found = Diagnostic::new(Fault::ValidationFailed, &path, message);
                        let files = self.walk.of.files.keys().map(String::as_str);
                        let hint = "it is not among the files that came along";
                        self.said(found.at(resource.type_place).hint(hint).meant(name, files))
                    }
                })?;
                let schema = ResourceSchema::of_template(
                    type_name,
                    &template,
                    &environment.parameter_defaults,
                );
                Ok(Some(Made { provider, schema: Cow::Owned(schema), template: Some(template) }))
            }
        }
    }

    /// A template that stands for a type that is there must be like it.
    fn facade(
        &self,
        resource: &LoadedResource,
        made: &Made<'_>,
        environment: &Environment,
    ) -> Diagnostics {
        let types = self.walk.of.types;
        let (name, kind) = (&resource.name, &resource.type_name);
        let other = made
            .template
            .as_ref()
            .and_then(|_| environment.registry.resolve_without(kind, name, types, &made.provider));
        let Some(Provider::Type(facade)) = other else { return Diagnostics::new() };
        let problems = types.schema(&facade).map(|facade| facade_problems(facade, &made.schema));
        let path = self.path(resource);
        let found = problems.into_iter().flatten().map(|message| {
            Diagnostic::new(Fault::ValidationFailed, &path, message).at(resource.type_place)
        });
        self.template.located(Diagnostics(found.collect()))
    }

    /// Looks at every resource, and into those that are made of templates.
    pub fn resources(
        &self,
        made: &AllMade<'_>,
        environment: &Environment,
        wrong: &mut Diagnostics,
    ) -> Vec<Nested> {
        let mut nested = Vec::new();
        for resource in &self.loaded.resources {
            if let Some(id) = &resource.external_id {
                self.external(resource, id, wrong);
                continue;
            }
            let Some(made) = made.get(resource.name.as_str()) else { continue };
            let mut found = self.deletion_policy(resource, made);
            let properties = self.properties(resource, made, &mut found);
            wrong.extend(self.template.located(found));
            nested.extend(self.nested(resource, made, &properties, environment, wrong));
        }
        nested
    }

    fn external(&self, resource: &LoadedResource, id: &Expr, wrong: &mut Diagnostics) {
        let Some((_, place)) = resource.depends_on.first() else { return };
        let id = Known::of(id, self.scope).ok().flatten().map(|id| id.to_json());
        let id = id.and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
        let message =
            format!("Invalid dependency with external {} resource: {id}", resource.type_name);
        let path = self.path(resource).key(self.template.words().depends_on);
        let found = Diagnostic::new(Fault::ExternalDependency, &path, message).at(*place);
        wrong.extend(self.said(found));
    }

    fn deletion_policy(&self, resource: &LoadedResource, made: &Made<'_>) -> Diagnostics {
        let mut wrong = Diagnostics::new();
        if resource.deletion_policy == DeletionPolicy::Snapshot && !made.schema.has_snapshots {
            let path = self.path(resource).key("deletion_policy");
            let message = "\"Snapshot\" deletion policy not supported";
            wrong.push(Diagnostic::new(Fault::ValidationFailed, &path, message));
        }
        wrong
    }

    /// The properties as far as they are known, as they were given.
    fn properties(
        &self,
        resource: &LoadedResource,
        made: &Made<'_>,
        wrong: &mut Diagnostics,
    ) -> Known {
        if resource.is_broken {
            return Known::Unknown;
        }
        let words = self.template.words();
        let path = self.path(resource);
        let properties = self.known(&resource.properties, &path.key(words.properties), wrong);
        let policy = self.known(&resource.update_policy, &path.key(words.update_policy), wrong);
        let checks = &self.walk.of.checks;
        let (_, of_properties) = made.schema.take(&properties, &path.key(words.properties), checks);
        let (_, of_policy) =
            made.schema.take_policy(&policy, &path.key(words.update_policy), checks);
        let is_name = |one: &Diagnostic| one.message.starts_with("Unknown Property ");
        let checks_values = self.walk.of.checks_values;
        let all = of_policy.into_iter().chain(of_properties);
        wrong.extend(Diagnostics(all.collect()).eased(|one| !checks_values && !is_name(one)));
        properties
    }

    /// What is known of a mapping, entry by entry; what cannot be had is unknown.
    fn known(&self, expr: &Expr, path: &Path, wrong: &mut Diagnostics) -> Known {
        let Expr::Map(entries) = expr else { return self.entry(expr, path, wrong) };
        let entries = entries.iter().filter_map(|(key, item)| match item {
            Expr::Absent => None,
            item => Some((key.clone(), self.entry(item, &path.key(key), wrong))),
        });
        Known::Map(entries.collect())
    }

    fn entry(&self, expr: &Expr, path: &Path, wrong: &mut Diagnostics) -> Known {
        match Known::of(expr, self.scope) {
            Ok(known) => known.unwrap_or(Known::Value(Value::Null)),
            Err(error) => {
                let was_said = matches!(
                    error.fault,
                    Fault::ParameterMissing | Fault::FileMissing | Fault::InvalidReference
                );
                if !was_said {
                    let place = error.path.as_ref().map_or(path, |path| path).clone();
                    let fault = match self.walk.of.checks_values {
                        true => Fault::PropertyInvalid,
                        false => Fault::Warning,
                    };
                    let found = Diagnostic::new(fault, path, error.message);
                    let mut located =
                        self.template.located(Diagnostic::new(Fault::Warning, &place, "").into());
                    let at = located.0.pop().and_then(|found| found.place);
                    wrong.push(found.at(at));
                }
                Known::Unknown
            }
        }
    }

    /// Attributes that are referred to must exist. Which outputs a template has is its own business: it may be another one
    /// tomorrow, and what is not there is nothing.
    pub fn attributes(&self, made: &AllMade<'_>, wrong: &mut Diagnostics) {
        let resources = self.loaded.resources.iter();
        let parts = resources.flat_map(|one| [&one.properties, &one.metadata]);
        let outputs = self.loaded.outputs.iter().filter_map(|output| output.value.as_ref());
        let mut found = Diagnostics::new();
        for expr in parts.chain(outputs) {
            for one in expr.references_in(self.scope).attributes {
                let name = one.path.as_ref().and_then(|path| path.first()).and_then(Value::as_str);
                let (Some(name), Some(made)) = (name, made.get(one.name.as_str())) else {
                    continue;
                };
                if !made.schema.has_attribute(name) {
                    let message =
                        format!("The Referenced Attribute ({} {name}) is incorrect.", one.name);
                    let path = one.at.key(one.function);
                    let fault = match made.template {
                        Some(_) => Fault::Warning,
                        None => Fault::ValidationFailed,
                    };
                    let wrong = Diagnostic::new(fault, &path, message);
                    let known = made.schema.attributes.iter().map(|(name, _)| name.as_str());
                    found.push(wrong.at(one.place).meant(name, known));
                }
            }
        }
        wrong.extend(self.template.located(found));
    }

    /// What the resource gives the template that makes it, as far as it is known.
    pub fn given(&self, made: &Made<'_>, properties: &Known) -> Map<String, Value> {
        let Known::Map(entries) = properties else { return Map::new() };
        let whole = entries.iter().filter(|(_, value)| value.is_whole());
        whole
            .filter_map(|(name, value)| {
                let value = value.to_json();
                let schema = made.schema.get(name).filter(|_| !value.is_null())?;
                Some((name.clone(), super::child_parameter(schema.kind, &value)))
            })
            .collect()
    }
}
