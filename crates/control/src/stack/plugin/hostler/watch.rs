//! What waits for something and then does something: `Hostler::Schedule`, `Hostler::Hook` and `Hostler::Watcher`.
//!
//! What they do is done in the name of the stack's owner, who has to be allowed to do it. Suspending a stack pauses them.

use hostler_model::schedule::ScheduleSpec;
use hostler_model::{Error, EventHookSpec, Generation, Permission, WatcherSpec};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde::Serialize;
use serde_json::{Map, Value};

use super::super::read::Read;
use super::super::{Ctx, Given};
use super::hand::{Hand, name_of, named};
use super::noun::{Found, Naming, Noun};
use super::{present, since, spec};

const LEAVE: [&str; 1] = ["name"];
const NAMED: &str = "What it is called; a name of its own when nothing is said.";

fn naming(ctx: &Ctx<'_>) -> Naming {
    match ctx.wanted.properties.text("name").filter(|name| !name.is_empty()) {
        Some(name) => Naming::Given(name.to_owned()),
        None => Naming::Own(name_of(&ctx.seen).to_string()),
    }
}

fn base(type_name: &str, about: &str) -> ResourceSchema {
    since(type_name, about).property("name", PropertySchema::string(NAMED))
}

fn told(schema: ResourceSchema) -> ResourceSchema {
    schema
        .attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
        .attribute("state", AttributeSchema::new("`active` or `paused`.").of(Kind::String))
}

fn found(
    at: String,
    name: &str,
    document: &impl Serialize,
    schema: &ResourceSchema,
    is_paused: bool,
) -> Found {
    let live = spec::live(document, schema, &LEAVE);
    let state = if is_paused { "paused" } else { "active" };
    Found { live, is_paused, ..Found::new(at) }.attribute("name", name).attribute("state", state)
}

pub(super) struct Schedule;

impl Noun for Schedule {
    fn schema(&self) -> ResourceSchema {
        let about = "Something that is done when its time comes, once, at intervals or by a cron expression: exactly one of \
                     `at`, `every` and `cron`.";
        let schema =
            spec::with_fields::<ScheduleSpec>(base("Hostler::Schedule", about), |_, it| Some(it));
        told(schema)
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        naming(ctx)
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::ScheduleRead)?;
        let it = hand.control.schedule_get(&hand.plain(), &hand.project, at).await;
        Ok(present(it)?.map(|detail| {
            let it = detail.schedule;
            let name = it.name.as_str();
            found(it.id.to_string(), name, &it.spec, &self.schema(), it.pause.is_some())
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::ScheduleWrite)?;
        let spec = spec::read(&hand.ctx.wanted.properties, &LEAVE)?;
        let (cx, name) = (hand.cx("apply"), named(name)?);
        let made = hand.control.schedule_apply(&cx, &hand.project, &name, &spec, None).await?;
        Ok(made.0.schedule.id.to_string())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        hand.need(Permission::ScheduleWrite)?;
        let spec = spec::read(&hand.ctx.wanted.properties, &LEAVE)?;
        let known = hand.control.schedule_get(&hand.plain(), &hand.project, at).await?.schedule;
        let cx = hand.cx("apply");
        hand.control.schedule_apply(&cx, &hand.project, &known.name, &spec, None).await?;
        if known.pause.is_some() {
            hand.control.schedule_resume(&hand.cx("resume"), &hand.project, at).await?;
        }
        Ok(())
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::ScheduleWrite)?;
        hand.control.schedule_remove(&hand.plain(), &hand.project, at, None).await
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        spec::normal::<ScheduleSpec>(properties, &LEAVE)
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        spec::problems::<ScheduleSpec>(given.properties, &LEAVE)
    }

    fn pauses(&self) -> bool {
        true
    }

    async fn pause(&self, hand: &Hand<'_>, at: &str, is_paused: bool) -> Result<(), Error> {
        hand.need(Permission::ScheduleWrite)?;
        let reason = format!("the stack {} is suspended", hand.ctx.stack.name);
        let (control, project) = (hand.control, &hand.project);
        match is_paused {
            true => control.schedule_pause(&hand.cx("pause"), project, at, &reason).await?,
            false => control.schedule_resume(&hand.cx("resume"), project, at).await?,
        };
        Ok(())
    }
}

pub(super) struct Hook;

/// Which version a Lua file is kept as is said by the server.
fn without_version(mut fields: Map<String, Value>) -> Map<String, Value> {
    let lua = fields.get_mut("action").and_then(|action| action.get_mut("lua"));
    if let Some(lua) = lua.and_then(Value::as_object_mut) {
        lua.remove("version");
    }
    fields
}

