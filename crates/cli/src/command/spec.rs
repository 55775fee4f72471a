//! From flags and files to what is submitted.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use hostler_api::task::{ArraySubmitBody, TaskBatchBody, TaskSubmitBody};
use hostler_model::{ArrayRange, Labels, Name, WorkloadSpec, label_problem};

use super::spec_flags;
use crate::args::SpecArgs;
use crate::failure::Failure;
use crate::ui::Ui;

/// What is to be submitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Submission {
    One(Box<TaskSubmitBody>),
    Batch(TaskBatchBody),
    /// Or a gang.
    Array(Box<ArraySubmitBody>),
}

/// What makes many tasks of one spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Many {
    pub range: Option<ArrayRange>,
    pub nodes: Option<u32>,
}

pub fn build(ui: &Ui, args: SpecArgs, many: Many) -> Result<Submission, Failure> {
    let submission = match &args.file {
        None => Submission::One(Box::new(TaskSubmitBody {
            name: None,
            spec: WorkloadSpec::command(Vec::<String>::new()),
        })),
        Some(path) => parse(&read(ui, path)?).map_err(|mistake| {
            Failure::usage(
                format!("{} is not understood: {mistake}", path.display()),
                "it holds `name` and `spec`, with `range` for an array, or `tasks` with a list of these, as YAML or JSON",
            )
        })?,
    };
    let (mut name, mut spec, range) = match submission {
        Submission::One(body) => (body.name, body.spec, None),
        Submission::Array(body) => (body.name, body.spec, body.range),
        Submission::Batch(batch) if is_only_file(&args) && many == Many::default() => {
            return Ok(Submission::Batch(batch));
        }
        Submission::Batch(_) => {
            return Err(Failure::usage(
                "flags cannot change a file with many tasks",
                "write it into the file, or submit the tasks one by one",
            ));
        }
    };
    overlay(&mut name, &mut spec, args)?;
    spec.queue.nodes = many.nodes.or(spec.queue.nodes);
    let range = many.range.or(range);
    Ok(match (range, spec.queue.nodes) {
        (None, None) => Submission::One(Box::new(TaskSubmitBody { name, spec })),
        (Some(_), Some(_)) => {
            return Err(Failure::usage(
                "an array runs its tasks apart, a gang runs them together",
                "give either a range of indexes or a number of nodes",
            ));
        }
        (range, _) => Submission::Array(Box::new(ArraySubmitBody { name, spec, range })),
    })
}

fn is_only_file(args: &SpecArgs) -> bool {
    let rest = SpecArgs { file: None, ..args.clone() };
    format!("{rest:?}") == format!("{:?}", SpecArgs::default())
}

fn read(ui: &Ui, path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") {
        return ui.input_all();
    }
    Ok(std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?)
}

/// JSON is YAML, so one parser reads both. A document with only a `command` and its like is a spec.
pub(crate) fn parse(text: &str) -> Result<Submission, String> {
    let say = |error: serde_saphyr::Error| error.to_string();
    let fields: BTreeMap<String, serde_json::Value> = serde_saphyr::from_str(text).map_err(say)?;
    if fields.contains_key("tasks") {
        serde_saphyr::from_str(text).map(Submission::Batch).map_err(say)
    } else if fields.contains_key("range") {
        serde_saphyr::from_str(text).map(|body| Submission::Array(Box::new(body))).map_err(say)
    } else if fields.contains_key("spec") {
        serde_saphyr::from_str(text).map(|body| Submission::One(Box::new(body))).map_err(say)
    } else {
        let spec = serde_saphyr::from_str(text).map_err(say)?;
        Ok(Submission::One(Box::new(TaskSubmitBody { name: None, spec })))
    }
}

fn overlay(
    name: &mut Option<Name>,
    spec: &mut WorkloadSpec,
    args: SpecArgs,
) -> Result<(), Failure> {
    if !args.command.is_empty() {
        spec.command = args.command;
    }
    *name = args.name.or_else(|| name.take());
    if let Some(path) = &args.env_file {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        spec.env.extend(env_lines(&text).map_err(|line| {
            Failure::usage(
                format!("line {line} of {} is not KEY=VALUE", path.display()),
                "write one KEY=VALUE a line, as it stands; lines that begin with # are skipped",
            )
        })?);
    }
    for given in &args.env {
        let (key, value) = env_pair(given, |key| std::env::var(key).ok())?;
        spec.env.insert(key, value);
    }
    spec.workdir = args.workdir.or_else(|| spec.workdir.take());
    spec.user = args.user.or_else(|| spec.user.take());
    spec.timeout = args.timeout.or(spec.timeout);
    spec.stop.signal = args.stop_signal.unwrap_or(spec.stop.signal);
    spec.stop.grace = args.grace.unwrap_or(spec.stop.grace);
    spec.tags.extend(args.tags);
    spec.secrets.extend(args.secrets.variables);
    spec.secrets.extend(args.secrets.files);
    if let Some(role) = args.secrets.identity {
        spec.identity.get_or_insert_default().role = Some(role);
    }
    spec_flags::resources(spec, args.resources);
    spec_flags::placement(spec, args.placement)?;
    spec_flags::queue(spec, args.queue);
    spec_flags::container(spec, args.container)
}

