//! Everything that should hold before something is begun with a stack, line by line: each passed, failed, or skipped with the
//! reason. Nothing is changed by looking.

use hostler_engine::doctor::examine_disks;
use hostler_model::stack::{
    Stack, StackCheckKind, StackCheckLine, StackCheckResult, StackDriftKind, StackName,
};
use hostler_model::{Code, Error, Need, NodeState, Permission, Project, Severity};

use super::stack::stack_find;
use super::stack_deps::{all_stacks, uses_line};
use super::stack_form::StackForm;
use super::stack_refusal::{StackRefusal, require};
use crate::stack::{Blueprint, Hidden};
use crate::{Control, Cx};

/// How many things are named in a line.
const NAMED: usize = 5;

/// What was found of one stack, or of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackChecklist {
    pub stack: Option<StackName>,
    pub lines: Vec<StackCheckLine>,
}

impl StackChecklist {
    /// Nothing is against it.
    pub fn is_passed(&self) -> bool {
        self.lines.iter().all(|line| line.result != StackCheckResult::Failed)
    }
}

/// What is looked over.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum StackSubject {
    /// By name or by id.
    Stack(String),
    /// What is to become a stack, of that name where one is given.
    Form { name: Option<StackName>, form: StackForm },
}

fn line(
    check: StackCheckKind,
    result: StackCheckResult,
    message: impl Into<String>,
) -> StackCheckLine {
    StackCheckLine { check, result, message: message.into() }
}

fn passed(check: StackCheckKind, message: impl Into<String>) -> StackCheckLine {
    line(check, StackCheckResult::Passed, message)
}

fn failed(check: StackCheckKind, message: impl Into<String>) -> StackCheckLine {
    line(check, StackCheckResult::Failed, message)
}

fn skipped(check: StackCheckKind, message: impl Into<String>) -> StackCheckLine {
    line(check, StackCheckResult::Skipped, message)
}

