//! What all types of ours have in common: an object of the services is found, made, changed and removed.
//!
//! A [`Noun`] says how that is done for one kind of object; [`Own`] makes a type of it. What it sees to:
//!
//! - Nothing is made twice. An object with a name that nobody else can have is looked for before it is made, and what is
//!   found is ours. A name that the template gives may be somebody else's: so it is first looked whether it is free, that is
//!   written down, and only then, in another pass, the object is made; from then on what has the name is ours. What has no
//!   name is made under the key of the deed, which its service remembers.
//! - Nothing of others is taken: a name that was not free is a failure, and nothing is removed that was not made. A name that
//!   another resource of the same stack is about to give up is waited for.
//! - Nothing is left behind: where nobody can say whether an object was made, that is written down with its name, and whoever
//!   removes the resource looks for it.
//! - A deed is over when the object is as it is to be: [`Found::standing`] says whether somebody has to wait.
//! - What failed after there was an object is kept, and the next update goes on with it.
//! - Drift is told by what was given: a property is as it was given if it means the same as what is there.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_engine::stack::Failure;
use hostler_model::stack::DeedKind;
use hostler_model::{Code, Error, Timestamp};
use hostler_template::schema::ResourceSchema;
use serde_json::{Map, Value};

use super::super::read::Read;
use super::super::{Change, Ctx, Doing, Given, Plugin, Progress, Seen};
use super::hand::Hand;
use super::{is_going, is_said_by_others};
use crate::stack::live::within;
use crate::stack::perform::{AGAIN, lasting};

/// That a name was free stands in what a resource remembers, until its object is made.
const FREE: &str = "name_was_free";
/// That an object is of this stack, made or taken over, and not somebody else's that is only referred to.
const OURS: &str = "ours";
/// The name under which an object may have been made, of which nobody knows whether it was.
const UNKNOWN: &str = "may_be";
/// How long making an object may take, before nobody knows what came of it.
const MAKE_MAX: Duration = Duration::from_secs(120);
/// The shortest and the longest time from one look at what is waited for to the next.
const LOOKS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// How an object is called before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// As the template says; somebody else may have it.
    Given(String),
    /// As nobody else can call anything.
    Own(String),
    /// It has no name that could be known before.
    Keyed,
}

/// How an object stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// As it is to be.
    Ready,
    /// On its way.
    Going,
    /// It is there, and will not become what it is to be by itself.
    Broken(String),
}

/// An object as it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    /// By which it is found again.
    pub(super) at: String,
    /// Its properties as they are, as far as they can be known.
    pub(super) live: Map<String, Value>,
    pub(super) attributes: Map<String, Value>,
    pub(super) standing: Standing,
    /// It was asked to pause, and does.
    pub(super) is_paused: bool,
    /// What is remembered of it.
    pub(super) data: Map<String, Value>,
}

impl Found {
    pub(super) fn new(at: impl Into<String>) -> Found {
        Found {
            at: at.into(),
            live: Map::new(),
            attributes: Map::new(),
            standing: Standing::Ready,
            is_paused: false,
            data: Map::new(),
        }
    }

    #[must_use]
    pub(super) fn live(mut self, name: &str, value: impl Into<Value>) -> Found {
        self.live.insert(name.to_owned(), value.into());
        self
    }

    #[must_use]
    pub(super) fn attribute(mut self, name: &str, value: impl Into<Value>) -> Found {
        self.attributes.insert(name.to_owned(), value.into());
        self
    }
}

