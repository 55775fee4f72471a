//! What is known of an execution when a pass looks at it: its rows, and how its jobs ended.

use std::collections::HashMap;

use hostler_model::workflow::{
    Execution, ExecutionJob, ExecutionStep, JobKind, JobReport, Standing, StepEnd, StepResult,
};
use hostler_model::{
    Approval, ApprovalId, BlobScope, Digest, Error, ExecutionId, ExitReason, Name, Node, Project,
    RunId, TaskState, Timestamp, Workload, WorkloadId,
};
use hostler_store::Conn;

use super::report;
use crate::Control;

/// What a step may tell at its end.
const REPORT_MAX: u64 = 64 << 20;
/// What a task calls its files.
pub(super) const REPORT: &str = "report";
pub(super) const ARTIFACTS: &str = "artifacts";

pub(super) struct Scene {
    pub execution: Execution,
    pub project: Project,
    pub steps: Vec<ExecutionStep>,
    pub jobs: Vec<ExecutionJob>,
    /// Of jobs that ended since somebody looked.
    pub ended: HashMap<WorkloadId, Ended>,
    pub approvals: HashMap<ApprovalId, Approval>,
    pub nodes: Vec<Node>,
    /// How many tasks the project may still submit; no bound when absent.
    pub room: Option<u64>,
    pub now: Timestamp,
}

/// How a job ended.
pub(super) struct Ended {
    pub result: StepResult,
    pub node: Option<Name>,
    pub report: Option<Digest>,
    /// What it left for others: the archive, and the names in it.
    pub archive: Option<Digest>,
    pub artifacts: Vec<String>,
}

impl Control {
    pub(super) async fn execution_scene(&self, id: ExecutionId) -> Result<Option<Scene>, Error> {
        let mut read = self.store.read().await?;
        let Some(execution) = read.execution_get(id).await? else { return Ok(None) };
        if execution.state.is_over() {
            return Ok(None);
        }
        let Some(project) = read.project_get(execution.project_id).await? else { return Ok(None) };
        let steps = read.execution_steps(id).await?;
        let jobs = read.execution_jobs(id).await?;
        let wanted: Vec<WorkloadId> = jobs
            .iter()
            .filter(|job| job.end.is_none() || is_current(job, &steps))
            .map(|job| job.workload_id)
            .collect();
        let tasks: HashMap<WorkloadId, Workload> = read
            .workload_get_batch(&wanted)
            .await?
            .into_iter()
            .map(|task| (task.id, task))
            .collect();
        let mut approvals = HashMap::new();
        for id in steps.iter().filter(|step| !step.standing.is_over()).filter_map(|s| s.approval_id)
        {
            approvals.extend(read.approval_get(id).await?.map(|approval| (id, approval)));
        }
        let nodes = read.node_list_all_present().await?;
        let room = match project.quota.tasks {
            Some(quota) => Some(quota.saturating_sub(read.workload_count_open(project.id).await?)),
            None => None,
        };
        let mut ended = HashMap::new();
        for job in jobs.iter().filter(|job| wanted.contains(&job.workload_id)) {
            let task = tasks.get(&job.workload_id);
            if task.is_none_or(|task| task.state.is_settled()) {
                let end = self.job_ended(&mut read, &project, job, task, &nodes).await?;
                ended.insert(job.workload_id, end);
            }
        }
        let now = self.now();
        Ok(Some(Scene { execution, project, steps, jobs, ended, approvals, nodes, room, now }))
    }

    async fn job_ended(
        &self,
        read: &mut Conn,
        project: &Project,
        job: &ExecutionJob,
        task: Option<&Workload>,
        nodes: &[Node],
    ) -> Result<Ended, Error> {
        let gone = || Ended {
            result: StepResult::new(
                StepEnd::Uncertain,
                "its task was removed before its end was told",
            ),
            node: job.node.clone(),
            report: None,
            archive: None,
            artifacts: Vec::new(),
        };
        let Some(task) = task else { return Ok(gone()) };
        let run = run_of(&task.state);
        let mut ended = gone();
        if let Some(run) = run
            && let Some(run) = read.run_get(run).await?
        {
            let node = nodes.iter().find(|node| node.id == run.node_id);
            ended.node = node.map(|node| node.name.clone()).or(ended.node);
        }
        for output in read.run_outputs(task.id).await? {
            match (output.name.as_str(), output.kept.digest()) {
                (REPORT, digest) => ended.report = digest,
                (ARTIFACTS, digest) => ended.archive = digest,
                _ => {}
            }
        }
        let told = match ended.report {
            Some(digest) => self.job_report(project, digest).await?,
            None => None,
        };
        if let Some(report) = &told {
            ended.artifacts.clone_from(&report.artifacts);
        }
        ended.result = judged(&task.state, told, job.wanted);
        Ok(ended)
    }

    /// What a job told; nothing when nobody can read it.
    pub(crate) async fn job_report(
        &self,
        project: &Project,
        digest: Digest,
    ) -> Result<Option<JobReport>, Error> {
        let text = self.blob_bytes(BlobScope::Project(project.id), digest, REPORT_MAX).await?;
        Ok(text.and_then(|text| report::read(&text)))
    }
}

