//! What is signalled to from outside: `OS::Heat::WaitConditionHandle`, `OS::Heat::UpdateWaitConditionHandle`,
//! `AWS::CloudFormation::WaitConditionHandle` and `OS::Heat::SwiftSignalHandle`.
//!
//! A handle gathers signals in its metadata, one entry per id; the same id takes the place of an earlier one. What waits for
//! them is another resource ([`super::wait_condition`]). Whoever knows the address of a handle may signal; there is no token
//! besides, so the attribute `token` is empty, and programs that send it along are not harmed.

use serde_json::{Map, Value, json};

use super::super::read::{Read, spaced};
use super::super::{
    Change, Ctx, Doing, Lean, Plugin, Progress, Signal, SignalKind, SignalTaken, at_once,
};
use super::plain::plain;
use super::since;
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};

/// That a resource is a handle stands in what it remembers.
const MARK: &str = "handle";

pub(super) const TRANSPORTS: [&str; 6] =
    ["CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL", "NO_SIGNAL", "ZAQAR_SIGNAL", "TOKEN_SIGNAL"];

/// How the parts of a signal are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) data: &'static str,
    pub(super) reason: &'static str,
    pub(super) status: &'static str,
    pub(super) id: &'static str,
}

pub(super) const HEAT_KEYS: Keys =
    Keys { data: "data", reason: "reason", status: "status", id: "id" };
pub(super) const AWS_KEYS: Keys =
    Keys { data: "Data", reason: "Reason", status: "Status", id: "UniqueId" };

/// Which words a handle uses, by what it remembers; nothing for what is no handle.
pub(super) fn keys_of(data: &Map<String, Value>) -> Option<Keys> {
    match data.text(MARK)? {
        "aws" => Some(AWS_KEYS),
        _ => Some(HEAT_KEYS),
    }
}

/// The metadata after a signal, and the words for its event.
fn gathered(
    metadata: &Map<String, Value>,
    keys: Keys,
    is_lenient: bool,
    body: &Value,
) -> Result<(Map<String, Value>, String), &'static str> {
    const WRONG: &str = "Metadata format invalid";
    let mut entry = match body {
        Value::Object(map) => map.clone(),
        Value::Null if is_lenient => Map::new(),
        _ => return Err(WRONG),
    };
    if is_lenient {
        let number = metadata.len() + 1;
        let mut put = |key: &str, value: Value| {
            entry.entry(key.to_owned()).or_insert(value);
        };
        put(keys.reason, json!(format!("Signal {number} received")));
        put(keys.data, Value::Null);
        put(keys.id, json!(number));
        put(keys.status, json!("SUCCESS"));
    }
    let known = [keys.data, keys.reason, keys.status, keys.id];
    let is_whole = entry.len() == known.len() && known.iter().all(|key| entry.contains_key(*key));
    if !is_whole || !matches!(entry.text(keys.status), Some("SUCCESS" | "FAILURE")) {
        return Err(WRONG);
    }
    let id = plain(&entry.shift_remove(keys.id).unwrap_or_default());
    let words = format!(
        "Signal: status:{} reason:{}",
        plain(&entry[keys.status]),
        plain(&entry[keys.reason])
    );
    let mut after = metadata.clone();
    after.insert(id, Value::Object(entry));
    Ok((after, words))
}

/// What an event says of a signal that does not say it itself.
pub(super) fn described(body: &Value) -> String {
    match body {
        Value::Null => "No signal details provided".to_owned(),
        Value::String(text) => text.clone(),
        Value::Object(map) => match (map.get("previous"), map.get("current"), map.get("reason")) {
            (Some(previous), Some(current), Some(reason)) => {
                format!(
                    "alarm state changed from {} to {} ({})",
                    plain(previous),
                    plain(current),
                    plain(reason)
                )
            }
            _ => "Unknown".to_owned(),
        },
        _ => "Unknown".to_owned(),
    }
}

/// Which of the handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Heat,
    Update,
    Aws,
    Swift,
}

pub(super) struct Handle {
    which: Which,
    schema: ResourceSchema,
}

