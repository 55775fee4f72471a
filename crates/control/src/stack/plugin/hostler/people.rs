//! Who may do what: `Hostler::Project`, `Hostler::Group`, `Hostler::Role`, `Hostler::RoleBinding`, `Hostler::User` and
//! `Hostler::ServiceAccount`.
//!
//! Nobody gives more than they hold, and so does no stack: the services ask it of the stack's owner.

use std::collections::BTreeSet;

use hostler_model::{
    Diagnostic, Error, Limit, Name, Permission, PermissionSet, PrincipalKind, Project as Record,
    Quota, RoleName,
};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use hostler_trust::SecretString;
use serde_json::{Map, Value, json};

use super::super::Ctx;
use super::super::read::Read;
use super::hand::{Hand, name_of, named};
use super::noun::{Found, Naming, Noun};
use super::{present, since};
use crate::{
    GroupChange, NewGroup, NewRole, NewUser, ProjectChange, RoleChange, RoleDetail, UserPatch,
};

const NAMED: &str = "What it is called; a name of its own when nothing is said.";
const DESCRIBED: &str = "What it is for, in words.";

fn naming(ctx: &Ctx<'_>) -> Naming {
    match ctx.wanted.properties.text("name").filter(|name| !name.is_empty()) {
        Some(name) => Naming::Given(name.to_owned()),
        None => Naming::Own(name_of(&ctx.seen).to_string()),
    }
}

fn description(properties: &Map<String, Value>) -> String {
    properties.text("description").unwrap_or_default().to_owned()
}

fn owned(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

pub(super) struct Project;

fn change(properties: &Map<String, Value>) -> Result<ProjectChange, Error> {
    let wrong = |at: &str, text: String| Error::invalid(vec![Diagnostic::new(at, text)]);
    let quota = match properties.get("quota") {
        None | Some(Value::Null) => None,
        Some(given) => {
            let quota: Result<Quota, _> = serde_json::from_value(given.clone());
            Some(quota.map_err(|error| wrong("/quota", error.to_string()))?)
        }
    };
    let weight = properties.get("weight").filter(|weight| !weight.is_null());
    let weight = weight.map(|weight| {
        let number = weight.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| wrong("/weight", "a weight is a whole number".to_owned()))
    });
    Ok(ProjectChange {
        description: Some(description(properties)),
        weight: weight.transpose()?,
        quota,
    })
}

/// A project that the owner may see; of others it is not told that they are there.
async fn seen_project(hand: &Hand<'_>, at: &str) -> Result<Record, Error> {
    let found = hand.control.project_resolve(at).await?;
    match hand.need_in(&found, Permission::ProjectRead) {
        Ok(()) => Ok(found),
        Err(_) => Err(Error::not_found("project", at)),
    }
}

