//! Courses from outside: what they tell, in which order they do things, and what holds whatever happens.

mod hooks;
mod others;
mod plans;
mod sequences;
mod size;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::stack::{
    DeedKind, Stack, StackAction, StackHook, StackOptions, StackResource, StackStanding,
};
use hostler_model::{
    Envelope, Generation, KeyId, Mandate, PrincipalId, ProjectId, ServerId, Span,
    StackDefinitionId, StackId, StackResourceId, Timestamp,
};
use uuid::Uuid;

use super::*;

pub(super) fn at(secs: u64) -> Timestamp {
    Timestamp::EPOCH.plus(Span::from_secs(secs).duration())
}

pub(super) fn definition(number: u128) -> StackDefinitionId {
    StackDefinitionId::from_uuid(Uuid::from_u128(number))
}

/// A stack of which nothing is there yet.
pub(super) fn new_stack() -> Stack {
    let id = StackId::from_uuid(Uuid::from_u128(0x57ac));
    Stack {
        id,
        project_id: ProjectId::from_uuid(Uuid::nil()),
        name: "S".parse().unwrap(),
        description: String::new(),
        parent: None,
        root_id: id,
        depth: 0,
        standing: StackStanding::completed(StackAction::Create),
        traversal: Generation::ZERO,
        wanted: None,
        settled: None,
        options: StackOptions::default(),
        revision: 0,
        key: Envelope {
            sealed: Vec::new(),
            wrapped_key: Vec::new(),
            key_id: KeyId::from_bytes([0; 4]),
        },
        mandate: Mandate { principal: PrincipalId::from_uuid(Uuid::nil()), can: None },
        generation: Generation::FIRST,
        time_created: at(0),
        time_updated: None,
        time_deleted: None,
        time_begun: at(0),
        failure: None,
        time_deadline: None,
        time_due: None,
    }
}

/// Rows are numbered from `from` on; servers are told apart by a number.
pub(super) fn hands(server: u128, mut from: u128) -> Hands {
    Hands {
        server: ServerId::from_uuid(Uuid::from_u128(server)),
        lease: Span::from_secs(30),
        fresh: Box::new(move || {
            from += 1;
            StackResourceId::from_uuid(Uuid::from_u128(from))
        }),
    }
}

/// A goal in short: names, and what each requires.
pub(super) fn goal(number: u128, lines: &[(&str, &[&str])]) -> Goal {
    let wanted = lines.iter().map(|(name, requires)| Wanted {
        name: (*name).to_owned(),
        kind: "OS::Heat::TestResource".to_owned(),
        requires: requires.iter().map(|s| (*s).to_owned()).collect(),
        is_checkable: true,
        ..Wanted::default()
    });
    let hooks = BTreeMap::new();
    Goal { definition: Some(definition(number)), wanted: wanted.collect(), hooks }
}

/// A stack on a desk: what is told is written down in short, and the tests answer.
pub(super) struct Desk {
    pub course: Course,
    pub now: u64,
    /// Questions without an answer, and deeds under way, by the names of their resources.
    pub asked: Vec<(String, StackResourceId)>,
    pub begun: Vec<(String, DeedRef, DeedKind)>,
    /// What was told and not looked at yet.
    pub said: Vec<String>,
    stack: Stack,
    rows: BTreeMap<StackResourceId, StackResource>,
    next_row: u128,
}

impl Desk {
    /// A stack that is created.
    pub fn create(goal: Goal) -> Desk {
        Desk::create_with(goal, StackOptions::default())
    }

    pub fn create_with(goal: Goal, options: StackOptions) -> Desk {
        Desk::with(StackAction::Create, goal, options)
    }

    pub fn with(action: StackAction, goal: Goal, options: StackOptions) -> Desk {
        let mut stack = new_stack();
        stack.options = options;
        let told = begin(&mut stack, action, goal.definition, at(0));
        let course = Course::new(stack.clone(), goal, Vec::new(), hands(1, 100), at(0)).unwrap();
        let mut desk = Desk {
            course,
            now: 0,
            asked: Vec::new(),
            begun: Vec::new(),
            said: Vec::new(),
            stack,
            rows: BTreeMap::new(),
            next_row: 1000,
        };
        desk.say(&told);
        desk
    }

    /// A stack that is there as this goal says.
    pub fn made(goal: Goal, options: StackOptions) -> Desk {
        let mut desk = Desk::create_with(goal, options);
        desk.go_on();
        while !desk.asked.is_empty() || !desk.begun.is_empty() {
            desk.answer_all(&Verdict::Create);
            desk.end_all();
        }
        assert_eq!(desk.standing(), "CREATE_COMPLETE");
        desk.said.clear();
        desk
    }

    fn say(&mut self, told: &Happening) {
        let status = format!("{}_{}", told.status.action(), told.status.status());
        let reason = if told.reason == "state changed" {
            String::new()
        } else {
            format!(" {}", told.reason)
        };
        self.said.push(format!("{} {status}{reason}", told.name));
    }

