//! What is done to stacks as wholes besides changing what they are: suspended, resumed, checked, cancelled, snapshots.

use hostler_model::stack::{
    STACK_SNAPSHOTS_MAX, SnapshotBody, Stack, StackAction, StackFailure, StackSnapshot, StackStatus,
};
use hostler_model::{Error, Limit, Page, Permission, Project, StackSnapshotId};
use hostler_store::Tx;
use serde_json::json;

use super::approval_gate::Pass;
use super::stack::{check_top, stack_find};
use super::stack_approval::StackDeed;
use super::stack_refusal::{StackRefusal, require};
use crate::stack::stack_object;
use crate::{Control, Cx, audit_state};

/// What somebody wants done to a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackCommand {
    Suspend,
    Resume,
    /// Every resource is looked at.
    Check,
    /// What an update has done is undone.
    CancelUpdate,
    /// What is under way is left as far as it is.
    CancelWithoutRollback,
}

impl StackCommand {
    const ALL: [StackCommand; 5] = [
        StackCommand::Suspend,
        StackCommand::Resume,
        StackCommand::Check,
        StackCommand::CancelUpdate,
        StackCommand::CancelWithoutRollback,
    ];

    /// As Heat calls it.
    pub const fn word(self) -> &'static str {
        match self {
            StackCommand::Suspend => "suspend",
            StackCommand::Resume => "resume",
            StackCommand::Check => "check",
            StackCommand::CancelUpdate => "cancel_update",
            StackCommand::CancelWithoutRollback => "cancel_without_rollback",
        }
    }

    pub fn read(word: &str) -> Option<StackCommand> {
        StackCommand::ALL.into_iter().find(|one| one.word() == word)
    }

    /// Whether it is so already; an error where it cannot be done now.
    fn is_idle(self, stack: &Stack) -> Result<bool, StackRefusal> {
        let standing = &stack.standing;
        let is_at = |action| standing.action == action && standing.status == StackStatus::Complete;
        match self {
            StackCommand::Suspend | StackCommand::Resume | StackCommand::Check => {
                check_rest(stack)?;
                Ok(match self {
                    StackCommand::Suspend => is_at(StackAction::Suspend),
                    StackCommand::Resume => is_at(StackAction::Resume),
                    _ => false,
                })
            }
            StackCommand::CancelUpdate | StackCommand::CancelWithoutRollback => {
                let is_kept = self == StackCommand::CancelWithoutRollback;
                let can = match standing.action {
                    StackAction::Update => true,
                    StackAction::Create => is_kept,
                    _ => false,
                };
                if can && standing.is_under_way() {
                    return Ok(false);
                }
                let text = format!(
                    "Cancelling update when stack is {} is not supported.",
                    standing.heat()
                );
                Err(StackRefusal::state("NotSupported", text, "there is nothing to cancel"))
            }
        }
    }
}

/// Nothing is under way.
pub(super) fn check_rest(stack: &Stack) -> Result<(), StackRefusal> {
    if !stack.standing.is_under_way() {
        return Ok(());
    }
    let action = stack.standing.action.heat();
    let text = format!("Stack {} already has an action ({action}) in progress.", stack.name);
    Err(StackRefusal::state("ActionInProgress", text, "try again when it has ended"))
}

