//! What is so on a machine: `Hostler::Host::File`, `Directory`, `Package`, `Service`, `User`, `Group`, `Sysctl`, `Cron` and
//! `Command`.
//!
//! A resource is declared to the agent of its node as it stands, and the agent makes the machine be so with the same primitives
//! that workflows use: done again, nothing is done. What is there already is taken over, and what a resource has made or taken
//! over goes with it, unless another resource says that it is to be there. Whoever asks for the stack has to be one who may
//! administer machines.
//!
//! What a resource is on its machine is written down before its node is asked for anything, and only then it is looked whether
//! another resource is removing the same, which is waited for. Whoever removes looks at what is written down, so that either
//! it is left alone, or it is made when it is gone; and what nobody knows of whether it was done is removed all the same.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_engine::stack::Failure;
use hostler_model::host::{HostChange, HostDeed, HostOutcome, HostPrimitive};
use hostler_model::stack::DeedKind;
use hostler_model::{Code, Error, JobState, OperationId, Permission};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::read::Read;
use super::super::{Change, Ctx, Doing, Plugin, Progress, Seen};
use super::hand::Hand;
use super::noun::{next_look, told};
use super::{is_going, is_removing, is_said_by_others, present, since};
use crate::stack::perform::lasting;

/// The property that is not declared to the agent.
const NODE: &str = "node";
/// That a machine was asked, and was at it, stands in what a resource remembers;
const ASKED: &str = "asked";
/// and that a resource was refused before any machine was asked.
const UNTOUCHED: &str = "untouched";

/// One of the types.
struct HostType {
    primitive: HostPrimitive,
    schema: ResourceSchema,
}

/// All of them.
pub(super) fn all() -> Vec<Arc<dyn Plugin>> {
    let of = |primitive: &HostPrimitive| {
        let primitive = *primitive;
        Arc::new(HostType { primitive, schema: schema(primitive) }) as Arc<dyn Plugin>
    };
    HostPrimitive::ALL.iter().map(of).collect()
}

fn called(primitive: HostPrimitive) -> &'static str {
    match primitive {
        HostPrimitive::File | HostPrimitive::Directory => "path",
        HostPrimitive::Package => "packages",
        HostPrimitive::User => "username",
        HostPrimitive::Sysctl => "key",
        HostPrimitive::Command => "command",
        HostPrimitive::Service | HostPrimitive::Group | HostPrimitive::Cron => "name",
    }
}

/// Which property a difference is about.
fn property_of(primitive: HostPrimitive, what: &str) -> &'static str {
    let word = what.split(' ').next().unwrap_or_default();
    match (primitive, word) {
        (HostPrimitive::File | HostPrimitive::Directory, "mode") => "mode",
        (HostPrimitive::File | HostPrimitive::Directory, "owner") => "owner",
        (HostPrimitive::File | HostPrimitive::Directory, "group") => "group",
        (HostPrimitive::File, _) => "content",
        (HostPrimitive::Service, _) if what.ends_with(" at boot") => "enabled",
        (HostPrimitive::Service, _) => "running",
        (HostPrimitive::User, "uid") => "uid",
        (HostPrimitive::User, "home") => "home",
        (HostPrimitive::User, "shell") => "shell",
        (HostPrimitive::User, "comment") => "comment",
        (HostPrimitive::User, "group") => "gid",
        (HostPrimitive::User, _) => "groups",
        (HostPrimitive::Group, _) => "gid",
        (HostPrimitive::Sysctl, _) => "value",
        (HostPrimitive::Cron, _) => "command",
        (HostPrimitive::Command, _) => "check",
        (HostPrimitive::Directory | HostPrimitive::Package, _) => called(primitive),
    }
}

/// What the properties are on the machine, by what would have to be changed; nothing where the object is not there at all.
fn live(
    primitive: HostPrimitive,
    given: &Map<String, Value>,
    outcome: &HostOutcome,
) -> Option<Map<String, Value>> {
    if !outcome.changed {
        return Some(given.clone());
    }
    let is_added = |change: &HostChange| change.before.is_none() && change.after.is_some();
    let is_object = !matches!(primitive, HostPrimitive::Command | HostPrimitive::Service);
    let count = match primitive {
        HostPrimitive::Package => given.list("packages").len(),
        _ => 1,
    };
    let is_missing = outcome.changes.len() >= count && outcome.changes.iter().all(is_added);
    if is_object && is_missing {
        return None;
    }
    let mut live = given.clone();
    let differs = |change: &HostChange| {
        let before =
            change.before.clone().unwrap_or_else(|| format!("({} is not so)", change.what));
        (property_of(primitive, &change.what).to_owned(), Value::String(before))
    };
    live.extend(outcome.changes.iter().map(differs));
    if outcome.changes.is_empty() {
        live.insert(called(primitive).to_owned(), json!(outcome.message));
    }
    Some(live)
}

