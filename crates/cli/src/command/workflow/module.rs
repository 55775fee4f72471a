//! `hostler workflow module`: modules that the server keeps, and bringing them to files that are looked at here.
//!
//! A file is run without a server first. Only where it asks for what is not beside it, and a server is known, is that
//! one asked; so whatever needs no module from there needs no server.

use std::path::{Path, PathBuf};

use hostler_api::ProjectPath;
use hostler_api::module::{
    ModuleList, ModulePath, ModulePush, ModulePushBody, ModuleRemove, ModuleSource, ModuleText,
    ModuleVersionList, ModuleView,
};
use hostler_api::workflow::{WorkflowBundle, WorkflowListQuery, WorkflowQuery};
use hostler_lua::{Bundle, Files, FolderFiles, Mistakes, ROUNDS, Shelf, is_kept};
use hostler_model::Code;
use hostler_model::workflow::{ModuleAsk, ModuleRef};

use super::super::{Cx, DONE, Link, NONE, PAGE};
use super::given;
use crate::args::{ModuleCommand, ModuleListArgs, ModulePushArgs, ModuleShowArgs};
use crate::failure::{Failure, Outcome};
use crate::output;

const ENDINGS: [&str; 3] = ["lua", "luau", "sloth"];
const MAINS: [&str; 2] = ["init.lua", "init.luau"];

pub async fn perform(cx: &Cx, command: ModuleCommand) -> Outcome {
    match command {
        ModuleCommand::Push(args) => push(cx, &args).await,
        ModuleCommand::Ls(args) => ls(cx, &args).await,
        ModuleCommand::Show(args) => show(cx, &args).await,
        ModuleCommand::Rm { modules } => rm(cx, &modules).await,
    }
}

fn project(link: &Link) -> ProjectPath {
    ProjectPath { project: link.project.clone() }
}

fn named(link: &Link, module: &str) -> ModulePath {
    ModulePath { project: link.project.clone(), module: module.to_owned() }
}

/// A module to be pushed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    name: String,
    main: PathBuf,
}

async fn push(cx: &Cx, args: &ModulePushArgs) -> Outcome {
    let mut sources = Vec::new();
    for path in &args.paths {
        sources.extend(sources_of(path)?);
    }
    match (&args.name, &mut sources[..]) {
        (Some(name), [one]) => one.name.clone_from(name),
        (Some(_), several) => {
            return Err(Failure::usage(
                format!("--name is the name of one module, and these are {}", several.len()),
                "push them one after the other",
            ));
        }
        (None, _) => {}
    }
    let link = cx.link()?;
    let mut kept = Vec::new();
    for source in &sources {
        kept.push(push_one(cx, &link, source, args.strict).await?);
    }
    if cx.is_for_people() && !cx.ui.is_quiet() {
        for module in &kept {
            let with = with(&module.modules);
            cx.ui.say(&format!("{}: version {}{with}", module.name, module.version));
        }
        return Ok(DONE);
    }
    output::list(&cx.ui, cx.now(), &kept)?;
    Ok(DONE)
}

/// Which modules something was pinned to, in words.
pub fn with(modules: &[ModuleRef]) -> String {
    let names: Vec<String> = modules.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!(", with {}", names.join(", ")) }
}

