//! Plugins: types of resources that a project brings itself, made by a program or by a file of Lua.
//!
//! What both speak is the same: a [`PluginRequest`] says what is to be done with one object, a [`PluginReply`] says what came
//! of it. A program reads requests and writes replies as lines of JSON; a file of Lua has functions that take and return them.
//! What a plugin can do, it says once in its [`PluginManifest`], which is kept with the version and never changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Diagnostic, Digest, Limits, Name, PlacementRules, PrincipalId, ProjectId, SecretRef, Span,
    StackPluginId, Timestamp,
};

/// What plugins and those who call them speak.
pub const PLUGIN_PROTOCOL: u32 = 1;
/// The longest line of a plugin, in bytes.
pub const PLUGIN_LINE_MAX: usize = 1 << 20;
/// The largest program, or file with what it imports.
pub const PLUGIN_SIZE_MAX: usize = 16 << 20;
/// How many types a plugin may have, and how many properties and attributes each of them.
pub const PLUGIN_TYPES_MAX: usize = 64;
pub const PLUGIN_FIELDS_MAX: usize = 200;
/// How many plugins a project may have, and how many versions of each are kept.
pub const PLUGINS_MAX: u64 = 64;
pub const PLUGIN_VERSIONS_MAX: u64 = 100;
/// How long a call takes when nothing is said, and how long it may take.
pub const PLUGIN_TIME: Span = Span::from_secs(60);
pub const PLUGIN_TIME_MAX: Span = Span::from_secs(3600);
/// How long a name, a reference and a reason may be.
const TEXT_MAX: usize = 1024;
const NAME_MAX: usize = 128;
/// Rooms of types that there are already.
const TAKEN: [&str; 6] = ["OS", "AWS", "Heat", "Hostler", "Xloud", "Alarm"];

crate::labels! {
    /// What a plugin is made of.
    pub enum PluginKind ("kind of plugin") {
        /// A program that speaks lines of JSON.
        Executable = "executable",
        /// A file that returns a table of types.
        Lua = "lua",
    }
}

crate::labels! {
    /// What a plugin is asked for.
    pub enum PluginVerb ("verb of plugins") {
        Create = "create",
        Update = "update",
        Delete = "delete",
        /// Whether the object is well.
        Check = "check",
        /// What the object is like at present.
        Get = "get",
        /// An object that is there becomes one of a stack.
        Adopt = "adopt",
        /// What became of something that takes time.
        Poll = "poll",
    }
}

crate::labels! {
    /// Of which kind a property or an attribute is.
    #[derive(Default)]
    pub enum PluginValueKind ("kind of value") {
        String = "string",
        Integer = "integer",
        Number = "number",
        Boolean = "boolean",
        List = "list",
        Map = "map",
        #[default]
        Any = "any",
    }
}

/// What a plugin says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginManifest {
    pub protocol: u32,
    pub types: BTreeMap<String, PluginType>,
}

/// One type of resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PluginType {
    pub description: String,
    #[serde(deserialize_with = "table")]
    pub properties: BTreeMap<String, PluginProperty>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "table")]
    pub attributes: BTreeMap<String, PluginAttribute>,
    /// What it can do besides creating and deleting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verbs: Vec<PluginVerb>,
    /// How it is tried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<PluginExample>,
}

/// What is said of a property.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PluginProperty {
    #[serde(rename = "type")]
    pub kind: PluginValueKind,
    pub description: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub default: Value,
    /// The values that it may have; any when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// A change is made in place; otherwise another object takes the place of the old one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub updatable: bool,
    /// A change is refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub immutable: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PluginAttribute {
    #[serde(rename = "type")]
    pub kind: PluginValueKind,
    pub description: String,
}

