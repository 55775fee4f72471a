//! The parameters of a stack with their values.

use serde_json::{Map, Value};

use super::constraint::Checks;
use super::schema::ParameterSchema;
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::place::Path;
use crate::schema::Kind;
use crate::template::Version;

/// What is shown instead of a hidden value.
const HIDDEN: &str = "******";

/// The stack that parameters belong to, for the parameters that every template has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub stack_name: String,
    pub stack_id: String,
    pub project_id: String,
    /// The identifier that CloudFormation templates see.
    pub arn: String,
}

impl Identity {
    /// Of a stack that there is not (yet).
    pub fn nobody() -> Identity {
        let none = || "None".to_owned();
        Identity {
            stack_name: "dummy".to_owned(),
            stack_id: none(),
            project_id: none(),
            arn: none(),
        }
    }

    fn parameters(&self, version: Version) -> Vec<(&'static str, &str)> {
        match version.is_hot() {
            true => vec![
                ("OS::stack_id", &self.stack_id),
                ("OS::project_id", &self.project_id),
                ("OS::stack_name", &self.stack_name),
            ],
            false => vec![
                ("AWS::StackId", &self.arn),
                ("AWS::StackName", &self.stack_name),
                ("AWS::Region", "ap-southeast-1"),
            ],
        }
    }
}

/// A parameter and what was given for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub schema: ParameterSchema,
    /// Every stack has it, whatever its template says.
    pub is_pseudo: bool,
    /// What the user gave; giving nothing is not giving anything.
    pub given: Option<Value>,
    /// What the environment says instead of the default of the template.
    pub default: Option<Value>,
    value: Option<Value>,
}

impl Parameter {
    fn new(schema: ParameterSchema, given: Option<&Value>, default: Option<&Value>) -> Parameter {
        let some = |value: Option<&Value>| value.filter(|value| !value.is_null()).cloned();
        let mut parameter = Parameter {
            schema,
            is_pseudo: false,
            given: some(given),
            default: some(default),
            value: None,
        };
        let raw = parameter.raw().filter(|_| !parameter.schema.is_broken);
        parameter.value = raw.and_then(|raw| parameter.schema.parse(raw).ok());
        parameter
    }

    /// What is in force, as it was written.
    pub fn raw(&self) -> Option<&Value> {
        self.given.as_ref().or(self.default.as_ref()).or(self.schema.default.as_ref())
    }

    /// What is in force, as what it is declared to be; nothing where it was not given or means nothing.
    pub fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// The value for people and for lists in the API.
    pub fn shown(&self) -> String {
        match (&self.value, self.schema.is_hidden) {
            (None, _) => String::new(),
            (_, true) => HIDDEN.to_owned(),
            (Some(Value::Array(items)), _) if self.schema.kind == Kind::List => {
                let items: Vec<String> = items.iter().map(python::text).collect();
                items.join(",")
            }
            (Some(value), _) if self.schema.kind == Kind::Map => python::json(value, false),
            (Some(value), _) => python::text(value),
        }
    }

    /// What the API says about it when a template is validated.
    pub fn describe(&self) -> Map<String, Value> {
        let mut schema = self.schema.clone();
        if self.default.is_some() {
            schema.default.clone_from(&self.default);
        }
        let described = schema.describe();
        let Some(given) = self.given.as_ref().filter(|given| python::is_true(given)) else {
            return described;
        };
        let mut out = Map::new();
        let is_first =
            |key: &str| ["Type", "Description", "NoEcho", "Label", "Default"].contains(&key);
        let (first, rest): (Vec<_>, Vec<_>) =
            described.into_iter().partition(|(key, _)| is_first(key));
        out.extend(first);
        out.insert("Value".to_owned(), given.clone());
        out.extend(rest);
        out
    }

    fn problem(&self, strict: bool, checks: &Checks<'_>) -> Option<Diagnostic> {
        let name = &self.schema.name;
        let path = Path::of(["parameters", name]);
        match self.raw() {
            _ if self.schema.is_broken => None,
            None if strict => {
                let message = format!("The Parameter ({name}) was not provided.");
                let wrong = Diagnostic::new(Fault::ParameterMissing, &path, message);
                Some(
                    wrong
                        .at(self.schema.place)
                        .hint("give it a value, or a default in the template"),
                )
            }
            None => None,
            Some(_) if self.given.is_none() && self.default.is_none() && !strict => None,
            Some(raw) => {
                let why = self.schema.check(raw, checks).err()?;
                let why = if self.schema.is_hidden { masked(&why, raw) } else { why };
                let message = format!("Parameter '{name}' is invalid: {why}");
                Some(Diagnostic::new(Fault::ParameterInvalid, &path, message))
            }
        }
    }
}

