//! The JSON schema of a workload file, for editors.
//!
//! Made from the types that files are read into, so it cannot say anything else than they do.

use hostler_model::WorkloadSpec;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::master_control;

/// The schema of one document of a workload file.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let ours = generator.subschema_for::<WorkloadSpec>();
    let theirs = generator.subschema_for::<master_control::Document>();
    let mut definitions = generator.take_definitions(true);
    let name = json!({
        "description": "Lowercase letters, digits and `-`; unique among all workloads.",
        "type": "string",
        "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
    });
    if let Some(spec) = definitions.get_mut("WorkloadSpec") {
        require(spec, &["name"], &[("name", name)]);
    }
    if let Some(document) = definitions.get_mut("MasterControlWorkload") {
        require(document, &master_control::REQUIRED, &[]);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hostler:workload-file",
        "title": "Hostler workload file",
        "description": "One workload, or several below `workloads`. Fields that begin with `x-` are passed over.",
        "type": "object",
        "if": { "required": ["workloads"] },
        "then": {
            "properties": {
                "workloads": { "type": "array", "items": one(&ours, &theirs) },
                "vars": vars(),
            },
            "patternProperties": { "^x-": true },
            "additionalProperties": false,
        },
        "else": one(&ours, &theirs),
        "$defs": definitions,
    })
}

fn one(ours: &schemars::Schema, theirs: &schemars::Schema) -> Value {
    json!({ "if": { "required": ["run_mode"] }, "then": theirs, "else": ours })
}

fn vars() -> Value {
    json!({ "description": "Values that templates in this file can name.", "type": "object" })
}

/// Adds fields to the schema of a mapping, and says which must be there.
fn require(schema: &mut Value, required: &[&str], fields: &[(&str, Value)]) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    schema.insert("required".to_owned(), json!(required));
    schema.insert("patternProperties".to_owned(), json!({ "^x-": true }));
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let rest = std::mem::take(properties);
        properties.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        properties.extend(rest);
        properties.insert("vars".to_owned(), vars());
    }
}
