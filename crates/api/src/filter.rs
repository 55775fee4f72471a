//! What filters of lists can name: the fields of the items as they are answered, so that there is one rule to
//! learn and nothing can be asked that cannot be seen.
//!
//! They are read from the schema of the reply. What a schema leaves open is open here; what is of several
//! forms has the fields of all of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hostler_model::filter::{Field, Fields, Kind};
use hostler_model::{Bytes, Span};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::{Described, Endpoint};

/// Filters of events know more than a schema says: what the payload of each kind has.
const OF_THEIR_OWN: [&str; 2] = ["event_list", "event_export"];

/// A list that takes a filter.
pub struct Filtered {
    /// Of the endpoint.
    pub name: &'static str,
    pub tag: &'static str,
    pub path: &'static str,
    pub fields: Fields,
    /// What each field means, in the same order; empty where nothing is said of it.
    pub words: Vec<String>,
}

static LISTS: LazyLock<Vec<Filtered>> = LazyLock::new(|| {
    let mut lists: Vec<Filtered> = crate::all().iter().filter_map(filtered).collect();
    lists.sort_by_key(|list| list.name);
    lists
});

/// Every list that takes a filter of what it answers.
pub fn lists() -> &'static [Filtered] {
    &LISTS
}

/// What filters of an endpoint's list can name.
pub fn fields_of<E: Endpoint>() -> &'static Fields {
    static NONE: Fields = Fields(std::borrow::Cow::Borrowed(&[]));
    let at = LISTS.binary_search_by_key(&E::NAME, |list| list.name);
    at.map_or(&NONE, |at| &LISTS[at].fields)
}

fn filtered(endpoint: &Described) -> Option<Filtered> {
    if OF_THEIR_OWN.contains(&endpoint.name) || !takes_filter(endpoint) {
        return None;
    }
    let mut walk = Walk::new();
    let reply = (endpoint.reply_schema?)(&mut walk.generator).to_value();
    let listing = walk.resolved(&reply)?;
    let item = listing.get("properties")?.get("items")?.get("items")?.clone();
    walk.walk_schema(&item, &Place::default());
    let (mut fields, mut words) = (Vec::new(), Vec::new());
    for (path, Seen { kind, about }) in walk.found {
        fields.push(Field { path: path.into(), kind });
        words.push(about);
    }
    let Described { name, tag, path, .. } = *endpoint;
    Some(Filtered { name, tag, path, fields: Fields(fields.into()), words })
}

/// Whether a list has the parameter.
pub fn takes_filter(endpoint: &Described) -> bool {
    let mut walk = Walk::new();
    let query = (endpoint.query_schema)(&mut walk.generator).to_value();
    let properties = walk.resolved(&query).and_then(|query| query.get("properties").cloned());
    properties.is_some_and(|properties| properties.get("filter").is_some())
}

struct Seen {
    kind: Kind,
    about: String,
}

/// Where in a document, and what was said of it on the way.
#[derive(Clone, Default)]
struct Place {
    words: Vec<String>,
    about: String,
    /// Definitions it is within; one that contains itself is open.
    within: Vec<String>,
}

impl Place {
    fn below(&self, word: &str) -> Place {
        let mut place = Place { about: String::new(), ..self.clone() };
        place.words.push(word.to_owned());
        place
    }
}

struct Walk {
    generator: SchemaGenerator,
    span: Value,
    /// Of sizes, which are read in two forms and said in one.
    size: Value,
    found: BTreeMap<String, Seen>,
}

impl Walk {
    fn new() -> Walk {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let span = Span::json_schema(&mut generator).get("pattern").cloned().unwrap_or_default();
        let size = Bytes::json_schema(&mut generator).get("anyOf").cloned().unwrap_or_default();
        Walk { generator, span, size, found: BTreeMap::new() }
    }

    fn resolved(&self, schema: &Value) -> Option<Value> {
        match name_of(schema) {
            Some(name) => self.generator.definitions().get(name).cloned(),
            None => Some(schema.clone()),
        }
    }

    fn see(&mut self, place: &Place, kind: Kind) {
        let path = place.words.join(".");
        match self.found.get_mut(&path) {
            Some(seen) => {
                let known = std::mem::replace(&mut seen.kind, Kind::Any);
                seen.kind = either(known, kind);
            }
            None => {
                self.found.insert(path, Seen { kind, about: place.about.clone() });
            }
        }
    }