impl Noun for Hook {
    fn schema(&self) -> ResourceSchema {
        let about =
            "Something that is done whenever an event of the project tells of what it waits for.";
        let schema =
            spec::with_fields::<EventHookSpec>(base("Hostler::Hook", about), |name, it| {
                // A hook of a project is in that project.
                (name != "project").then_some(it)
            });
        told(schema)
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        naming(ctx)
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::HookRead)?;
        let it = hand.control.event_hook_get(&hand.plain(), Some(&hand.project), at).await;
        Ok(present(it)?.map(|detail| {
            let it = detail.hook;
            let name = it.name.as_str();
            let told = found(it.name.to_string(), name, &it.spec, &self.schema(), !it.is_enabled);
            Found { live: without_version(told.live), ..told }
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        self.set(hand, name, Generation::ZERO).await
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        let (plain, project) = (hand.plain(), Some(&hand.project));
        let known = hand.control.event_hook_get(&plain, project, at).await?.hook;
        self.set(hand, at, known.generation).await?;
        if !known.is_enabled {
            hand.control.event_hook_enable(&plain, project, at, true).await?;
        }
        Ok(())
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::HookWrite)?;
        let (plain, project) = (hand.plain(), Some(&hand.project));
        let known = hand.control.event_hook_get(&plain, project, at).await?.hook;
        hand.control.event_hook_remove(&plain, project, at, known.generation).await
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        without_version(spec::normal::<EventHookSpec>(properties, &LEAVE))
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        spec::problems::<EventHookSpec>(given.properties, &LEAVE)
    }

    fn pauses(&self) -> bool {
        true
    }

    async fn pause(&self, hand: &Hand<'_>, at: &str, is_paused: bool) -> Result<(), Error> {
        hand.need(Permission::HookWrite)?;
        let project = Some(&hand.project);
        hand.control.event_hook_enable(&hand.plain(), project, at, !is_paused).await.map(drop)
    }
}

impl Hook {
    async fn set(
        &self,
        hand: &Hand<'_>,
        name: &str,
        expected: Generation,
    ) -> Result<String, Error> {
        hand.need(Permission::HookWrite)?;
        let spec: EventHookSpec = spec::read(&hand.ctx.wanted.properties, &LEAVE)?;
        let (cx, name, project) = (hand.cx("set"), named(name)?, Some(&hand.project));
        let set = Box::pin(hand.control.event_hook_set(&cx, project, &name, spec, expected));
        Ok(set.await?.hook.name.to_string())
    }
}

pub(super) struct Watcher;

impl Noun for Watcher {
    fn schema(&self) -> ResourceSchema {
        let about = "Something that nodes look at, and tell of when it is so: a file, a process, a port, a load, a certificate.";
        let schema =
            spec::with_fields::<WatcherSpec>(base("Hostler::Watcher", about), |_, it| Some(it));
        told(schema)
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        naming(ctx)
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::WatcherRead)?;
        let it = hand.control.watcher_get(&hand.project, at).await;
        Ok(present(it)?.map(|detail| {
            let it = detail.watcher;
            let name = it.name.as_str();
            found(it.id.to_string(), name, &it.spec, &self.schema(), !it.is_enabled)
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::WatcherWrite)?;
        let spec = spec::read(&hand.ctx.wanted.properties, &LEAVE)?;
        let (cx, name) = (hand.cx("apply"), named(name)?);
        let made = hand.control.watcher_apply(&cx, &hand.project, &name, &spec, None).await?;
        Ok(made.0.watcher.id.to_string())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        hand.need(Permission::WatcherWrite)?;
        let spec = spec::read(&hand.ctx.wanted.properties, &LEAVE)?;
        let known = hand.control.watcher_get(&hand.project, at).await?.watcher;
        let cx = hand.cx("apply");
        hand.control.watcher_apply(&cx, &hand.project, &known.name, &spec, None).await?;
        if !known.is_enabled {
            hand.control.watcher_enable(&hand.cx("enable"), &hand.project, at, true).await?;
        }
        Ok(())
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::WatcherWrite)?;
        hand.control.watcher_remove(&hand.plain(), &hand.project, at).await
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        spec::normal::<WatcherSpec>(properties, &LEAVE)
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        spec::problems::<WatcherSpec>(given.properties, &LEAVE)
    }

    fn pauses(&self) -> bool {
        true
    }

    async fn pause(&self, hand: &Hand<'_>, at: &str, is_paused: bool) -> Result<(), Error> {
        hand.need(Permission::WatcherWrite)?;
        let cx = hand.cx(if is_paused { "disable" } else { "enable" });
        hand.control.watcher_enable(&cx, &hand.project, at, !is_paused).await.map(drop)
    }
}
