//! What an execution does for the stack that it is about: before its first step, after its last, and while it goes on.
//!
//! ```text
//!   preparing: lock -> validate -> drift -> snapshot     (steps)     settling: drift-after -> rollback     lock given back
//! ```
//!
//! Which of these there are is said by the workflow ([`WorkflowConfig`]). Each is a phase with a standing of its own, and
//! all of them are written with the execution, from the generation that was read. Whatever a phase asks for has an id
//! that was chosen before ([`StackCare::hold`], [`StackCare::snapshot`]), so that whoever carries an execution on after
//! another server died asks for the same again, and finds what was done.
//!
//! A phase that fails before the first step ends the execution before it; so does a lock that is lost while steps run.
//! Everything is done in the name of whoever began the execution, with the rights that they have then
//! ([`StackCare::mandate`]).

use serde::{Deserialize, Serialize};

use super::{ExecutionOutcome, OnFailure, WorkflowConfig};
use crate::stack::{StackName, StackPoint};
use crate::{Generation, LockHoldId, Mandate, Span, StackId, StackSnapshotId, Timestamp};

crate::labels! {
    /// What is done for a stack.
    pub enum CareKind ("phase of an execution") {
        /// Nobody else changes it.
        Lock = "lock",
        /// The checklist is gone through.
        Validate = "validate",
        /// Its objects are looked at.
        Drift = "drift",
        /// It is kept as it is.
        Snapshot = "snapshot",
        /// Its objects are looked at once more.
        DriftAfter = "drift-after",
        /// It becomes as it was.
        Rollback = "rollback",
    }
}

impl CareKind {
    /// Before the first step.
    pub const BEFORE: [CareKind; 4] =
        [CareKind::Lock, CareKind::Validate, CareKind::Drift, CareKind::Snapshot];
    /// After the last one, and after what undoes steps.
    pub const AFTER: [CareKind; 2] = [CareKind::DriftAfter, CareKind::Rollback];
}

crate::labels! {
    /// How a phase ended.
    pub enum CareEnd ("end of a phase") {
        Succeeded = "succeeded",
        /// It was done, and found something that people want to know.
        Warned = "warned",
        Failed = "failed",
        /// There was no need for it.
        Skipped = "skipped",
        /// The lock was given back.
        Released = "released",
        /// The lock ended, or was taken away, before it was given back.
        Lost = "lost",
    }
}

impl CareEnd {
    pub const fn is_bad(self) -> bool {
        matches!(self, CareEnd::Failed | CareEnd::Lost)
    }
}

/// How a phase stands.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CareStanding {
    /// Its turn has not come.
    #[default]
    Waiting,
    /// It is given up at `until`.
    Running {
        since: Timestamp,
        until: Timestamp,
    },
    /// The lock is held; nobody hears of it any more when it is not renewed.
    Held {
        since: Timestamp,
        renewed: Timestamp,
    },
    Ended {
        since: Timestamp,
        at: Timestamp,
        end: CareEnd,
    },
}

impl CareStanding {
    /// Others need not wait for it.
    pub const fn is_over(self) -> bool {
        matches!(self, CareStanding::Held { .. } | CareStanding::Ended { .. })
    }
    pub const fn end(self) -> Option<CareEnd> {
        match self {
            CareStanding::Ended { end, .. } => Some(end),
            _ => None,
        }
    }
    pub const fn since(self) -> Option<Timestamp> {
        match self {
            CareStanding::Waiting => None,
            CareStanding::Running { since, .. }
            | CareStanding::Held { since, .. }
            | CareStanding::Ended { since, .. } => Some(since),
        }
    }
    /// In one word.
    pub const fn label(self) -> &'static str {
        match self {
            CareStanding::Waiting => "waiting",
            CareStanding::Running { .. } => "running",
            CareStanding::Held { .. } => "held",
            CareStanding::Ended { end, .. } => end.label(),
        }
    }
}

/// One thing that is done for a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarePhase {
    pub kind: CareKind,
    #[serde(default)]
    pub standing: CareStanding,
    /// What it found, or what it waits for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// How far the way back is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CareWay {
    /// It is asked for next, of the stack as it was after this change.
    From(Generation),
    /// It is this change.
    Begun(Generation),
}

