//! `OS::Heat::SoftwareDeployment` and `OS::Heat::StructuredDeployment`: a configuration with its inputs, for one server.
//!
//! A deployment makes a *derived* configuration, with the values of its inputs and with what is needed to signal back, and
//! waits until it was signalled with what came of it. Both documents lie in what the resource remembers ([`DEPLOYMENT`] and
//! [`DERIVED`]); servers ask for those that are for them.

use hostler_engine::stack::Failure;
use hostler_model::Error;
use hostler_model::stack::DeedKind;
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::read::{Read, when_told};
use super::super::{
    Change, Ctx, Doing, NoAttribute, Plugin, Progress, Seen, Signal, SignalKind, SignalTaken, walk,
};
use super::deployment_schema::common;
use super::derived::{GIVEN_BACK, STATUS_CODE, filled, has_other_input, told, valued};
use super::handle::described;
use super::since;
use super::software_config::find;

/// Under which name a resource remembers its deployment.
pub(crate) const DEPLOYMENT: &str = "deployment";
/// Under which name it remembers the configuration that was derived for it.
pub(crate) const DERIVED: &str = "derived";

pub(super) struct Deployment {
    is_structured: bool,
    schema: ResourceSchema,
}

/// A configuration for a server, ready to be read by it.
enum Derived {
    Config(Map<String, Value>),
    /// It cannot be made.
    Failed(Failure),
}

impl Deployment {
    /// What servers are told about themselves, and how they signal.
    fn about(
        ctx: &Ctx<'_>,
        properties: &Map<String, Value>,
        action: &str,
    ) -> Result<Result<Vec<Value>, Failure>, Error> {
        let transport = properties.text("signal_transport").unwrap_or("CFN_SIGNAL");
        let input = |name: &str, value: String, about: &str| json!({"name": name, "type": "String", "value": value, "description": about});
        let server = properties.text("server").unwrap_or_default();
        let stack = format!("{}/{}", ctx.stack.name, ctx.stack.id);
        let mut inputs = vec![
            input("deploy_server_id", server.to_owned(), "ID of the server being deployed to"),
            input("deploy_action", action.to_owned(), "Name of the current action being deployed"),
            input("deploy_stack_id", stack, "ID of the stack this deployment belongs to"),
            input(
                "deploy_resource_name",
                ctx.row.name.clone(),
                "Name of this deployment resource in the stack",
            ),
            input(
                "deploy_signal_transport",
                transport.to_owned(),
                "How the server should signal with the deployment output values.",
            ),
        ];
        let (kind, verb) = match transport {
            "NO_SIGNAL" => return Ok(Ok(inputs)),
            "ZAQAR_SIGNAL" => {
                let words = "signal transport ZAQAR_SIGNAL is not available: there are no queues; use CFN_SIGNAL";
                return Ok(Err(Failure::new("NotSupported", words)));
            }
            "TEMP_URL_SIGNAL" => (SignalKind::WaitCondition, "PUT"),
            _ => (SignalKind::Signal, "POST"),
        };
        inputs.push(input(
            "deploy_signal_id",
            ctx.desk.signal_url(kind)?,
            "ID of signal to use for signaling output values",
        ));
        inputs.push(input(
            "deploy_signal_verb",
            verb.to_owned(),
            "HTTP verb to use for signaling output values",
        ));
        Ok(Ok(inputs))
    }

    fn derive(
        &self,
        ctx: &Ctx<'_>,
        properties: &Map<String, Value>,
        source: &Map<String, Value>,
        action: &str,
    ) -> Result<Derived, Error> {
        let nothing = Map::new();
        let about = match Self::about(ctx, properties, action)? {
            Ok(about) => about,
            Err(failure) => return Ok(Derived::Failed(failure)),
        };
        let mut inputs =
            valued(source.list("inputs"), properties.map("input_values").unwrap_or(&nothing));
        inputs.extend(about);
        let config = source.get("config").cloned().unwrap_or_default();
        let config = if self.is_structured {
            let of =
                |input: &Value| Some((input["name"].as_str()?.to_owned(), input["value"].clone()));
            let values: Map<_, _> = inputs.iter().filter_map(of).collect();
            let key = properties.text("input_key").unwrap_or("get_input");
            let is_strict = properties.text("input_values_validate") == Some("STRICT");
            match filled(&config, key, &values, is_strict) {
                Ok(config) => config,
                Err(words) => {
                    return Ok(Derived::Failed(Failure::new("UserParameterMissing", words)));
                }
            }
        } else {
            config
        };
        let name = properties
            .text("name")
            .or_else(|| source.text("name"))
            .map_or_else(|| ctx.object_name(), str::to_owned);
        let empty = if self.is_structured { json!({}) } else { json!("") };
        let derived = json!({
            "id": ctx.desk.fresh_id().to_string(),
            "name": name,
            "group": source.text("group").unwrap_or("Heat::Ungrouped"),
            "config": if config.is_null() { empty } else { config },
            "options": source.get("options").cloned().unwrap_or_else(|| json!({})),
            "inputs": inputs,
            "outputs": source.list("outputs"),
            "creation_time": ctx.now.to_string(),
        });
        Ok(Derived::Config(derived.as_object().cloned().unwrap_or_default()))
    }

