//! Stacks: made, changed, taken down, and what is told of them.

use std::mem;

use hostler_api::stack::{
    StackCancel, StackCheck, StackCreate, StackDefinitionGet, StackDefinitionView, StackEventList,
    StackEventView, StackFormBody, StackGet, StackList, StackOptionsBody, StackOutputList,
    StackOutputView, StackPatch, StackRemove, StackResume, StackSuspend, StackUpdate, StackView,
};
use hostler_api::{Endpoint, Listing};
use hostler_control::{
    StackAsk, StackCommand, StackDetail, StackEdit, StackEventQuery, StackForm, StackOutput,
    StackQuery, StackRefusal,
};
use hostler_model::Error;
use hostler_model::stack::{Stack, StackEvent, StackEventStatus};
use serde_json::{Map, Value};

use super::error::malformed;
use super::gather::Gather;
use super::stack_resource::depth;
use super::{Answer, App, Call, page, stack_watch};

/// A refusal of what was given as a form, or with a form: mistakes are named by the fields of the request.
pub(super) fn refused(above: &str) -> impl Fn(StackRefusal) -> Error + '_ {
    const OF_FORM: [&str; 4] = ["/template", "/environment", "/files", "/parameters"];
    const OF_OPTIONS: [&str; 4] = ["/tags", "/timeout", "/atOnce", "/driftEvery"];
    move |refusal| {
        let mut error = Error::from(refusal);
        for one in &mut error.errors {
            let is_in = |fields: &[&str]| fields.iter().any(|field| one.pointer.starts_with(field));
            let place = match () {
                () if is_in(&OF_FORM) => "/form",
                () if is_in(&OF_OPTIONS) => "/options",
                () => "",
            };
            one.pointer = format!("{above}{place}{}", one.pointer);
        }
        error
    }
}

pub(super) fn form(given: StackFormBody) -> StackForm {
    let text = |given: Option<String>| given.map_or(Value::Null, Value::String);
    StackForm {
        template: text(given.template),
        environment: text(given.environment),
        environment_files: given.environment_files,
        files: given.files.into_iter().map(|(name, text)| (name, Value::String(text))).collect(),
        parameters: given.parameters.into_iter().collect(),
        are_parameters_last: true,
        are_values_left: false,
    }
}

pub(super) fn edit(given: StackFormBody, options: StackOptionsBody, reason: String) -> StackEdit {
    StackEdit {
        form: form(given),
        is_rollback_enabled: options.is_rollback_enabled,
        timeout: options.timeout,
        tags: options.tags,
        converges: options.converges,
        at_once: options.at_once,
        drift_every: options.drift_every,
        reason: Some(reason),
        ..StackEdit::default()
    }
}

fn output(StackOutput { name, description, value }: StackOutput) -> StackOutputView {
    let (value, error) = match value {
        Ok(value) => (value, None),
        Err(why) => (Value::Null, Some(why)),
    };
    StackOutputView { name, description: description.unwrap_or_default(), value, error }
}

pub(super) fn view(stack: Stack) -> StackView {
    StackView {
        id: stack.id,
        name: stack.name,
        description: stack.description,
        standing: stack.standing,
        traversal: stack.traversal,
        revision: stack.revision,
        options: stack.options,
        parent: stack.parent.map(|parent| parent.stack_id),
        depth: stack.depth,
        owner: None,
        parameters: Map::new(),
        outputs: Vec::new(),
        trouble: None,
        time_created: stack.time_created,
        time_updated: stack.time_updated,
        time_begun: stack.time_begun,
        time_deadline: stack.time_deadline,
        time_deleted: stack.time_deleted,
    }
}

pub(super) fn shown(stack: Stack) -> Answer<StackView> {
    let traversal = stack.traversal;
    Answer::new(view(stack)).with_generation(traversal)
}

fn detail(found: StackDetail) -> Answer<StackView> {
    let traversal = found.stack.traversal;
    Answer::new(StackView {
        owner: Some(found.owner),
        parameters: found.parameters,
        outputs: found.outputs.into_iter().map(output).collect(),
        trouble: found.trouble,
        ..view(found.stack)
    })
    .with_generation(traversal)
}

pub(super) fn event(event: StackEvent) -> StackEventView {
    let (action, status) = match event.status {
        StackEventStatus::Stack(action, status) => (action.label(), status),
        StackEventStatus::Resource(action, status) => (action.label(), status),
        StackEventStatus::Signal(status) => ("signal", status),
    };
    StackEventView {
        id: event.id,
        time: event.time,
        stack: event.stack_id,
        resource: event.resource_id.map(|_| event.name),
        kind: event.kind,
        physical: event.physical,
        action: action.to_owned(),
        status,
        reason: event.reason,
        properties: event.properties.unwrap_or_default(),
    }
}

pub(super) fn location<E: Endpoint>(call: &Call<E>, stack: &Stack) -> String {
    format!("/api/v1/projects/{}/stacks/{}", call.project().name, stack.id)
}