impl Handle {
    pub(super) fn heat() -> Handle {
        let about = "Gathers signals for a wait condition. `curl_cli` is a command that signals; what it says is JSON with `status` \
                     (`SUCCESS` or `FAILURE`), `reason`, `data` and `id`, all of which may be left out.";
        let schema = since("OS::Heat::WaitConditionHandle", about, "2014.2")
            .property("signal_transport", PropertySchema::string("How signals come in; every way is a signed address here, and there are no queues.").default("TOKEN_SIGNAL").allowed(TRANSPORTS))
            .attribute("token", AttributeSchema::new("Empty: the address alone is enough."))
            .attribute("endpoint", AttributeSchema::new("The address to signal to.").secret())
            .attribute("curl_cli", AttributeSchema::new("The beginning of a command that signals; `--data-binary '{\"status\": \"SUCCESS\"}'` can follow.").secret())
            .attribute("signal", AttributeSchema::new("A JSON document with what is needed to signal.").secret());
        Handle { which: Which::Heat, schema }
    }

    pub(super) fn update() -> Handle {
        let about = "Gathers signals for a wait condition, and begins anew, with another address, at every update of the stack.";
        let schema = since("OS::Heat::UpdateWaitConditionHandle", about, "2014.1");
        Handle { which: Which::Update, schema }
    }

    pub(super) fn aws() -> Handle {
        let about = "Gathers signals for a wait condition. A reference to it is the address to signal to, with `PUT` and a JSON \
                     document with `Status`, `Reason`, `Data` and `UniqueId`.";
        let schema = since("AWS::CloudFormation::WaitConditionHandle", about, "2014.1");
        Handle { which: Which::Aws, schema }
    }

    pub(super) fn swift() -> Handle {
        let about = "Gathers signals for `OS::Heat::SwiftSignal`. There is no object store behind it here: the address is signed by us.";
        let schema = since("OS::Heat::SwiftSignalHandle", about, "2014.2")
            .attribute("token", AttributeSchema::new("Empty: the address alone is enough."))
            .attribute(
                "endpoint",
                AttributeSchema::new("The address to signal to, with `PUT`.").secret(),
            )
            .attribute(
                "curl_cli",
                AttributeSchema::new("The beginning of a command that signals.").secret(),
            );
        Handle { which: Which::Swift, schema }
    }

    fn mark(&self) -> Value {
        json!(if matches!(self.which, Which::Aws | Which::Update) { "aws" } else { "heat" })
    }

    fn keys(&self) -> Keys {
        if matches!(self.which, Which::Aws | Which::Update) { AWS_KEYS } else { HEAT_KEYS }
    }

    fn make(&self, ctx: &Ctx<'_>) -> Result<Progress, hostler_model::Error> {
        let data = Map::from_iter([(MARK.to_owned(), self.mark())]);
        let change = Change::physical(ctx.row.id.to_string()).data(data);
        let change = match self.which {
            Which::Aws | Which::Update => {
                change.reference(ctx.desk.signal_url(SignalKind::WaitCondition)?)
            }
            Which::Swift => {
                let url = ctx.desk.signal_url(SignalKind::WaitCondition)?;
                let command = format!("curl -i -X PUT '{url}'");
                change
                    .attribute("token", "")
                    .attribute("endpoint", url.clone())
                    .attribute("curl_cli", command)
                    .reference(url)
            }
            Which::Heat => {
                let transport = ctx
                    .property("signal_transport")
                    .and_then(Value::as_str)
                    .unwrap_or("TOKEN_SIGNAL");
                let url = ctx.desk.signal_url(SignalKind::Signal)?;
                let alarm = match transport {
                    "CFN_SIGNAL" | "TEMP_URL_SIGNAL" => {
                        json!({"alarm_url": ctx.desk.signal_url(SignalKind::WaitCondition)?})
                    }
                    "HEAT_SIGNAL" => json!({"alarm_url": url}),
                    "ZAQAR_SIGNAL" => {
                        let words = "signal transport ZAQAR_SIGNAL is not available: there are no queues; use CFN_SIGNAL";
                        return Ok(Progress::failed("NotSupported", words));
                    }
                    _ => Value::Null,
                };
                let (command, endpoint) = if transport == "TOKEN_SIGNAL" {
                    let json = "application/json";
                    let headers = format!(
                        "-H 'X-Auth-Token: ' -H 'Content-Type: {json}' -H 'Accept: {json}'"
                    );
                    (json!(format!("curl -i -X POST {headers} '{url}'")), json!(url))
                } else {
                    (Value::Null, Value::Null)
                };
                change
                    .attribute("token", if endpoint.is_null() { Value::Null } else { json!("") })
                    .attribute("endpoint", endpoint)
                    .attribute("curl_cli", command)
                    .attribute("signal", spaced(&alarm))
            }
        };
        Ok(Progress::Done(change))
    }
}

