//! `OS::Heat::ScalingPolicy` and `AWS::AutoScaling::ScalingPolicy`: a signal that makes a group larger or smaller.
//!
//! A signal is ignored without a word while something is being done to the group, while it rests after the last time, and when
//! it has as many members as it would have. Otherwise the stack below the group goes towards its new size at once, members
//! that stay are as they are, and the group rests from then on.

use hostler_engine::stack::scale::{Adjustment, AdjustmentKind, Bounds, GroupState, scale};
use hostler_model::Timestamp;
use hostler_model::stack::StackStatus;
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::super::read::{Read, later};
use super::super::super::{
    Change, ChildForm, ChildWish, Ctx, Doing, Given, Plugin, Progress, Seen, Signal, SignalKind,
    SignalTaken, at_once,
};
use super::super::below::{Below, below};
use super::super::handle::described;
use super::super::since;
use super::instances::launched;
use super::plan::resized;
use super::{auto_scaling, fresh_name, members_of, template_of, whole};

const COOLDOWN_END: &str = "cooldown_end";
const SCALING: &str = "scaling_in_progress";

/// What a group says about its size, whichever words it uses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group<'a> {
    pub(super) bounds: Bounds,
    pub(super) desired: Option<u32>,
    cooldown: Option<f64>,
    properties: &'a Map<String, Value>,
}

impl<'a> Group<'a> {
    /// A size that nobody knows yet is right.
    pub(super) fn read(properties: &'a Map<String, Value>) -> Result<Group<'a>, String> {
        let either =
            |one: &str, other: &str| whole(properties, one).or_else(|| whole(properties, other));
        let min = either("min_size", "MinSize").unwrap_or(0);
        let max = either("max_size", "MaxSize").unwrap_or(u32::MAX);
        let desired = either("desired_capacity", "DesiredCapacity");
        let bounds = Bounds::new(min, max)
            .map_err(|_| "MinSize can not be greater than MaxSize".to_owned())?;
        if desired.is_some_and(|desired| desired < min || desired > max) {
            return Err("DesiredCapacity must be between MinSize and MaxSize".to_owned());
        }
        let cooldown = properties.number("cooldown").or_else(|| properties.number("Cooldown"));
        Ok(Group { bounds, desired, cooldown, properties })
    }
}

/// Metadata of a group that rests from now on. A rest that is longer already stays.
fn resting(metadata: &Value, now: Timestamp, cooldown: Option<f64>, reason: &str) -> Value {
    let mut metadata = metadata.as_object().cloned().unwrap_or_default();
    let end = later(now, cooldown.unwrap_or(0.0)).max(cooldown_end(&metadata).unwrap_or(now));
    metadata.insert(COOLDOWN_END.to_owned(), json!({end.to_string(): reason}));
    metadata.insert(SCALING.to_owned(), json!(false));
    Value::Object(metadata)
}

fn cooldown_end(metadata: &Map<String, Value>) -> Option<Timestamp> {
    let ends = metadata.map(COOLDOWN_END)?;
    ends.keys().filter_map(|end| end.parse().ok()).max()
}

/// Metadata of a group that was made or changed.
pub(super) fn rested(ctx: &Ctx<'_>) -> Value {
    let size = ctx.child.map_or(0, |child| members_of(&child.template).len());
    let cooldown = Group::read(&ctx.wanted.properties).ok().and_then(|group| group.cooldown);
    resting(&ctx.body.metadata, ctx.now, cooldown, &format!("ExactCapacity : {size}"))
}

/// What a policy says, whichever words it uses.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    group: String,
    adjustment: Adjustment,
    cooldown: Option<f64>,
    words: String,
}

