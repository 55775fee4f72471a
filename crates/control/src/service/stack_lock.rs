//! Locks of stacks: the lock `stack/NAME` of the project.
//!
//! Every change of a stack asks for it while it is written, and is refused while somebody else has it: whoever locked a stack
//! is the only one who begins anything with it. It is not held across the work, which goes on by itself. Somebody who has the
//! lock changes the stack as ever.

use hostler_model::stack::{Stack, StackName};
use hostler_model::{Code, Error, LockHold, LockHoldId, LockName, Permission, Project, Span};
use hostler_store::Conn;

use super::lock::{LockAnswer, LockAsk, LockDetail};
use super::stack::{check_top, stack_find};
use super::stack_refusal::{StackRefusal, require};
use crate::{Control, Cx};

/// What the lock of a stack is called. Long names are cut, with a digest of the whole at the end.
pub(super) fn lock_name(stack: &StackName) -> LockName {
    let whole = format!("stack/{stack}");
    let text = match whole.len() <= LockName::MAX {
        true => whole,
        false => {
            let digest = blake3::hash(stack.as_str().as_bytes()).to_hex();
            format!("{}.{}", &whole[..LockName::MAX - 17], &digest[..16])
        }
    };
    text.parse()
        .expect("names of stacks begin with a letter, and have only what names of locks have")
}

impl Control {
    /// Refuses whoever is not the one that has locked a stack.
    pub(super) async fn stack_unlocked(
        &self,
        read: &mut Conn,
        cx: &Cx,
        project: &Project,
        stack: &StackName,
    ) -> Result<(), StackRefusal> {
        let name = lock_name(stack);
        let Some(lock) = read.lock_get(project.id, &name).await? else { return Ok(()) };
        if lock.held == 0 {
            return Ok(());
        }
        let holders = read.lock_holders(&[lock.id]).await?;
        let is_own = |hold: &LockHold| hold.principal_id == cx.caller.principal_id;
        match holders.first().filter(|_| !holders.iter().any(is_own)) {
            Some(hold) => Err(locked(stack, hold)),
            None => Ok(()),
        }
    }

    pub async fn stack_lock_acquire(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        ask: LockAsk,
    ) -> Result<LockAnswer, StackRefusal> {
        let stack = self.stack_to_lock(cx, project, name_or_id, Permission::StackApply).await?;
        if ask.slots != 1 {
            let text = "a stack is locked by one at a time";
            return Err(StackRefusal::invalid("HTTPBadRequest", "/slots", text));
        }
        Ok(self.lock_acquire(cx, project, &lock_name(&stack.name), ask).await?)
    }

    pub async fn stack_lock_renew(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        id: LockHoldId,
        ttl: Option<Span>,
    ) -> Result<LockHold, StackRefusal> {
        let stack = self.stack_to_lock(cx, project, name_or_id, Permission::StackApply).await?;
        Ok(self.lock_renew(cx, project, &lock_name(&stack.name), id, ttl).await?)
    }

    /// Who holds the lock of a stack, and who waits; nothing when nobody has used it lately.
    pub async fn stack_lock_status(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Option<LockDetail>, StackRefusal> {
        let stack = self.stack_to_lock(cx, project, name_or_id, Permission::StackRead).await?;
        match self.lock_get(project, &lock_name(&stack.name)).await {
            Ok(detail) => Ok(Some(detail)),
            Err(error) if error.code == Code::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the lock back; where no hold is named, the caller's own.
    pub async fn stack_lock_release(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        id: Option<LockHoldId>,
    ) -> Result<(), StackRefusal> {
        let stack = self.stack_to_lock(cx, project, name_or_id, Permission::StackApply).await?;
        let name = lock_name(&stack.name);
        let id = match id {
            Some(id) => id,
            None => {
                let own = self.stack_lock_status(cx, project, name_or_id).await?;
                let holds = own.into_iter().flat_map(|it| it.holders);
                let mut holds = holds.filter(|it| it.principal_id == cx.caller.principal_id);
                let Some(hold) = holds.next() else {
                    let text = format!("you do not hold the lock of stack {}", stack.name);
                    let hint = "the status of the lock says who does";
                    return Err(StackRefusal::state("NotSupported", text, hint));
                };
                hold.id
            }
        };
        Ok(self.lock_release(cx, project, &name, id).await?)
    }

    /// Takes the lock away from whoever has it.
    pub async fn stack_lock_force_release(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        reason: &str,
    ) -> Result<LockDetail, StackRefusal> {
        let stack = self.stack_to_lock(cx, project, name_or_id, Permission::StackUnlock).await?;
        Ok(self.lock_force_release(cx, project, &lock_name(&stack.name), None, reason).await?)
    }

    async fn stack_to_lock(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        permission: Permission,
    ) -> Result<Stack, StackRefusal> {
        require(cx, project, permission)?;
        let mut read = self.store.read().await?;
        let stack = stack_find(&mut read, project, name_or_id).await?;
        check_top(&stack)?;
        Ok(stack)
    }
}

fn locked(stack: &StackName, hold: &LockHold) -> StackRefusal {
    let why = match hold.holder.why.is_empty() {
        true => String::new(),
        false => format!(" ({})", hold.holder.why),
    };
    let text = format!("Stack {stack} is locked by {}{why}.", hold.by);
    let hint = "wait until it is released; the status of its lock says who holds it";
    let error = Error::conflict(text.clone(), hint);
    StackRefusal::new("ActionInProgress", text, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stack_has_a_lock_of_its_own() {
        let name = |text: &str| lock_name(&text.parse().unwrap());
        assert_eq!(name("web").as_str(), "stack/web");
        let (one, other) = (name(&"a".repeat(200)), name(&"a".repeat(201)));
        assert_ne!(one, other, "what is cut off counts");
        assert_eq!(one.as_str().len(), LockName::MAX);
    }
}
