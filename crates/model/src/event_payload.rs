//! What events say to programs: a small document whose form is fixed by the event's kind.
//!
//! Every kind has a form; which one is in one table here, by kinds and otherwise by the noun before the dot. What is no
//! event's to say is in no form: the value of a secret, a password, a token.
//!
//! Fields are only ever added, and a field that is not known is left out. A payload that cannot be read, because
//! a newer version wrote it, is none.

mod care;
mod machine;
mod people;
mod work;

use serde::Serialize;

use crate::EventKind;

pub use care::{
    AuditAnchorPayload, AuditSinkPayload, AuthorityPayload, BackupPayload, IdentityPayload,
    SecretPayload, ServerPayload,
};
pub use machine::{
    ImagePayload, NodeBackupPayload, NodeDeedPayload, NodeGpuPayload, NodeImagePayload,
    NodePayload, RunPayload, WatcherPayload, WatcherSetPayload,
};
pub use people::{
    ApprovalPayload, ApprovalPolicyPayload, GroupPayload, InvitationPayload, JoinPayload,
    LoginPayload, ProjectPayload, RolePayload, TokenPayload, UserPayload,
};
pub use work::{
    ArrayPayload, CustomPayload, ExecutionPayload, ExecutionPhasePayload, ExecutionStepPayload,
    HookPayload, HookSetPayload, LockPayload, OperationPayload, SchedulePayload, StackPayload,
    StatePayload, VersionPayload,
};

/// Declares payloads all of whose fields may be absent.
macro_rules! forms {
    ($($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $type:ty,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, rename_all = "camelCase")]
        pub struct $name {
            $($(#[$of])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$type>,)+
        }
    )+};
}
use forms;

