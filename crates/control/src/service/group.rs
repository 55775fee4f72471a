//! Groups: named sets of principals. What is bound to a group, each of its members holds.
//!
//! Who changes who is in a group gives and takes what is bound to it, so that they must hold all of it
//! themselves.

use hostler_model::{
    Caller, Error, EventKind, Generation, Group, GroupId, GroupPayload, Limit, Name, ObjectKind,
    ObjectRef, Page, RoleName, Scope, Timestamp,
};
use hostler_store::{Conn, Tx};
use serde_json::{Value, json};

use super::access::require_giving;
use super::project::{check_text, settled, taken};
use crate::{Control, Cx, audit_state};

const DESCRIPTION_MAX: usize = 1000;
const MEMBERS_MAX: usize = 1000;

/// A group with who is in it and what they hold through it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupDetail {
    pub group: Group,
    pub members: Vec<Name>,
    /// `None` is the whole installation.
    pub roles: Vec<(RoleName, Option<Name>)>,
}

#[derive(Clone, Debug)]
pub struct NewGroup {
    pub name: Name,
    pub description: String,
    /// Names or ids.
    pub members: Vec<String>,
}

/// What is to be otherwise about a group; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct GroupChange {
    pub description: Option<String>,
    /// On the whole installation; `Some(None)` takes it away.
    pub role: Option<Option<RoleName>>,
}

impl Control {
    pub async fn group_list(
        &self,
        _: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<GroupDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.group_list(after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for group in page.items {
            items.push(detail(&mut read, group).await?);
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn group_get(&self, _: &Cx, name_or_id: &str) -> Result<GroupDetail, Error> {
        let mut read = self.store.read().await?;
        let group = find(&mut read, name_or_id).await?;
        detail(&mut read, group).await
    }

    pub async fn group_create(&self, cx: &Cx, new: NewGroup) -> Result<GroupDetail, Error> {
        check_text("/description", &new.description, 0..=DESCRIPTION_MAX)?;
        if new.members.len() > MEMBERS_MAX {
            return Err(Error::invalid(vec![hostler_model::Diagnostic::new(
                "/members",
                format!("at most {MEMBERS_MAX} at once; add the others afterwards"),
            )]));
        }
        let mut members = Vec::with_capacity(new.members.len());
        for member in &new.members {
            members.push(self.principal_find(member).await?);
        }
        let now = self.now();
        let group = Group {
            id: self.ids.fresh(),
            name: new.name,
            description: new.description,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let object = object(&group);
        let names: Vec<Name> = members.iter().map(|member| member.name.clone()).collect();
        let event = self
            .event(EventKind::GroupCreated, None, &object, cx.actor(), "made")
            .with_payload(GroupPayload { members: Some(names.clone()), ..GroupPayload::default() });
        let audit = self.audit(cx, "group.create", &object, None, json!({ "members": names }));
        let (group_ref, object, event, audit) = (&group, &object, &event, &audit);
        let members = &members;
        let replay = self
            .store
            .tx("group_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Ok(Some(made));
                    }
                    tx.group_insert(group_ref)
                        .await
                        .map_err(|e| taken(e, "group", &group_ref.name))?;
                    for member in members {
                        tx.group_member_add(group_ref.id, member.id).await?;
                    }
                    let after = state(tx, group_ref.id).await?;
                    let audit = audit.clone().with_states(None, after.as_ref());
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    Ok::<_, Error>(None)
                })
            })
            .await?;
        self.feed.ring();
        let id = replay.map_or_else(|| group.id.to_string(), |made| made.id);
        self.group_get(cx, &id).await
    }