/// A message without the value that must not be seen.
fn masked(message: &str, value: &Value) -> String {
    let written = [python::json(value, false), python::repr(value), python::text(value)];
    let seen = written.iter().filter(|text| !text.is_empty());
    seen.fold(message.to_owned(), |message, text| message.replace(text.as_str(), HIDDEN))
}

/// All parameters of a template, in its order, after those that every template has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    parameters: Vec<Parameter>,
    /// What was given under names that the template does not have.
    unknown: Vec<String>,
}

impl Parameters {
    pub fn new(
        schemas: &[ParameterSchema],
        version: Version,
        identity: &Identity,
        given: &Map<String, Value>,
        defaults: &Map<String, Value>,
    ) -> Parameters {
        let pseudo = identity.parameters(version).into_iter().map(|(name, value)| {
            let schema = ParameterSchema {
                default: Some(value.into()),
                ..ParameterSchema::new(name, Kind::String)
            };
            Parameter { is_pseudo: true, ..Parameter::new(schema, None, None) }
        });
        let own = schemas.iter().map(|schema| {
            Parameter::new(schema.clone(), given.get(&schema.name), defaults.get(&schema.name))
        });
        let is_unknown = |name: &&String| !schemas.iter().any(|schema| schema.name == **name);
        let unknown = given.keys().filter(is_unknown).cloned().collect();
        Parameters { parameters: pseudo.chain(own).collect(), unknown }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Parameter> {
        self.parameters.iter()
    }

    /// Those that the template declares.
    pub fn declared(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| !parameter.is_pseudo)
    }

    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.schema.name == name)
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.get(name).and_then(Parameter::value)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|parameter| parameter.schema.name.as_str())
    }

    /// Everything that is wrong with what was given. Who is not strict lets values be missing.
    pub fn problems(&self, strict: bool, checks: &Checks<'_>) -> Diagnostics {
        let mut wrong = Diagnostics::new();
        for name in &self.unknown {
            let message = format!("The Parameter ({name}) was not defined in template.");
            let path = Path::of(["parameters", name]);
            let known = self.declared().map(|parameter| parameter.schema.name.as_str());
            wrong.push(Diagnostic::new(Fault::ParameterUnknown, &path, message).meant(name, known));
        }
        let problems = self.parameters.iter().filter_map(|one| one.problem(strict, checks));
        problems.for_each(|problem| wrong.push(problem));
        wrong
    }

    /// Names and values for people, hidden ones hidden.
    pub fn shown(&self) -> Map<String, Value> {
        let shown = |one: &Parameter| (one.schema.name.clone(), one.shown().into());
        self.parameters.iter().filter(|one| one.value.is_some()).map(shown).collect()
    }

    /// What the API says of the declared ones when a template is validated.
    pub fn describe(&self) -> Map<String, Value> {
        self.declared().map(|one| (one.schema.name.clone(), one.describe().into())).collect()
    }

    /// What is wrong with replacing these by others: some may never change again.
    pub fn immutable_problem(&self, new: &Parameters) -> Option<Diagnostic> {
        let has_changed = |new: &&Parameter| {
            let old = self.get(&new.schema.name).filter(|old| !old.is_pseudo);
            let is_same = |old: &Parameter| match (old.value(), new.value()) {
                (Some(old), Some(new)) => python::is_equal(old, new),
                (old, new) => old == new,
            };
            new.schema.is_immutable && old.is_some_and(|old| !is_same(old))
        };
        let changed = new.declared().filter(has_changed);
        let names: Vec<&str> = changed.map(|parameter| parameter.schema.name.as_str()).collect();
        let first = names.first()?;
        let message = format!(
            "The following parameters are immutable and may not be updated: {}",
            names.join(", ")
        );
        let path = Path::of(["parameters", first]);
        Some(Diagnostic::new(Fault::ImmutableParameter, &path, message))
    }
}
