//! What a stack can be made of: one [`Plugin`] per type of resource.
//!
//! A plugin makes, changes and removes the object of one row, and tells what others may ask of it. It keeps nothing itself and
//! writes nothing into the rows of stacks: what is to be remembered it gives back as a [`Change`], and whoever called it writes
//! that together with the end of the deed, in one transaction.
//!
//! Always holds:
//! - A deed is written before a plugin is called, and the plugin may be called again with the same [`Ctx::key`] after a crash:
//!   it passes the key on, or makes only what is not there yet.
//! - Nothing waits inside a plugin. What takes time is begun and answered with [`Progress::Wait`]; [`Plugin::look`] is called
//!   when that time has come, when a signal came to the stack, or when the stack below has ended, whichever is first. What the
//!   `Change` of the wait said is in the body by then.
//! - A type that [`Plugin::is_local`] has no effect outside the database: its futures are ready when they are made, and its
//!   deed may be written, done and told in one transaction.
//! - A stack below a resource is never touched by a plugin: it is wished for ([`ChildWish`]), and carried out in the same
//!   transaction.
//! - Properties are resolved, converted and complete by the time a plugin sees them: what was not given has its default, or is
//!   not there.

mod catalog;
mod child;
mod heat;
mod hostler;
mod outside;
mod read;
mod reference_page;
mod stack_output;

pub(crate) use catalog::{Catalog, Entry, TEMPLATE};
pub(crate) use child::{ChildCourse, ChildEnvironment, ChildForm, ChildView, ChildWish, Member};
use heat::CONFIG;
pub(crate) use heat::{DEPLOYMENT, DERIVED};
pub(crate) use hostler::{ALARM, ALARM_BEGIN, AlarmSpec, alarm_state};
pub(crate) use outside::{Bid, ProjectTypes, answer_of, silence_of};
pub use reference_page::stack_types_page;
pub(crate) use stack_output::{Given as OutputGiven, STACK_OUTPUT};

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, ready};
use hostler_engine::stack::Failure;
use hostler_model::stack::{DeedKind, ResourceBody, Stack, StackResource};
use hostler_model::{Error, StackResourceId, Timestamp};
use hostler_template::schema::ResourceSchema;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::Control;

/// What a plugin gives back when it did something. An error is something that may go better later: the deed stays, and is
/// carried out again.
pub(crate) type Doing<'a> = BoxFuture<'a, Result<Progress, Error>>;

/// One type of resource.
pub(crate) trait Plugin: Send + Sync {
    /// Its properties, attributes and policy, and what to tell people of it.
    fn schema(&self) -> &ResourceSchema;

    /// What stands in the body of its objects: who looks after them.
    fn key(&self) -> &str {
        &self.schema().type_name
    }

    /// No effect outside the database.
    fn is_local(&self) -> bool {
        true
    }

    /// Its object is a stack.
    fn has_child(&self) -> bool {
        false
    }

    /// Whether it does something of its own then; what it cannot do only changes the standing of the resource.
    fn can(&self, kind: DeedKind) -> bool {
        matches!(kind, DeedKind::Create | DeedKind::Update | DeedKind::Delete | DeedKind::Adopt)
    }

    /// Whether programs may signal it.
    fn takes_signals(&self) -> bool {
        false
    }

