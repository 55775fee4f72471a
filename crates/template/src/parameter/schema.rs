//! How a template declares a parameter.

use serde_json::{Map, Number, Value};

use super::constraint::{Checks, Constraint, Rule};
use super::custom::GENERIC;
use super::pattern::Pattern;
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::place::{Path, Place};
use crate::schema::{Kind, boolean, number};
use crate::template::Version;
use crate::value::{Data, Entry, Node};

/// What a template says about a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSchema {
    pub name: String,
    /// Where its name stands.
    pub place: Option<Place>,
    pub kind: Kind,
    pub label: Option<String>,
    pub description: Option<String>,
    /// As it is written. Nothing means that a value has to be given.
    pub default: Option<Value>,
    pub is_hidden: bool,
    pub is_immutable: bool,
    pub constraints: Vec<Constraint>,
    pub tags: Vec<String>,
    /// Something of it is wrong, and was said: nothing follows from it.
    pub is_broken: bool,
}

const HOT_KEYS: [&str; 8] =
    ["type", "description", "default", "schema", "constraints", "hidden", "label", "immutable"];
const CFN_KEYS: [&str; 12] = [
    "Type",
    "Default",
    "NoEcho",
    "AllowedValues",
    "AllowedPattern",
    "MaxLength",
    "MinLength",
    "MaxValue",
    "MinValue",
    "Description",
    "ConstraintDescription",
    "Label",
];
const CONSTRAINT_KEYS: [&str; 7] = [
    "description",
    "length",
    "range",
    "modulo",
    "allowed_values",
    "allowed_pattern",
    "custom_constraint",
];

impl ParameterSchema {
    /// A parameter of this kind about which nothing else is said.
    pub fn new(name: &str, kind: Kind) -> ParameterSchema {
        ParameterSchema {
            name: name.to_owned(),
            place: None,
            kind,
            label: None,
            description: None,
            default: None,
            is_hidden: false,
            is_immutable: false,
            constraints: Vec::new(),
            tags: Vec::new(),
            is_broken: false,
        }
    }

    /// Reads the declaration below a name. It is given back even where something is wrong with it, as far as
    /// it could be read.
    pub(crate) fn read(
        entry: &Entry,
        version: Version,
        section: &Path,
        wrong: &mut Diagnostics,
    ) -> ParameterSchema {
        let path = section.key(&entry.key);
        let before = wrong.len();
        let mut reader = Reader {
            name: &entry.key,
            place: entry.place,
            version,
            path,
            wrong,
            node: &entry.node,
        };
        let mut schema = reader.read();
        schema.place = entry.place;
        schema.is_broken = wrong.iter().skip(before).any(|one| one.fault != Fault::Warning);
        schema
    }

    /// Its default is none of its kind, and no constraint says more: with another value it may do.
    pub(crate) fn needs_another(&self) -> bool {
        let means_nothing = |default| self.parse(default).is_err();
        self.constraints.is_empty() && self.default.as_ref().is_some_and(means_nothing)
    }

    pub fn is_required(&self) -> bool {
        self.default.is_none()
    }

    /// What a value that was given means, or why it means nothing.
    pub fn parse(&self, given: &Value) -> Result<Value, String> {
        match self.kind {
            Kind::Number | Kind::Integer => number(given).map(Value::Number),
            Kind::Boolean => boolean(given).map(Value::Bool),
            Kind::String => Ok(python::text(given).into()),
            Kind::List => list(given),
            Kind::Map | Kind::Any => json(given),
        }
    }

    /// Whether a value that was given holds.
    pub fn check(&self, given: &Value, checks: &Checks<'_>) -> Result<(), String> {
        let parsed = self.parse(given)?;
        let value = if matches!(self.kind, Kind::List | Kind::Map) { &parsed } else { given };
        self.constraints.iter().try_for_each(|one| one.check(value, self.kind, checks))
    }

