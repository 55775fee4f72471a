//! What waits for signals: `OS::Heat::WaitCondition`, `AWS::CloudFormation::WaitCondition` and `OS::Heat::SwiftSignal`.
//!
//! A condition is met when its handle has enough signals of success. One of failure ends the wait at once, and so does its
//! time. It looks at its handle whenever something of the stack was signalled to.

use hostler_engine::stack::Failure;
use hostler_model::stack::DeedKind;
use serde_json::{Map, Value};

use super::super::read::{Read, later, spaced};
use super::super::{Change, Ctx, Doing, Plugin, Progress, at_once};
use super::handle::{Keys, keys_of};
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};

pub(super) struct WaitCondition {
    words: Words,
    schema: ResourceSchema,
}

/// How its properties are called.
#[derive(Clone, Copy, Debug)]
struct Words {
    handle: &'static str,
    timeout: &'static str,
    count: &'static str,
    data: &'static str,
}

const HEAT: Words = Words { handle: "handle", timeout: "timeout", count: "count", data: "data" };
const AWS: Words = Words { handle: "Handle", timeout: "Timeout", count: "Count", data: "Data" };
const LONGEST: i64 = 43_200;

/// How a wait stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wait {
    On,
    Met,
    Ended(Failure),
}

fn judge(signals: &Map<String, Value>, keys: Keys, count: usize, is_late: bool) -> Wait {
    let of = |status: &str| -> Vec<&str> {
        let entries = signals.values().filter_map(Value::as_object);
        entries
            .filter(|entry| entry.text(keys.status) == Some(status))
            .map(|entry| entry.text(keys.reason).unwrap_or_default())
            .collect()
    };
    let failures = of("FAILURE");
    if !failures.is_empty() {
        return Wait::Ended(Failure::new("WaitConditionFailure", failures.join(";")));
    }
    let successes = of("SUCCESS");
    if successes.len() >= count {
        return Wait::Met;
    }
    if !is_late {
        return Wait::On;
    }
    let mut words = format!("{} of {count} received", successes.len());
    if !successes.is_empty() {
        words = format!("{words} - {}", successes.join(";"));
    }
    Wait::Ended(Failure::new("WaitConditionTimeout", words))
}

/// What was sent along, by the id of the signal.
fn sent(signals: &Map<String, Value>, keys: Keys) -> String {
    let of = |(id, entry): (&String, &Value)| {
        (id.clone(), entry.get(keys.data).cloned().unwrap_or_default())
    };
    spaced(&Value::Object(signals.iter().map(of).collect()))
}

impl WaitCondition {
    pub(super) fn heat() -> WaitCondition {
        let about = "Waits until its handle has enough signals of success, or one of failure.";
        WaitCondition {
            words: HEAT,
            schema: schema("OS::Heat::WaitCondition", about, HEAT, "2014.2", None),
        }
    }

    pub(super) fn aws() -> WaitCondition {
        let about = "Waits until its handle has enough signals of success, or one of failure.";
        WaitCondition {
            words: AWS,
            schema: schema("AWS::CloudFormation::WaitCondition", about, AWS, "2014.1", None),
        }
    }

    pub(super) fn swift() -> WaitCondition {
        let about = "Waits until its handle has enough signals of success, or one of failure.";
        WaitCondition {
            words: HEAT,
            schema: schema("OS::Heat::SwiftSignal", about, HEAT, "2014.2", Some(1000)),
        }
    }

    fn look_at_handle(&self, ctx: &Ctx<'_>) -> Progress {
        let properties = &ctx.wanted.properties;
        let reference = properties.text(self.words.handle).unwrap_or_default();
        let handle = ctx.desk.sibling(reference);
        let Some((handle, keys)) = handle.and_then(|seen| Some((seen, keys_of(&seen.body.data)?)))
        else {
            let name = handle.map_or(reference, |seen| &seen.row.name);
            return Progress::failed(
                "ValueError",
                format!("{name} is not a valid wait condition handle."),
            );
        };
        let end = later(ctx.begun, properties.number(self.words.timeout).unwrap_or(43_200.0));
        let count = properties
            .integer(self.words.count)
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(1);
        let nothing = Map::new();
        let signals = handle.body.metadata.as_object().unwrap_or(&nothing);
        let change = Change { physical: Some(ctx.object_name()), ..Change::default() };
        match judge(signals, keys, count, ctx.now >= end) {
            Wait::On => Progress::Wait(change, end),
            Wait::Met => Progress::Done(change.attribute(self.words.data, sent(signals, keys))),
            Wait::Ended(failure) => Progress::Failed(change, failure),
        }
    }
}

impl Plugin for WaitCondition {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(self.look_at_handle(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(self.look_at_handle(ctx))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(match ctx.deed_kind() {
            Some(DeedKind::Create | DeedKind::Update | DeedKind::Adopt) => self.look_at_handle(ctx),
            _ => Progress::done(),
        })
    }

    /// Signals that were waited for are not waited for again by somebody else. What takes its place has seen them already.
    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let reference = ctx.body.properties.text(self.words.handle).unwrap_or_default();
        let mut change = Change::default();
        let handle = ctx.desk.sibling(reference).filter(|seen| keys_of(&seen.body.data).is_some());
        if let Some(handle) = handle.filter(|_| ctx.row.replaced_by.is_none()) {
            let cleared = Change { metadata: Some(Value::Object(Map::new())), ..Change::default() };
            change.beside.push((handle.row.id, cleared));
        }
        at_once(Progress::Done(change))
    }
}

