//! What types have in common whose object is a stack.
//!
//! They wish for something of that stack, and then wait until it has ended. A stack below that has failed makes its resource
//! fail, with the path of what failed; the resource is kept, and the next update goes on with the same stack.

use hostler_engine::stack::Failure;
use hostler_model::stack::{DeedKind, StackAction, StackStatus};
use hostler_template::schema::ResourceSchema;
use serde_json::{Map, Value};

use super::super::read::when_told;
use super::super::{Change, ChildForm, ChildWish, Ctx, Doing, Lean, Progress, Seen, at_once};

/// How the stack below stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Below {
    /// There is none, or none any more.
    Nothing,
    Busy,
    Well,
    Failed(Failure),
}

pub(super) fn below(seen: &Seen<'_>) -> Below {
    let Some(child) = seen.child else { return Below::Nothing };
    match (child.standing.action, child.standing.status) {
        (StackAction::Delete, StackStatus::Complete) => Below::Nothing,
        (_, StackStatus::InProgress) => Below::Busy,
        (_, StackStatus::Complete) => Below::Well,
        (_, StackStatus::Failed) => Below::Failed(Failure::of_nested(&child.standing.reason)),
    }
}

/// The stack below becomes like that, and somebody looks when it has.
pub(super) fn apply(ctx: &Ctx<'_>, change: Change, form: ChildForm) -> Progress {
    Progress::Wait(change.child(ChildWish::Apply(Box::new(form))), when_told(ctx.now))
}

/// Asks something of the stack below; nothing where there is none.
pub(super) fn ask<'a>(ctx: &Ctx<'_>, wish: ChildWish) -> Doing<'a> {
    at_once(match below(&ctx.seen) {
        Below::Nothing => Progress::done(),
        _ => Progress::Wait(Change::default().child(wish), when_told(ctx.now)),
    })
}

/// Waits for the end of what was asked; `done` says what is to be remembered of it.
pub(super) fn follow(ctx: &Ctx<'_>, done: impl FnOnce() -> Change) -> Progress {
    let is_removal = ctx.deed_kind() == Some(DeedKind::Delete);
    match below(&ctx.seen) {
        Below::Busy => Progress::Wait(Change::default(), when_told(ctx.now)),
        Below::Well if is_removal => {
            Progress::Wait(Change::default().child(ChildWish::Delete), when_told(ctx.now))
        }
        Below::Nothing if is_removal => Progress::done(),
        Below::Nothing => Progress::Gone,
        Below::Well => Progress::Done(done()),
        Below::Failed(failure) => Progress::Failed(Change::default(), failure),
    }
}

/// What the stack below is made of is taken over. Members that have names by chance have those that they had.
pub(super) fn taking_over(mut progress: Progress, left: &Map<String, Value>) -> Progress {
    let (Progress::Wait(change, _) | Progress::Done(change)) = &mut progress else {
        return progress;
    };
    let Some(ChildWish::Apply(form)) = &mut change.child else { return progress };
    form.left = left.get("resources").and_then(Value::as_object).cloned().unwrap_or_default();
    let resources = form.template.get_mut("resources").and_then(Value::as_object_mut);
    if let Some(resources) =
        resources.filter(|resources| !resources.keys().any(|name| form.left.contains_key(name)))
    {
        let own = std::mem::take(resources);
        let former = form.left.keys().map(Some).chain(std::iter::repeat(None));
        let named = own
            .into_iter()
            .zip(former)
            .map(|((name, member), former)| (former.cloned().unwrap_or(name), member));
        *resources = named.collect();
    }
    progress
}

/// How stacks are named by others.
pub(super) fn arn(seen: &Seen<'_>) -> Option<Value> {
    let child = seen.child?;
    let project = seen.stack.project_id;
    Some(Value::String(format!("arn:openstack:heat::{project}:stacks/{}/{}", child.name, child.id)))
}

