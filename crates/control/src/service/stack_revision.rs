//! Stacks as they were: any two points of a stack's history are compared, and one is gone back to.
//!
//! Going back is a change like any other, towards another definition that says what the former one said; objects become again as it
//! says, and what they were called in the world does not come back.

use hostler_model::stack::{
    DefinitionBody, SnapshotBody, Stack, StackAction, StackChangeKind, StackPoint,
    StackResourceChange, StackStatus, StackValueChange,
};
use hostler_model::{Error, Permission, Project, StackDefinitionId};
use hostler_store::Conn;
use serde_json::{Map, Value};

use super::stack::{check_change, check_reason};
use super::stack_apply::{Base, Turn};
use super::stack_refusal::StackRefusal;
use crate::stack::{Blueprint, Hidden, conceal_all, document, parameters_differ, values_differ};
use crate::{Control, Cx};

/// How two points of a stack's history differ.
#[derive(Clone, Debug)]
pub struct StackComparison {
    pub from: StackPoint,
    pub to: StackPoint,
    pub resources: Vec<StackResourceChange>,
    pub parameters: Vec<StackValueChange>,
    pub outputs: Vec<StackValueChange>,
}

/// A stack at one point.
struct At {
    body: SnapshotBody,
    blueprint: Option<Blueprint>,
}

impl Control {
    /// Compares two points of a stack's history: resources, parameters and outputs.
    pub async fn stack_compare(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        from: StackPoint,
        to: StackPoint,
    ) -> Result<StackComparison, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        let before = self.stack_at(&mut read, &stack, from).await?;
        let after = self.stack_at(&mut read, &stack, to).await?;
        let mut secrets = self.stack_scene(&mut read, stack.clone()).await?.secrets(self);
        for at in [&before, &after] {
            secrets.extend(at.blueprint.iter().flat_map(|it| it.hidden.values()).cloned());
            self.secrets_of_document(&at.body, &mut secrets);
        }
        let hidden = Hidden::of(secrets);
        let mut parameters = parameters_differ(before.blueprint.as_ref(), after.blueprint.as_ref());
        conceal_all(&mut parameters, &hidden);
        Ok(StackComparison {
            from,
            to,
            resources: resources_differ(&before.body, &after.body, &hidden),
            parameters,
            outputs: values_differ(&before.body.outputs, &after.body.outputs, &hidden),
        })
    }

    /// Begins to go back to a snapshot or a revision.
    pub async fn stack_restore(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        point: StackPoint,
        reason: &str,
    ) -> Result<Stack, StackRefusal> {
        check_reason(reason)?;
        let turn = self.stack_restoring(cx, project, name_or_id, point).await?.because(reason);
        self.stack_turn(cx, project, turn).await
    }

    pub(super) async fn stack_restoring(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        point: StackPoint,
    ) -> Result<Turn, StackRefusal> {
        let (mut read, seen) =
            self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        check_change(&seen)?;
        let id = match point {
            StackPoint::Now => {
                let text = "a stack is restored to a revision or a snapshot";
                return Err(StackRefusal::invalid("HTTPBadRequest", "/to", text));
            }
            StackPoint::Revision(number) => {
                let found = read.stack_revision_get(seen.id, number).await?;
                found.ok_or_else(|| missing(point))?.definition
            }
            StackPoint::Snapshot(id) => {
                let found = read.stack_snapshot_get(id).await?;
                let found = found.filter(|one| one.stack_id == seen.id);
                let found = found.ok_or_else(|| missing(point))?;
                if found.status != StackStatus::Complete {
                    let text =
                        format!("The Snapshot ({id}) is not complete, and cannot be restored.");
                    let hint = "take another one, or restore a revision";
                    return Err(StackRefusal::state("NotSupported", text, hint));
                }
                found.definition
            }
        };
        let body = self.stack_definition_body(&mut read, &seen, id).await?;
        let body = body.ok_or_else(|| missing(point))?;
        drop(read);
        let known = self.stack_body(&seen).await?;
        let reason = format!("restored from {point}");
        let mut body = DefinitionBody { left: Map::new(), is_live: false, reason, ..body };
        self.stack_pins_again(project.id, &mut body).await?;
        let options = seen.options.clone();
        let (action, base) = (StackAction::Restore, Base::Any);
        Ok(Turn { seen, known, body, options, action, base, plan: None })
    }

    /// The same definition again, with objects looked at in the world.
    pub(super) async fn stack_fixing(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Turn, StackRefusal> {
        let (_, seen) = self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        check_change(&seen)?;
        let known = self.stack_body(&seen).await?;
        let Some(body) = known.clone() else {
            let text = "a stack without a template has nothing to be put right";
            return Err(StackRefusal::state("NotSupported", text, "update it first"));
        };
        let reason = "drift was put right".to_owned();
        let mut body = DefinitionBody { left: Map::new(), is_live: true, reason, ..body };
        self.stack_pins_again(project.id, &mut body).await?;
        let options = seen.options.clone();
        let (action, base) = (StackAction::Update, Base::Any);
        Ok(Turn { seen, known, body, options, action, base, plan: None })
    }

    /// What a stack was made of.
    pub(super) async fn stack_definition_body(
        &self,
        read: &mut Conn,
        stack: &Stack,
        id: StackDefinitionId,
    ) -> Result<Option<DefinitionBody>, Error> {
        let Some(found) = read.stack_definition_get(id).await? else { return Ok(None) };
        self.stack_key(stack)?.open_definition(id, &found.sealed).map(Some)
    }

    async fn stack_at(
        &self,
        read: &mut Conn,
        stack: &Stack,
        point: StackPoint,
    ) -> Result<At, StackRefusal> {
        let key = self.stack_key(stack)?;
        let (definition, body) = match point {
            StackPoint::Now => {
                let scene = self.stack_scene(read, stack.clone()).await?;
                let outputs = scene.outputs(self);
                (stack.wanted, document(scene.rows.iter(), &scene.bodies, outputs))
            }
            StackPoint::Revision(number) => {
                let found = read.stack_revision_get(stack.id, number).await?;
                let found = found.ok_or_else(|| missing(point))?;
                (Some(found.definition), key.open_revision(number, &found.sealed)?)
            }
            StackPoint::Snapshot(id) => {
                let found = read.stack_snapshot_get(id).await?;
                let found = found.filter(|one| one.stack_id == stack.id);
                let found = found.ok_or_else(|| missing(point))?;
                (Some(found.definition), key.open_snapshot(id, &found.sealed)?)
            }
        };
        let blueprint = match definition {
            Some(id) => self.stack_blueprint(read, stack, &key, id).await?.ok(),
            None => None,
        };
        Ok(At { body, blueprint })
    }
}