impl Plugin for Handle {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn takes_signals(&self) -> bool {
        true
    }

    /// It is an address by which whoever has it may signal.
    fn is_reference_secret(&self) -> bool {
        self.which != Which::Heat
    }

    fn lean(&self, _: &Ctx<'_>, _: &[String]) -> Lean {
        if self.which == Which::Update { Lean::Replace } else { Lean::BySchema }
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let made = self.make(ctx);
        Box::pin(std::future::ready(made))
    }

    /// What was signalled stays: metadata of the template are not put over it.
    fn update<'a>(&'a self, _: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(Progress::done())
    }

    fn signal(&self, ctx: &Ctx<'_>, body: &Value) -> Signal {
        let is_aws = self.keys() == AWS_KEYS;
        if is_aws && body.is_null() {
            let reason = described(body);
            return Signal::Taken(SignalTaken {
                reason,
                answer: ctx.body.metadata.clone(),
                changes: Vec::new(),
            });
        }
        let metadata = ctx.body.metadata.as_object().cloned().unwrap_or_default();
        match gathered(&metadata, self.keys(), !is_aws, body) {
            Ok((metadata, reason)) => {
                let metadata = Value::Object(metadata);
                let change = Change { metadata: Some(metadata.clone()), ..Change::default() };
                Signal::Taken(SignalTaken {
                    reason,
                    answer: metadata,
                    changes: vec![(ctx.row.id, change)],
                })
            }
            Err(words) => Signal::Refused(words.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, failed, got};
    use super::*;

    #[test]
    fn signals_are_gathered() {
        let cases = [
            (
                json!({}),
                json!(null),
                HEAT_KEYS,
                Ok((
                    json!({"1": {"reason": "Signal 1 received", "data": null, "status": "SUCCESS"}}),
                    "Signal: status:SUCCESS reason:Signal 1 received",
                )),
            ),
            (
                json!({}),
                json!({"status": "FAILURE", "reason": "broken", "id": "a", "data": [1]}),
                HEAT_KEYS,
                Ok((
                    json!({"a": {"status": "FAILURE", "reason": "broken", "data": [1]}}),
                    "Signal: status:FAILURE reason:broken",
                )),
            ),
            (
                json!({"1": {}}),
                json!({"data": "x"}),
                HEAT_KEYS,
                Ok((
                    json!({"1": {}, "2": {"data": "x", "reason": "Signal 2 received", "status": "SUCCESS"}}),
                    "Signal: status:SUCCESS reason:Signal 2 received",
                )),
            ),
            (
                json!({"a": {"status": "FAILURE"}}),
                json!({"id": "a"}),
                HEAT_KEYS,
                Ok((
                    json!({"a": {"reason": "Signal 2 received", "data": null, "status": "SUCCESS"}}),
                    "Signal: status:SUCCESS reason:Signal 2 received",
                )),
            ),
            (json!({}), json!({"status": "GOOD"}), HEAT_KEYS, Err("Metadata format invalid")),
            (json!({}), json!({"other": 1}), HEAT_KEYS, Err("Metadata format invalid")),
            (json!({}), json!("text"), HEAT_KEYS, Err("Metadata format invalid")),
            (
                json!({}),
                json!({"Status": "SUCCESS", "Reason": "r", "Data": "d", "UniqueId": 7}),
                AWS_KEYS,
                Ok((
                    json!({"7": {"Status": "SUCCESS", "Reason": "r", "Data": "d"}}),
                    "Signal: status:SUCCESS reason:r",
                )),
            ),
            (json!({}), json!({"Status": "SUCCESS"}), AWS_KEYS, Err("Metadata format invalid")),
        ];
        for (before, body, keys, wanted) in cases {
            let before = before.as_object().unwrap();
            let told = gathered(before, keys, keys == HEAT_KEYS, &body);
            let told = told.map(|(after, words)| (Value::Object(after), words));
            assert_eq!(told, wanted.map(|(after, words)| (after, words.to_owned())), "{body}");
        }
    }

    #[test]
    fn events_describe_signals() {
        let alarm = json!({"previous": "ok", "current": "alarm", "reason": "too hot"});
        assert_eq!(described(&alarm), "alarm state changed from ok to alarm (too hot)");
        assert_eq!(described(&Value::Null), "No signal details provided");
        assert_eq!(described(&json!("well")), "well");
        assert_eq!(
            (described(&json!({"a": 1})), described(&json!(3))),
            ("Unknown".to_owned(), "Unknown".to_owned())
        );
    }

    #[test]
    fn a_handle_says_how_it_is_signalled() {
        let plugin = Handle::heat();
        let change = |transport: &str| {
            let bench = Bench::new("h").properties(json!({"signal_transport": transport}));
            done(bench.run(|ctx| got(plugin.create(ctx)))).attributes.unwrap()
        };
        let token = change("TOKEN_SIGNAL");
        let command = token["curl_cli"].as_str().unwrap();
        assert!(command.starts_with("curl -i -X POST -H 'X-Auth-Token: ' -H 'Content-Type: application/json' -H 'Accept: application/json' 'http://signals/Signal/h"), "{command}");
        assert_eq!(
            change("CFN_SIGNAL")["signal"],
            json!("{\"alarm_url\": \"http://signals/WaitCondition/h?a=1&b=2\"}")
        );
        assert_eq!(change("NO_SIGNAL")["signal"], json!("null"));
        let bench = Bench::new("h").properties(json!({"signal_transport": "ZAQAR_SIGNAL"}));
        assert!(failed(bench.run(|ctx| got(plugin.create(ctx)))).contains("there are no queues"));
    }

    #[test]
    fn references_of_the_older_handles_are_addresses() {
        for (plugin, keys) in
            [(Handle::aws(), AWS_KEYS), (Handle::update(), AWS_KEYS), (Handle::swift(), HEAT_KEYS)]
        {
            let change = done(Bench::new("h").run(|ctx| got(plugin.create(ctx))));
            assert!(change.reference.unwrap().starts_with("http://signals/WaitCondition/h"));
            assert_eq!(keys_of(&change.data.unwrap()), Some(keys));
        }
        assert_eq!(keys_of(&Map::new()), None);
        Bench::new("h").with(|ctx| {
            assert_eq!(Handle::update().lean(ctx, &[]), Lean::Replace);
            assert_eq!(Handle::aws().lean(ctx, &[]), Lean::BySchema);
        });
    }

    #[test]
    fn a_signal_changes_the_handle_alone() {
        let bench = Bench::new("h").metadata(json!({}));
        let taken = bench.with(|ctx| Handle::heat().signal(ctx, &json!({"data": "d", "id": "x"})));
        let Signal::Taken(taken) = taken else { panic!("not taken") };
        assert_eq!(taken.changes.len(), 1);
        assert_eq!(taken.changes[0].0, bench.row.id);
        assert_eq!(taken.answer["x"]["data"], json!("d"));
        let nothing = bench.with(|ctx| Handle::aws().signal(ctx, &Value::Null));
        assert!(
            matches!(nothing, Signal::Taken(SignalTaken { changes, .. }) if changes.is_empty())
        );
        assert_eq!(
            bench.with(|ctx| Handle::aws().signal(ctx, &json!({}))),
            Signal::Refused("Metadata format invalid".to_owned())
        );
    }
}