    /// What its properties say together that cannot be, as far as they are known. Properties that nobody knows yet are not there.
    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let _ = given;
        Vec::new()
    }

    /// What becomes of an object whose definition may have changed. `changed` are the names of properties that differ.
    fn lean(&self, ctx: &Ctx<'_>, changed: &[String]) -> Lean {
        let _ = (ctx, changed);
        Lean::BySchema
    }

    /// What becomes of an object that is there after a deed that failed.
    fn is_kept_after_failure(&self, seen: &Seen<'_>) -> bool {
        let _ = seen;
        false
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a>;

    /// The object is as [`ResourceBody::properties`], and is to be as [`Ctx::wanted`]; `changed` are the names of what differs.
    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, changed: &'a [String]) -> Doing<'a> {
        let _ = changed;
        at_once(Progress::Done(Change::of_metadata(ctx)))
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let _ = ctx;
        at_once(Progress::done())
    }

    /// A deed that waits is looked at. Which one it is stands in the row.
    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let _ = ctx;
        at_once(Progress::done())
    }

    fn check<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let _ = ctx;
        at_once(Progress::done())
    }

    fn suspend<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let _ = ctx;
        at_once(Progress::done())
    }

    fn resume<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let _ = ctx;
        at_once(Progress::done())
    }

    fn snapshot<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let _ = ctx;
        at_once(Progress::done())
    }

    /// Takes over what another stack left: a resource as it stands in an exported document (`resource_id`, `resource_data`,
    /// `metadata`, …).
    fn adopt<'a>(&'a self, ctx: &'a Ctx<'a>, left: &'a Map<String, Value>) -> Doing<'a> {
        let _ = ctx;
        at_once(Progress::Done(Change::adopted(left)))
    }

    /// Somebody outside tells it something.
    fn signal(&self, ctx: &Ctx<'_>, body: &Value) -> Signal {
        let _ = (ctx, body);
        Signal::NotSupported
    }

    /// What `get_resource` gives. The name, before there is an object.
    fn reference(&self, seen: &Seen<'_>) -> Value {
        Value::String(seen.reference_text().to_owned())
    }

    /// What `get_attr` gives. `path[0]` is the name of the attribute.
    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        seen.stored_attribute(path)
    }

    /// Every attribute by itself, for whoever looks at the resource.
    fn attributes(&self, seen: &Seen<'_>) -> Map<String, Value> {
        let names = self.schema().attributes.iter().map(|(name, _)| name.as_str());
        let of_name = |name: &str| {
            let path = [Value::String(name.to_owned())];
            (name.to_owned(), self.attribute(seen, &path).unwrap_or(Value::Null))
        };
        names.map(of_name).collect()
    }

    /// Whether an attribute of an object is secret that is not so of every object of the type.
    fn is_secret_here(&self, body: &ResourceBody, attribute: &str) -> bool {
        let _ = (body, attribute);
        false
    }

    /// Whether what `get_resource` gives is secret.
    fn is_reference_secret(&self) -> bool {
        false
    }

    /// What it stands for becomes something else by itself: every update looks at it first.
    fn is_looked_at(&self) -> bool {
        false
    }

    /// The properties as they are in the world at present, as far as they can be found out; and attributes that tell whether
    /// the object is well, which are as they are stored as long as it is. `Ok(None)`: nothing can be found out. `Err` of "not
    /// found": the object is gone.
    fn live_state<'a>(
        &'a self,
        ctx: &'a Ctx<'a>,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        let _ = ctx;
        ready(Ok(None)).boxed()
    }
}

/// What a plugin did is known at once.
pub(crate) fn at_once<'a>(progress: Progress) -> Doing<'a> {
    ready(Ok(progress)).boxed()
}

/// What became of a deed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Progress {
    Done(Change),
    /// Not yet: somebody has to look then, or earlier when there is a reason.
    Wait(Change, Timestamp),
    Failed(Change, Failure),
    /// The object is not there, or cannot become what is wanted: another one takes its place.
    Gone,
}

impl Progress {
    pub(crate) fn done() -> Progress {
        Progress::Done(Change::default())
    }

    /// Nothing is to be remembered of a failure of that kind.
    pub(crate) fn failed(kind: &str, message: impl Into<String>) -> Progress {
        Progress::Failed(Change::default(), Failure::new(kind, message))
    }
}

/// What is to be remembered of an object. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change {
    pub(crate) physical: Option<String>,
    pub(crate) reference: Option<String>,
    /// All of them.
    pub(crate) attributes: Option<Map<String, Value>>,
    pub(crate) metadata: Option<Value>,
    /// All of it.
    pub(crate) data: Option<Map<String, Value>>,
    pub(crate) child: Option<ChildWish>,
    /// What changes at other resources of the same stack.
    pub(crate) beside: Vec<(StackResourceId, Change)>,
}