/// The modules of a file or a directory, by name.
fn sources_of(path: &Path) -> Result<Vec<Source>, Failure> {
    let whole = path.canonicalize().map_err(|error| {
        let detail = format!("{}: {error}", path.display());
        Failure::usage(detail, "give a file or a directory that can be read")
    })?;
    let word =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    if !whole.is_dir() {
        return Ok(vec![Source { name: word(whole.file_stem()), main: path.to_owned() }]);
    }
    if let Some(main) = MAINS.iter().map(|main| path.join(main)).find(|main| main.is_file()) {
        return Ok(vec![Source { name: word(whole.file_name()), main }]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let file = entry?.path();
        let is_module = file.extension().is_some_and(|e| ENDINGS.iter().any(|ending| e == *ending));
        if is_module && file.is_file() {
            found.push(Source { name: word(file.file_stem()), main: file });
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(
            format!("{}: there is no module in it", path.display()),
            "give a directory with an init.lua, or with files that end with .lua",
        ));
    }
    found.sort();
    Ok(found)
}

async fn push_one(
    cx: &Cx,
    link: &Link,
    source: &Source,
    strict: bool,
) -> Result<ModuleView, Failure> {
    let given = given::given(cx, &[], &[], strict)?;
    let (file, text) = given::read(&cx.ui, &source.main)?;
    let work =
        |files: Box<dyn Files>| hostler_lua::module(&source.name, &file, &text, files, &given);
    let judged = with_modules(cx, &source.main, work).await?;
    let (bundle, _) = judged.map_err(|mistakes| given::wrong(&mistakes))?;
    let bundle = sendable(bundle);
    let body = ModulePushBody { name: source.name.clone(), bundle, strict };
    let pushed = link.client.call::<ModulePush>(&project(link), &NONE, &body).await?;
    for warning in &pushed.warnings {
        cx.ui.warn(warning);
    }
    Ok(pushed.module)
}

/// What a server is given of a file: without where it lies here, and without what that server keeps itself.
pub fn sendable(bundle: Bundle) -> WorkflowBundle {
    let Bundle { name, text, files } = bundle.alone();
    let short = Path::new(&name).file_name().map(|name| name.to_string_lossy().into_owned());
    WorkflowBundle { name: short.unwrap_or(name), text, files }
}

async fn ls(cx: &Cx, args: &ModuleListArgs) -> Outcome {
    let link = cx.link()?;
    let query = WorkflowListQuery { limit: PAGE, filter: args.list.filter.clone(), cursor: None };
    let limit = args.list.limit;
    match &args.versions {
        Some(name) => {
            cx.list::<ModuleVersionList, _>(&link, &named(&link, name), &query, limit).await
        }
        None => cx.list::<ModuleList, _>(&link, &project(&link), &query, limit).await,
    }
}

async fn show(cx: &Cx, args: &ModuleShowArgs) -> Outcome {
    let link = cx.link()?;
    let query = WorkflowQuery { version: args.version };
    let path = named(&link, &args.module);
    let found = link.client.call::<ModuleSource>(&path, &query, &NONE).await?;
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        output::document(&cx.ui, format, &found)?;
        return Ok(DONE);
    }
    cx.ui.line(found.bundle.text.trim_end())?;
    let ModuleText { name, version, bundle } = found;
    let files: Vec<&String> = bundle.files.keys().filter(|name| !is_kept(name)).collect();
    let also: String = files.iter().map(|file| format!(", {file}")).collect();
    let bundle = Bundle { name: bundle.name, text: bundle.text, files: bundle.files };
    let with = with(&bundle.modules());
    cx.ui.say(&format!("{name}: version {version}, {}{also}{with}", bundle.name));
    Ok(DONE)
}

async fn rm(cx: &Cx, modules: &[String]) -> Outcome {
    let link = cx.link()?;
    for name in modules {
        link.client.call::<ModuleRemove>(&named(&link, name), &NONE, &NONE).await?;
        cx.ui.say(&format!("{name}: removed"));
    }
    Ok(DONE)
}

/// Runs a file with what is beside it and, where that is not enough and a server is known, with the modules that the
/// server keeps.
pub async fn with_modules<T>(
    cx: &Cx,
    main: &Path,
    work: impl Fn(Box<dyn Files>) -> Result<T, Mistakes>,
) -> Result<Result<T, Mistakes>, Failure> {
    let shelf = Shelf::new(FolderFiles::beside(main));
    let mut ran = work(Box::new(shelf.clone()));
    let mut asked = shelf.asked();
    if asked.is_empty() {
        return Ok(ran);
    }
    let Ok(link) = cx.link() else {
        return Ok(work(Box::new(FolderFiles::beside(main))));
    };
    for _ in 1..ROUNDS {
        let mut is_more = false;
        for ask in asked {
            let found = match fetch(&link, &ask).await {
                Ok(found) => found,
                // It does without, or it did not come so far for want of something else.
                Err(failure) if ran.is_ok() => {
                    let why = failure.render(false);
                    cx.ui.warn(&format!("the module `{ask}` was not asked for: {}", why.trim()));
                    None
                }
                Err(failure) => return Err(failure),
            };
            is_more |= found.is_some();
            shelf.put(ask, found.as_ref().map(|(version, bundle)| (*version, bundle)));
        }
        if !is_more {
            break;
        }
        ran = work(Box::new(shelf.clone()));
        asked = shelf.asked();
    }
    Ok(ran)
}

async fn fetch(link: &Link, ask: &ModuleAsk) -> Result<Option<(u32, Bundle)>, Failure> {
    let query = WorkflowQuery { version: ask.version };
    let path = named(link, &ask.name);
    match link.client.call::<ModuleSource>(&path, &query, &NONE).await {
        Ok(ModuleText { version, bundle: WorkflowBundle { name, text, files }, .. }) => {
            Ok(Some((version, Bundle { name, text, files })))
        }
        Err(error) if error.code() == Some(Code::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_a_module_or_has_some() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("web/lib")).unwrap();
        std::fs::create_dir_all(at("none")).unwrap();
        for name in ["web/init.lua", "web/lib/x.lua", "b.lua", "a.luau", "notes.md"] {
            std::fs::write(at(name), "return {}").unwrap();
        }
        let names = |path: &Path| -> Vec<String> {
            sources_of(path).unwrap().into_iter().map(|source| source.name).collect()
        };
        assert_eq!(names(&at("b.lua")), ["b"]);
        assert_eq!(names(&at("web")), ["web"]);
        assert_eq!(names(&at("web/lib/..")), ["web"]);
        assert_eq!(names(folder.path()), ["a", "b"]);
        assert!(sources_of(&at("none")).is_err());
        assert!(sources_of(&at("nowhere")).is_err());
    }
}
