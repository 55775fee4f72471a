//! Fetching, comparing, applying, going back.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::super::super::acting;
use super::super::tool::{Call, Program, failure};
use super::state::{State, Workflow};

static GIT: Program =
    Program::new("git", "install it with the machine's packages: pkg.install{ packages = 'git' }");
static APPLY: Program = Program::new("the command", "give the workflow a `command` that is here");
static HOSTLER: Program = Program {
    name: "hostler",
    hint: "put it on the path of the step, name it in HOSTLER_BIN, or give the workflow a `command`",
    variable: Some("HOSTLER_BIN"),
};

/// Git's name for a tree with nothing in it.
const NOTHING: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

fn git(at: &Path, words: &[&str]) -> Call {
    Call::new(&GIT, words.iter().copied()).at(at)
}

/// A checkout of the workflow's repository with what its branch has now; the revision that it is at there.
async fn fetch(state: &State, workflow: &Workflow) -> Result<(PathBuf, String), String> {
    let repository = state.repository(&workflow.repository).await?;
    let checkout = state.checkout(&workflow.id);
    if !checkout.join(".git").exists() {
        let folder = checkout.parent().unwrap_or(&checkout).to_owned();
        tokio::fs::create_dir_all(&folder)
            .await
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let at = checkout.to_string_lossy().into_owned();
        let url = source(&repository.url);
        let words = ["clone", "--quiet", "--no-checkout", "--", &url, &at];
        Call::new(&GIT, words).text().await?;
    }
    let url = source(&repository.url);
    git(&checkout, &["remote", "set-url", "origin", &url]).text().await?;
    git(&checkout, &["fetch", "--quiet", "--prune", "origin", &repository.branch]).text().await?;
    let revision = git(&checkout, &["rev-parse", "FETCH_HEAD"]).text().await?;
    Ok((checkout, revision))
}

/// An address; a path is that of the step.
fn source(url: &str) -> String {
    let path = acting().path(url);
    if !url.contains(':') && path.exists() {
        path.to_string_lossy().into_owned()
    } else {
        url.to_owned()
    }
}

/// What is different between two revisions, in the directory of a workflow.
async fn compare(
    checkout: &Path,
    workflow: &Workflow,
    from: Option<&str>,
    to: &str,
) -> Result<Json, String> {
    let path = if workflow.path.is_empty() { "." } else { &workflow.path };
    let from = from.unwrap_or(NOTHING);
    let words = ["diff", "--name-status", "--no-renames", "-z", from, to, "--", path];
    let said = git(checkout, &words).text().await?;
    let mut fields = said.split('\0').filter(|field| !field.is_empty());
    let mut changes = Vec::new();
    while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
        let of = match letter {
            "A" => "created",
            "D" => "deleted",
            _ => "updated",
        };
        changes.push(json!({ "type": of, "path": path }));
    }
    let count = |of: &str| changes.iter().filter(|change| change["type"] == of).count();
    let (created, updated, deleted) = (count("created"), count("updated"), count("deleted"));
    let conflicts = conflicts(checkout).await;
    let mut warnings = Vec::new();
    if deleted > 0 && workflow.command.is_none() {
        warnings.push("files that are gone are not undone by `hostler`; give the workflow a `command` that does".to_owned());
    }
    let is_left = |change: &&Json| {
        change["type"] != "deleted" && change["path"].as_str().and_then(words_for).is_none()
    };
    let left = changes.iter().filter(is_left).count();
    if left > 0 && workflow.command.is_none() {
        warnings.push(format!("{left} files are neither workflows nor tasks, and are left alone; give the workflow a `command` that applies them"));
    }
    for path in &conflicts {
        warnings
            .push(format!("{path} of the checkout was changed by somebody else, and is put back"));
    }
    Ok(json!({
        "total_changes": changes.len(),
        "created_resources": created,
        "updated_resources": updated,
        "deleted_resources": deleted,
        "conflict_count": conflicts.len(),
        "summary": format!("{created} created, {updated} updated, {deleted} deleted"),
        "revision": to,
        "changes": changes,
        "warnings": warnings,
    }))
}

async fn conflicts(checkout: &Path) -> Vec<String> {
    // A checkout that has no files yet differs in all of them.
    if !checkout.join(".git/index").exists() {
        return Vec::new();
    }
    let said = git(checkout, &["diff", "--name-only", "HEAD"]).text().await.unwrap_or_default();
    said.lines().map(str::to_owned).collect()
}

pub(super) async fn diff(state: &State, id: &str) -> Result<Json, String> {
    let workflow = state.workflow(id).await?;
    let (checkout, revision) = fetch(state, &workflow).await?;
    compare(&checkout, &workflow, workflow.revision(), &revision).await
}

/// A difference for people.
pub(super) fn told(diff: &Json) -> String {
    let mut lines = vec![diff["summary"].as_str().unwrap_or_default().to_owned()];
    for change in diff["changes"].as_array().into_iter().flatten() {
        let mark = match change["type"].as_str() {
            Some("created") => '+',
            Some("deleted") => '-',
            _ => '~',
        };
        lines.push(format!("{mark} {}", change["path"].as_str().unwrap_or_default()));
    }
    lines.join("\n")
}

