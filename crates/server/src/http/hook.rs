//! Event hooks.

use hostler_api::hook::{
    DeadLetterBody, DeadLetterReply, DeliveryQuery, DeliveryView, HookDeliveryList, HookDisable,
    HookDiscard, HookEnable, HookGet, HookList, HookRemove, HookReplay, HookSet, HookTest,
    HookTestBody, HookTestView, HookView, ProjectHookDeliveryList, ProjectHookDisable,
    ProjectHookDiscard, ProjectHookEnable, ProjectHookGet, ProjectHookList, ProjectHookRemove,
    ProjectHookReplay, ProjectHookSet, ProjectHookTest,
};
use hostler_api::{Listing, Nothing, PageQuery};
use hostler_control::{Cx, EventHookDetail};
use hostler_model::{Diagnostic, Error, EventHookSpec, Generation, HookDelivery, Name, Project};

use super::error::malformed;
use super::gather::Gather;
use super::{Answer, App, Call};

/// The same for hooks of the whole installation and of a project.
macro_rules! both {
    ($($global:ident($g:ident), $project:ident($p:ident) -> $reply:ty = |$app:ident, $call:ident, $in:ident| $body:expr;)+) => {$(
        pub(crate) async fn $global($app: App, $call: Call<$g>) -> Result<Answer<$reply>, Error> {
            let $in: Option<&Project> = None;
            $body.await
        }

        pub(crate) async fn $project($app: App, $call: Call<$p>) -> Result<Answer<$reply>, Error> {
            let $in = Some($call.project());
            $body.await
        }
    )+};
}

both! {
    list(HookList), project_list(ProjectHookList) -> Listing<HookView> =
        |app, call, project| listed(&app, &call.cx, project, &call.query);
    get(HookGet), project_get(ProjectHookGet) -> HookView =
        |app, call, project| got(&app, &call.cx, project, &call.path.hook);
    set(HookSet), project_set(ProjectHookSet) -> HookView =
        |app, call, project| put(&app, &call.cx, project, &call.path.hook, call.body.clone(), call.expected);
    enable(HookEnable), project_enable(ProjectHookEnable) -> HookView =
        |app, call, project| switched(&app, &call.cx, project, &call.path.hook, true);
    disable(HookDisable), project_disable(ProjectHookDisable) -> HookView =
        |app, call, project| switched(&app, &call.cx, project, &call.path.hook, false);
    test(HookTest), project_test(ProjectHookTest) -> HookTestView =
        |app, call, project| tested(&app, &call.cx, project, &call.path.hook, &call.body);
    deliveries(HookDeliveryList), project_deliveries(ProjectHookDeliveryList) -> Listing<DeliveryView> =
        |app, call, project| delivered(&app, &call.cx, project, &call.path.hook, &call.query);
    replay(HookReplay), project_replay(ProjectHookReplay) -> DeadLetterReply =
        |app, call, project| replayed(&app, &call.cx, project, &call.path.hook, &call.body);
    discard(HookDiscard), project_discard(ProjectHookDiscard) -> DeadLetterReply =
        |app, call, project| discarded(&app, &call.cx, project, &call.path.hook, &call.body);
    remove(HookRemove), project_remove(ProjectHookRemove) -> Nothing =
        |app, call, project| removed(&app, &call.cx, project, &call.path.hook, call.expected);
}

async fn listed(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    query: &PageQuery,
) -> Result<Answer<Listing<HookView>>, Error> {
    let mut list = Gather::of::<HookList>(query)?;
    while let Some(ask) = list.ask() {
        let found = app.control().event_hook_list(cx, project, ask.after(), ask.limit).await?;
        list.take(found, view)?;
    }
    Ok(Answer::new(list.listing()))
}

async fn got(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
) -> Result<Answer<HookView>, Error> {
    Ok(shown(app.control().event_hook_get(cx, project, hook).await?))
}

async fn put(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
    spec: EventHookSpec,
    expected: Generation,
) -> Result<Answer<HookView>, Error> {
    let name: Name = hook.parse().map_err(|problem| bad_name(&problem))?;
    let set = Box::pin(app.control().event_hook_set(cx, project, &name, spec, expected));
    Ok(shown(set.await?))
}

fn bad_name(problem: &dyn std::fmt::Display) -> Error {
    let detail = problem.to_string();
    let mut error = malformed(detail.clone(), "choose a name such as tell-ops");
    error.errors = vec![Diagnostic::new("/path/hook", detail)];
    error
}

async fn switched(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
    is_enabled: bool,
) -> Result<Answer<HookView>, Error> {
    Ok(shown(app.control().event_hook_enable(cx, project, hook, is_enabled).await?))
}

async fn tested(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
    body: &HookTestBody,
) -> Result<Answer<HookTestView>, Error> {
    let test = Box::pin(app.control().event_hook_test(cx, project, hook, body.sequence)).await?;
    Ok(Answer::new(HookTestView {
        is_match: test.is_match,
        is_done: test.is_done,
        note: test.note,
        status: test.status,
        made: test.made,
    }))
}

async fn delivered(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
    query: &DeliveryQuery,
) -> Result<Answer<Listing<DeliveryView>>, Error> {
    let mut list = Gather::numbered::<HookDeliveryList>(query)?;
    let (control, state) = (app.control(), query.state);
    while let Some(ask) = list.ask() {
        let (before, limit) = (ask.number(), ask.limit);
        let found = control.hook_delivery_list(cx, project, hook, state, before, limit).await?;
        list.take(found, delivery_view)?;
    }
    Ok(Answer::new(list.listing()))
}

async fn replayed(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
    body: &DeadLetterBody,
) -> Result<Answer<DeadLetterReply>, Error> {
    let count = app.control().hook_delivery_replay(cx, project, hook, body.sequence).await?;
    Ok(Answer::new(DeadLetterReply { count }))
}

async fn discarded(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
    body: &DeadLetterBody,
) -> Result<Answer<DeadLetterReply>, Error> {
    let count = app.control().hook_delivery_discard(cx, project, hook, body.sequence).await?;
    Ok(Answer::new(DeadLetterReply { count }))
}

async fn removed(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    hook: &str,
    expected: Generation,
) -> Result<Answer<Nothing>, Error> {
    app.control().event_hook_remove(cx, project, hook, expected).await?;
    Ok(Answer::new(Nothing {}))
}

fn shown(detail: EventHookDetail) -> Answer<HookView> {
    let generation = detail.hook.generation;
    Answer::new(view(detail)).with_generation(generation)
}

fn view(detail: EventHookDetail) -> HookView {
    let hook = detail.hook;
    HookView {
        id: hook.id,
        name: hook.name,
        project: detail.project,
        summary: hook.spec.action.summary(),
        spec: hook.spec,
        is_enabled: hook.is_enabled,
        owner: detail.owner,
        deliveries: detail.counts,
        generation: hook.generation.get(),
        time_created: hook.time_created,
        time_modified: hook.time_modified,
    }
}

fn delivery_view(delivery: HookDelivery) -> DeliveryView {
    DeliveryView {
        id: delivery.key(),
        sequence: delivery.sequence,
        state: delivery.state,
        attempts: delivery.attempts,
        note: delivery.note,
        status: delivery.status,
        made: delivery.made,
        time_due: delivery.state.is_open().then_some(delivery.time_due),
        time_created: delivery.time_created,
        time_ended: delivery.time_ended,
        event: delivery.event,
    }
}
