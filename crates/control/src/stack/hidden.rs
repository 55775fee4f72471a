//! What is not for everybody: values of hidden parameters, what types of resources call secret, and what is either of
//! these in the stacks above.
//!
//! [`Hidden`] has values, and finds them wherever they stand: as they are, and in the forms that encodings make of them. It is
//! used in two ways:
//!
//! - **Whatever is kept in clear or told to everybody** has nothing of it, whoever asks: reasons, properties in events, plans,
//!   drift, the log. That is done once, where it is written ([`super::commit`]).
//! - **What is told of a stack** to who may not change it ([`Permission::StackApply`]) has nothing of it either: outputs,
//!   attributes, properties, metadata, templates, files. Who may change it sees what is not a hidden parameter.
//!
//! A value of less than four bytes is hidden where it is the whole of a text, and nowhere else: it would be found everywhere.
//!
//! [`Permission::StackApply`]: hostler_model::Permission::StackApply

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use hostler_model::stack::{ResourceBody, STACK_HIDDEN, SnapshotBody};
use hostler_template::diagnostic::Diagnostics;
use hostler_template::parameter::Parameters;
use hostler_template::schema::AttributeSchema;
use hostler_trust::scrub::Forms;
use serde_json::{Map, Value};

use super::plugin::Plugin;
use crate::Control;

/// Shorter numbers are everywhere.
const NUMBER_MIN: usize = 4;

/// Values, and where they stand.
#[derive(Default)]
pub(crate) struct Hidden {
    values: Vec<String>,
    whole: BTreeSet<String>,
    forms: Option<Arc<Forms>>,
}

static NOTHING: LazyLock<Arc<Hidden>> = LazyLock::new(Arc::default);

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hidden({} values)", self.values.len())
    }
}

impl Hidden {
    pub fn nothing() -> Arc<Hidden> {
        Arc::clone(&NOTHING)
    }

