//! `hostler stack plugin`: types of resources of one's own, kept by the server or tried out here.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use hostler_api::stack_plugin::{
    StackPluginExecutable, StackPluginGet, StackPluginList, StackPluginListQuery, StackPluginPath,
    StackPluginPush, StackPluginPushBody, StackPluginRemove, StackPluginVersionList,
};
use hostler_api::workflow::{WorkflowBundle, WorkflowQuery};
use hostler_flow::plugin::kit::{Mark, Trial, examine};
use hostler_flow::plugin::{Plugin, PluginSource};
use hostler_lua::{Bundle, Files, Given};
use hostler_model::stack::PluginPlace;
use hostler_model::{Limits, Name, PlacementRules, Span};
use tokio::task::LocalSet;

use super::super::workflow::module;
use super::super::{Cx, DONE, Link, NONE, PAGE};
use super::project;
use crate::args::{StackPluginCommand, StackPluginPushArgs, StackPluginRef, StackPluginTestArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

const ENDINGS: [&str; 3] = ["lua", "luau", "sloth"];
/// How long a node has to say what a plugin is, with everything around it.
const PUSH_TIME: Duration = Duration::from_secs(90);

pub async fn perform(cx: &Cx, command: StackPluginCommand) -> Outcome {
    match command {
        StackPluginCommand::Push(args) => Box::pin(push(cx, &args)).await,
        StackPluginCommand::Ls(list) => {
            let link = cx.link()?;
            let query = StackPluginListQuery { limit: PAGE, cursor: None };
            cx.list::<StackPluginList, _>(&link, &project(&link), &query, list.limit).await
        }
        StackPluginCommand::Versions { plugin, list } => {
            let link = cx.link()?;
            let query = StackPluginListQuery { limit: PAGE, cursor: None };
            let path = named(&link, &plugin);
            cx.list::<StackPluginVersionList, _>(&link, &path, &query, list.limit).await
        }
        StackPluginCommand::Show(args) => show(cx, &args).await,
        StackPluginCommand::Rm(args) => rm(cx, &args).await,
        StackPluginCommand::Test(args) => Box::pin(test(cx, &args)).await,
    }
}

fn named(link: &Link, plugin: &str) -> StackPluginPath {
    StackPluginPath { project: link.project.clone(), plugin: plugin.to_owned() }
}

fn is_lua(file: &Path) -> bool {
    file.extension().is_some_and(|e| ENDINGS.iter().any(|ending| e == *ending))
}

fn unread(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("{}: {error}", file.display()), "give a file that can be read")
}

/// The text of a plugin with what it asks for.
async fn bundle(cx: &Cx, file: &Path) -> Result<Bundle, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| unread(file, &error))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let given = Given::default();
    let work = |files: Box<dyn Files>| hostler_lua::module("plugin", &name, &text, files, &given);
    let judged = module::with_modules(cx, file, work).await?;
    let (bundle, _) = judged.map_err(|mistakes| {
        Failure::told(exit::Code::Usage, mistakes.to_string(), "mend the file")
    })?;
    Ok(bundle)
}

async fn push(cx: &Cx, args: &StackPluginPushArgs) -> Outcome {
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let name: Name = match &args.name {
        Some(name) => name.clone(),
        None => stem.replace(['_', '.'], "-").parse().map_err(|_| {
            Failure::usage(
                format!("`{stem}` cannot be the name of a plugin"),
                "give it one with --name",
            )
        })?,
    };
    let link = cx.link()?;
    let (executable, lua) = match is_lua(&args.file) {
        true => {
            let Bundle { name, text, files } = bundle(cx, &args.file).await?.alone();
            (None, Some(WorkflowBundle { name, text, files }))
        }
        false => {
            let file =
                std::fs::File::open(&args.file).map_err(|error| unread(&args.file, &error))?;
            let label = args.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let sent = link.client.blob_upload(&link.project, &label, file, |_| {}).await?;
            (Some(StackPluginExecutable { file: label, blob: sent.digest }), None)
        }
    };
    let mut selector = hostler_model::Labels::default();
    for pair in &args.selector {
        let wrong = || Failure::usage(format!("`{pair}` is no label"), "write it as KEY=VALUE");
        let (key, value) = pair.split_once('=').ok_or_else(wrong)?;
        selector.insert(key.to_owned(), value.to_owned());
    }
    let place = PluginPlace {
        placement: PlacementRules {
            node: args.node.clone(),
            selector,
            ..PlacementRules::default()
        },
        user: args.user.clone(),
        timeout: args.timeout,
        limits: Limits { memory: args.memory, ..Limits::default() },
        secrets: args.secret.clone(),
    };
    let body = StackPluginPushBody { name, executable, lua, place };
    let client = link.client.with_timeout(PUSH_TIME);
    let kept = client.call::<StackPluginPush>(&project(&link), &NONE, &body).await?;
    if cx.is_for_people() && !cx.ui.is_quiet() {
        let types: Vec<&str> = kept.types.keys().map(String::as_str).collect();
        cx.ui.say(&format!("{}: version {}, with {}", kept.name, kept.version, types.join(", ")));
        return Ok(DONE);
    }
    cx.one(&kept)
}

