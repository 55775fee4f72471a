//! Stacks that use what other stacks give: who uses whom, in which order they come, and that there is no circle.
//!
//! What a stack uses is what its resources of the type `Hostler::StackOutput` name, as far as that is known from the template and
//! its parameters. It is kept with every change, in the same transaction. The other stack is known by its name: it may be made
//! later, go, and come again. What a stack below uses is kept when it comes to its end, and counts for the one at the top.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use hostler_engine::stack::{Circle, StackLink, StackLinks};
use hostler_model::stack::{
    Stack, StackCheckKind, StackCheckLine, StackCheckResult, StackDependency, StackName,
};
use hostler_model::{Error, Limit, Permission, Project, StackId};
use hostler_store::{Conn, StackFilter, StackOrder, Tx};

use super::stack::stack_find;
use super::stack_refusal::{StackRefusal, require};
use crate::{Control, Cx};

/// What is used of another stack, or by another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackUse {
    pub stack: StackName,
    pub outputs: Vec<String>,
    pub is_there: bool,
    /// Outputs that the one that is used does not give.
    pub missing: Vec<String>,
}

/// A stack among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDeps {
    pub stack: StackName,
    pub uses: Vec<StackUse>,
    pub used_by: Vec<StackUse>,
}

/// All stacks of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDepsGraph {
    pub stacks: Vec<StackDeps>,
    /// Each set uses only what is in those before it; empty where there is a circle.
    pub order: Vec<Vec<StackName>>,
    /// The way around; empty where there is none.
    pub circle: Vec<String>,
}

/// Who uses what in a project.
struct Web {
    /// What each gives; nothing where that cannot be said.
    stacks: BTreeMap<StackName, BTreeSet<String>>,
    uses: Vec<(StackName, StackDependency)>,
}

impl Web {
    fn uses(&self, name: &StackName) -> Vec<StackUse> {
        let of = self.uses.iter().filter(|(by, _)| by == name);
        of.map(|(_, one)| self.one(one.on.clone(), one)).collect()
    }

    fn used_by(&self, name: &StackName) -> Vec<StackUse> {
        let of = self.uses.iter().filter(|(_, one)| one.on == *name);
        of.map(|(by, one)| self.one(by.clone(), one)).collect()
    }

    fn one(&self, stack: StackName, one: &StackDependency) -> StackUse {
        let given = self.stacks.get(&one.on);
        let is_missing = |name: &&String| !given.is_some_and(|given| given.contains(*name));
        StackUse {
            is_there: self.stacks.contains_key(&stack),
            stack,
            outputs: one.outputs.clone(),
            missing: one.outputs.iter().filter(is_missing).cloned().collect(),
        }
    }

    fn deps(&self, name: &StackName) -> StackDeps {
        StackDeps { stack: name.clone(), uses: self.uses(name), used_by: self.used_by(name) }
    }

    fn links(&self, among: &BTreeSet<StackName>) -> Result<StackLinks, Circle> {
        let requires = |name: &StackName| {
            let of = self.uses.iter().filter(|(by, _)| by == name);
            of.map(|(_, one)| one.on.clone()).collect()
        };
        let link = |name: &StackName| StackLink { name: name.clone(), requires: requires(name) };
        StackLinks::new(among.iter().map(link).collect())
    }

    fn names(&self) -> BTreeSet<StackName> {
        self.stacks.keys().cloned().collect()
    }
}

impl Control {
    pub async fn stack_deps(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<StackDeps, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        let web = self.stack_web(&mut read, project).await?;
        Ok(web.deps(&stack.name))
    }