    fn walk_schema(&mut self, schema: &Value, place: &Place) {
        let mut place = place.clone();
        if let Some(name) = name_of(schema) {
            if place.within.iter().any(|outer| outer == name) {
                return self.see(&place.below("**"), Kind::Any);
            }
            place.within.push(name.to_owned());
        }
        if place.about.is_empty()
            && let Some(about) = schema.get("description").and_then(Value::as_str)
        {
            about.clone_into(&mut place.about);
        }
        let Some(schema) = self.resolved(schema) else { return };
        match schema.as_object() {
            Some(keys) if keys.keys().any(|key| !is_remark(key)) => self.walk_keys(keys, &place),
            _ => self.see(&place.below("**"), Kind::Any),
        }
    }

    fn walk_keys(&mut self, keys: &Map<String, Value>, place: &Place) {
        if self.is_size(keys) {
            return self.see(place, Kind::Number);
        }
        for list in ["anyOf", "oneOf", "allOf"] {
            for one in keys.get(list).and_then(Value::as_array).into_iter().flatten() {
                if one.get("type").and_then(Value::as_str) != Some("null") {
                    self.walk_schema(one, place);
                }
            }
        }
        if let Some(only) = keys.get("const").and_then(Value::as_str) {
            return self.see(place, Kind::OneOf(vec![only.to_owned()]));
        }
        if let Some(words) = keys.get("enum").and_then(Value::as_array) {
            let words = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            return self.see(place, Kind::OneOf(words));
        }
        if name_in(keys).is_some() {
            return self.walk_schema(&Value::Object(keys.clone()), place);
        }
        let types = match keys.get("type") {
            Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one.as_str()],
            _ => Vec::new(),
        };
        for one in types {
            match one {
                "object" => self.walk_object(keys, place),
                "array" => self.walk_list(keys, place),
                "string" => self.see(place, self.text(keys)),
                "number" | "integer" => self.see(place, Kind::Number),
                "boolean" => self.see(place, Kind::Bool),
                _ => {}
            }
        }
    }

    fn is_size(&self, keys: &Map<String, Value>) -> bool {
        let of = |schema: &Value| schema.get("anyOf") == Some(&self.size);
        let any = keys.get("anyOf").and_then(Value::as_array);
        keys.get("anyOf") == Some(&self.size) || any.is_some_and(|any| any.iter().any(of))
    }

    fn text(&self, keys: &Map<String, Value>) -> Kind {
        if keys.get("format").and_then(Value::as_str) == Some("date-time") {
            return Kind::Time;
        }
        match keys.get("pattern") == Some(&self.span) {
            true => Kind::Span,
            false => Kind::Text,
        }
    }

    fn walk_object(&mut self, keys: &Map<String, Value>, place: &Place) {
        let properties = keys.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            self.walk_schema(schema, &place.below(name));
        }
        let mut rest: Vec<&Value> = Vec::new();
        rest.extend(keys.get("additionalProperties").filter(|rest| **rest != Value::Bool(false)));
        let patterns = keys.get("patternProperties").and_then(Value::as_object);
        rest.extend(patterns.into_iter().flat_map(Map::values));
        for schema in &rest {
            self.walk_schema(schema, &place.below("*"));
        }
        let is_of_several = ["anyOf", "oneOf", "allOf"].iter().any(|key| keys.contains_key(*key));
        if properties.is_none() && rest.is_empty() && !is_of_several {
            self.see(&place.below("**"), Kind::Any);
        }
    }

    fn walk_list(&mut self, keys: &Map<String, Value>, place: &Place) {
        self.see(place, Kind::List);
        match keys.get("items").filter(|items| **items != Value::Bool(false)) {
            Some(items) => self.walk_schema(items, &place.below("#")),
            None => self.see(&place.below("#").below("**"), Kind::Any),
        }
    }
}

/// What says something of a schema without saying what is in it.
fn is_remark(key: &str) -> bool {
    matches!(key, "description" | "title" | "default" | "examples" | "$comment" | "deprecated")
}

fn name_of(schema: &Value) -> Option<&str> {
    name_in(schema.as_object()?)
}

fn name_in(keys: &Map<String, Value>) -> Option<&str> {
    keys.get("$ref")?.as_str()?.rsplit('/').next()
}

