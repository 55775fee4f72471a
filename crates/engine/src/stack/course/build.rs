//! A course is made from rows: which row is the resource of which name, and who waits for whom.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use hostler_model::stack::{
    DeedKind, ResourceAction, ResourceStanding, Stack, StackAction, StackResource, StackStatus,
};
use hostler_model::{Generation, StackResourceId, Timestamp};

use super::super::{Goal, GoalFault};
use super::{Course, Hands, Mode, Node, Role, Row, is_blank};

impl Mode {
    fn of(stack: &Stack) -> Mode {
        if !stack.standing.is_under_way() {
            return Mode::Tend;
        }
        match stack.standing.action {
            StackAction::Suspend => Mode::Each(DeedKind::Suspend),
            StackAction::Resume => Mode::Each(DeedKind::Resume),
            StackAction::Snapshot => Mode::Each(DeedKind::Snapshot),
            StackAction::Check => Mode::Each(DeedKind::Check),
            StackAction::Create
            | StackAction::Update
            | StackAction::Delete
            | StackAction::Rollback
            | StackAction::Adopt
            | StackAction::Restore => Mode::Converge,
        }
    }
}

impl Course {
    /// A pass over a stack as its rows have it. `goal` is made of what the stack wants; where the same is done to every
    /// object, and where nothing is wanted any more, only what it says of hooks and checks counts.
    pub fn new(
        stack: Stack,
        goal: Goal,
        mut rows: Vec<StackResource>,
        hands: Hands,
        now: Timestamp,
    ) -> Result<Course, GoalFault> {
        let mode = Mode::of(&stack);
        let needs = if mode == Mode::Converge { goal.resolve()? } else { Vec::new() };
        rows.sort_by_key(|row| row.id);
        let mut course = Course {
            stack,
            goal,
            hands,
            now,
            mode,
            rows: Vec::with_capacity(rows.len()),
            position: HashMap::with_capacity(rows.len()),
            nodes: Vec::new(),
            ready: BTreeSet::new(),
            clearable: BTreeSet::new(),
            steps: VecDeque::new(),
            due: BTreeSet::new(),
            resting: BTreeSet::new(),
            held: 0,
            asked: 0,
            busy: 0,
            taken: 0,
            paused: BTreeSet::new(),
            unmade: 0,
            uncleared: 0,
            is_stack_changed: false,
            changed: BTreeSet::new(),
            gone: Vec::new(),
            happenings: Vec::new(),
            ended: None,
            is_drained: false,
            touches: 0,
        };
        for resource in rows {
            course.push(resource, false);
        }
        for i in 0..course.rows.len() {
            let known = &course.position;
            let requires = course.rows[i].resource.requires.iter();
            let found = requires.filter_map(|id| known.get(id).copied()).filter(|&j| j != i);
            course.rows[i].requires = found.collect();
        }
        match mode {
            Mode::Converge => course.choose(needs),
            Mode::Each(kind) => course.choose_each(kind),
            Mode::Tend => {}
        }
        course.count();
        course.take_up();
        course.open_up();
        course.at(now);
        Ok(course)
    }

    pub(super) fn push(&mut self, resource: StackResource, is_new: bool) -> usize {
        let i = self.rows.len();
        self.position.insert(resource.id, i);
        self.rows.push(Row {
            resource,
            is_new,
            role: Role::Aside,
            requires: Vec::new(),
            left: 0,
            is_released: false,
        });
        self.touches += 1;
        i
    }

    /// A row for something that is to be made.
    pub(super) fn push_new(&mut self, wanted: usize, replaces: Option<StackResourceId>) -> usize {
        let goal = &self.goal.wanted[wanted];
        let resource = StackResource {
            id: (self.hands.fresh)(),
            stack_id: self.stack.id,
            name: goal.name.clone(),
            kind: goal.kind.clone(),
            standing: ResourceStanding {
                action: ResourceAction::Init,
                status: StackStatus::Complete,
                reason: String::new(),
            },
            physical: None,
            definition: None,
            traversal: Generation::ZERO,
            requires: Vec::new(),
            replaces,
            replaced_by: None,
            deletion_policy: goal.deletion_policy,
            deed: None,
            deeds: 0,
            hooks: BTreeMap::new(),
            sealed: Vec::new(),
            time_created: self.now,
            time_modified: self.now,
        };
        let i = self.push(resource, true);
        self.changed.insert(i);
        i
    }

    /// The best row for each wanted name; the others are to go.
    fn choose(&mut self, needs: Vec<Vec<usize>>) {
        let mut of_name: HashMap<&str, usize> = HashMap::with_capacity(self.goal.wanted.len());
        for (wanted, goal) in self.goal.wanted.iter().enumerate() {
            of_name.insert(goal.name.as_str(), wanted);
        }
        let mut best: Vec<Option<(i32, usize)>> = vec![None; self.goal.wanted.len()];
        let mut same_name: Vec<Option<usize>> = Vec::with_capacity(self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            let wanted = of_name.get(row.resource.name.as_str()).copied();
            same_name.push(wanted);
            let Some(wanted) = wanted else { continue };
            if let Some(score) = self.score(&row.resource)
                && best[wanted].is_none_or(|(most, _)| most <= score)
            {
                best[wanted] = Some((score, i));
            }
        }
        for (wanted, requires) in needs.into_iter().enumerate() {
            let row = match best[wanted] {
                Some((_, i)) => i,
                None => self.push_new(wanted, None),
            };
            self.put_back(row);
            self.rows[row].role = Role::Node(wanted);
            self.nodes.push(Node { row, wanted: Some(wanted), requires, ..Node::default() });
        }
        for (i, wanted) in same_name.into_iter().enumerate() {
            if self.rows[i].role != Role::Aside {
                continue;
            }
            self.rows[i].role = Role::Unwanted;
            if let Some(wanted) = wanted {
                self.nodes[wanted].after.push(i);
            }
        }
    }

