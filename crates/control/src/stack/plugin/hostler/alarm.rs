//! `Hostler::Alarm`: something is done when a measure of nodes or workloads stays beyond a threshold.
//!
//! The resource keeps only how it stands; what is measured and judged, and who is told, is done beside the stacks
//! ([`crate::stack::alarm`]). A signal says how it stands from now on, so that people can try what follows.

use hostler_engine::stack::alarm::{AlarmRule, AlarmState, Comparison, Statistic};
use hostler_model::stack::StackResource;
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};
use std::time::Duration;

use super::super::read::Read;
use super::super::{Change, Ctx, Doing, Given, Plugin, Progress, Signal, SignalTaken, at_once};
use super::since;

/// The type.
pub(crate) const ALARM: &str = "Hostler::Alarm";
/// What every alarm is called in the world begins so: by that all of them are found.
pub(crate) const ALARM_BEGIN: &str = "alarm-";
const STATE: &str = "state";
const REASON: &str = "reason";
const ACTIONS: [&str; 3] = ["alarm_actions", "ok_actions", "insufficient_data_actions"];

/// What can be measured: a name, and what it is.
pub(crate) const METRICS: [(&str, &str); 8] = [
    ("node.cpu", "how busy the processors are, in percent"),
    ("node.memory", "how much of the memory is in use, in percent"),
    ("node.disk", "how full the disk of the agent is, in percent"),
    ("node.load", "the load of the last minute"),
    ("node.temperature", "the hottest sensor, in degrees Celsius"),
    ("workload.cpu", "cores that are busy, by place"),
    ("workload.memory", "memory in use in bytes, by place"),
    ("workload.running", "on how many nodes it runs"),
];

pub(super) struct Alarm(ResourceSchema);

/// An alarm as its properties say.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AlarmSpec {
    pub(crate) metric: String,
    /// Only of this node.
    pub(crate) node: Option<String>,
    /// Names or ids of workloads, and a tag of further ones; all of the project where neither is given.
    pub(crate) workloads: Vec<String>,
    pub(crate) tag: Option<String>,
    /// What becomes of what is measured at the same time at several places.
    pub(crate) across: Statistic,
    pub(crate) rule: AlarmRule,
    pub(crate) repeats: bool,
    pub(crate) is_enabled: bool,
    actions: [Vec<String>; 3],
}

impl AlarmSpec {
    pub(crate) fn read(properties: &Map<String, Value>) -> Option<AlarmSpec> {
        let text = |name: &str| properties.text(name).filter(|text| !text.is_empty());
        let owned = |name: &str| properties.texts(name).into_iter().map(str::to_owned).collect();
        let whole = |name: &str, other: u32| {
            properties.integer(name).and_then(|it| u32::try_from(it).ok()).unwrap_or(other)
        };
        Some(AlarmSpec {
            metric: text("metric")?.to_owned(),
            node: text("node").map(str::to_owned),
            workloads: owned("workloads"),
            tag: text("tag").map(str::to_owned),
            across: Statistic::of(text("across").unwrap_or("avg"))?,
            rule: AlarmRule {
                statistic: Statistic::of(text("statistic").unwrap_or("avg"))?,
                comparison: Comparison::of(text("comparison").unwrap_or("gt"))?,
                threshold: properties.number("threshold")?,
                period: Duration::from_secs(u64::from(whole("period", 60))),
                periods: whole("evaluation_periods", 1),
            },
            repeats: properties.flag("repeat_actions"),
            is_enabled: properties.flag("enabled"),
            actions: ACTIONS.map(owned),
        })
    }

    /// What is done when it stands so from now on.
    pub(crate) fn actions(&self, state: AlarmState) -> &[String] {
        &self.actions[match state {
            AlarmState::Alarm => 0,
            AlarmState::Ok => 1,
            AlarmState::InsufficientData => 2,
        }]
    }
}

