//! Workflows that are kept, and their executions.

use hostler_api::workflow::{
    ExecutionCancel, ExecutionGet, ExecutionList, ExecutionOutput, ExecutionPhaseView,
    ExecutionRetry, ExecutionStackView, ExecutionStepView, ExecutionView, StepOutputView,
    StepTaskView, WorkflowBundle, WorkflowGet, WorkflowList, WorkflowPush, WorkflowPushed,
    WorkflowRemove, WorkflowRun, WorkflowSource, WorkflowVersionList, WorkflowView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{
    Bundle, ExecutionDetail, NewExecution, NewWorkflow, StepOutput, WorkflowDetail,
};
use hostler_model::Error;
use hostler_model::workflow::{
    CareEnd, CareKind, CareStanding, ExecutionJob, ExecutionStep, StackCare,
};

use super::gather::Gather;
use super::{Answer, App, Call, page};

fn workflow(WorkflowDetail { version, created_by }: WorkflowDetail) -> WorkflowView {
    WorkflowView {
        name: version.name,
        version: version.version,
        bundle: version.bundle,
        file: version.file,
        modules: version.modules,
        created_by,
        time_created: version.time_created,
        graph: version.graph,
    }
}

fn job(job: &ExecutionJob) -> StepTaskView {
    StepTaskView {
        id: job.workload_id,
        kind: job.kind.label().to_owned(),
        number: job.tries,
        node: job.node.as_ref().map(ToString::to_string),
        end: job.end.map(|end| end.label().to_owned()),
    }
}

fn step(row: &ExecutionStep, detail: &ExecutionDetail) -> ExecutionStepView {
    let mut tasks: Vec<&ExecutionJob> =
        detail.jobs.iter().filter(|job| job.position == Some(row.position)).collect();
    tasks.sort_by_key(|job| std::cmp::Reverse(job.workload_id));
    let definition = detail.execution.graph.step(&row.name);
    ExecutionStepView {
        name: row.name.clone(),
        status: row.standing.label().to_owned(),
        standing: row.standing,
        tries: row.tries,
        message: row.message.clone(),
        changed: row.changed,
        depends_on: definition.map(|step| step.depends_on.clone()).unwrap_or_default(),
        tasks: tasks.into_iter().map(job).collect(),
        artifacts: row.artifacts.iter().map(|kept| kept.name.clone()).collect(),
        is_undone: row.is_undone,
        approval: row.approval_id,
        time_started: row.time_started,
        time_ended: row.time_ended,
    }
}

fn stack(care: StackCare) -> ExecutionStackView {
    let has = |kind: CareKind, is_meant: fn(CareStanding) -> bool| {
        care.phase(kind).is_some_and(|phase| is_meant(phase.standing))
    };
    let is_kept = |standing: CareStanding| standing.end() == Some(CareEnd::Succeeded);
    let is_held = |standing| matches!(standing, CareStanding::Held { .. });
    ExecutionStackView {
        snapshot: has(CareKind::Snapshot, is_kept).then_some(care.snapshot),
        hold: has(CareKind::Lock, is_held).then_some(care.hold),
        name: care.stack,
        failure: care.failure,
        phases: care
            .phases
            .into_iter()
            .map(|phase| ExecutionPhaseView {
                phase: phase.kind,
                status: phase.standing.label().to_owned(),
                standing: phase.standing,
                message: phase.message,
            })
            .collect(),
    }
}

fn execution(detail: ExecutionDetail) -> ExecutionView {
    let steps = detail.steps.iter().map(|row| step(row, &detail)).collect();
    let outputs = detail.outputs();
    let found = detail.execution;
    ExecutionView {
        id: found.id,
        workflow: found.workflow,
        version: found.version,
        state: found.state.label().to_owned(),
        outcome: found.state.outcome().map(|outcome| outcome.label().to_owned()),
        is_cancel_requested: found.is_cancel_requested,
        created_by: detail.created_by,
        time_created: found.time_created,
        time_ended: found.time_ended,
        options: found.options,
        values: found.values,
        stack: found.care.map(stack),
        steps,
        outputs,
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<WorkflowList>,
) -> Result<Answer<Listing<WorkflowView>>, Error> {
    let mut list = Gather::of::<WorkflowList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let found = app.control().workflow_list(call.project(), ask.after(), ask.limit).await?;
        list.take(found, workflow)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn push(
    app: App,
    call: Call<WorkflowPush>,
) -> Result<Answer<WorkflowPushed>, Error> {
    let given = call.body.bundle.clone();
    let bundle = Bundle { name: given.name, text: given.text, files: given.files };
    let (values, is_strict) = (call.body.values.clone(), call.body.strict);
    let new = NewWorkflow { bundle, values, is_strict };
    let pushed = app.control().workflow_push(&call.cx, call.project(), new).await?;
    Ok(Answer::new(WorkflowPushed {
        workflows: pushed.workflows.into_iter().map(workflow).collect(),
        warnings: pushed.warnings,
    }))
}

pub(crate) async fn get(app: App, call: Call<WorkflowGet>) -> Result<Answer<WorkflowView>, Error> {
    let (name, version) = (&call.path.workflow, call.query.version);
    Ok(Answer::new(workflow(app.control().workflow_get(call.project(), name, version).await?)))
}

pub(crate) async fn source(
    app: App,
    call: Call<WorkflowSource>,
) -> Result<Answer<WorkflowBundle>, Error> {
    let (name, version) = (&call.path.workflow, call.query.version);
    let Bundle { name, text, files } =
        app.control().workflow_source(call.project(), name, version).await?;
    Ok(Answer::new(WorkflowBundle { name, text, files }))
}

pub(crate) async fn versions(
    app: App,
    call: Call<WorkflowVersionList>,
) -> Result<Answer<Listing<WorkflowView>>, Error> {
    let mut list = Gather::of::<WorkflowVersionList>(&call.query)?;
    let (control, name) = (app.control(), &call.path.workflow);
    while let Some(ask) = list.ask() {
        let found = control.workflow_versions(call.project(), name, ask.after(), ask.limit).await?;
        list.take(found, workflow)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn remove(app: App, call: Call<WorkflowRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().workflow_remove(&call.cx, call.project(), &call.path.workflow).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn run(app: App, call: Call<WorkflowRun>) -> Result<Answer<ExecutionView>, Error> {
    let new = NewExecution {
        version: call.body.version,
        values: call.body.values.clone(),
        options: call.body.options.clone(),
    };
    let begun =
        app.control().workflow_run(&call.cx, call.project(), &call.path.workflow, new).await?;
    Ok(Answer::new(execution(begun)))
}

pub(crate) async fn executions(
    app: App,
    call: Call<ExecutionList>,
) -> Result<Answer<Listing<ExecutionView>>, Error> {
    let mut list = Gather::of::<ExecutionList>(&call.query)?;
    let (workflow, open) = (call.query.workflow.as_deref(), call.query.open);
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let found = control.execution_list(project, workflow, open, ask.after(), ask.limit).await?;
        list.take(found, execution)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn execution_get(
    app: App,
    call: Call<ExecutionGet>,
) -> Result<Answer<ExecutionView>, Error> {
    let found = app.control().execution_get(call.project(), call.path.execution).await?;
    Ok(Answer::new(execution(found)))
}

pub(crate) async fn output(
    app: App,
    call: Call<ExecutionOutput>,
) -> Result<Answer<Listing<StepOutputView>>, Error> {
    let (id, step) = (call.path.execution, &call.query.step);
    let told = app.control().execution_output(call.project(), id, step).await?;
    let view = |StepOutput { node, end, message, output }: StepOutput| StepOutputView {
        node,
        end: end.label().to_owned(),
        message,
        output,
    };
    Ok(Answer::new(page::whole(told, view)))
}

pub(crate) async fn cancel(
    app: App,
    call: Call<ExecutionCancel>,
) -> Result<Answer<ExecutionView>, Error> {
    let id = call.path.execution;
    let found = app.control().execution_cancel(&call.cx, call.project(), id).await?;
    Ok(Answer::new(execution(found)))
}

pub(crate) async fn retry(
    app: App,
    call: Call<ExecutionRetry>,
) -> Result<Answer<ExecutionView>, Error> {
    let retry = hostler_control::ExecutionRetry {
        from: call.body.from.clone(),
        is_uncertain_too: call.body.uncertain,
    };
    let id = call.path.execution;
    let found = app.control().execution_retry(&call.cx, call.project(), id, &retry).await?;
    Ok(Answer::new(execution(found)))
}
