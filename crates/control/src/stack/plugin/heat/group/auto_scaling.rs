//! `OS::Heat::AutoScalingGroup`: as many of the same as somebody, or an alarm, says.

use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::super::read::Read;
use super::super::super::{
    Change, Ctx, Doing, Given, Lean, NoAttribute, Plugin, Progress, Seen, at_once,
};
use super::super::below::{deeds_below, is_making, lean};
use super::super::since;
use super::plan::{Plan, Way, Who, begin, go_on};
use super::policy::{Group, rested};
use super::view::{self, Order};
use super::{members_of, whole, without_nothing};

pub(crate) struct AutoScalingGroup(ResourceSchema);

/// How many members there are to be, of a group that has some or none yet.
pub(super) fn size_of(group: &Group<'_>, seen: &Seen<'_>) -> u32 {
    let present = seen.child.map(|child| members_of(&child.template).len());
    let present = present.and_then(|number| u32::try_from(number).ok());
    let wanted = group
        .desired
        .filter(|desired| *desired > 0)
        .or(present)
        .unwrap_or_else(|| group.bounds.min());
    group.bounds.clamp(i64::from(wanted))
}

/// What members are: as they stand in the properties.
pub(super) fn definition(properties: &Map<String, Value>) -> Value {
    without_nothing(properties.map("resource").cloned().unwrap_or_default())
}

impl AutoScalingGroup {
    pub(crate) fn new() -> AutoScalingGroup {
        AutoScalingGroup(schema())
    }

    fn make(ctx: &Ctx<'_>, is_other: bool) -> Progress {
        let properties = &ctx.wanted.properties;
        let group = match Group::read(properties) {
            Ok(group) => group,
            Err(words) => return Progress::failed("StackValidationFailed", words),
        };
        let policy = properties.map("rolling_updates").filter(|_| is_other && ctx.child.is_some());
        let way = policy.map_or(Way::Together, |policy| Way::Rolling {
            min_in_service: whole(policy, "min_in_service").unwrap_or(0),
            max_batch_size: whole(policy, "max_batch_size").unwrap_or(1),
            pause: policy.number("pause_time").unwrap_or(0.0),
        });
        let who = Who::Size(size_of(&group, &ctx.seen));
        let plan = Plan { who, way, out: std::collections::BTreeSet::new() };
        let member = definition(properties);
        begin(ctx, &plan, &|_| member.clone(), Change::default(), ctx.body.data.clone())
    }
}

impl Plugin for AutoScalingGroup {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    deeds_below!();

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        Group::read(given.properties).err().into_iter().collect()
    }

    fn lean(&self, _: &Ctx<'_>, changed: &[String]) -> Lean {
        lean(&self.0, changed)
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(AutoScalingGroup::make(ctx, false))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, changed: &'a [String]) -> Doing<'a> {
        at_once(AutoScalingGroup::make(ctx, changed.iter().any(|name| name == "resource")))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let member = definition(&ctx.wanted.properties);
        let definition = move |_: &str| member.clone();
        at_once(go_on(ctx, &definition, |data| {
            Change { metadata: is_making(ctx).then(|| rested(ctx)), ..Change::default() }.data(data)
        }))
    }

    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        let name = path.first().and_then(Value::as_str).unwrap_or_default();
        let rest = path.get(1..).unwrap_or_default();
        let order = Order::Aged;
        Ok(match name {
            "current_size" => json!(view::members(seen, order).len()),
            "refs" => super::super::super::walk(&view::refs(seen, order), rest),
            "refs_map" => super::super::super::walk(&view::refs_map(seen, order), rest),
            "outputs" if !rest.is_empty() => view::map_of(seen, order, rest),
            "outputs_list" if !rest.is_empty() => view::list_of(seen, order, rest),
            "show" => Value::Null,
            _ if name.starts_with("resource.") => {
                view::of_member(seen, order, path).unwrap_or_default()
            }
            _ => return Err(NoAttribute(name.to_owned())),
        })
    }
}

fn schema() -> ResourceSchema {
    let rolling = [
        (
            "min_in_service",
            PropertySchema::integer("How many are left alone at any time.")
                .default(0)
                .range(Some(0), None),
        ),
        (
            "max_batch_size",
            PropertySchema::integer("How many at once.").default(1).range(Some(1), None),
        ),
        (
            "pause_time",
            PropertySchema::number("How many seconds between batches.")
                .default(0)
                .range(Some(0), None),
        ),
    ];
    let about = "As many of the same as is said, and as scaling policies make of it.";
    let mut schema = since("OS::Heat::AutoScalingGroup", about, "2014.1")
        .of_members("resource")
        .property(
            "resource",
            PropertySchema::map("What every member is, as in a template.").required().updatable(),
        )
        .property(
            "max_size",
            PropertySchema::integer("How many at most.")
                .required()
                .range(Some(0), None)
                .updatable(),
        )
        .property(
            "min_size",
            PropertySchema::integer("How many at least.")
                .required()
                .range(Some(0), None)
                .updatable(),
        )
        .property(
            "cooldown",
            PropertySchema::integer("How many seconds it is left alone after it was scaled.")
                .updatable(),
        )
        .property(
            "desired_capacity",
            PropertySchema::integer("How many at first, and after an update.").updatable(),
        )
        .property(
            "rolling_updates",
            PropertySchema::fields(
                "How members are changed, when what they are to be changes.",
                rolling,
            )
            .default(json!({"min_in_service": 0, "max_batch_size": 1, "pause_time": 0}))
            .updatable(),
        )
        .attribute(
            "outputs",
            AttributeSchema::new(
                "An attribute of every member, by their names: `[group, outputs, NAME]`.",
            )
            .of(Kind::Map),
        )
        .attribute(
            "outputs_list",
            AttributeSchema::new("The same, as a list: the oldest first.").of(Kind::List),
        )
        .attribute("current_size", AttributeSchema::new("How many there are.").of(Kind::Integer))
        .attribute(
            "refs",
            AttributeSchema::new("What `get_resource` gives for every member.").of(Kind::List),
        )
        .attribute(
            "refs_map",
            AttributeSchema::new("The same, by the names of the members.").of(Kind::Map),
        );
    schema.open_attributes.push("resource.".to_owned());
    schema
}