/// How an alarm stands, by what its resource remembers.
pub(crate) fn alarm_state(data: &Map<String, Value>) -> AlarmState {
    data.text(STATE).and_then(AlarmState::of).unwrap_or_default()
}

fn physical(row: &StackResource) -> String {
    format!("{ALARM_BEGIN}{}", row.id)
}

fn stands(state: AlarmState, reason: &str) -> Change {
    let data = json!({STATE: state.label(), REASON: reason});
    let data = data.as_object().cloned().unwrap_or_default();
    Change::default().data(data).attribute(STATE, state.label()).attribute(REASON, reason)
}

impl Alarm {
    pub(super) fn new() -> Alarm {
        Alarm(schema())
    }
}

impl Plugin for Alarm {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn takes_signals(&self) -> bool {
        true
    }

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let of_node = given.properties.text("metric").is_some_and(|it| it.starts_with("node."));
        let of_workload = given.properties.text("metric").is_some() && !of_node;
        let is_given = |name: &str| {
            !given.properties.list(name).is_empty()
                || given.properties.text(name).is_some_and(|text| !text.is_empty())
        };
        let mut wrong = Vec::new();
        if of_workload && is_given("node") {
            wrong.push("`node` is for measures of nodes".to_owned());
        }
        if of_node && (is_given("workloads") || is_given("tag")) {
            wrong.push("`workloads` and `tag` are for measures of workloads".to_owned());
        }
        wrong
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let begun = stands(AlarmState::InsufficientData, "nothing was measured yet");
        let metadata = Some(ctx.wanted.metadata.clone());
        at_once(Progress::Done(Change { physical: Some(physical(ctx.row)), metadata, ..begun }))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, changed: &'a [String]) -> Doing<'a> {
        let is_other = |name: &String| !ACTIONS.contains(&name.as_str()) && name != "enabled";
        let change = match changed.iter().any(is_other) {
            true => stands(AlarmState::InsufficientData, "it looks at something else now"),
            false => Change::default(),
        };
        at_once(Progress::Done(Change { metadata: Some(ctx.wanted.metadata.clone()), ..change }))
    }

    fn signal(&self, ctx: &Ctx<'_>, body: &Value) -> Signal {
        let word = |name: &str| body.get(name).and_then(Value::as_str);
        let Some(state) = word("current").or_else(|| word(STATE)).and_then(AlarmState::of) else {
            let words =
                "say how it stands: {\"current\": \"alarm\"}, \"ok\" or \"insufficient data\"";
            return Signal::Refused(words.to_owned());
        };
        let before = alarm_state(&ctx.body.data);
        if state == before {
            return Signal::Ignored;
        }
        let reason = word(REASON).unwrap_or("somebody said so");
        let told =
            format!("alarm state changed from {} to {} ({reason})", before.label(), state.label());
        let changes = vec![(ctx.row.id, stands(state, reason))];
        Signal::Taken(SignalTaken { reason: told, changes, answer: Value::Null })
    }
}

