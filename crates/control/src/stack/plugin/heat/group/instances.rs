//! `OS::Heat::InstanceGroup`, `AWS::AutoScaling::AutoScalingGroup` and `AWS::AutoScaling::LaunchConfiguration`: groups of
//! instances as CloudFormation has them.
//!
//! A member is what its launch configuration says, of the type `OS::Heat::ScaledResource`, which an environment maps to what
//! an instance is.

use std::collections::BTreeSet;

use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::super::read::Read;
use super::super::super::{
    Change, Ctx, Desk, Doing, Given, Lean, NoAttribute, Plugin, Progress, Seen, at_once,
};
use super::super::below::{deeds_below, is_making, lean};
use super::super::since;
use super::auto_scaling::size_of;
use super::plan::{Plan, Way, Who, begin, go_on};
use super::policy::{Group, rested};
use super::view::{self, Order};
use super::{whole, without_nothing};

const LAUNCH: &str = "LaunchConfigurationName";
const MEMBER: &str = "OS::Heat::ScaledResource";
const PAUSE_MAX: f64 = 3600.0;

/// What a member is: the properties of its launch configuration, with the tags of the group.
pub(super) fn launched(
    desk: &dyn Desk,
    group: &Seen<'_>,
    properties: &Map<String, Value>,
) -> Result<Value, String> {
    let reference = properties.text(LAUNCH).unwrap_or_default();
    let missing = || format!("{LAUNCH} ({reference}) reference can not be found.");
    let launch = desk.sibling(reference).ok_or_else(missing)?;
    let mut member = launch.body.properties.clone();
    member.shift_remove("InstanceId");
    let mut tags = properties.list("Tags").to_vec();
    let has_own =
        tags.iter().any(|tag| tag["Key"].as_str().is_some_and(|key| key.starts_with("metering.")));
    if !has_own {
        tags.push(json!({"Key": "metering.groupname", "Value": group.object_name()}));
    }
    member.insert("Tags".to_owned(), Value::Array(tags));
    let metadata = launch.body.metadata.clone();
    let definition = [
        ("type".to_owned(), json!(MEMBER)),
        ("properties".to_owned(), Value::Object(member)),
        ("metadata".to_owned(), metadata),
    ];
    Ok(without_nothing(definition.into_iter().collect()))
}

/// How many seconds an ISO 8601 duration of hours, minutes and seconds is.
fn seconds(duration: &str) -> Option<f64> {
    let mut rest = duration.strip_prefix("PT")?;
    let mut total = 0.0;
    for (unit, factor) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(unit) {
            total += number.parse::<u32>().ok().map(f64::from)? * factor;
            rest = after;
        }
    }
    rest.is_empty().then_some(total)
}

pub(crate) struct InstanceGroup {
    is_scaling: bool,
    schema: ResourceSchema,
}

impl InstanceGroup {
    pub(crate) fn heat() -> InstanceGroup {
        let about = "Instances of a launch configuration.";
        let schema = since("OS::Heat::InstanceGroup", about, "2014.1")
            .property("AvailabilityZones", PropertySchema::list("Taken.").required())
            .property(
                LAUNCH,
                PropertySchema::string("The launch configuration.").required().updatable(),
            )
            .property("Size", PropertySchema::integer("How many.").required().updatable())
            .property("LoadBalancerNames", PropertySchema::list("Taken."));
        InstanceGroup { is_scaling: false, schema: common(schema) }
    }

    pub(crate) fn aws() -> InstanceGroup {
        let about = "As many instances of a launch configuration as is said, and as scaling policies make of it.";
        let schema = since("AWS::AutoScaling::AutoScalingGroup", about, "2014.1")
            .property("AvailabilityZones", PropertySchema::list("Taken.").required())
            .property(LAUNCH, PropertySchema::string("The launch configuration.").updatable())
            .property(
                "MaxSize",
                PropertySchema::integer("How many at most.").required().updatable(),
            )
            .property(
                "MinSize",
                PropertySchema::integer("How many at least.").required().updatable(),
            )
            .property(
                "Cooldown",
                PropertySchema::integer("How many seconds it is left alone after it was scaled.")
                    .updatable(),
            )
            .property(
                "DesiredCapacity",
                PropertySchema::integer("How many at first, and after an update.").updatable(),
            )
            .property("LoadBalancerNames", PropertySchema::list("Taken."))
            .property("VPCZoneIdentifier", PropertySchema::list("Taken."));
        InstanceGroup { is_scaling: true, schema: common(schema) }
    }

