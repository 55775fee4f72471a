//! How audit entries are made: none is written before it says what became of its object.
//!
//! [`Control::audit`] and its siblings take an action. Given a word they make an [`Unstated`] entry, which
//! becomes one that can be written when it is told the object's states. Given one of [`Stateless`], which
//! is the whole list of actions that have no states, they make an entry as it is. So a new change without
//! digests does not compile, and one that has none after all is on the list, with its reason.
//!
//! [`Control::audit`]: crate::Control::audit

use hostler_model::NewAuditEntry;
use serde_json::Value;

/// What was done: a word, or one of [`Stateless`].
pub(crate) trait AuditAction {
    type Entry;

    /// As `noun.verb`.
    fn word(&self) -> &str;

    fn entry(self, entry: NewAuditEntry) -> Self::Entry;
}

impl AuditAction for &str {
    type Entry = Unstated;

    fn word(&self) -> &str {
        self
    }

    fn entry(self, entry: NewAuditEntry) -> Unstated {
        Unstated(entry)
    }
}

impl AuditAction for Stateless {
    type Entry = NewAuditEntry;

    fn word(&self) -> &str {
        self.action()
    }

    fn entry(self, entry: NewAuditEntry) -> NewAuditEntry {
        entry
    }
}

/// An entry that does not say yet what its object was and is.
#[derive(Clone, Debug)]
#[must_use = "only an entry with states can be written"]
pub(crate) struct Unstated(NewAuditEntry);

impl Unstated {
    /// With digests of the object's states; absent is what was not there before, or is not any more.
    pub(crate) fn with_states(
        self,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> NewAuditEntry {
        debug_assert!(
            before.is_some() || after.is_some(),
            "`{}` neither made, changed nor removed anything: is it one of `Stateless`?",
            self.0.action
        );
        self.0.with_states(before, after)
    }
}

macro_rules! stateless {
    ($($name:ident = $action:literal, $reason:literal;)+) => {
        /// Actions whose entries have no digests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stateless {
            $(#[doc = $reason] $name,)+
        }

        impl Stateless {
            pub const ALL: &[Stateless] = &[$(Stateless::$name,)+];

            /// As entries have it.
            pub const fn action(self) -> &'static str {
                match self { $(Stateless::$name => $action,)+ }
            }

            /// Why there is no state to have a digest of.
            pub const fn reason(self) -> &'static str {
                match self { $(Stateless::$name => $reason,)+ }
            }
        }
    };
}

stateless! {
    ApprovalBreakGlass = "approval.break-glass", "there is no approval; what was done has an entry of its own";
    ApprovalRefuse = "approval.refuse", "the approval is as it was, and nothing was done";
    AuditAnchor = "audit.anchor", "the anchor is made of the chain that this entry is the last of";
    BackupCreate = "backup.create", "the database is read, and is as it was";
    BackupRestore = "backup.restore", "what there was before is not known to the database that this entry is in";
    HookDiscard = "hook.discard", "the hook is as it was; dead letters of it are forgotten";
    HookReplay = "hook.replay", "the hook is as it was; dead letters of it are tried again";
    HookTest = "hook.test", "the hook is as it was; what its action does has entries of its own";
    IdentityIssue = "identity.issue", "what runs is as it was; the token is kept nowhere";
    LoginThrottle = "login.throttle", "the account is as it was; the next attempt waits";
    NodeAdministerFailed = "node.administer.failed", "only the node knows what was done before it failed";
    NodeContainerExport = "node.container.export", "the container is read, and only its node knows it";
    NodeContainerRemove = "node.container.remove", "only the node's engine knew the container";
    NodeImageRemove = "node.image.remove", "only the node's engine knew the image";
    NodeRestoreCheck = "node.restore.check", "the machine is compared with a backup, and is as it was";
    NodeRestoreFailed = "node.restore.failed", "only the node knows what was put back before it failed";
    SecretDeliver = "secret.deliver", "the secret is read, and is as it was";
    SecretRead = "secret.read", "the secret is read, and is as it was";
    SecretRewrap = "secret.rewrap", "every value is as it was; what opens it is another key";
    SecretUnopened = "secret.unopened", "the secret could not be read, and is as it was";
    StackSignal = "stack.signal", "the stack is as it was; what its resource gathers of signals is sealed";
    TokenExposed = "token.exposed", "the token is as it was; somebody may have seen it";
    WorkloadExec = "workload.exec", "the workload is as it was; what the command does is between it and the node";
}