impl Rule {
    fn read(properties: &Map<String, Value>) -> Option<Rule> {
        let text = |one: &str, other: &str| properties.text(one).or_else(|| properties.text(other));
        let number =
            |one: &str, other: &str| properties.integer(one).or_else(|| properties.integer(other));
        let kind = text("adjustment_type", "AdjustmentType")?;
        let number_of = number("scaling_adjustment", "ScalingAdjustment")?;
        let adjustment = Adjustment {
            kind: match kind {
                "exact_capacity" | "ExactCapacity" => AdjustmentKind::ExactCapacity,
                "change_in_capacity" | "ChangeInCapacity" => AdjustmentKind::ChangeInCapacity,
                _ => AdjustmentKind::PercentChangeInCapacity,
            },
            number: i32::try_from(number_of).unwrap_or(if number_of < 0 {
                i32::MIN
            } else {
                i32::MAX
            }),
            min_step: whole(properties, "min_adjustment_step")
                .or_else(|| whole(properties, "MinAdjustmentStep")),
        };
        Some(Rule {
            group: text("auto_scaling_group_id", "AutoScalingGroupName")?.to_owned(),
            adjustment,
            cooldown: properties.number("cooldown").or_else(|| properties.number("Cooldown")),
            words: format!("{kind} : {number_of}"),
        })
    }
}

/// What becomes of a group; nothing when it is left as it is.
fn scaled(ctx: &Ctx<'_>, group: &Seen<'_>, rule: &Rule) -> Result<Option<Change>, String> {
    let properties = Group::read(&group.body.properties)?;
    let Some(child) = group.child else { return Ok(None) };
    let present = members_of(&child.template);
    let metadata = group.body.metadata.as_object().cloned().unwrap_or_default();
    let is_resting = cooldown_end(&metadata).is_some_and(|end| ctx.now < end);
    let state = GroupState {
        size: u32::try_from(present.len()).unwrap_or(u32::MAX),
        bounds: properties.bounds,
        is_complete: group.row.standing.status == StackStatus::Complete
            && group.row.deed.is_none()
            && below(group) != Below::Busy,
        time_scaled: None,
        cooldown: None,
    };
    let size = match scale(&state, rule.adjustment, None, ctx.now) {
        Ok(size) if !is_resting => size,
        _ => return Ok(None),
    };
    let member = if properties.properties.contains_key("resource") {
        auto_scaling::definition(properties.properties)
    } else {
        launched(ctx.desk, group, properties.properties)?
    };
    let next = resized(Some(child), present, size, &|_| member.clone(), &mut || {
        fresh_name(ctx.desk.fresh_id())
    });
    let form = ChildForm { template: template_of(next), ..ChildForm::default() };
    let rest = rule.cooldown.or(properties.cooldown);
    let metadata = resting(&group.body.metadata, ctx.now, rest, &rule.words);
    let change = Change { metadata: Some(metadata), ..Change::default() };
    Ok(Some(change.child(ChildWish::Apply(Box::new(form)))))
}

pub(crate) struct ScalingPolicy {
    is_aws: bool,
    schema: ResourceSchema,
}

impl ScalingPolicy {
    pub(crate) fn heat() -> ScalingPolicy {
        ScalingPolicy { is_aws: false, schema: heat_schema() }
    }

    pub(crate) fn aws() -> ScalingPolicy {
        ScalingPolicy { is_aws: true, schema: aws_schema() }
    }

    fn make(&self, ctx: &Ctx<'_>) -> Result<Progress, hostler_model::Error> {
        let alarm = ctx.desk.signal_url(SignalKind::Alarm)?;
        let change = Change::physical(ctx.row.id.to_string());
        Ok(Progress::Done(if self.is_aws {
            change.attribute("AlarmUrl", alarm.clone()).reference(alarm)
        } else {
            change
                .attribute("alarm_url", alarm)
                .attribute("signal_url", ctx.desk.signal_url(SignalKind::Api)?)
        }))
    }
}

impl Plugin for ScalingPolicy {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn takes_signals(&self) -> bool {
        true
    }

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let (step, kind, percent) = if self.is_aws {
            ("MinAdjustmentStep", "AdjustmentType", "PercentChangeInCapacity")
        } else {
            ("min_adjustment_step", "adjustment_type", "percent_change_in_capacity")
        };
        let is_wrong = given.properties.text(kind).is_some_and(|given| given != percent);
        if !is_wrong || given.properties.integer(step).is_none() {
            return Vec::new();
        }
        vec![format!("{step} property should only be specified for {kind} with value {percent}.")]
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let made = self.make(ctx);
        Box::pin(std::future::ready(made))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(Progress::Done(Change::of_metadata(ctx)))
    }

    fn signal(&self, ctx: &Ctx<'_>, body: &Value) -> Signal {
        let Some(rule) = Rule::read(&ctx.body.properties) else { return Signal::Ignored };
        let name = &ctx.row.name;
        let Some(group) = ctx.desk.sibling(&rule.group) else {
            return Signal::Refused(format!(
                "Alarm {name} could not find scaling group named \"{}\"",
                rule.group
            ));
        };
        match scaled(ctx, &group, &rule) {
            Ok(Some(change)) => {
                let changes = vec![(group.row.id, change)];
                Signal::Taken(SignalTaken { reason: described(body), changes, answer: Value::Null })
            }
            Ok(None) => Signal::Ignored,
            Err(words) => Signal::Refused(words),
        }
    }
}