macro_rules! payloads {
    ($($(#[$meta:meta])* $name:ident($type:ident) = [$($of:literal),+],)+) => {
        /// What an event says to programs.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum EventPayload {
            $($(#[$meta])* $name($type),)+
        }

        $(impl From<$type> for EventPayload {
            fn from(payload: $type) -> EventPayload {
                EventPayload::$name(payload)
            }
        })+

        impl EventPayload {
            /// Reads what events of this kind have; `None` where it cannot be read.
            pub fn read(kind: EventKind, text: &str) -> Option<EventPayload> {
                let (label, noun) = (kind.label(), kind.noun());
                $(if [$($of),+].iter().any(|of| *of == label || *of == noun) {
                    return serde_json::from_str(text).ok().map(EventPayload::$name);
                })+
                None
            }

            /// The schema of what events of this kind have.
            pub fn schema(kind: EventKind) -> Option<schemars::Schema> {
                let (label, noun) = (kind.label(), kind.noun());
                $(if [$($of),+].iter().any(|of| *of == label || *of == noun) {
                    return Some(schemars::schema_for!($type));
                })+
                None
            }

            /// Whether it is what events of this kind have.
            pub fn is_of(&self, kind: EventKind) -> bool {
                let (label, noun) = (kind.label(), kind.noun());
                $(if [$($of),+].iter().any(|of| *of == label || *of == noun) {
                    return matches!(self, EventPayload::$name(_));
                })+
                false
            }
        }
    };
}

// The first that fits counts: single kinds come before their noun.
payloads! {
    Approval(ApprovalPayload) = ["approval"],
    ApprovalPolicy(ApprovalPolicyPayload) = ["approval-policy"],
    Array(ArrayPayload) = ["array"],
    AuditAnchor(AuditAnchorPayload) = ["audit.anchored"],
    AuditSink(AuditSinkPayload) = ["audit"],
    Authority(AuthorityPayload) = ["authority"],
    Backup(BackupPayload) = ["backup"],
    Custom(CustomPayload) = ["custom"],
    ExecutionStep(ExecutionStepPayload) = [
        "execution.step-started",
        "execution.step-ended",
        "execution.step-retried",
        "execution.step-waits",
        "execution.step-undone"
    ],
    ExecutionPhase(ExecutionPhasePayload) = ["execution.phase"],
    Execution(ExecutionPayload) = ["execution"],
    Group(GroupPayload) = ["group"],
    Hook(HookPayload) = ["hook.dead-letter", "hook.loop-cut"],
    HookSet(HookSetPayload) = ["hook"],
    Identity(IdentityPayload) = ["identity"],
    Image(ImagePayload) = ["image"],
    Invitation(InvitationPayload) = ["invitation"],
    Join(JoinPayload) = ["join"],
    Lock(LockPayload) = ["lock"],
    Login(LoginPayload) = ["login"],
    NodeDeed(NodeDeedPayload) = ["node.administered", "node.administer-failed"],
    NodeBackup(NodeBackupPayload) = [
        "node.backed-up",
        "node.backup-failed",
        "node.backup-damaged",
        "node.backup-removed",
        "node.restored",
        "node.restore-failed"
    ],
    NodeGpu(NodeGpuPayload) = ["node.gpu-trouble", "node.gpu-well"],
    NodeImage(NodeImagePayload) = ["node.image-removed", "node.image-trouble"],
    Node(NodePayload) = ["node"],
    Operation(OperationPayload) = ["operation"],
    Project(ProjectPayload) = ["project"],
    Role(RolePayload) = ["role"],
    Run(RunPayload) = ["task", "workload"],
    Schedule(SchedulePayload) = ["schedule"],
    Secret(SecretPayload) = ["secret"],
    Server(ServerPayload) = ["server"],
    Stack(StackPayload) = ["stack"],
    State(StatePayload) = ["state"],
    Token(TokenPayload) = ["token"],
    User(UserPayload) = ["user"],
    Version(VersionPayload) = ["workflow", "module", "stack-plugin"],
    Watcher(WatcherPayload) = ["watcher.fired", "watcher.cleared", "watcher.trouble"],
    WatcherSet(WatcherSetPayload) = ["watcher"],
}

impl EventKind {
    /// What it is about: the part of its label before the dot.
    pub fn noun(self) -> &'static str {
        self.label().split('.').next().unwrap_or_default()
    }

    /// Why an event of this kind may be without a payload; `None` where it never is.
    pub const fn why_no_payload(self) -> Option<&'static str> {
        match self {
            EventKind::Custom => Some("whoever tells of it says whether it has one"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_read_back_by_the_kind_of_their_event() {
        let payload = RunPayload {
            node: Some("n1".parse().unwrap()),
            exit_code: Some(3),
            tags: vec!["prod".to_owned()],
            ..RunPayload::default()
        };
        let text = serde_json::to_string(&EventPayload::from(payload.clone())).unwrap();
        assert_eq!(text, r#"{"node":"n1","exitCode":3,"tags":["prod"]}"#);
        let read = |kind| EventPayload::read(kind, &text);
        assert_eq!(read(EventKind::TaskFailed), Some(payload.clone().into()));
        assert_eq!(read(EventKind::WorkloadFailed), Some(payload.into()));
        assert_eq!(read(EventKind::NodeOffline), None, "of another form");
    }

    #[test]
    fn what_a_newer_version_added_is_left_out() {
        let text = r#"{"plan":"node.drain","state":"succeeded","colour":"red"}"#;
        assert!(EventPayload::read(EventKind::OperationEnded, text).is_some());
    }

    #[test]
    fn every_kind_has_a_form_whose_fields_are_described() {
        for kind in EventKind::ALL {
            let schema = EventPayload::schema(*kind);
            let Some(schema) = schema else { panic!("{kind} has no form") };
            let Some(fields) = schema.get("properties").and_then(|all| all.as_object()) else {
                assert!(kind.why_no_payload().is_some(), "{kind} has a form without fields");
                continue;
            };
            for (name, field) in fields {
                let words = field["description"].as_str().unwrap_or_default();
                assert!(words.ends_with('.') || words.contains(". "), "{kind}: {name}: `{words}`");
            }
        }
    }

    #[test]
    fn a_form_of_single_kinds_comes_before_that_of_their_noun() {
        let gone: EventPayload =
            HookPayload { sequence: 4, attempts: 2, reason: "no".to_owned() }.into();
        let set: EventPayload = HookSetPayload::default().into();
        for (kind, is_gone) in [
            (EventKind::HookDeadLetter, true),
            (EventKind::HookLoopCut, true),
            (EventKind::HookCreated, false),
            (EventKind::HookRemoved, false),
        ] {
            assert_eq!((gone.is_of(kind), set.is_of(kind)), (is_gone, !is_gone), "{kind}");
        }
        assert!(!gone.is_of(EventKind::TaskFailed));
    }
}
