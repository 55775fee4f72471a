//! Workflows: what the definition of one says (a graph of steps), and how far an execution of it came.
//!
//! The language gives a [`Workflow`] and nothing else to the rest of the house. What a step *does* stays in
//! the source: a function is only noted to be there ([`Act::Function`]), and is found again by running the
//! definition once more where the step runs. So a workflow is plain data that can be validated, drawn,
//! stored and compared without the language.

mod care;
mod check;
mod config;
mod execution;
mod job;
mod module;
mod outcome;
mod standing;
mod step;

pub use care::{CareEnd, CareKind, CarePhase, CareStanding, CareWay, StackCare};
pub use check::{Problem, order};
pub use config::{OnFailure, WorkflowConfig};
pub use execution::{
    Execution, ExecutionJob, ExecutionOptions, ExecutionState, ExecutionStep, JobKind,
    StepArtifact, StepTold, WorkflowVersion,
};
pub use job::{JobEnd, JobFile, JobOrder, JobReport, JobStep};
pub use module::{ModuleAsk, ModuleRef, ModuleVersion, is_module_name};
pub use outcome::{ExecutionOutcome, SkipReason, StepEnd, StepResult};
pub use standing::Standing;
pub use step::{
    Act, ApprovalStep, Backoff, Compensation, Condition, Delegation, Handler, PickStrategy, Retry,
    Step, Targets,
};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Span;

/// One workflow of a definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Workflow {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// In the order of the definition.
    pub steps: Vec<Step>,
    #[serde(skip_serializing_if = "WorkflowConfig::is_default")]
    pub config: WorkflowConfig,
    /// Where steps run that do not say it themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegate: Option<Delegation>,
    /// What is called around the execution, by kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<Handler>,
    /// The stack that it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Place::is_unknown")]
    pub place: Place,
}

impl Workflow {
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.name == name)
    }
    pub fn position(&self, name: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.name == name)
    }

    /// Names of these steps, and of everything that they wait for, near or far.
    pub fn needed_by<'w>(&'w self, names: impl IntoIterator<Item = &'w str>) -> BTreeSet<&'w str> {
        let mut found = BTreeSet::new();
        let mut left: Vec<&str> = names.into_iter().collect();
        while let Some(name) = left.pop() {
            if let Some(step) = self.step(name).filter(|_| found.insert(name)) {
                left.extend(
                    step.depends_on.iter().chain(&step.after_failure_of).map(String::as_str),
                );
            }
        }
        found
    }

    /// Names of a step, and of everything that waits for it, near or far.
    pub fn waiting_for<'w>(&'w self, name: &'w str) -> BTreeSet<&'w str> {
        let mut found = BTreeSet::from([name]);
        loop {
            let count = found.len();
            for step in &self.steps {
                let mut waits = step.depends_on.iter().chain(&step.after_failure_of);
                if waits.any(|name| found.contains(name.as_str())) {
                    found.insert(&step.name);
                }
            }
            if found.len() == count {
                return found;
            }
        }
    }

    /// How long a handler of a step, or one of the whole, may take: as long as what it belongs to, but not so little
    /// that it could do nothing.
    pub fn handler_time(&self, step: Option<&Step>) -> Span {
        let own = step.map_or(self.config.timeout, |step| step.timeout);
        own.map_or(Self::HANDLER_TIME, |own| own.max(Self::HANDLER_TIME_LEAST))
    }

    /// The same for what undoes a step.
    pub fn undo_time(&self, step: &Step) -> Span {
        step.timeout.map_or(Self::UNDO_TIME, |own| own.max(Self::HANDLER_TIME_LEAST))
    }

    /// For handlers of what has no time of its own.
    pub const HANDLER_TIME: Span = Span::from_secs(600);
    const UNDO_TIME: Span = Span::from_secs(3600);
    const HANDLER_TIME_LEAST: Span = Span::from_secs(5);

    /// What it asks for that needs a stack, as its `config` says it.
    pub fn asks_for_stack(&self) -> Option<&'static str> {
        let first = self.config.care().into_iter().next()?;
        Some(match first {
            CareKind::Lock => "require_lock",
            CareKind::Validate => "validate_before",
            CareKind::Drift | CareKind::DriftAfter => "detect_drift",
            CareKind::Snapshot => "create_snapshot",
            CareKind::Rollback => "on_failure = \"rollback\"",
        })
    }
}

/// A place in the source of a definition. Lines begin at 1; 0 says that nobody knows.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(deny_unknown_fields, default)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

impl Place {
    pub fn is_unknown(&self) -> bool {
        self.line == 0
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_unknown() {
            f.write_str(&self.file)
        } else {
            write!(f, "{}:{}", self.file, self.line)
        }
    }
}
