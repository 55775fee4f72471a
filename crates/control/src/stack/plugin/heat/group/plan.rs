//! How a group gets from what its members are to what they are to be.

use std::collections::{BTreeSet, HashMap};

use hostler_engine::stack::scale::{self, Rolling, Target, names, next_batch};
use hostler_model::stack::{StackAction, StackStanding, StackStatus};
use hostler_model::{StackId, Timestamp};
use serde_json::{Map, Value, json};

use super::super::super::read::{Read, later};
use super::super::super::{Change, ChildCourse, ChildForm, ChildView, Ctx, Progress};
use super::super::below::{Below, apply, below, follow, is_making};
use super::{fresh_name, members_of, span, template_of};

/// How members become what they are to be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Way {
    /// All at once.
    Together,
    /// Made in batches of so many, with a pause between them.
    InBatches { size: u32, pause: f64 },
    /// Changed in batches, with enough of them left alone.
    Rolling { min_in_service: u32, max_batch_size: u32, pause: f64 },
}

/// Who is to be there.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Who {
    Names(Vec<String>),
    /// So many; those that go are chosen by what failed, and by age.
    Size(u32),
}

/// What a group is on its way to. It lies in what the resource remembers, for as long as it is on its way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) who: Who,
    pub(super) way: Way,
    /// Names that may not be used for a while, where members are called by numbers.
    pub(super) out: BTreeSet<String>,
}

/// What a member is to be as, by its name.
pub(super) type Definition<'a> = dyn Fn(&str) -> Value + 'a;

const PLAN: &str = "plan";
const PAUSED: &str = "paused";

impl Plan {
    fn written(&self) -> Value {
        let who = match &self.who {
            Who::Names(names) => json!({"names": names}),
            Who::Size(size) => json!({"size": size}),
        };
        let way = match &self.way {
            Way::Together => json!({}),
            Way::InBatches { size, pause } => json!({"batch": size, "pause": pause}),
            Way::Rolling { min_in_service, max_batch_size, pause } => {
                json!({"least": min_in_service, "most": max_batch_size, "pause": pause})
            }
        };
        json!({"who": who, "way": way, "out": self.out})
    }

    fn read(value: &Value) -> Option<Plan> {
        let value = value.as_object()?;
        let whole = |map: &Map<String, Value>, name: &str| {
            map.integer(name).and_then(|number| u32::try_from(number).ok())
        };
        let (who, way) = (value.map("who")?, value.map("way")?);
        let texts = |map: &Map<String, Value>, name: &str| -> Vec<String> {
            map.texts(name).into_iter().map(str::to_owned).collect()
        };
        let who = match whole(who, "size") {
            Some(size) => Who::Size(size),
            None => Who::Names(texts(who, "names")),
        };
        let pause = way.number("pause").unwrap_or(0.0);
        let way = match (whole(way, "batch"), whole(way, "least"), whole(way, "most")) {
            (Some(size), ..) => Way::InBatches { size, pause },
            (_, Some(min_in_service), Some(max_batch_size)) => {
                Way::Rolling { min_in_service, max_batch_size, pause }
            }
            _ => Way::Together,
        };
        Some(Plan { who, way, out: texts(value, "out").into_iter().collect() })
    }

    fn pause(&self) -> f64 {
        match self.way {
            Way::Together => 0.0,
            Way::InBatches { pause, .. } | Way::Rolling { pause, .. } => pause,
        }
    }

    /// The next template; nothing when the group is as it is to be.
    pub(super) fn next(
        &self,
        child: Option<&ChildView>,
        definition: &Definition<'_>,
        mut fresh: impl FnMut() -> String,
    ) -> Option<Value> {
        let present = child.map(|child| members_of(&child.template)).unwrap_or_default();
        let next = match (&self.way, &self.who) {
            (Way::Rolling { min_in_service, max_batch_size, pause }, who) if child.is_some() => {
                let rolling = Rolling {
                    min_in_service: *min_in_service,
                    max_batch_size: *max_batch_size,
                    pause: span(*pause),
                };
                return self.rolled(child, present, who, rolling, definition, &mut fresh);
            }
            (Way::InBatches { size, .. }, Who::Names(names)) => {
                let known: BTreeSet<&str> = present.iter().map(|(name, _)| name.as_str()).collect();
                let there = names.iter().filter(|name| known.contains(name.as_str())).count();
                let number = there.saturating_add((*size).max(1) as usize).min(names.len());
                names[..number].iter().map(|name| (name.clone(), definition(name))).collect()
            }
            (_, Who::Names(names)) => {
                names.iter().map(|name| (name.clone(), definition(name))).collect()
            }
            (_, Who::Size(size)) => {
                self.sized(child, present.clone(), *size, definition, &mut fresh)
            }
        };
        let is_same = child.is_some() && next == present;
        (!is_same).then(|| template_of(next))
    }