impl Noun for Project {
    fn schema(&self) -> ResourceSchema {
        let about = "A project of its own, for other workloads, people and quotas. It is removed when nothing is left in it.";
        since("Hostler::Project", about)
            .property("name", PropertySchema::string(NAMED))
            .property("description", PropertySchema::string(DESCRIBED).default("").updatable())
            .property(
                "weight",
                PropertySchema::any("Its share of what is scarce, beside the weights of others.")
                    .updatable(),
            )
            .property(
                "quota",
                PropertySchema::any(
                    "What it may have at most, such as `{cores: 8, memory: 16GiB, workloads: 20}`.",
                )
                .updatable(),
            )
            .attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        naming(ctx)
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        Ok(present(seen_project(hand, at).await)?.map(|it| {
            Found::new(it.id.to_string())
                .live("description", it.description)
                .live("weight", it.weight)
                .live("quota", json!(it.quota))
                .attribute("name", it.name.as_str())
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::ProjectCreate)?;
        let change = change(&hand.ctx.wanted.properties)?;
        let made = hand.control.project_create(&hand.cx("create"), named(name)?, change).await?;
        Ok(made.id.to_string())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, changed: &[String]) -> Result<(), Error> {
        let known = seen_project(hand, at).await?;
        hand.need_in(&known, Permission::ProjectUpdate)?;
        let all = change(&hand.ctx.wanted.properties)?;
        let is_meant = |name: &str| changed.iter().any(|one| one == name);
        let change = ProjectChange {
            description: all.description,
            weight: all.weight.or(is_meant("weight").then_some(1)),
            quota: all.quota.or_else(|| is_meant("quota").then(Quota::default)),
        };
        let expected = known.generation;
        hand.control.project_update(&hand.plain(), &known, change, expected).await.map(drop)
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::ProjectRemove)?;
        let known = seen_project(hand, at).await?;
        hand.control.project_remove(&hand.plain(), &known, known.generation).await
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        let Ok(change) = change(properties) else { return properties.clone() };
        let mut normal = properties.clone();
        normal.insert("weight".to_owned(), json!(change.weight.unwrap_or(1)));
        normal.insert("quota".to_owned(), json!(change.quota.unwrap_or_default()));
        normal
    }
}

pub(super) struct Group;

impl Noun for Group {
    fn schema(&self) -> ResourceSchema {
        let about =
            "A set of people and service accounts; what is bound to it, each of them holds.";
        since("Hostler::Group", about)
            .property("name", PropertySchema::string(NAMED))
            .property("description", PropertySchema::string(DESCRIBED).default("").updatable())
            .property(
                "members",
                PropertySchema::list("Names of users and service accounts; nobody else is in it.")
                    .default(json!([]))
                    .updatable(),
            )
            .attribute(
                "name",
                AttributeSchema::new("What it is called; roles are bound to `group:NAME`.")
                    .of(Kind::String),
            )
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        naming(ctx)
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::GroupRead)?;
        Ok(present(hand.control.group_get(&hand.plain(), at).await)?.map(|it| {
            let members: BTreeSet<&str> = it.members.iter().map(Name::as_str).collect();
            Found::new(it.group.id.to_string())
                .live("description", it.group.description.as_str())
                .live("members", json!(members))
                .attribute("name", it.group.name.as_str())
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::GroupCreate)?;
        let properties = &hand.ctx.wanted.properties;
        let new = NewGroup {
            name: named(name)?,
            description: description(properties),
            members: owned(properties.texts("members")),
        };
        let made = hand.control.group_create(&hand.cx("create"), new).await?;
        Ok(made.group.id.to_string())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        hand.need(Permission::GroupUpdate)?;
        let (plain, properties) = (hand.plain(), &hand.ctx.wanted.properties);
        let known = hand.control.group_get(&plain, at).await?;
        let wanted: BTreeSet<&str> = properties.texts("members").into_iter().collect();
        let present: BTreeSet<&str> = known.members.iter().map(Name::as_str).collect();
        for name in wanted.difference(&present) {
            hand.control.group_member_add(&plain, at, name).await?;
        }
        for name in present.difference(&wanted) {
            hand.control.group_member_remove(&plain, at, name).await?;
        }
        let known = hand.control.group_get(&plain, at).await?;
        if known.group.description == description(properties) {
            return Ok(());
        }
        let change = GroupChange { description: Some(description(properties)), role: None };
        let expected = known.group.generation;
        hand.control.group_update(&plain, at, change, expected).await.map(drop)
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::GroupRemove)?;
        let plain = hand.plain();
        let known = hand.control.group_get(&plain, at).await?;
        hand.control.group_remove(&plain, at, known.group.generation).await
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        let members: BTreeSet<&str> = properties.texts("members").into_iter().collect();
        let mut normal = properties.clone();
        normal.insert("members".to_owned(), json!(members));
        normal
    }
}

pub(super) struct Role;

impl Noun for Role {
    fn schema(&self) -> ResourceSchema {
        let about = "A set of permissions that can be given to people, groups and what runs. Nobody makes one that allows more than they hold.";
        since("Hostler::Role", about)
            .property("name", PropertySchema::string(NAMED))
            .property("description", PropertySchema::string(DESCRIBED).default("").updatable())
            .property(
                "permissions",
                PropertySchema::list(
                    "What it allows: `task.read`, or `task.*` for all of an object.",
                )
                .required()
                .length(Some(1), Some(200))
                .updatable(),
            )
            .attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        naming(ctx)
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::RoleRead)?;
        Ok(match present(hand.control.role_get(&hand.plain(), at).await)? {
            Some(RoleDetail::Custom(it)) => Some(
                Found::new(it.name.as_str())
                    .live("description", it.description.as_str())
                    .live("permissions", it.permissions.words())
                    .attribute("name", it.name.as_str()),
            ),
            // One that is built in is nobody's.
            Some(RoleDetail::BuiltIn(it)) => Some(Found::new(it.label())),
            None => None,
        })
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::RoleCreate)?;
        let properties = &hand.ctx.wanted.properties;
        let new = NewRole {
            name: named(name)?,
            description: description(properties),
            permissions: owned(properties.texts("permissions")),
        };
        Ok(hand.control.role_create(&hand.cx("create"), new).await?.name.to_string())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        hand.need(Permission::RoleUpdate)?;
        let (plain, properties) = (hand.plain(), &hand.ctx.wanted.properties);
        let RoleDetail::Custom(known) = hand.control.role_get(&plain, at).await? else {
            return Err(Error::not_found("role", at));
        };
        let change = RoleChange {
            description: Some(description(properties)),
            permissions: Some(owned(properties.texts("permissions"))),
        };
        hand.control.role_update(&plain, at, change, known.generation).await.map(drop)
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::RoleRemove)?;
        let plain = hand.plain();
        let RoleDetail::Custom(known) = hand.control.role_get(&plain, at).await? else {
            return Err(Error::not_found("role", at));
        };
        hand.control.role_remove(&plain, at, known.generation).await
    }

    fn normal(&self, properties: &Map<String, Value>) -> Map<String, Value> {
        let given = owned(properties.texts("permissions"));
        let mut normal = properties.clone();
        if let Ok(set) = PermissionSet::read(&given) {
            normal.insert("permissions".to_owned(), json!(set.words()));
        }
        normal
    }
}

