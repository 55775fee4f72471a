//! Who does what, and what is looked at while they do it.

use std::collections::BTreeMap;

use hostler_model::stack::{
    DeedKind, DeletionPolicy, ResourceAction, Stack, StackAction, StackOptions, StackResource,
    StackStatus,
};
use hostler_model::{StackDefinitionId, StackResourceId, Timestamp};

use super::super::super::{
    Course, DeedRef, Ended, Failure, Goal, Outcome, Restriction, Step, Verdict, begin,
};
use super::super::{at, definition, hands, new_stack};
use super::version::{Part, Version, is_local, name_of};
use super::world::World;

pub(super) struct Play {
    pub versions: Vec<Version>,
    pub stack: Stack,
    rows: BTreeMap<StackResourceId, StackResource>,
    pub world: World,
    /// Which version each definition is of.
    definitions: BTreeMap<StackDefinitionId, usize>,
    numbers: std::vec::IntoIter<u8>,
    pub may_fail: bool,
    /// Other changes are asked for now and then.
    pub is_asking: bool,
    now: Timestamp,
    server: u128,
    course: Option<Course>,
    /// Deeds that the server carries out, that dead servers may still be at, and what came of some.
    flying: Vec<(StackResource, DeedKind)>,
    ghosts: Vec<(StackResource, DeedKind)>,
    answers: Vec<(DeedRef, Outcome)>,
}

impl Play {
    pub fn new(
        versions: Vec<Version>,
        numbers: Vec<u8>,
        is_rollback_enabled: bool,
        at_once: Option<u32>,
    ) -> Play {
        let mut stack = new_stack();
        stack.options = StackOptions { is_rollback_enabled, at_once, ..StackOptions::default() };
        let mut play = Play {
            versions,
            stack,
            rows: BTreeMap::new(),
            world: World::default(),
            definitions: BTreeMap::new(),
            numbers: numbers.into_iter(),
            may_fail: true,
            is_asking: true,
            now: at(0),
            server: 1,
            course: None,
            flying: Vec::new(),
            ghosts: Vec::new(),
            answers: Vec::new(),
        };
        play.ask(StackAction::Create, 0);
        play
    }

    fn number(&mut self) -> u8 {
        self.numbers.next().unwrap_or(0)
    }

    /// Somebody asks for something else.
    pub fn ask(&mut self, action: StackAction, version: usize) {
        self.course = None;
        let wanted = match action {
            StackAction::Delete => None,
            StackAction::Create | StackAction::Update => {
                let id = definition(self.definitions.len() as u128 + 1);
                self.definitions.insert(id, version);
                Some(id)
            }
            StackAction::Rollback => self.stack.settled,
            _ => self.stack.wanted,
        };
        begin(&mut self.stack, action, wanted, self.now);
    }

    fn goal(&self) -> Goal {
        match self.stack.wanted {
            Some(id) => self.versions[self.definitions[&id]].goal(Some(id)),
            None => Goal::default(),
        }
    }

    fn course(&mut self) -> &mut Course {
        if self.course.is_none() {
            let rows = self.rows.values().cloned().collect();
            let hands = hands(self.server, self.server * 10_000);
            let course = Course::new(self.stack.clone(), self.goal(), rows, hands, self.now);
            self.course = Some(course.unwrap());
            self.server += 1;
        }
        self.course.as_mut().unwrap()
    }

    /// What a row is to be like, as a definition has it.
    fn part(&self, row: &StackResource, id: Option<StackDefinitionId>) -> Option<&Part> {
        self.versions[*self.definitions.get(&id?)?].part(&row.name)
    }

    /// While there are numbers, anything happens.
    pub fn run(&mut self) {
        while self.numbers.len() > 0 {
            self.happen();
        }
    }