/// Properties that a type is tried out with. `${workdir}` in a text stands for a directory that is empty at first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PluginExample {
    #[serde(deserialize_with = "object")]
    pub create: Map<String, Value>,
    /// What differs when it is updated in place.
    #[serde(skip_serializing_if = "Map::is_empty", deserialize_with = "object")]
    pub update: Map<String, Value>,
    /// What differs when another one takes its place.
    #[serde(skip_serializing_if = "Map::is_empty", deserialize_with = "object")]
    pub replace: Map<String, Value>,
}

/// What is to be done with one object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PluginRequest {
    /// Which request it is; every reply says it again.
    pub id: String,
    pub verb: PluginVerb,
    #[serde(rename = "type")]
    pub kind: String,
    /// The same however often the same thing is asked for again: what was made under it already is not made twice.
    pub key: String,
    /// A name that no other object has.
    pub name: String,
    /// As the object is to be; of what is not to change, as it is.
    pub properties: Map<String, Value>,
    /// What is known of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<PluginPrior>,
    /// Names of the properties that differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What is polled for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<PluginVerb>,
    /// What somebody else says of an object that is taken over.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub left: Map<String, Value>,
    /// Seconds until nobody waits for the reply any more.
    pub deadline: u64,
}

/// An object as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PluginPrior {
    /// What it is in the world; nothing when nobody knows whether it was made.
    pub reference: Option<String>,
    /// The key that it was created under.
    pub key: String,
    pub properties: Map<String, Value>,
    pub attributes: Map<String, Value>,
    /// What the plugin wanted remembered.
    pub state: Value,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum PluginReply {
    Done(PluginDone),
    /// It takes time: poll again.
    InProgress {
        #[serde(default)]
        reference: Option<String>,
        #[serde(default)]
        state: Value,
        /// Seconds.
        #[serde(default)]
        poll_after: Option<f64>,
    },
    Failed {
        #[serde(default)]
        reason: String,
        #[serde(default)]
        retryable: bool,
    },
    /// The object is not there.
    NotFound,
}

/// It is as it was asked for. What is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PluginDone {
    pub reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "some_object")]
    pub attributes: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// Of `get`: the properties as they are in the world.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "some_object")]
    pub properties: Option<Map<String, Value>>,
}

/// Where and how a plugin is run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct PluginPlace {
    /// On which nodes; any when nothing is said.
    pub placement: PlacementRules,
    /// As which login of the node; as tasks run when nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// How long a call may take: 1m when nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    pub limits: Limits,
    /// Secrets that it finds as files in the directory `HOSTLER_SECRETS`, and a file of Lua with `secrets`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretRef>,
}

/// One version of a plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct StackPlugin {
    pub id: StackPluginId,
    pub project_id: ProjectId,
    pub name: Name,
    pub version: u32,
    pub kind: PluginKind,
    /// What the file was called.
    pub file: String,
    /// The program, or the text with what it imports.
    pub artefact: Digest,
    pub manifest: PluginManifest,
    pub place: PluginPlace,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
}

impl StackPlugin {
    /// What its objects are looked after by: the type, in exactly this version.
    pub fn key_of(&self, type_name: &str) -> String {
        format!("{type_name}@{}", self.id)
    }
}

/// The type and the version that such a key means; nothing for types that are always there.
pub fn plugin_key(key: &str) -> Option<(&str, StackPluginId)> {
    let (type_name, id) = key.rsplit_once('@')?;
    Some((type_name, id.parse().ok()?))
}

/// The type, without the version.
pub fn plugin_type(key: &str) -> &str {
    plugin_key(key).map_or(key, |(type_name, _)| type_name)
}

/// What lies in the working directory of a call, and what it leaves there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PluginCall {
    pub kind: PluginKind,
    pub timeout: Span,
    /// Nothing when only the manifest is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<PluginRequest>,
    /// The digest of the manifest that it was registered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Files of secrets, by what the plugin calls them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
}