fn either(one: Kind, other: Kind) -> Kind {
    match (one, other) {
        (Kind::OneOf(mut words), Kind::OneOf(more)) => {
            words.extend(more);
            words.dedup();
            Kind::OneOf(words)
        }
        (one, other) if one == other => one,
        // A word of its own beside any text.
        (Kind::OneOf(_), Kind::Text) | (Kind::Text, Kind::OneOf(_)) => Kind::Text,
        _ => Kind::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskList;
    use hostler_model::filter::Filter;

    /// Lists that have pages and take no filter, each with why.
    const WITHOUT: [(&str, &str); 11] = [
        ("audit_export", "everything without a gap, to be kept elsewhere"),
        ("node_backup_files", "names of files, found by their directory"),
        ("stack_event_list", "has a place to begin at instead of pages from the end"),
        ("stack_type_list", "what is built in, the same everywhere"),
        ("state_list", "the database finds keys by their beginning"),
        ("state_history", "of one key"),
        ("timeline_get", "from many sources, with a place in each"),
        ("project_timeline", "the same"),
        ("event_export", "its own"),
        ("stack_plugin_list", "few, and each with its versions"),
        ("stack_plugin_version_list", "of one plugin"),
    ];

    #[test]
    fn every_list_with_pages_takes_a_filter() {
        for endpoint in crate::all() {
            let mut walk = Walk::new();
            let query = (endpoint.query_schema)(&mut walk.generator).to_value();
            let query = walk.resolved(&query).unwrap();
            let takes = |name: &str| query.pointer(&format!("/properties/{name}")).is_some();
            let has_pages = takes("cursor") && takes("limit");
            let is_without = WITHOUT.iter().any(|(name, _)| *name == endpoint.name);
            if has_pages && !is_without {
                assert!(takes_filter(&endpoint), "{} has pages and no filter", endpoint.name);
            }
        }
    }

    #[test]
    fn fields_are_those_of_what_is_answered() {
        let kind = |path: &str| {
            let field = fields_of::<TaskList>().0.iter().find(|field| field.path == path);
            field.unwrap_or_else(|| panic!("{path} is not there")).kind.clone()
        };
        assert_eq!(kind("attempts"), Kind::Number);
        assert_eq!(kind("timeCreated"), Kind::Time);
        assert_eq!(kind("status.node"), Kind::Text);
        assert_eq!(kind("status.isStopping"), Kind::Bool);
        assert_eq!(kind("spec.tags"), Kind::List);
        assert_eq!(kind("spec.tags.#"), Kind::Text);
        assert_eq!(kind("spec.env.*"), Kind::Text);
        assert_eq!(kind("spec.timeout"), Kind::Span);
        assert_eq!(kind("spec.limits.memory"), Kind::Number);
        assert_eq!(kind("spec.resources.memory"), Kind::Number);
        let Kind::OneOf(states) = kind("status.state") else { panic!("states are words") };
        assert!(states.contains(&"running".to_owned()), "{states:?}");
    }

    #[test]
    fn every_list_has_fields_and_none_is_in_the_way_of_another() {
        assert!(lists().len() > 30);
        for list in lists() {
            let fields = &list.fields.0;
            assert!(!fields.is_empty(), "{} has no fields", list.name);
            for field in fields.iter() {
                let name = field.path.replace(['*', '#'], "0");
                let text = format!("has({})", name.replace(".00", ""));
                assert!(Filter::read(&text, &list.fields).is_ok(), "{}: {text}", list.name);
            }
        }
    }

    /// What the page on filters shows can be asked.
    #[test]
    fn examples_are_filters_of_their_lists() {
        let page = include_str!("../../../docs/filters.md");
        let nouns = [
            ("task ls", "task_list"),
            ("node ls", "node_list"),
            ("workload ls", "workload_list"),
            ("workflow executions", "execution_list"),
            ("schedule ls", "schedule_list"),
            ("stack ls", "stack_list"),
            ("audit search", "audit_list"),
        ];
        let lines = page.lines().filter_map(|line| line.strip_prefix("hostler "));
        let examples: Vec<(&str, &str)> = lines
            .filter_map(|line| line.split_once(" --filter '"))
            .filter_map(|(noun, rest)| Some((noun, rest.split('\'').next()?)))
            .collect();
        assert_eq!(examples.len(), nouns.len());
        for (noun, text) in examples {
            let (_, name) = nouns.iter().find(|(known, _)| *known == noun).unwrap();
            let list = lists().iter().find(|list| list.name == *name).unwrap();
            if let Err(mistake) = Filter::read(text, &list.fields) {
                panic!("{noun}: {mistake}");
            }
        }
    }
}
