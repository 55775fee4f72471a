//! Custom roles: named sets of permissions, bound like the built-in ones.
//!
//! A role is known to its bindings by its name, so a name never changes, and a role that somebody holds
//! is not removed. What a role allows can change at any time, and counts from the next request of
//! everybody who holds it.

use hostler_model::{
    CustomRole, Diagnostic, Error, EventKind, Generation, Limit, Name, ObjectKind, ObjectRef, Page,
    PermissionSet, Role, RoleName, RolePayload, Scope, Subject,
};
use serde_json::json;

use super::access::require_holding;
use super::project::{check_text, settled, taken};
use crate::{Control, Cx, audit_state};

const DESCRIPTION_MAX: usize = 1000;
const PATTERNS_MAX: usize = 200;
/// How many holders an error names.
const HOLDERS_TOLD: usize = 5;

/// A role as it is shown: built in, or made by somebody.
#[derive(Clone, Debug, PartialEq)]
pub enum RoleDetail {
    BuiltIn(Role),
    Custom(CustomRole),
}

#[derive(Clone, Debug)]
pub struct NewRole {
    pub name: Name,
    pub description: String,
    /// As people write permissions.
    pub permissions: Vec<String>,
}

/// What is to be otherwise about a role; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct RoleChange {
    pub description: Option<String>,
    pub permissions: Option<Vec<String>>,
}

/// Somebody who holds a role, and in which project; `None` is the whole installation.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleHolder {
    pub holder: Subject,
    pub project: Option<Name>,
}

