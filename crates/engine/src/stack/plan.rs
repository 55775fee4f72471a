//! What a course would do.
//!
//! The course itself is asked, over rows that nobody writes: every deed succeeds at once, what is under way is taken to end
//! well, and nothing stops at a hook. So a plan and what is done afterwards cannot have different rules.

use std::collections::{HashMap, HashSet};

use hostler_model::stack::{DeedKind, DeletionPolicy, Stack, StackResource};
use hostler_model::{StackResourceId, Timestamp};

use super::{
    Course, DeedRef, Failure, Goal, GoalFault, Hands, Outcome, Restriction, Step, Verdict,
};

/// What would become of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Create,
    Adopt,
    Update,
    /// Another object takes its place; the old one goes when nobody uses it any more.
    Replace,
    Delete,
    /// The object stays where it is, and is not spoken of any more.
    Forget,
    Unchanged,
    /// It would have to be changed, and that is forbidden: the change as a whole would fail here.
    Refused(Restriction),
    /// The change as a whole would fail here.
    Impossible(Failure),
}

/// One line of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    pub name: String,
    pub kind: String,
    pub change: ChangeKind,
    /// The row that there is now.
    pub row: Option<StackResourceId>,
}

/// What would be done to become as the goal says, in the order in which it could be done. `stack` stands at the beginning of
/// the change ([`begin`](super::begin)); `verdict` is asked for every resource that is wanted, with the row that it has or would
/// have.
pub fn plan(
    mut stack: Stack,
    mut goal: Goal,
    mut rows: Vec<StackResource>,
    hands: Hands,
    now: Timestamp,
    mut verdict: impl FnMut(&StackResource) -> Verdict,
) -> Result<Vec<PlannedChange>, GoalFault> {
    goal.hooks.clear();
    stack.options.at_once = None;
    stack.time_deadline = None;
    for row in &mut rows {
        row.hooks.clear();
    }
    let mut known = HashMap::with_capacity(rows.len());
    let mut replaced = HashSet::new();
    let mut under_way = Vec::new();
    for row in &rows {
        let is_retained = row.deletion_policy == DeletionPolicy::Retain && !is_blank(row);
        known.insert(row.id, is_retained.then(|| (row.name.clone(), row.kind.clone())));
        replaced.extend(row.replaced_by.map(|_| row.id));
        if row.deed.is_some() {
            under_way.push(DeedRef { row: row.id, number: row.deeds });
        }
    }
    let mut course = Course::new(stack, goal, rows, hands, now)?;
    for deed in under_way {
        course.told(deed, Outcome::Done);
    }
    let mut found = Vec::new();
    let mut passed = HashSet::new();
    loop {
        let step = course.next_step();
        match step {
            Some(Step::Examine { row }) => {
                let resource = course.row(row).expect("a row that is asked about is there");
                let answer = verdict(resource);
                let is_blank = is_blank(resource);
                let change = match &answer {
                    Verdict::Refused(restriction) => Some(ChangeKind::Refused(*restriction)),
                    Verdict::Impossible(failure) => Some(ChangeKind::Impossible(failure.clone())),
                    Verdict::Unchanged if !is_blank => Some(ChangeKind::Unchanged),
                    _ => None,
                };
                match change {
                    Some(change) => {
                        found.push(line(resource, change, &known));
                        passed.insert(row);
                        course.examined(row, Verdict::Unchanged);
                    }
                    None => course.examined(row, answer),
                }
            }
            Some(Step::Begin { deed, kind } | Step::Carry { deed, kind }) => {
                let resource = course.row(deed.row).expect("a row with a deed is there");
                let change = match kind {
                    DeedKind::Create if resource.replaces.is_some() => Some(ChangeKind::Replace),
                    DeedKind::Create => Some(ChangeKind::Create),
                    DeedKind::Adopt => Some(ChangeKind::Adopt),
                    DeedKind::Update => Some(ChangeKind::Update),
                    DeedKind::Delete if resource.replaced_by.is_none() => Some(ChangeKind::Delete),
                    _ => None,
                };
                if let Some(change) = change.filter(|_| !passed.contains(&deed.row)) {
                    found.push(line(resource, change, &known));
                }
                course.told(deed, Outcome::Done);
            }
            Some(Step::Pause { .. }) | None => {}
        }
        let changes = course.take_changes();
        replaced.extend(
            changes.rows.iter().filter_map(|row| row.resource.replaced_by.map(|_| row.resource.id)),
        );
        for id in changes.gone.into_iter().filter(|id| !replaced.contains(id)) {
            if let Some((name, kind)) = known.get_mut(&id).and_then(Option::take) {
                found.push(PlannedChange { name, kind, change: ChangeKind::Forget, row: Some(id) });
            }
        }
        if step.is_none() {
            return Ok(found);
        }
    }
}

fn is_blank(resource: &StackResource) -> bool {
    resource.deeds == 0 && resource.physical.is_none()
}

fn line<T>(
    resource: &StackResource,
    change: ChangeKind,
    known: &HashMap<StackResourceId, T>,
) -> PlannedChange {
    let row = known.contains_key(&resource.id).then_some(resource.id).or(resource.replaces);
    PlannedChange { name: resource.name.clone(), kind: resource.kind.clone(), change, row }
}
