//! What a project keeps: `Hostler::Secret` and `Hostler::StateEntry`.

use hostler_model::{
    Diagnostic, Error, Permission, SecretRef, Span, StateKey, StateRecord, StateTtl,
    default_environment,
};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use hostler_trust::SecretBytes;
use serde_json::{Map, Value, json};

use super::super::read::Read;
use super::super::{Ctx, Given};
use super::hand::{Hand, name_of, named};
use super::noun::{Found, Naming, Noun};
use super::{present, since};
use crate::{StatePlace, StatePrecondition};

/// A value that is given to what runs by name. What it is stands nowhere but with the secret, and in the stack, sealed.
pub(super) struct Secret;

/// Which version is ours stands in what is remembered.
const VERSION: &str = "version";

fn reference(at: &str) -> Result<SecretRef, Error> {
    at.parse().map_err(|error: hostler_model::ParseSecretRefError| {
        Error::invalid(vec![Diagnostic::new("/name", error.to_string())])
    })
}

impl Secret {
    async fn write(hand: &Hand<'_>, at: &str, is_new: bool) -> Result<(), Error> {
        hand.need(Permission::SecretSet)?;
        let (properties, reference) = (&hand.ctx.wanted.properties, reference(at)?);
        let project = &hand.project;
        match (properties.text("value"), properties.integer("generate")) {
            (Some(value), None) => {
                let value = SecretBytes::new(value);
                hand.control
                    .secret_set(&hand.cx("set"), project, &reference, &value, false)
                    .await?;
            }
            (None, Some(bytes)) if is_new => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                hand.control
                    .secret_generate(&hand.cx("generate"), project, &reference, bytes)
                    .await?;
            }
            (None, Some(_)) => {}
            _ => {
                let text = "give one of `value` and `generate`";
                return Err(Error::invalid(vec![Diagnostic::new("", text)]));
            }
        }
        Ok(())
    }
}

impl Noun for Secret {
    fn schema(&self) -> ResourceSchema {
        let about = "A value that tasks and workloads of the project are given by name. It is `value`, or random and seen by nobody. \
                     A change is another version.";
        since("Hostler::Secret", about)
            .property(
                "name",
                PropertySchema::string(
                    "What it is called; a name of its own when nothing is said.",
                ),
            )
            .property(
                "environment",
                PropertySchema::string("In which environment.").default("default"),
            )
            .property(
                "value",
                PropertySchema::any(
                    "The value, at most 64 KiB; a hidden parameter, or what another resource made.",
                )
                .secret()
                .updatable(),
            )
            .property(
                "generate",
                PropertySchema::any(
                    "Of how many random bytes a value is made instead; a change makes another.",
                )
                .updatable(),
            )
            .attribute(
                "name",
                AttributeSchema::new("`ENVIRONMENT/NAME`, as workloads say it.").of(Kind::String),
            )
            .attribute(
                "version",
                AttributeSchema::new("The version that is current.").of(Kind::Integer),
            )
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        let properties = &ctx.wanted.properties;
        let environment = properties.text("environment").filter(|text| !text.is_empty());
        let environment =
            environment.map_or_else(|| default_environment().to_string(), str::to_owned);
        match properties.text("name").filter(|name| !name.is_empty()) {
            Some(name) => Naming::Given(format!("{environment}/{name}")),
            None => Naming::Own(format!("{environment}/{}", name_of(&ctx.seen))),
        }
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::SecretRead)?;
        let reference = reference(at)?;
        let it = hand.control.secret_get(&hand.plain(), &hand.project, &reference).await;
        let Some(detail) = present(it)? else { return Ok(None) };
        let current = detail.secret.version_current;
        let ours = hand.ctx.body.data.integer(VERSION);
        let mut found = Found::new(at).attribute("name", at).attribute("version", current);
        found.data.insert(VERSION.to_owned(), json!(current));
        let is_other = ours.is_some_and(|ours| ours != i64::from(current));
        if is_other && hand.ctx.body.properties.text("value").is_some() {
            found = found.live("value", format!("(version {current}, set by somebody else)"));
        }
        Ok(Some(found))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        Secret::write(hand, name, true).await?;
        Ok(name.to_owned())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, changed: &[String]) -> Result<(), Error> {
        let is_anew = changed.iter().any(|name| name == "generate" || name == "value");
        Secret::write(hand, at, is_anew).await
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::SecretRemove)?;
        let reference = reference(at)?;
        hand.control.secret_remove(&hand.plain(), &hand.project, &reference).await
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        let is_given = |name: &str| given.properties.get(name).is_some_and(|it| !it.is_null());
        match is_given("value") && is_given("generate") {
            true => vec!["give one of `value` and `generate`, and not both".to_owned()],
            false => Vec::new(),
        }
    }
}