    /// The name of the kind, in the language of the template.
    pub fn type_name(&self, version: Version) -> &'static str {
        if version.is_hot() { self.kind.hot_name() } else { self.kind.cfn_name() }
    }

    /// What the API says about it when a template is validated, without its value.
    pub fn describe(&self) -> Map<String, Value> {
        let mut out = Map::new();
        let mut say = |key: &str, value: Value| out.insert(key.to_owned(), value);
        say("Type", self.kind.cfn_name().into());
        say("Description", self.description.clone().unwrap_or_default().into());
        say("NoEcho", if self.is_hidden { "true" } else { "false" }.into());
        say("Label", self.label.as_ref().unwrap_or(&self.name).as_str().into());
        if let Some(default) = &self.default {
            say("Default", default.clone());
        }
        if !self.tags.is_empty() {
            say("Tags", self.tags.clone().into());
        }
        let mut descriptions = Vec::new();
        for constraint in &self.constraints {
            let mut bound = |key: &str, value: &Option<Number>| {
                if let Some(value) = value {
                    say(key, Value::Number(value.clone()));
                }
            };
            match &constraint.rule {
                Rule::Length { min, max } => {
                    bound("MinLength", min);
                    bound("MaxLength", max);
                }
                Rule::Range { min, max } => {
                    bound("MinValue", min);
                    bound("MaxValue", max);
                }
                Rule::Modulo { step, offset } => {
                    bound("Step", &Some(step.clone()));
                    bound("Offset", &Some(offset.clone()));
                }
                Rule::AllowedValues(values) => {
                    say("AllowedValues", values.clone().into());
                }
                Rule::AllowedPattern(pattern) => {
                    say("AllowedPattern", pattern.as_str().into());
                }
                Rule::Custom(name) => {
                    say("CustomConstraint", name.as_str().into());
                }
            }
            descriptions.extend(constraint.description.clone());
        }
        if !descriptions.is_empty() {
            say("ConstraintDescription", descriptions.join(" ").into());
        }
        out
    }
}

fn list(given: &Value) -> Result<Value, String> {
    match given {
        Value::Array(items) => Ok(items.iter().map(python::text).collect()),
        Value::String(text) if text.is_empty() => Ok(Value::Array(Vec::new())),
        Value::String(text) => Ok(text.split(',').collect()),
        other => Err(format!(
            "Value must be a comma-delimited list string: '{}' object has no attribute 'split'",
            python::type_name(other)
        )),
    }
}

fn json(given: &Value) -> Result<Value, String> {
    match given {
        Value::String(text) if text.is_empty() => Ok(given.clone()),
        Value::String(text) => {
            serde_json::from_str(text).map_err(|why| format!("Value must be valid JSON: {why}"))
        }
        other => Ok(other.clone()),
    }
}