    /// Something else is asked of the stack.
    pub fn change(&mut self, action: StackAction, goal: Goal) {
        self.save();
        let wanted = match action {
            StackAction::Delete => None,
            StackAction::Suspend | StackAction::Resume | StackAction::Check => self.stack.wanted,
            _ => goal.definition,
        };
        let told = begin(&mut self.stack, action, wanted, at(self.now));
        self.say(&told);
        self.rebuild(goal);
    }

    /// The process died, or another server goes on.
    pub fn rebuild(&mut self, goal: Goal) {
        let rows = self.rows.values().cloned().collect();
        self.next_row += 100;
        self.asked.clear();
        let hands = hands(1, self.next_row);
        self.course = Course::new(self.stack.clone(), goal, rows, hands, at(self.now)).unwrap();
        self.go_on();
    }

    /// Writes what changed.
    pub fn save(&mut self) -> Changes {
        let changes = self.course.take_changes();
        for changed in &changes.rows {
            let was = self.rows.insert(changed.resource.id, changed.resource.clone());
            assert_eq!(was.is_none(), changed.is_new, "{}", changed.resource.name);
        }
        for id in &changes.gone {
            assert!(self.rows.remove(id).is_some(), "what goes was there");
        }
        for told in &changes.happenings {
            self.say(told);
        }
        self.stack = self.course.stack().clone();
        changes
    }

    /// Takes every step that there is.
    pub fn go_on(&mut self) {
        self.course.at(at(self.now));
        while let Some(step) = self.course.next_step() {
            match step {
                Step::Examine { row } => {
                    let name = self.course.row(row).unwrap().name.clone();
                    self.asked.push((name, row));
                }
                Step::Begin { deed, kind } | Step::Carry { deed, kind } => {
                    let name = self.course.row(deed.row).unwrap().name.clone();
                    self.begun.push((name, deed, kind));
                }
                Step::Pause { .. } => {}
            }
        }
        self.save();
    }

    pub fn asked(&self) -> Vec<&str> {
        self.asked.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub fn begun(&self) -> Vec<String> {
        self.begun.iter().map(|(name, _, kind)| format!("{name} {kind}")).collect()
    }

    pub fn answer(&mut self, name: &str, verdict: Verdict) {
        let i = self.asked.iter().position(|(other, _)| other == name).expect("it was asked");
        let (_, row) = self.asked.remove(i);
        self.course.examined(row, verdict);
        self.go_on();
    }

    pub fn answer_all(&mut self, verdict: &Verdict) {
        for (name, _) in std::mem::take(&mut self.asked.clone()) {
            self.answer(&name, verdict.clone());
        }
    }

    pub fn end(&mut self, name: &str, outcome: Outcome) {
        let i = self.begun.iter().position(|(other, ..)| other == name).expect("it was begun");
        let (_, deed, kind) = self.begun.remove(i);
        if kind == DeedKind::Create && outcome == Outcome::Done {
            self.course.object_changed(deed.row, Some(format!("{name}-id")), Vec::new());
        }
        assert!(self.course.told(deed, outcome));
        self.go_on();
    }

    pub fn end_all(&mut self) {
        for (name, ..) in self.begun.clone() {
            self.end(&name, Outcome::Done);
        }
    }

    pub fn fail(&mut self, name: &str, kind: &str, message: &str) {
        self.end(name, Outcome::Failed(Failure::new(kind, message)));
    }

    /// The stack goes back: another course, towards what it wants now.
    pub fn roll_back(&mut self, goal: Goal) {
        assert_eq!(self.course.ended(), Some(Ended::RollingBack));
        assert_eq!(self.stack.wanted, goal.definition);
        self.rebuild(goal);
    }

    pub fn standing(&self) -> String {
        self.stack.standing.heat()
    }

    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    pub fn rows(&self) -> impl Iterator<Item = &StackResource> {
        self.rows.values()
    }

    /// A row that somebody changes from outside.
    pub fn row_mut(&mut self, name: &str) -> &mut StackResource {
        self.rows.values_mut().find(|row| row.name == name).unwrap()
    }

    /// Nothing else was told than this.
    #[track_caller]
    pub fn told(&mut self, lines: &[&str]) {
        let said = std::mem::take(&mut self.said);
        assert_eq!(said, lines);
    }
}

pub(super) fn rolling_back() -> StackOptions {
    StackOptions { is_rollback_enabled: true, ..StackOptions::default() }
}

pub(super) fn with_hooks(mut goal: Goal, name: &str, hooks: &[StackHook]) -> Goal {
    goal.hooks.insert(name.to_owned(), hooks.iter().copied().collect::<BTreeSet<_>>());
    goal
}

pub(super) fn empty() -> Goal {
    Goal::default()
}
