//! One workload in the form of Master Control, known by its `run_mode`.
//!
//! It becomes a Python entry with a mode; what Hostler has no field for is kept in tags (`type:agent`,
//! and `name:my_job` when the name had to be changed into `my-job`). Times are the node's own, a run
//! that is due while the last one goes on is left out, and times that passed while nothing ran are not
//! made up for, as Master Control has it. The wait before a restart grows, which it does not there.
//! Fields it does not know are mistakes here; there they are passed over.

use hostler_model::{
    Bytes, CatchUp, Diagnostic, Limits, Mode, Name, PythonEntry, RestartPolicy, Schedule, Span,
    WorkloadSpec,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mistake::{Notes, Place};
use crate::ours::{Written, as_name};
use crate::recover::{self, Recovered};
use crate::tree::{Node, Step};

/// A workload as Master Control describes it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "MasterControlWorkload")]
pub(crate) struct Document {
    pub name: Option<String>,
    /// `agent`, `script`, `service` or another word; kept as a tag.
    pub r#type: Option<String>,
    pub run_mode: Option<RunMode>,
    /// Python module.
    pub module: Option<String>,
    /// Function in it; `run` when absent.
    pub entry_point: Option<String>,
    /// When it runs; needed with `schedule`.
    pub schedule: Option<String>,
    /// How many runs; needed with `n_times`.
    #[schemars(range(min = 1))]
    pub max_runs: Option<i64>,
    /// Passed to the function by name.
    pub params: Map<String, Value>,
    /// Seconds before a restart; 5 when absent.
    #[schemars(range(min = 0))]
    pub restart_delay: Option<f64>,
    /// Seconds a run may take.
    #[schemars(range(min = 0))]
    pub timeout: Option<f64>,
    pub tags: Vec<String>,
    pub version: Option<String>,
    /// Memory, in MiB.
    #[schemars(range(min = 1))]
    pub memory_limit_mb: Option<i64>,
    /// Priority: -20 is the highest, 19 the lowest.
    #[schemars(range(min = -20, max = 19))]
    pub cpu_nice: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunMode {
    Schedule,
    Forever,
    NTimes,
}

pub(crate) const REQUIRED: [&str; 4] = ["name", "type", "run_mode", "module"];

const RESTART_DELAY: f64 = 5.0;

/// Reads a mapping; every mistake is noted. `home` is the working directory, for which this form has
/// no field.
pub(crate) fn read(mut node: Node, home: Option<&str>, notes: &mut Notes<'_>) -> Written {
    let before = notes.found.len();
    let what = "a Master Control workload";
    let recovered = recover::read::<Document>(&mut node, what, notes);
    let name_place = node.place_of(&node.steps("/name"));
    let mut written = Written { name: None, name_place, spec: None, is_right: false, node };
    let Some(document) = &recovered.value else {
        return written;
    };
    let mut judge = Judge { node: &written.node, recovered: &recovered, notes };
    written.name = judge.name(document);
    judge.rules(document);
    let spec = convert(document, written.name.as_ref(), home);
    for problem in spec.problems("") {
        judge.problem(problem);
    }
    written.spec = Some(spec);
    written.is_right = notes.found.len() == before;
    written
}

struct Judge<'a, 't> {
    node: &'a Node,
    recovered: &'a Recovered<Document>,
    notes: &'a mut Notes<'t>,
}

impl Judge<'_, '_> {
    fn at(&mut self, field: &str, detail: impl Into<String>, hint: &str) {
        let path = [Step::Key(field.to_owned())];
        if !self.recovered.is_doubtful(&path) {
            self.notes.at(self.place(field), detail, hint);
        }
    }

    fn place(&self, field: &str) -> Place {
        self.node.place_of(&[Step::Key(field.to_owned())])
    }

    fn name(&mut self, document: &Document) -> Option<Name> {
        let text = document.name.as_deref()?;
        let name = as_name(text);
        if name.is_none() {
            let hint = "use letters, digits and `-`";
            self.at("name", format!("`{text}` cannot be made a name"), hint);
        }
        name
    }

    fn rules(&mut self, document: &Document) {
        let has = [
            document.name.is_some(),
            document.r#type.is_some(),
            document.run_mode.is_some(),
            document.module.is_some(),
        ];
        for (field, _) in REQUIRED.into_iter().zip(has).filter(|(_, has)| !has) {
            let detail = format!("a Master Control workload needs `{field}`");
            self.at(field, detail, &format!("add `{field}: …`"));
        }
        match document.run_mode {
            Some(RunMode::Schedule) if document.schedule.is_none() => {
                let hint = "add `schedule: \"0 3 * * *\"`";
                self.at("schedule", "`run_mode: schedule` needs `schedule`", hint);
            }
            Some(RunMode::NTimes) if document.max_runs.is_none() => {
                self.at("max_runs", "`run_mode: n_times` needs `max_runs`", "add `max_runs: 3`");
            }
            _ => {}
        }
        if document.max_runs.is_some_and(|runs| !(1..=i64::from(u32::MAX)).contains(&runs)) {
            self.at("max_runs", "`max_runs` must be a whole number from 1 up", "");
        }
        if document.memory_limit_mb.is_some_and(|mb| !(1..=1 << 30).contains(&mb)) {
            self.at("memory_limit_mb", "`memory_limit_mb` must be a whole number from 1 up", "");
        }
        if document.cpu_nice.is_some_and(|nice| !(-20..=19).contains(&nice)) {
            self.at("cpu_nice", "`cpu_nice` must be a whole number from -20 to 19", "");
        }
        if document.restart_delay.is_some_and(|delay| span(delay).is_none()) {
            self.at("restart_delay", "`restart_delay` must be a number of seconds from 0 up", "");
        }
        if document.timeout.is_some_and(|timeout| span(timeout).is_none_or(|s| s.is_zero())) {
            self.at("timeout", "`timeout` must be a number of seconds above 0", "");
        }
    }

    /// Says a problem of the converted spec where its cause is written. What the rules above look
    /// at, and what cannot be there because a field is missing, is not said twice.
    fn problem(&mut self, problem: Diagnostic) {
        let field = match problem.pointer.as_str() {
            "/python/module" => "module",
            "/python/entry" => "entry_point",
            "/mode/schedule/cron" => "schedule",
            "/workdir" => "module",
            other if other.starts_with("/tags/") => "tags",
            _ => return,
        };
        if self.node.get(field).is_some() {
            let (detail, hint) = recover::advice(&problem.detail);
            self.at(field, format!("`{field}`: {detail}"), &hint);
        }
    }
}

fn span(seconds: f64) -> Option<Span> {
    let millis = (seconds * 1000.0).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked first"
    )]
    (0.0..=1e15).contains(&millis).then_some(Span::from_millis(millis as u64))
}

