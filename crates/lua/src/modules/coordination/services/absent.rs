//! For steps that have nobody to share anything with: everything is refused, in words that help.

use hostler_model::Span;
use serde_json::Value as Json;

use super::{
    Answer, Change, Changed, Entry, Holder, Pattern, Registered, Resource, ResourceSpec,
    ServiceError, Services, Stack, StackAct, Taken, Watcher,
};

/// Nothing is shared with other steps.
pub struct AbsentServices;

fn refused<'a, T: 'a>(what: &str, instead: &str) -> Answer<'a, T> {
    let words = format!("{what} is not kept for steps that run on a node; {instead}");
    Box::pin(async move { Err(ServiceError::Refused(words)) })
}

const RETURN: &str = "return what later steps need as the output of this one";
const WATCHER: &str = "a watcher";
const STACK: &str = "a stack";
const HERE: &str = "run the workflow with --here where that is needed";

impl Services for AbsentServices {
    fn state_get(&self, _: &str) -> Answer<'_, Option<Entry>> {
        refused("state", RETURN)
    }
    fn state_change(&self, _: &str, _: Change) -> Answer<'_, Changed> {
        refused("state", RETURN)
    }
    fn state_list(&self, _: &Pattern) -> Answer<'_, Vec<(String, Entry)>> {
        refused("state", RETURN)
    }
    fn state_clear(&self, _: &Pattern) -> Answer<'_, usize> {
        refused("state", RETURN)
    }
    fn state_backend(&self) -> &'static str {
        "none"
    }

    fn lock_take(&self, _: &str, _: &Holder, _: Span) -> Answer<'_, Taken> {
        refused("a lock", HERE)
    }
    fn lock_renew(&self, _: &str, _: &str, _: Span) -> Answer<'_, bool> {
        refused("a lock", HERE)
    }
    fn lock_release(&self, _: &str, _: &str) -> Answer<'_, bool> {
        refused("a lock", HERE)
    }

    fn event_dispatch(&self, _: &str, _: Json) -> Answer<'_, String> {
        refused("an event", HERE)
    }

    fn watcher_register(&self, _: Watcher) -> Answer<'_, ()> {
        refused(WATCHER, HERE)
    }
    fn watcher_list(&self) -> Answer<'_, Vec<Watcher>> {
        refused(WATCHER, HERE)
    }
    fn watcher_remove(&self, _: &str) -> Answer<'_, bool> {
        refused(WATCHER, HERE)
    }

    fn stack(&self) -> Answer<'_, Option<Stack>> {
        Box::pin(async { Ok(None) })
    }
    fn stack_output_set(&self, _: &str, _: Json) -> Answer<'_, ()> {
        refused(STACK, HERE)
    }
    fn resource_register(&self, _: ResourceSpec) -> Answer<'_, (Registered, Resource)> {
        refused(STACK, HERE)
    }
    fn resource_get(&self, _: &str, _: &str) -> Answer<'_, Option<Resource>> {
        refused(STACK, HERE)
    }
    fn resource_update(
        &self,
        _: &str,
        _: &str,
        _: Option<String>,
        _: Option<String>,
    ) -> Answer<'_, Option<Resource>> {
        refused(STACK, HERE)
    }
    fn resource_delete(&self, _: &str, _: &str) -> Answer<'_, bool> {
        refused(STACK, HERE)
    }
    fn stack_act(&self, _: StackAct) -> Answer<'_, Json> {
        refused(STACK, HERE)
    }
}