    pub async fn stack_deps_graph(
        &self,
        cx: &Cx,
        project: &Project,
    ) -> Result<StackDepsGraph, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let mut read = self.store.read().await?;
        let web = self.stack_web(&mut read, project).await?;
        let names = web.names();
        let (order, circle) = match web.links(&names) {
            Ok(links) => (waves(&links), Vec::new()),
            Err(circle) => (Vec::new(), circle.path),
        };
        let stacks = names.iter().map(|name| web.deps(name)).collect();
        Ok(StackDepsGraph { stacks, order, circle })
    }

    /// Looks over what a stack uses, or what all of the project use: a line for each.
    pub async fn stack_deps_check(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: Option<&str>,
    ) -> Result<Vec<StackCheckLine>, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let mut read = self.store.read().await?;
        let only = match name_or_id {
            Some(name) => Some(stack_find(&mut read, project, name).await?.name),
            None => None,
        };
        let web = self.stack_web(&mut read, project).await?;
        let names = web.names();
        let mut lines = Vec::new();
        if let Err(circle) = web.links(&names) {
            lines.push(line(
                StackCheckResult::Failed,
                format!("stacks use each other in a circle: {circle}"),
            ));
        }
        for name in names.iter().filter(|name| only.as_ref().is_none_or(|only| only == *name)) {
            lines.push(uses_line(name, &web.uses(name)));
        }
        Ok(lines)
    }

    /// Sets of stacks in the order in which they come; those that others use first.
    pub async fn stack_deps_order(
        &self,
        cx: &Cx,
        project: &Project,
        names: &[StackName],
    ) -> Result<Vec<Vec<StackName>>, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let mut read = self.store.read().await?;
        let web = self.stack_web(&mut read, project).await?;
        if let Some(unknown) = names.iter().find(|name| !web.stacks.contains_key(*name)) {
            return Err(StackRefusal::missing("stack", unknown.as_str()));
        }
        let links = web.links(&web.names()).map_err(|circle| refused(&circle))?;
        let all = waves(&links).into_iter().map(|mut wave| {
            wave.retain(|name| names.contains(name));
            wave
        });
        Ok(all.filter(|wave| !wave.is_empty()).collect())
    }

    /// Every stack of a project with what it gives, and who uses what.
    async fn stack_web(&self, read: &mut Conn, project: &Project) -> Result<Web, Error> {
        let found = read.stack_dependency_list(project.id).await?;
        let used: BTreeSet<StackName> = found.iter().map(|one| one.on.clone()).collect();
        let (mut ids, mut stacks) = (BTreeMap::<StackId, StackName>::new(), BTreeMap::new());
        for stack in all_stacks(read, project).await? {
            ids.insert(stack.id, stack.name.clone());
            let gives = match used.contains(&stack.name) {
                true => self.stack_gives_names(read, &stack).await?,
                false => BTreeSet::new(),
            };
            stacks.insert(stack.name, gives);
        }
        let mut uses: BTreeMap<(StackName, StackName), StackDependency> = BTreeMap::new();
        for one in found {
            let top = match ids.get(&one.stack_id) {
                Some(name) => Some(name.clone()),
                None => {
                    let below = read.stack_get(one.stack_id).await?;
                    below.and_then(|below| ids.get(&below.root_id).cloned())
                }
            };
            let Some(top) = top else { continue };
            match uses.entry((top, one.on.clone())) {
                Entry::Vacant(free) => {
                    free.insert(one);
                }
                Entry::Occupied(mut known) => {
                    let outputs = &mut known.get_mut().outputs;
                    outputs.extend(one.outputs);
                    outputs.sort();
                    outputs.dedup();
                }
            }
        }
        Ok(Web { stacks, uses: uses.into_iter().map(|((by, _), one)| (by, one)).collect() })
    }

    async fn stack_gives_names(
        &self,
        read: &mut Conn,
        stack: &Stack,
    ) -> Result<BTreeSet<String>, Error> {
        let Some(id) = stack.wanted else { return Ok(BTreeSet::new()) };
        let key = self.stack_key(stack)?;
        let read = self.stack_blueprint(read, stack, &key, id).await?;
        Ok(read.map(|blueprint| blueprint.output_names()).unwrap_or_default())
    }

    /// Writes what a stack uses from now on, unless a circle would arise.
    pub(super) async fn stack_uses_keep(
        &self,
        tx: &mut Tx<'_>,
        stack: &Stack,
        own: &[StackDependency],
    ) -> Result<(), StackRefusal> {
        if !own.is_empty() {
            let mut links: BTreeMap<StackName, Vec<StackName>> = BTreeMap::new();
            for other in tx.stack_dependency_list(stack.project_id).await? {
                let Some(by) = stack_at_top(tx, other.stack_id).await? else { continue };
                if by.id != stack.id {
                    links.entry(by.name).or_default().push(other.on);
                }
            }
            links.insert(stack.name.clone(), own.iter().map(|one| one.on.clone()).collect());
            let link = |(name, requires)| StackLink { name, requires };
            StackLinks::new(links.into_iter().map(link).collect())
                .map_err(|circle| refused(&circle))?;
        }
        Ok(tx.stack_dependency_set(stack.id, own).await?)
    }

    /// Refuses to take away what others use.
    pub(super) async fn stack_unused(
        &self,
        tx: &mut Tx<'_>,
        stack: &Stack,
    ) -> Result<(), StackRefusal> {
        let mut names = BTreeSet::new();
        for user in tx.stack_dependents(stack.project_id, stack.name.as_str()).await? {
            let by = stack_at_top(tx, user.stack_id).await?;
            names.extend(by.filter(|by| by.id != stack.id).map(|by| by.name.to_string()));
        }
        if names.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = names.into_iter().collect();
        let text = format!("Stack {} is used by {}.", stack.name, names.join(", "));
        let hint = "remove those first, or force it: they keep what they were given";
        Err(StackRefusal::state("NotSupported", text, hint))
    }
}