fn heat_schema() -> ResourceSchema {
    let kinds = ["change_in_capacity", "exact_capacity", "percent_change_in_capacity"];
    let about = "Makes a group larger or smaller when it is signalled.";
    since("OS::Heat::ScalingPolicy", about, "2014.1")
        .property("auto_scaling_group_id", PropertySchema::string("The group.").required())
        .property("scaling_adjustment", PropertySchema::number("By how many, or to how many, or by how many percent.").required().updatable())
        .property("adjustment_type", PropertySchema::string("What that number means.").required().updatable().allowed(kinds))
        .property("cooldown", PropertySchema::number("How many seconds the group is left alone then; otherwise the group says.").updatable())
        .property(
            "min_adjustment_step",
            PropertySchema::integer("How many come or go at least, where the number is percents.").range(Some(0), None).updatable(),
        )
        .attribute("alarm_url", AttributeSchema::new("An address that is good for as long as the policy is there; whoever has it may signal.").secret())
        .attribute("signal_url", AttributeSchema::new("The address for those who have a token."))
}

fn aws_schema() -> ResourceSchema {
    let kinds = ["ChangeInCapacity", "ExactCapacity", "PercentChangeInCapacity"];
    let about = "Makes a group larger or smaller when it is signalled. A reference to it is the address for that.";
    since("AWS::AutoScaling::ScalingPolicy", about, "2014.1")
        .property("AutoScalingGroupName", PropertySchema::string("The group.").required())
        .property(
            "ScalingAdjustment",
            PropertySchema::integer("By how many, or to how many, or by how many percent.")
                .required()
                .updatable(),
        )
        .property(
            "AdjustmentType",
            PropertySchema::string("What that number means.").required().updatable().allowed(kinds),
        )
        .property(
            "Cooldown",
            PropertySchema::integer(
                "How many seconds the group is left alone then; otherwise the group says.",
            )
            .updatable(),
        )
        .property(
            "MinAdjustmentStep",
            PropertySchema::integer("How many come or go at least, where the number is percents.")
                .range(Some(0), None)
                .updatable(),
        )
        .attribute(
            "AlarmUrl",
            AttributeSchema::new("An address that is good for as long as the policy is there.")
                .secret(),
        )
}

#[cfg(test)]
mod tests {
    use super::super::super::bench::{Bench, child_of, done, got, member};
    use super::*;
    use hostler_model::stack::{StackAction, StackStanding};

    fn group(size: usize, standing: StackStanding) -> Bench {
        let template = template_of((0..size).map(|at| (format!("m{at}"), json!({"type": "OLD"}))));
        let rows =
            (0..size).map(|at| member(&format!("m{at}"), 90.0 - at as f64, json!({}))).collect();
        Bench::new("group")
            .physical("g-1")
            .was(json!({"resource": {"type": "NEW"}, "min_size": 1, "max_size": 5, "cooldown": 60, "desired_capacity": null}))
            .child(child_of(standing, template, rows))
    }

    fn policy(number: i64, kind: &str, cooldown: Value, group: Bench) -> Bench {
        let properties = json!({"auto_scaling_group_id": "g-1", "scaling_adjustment": number, "adjustment_type": kind, "cooldown": cooldown});
        Bench::new("p").was(properties).sibling(group)
    }

