//! What a user writes about a workload. Defined once: REST body, stored document and agent message.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::name::label_problem;
use crate::{Bytes, Cores, Diagnostic, Labels, Name, Span};

crate::labels! {
    /// What carries a workload out on its node.
    #[derive(Default)]
    pub enum Runtime ("runtime") {
        /// A process of the node's own operating system.
        #[default]
        Process = "process",
    }
}

crate::labels! {
    /// How often a workload runs.
    #[derive(Default)]
    pub enum Mode ("mode") {
        /// One run, to its end.
        #[default]
        Once = "once",
    }
}

/// A workload as its user describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkloadSpec {
    #[serde(default)]
    pub runtime: Runtime,
    #[serde(default)]
    pub mode: Mode,
    /// Program and arguments, run as they stand (no shell). The program is looked up in the node's PATH.
    #[schemars(length(min = 1, max = 4096))]
    pub command: Vec<String>,
    /// Environment variables added to the node's minimal set (PATH, HOME, USER, HOSTLER_*).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Working directory on the node; the run's own scratch directory when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Login name on the node to run as; the agent's own user when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Stop a run that takes longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    #[serde(default)]
    pub stop: StopPolicy,
    #[serde(default)]
    pub resources: Resources,
    #[serde(default)]
    pub placement: PlacementRules,
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

/// What a workload reserves on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Resources {
    pub cores: Cores,
    /// Bytes of memory.
    pub memory: Bytes,
}

impl Default for Resources {
    /// Small enough that fifty unspecified tasks share a core, large enough that a node is never flooded.
    fn default() -> Resources {
        Resources { cores: Cores::from_millis(20), memory: Bytes::ZERO }
    }
}

/// Where a workload may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlacementRules {
    /// Only on the node of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    /// Only on nodes that carry all of these labels.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub selector: Labels,
}

impl WorkloadSpec {
    /// A spec with nothing but a command.
    pub fn command(argv: impl IntoIterator<Item = impl Into<String>>) -> WorkloadSpec {
        WorkloadSpec {
            runtime: Runtime::Process,
            mode: Mode::Once,
            command: argv.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            workdir: None,
            user: None,
            timeout: None,
            stop: StopPolicy::default(),
            resources: Resources::default(),
            placement: PlacementRules::default(),
        }
    }

    /// Every mistake that the types alone do not rule out; `at` is the JSON pointer of the spec.
    pub fn problems(&self, at: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |pointer: String, detail: String| {
            found.push(Diagnostic::new(format!("{at}{pointer}"), detail))
        };
        if self.command.first().is_none_or(String::is_empty) {
            say("/command".into(), "the command is empty; give a program and its arguments".into());
        }
        for (i, word) in self.command.iter().enumerate() {
            if word.contains('\0') {
                say(format!("/command/{i}"), "an argument cannot contain a NUL character".into());
            }
        }
        if self.command.iter().map(String::len).sum::<usize>() > 1 << 20 {
            say("/command".into(), "the command is longer than 1 MiB".into());
        }
        for (key, value) in &self.env {
            let pointer = format!("/env/{}", key.replace('~', "~0").replace('/', "~1"));
            if key.is_empty() || key.contains(['=', '\0']) {
                say(pointer, "a variable name cannot be empty or contain `=` or NUL".into());
            } else if key.starts_with("HOSTLER_") {
                say(pointer, "names that begin with HOSTLER_ are set by Hostler itself".into());
            } else if value.contains('\0') {
                say(pointer, "a value cannot contain a NUL character".into());
            }
        }
        if self.env.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>() > 1 << 20 {
            say("/env".into(), "the environment is larger than 1 MiB".into());
        }
        if let Some(dir) = &self.workdir
            && (!dir.starts_with('/') || dir.contains('\0'))
        {
            say("/workdir".into(), "the working directory must be an absolute path".into());
        }
        if let Some(user) = &self.user
            && (user.is_empty()
                || user.len() > 32
                || !user.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)))
        {
            say("/user".into(), "a login name has 1 to 32 letters, digits, `-`, `_` or `.`".into());
        }
        if self.timeout == Some(Span::from_millis(0)) {
            say(
                "/timeout".into(),
                "a timeout of zero would stop every run at once; leave it out for none".into(),
            );
        }
        if self.stop.grace > Span::from_secs(86_400) {
            say("/stop/grace".into(), "the grace period is at most 1d".into());
        }
        for (key, value) in &self.placement.selector {
            if let Some(problem) = label_problem(key, value) {
                say("/placement/selector".into(), problem);
            }
        }
        found
    }
}