    /// Members that stay are as the group says now; others come or go.
    fn sized(
        &self,
        child: Option<&ChildView>,
        present: Vec<(String, Value)>,
        size: u32,
        definition: &Definition<'_>,
        fresh: &mut impl FnMut() -> String,
    ) -> Vec<(String, Value)> {
        let mut next: Vec<_> = resized(child, present, size, definition, fresh);
        for (name, member) in &mut next {
            *member = definition(name);
        }
        next
    }

    fn rolled(
        &self,
        child: Option<&ChildView>,
        mut present: Vec<(String, Value)>,
        who: &Who,
        rolling: Rolling,
        definition: &Definition<'_>,
        fresh: &mut impl FnMut() -> String,
    ) -> Option<Value> {
        let members = scaled(child, &present, Some(definition));
        let mut spare = self.spare(who, &present);
        let target = match who {
            Who::Names(names) => Target::Names(names.clone()),
            Who::Size(size) => Target::Size(*size),
        };
        let batch =
            next_batch(&members, &target, rolling, || spare.pop().unwrap_or_else(&mut *fresh))?;
        present.retain(|(name, _)| !batch.remove.contains(name));
        for (name, member) in &mut present {
            if batch.change.contains(name) {
                *member = definition(name);
            }
        }
        present.extend(batch.create.into_iter().map(|name| (name.clone(), definition(&name))));
        if let Who::Names(names) = who {
            let places: HashMap<&str, usize> =
                names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
            present
                .sort_by_key(|(name, _)| places.get(name.as_str()).copied().unwrap_or(names.len()));
        }
        Some(template_of(present))
    }

    /// Numbers for members that are there only while others are changed, the smallest last.
    fn spare(&self, who: &Who, present: &[(String, Value)]) -> Vec<String> {
        let Who::Names(wanted) = who else { return Vec::new() };
        let mut out = self.out.clone();
        out.extend(wanted.iter().cloned());
        out.extend(present.iter().map(|(name, _)| name.clone()));
        let mut spare = names(wanted.len(), &out);
        spare.reverse();
        spare
    }
}

/// So many members: what is there stays as it is, what is new is as the group says now.
pub(super) fn resized(
    child: Option<&ChildView>,
    mut present: Vec<(String, Value)>,
    size: u32,
    definition: &Definition<'_>,
    fresh: &mut impl FnMut() -> String,
) -> Vec<(String, Value)> {
    let members = scaled(child, &present, None);
    let leaving: BTreeSet<&str> = scale::leaving(&members, size as usize)
        .into_iter()
        .map(|member| member.name.as_str())
        .collect();
    present.retain(|(name, _)| !leaving.contains(name.as_str()));
    while present.len() < size as usize {
        let name = fresh();
        let member = definition(&name);
        present.push((name, member));
    }
    present
}

/// Members as the arithmetic sees them. What the stack below does not know yet is the youngest.
fn scaled(
    child: Option<&ChildView>,
    present: &[(String, Value)],
    definition: Option<&Definition<'_>>,
) -> Vec<scale::Member> {
    let rows = child.map(|child| child.members.as_slice()).unwrap_or_default();
    let by_name: HashMap<&str, _> = rows.iter().rev().map(|row| (row.name.as_str(), row)).collect();
    let of = |(name, member): &(String, Value)| {
        let row = by_name.get(name.as_str());
        let is_failed = row.is_some_and(|row| row.standing.status == StackStatus::Failed);
        scale::Member {
            name: name.clone(),
            is_failed,
            is_current: !is_failed
                && definition.is_none_or(|definition| definition(name) == *member),
            time_created: row.map_or(Timestamp::from_micros(i64::MAX), |row| row.time_created),
        }
    };
    present.iter().map(of).collect()
}

