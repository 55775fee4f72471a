//! What a plugin says of its types, as types of ours say it.

use hostler_model::stack::{PluginProperty, PluginType, PluginValueKind, StackPlugin};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema, Support};

pub(crate) fn schema_of(name: &str, it: &PluginType, plugin: &StackPlugin) -> ResourceSchema {
    let support = Support::since(&format!("{} {}", plugin.name, plugin.version));
    let base = ResourceSchema { support, ..ResourceSchema::new(name, &it.description) };
    let with = it
        .properties
        .iter()
        .fold(base, |schema, (name, property)| schema.property(name, property_of(property)));
    it.attributes.iter().fold(with, |schema, (name, attribute)| {
        let about = AttributeSchema::new(&attribute.description).of(kind_of(attribute.kind));
        schema.attribute(name, about)
    })
}

fn property_of(it: &PluginProperty) -> PropertySchema {
    let mut schema = PropertySchema::new(kind_of(it.kind)).described(&it.description);
    schema.is_required = it.required;
    schema.is_updatable = it.updatable;
    schema.is_immutable = it.immutable;
    schema.default = Some(it.default.clone()).filter(|value| !value.is_null());
    match it.allowed.is_empty() {
        true => schema,
        false => schema.allowed(it.allowed.clone()),
    }
}

fn kind_of(kind: PluginValueKind) -> Kind {
    match kind {
        PluginValueKind::String => Kind::String,
        PluginValueKind::Integer => Kind::Integer,
        PluginValueKind::Number => Kind::Number,
        PluginValueKind::Boolean => Kind::Boolean,
        PluginValueKind::List => Kind::List,
        PluginValueKind::Map => Kind::Map,
        PluginValueKind::Any => Kind::Any,
    }
}
