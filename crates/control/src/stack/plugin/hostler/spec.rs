//! Properties that are documents of the services: what they may be, and how they are read.
//!
//! What people write about a workload, a schedule, a hook is one document for every way in. So the properties of the types
//! that stand for them are not written down a second time: they are made of the document's own schema ([`with_fields`]), and
//! read by the same reader ([`read`]).

use hostler_model::{Diagnostic, Error};
use hostler_template::schema::{Kind, PropertySchema, ResourceSchema};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Adds the fields of a document to the properties of a type, all of them changed in place but those that `other` says
/// something else of.
pub(super) fn with_fields<T: JsonSchema>(
    mut schema: ResourceSchema,
    other: impl Fn(&str, PropertySchema) -> Option<PropertySchema>,
) -> ResourceSchema {
    let document = schemars::schema_for!(T).to_value();
    let nothing = Map::new();
    let fields = document.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let required = document.get("required").and_then(Value::as_array);
    for (name, field) in fields {
        let field = whole(field, &document);
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
        let mut property = PropertySchema::new(kind_of(&field)).described(&about(&field, name));
        property.is_required = is_required;
        if let Some(property) = other(name, property.updatable()) {
            schema.properties.push((name.clone(), property));
        }
    }
    schema
}

/// A field with what it refers to.
fn whole(field: &Value, document: &Value) -> Map<String, Value> {
    let mut field = field.as_object().cloned().unwrap_or_default();
    let reference = field.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|path| document.pointer(path.strip_prefix('#')?));
    if let Some(target) = target.and_then(Value::as_object) {
        for (key, value) in target {
            field.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    field
}

/// The first paragraph of what is said of a field, on one line.
fn about(field: &Map<String, Value>, name: &str) -> String {
    let text = field.get("description").and_then(Value::as_str).unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.as_str() {
        "" => format!("As `{name}` of the document that it is elsewhere."),
        line if line.ends_with('.') => line.to_owned(),
        line => format!("{line}."),
    }
}

fn kind_of(field: &Map<String, Value>) -> Kind {
    let names: Vec<&str> = match field.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let mut names = names.into_iter().filter(|name| *name != "null");
    match (names.next(), names.next()) {
        (Some("boolean"), None) => Kind::Boolean,
        (Some("integer"), None) => Kind::Integer,
        (Some("number"), None) => Kind::Number,
        (Some("array"), None) => Kind::List,
        (Some("object"), None) => Kind::Map,
        // What is a text elsewhere may be a number there, too: sizes and lengths of time.
        _ => Kind::Any,
    }
}

/// The document that properties are; `leave` are those that do not belong to it. What was not given is not in it.
pub(super) fn read<T: DeserializeOwned>(
    properties: &Map<String, Value>,
    leave: &[&str],
) -> Result<T, Error> {
    serde_json::from_value(Value::Object(given(properties, leave))).map_err(|error| {
        let text = error.to_string();
        Error::invalid(vec![Diagnostic::new("", text)])
    })
}

/// What is wrong with the document that properties are, before all of them are known: what is missing may be among the others.
pub(super) fn problems<T: DeserializeOwned>(
    properties: &Map<String, Value>,
    leave: &[&str],
) -> Vec<String> {
    let read = serde_json::from_value::<T>(Value::Object(given(properties, leave)));
    let text = read.err().map(|error| error.to_string());
    text.filter(|text| !text.starts_with("missing field")).into_iter().collect()
}

/// What was given, without `leave`. Scalars of maps of texts are texts.
fn given(properties: &Map<String, Value>, leave: &[&str]) -> Map<String, Value> {
    let is_given =
        |(name, value): &(&String, &Value)| !value.is_null() && !leave.contains(&name.as_str());
    let plain = |(name, value): (&String, &Value)| (name.clone(), texts(name, value));
    properties.iter().filter(is_given).map(plain).collect()
}

/// Environments and labels are texts, whatever a template makes of them.
fn texts(name: &str, value: &Value) -> Value {
    let (Value::Object(map), "env" | "selector" | "labels") = (value, name) else {
        return value.clone();
    };
    let text = |value: &Value| match value {
        Value::Number(_) | Value::Bool(_) => Value::String(value.to_string()),
        other => other.clone(),
    };
    Value::Object(map.iter().map(|(key, value)| (key.clone(), text(value))).collect())
}

/// A document as its fields.
pub(super) fn fields(document: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(document) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The fields of the document that properties are, as they would be told of an object that is like that. What is wrong with
/// them is as it is.
pub(super) fn normal<T: DeserializeOwned + Serialize>(
    properties: &Map<String, Value>,
    leave: &[&str],
) -> Map<String, Value> {
    match read::<T>(properties, leave) {
        Ok(document) => {
            let mut all = fields(&document);
            for name in leave {
                all.extend(properties.get(*name).map(|value| ((*name).to_owned(), value.clone())));
            }
            all
        }
        Err(_) => properties.clone(),
    }
}

/// What is there of a document, with nothing for each field of `schema` that it does not say.
pub(super) fn live(
    document: &impl Serialize,
    schema: &ResourceSchema,
    leave: &[&str],
) -> Map<String, Value> {
    let mut told = fields(document);
    for (name, _) in &schema.properties {
        if !leave.contains(&name.as_str()) {
            told.entry(name.clone()).or_insert(Value::Null);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use hostler_model::WorkloadSpec;
    use hostler_model::schedule::ScheduleSpec;
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_become_properties() {
        let schema =
            with_fields::<WorkloadSpec>(ResourceSchema::new("T", "A test."), |name, it| {
                (name != "runtime").then_some(it)
            });
        let kinds = [
            ("command", Kind::List),
            ("env", Kind::Map),
            ("workdir", Kind::Any),
            ("placement", Kind::Map),
            ("tags", Kind::List),
        ];
        for (name, kind) in kinds {
            let property = schema.get(name).unwrap();
            assert_eq!(property.kind, kind, "{name}");
            assert!(property.description.as_ref().is_some_and(|it| it.ends_with('.')), "{name}");
        }
        assert!(schema.get("runtime").is_none());
        let schema = with_fields::<ScheduleSpec>(ResourceSchema::new("T", "."), |_, it| Some(it));
        assert!(schema.get("target").unwrap().is_required);
        assert!(!schema.get("cron").unwrap().is_required);
    }

    #[test]
    fn what_is_wrong_within_a_property_is_known_before_it_is_made() {
        let problems = |given: serde_json::Value| {
            problems::<WorkloadSpec>(given.as_object().unwrap(), &["name"])
        };
        assert_eq!(
            problems(json!({"name": "x", "secrets": [{"secret": "a", "env": "A"}]})),
            [""; 0]
        );
        let wrong = problems(json!({"command": ["a"], "secrets": [{"name": "a", "env": "A"}]}));
        assert!(wrong.len() == 1 && wrong[0].contains("unknown field `name`"), "{wrong:?}");
        assert_eq!(problems(json!({"env": {"A": "b"}})), [""; 0], "the command may come later");
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        let given = json!({"name": "x", "command": ["a"], "env": {"PORT": 80}, "timeout": "60s", "user": null});
        let given = given.as_object().unwrap();
        let spec: WorkloadSpec = read(given, &["name"]).unwrap();
        assert_eq!(spec.env["PORT"], "80");
        let normal = normal::<WorkloadSpec>(given, &["name"]);
        assert_eq!(normal["timeout"], fields(&spec)["timeout"]);
        assert_eq!(normal["name"], json!("x"));
        assert!(read::<WorkloadSpec>(json!({"comand": []}).as_object().unwrap(), &[]).is_err());
    }
}
