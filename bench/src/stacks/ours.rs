//! Stacks over the API, and with the command line.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hostler_api::stack::{
    StackCreate, StackCreateBody, StackFormBody, StackList, StackListQuery, StackPath, StackRemove,
    StackRemoveQuery, StackUpdate, StackUpdateBody, StackView,
};
use hostler_api::stack_plan::{StackPlanBody, StackPlanCreate};
use hostler_api::{Nothing, ProjectPath};
use hostler_client::Client;
use hostler_model::stack::{StackChangeKind, StackStatus};
use serde_json::json;

use super::PACE;
use super::program::{self, Ran};
use crate::rig::{Rig, until_paced};

/// What takes longer is an error.
const MOST: Duration = Duration::from_secs(600);

pub fn project() -> ProjectPath {
    crate::throughput::project()
}

pub fn place(name: &str) -> StackPath {
    StackPath { project: project().project, stack: name.to_owned() }
}

pub fn form(template: &str) -> StackFormBody {
    StackFormBody { template: Some(template.to_owned()), ..StackFormBody::default() }
}

/// The stack of a name, without its outputs: what is asked to see whether it is done.
pub async fn find(client: &Client, name: &str) -> anyhow::Result<Option<StackView>> {
    let query = StackListQuery { name: Some(name.to_owned()), ..StackListQuery::default() };
    let found = client.call::<StackList>(&project(), &query, &Nothing {}).await?;
    Ok(found.items.into_iter().next())
}

/// Waits until what is done to it is complete.
pub async fn settle(client: &Client, name: &str) -> anyhow::Result<StackView> {
    let found = until_paced("the stack is complete", PACE, async || {
        let found = find(client, name).await?.context("the stack is gone")?;
        ensure!(found.standing.status != StackStatus::Failed, "{}", found.standing.reason);
        Ok((found.standing.status == StackStatus::Complete).then_some(found))
    });
    found.await
}

/// How long each step of a round took.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub create: Duration,
    pub plan: Duration,
    pub update: Duration,
    pub delete: Duration,
}

/// Makes a stack; the answer to how long that takes counts from the request until a question finds it complete.
pub async fn create(client: &Client, name: &str, template: &str) -> anyhow::Result<Duration> {
    let body: StackCreateBody =
        serde_json::from_value(json!({ "name": name, "form": form(template) }))?;
    let begun = Instant::now();
    client.call::<StackCreate>(&project(), &Nothing {}, &body).await?;
    settle(client, name).await?;
    Ok(begun.elapsed())
}

pub async fn delete(client: &Client, name: &str) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    client.call::<StackRemove>(&place(name), &StackRemoveQuery::default(), &Nothing {}).await?;
    until_paced("the stack is gone", PACE, async || {
        let found = find(client, name).await?;
        let failed = found.as_ref().filter(|it| it.standing.status == StackStatus::Failed);
        ensure!(failed.is_none(), "the stack cannot be taken down");
        Ok(found.is_none().then_some(()))
    })
    .await?;
    Ok(begun.elapsed())
}

/// Plans what is there already.
async fn plan(
    client: &Client,
    name: &str,
    template: &str,
    count: usize,
) -> anyhow::Result<Duration> {
    let update = json!({ "stack": name, "form": form(template) });
    let body: StackPlanBody = serde_json::from_value(json!({ "update": update }))?;
    let begun = Instant::now();
    let plan = client.call::<StackPlanCreate>(&project(), &Nothing {}, &body).await?;
    let took = begun.elapsed();
    let unchanged = plan.changes.count(StackChangeKind::Unchanged);
    ensure!(
        plan.changes.is_empty() && unchanged == count,
        "{unchanged} of {count} are as they should be"
    );
    Ok(took)
}

/// Asks for what is there already; everything is looked at, and a revision is made.
async fn update(client: &Client, name: &str, template: &str) -> anyhow::Result<Duration> {
    let known = find(client, name).await?.context("the stack is gone")?;
    let body: StackUpdateBody = serde_json::from_value(json!({ "form": form(template) }))?;
    let begun = Instant::now();
    let place = place(name);
    client.call_if_match::<StackUpdate>(&place, &Nothing {}, &body, known.traversal).await?;
    let found = settle(client, name).await?;
    let took = begun.elapsed();
    ensure!(found.revision == known.revision + 1, "the update made no revision");
    Ok(took)
}

pub async fn round(
    client: &Client,
    name: &str,
    template: &str,
    count: usize,
) -> anyhow::Result<Round> {
    Ok(Round {
        create: create(client, name, template).await?,
        plan: plan(client, name, template, count).await?,
        update: update(client, name, template).await?,
        delete: delete(client, name).await?,
    })
}

/// How a round of commands went.
#[derive(Clone, Copy, Debug)]
pub struct Commands {
    pub apply: Ran,
    pub plan: Ran,
    pub remove: Ran,
}

/// The command line with a template in a folder.
pub struct CommandLine {
    program: PathBuf,
    variables: [(&'static str, std::ffi::OsString); 3],
    folder: tempfile::TempDir,
}

impl CommandLine {
    pub fn new(rig: &Rig, template: &str) -> anyhow::Result<CommandLine> {
        let folder = tempfile::Builder::new().prefix("hostler-bench-").tempdir()?;
        std::fs::write(folder.path().join("template.yaml"), template)?;
        let (program, variables) = rig.command_line(folder.path())?;
        Ok(CommandLine { program, variables, folder })
    }

    async fn run(&self, words: &[&str]) -> anyhow::Result<Ran> {
        let mut command = program::command(&self.program, self.folder.path());
        command.envs(self.variables.clone()).arg("stack").args(words);
        program::run(command, MOST).await?.with_context(|| format!("{words:?} takes too long"))
    }

    /// Makes everything, looks whether it is as it should be, and takes it down.
    pub async fn round(&self, name: &str) -> anyhow::Result<Commands> {
        Ok(Commands {
            apply: self.run(&["apply", "template.yaml", "--name", name, "--yes"]).await?,
            plan: self.run(&["plan", "template.yaml", "--name", name]).await?,
            remove: self.run(&["rm", name, "--yes"]).await?,
        })
    }
}
