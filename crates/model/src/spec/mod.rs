//! What a user writes about a workload. Defined once: REST body, stored document, workload file and
//! agent message.

mod around;
mod class;
mod constraint;
mod container;
mod cron;
mod files;
mod health;
mod hidden;
mod identity;
mod limits;
mod mode;
mod placement;
mod queue;
mod range;
mod resources;
mod secrets;
mod target;
mod zone;

pub use around::{Dependency, DependencyCondition, Hook, Hooks, LogPolicy, PythonEntry};
pub use constraint::{Attribute, Constraint, compare_versions};
pub use container::{Container, ContainerNetwork, Mount, PullPolicy, image_problem};
pub use cron::{Cron, CronError, CronField};
pub use files::{Input, Output, OutputWhen, inner_path_problem};
pub use health::{Check, HealthCheck, HttpCheck, OnUnhealthy, TcpCheck};
pub use hidden::HIDDEN;
pub use identity::{AudienceToken, HOSTLER_AUDIENCE, Identity, TOKEN_FILE};
pub use limits::Limits;
pub use mode::{CatchUp, Mode, ModeKind, Overlap, RestartOn, RestartPolicy, Schedule};
pub use placement::{LOCATION_LABEL, PlacementRules, Strategy};
pub use queue::{After, AfterCondition, QueueRules, RetryOn, RetryPolicy};
pub use range::ArrayRange;
pub use resources::{GpuRequest, GpuShareSize, NumaRequest, Resources};
pub use secrets::{SecretUse, secret_file_problem};
pub use target::Target;
pub use zone::ZoneError;
pub(crate) use zone::zone;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::stack::PluginCall;
use crate::workflow::JobOrder;
use crate::{Diagnostic, Span};

crate::labels! {
    /// What carries a workload out on its node.
    #[derive(Default)]
    pub enum Runtime ("runtime") {
        /// A process of the node's own operating system.
        #[default]
        Process = "process",
        /// A container of the node's container engine.
        Container = "container",
        /// A step of a workflow: what to do lies among its inputs. Made by executions.
        Lua = "lua",
    }
}

/// A workload as its user describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    #[serde(default)]
    pub runtime: Runtime,
    #[serde(default)]
    pub mode: Mode,
    /// Program and arguments, run as they stand (no shell). The program is looked up in the node's
    /// PATH. Either this or `python`.
    #[schemars(length(max = 4096))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// A Python function to run instead of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PythonEntry>,
    /// Environment variables added to the node's minimal set (PATH, HOME, USER, HOSTLER_*).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Secrets that it is given when it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretUse>,
    /// Tokens with which what runs proves what it is: to Hostler, and to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// Working directory on the node; the run's own scratch directory when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Login name on the node to run as; the agent's own user when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Group to run as; the user's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Permissions that new files do not get, in octal; `022` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<String>,
    /// Stop a run that takes longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    #[serde(default, skip_serializing_if = "RestartPolicy::is_default")]
    pub restart: RestartPolicy,
    #[serde(default)]
    pub stop: StopPolicy,
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// It is healthy when all of these say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub health: Vec<HealthCheck>,
    /// Others on the same node that have to be there first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends: Vec<Dependency>,
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
    #[serde(default, skip_serializing_if = "LogPolicy::is_default")]
    pub logs: LogPolicy,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Version of what it runs, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The container it runs in, with the runtime `container`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// Files that are there before it starts; for tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// Files that are kept when it has ended; for tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    #[serde(default)]
    pub resources: Resources,
    #[serde(default)]
    pub placement: PlacementRules,
    /// How it waits for its turn; for tasks.
    #[serde(default, skip_serializing_if = "QueueRules::is_default")]
    pub queue: QueueRules,
}

/// How a run is stopped: the signal, then after the grace period SIGKILL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StopPolicy {
    pub signal: StopSignal,
    pub grace: Span,
}

impl Default for StopPolicy {
    fn default() -> StopPolicy {
        StopPolicy { signal: StopSignal::Term, grace: Span::from_secs(10) }
    }
}

crate::labels! {
    /// Signals that ask a process to end.
    pub enum StopSignal ("signal") {
        Term = "SIGTERM",
        Int = "SIGINT",
        Quit = "SIGQUIT",
        Hup = "SIGHUP",
        Usr1 = "SIGUSR1",
        Usr2 = "SIGUSR2",
        Kill = "SIGKILL",
    }
}

impl StopSignal {
    /// The number on Linux (the same on every architecture we run on).
    pub const fn number(self) -> i32 {
        match self {
            StopSignal::Hup => 1,
            StopSignal::Int => 2,
            StopSignal::Quit => 3,
            StopSignal::Kill => 9,
            StopSignal::Usr1 => 10,
            StopSignal::Usr2 => 12,
            StopSignal::Term => 15,
        }
    }
}

/// Mistakes found in a spec, with where they are.
struct Problems<'a> {
    base: &'a str,
    found: Vec<Diagnostic>,
}

impl Problems<'_> {
    fn at(&mut self, pointer: &str, detail: impl Into<String>) {
        self.found.push(Diagnostic::new(format!("{}{pointer}", self.base), detail));
    }
}

fn look_at_command(at: &str, command: &[String], say: &mut Problems<'_>) {
    if command.first().is_none_or(String::is_empty) {
        say.at(at, "the command is empty; give a program and its arguments");
    }
    for (i, word) in command.iter().enumerate() {
        if word.contains('\0') {
            say.at(&format!("{at}/{i}"), "an argument cannot contain a NUL character");
        }
    }
    if command.iter().map(String::len).sum::<usize>() > 1 << 20 {
        say.at(at, "the command is longer than 1 MiB");
    }
}

