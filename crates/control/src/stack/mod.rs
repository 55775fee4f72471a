//! How stacks come to be as their templates say.
//!
//! Everything is in rows, as with executions. A pass ([`pass`]) takes a stack that somebody has to look at, with its resources
//! ([`scene`]), reads what it is to be ([`blueprint`]), asks `engine::stack::Course` what follows, and writes all of it in one
//! transaction that names the generation it has read ([`commit`]): rows, deeds, events, stacks below, revisions. Whoever
//! loses that race, or dies before it, has done nothing; whoever comes next reads the same rows and decides the same.
//!
//! What a pass decides is done in two ways:
//!
//! - A type without an effect outside the database is done at once: its deed is begun, done and told in the pass itself, so
//!   that thousands of resources are one transaction.
//! - Everything else is a deed that is committed first, owned by this server under a lease, and then carried out beside
//!   others ([`perform`]); what came of it is written by a later pass, many results together. A server that dies leaves its
//!   deeds to their leases; another one carries them out again, under the same key ([`StackResource::deed_key`]), so that
//!   whoever is called outside can tell that it is the same.
//!
//! A stack below a resource is a stack of its own. It is made and changed in the transaction of the stack above, and when it
//! has ended its transaction says that the deed above is due.
//!
//! What was read stays in memory for as long as a stack is under way and its generation is the one that this server wrote.
//!
//! [`StackResource::deed_key`]: hostler_model::stack::StackResource::deed_key

mod alarm;
#[doc(hidden)]
pub mod bench;
mod blueprint;
mod child;
mod commit;
mod document;
mod drift;
mod enter;
mod examine;
mod extra;
mod hidden;
mod live;
mod pass;
mod perform;
mod plan;
mod plan_below;
mod plan_words;
pub(crate) mod plugin;
mod present;
mod scene;
mod scope;
mod seal;
mod sight;
mod signal;
mod signal_url;
mod stage;
mod tally;
mod uses;

pub(crate) use blueprint::{Blueprint, files_of, identity_of};
pub(crate) use commit::Advanced;
pub(crate) use document::{as_heat, document, exported, whole};
pub(crate) use enter::NewStack;
pub(crate) use hidden::{Hidden, hidden_parameters};
pub(crate) use pass::Walk;
pub(crate) use perform::{Task, Told};

pub use alarm::{AlarmReport, StackAlarms};
pub(crate) use plan::{Tried, Wish};
pub(crate) use plan_words::{conceal_all, parameters_differ, values_differ};
pub(crate) use scene::{Output, Scene};
pub(crate) use seal::{StackKey, key_place};
pub(crate) use signal::Signalled;
pub use signal_url::SignalPass;
pub(crate) use stage::Stage;
pub(crate) use tally::StackTally;
pub use tally::{OTHER_TYPE, STACK_LENGTH_BOUNDS, StackCounts, StackLengths};

use hostler_model::stack::Stack;
use hostler_model::{EventKind, NewEvent, ObjectKind, ObjectRef, StackPayload, stack_correlation};

use crate::Control;

pub(crate) fn stack_object(stack: &Stack) -> ObjectRef {
    ObjectRef::new(ObjectKind::Stack, stack.id, &stack.name)
}

/// What its events say to programs.
pub(crate) fn stack_payload(stack: &Stack) -> StackPayload {
    StackPayload {
        action: stack.standing.action,
        status: stack.standing.status,
        reason: stack.standing.reason.clone(),
        why: String::new(),
        traversal: stack.traversal.get(),
        revision: stack.revision,
        resource: None,
    }
}

impl Control {
    /// Something that a stack did by itself.
    pub(crate) fn stack_news(
        &self,
        stack: &Stack,
        kind: EventKind,
        words: impl Into<String>,
    ) -> NewEvent {
        let (object, actor) = (stack_object(stack), self.system_actor());
        self.event(kind, Some(stack.project_id), &object, actor, words)
            .with_payload(stack_payload(stack))
            .caused_by(stack_correlation(stack.id))
    }
}
