//! What somebody wants a stack to be made of, looked at as a whole before anything is written.
//!
//! A template, its environment, parameters and files become a [`DefinitionBody`], or everything that is wrong with them:
//! sections, parameters, conditions, functions, references, circles, types, properties, templates below and what plugins
//! have to say of properties together. Whatever is written here is read by the pass in the same way.

use std::collections::BTreeSet;
use std::time::Duration;

use hostler_model::stack::{
    DefinitionBody, STACK_DRIFT_EVERY, STACK_RESOURCES_MAX, STACK_TEMPLATE_MAX,
    STACK_TIMEOUT_DEFAULT, StackOptions,
};
use hostler_template::diagnostic::{Diagnostic, Diagnostics, Fault};
use hostler_template::environment::{Environment, Provider};
use hostler_template::parameter::{Identity, Parameters};
use hostler_template::place::Path;
use hostler_template::schema::Known;
use hostler_template::template::{Files, ParameterScope, Template};
use hostler_template::validate::{Validated, Validator};
use serde_json::{Map, Value};

use super::stack_refusal::StackRefusal;
use crate::Control;
use crate::stack::plugin::{Given, ProjectTypes};
use crate::stack::{Hidden, files_of, hidden_parameters};

/// How long a tag may be, and how many there may be.
const TAG_MAX: usize = 80;
const TAGS_MAX: usize = 64;

/// What a request says of what a stack is to be made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackForm {
    /// A text or a document; null where none was given.
    pub template: Value,
    /// A text or a document; null where none was given.
    pub environment: Value,
    /// Names of files that are environments, each merged over those before; the one above does not count then.
    pub environment_files: Vec<String>,
    pub files: Map<String, Value>,
    pub parameters: Map<String, Value>,
    /// Parameters win over those of files that are environments; with Heat they lose.
    pub are_parameters_last: bool,
    /// Nothing is to be made of it: values that do not hold are only warned of.
    pub are_values_left: bool,
}

/// A form that is right.
pub(super) struct Formed {
    pub body: DefinitionBody,
    pub template: Template,
    pub validated: Validated,
}

/// How a form is read.
pub(super) struct Reading<'a> {
    pub identity: &'a Identity,
    /// Which types there are.
    pub types: &'a ProjectTypes<'a>,
    pub options: &'a StackOptions,
    /// What there is, where only what is said is to change; and names of parameters whose values are forgotten.
    pub known: Option<(&'a DefinitionBody, &'a [String])>,
    /// Parameters without a value are wrong.
    pub needs_values: bool,
}

impl Control {
    pub(super) fn stack_formed(
        &self,
        form: &StackForm,
        reading: &Reading<'_>,
    ) -> Result<Formed, StackRefusal> {
        let known = reading.known.map(|(known, _)| known);
        let mut files = known.map(|known| known.files.clone()).unwrap_or_default();
        files.extend(form.files.clone());
        let template = match (&form.template, known) {
            (Value::Null, Some(known)) => Template::of_value("template", &known.template)?,
            (Value::Null, None) => {
                let text = "No template specified";
                return Err(StackRefusal::invalid("HTTPBadRequest", "/template", text));
            }
            (given, _) => {
                check_size(given)?;
                Template::of_value("template", given)?
            }
        };
        let texts = files_of(&files);
        let given = Some(&form.environment).filter(|given| !given.is_null());
        let mut environment = Environment::of_request(
            given,
            &form.environment_files,
            &texts,
            &form.parameters,
            &template.parameters,
        )?;
        if form.are_parameters_last {
            form.parameters.iter().for_each(|(name, value)| environment.give(name, value.clone()));
        }
        let environment = match reading.known {
            Some((known, forgotten)) => merged(known, &environment, forgotten)?,
            None => environment,
        };
        let validator = Validator {
            needs_values: reading.needs_values,
            checks_values: !form.are_values_left,
            resources_max: STACK_RESOURCES_MAX as usize,
            ..Validator::new(reading.types, &texts, reading.identity)
        };
        let parameters = Parameters::new(
            &template.parameters,
            template.version,
            reading.identity,
            &environment.parameters,
            &environment.parameter_defaults,
        );
        let hidden = Hidden::of(hidden_parameters(&parameters));
        let checked = validator.check(&template, &environment);
        let validated = checked.map_err(|wrong| hidden.scrubbed(wrong))?;
        let timeout = reading.options.timeout.filter(|timeout| !timeout.is_zero());
        let timeout = timeout.unwrap_or(STACK_TIMEOUT_DEFAULT).duration();
        let mut wrong = Diagnostics::new();
        if !form.are_values_left {
            plugins_say(reading.types, &template, &validated, &texts, timeout, &mut wrong);
        }
        hidden.scrubbed(wrong).or(())?;
        let before = known.map(|known| known.environment_files.as_slice()).unwrap_or_default();
        let all: BTreeSet<&String> = before.iter().chain(&form.environment_files).collect();
        let environment_files =
            all.into_iter().filter(|name| files.contains_key(*name)).cloned().collect();
        let mut body = DefinitionBody {
            template: template.to_json(),
            environment: stored(&validated.environment),
            environment_files,
            files,
            ..DefinitionBody::default()
        };
        body.plugins = reading.types.pins_of(&body);
        Ok(Formed { body, template, validated })
    }
}

