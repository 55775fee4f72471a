//! Stacks come into being, and are asked to become something else: the rows of it, for services and for stacks above.

use std::collections::BTreeSet;

use hostler_engine::stack::{Happening, begin};
use hostler_model::stack::{
    DefinitionBody, Stack, StackAction, StackDefinition, StackName, StackOptions, StackParent,
    StackStanding,
};
use hostler_model::{
    Actor, Error, Generation, Mandate, ProjectId, StackDefinitionId, StackId, Timestamp,
};
use hostler_store::{StackChange, Tx};

use super::blueprint::description_of;
use super::seal::StackKey;
use crate::Control;

/// A stack that is to be.
pub(crate) struct NewStack<'a> {
    pub id: StackId,
    pub project_id: ProjectId,
    pub name: StackName,
    pub body: &'a DefinitionBody,
    pub options: StackOptions,
    pub mandate: Mandate,
    pub created_by: Actor,
    /// [`StackAction::Create`] or [`StackAction::Adopt`].
    pub action: StackAction,
    /// The stack above, and the resource of it that this one is.
    pub above: Option<(&'a Stack, StackParent)>,
}

impl Control {
    /// The rows of a new stack, which begins at once.
    pub(crate) fn stack_draft(&self, new: NewStack<'_>) -> Result<(Stack, StackDefinition), Error> {
        let now = self.now();
        let (key, envelope) = self.stack_key_new(new.id)?;
        let definition = self.stack_definition(&key, new.id, new.body, new.created_by)?;
        let above = new.above.map(|(above, _)| above);
        let mut stack = Stack {
            id: new.id,
            project_id: new.project_id,
            name: new.name,
            description: description_of(&new.body.template),
            parent: new.above.map(|(_, parent)| parent),
            root_id: above.map_or(new.id, |above| above.root_id),
            depth: above.map_or(0, |above| above.depth + 1),
            standing: StackStanding::begun(new.action),
            traversal: Generation::ZERO,
            wanted: None,
            settled: None,
            options: new.options,
            revision: 0,
            key: envelope,
            mandate: new.mandate,
            generation: Generation::FIRST,
            time_created: now,
            time_updated: None,
            time_deleted: None,
            time_begun: now,
            failure: None,
            time_deadline: None,
            time_due: None,
        };
        begin(&mut stack, new.action, Some(definition.id), now);
        Ok((stack, definition))
    }

    /// Another definition of a stack.
    pub(crate) fn stack_definition(
        &self,
        key: &StackKey,
        stack_id: StackId,
        body: &DefinitionBody,
        created_by: Actor,
    ) -> Result<StackDefinition, Error> {
        let id = self.ids.fresh::<StackDefinitionId>();
        let sealed = key.seal_definition(id, body)?;
        let plugins = body.plugins.values().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let time_created = self.now();
        Ok(StackDefinition { id, stack_id, sealed, plugins, created_by, time_created })
    }

    /// Writes a stack that was drafted; `Error::Conflict` where its name is taken.
    pub(crate) async fn stack_enter(
        &self,
        tx: &mut Tx<'_>,
        stack: &Stack,
        definition: &StackDefinition,
    ) -> Result<(), hostler_store::Error> {
        tx.stack_insert(stack).await?;
        tx.stack_definition_insert(definition).await?;
        let told = Happening::of_stack(stack);
        let event = self.stack_event_of(stack.id, &told, stack.time_begun);
        tx.stack_event_insert_batch(&[event]).await
    }

    /// Begins something with a stack, whatever is under way: towards another definition, or with the one that it has. One
    /// that is to go goes towards none.
    pub(crate) async fn stack_begin(
        &self,
        tx: &mut Tx<'_>,
        stack: &mut Stack,
        action: StackAction,
        definition: Option<(&StackDefinition, &DefinitionBody)>,
    ) -> Result<(), Error> {
        let now = self.now();
        let expected = stack.generation;
        let wanted = match definition {
            Some((definition, body)) => {
                tx.stack_definition_insert(definition).await?;
                stack.description = description_of(&body.template);
                Some(definition.id)
            }
            None if action == StackAction::Delete => None,
            None => stack.wanted,
        };
        let told = begin(stack, action, wanted, now);
        let events = [self.stack_event_of(stack.id, &told, now)];
        let change = StackChange { events: &events, ..StackChange::of(stack) };
        tx.stack_save(change, expected).await?.required("stack", stack.id)?;
        stack.generation = expected.next();
        Ok(())
    }

    /// Says that somebody has to look at a stack now, without anything else.
    pub(crate) async fn stack_poke(
        &self,
        tx: &mut Tx<'_>,
        stack: &mut Stack,
        now: Timestamp,
    ) -> Result<(), Error> {
        let expected = stack.generation;
        stack.time_due = Some(stack.time_due.map_or(now, |due| due.min(now)));
        tx.stack_save(StackChange::of(stack), expected).await?.required("stack", stack.id)?;
        stack.generation = expected.next();
        Ok(())
    }
}