fn schema(
    name: &str,
    about: &str,
    words: Words,
    version: &str,
    most: Option<i64>,
) -> ResourceSchema {
    let count = PropertySchema::integer("How many signals of success are waited for.");
    let count = count.default(1).range(Some(1), most);
    let count = if most.is_none() { count.updatable() } else { count };
    super::since(name, about, version)
        .property(words.handle, PropertySchema::string("A reference to the handle.").required())
        .property(
            words.timeout,
            PropertySchema::number("How many seconds, at most.")
                .required()
                .range(Some(1), Some(LONGEST)),
        )
        .property(words.count, count)
        .attribute(
            words.data,
            AttributeSchema::new("A JSON document: what was sent along, by the id of the signal."),
        )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, failed, got, resource_id, waits};
    use super::super::handle::{AWS_KEYS, HEAT_KEYS};
    use super::*;
    use serde_json::json;

    #[test]
    fn waits_end() {
        let good = |reason: &str| json!({"status": "SUCCESS", "reason": reason, "data": 1});
        let bad = |reason: &str| json!({"status": "FAILURE", "reason": reason, "data": null});
        let ended = |kind: &str, words: &str| Wait::Ended(Failure::new(kind, words));
        let cases = [
            (json!({}), 1, false, Wait::On),
            (json!({}), 2, true, ended("WaitConditionTimeout", "0 of 2 received")),
            (json!({"1": good("a")}), 1, false, Wait::Met),
            (json!({"1": good("a")}), 1, true, Wait::Met),
            (json!({"1": good("a")}), 2, false, Wait::On),
            (
                json!({"1": good("a"), "2": good("b")}),
                3,
                true,
                ended("WaitConditionTimeout", "2 of 3 received - a;b"),
            ),
            (
                json!({"1": good("a"), "2": bad("x"), "3": bad("y")}),
                1,
                false,
                ended("WaitConditionFailure", "x;y"),
            ),
        ];
        for (signals, count, is_late, wanted) in cases {
            assert_eq!(
                judge(signals.as_object().unwrap(), HEAT_KEYS, count, is_late),
                wanted,
                "{signals}"
            );
        }
        let aws = json!({"1": {"Status": "SUCCESS", "Reason": "r", "Data": "d"}});
        assert_eq!(judge(aws.as_object().unwrap(), AWS_KEYS, 1, false), Wait::Met);
        assert_eq!(sent(aws.as_object().unwrap(), AWS_KEYS), r#"{"1": "d"}"#);
    }

    fn waiting(metadata: Value) -> Bench {
        let handle =
            Bench::new("handle").physical("h-1").data(json!({"handle": "heat"})).metadata(metadata);
        Bench::new("w")
            .properties(json!({"handle": "h-1", "timeout": 60, "count": 1}))
            .deed(DeedKind::Create)
            .sibling(handle)
    }

    #[test]
    fn a_condition_looks_at_its_handle() {
        let plugin = WaitCondition::heat();
        let bench = waiting(json!({}));
        assert_eq!(waits(bench.run(|ctx| got(plugin.create(ctx)))).1, bench.seconds(60.0));
        assert_eq!(
            failed(bench.at(60.0).run(|ctx| got(plugin.look(ctx)))),
            "WaitConditionTimeout: 0 of 1 received"
        );
        let bench = waiting(json!({"1": {"status": "SUCCESS", "reason": "r", "data": "x"}}));
        let change = done(bench.at(5.0).run(|ctx| got(plugin.look(ctx))));
        assert_eq!(change.attributes.unwrap()["data"], json!(r#"{"1": "x"}"#));
    }

    #[test]
    fn other_things_are_no_handles() {
        let plugin = WaitCondition::heat();
        let bench = Bench::new("w").properties(json!({"handle": "x-1", "timeout": 1}));
        assert_eq!(
            failed(bench.run(|ctx| got(plugin.create(ctx)))),
            "ValueError: x-1 is not a valid wait condition handle."
        );
        let bench = bench.sibling(Bench::new("other").physical("x-1"));
        assert_eq!(
            failed(bench.run(|ctx| got(plugin.create(ctx)))),
            "ValueError: other is not a valid wait condition handle."
        );
    }

    #[test]
    fn a_handle_is_emptied_when_its_condition_goes() {
        let plugin = WaitCondition::heat();
        let mut bench = waiting(json!({"1": {}})).was(json!({"handle": "h-1"}));
        let change = done(bench.run(|ctx| got(plugin.delete(ctx))));
        assert_eq!(change.beside.len(), 1);
        assert_eq!(change.beside[0].1.metadata, Some(json!({})));
        bench.row.replaced_by = Some(resource_id("next"));
        assert!(done(bench.run(|ctx| got(plugin.delete(ctx)))).beside.is_empty());
    }
}