    fn size_after(bench: &Bench) -> Option<usize> {
        match bench.with(|ctx| ScalingPolicy::heat().signal(ctx, &json!({"current": "alarm"}))) {
            Signal::Taken(taken) => {
                let Some(ChildWish::Apply(form)) = taken.changes[0].1.child.clone() else {
                    panic!("not applied")
                };
                Some(members_of(&form.template).len())
            }
            Signal::Ignored => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_signal_changes_the_size_within_bounds() {
        let well = || StackStanding::completed(StackAction::Create);
        let cases = [
            (2, 1, "change_in_capacity", Some(3)),
            (2, -5, "change_in_capacity", Some(1)),
            (2, 9, "exact_capacity", Some(5)),
            (2, 50, "percent_change_in_capacity", Some(3)),
            (3, 10, "percent_change_in_capacity", Some(4)),
            (5, 1, "change_in_capacity", None),
        ];
        for (size, number, kind, wanted) in cases {
            assert_eq!(
                size_after(&policy(number, kind, Value::Null, group(size, well()))),
                wanted,
                "{size} {number} {kind}"
            );
        }
    }

    #[test]
    fn a_group_that_is_busy_or_rests_is_left_alone() {
        let busy = group(2, StackStanding::begun(StackAction::Update));
        assert_eq!(size_after(&policy(1, "change_in_capacity", Value::Null, busy)), None);
        let well = || group(2, StackStanding::completed(StackAction::Create));
        let now = Bench::new("x").seconds(0.0);
        let resting = |seconds: f64| {
            well().metadata(json!({COOLDOWN_END: {later(now, seconds).to_string(): "why"}}))
        };
        assert_eq!(size_after(&policy(1, "change_in_capacity", Value::Null, resting(10.0))), None);
        assert_eq!(
            size_after(&policy(1, "change_in_capacity", Value::Null, resting(10.0)).at(11.0)),
            Some(3)
        );
        let mut failed = well();
        failed.row.standing.status = StackStatus::Failed;
        assert_eq!(size_after(&policy(1, "change_in_capacity", Value::Null, failed)), None);
    }

    #[test]
    fn a_group_rests_after_it_was_scaled() {
        let bench = policy(
            1,
            "change_in_capacity",
            json!(5),
            group(2, StackStanding::completed(StackAction::Create)),
        );
        let Signal::Taken(taken) =
            bench.with(|ctx| ScalingPolicy::heat().signal(ctx, &Value::Null))
        else {
            panic!("ignored")
        };
        let metadata = taken.changes[0].1.metadata.clone().unwrap();
        let end = bench.seconds(5.0).to_string();
        assert_eq!(metadata[COOLDOWN_END], json!({end: "change_in_capacity : 1"}));
        let Some(ChildWish::Apply(form)) = taken.changes[0].1.child.clone() else {
            panic!("not applied")
        };
        let kinds: Vec<_> = members_of(&form.template)
            .into_iter()
            .map(|(_, member)| member["type"].clone())
            .collect();
        assert_eq!(kinds, [json!("OLD"), json!("OLD"), json!("NEW")]);
        assert_eq!(taken.reason, "No signal details provided");
    }

    #[test]
    fn a_policy_has_addresses_and_needs_its_group() {
        let change = done(Bench::new("p").run(|ctx| got(ScalingPolicy::heat().create(ctx))));
        assert!(change.attributes.unwrap()["alarm_url"].as_str().unwrap().contains("Alarm/p"));
        let change = done(Bench::new("p").run(|ctx| got(ScalingPolicy::aws().create(ctx))));
        assert!(change.reference.unwrap().contains("Alarm/p"));
        let lost = Bench::new("p").was(json!({"auto_scaling_group_id": "x", "scaling_adjustment": 1, "adjustment_type": "exact_capacity"}));
        let refused = lost.with(|ctx| ScalingPolicy::heat().signal(ctx, &Value::Null));
        assert_eq!(
            refused,
            Signal::Refused("Alarm p could not find scaling group named \"x\"".to_owned())
        );
    }

    #[test]
    fn a_step_is_for_percents() {
        let properties = json!({"adjustment_type": "exact_capacity", "min_adjustment_step": 2});
        let said =
            ScalingPolicy::heat().validate(&Given::test("p", properties.as_object().unwrap()));
        assert_eq!(
            said,
            [
                "min_adjustment_step property should only be specified for adjustment_type with value percent_change_in_capacity."
            ]
        );
        let properties =
            json!({"AdjustmentType": "PercentChangeInCapacity", "MinAdjustmentStep": 2});
        assert!(
            ScalingPolicy::aws()
                .validate(&Given::test("p", properties.as_object().unwrap()))
                .is_empty()
        );
    }
}