    /// How well a row serves as the resource of its name; the newest of equals is taken. What is being removed does not
    /// serve at all, and neither does what was replaced in this very traversal.
    fn score(&self, resource: &StackResource) -> Option<i32> {
        let is_replaced = resource.replaced_by.is_some();
        if resource.standing.action == ResourceAction::Delete
            || is_replaced && resource.traversal == self.stack.traversal
        {
            return None;
        }
        let is_as_wanted =
            resource.definition.is_some() && resource.definition == self.goal.definition;
        let failed = if resource.standing.status == StackStatus::Failed { -30 } else { 0 };
        Some(failed + if is_as_wanted { 10 } else { 0 } - i32::from(is_replaced))
    }

    /// Nothing takes the place of this row any more.
    pub(super) fn put_back(&mut self, row: usize) {
        let Some(other) = self.rows[row].resource.replaced_by.take() else { return };
        self.touch(row);
        if let Some(&i) = self.position.get(&other) {
            self.rows[i].resource.replaces = None;
            self.touch(i);
        }
    }

    /// The rows that the same is done to, with who comes after whom.
    fn choose_each(&mut self, kind: DeedKind) {
        let mut best: HashMap<&str, usize> = HashMap::with_capacity(self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            let resource = &row.resource;
            let is_acted_on = !is_blank(resource)
                && resource.replaced_by.is_none()
                && resource.standing.action != ResourceAction::Delete;
            if is_acted_on {
                best.insert(&resource.name, i);
            }
        }
        let place: HashMap<&str, usize> =
            self.goal.wanted.iter().enumerate().map(|(i, goal)| (goal.name.as_str(), i)).collect();
        let mut chosen: Vec<(usize, usize)> = best
            .into_iter()
            .map(|(name, i)| (place.get(name).copied().unwrap_or(usize::MAX), i))
            .collect();
        chosen.sort_unstable();
        for (node, (wanted, row)) in chosen.iter().copied().enumerate() {
            let wanted = (wanted != usize::MAX).then_some(wanted);
            self.rows[row].role = Role::Node(node);
            self.nodes.push(Node { row, wanted, ..Node::default() });
        }
        if kind == DeedKind::Snapshot {
            return;
        }
        for node in 0..self.nodes.len() {
            for j in self.rows[self.nodes[node].row].requires.clone() {
                let Role::Node(other) = self.rows[j].role else { continue };
                if kind == DeedKind::Suspend {
                    self.nodes[other].requires.push(node);
                } else {
                    self.nodes[node].requires.push(other);
                }
            }
        }
    }

    /// Who is done, and how much everybody waits for.
    fn count(&mut self) {
        for node in 0..self.nodes.len() {
            let row = self.nodes[node].row;
            self.nodes[node].is_done = self.is_done(row);
            self.rows[row].is_released = self.nodes[node].is_done;
            self.unmade += usize::from(!self.nodes[node].is_done);
        }
        for node in 0..self.nodes.len() {
            let requires = std::mem::take(&mut self.nodes[node].requires);
            for &other in &requires {
                self.touches += 1;
                self.nodes[other].followers.push(node);
                self.nodes[node].open += usize::from(!self.nodes[other].is_done);
            }
            self.nodes[node].requires = requires;
            for after in std::mem::take(&mut self.nodes[node].after) {
                if !self.nodes[node].is_done {
                    self.rows[after].left += 1;
                    self.nodes[node].after.push(after);
                }
            }
        }
        for i in 0..self.rows.len() {
            self.uncleared += usize::from(self.rows[i].role == Role::Unwanted);
            if self.rows[i].is_released {
                continue;
            }
            let requires = std::mem::take(&mut self.rows[i].requires);
            for &j in &requires {
                self.touches += 1;
                self.rows[j].left += 1;
            }
            self.rows[i].requires = requires;
        }
    }

    /// Whether the part of a row in this traversal is done.
    fn is_done(&mut self, row: usize) -> bool {
        let resource = &self.rows[row].resource;
        if resource.deed.is_some() || self.is_paused(row) {
            return false;
        }
        let is_complete = resource.standing.status == StackStatus::Complete;
        let is_now = resource.traversal == self.stack.traversal;
        match self.mode {
            Mode::Converge => {
                let is_as_wanted = is_complete
                    && resource.definition.is_some()
                    && resource.definition == self.goal.definition;
                if is_as_wanted && !is_now && self.is_past_hook(row) {
                    self.rows[row].resource.traversal = self.stack.traversal;
                    self.touch(row);
                    return true;
                }
                is_as_wanted && is_now
            }
            Mode::Each(kind) => is_now && (is_complete || kind == DeedKind::Check),
            Mode::Tend => false,
        }
    }

    /// Deeds that are under way. What merely waits for an object that nobody wants is broken off.
    fn take_up(&mut self) {
        for i in 0..self.rows.len() {
            if self.rows[i].resource.deed.is_none() {
                if self.is_paused(i) {
                    self.paused.insert(i);
                }
                continue;
            }
            self.watch(i);
            if self.is_in_vain(i) {
                let reason = format!("Stack {} started", self.stack.standing.action.heat());
                self.abort(i, &reason);
            }
        }
    }

    fn open_up(&mut self) {
        for node in 0..self.nodes.len() {
            self.try_ready(node);
        }
        for row in 0..self.rows.len() {
            self.try_clear(row);
        }
    }
}
