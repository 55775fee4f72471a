//! Templates that stand for resource types, and resource types as templates.

use serde_json::{Map, Value, json};

use super::kind::Kind;
use super::property::{PropertySchema, Status};
use super::resource::{AttributeSchema, ResourceSchema, SHOW};
use crate::parameter::{ParameterSchema, Rule};
use crate::template::Template;

/// Reaches into a nested stack.
const INTO: &str = "resource.";

impl PropertySchema {
    /// The property by which a template that stands for a type takes a parameter. Its default stays with the
    /// template.
    pub fn of_parameter(parameter: &ParameterSchema) -> PropertySchema {
        PropertySchema {
            description: parameter.description.clone(),
            is_required: parameter.is_required(),
            constraints: parameter.constraints.clone(),
            is_updatable: true,
            converts: matches!(parameter.kind, Kind::Map | Kind::List),
            is_secret: parameter.is_hidden,
            ..PropertySchema::new(parameter.kind)
        }
    }
}

impl ResourceSchema {
    /// The type that a template makes: its parameters are properties, its outputs are attributes. What
    /// `defaults` say has a value without being given.
    pub fn of_template(
        type_name: &str,
        template: &Template,
        defaults: &Map<String, Value>,
    ) -> ResourceSchema {
        let mut schema = ResourceSchema::new(type_name, template.description());
        for parameter in &template.parameters {
            let mut property = PropertySchema::of_parameter(parameter);
            property.is_required &= defaults.get(&parameter.name).is_none_or(Value::is_null);
            schema.properties.push((parameter.name.clone(), property));
        }
        for output in &template.outputs {
            let description = output.description.clone();
            let attribute = AttributeSchema { description, ..AttributeSchema::default() };
            schema.attributes.push((output.name.clone(), attribute));
        }
        schema.open_attributes.push(INTO.to_owned());
        schema
    }

    /// A template that takes and gives what resources of this type do.
    pub fn to_template(&self, is_hot: bool) -> Value {
        let name = self.type_name.rsplit("::").next().unwrap_or(&self.type_name);
        let told: Vec<_> = self.properties.iter().filter(|(_, one)| one.is_told()).collect();
        let parameters: Map<_, _> =
            told.iter().map(|(name, one)| (name.clone(), parameter(one, is_hot))).collect();
        let properties: Map<_, _> =
            told.iter().map(|(name, one)| (name.clone(), use_of(name, one, is_hot))).collect();
        let description = format!("Initial template of {name}");
        let outputs = self.outputs(name, is_hot);
        if is_hot {
            json!({
                "heat_template_version": "2016-10-14",
                "description": description,
                "parameters": parameters,
                "outputs": outputs,
                "resources": {name: {"type": self.type_name, "properties": properties}},
            })
        } else {
            json!({
                "HeatTemplateFormatVersion": "2012-12-12",
                "Description": description,
                "Parameters": parameters,
                "Resources": {name: {"Type": self.type_name, "Properties": properties}},
                "Outputs": outputs,
            })
        }
    }

    fn outputs(&self, resource: &str, is_hot: bool) -> Map<String, Value> {
        let told = self.attributes.iter().filter(|(_, one)| one.support.status != Status::Hidden);
        let named = told.map(|(name, one)| (name.as_str(), one.description.clone()));
        let show = (SHOW, Some("Detailed information about resource.".to_owned()));
        let output = |(name, description): (&str, Option<String>)| {
            let output = match is_hot {
                true => {
                    json!({"value": {"get_attr": [resource, name]}, "description": description})
                }
                false => {
                    json!({"Value": {"Fn::GetAtt": [resource, name]}, "Description": description})
                }
            };
            (name.to_owned(), output)
        };
        let mut outputs: Map<_, _> = named.chain([show]).map(output).collect();
        let id = match is_hot {
            true => json!({"value": {"get_resource": resource}}),
            false => json!({"Value": {"Ref": resource}}),
        };
        outputs.insert("OS::stack_id".to_owned(), id);
        outputs
    }
}

fn parameter(property: &PropertySchema, is_hot: bool) -> Value {
    let mut out = Map::new();
    let mut say = |hot: &str, cfn: &str, value: Value| {
        out.insert(if is_hot { hot } else { cfn }.to_owned(), value);
    };
    let name = if is_hot { property.kind.hot_name() } else { property.kind.cfn_name() };
    say("type", "Type", name.into());
    if let Some(description) = &property.description {
        say("description", "Description", description.as_str().into());
    }
    if let Some(default) = &property.default {
        say("default", "Default", default.clone());
    }
    let constraints = property.constraints.iter();
    if is_hot {
        if !property.constraints.is_empty() {
            let described: Value = constraints.map(|one| one.describe()).collect();
            say("constraints", "", described);
        }
        return Value::Object(out);
    }
    for constraint in constraints {
        let mut bound = |key: &str, value: &Option<serde_json::Number>| {
            if let Some(value) = value {
                say("", key, Value::Number(value.clone()));
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
            Rule::AllowedValues(values) => say("", "AllowedValues", values.clone().into()),
            Rule::AllowedPattern(pattern) => say("", "AllowedPattern", pattern.as_str().into()),
            Rule::Modulo { .. } | Rule::Custom(_) => {}
        }
    }
    if property.kind == Kind::Boolean {
        say("", "AllowedValues", json!(["True", "true", "False", "false"]));
    }
    Value::Object(out)
}

fn use_of(name: &str, property: &PropertySchema, is_hot: bool) -> Value {
    match (is_hot, property.kind) {
        (true, _) => json!({"get_param": name}),
        (false, Kind::List) => json!({"Fn::Split": [",", {"Ref": name}]}),
        (false, _) => json!({"Ref": name}),
    }
}

/// Why a template cannot stand for a type that there is already: everybody who uses the type must get on
/// with the template.
pub fn facade_problems(facade: &ResourceSchema, provider: &ResourceSchema) -> Vec<String> {
    let name = &facade.type_name;
    let mut wrong = Vec::new();
    for (property, of_facade) in &facade.properties {
        match provider.get(property) {
            None if of_facade.is_required => wrong.push(format!(
                "Required property {property} for facade {name} missing in provider"
            )),
            Some(of_provider) if parameter_kind(of_facade.kind) != of_provider.kind => {
                let (theirs, ours) = (of_facade.kind.name(), of_provider.kind.name());
                wrong.push(format!(
                    "Property {property} type mismatch between facade {name} ({theirs}) and \
                     provider ({ours})"
                ));
            }
            _ => {}
        }
    }
    for (property, of_provider) in &provider.properties {
        if of_provider.is_required && facade.get(property).is_none() {
            wrong.push(format!("Provider requires property {property} unknown in facade {name}"));
        }
    }
    for (attribute, _) in &facade.attributes {
        if !provider.attributes.iter().any(|(known, _)| known == attribute) {
            wrong.push(format!("Attribute {attribute} for facade {name} missing in provider"));
        }
    }
    wrong
}

fn parameter_kind(kind: Kind) -> Kind {
    match kind {
        Kind::Integer => Kind::Number,
        Kind::Any => Kind::Map,
        kind => kind,
    }
}