fn declared(properties: &Map<String, Value>) -> Map<String, Value> {
    let is_meant = |(name, value): &(&String, &Value)| *name != NODE && !value.is_null();
    let own = properties.iter().filter(is_meant);
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}

impl HostType {
    fn deed(&self, properties: &Map<String, Value>, absent: bool) -> HostDeed {
        let declaration = declared(properties);
        HostDeed::Primitive { primitive: self.primitive, declaration, absent }
    }

    /// Which machine, which kind, and which one of it.
    fn physical(&self, properties: &Map<String, Value>) -> String {
        let name = match properties.get(called(self.primitive)) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        };
        format!("{}/{}/{name}", properties.text(NODE).unwrap_or_default(), self.primitive)
    }

    async fn bring(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let hand = Hand::of(ctx).await?;
        hand.need(Permission::NodeAdminister)?;
        let properties = &ctx.wanted.properties;
        let node = properties.text(NODE).unwrap_or_default();
        let physical = self.physical(properties);
        if ctx.row.physical.as_deref() != Some(physical.as_str()) {
            return Ok(Progress::Wait(Change::physical(physical), ctx.now));
        }
        if is_going(ctx, &physical, true).await? {
            return Ok(Progress::Wait(Change::default(), next_look(ctx)));
        }
        let (cx, deed) = (hand.cx("host"), self.deed(properties, false));
        let state = match hand.control.host_primitive(&cx, node, job_of(ctx), deed).await {
            Err(error) => return self.refused(ctx, error),
            Ok(state) => state,
        };
        let change = Change {
            physical: Some(physical),
            metadata: Some(ctx.wanted.metadata.clone()),
            data: Some(Map::new()),
            ..Change::default()
        };
        Ok(match state {
            JobState::Done { content } => {
                let output = content.unwrap_or_default().output;
                Progress::Done(change.attribute("output", output))
            }
            JobState::Failed { why } => {
                Progress::Failed(change, Failure::new("ResourceInError", why))
            }
            JobState::Going { .. } | JobState::Unknown => {
                Progress::Wait(change.data(flag(ASKED)), next_look(ctx))
            }
        })
    }

    /// An error that lasts comes before a machine is asked, or says that nothing was done there.
    fn refused(&self, ctx: &Ctx<'_>, error: Error) -> Result<Progress, Error> {
        let is_first = matches!(ctx.deed_kind(), Some(DeedKind::Create | DeedKind::Adopt));
        match lasting(&error) {
            Some(failure) if is_first && !ctx.body.data.flag(ASKED) => {
                let change = Change::default().data(flag(UNTOUCHED));
                Ok(match told(Err(error)) {
                    Ok(Progress::Failed(_, failure)) => Progress::Failed(change, failure),
                    _ => Progress::Failed(change, failure),
                })
            }
            _ => Err(error),
        }
    }

    async fn take_away(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        // What was never begun with, or is only referred to, is not ours.
        let Some(physical) = ctx.row.physical.as_deref() else { return Ok(Progress::done()) };
        if ctx.body.data.flag(UNTOUCHED)
            || physical != self.physical(&ctx.body.properties)
            || is_said_by_others(ctx, physical, true).await?
        {
            return Ok(Progress::done());
        }
        let hand = Hand::of(ctx).await?;
        hand.need(Permission::NodeAdminister)?;
        let properties = &ctx.body.properties;
        let node = properties.text(NODE).unwrap_or_default();
        let (cx, deed) = (hand.cx("host"), self.deed(properties, true));
        let state = hand.control.host_primitive(&cx, node, job_of(ctx), deed).await;
        Ok(match present(state)? {
            // The machine is gone, and everything on it.
            None | Some(JobState::Done { .. }) => Progress::done(),
            Some(JobState::Failed { why }) => Progress::failed("ResourceInError", why),
            Some(JobState::Going { .. } | JobState::Unknown) => {
                Progress::Wait(Change::default(), next_look(ctx))
            }
        })
    }

    async fn asked(&self, ctx: &Ctx<'_>) -> Result<HostOutcome, Error> {
        let hand = Hand::of(ctx).await?;
        hand.need(Permission::NodeAdminister)?;
        let properties = &ctx.body.properties;
        let node = properties.text(NODE).unwrap_or_default();
        hand.control.host_check(&hand.plain(), node, self.deed(properties, false)).await
    }

    async fn examine(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let outcome = self.asked(ctx).await?;
        if !outcome.changed {
            return Ok(Progress::done());
        }
        let changes: Vec<String> = outcome.changes.iter().map(ToString::to_string).collect();
        let words = match changes.is_empty() {
            true => outcome.message,
            false => changes.join("; "),
        };
        Ok(Progress::failed("ResourceInError", words))
    }
}