/// An entry of the project's state.
pub(super) struct StateEntry;

fn place(at: &str) -> Result<StatePlace, Error> {
    let wrong = |text: String| Error::invalid(vec![Diagnostic::new("/key", text)]);
    let (namespace, key) = at.split_once('/').unwrap_or(("", at));
    let key: StateKey =
        key.parse().map_err(|error: hostler_model::ParseStateKeyError| wrong(error.to_string()))?;
    Ok(StatePlace { namespace: named(namespace)?, key })
}

/// A text is itself, everything else is JSON.
fn content(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn text_of(record: &StateRecord) -> String {
    let bytes = record.value.as_deref().unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("({} bytes that are no text)", bytes.len()),
    }
}

impl StateEntry {
    async fn put(hand: &Hand<'_>, at: &str, only: StatePrecondition) -> Result<(), Error> {
        hand.need(Permission::StateWrite)?;
        let properties = &hand.ctx.wanted.properties;
        let ttl = match properties.get("ttl") {
            None | Some(Value::Null) => StateTtl::Never,
            Some(given) => {
                let span: Span = serde_json::from_value(given.clone()).map_err(|error| {
                    Error::invalid(vec![Diagnostic::new("/ttl", error.to_string())])
                })?;
                StateTtl::After(span)
            }
        };
        let value = content(properties.get("value")).into_bytes().into();
        let (place, cx) = (place(at)?, hand.plain());
        hand.control.state_put(&cx, &hand.project, &place, value, ttl, only).await.map(drop)
    }
}

impl Noun for StateEntry {
    fn schema(&self) -> ResourceSchema {
        let about = "An entry of the project's state: a value under a key.";
        since("Hostler::StateEntry", about)
            .property("namespace", PropertySchema::string("The namespace.").default("default"))
            .property("key", PropertySchema::string("The key.").required())
            .property(
                "value",
                PropertySchema::any("The value: a text as it is, everything else as JSON.")
                    .required()
                    .updatable(),
            )
            .property(
                "ttl",
                PropertySchema::any(
                    "After how long it goes by itself, such as `1h`; never when nothing is said.",
                )
                .updatable(),
            )
            .attribute("value", AttributeSchema::new("The value as text.").of(Kind::String))
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        let properties = &ctx.wanted.properties;
        let text = |name: &str| properties.text(name).unwrap_or_default();
        let namespace = match text("namespace") {
            "" => "default",
            namespace => namespace,
        };
        Naming::Given(format!("{namespace}/{}", text("key")))
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::StateRead)?;
        let found = hand.control.state_get(&hand.project, &place(at)?).await;
        Ok(present(found)?.map(|record| {
            let text = text_of(&record);
            Found::new(at).live("value", text.as_str()).attribute("value", text)
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        StateEntry::put(hand, name, StatePrecondition::Absent).await?;
        Ok(name.to_owned())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        StateEntry::put(hand, at, StatePrecondition::None).await
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::StateWrite)?;
        let (place, only) = (place(at)?, StatePrecondition::None);
        let cx = hand.plain();
        hand.control.state_delete(&cx, &hand.project, &place, only).await.map(drop)
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        let mut normal = properties.clone();
        normal.insert("value".to_owned(), json!(content(properties.get("value"))));
        normal
    }
}
