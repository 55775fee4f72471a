//! `-o template=`: a line made by a Jinja template for every object.

use std::str::FromStr;
use std::sync::Arc;

use minijinja::{Environment, UndefinedBehavior};
use serde_json::Value;

use crate::failure::Failure;

const NAME: &str = "-o template";
/// Far more than a line of output needs; a loop without end stops here.
const FUEL: u64 = 1_000_000;

/// A template that was found to be well formed.
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
    environment: Arc<Environment<'static>>,
}

impl PartialEq for Template {
    fn eq(&self, other: &Template) -> bool {
        self.source == other.source
    }
}

impl FromStr for Template {
    type Err = String;

    fn from_str(source: &str) -> Result<Template, String> {
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        environment.set_undefined_behavior(UndefinedBehavior::Chainable);
        environment
            .add_template_owned(NAME, source.to_owned())
            .map_err(|error| format!("the template is not well formed: {error:#}"))?;
        Ok(Template { source: source.to_owned(), environment: Arc::new(environment) })
    }
}

impl Template {
    pub fn render(&self, object: &Value) -> Result<String, Failure> {
        let template = self.environment.get_template(NAME).expect("it was added when it was read");
        template.render(minijinja::value::Serde(object)).map_err(|error| {
            Failure::usage(
                format!("the template could not be filled in: {error:#}"),
                "look at the fields of the object with `-o json`",
            )
        })
    }
}