struct Reader<'a> {
    name: &'a str,
    place: Option<Place>,
    version: Version,
    path: Path,
    node: &'a Node,
    wrong: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn say(&mut self, path: &Path, place: Option<Place>, message: String) {
        let place = place.or(self.place);
        self.wrong.push(Diagnostic::new(Fault::InvalidSchema, path, message).at(place));
    }

    fn read(&mut self) -> ParameterSchema {
        let mut schema = ParameterSchema::new(self.name, Kind::Any);
        let node = self.node;
        let what = format!("parameter ({})", self.name);
        let is_hot = self.version.is_hot();
        let mut keys: Vec<&str> = if is_hot { HOT_KEYS.to_vec() } else { CFN_KEYS.to_vec() };
        if self.version >= Version::Queens {
            keys.push("tags");
        }
        let path = self.path.clone();
        if !self.is_dict(node, &path, &keys, &what) {
            return schema;
        }
        let key = |hot: &'static str, cfn: &'static str| if is_hot { hot } else { cfn };
        let text = |key: &str| {
            node.get(key).filter(|node| !node.is_null()).map(|node| python::text(&node.to_json()))
        };
        schema.description = text(key("description", "Description"));
        schema.label = text(key("label", "Label"));
        let default = node.get(key("default", "Default")).filter(|node| !node.is_null());
        schema.default = default.map(Node::to_json);
        let hidden = node.get(key("hidden", "NoEcho")).map(Node::to_json).unwrap_or_default();
        schema.is_hidden = match is_hot {
            true => python::is_true(&hidden),
            false => python::text(&hidden).eq_ignore_ascii_case("true"),
        };
        if is_hot {
            let immutable = node.get("immutable").map(Node::to_json).unwrap_or_default();
            schema.is_immutable = python::is_true(&immutable);
            self.tags(&mut schema);
            self.hot_constraints(&mut schema);
        } else {
            self.cfn_constraints(&mut schema);
        }
        if self.kind(key("type", "Type"), &mut schema) {
            self.judge(&schema, default.and_then(|default| default.place));
        }
        schema
    }

    fn is_dict(&mut self, node: &Node, path: &Path, keys: &[&str], what: &str) -> bool {
        let Some(entries) = node.as_map() else {
            self.say(path, node.place, format!("Invalid {what}, expected a mapping"));
            return false;
        };
        for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
            let message = format!("Invalid key '{}' for {what}", entry.key);
            let wrong = Diagnostic::new(Fault::InvalidSchema, &path.key(&entry.key), message);
            let wrong = wrong.at(entry.place).meant(&entry.key, keys.iter().copied());
            self.wrong.push(wrong);
        }
        true
    }

    fn kind(&mut self, key: &str, schema: &mut ParameterSchema) -> bool {
        let path = self.path.key(key);
        let Some(node) = self.node.get(key) else {
            let message = format!("Missing parameter type for parameter: {}", self.name);
            self.say(&self.path.clone(), None, message);
            return false;
        };
        let is_hot = self.version.is_hot();
        let name = |kind: &Kind| if is_hot { kind.hot_name() } else { kind.cfn_name() };
        let word = python::text(&node.to_json());
        match Kind::PARAMETERS.into_iter().find(|kind| name(kind) == word) {
            Some(kind) => {
                schema.kind = kind;
                true
            }
            None => {
                let message = format!("Invalid type ({word})");
                let wrong = Diagnostic::new(Fault::InvalidSchema, &path, message).at(node.place);
                let names: Vec<&str> = Kind::PARAMETERS.iter().map(name).collect();
                let wrong = match hostler_model::suggest::nearest(&word, names.iter().copied()) {
                    Some(meant) => wrong.hint(format!("did you mean `{meant}`?")),
                    None => wrong.hint(format!("use one of: {}", names.join(", "))),
                };
                self.wrong.push(wrong);
                false
            }
        }
    }

    fn tags(&mut self, schema: &mut ParameterSchema) {
        let Some(node) = self.node.get("tags").filter(|_| self.version >= Version::Queens) else {
            return;
        };
        match &node.data {
            Data::List(items) => {
                schema.tags = items.iter().map(|item| python::text(&item.to_json())).collect();
            }
            _ => {
                let message =
                    format!("Tags property should be a list for parameter: {}", self.name);
                self.say(&self.path.key("tags"), node.place, message);
            }
        }
    }

    fn hot_constraints(&mut self, schema: &mut ParameterSchema) {
        let Some(node) = self.node.get("constraints").filter(|node| !node.is_null()) else {
            return;
        };
        let path = self.path.key("constraints");
        let Some(items) = node.as_list() else {
            let message = format!(
                "Invalid parameter constraints for parameter {}, expected a list",
                self.name
            );
            self.say(&path, node.place, message);
            return;
        };
        for (at, item) in items.iter().enumerate() {
            let path = path.index(at);
            if self.is_dict(item, &path, &CONSTRAINT_KEYS, "parameter constraints") {
                schema.constraints.extend(self.hot_constraint(item, &path));
            }
        }
    }

    fn hot_constraint(&mut self, node: &Node, path: &Path) -> Option<Constraint> {
        let order =
            ["modulo", "range", "length", "allowed_values", "allowed_pattern", "custom_constraint"];
        let has_modulo = self.version >= Version::Ocata;
        let mut given = order
            .into_iter()
            .filter(|key| *key != "modulo" || has_modulo)
            .filter_map(|key| node.entry(key));
        let Some(entry) = given.next() else {
            self.say(path, node.place, "No constraint expressed".to_owned());
            return None;
        };
        let path = path.key(&entry.key);
        for more in given {
            let message =
                format!("only `{}` counts in this constraint, `{}` does not", entry.key, more.key);
            let warning = Diagnostic::new(Fault::Warning, &path, message).at(more.place);
            self.wrong.push(warning.hint("write one constraint in each item of the list"));
        }
        let value = &entry.node;
        let place = value.place.or(entry.place);
        let rule = match entry.key.as_str() {
            "range" | "length" => {
                let what = format!("{} constraint", entry.key);
                if !self.is_dict(value, &path, &["min", "max"], &what) {
                    return None;
                }
                bounded(entry.key == "length", value.get("min"), value.get("max"))
            }
            "modulo" => {
                if !self.is_dict(value, &path, &["step", "offset"], "modulo constraint") {
                    return None;
                }
                modulo(value.get("step"), value.get("offset"))
            }
            "allowed_values" => allowed(value),
            "allowed_pattern" => pattern(value),
            _ => Ok(Rule::Custom(python::text(&value.to_json()))),
        };
        let description = node.get("description").filter(|node| !node.is_null());
        let description = description.map(|node| python::text(&node.to_json()));
        match rule {
            Ok(rule) => Some(Constraint { rule, description }),
            Err(message) => {
                self.say(&path, place, message);
                None
            }
        }
    }

    fn cfn_constraints(&mut self, schema: &mut ParameterSchema) {
        let node = self.node;
        let description = node.get("ConstraintDescription").filter(|node| !node.is_null());
        let description = description.map(|node| python::text(&node.to_json()));
        let either = |one: &str, other: &str| node.entry(one).or(node.entry(other));
        let found = [
            either("MinValue", "MaxValue")
                .map(|at| (at, bounded(false, node.get("MinValue"), node.get("MaxValue")))),
            either("MinLength", "MaxLength")
                .map(|at| (at, bounded(true, node.get("MinLength"), node.get("MaxLength")))),
            node.entry("AllowedValues").map(|at| (at, allowed(&at.node))),
            node.entry("AllowedPattern").map(|at| (at, pattern(&at.node))),
        ];
        for (at, rule) in found.into_iter().flatten() {
            match rule {
                Ok(rule) => {
                    schema.constraints.push(Constraint { rule, description: description.clone() });
                }
                Err(message) => self.say(&self.path.key(&at.key), at.node.place, message),
            }
        }
    }

    /// Constraints must suit the kind, and the default must keep to them.
    fn judge(&mut self, schema: &ParameterSchema, place: Option<Place>) {
        let invalid = |what: String| format!("Parameter '{}' is invalid: {what}", schema.name);
        let path = self.path.clone();
        let mut suits = true;
        for constraint in &schema.constraints {
            if !constraint.rule.suits(schema.kind) {
                let (rule, kind) = (constraint.rule.name(), schema.type_name(self.version));
                suits = false;
                self.say(&path, None, invalid(format!("{rule} constraint invalid for {kind}")));
            }
            if let Rule::Custom(name) = &constraint.rule
                && !name.contains('.')
                && !GENERIC.contains(&name.as_str())
            {
                let message = format!("no custom constraint is called `{name}` here");
                let warning = Diagnostic::new(Fault::Warning, &path, message).at(self.place);
                self.wrong.push(warning.meant(name, GENERIC));
            }
        }
        let Some(default) = schema.default.as_ref().filter(|_| suits) else { return };
        let checks = Checks { without_custom: true, ..Checks::default() };
        if let Err(why) = schema.check(default, &checks) {
            let default = python::text(default);
            let key = if self.version.is_hot() { "default" } else { "Default" };
            let message = invalid(format!("Invalid default {default} ({why})"));
            self.say(&path.key(key), place, message);
        }
    }
}