/// Begins with a plan. `data` is what the resource remembers besides.
pub(super) fn begin(
    ctx: &Ctx<'_>,
    plan: &Plan,
    definition: &Definition<'_>,
    mut change: Change,
    mut data: Map<String, Value>,
) -> Progress {
    data.insert(PLAN.to_owned(), plan.written());
    data.shift_remove(PAUSED);
    change.data = Some(data);
    let mut fresh = || fresh_name(ctx.desk.fresh_id());
    let next = plan.next(ctx.child, definition, &mut fresh);
    let same = || ctx.child.map(|child| child.template.clone()).unwrap_or_else(|| template_of([]));
    let template = next.unwrap_or_else(same);
    let course = match ctx.desk.is_trial() {
        true => plan.course(ctx.child, template.clone(), definition, &mut fresh),
        false => None,
    };
    apply(ctx, change, ChildForm { template, course, ..ChildForm::default() })
}

/// Batches that are looked at in advance, at most.
const AHEAD_MAX: usize = 10_000;

impl Plan {
    /// What comes after the first batch, if everything goes well; nothing where that is all.
    fn course(
        &self,
        child: Option<&ChildView>,
        first: Value,
        definition: &Definition<'_>,
        mut fresh: impl FnMut() -> String,
    ) -> Option<ChildCourse> {
        let (size, way) = match self.way {
            Way::Together => return None,
            Way::InBatches { size, .. } => (size, "made"),
            Way::Rolling { max_batch_size, .. } => (max_batch_size, "changed"),
        };
        let count = |template: &Value| members_of(template).len();
        let (mut last, mut most, mut batches) = (first, 0, 1);
        let mut known = child.cloned();
        while batches < AHEAD_MAX {
            most = most.max(count(&last));
            known = Some(after(known.as_ref(), last.clone()));
            let next = self.next(known.as_ref(), definition, &mut fresh);
            let Some(next) = next.filter(|next| *next != last) else { break };
            last = next;
            batches += 1;
        }
        let spare = most.saturating_sub(count(&last).max(child.map_or(0, |it| it.members.len())));
        let more = match spare {
            0 => String::new(),
            spare => format!(", with up to {spare} more of them meanwhile"),
        };
        let words = format!("{way} in {batches} batches of at most {size}{more}");
        (batches > 1).then_some(ChildCourse { template: last, words })
    }
}

/// A stack below that has become so without any trouble.
fn after(before: Option<&ChildView>, template: Value) -> ChildView {
    let mut view = before.cloned().unwrap_or_else(|| ChildView {
        id: StackId::from_uuid(uuid::Uuid::nil()),
        name: "below".parse().expect("letters are a name"),
        standing: StackStanding::completed(StackAction::Create),
        template: Value::Null,
        outputs: Map::new(),
        members: Vec::new(),
    });
    for member in &mut view.members {
        member.standing.status = StackStatus::Complete;
    }
    view.template = template;
    view
}

/// Goes on with a plan; `done` says what is to be remembered when the group is as it is to be.
pub(super) fn go_on(
    ctx: &Ctx<'_>,
    definition: &Definition<'_>,
    done: impl FnOnce(Map<String, Value>) -> Change,
) -> Progress {
    let plan = ctx.body.data.get(PLAN).and_then(Plan::read).filter(|_| is_making(ctx));
    let (Some(plan), Below::Well) = (plan, below(&ctx.seen)) else {
        return follow(ctx, Change::default);
    };
    let Some(template) = plan.next(ctx.child, definition, || fresh_name(ctx.desk.fresh_id()))
    else {
        let mut data = ctx.body.data.clone();
        data.shift_remove(PLAN);
        data.shift_remove(PAUSED);
        return Progress::Done(done(data));
    };
    let mut data = ctx.body.data.clone();
    let paused = data.integer(PAUSED).map(Timestamp::from_micros);
    let until = paused.unwrap_or_else(|| later(ctx.now, plan.pause()));
    if ctx.now < until {
        data.insert(PAUSED.to_owned(), json!(until.micros()));
        return Progress::Wait(Change::default().data(data), until);
    }
    data.shift_remove(PAUSED);
    apply(ctx, Change::default().data(data), ChildForm { template, ..ChildForm::default() })
}

