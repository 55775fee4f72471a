//! An execution as those who want one see it: what it is given, who watches, why it cannot begin.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use hostler_engine::workflow::Options;
use hostler_lua::account::{self, Account};
use hostler_lua::body::{Performer, Sharing};
use hostler_lua::modules::Stream;
use hostler_model::suggest::nearest;
use hostler_model::workflow::{SkipReason, Step, StepResult, Workflow};
use serde_json::Value as Json;

use crate::flow::Flow;
use crate::journal::{Journal, JournalError, Past};
use crate::report::Report;
use crate::scrub::{Scrub, Scrubbed};
use crate::workdir;

/// What an execution is given.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Where it was started.
    pub workdir: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub secrets: BTreeMap<String, String>,
    /// Where state, locks and events of workflows are kept.
    pub services: Sharing,
    /// Only these steps and what they depend on; all when empty.
    pub only: Vec<String>,
    /// How many steps run at once where the workflow does not say it.
    pub at_once: u32,
    /// Steps that are to run on nodes run here.
    pub is_here: bool,
    /// Bodies say what they would do, and do nothing.
    pub check: bool,
    /// Of an execution that goes on: what was under way when its process died is done again.
    pub repeat_uncertain: bool,
    /// Of an execution that goes on: what failed, and what was skipped, is done again.
    pub repeat_failed: bool,
    /// Of an execution that goes on: this step is done again, and everything that waits for it.
    pub from: Option<String>,
    /// What the file was defined with.
    pub values: Json,
    pub now: i64,
    pub seed: u64,
    /// Where files that steps leave are kept, where that is not with the journal.
    pub artifacts: Option<PathBuf>,
    /// Where there are more of them, for those that need some.
    pub consumed: Vec<PathBuf>,
    /// Outputs of steps that are not part of this.
    pub outputs: BTreeMap<String, Json>,
    /// How often the steps were tried before.
    pub tried: u32,
    /// Takes secrets out of what people are told.
    pub scrub: Option<Scrub>,
    /// This program, and the word with which it carries out a step as another user; without it nothing is.
    pub helper: Vec<OsString>,
}

/// Who watches, and is asked.
pub trait Observer {
    fn told(&self, told: &Told<'_>);
    /// Whether somebody wants to be asked before steps begin.
    fn is_asking(&self) -> bool {
        false
    }
    /// Whether a step may begin, where somebody wants to be asked.
    fn asked(&self, _step: &Step) -> Answer {
        Answer::Run
    }
    /// Whether a step that waits for people may go on; nothing says that nobody can be asked.
    fn agrees(&self, _step: &Step) -> Option<bool> {
        None
    }
}

/// What somebody says to a step that wants to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Run,
    Skip,
    Abort,
}

/// What happens.
#[derive(Debug)]
pub enum Told<'a> {
    Began {
        workflow: &'a Workflow,
    },
    Started {
        step: usize,
        attempt: u32,
    },
    /// Nothing for the step says that the workflow itself spoke.
    Said {
        step: Option<usize>,
        stream: Stream,
        text: &'a str,
    },
    Again {
        step: usize,
        attempt: u32,
        wait: Duration,
        message: &'a str,
    },
    Ended {
        step: usize,
        result: &'a StepResult,
        time: Duration,
    },
    Skipped {
        step: usize,
        reason: SkipReason,
    },
    Undoing {
        step: usize,
    },
    Undone {
        step: usize,
        result: &'a StepResult,
    },
    Warned {
        text: &'a str,
    },
}

/// Why an execution cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    #[error("there is no workflow `{name}` in the file; {hint}")]
    NoWorkflow { name: String, hint: String },
    #[error("`{workflow}` has no task `{name}`; {hint}")]
    NoStep { workflow: String, name: String, hint: String },
    #[error("{0}")]
    Refused(String),
    #[error(
        "what is left of {0} cannot be ended, so nothing was done again; end it, and resume the execution then"
    )]
    Leftover(String),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Carries out a workflow to its end. When `stop` is ready, it is cancelled; dropping the future kills what runs.