    /// Nothing happens for actions that neither the deployment nor its component is for.
    fn is_meant(
        properties: &Map<String, Value>,
        source: &Map<String, Value>,
        action: &str,
    ) -> bool {
        if source.text("group") == Some("component") {
            let configs =
                source.map("config").map(|config| config.list("configs")).unwrap_or_default();
            return configs
                .iter()
                .filter_map(Value::as_object)
                .any(|config| config.texts("actions").contains(&action));
        }
        properties.texts("actions").contains(&action)
    }

    async fn deploy(
        &self,
        ctx: &Ctx<'_>,
        properties: &Map<String, Value>,
        action: &str,
    ) -> Result<Progress, Error> {
        let source = match properties.text("config").filter(|id| !id.is_empty()) {
            None => Map::new(),
            Some(id) => match find(ctx, id).await? {
                Some(source) => source,
                None if action == "DELETE" => return Ok(Progress::done()),
                None => {
                    return Ok(Progress::failed(
                        "NotFound",
                        format!("Software config with id {id} not found"),
                    ));
                }
            },
        };
        let change = Change::physical(ctx.row.id.to_string());
        if !Self::is_meant(properties, &source, action) {
            return Ok(Progress::Done(if action == "CREATE" { change } else { Change::default() }));
        }
        let derived = match self.derive(ctx, properties, &source, action)? {
            Derived::Config(derived) => derived,
            Derived::Failed(failure) => return Ok(Progress::Failed(Change::default(), failure)),
        };
        let before = ctx.body.data.map(DERIVED);
        if action == "UPDATE"
            && let Some(before) = before
            && has_other_input(before.list("inputs"), derived.list("inputs"))
        {
            return Ok(Progress::Gone);
        }
        let is_silent = properties.text("signal_transport") == Some("NO_SIGNAL");
        let (status, reason) = if is_silent {
            ("COMPLETE", "Not waiting for outputs signal")
        } else {
            ("IN_PROGRESS", "Deploy data available")
        };
        let former = ctx.body.data.map(DEPLOYMENT);
        let created = former
            .and_then(|former| former.text("creation_time"))
            .map_or_else(|| ctx.now.to_string(), str::to_owned);
        let deployment = json!({
            "id": ctx.row.id.to_string(),
            "config_id": derived["id"],
            "server_id": properties.text("server"),
            "action": action,
            "status": status,
            "status_reason": reason,
            "input_values": properties.get("input_values").filter(|values| !values.is_null()).cloned().unwrap_or_else(|| json!({})),
            "output_values": former.and_then(|former| former.get("output_values")),
            "creation_time": created,
            "updated_time": ctx.now.to_string(),
        });
        let change = change.data(Map::from_iter([
            (DEPLOYMENT.to_owned(), deployment),
            (DERIVED.to_owned(), Value::Object(derived)),
        ]));
        Ok(if is_silent {
            Progress::Done(change)
        } else {
            Progress::Wait(change, when_told(ctx.now))
        })
    }

    /// A server that is gone is not waited for: what is removed with it is.
    fn stands(ctx: &Ctx<'_>) -> Progress {
        let deployment = ctx.body.data.map(DEPLOYMENT);
        let text = |name: &str| {
            deployment.and_then(|deployment| deployment.text(name)).unwrap_or_default()
        };
        match text("status") {
            "IN_PROGRESS" => Progress::Wait(Change::default(), when_told(ctx.now)),
            "FAILED" => Progress::failed(
                "Error",
                format!("Deployment to server failed: {}", text("status_reason")),
            ),
            _ => Progress::done(),
        }
    }
}

impl Plugin for Deployment {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn can(&self, kind: DeedKind) -> bool {
        !matches!(kind, DeedKind::Check | DeedKind::Snapshot)
    }

    fn takes_signals(&self) -> bool {
        true
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        Box::pin(self.deploy(ctx, &ctx.wanted.properties, "CREATE"))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        Box::pin(self.deploy(ctx, &ctx.wanted.properties, "UPDATE"))
    }