#[cfg(test)]
mod tests {
    use super::super::super::bench::{child_of, member};
    use super::*;

    fn child(template: Value) -> ChildView {
        let names = members_of(&template);
        let members = names
            .iter()
            .enumerate()
            .map(|(at, (name, _))| member(name, 100.0 - at as f64, json!({})))
            .collect();
        child_of(StackStanding::completed(StackAction::Update), template, members)
    }

    fn names_of(template: &Value) -> Vec<String> {
        members_of(template).into_iter().map(|(name, _)| name).collect()
    }

    /// Everything that a plan does, one template after another.
    fn course(
        plan: &Plan,
        mut child: Option<ChildView>,
        definition: &Definition<'_>,
    ) -> Vec<Value> {
        let mut steps = Vec::new();
        let mut number = 0;
        loop {
            let fresh = || {
                number += 1;
                format!("new{number}")
            };
            let Some(next) = plan.next(child.as_ref(), definition, fresh) else { return steps };
            steps.push(next.clone());
            child = Some(self::child(next));
            assert!(steps.len() < 1000, "no end: {plan:?}");
        }
    }

    fn versions(template: &Value) -> Vec<String> {
        members_of(template)
            .iter()
            .map(|(name, member)| format!("{name}={}", member["v"].as_str().unwrap()))
            .collect()
    }

    #[test]
    fn plans_can_be_read_again() {
        let out = BTreeSet::from(["1".to_owned()]);
        let plans = [
            Plan { who: Who::Names(vec!["a".into()]), way: Way::Together, out: out.clone() },
            Plan {
                who: Who::Size(3),
                way: Way::InBatches { size: 2, pause: 1.5 },
                out: BTreeSet::new(),
            },
            Plan {
                who: Who::Size(0),
                way: Way::Rolling { min_in_service: 1, max_batch_size: 2, pause: 0.0 },
                out,
            },
        ];
        for plan in plans {
            assert_eq!(Plan::read(&plan.written()), Some(plan));
        }
        assert_eq!(Plan::read(&json!("x")), None);
    }

    #[test]
    fn members_are_made_in_batches() {
        let names: Vec<String> = ["0", "1", "2", "3", "4"].map(str::to_owned).to_vec();
        let plan = Plan {
            who: Who::Names(names.clone()),
            way: Way::InBatches { size: 2, pause: 0.0 },
            out: BTreeSet::new(),
        };
        let steps = course(&plan, None, &|_| json!({"v": "a"}));
        let sizes: Vec<_> = steps.iter().map(|step| names_of(step).len()).collect();
        assert_eq!((sizes, names_of(&steps[2])), (vec![2, 4, 5], names));
    }

    #[test]
    fn members_of_numbers_are_rolled() {
        let before = template_of(["0", "1", "2"].map(|name| (name.to_owned(), json!({"v": "a"}))));
        let names: Vec<String> = ["0", "1", "2"].map(str::to_owned).to_vec();
        let way = Way::Rolling { min_in_service: 2, max_batch_size: 2, pause: 0.0 };
        let plan = Plan { who: Who::Names(names), way, out: BTreeSet::from(["3".to_owned()]) };
        let steps = course(&plan, Some(child(before)), &|_| json!({"v": "b"}));
        assert!(steps[0].to_string().contains("\"4\""), "3 is out, so 4 stands in: {}", steps[0]);
        assert_eq!(versions(steps.last().unwrap()), ["0=b", "1=b", "2=b"]);
    }

