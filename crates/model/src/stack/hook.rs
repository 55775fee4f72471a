//! Places at which a resource waits until somebody lets it go on.

use serde::{Deserialize, Serialize};

use super::DeedKind;
use crate::Generation;

crate::labels! {
    /// Before or after what is done to a resource.
    pub enum StackHook ("hook of a stack") {
        PreCreate = "pre-create",
        PreUpdate = "pre-update",
        PreDelete = "pre-delete",
        PostCreate = "post-create",
        PostUpdate = "post-update",
        PostDelete = "post-delete",
    }
}

impl StackHook {
    /// What the resource stops at before this is done to it.
    pub const fn before(deed: DeedKind) -> Option<StackHook> {
        match deed {
            DeedKind::Create | DeedKind::Adopt => Some(StackHook::PreCreate),
            DeedKind::Update => Some(StackHook::PreUpdate),
            DeedKind::Delete => Some(StackHook::PreDelete),
            DeedKind::Suspend | DeedKind::Resume | DeedKind::Snapshot | DeedKind::Check => None,
        }
    }

    /// What the resource stops at when this was done to it.
    pub const fn after(deed: DeedKind) -> Option<StackHook> {
        match deed {
            DeedKind::Create | DeedKind::Adopt => Some(StackHook::PostCreate),
            DeedKind::Update => Some(StackHook::PostUpdate),
            DeedKind::Delete => Some(StackHook::PostDelete),
            DeedKind::Suspend | DeedKind::Resume | DeedKind::Snapshot | DeedKind::Check => None,
        }
    }

    /// What is done before or after it, as Heat writes the action.
    pub const fn heat_action(self) -> &'static str {
        match self {
            StackHook::PreCreate | StackHook::PostCreate => "CREATE",
            StackHook::PreUpdate | StackHook::PostUpdate => "UPDATE",
            StackHook::PreDelete | StackHook::PostDelete => "DELETE",
        }
    }

    /// The reason of the event when a resource stops here.
    pub fn paused(self) -> String {
        format!("{} paused until Hook {self} is cleared", self.heat_action())
    }

    /// The reason of the event when it goes on.
    pub fn cleared(self) -> String {
        format!("Hook {self} is cleared")
    }
}

/// That a resource came to a hook. It counts in one traversal only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookStanding {
    pub traversal: Generation,
    pub is_cleared: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_what_clients_look_for() {
        let hook: StackHook = "pre-create".parse().unwrap();
        assert_eq!(hook.paused(), "CREATE paused until Hook pre-create is cleared");
        assert_eq!(hook.cleared(), "Hook pre-create is cleared");
        assert_eq!(StackHook::after(DeedKind::Delete), Some(StackHook::PostDelete));
    }
}