impl PluginCall {
    pub const ORDER: &'static str = ".hostler/call";
    pub const PROGRAM: &'static str = ".hostler/plugin";
    pub const BUNDLE: &'static str = ".hostler/plugin.json";
    pub const ANSWER: &'static str = ".hostler/answer";
    /// The variable with the key that opens the order and closes the answer: both hold what stacks keep sealed.
    pub const KEY: &'static str = "PLUGIN_CALL_KEY";
    /// What they are bound to.
    pub const BOUND: &'static [u8] = b"call of a plugin";
}

/// What a call leaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct PluginAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<PluginManifest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<PluginReply>,
    /// Why there is neither: the plugin did not do as it has to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl PluginManifest {
    /// The same for the same manifest.
    pub fn digest(&self) -> String {
        let text = serde_json::to_vec(self).expect("a manifest is made of what JSON has");
        blake3::hash(&text).to_hex().to_string()
    }

    /// Everything that is wrong with it.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |at: String, text: String| found.push(Diagnostic::new(at, text));
        if self.protocol != PLUGIN_PROTOCOL {
            let text = format!(
                "it speaks version {} of the protocol; this server speaks {PLUGIN_PROTOCOL}",
                self.protocol
            );
            say("/protocol".to_owned(), text);
        }
        if self.types.is_empty() || self.types.len() > PLUGIN_TYPES_MAX {
            let text = format!("a plugin has 1 to {PLUGIN_TYPES_MAX} types");
            say("/types".to_owned(), text);
        }
        for (name, one) in self.types.iter().take(PLUGIN_TYPES_MAX) {
            one.look(name, &mut say);
        }
        found
    }
}

impl PluginType {
    pub fn can(&self, verb: PluginVerb) -> bool {
        matches!(verb, PluginVerb::Create | PluginVerb::Delete | PluginVerb::Poll)
            || self.verbs.contains(&verb)
    }

    fn look(&self, name: &str, say: &mut impl FnMut(String, String)) {
        let at = format!("/types/{}", name.replace('~', "~0").replace('/', "~1"));
        if let Some(why) = type_name_problem(name) {
            say(at.clone(), why);
        }
        if self.description.trim().is_empty() || self.description.len() > TEXT_MAX {
            say(format!("{at}/description"), "say what it is, in one sentence".to_owned());
        }
        for (what, names) in [
            ("properties", self.properties.keys().collect::<Vec<_>>()),
            ("attributes", self.attributes.keys().collect()),
        ] {
            if names.len() > PLUGIN_FIELDS_MAX {
                say(format!("{at}/{what}"), format!("there are at most {PLUGIN_FIELDS_MAX}"));
            }
            for name in names.into_iter().filter(|name| !is_field(name)) {
                let text = format!("`{name}` cannot be a name: letters, digits, `_` and `-`");
                say(format!("{at}/{what}"), text);
            }
        }
        for (name, property) in &self.properties {
            property.look(&format!("{at}/properties/{name}"), say);
        }
        if self.attributes.contains_key("show") {
            say(format!("{at}/attributes/show"), "`show` is there for every resource".to_owned());
        }
        let updatable = self.properties.values().any(|one| one.updatable);
        if updatable && !self.can(PluginVerb::Update) {
            let text = "there are properties that can be updated, but not the verb `update`";
            say(format!("{at}/verbs"), text.to_owned());
        }
        if let Some(example) = &self.example {
            self.look_at_example(example, &format!("{at}/example"), say);
        }
    }

    fn look_at_example(
        &self,
        example: &PluginExample,
        at: &str,
        say: &mut impl FnMut(String, String),
    ) {
        let parts = [
            ("create", &example.create),
            ("update", &example.update),
            ("replace", &example.replace),
        ];
        for (part, values) in parts {
            for name in values.keys() {
                match self.properties.get(name) {
                    None => {
                        say(format!("{at}/{part}/{name}"), "there is no such property".to_owned())
                    }
                    Some(it) if part == "update" && !it.updatable => {
                        say(
                            format!("{at}/{part}/{name}"),
                            "it cannot be updated in place".to_owned(),
                        );
                    }
                    Some(_) => {}
                }
            }
        }
        for (name, _) in self.properties.iter().filter(|(_, one)| one.required) {
            if !example.create.contains_key(name) {
                say(format!("{at}/create"), format!("`{name}` is required"));
            }
        }
    }
}

