//! Objects that a stack made and that no row knows: what is called as only a stack calls things, and is nobody's.
//!
//! An object that nobody gave a name is called after its stack and its resource, and ends with a part of the id of the row
//! that it was made for ([`mark_of`]). One that begins as the objects of a stack do, ends so, and is in no row of any stack
//! has been left behind. The same holds for stacks below, which name the row that they are the object of.
//!
//! While something is done to a stack its rows do not know all of their objects yet, so then nothing is said.

use std::collections::HashSet;

use hostler_model::stack::{StackDriftItem, StackDriftKind};
use hostler_model::{Error, Limit, Page, ProjectId, Scope, StackResourceId};
use hostler_store::{Conn, ServiceFilter};

use super::stage::Stage;
use crate::Control;

/// Pages of a list that are looked at, at most.
const PAGES: usize = 20;
/// Of the id of a row.
const MARK: usize = 12;

/// What the name of an object ends with that was made for this row.
pub(super) fn mark_of(row: StackResourceId) -> String {
    let id = row.uuid().simple().to_string();
    id[id.len() - MARK..].to_owned()
}

/// Whether it is called as what a stack makes, and as nothing else is likely to be.
fn is_marked(name: &str, begin: &str) -> bool {
    let Some((head, tail)) = name.rsplit_once('-') else { return false };
    head.len() > begin.len()
        && name.starts_with(begin)
        && tail.len() == MARK
        && tail.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whatever has to be asked for in one list after another.
#[derive(Clone, Copy)]
enum List {
    Secrets,
    Schedules,
    Hooks,
    Watchers,
    Workloads,
}

impl List {
    const ALL: [List; 5] =
        [List::Secrets, List::Schedules, List::Hooks, List::Watchers, List::Workloads];

    const fn kind(self) -> &'static str {
        match self {
            List::Secrets => "Hostler::Secret",
            List::Schedules => "Hostler::Schedule",
            List::Hooks => "Hostler::Hook",
            List::Watchers => "Hostler::Watcher",
            List::Workloads => "Hostler::Workload",
        }
    }

    /// Names, and by what rows may know them.
    async fn page(
        self,
        read: &mut Conn,
        project: ProjectId,
        after: Option<&str>,
    ) -> Result<Page<(String, [String; 2])>, Error> {
        let all = Limit::LARGEST;
        let both = |name: String, id: String| (name.clone(), [name, id]);
        Ok(match self {
            List::Secrets => read.secret_list(project, None, after, all).await?.map(|one| {
                let full = format!("{}/{}", one.environment, one.name);
                (one.name.to_string(), [full, one.id.to_string()])
            }),
            List::Schedules => {
                let page = read.schedule_list(project, after, all).await?;
                page.map(|one| both(one.name.to_string(), one.id.to_string()))
            }
            List::Hooks => {
                let page = read.event_hook_list(Scope::Project(project), after, all).await?;
                page.map(|one| both(one.name.to_string(), one.id.to_string()))
            }
            List::Watchers => {
                let page = read.watcher_list(project, after, all).await?;
                page.map(|one| both(one.name.to_string(), one.id.to_string()))
            }
            List::Workloads => {
                let filter = ServiceFilter::default();
                let page = read.service_list(project, filter, after, all).await?;
                page.map(|one| both(one.name.to_string(), one.id.to_string()))
            }
        })
    }
}

impl Control {
    /// What a stack left behind.
    pub(super) async fn stack_extra(&self, stage: &Stage) -> Result<Vec<StackDriftItem>, Error> {
        let stack = &stage.scene.stack;
        if stack.parent.is_some() || !is_at_rest(stage) {
            return Ok(Vec::new());
        }
        let mut marks = HashSet::new();
        marks_of(stage, &mut marks);
        let mut read = self.store.read().await?;
        let mut found = Vec::new();
        let begin = beginning(stack.name.as_str());
        for list in List::ALL {
            // Secrets are listed by their environments first; everything else begins where such names do.
            let mut after = (!matches!(list, List::Secrets)).then(|| begin.clone());
            for _ in 0..PAGES {
                let page = list.page(&mut read, stack.project_id, after.as_deref()).await?;
                let is_beyond = page.items.iter().any(|(name, _)| !name.starts_with(&begin));
                for (name, called) in page.items {
                    let mark = name.rsplit_once('-').map_or("", |(_, mark)| mark);
                    if !is_marked(&name, &begin) || marks.contains(mark) {
                        continue;
                    }
                    let mut is_known = false;
                    for physical in &called {
                        let rows = read.stack_resources_physical(None, physical).await?;
                        is_known |= !rows.is_empty();
                    }
                    if !is_known {
                        let [physical, _] = called;
                        found.push(extra(&name, list.kind(), physical));
                    }
                }
                match page.next.filter(|_| matches!(list, List::Secrets) || !is_beyond) {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
        }
        for below in read.stack_below(stack.id).await? {
            let Some(parent) = below.parent else { continue };
            if read.stack_resource_get(parent.resource_id).await?.is_none() {
                let (name, id) = (below.name.to_string(), below.id.to_string());
                found.push(extra(&name, "OS::Heat::Stack", id));
            }
        }
        Ok(found)
    }
}

fn extra(name: &str, kind: &str, physical: String) -> StackDriftItem {
    StackDriftItem {
        name: name.to_owned(),
        path: Vec::new(),
        kind: kind.to_owned(),
        physical: Some(physical),
        drift: StackDriftKind::Extra,
        properties: Vec::new(),
        message: "it is called as what the stack makes, and no resource knows it: remove it, if nobody uses it".to_owned(),
    }
}

fn is_at_rest(stage: &Stage) -> bool {
    !stage.scene.stack.standing.is_under_way()
        && stage.scene.rows.iter().all(|row| row.deed.is_none())
        && stage.below.values().all(is_at_rest)
}

fn marks_of(stage: &Stage, marks: &mut HashSet<String>) {
    marks.extend(stage.scene.rows.iter().map(|row| mark_of(row.id)));
    stage.below.values().for_each(|below| marks_of(below, marks));
}

/// What the names of a stack's objects begin with.
fn beginning(stack: &str) -> String {
    let fits = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9') => c,
        _ => '-',
    };
    let begin: String = stack.chars().map(fits).take(hostler_model::Name::MAX - MARK - 2).collect();
    format!("{}-", begin.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_called_as_stacks_call_things_is_theirs() {
        let begin = beginning("My.Stack");
        assert_eq!(begin, "my-stack-");
        for (name, expected) in [
            ("my-stack-db-0123456789ab", true),
            ("my-stack-0123456789ab", false),
            ("my-stack-db-0123456789AB", false),
            ("my-stack-db-0123456789a", false),
            ("my-stack-database", false),
            ("other-db-0123456789ab", false),
        ] {
            assert_eq!(is_marked(name, &begin), expected, "{name}");
        }
    }
}
