//! `OS::Heat::Delay`: a pause, as long as it is told and a little longer by chance.

use hostler_model::Timestamp;
use hostler_model::stack::DeedKind;
use serde_json::{Map, Value};

use super::super::read::{Read, later};
use super::super::{Change, Ctx, Doing, Given, Plugin, Progress, at_once};
use super::since;
use hostler_template::schema::{PropertySchema, ResourceSchema};

pub(super) struct Delay(ResourceSchema);

const ACTIONS: [&str; 4] = ["CREATE", "DELETE", "SUSPEND", "RESUME"];
const UNTIL: &str = "until";

/// How long a pause is; `chance` is from 0 to 1.
fn seconds(properties: &Map<String, Value>, action: &str, chance: f64) -> f64 {
    if !properties.texts("actions").contains(&action) {
        return 0.0;
    }
    let number = |name: &str, other: f64| properties.number(name).unwrap_or(other);
    number("min_wait", 0.0) + number("max_jitter", 0.0) * number("jitter_multiplier", 1.0) * chance
}

impl Delay {
    pub(super) fn new() -> Delay {
        Delay(schema())
    }

    /// The chance is taken once, when the pause begins.
    fn begin(ctx: &Ctx<'_>, properties: &Map<String, Value>, action: &str) -> Progress {
        let length = seconds(properties, action, rand::random());
        let mut change = Change::default();
        if action == "CREATE" {
            change = Change::physical(ctx.object_name());
        }
        if length <= 0.0 {
            return Progress::Done(change);
        }
        let until = later(ctx.begun, length);
        let data = Map::from_iter([(UNTIL.to_owned(), Value::from(until.micros()))]);
        Progress::Wait(change.data(data), until)
    }
}

impl Plugin for Delay {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn can(&self, kind: DeedKind) -> bool {
        !matches!(kind, DeedKind::Check | DeedKind::Snapshot)
    }

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let longest = ACTIONS.iter().map(|action| seconds(given.properties, action, 1.0));
        let longest = longest.fold(0.0, f64::max);
        let most = given.timeout.as_secs_f64();
        if longest <= most {
            return Vec::new();
        }
        vec![format!("OS::Heat::Delay maximum delay {longest}s exceeds stack timeout.")]
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(Delay::begin(ctx, &ctx.wanted.properties, "CREATE"))
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(Delay::begin(ctx, &ctx.body.properties, "DELETE"))
    }

    fn suspend<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(Delay::begin(ctx, &ctx.body.properties, "SUSPEND"))
    }

    fn resume<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(Delay::begin(ctx, &ctx.body.properties, "RESUME"))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let until = ctx.body.data.integer(UNTIL).map_or(ctx.now, Timestamp::from_micros);
        at_once(if ctx.now < until {
            Progress::Wait(Change::default(), until)
        } else {
            Progress::Done(Change::default().data(Map::new()))
        })
    }
}

fn schema() -> ResourceSchema {
    let seconds =
        |about: &str| PropertySchema::number(about).default(0).updatable().range(Some(0), None);
    since("OS::Heat::Delay", "A pause.", "11.0.0")
        .property("min_wait", seconds("How many seconds at least."))
        .property("max_jitter", seconds("How many seconds more, by chance, at most."))
        .property("jitter_multiplier", PropertySchema::number("What `max_jitter` is multiplied with, so that it can be made of a number of something.").default(1.0).updatable().range(Some(0), None))
        .property("actions", PropertySchema::list("When there is a pause.").default(serde_json::json!(["CREATE"])).updatable().allowed(ACTIONS))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, got, waits};
    use super::*;
    use serde_json::json;

    #[test]
    fn pauses_are_between_least_and_most() {
        let properties = json!({"min_wait": 2, "max_jitter": 10, "jitter_multiplier": 0.5, "actions": ["CREATE", "RESUME"]});
        let properties = properties.as_object().unwrap();
        let cases = [
            ("CREATE", 0.0, 2.0),
            ("CREATE", 1.0, 7.0),
            ("RESUME", 0.5, 4.5),
            ("DELETE", 1.0, 0.0),
        ];
        for (action, chance, wanted) in cases {
            assert!(
                (seconds(properties, action, chance) - wanted).abs() < 1e-9,
                "{action} {chance}"
            );
        }
    }

    #[test]
    fn the_end_of_a_pause_is_chosen_once() {
        let plugin = Delay::new();
        let bench = Bench::new("d")
            .properties(json!({"min_wait": 1, "max_jitter": 5, "jitter_multiplier": 1.0, "actions": ["CREATE"]}))
            .deed(DeedKind::Create);
        let (change, until) = waits(bench.run(|ctx| got(plugin.create(ctx))));
        assert!(until >= bench.seconds(1.0) && until <= bench.seconds(6.0));
        let bench = bench.data(Value::Object(change.data.unwrap()));
        assert_eq!(waits(bench.at(0.5).run(|ctx| got(plugin.look(ctx)))).1, until);
        done(bench.at(6.0).run(|ctx| got(plugin.look(ctx))));
    }

    #[test]
    fn a_pause_longer_than_the_stack_may_take_is_a_mistake() {
        let plugin = Delay::new();
        let properties = json!({"min_wait": 4000, "actions": ["CREATE"]});
        let given = Given::test("d", properties.as_object().unwrap());
        assert_eq!(
            plugin.validate(&given),
            ["OS::Heat::Delay maximum delay 4000s exceeds stack timeout."]
        );
    }
}