    #[test]
    fn whoever_asks_is_told_of_all_batches() {
        let names: Vec<String> = ["0", "1", "2", "3", "4"].map(str::to_owned).to_vec();
        let before = template_of(names.iter().map(|name| (name.clone(), json!({"v": "a"}))));
        let told = |least, most, child: Option<ChildView>| {
            let who = Who::Names(names.clone());
            let way = match child {
                Some(_) => Way::Rolling { min_in_service: least, max_batch_size: most, pause: 0.0 },
                None => Way::InBatches { size: most, pause: 0.0 },
            };
            let plan = Plan { who, way, out: BTreeSet::new() };
            let mut number = 0;
            let mut fresh = || {
                number += 1;
                format!("new{number}")
            };
            let definition = |_: &str| json!({"v": "b"});
            let first = plan.next(child.as_ref(), &definition, &mut fresh).unwrap();
            plan.course(child.as_ref(), first, &definition, &mut fresh)
        };
        let course = told(0, 2, Some(child(before.clone()))).unwrap();
        assert_eq!(versions(&course.template), ["0=b", "1=b", "2=b", "3=b", "4=b"]);
        assert_eq!(course.words, "changed in 3 batches of at most 2");
        let course = told(5, 2, Some(child(before.clone()))).unwrap();
        assert_eq!(versions(&course.template), ["0=b", "1=b", "2=b", "3=b", "4=b"]);
        assert!(course.words.contains("with up to 2 more of them meanwhile"), "{}", course.words);
        let course = told(0, 3, None).unwrap();
        assert_eq!(versions(&course.template).len(), 5);
        assert_eq!(course.words, "made in 2 batches of at most 3");
        assert_eq!(told(0, 5, Some(child(before.clone()))), None, "one batch is no course");

        let mut failed = child(before);
        failed.members[3].standing.status = StackStatus::Failed;
        assert_eq!(told(0, 2, Some(failed)).unwrap().words, "changed in 3 batches of at most 2");
    }

    #[test]
    fn nothing_is_done_where_nothing_differs() {
        let template = template_of([("0".to_owned(), json!({"v": "a"}))]);
        for way in
            [Way::Together, Way::Rolling { min_in_service: 0, max_batch_size: 1, pause: 0.0 }]
        {
            for who in [Who::Names(vec!["0".into()]), Who::Size(1)] {
                let plan = Plan { who, way: way.clone(), out: BTreeSet::new() };
                assert_eq!(
                    course(&plan, Some(child(template.clone())), &|_| json!({"v": "a"})),
                    Vec::<Value>::new()
                );
            }
        }
    }

    #[test]
    fn what_shrinks_loses_the_oldest_and_what_is_left_stays_as_it_is() {
        let before = template_of(["x", "y", "z"].map(|name| (name.to_owned(), json!({"v": "a"}))));
        let view = child(before.clone());
        let mut fresh = || "new".to_owned();
        let smaller =
            resized(Some(&view), members_of(&before), 2, &|_| json!({"v": "b"}), &mut fresh);
        assert_eq!(
            smaller,
            [("y".to_owned(), json!({"v": "a"})), ("z".to_owned(), json!({"v": "a"}))]
        );
        let larger =
            resized(Some(&view), members_of(&before), 4, &|_| json!({"v": "b"}), &mut fresh);
        assert_eq!(larger[3], ("new".to_owned(), json!({"v": "b"})));
        assert_eq!(larger[0].1, json!({"v": "a"}));
    }

    #[test]
    fn rolling_ends_with_every_member_as_it_is_to_be() {
        let mut cases = Vec::new();
        for size in 0..6_u32 {
            for before in 0..6_usize {
                cases.extend(
                    (0..6_u32)
                        .flat_map(|least| (1..4_u32).map(move |most| (size, before, least, most))),
                );
            }
        }
        for (size, before, least, most) in cases {
            for is_named in [false, true] {
                let template =
                    template_of((0..before).map(|at| (at.to_string(), json!({"v": "a"}))));
                let named = || Who::Names((0..size).map(|at| at.to_string()).collect());
                let who = if is_named { named() } else { Who::Size(size) };
                let way = Way::Rolling { min_in_service: least, max_batch_size: most, pause: 0.0 };
                let plan = Plan { who, way, out: BTreeSet::new() };
                let mut last = members_of(&template);
                for step in course(&plan, Some(child(template.clone())), &|_| json!({"v": "b"})) {
                    let next = members_of(&step);
                    let alone = last.iter().filter(|member| next.contains(member)).count();
                    let floor = (least as usize).min(size as usize).min(before);
                    assert!(alone >= floor, "{plan:?}: {alone} of {last:?} are left alone");
                    last = next;
                }
                assert_eq!(last.len(), size as usize, "{plan:?}");
                assert!(last.iter().all(|(_, member)| member["v"] == "b"), "{plan:?}: {last:?}");
                let is_in_order =
                    last.iter().enumerate().all(|(at, (name, _))| *name == at.to_string());
                assert!(!is_named || is_in_order, "{plan:?}: {last:?}");
            }
        }
    }
}