fn convert(document: &Document, name: Option<&Name>, home: Option<&str>) -> WorkloadSpec {
    let mode = match document.run_mode {
        Some(RunMode::Schedule) => Mode::Schedule(Schedule {
            timezone: "local".to_owned(),
            catch_up: CatchUp::None,
            ..Schedule::new(document.schedule.clone().unwrap_or_default())
        }),
        Some(RunMode::NTimes) => {
            Mode::Times(document.max_runs.and_then(|n| u32::try_from(n).ok()).unwrap_or(1))
        }
        Some(RunMode::Forever) | None => Mode::Forever,
    };
    let mut restart = RestartPolicy::default();
    let is_restarted = document.run_mode != Some(RunMode::Schedule);
    if let Some(delay) =
        document.restart_delay.or(is_restarted.then_some(RESTART_DELAY)).and_then(span)
    {
        restart.delay = delay;
        restart.max_delay = restart.max_delay.max(delay);
    }
    let mut tags = document.tags.clone();
    tags.extend(document.r#type.as_ref().map(|kind| format!("type:{kind}")));
    if let (Some(written), Some(name)) = (&document.name, name)
        && written != name.as_str()
    {
        tags.push(format!("name:{written}"));
    }
    WorkloadSpec {
        mode,
        python: Some(PythonEntry {
            module: document.module.clone().unwrap_or_default(),
            entry: document.entry_point.clone().unwrap_or_else(|| "run".to_owned()),
            params: document.params.clone(),
            interpreter: "python3".to_owned(),
        }),
        workdir: home.map(str::to_owned),
        timeout: document.timeout.and_then(span),
        restart,
        limits: Limits {
            memory: document.memory_limit_mb.and_then(|mb| u64::try_from(mb).ok()).map(Bytes::mib),
            nice: document.cpu_nice.and_then(|nice| i32::try_from(nice).ok()),
            ..Limits::default()
        },
        tags,
        version: document.version.clone(),
        ..WorkloadSpec::default()
    }
}
