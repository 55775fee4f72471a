//! What policies of approvals hold back of stacks: making and changing them (`stack.apply`), and taking them down
//! (`stack.remove`).
//!
//! A request is bound to everything that a change rests on: the template with its environment, parameters and files, what is
//! chosen besides, and what the stack went towards when it was asked for. A plan, a restore and an undoing are such changes too. What
//! is edited afterwards, or asked for of a stack that was changed since, is something else. Suspending, resuming and checking
//! rest on nothing new, and are not held back.
//!
//! Who decides sees the template and the parameters; hidden ones, and whatever they stand in, are hidden from them as well.

use hostler_model::stack::{DefinitionBody, Stack, StackAction, StackName, StackOptions};
use hostler_model::{Error, Permission, Project, StackDefinitionId, StackPlanId, WorkloadSpec};
use serde_json::{Map, Value, json};

use super::approval_gate::{Deed, Pass, What};
use crate::stack::{Blueprint, Hidden};
use crate::{Control, Cx};

/// A larger template is named by its digest.
const TEMPLATE_SHOWN: usize = 64 << 10;

/// Something that somebody is about to do with a stack.
pub(super) struct StackDeed<'a> {
    pub verb: Permission,
    pub name: &'a StackName,
    /// Nothing where there is none yet.
    pub seen: Option<&'a Stack>,
    pub action: StackAction,
    pub options: &'a StackOptions,
    /// What it would go towards.
    pub to: To<'a>,
    pub is_forced: bool,
    pub plan: Option<StackPlanId>,
    pub reason: &'a str,
}

pub(super) enum To<'a> {
    Nothing,
    Former(Option<StackDefinitionId>),
    Definition(&'a DefinitionBody, &'a Blueprint),
}

impl<'a> StackDeed<'a> {
    /// A stack goes.
    pub(super) fn of_end(seen: &'a Stack) -> StackDeed<'a> {
        StackDeed {
            verb: Permission::StackRemove,
            name: &seen.name,
            seen: Some(seen),
            action: StackAction::Delete,
            options: &seen.options,
            to: To::Nothing,
            is_forced: false,
            plan: None,
            reason: "",
        }
    }

    /// What an update has done is undone.
    pub(super) fn of_undoing(seen: &'a Stack) -> StackDeed<'a> {
        StackDeed {
            verb: Permission::StackApply,
            action: StackAction::Rollback,
            to: To::Former(seen.settled),
            ..StackDeed::of_end(seen)
        }
    }

    fn head(&self) -> Map<String, Value> {
        let head = json!({
            "action": self.action,
            "stack": self.seen.map(|seen| seen.id),
            "base": self.seen.and_then(|seen| seen.wanted),
            "options": self.options,
            "isForced": self.is_forced,
            "reason": self.reason,
        });
        match head {
            Value::Object(head) => head,
            _ => Map::new(),
        }
    }

    /// All of it.
    pub(super) fn whole(&self) -> Value {
        let mut whole = self.head();
        match &self.to {
            To::Nothing => {}
            To::Former(id) => drop(whole.insert("to".to_owned(), json!(id))),
            To::Definition(body, _) => drop(whole.insert("definition".to_owned(), json!(body))),
        }
        whole.into()
    }

    /// The same without what is secret.
    pub(super) fn shown(&self) -> Value {
        let mut shown = self.head();
        shown.retain(|_, value| !value.is_null() && *value != json!("") && *value != json!(false));
        let mut put = |name: &str, value: Value| drop(shown.insert(name.to_owned(), value));
        if let Some(plan) = self.plan {
            put("plan", json!(plan));
        }
        match &self.to {
            To::Nothing => {}
            To::Former(id) => put("to", json!(id)),
            To::Definition(body, blueprint) => {
                let hidden = &blueprint.hidden;
                let mut parameters = blueprint.parameters.shown();
                parameters.retain(|name, _| !name.contains("::"));
                hidden.hide_in(&mut parameters);
                put("parameters", parameters.into());
                put("template", template_shown(body, hidden));
                put("environment", environment_shown(body, hidden));
                let size = |text: &Value| text.as_str().map_or(0, str::len);
                let files = body.files.iter().map(|(name, text)| (name.clone(), json!(size(text))));
                put("files", Value::Object(files.collect()));
            }
        }
        shown.into()
    }
}

fn template_shown(body: &DefinitionBody, hidden: &Hidden) -> Value {
    let text = body.template.to_string();
    if text.len() > TEMPLATE_SHOWN {
        let digest = blake3::hash(text.as_bytes()).to_hex();
        return json!({ "digest": digest.as_str(), "bytes": text.len() });
    }
    let mut shown = body.template.clone();
    hidden.hide(&mut shown);
    shown
}

/// Without values of parameters.
fn environment_shown(body: &DefinitionBody, hidden: &Hidden) -> Value {
    let Value::Object(sections) = &body.environment else { return Value::Null };
    let is_told = |name: &str| !matches!(name, "parameters" | "parameter_defaults");
    let told = sections.iter().filter(|(name, _)| is_told(name));
    let mut shown = Value::Object(told.map(|(k, v)| (k.clone(), v.clone())).collect());
    hidden.hide(&mut shown);
    shown
}

impl Control {
    /// Lets a change of a stack through, or makes a request for it and refuses it. `is_change`: it is not so already.
    pub(super) async fn stack_pass(
        &self,
        cx: &Cx,
        project: &Project,
        deed: &StackDeed<'_>,
        is_change: bool,
    ) -> Result<Pass, Error> {
        // What policies say of tags is said of those of the stack.
        let like = WorkloadSpec { tags: deed.options.tags.clone(), ..WorkloadSpec::default() };
        let deed = Deed {
            verb: deed.verb,
            project: Some(project),
            name: deed.name.to_string(),
            what: What::Stack(deed),
            specs: vec![&like],
            node: None,
        };
        self.approval_pass_if(cx, &deed, is_change).await
    }
}