/// A kind of object that the services know.
pub(super) trait Noun: Send + Sync + 'static {
    fn schema(&self) -> ResourceSchema;

    fn naming(&self, ctx: &Ctx<'_>) -> Naming;

    /// By what it was told to be found by, or by its name; nothing when it is not there.
    fn find(
        &self,
        hand: &Hand<'_>,
        at: &str,
    ) -> impl Future<Output = Result<Option<Found>, Error>> + Send;

    /// Makes it, as [`Ctx::wanted`], and says by what it is found.
    fn make(
        &self,
        hand: &Hand<'_>,
        name: &str,
    ) -> impl Future<Output = Result<String, Error>> + Send;

    /// Makes it be as [`Ctx::wanted`].
    fn change(
        &self,
        hand: &Hand<'_>,
        at: &str,
        changed: &[String],
    ) -> impl Future<Output = Result<(), Error>> + Send {
        let _ = (hand, at, changed);
        async { Ok(()) }
    }

    /// Takes the next step towards its not being there; called again until it is not.
    fn remove(&self, hand: &Hand<'_>, at: &str) -> impl Future<Output = Result<(), Error>> + Send;

    /// Properties as they are told of an object that is as they say.
    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        properties.clone()
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        let _ = given;
        Vec::new()
    }

    /// Whether it can be paused.
    fn pauses(&self) -> bool {
        false
    }

    /// Has it pause, or go on.
    fn pause(
        &self,
        hand: &Hand<'_>,
        at: &str,
        is_paused: bool,
    ) -> impl Future<Output = Result<(), Error>> + Send {
        let _ = (hand, at, is_paused);
        async { Ok(()) }
    }
}

/// A type of ours.
pub(super) struct Own<N> {
    noun: N,
    schema: ResourceSchema,
}

impl<N: Noun> Own<N> {
    pub(super) fn of(noun: N) -> Arc<dyn Plugin> {
        let schema = noun.schema();
        Arc::new(Own { noun, schema })
    }

    async fn begin(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let hand = Hand::of(ctx).await?;
        if let Some(at) = ctx.row.physical.as_deref() {
            return self.settle(&hand, at).await;
        }
        let name = match self.noun.naming(ctx) {
            Naming::Keyed => return self.bring(&hand, "", None).await,
            Naming::Given(name) if !ctx.body.data.flag(FREE) => {
                return match self.noun.find(&hand, &name).await? {
                    Some(_) if is_going(ctx, &name, false).await? => {
                        Ok(Progress::Wait(Change::default(), next_look(ctx)))
                    }
                    Some(_) => Ok(Progress::failed("Conflict", taken(&self.schema, &name))),
                    None => {
                        let free = Map::from_iter([(FREE.to_owned(), Value::Bool(true))]);
                        Ok(Progress::Wait(Change::default().data(free), ctx.now))
                    }
                };
            }
            Naming::Given(name) | Naming::Own(name) => name,
        };
        let found = self.noun.find(&hand, &name).await?;
        self.bring(&hand, &name, found.map(|found| found.at)).await
    }

    /// Makes an object that is not there, and looks whether it is as it is to be.
    async fn bring(
        &self,
        hand: &Hand<'_>,
        name: &str,
        known: Option<String>,
    ) -> Result<Progress, Error> {
        let ctx = hand.ctx;
        let later = ctx.now.plus(AGAIN);
        let at = match known {
            Some(at) => at,
            None => match within(hand.control, MAKE_MAX, self.noun.make(hand, name)).await {
                Err(error) if lasting(&error).is_none() && !name.is_empty() => {
                    let mut data = ctx.body.data.clone();
                    data.insert(UNKNOWN.to_owned(), Value::from(name));
                    return Ok(Progress::Wait(Change::default().data(data), later));
                }
                made => made?,
            },
        };
        let ours = || {
            let data = Map::from_iter([(OURS.to_owned(), Value::Bool(true))]);
            Change::physical(at.as_str()).data(data)
        };
        self.settle(hand, &at).await.or_else(|error| {
            Ok(match lasting(&error) {
                Some(failure) => Progress::Failed(ours(), failure),
                None => Progress::Wait(ours(), later),
            })
        })
    }

    /// Whether it is as it is to be.
    async fn settle(&self, hand: &Hand<'_>, at: &str) -> Result<Progress, Error> {
        let Some(found) = self.noun.find(hand, at).await? else {
            let change = Change::physical(at);
            return Ok(Progress::Failed(change, Failure::new("NotFound", gone(&self.schema, at))));
        };
        let mut data = found.data;
        data.insert(OURS.to_owned(), Value::Bool(true));
        let change = Change {
            physical: Some(found.at),
            attributes: Some(found.attributes),
            data: Some(data),
            metadata: Some(hand.ctx.wanted.metadata.clone()),
            ..Change::default()
        };
        Ok(match found.standing {
            Standing::Ready => Progress::Done(change),
            Standing::Going => Progress::Wait(change, next_look(hand.ctx)),
            Standing::Broken(why) => Progress::Failed(change, Failure::new("ResourceInError", why)),
        })
    }