/// That somebody holds a role in a project. Found by `PROJECT/WHO`.
pub(super) struct RoleBinding;

impl RoleBinding {
    async fn held(hand: &Hand<'_>, at: &str) -> Result<Option<(Record, RoleName)>, Error> {
        let (project, who) = at.split_once('/').unwrap_or(("", at));
        let Some(project) = present(seen_project(hand, project).await)? else {
            return Ok(None);
        };
        hand.need_in(&project, Permission::MemberRead)?;
        let (cx, mut after) = (hand.plain(), None::<String>);
        loop {
            let page = hand.control.member_list(&cx, &project, after.as_deref(), Limit::LARGEST);
            let page = page.await?;
            let is_meant =
                |one: &hostler_store::Member| one.subject.to_string() == who || one.id == who;
            if let Some(found) = page.items.into_iter().find(is_meant) {
                return Ok(Some((project, found.role)));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(None),
            }
        }
    }

    async fn set(hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        let (project, who) = at.split_once('/').unwrap_or(("", at));
        let project = seen_project(hand, project).await?;
        hand.need_in(&project, Permission::MemberSet)?;
        let role = hand.ctx.wanted.properties.text("role").unwrap_or_default();
        let role: RoleName = role.parse().map_err(|error: hostler_model::ParseNameError| {
            Error::invalid(vec![Diagnostic::new("/role", error.to_string())])
        })?;
        hand.control.member_set(&hand.plain(), &project, who, role).await.map(drop)
    }
}

