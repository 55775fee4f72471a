//! Jobs of steps: begun, stopped, and those that undo.

use hostler_engine::workflow::{Action, Course, Standing, missing};
use hostler_lua::Bundle;
use hostler_model::workflow::{
    Delegation, ExecutionJob, JobKind, Step, StepEnd, StepResult, Targets,
};
use hostler_model::{ApprovalState, BlobScope, Error, EventKind, Span};

use super::super::places::{Site, delegation, picked, sites};
use super::super::spec::{Wanted, is_meant};
use super::{Pass, needs_node};

const BUNDLE_MAX: u64 = 64 << 20;

impl Pass<'_> {
    /// What a step consumes and nobody has left.
    pub(super) fn lacking(&self, course: &Course, step: &Step) -> Option<String> {
        let scene = &self.change.scene;
        let is_left = |name: &str| {
            let mut left = scene.steps.iter().flat_map(|row| &row.artifacts);
            left.any(|kept| is_meant(name, &kept.name))
        };
        let standing = |other| course.standing(other);
        missing(&scene.execution.graph, step, is_left, standing)
    }

    /// Puts a try where it belongs; its end where it cannot even begin.
    pub(super) async fn begin_try(
        &mut self,
        step: usize,
        definition: &Step,
        attempt: u32,
    ) -> Result<Option<StepResult>, Error> {
        let places = match self.places(definition).await? {
            Ok(places) => places,
            Err(why) => return Ok(Some(StepResult::new(StepEnd::Failed, why))),
        };
        for site in &places {
            let row = self.change.scene.steps[step].clone();
            let wanted =
                Wanted { kind: JobKind::Try, step: Some((definition, &row)), attempt, end: None };
            self.submit(&wanted, Some(step), site).await?;
        }
        let name = &self.change.scene.steps[step].name;
        let words = match places.as_slice() {
            [Site { node: Some(node), .. }] => format!("{name}: try {attempt} on {node}"),
            [_] => format!("{name}: try {attempt}"),
            several => format!("{name}: try {attempt} on {} nodes", several.len()),
        };
        self.step_event(EventKind::ExecutionStepStarted, Some(step), words);
        Ok(None)
    }

    async fn places(&mut self, step: &Step) -> Result<Result<Vec<Site>, String>, Error> {
        let Some(mut said) = delegation(&self.change.scene.execution, step) else {
            return Ok(Ok(vec![Site::anywhere()]));
        };
        if said.targets == Targets::Function {
            let bundle = match self.bundle().await? {
                Ok(bundle) => bundle,
                Err(why) => return Ok(Err(why)),
            };
            let scene = &self.change.scene;
            match picked(bundle, &scene.execution, &step.name, &scene.nodes).await {
                Ok(found) => {
                    said = Delegation { fallback: said.fallback || found.fallback, ..found }
                }
                Err(why) if !said.fallback => return Ok(Err(format!("`delegate_to`: {why}"))),
                Err(_) => return Ok(Ok(vec![Site::anywhere()])),
            }
        }
        Ok(sites(&said, &self.change.scene.nodes))
    }

    async fn bundle(&mut self) -> Result<Result<Bundle, String>, Error> {
        if let Some(bundle) = &self.bundle {
            return Ok(Ok(bundle.clone()));
        }
        let execution = &self.change.scene.execution;
        let scope = BlobScope::Project(execution.project_id);
        let text = self.control.blob_bytes(scope, execution.bundle, BUNDLE_MAX).await?;
        let bundle = text.and_then(|text| serde_json::from_slice::<Bundle>(&text).ok());
        self.bundle.clone_from(&bundle);
        Ok(bundle.ok_or_else(|| "the text of the workflow is gone".to_owned()))
    }

    pub(super) async fn submit(
        &mut self,
        wanted: &Wanted<'_>,
        step: Option<usize>,
        site: &Site,
    ) -> Result<(), Error> {
        let task = self.control.job_task(&self.change.scene, wanted, site).await?;
        let row = step.map(|step| &self.change.scene.steps[step]);
        let job = ExecutionJob {
            workload_id: task.id,
            execution_id: self.change.scene.execution.id,
            kind: wanted.kind,
            position: row.map(|row| row.position),
            tries: row.map_or(1, |row| row.tries),
            node: site.node.clone(),
            wanted: None,
            end: None,
            message: String::new(),
            result: None,
        };
        self.change.begun.push((job, task));
        Ok(())
    }

    pub(super) fn stop(&mut self, job: &ExecutionJob, end: StepEnd) {
        if job.wanted.is_none() && job.end.is_none() {
            let job = ExecutionJob { wanted: Some(end), ..job.clone() };
            self.change.stopped.push(job.clone());
            self.change.jobs.push(job);
        }
    }

    pub(super) fn stop_step(
        &mut self,
        course: &mut Course,
        step: usize,
        end: StepEnd,
    ) -> Vec<Action> {
        if !matches!(course.standing(step), Standing::Running { .. }) {
            return Vec::new();
        }
        let row = &self.change.scene.steps[step];
        let (position, tries, approval) = (row.position, row.tries, row.approval_id);
        let own: Vec<ExecutionJob> = self
            .jobs(JobKind::Try)
            .filter(|job| job.position == Some(position) && job.tries == tries)
            .filter(|job| job.end.is_none())
            .cloned()
            .collect();
        if !own.is_empty() {
            for job in own {
                self.stop(&job, end);
            }
            return Vec::new();
        }
        if self.change.begun.iter().any(|(job, _)| job.position == Some(position)) {
            // It begins in this very pass; the next one stops it.
            self.look_within(Span::from_millis(0));
            return Vec::new();
        }
        if let Some(known) = approval.and_then(|id| self.change.scene.approvals.get(&id)).cloned() {
            let void =
                known.ended(ApprovalState::Void, "the execution ended", self.change.scene.now);
            self.change.settled.push((known, void));
        }
        self.ended(course, step, StepResult::new(end, "it was stopped"))
    }

    pub(super) async fn undo(
        &mut self,
        course: &mut Course,
        step: usize,
    ) -> Result<Vec<Action>, Error> {
        let position = self.change.scene.steps[step].position;
        let is_under_way = self.change.scene.jobs.iter().any(|job| {
            job.kind == JobKind::Undo && job.position == Some(position) && job.end.is_none()
        });
        if is_under_way || self.change.scene.steps[step].is_undone {
            return Ok(Vec::new());
        }
        let row = self.change.scene.steps[step].clone();
        let mut places: Vec<Site> = self
            .jobs(JobKind::Try)
            .filter(|job| job.position == Some(position) && job.tries == row.tries)
            .filter_map(|job| job.node.clone())
            .map(Site::on)
            .collect();
        if places.is_empty() {
            places.push(Site::anywhere());
        }
        let definition = self.change.scene.execution.graph.steps[step].clone();
        if !needs_node(&definition, &[]) && definition.compensation.is_none() {
            return Ok(course.undone(step, self.now()));
        }
        for site in &places {
            let wanted = Wanted {
                kind: JobKind::Undo,
                step: Some((&definition, &row)),
                attempt: 1,
                end: None,
            };
            self.submit(&wanted, Some(step), site).await?;
        }
        self.step_event(
            EventKind::ExecutionStepUndone,
            Some(step),
            format!("{} is undone", row.name),
        );
        Ok(Vec::new())
    }
}