    async fn alter(&self, ctx: &Ctx<'_>, changed: &[String]) -> Result<Progress, Error> {
        let Some(at) = ctx.row.physical.as_deref() else { return self.begin(ctx).await };
        let hand = Hand::of(ctx).await?;
        if self.noun.find(&hand, at).await?.is_none() {
            return Ok(Progress::Gone);
        }
        self.noun.change(&hand, at, changed).await?;
        self.settle(&hand, at).await
    }

    async fn take_away(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let data = &ctx.body.data;
        let at = match ctx.row.physical.as_deref() {
            Some(at) => Some(at).filter(|_| data.flag(OURS)),
            None => data.text(UNKNOWN),
        };
        let Some(at) = at else { return Ok(Progress::done()) };
        if is_said_by_others(ctx, at, false).await? {
            return Ok(Progress::done());
        }
        let hand = Hand::of(ctx).await?;
        let Some(found) = self.noun.find(&hand, at).await? else {
            return Ok(Progress::done());
        };
        let at = found.at.as_str();
        match self.noun.remove(&hand, at).await {
            Err(error) if error.code != Code::NotFound => return Err(error),
            _ => {}
        }
        Ok(match self.noun.find(&hand, at).await? {
            None => Progress::done(),
            Some(_) => Progress::Wait(Change::default(), next_look(ctx)),
        })
    }

    async fn rest(&self, ctx: &Ctx<'_>, is_paused: bool) -> Result<Progress, Error> {
        let Some(at) = ctx.row.physical.as_deref() else { return Ok(Progress::done()) };
        let hand = Hand::of(ctx).await?;
        self.noun.pause(&hand, at, is_paused).await?;
        self.rested(&hand, at, is_paused).await
    }

    async fn rested(&self, hand: &Hand<'_>, at: &str, is_paused: bool) -> Result<Progress, Error> {
        let found = self.noun.find(hand, at).await?;
        let Some(found) = found else {
            return Ok(Progress::failed("NotFound", gone(&self.schema, at)));
        };
        let is_so = match is_paused {
            true => found.is_paused,
            false => found.standing == Standing::Ready,
        };
        Ok(match (found.standing, is_so) {
            (_, true) => {
                let attributes = Some(found.attributes);
                Progress::Done(Change { attributes, ..Change::default() })
            }
            (Standing::Broken(why), false) if !is_paused => {
                Progress::failed("ResourceInError", why)
            }
            _ => Progress::Wait(Change::default(), next_look(hand.ctx)),
        })
    }

    async fn look_again(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let Some(at) = ctx.row.physical.as_deref() else {
            return match ctx.deed_kind() {
                Some(DeedKind::Create | DeedKind::Update | DeedKind::Adopt) => {
                    self.begin(ctx).await
                }
                Some(DeedKind::Delete) => self.take_away(ctx).await,
                _ => Ok(Progress::done()),
            };
        };
        if ctx.deed_kind() == Some(DeedKind::Delete) {
            return self.take_away(ctx).await;
        }
        let hand = Hand::of(ctx).await?;
        match ctx.deed_kind() {
            Some(DeedKind::Suspend) => self.rested(&hand, at, true).await,
            Some(DeedKind::Resume) => self.rested(&hand, at, false).await,
            _ => self.settle(&hand, at).await,
        }
    }

    async fn examine(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let Some(at) = ctx.row.physical.as_deref() else {
            return Ok(Progress::failed("NotFound", "it was never made"));
        };
        let hand = Hand::of(ctx).await?;
        Ok(match self.noun.find(&hand, at).await? {
            None => Progress::failed("NotFound", gone(&self.schema, at)),
            Some(Found { standing: Standing::Broken(why), .. }) => {
                Progress::failed("ResourceInError", why)
            }
            Some(found) => {
                let attributes = Some(found.attributes);
                Progress::Done(Change { attributes, ..Change::default() })
            }
        })
    }