    /// One thing happens.
    pub fn happen(&mut self) {
        match self.number() {
            0..20 => {
                let count = usize::from(self.number() % 8) + 1;
                self.advance(count, true);
            }
            20..24 => {
                self.advance(3, false);
                self.crash();
            }
            24..50 => {
                let which = usize::from(self.number());
                if let Some(i) = which.checked_rem(self.flying.len()) {
                    let (row, kind) = self.flying.remove(i);
                    let outcome = self.perform(&row, kind);
                    self.answers.push((DeedRef { row: row.id, number: row.deeds }, outcome));
                }
            }
            50..76 => {
                let which = usize::from(self.number());
                if let Some(i) = which.checked_rem(self.answers.len()) {
                    let (deed, outcome) = self.answers.remove(i);
                    self.told(deed, outcome);
                    self.commit();
                }
            }
            76..78 => self.crash(),
            78..80 => self.advance(0, true),
            80..86 => {
                let which = usize::from(self.number());
                if let Some(i) = which.checked_rem(self.ghosts.len()) {
                    let (row, kind) = self.ghosts.remove(i);
                    self.perform(&row, kind);
                }
            }
            86..100 => {
                let secs = u64::from(self.number());
                self.pass(secs);
            }
            100..104 => self.pass(4000),
            104..116 => self.signal(false),
            116..122 => self.clear_hooks(false),
            122..132 if self.is_asking => self.ask_something(),
            _ => {
                self.advance(4, true);
            }
        }
    }

    fn ask_something(&mut self) {
        let last = self.stack.standing.action;
        let which = usize::from(self.number()) % 16;
        let action = match which {
            _ if last == StackAction::Delete => StackAction::Delete,
            0 => StackAction::Delete,
            1 if !self.stack.standing.is_under_way() => StackAction::Suspend,
            2..5 if last == StackAction::Suspend => StackAction::Resume,
            5 if !self.stack.standing.is_under_way() => StackAction::Check,
            6 if last == StackAction::Update && self.stack.settled.is_some() => {
                StackAction::Rollback
            }
            _ if last == StackAction::Suspend => StackAction::Resume,
            _ => StackAction::Update,
        };
        let version = usize::from(self.number()) % self.versions.len();
        self.ask(action, version);
    }

    fn pass(&mut self, secs: u64) {
        self.now = self.now.plus(at(secs).since(at(0)));
        let now = self.now;
        self.course().at(now);
        self.commit();
    }

    /// The server dies: what was not written never was, and its deeds are nobody's. They may still be carried out.
    fn crash(&mut self) {
        self.course = None;
        self.ghosts.append(&mut self.flying);
        self.answers.clear();
    }

    fn perform(&mut self, row: &StackResource, kind: DeedKind) -> Outcome {
        let luck = self.number();
        let luck = if self.may_fail { luck } else { luck % 200 };
        let part = self.part(row, row.deed.as_ref().unwrap().definition).cloned();
        self.world.perform(row, kind, part.as_ref(), self.now, luck)
    }

    /// Takes steps, and writes what follows, or not.
    fn advance(&mut self, count: usize, is_written: bool) {
        let now = self.now;
        self.course().at(now);
        let mut begun = Vec::new();
        for _ in 0..count {
            let Some(step) = self.course().next_step() else { break };
            match step {
                Step::Examine { row } => self.examine(row),
                Step::Begin { deed, kind } | Step::Carry { deed, kind } => {
                    let row = self.course().row(deed.row).unwrap().clone();
                    if matches!(step, Step::Begin { .. }) {
                        self.look_before(&row, kind);
                    }
                    if is_local(&row.name) {
                        self.told(deed, Outcome::Done);
                    } else {
                        begun.push((row, kind));
                    }
                }
                Step::Pause { .. } => {}
            }
        }
        if is_written {
            for (row, kind) in &begun {
                self.world.note(row, *kind);
            }
            self.flying.append(&mut begun);
            self.commit();
        }
    }

    fn examine(&mut self, id: StackResourceId) {
        let luck = if self.may_fail { self.number() } else { 0 };
        let row = self.course().row(id).unwrap().clone();
        let part = self.part(&row, self.stack.wanted).cloned().unwrap();
        let has_body = row.sealed.len() == 2;
        let verdict = match luck {
            253 if row.deeds > 0 => Verdict::Refused(Restriction::Update),
            254 => Verdict::Impossible(Failure::new("ValueError", "it cannot be said")),
            _ if row.deeds == 0 => Verdict::Create,
            _ if row.standing.status == StackStatus::Failed || !has_body => Verdict::Replace,
            _ if row.sealed[1] != part.fixed => Verdict::Replace,
            _ if row.sealed[0] != part.value => Verdict::Update,
            _ => Verdict::Unchanged,
        };
        self.course().examined(id, verdict);
    }