fn schema() -> ResourceSchema {
    let about = "Something is done when a measure of nodes or workloads stays beyond a threshold for some time. An action is an address: \
                 that of a scaling policy (`alarm_url`), a signed one of another resource, or one outside; or the name of a \
                 resource of the same stack that takes signals. Actions are done at least once.";
    let metrics: Vec<String> =
        METRICS.iter().map(|(name, about)| format!("`{name}` ({about})")).collect();
    let names = |all: [(&'static str, Statistic); 4]| all.map(|(name, _)| name);
    let actions = |about: &str| PropertySchema::list(about).default(json!([])).updatable();
    since(ALARM, about)
        .property(
            "metric",
            PropertySchema::string(&format!("What is measured: {}.", metrics.join(", ")))
                .required()
                .updatable()
                .allowed(METRICS.map(|(name, _)| name)),
        )
        .property(
            "node",
            PropertySchema::string(
                "Only on this node; on all that are online when nothing is said.",
            )
            .updatable(),
        )
        .property(
            "workloads",
            PropertySchema::list("Only of these workloads of the project, by name or reference.")
                .default(json!([]))
                .updatable(),
        )
        .property(
            "tag",
            PropertySchema::string("Of workloads with this tag, such as the members of a group.")
                .updatable(),
        )
        .property(
            "across",
            PropertySchema::string("What becomes of what several places measure at the same time.")
                .default("avg")
                .allowed(names(Statistic::ALL))
                .updatable(),
        )
        .property(
            "statistic",
            PropertySchema::string("What becomes of what was measured in one period.")
                .default("avg")
                .allowed(names(Statistic::ALL))
                .updatable(),
        )
        .property(
            "comparison",
            PropertySchema::string(
                "When it is beyond: greater, greater or equal, less, less or equal.",
            )
            .default("gt")
            .allowed(Comparison::ALL.map(|(name, _)| name))
            .updatable(),
        )
        .property("threshold", PropertySchema::number("The threshold.").required().updatable())
        .property(
            "period",
            PropertySchema::integer("How many seconds a period has.")
                .default(60)
                .range(Some(10), Some(86_400))
                .updatable(),
        )
        .property(
            "evaluation_periods",
            PropertySchema::integer("How many periods, up to now, have to be beyond.")
                .default(1)
                .range(Some(1), Some(100))
                .updatable(),
        )
        .property("alarm_actions", actions("What is done when it rings."))
        .property("ok_actions", actions("What is done when it rings no more."))
        .property(
            "insufficient_data_actions",
            actions("What is done when nothing is known any more."),
        )
        .property(
            "repeat_actions",
            PropertySchema::boolean(
                "They are done again with every period for which it stands so.",
            )
            .default(true)
            .updatable(),
        )
        .property(
            "enabled",
            PropertySchema::boolean("Whether anybody looks.").default(true).updatable(),
        )
        .property("description", PropertySchema::string("What it is for, in words.").updatable())
        .attribute(
            STATE,
            AttributeSchema::new("`ok`, `alarm` or `insufficient data`.").of(Kind::String),
        )
        .attribute(REASON, AttributeSchema::new("Why.").of(Kind::String))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_say_what_rings() {
        let properties = json!({
            "metric": "workload.cpu", "tag": "web", "workloads": [], "across": "avg", "statistic": "max",
            "comparison": "ge", "threshold": 0.8, "period": 30, "evaluation_periods": 3, "repeat_actions": true,
            "enabled": true, "alarm_actions": ["up"], "ok_actions": ["down"], "insufficient_data_actions": [],
        });
        let spec = AlarmSpec::read(properties.as_object().unwrap()).unwrap();
        assert_eq!((spec.tag.as_deref(), spec.node.as_deref()), (Some("web"), None));
        assert_eq!(spec.rule.reach(), Duration::from_secs(90));
        assert_eq!(spec.rule.statistic, Statistic::Maximum);
        assert_eq!(spec.actions(AlarmState::Alarm), ["up"]);
        assert_eq!(spec.actions(AlarmState::Ok), ["down"]);
        assert!(spec.actions(AlarmState::InsufficientData).is_empty());
    }

    #[test]
    fn measures_and_their_places_belong_together() {
        let plugin = Alarm::new();
        let wrong = |properties: Value| {
            plugin.validate(&Given::test("a", properties.as_object().unwrap())).len()
        };
        assert_eq!(wrong(json!({"metric": "node.cpu", "node": "n1"})), 0);
        assert_eq!(wrong(json!({"metric": "node.cpu", "tag": "web"})), 1);
        assert_eq!(wrong(json!({"metric": "workload.cpu", "node": "n1"})), 1);
        assert_eq!(wrong(json!({"metric": "workload.cpu", "workloads": ["w"]})), 0);
    }
}
