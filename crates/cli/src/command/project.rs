//! Projects.

use hostler_api::ProjectPath;
use hostler_api::project::{
    ProjectCreate, ProjectCreateBody, ProjectGet, ProjectList, ProjectRemove, ProjectUpdate,
    ProjectUpdateBody, ProjectView,
};
use hostler_api::task::QueueShow;
use hostler_model::{Generation, Quota};

use super::{Cx, DONE, Link, NONE, again_if_stale, bare, member};
use crate::args::{Limit, ProjectCommand, ShareArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, QuotaLine};

pub fn path(project: &str) -> ProjectPath {
    ProjectPath { project: bare("project", project).to_owned() }
}

async fn get(link: &Link, project: &str) -> Result<ProjectView, hostler_client::Error> {
    link.client.call::<ProjectGet>(&path(project), &NONE, &NONE).await
}

/// The quota as it is to be; nothing when no flag is about it.
fn quota(args: &ShareArgs, now: &Quota) -> Option<Quota> {
    let quota = Quota {
        cores: args.quota_cores.map_or(now.cores, Limit::value),
        memory: args.quota_memory.map_or(now.memory, Limit::value),
        gpus: args.quota_gpus.map_or(now.gpus, Limit::value),
        tasks: args.quota_tasks.map_or(now.tasks, Limit::value),
        workloads: args.quota_workloads.map_or(now.workloads, Limit::value),
        secrets: args.quota_secrets.map_or(now.secrets, Limit::value),
        blobs: args.quota_blobs.map_or(now.blobs, Limit::value),
        logs: args.quota_logs.map_or(now.logs, Limit::value),
        state: args.quota_state.map_or(now.state, Limit::value),
        stacks: args.quota_stacks.map_or(now.stacks, Limit::value),
    };
    (quota != *now).then_some(quota)
}

pub async fn perform(cx: &Cx, command: ProjectCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        ProjectCommand::Create(args) => {
            let body = ProjectCreateBody {
                name: args.name,
                description: args.description,
                weight: args.share.weight,
                quota: quota(&args.share, &Quota::default()),
            };
            cx.changed(&link.client.call::<ProjectCreate>(&NONE, &NONE, &body).await?, "created")
        }
        ProjectCommand::Ls(list) => {
            let query = list.page();
            cx.list::<ProjectList, _>(&link, &NONE, &query, list.limit).await
        }
        ProjectCommand::Get(args) => cx.one(&get(&link, &args.name).await?),
        ProjectCommand::Edit(args) => {
            let name = args.project.name;
            let edit = again_if_stale(async || {
                let project = get(&link, &name).await?;
                let generation = Generation::from_u64(project.generation);
                let body = ProjectUpdateBody {
                    description: args.description.clone(),
                    weight: args.share.weight,
                    quota: quota(&args.share, &project.quota),
                };
                link.client
                    .call_if_match::<ProjectUpdate>(&path(&name), &NONE, &body, generation)
                    .await
            });
            cx.changed(&edit.await?, "changed")
        }
        ProjectCommand::Rm(args) => {
            cx.ui.confirm(&format!("Remove {}?", args.names.join(", ")))?;
            for name in &args.names {
                let remove = again_if_stale(async || {
                    let generation = Generation::from_u64(get(&link, name).await?.generation);
                    link.client
                        .call_if_match::<ProjectRemove>(&path(name), &NONE, &NONE, generation)
                        .await
                });
                remove.await?;
                cx.ui.say(&format!("project {} removed", bare("project", name)));
            }
            Ok(DONE)
        }
        ProjectCommand::Quota { name } => {
            let project = name.unwrap_or_else(|| link.project.clone());
            let named = get(&link, &project).await?.name;
            let shown = link.client.call::<QueueShow>(&NONE, &NONE, &NONE).await?.projects;
            let found = shown.iter().find(|line| line.project == named).ok_or_else(|| {
                Failure::told(
                    exit::Code::Denied,
                    format!("what the project `{named}` holds is not yours to see"),
                    "ask for a role that has the permission task.read there",
                )
            })?;
            output::list(&cx.ui, cx.now(), &QuotaLine::all_of(found))?;
            Ok(DONE)
        }
        ProjectCommand::Members(args) => {
            let project = args.name.unwrap_or_else(|| link.project.clone());
            member::ls(cx, &link, &project, args.list).await
        }
        ProjectCommand::Grant { in_project, user, role } => {
            member::grant(cx, &link, &in_project, &user, role).await
        }
        ProjectCommand::Revoke { in_project, user } => {
            member::revoke(cx, &link, &in_project, &user).await
        }
    }
}