    fn told(&mut self, deed: DeedRef, outcome: Outcome) {
        let row = self.course().row(deed.row).cloned();
        let row = row.filter(|row| row.deed.is_some() && row.deeds == deed.number);
        if let Some(row) = row
            && outcome == Outcome::Done
        {
            let doing = row.deed.as_ref().unwrap();
            let is_making =
                matches!(doing.kind, DeedKind::Create | DeedKind::Update | DeedKind::Adopt);
            if is_making && let Some(part) = self.part(&row, doing.definition).cloned() {
                let physical = Some(format!("object of {}", row.id));
                self.course().object_changed(row.id, physical, vec![part.value, part.fixed]);
            }
        }
        self.course().told(deed, outcome);
    }

    /// Writes what changed, and goes back where that is chosen.
    fn commit(&mut self) {
        let changes = self.course().take_changes();
        for changed in changes.rows {
            let id = changed.resource.id;
            let was = self.rows.insert(id, changed.resource);
            assert_eq!(was.is_none(), changed.is_new);
        }
        for id in changes.gone {
            let row = self.rows.remove(&id).unwrap();
            if row.deletion_policy == DeletionPolicy::Retain {
                self.world.objects.remove(&id);
                self.world.left.insert(id);
            }
            assert!(!self.world.objects.contains_key(&id), "{} is left behind", row.name);
        }
        let course = self.course.as_ref().unwrap();
        self.stack = course.stack().clone();
        if course.ended() == Some(Ended::RollingBack) {
            self.course = None;
        }
        let is_open =
            self.stack.standing.is_under_way() || self.rows.values().any(|row| row.deed.is_some());
        assert!(!is_open || self.stack.time_due.is_some(), "forgotten");
    }

    /// What has to hold when a deed begins.
    fn look_before(&mut self, row: &StackResource, kind: DeedKind) {
        let course = self.course.as_ref().unwrap();
        let others: Vec<&StackResource> =
            course.rows().filter(|other| other.id != row.id && other.deeds > 0).collect();
        match kind {
            DeedKind::Create | DeedKind::Update | DeedKind::Adopt => {
                let part = self.part(row, self.stack.wanted).unwrap();
                for name in &part.requires {
                    let required = others.iter().find(|other| {
                        other.name == name_of(*name)
                            && other.replaced_by.is_none()
                            && other.definition == self.stack.wanted
                            && other.traversal == self.stack.traversal
                            && other.standing.status == StackStatus::Complete
                    });
                    let required = required.expect("what it requires is there");
                    let there = self.part(required, self.stack.wanted).unwrap();
                    assert_eq!(required.sealed, [there.value, there.fixed]);
                    if !is_local(&required.name) {
                        let object = self.world.objects.get(&required.id);
                        assert_eq!(object, Some(&(there.value, there.fixed)));
                    }
                }
            }
            DeedKind::Delete => {
                for other in others {
                    assert!(!other.requires.contains(&row.id), "{} uses it", other.name);
                    let uses = self.part(other, other.definition).is_some_and(|part| {
                        part.requires.iter().any(|name| name_of(*name) == row.name)
                    });
                    let mut rest = course.rows().filter(|it| it.id != row.id);
                    let has_other = rest.any(|it| {
                        it.name == row.name && it.standing.action != ResourceAction::Delete
                    });
                    assert!(!uses || has_other, "{} uses {}", other.name, row.name);
                }
            }
            DeedKind::Suspend => {
                let is_left_over = |it: &StackResource| {
                    it.replaced_by.is_some()
                        || it.standing.action == ResourceAction::Delete
                        || others.iter().any(|other| other.name == it.name && other.id > it.id)
                };
                for other in others.iter().filter(|it| it.requires.contains(&row.id)) {
                    if is_left_over(other) {
                        continue;
                    }
                    assert_eq!(other.standing.heat(), "SUSPEND_COMPLETE");
                }
            }
            DeedKind::Resume => {
                for other in others.into_iter().filter(|it| row.requires.contains(&it.id)) {
                    assert_ne!(other.standing.action, ResourceAction::Suspend);
                }
            }
            DeedKind::Snapshot | DeedKind::Check => {}
        }
    }