    pub async fn group_update(
        &self,
        cx: &Cx,
        name_or_id: &str,
        change: GroupChange,
        expected: Generation,
    ) -> Result<GroupDetail, Error> {
        if let Some(description) = &change.description {
            check_text("/description", description, 0..=DESCRIPTION_MAX)?;
        }
        let mut changed = find(&mut *self.store.read().await?, name_or_id).await?;
        changed.description = change.description.unwrap_or(changed.description);
        changed.time_modified = self.now();
        let object = object(&changed);
        let words = match &change.role {
            None => "described otherwise".to_owned(),
            Some(None) => "no role on the whole installation any more".to_owned(),
            Some(Some(role)) => format!("role {role} on the whole installation"),
        };
        let role = change.role.as_ref();
        let role = role.map(|role| role.as_ref().map(ToString::to_string).unwrap_or_default());
        let event = self
            .event(EventKind::GroupChanged, None, &object, cx.actor(), words)
            .with_payload(GroupPayload { role, ..GroupPayload::default() });
        let told = json!({ "description": changed.description, "role": change.role });
        let audit = self.audit(cx, "group.update", &object, None, told);
        let (changed_ref, event, audit, role) = (&changed, &event, &audit, &change.role);
        self.store
            .tx("group_update", |tx| {
                Box::pin(async move {
                    let before = state(tx, changed_ref.id).await?;
                    settled(
                        tx.group_update(changed_ref, expected).await?,
                        "group",
                        &changed_ref.name,
                    )?;
                    if let Some(role) = role {
                        bind(tx, &cx.caller, changed_ref.id, role.as_ref()).await?;
                    }
                    let after = state(tx, changed_ref.id).await?;
                    let audit = audit.clone().with_states(before.as_ref(), after.as_ref());
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        self.feed.ring();
        self.group_get(cx, &changed.id.to_string()).await
    }

    pub async fn group_member_add(
        &self,
        cx: &Cx,
        name_or_id: &str,
        who: &str,
    ) -> Result<GroupDetail, Error> {
        self.group_member_change(cx, name_or_id, who, true).await
    }

    pub async fn group_member_remove(
        &self,
        cx: &Cx,
        name_or_id: &str,
        who: &str,
    ) -> Result<GroupDetail, Error> {
        self.group_member_change(cx, name_or_id, who, false).await
    }

    async fn group_member_change(
        &self,
        cx: &Cx,
        name_or_id: &str,
        who: &str,
        is_joining: bool,
    ) -> Result<GroupDetail, Error> {
        let group = find(&mut *self.store.read().await?, name_or_id).await?;
        let principal = self.principal_find(who).await?;
        let object = object(&group);
        let (action, words) = match is_joining {
            true => ("group.add", format!("{} is in it", principal.name)),
            false => ("group.remove-member", format!("{} is not in it any more", principal.name)),
        };
        let who = || vec![principal.name.clone()];
        let event = self
            .event(EventKind::GroupChanged, None, &object, cx.actor(), words)
            .with_payload(GroupPayload {
                joined: is_joining.then(who),
                left: (!is_joining).then(who),
                ..GroupPayload::default()
            });
        let audit = self.audit(cx, action, &object, None, json!({ "user": principal.name }));
        let (group_ref, principal, event, audit) = (&group, &principal, &event, &audit);
        self.store
            .tx("group_member_change", |tx| {
                Box::pin(async move {
                    for (scope, role) in tx.group_bindings(group_ref.id).await? {
                        require_giving(tx, &cx.caller, &role, scope).await?;
                    }
                    let before = state(tx, group_ref.id).await?;
                    let is_change = match is_joining {
                        true => tx.group_member_add(group_ref.id, principal.id).await?,
                        false => tx.group_member_remove(group_ref.id, principal.id).await?,
                    };
                    if is_change {
                        touch(tx, group_ref, self.now()).await?;
                        let after = state(tx, group_ref.id).await?;
                        let audit = audit.clone().with_states(before.as_ref(), after.as_ref());
                        tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    } else if !is_joining {
                        return Err(Error::new(
                            hostler_model::Code::NotFound,
                            format!("{} is not in the group {}", principal.name, group_ref.name),
                            format!("`hostler group show {}` says who is", group_ref.name),
                        ));
                    }
                    Ok(())
                })
            })
            .await?;
        self.callers.clear();
        self.feed.ring();
        self.group_get(cx, &group.id.to_string()).await
    }

    pub async fn group_remove(
        &self,
        cx: &Cx,
        name_or_id: &str,
        expected: Generation,
    ) -> Result<(), Error> {
        let group = find(&mut *self.store.read().await?, name_or_id).await?;
        let object = object(&group);
        let event = self
            .event(EventKind::GroupRemoved, None, &object, cx.actor(), "removed")
            .with_payload(GroupPayload::default());
        let audit = self.audit(cx, "group.remove", &object, None, json!({}));
        let (group, event, audit) = (&group, &event, &audit);
        self.store
            .tx("group_remove", |tx| {
                Box::pin(async move {
                    for (scope, role) in tx.group_bindings(group.id).await? {
                        require_giving(tx, &cx.caller, &role, scope).await?;
                    }
                    let before = state(tx, group.id).await?;
                    settled(tx.group_delete(group.id, expected).await?, "group", &group.name)?;
                    let audit = audit.clone().with_states(before.as_ref(), None);
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        self.feed.ring();
        Ok(())
    }
}

/// What audit entries have digests of, with members and roles.
pub(super) async fn state(read: &mut Conn, id: GroupId) -> Result<Option<Value>, Error> {
    let Some(group) = read.group_get(id).await? else { return Ok(None) };
    let members = read.group_members(id).await?;
    let roles = read.group_bindings(id).await?;
    Ok(Some(audit_state::group(&group, &members, &roles)))
}

pub(super) async fn find(read: &mut Conn, name_or_id: &str) -> Result<Group, Error> {
    let found = match (name_or_id.parse::<GroupId>(), name_or_id.parse::<Name>()) {
        (Ok(id), _) => read.group_get(id).await?,
        (_, Ok(name)) => read.group_by_name(&name).await?,
        _ => None,
    };
    found.ok_or_else(|| Error::not_found("group", name_or_id))
}

/// Members or roles are others than before. Fails when the group is gone meanwhile.
pub(super) async fn touch(tx: &mut Tx<'_>, group: &Group, now: Timestamp) -> Result<(), Error> {
    if tx.group_touch(group.id, now).await? {
        return Ok(());
    }
    Err(Error::not_found("group", &group.name))
}

pub(super) fn object(group: &Group) -> ObjectRef {
    ObjectRef::new(ObjectKind::Group, group.id, &group.name)
}

/// Sets or takes the role on the whole installation.
async fn bind(
    tx: &mut Tx<'_>,
    caller: &Caller,
    group: GroupId,
    role: Option<&RoleName>,
) -> Result<(), Error> {
    let bound = tx.group_bindings(group).await?;
    if let Some((scope, before)) = bound.iter().find(|(scope, _)| *scope == Scope::Global) {
        require_giving(tx, caller, before, *scope).await?;
    }
    match role {
        Some(role) => {
            require_giving(tx, caller, role, Scope::Global).await?;
            tx.group_binding_set(group, Scope::Global, role).await?;
        }
        None => {
            tx.group_binding_remove(group, Scope::Global).await?;
        }
    }
    Ok(())
}

async fn detail(read: &mut Conn, group: Group) -> Result<GroupDetail, Error> {
    let members = read.group_members(group.id).await?;
    let mut roles = Vec::new();
    for (scope, role) in read.group_bindings(group.id).await? {
        let project = match scope {
            Scope::Global => None,
            Scope::Project(id) => read.project_get(id).await?.map(|project| project.name),
        };
        roles.push((role, project));
    }
    Ok(GroupDetail { group, members, roles })
}
