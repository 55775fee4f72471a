//! `gitops`: what a repository says, made so.
//!
//! A workflow follows a directory of a branch. A sync fetches it, compares the files with those of the revision that
//! was applied last, applies what is different and remembers the revision; a rollback applies the one before. Applying
//! is a command of the workflow, run once in the checked-out directory, or, where none is given, `hostler workflow run`
//! for each workflow and `hostler run -f` for each task (YAML, JSON) that is new or other. What is remembered lies in a directory (`state`), so that the next step, and the
//! next run, go on from there.

mod follow;
mod state;
mod sync;

use mlua::{Lua, MultiValue, Result, Value};
use serde_json::{Value as Json, json};

use super::super::{Described, Installer, Module};
use super::arguments::Arguments;
use super::tool::{one, refused, two};
use crate::value::{from_json, to_json};
use state::{State, Workflow};

pub(crate) const MODULE: Module = Module {
    name: "gitops",
    about: "What a repository says, made so. State is kept in `~/.hostler/gitops`, or in the directory that HOSTLER_GITOPS_DIR names in the environment of the step. To follow a branch, call `gitops.sync_workflow` on a schedule, or `gitops.start_auto_sync` in a step that stays.",
    functions: FUNCTIONS,
    install,
};

const FUNCTIONS: &[Described] = &[
    Described {
        name: "workflow",
        signature: "{ repo, branch, path, command, id, auto_sync, rollback_on_failure, diff_preview } -> true, { workflow_id, repository_id, status, diff } | nil, error",
        about: "Registers a repository and a workflow for it in one; with `diff_preview` it says what is different, with `auto_sync` it is applied at once, and again whenever `gitops.start_auto_sync` finds something new.",
        example: "local ok, w = gitops.workflow{ repo = 'https://git.example/app.git', branch = 'main', command = { 'make', 'deploy' } }\nlog.info(ok, w and w.status)",
    },
    Described {
        name: "register_repository",
        signature: "{ id, url, branch } -> id | nil, error",
        about: "Remembers a repository and its branch.",
        example: "assert(gitops.register_repository{ id = 'app', url = 'https://git.example/app.git' } == 'app')",
    },
    Described {
        name: "create_workflow",
        signature: "{ id, name, repository, target_path, command, auto_sync, rollback_on_failure } -> id | nil, error",
        about: "Remembers a workflow for a repository. `command` is a list of words that applies the directory: it runs there, with GITOPS_REVISION and GITOPS_CHANGED (a path a line) in its environment. Without one, workflows (`.sloth`, `.lua`) and tasks (`.yaml`, `.json`) that are new or other are given to `hostler`.",
        example: "gitops.register_repository{ id = 'app', url = 'https://git.example/app.git' }\nlocal id = gitops.create_workflow{ id = 'web', repository = 'app', target_path = 'web', command = { 'make', 'deploy' } }\nlog.info(id)",
    },
    Described {
        name: "sync_workflow",
        signature: "(id) -> result | nil, error",
        about: "Applies what is different from the revision that was applied last: `changed`, `revision`, `previous`, `diff`.",
        example: "local r, err = gitops.sync_workflow('web')\nlog.info(r or err)",
    },
    Described {
        name: "generate_diff",
        signature: "(id) -> { total_changes, created_resources, updated_resources, deleted_resources, conflict_count, summary, changes, warnings } | nil, error",
        about: "What a sync would apply. A change has `type` (`created`, `updated`, `deleted`) and `path`; conflicts are files of the checkout that somebody else has changed.",
        example: "assert(gitops.generate_diff('none') == nil)",
    },
    Described {
        name: "preview_changes",
        signature: "(id) -> text | nil, error",
        about: "The same as text.",
        example: "assert(gitops.preview_changes('none') == nil)",
    },
    Described {
        name: "rollback_workflow",
        signature: "(id[, reason]) -> result | nil, error",
        about: "Applies the revision before.",
        example: "local r, err = gitops.rollback_workflow('web', 'it broke')\nlog.info(r or err)",
    },
    Described {
        name: "get_workflow_status",
        signature: "(id) -> { id, status, revision, previous, history, error } | nil, error",
        about: "How a workflow is: `created`, `synced`, `failed` or `rolled_back`.",
        example: "local s, err = gitops.get_workflow_status('web')\nlog.info(s and s.status or err)",
    },
    Described {
        name: "list_workflows",
        signature: "() -> list",
        about: "Workflows and how they are.",
        example: "assert(#gitops.list_workflows() == 0)",
    },
    Described {
        name: "start_auto_sync",
        signature: "([{ interval }]) -> true",
        about: "Applies what is new of every workflow that has `auto_sync`, now and every `interval` (a minute where nobody says), for as long as the step lasts. What fails is told, and tried again the next time.",
        example: "assert(gitops.start_auto_sync{ interval = '10s' })\nassert(gitops.stop_auto_sync())",
    },
    Described {
        name: "stop_auto_sync",
        signature: "() -> boolean",
        about: "Ends that; whether it was at work.",
        example: "assert(gitops.stop_auto_sync() == false)",
    },
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("register_repository", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "gitops.register_repository", args, &["id"])?;
        let (id, url) = (args.required(&["id"])?, args.required(&["url", "repo"])?);
        let branch = args.text("branch")?.unwrap_or_else(|| "main".to_owned());
        match State::open().register(&id, &url, &branch).await {
            Ok(()) => one(&lua, id),
            Err(why) => refused(&lua, &why),
        }
    })?;
    module.act_async("create_workflow", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "gitops.create_workflow", args, &["id"])?;
        let id = args.required(&["id", "name"])?;
        let repository = args.required(&["repository", "repository_id"])?;
        match State::open().create(&wanted(&args, &id, &repository)?).await {
            Ok(()) => one(&lua, id),
            Err(why) => refused(&lua, &why),
        }
    })?;
    module.act_async("workflow", |lua, args: MultiValue| whole(lua, args))?;
    module.act_async("sync_workflow", |lua, args: MultiValue| async move {
        let id = identity(&lua, args)?;
        answered(&lua, sync::sync(&State::open(), &id).await)
    })?;
    module.act_async("generate_diff", |lua, args: MultiValue| async move {
        let id = identity(&lua, args)?;
        answered(&lua, sync::diff(&State::open(), &id).await)
    })?;
    module.act_async("preview_changes", |lua, args: MultiValue| async move {
        let id = identity(&lua, args)?;
        match sync::diff(&State::open(), &id).await {
            Ok(diff) => one(&lua, sync::told(&diff)),
            Err(why) => refused(&lua, &why),
        }
    })?;
    module.act_async("rollback_workflow", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "gitops.rollback_workflow", args, &["id", "reason"])?;
        let (id, reason) = (args.required(&["id"])?, args.text("reason")?);
        answered(&lua, sync::rollback(&State::open(), &id, reason.as_deref()).await)
    })?;
    module.act_async("get_workflow_status", |lua, args: MultiValue| async move {
        let id = identity(&lua, args)?;
        answered(&lua, State::open().workflow(&id).await.map(|workflow| workflow.status_of()))
    })?;
    module.act("start_auto_sync", |lua, args: MultiValue| {
        let args = Arguments::read(lua, "gitops.start_auto_sync", args, &["interval"])?;
        let interval = crate::define::span_of(&args.value("interval")?)
            .map_err(|error| args.mistake(&error.to_string()))?;
        follow::start(interval.map(Into::into));
        Ok(true)
    })?;
    module.act("stop_auto_sync", |_, ()| Ok(follow::stop()))?;
    module.act_async("list_workflows", |lua, _: MultiValue| async move {
        let all = State::open().workflows().await;
        answered(&lua, Ok(Json::Array(all.iter().map(Workflow::status_of).collect())))
    })
}