pub async fn run(
    performer: Rc<Performer>,
    workflow: &str,
    setup: Setup,
    journal: Option<(Journal, Option<Past>)>,
    observer: Rc<dyn Observer>,
    stop: impl Future<Output = ()>,
) -> Result<Report, FlowError> {
    let definition = performer.definition();
    let Some(found) = definition.workflows.iter().find(|known| known.name == workflow) else {
        let known = definition.workflows.iter().map(|known| known.name.as_str());
        let hint = match nearest(workflow, known.clone()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there is {}", known.collect::<Vec<_>>().join(", ")),
        };
        return Err(FlowError::NoWorkflow { name: workflow.to_owned(), hint });
    };
    let mut found = found.clone();
    let others = refuse(&found, &setup)?;
    let own = std::process::id().to_string();
    let id = journal.as_ref().map_or(own, |(journal, _)| journal.id());
    workdir::provide(&mut found, &id).map_err(FlowError::Refused)?;
    let observer: Rc<dyn Observer> = match setup.scrub.clone() {
        Some(scrub) => Rc::new(Scrubbed { inner: observer, scrub }),
        None => observer,
    };
    carry(performer, found, setup, journal, others, observer, stop).await
}

/// Whoever carries out a step, where that is not who carries out the rest.
pub(crate) type Others = BTreeMap<usize, Account>;

/// The same for a workflow that is not quite the one of the file.
pub(crate) async fn carry(
    performer: Rc<Performer>,
    found: Workflow,
    setup: Setup,
    journal: Option<(Journal, Option<Past>)>,
    others: Others,
    observer: Rc<dyn Observer>,
    stop: impl Future<Output = ()>,
) -> Result<Report, FlowError> {
    let only = selection(&found, &setup.only)?;
    selection(&found, setup.from.as_slice())?;
    let options = Options {
        only,
        at_once: Some(setup.at_once.max(1)),
        seed: setup.seed,
        ..Options::default()
    };
    let (journal, past) = match journal {
        Some((journal, past)) => (Some(journal), past),
        None => (None, None),
    };
    let mut flow = Flow::new(performer, found, setup, journal, others, observer);
    let mut stop = std::pin::pin!(stop);
    let (course, actions, is_stopped) = flow.begin(options, past, &mut stop).await?;
    flow.go(course, actions, stop, is_stopped).await
}

/// What cannot be done here is said before anything is. Steps that are of somebody else are given, with whom.
fn refuse(workflow: &Workflow, setup: &Setup) -> Result<Others, FlowError> {
    if let Some(asked) = workflow.asks_for_stack() {
        return Err(FlowError::Refused(format!(
            "`{asked}` of `{}` is about a stack, and stacks live on a server; have the server carry the workflow out: `hostler workflow run FILE --remote`",
            workflow.name
        )));
    }
    let chosen = workflow.needed_by(setup.only.iter().map(String::as_str));
    let is_chosen = |name: &str| chosen.is_empty() || chosen.contains(name);
    let mut others = Others::new();
    for (i, step) in workflow.steps.iter().enumerate().filter(|(_, step)| is_chosen(&step.name)) {
        if let Some(user) = &step.user
            && let Some(account) = another(step, user, setup)?
        {
            others.insert(i, account);
        }
        let Some(delegation) = step.delegate.as_ref().or(workflow.delegate.as_ref()) else {
            continue;
        };
        if !setup.is_here && !delegation.fallback {
            return Err(FlowError::Refused(format!(
                "`{}` ({}) is to run on {}, and there is no server here; say --here to run it on this machine, or `fallback = \"local\"` where it is delegated",
                step.name, step.place, delegation.targets
            )));
        }
    }
    Ok(others)
}

/// Whom a step is of, where that is not this process's own user.
fn another(step: &Step, user: &str, setup: &Setup) -> Result<Option<Account>, FlowError> {
    let refused = |why: String| {
        let (name, place) = (&step.name, &step.place);
        FlowError::Refused(format!("`{name}` ({place}) is to run as the user `{user}`: {why}"))
    };
    let account = Account::find(user).map_err(refused)?;
    if account.is_own() {
        return Ok(None);
    }
    if account::is_root() && !setup.helper.is_empty() {
        return Ok(Some(account));
    }
    Err(refused(format!(
        "only root can become somebody else; start it as root or as `{user}`, or have it run on a node, whose agent can take that user on"
    )))
}

fn selection(workflow: &Workflow, names: &[String]) -> Result<Option<BTreeSet<usize>>, FlowError> {
    if names.is_empty() {
        return Ok(None);
    }
    let found = names.iter().map(|name| {
        workflow.position(name).ok_or_else(|| {
            let known = workflow.steps.iter().map(|step| step.name.as_str());
            let hint = match nearest(name, known.clone()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there is {}", known.collect::<Vec<_>>().join(", ")),
            };
            FlowError::NoStep { workflow: workflow.name.clone(), name: name.clone(), hint }
        })
    });
    found.collect::<Result<BTreeSet<usize>, _>>().map(Some)
}
