//! What happens around a run: hooks, dependencies, output, and Python entry points.

use serde::{Deserialize, Serialize};

use super::{Problems, look_at_command};
use crate::{Bytes, Name, Span};

/// Commands run beside the program, as the same user and in the same place; their output is among
/// the run's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Hooks {
    /// Before the program; when it fails, the program is not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_start: Option<Hook>,
    /// After the program was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_start: Option<Hook>,
    /// When the run is to stop, before its stop signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_stop: Option<Hook>,
    /// After the program has ended, however it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_stop: Option<Hook>,
}

impl Hooks {
    pub fn is_empty(&self) -> bool {
        *self == Hooks::default()
    }

    pub fn all(&self) -> [(&'static str, Option<&Hook>); 4] {
        [
            ("preStart", self.pre_start.as_ref()),
            ("postStart", self.post_start.as_ref()),
            ("preStop", self.pre_stop.as_ref()),
            ("postStop", self.post_stop.as_ref()),
        ]
    }

    pub(super) fn look(&self, say: &mut Problems<'_>) {
        for (name, hook) in self.all() {
            if let Some(hook) = hook {
                look_at_command(&format!("/hooks/{name}/command"), &hook.command, say);
                if hook.timeout.is_zero() {
                    say.at(&format!("/hooks/{name}/timeout"), "a hook needs time to run");
                }
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// Program and arguments, run as they stand.
    pub command: Vec<String>,
    /// It is killed when it takes longer, and counts as failed.
    #[serde(default = "half_a_minute")]
    pub timeout: Span,
}

const fn half_a_minute() -> Span {
    Span::from_secs(30)
}

/// Another workload on the same node that has to be somewhere first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    pub workload: Name,
    #[serde(default)]
    pub condition: DependencyCondition,
}

crate::labels! {
    /// How far the other one has to be.
    #[derive(Default)]
    pub enum DependencyCondition ("dependency condition") {
        /// It runs.
        #[default]
        Started = "started",
        /// Its health checks say that it works.
        Healthy = "healthy",
        /// It has done what it was there for, successfully.
        Completed = "completed",
    }
}

/// How much of a workload's output is kept on its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct LogPolicy {
    /// Of all its runs together; the oldest goes first.
    pub max_bytes: Bytes,
    /// Output older than this goes.
    pub max_age: Span,
}

impl Default for LogPolicy {
    fn default() -> LogPolicy {
        LogPolicy { max_bytes: Bytes::mib(64), max_age: Span::from_secs(30 * 86_400) }
    }
}

impl LogPolicy {
    pub(super) fn is_default(&self) -> bool {
        *self == LogPolicy::default()
    }

    pub(super) fn look(&self, say: &mut Problems<'_>) {
        if self.max_bytes < Bytes::new(64 << 10) {
            say.at("/logs/maxBytes", "at least 64 KiB of output are kept");
        }
        if self.max_age.is_zero() {
            say.at("/logs/maxAge", "an age of zero keeps nothing");
        }
    }
}

/// A Python function to run instead of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonEntry {
    /// Module, looked up from the working directory first.
    pub module: String,
    /// Function in it, plain or async.
    #[serde(default = "run")]
    pub entry: String,
    /// Passed by name.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub params: serde_json::Map<String, serde_json::Value>,
    #[serde(default = "python3")]
    pub interpreter: String,
}

fn run() -> String {
    "run".to_owned()
}

fn python3() -> String {
    "python3".to_owned()
}

/// Imports the module, calls the function with the parameters, and waits for it when it is async. An
/// integer it returns is the exit code.
const CALL: &str = "\
import asyncio, importlib, inspect, json, sys
module, entry, params = sys.argv[1:4]
sys.argv = [module]
call = importlib.import_module(module)
for part in entry.split('.'):
    call = getattr(call, part)
done = call(**json.loads(params))
if inspect.isawaitable(done):
    async def wait():
        return await done
    done = asyncio.run(wait())
sys.exit(done if type(done) is int else 0)
";

impl PythonEntry {
    /// The command it stands for.
    pub fn command(&self) -> Vec<String> {
        let params = serde_json::Value::Object(self.params.clone()).to_string();
        let words = [&self.interpreter, "-c", CALL, &self.module, &self.entry, &params];
        words.into_iter().map(str::to_owned).collect()
    }

    pub(super) fn look(&self, say: &mut Problems<'_>) {
        let is_dotted = |text: &str| {
            !text.is_empty()
                && text.split('.').all(|part| {
                    !part.is_empty()
                        && !part.starts_with(|c: char| c.is_ascii_digit())
                        && part.chars().all(|c| c.is_alphanumeric() || c == '_')
                })
        };
        if !is_dotted(&self.module) {
            say.at("/python/module", "a module is names joined by dots, such as shop.sync");
        }
        if !is_dotted(&self.entry) {
            say.at("/python/entry", "an entry point is the name of a function");
        }
        if self.interpreter.is_empty() || self.interpreter.contains('\0') {
            say.at("/python/interpreter", "an interpreter is a program such as python3");
        }
    }
}