    fn delete<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        Box::pin(self.deploy(ctx, &ctx.body.properties, "DELETE"))
    }

    fn suspend<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        Box::pin(self.deploy(ctx, &ctx.body.properties, "SUSPEND"))
    }

    fn resume<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        Box::pin(self.deploy(ctx, &ctx.body.properties, "RESUME"))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        super::super::at_once(Deployment::stands(ctx))
    }

    fn signal(&self, ctx: &Ctx<'_>, body: &Value) -> Signal {
        let nothing = Map::new();
        let deployment = ctx.body.data.map(DEPLOYMENT).unwrap_or(&nothing);
        if deployment.text("status") != Some("IN_PROGRESS") {
            return Signal::Taken(SignalTaken {
                reason: described(body),
                ..SignalTaken::default()
            });
        }
        let said = match body {
            Value::Object(said) => said,
            Value::Null => &nothing,
            _ => {
                return Signal::Refused(
                    "what a deployment is signalled with is a map of its outputs".to_owned(),
                );
            }
        };
        let outputs =
            ctx.body.data.map(DERIVED).map(|derived| derived.list("outputs")).unwrap_or_default();
        let told = told(&ctx.row.id.to_string(), outputs, said);
        let mut after = deployment.clone();
        let mut put = |name: &str, value: Value| after.insert(name.to_owned(), value);
        put("status", json!(told.status));
        put("status_reason", json!(told.reason));
        put("output_values", Value::Object(told.outputs.clone()));
        put("updated_time", json!(ctx.now.to_string()));
        let mut data = ctx.body.data.clone();
        data.insert(DEPLOYMENT.to_owned(), Value::Object(after));
        let change = Change { attributes: Some(told.outputs), ..Change::default() }.data(data);
        Signal::Taken(SignalTaken {
            reason: told.event,
            changes: vec![(ctx.row.id, change)],
            answer: Value::Null,
        })
    }

    /// What was not given back yet is nothing.
    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        let name = path.first().and_then(Value::as_str).unwrap_or_default();
        let outputs =
            seen.body.data.map(DERIVED).map(|derived| derived.list("outputs")).unwrap_or_default();
        match seen.body.attributes.get(name) {
            Some(value) => Ok(walk(value, &path[1..])),
            None if GIVEN_BACK.contains(&name)
                || outputs.iter().any(|output| output["name"] == name) =>
            {
                Ok(Value::Null)
            }
            None => seen.stored_attribute(path),
        }
    }
}

impl Deployment {
    pub(super) fn software() -> Deployment {
        let about =
            "Deploys a configuration to a server, and waits until the server says what came of it.";
        Deployment::new(since("OS::Heat::SoftwareDeployment", about, "2014.1"), false)
    }

    pub(super) fn structured() -> Deployment {
        let about = "Deploys a document to a server, with values where it asks for inputs.";
        Deployment::new(since("OS::Heat::StructuredDeployment", about, "2014.1"), true)
    }

    fn new(schema: ResourceSchema, is_structured: bool) -> Deployment {
        let server = PropertySchema::string("The id of the server.").required();
        let mut schema = common(schema.property("server", server), is_structured)
            .attribute("deploy_stdout", AttributeSchema::new("What was written."))
            .attribute("deploy_stderr", AttributeSchema::new("What was complained of."))
            .attribute(STATUS_CODE, AttributeSchema::new("What it ended with."));
        schema.open_attributes.push(String::new());
        Deployment { is_structured, schema }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, failed, got, map, waits};
    use super::*;

    fn config() -> Value {
        json!({"id": "c-1", "name": "setup", "group": "script", "config": "echo $a",
               "inputs": [{"name": "a", "default": "1"}, {"name": "b", "default": "2", "replace_on_change": true}],
               "outputs": [{"name": "result"}, {"name": "wrong", "error_output": true}]})
    }

    fn bench(transport: &str) -> Bench {
        let properties = json!({"config": "c-1", "server": "srv", "input_values": {"a": "x", "extra": 5},
                                "actions": ["CREATE", "UPDATE"], "signal_transport": transport});
        Bench::new("d").properties(properties).config("c-1", config()).deed(DeedKind::Create)
    }

    fn value_of(change: &Change, name: &str) -> Value {
        let inputs = change.data.as_ref().unwrap()[DERIVED]["inputs"].as_array().unwrap();
        inputs
            .iter()
            .find(|input| input["name"] == name)
            .map(|input| input["value"].clone())
            .unwrap_or_default()
    }

