//! What the tests of functions have in common: a small world, and calls in it.

use std::collections::BTreeMap;

use hostler_template::condition::ConditionSet;
use hostler_template::diagnostic::Diagnostics;
use hostler_template::function::{
    Conditions, Dialect, Expr, Facade, ResolveError, Resolved, Scope, parse, select,
};
use hostler_template::place::Path;
use hostler_template::template::Version;
use hostler_template::value::Node;
use serde_json::{Value, json};

/// A stack with a few parameters, resources and files.
pub struct World {
    parameters: Value,
    attributes: Value,
    files: BTreeMap<&'static str, &'static str>,
    mappings: Value,
}

impl World {
    pub fn new() -> World {
        World {
            parameters: json!({
                "name": "web",
                "empty": "",
                "none": null,
                "number": 1.5,
                "yes": true,
                "no": false,
                "list": ["a", " b", "c"],
                "json": {"a": {"b": [1, 2, {"c": "deep"}]}, "1": "one"},
                "prod": "prod",
            }),
            attributes: json!({
                "r": {
                    "value": "v",
                    "map": {"k": ["x", "y"], "1": "one"},
                    "list": [{"a": 1}, "two"],
                    "none": null,
                },
            }),
            files: BTreeMap::from([("file:///a.sh", "#!/bin/sh\n"), ("k", "content")]),
            mappings: json!({"Sizes": {"small": {"cpu": "1"}}}),
        }
    }

    pub fn with_parameters(parameters: Value) -> World {
        World { parameters, ..World::new() }
    }
}

impl Scope for World {
    fn parameter(&self, name: &str) -> Result<Value, ResolveError> {
        self.parameters.get(name).cloned().ok_or_else(|| ResolveError::parameter_missing(name))
    }

    fn reference(&self, resource: &str) -> Result<Value, ResolveError> {
        match self.attributes.get(resource) {
            Some(_) => Ok(json!(format!("{resource}-id"))),
            None => Err(ResolveError::reference(resource, "here")),
        }
    }

    fn attribute(&self, resource: &str, path: &[Value]) -> Result<Value, ResolveError> {
        let all = self.attributes.get(resource);
        let all = all.ok_or_else(|| ResolveError::reference(resource, "here"))?;
        let Some((first, rest)) = path.split_first() else { return Ok(all.clone()) };
        let name = first.as_str().unwrap_or_default();
        let value = all.get(name).ok_or_else(|| ResolveError::attribute(resource, name))?;
        Ok(select(value, rest))
    }

    fn file(&self, key: &str) -> Result<String, ResolveError> {
        let found = self.files.get(key).map(|text| (*text).to_owned());
        found.ok_or_else(|| ResolveError::file_missing("get_file", key))
    }

    fn facade(&self, what: Facade) -> Result<Value, ResolveError> {
        Ok(match what {
            Facade::Metadata => json!({"m": 1}),
            Facade::DeletionPolicy => json!("Retain"),
            Facade::UpdatePolicy => json!({}),
        })
    }

    fn mapping(&self, name: &str) -> Result<Value, ResolveError> {
        let found = self.mappings.get(name).cloned();
        found.ok_or_else(|| ResolveError::wrong(format!("There is no mapping \"{name}\"")))
    }
}

/// Where the values of these tests stand.
pub fn here() -> Path {
    Path::of(["outputs", "o", "value"])
}

pub fn conditions(version: Version) -> ConditionSet {
    let section = match version.is_hot() {
        true => json!({
            "yes": true,
            "no": false,
            "is_prod": {"equals": [{"get_param": "prod"}, "prod"]},
            "not_prod": {"not": "is_prod"},
        }),
        false => json!({"yes": true, "no": false}),
    };
    let dialect = Dialect::new(version);
    let (set, found) = ConditionSet::read(Some(&Node::from_json(&section)), dialect);
    match version.has_conditions() {
        true => assert_eq!(found, Diagnostics::new()),
        false => return ConditionSet::default(),
    }
    set
}

pub fn read(
    version: Version,
    value: &Value,
    conditions: &dyn Conditions,
) -> Result<Expr, Diagnostics> {
    parse(&Node::from_json(value), &here(), Dialect::new(version), conditions)
}

/// What becomes of a value; of what is wrong already in reading it, what a client is told.
pub fn resolve(version: Version, value: &Value) -> Result<Resolved, String> {
    let (world, set) = (World::new(), conditions(version));
    let decided = set.decided(&world);
    let expr = read(version, value, &decided);
    let expr = expr.map_err(|found| format!("read: {}", found.0[0].api_message()))?;
    expr.resolve(&world).map_err(|error| error.message)
}

/// Every row: the version, the value, what it resolves to.
pub fn all_resolve(rows: &[(Version, Value, Value)]) {
    for (version, value, expected) in rows {
        let found = resolve(*version, value).map(Resolved::or_null);
        assert_eq!(found.as_ref(), Ok(expected), "{version}: {value}");
    }
}

/// Every row: the version, the value, what is said of it.
pub fn all_fail(rows: &[(Version, Value, &str)]) {
    for (version, value, expected) in rows {
        let found = resolve(*version, value);
        assert_eq!(found, Err((*expected).to_owned()), "{version}: {value}");
    }
}