pub(super) async fn sync(state: &State, id: &str) -> Result<Json, String> {
    let mut workflow = state.workflow(id).await?;
    let (checkout, revision) = fetch(state, &workflow).await?;
    let before = workflow.revision().map(str::to_owned);
    let diff = compare(&checkout, &workflow, before.as_deref(), &revision).await?;
    if acting().check {
        acting().say(&format!("would apply {}: {}", short(&revision), told(&diff)));
        return Ok(outcome(diff["total_changes"] != 0, &revision, before.as_deref(), diff));
    }
    let changed = diff["total_changes"] != 0;
    if changed && let Err(why) = apply(&checkout, &workflow, &revision, &diff).await {
        return Err(failed(state, &mut workflow, &checkout, before, &revision, why).await);
    }
    workflow.applied(&revision, "synced");
    state.save(&workflow).await?;
    Ok(outcome(changed, &revision, before.as_deref(), diff))
}

fn short(revision: &str) -> &str {
    revision.get(..12).unwrap_or(revision)
}

fn outcome(changed: bool, revision: &str, previous: Option<&str>, diff: Json) -> Json {
    let message = match changed {
        true => {
            format!("{} is applied: {}", short(revision), diff["summary"].as_str().unwrap_or(""))
        }
        false => format!("{} is applied already", short(revision)),
    };
    json!({
        "success": true,
        "changed": changed,
        "message": message,
        "revision": revision,
        "previous": previous,
        "diff": diff,
    })
}

/// Remembers that it failed, and goes back where the workflow wants that.
async fn failed(
    state: &State,
    workflow: &mut Workflow,
    checkout: &Path,
    before: Option<String>,
    revision: &str,
    why: String,
) -> String {
    let mut told = format!("{} could not be applied: {why}", short(revision));
    workflow.status = Some("failed".to_owned());
    if let (true, Some(before)) = (workflow.is_rolled_back_on_failure, before) {
        let back = async {
            let diff = compare(checkout, workflow, Some(revision), &before).await?;
            apply(checkout, workflow, &before, &diff).await
        };
        match back.await {
            Ok(()) => {
                told = format!("{told}; {} is applied again", short(&before));
                workflow.status = Some("rolled_back".to_owned());
            }
            Err(why) => told = format!("{told}; and {} neither: {why}", short(&before)),
        }
    }
    workflow.error = Some(told.clone());
    match state.save(workflow).await {
        Ok(()) => told,
        Err(why) => format!("{told}; and it could not be remembered: {why}"),
    }
}

pub(super) async fn rollback(
    state: &State,
    id: &str,
    reason: Option<&str>,
) -> Result<Json, String> {
    let mut workflow = state.workflow(id).await?;
    let now = workflow.revision().map(str::to_owned);
    let Some(before) = workflow.previous().map(str::to_owned) else {
        return Err(format!("`{id}` has no revision before; nothing is changed"));
    };
    let checkout = state.checkout(id);
    let diff = compare(&checkout, &workflow, now.as_deref(), &before).await?;
    let because = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    if acting().check {
        acting().say(&format!("would go back to {}{because}: {}", short(&before), told(&diff)));
        return Ok(outcome(true, &before, now.as_deref(), diff));
    }
    apply(&checkout, &workflow, &before, &diff).await?;
    workflow.applied(&before, "rolled_back");
    state.save(&workflow).await?;
    acting().say(&format!("{id} is back at {}{because}", short(&before)));
    Ok(outcome(true, &before, now.as_deref(), diff))
}

/// Checks a revision out and applies it.
async fn apply(
    checkout: &Path,
    workflow: &Workflow,
    revision: &str,
    diff: &Json,
) -> Result<(), String> {
    git(checkout, &["checkout", "--quiet", "--force", "--detach", revision, "--"]).text().await?;
    let folder = checkout.join(&workflow.path);
    let changes = diff["changes"].as_array().into_iter().flatten();
    let paths = |wanted: &[&str]| -> Vec<String> {
        let is_wanted =
            |change: &&Json| change["type"].as_str().is_some_and(|of| wanted.contains(&of));
        changes
            .clone()
            .filter(is_wanted)
            .filter_map(|change| Some(change["path"].as_str()?.to_owned()))
            .collect()
    };
    match &workflow.command {
        Some(command) => {
            let (program, words) = command.split_first().ok_or("its command has no words")?;
            let found = super::super::tool::find(&acting(), program)
                .or_else(|| Some(folder.join(program)).filter(|path| path.is_file()));
            let mut call = Call::new(&APPLY, words).at(&folder);
            call.path = Some(found.ok_or_else(|| format!("{program} is not installed here"))?);
            call.environment.insert("GITOPS_REVISION".to_owned(), revision.to_owned());
            let changed = paths(&["created", "updated", "deleted"]).join("\n");
            call.environment.insert("GITOPS_CHANGED".to_owned(), changed);
            finish(call).await
        }
        None => {
            for path in paths(&["created", "updated"]) {
                let Some(words) = words_for(&path) else { continue };
                let file = checkout.join(&path).to_string_lossy().into_owned();
                finish(
                    Call::new(&HOSTLER, words.iter().copied().chain([file.as_str()])).at(&folder),
                )
                .await
                .map_err(|why| format!("{path}: {why}"))?;
            }
            Ok(())
        }
    }
}

/// What `hostler` is told to do with a file; nothing where it is none for it.
fn words_for(path: &str) -> Option<&'static [&'static str]> {
    match path.rsplit('.').next()? {
        "sloth" | "lua" | "luau" => Some(&["workflow", "run"]),
        "yaml" | "yml" | "json" => Some(&["run", "-f"]),
        _ => None,
    }
}

async fn finish(call: Call) -> Result<(), String> {
    let program = call.program;
    let ended = call.run().await?;
    if ended.is_success() { Ok(()) } else { Err(failure(program, &ended)) }
}