    pub fn of(values: impl IntoIterator<Item = String>) -> Arc<Hidden> {
        let whole: BTreeSet<String> = values.into_iter().filter(|text| !text.is_empty()).collect();
        if whole.is_empty() {
            return Hidden::nothing();
        }
        let values: Vec<String> = whole.iter().cloned().collect();
        let pairs = values.iter().map(|value| (STACK_HIDDEN.to_owned(), value.as_bytes()));
        let forms = Forms::replaced(pairs).map(Arc::new);
        Arc::new(Hidden { values, whole, forms })
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Those that stand somewhere in a text.
    pub fn found_in(&self, text: &str) -> Vec<String> {
        let Some(forms) = &self.forms else { return Vec::new() };
        forms.which(text.as_bytes()).into_iter().map(|at| self.values[at].clone()).collect()
    }

    fn is_in(&self, text: &str) -> bool {
        self.whole.contains(text)
            || self.forms.as_ref().is_some_and(|forms| forms.is_in(text.as_bytes()))
    }

    /// Puts stars in the place of everything in which one of them stands.
    pub fn hide(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) if self.is_in(text) => STACK_HIDDEN.clone_into(text),
            Value::Number(number) => {
                let text = number.to_string();
                if text.len() >= NUMBER_MIN && self.whole.contains(&text) {
                    *value = Value::String(STACK_HIDDEN.to_owned());
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Value::Object(map) => self.hide_in(map),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }

    pub fn hide_in(&self, map: &mut Map<String, Value>) {
        if self.is_empty() {
            return;
        }
        map.values_mut().for_each(|item| self.hide(item));
        if map.keys().any(|key| self.is_in(key)) {
            let known = std::mem::take(map).into_iter();
            map.extend(known.map(|(key, item)| (self.scrub(&key), item)));
        }
    }

    /// A text without them; what is around them stays.
    pub fn scrub(&self, text: &str) -> String {
        if self.whole.contains(text) {
            return STACK_HIDDEN.to_owned();
        }
        match &self.forms {
            Some(forms) if forms.is_in(text.as_bytes()) => {
                String::from_utf8_lossy(&forms.clean(text.as_bytes())).into_owned()
            }
            _ => text.to_owned(),
        }
    }

    /// What is wrong, in words that everybody may read.
    pub fn scrubbed(&self, mut wrong: Diagnostics) -> Diagnostics {
        if !self.is_empty() {
            for one in &mut wrong.0 {
                one.message = self.scrub(&one.message);
                one.hint = one.hint.take().map(|hint| self.scrub(&hint));
                one.text = one.text.take().map(|text| self.scrub(&text));
            }
        }
        wrong
    }
}

/// Every text in a value; numbers as they are written.
pub(crate) fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(map) => map.values().for_each(|item| texts(item, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Values of hidden parameters, as they were given and as what they are declared to be.
pub(crate) fn hidden_parameters(parameters: &Parameters) -> Vec<String> {
    let mut found = Vec::new();
    for one in parameters.declared().filter(|one| one.schema.is_hidden) {
        let known = [one.raw(), one.value(), one.schema.default.as_ref()];
        known.into_iter().flatten().for_each(|value| texts(value, &mut found));
    }
    found
}

/// What is secret of an object: what its type says is, of its properties and of its attributes.
pub(crate) fn secrets_of(plugin: &dyn Plugin, body: &ResourceBody, found: &mut Vec<String>) {
    let schema = plugin.schema();
    let meant = body.deed.as_deref().map(|deed| &deed.properties);
    for (name, _) in schema.properties.iter().filter(|(_, one)| one.is_secret) {
        let known = [body.properties.get(name), meant.and_then(|meant| meant.get(name))];
        known.into_iter().flatten().for_each(|value| texts(value, found));
    }
    if plugin.is_reference_secret() {
        found.extend(body.reference.clone());
    }
    let is_meant = |(name, one): &&(String, AttributeSchema)| {
        one.is_secret || plugin.is_secret_here(body, name)
    };
    for (name, _) in schema.attributes.iter().filter(is_meant) {
        body.attributes.get(name).into_iter().for_each(|value| texts(value, found));
    }
}

impl Control {
    /// What is secret of resources as a document has them: what their types call so, and what these remember besides.
    pub(crate) fn secrets_of_document(&self, body: &SnapshotBody, found: &mut Vec<String>) {
        for resource in body.resources.values() {
            let kind = resource.get("type").and_then(Value::as_str).unwrap_or_default();
            let Some(plugin) = self.stack_plugin(kind) else { continue };
            let map = |field: &str| {
                let map = resource.get(field).and_then(Value::as_object);
                map.cloned().unwrap_or_default()
            };
            let data = map("resource_data");
            let known = ResourceBody {
                properties: map("properties"),
                attributes: data.clone(),
                data,
                ..ResourceBody::default()
            };
            secrets_of(plugin.as_ref(), &known, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_hidden_is_found_in_every_form() {
        let hidden = Hidden::of(["s3cr3t-value".to_owned(), "x".to_owned(), "4711".to_owned()]);
        let mut value = json!({
            "whole": "s3cr3t-value", "part": ["a s3cr3t-value b"], "short": "x", "other": "xy",
            "base64": STANDARD.encode("user:s3cr3t-value"), "hex": "7333637233742d76616c7565",
            "number": 4711, "one": 1, "s3cr3t-value": 1,
        });
        hidden.hide(&mut value);
        assert_eq!(
            value,
            json!({
                "whole": "******", "part": ["******"], "short": "******", "other": "xy",
                "base64": "******", "hex": "******", "number": "******", "one": 1, "******": 1,
            })
        );
        assert_eq!(hidden.scrub("it is s3cr3t-value, not xy"), "it is ******, not xy");
        assert_eq!(hidden.found_in("{\"a\": \"s3cr3t-value\"}"), ["s3cr3t-value"]);
        let mut same = json!({"a": "s3cr3t-value"});
        Hidden::nothing().hide(&mut same);
        assert_eq!(same, json!({"a": "s3cr3t-value"}));
        assert!(!format!("{hidden:?}").contains("s3cr3t"));
    }
}