/// `Err` is the number of the line that is wrong.
pub(crate) fn env_lines(text: &str) -> Result<Vec<(String, String)>, usize> {
    let lines = text.lines().map(str::trim_start).zip(1usize..);
    lines
        .filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
        .map(|(line, number)| match line.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok((key.trim().to_owned(), value.to_owned()))
            }
            _ => Err(number),
        })
        .collect()
}

fn env_pair(
    given: &str,
    here: impl Fn(&str) -> Option<String>,
) -> Result<(String, String), Failure> {
    match given.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => match here(given) {
            Some(value) => Ok((given.to_owned(), value)),
            None => Err(Failure::usage(
                format!("the variable `{given}` is not set here"),
                "give its value with --env KEY=VALUE",
            )),
        },
    }
}

/// Reads `key=value` pairs.
pub fn labels(pairs: &[String]) -> Result<Labels, Failure> {
    pairs
        .iter()
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) => match label_problem(key, value) {
                None => Ok((key.to_owned(), value.to_owned())),
                Some(problem) => Err(Failure::usage(problem, "")),
            },
            None => Err(Failure::usage(format!("`{pair}` is not a label"), "write KEY=VALUE")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{PlacementArgs, ResourceArgs};
    use hostler_model::{Bytes, Cores, Span};

    fn one(text: &str) -> TaskSubmitBody {
        match parse(text).unwrap() {
            Submission::One(body) => *body,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn files_hold_a_task_a_spec_an_array_or_many_tasks() {
        let yaml = "name: build\nspec:\n  command: [make, -j4]\n  resources: { cores: 1.5, memory: 1048576 }\n  timeout: 1h\n";
        let body = one(yaml);
        assert_eq!(body.name.as_ref().unwrap().as_str(), "build");
        assert_eq!(body.spec.resources.cores, Cores::from_millis(1500));
        assert_eq!(body.spec.timeout, Some(Span::from_secs(3600)));
        let json = serde_json::to_string(&body).unwrap();
        assert_eq!(one(&json), body);
        assert_eq!(one("command: [\"true\"]").spec, WorkloadSpec::command(["true"]));
        let array = parse("name: sweep\nrange: 1-100%5\nspec: { command: [a] }\n").unwrap();
        assert!(
            matches!(array, Submission::Array(body) if body.range.as_ref().unwrap().len() == 100)
        );
        let batch = parse("tasks:\n- spec: { command: [a] }\n- spec: { command: [b] }\n").unwrap();
        assert!(matches!(batch, Submission::Batch(batch) if batch.tasks.len() == 2));
        let mistake = parse("spec:\n  comand: [a]\n").unwrap_err();
        assert!(mistake.contains("comand"), "{mistake}");
        let mistake = parse("range: 5-1\nspec: { command: [a] }\n").unwrap_err();
        assert!(mistake.contains("ends before it begins"), "{mistake}");
    }

    #[test]
    fn flags_win_over_the_file() {
        let mut body =
            one("name: a\nspec: { command: [x], env: { A: '1', B: '1' }, workdir: /x }\n");
        let args = SpecArgs {
            name: Some("b".parse().unwrap()),
            env: vec!["B=2=3".to_owned()],
            resources: ResourceArgs {
                cores: Some(Cores::from_millis(500)),
                memory: Some(Bytes::mib(1)),
                ..ResourceArgs::default()
            },
            placement: PlacementArgs {
                selector: vec!["disk=ssd".to_owned(), "zone=b".to_owned()],
                ..PlacementArgs::default()
            },
            command: vec!["y".to_owned(), "z".to_owned()],
            ..SpecArgs::default()
        };
        overlay(&mut body.name, &mut body.spec, args).unwrap();
        assert_eq!(body.name.unwrap().as_str(), "b");
        assert_eq!(body.spec.command, ["y", "z"]);
        assert_eq!((body.spec.env["A"].as_str(), body.spec.env["B"].as_str()), ("1", "2=3"));
        assert_eq!(body.spec.workdir.as_deref(), Some("/x"));
        assert_eq!(body.spec.placement.selector.len(), 2);
    }

    #[test]
    fn variables_come_from_files_and_from_here() {
        let lines = env_lines("# hello\n\nA=1\n B = x y\n").unwrap();
        assert_eq!(lines, [("A".into(), "1".into()), ("B".into(), " x y".into())]);
        assert_eq!(env_lines("A=1\nnonsense\n"), Err(2));
        let here = |key: &str| (key == "HERE").then(|| "yes".to_owned());
        assert_eq!(env_pair("HERE", here).unwrap().1, "yes");
        assert!(env_pair("GONE", here).is_err());
    }
}
