//! What stacks were, the way back, and stacks as documents.

use std::mem;

use hostler_api::stack::StackView;
use hostler_api::stack_point::{
    StackAbandon, StackAdopt, StackCompare, StackComparisonView, StackDocumentView, StackExport,
    StackRestore, StackRevisionGet, StackRevisionList, StackRevisionView, StackSnapshotCreate,
    StackSnapshotGet, StackSnapshotList, StackSnapshotRemove, StackSnapshotView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::StackComparison;
use hostler_model::stack::{SnapshotBody, StackPoint, StackRevision, StackSnapshot};
use hostler_model::{Diagnostic, Error};

use super::error::malformed;
use super::gather::Gather;
use super::stack::{form, location, refused, shown};
use super::stack_plan::point;
use super::{Answer, App, Call};

fn revision(found: StackRevision) -> StackRevisionView {
    StackRevisionView {
        number: found.number,
        action: found.action,
        reason: found.reason,
        count: found.resources,
        created_by: found.created_by,
        time_created: found.time_created,
        resources: Default::default(),
        outputs: Default::default(),
    }
}

fn snapshot(found: StackSnapshot) -> StackSnapshotView {
    StackSnapshotView {
        id: found.id,
        name: found.name,
        status: found.status,
        reason: found.reason,
        created_by: found.created_by,
        time_created: found.time_created,
        resources: Default::default(),
        outputs: Default::default(),
    }
}

pub(crate) async fn revisions(
    app: App,
    call: Call<StackRevisionList>,
) -> Result<Answer<Listing<StackRevisionView>>, Error> {
    let mut list = Gather::of::<StackRevisionList>(&call.query)?;
    let (control, project, stack) = (app.control(), call.project(), &call.path.stack);
    while let Some(ask) = list.ask() {
        let found =
            control.stack_revisions(&call.cx, project, stack, ask.after(), ask.limit).await?;
        list.take(found, revision)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn revision_get(
    app: App,
    call: Call<StackRevisionGet>,
) -> Result<Answer<StackRevisionView>, Error> {
    let (control, stack, number) = (app.control(), &call.path.stack, call.path.revision);
    let (found, SnapshotBody { resources, outputs }) =
        control.stack_revision_get(&call.cx, call.project(), stack, number).await?;
    Ok(Answer::new(StackRevisionView { resources, outputs, ..revision(found) }))
}

pub(crate) async fn snapshots(
    app: App,
    call: Call<StackSnapshotList>,
) -> Result<Answer<Listing<StackSnapshotView>>, Error> {
    let mut list = Gather::of::<StackSnapshotList>(&call.query)?;
    let (control, project, stack) = (app.control(), call.project(), &call.path.stack);
    while let Some(ask) = list.ask() {
        let found =
            control.stack_snapshots(&call.cx, project, stack, ask.after(), ask.limit).await?;
        list.take(found, snapshot)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn snapshot_create(
    app: App,
    call: Call<StackSnapshotCreate>,
) -> Result<Answer<StackSnapshotView>, Error> {
    let (control, stack, name) = (app.control(), &call.path.stack, &call.body.name);
    let made = control.stack_snapshot_create(&call.cx, call.project(), stack, name).await?;
    Ok(Answer::new(snapshot(made)))
}

pub(crate) async fn snapshot_get(
    app: App,
    call: Call<StackSnapshotGet>,
) -> Result<Answer<StackSnapshotView>, Error> {
    let (control, stack, id) = (app.control(), &call.path.stack, call.path.snapshot);
    let (found, SnapshotBody { resources, outputs }) =
        control.stack_snapshot_get(&call.cx, call.project(), stack, id).await?;
    Ok(Answer::new(StackSnapshotView { resources, outputs, ..snapshot(found) }))
}

pub(crate) async fn snapshot_remove(
    app: App,
    call: Call<StackSnapshotRemove>,
) -> Result<Answer<Nothing>, Error> {
    let (control, stack, id) = (app.control(), &call.path.stack, call.path.snapshot);
    control.stack_snapshot_remove(&call.cx, call.project(), stack, id).await?;
    Ok(Answer::new(Nothing {}))
}

fn point_of_query(field: &str, text: &str) -> Result<StackPoint, Error> {
    text.parse().map_err(|problem: hostler_model::stack::ParseStackPointError| {
        let mut error =
            malformed(problem.to_string(), "see /docs for the parameters of this endpoint");
        error.errors = vec![Diagnostic::new(field, problem.to_string())];
        error
    })
}

pub(crate) async fn compare(
    app: App,
    call: Call<StackCompare>,
) -> Result<Answer<StackComparisonView>, Error> {
    let from = point_of_query("/query/from", &call.query.from)?;
    let to = match &call.query.to {
        Some(text) => point_of_query("/query/to", text)?,
        None => StackPoint::Now,
    };
    let (control, stack) = (app.control(), &call.path.stack);
    let found = control.stack_compare(&call.cx, call.project(), stack, from, to).await?;
    let StackComparison { from, to, resources, parameters, outputs } = found;
    Ok(Answer::new(StackComparisonView {
        from: from.to_string(),
        to: to.to_string(),
        resources,
        parameters,
        outputs,
    }))
}

pub(crate) async fn restore(
    app: App,
    call: Call<StackRestore>,
) -> Result<Answer<StackView>, Error> {
    let (stack, reason) = (&call.path.stack, call.body.reason.as_str());
    let point = point("/point", &call.body.point)?;
    Ok(shown(app.control().stack_restore(&call.cx, call.project(), stack, point, reason).await?))
}

pub(crate) async fn export(
    app: App,
    call: Call<StackExport>,
) -> Result<Answer<StackDocumentView>, Error> {
    let stack = &call.path.stack;
    let document = app.control().stack_export(&call.cx, call.project(), stack).await?;
    Ok(Answer::new(StackDocumentView { document }))
}

pub(crate) async fn abandon(
    app: App,
    call: Call<StackAbandon>,
) -> Result<Answer<StackDocumentView>, Error> {
    let stack = &call.path.stack;
    let document = app.control().stack_abandon(&call.cx, call.project(), stack).await?;
    Ok(Answer::new(StackDocumentView { document }))
}

pub(crate) async fn adopt(
    app: App,
    mut call: Call<StackAdopt>,
) -> Result<Answer<StackView>, Error> {
    let ask = hostler_control::StackAdopt {
        name: call.body.name.clone(),
        document: mem::take(&mut call.body.document),
        form: form(mem::take(&mut call.body.form)),
        options: mem::take(&mut call.body.options),
        reason: mem::take(&mut call.body.reason),
    };
    let made = app.control().stack_adopt(&call.cx, call.project(), ask).await;
    let made = made.map_err(refused(""))?;
    let location = location(&call, &made);
    Ok(shown(made).with_location(location))
}
