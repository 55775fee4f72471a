//! What a job is as a task: its order and whatever it needs as inputs, what it tells as outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use hostler_lua::Given;
use hostler_model::workflow::{
    Execution, ExecutionStep, Handler, JobEnd, JobFile, JobKind, JobOrder, JobStep, Step, Workflow,
};
use hostler_model::{
    BlobKind, BlobScope, Desired, Digest, Error, Generation, Input, Output, OutputWhen, Runtime,
    SecretRef, SecretUse, Span, TaskState, Workload, WorkloadSpec,
};

use super::places::Site;
use super::scene::{ARTIFACTS, REPORT, Scene};
use crate::Control;
use crate::service::task_submit::made_name;

/// A task ends itself when its time is over; this is for one that does not.
const BACKSTOP: Duration = Duration::from_secs(30);
/// How many results of steps are given to what is called last.
const RESULTS_MAX: usize = 500;
const TAG: &str = "workflow";

/// What the definition sees.
pub(crate) fn given(execution: &Execution) -> Given {
    Given {
        values: execution.values.clone(),
        now: execution.time_created.micros().div_euclid(1_000_000),
        ..Given::default()
    }
}

/// What the file of a secret is called.
pub(crate) fn secret_file(secret: &SecretRef) -> String {
    format!("{}.{}", secret.environment, secret.name)
}

/// Whether a name means what is kept: under that name, or under a path that ends in it.
pub(super) fn is_meant(name: &str, kept: &str) -> bool {
    kept == name || kept.rsplit('/').next() == Some(name)
}

/// What a job is about.
pub(super) struct Wanted<'a> {
    pub kind: JobKind,
    pub step: Option<(&'a Step, &'a ExecutionStep)>,
    /// Which try the step itself is told.
    pub attempt: u32,
    pub end: Option<JobEnd>,
}

/// Files that a task finds before it starts, and how the order speaks of them.
#[derive(Default)]
struct Furniture {
    inputs: Vec<Input>,
    results: Vec<JobFile>,
    consumed: Vec<String>,
}

impl Furniture {
    fn put(&mut self, blob: Digest, path: String, unpack: bool) {
        self.inputs.push(Input { blob, path, mode: None, unpack });
    }

    fn result_of(&mut self, step: &ExecutionStep) {
        let is_one = step.results.len() == 1;
        for told in &step.results {
            let file = format!("result-{}.json", self.results.len());
            let node = told.node.as_ref().filter(|_| !is_one).map(ToString::to_string);
            self.put(told.report, format!("{}/{file}", JobOrder::FOLDER), false);
            self.results.push(JobFile { step: step.name.clone(), node, file });
        }
    }

    fn consume(&mut self, names: &[String], steps: &[ExecutionStep]) {
        let archives: BTreeSet<Digest> = names
            .iter()
            .flat_map(|name| {
                let left = steps.iter().flat_map(|step| &step.artifacts);
                left.filter(move |kept| is_meant(name, &kept.name)).map(|kept| kept.archive)
            })
            .collect();
        for archive in archives {
            let folder = format!("consumed-{}", self.consumed.len());
            self.put(archive, format!("{}/{folder}", JobOrder::FOLDER), true);
            self.consumed.push(folder);
        }
    }
}

/// How steps stand, for what is called last.
pub(super) fn told_at_the_end(steps: &[ExecutionStep]) -> Vec<JobStep> {
    let one = |step: &ExecutionStep| JobStep {
        name: step.name.clone(),
        status: step.standing.label().to_owned(),
        message: step.message.clone(),
        attempts: step.tries,
    };
    steps.iter().map(one).collect()
}

