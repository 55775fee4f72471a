//! `OS::Heat::TestResource`: does nothing, for as long and as badly as it is told to. For tests of templates and of stacks.

use hostler_engine::stack::Failure;
use hostler_model::stack::DeedKind;
use serde_json::{Map, Value};

use super::super::read::{Read, later};
use super::super::{Change, Ctx, Doing, Lean, Plugin, Progress, at_once};
use super::since;
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};

pub(super) struct TestResource(ResourceSchema);

/// How long an action takes; nothing is for ever.
fn seconds(properties: &Map<String, Value>, action: &str) -> Option<f64> {
    let own = properties.map("action_wait_secs").and_then(|waits| waits.number(action));
    let seconds = own.or_else(|| properties.number("wait_secs")).unwrap_or(0.0);
    (seconds >= 0.0).then_some(seconds)
}

/// The action is over when its time has passed: at once where it takes no time.
fn over(ctx: &Ctx<'_>, seconds: Option<f64>, change: Change, is_to_fail: bool) -> Progress {
    let end = later(ctx.begun, seconds.unwrap_or(f64::INFINITY));
    if seconds != Some(0.0) && ctx.now < end {
        return Progress::Wait(change, end);
    }
    if is_to_fail {
        let words = format!("Test Resource failed {}", ctx.row.name);
        return Progress::Failed(change, Failure::new("ValueError", words));
    }
    Progress::Done(change)
}

fn output(value: &str) -> Change {
    let data = Map::from_iter([("value".to_owned(), Value::String(value.to_owned()))]);
    Change::default().attribute("output", value).data(data)
}

impl TestResource {
    pub(super) fn new() -> TestResource {
        TestResource(schema())
    }

    fn creation(ctx: &Ctx<'_>) -> Progress {
        let properties = &ctx.wanted.properties;
        let is_to_fail = properties.flag("fail");
        let mut change = Change::default();
        if !is_to_fail {
            change = output(properties.text("value").unwrap_or_default());
            change.physical = Some(ctx.object_name());
        }
        over(ctx, seconds(properties, "create"), change, is_to_fail)
    }

    fn modification(ctx: &Ctx<'_>) -> Progress {
        let properties = &ctx.wanted.properties;
        let is_to_fail = properties.flag("fail");
        let is_other = ctx.body.properties.get("value") != properties.get("value");
        let value = properties.text("value").filter(|value| is_other && !value.is_empty());
        let Some(value) = value else {
            return over(ctx, Some(0.0), Change::of_metadata(ctx), is_to_fail);
        };
        let mut change = if is_to_fail { Change::default() } else { output(value) };
        change.metadata = Some(ctx.wanted.metadata.clone());
        over(ctx, seconds(properties, "update"), change, is_to_fail)
    }

    fn removal(ctx: &Ctx<'_>) -> Progress {
        over(ctx, seconds(&ctx.body.properties, "delete"), Change::default(), false)
    }
}

impl Plugin for TestResource {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn can(&self, kind: DeedKind) -> bool {
        !matches!(kind, DeedKind::Suspend | DeedKind::Resume | DeedKind::Snapshot)
    }

    fn lean(&self, ctx: &Ctx<'_>, changed: &[String]) -> Lean {
        let is_other = changed.iter().any(|name| name == "value");
        if is_other && ctx.wanted.properties.flag("update_replace") {
            Lean::Replace
        } else {
            Lean::BySchema
        }
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(TestResource::creation(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(TestResource::modification(ctx))
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(TestResource::removal(ctx))
    }

    /// Its attribute is what it remembers.
    fn adopt<'a>(&'a self, _: &'a Ctx<'a>, left: &'a Map<String, Value>) -> Doing<'a> {
        let left = Change::adopted(left);
        let value = left.data.as_ref().and_then(|data| data.text("value")).map(str::to_owned);
        at_once(Progress::Done(match value {
            Some(value) => {
                Change { physical: left.physical, metadata: left.metadata, ..output(&value) }
            }
            None => left,
        }))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(match ctx.deed_kind() {
            Some(DeedKind::Create | DeedKind::Adopt) => TestResource::creation(ctx),
            Some(DeedKind::Update) => TestResource::modification(ctx),
            Some(DeedKind::Delete) => TestResource::removal(ctx),
            _ => Progress::done(),
        })
    }

    fn check<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(match &ctx.row.physical {
            Some(_) => Progress::done(),
            None => Progress::failed("Exception", "Resource not created"),
        })
    }
}

fn schema() -> ResourceSchema {
    let wait = || PropertySchema::number("Seconds.").updatable();
    let about = "Does nothing, for as long and as badly as it is told to. For tests.";
    since("OS::Heat::TestResource", about, "5.0.0")
        .property(
            "value",
            PropertySchema::string("What the attribute `output` gives.")
                .default("test_string")
                .updatable(),
        )
        .property(
            "fail",
            PropertySchema::boolean("Creation and update fail, after their time.")
                .default(false)
                .updatable(),
        )
        .property(
            "update_replace",
            PropertySchema::boolean("Another value takes another resource.")
                .default(false)
                .updatable(),
        )
        .property(
            "update_replace_value",
            PropertySchema::string("Another text here takes another resource."),
        )
        .property(
            "wait_secs",
            PropertySchema::number("How many seconds every action takes; -1 is for ever.")
                .default(0)
                .updatable(),
        )
        .property(
            "action_wait_secs",
            PropertySchema::fields(
                "How many seconds an action takes, where that is not `wait_secs`.",
                [("create", wait()), ("update", wait()), ("delete", wait())],
            )
            .updatable(),
        )
        .property(
            "attr_wait_secs",
            PropertySchema::number("Taken, and nobody waits for it.").default(0).updatable(),
        )
        .property(
            "constraint_prop_secs",
            PropertySchema::number("Taken, and nobody waits for it.").default(0).updatable(),
        )
        .property(
            "client_name",
            PropertySchema::string("Taken; there are no clients here.").default("").updatable(),
        )
        .property(
            "entity_name",
            PropertySchema::string("Taken; there are no clients here.").default("").updatable(),
        )
        .attribute("output", AttributeSchema::new("The value."))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, failed, got, waits};
    use super::*;
    use serde_json::json;