/// What an execution does for its stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackCare {
    pub stack: StackName,
    pub stack_id: StackId,
    /// Of whoever began the execution.
    pub mandate: Mandate,
    /// Of the lock; every time that the execution goes on has another.
    pub hold: LockHoldId,
    /// How long the lock is waited for.
    pub patience: Span,
    /// Of the snapshot.
    pub snapshot: StackSnapshotId,
    /// The newest revision when the first step could begin; 0 where there was none.
    #[serde(default)]
    pub revision: u32,
    pub phases: Vec<CarePhase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<CareWay>,
    /// Why the execution ends although nobody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl StackCare {
    /// How long a lock is waited for where nothing else is said.
    pub const PATIENCE: Span = Span::from_secs(300);

    pub fn phase(&self, kind: CareKind) -> Option<&CarePhase> {
        self.phases.iter().find(|phase| phase.kind == kind)
    }

    pub fn phase_mut(&mut self, kind: CareKind) -> Option<&mut CarePhase> {
        self.phases.iter_mut().find(|phase| phase.kind == kind)
    }

    /// The first of these that others wait for.
    pub fn open(&self, kinds: &[CareKind]) -> Option<CareKind> {
        kinds
            .iter()
            .copied()
            .find(|kind| self.phase(*kind).is_some_and(|phase| !phase.standing.is_over()))
    }

    /// Everything before the first step went well, so that there is something to come back to.
    pub fn is_prepared(&self) -> bool {
        let before = CareKind::BEFORE.iter().filter_map(|kind| self.phase(*kind));
        let mut ends = before.map(|phase| phase.standing);
        ends.all(|standing| {
            let is_well = |end| matches!(end, CareEnd::Succeeded | CareEnd::Warned);
            match standing {
                CareStanding::Held { .. } => true,
                CareStanding::Ended { end: CareEnd::Lost | CareEnd::Released, .. } => true,
                other => other.end().is_some_and(is_well),
            }
        })
    }

    /// Why a phase after the last step is not needed; nothing where it is.
    pub fn needless(&self, kind: CareKind, outcome: ExecutionOutcome) -> Option<&'static str> {
        match kind {
            CareKind::Rollback if outcome == ExecutionOutcome::Succeeded => {
                Some("everything went well")
            }
            CareKind::Rollback | CareKind::DriftAfter if !self.is_prepared() => {
                Some("no step was begun")
            }
            _ => None,
        }
    }

    /// What a failed execution goes back to.
    pub fn way_back(&self) -> Option<StackPoint> {
        let kept = self.phase(CareKind::Snapshot).and_then(|phase| phase.standing.end());
        match (kept, self.revision) {
            (Some(CareEnd::Succeeded), _) => Some(StackPoint::Snapshot(self.snapshot)),
            (_, 0) => None,
            (_, number) => Some(StackPoint::Revision(number)),
        }
    }

    /// The same once more, for an execution that goes on after it was over.
    pub fn again(&self, hold: LockHoldId, snapshot: StackSnapshotId) -> StackCare {
        let anew = |phase: &CarePhase| CarePhase {
            kind: phase.kind,
            standing: CareStanding::Waiting,
            message: String::new(),
        };
        StackCare {
            hold,
            snapshot,
            revision: 0,
            phases: self.phases.iter().map(anew).collect(),
            way: None,
            failure: None,
            ..self.clone()
        }
    }
}

impl WorkflowConfig {
    /// What is to be done for the stack, in its order.
    pub fn care(&self) -> Vec<CareKind> {
        let wanted = [
            (CareKind::Lock, self.require_lock),
            (CareKind::Validate, self.validate_before),
            (CareKind::Drift, self.detect_drift),
            (CareKind::Snapshot, self.create_snapshot),
            (CareKind::DriftAfter, self.detect_drift),
            (CareKind::Rollback, self.on_failure == OnFailure::Rollback),
        ];
        wanted.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(kind, _)| kind).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn care(config: &WorkflowConfig) -> StackCare {
        let id = uuid::Uuid::from_u128(7);
        StackCare {
            stack: "web".parse().unwrap(),
            stack_id: crate::TypedId::from_uuid(id),
            mandate: Mandate { principal: crate::TypedId::from_uuid(id), can: None },
            hold: crate::TypedId::from_uuid(id),
            patience: StackCare::PATIENCE,
            snapshot: crate::TypedId::from_uuid(id),
            revision: 3,
            phases: config
                .care()
                .into_iter()
                .map(|kind| CarePhase {
                    kind,
                    standing: CareStanding::Waiting,
                    message: String::new(),
                })
                .collect(),
            way: None,
            failure: None,
        }
    }