fn missing(point: StackPoint) -> StackRefusal {
    match point {
        StackPoint::Snapshot(id) => StackRefusal::missing("Snapshot", &id.to_string()),
        other => StackRefusal::missing("Revision", &other.to_string()),
    }
}

/// Resources of two documents, by name.
fn resources_differ(
    before: &SnapshotBody,
    after: &SnapshotBody,
    hidden: &Hidden,
) -> Vec<StackResourceChange> {
    let gone = before.resources.keys().filter(|name| !after.resources.contains_key(*name));
    let names = after.resources.keys().chain(gone);
    let nothing = Map::new();
    let line = |name: &String| {
        let (was, is) = (before.resources.get(name), after.resources.get(name));
        let text = |it: Option<&Value>, field: &str| {
            it.and_then(|it| it.get(field)).and_then(Value::as_str).map(str::to_owned)
        };
        let map = |it: Option<&Value>| {
            let found = it.and_then(|it| it.get("properties")).and_then(Value::as_object);
            found.cloned().unwrap_or_else(|| nothing.clone())
        };
        let properties = values_differ(&map(was), &map(is), hidden);
        let is_other = |field: &str| text(was, field) != text(is, field);
        let change = match (was, is) {
            (None, _) => StackChangeKind::Create,
            (_, None) => StackChangeKind::Delete,
            _ if is_other("type") || is_other("resource_id") => StackChangeKind::Replace,
            _ if properties.is_empty() => StackChangeKind::Unchanged,
            _ => StackChangeKind::Update,
        };
        StackResourceChange {
            name: name.clone(),
            path: Vec::new(),
            kind: text(is.or(was), "type").unwrap_or_default(),
            change,
            physical: text(is.or(was), "resource_id"),
            is_uncertain: false,
            reason: String::new(),
            properties,
        }
    };
    names.map(line).collect()
}