    /// Signals come in for what waits.
    fn signal(&mut self, is_all: bool) {
        let waiting: Vec<StackResourceId> = self.rows.keys().copied().collect();
        for id in waiting {
            if is_all || self.number().is_multiple_of(2) {
                self.course().wake(id);
            }
        }
        self.commit();
    }

    fn clear_hooks(&mut self, is_all: bool) {
        let waiting: Vec<_> = self
            .rows
            .values()
            .flat_map(|row| row.hooks.iter().map(|(hook, at)| (row.id, *hook, *at)))
            .filter(|(.., at)| at.traversal == self.stack.traversal && !at.is_cleared)
            .collect();
        for (id, hook, _) in waiting {
            if is_all || self.number().is_multiple_of(2) {
                self.course().cleared(id, hook).unwrap();
            }
        }
        self.commit();
    }

    /// Everything goes well, until nothing is left to do.
    pub fn come_to_rest(&mut self) {
        let before = std::mem::replace(&mut self.may_fail, false);
        let numbers = std::mem::replace(&mut self.numbers, Vec::new().into_iter());
        for round in 0.. {
            assert!(round < 500, "{:?} does not come to rest", self.stack.standing);
            self.advance(usize::MAX, true);
            let is_open = self.stack.standing.is_under_way()
                || self.rows.values().any(|row| row.deed.is_some());
            if !is_open {
                break;
            }
            let (flying, answers) = (self.flying.len(), self.answers.len());
            for (row, kind) in std::mem::take(&mut self.flying) {
                let outcome = self.perform(&row, kind);
                self.answers.push((DeedRef { row: row.id, number: row.deeds }, outcome));
            }
            for (deed, outcome) in std::mem::take(&mut self.answers) {
                self.told(deed, outcome);
                self.commit();
            }
            self.clear_hooks(true);
            self.signal(true);
            if flying + answers == 0 {
                let due = self.stack.time_due.expect("somebody looks at what is open");
                self.now = self.now.max(due);
            }
        }
        for (row, kind) in std::mem::take(&mut self.ghosts) {
            self.perform(&row, kind);
        }
        self.may_fail = before;
        self.numbers = numbers;
        self.course = None;
        for row in self.rows.values() {
            assert_ne!(row.standing.status, StackStatus::InProgress, "{}", row.name);
        }
        for id in self.world.objects.keys() {
            assert!(self.rows.contains_key(id), "an object that nobody knows");
        }
        assert_eq!(self.stack.time_due, None);
    }

    /// There is exactly what a version says.
    #[track_caller]
    pub fn is_as(&self, version: usize) {
        let version = &self.versions[version];
        let names: Vec<String> = version.parts.iter().map(|part| name_of(part.name)).collect();
        let mut there: Vec<&str> = self.rows.values().map(|row| row.name.as_str()).collect();
        there.sort_unstable();
        assert_eq!(there, names);
        let of_name = |name: &str| self.rows.values().find(|row| row.name == name).unwrap();
        for part in &version.parts {
            let row = of_name(&name_of(part.name));
            assert_eq!(row.standing.status, StackStatus::Complete);
            assert_eq!(row.sealed, [part.value, part.fixed], "{}", row.name);
            let object = self.world.objects.get(&row.id).copied();
            let expected = (!is_local(&row.name)).then_some((part.value, part.fixed));
            assert_eq!(object, expected, "{}", row.name);
            let mut requires = row.requires.clone();
            requires.sort_unstable();
            let mut expected: Vec<_> =
                part.requires.iter().map(|name| of_name(&name_of(*name)).id).collect();
            expected.sort_unstable();
            assert_eq!(requires, expected, "{}", row.name);
            assert_eq!((row.replaces, row.replaced_by), (None, None));
        }
        let objects = names.iter().filter(|name| !is_local(name)).count();
        assert_eq!(self.world.objects.len(), objects);
    }

    /// Nothing is left, here or outside.
    pub fn is_empty(&self) {
        assert_eq!(self.rows.len(), 0);
        assert_eq!(self.world.objects.len(), 0);
    }
}