impl Noun for RoleBinding {
    fn schema(&self) -> ResourceSchema {
        let about = "That a user, a service account or a group holds a role in a project.";
        since("Hostler::RoleBinding", about)
            .property(
                "subject",
                PropertySchema::string(
                    "Who: the name of a user or service account, or `group:NAME`.",
                )
                .required(),
            )
            .property(
                "role",
                PropertySchema::string("The role: a built-in one, or a custom one by its name.")
                    .required()
                    .updatable(),
            )
            .property(
                "project",
                PropertySchema::string(
                    "In which project; in that of the stack when nothing is said.",
                ),
            )
            .attribute("role", AttributeSchema::new("The role that is held.").of(Kind::String))
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        let properties = &ctx.wanted.properties;
        let own = ctx.stack.project_id.to_string();
        let project = properties.text("project").filter(|name| !name.is_empty()).unwrap_or(&own);
        Naming::Given(format!("{project}/{}", properties.text("subject").unwrap_or_default()))
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        Ok(RoleBinding::held(hand, at).await?.map(|(_, role)| {
            Found::new(at).live("role", role.as_str()).attribute("role", role.as_str())
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        RoleBinding::set(hand, name).await?;
        Ok(name.to_owned())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, _: &[String]) -> Result<(), Error> {
        RoleBinding::set(hand, at).await
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        let Some((project, _)) = RoleBinding::held(hand, at).await? else { return Ok(()) };
        hand.need_in(&project, Permission::MemberRemove)?;
        let who = at.split_once('/').map_or(at, |(_, who)| who);
        hand.control.member_remove(&hand.plain(), &project, who).await
    }
}

/// Somebody who logs in, or a program that has tokens.
pub(super) struct Account {
    kind: PrincipalKind,
}

impl Account {
    pub(super) fn user() -> Account {
        Account { kind: PrincipalKind::User }
    }

    pub(super) fn service() -> Account {
        Account { kind: PrincipalKind::Service }
    }

    fn role(properties: &Map<String, Value>) -> Result<Option<RoleName>, Error> {
        let role = properties.text("role").filter(|role| !role.is_empty());
        role.map(str::parse).transpose().map_err(|error: hostler_model::ParseNameError| {
            Error::invalid(vec![Diagnostic::new("/role", error.to_string())])
        })
    }
}

impl Noun for Account {
    fn schema(&self) -> ResourceSchema {
        let is_user = self.kind == PrincipalKind::User;
        let (name, about) = match is_user {
            true => ("Hostler::User", "Somebody who logs in with a password."),
            false => (
                "Hostler::ServiceAccount",
                "An account for a program, which has tokens and no password.",
            ),
        };
        let mut schema = since(name, about)
            .property("name", PropertySchema::string(NAMED))
            .property(
                "role",
                PropertySchema::string(
                    "Held on the whole installation; in projects there are role bindings.",
                )
                .default("")
                .updatable(),
            )
            .property(
                "disabled",
                PropertySchema::boolean("Nobody comes in with it.").default(false).updatable(),
            );
        if is_user {
            let about = "The password, from a hidden parameter; a change ends every session.";
            schema = schema.property(
                "password",
                PropertySchema::string(about).required().secret().updatable(),
            );
        }
        schema.attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        naming(ctx)
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::UserRead)?;
        Ok(present(hand.control.user_get(&hand.plain(), at).await)?.map(|it| {
            let role = it.role.as_ref().map_or("", RoleName::as_str).to_owned();
            Found::new(it.principal.id.to_string())
                .live("role", role)
                .live("disabled", it.principal.is_disabled)
                .attribute("name", it.principal.name.as_str())
        }))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::UserCreate)?;
        let properties = &hand.ctx.wanted.properties;
        let new = NewUser {
            name: named(name)?,
            kind: self.kind,
            password: properties.text("password").map(SecretString::new),
            role: Account::role(properties)?,
        };
        let made = hand.control.user_create(&hand.cx("create"), new).await?.principal;
        if properties.flag("disabled") {
            hand.need(Permission::UserUpdate)?;
            let patch = UserPatch { is_disabled: Some(true), ..UserPatch::default() };
            let (plain, at) = (hand.plain(), made.id.to_string());
            hand.control.user_update(&plain, &at, patch, made.generation).await?;
        }
        Ok(made.id.to_string())
    }

    async fn change(&self, hand: &Hand<'_>, at: &str, changed: &[String]) -> Result<(), Error> {
        hand.need(Permission::UserUpdate)?;
        let (plain, properties) = (hand.plain(), &hand.ctx.wanted.properties);
        let known = hand.control.user_get(&plain, at).await?;
        let is_meant = |name: &str| changed.iter().any(|one| one == name);
        let password = properties.text("password").filter(|_| is_meant("password"));
        let role = Account::role(properties)?;
        let patch = UserPatch {
            is_disabled: Some(properties.flag("disabled")),
            password: password.map(SecretString::new),
            role: (role != known.role).then_some(role),
        };
        let expected = known.principal.generation;
        hand.control.user_update(&plain, at, patch, expected).await.map(drop)
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::UserRemove)?;
        let plain = hand.plain();
        let known = hand.control.user_get(&plain, at).await?.principal;
        hand.control.user_remove(&plain, at, known.generation).await
    }
}