#[cfg(test)]
mod tests {
    use super::super::super::super::ChildWish;
    use super::super::super::bench::{Bench, child_of, done, got, member, waits};
    use super::*;
    use hostler_model::stack::{DeedKind, StackAction, StackStanding};

    fn properties(kind: &str, desired: Value) -> Value {
        json!({"resource": {"type": kind}, "min_size": 1, "max_size": 4, "desired_capacity": desired, "cooldown": 60,
               "rolling_updates": {"min_in_service": 1, "max_batch_size": 1, "pause_time": 0}})
    }

    fn settle(bench: &Bench, change: &Change) -> Bench {
        let Some(ChildWish::Apply(form)) = change.child.clone() else { panic!("not applied") };
        let names = members_of(&form.template);
        let rows = names
            .iter()
            .enumerate()
            .map(|(at, (name, _))| member(name, 50.0 - at as f64, json!({"ip": name})))
            .collect();
        bench.after(change).child(child_of(
            StackStanding::completed(StackAction::Update),
            form.template,
            rows,
        ))
    }

    fn kinds(bench: &Bench) -> Vec<String> {
        let child = bench.child.as_ref().unwrap();
        members_of(&child.template)
            .iter()
            .map(|(_, member)| member["type"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn sizes_stay_within_bounds() {
        let group = |desired| {
            Group::read(properties("T", desired).as_object().unwrap())
                .map(|group| size_of(&group, &Bench::new("g").seen()))
        };
        assert_eq!(group(json!(null)), Ok(1));
        assert_eq!(group(json!(3)), Ok(3));
        assert_eq!(
            group(json!(9)),
            Err("DesiredCapacity must be between MinSize and MaxSize".to_owned())
        );
    }

    #[test]
    fn a_group_is_made_and_rolled() {
        let plugin = AutoScalingGroup::new();
        let bench = Bench::new("g").properties(properties("T", json!(3))).deed(DeedKind::Create);
        let (change, _) = waits(bench.run(|ctx| got(plugin.create(ctx))));
        let bench = settle(&bench, &change);
        assert_eq!(kinds(&bench), ["T", "T", "T"]);
        let change = done(bench.run(|ctx| got(plugin.look(ctx))));
        let metadata = change.metadata.clone().unwrap();
        assert_eq!(metadata["scaling_in_progress"], json!(false));
        assert_eq!(
            metadata["cooldown_end"].as_object().unwrap().values().next(),
            Some(&json!("ExactCapacity : 3"))
        );

        let mut bench =
            bench.after(&change).properties(properties("U", json!(null))).deed(DeedKind::Update);
        let (change, _) = waits(bench.run(|ctx| got(plugin.update(ctx, &["resource".to_owned()]))));
        bench = settle(&bench, &change);
        for _ in 0..9 {
            match bench.run(|ctx| got(plugin.look(ctx))) {
                Progress::Wait(change, _) => bench = settle(&bench, &change),
                Progress::Done(change) => {
                    assert_eq!(kinds(&bench), ["U", "U", "U"]);
                    assert_eq!(change.data, Some(Map::new()));
                    return;
                }
                other => panic!("{other:?}"),
            }
        }
        panic!("it does not end: {:?}", kinds(&bench));
    }

    #[test]
    fn attributes_are_those_of_the_members() {
        let plugin = AutoScalingGroup::new();
        let template =
            super::super::template_of(["x", "y"].map(|name| (name.to_owned(), json!({}))));
        let rows = vec![member("x", 1.0, json!({"ip": "1"})), member("y", 2.0, json!({"ip": "2"}))];
        let bench = Bench::new("g").child(child_of(
            StackStanding::completed(StackAction::Create),
            template,
            rows,
        ));
        let seen = bench.seen();
        let of = |path: Value| plugin.attribute(&seen, path.as_array().unwrap());
        assert_eq!(of(json!(["current_size"])), Ok(json!(2)));
        assert_eq!(of(json!(["refs"])), Ok(json!(["id-y", "id-x"])));
        assert_eq!(of(json!(["outputs", "ip"])), Ok(json!({"y": "2", "x": "1"})));
        assert_eq!(of(json!(["outputs_list", "ip"])), Ok(json!(["2", "1"])));
        assert_eq!(of(json!(["resource.0.ip"])), Ok(json!("2")));
        assert!(of(json!(["outputs"])).is_err());
    }
}
