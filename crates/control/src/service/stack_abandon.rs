//! Stacks leave and come as documents: exported, abandoned with everything that they have made left where it is, and adopted.

use std::collections::HashMap;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_engine::stack::Happening;
use hostler_model::stack::{
    DefinitionBody, Stack, StackAction, StackName, StackOptions, StackStanding,
};
use hostler_model::{
    Error, EventKind, Permission, Project, StackId, StackResourceId, StackSnapshotId,
};
use hostler_store::{Conn, StackChange, Tx};
use serde_json::{Map, Value, json};

use super::stack::{StackAsk, check_top};
use super::stack_action::check_rest;
use super::stack_approval::StackDeed;
use super::stack_form::StackForm;
use super::stack_refusal::StackRefusal;
use crate::stack::{Stage, as_heat, exported, stack_object, whole};
use crate::{Control, Cx, audit_state};

/// What another stack left is taken over.
#[derive(Clone, Debug)]
pub struct StackAdopt {
    pub name: StackName,
    /// An exported document, or its text.
    pub document: Value,
    /// What is said here counts instead of what the document says.
    pub form: StackForm,
    pub options: StackOptions,
    /// Why; it stands at the revision.
    pub reason: String,
}

impl Control {
    /// A stack as a document: what it is made of, and its resources. It has secrets.
    pub async fn stack_export(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Value, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        let stage = self.stack_stage(&mut read, stack).await?;
        Ok(self.stack_exported(&mut read, &stage).await?)
    }

    async fn stack_exported(&self, read: &mut Conn, stage: &Stage) -> Result<Value, Error> {
        let mut bodies = HashMap::new();
        self.stack_bodies(read, stage, &mut bodies).await?;
        Ok(whole(stage, &bodies))
    }