fn identity(lua: &Lua, args: MultiValue) -> Result<String> {
    Arguments::read(lua, "gitops", args, &["id"])?.required(&["id", "workflow_id"])
}

fn answered(lua: &Lua, answer: std::result::Result<Json, String>) -> Result<MultiValue> {
    match answer {
        Ok(json) => one(lua, from_json(lua, &json)?),
        Err(why) => refused(lua, &why),
    }
}

fn wanted(args: &Arguments, id: &str, repository: &str) -> Result<Workflow> {
    let command = match to_json(&args.value("command")?)? {
        Json::Null => None,
        Json::Array(words) if words.iter().all(Json::is_string) => {
            Some(words.iter().filter_map(Json::as_str).map(str::to_owned).collect())
        }
        _ => return Err(args.mistake("`command` is a list of words, as { 'make', 'deploy' }")),
    };
    let path = args.any(&["target_path", "path"])?.unwrap_or_default();
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(args.mistake("`target_path` is a directory in the repository"));
    }
    Ok(Workflow {
        id: id.to_owned(),
        name: args.text("name")?.unwrap_or_else(|| id.to_owned()),
        repository: repository.to_owned(),
        path: path.trim_matches('/').to_owned(),
        command,
        is_rolled_back_on_failure: args.flag("rollback_on_failure")?,
        is_followed: args.flag("auto_sync")?,
        ..Workflow::default()
    })
}

/// Registers a repository and a workflow in one.
async fn whole(lua: Lua, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "gitops.workflow", args, &["repo"])?;
    let url = args.required(&["repo", "url"])?;
    let branch = args.text("branch")?.unwrap_or_else(|| "main".to_owned());
    let stem = url.trim_end_matches('/').trim_end_matches(".git");
    let short = stem.rsplit(['/', ':']).next().unwrap_or(stem).to_owned();
    let id = args.text("id")?.unwrap_or_else(|| format!("{short}-{branch}").replace('/', "-"));
    let state = State::open();
    let workflow = wanted(&args, &id, &id)?;
    let made = async {
        state.register(&id, &url, &branch).await?;
        state.create(&workflow).await?;
        let mut answer = json!({ "workflow_id": id, "repository_id": id, "status": "created", "branch": branch });
        if args.flag("diff_preview").unwrap_or(false) {
            answer["diff"] = sync::diff(&state, &id).await?;
        }
        if args.flag("auto_sync").unwrap_or(false) {
            answer["result"] = sync::sync(&state, &id).await?;
            answer["status"] = json!("synced");
        }
        Ok(answer)
    };
    match made.await {
        Ok(answer) => two(&lua, Value::Boolean(true), from_json(&lua, &answer)?),
        Err(why) => {
            let why: String = why;
            refused(&lua, &why)
        }
    }
}