impl Control {
    /// The built-in ones first, then the custom ones by name.
    pub async fn role_list(
        &self,
        _: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<RoleDetail>, Error> {
        let (told, name) = match after {
            None => (0, None),
            Some(after) => match after.strip_prefix("built-in:") {
                Some(count) => (count.parse::<usize>().unwrap_or(Role::ALL.len()), None),
                None => (Role::ALL.len(), Some(after)),
            },
        };
        let most = limit.get() as usize;
        let mut items: Vec<RoleDetail> =
            Role::ALL.iter().skip(told).take(most).map(|role| RoleDetail::BuiltIn(*role)).collect();
        let room = u32::try_from(most - items.len()).ok().and_then(Limit::new);
        let Some(room) = room else {
            let next = Some(format!("built-in:{}", told + items.len()));
            return Ok(Page { items, next });
        };
        let page = self.store.read().await?.custom_role_list(name, room).await?;
        items.extend(page.items.into_iter().map(RoleDetail::Custom));
        Ok(Page { items, next: page.next })
    }

    pub async fn role_get(&self, _: &Cx, name: &str) -> Result<RoleDetail, Error> {
        match name.parse::<RoleName>() {
            Ok(RoleName::BuiltIn(role)) => Ok(RoleDetail::BuiltIn(role)),
            Ok(RoleName::Custom(name)) => self.role_find(&name).await.map(RoleDetail::Custom),
            Err(_) => Err(Error::not_found("role", name)),
        }
    }

    /// Who holds a role by a binding, of their own or of a group.
    pub async fn role_holders(&self, cx: &Cx, name: &str) -> Result<Vec<RoleHolder>, Error> {
        let role = match self.role_get(cx, name).await? {
            RoleDetail::BuiltIn(role) => RoleName::BuiltIn(role),
            RoleDetail::Custom(role) => RoleName::Custom(role.name),
        };
        let mut read = self.store.read().await?;
        let mut holders = Vec::new();
        for (holder, scope) in read.role_holders(&role).await? {
            let project = match scope {
                Scope::Global => None,
                Scope::Project(id) => read.project_get(id).await?.map(|project| project.name),
            };
            holders.push(RoleHolder { holder, project });
        }
        Ok(holders)
    }

    pub async fn role_create(&self, cx: &Cx, new: NewRole) -> Result<CustomRole, Error> {
        check_text("/description", &new.description, 0..=DESCRIPTION_MAX)?;
        check_name(&new.name)?;
        let permissions = read_permissions(&new.permissions)?;
        require_holding(&cx.caller, "the new role", permissions, Scope::Global)?;
        let now = self.now();
        let role = CustomRole {
            id: self.ids.fresh(),
            name: new.name,
            description: new.description,
            permissions,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let object = ObjectRef::new(ObjectKind::Role, role.id, &role.name);
        let words = format!("made; allows {}", permissions.words());
        let event = self
            .event(EventKind::RoleCreated, None, &object, cx.actor(), words)
            .with_payload(RolePayload { permissions: Some(permissions), ..RolePayload::default() });
        let detail = json!({ "permissions": permissions });
        let audit = self
            .audit(cx, "role.create", &object, None, detail)
            .with_states(None, Some(&audit_state::role(&role)));
        let (role_ref, object, event, audit) = (&role, &object, &event, &audit);
        let replay = self
            .store
            .tx("role_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Ok(Some(made));
                    }
                    tx.custom_role_insert(role_ref)
                        .await
                        .map_err(|e| taken(e, "role", &role_ref.name))?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(None)
                })
            })
            .await?;
        self.feed.ring();
        match replay {
            Some(made) => {
                let name = made.name.parse().map_err(|_| Error::not_found("role", &made.name))?;
                self.role_find(&name).await
            }
            None => Ok(role),
        }
    }

    /// Nobody adds to a role, or takes from it, what they do not hold on the whole installation: it can
    /// be held anywhere.
    pub async fn role_update(
        &self,
        cx: &Cx,
        name: &str,
        change: RoleChange,
        expected: Generation,
    ) -> Result<CustomRole, Error> {
        if let Some(description) = &change.description {
            check_text("/description", description, 0..=DESCRIPTION_MAX)?;
        }
        let current = self.role_custom(name).await?;
        let permissions = match &change.permissions {
            Some(given) => read_permissions(given)?,
            None => current.permissions,
        };
        let added = permissions.without(current.permissions);
        let gone = current.permissions.without(permissions);
        let touched = added.union(gone);
        require_holding(&cx.caller, "what changes of the role", touched, Scope::Global)?;
        let mut changed = current.clone();
        changed.description = change.description.unwrap_or(changed.description);
        changed.permissions = permissions;
        changed.generation = expected.next();
        changed.time_modified = self.now();
        let object = ObjectRef::new(ObjectKind::Role, changed.id, &changed.name);
        let words = change_words(added, gone);
        let event = self
            .event(EventKind::RoleChanged, None, &object, cx.actor(), words)
            .with_payload(RolePayload {
                permissions: Some(permissions),
                added: Some(added),
                removed: Some(gone),
            });
        let detail = json!({
            "description": changed.description,
            "permissions": permissions,
            "added": added,
            "removed": gone,
        });
        let (before, after) = (audit_state::role(&current), audit_state::role(&changed));
        let audit = self
            .audit(cx, "role.update", &object, None, detail)
            .with_states(Some(&before), Some(&after));
        let (changed_ref, event, audit) = (&changed, &event, &audit);
        self.store
            .tx("role_update", |tx| {
                Box::pin(async move {
                    settled(
                        tx.custom_role_update(changed_ref, expected).await?,
                        "role",
                        &changed_ref.name,
                    )?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        self.feed.ring();
        Ok(changed)
    }

    pub async fn role_remove(
        &self,
        cx: &Cx,
        name: &str,
        expected: Generation,
    ) -> Result<(), Error> {
        let role = self.role_custom(name).await?;
        let object = ObjectRef::new(ObjectKind::Role, role.id, &role.name);
        let event =
            self.event(EventKind::RoleRemoved, None, &object, cx.actor(), "removed").with_payload(
                RolePayload { permissions: Some(role.permissions), ..RolePayload::default() },
            );
        let audit = self
            .audit(cx, "role.remove", &object, None, json!({}))
            .with_states(Some(&audit_state::role(&role)), None);
        let (role, event, audit) = (&role, &event, &audit);
        self.store
            .tx("role_remove", |tx| {
                Box::pin(async move {
                    let named = RoleName::Custom(role.name.clone());
                    let holders = tx.role_holders(&named).await?;
                    if !holders.is_empty() {
                        return Err(still_held(&role.name, &holders));
                    }
                    settled(tx.custom_role_delete(role, expected).await?, "role", &role.name)?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        self.feed.ring();
        Ok(())
    }

    async fn role_find(&self, name: &Name) -> Result<CustomRole, Error> {
        let found = self.store.read().await?.custom_role_by_name(name).await?;
        found.ok_or_else(|| Error::not_found("role", name))
    }

    /// One that can be changed.
    async fn role_custom(&self, name: &str) -> Result<CustomRole, Error> {
        match name.parse::<RoleName>() {
            Ok(RoleName::Custom(name)) => self.role_find(&name).await,
            Ok(RoleName::BuiltIn(role)) => Err(Error::conflict(
                format!("the role {role} is built in and stays as it is"),
                "make a role of your own with `hostler role create`",
            )),
            Err(_) => Err(Error::not_found("role", name)),
        }
    }
}

/// Names that mean something else already.
fn check_name(name: &Name) -> Result<(), Error> {
    if name.as_str().parse::<Role>().is_ok() {
        return Err(Error::already_exists("role", name));
    }
    if name.as_str() == "none" {
        let text = "`none` stands for no role; choose another name";
        return Err(Error::invalid(vec![Diagnostic::new("/name", text)]));
    }
    Ok(())
}

fn read_permissions(given: &[String]) -> Result<PermissionSet, Error> {
    if !(1..=PATTERNS_MAX).contains(&given.len()) {
        let text =
            format!("a role has 1 to {PATTERNS_MAX} permissions, such as task.read or task.*");
        return Err(Error::invalid(vec![Diagnostic::new("/permissions", text)]));
    }
    PermissionSet::read(given).map_err(|error| {
        let pointer = format!("/permissions/{}", error.index);
        Error::invalid(vec![Diagnostic::new(pointer, error.to_string())])
    })
}

fn change_words(added: PermissionSet, gone: PermissionSet) -> String {
    match (added.is_empty(), gone.is_empty()) {
        (true, true) => "described otherwise".to_owned(),
        (false, true) => format!("allows {} too", added.words()),
        (true, false) => format!("does not allow {} any more", gone.words()),
        (false, false) => {
            format!("allows {} too, and {} no more", added.words(), gone.words())
        }
    }
}

fn still_held(role: &Name, holders: &[(Subject, Scope)]) -> Error {
    let mut who: Vec<String> = holders.iter().map(|(holder, _)| holder.to_string()).collect();
    who.dedup();
    let more = who.len().saturating_sub(HOLDERS_TOLD);
    who.truncate(HOLDERS_TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Error::conflict(
        format!("the role {role} is held by {}{more}", who.join(", ")),
        format!("give them another role first; `hostler role show {role}` says where they hold it"),
    )
}