impl Change {
    pub(crate) fn physical(id: impl Into<String>) -> Change {
        Change { physical: Some(id.into()), ..Change::default() }
    }

    /// Metadata as the template has them.
    pub(crate) fn of_metadata(ctx: &Ctx<'_>) -> Change {
        Change { metadata: Some(ctx.wanted.metadata.clone()), ..Change::default() }
    }

    /// What another stack left, as it stands.
    pub(crate) fn adopted(left: &Map<String, Value>) -> Change {
        let data = left.get("resource_data").and_then(Value::as_object).cloned();
        Change {
            physical: left.get("resource_id").and_then(Value::as_str).map(str::to_owned),
            data: data.filter(|data| !data.is_empty()),
            metadata: left.get("metadata").filter(|metadata| !metadata.is_null()).cloned(),
            ..Change::default()
        }
    }

    #[must_use]
    pub(crate) fn attribute(mut self, name: &str, value: impl Into<Value>) -> Change {
        self.attributes.get_or_insert_default().insert(name.to_owned(), value.into());
        self
    }

    #[must_use]
    pub(crate) fn reference(mut self, reference: impl Into<String>) -> Change {
        self.reference = Some(reference.into());
        self
    }

    #[must_use]
    pub(crate) fn data(mut self, data: Map<String, Value>) -> Change {
        self.data = Some(data);
        self
    }

    #[must_use]
    pub(crate) fn child(mut self, wish: ChildWish) -> Change {
        self.child = Some(wish);
        self
    }
}

/// What a change of the definition means for an object, before anything is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lean {
    /// As the schemas of the properties say.
    BySchema,
    /// It is as it is to be, whatever the definition says.
    Unchanged,
    /// It is to be updated even where nothing differs.
    Update,
    Replace,
}

/// What came of a signal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Signal {
    /// `signal is not supported for resource.`
    NotSupported,
    /// Nobody is told.
    Ignored,
    /// What the signal says cannot be; the text is for the sender.
    Refused(String),
    Taken(SignalTaken),
}

/// What follows from a signal. Afterwards every deed of the stack that waits is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SignalTaken {
    /// Of the event.
    pub(crate) reason: String,
    pub(crate) changes: Vec<(StackResourceId, Change)>,
    /// What the sender is answered, where it waits for that.
    pub(crate) answer: Value,
}

/// What an object is to be as.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) properties: Map<String, Value>,
    pub(crate) metadata: Value,
    pub(crate) update_policy: Value,
    /// The template that its type is, for one that is made of a template.
    pub(crate) template: Option<Value>,
}

/// What is known of a definition before there is an object: [`Plugin::validate`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a> {
    pub(crate) name: &'a str,
    pub(crate) properties: &'a Map<String, Value>,
    pub(crate) update_policy: &'a Value,
    /// How long a change of the stack may take.
    pub(crate) timeout: Duration,
}

#[cfg(test)]
impl<'a> Given<'a> {
    pub(crate) fn test(name: &'a str, properties: &'a Map<String, Value>) -> Given<'a> {
        Given { name, properties, update_policy: &Value::Null, timeout: Duration::from_secs(3600) }
    }
}

/// A resource as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) row: &'a StackResource,
    pub(crate) body: &'a ResourceBody,
    /// The stack below, for types that have one, once there is one.
    pub(crate) child: Option<&'a ChildView>,
}

impl<'a> Seen<'a> {
    /// What it is referred to by.
    pub(crate) fn reference_text(&self) -> &'a str {
        let physical = self.row.physical.as_deref();
        self.body.reference.as_deref().or(physical).unwrap_or(&self.row.name)
    }

    /// What objects in the world are called that nobody gave a name: stack, resource, and the row.
    pub(crate) fn object_name(&self) -> String {
        let id = self.row.id.uuid().simple().to_string();
        format!("{}-{}-{}", self.stack.name, self.row.name, &id[id.len() - 12..])
    }

    pub(crate) fn stored_attribute(&self, path: &[Value]) -> Result<Value, NoAttribute> {
        let Some(name) = path.first().and_then(Value::as_str) else {
            return Ok(Value::Object(self.body.attributes.clone()));
        };
        match self.body.attributes.get(name) {
            Some(value) => Ok(walk(value, &path[1..])),
            None if name == "show" => Ok(Value::Null),
            None => Err(NoAttribute(name.to_owned())),
        }
    }
}