    fn stack_bodies<'a>(
        &'a self,
        read: &'a mut Conn,
        stage: &'a Stage,
        found: &'a mut HashMap<StackId, DefinitionBody>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let stack = &stage.scene.stack;
            if let Some(id) = stack.wanted.or(stack.settled)
                && let Some(body) = self.stack_definition_body(read, stack, id).await?
            {
                found.insert(stack.id, body);
            }
            for below in stage.below.values() {
                self.stack_bodies(read, below, found).await?;
            }
            Ok(())
        }
        .boxed()
    }

    /// A snapshot as a document.
    pub async fn stack_snapshot_document(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        id: StackSnapshotId,
    ) -> Result<Value, StackRefusal> {
        let (snapshot, held) = self.stack_snapshot_get(cx, project, name_or_id, id).await?;
        let stack = self.stack_known(project, snapshot.stack_id).await?;
        let mut read = self.store.read().await?;
        let body = self.stack_definition_body(&mut read, &stack, snapshot.definition).await?;
        let standing = (StackAction::Snapshot.heat(), snapshot.status.heat());
        Ok(exported(&stack, standing, &body.unwrap_or_default(), as_heat(held.resources)))
    }

    /// Forgets a stack, and leaves everything that it has made where it is. What is given back can be adopted.
    pub async fn stack_abandon(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Value, StackRefusal> {
        let (mut read, seen) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRemove).await?;
        if seen.is_deleted() {
            return Err(StackRefusal::missing("stack", name_or_id));
        }
        check_top(&seen)?;
        check_rest(&seen)?;
        let stage = &self.stack_stage(&mut read, seen.clone()).await?;
        let document = self.stack_exported(&mut read, stage).await?;
        drop(read);
        let deed = StackDeed { reason: "abandoned", ..StackDeed::of_end(&seen) };
        let (pass, seen) = (&self.stack_pass(cx, project, &deed, true).await?, &seen);
        self.store
            .tx("stack_abandon", |tx| {
                Box::pin(async move {
                    let before = tx.stack_get(seen.id).await?;
                    let before =
                        before.ok_or_else(|| StackRefusal::missing("stack", name_or_id))?;
                    if self.claim(tx, cx, &stack_object(&before)).await?.is_some() {
                        return Ok(());
                    }
                    self.stack_unlocked(tx, cx, project, &before.name).await?;
                    self.stack_unused(tx, &before).await?;
                    if before.generation != seen.generation {
                        return Err(Error::stale("stack", before.traversal).into());
                    }
                    let after = self.stack_forget(tx, stage).await?;
                    self.approval_use(tx, cx, pass).await?;
                    let words = "abandoned: what it has made stays";
                    let event = self.stack_told(cx, &after, EventKind::StackRemoved, words);
                    let object = stack_object(&before);
                    let audit = self
                        .audit(cx, "stack.abandon", &object, Some(project.id), json!({}))
                        .with_states(
                            Some(&audit_state::stack(&before)),
                            Some(&audit_state::stack(&after)),
                        );
                    Ok::<_, StackRefusal>(tx.journal_append(&[event], &[audit]).await?)
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.feed.ring();
        Ok(document)
    }

    /// The rows of a stack and of everything below it go.
    fn stack_forget<'a>(
        &'a self,
        tx: &'a mut Tx<'_>,
        stage: &'a Stage,
    ) -> BoxFuture<'a, Result<Stack, Error>> {
        async move {
            for below in stage.below.values() {
                self.stack_forget(tx, below).await?;
            }
            let (before, now) = (&stage.scene.stack, self.now());
            let mut after = before.clone();
            after.standing = StackStanding::completed(StackAction::Delete);
            after.wanted = None;
            after.settled = None;
            after.failure = None;
            after.time_deadline = None;
            after.time_due = None;
            after.time_deleted = Some(now);
            let gone: Vec<StackResourceId> = stage.scene.rows.iter().map(|row| row.id).collect();
            let told = Happening::of_stack(&after);
            let events = [self.stack_event_of(after.id, &told, now)];
            let change = StackChange { gone: &gone, events: &events, ..StackChange::of(&after) };
            tx.stack_save(change, before.generation).await?.required("stack", after.id)?;
            Ok(after)
        }
        .boxed()
    }

    /// Begins to take over what another stack left.
    pub async fn stack_adopt(
        &self,
        cx: &Cx,
        project: &Project,
        ask: StackAdopt,
    ) -> Result<Stack, StackRefusal> {
        let StackAdopt { name, document, form, options, reason } = ask;
        let left = read_document(document)?;
        let (form, left) = over(form, left);
        let ask = StackAsk { name, form, options, left: Some(left), reason };
        self.stack_create(cx, project, ask).await
    }
}

fn read_document(document: Value) -> Result<Map<String, Value>, StackRefusal> {
    let wrong = |text: String| StackRefusal::invalid("HTTPBadRequest", "/document", text);
    let document = match document {
        Value::String(text) => serde_json::from_str(&text)
            .map_err(|error| wrong(format!("Invalid data to adopt: {error}")))?,
        document => document,
    };
    match document {
        Value::Object(fields) => Ok(fields),
        _ => Err(wrong("Invalid data to adopt: it is no document".to_owned())),
    }
}

/// What a document says, where the form says nothing; and the resources that were left.
fn over(mut form: StackForm, mut document: Map<String, Value>) -> (StackForm, Map<String, Value>) {
    let mut take = |field: &str| document.shift_remove(field).filter(|it| !it.is_null());
    let (template, environment) = (take("template"), take("environment"));
    let (files, resources) = (take("files"), take("resources"));
    if let Some(template) = template.filter(|_| form.template.is_null()) {
        form.template = template;
    }
    let is_said = match &form.environment {
        Value::Null => !form.environment_files.is_empty(),
        Value::Object(sections) => !sections.is_empty(),
        _ => true,
    };
    if let Some(environment) = environment.filter(|_| !is_said) {
        form.environment = environment;
    }
    if let Some(Value::Object(files)) = files {
        for (name, text) in files {
            form.files.entry(name).or_insert(text);
        }
    }
    let left = match resources {
        Some(Value::Object(left)) => left,
        _ => Map::new(),
    };
    (form, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_counts_before_the_document() {
        let document = json!({
            "template": {"a": 1}, "environment": {"parameters": {"p": 1}},
            "files": {"f": "old", "g": "g"}, "resources": {"r": {"resource_id": "x"}},
        });
        let document = || document.as_object().unwrap().clone();
        let (form, left) = over(StackForm::default(), document());
        assert_eq!((form.template, left.len()), (json!({"a": 1}), 1));
        assert_eq!(form.environment, json!({"parameters": {"p": 1}}));
        let own = StackForm {
            template: json!({"b": 2}),
            environment: json!({"parameters": {"q": 2}}),
            files: Map::from_iter([("f".to_owned(), json!("new"))]),
            ..StackForm::default()
        };
        let (form, _) = over(own, document());
        assert_eq!((form.template, form.files["f"].clone()), (json!({"b": 2}), json!("new")));
        assert_eq!(form.environment, json!({"parameters": {"q": 2}}));
        let refused = read_document(json!("{")).unwrap_err();
        assert!(refused.message.starts_with("Invalid data to adopt"), "{refused:?}");
    }
}