    fn everything() -> WorkflowConfig {
        WorkflowConfig {
            require_lock: true,
            create_snapshot: true,
            validate_before: true,
            detect_drift: true,
            on_failure: OnFailure::Rollback,
            ..WorkflowConfig::default()
        }
    }

    fn end(care: &mut StackCare, kind: CareKind, end: CareEnd) {
        let at = Timestamp::default();
        let standing = match (kind, end) {
            (CareKind::Lock, CareEnd::Succeeded) => CareStanding::Held { since: at, renewed: at },
            _ => CareStanding::Ended { since: at, at, end },
        };
        care.phase_mut(kind).unwrap().standing = standing;
    }

    #[test]
    fn phases_come_in_their_order_and_only_those_that_are_wanted() {
        assert_eq!(WorkflowConfig::default().care(), []);
        let mut whole = care(&everything());
        for kind in CareKind::BEFORE {
            assert_eq!(whole.open(&CareKind::BEFORE), Some(kind));
            assert!(!whole.is_prepared());
            end(&mut whole, kind, CareEnd::Succeeded);
        }
        assert_eq!(whole.open(&CareKind::BEFORE), None);
        assert!(whole.is_prepared());
        assert_eq!(whole.open(&CareKind::AFTER), Some(CareKind::DriftAfter));
    }

    #[test]
    fn one_goes_back_to_the_snapshot_or_else_to_the_revision_or_not_at_all() {
        let mut whole = care(&everything());
        assert_eq!(whole.way_back(), Some(StackPoint::Revision(3)));
        end(&mut whole, CareKind::Snapshot, CareEnd::Succeeded);
        assert_eq!(whole.way_back(), Some(StackPoint::Snapshot(whole.snapshot)));
        let bare = StackCare {
            revision: 0,
            ..care(&WorkflowConfig { on_failure: OnFailure::Rollback, ..Default::default() })
        };
        assert_eq!(bare.way_back(), None);
    }

    #[test]
    fn nothing_is_undone_where_nothing_was_done() {
        let mut whole = care(&everything());
        let failed = ExecutionOutcome::Failed;
        assert!(whole.needless(CareKind::Rollback, failed).is_some());
        for kind in CareKind::BEFORE {
            end(&mut whole, kind, CareEnd::Succeeded);
        }
        assert_eq!(whole.needless(CareKind::Rollback, failed), None);
        assert!(whole.needless(CareKind::Rollback, ExecutionOutcome::Succeeded).is_some());
        // What was locked and lost it was begun all the same.
        end(&mut whole, CareKind::Lock, CareEnd::Lost);
        assert_eq!(whole.needless(CareKind::Rollback, failed), None);
        end(&mut whole, CareKind::Validate, CareEnd::Failed);
        assert!(whole.needless(CareKind::Rollback, failed).is_some());
    }

    #[test]
    fn another_time_is_another_hold_and_another_snapshot() {
        let mut whole = care(&everything());
        end(&mut whole, CareKind::Lock, CareEnd::Released);
        whole.failure = Some("lost".into());
        let (hold, snapshot) = (uuid::Uuid::from_u128(1), uuid::Uuid::from_u128(2));
        let again =
            whole.again(crate::TypedId::from_uuid(hold), crate::TypedId::from_uuid(snapshot));
        assert!(again.phases.iter().all(|phase| phase.standing == CareStanding::Waiting));
        assert_eq!((again.failure.clone(), again.revision), (None, 0));
        assert_ne!((again.hold, again.snapshot), (whole.hold, whole.snapshot));
        let text = serde_json::to_string(&again).unwrap();
        assert_eq!(serde_json::from_str::<StackCare>(&text).unwrap(), again);
    }
}