impl PluginProperty {
    fn look(&self, at: &str, say: &mut impl FnMut(String, String)) {
        let mut wrong = |text: &str| say(at.to_owned(), text.to_owned());
        if self.description.trim().is_empty() || self.description.len() > TEXT_MAX {
            wrong("say what it is, in one sentence");
        }
        if self.required && !self.default.is_null() {
            wrong("a property that is required has no default");
        }
        if self.updatable && self.immutable {
            wrong("it is either updatable or immutable");
        }
        if !self.default.is_null() && !self.kind.takes(&self.default) {
            wrong("the default is not of its type");
        }
        if !self.allowed.iter().all(|value| self.kind.takes(value)) {
            wrong("what is allowed is not of its type");
        }
        let seen: BTreeSet<String> = self.allowed.iter().map(Value::to_string).collect();
        if seen.len() != self.allowed.len() {
            wrong("something is allowed twice");
        }
    }
}

impl PluginValueKind {
    /// Whether a value is of that kind.
    pub fn takes(self, value: &Value) -> bool {
        match self {
            PluginValueKind::String => value.is_string(),
            PluginValueKind::Integer => value.is_i64() || value.is_u64(),
            PluginValueKind::Number => value.is_number(),
            PluginValueKind::Boolean => value.is_boolean(),
            PluginValueKind::List => value.is_array(),
            PluginValueKind::Map => value.is_object(),
            PluginValueKind::Any => true,
        }
    }
}

impl PluginPlace {
    pub fn time(&self) -> Span {
        self.timeout.unwrap_or(PLUGIN_TIME)
    }

    pub fn problems(&self, at: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.time() < Span::from_secs(1) || self.time() > PLUGIN_TIME_MAX {
            let text = format!("a call takes 1s to {PLUGIN_TIME_MAX} at most");
            found.push(Diagnostic::new(format!("{at}/timeout"), text));
        }
        if self.placement.every || self.placement.count.is_some_and(|count| count > 1) {
            let text = "a call is made on one node: leave out `every` and `count`";
            found.push(Diagnostic::new(format!("{at}/placement"), text));
        }
        found
    }
}

/// Why a type cannot be called so.
fn type_name_problem(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split("::").collect();
    let is_part = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    if parts.len() < 2 || name.len() > NAME_MAX || !parts.iter().all(is_part) {
        let text = "a type has a name of two or more parts, such as `Example::Line`: letters and digits, with `::` between them";
        return Some(text.to_owned());
    }
    TAKEN
        .iter()
        .any(|taken| parts[0].eq_ignore_ascii_case(taken))
        .then(|| format!("names that begin with `{}::` are taken", parts[0]))
}

fn is_field(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// An empty table of Lua is a list in JSON.
fn emptied(value: Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::Object(Map::new()),
        other => other,
    }
}

fn table<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    let value = emptied(Value::deserialize(deserializer)?);
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

fn object<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    let value = emptied(Value::deserialize(deserializer)?);
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

