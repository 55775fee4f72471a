//! Who holds which role in a project.

use hostler_api::user::{MemberList, MemberPath, MemberRemove, MemberSet, MemberSetBody};
use hostler_model::RoleName;

use super::{Cx, DONE, Link, NONE, bare, project};
use crate::args::ListArgs;
use crate::failure::Outcome;

fn path(project: &str, user: &str) -> MemberPath {
    MemberPath { project: bare("project", project).to_owned(), user: bare("user", user).to_owned() }
}

pub async fn ls(cx: &Cx, link: &Link, project: &str, list: ListArgs) -> Outcome {
    let query = list.page();
    cx.list::<MemberList, _>(link, &project::path(project), &query, list.limit).await
}

pub async fn grant(cx: &Cx, link: &Link, project: &str, user: &str, role: RoleName) -> Outcome {
    let path = path(project, user);
    let member = link.client.call::<MemberSet>(&path, &NONE, &MemberSetBody { role }).await?;
    cx.changed(&member, &format!("is {} in project {}", member.role, path.project))
}

pub async fn revoke(cx: &Cx, link: &Link, project: &str, user: &str) -> Outcome {
    let path = path(project, user);
    link.client.call::<MemberRemove>(&path, &NONE, &NONE).await?;
    cx.ui.say(&format!("{} has no role in project {} any more", path.user, path.project));
    Ok(DONE)
}