impl Control {
    /// Has something done to a stack. What is so already stays so.
    pub async fn stack_command(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        command: StackCommand,
    ) -> Result<Stack, StackRefusal> {
        let (_, seen) = self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        check_top(&seen)?;
        // Only what goes towards another definition needs others.
        let pass = match command {
            StackCommand::CancelUpdate => {
                command.is_idle(&seen)?;
                self.stack_pass(cx, project, &StackDeed::of_undoing(&seen), true).await?
            }
            _ => Pass::Free,
        };
        let (seen, pass) = (&seen, &pass);
        self.store
            .tx("stack_command", |tx| {
                Box::pin(async move {
                    let before = self.stack_again(tx, seen).await?;
                    let is_claimed = self.claim(tx, cx, &stack_object(&before)).await?.is_some();
                    if is_claimed || command.is_idle(&before)? {
                        return Ok(());
                    }
                    self.stack_unlocked(tx, cx, project, &before.name).await?;
                    let mut after = before.clone();
                    self.stack_commanded(tx, &mut after, command).await?;
                    let action = match command {
                        StackCommand::Suspend => "stack.suspend",
                        StackCommand::Resume => "stack.resume",
                        StackCommand::Check => "stack.check",
                        StackCommand::CancelUpdate | StackCommand::CancelWithoutRollback => {
                            "stack.cancel"
                        }
                    };
                    self.approval_use(tx, cx, pass).await?;
                    self.stack_journal(tx, cx, action, &before, &after, "").await
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.stacks_changed();
        self.stack_known(project, seen.id).await
    }

    async fn stack_commanded(
        &self,
        tx: &mut Tx<'_>,
        stack: &mut Stack,
        command: StackCommand,
    ) -> Result<(), Error> {
        let action = match command {
            StackCommand::Suspend => StackAction::Suspend,
            StackCommand::Resume => StackAction::Resume,
            StackCommand::Check => StackAction::Check,
            StackCommand::CancelUpdate => {
                stack.wanted = stack.settled;
                StackAction::Rollback
            }
            StackCommand::CancelWithoutRollback => {
                let reason = format!("User cancelled stack {}", stack.standing.action.heat());
                stack.failure = Some(StackFailure { reason, is_kept: true });
                return self.stack_poke(tx, stack, self.now()).await;
            }
        };
        self.stack_begin(tx, stack, action, None).await
    }

    /// Begins to take a snapshot of a stack.
    pub async fn stack_snapshot_create(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        name: &str,
    ) -> Result<StackSnapshot, StackRefusal> {
        let id = self.ids.fresh();
        self.stack_snapshot_create_as(cx, project, name_or_id, name, id).await
    }

    /// The same, with an id that was chosen before.
    pub(super) async fn stack_snapshot_create_as(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        name: &str,
        id: StackSnapshotId,
    ) -> Result<StackSnapshot, StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        super::project::check_text("/name", name, 0..=255)?;
        let seen = {
            let mut read = self.store.read().await?;
            stack_find(&mut read, project, name_or_id).await?
        };
        check_top(&seen)?;
        let sealed = self.stack_key(&seen)?.seal_snapshot(id, &SnapshotBody::default())?;
        let (seen, sealed) = (&seen, &sealed);
        let made = self
            .store
            .tx("stack_snapshot_create", |tx| {
                Box::pin(async move {
                    let before = self.stack_again(tx, seen).await?;
                    self.stack_unlocked(tx, cx, project, &before.name).await?;
                    check_rest(&before)?;
                    let Some(definition) = before.wanted else {
                        let text = "a stack without a template has nothing to keep";
                        return Err(StackRefusal::state("NotSupported", text, "update it first"));
                    };
                    if tx.stack_snapshot_count(seen.id).await? >= u64::from(STACK_SNAPSHOTS_MAX) {
                        let text = format!(
                            "You have reached the maximum snapshots per stack, {STACK_SNAPSHOTS_MAX}. Please delete some snapshots."
                        );
                        let error =
                            super::quota::exceeded("snapshots", STACK_SNAPSHOTS_MAX, "as many");
                        return Err(StackRefusal::limit(&text, error));
                    }
                    let snapshot = StackSnapshot {
                        id,
                        stack_id: seen.id,
                        name: name.to_owned(),
                        status: StackStatus::InProgress,
                        reason: "Stack SNAPSHOT started".to_owned(),
                        definition,
                        sealed: sealed.clone(),
                        created_by: cx.actor(),
                        time_created: self.now(),
                    };
                    tx.stack_snapshot_insert(&snapshot).await?;
                    let mut after = before.clone();
                    self.stack_begin(tx, &mut after, StackAction::Snapshot, None).await?;
                    self.stack_journal(tx, cx, "stack.snapshot", &before, &after, "").await?;
                    Ok::<_, StackRefusal>(snapshot)
                })
            })
            .await?;
        self.stacks_changed();
        Ok(made)
    }

    /// Snapshots of a stack, without what they hold.
    pub async fn stack_snapshots(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackSnapshot>, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        Ok(read.stack_snapshot_list(stack.id, after, limit).await?)
    }

    /// A snapshot with what it holds.
    pub async fn stack_snapshot_get(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        id: StackSnapshotId,
    ) -> Result<(StackSnapshot, SnapshotBody), StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        let found = read.stack_snapshot_get(id).await?.filter(|one| one.stack_id == stack.id);
        let found = found.ok_or_else(|| StackRefusal::missing("Snapshot", &id.to_string()))?;
        let body = self.stack_key(&stack)?.open_snapshot(id, &found.sealed)?;
        Ok((found, body))
    }

    pub async fn stack_snapshot_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        id: StackSnapshotId,
    ) -> Result<(), StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        let (snapshot, _) = self.stack_snapshot_get(cx, project, name_or_id, id).await?;
        let stack = self.stack_known(project, snapshot.stack_id).await?;
        if snapshot.status == StackStatus::InProgress {
            check_rest(&stack)?;
        }
        let before = audit_state::stack(&stack);
        let detail = json!({ "snapshot": id });
        let audit = &[self
            .audit(cx, "stack.snapshot-remove", &stack_object(&stack), Some(project.id), detail)
            .with_states(Some(&before), Some(&before))];
        self.store
            .tx("stack_snapshot_remove", |tx| {
                Box::pin(async move {
                    if tx.stack_snapshot_delete(id).await? {
                        tx.journal_append(&[], audit).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok(())
    }
}
