//! Whether stacks can be made and changed.

use std::mem;

use hostler_api::Listing;
use hostler_api::stack_check::{
    StackChecklist, StackChecklistAll, StackChecklistView, StackDependencies,
    StackDependenciesView, StackDependencyCheck, StackDependencyGraph, StackDependencyGraphView,
    StackDependencyOrder, StackFormCheck, StackOrderView, StackTemplateCheck, StackTemplateView,
    StackUseView,
};
use hostler_control::{StackDeps, StackDepsGraph, StackSubject, StackUse};
use hostler_model::Error;
use hostler_model::stack::StackCheckLine;

use super::stack::{form, refused};
use super::{Answer, App, Call, page};

fn checklist(found: hostler_control::StackChecklist) -> StackChecklistView {
    let is_passed = found.is_passed();
    StackChecklistView { stack: found.stack, is_passed, lines: found.lines }
}

fn one_use(StackUse { stack, outputs, is_there, missing }: StackUse) -> StackUseView {
    StackUseView { stack, outputs, is_there, missing }
}

fn dependencies(StackDeps { stack, uses, used_by }: StackDeps) -> StackDependenciesView {
    StackDependenciesView {
        stack,
        uses: uses.into_iter().map(one_use).collect(),
        used_by: used_by.into_iter().map(one_use).collect(),
    }
}

pub(crate) async fn template(
    app: App,
    mut call: Call<StackTemplateCheck>,
) -> Result<Answer<StackTemplateView>, Error> {
    let form = form(mem::take(&mut call.body.form));
    let (needs_values, nested) = (call.body.needs_values, call.body.nested);
    let control = app.control();
    let found = control.stack_check(&call.cx, call.project(), &form, needs_values, nested).await;
    let found = found.map_err(refused(""))?;
    Ok(Answer::new(StackTemplateView {
        resources: found.resources as u64,
        summary: found.summary,
        warnings: found.warnings.iter().map(ToString::to_string).collect(),
    }))
}

pub(crate) async fn form_checklist(
    app: App,
    mut call: Call<StackFormCheck>,
) -> Result<Answer<StackChecklistView>, Error> {
    let (name, form) = (call.body.name.take(), form(mem::take(&mut call.body.form)));
    let of = StackSubject::Form { name, form };
    let found = app.control().stack_checklist(&call.cx, call.project(), &of).await;
    Ok(Answer::new(checklist(found.map_err(refused(""))?)))
}

pub(crate) async fn checklists(
    app: App,
    call: Call<StackChecklistAll>,
) -> Result<Answer<Listing<StackChecklistView>>, Error> {
    let found = app.control().stack_checklist_all(&call.cx, call.project()).await?;
    Ok(Answer::new(page::whole(found, checklist)))
}

pub(crate) async fn stack_checklist(
    app: App,
    call: Call<StackChecklist>,
) -> Result<Answer<StackChecklistView>, Error> {
    let of = StackSubject::Stack(call.path.stack.clone());
    let found = app.control().stack_checklist(&call.cx, call.project(), &of).await?;
    Ok(Answer::new(checklist(found)))
}

pub(crate) async fn stack_dependencies(
    app: App,
    call: Call<StackDependencies>,
) -> Result<Answer<StackDependenciesView>, Error> {
    let found = app.control().stack_deps(&call.cx, call.project(), &call.path.stack).await?;
    Ok(Answer::new(dependencies(found)))
}

pub(crate) async fn dependency_graph(
    app: App,
    call: Call<StackDependencyGraph>,
) -> Result<Answer<StackDependencyGraphView>, Error> {
    let StackDepsGraph { stacks, order, circle } =
        app.control().stack_deps_graph(&call.cx, call.project()).await?;
    let stacks = stacks.into_iter().map(dependencies).collect();
    Ok(Answer::new(StackDependencyGraphView { stacks, order, circle }))
}

pub(crate) async fn dependency_check(
    app: App,
    call: Call<StackDependencyCheck>,
) -> Result<Answer<Listing<StackCheckLine>>, Error> {
    let stack = call.query.stack.as_deref();
    let found = app.control().stack_deps_check(&call.cx, call.project(), stack).await?;
    Ok(Answer::new(page::whole(found, |line| line)))
}

pub(crate) async fn dependency_order(
    app: App,
    call: Call<StackDependencyOrder>,
) -> Result<Answer<StackOrderView>, Error> {
    let (control, names) = (app.control(), &call.body.stacks);
    let waves = match names.is_empty() {
        true => control.stack_deps_graph(&call.cx, call.project()).await?.order,
        false => control.stack_deps_order(&call.cx, call.project(), names).await?,
    };
    Ok(Answer::new(StackOrderView { waves }))
}