fn bound(node: Option<&Node>) -> Result<Option<Number>, String> {
    match node.filter(|node| !node.is_null()) {
        Some(node) => {
            number(&node.to_json()).map(Some).map_err(|_| "min/max must be numeric".to_owned())
        }
        None => Ok(None),
    }
}

fn bounded(is_length: bool, min: Option<&Node>, max: Option<&Node>) -> Result<Rule, String> {
    let (min, max) = (bound(min)?, bound(max)?);
    let what = if is_length { "length" } else { "range" };
    if min.is_none() && max.is_none() {
        return Err(format!(
            "A {what} constraint must have a min value and/or a max value specified."
        ));
    }
    match is_length {
        true if [&min, &max].into_iter().flatten().any(Number::is_f64) => {
            Err("min/max length must be integral".to_owned())
        }
        true => Ok(Rule::Length { min, max }),
        false => Ok(Rule::Range { min, max }),
    }
}

fn modulo(step: Option<&Node>, offset: Option<&Node>) -> Result<Rule, String> {
    let numeric =
        |node: Option<&Node>| bound(node).map_err(|_| "step/offset must be numeric".to_owned());
    let (Some(step), Some(offset)) = (numeric(step)?, numeric(offset)?) else {
        return Err(
            "A modulo constraint must have a step value and an offset value specified.".to_owned()
        );
    };
    let whole = |number: &Number| python::Numeric::of(number).whole();
    let (Some(by), Some(rest)) = (whole(&step), whole(&offset)) else {
        return Err("step/offset must be integer".to_owned());
    };
    if by == 0 {
        return Err("step cannot be 0.".to_owned());
    }
    if rest.unsigned_abs() >= by.unsigned_abs() {
        return Err("offset must be smaller (by absolute value) than step.".to_owned());
    }
    if rest != 0 && (by < 0) != (rest < 0) {
        return Err("step and offset must be both positive or both negative.".to_owned());
    }
    Ok(Rule::Modulo { step, offset })
}

fn allowed(node: &Node) -> Result<Rule, String> {
    match node.to_json() {
        Value::Array(values) => Ok(Rule::AllowedValues(values)),
        _ => Err("AllowedValues must be a list".to_owned()),
    }
}

fn pattern(node: &Node) -> Result<Rule, String> {
    let text = node.as_str().ok_or("AllowedPattern must be a string")?;
    let found = Pattern::new(text);
    found.map(Rule::AllowedPattern).map_err(|why| format!("AllowedPattern cannot be read: {why}"))
}