/// What lies at the end of a path; nothing where it leads nowhere.
pub(crate) fn walk(value: &Value, path: &[Value]) -> Value {
    let step = |value: &Value, step: &Value| match (value, step) {
        (Value::Object(map), Value::String(key)) => map.get(key).cloned(),
        (Value::Object(map), Value::Number(key)) => map.get(&key.to_string()).cloned(),
        (Value::Array(items), Value::Number(index)) => {
            let index = index.as_i64()?;
            let index = if index < 0 { index + i64::try_from(items.len()).ok()? } else { index };
            usize::try_from(index).ok().and_then(|index| items.get(index)).cloned()
        }
        _ => None,
    };
    path.iter().try_fold(value.clone(), |value, next| step(&value, next)).unwrap_or(Value::Null)
}

/// There is no attribute of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no attribute `{0}`")]
pub(crate) struct NoAttribute(pub(crate) String);

/// What a call to a plugin is about, and whom it may ask.
pub(crate) struct Ctx<'a> {
    pub(crate) seen: Seen<'a>,
    pub(crate) wanted: &'a Wanted,
    /// The same however often this is begun again; for whoever is told outside.
    pub(crate) key: &'a str,
    /// When the deed was begun.
    pub(crate) begun: Timestamp,
    pub(crate) now: Timestamp,
    /// Texts that the template names.
    pub(crate) files: &'a Map<String, Value>,
    pub(crate) desk: &'a dyn Desk,
}

impl<'a> std::ops::Deref for Ctx<'a> {
    type Target = Seen<'a>;
    fn deref(&self) -> &Seen<'a> {
        &self.seen
    }
}

impl<'a> Ctx<'a> {
    pub(crate) fn property(&self, name: &str) -> Option<&'a Value> {
        self.wanted.properties.get(name).filter(|value| !value.is_null())
    }

    /// Which deed is under way; a look without one is about nothing.
    pub(crate) fn deed_kind(&self) -> Option<DeedKind> {
        self.row.deed.as_ref().map(|deed| deed.kind)
    }
}

/// The configuration of software that a resource is, if it is one.
pub(crate) fn software_config_of(
    _: &StackResource,
    body: &ResourceBody,
) -> Option<Map<String, Value>> {
    body.data.get(CONFIG).and_then(Value::as_object).cloned()
}

/// Whom a plugin may ask.
pub(crate) trait Desk: Send + Sync {
    /// Everything else, for types that have an effect outside the rows of stacks.
    fn control(&self) -> &Control;

    /// Another resource of the same stack, by what it is referred to, by its physical id or by its name.
    fn sibling(&self, reference: &str) -> Option<Seen<'_>>;

    /// An address at which this resource can be signalled without being somebody.
    fn signal_url(&self, kind: SignalKind) -> Result<String, Error>;

    /// An id that nobody has.
    fn fresh_id(&self) -> Uuid;

    /// Nothing is done: it is only asked what would be done.
    fn is_trial(&self) -> bool {
        false
    }

    /// A configuration of software of this project, in whichever stack it is, as
    /// `{id, name, group, config, options, inputs, outputs}`.
    fn software_config<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>>;
}

/// Which of the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalKind {
    /// `PUT /v1/waitcondition/…`, answered with the metadata.
    WaitCondition,
    /// `POST /v1/signal/…`
    Signal,
    /// `POST /v1/signal/…` that is good for as long as the resource is there.
    Alarm,
    /// `POST …/stacks/NAME/ID/resources/NAME/signal` of the API itself; needs a token.
    Api,
}