fn flag(name: &str) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), Value::Bool(true))])
}

/// What the node knows the deed by: always the same, so that it is begun once.
fn job_of(ctx: &Ctx<'_>) -> OperationId {
    let hash = blake3::hash(ctx.key.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    OperationId::from_uuid(Uuid::from_bytes(bytes))
}

impl Plugin for HostType {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn is_local(&self) -> bool {
        false
    }

    fn can(&self, kind: DeedKind) -> bool {
        !matches!(kind, DeedKind::Suspend | DeedKind::Resume | DeedKind::Snapshot)
    }

    fn is_kept_after_failure(&self, seen: &Seen<'_>) -> bool {
        seen.row.physical.is_some()
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.bring(ctx).await) }.boxed()
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        async move { told(self.bring(ctx).await) }.boxed()
    }

    fn adopt<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a Map<String, Value>) -> Doing<'a> {
        async move { told(self.bring(ctx).await) }.boxed()
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.take_away(ctx).await) }.boxed()
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move {
            told(match is_removing(ctx) {
                true => self.take_away(ctx).await,
                false => self.bring(ctx).await,
            })
        }
        .boxed()
    }

    fn check<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        async move { told(self.examine(ctx).await) }.boxed()
    }

    fn live_state<'a>(
        &'a self,
        ctx: &'a Ctx<'a>,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        async move {
            let outcome = self.asked(ctx).await.map_err(|error| match error.code {
                // The agent says so of a machine that cannot be asked about this, such as one without systemd.
                Code::Conflict => Error::unavailable(error.detail.clone(), error.hint.clone()),
                _ => error,
            })?;
            let live = live(self.primitive, &ctx.body.properties, &outcome);
            let what =
                || Error::not_found(&self.schema.type_name, self.physical(&ctx.body.properties));
            live.map(Some).ok_or_else(what)
        }
        .boxed()
    }
}