impl Control {
    /// The task of a job; what it needs is in the project's content when this returns.
    pub(super) async fn job_task(
        &self,
        scene: &Scene,
        wanted: &Wanted<'_>,
        site: &Site,
    ) -> Result<Workload, Error> {
        let execution = &scene.execution;
        let mut furniture = Furniture::default();
        match wanted.step {
            Some((step, row)) => {
                let names: BTreeSet<&String> = step.depends_on.iter().collect();
                for other in scene.steps.iter().filter(|other| names.contains(&other.name)) {
                    furniture.result_of(other);
                }
                if wanted.kind == JobKind::Undo {
                    furniture.result_of(row);
                }
                furniture.consume(&step.consumes, &scene.steps);
            }
            None if wanted.kind == JobKind::After => {
                for other in scene.steps.iter().take(RESULTS_MAX) {
                    furniture.result_of(other);
                }
            }
            None => {}
        }
        let secrets = &execution.options.secrets;
        let order = JobOrder {
            execution: execution.id,
            kind: wanted.kind,
            workflow: execution.workflow.clone(),
            step: wanted.step.map(|(step, _)| step.name.clone()).unwrap_or_default(),
            attempt: wanted.attempt,
            before: wanted.step.map(|(_, row)| row.message.clone()).unwrap_or_default(),
            values: execution.values.clone(),
            now: execution.time_created.micros().div_euclid(1_000_000),
            results: furniture.results,
            consumed: furniture.consumed,
            secrets: called(secrets),
            stack: execution.options.stack.clone(),
            end: wanted.end.clone(),
        };
        let text = serde_json::to_vec(&order).map_err(Error::internal)?;
        let scope = BlobScope::Project(execution.project_id);
        let label = format!("{} of {}", JobOrder::ORDER, execution.id);
        let by = Some(execution.created_by);
        let order = self.blob_of(scope, BlobKind::File, label, &text, by).await?;
        let mut inputs = furniture.inputs;
        for (blob, path) in [(order, JobOrder::ORDER), (execution.bundle, JobOrder::BUNDLE)] {
            inputs.push(Input { blob, path: path.to_owned(), mode: None, unpack: false });
        }
        let step = wanted.step.map(|(step, _)| step);
        let leaves = wanted.kind == JobKind::Try && step.is_some_and(|s| !s.artifacts.is_empty());
        let spec = WorkloadSpec {
            runtime: Runtime::Lua,
            user: step.and_then(|step| step.user.clone()),
            timeout: allowed(&execution.graph, wanted).map(|time| {
                Span::from_millis(time.millis().saturating_add(span(BACKSTOP).millis()))
            }),
            secrets: secrets
                .iter()
                .map(|secret| SecretUse {
                    secret: secret.clone(),
                    env: None,
                    file: Some(secret_file(secret)),
                })
                .collect(),
            tags: vec![TAG.to_owned(), format!("execution:{}", execution.id)],
            inputs,
            outputs: outputs(leaves),
            placement: site.rules.clone(),
            ..WorkloadSpec::default()
        };
        let name = step.map_or(wanted.kind.label(), |step| step.name.as_str());
        Ok(self.job_workload(scene, spec, name))
    }

    fn job_workload(&self, scene: &Scene, spec: WorkloadSpec, step: &str) -> Workload {
        let id: hostler_model::WorkloadId = self.ids.fresh();
        let stem = format!("{}-{step}", scene.execution.workflow).replace(['_', ' ', '.'], "-");
        Workload {
            id,
            project_id: scene.execution.project_id,
            name: made_name(&[stem], id.uuid().as_u128()),
            spec: Arc::new(spec),
            desired: Desired::Run,
            state: TaskState::Pending,
            seat: None,
            attempts: 0,
            time_ready: Some(scene.now),
            time_give_up: None,
            trace: scene.execution.trace,
            generation: Generation::FIRST,
            created_by: scene.execution.created_by,
            time_created: scene.now,
            time_modified: scene.now,
            time_ended: None,
        }
    }
}

/// How long a job takes at most, as it sees to itself; nothing where a step takes as long as it likes.
fn allowed(graph: &Workflow, wanted: &Wanted<'_>) -> Option<Span> {
    let times = |count: u64, one: Span| Span::from_millis(one.millis().saturating_mul(count));
    match (wanted.kind, wanted.step) {
        (JobKind::Try, Some((step, _))) => {
            let first = times(3, graph.handler_time(Some(step)));
            step.timeout.map(|own| Span::from_millis(own.millis().saturating_add(first.millis())))
        }
        (JobKind::Try, None) => None,
        (JobKind::Undo, step) => step.map(|(step, _)| graph.undo_time(step)),
        (JobKind::Before, _) => {
            let own = graph.handler_time(None);
            Some(graph.config.timeout.map_or(own, |all| all.min(own)))
        }
        (JobKind::After, _) => {
            let skip = |step: &&Step| step.handlers.contains(&Handler::Skip);
            let skips = graph.steps.iter().filter(skip);
            let skips = skips.map(|step| graph.handler_time(Some(step)).millis());
            let ends = times(2, graph.handler_time(None)).millis();
            Some(Span::from_millis(skips.fold(ends, u64::saturating_add)))
        }
    }
}

fn span(time: Duration) -> Span {
    Span::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn outputs(leaves: bool) -> Vec<Output> {
    let report = Output {
        path: JobOrder::REPORT.to_owned(),
        name: Some(REPORT.to_owned()),
        when: OutputWhen::Always,
    };
    let artifacts = leaves.then(|| Output {
        path: JobOrder::ARTIFACTS.to_owned(),
        name: Some(ARTIFACTS.to_owned()),
        when: OutputWhen::Success,
    });
    [report].into_iter().chain(artifacts).collect()
}

/// Files of secrets by what bodies call them: the whole reference, and the name alone where it is one.
fn called(secrets: &[SecretRef]) -> BTreeMap<String, String> {
    let mut called = BTreeMap::new();
    for secret in secrets {
        called.entry(secret.name.to_string()).or_insert_with(|| secret_file(secret));
        called.insert(format!("{}/{}", secret.environment, secret.name), secret_file(secret));
    }
    called
}