    #[test]
    fn a_deployment_waits_for_its_signal() {
        let plugin = Deployment::software();
        let bench = bench("CFN_SIGNAL");
        let (change, _) = waits(bench.run(|ctx| got(plugin.create(ctx))));
        assert_eq!(
            (value_of(&change, "a"), value_of(&change, "b"), value_of(&change, "extra")),
            (json!("x"), json!("2"), json!(5))
        );
        assert_eq!(value_of(&change, "deploy_signal_verb"), json!("POST"));
        assert_eq!(value_of(&change, "deploy_server_id"), json!("srv"));
        let bench = bench.after(&change);
        assert!(matches!(bench.run(|ctx| got(plugin.look(ctx))), Progress::Wait(..)));
        let seen = bench.seen();
        assert_eq!(plugin.attribute(&seen, &[json!("result")]), Ok(Value::Null));
        assert!(plugin.attribute(&seen, &[json!("unknown")]).is_err());

        let taken = bench
            .with(|ctx| plugin.signal(ctx, &json!({"result": {"k": "v"}, "deploy_stdout": "hi"})));
        let Signal::Taken(taken) = taken else { panic!("not taken") };
        let after = bench.after(&taken.changes[0].1);
        done(after.run(|ctx| got(plugin.look(ctx))));
        assert_eq!(plugin.attribute(&after.seen(), &[json!("result"), json!("k")]), Ok(json!("v")));
        let again = after.with(|ctx| plugin.signal(ctx, &json!({})));
        assert!(matches!(again, Signal::Taken(SignalTaken { changes, .. }) if changes.is_empty()));

        let bad = bench.with(|ctx| plugin.signal(ctx, &json!({"deploy_status_code": 1})));
        let Signal::Taken(bad) = bad else { panic!("not taken") };
        let words = failed(bench.after(&bad.changes[0].1).run(|ctx| got(plugin.look(ctx))));
        assert!(
            words.starts_with("Error: Deployment to server failed: deploy_status_code : "),
            "{words}"
        );
    }

    #[test]
    fn transports_say_how_to_signal() {
        let plugin = Deployment::software();
        let change = done(bench("NO_SIGNAL").run(|ctx| got(plugin.create(ctx))));
        assert_eq!(change.data.as_ref().unwrap()[DEPLOYMENT]["status"], json!("COMPLETE"));
        assert_eq!(value_of(&change, "deploy_signal_id"), Value::Null);
        let (change, _) = waits(bench("TEMP_URL_SIGNAL").run(|ctx| got(plugin.create(ctx))));
        assert_eq!(value_of(&change, "deploy_signal_verb"), json!("PUT"));
        waits(bench("HEAT_SIGNAL").run(|ctx| got(plugin.create(ctx))));
        assert!(
            failed(bench("ZAQAR_SIGNAL").run(|ctx| got(plugin.create(ctx))))
                .starts_with("NotSupported")
        );
    }

    #[test]
    fn only_chosen_actions_deploy() {
        let plugin = Deployment::software();
        let gone = Bench::new("d")
            .was(json!({"config": "c-1", "server": "s", "actions": ["CREATE"]}))
            .config("c-1", config());
        assert_eq!(gone.run(|ctx| got(plugin.delete(ctx))), Progress::done());
        let lost =
            Bench::new("d").was(json!({"config": "lost", "server": "s", "actions": ["DELETE"]}));
        assert_eq!(lost.run(|ctx| got(plugin.delete(ctx))), Progress::done());
        let missing = Bench::new("d").properties(json!({"config": "lost", "actions": ["CREATE"]}));
        assert_eq!(
            failed(missing.run(|ctx| got(plugin.create(ctx)))),
            "NotFound: Software config with id lost not found"
        );
        let component =
            map(&json!({"group": "component", "config": {"configs": [{"actions": ["SUSPEND"]}]}}));
        assert!(Deployment::is_meant(&Map::new(), &component, "SUSPEND"));
        assert!(!Deployment::is_meant(&Map::new(), &component, "CREATE"));
    }

    #[test]
    fn another_value_of_a_marked_input_takes_another_deployment() {
        let plugin = Deployment::software();
        let bench = bench("CFN_SIGNAL");
        let (change, _) = waits(bench.run(|ctx| got(plugin.create(ctx))));
        let update = |values: Value| {
            let properties = json!({"config": "c-1", "server": "srv", "input_values": values, "actions": ["UPDATE"]});
            bench.after(&change).properties(properties).run(|ctx| got(plugin.update(ctx, &[])))
        };
        assert!(matches!(update(json!({"a": "other"})), Progress::Wait(..)));
        assert_eq!(update(json!({"b": "other"})), Progress::Gone);
    }

    #[test]
    fn structured_documents_are_filled() {
        let plugin = Deployment::structured();
        let properties = json!({"config": "c-2", "server": "s", "actions": ["CREATE"], "input_values": {"x": 7}, "signal_transport": "NO_SIGNAL", "input_key": "get_input"});
        let bench = Bench::new("d").properties(properties).config(
            "c-2",
            json!({"config": {"k": {"get_input": "x"}, "n": {"get_input": "deploy_action"}}}),
        );
        let change = done(bench.run(|ctx| got(plugin.create(ctx))));
        assert_eq!(change.data.unwrap()[DERIVED]["config"], json!({"k": 7, "n": "CREATE"}));
    }
}
