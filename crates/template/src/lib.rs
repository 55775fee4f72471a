//! HOT templates and environments: text in, everything that a stack is made of out, or every mistake at its
//! place.
//!
//! The way of a request:
//!
//! 1. text or plain data becomes a document whose values know where they stand ([`read`], [`value`]);
//! 2. the document becomes a [`template::Template`], or an [`environment::Environment`];
//! 3. the environment gives the [`parameter::Parameters`] their values;
//! 4. with them the template is loaded: conditions are decided ([`condition`]), functions are found
//!    ([`function`]), and what is left are expressions that are resolved one by one, as late as anybody likes;
//! 5. what resources are given is held against what their types declare ([`schema`]), through nested
//!    templates, too ([`validate`]).
//!
//! The rule of this crate: **everything that is wrong at once, each at its place**
//! ([`diagnostic::Diagnostics`]); the first of several is what a client is told, in the words that clients
//! have always been told. Nothing here reads a file, knows the time or keeps anything between calls, and
//! nothing that is read can make it run away: documents, expressions, queries and nested templates are bounded.

pub mod diagnostic;
pub mod place;
pub mod value;

pub mod environment;
pub mod parameter;
pub mod read;
pub mod schema;

pub mod template;
pub mod validate;

pub mod condition;
pub mod function;
mod yaql;

use std::collections::BTreeMap;

use environment::{Environment, Types};
use parameter::Identity;
use schema::{PropertySchema, ResourceSchema};
use template::Template;
use validate::Validator;

/// Does everything with bytes that can be done with them, for those who look for what breaks: a template, an
/// environment, and the template once more as a template in itself. Gives back what was said.
pub fn try_everything(bytes: &[u8]) -> String {
    struct One(ResourceSchema);
    impl Types for One {
        fn schema(&self, type_name: &str) -> Option<&ResourceSchema> {
            (type_name != "none").then_some(&self.0)
        }
    }
    let list = PropertySchema::list_of("", PropertySchema::string("")).length(Some(1), None);
    let schema = ResourceSchema::new("any", "")
        .property("value", PropertySchema::any(""))
        .property("count", PropertySchema::integer("").range(Some(0), Some(9)))
        .property("list", list);
    let types = One(ResourceSchema { open_attributes: vec!["a".to_owned()], ..schema });
    let environment = Environment::from_bytes("environment", bytes);
    let text = String::from_utf8_lossy(bytes).into_owned();
    let files = BTreeMap::from([("self.yaml".to_owned(), text)]);
    let identity = Identity::nobody();
    let mut said = environment.as_ref().err().map(ToString::to_string).unwrap_or_default();
    match Template::from_bytes("template", bytes) {
        Err(wrong) => said.push_str(&wrong.to_string()),
        Ok(template) => {
            for needs_values in [true, false] {
                let validator =
                    Validator { needs_values, ..Validator::new(&types, &files, &identity) };
                let nothing = Environment::default();
                match validator.check(&template, environment.as_ref().unwrap_or(&nothing)) {
                    Ok(validated) => said.push_str(&validated.summary(&template, true).to_string()),
                    Err(wrong) => said.push_str(&wrong.to_string()),
                }
            }
        }
    }
    said
}