fn is_account(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

impl WorkloadSpec {
    /// A spec with nothing but a command.
    pub fn command(argv: impl IntoIterator<Item = impl Into<String>>) -> WorkloadSpec {
        let command = argv.into_iter().map(Into::into).collect();
        WorkloadSpec { command, ..WorkloadSpec::default() }
    }

    /// What is executed.
    pub fn argv(&self) -> Cow<'_, [String]> {
        match &self.python {
            Some(python) => Cow::Owned(python.command()),
            None => Cow::Borrowed(&self.command),
        }
    }

    /// The umask of its runs.
    pub fn umask_bits(&self) -> u32 {
        self.umask.as_deref().and_then(parse_umask).unwrap_or(0o022)
    }

    /// Every mistake that the types alone do not rule out; `at` is the JSON pointer of the spec.
    pub fn problems(&self, at: &str) -> Vec<Diagnostic> {
        let mut say = Problems { base: at, found: Vec::new() };
        match (&self.python, self.command.is_empty()) {
            // An image may bring its own command.
            (None, true) if self.runtime != Runtime::Process => {}
            (None, false) if self.runtime == Runtime::Lua => {
                say.at("/command", "a step of a workflow finds what to do among its inputs");
            }
            (None, _) => look_at_command("/command", &self.command, &mut say),
            (Some(_), false) => say.at("/python", "either `command` or `python`, not both"),
            (Some(python), true) => python.look(&mut say),
        }
        self.look_at_env(&mut say);
        self.look_at_secrets(&mut say);
        self.look_at_identity(&mut say);
        if let Some(dir) = &self.workdir
            && (!dir.starts_with('/') || dir.contains('\0'))
        {
            say.at("/workdir", "the working directory must be an absolute path");
        }
        for (at, name) in [("/user", &self.user), ("/group", &self.group)] {
            if name.as_deref().is_some_and(|name| !is_account(name)) {
                say.at(at, "a login name has 1 to 32 letters, digits, `-`, `_` or `.`");
            }
        }
        if self.umask.as_deref().is_some_and(|umask| parse_umask(umask).is_none()) {
            say.at("/umask", "a umask is three or four octal digits in quotes, such as '027'");
        }
        if self.timeout == Some(Span::from_millis(0)) {
            say.at(
                "/timeout",
                "a timeout of zero would stop every run at once; leave it out for none",
            );
        }
        if self.stop.grace > Span::from_secs(86_400) {
            say.at("/stop/grace", "the grace period is at most 1d");
        }
        match &self.mode {
            Mode::Times(0) => say.at("/mode/times", "at least one run is needed"),
            Mode::Schedule(schedule) => schedule.look(&mut say),
            Mode::Once | Mode::Forever | Mode::Times(_) => {}
        }
        self.restart.look(&self.mode, &mut say);
        self.limits.look(&mut say);
        for (i, check) in self.health.iter().enumerate() {
            check.look(&format!("/health/{i}"), &mut say);
        }
        self.hooks.look(&mut say);
        self.logs.look(&mut say);
        for (i, tag) in self.tags.iter().enumerate() {
            if !is_tag(tag) {
                say.at(&format!("/tags/{i}"), "a tag has 1 to 128 printable characters");
            }
        }
        self.look_at_runtime(&mut say);
        self.look_at_files(&mut say);
        self.resources.look(&mut say);
        self.placement.look(&mut say);
        self.queue.look(&mut say);
        say.found
    }

    fn look_at_runtime(&self, say: &mut Problems<'_>) {
        match (self.runtime, &self.container) {
            (Runtime::Container, None) => {
                say.at("/container", "the runtime `container` needs an image: container.image");
            }
            (Runtime::Process | Runtime::Lua, Some(_)) => {
                say.at("/container", "set `runtime: container`, or leave the container out");
            }
            (Runtime::Container, Some(container)) => container.look(say),
            (Runtime::Lua, None) => {
                let has = |path: &str| self.inputs.iter().any(|input| input.path == path);
                let needed: &[&str] = match has(PluginCall::ORDER) {
                    true => &[],
                    false => &[JobOrder::ORDER, JobOrder::BUNDLE],
                };
                for needed in needed {
                    if !has(needed) {
                        let text = format!(
                            "a step of a workflow needs {needed}; run a workflow to have it made"
                        );
                        say.at("/inputs", text);
                    }
                }
            }
            (Runtime::Process, None) => {}
        }
    }

    fn look_at_env(&self, say: &mut Problems<'_>) {
        for (key, value) in &self.env {
            let pointer = format!("/env/{}", key.replace('~', "~0").replace('/', "~1"));
            if let Some(why) = variable_problem(key) {
                say.at(&pointer, why);
            } else if value.contains('\0') {
                say.at(&pointer, "a value cannot contain a NUL character");
            } else if value == HIDDEN {
                say.at(&pointer, "this stands where a value was hidden from you; write the value");
            }
        }
        if self.env.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>() > 1 << 20 {
            say.at("/env", "the environment is larger than 1 MiB");
        }
    }
}

/// Why this cannot be the name of a variable, or `None`.
fn variable_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Some("a variable name cannot be empty or contain `=` or NUL");
    }
    let is_ours = name.starts_with("HOSTLER_");
    is_ours.then_some("names that begin with HOSTLER_ are set by Hostler itself")
}

/// Whether a word can be a tag.
fn is_tag(tag: &str) -> bool {
    !tag.is_empty() && tag.len() <= 128 && !tag.contains(char::is_control)
}

fn parse_umask(text: &str) -> Option<u32> {
    let is_octal =
        (3..=4).contains(&text.len()) && text.bytes().all(|b| (b'0'..=b'7').contains(&b));
    u32::from_str_radix(text, 8).ok().filter(|bits| is_octal && *bits <= 0o777)
}
