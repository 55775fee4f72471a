//! The end: who is told of it, what is left of it, and what is removed.

use hostler_model::workflow::{ExecutionOutcome, Handler, StepEnd};
use serde_json::{Map, Value as Json, json};

use super::{Flow, around, millis};
use crate::journal::Line;
use crate::report::Report;
use crate::run::{FlowError, Told};
use crate::{stage, workdir};

impl Flow {
    pub(super) async fn finish(
        mut self,
        outcome: ExecutionOutcome,
        stop: &mut (impl Future<Output = ()> + Unpin),
        is_stopped: bool,
    ) -> Result<Report, FlowError> {
        let mut outputs = match self.performer.definition().outputs.clone() {
            Json::Object(entries) => entries,
            _ => Map::new(),
        };
        outputs.extend(std::mem::take(&mut self.exported));
        let mut report = Report {
            workflow: self.workflow.name.clone(),
            status: outcome,
            duration: millis(self.began.elapsed()),
            tasks: std::mem::take(&mut self.steps),
            outputs: if outputs.is_empty() { Json::Null } else { Json::Object(outputs) },
            stack: self.workflow.stack.clone(),
        };
        let is_success = outcome == ExecutionOutcome::Succeeded;
        let handler = if is_success { Handler::Success } else { Handler::Failure };
        if !self.workflow.handlers.is_empty() {
            let results = report.by_name();
            self.around_all(handler, vec![results.clone()]);
            self.around_all(Handler::Complete, vec![json!(is_success), results]);
        }
        if is_stopped {
            around::all(&mut self.calls).await;
        } else {
            self.settle(stop).await;
        }
        self.clean(&report).await;
        if let Some(scrub) = &self.setup.scrub {
            report.tasks.iter_mut().for_each(|task| scrub.document(&mut task.output));
            scrub.document(&mut report.outputs);
        }
        self.note(|| Line::Finished { outcome })?;
        if let Some(journal) = self.journal.as_ref().filter(|_| !is_success) {
            journal.sync()?;
        }
        Ok(report)
    }

    /// Removes the directory of the workflow, where that is wanted now.
    async fn clean(&self, report: &Report) {
        let is_success = report.status == ExecutionOutcome::Succeeded;
        let config = &self.workflow.config;
        if config.workdir.is_none() {
            return;
        }
        let is_wanted = if self.workflow.handlers.contains(&Handler::CleanWorkdir) {
            let failed = report.tasks.iter().find(|task| task.status == StepEnd::Failed.label());
            let told = json!({
                "success": is_success,
                "error": failed.map(|task| format!("{}: {}", task.name, task.message)),
                "output": report.tasks.iter().map(|task| (task.name.clone(), task.output.clone()))
                    .collect::<Map<String, Json>>(),
            });
            match self.calling(Handler::CleanWorkdir, vec![told], None) {
                Some(called) => called.await.is_yes(),
                None => false,
            }
        } else {
            config.clean_workdir && is_success
        };
        if !is_wanted {
            return;
        }
        let path = stage::workdir(&self.workflow, None, &self.setup);
        let home = self.setup.environment.get("HOME").map(std::path::PathBuf::from);
        let used = std::iter::once(self.setup.workdir.clone()).chain(home).collect();
        if let Err(text) = workdir::remove(&path, used) {
            self.observer.told(&Told::Warned { text: &text });
        }
    }
}