    #[test]
    fn actions_take_the_time_that_was_said() {
        let cases = [
            (json!({}), "create", Some(0.0)),
            (json!({"wait_secs": 3}), "create", Some(3.0)),
            (json!({"wait_secs": 3, "action_wait_secs": {"create": 1.5}}), "create", Some(1.5)),
            (json!({"wait_secs": 3, "action_wait_secs": {"create": 1.5}}), "delete", Some(3.0)),
            (json!({"wait_secs": -1}), "update", None),
            (json!({"wait_secs": -1, "action_wait_secs": {"update": 0}}), "update", Some(0.0)),
        ];
        for (properties, action, wanted) in cases {
            assert_eq!(
                seconds(properties.as_object().unwrap(), action),
                wanted,
                "{properties} {action}"
            );
        }
    }

    #[test]
    fn it_waits_and_is_done_then() {
        let plugin = TestResource::new();
        let bench = Bench::new("t")
            .properties(json!({"value": "x", "wait_secs": 2}))
            .deed(DeedKind::Create);
        let (change, until) = waits(bench.run(|ctx| got(plugin.create(ctx))));
        assert_eq!(change.attributes.unwrap()["output"], json!("x"));
        assert_eq!(until, bench.seconds(2.0));
        assert!(matches!(bench.at(1.9).run(|ctx| got(plugin.look(ctx))), Progress::Wait(..)));
        let change = done(bench.at(2.0).run(|ctx| got(plugin.look(ctx))));
        assert!(change.physical.unwrap().starts_with("demo-t-"));
    }

    #[test]
    fn it_fails_when_told_to_but_goes_all_the_same() {
        let plugin = TestResource::new();
        let bench = Bench::new("z")
            .properties(json!({"fail": true, "wait_secs": 1}))
            .deed(DeedKind::Create);
        assert!(matches!(bench.run(|ctx| got(plugin.create(ctx))), Progress::Wait(..)));
        assert_eq!(
            failed(bench.at(1.0).run(|ctx| got(plugin.look(ctx)))),
            "ValueError: Test Resource failed z"
        );
        let bench = Bench::new("z").was(json!({"fail": true})).deed(DeedKind::Delete);
        done(bench.run(|ctx| got(plugin.delete(ctx))));
    }

    #[test]
    fn an_update_without_another_value_takes_no_time() {
        let plugin = TestResource::new();
        let was = json!({"value": "a", "wait_secs": 9});
        let bench =
            Bench::new("t").was(was.clone()).properties(json!({"value": "a", "wait_secs": 5}));
        done(bench.run(|ctx| got(plugin.update(ctx, &[]))));
        let bench =
            Bench::new("t").was(was.clone()).properties(json!({"value": "a", "fail": true}));
        assert!(
            failed(bench.run(|ctx| got(plugin.update(ctx, &[])))).contains("Test Resource failed")
        );
        let bench = Bench::new("t").was(was).properties(json!({"value": "b", "wait_secs": 5}));
        assert!(matches!(bench.run(|ctx| got(plugin.update(ctx, &[]))), Progress::Wait(..)));
    }

    #[test]
    fn replacement_is_for_another_value_alone() {
        let plugin = TestResource::new();
        let bench = Bench::new("t").properties(json!({"value": "b", "update_replace": true}));
        bench.with(|ctx| {
            assert_eq!(plugin.lean(ctx, &["value".to_owned()]), Lean::Replace);
            assert_eq!(plugin.lean(ctx, &["update_replace".to_owned()]), Lean::BySchema);
        });
    }

    #[test]
    fn a_check_finds_what_was_never_made() {
        let plugin = TestResource::new();
        assert_eq!(
            failed(Bench::new("t").run(|ctx| got(plugin.check(ctx)))),
            "Exception: Resource not created"
        );
        done(Bench::new("t").physical("demo-t-1").run(|ctx| got(plugin.check(ctx))));
    }
}