async fn show(cx: &Cx, args: &StackPluginRef) -> Outcome {
    let link = cx.link()?;
    let query = WorkflowQuery { version: args.version };
    let path = named(&link, &args.plugin);
    cx.one(&link.client.call::<StackPluginGet>(&path, &query, &NONE).await?)
}

async fn rm(cx: &Cx, args: &StackPluginRef) -> Outcome {
    let link = cx.link()?;
    let query = WorkflowQuery { version: args.version };
    let path = named(&link, &args.plugin);
    link.client.call::<StackPluginRemove>(&path, &query, &NONE).await?;
    let what = match args.version {
        Some(version) => format!("{}: version {version} removed", args.plugin),
        None => format!("{}: removed", args.plugin),
    };
    cx.ui.say(&what);
    Ok(DONE)
}

/// A directory that goes with whoever holds this.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        let beginning = std::env::temp_dir().join(format!("hostler-plugin-{}", std::process::id()));
        std::fs::create_dir(&beginning)?;
        Ok(Scratch(beginning))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _nothing_can_be_done = std::fs::remove_dir_all(&self.0);
    }
}

async fn test(cx: &Cx, args: &StackPluginTestArgs) -> Outcome {
    let source = match is_lua(&args.file) {
        true => PluginSource::Lua(bundle(cx, &args.file).await?),
        false => {
            let whole = args.file.canonicalize().map_err(|error| unread(&args.file, &error))?;
            PluginSource::Executable(whole)
        }
    };
    let scratch = Scratch::new()?;
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let plugin = Plugin {
        source,
        workdir: scratch.0.clone(),
        environment: environment.collect(),
        secrets: Default::default(),
        timeout: Span::duration(args.timeout),
        hear: Rc::new(|_, _| {}),
    };
    let trials = LocalSet::new().run_until(examine(&plugin, &scratch.0)).await;
    output::list(&cx.ui, cx.now(), &trials)?;
    let failed = trials.iter().filter(|trial| trial.result == Mark::Failed).count();
    if cx.is_for_people() {
        let passed = trials.iter().filter(|trial| trial.result == Mark::Passed).count();
        let skipped = trials.len() - passed - failed;
        cx.ui.say(&format!("{passed} passed, {failed} failed, {skipped} left out"));
    }
    Ok(if failed == 0 { DONE } else { exit::Code::Failure.number() })
}

impl output::Show for Trial {
    const KIND: &'static str = "trial";
    const COLUMNS: &'static [output::Column] = &[
        output::column("TYPE"),
        output::column("CHECK"),
        output::column("RESULT"),
        output::column("TIME"),
        output::column("WHY"),
    ];
    fn id(&self) -> String {
        format!("{}/{}", self.kind, self.check)
    }
    fn name(&self) -> String {
        output::Show::id(self)
    }
    fn cells(&self, _: hostler_model::Timestamp, _: bool) -> Vec<output::Cell> {
        let result = match self.result {
            Mark::Passed => "passed",
            Mark::Failed => "failed",
            Mark::Skipped => "skipped",
        };
        vec![
            output::Cell::new(if self.kind.is_empty() { "-" } else { &self.kind }),
            output::Cell::new(self.check),
            output::Cell::new(result),
            output::Cell::new(format!("{} ms", self.duration)),
            output::Cell::new(&self.message),
        ]
    }
}