fn schema(primitive: HostPrimitive) -> ResourceSchema {
    let text = |about: &str| PropertySchema::new(Kind::Any).described(about).updatable();
    let flag = |about: &str| PropertySchema::new(Kind::Any).described(about).updatable();
    let fixed = |about: &str| PropertySchema::string(about).required();
    let of = |name: &str, about: &str| {
        since(&format!("Hostler::Host::{name}"), about)
            .property(NODE, PropertySchema::string("The node.").required())
    };
    let schema = match primitive {
        HostPrimitive::File => of("File", "A file of a machine.")
            .property("path", fixed("Where it is; absolute."))
            .property("content", text("What is in it; left alone when nothing is said."))
            .property("from", text("Another file of the machine, whose content it has."))
            .property("mode", text("Its permissions, such as `0644`."))
            .property("owner", text("A name or a number."))
            .property("group", text("A name or a number."))
            .property("follow", flag("A symbolic link at the path leads to the file that is meant."))
            .property("parents", flag("Missing directories above are made; yes when nothing is said."))
            .property("secret", PropertySchema::boolean("What is in it does not show in differences.").default(true).updatable()),
        HostPrimitive::Directory => of("Directory", "A directory of a machine.")
            .property("path", fixed("Where it is; absolute."))
            .property("mode", text("Its permissions, such as `0755`."))
            .property("owner", text("A name or a number."))
            .property("group", text("A name or a number."))
            .property("follow", flag("A symbolic link at the path leads to the directory that is meant."))
            .property("recursive", flag("Removing takes what is inside, too.")),
        HostPrimitive::Package => of("Package", "Packages that a machine has.")
            .property("packages", PropertySchema::list("Their names.").required().length(Some(1), None))
            .property("manager", text("Which package manager; the machine's own when nothing is said."))
            .property("update", flag("The lists of packages are fetched anew before something is installed."))
            .property("purge", flag("Removing takes files of the configuration, too.")),
        HostPrimitive::Service => of("Service", "A unit of a machine's service manager. Removing stops and disables it.")
            .property("name", fixed("The unit."))
            .property("running", flag("Whether it runs; left alone when nothing is said."))
            .property("enabled", flag("Whether it starts at boot; left alone when nothing is said.")),
        HostPrimitive::User => of("User", "A user of a machine.")
            .property("username", fixed("The name."))
            .property("password", text("Plain or as a crypt hash, from a hidden parameter."))
            .property("password_update", PropertySchema::string("Whether a password is set of a user that is there, too.").default("on_create").updatable().allowed(["on_create", "always"]))
            .property("uid", text("The number."))
            .property("gid", text("The primary group: a name or a number."))
            .property("home", text("The home."))
            .property("move_home", flag("A home that changes is moved with what is in it."))
            .property("shell", text("The shell."))
            .property("groups", PropertySchema::list("Groups beside the primary one.").updatable())
            .property("exact_groups", flag("It is in no others."))
            .property("comment", text("The full name."))
            .property("system", flag("One of the machine's own."))
            .property("create_home", flag("A new one gets its home made."))
            .property("expiry", text("`YYYY-MM-DD`, or `never`."))
            .property("locked", flag("Nobody comes in with its password."))
            .property("remove_home", flag("Removing takes the home, too.")),
        HostPrimitive::Group => of("Group", "A group of a machine's users.")
            .property("name", fixed("The name."))
            .property("gid", text("The number."))
            .property("system", flag("One of the machine's own.")),
        HostPrimitive::Sysctl => of("Sysctl", "A parameter of a machine's kernel. Removing takes away what made it last, and leaves what the kernel has.")
            .property("key", fixed("The parameter."))
            .property("value", PropertySchema::string("Its value.").required().updatable())
            .property("runtime", flag("The kernel gets it now; yes when nothing is said."))
            .property("persistent", flag("It lasts over a boot."))
            .property("file", PropertySchema::any("Where it is written for that.")),
        HostPrimitive::Cron => of("Cron", "An entry of a user's crontab.")
            .property("name", fixed("What it is called there."))
            .property("schedule", PropertySchema::string("Five fields, or a word such as `@daily`.").required().updatable())
            .property("command", PropertySchema::string("As a crontab has it.").required().updatable())
            .property("user", PropertySchema::any("Whose crontab; the agent's own user's when nothing is said."))
            .property("enabled", flag("Whether it counts; yes when nothing is said.")),
        HostPrimitive::Command => of("Command", "A program that makes something so, and one that says whether it is: it is run only when that does not end with 0.")
            .property("command", PropertySchema::list("The program and its arguments; there is no shell.").required().length(Some(1), None).updatable())
            .property("check", PropertySchema::list("Ends with 0 when nothing is left to do.").required().length(Some(1), None).updatable())
            .property("undo", PropertySchema::list("Run when the resource goes, if the check says that it was done.").updatable())
            .property("timeout", PropertySchema::integer("Seconds that each of them may take.").default(60).range(Some(1), Some(3600)).updatable()),
    };
    schema.attribute(
        "output",
        AttributeSchema::new("The end of what programs said when it was made or changed.")
            .of(Kind::String),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(changes: &[(&str, Option<&str>, Option<&str>)]) -> HostOutcome {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let change = |(what, before, after): &(&str, Option<&str>, Option<&str>)| HostChange {
            what: (*what).to_owned(),
            before: text(*before),
            after: text(*after),
        };
        HostOutcome {
            changed: !changes.is_empty(),
            changes: changes.iter().map(change).collect(),
            ..HostOutcome::default()
        }
    }

    #[test]
    fn differences_are_told_of_the_property_that_they_are_about() {
        use HostPrimitive as P;
        let cases = [
            (P::File, "mode of /etc/x", "mode"),
            (P::File, "/etc/x", "content"),
            (P::Directory, "owner of /srv", "owner"),
            (P::Service, "nginx.service at boot", "enabled"),
            (P::Service, "nginx.service", "running"),
            (P::Group, "gid of group x", "gid"),
            (P::Sysctl, "vm.swappiness", "value"),
            (P::Command, "command touch", "check"),
        ];
        for (primitive, what, property) in cases {
            let given = json!({"path": "/etc/x"}).as_object().unwrap().clone();
            let found = live(primitive, &given, &outcome(&[(what, Some("old"), Some("new"))]));
            assert_eq!(found.unwrap()[property], json!("old"), "{what}");
            assert!(schema(primitive).get(property).is_some(), "{property}");
        }
    }

    #[test]
    fn what_is_not_there_is_missing() {
        let given = json!({"packages": ["a", "b"]}).as_object().unwrap().clone();
        let added = |name| (name, None, Some("installed"));
        let none = outcome(&[added("package a"), added("package b")]);
        assert_eq!(live(HostPrimitive::Package, &given, &none), None);
        let one = live(HostPrimitive::Package, &given, &outcome(&[added("package b")])).unwrap();
        assert_eq!(one["packages"], json!("(package b is not so)"));
        assert_eq!(live(HostPrimitive::Package, &given, &outcome(&[])), Some(given.clone()));
        let command = outcome(&[("command x", None, Some("done"))]);
        assert!(live(HostPrimitive::Command, &given, &command).is_some());
    }
}