/// A stack, or the one at the top of those that it is below.
async fn stack_at_top(tx: &mut Tx<'_>, id: StackId) -> Result<Option<Stack>, Error> {
    match tx.stack_get(id).await? {
        Some(stack) if stack.root_id != stack.id => Ok(tx.stack_get(stack.root_id).await?),
        found => Ok(found),
    }
}

/// Every stack of a project that is there and is not a resource of another.
pub(super) async fn all_stacks(read: &mut Conn, project: &Project) -> Result<Vec<Stack>, Error> {
    let (mut found, mut after) = (Vec::new(), None::<String>);
    loop {
        let filter = StackFilter { project: Some(project.id), ..StackFilter::default() };
        let order = StackOrder { keys: &[], is_ascending: true };
        let page = read.stack_list(filter, order, after.as_deref(), Limit::LARGEST).await?;
        found.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(found),
        }
    }
}

fn waves(links: &StackLinks) -> Vec<Vec<StackName>> {
    links.waves().into_iter().map(|wave| wave.into_iter().cloned().collect()).collect()
}

fn refused(circle: &Circle) -> StackRefusal {
    let text = format!("Circular Dependency Found: stacks use each other: {circle}");
    StackRefusal::invalid("CircularDependencyException", "/template", text)
}

fn line(result: StackCheckResult, message: String) -> StackCheckLine {
    StackCheckLine { check: StackCheckKind::Dependencies, result, message }
}

/// What is to be said of what a stack uses.
pub(super) fn uses_line(name: &StackName, uses: &[StackUse]) -> StackCheckLine {
    let mut wrong = Vec::new();
    for one in uses {
        if !one.is_there {
            wrong.push(format!("stack {} is not there", one.stack));
        } else if !one.missing.is_empty() {
            wrong.push(format!("stack {} gives no {}", one.stack, one.missing.join(", ")));
        }
    }
    match (wrong.is_empty(), uses.len()) {
        (false, _) => line(StackCheckResult::Failed, format!("{name}: {}", wrong.join("; "))),
        (true, 0) => line(StackCheckResult::Passed, format!("{name} uses no other stack")),
        (true, 1) => line(
            StackCheckResult::Passed,
            format!("{name}: the stack that it uses gives what it asks for"),
        ),
        (true, count) => line(
            StackCheckResult::Passed,
            format!("{name}: all {count} stacks that it uses give what it asks for"),
        ),
    }
}