fn some_object<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Map<String, Value>>, D::Error> {
    let value = emptied(Value::deserialize(deserializer)?);
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest(types: Value) -> PluginManifest {
        serde_json::from_value(json!({ "protocol": 1, "types": types })).unwrap()
    }

    #[test]
    fn a_manifest_says_what_is_wrong_with_it() {
        let line = json!({
            "description": "A line of a file.",
            "properties": {
                "path": { "type": "string", "description": "Where.", "required": true },
                "text": { "type": "string", "description": "What.", "updatable": true, "default": "" },
            },
            "attributes": [],
            "verbs": ["update"],
            "example": { "create": { "path": "${workdir}/x" }, "update": { "text": "y" } },
        });
        assert_eq!(manifest(json!({ "Example::Line": line })).problems(), []);
        let with = |path: &str, value: Value| {
            let mut line = line.clone();
            let (parent, last) = path.rsplit_once('/').unwrap();
            line.pointer_mut(parent).unwrap()[last] = value;
            manifest(json!({ "Example::Line": line })).problems()
        };
        for (path, value, expected) in [
            ("/description", json!(""), "say what it is"),
            ("/properties/path/default", json!("x"), "no default"),
            ("/properties/text/immutable", json!(true), "either updatable"),
            ("/properties/text/default", json!(1), "not of its type"),
            ("/properties/text/allowed", json!(["a", "a"]), "twice"),
            ("/verbs", json!([]), "verb `update`"),
            ("/attributes", json!({ "show": { "description": "x" } }), "every resource"),
            ("/attributes", json!({ "a b": { "description": "x" } }), "cannot be a name"),
            ("/example/create", json!({}), "is required"),
            ("/example/update", json!({ "path": "z" }), "in place"),
            ("/example/replace", json!({ "nope": "z" }), "no such property"),
        ] {
            let problems = with(path, value);
            assert!(
                problems.iter().any(|one| one.detail.contains(expected)),
                "{path}: {problems:?}"
            );
        }
        for (name, is_right) in [
            ("Example::Line", true),
            ("A::B::C_2", true),
            ("Line", false),
            ("OS::Heat::Value", false),
            ("hostler::X", false),
            ("Example::", false),
            ("Example::1", false),
            ("Example::Li ne", false),
        ] {
            let found = manifest(json!({ (name): line })).problems();
            assert_eq!(found.is_empty(), is_right, "{name}: {found:?}");
        }
        assert!(!manifest(json!({})).problems().is_empty());
        let newer = PluginManifest { protocol: 2, ..manifest(json!({ "Example::Line": line })) };
        assert!(newer.problems()[0].detail.contains("this server speaks 1"));
    }

    #[test]
    fn replies_are_read_as_they_are_written() {
        let read = |value: Value| serde_json::from_value::<PluginReply>(value).unwrap();
        assert_eq!(read(json!({ "id": "1", "reply": "not_found" })), PluginReply::NotFound);
        let done =
            read(json!({ "reply": "done", "reference": "x", "attributes": [], "state": null }));
        let PluginReply::Done(done) = done else { panic!("{done:?}") };
        assert_eq!((done.reference.as_deref(), done.attributes), (Some("x"), Some(Map::new())));
        assert_eq!(
            read(json!({ "reply": "failed", "reason": "no", "retryable": true })),
            PluginReply::Failed { reason: "no".into(), retryable: true }
        );
        for reply in [
            PluginReply::NotFound,
            PluginReply::InProgress {
                reference: None,
                state: json!({ "n": 1 }),
                poll_after: Some(0.5),
            },
            PluginReply::Done(PluginDone { state: Some(json!([1])), ..PluginDone::default() }),
        ] {
            assert_eq!(read(serde_json::to_value(&reply).unwrap()), reply);
        }
        assert!(serde_json::from_value::<PluginReply>(json!({ "reply": "maybe" })).is_err());
    }

    #[test]
    fn a_key_names_a_type_in_a_version() {
        let id = StackPluginId::from_uuid(uuid::Uuid::from_u128(7));
        let key = format!("Example::Line@{id}");
        assert_eq!(plugin_key(&key), Some(("Example::Line", id)));
        assert_eq!(plugin_type(&key), "Example::Line");
        assert_eq!(plugin_key("OS::Heat::Value"), None);
        assert_eq!(plugin_type("OS::Heat::Value"), "OS::Heat::Value");
    }
}