    async fn take_over(&self, ctx: &Ctx<'_>, left: &Map<String, Value>) -> Result<Progress, Error> {
        let Some(at) = left.text("resource_id") else {
            return Ok(Progress::failed("Error", "Resource ID was not provided."));
        };
        let hand = Hand::of(ctx).await?;
        self.settle(&hand, at).await
    }

    async fn present(&self, ctx: &Ctx<'_>) -> Result<Option<Map<String, Value>>, Error> {
        let Some(at) = ctx.row.physical.as_deref() else { return Ok(None) };
        let hand = Hand::of(ctx).await?;
        let found = self.noun.find(&hand, at).await?;
        let found = found.ok_or_else(|| Error::not_found(&self.schema.type_name, at))?;
        let given = &ctx.body.properties;
        let meant = self.noun.normal(given);
        let mut live = given.clone();
        for (name, value) in found.live {
            let same = meant.get(&name).unwrap_or(&Value::Null) == &value;
            if !same && self.schema.get(&name).is_some() {
                live.insert(name, value);
            }
        }
        let is_state = |(name, _): &(String, Value)| self.schema.get(name).is_none();
        live.extend(found.attributes.into_iter().filter(is_state));
        Ok(Some(live))
    }
}

fn taken(schema: &ResourceSchema, name: &str) -> String {
    let kind = &schema.type_name;
    format!(
        "`{name}` is there already ({kind}), and not of this stack; give another name, or adopt what is there"
    )
}

fn gone(schema: &ResourceSchema, at: &str) -> String {
    format!("`{at}` is not there any more ({})", schema.type_name)
}

/// The longer it takes, the seldomer it is looked at.
pub(in super::super) fn next_look(ctx: &Ctx<'_>) -> Timestamp {
    let (least, most) = LOOKS;
    ctx.now.plus((ctx.now.since(ctx.begun) / 4).clamp(least, most))
}

/// What is wrong with properties becomes a failure that says everything.
pub(in super::super) fn told(result: Result<Progress, Error>) -> Result<Progress, Error> {
    match result {
        Err(error) if error.code == Code::Invalid && !error.errors.is_empty() => {
            let said = error.errors.iter().map(|one| match one.pointer.is_empty() {
                true => one.detail.clone(),
                false => format!("{}: {}", one.pointer, one.detail),
            });
            let said: Vec<String> = said.collect();
            Ok(Progress::failed("StackValidationFailed", said.join("; ")))
        }
        other => other,
    }
}

impl<N: Noun> Plugin for Own<N> {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn is_local(&self) -> bool {
        false
    }

    fn can(&self, kind: DeedKind) -> bool {
        match kind {
            DeedKind::Suspend | DeedKind::Resume => self.noun.pauses(),
            DeedKind::Snapshot => false,
            _ => true,
        }
    }

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        self.noun.problems(given)
    }

    fn is_kept_after_failure(&self, seen: &Seen<'_>) -> bool {
        seen.row.physical.is_some() || seen.body.data.contains_key(UNKNOWN)
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.begin(ctx).await) }.boxed()
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, changed: &'a [String]) -> Doing<'a> {
        async move { told(self.alter(ctx, changed).await) }.boxed()
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.take_away(ctx).await) }.boxed()
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.look_again(ctx).await) }.boxed()
    }

    fn check<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.examine(ctx).await) }.boxed()
    }

    fn suspend<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.rest(ctx, true).await) }.boxed()
    }

    fn resume<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.rest(ctx, false).await) }.boxed()
    }

    fn adopt<'a>(&'a self, ctx: &'a Ctx<'a>, left: &'a Map<String, Value>) -> Doing<'a> {
        async move { told(self.take_over(ctx, left).await) }.boxed()
    }

    fn live_state<'a>(
        &'a self,
        ctx: &'a Ctx<'a>,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        self.present(ctx).boxed()
    }
}