    fn size(&self, ctx: &Ctx<'_>) -> Result<u32, String> {
        let properties = &ctx.wanted.properties;
        if !self.is_scaling {
            return Ok(whole(properties, "Size").unwrap_or(0));
        }
        Group::read(properties).map(|group| size_of(&group, &ctx.seen))
    }

    fn make(&self, ctx: &Ctx<'_>, is_other: bool) -> Progress {
        let properties = &ctx.wanted.properties;
        let known =
            self.size(ctx).and_then(|size| Ok((size, launched(ctx.desk, &ctx.seen, properties)?)));
        let (size, member) = match known {
            Ok(known) => known,
            Err(words) => return Progress::failed("ValueError", words),
        };
        let policy = ctx
            .wanted
            .update_policy
            .get("RollingUpdate")
            .and_then(Value::as_object)
            .filter(|_| is_other);
        let way = policy.map_or(Way::Together, |policy| Way::Rolling {
            min_in_service: whole(policy, "MinInstancesInService").unwrap_or(0),
            max_batch_size: whole(policy, "MaxBatchSize").unwrap_or(1),
            pause: policy.text("PauseTime").and_then(seconds).unwrap_or(0.0),
        });
        let plan = Plan { who: Who::Size(size), way, out: BTreeSet::new() };
        begin(ctx, &plan, &|_| member.clone(), Change::default(), ctx.body.data.clone())
    }

    fn stands(&self, ctx: &Ctx<'_>) -> Progress {
        let member = match launched(ctx.desk, &ctx.seen, &ctx.wanted.properties) {
            Ok(member) => member,
            Err(words) if is_making(ctx) => return Progress::failed("ValueError", words),
            Err(_) => Value::Null,
        };
        go_on(ctx, &|_| member.clone(), |data| {
            let metadata = (self.is_scaling && is_making(ctx)).then(|| rested(ctx));
            Change { metadata, ..Change::default() }.data(data)
        })
    }
}

impl Plugin for InstanceGroup {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    deeds_below!();

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.is_scaling {
            wrong.extend(Group::read(given.properties).err());
        }
        let rolling = given.update_policy.get("RollingUpdate");
        let pause = rolling.and_then(|policy| policy.get("PauseTime")).and_then(Value::as_str);
        match pause.map(seconds) {
            Some(None) => wrong.push(
                "Only ISO 8601 duration format of the form PT#H#M#S is supported.".to_owned(),
            ),
            Some(Some(pause)) if pause > PAUSE_MAX => {
                wrong.push("Maximum PauseTime is 1 hour.".to_owned())
            }
            _ => {}
        }
        wrong
    }

    fn lean(&self, _: &Ctx<'_>, changed: &[String]) -> Lean {
        lean(&self.schema, changed)
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(self.make(ctx, false))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, changed: &'a [String]) -> Doing<'a> {
        at_once(self.make(ctx, changed.iter().any(|name| name == LAUNCH)))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(self.stands(ctx))
    }

    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        let name = path.first().and_then(Value::as_str).unwrap_or_default();
        match name {
            "InstanceList" => {
                let addresses = view::list_of(seen, Order::Aged, &[json!("PublicIp")]);
                let texts = addresses
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|ip| ip.as_str().unwrap_or("0.0.0.0").to_owned());
                let texts: Vec<_> = texts.collect();
                Ok(if texts.is_empty() { Value::Null } else { json!(texts.join(",")) })
            }
            "show" => Ok(Value::Null),
            _ if name.starts_with("resource.") => {
                Ok(view::of_member(seen, Order::Aged, path).unwrap_or_default())
            }
            _ => Err(NoAttribute(name.to_owned())),
        }
    }
}

fn common(schema: ResourceSchema) -> ResourceSchema {
    let tag = [
        ("Key", PropertySchema::string("").required()),
        ("Value", PropertySchema::string("").required()),
    ];
    let rolling = [
        (
            "MinInstancesInService",
            PropertySchema::integer("How many are left alone at any time.").default(0),
        ),
        ("MaxBatchSize", PropertySchema::integer("How many at once.").default(1)),
        ("PauseTime", PropertySchema::string("Between batches, as in `PT5M30S`.").default("PT0S")),
    ];
    schema
        .property(
            "Tags",
            PropertySchema::list_of(
                "Given to every instance.",
                PropertySchema::fields("A tag.", tag),
            ),
        )
        .policy("RollingUpdate", PropertySchema::fields("How instances are changed.", rolling))
        .attribute(
            "InstanceList",
            AttributeSchema::new("Addresses of the instances, with commas between them.")
                .of(Kind::String),
        )
}

/// What instances of a group are made with.
pub(crate) struct LaunchConfiguration(ResourceSchema);