/// What plugins have against properties that are right one by one.
fn plugins_say(
    types: &ProjectTypes<'_>,
    template: &Template,
    validated: &Validated,
    files: &Files,
    timeout: Duration,
    wrong: &mut Diagnostics,
) {
    let scope = ParameterScope { template, parameters: &validated.parameters, files: Some(files) };
    let registry = &validated.environment.registry;
    let section = template.words().resources;
    for resource in &validated.loaded.resources {
        let (name, kind) = (&resource.name, &resource.type_name);
        let provider = registry.resolve(kind, name, types);
        let Some(Provider::Type(type_name)) = provider else { continue };
        let Some(plugin) = types.plugin(&type_name) else { continue };
        let known = |expr| Known::of(expr, &scope).ok().flatten();
        if resource.external_id.is_some() {
            continue;
        }
        let properties = known(&resource.properties);
        let policy = known(&resource.update_policy);
        let (path, checks) = (Path::of([section, name]), Default::default());
        let nothing = Known::Map(Vec::new());
        let given = properties.as_ref().unwrap_or(&nothing);
        let (mut taken, _) = plugin.schema().take(given, &path, &checks);
        if let Known::Map(entries) = given {
            let unknown = entries.iter().filter(|(_, value)| !value.is_whole());
            unknown.for_each(|(name, _)| drop(taken.shift_remove(name)));
        }
        taken.retain(|_, value| !value.is_null());
        let policy = policy.filter(Known::is_whole).unwrap_or(nothing);
        let (update_policy, _) = plugin.schema().take_policy(&policy, &path, &checks);
        let said = plugin.validate(&Given {
            name,
            properties: &taken,
            update_policy: &Value::Object(update_policy),
            timeout,
        });
        let found = said
            .into_iter()
            .map(|text| Diagnostic::new(Fault::StructureInvalid, &path, text).at(resource.place));
        wrong.extend(template.located(Diagnostics(found.collect())));
    }
    for nested in &validated.nested {
        plugins_say(types, &nested.template, &nested.validated, files, timeout, wrong);
    }
}

fn check_size(template: &Value) -> Result<(), StackRefusal> {
    let size = match template {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    };
    if size <= STACK_TEMPLATE_MAX {
        return Ok(());
    }
    let text = format!(
        "Request limit exceeded: Template size ({size} bytes) exceeds maximum allowed size ({STACK_TEMPLATE_MAX} bytes)."
    );
    Err(StackRefusal::invalid("RequestLimitExceeded", "/template", text))
}

/// As it is kept: sections that say nothing are left out.
fn stored(environment: &Environment) -> Value {
    let mut document = environment.to_stored_json();
    if let Some(sections) = document.as_object_mut() {
        sections.retain(|_, section| !section.is_null());
    }
    document
}

/// The environment that there is, with what is given over it.
fn merged(
    known: &DefinitionBody,
    given: &Environment,
    forgotten: &[String],
) -> Result<Environment, StackRefusal> {
    let mut document = match &known.environment {
        Value::Null => Value::Object(Map::new()),
        environment => stored(&Environment::from_stored("environment", environment)?),
    };
    if let Some(Value::Object(parameters)) = document.get_mut("parameters") {
        parameters.retain(|name, _| !forgotten.contains(name));
    }
    lay_over(&mut document, &stored(given));
    Ok(Environment::from_stored("environment", &document)?)
}

/// Sections entry by entry, the registry as deep as it is; lists that say something, and values of parameters, as wholes.
fn lay_over(below: &mut Value, above: &Value) {
    let (Value::Object(below), Value::Object(sections)) = (below, above) else { return };
    for (name, section) in sections {
        let known = below.entry(name.clone()).or_insert(Value::Null);
        match (known, section) {
            (Value::Object(known), Value::Object(more)) if name != "resource_registry" => {
                known.extend(more.clone());
            }
            (known @ Value::Object(_), more @ Value::Object(_)) => lay_deep(known, more),
            (_, Value::Array(items)) if items.is_empty() => {}
            (known, more) => known.clone_from(more),
        }
    }
    below.retain(|_, section| !section.is_null());
}

fn lay_deep(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                lay_deep(below.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (below, above) => below.clone_from(above),
    }
}

/// What is chosen besides.
pub(super) fn check_options(options: &StackOptions) -> Result<(), StackRefusal> {
    let is_tag = |tag: &String| {
        (1..=TAG_MAX).contains(&tag.chars().count()) && !tag.contains([',', '\n', '\r'])
    };
    if options.tags.len() > TAGS_MAX || !options.tags.iter().all(is_tag) {
        let text = format!(
            "there are at most {TAGS_MAX} tags, each of 1 to {TAG_MAX} characters without commas"
        );
        return Err(StackRefusal::invalid("StackValidationFailed", "/tags", text));
    }
    if options.drift_every.is_some_and(|every| !STACK_DRIFT_EVERY.contains(&every)) {
        let (least, most) = (STACK_DRIFT_EVERY.start(), STACK_DRIFT_EVERY.end());
        let text = format!("drift is looked for every {least} to {most}");
        return Err(StackRefusal::invalid("StackValidationFailed", "/driftEvery", text));
    }
    if options.at_once == Some(0) {
        let text = "at least one resource is worked on at once";
        return Err(StackRefusal::invalid("StackValidationFailed", "/atOnce", text));
    }
    Ok(())
}