/// The deeds of every type whose object is a stack, besides making and changing it.
macro_rules! deeds_below {
    () => {
        fn has_child(&self) -> bool {
            true
        }

        fn can(&self, _: hostler_model::stack::DeedKind) -> bool {
            true
        }

        fn adopt<'a>(
            &'a self,
            ctx: &'a crate::stack::plugin::Ctx<'a>,
            left: &'a serde_json::Map<String, serde_json::Value>,
        ) -> crate::stack::plugin::Doing<'a> {
            let made = self.create(ctx);
            Box::pin(async move {
                Ok(crate::stack::plugin::heat::below::taking_over(made.await?, left))
            })
        }

        fn is_kept_after_failure(&self, seen: &crate::stack::plugin::Seen<'_>) -> bool {
            seen.child.is_some()
        }

        fn delete<'a>(
            &'a self,
            ctx: &'a crate::stack::plugin::Ctx<'a>,
        ) -> crate::stack::plugin::Doing<'a> {
            crate::stack::plugin::heat::below::ask(ctx, crate::stack::plugin::ChildWish::Delete)
        }

        fn suspend<'a>(
            &'a self,
            ctx: &'a crate::stack::plugin::Ctx<'a>,
        ) -> crate::stack::plugin::Doing<'a> {
            crate::stack::plugin::heat::below::ask(ctx, crate::stack::plugin::ChildWish::Suspend)
        }

        fn resume<'a>(
            &'a self,
            ctx: &'a crate::stack::plugin::Ctx<'a>,
        ) -> crate::stack::plugin::Doing<'a> {
            crate::stack::plugin::heat::below::ask(ctx, crate::stack::plugin::ChildWish::Resume)
        }

        fn check<'a>(
            &'a self,
            ctx: &'a crate::stack::plugin::Ctx<'a>,
        ) -> crate::stack::plugin::Doing<'a> {
            crate::stack::plugin::heat::below::ask(ctx, crate::stack::plugin::ChildWish::Check)
        }

        fn snapshot<'a>(
            &'a self,
            ctx: &'a crate::stack::plugin::Ctx<'a>,
        ) -> crate::stack::plugin::Doing<'a> {
            crate::stack::plugin::heat::below::ask(ctx, crate::stack::plugin::ChildWish::Snapshot)
        }
    };
}

pub(super) use deeds_below;

/// The stack below decides by itself what changes, unless what changed takes another resource.
pub(super) fn lean(schema: &ResourceSchema, changed: &[String]) -> Lean {
    let takes_another =
        |name: &String| schema.get(name).is_some_and(|property| !property.is_updatable);
    if changed.iter().any(takes_another) { Lean::BySchema } else { Lean::Update }
}

/// Whether a deed makes or changes the stack below.
pub(super) fn is_making(ctx: &Ctx<'_>) -> bool {
    matches!(ctx.deed_kind(), Some(DeedKind::Create | DeedKind::Update | DeedKind::Adopt))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, child_of, failed, waits};
    use super::*;
    use hostler_model::stack::StackStanding;
    use serde_json::json;

    fn child(standing: StackStanding) -> Bench {
        Bench::new("n").child(child_of(standing, json!({}), Vec::new()))
    }

    #[test]
    fn resources_stand_as_the_stack_below() {
        let cases = [
            (StackStanding::begun(StackAction::Create), Below::Busy),
            (StackStanding::completed(StackAction::Update), Below::Well),
            (StackStanding::completed(StackAction::Delete), Below::Nothing),
            (
                StackStanding::failed(
                    StackAction::Create,
                    "Resource CREATE failed: ValueError: resources.z: no",
                ),
                Below::Failed(Failure {
                    kind: "ValueError".into(),
                    within: Some("resources.z".into()),
                    message: "no".into(),
                }),
            ),
        ];
        for (standing, wanted) in cases {
            assert_eq!(below(&child(standing).seen()), wanted);
        }
        assert_eq!(below(&Bench::new("n").seen()), Below::Nothing);
    }

    #[test]
    fn what_was_left_is_taken_over() {
        let wish = |template: Value| {
            let form = ChildForm { template, ..ChildForm::default() };
            Progress::Wait(
                Change::default().child(ChildWish::Apply(Box::new(form))),
                hostler_model::Timestamp::from_micros(0),
            )
        };
        let left = json!({"resources": {"old": {"resource_id": "1"}}});
        let taken = |template: Value| {
            let (change, _) = waits(taking_over(wish(template), left.as_object().unwrap()));
            let Some(ChildWish::Apply(form)) = change.child else { panic!("not applied") };
            assert_eq!(form.left["old"]["resource_id"], json!("1"));
            form.template["resources"].clone()
        };
        assert_eq!(taken(json!({"resources": {"old": 1, "b": 2}})), json!({"old": 1, "b": 2}));
        assert_eq!(taken(json!({"resources": {"a": 1, "b": 2}})), json!({"old": 1, "b": 2}));
        assert_eq!(taking_over(Progress::Gone, left.as_object().unwrap()), Progress::Gone);
    }

    #[test]
    fn the_end_below_is_the_end() {
        let follow = |bench: &Bench, kind| {
            bench.clone().deed(kind).run(|ctx| follow(ctx, || Change::physical("x")))
        };
        let busy = child(StackStanding::begun(StackAction::Create));
        waits(follow(&busy, DeedKind::Create));
        let well = child(StackStanding::completed(StackAction::Create));
        assert_eq!(follow(&well, DeedKind::Create), Progress::Done(Change::physical("x")));
        assert_eq!(waits(follow(&well, DeedKind::Delete)).0.child, Some(ChildWish::Delete));
        let bad = child(StackStanding::failed(StackAction::Create, "Timed out"));
        assert_eq!(failed(follow(&bad, DeedKind::Create)), "StackFailed: Timed out");
        assert_eq!(follow(&Bench::new("n"), DeedKind::Delete), Progress::done());
        assert_eq!(follow(&Bench::new("n"), DeedKind::Update), Progress::Gone);
    }
}
