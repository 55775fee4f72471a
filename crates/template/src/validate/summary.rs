//! What a client is told about a template that is right.

use serde_json::{Map, Value};

use super::{Nested, Validated};
use crate::template::Template;

impl Validated {
    /// The answer to a request to look at a template.
    pub fn summary(&self, template: &Template, with_nested: bool) -> Value {
        let mut out = Map::new();
        out.insert("Description".to_owned(), template.description().into());
        out.insert("Parameters".to_owned(), self.parameters.describe().into());
        groups(template, &mut out);
        if with_nested {
            nested(&self.nested, &mut out);
        }
        out.insert("Environment".to_owned(), self.environment.to_json());
        Value::Object(out)
    }
}

fn groups(template: &Template, out: &mut Map<String, Value>) {
    if !template.parameter_groups.is_empty() {
        let groups = template.parameter_groups.iter().map(|group| group.written.clone());
        out.insert("ParameterGroups".to_owned(), groups.collect());
    }
}

fn nested(all: &[Nested], out: &mut Map<String, Value>) {
    let described = all.iter().map(|one| {
        let mut inner = Map::new();
        inner.insert("Type".to_owned(), one.type_name.as_str().into());
        inner.insert("Description".to_owned(), one.template.description().into());
        inner.insert("Parameters".to_owned(), one.validated.parameters.describe().into());
        groups(&one.template, &mut inner);
        nested(&one.validated.nested, &mut inner);
        (one.resource.clone(), Value::Object(inner))
    });
    let described: Map<_, _> = described.collect();
    if !described.is_empty() {
        out.insert("NestedParameters".to_owned(), described.into());
    }
}