impl LaunchConfiguration {
    pub(crate) fn new() -> LaunchConfiguration {
        let about = "What instances of a group are made with. It is kept, and whatever `OS::Heat::ScaledResource` means is given it.";
        let hint = [
            ("Key", PropertySchema::string("").required()),
            ("Value", PropertySchema::string("").required()),
        ];
        let schema = since("AWS::AutoScaling::LaunchConfiguration", about, "2014.1")
            .property("ImageId", PropertySchema::string("The image."))
            .property("InstanceType", PropertySchema::string("The size."))
            .property("InstanceId", PropertySchema::string("Taken."))
            .property("KeyName", PropertySchema::string("The key."))
            .property("UserData", PropertySchema::string("For the first start."))
            .property("SecurityGroups", PropertySchema::list("Groups of rules."))
            .property("KernelId", PropertySchema::string("Taken."))
            .property("RamDiskId", PropertySchema::string("Taken."))
            .property("BlockDeviceMappings", PropertySchema::list("Volumes."))
            .property(
                "NovaSchedulerHints",
                PropertySchema::list_of("Hints.", PropertySchema::fields("A hint.", hint)),
            );
        LaunchConfiguration(schema)
    }
}

impl Plugin for LaunchConfiguration {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(Progress::Done(Change {
            metadata: Some(ctx.wanted.metadata.clone()),
            ..Change::physical(ctx.object_name())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::ChildWish;
    use super::super::super::bench::{Bench, child_of, done, failed, got, member, waits};
    use super::super::members_of;
    use super::*;
    use hostler_model::stack::{DeedKind, StackAction, StackStanding};

    #[test]
    fn durations_are_read() {
        let cases = [
            ("PT0S", Some(0.0)),
            ("PT1H2M3S", Some(3723.0)),
            ("PT5M", Some(300.0)),
            ("5M", None),
            ("PT5X", None),
            ("PT-1S", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(seconds(text), wanted, "{text}");
        }
        let group = InstanceGroup::heat();
        let said = |pause: &str| {
            let (properties, policy) = (Map::new(), json!({"RollingUpdate": {"PauseTime": pause}}));
            group.validate(&Given { update_policy: &policy, ..Given::test("g", &properties) })
        };
        assert_eq!(said("PT2H"), ["Maximum PauseTime is 1 hour."]);
        assert!(said("PT1H").is_empty() && said("1").len() == 1);
    }

    #[test]
    fn members_are_what_the_launch_configuration_says() {
        let launch = Bench::new("lc")
            .physical("lc-1")
            .was(json!({"ImageId": "i", "InstanceId": "x", "KeyName": null}))
            .metadata(json!({"m": 1}));
        let group = InstanceGroup::heat();
        let bench = Bench::new("g")
            .properties(json!({"AvailabilityZones": [], LAUNCH: "lc-1", "Size": 2, "Tags": null}))
            .deed(DeedKind::Create);
        assert_eq!(
            failed(bench.run(|ctx| got(group.create(ctx)))),
            "ValueError: LaunchConfigurationName (lc-1) reference can not be found."
        );
        let bench = bench.sibling(launch);
        let (change, _) = waits(bench.run(|ctx| got(group.create(ctx))));
        let Some(ChildWish::Apply(form)) = change.child.clone() else { panic!("not applied") };
        let members = members_of(&form.template);
        assert_eq!(
            (members.len(), &members[0].1["type"], &members[0].1["metadata"]),
            (2, &json!(MEMBER), &json!({"m": 1}))
        );
        let properties = &members[0].1["properties"];
        assert_eq!(
            (
                properties["ImageId"].clone(),
                properties.get("InstanceId"),
                properties.get("KeyName")
            ),
            (json!("i"), None, None)
        );
        assert_eq!(properties["Tags"][0]["Key"], json!("metering.groupname"));
        let rows = members
            .iter()
            .map(|(name, _)| member(name, 1.0, json!({"PublicIp": "10.0.0.1"})))
            .collect();
        let bench = bench.after(&change).child(child_of(
            StackStanding::completed(StackAction::Create),
            form.template,
            rows,
        ));
        done(bench.run(|ctx| got(group.look(ctx))));
        assert_eq!(
            group.attribute(&bench.seen(), &[json!("InstanceList")]),
            Ok(json!("10.0.0.1,10.0.0.1"))
        );
    }

    #[test]
    fn a_launch_configuration_is_kept() {
        let change = done(Bench::new("lc").run(|ctx| got(LaunchConfiguration::new().create(ctx))));
        assert!(change.physical.unwrap().starts_with("demo-lc-"));
    }
}