/// Whether a job is part of a try that is under way, perhaps on other nodes still.
fn is_current(job: &ExecutionJob, steps: &[ExecutionStep]) -> bool {
    let row = job.position.and_then(|i| steps.iter().find(|step| step.position == i));
    job.kind == JobKind::Try
        && row.is_some_and(|row| {
            row.tries == job.tries && matches!(row.standing, Standing::Running { .. })
        })
}

const fn run_of(state: &TaskState) -> Option<RunId> {
    match state {
        TaskState::Completed { run, .. }
        | TaskState::KilledOom { run, .. }
        | TaskState::Stopped { run, .. }
        | TaskState::Running { run, .. }
        | TaskState::Paused { run, .. } => Some(*run),
        TaskState::Failed { run, .. } | TaskState::Killed { run, .. } => *run,
        TaskState::PendingApproval
        | TaskState::Rejected { .. }
        | TaskState::Pending
        | TaskState::Assigning { .. }
        | TaskState::Lost { .. } => None,
    }
}

/// How a try ended: as it says itself, or as the end of its task says.
fn judged(state: &TaskState, told: Option<JobReport>, wanted: Option<StepEnd>) -> StepResult {
    let stopped = |end: StepEnd| StepResult::new(end, "it was stopped");
    match (told, wanted) {
        (Some(report), Some(end)) if report.result.end == StepEnd::Cancelled => stopped(end),
        (Some(report), _) => report.result,
        (None, Some(end)) if !matches!(state, TaskState::Lost { .. }) => stopped(end),
        (None, _) => untold(state),
    }
}

fn untold(state: &TaskState) -> StepResult {
    match state {
        TaskState::Lost { why, .. } => StepResult::new(
            StepEnd::Uncertain,
            format!("its node was lost, and whether it was done is not known: {why}"),
        ),
        TaskState::Completed { exit, .. }
        | TaskState::Failed { exit, .. }
        | TaskState::KilledOom { exit, .. }
        | TaskState::Stopped { exit, .. } => {
            let end = match exit.reason {
                ExitReason::TimedOut => StepEnd::TimedOut,
                ExitReason::Vanished => StepEnd::Uncertain,
                _ => StepEnd::Failed,
            };
            let words = match exit.is_success() {
                true => "it told nothing at its end".to_owned(),
                false => exit.to_string(),
            };
            StepResult::new(end, words)
        }
        TaskState::Killed { .. } => {
            StepResult::new(StepEnd::Cancelled, "somebody stopped its task")
        }
        TaskState::Rejected { why, .. } => StepResult::new(StepEnd::Failed, why.clone()),
        TaskState::PendingApproval
        | TaskState::Pending
        | TaskState::Assigning { .. }
        | TaskState::Running { .. }
        | TaskState::Paused { .. } => StepResult::new(StepEnd::Uncertain, "it has not ended"),
    }
}

#[cfg(test)]
mod tests {
    use hostler_model::{Exit, PlacementId};

    use super::*;

    fn exit(reason: ExitReason, code: Option<i32>) -> Exit {
        Exit { reason, code, signal: None, message: None, time: Timestamp::default() }
    }

    fn failed(reason: ExitReason) -> TaskState {
        TaskState::Failed { run: None, exit: exit(reason, None) }
    }

    fn told(end: StepEnd) -> Option<JobReport> {
        let result = StepResult::new(end, "told");
        Some(JobReport { result, artifacts: Vec::new(), outputs: serde_json::Value::Null })
    }

    #[test]
    fn what_it_says_itself_counts_more_than_how_its_task_ended() {
        let lost = TaskState::Lost {
            placement: PlacementId::from_uuid(uuid::Uuid::nil()),
            why: String::new(),
            time: Timestamp::default(),
        };
        let killed = TaskState::Killed { run: None, exit: None };
        for (state, report, wanted, expected) in [
            (failed(ExitReason::Exited), told(StepEnd::Failed), None, StepEnd::Failed),
            (failed(ExitReason::Exited), told(StepEnd::Succeeded), None, StepEnd::Succeeded),
            // It was faster than whoever stopped it.
            (
                killed.clone(),
                told(StepEnd::Succeeded),
                Some(StepEnd::Cancelled),
                StepEnd::Succeeded,
            ),
            (killed.clone(), told(StepEnd::Cancelled), Some(StepEnd::TimedOut), StepEnd::TimedOut),
            (killed.clone(), None, Some(StepEnd::Cancelled), StepEnd::Cancelled),
            (killed, None, None, StepEnd::Cancelled),
            (failed(ExitReason::TimedOut), None, None, StepEnd::TimedOut),
            (failed(ExitReason::Vanished), None, None, StepEnd::Uncertain),
            (failed(ExitReason::GivenUp), None, None, StepEnd::Failed),
            (lost.clone(), None, Some(StepEnd::Cancelled), StepEnd::Uncertain),
            (lost, None, None, StepEnd::Uncertain),
        ] {
            assert_eq!(judged(&state, report, wanted).end, expected, "{state:?}");
        }
    }
}