impl Control {
    /// Looks a stack over, or what is to become one.
    pub async fn stack_checklist(
        &self,
        cx: &Cx,
        project: &Project,
        of: &StackSubject,
    ) -> Result<StackChecklist, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        match of {
            StackSubject::Stack(name_or_id) => {
                let stack = {
                    let mut read = self.store.read().await?;
                    stack_find(&mut read, project, name_or_id).await?
                };
                self.stack_looked_over(cx, project, &stack).await
            }
            StackSubject::Form { name, form } => {
                self.stack_form_looked_over(cx, project, name.as_ref(), form).await
            }
        }
    }

    /// Looks every stack of a project over; those that others use come first.
    pub async fn stack_checklist_all(
        &self,
        cx: &Cx,
        project: &Project,
    ) -> Result<Vec<StackChecklist>, StackRefusal> {
        let graph = self.stack_deps_graph(cx, project).await?;
        let mut stacks = {
            let mut read = self.store.read().await?;
            all_stacks(&mut read, project).await?
        };
        let order: Vec<StackName> = graph.order.into_iter().flatten().collect();
        let place = |name: &StackName| order.iter().position(|one| one == name);
        stacks.sort_by_key(|stack| (place(&stack.name), stack.name.clone()));
        let mut found = Vec::with_capacity(stacks.len());
        for stack in stacks {
            found.push(self.stack_looked_over(cx, project, &stack).await?);
        }
        Ok(found)
    }

    async fn stack_looked_over(
        &self,
        cx: &Cx,
        project: &Project,
        stack: &Stack,
    ) -> Result<StackChecklist, StackRefusal> {
        let scene = {
            let mut read = self.store.read().await?;
            self.stack_scene(&mut read, stack.clone()).await?
        };
        let syntax = match (&scene.blueprint, &scene.trouble) {
            (_, Some(trouble)) => failed(StackCheckKind::Syntax, trouble.clone()),
            (Some(blueprint), None) => passed(
                StackCheckKind::Syntax,
                format!("its template is right, with {} resources", blueprint.parts.len()),
            ),
            (None, None) => skipped(StackCheckKind::Syntax, "it goes towards no template"),
        };
        let deps = self.stack_deps(cx, project, &stack.id.to_string()).await?;
        let blueprint = scene.blueprint.as_deref();
        let lines = vec![
            syntax,
            uses_line(&stack.name, &deps.uses),
            self.stack_objects_line(stack).await?,
            self.stack_permissions_line(cx, project, Some(stack)).await?,
            self.stack_lock_line(cx, project, &stack.name).await?,
            self.stack_disk_line().await,
            self.stack_network_line(blueprint).await?,
        ];
        let hidden = Hidden::of(scene.secrets(self));
        let told =
            |line: StackCheckLine| StackCheckLine { message: hidden.scrub(&line.message), ..line };
        let lines = lines.into_iter().map(told).collect();
        Ok(StackChecklist { stack: Some(stack.name.clone()), lines })
    }

    async fn stack_form_looked_over(
        &self,
        cx: &Cx,
        project: &Project,
        name: Option<&StackName>,
        form: &StackForm,
    ) -> Result<StackChecklist, StackRefusal> {
        let checked = self.stack_check(cx, project, form, true, false).await;
        let syntax = match &checked {
            Ok(checked) => passed(
                StackCheckKind::Syntax,
                format!("the template is right, with {} resources", checked.resources),
            ),
            Err(refusal) if refusal.error.code == Code::Forbidden => {
                return Err(Error::forbidden(refusal.error.detail.clone()).into());
            }
            Err(refusal) => failed(StackCheckKind::Syntax, every_mistake(refusal)),
        };
        let (dependencies, blueprint) = match checked.is_ok() {
            true => self.stack_form_uses(cx, project, name, form).await?,
            false => {
                let words = "the template cannot be read";
                (skipped(StackCheckKind::Dependencies, words), None)
            }
        };
        let existence = match name {
            None => skipped(StackCheckKind::Existence, "nothing was made of it yet"),
            Some(name) => {
                let mut read = self.store.read().await?;
                match read.stack_by_name(project.id, name.as_str()).await? {
                    None => passed(StackCheckKind::Existence, format!("the name {name} is free")),
                    Some(_) => passed(
                        StackCheckKind::Existence,
                        format!("stack {name} is there, and would be updated"),
                    ),
                }
            }
        };
        let lock = match name {
            Some(name) => self.stack_lock_line(cx, project, name).await?,
            None => skipped(StackCheckKind::Lock, "it has no name yet"),
        };
        let lines = vec![
            syntax,
            dependencies,
            existence,
            self.stack_permissions_line(cx, project, None).await?,
            lock,
            self.stack_disk_line().await,
            self.stack_network_line(blueprint.as_ref()).await?,
        ];
        Ok(StackChecklist { stack: name.cloned(), lines })
    }

    /// What a form would use of other stacks.
    async fn stack_form_uses(
        &self,
        cx: &Cx,
        project: &Project,
        name: Option<&StackName>,
        form: &StackForm,
    ) -> Result<(StackCheckLine, Option<Blueprint>), StackRefusal> {
        let fallback: StackName = "unnamed".parse().map_err(Error::internal)?;
        let name = name.unwrap_or(&fallback);
        let blueprint = self.stack_form_blueprint(cx, project, name, form).await?;
        let mut wrong = Vec::new();
        let uses = blueprint.uses();
        for (stack, outputs) in &uses {
            for output in outputs {
                let given = self.stack_gives(project.id, stack.as_str(), output).await?;
                if let crate::stack::plugin::OutputGiven::Nothing(why) = given {
                    wrong.push(why);
                }
            }
        }
        let kind = StackCheckKind::Dependencies;
        let line = match (wrong.is_empty(), uses.len()) {
            (false, _) => failed(kind, wrong.join("; ")),
            (true, 0) => passed(kind, "it uses no other stack"),
            (true, count) => passed(kind, format!("{count} stacks give what it asks for")),
        };
        Ok((line, Some(blueprint)))
    }

    async fn stack_objects_line(&self, stack: &Stack) -> Result<StackCheckLine, StackRefusal> {
        let kind = StackCheckKind::Existence;
        let (drift, items) = self.stack_drift_now(stack).await?;
        let missing: Vec<&str> = items
            .iter()
            .filter(|item| item.drift == StackDriftKind::Missing)
            .map(|item| item.name.as_str())
            .take(NAMED)
            .collect();
        Ok(match (drift.missing, drift.looked) {
            (0, 0) => skipped(kind, "there is no object that somebody could look at"),
            (0, looked) if drift.unknown > 0 => {
                let unknown = drift.unknown;
                passed(kind, format!("{looked} objects are there; of {unknown} nobody can tell"))
            }
            (0, looked) => passed(kind, format!("all {looked} objects are there")),
            (count, _) => {
                failed(kind, format!("{count} objects are missing: {}", missing.join(", ")))
            }
        })
    }

    async fn stack_permissions_line(
        &self,
        cx: &Cx,
        project: &Project,
        stack: Option<&Stack>,
    ) -> Result<StackCheckLine, StackRefusal> {
        let kind = StackCheckKind::Permissions;
        let wanted = [Permission::StackApply, Permission::StackRemove];
        let lacks: Vec<String> = wanted
            .into_iter()
            .filter(|one| !cx.caller.may(Need::of(*one, Some(project.id))))
            .map(|one| one.to_string())
            .collect();
        if !lacks.is_empty() {
            return Ok(failed(kind, format!("you lack {} in this project", lacks.join(" and "))));
        }
        let Some(stack) = stack else {
            return Ok(passed(kind, "you may make, change and remove stacks here"));
        };
        Ok(match self.mandate_caller(&stack.mandate).await {
            Ok(owner) if owner.may(Need::of(Permission::StackApply, Some(project.id))) => {
                passed(kind, "you may change it, and so may the one in whose name it acts")
            }
            Ok(_) => failed(kind, "the one in whose name it acts may change no stacks any more"),
            Err(_) => failed(kind, "the one in whose name it acts is disabled or gone"),
        })
    }

    async fn stack_lock_line(
        &self,
        cx: &Cx,
        project: &Project,
        name: &StackName,
    ) -> Result<StackCheckLine, StackRefusal> {
        let mut read = self.store.read().await?;
        Ok(match self.stack_unlocked(&mut read, cx, project, name).await {
            Ok(()) => passed(StackCheckKind::Lock, "nobody else has locked it"),
            Err(refusal) if refusal.error.code == Code::Conflict => {
                failed(StackCheckKind::Lock, refusal.message)
            }
            Err(refusal) => return Err(refusal),
        })
    }

    async fn stack_disk_line(&self) -> StackCheckLine {
        let kind = StackCheckKind::Disk;
        let findings = examine_disks(&self.disks().await);
        let words: Vec<&str> = findings.iter().map(|one| one.what.as_str()).collect();
        let worst = findings.iter().map(|one| one.severity).max();
        match worst {
            None => skipped(kind, "the database is not on a disk of this server"),
            Some(Severity::Critical) => failed(kind, words.join("; ")),
            Some(_) => passed(kind, words.join("; ")),
        }
    }

    async fn stack_network_line(
        &self,
        blueprint: Option<&Blueprint>,
    ) -> Result<StackCheckLine, StackRefusal> {
        let kind = StackCheckKind::Network;
        let Some(blueprint) = blueprint else {
            return Ok(skipped(kind, "nothing is known of its resources"));
        };
        let is_outside = |plugin: &str| self.stack_plugin(plugin).is_some_and(|it| !it.is_local());
        if !blueprint.parts.iter().any(|part| is_outside(&part.plugin)) {
            return Ok(skipped(kind, "no resource of it has anything outside of the server"));
        }
        let nodes = self.store.read().await?.node_list_all_present().await?;
        let away: Vec<&str> = nodes
            .iter()
            .filter(|node| node.state != NodeState::Online)
            .map(|node| node.name.as_str())
            .collect();
        let online = nodes.len() - away.len();
        Ok(match (nodes.len(), away.len()) {
            (0, _) => skipped(kind, "there are no nodes"),
            (_, 0) => passed(kind, format!("all {online} nodes are connected")),
            (_, count) => {
                let named = away.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
                failed(kind, format!("{online} nodes are connected, {count} are not: {named}"))
            }
        })
    }
}

fn every_mistake(refusal: &StackRefusal) -> String {
    let all: Vec<String> = refusal.wrong.iter().map(|one| one.api_message()).collect();
    if all.is_empty() { refusal.message.clone() } else { all.join("; ") }
}
