//! Stacks that are resources of others: they are made and changed in the transaction of the stack above.

use hostler_model::stack::{
    DefinitionBody, Stack, StackAction, StackDefinition, StackName, StackOptions, StackParent,
};
use hostler_model::{Error, StackId, StackResourceId};
use hostler_store::Tx;

use super::enter::NewStack;
use super::hidden::Hidden;
use super::pass::Walk;
use super::plugin::{ChildForm, ChildWish};
use crate::Control;

/// What is to be done with a stack below, ready to be written.
pub(super) enum Below {
    New(Box<Stack>, StackDefinition),
    Change(StackId, StackAction, Option<Box<(StackDefinition, DefinitionBody)>>),
}

impl Control {
    /// What wishes of plugins mean for the rows of stacks below.
    pub(super) fn stack_below(
        &self,
        walk: &Walk,
        wishes: Vec<(StackResourceId, ChildWish)>,
    ) -> Result<Vec<Below>, Error> {
        let mut below = Vec::with_capacity(wishes.len());
        let is_any = wishes.iter().any(|(_, wish)| matches!(wish, ChildWish::Apply(_)));
        let hidden = if is_any { walk.hidden(self) } else { Hidden::nothing() };
        for (resource, wish) in wishes {
            let known = walk.children.get(&resource).map(|child| &child.stack);
            let action = match &wish {
                ChildWish::Apply(form) => {
                    below.extend(self.stack_below_apply(walk, resource, known, (form, &hidden))?);
                    continue;
                }
                ChildWish::Suspend => StackAction::Suspend,
                ChildWish::Resume => StackAction::Resume,
                ChildWish::Check => StackAction::Check,
                ChildWish::Snapshot => StackAction::Snapshot,
                ChildWish::Delete => StackAction::Delete,
            };
            below.extend(known.map(|known| Below::Change(known.id, action, None)));
        }
        Ok(below)
    }

    fn stack_below_apply(
        &self,
        walk: &Walk,
        resource: StackResourceId,
        known: Option<&Stack>,
        (form, hidden): (&ChildForm, &Hidden),
    ) -> Result<Option<Below>, Error> {
        let above = walk.stack();
        let (Some(row), Some(blueprint)) = (walk.course.row(resource), &walk.blueprint) else {
            return Ok(None);
        };
        let mut body = DefinitionBody {
            template: form.template.clone(),
            environment: blueprint.environment_below(&row.name, form),
            files: blueprint.files.as_ref().clone(),
            environment_files: blueprint.environment_files.clone(),
            parameters: form.parameters.clone(),
            secrets: Vec::new(),
            left: form.left.clone(),
            reason: String::new(),
            is_live: blueprint.is_live,
            plugins: blueprint.plugins.clone(),
        };
        if !hidden.is_empty() {
            let text = serde_json::to_string(&body).map_err(Error::internal)?;
            body.secrets = hidden.found_in(&text);
        }
        if let Some(known) = known {
            let key = self.stack_key(known)?;
            let definition = self.stack_definition(&key, known.id, &body, self.system_actor())?;
            let change = Some(Box::new((definition, body)));
            return Ok(Some(Below::Change(known.id, StackAction::Update, change)));
        }
        let id = row.physical.as_deref().and_then(|id| id.parse::<StackId>().ok());
        let Some(id) = id else { return Ok(None) };
        let parent = StackParent { stack_id: above.id, resource_id: resource };
        let (stack, definition) = self.stack_draft(NewStack {
            id,
            project_id: above.project_id,
            name: name_below(&above, &row.name, resource),
            body: &body,
            options: StackOptions {
                is_rollback_enabled: false,
                timeout: form.timeout.or(above.options.timeout),
                tags: Vec::new(),
                ..above.options.clone()
            },
            mandate: above.mandate,
            created_by: self.system_actor(),
            action: match form.left.is_empty() {
                true => StackAction::Create,
                false => StackAction::Adopt,
            },
            above: Some((&above, parent)),
        })?;
        Ok(Some(Below::New(Box::new(stack), definition)))
    }

    pub(super) async fn stack_below_write(
        &self,
        tx: &mut Tx<'_>,
        below: &Below,
    ) -> Result<(), Error> {
        match below {
            Below::New(stack, definition) => self.stack_enter(tx, stack, definition).await?,
            Below::Change(id, action, change) => {
                let known = tx.stack_get(*id).await?.filter(|stack| !stack.is_deleted());
                let Some(mut stack) = known else { return Ok(()) };
                let change = change.as_deref().map(|(definition, body)| (definition, body));
                self.stack_begin(tx, &mut stack, *action, change).await?;
            }
        }
        Ok(())
    }
}

/// `ABOVE-RESOURCE-xxxxxxxxxxxx`, with what names cannot have left out.
pub(super) fn name_below(above: &Stack, resource: &str, id: StackResourceId) -> StackName {
    let id = id.uuid().simple().to_string();
    let tail = &id[id.len() - 12..];
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let middle: String = resource.chars().map(|c| if is_fine(c) { c } else { '-' }).collect();
    let mut text = format!("{}-{middle}", above.name);
    text.truncate(StackName::MAX - tail.len() - 1);
    format!("{text}-{tail}")
        .parse()
        .expect("it begins as a name does, and has only what names have")
}