pub(crate) async fn list(
    app: App,
    call: Call<StackList>,
) -> Result<Answer<Listing<StackView>>, Error> {
    let mut list = Gather::of::<StackList>(&call.query)?;
    let asked = call.query.clone();
    let query = StackQuery {
        names: asked.name.into_iter().collect(),
        tags: asked.tag.into_iter().collect(),
        actions: asked.action.into_iter().collect(),
        statuses: asked.status.into_iter().collect(),
        with_nested: asked.nested.unwrap_or_default(),
        with_deleted: asked.deleted.unwrap_or_default(),
        ..StackQuery::default()
    };
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let found = control.stack_list(&call.cx, project, &query, ask.after(), ask.limit).await?;
        list.take(found, view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn create(
    app: App,
    mut call: Call<StackCreate>,
) -> Result<Answer<StackView>, Error> {
    let ask = StackAsk {
        name: call.body.name.clone(),
        form: form(mem::take(&mut call.body.form)),
        options: mem::take(&mut call.body.options),
        left: None,
        reason: mem::take(&mut call.body.reason),
    };
    let made = app.control().stack_create(&call.cx, call.project(), ask).await;
    let made = made.map_err(refused(""))?;
    let location = location(&call, &made);
    Ok(shown(made).with_location(location))
}

pub(crate) async fn get(app: App, call: Call<StackGet>) -> Result<Answer<StackView>, Error> {
    let stack = &call.path.stack;
    Ok(detail(app.control().stack_get(&call.cx, call.project(), stack, true).await?))
}

async fn change<E: Endpoint>(
    app: &App,
    call: &Call<E>,
    stack: &str,
    edit: StackEdit,
) -> Result<Answer<StackView>, Error> {
    let edit = StackEdit { expected: Some(call.expected), ..edit };
    let changed = app.control().stack_update(&call.cx, call.project(), stack, edit).await;
    Ok(shown(changed.map_err(refused(""))?))
}

pub(crate) async fn update(
    app: App,
    mut call: Call<StackUpdate>,
) -> Result<Answer<StackView>, Error> {
    let body = &mut call.body;
    let (form, options) = (mem::take(&mut body.form), mem::take(&mut body.options));
    let edit = edit(form, options, mem::take(&mut body.reason));
    change(&app, &call, &call.path.stack, edit).await
}

pub(crate) async fn patch(
    app: App,
    mut call: Call<StackPatch>,
) -> Result<Answer<StackView>, Error> {
    let body = &mut call.body;
    let (form, options) = (mem::take(&mut body.form), mem::take(&mut body.options));
    let edit = StackEdit {
        is_patch: true,
        clear_parameters: mem::take(&mut body.clear_parameters),
        ..edit(form, options, mem::take(&mut body.reason))
    };
    change(&app, &call, &call.path.stack, edit).await
}

pub(crate) async fn remove(app: App, call: Call<StackRemove>) -> Result<Answer<StackView>, Error> {
    let (control, project, stack) = (app.control(), call.project(), &call.path.stack);
    let is_forced = call.query.force == Some(true);
    let reason = call.query.reason.as_deref().unwrap_or_default();
    Ok(shown(control.stack_remove(&call.cx, project, stack, is_forced, reason).await?))
}

async fn command<E: Endpoint>(
    app: &App,
    call: &Call<E>,
    stack: &str,
    command: StackCommand,
) -> Result<Answer<StackView>, Error> {
    Ok(shown(app.control().stack_command(&call.cx, call.project(), stack, command).await?))
}

pub(crate) async fn suspend(
    app: App,
    call: Call<StackSuspend>,
) -> Result<Answer<StackView>, Error> {
    command(&app, &call, &call.path.stack, StackCommand::Suspend).await
}

pub(crate) async fn resume(app: App, call: Call<StackResume>) -> Result<Answer<StackView>, Error> {
    command(&app, &call, &call.path.stack, StackCommand::Resume).await
}

pub(crate) async fn check(app: App, call: Call<StackCheck>) -> Result<Answer<StackView>, Error> {
    command(&app, &call, &call.path.stack, StackCommand::Check).await
}

pub(crate) async fn cancel(app: App, call: Call<StackCancel>) -> Result<Answer<StackView>, Error> {
    let how = match call.body.rollback {
        true => StackCommand::CancelUpdate,
        false => StackCommand::CancelWithoutRollback,
    };
    command(&app, &call, &call.path.stack, how).await
}

pub(crate) async fn outputs(
    app: App,
    call: Call<StackOutputList>,
) -> Result<Answer<Listing<StackOutputView>>, Error> {
    let stack = &call.path.stack;
    let found = app.control().stack_outputs(&call.cx, call.project(), stack).await?;
    Ok(Answer::new(page::whole(found, output)))
}

pub(crate) async fn events(
    app: App,
    call: Call<StackEventList>,
) -> Result<Answer<Listing<StackEventView>>, Error> {
    let asked = call.query.clone();
    let query = StackEventQuery {
        depth: depth(asked.depth)?,
        names: asked.resource.into_iter().collect(),
        statuses: asked.status.into_iter().collect(),
        is_descending: asked.newest.unwrap_or_default(),
        ..StackEventQuery::default()
    };
    if asked.watch == Some(true) {
        return stack_watch::open(app, call, query, asked.after).await;
    }
    let after = match (page::after(asked.cursor.as_deref())?, asked.after) {
        (Some(_), Some(_)) => {
            let next = "name the event with `after` at first, and follow `nextCursor` from there";
            return Err(malformed("`cursor` and `after` say two places to begin at", next));
        }
        (cursor, None) => cursor,
        (None, Some(event)) => Some(event.to_string()),
    };
    let limit = page::limit(asked.limit)?;
    let (control, stack) = (app.control(), &call.path.stack);
    let found =
        control.stack_events(&call.cx, call.project(), stack, &query, (after.as_deref(), limit));
    Ok(Answer::new(page::listing(found.await?, event)))
}

pub(crate) async fn definition(
    app: App,
    call: Call<StackDefinitionGet>,
) -> Result<Answer<StackDefinitionView>, Error> {
    let (stack, revision) = (&call.path.stack, call.query.revision);
    let control = app.control();
    let found = control.stack_definition_of(&call.cx, call.project(), stack, revision).await?;
    Ok(Answer::new(StackDefinitionView {
        template: found.body.template,
        environment: found.body.environment,
        files: found.body.files,
        created_by: found.created_by,
        time_created: found.time_created,
    }))
}
