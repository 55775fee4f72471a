//! `OS::Heat::SoftwareDeploymentGroup` and `OS::Heat::StructuredDeploymentGroup`: a configuration for several servers.

use std::collections::BTreeSet;

use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value};

use super::super::super::read::Read;
use super::super::super::{
    Change, Ctx, Doing, Lean, NoAttribute, Plugin, Progress, Seen, at_once, walk,
};
use super::super::below::{deeds_below, lean};
use super::super::deployment_schema::common;
use super::super::since;
use super::plan::{Plan, Way, Who, begin, go_on};
use super::resource_group::{policies, way_of};
use super::view::{self, Order};
use super::without_nothing;

const SERVERS: &str = "servers";
/// What every deployment gives back, and what the group calls it.
const GATHERED: [(&str, &str); 3] = [
    ("deploy_stdouts", "deploy_stdout"),
    ("deploy_stderrs", "deploy_stderr"),
    ("deploy_status_codes", "deploy_status_code"),
];

pub(crate) struct DeploymentGroup {
    /// Of the members.
    kind: &'static str,
    schema: ResourceSchema,
}

impl DeploymentGroup {
    pub(crate) fn software() -> DeploymentGroup {
        let about = "Deploys a configuration to several servers.";
        let schema = since("OS::Heat::SoftwareDeploymentGroup", about, "5.0.0");
        DeploymentGroup { kind: "OS::Heat::SoftwareDeployment", schema: whole(schema, false) }
    }

    pub(crate) fn structured() -> DeploymentGroup {
        let about = "Deploys a document to several servers, with values where it asks for inputs.";
        let schema = since("OS::Heat::StructuredDeploymentGroup", about, "5.0.0");
        DeploymentGroup { kind: "OS::Heat::StructuredDeployment", schema: whole(schema, true) }
    }

    /// A deployment of the same, for the server of that name.
    fn definition(&self, properties: &Map<String, Value>, name: &str) -> Value {
        let mut member = properties.clone();
        let servers = member.shift_remove(SERVERS).unwrap_or_default();
        member.insert("server".to_owned(), servers.get(name).cloned().unwrap_or_default());
        let definition = [
            ("type".to_owned(), Value::String(self.kind.to_owned())),
            ("properties".to_owned(), Value::Object(member)),
        ];
        without_nothing(definition.into_iter().collect())
    }

    fn make(&self, ctx: &Ctx<'_>, is_creation: bool) -> Progress {
        let properties = &ctx.wanted.properties;
        let names = properties
            .map(SERVERS)
            .map(|servers| servers.keys().cloned().collect())
            .unwrap_or_default();
        let way: Way = way_of(&ctx.wanted.update_policy, is_creation);
        let plan = Plan { who: Who::Names(names), way, out: BTreeSet::new() };
        begin(
            ctx,
            &plan,
            &|name| self.definition(properties, name),
            Change::of_metadata(ctx),
            ctx.body.data.clone(),
        )
    }
}

impl Plugin for DeploymentGroup {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    deeds_below!();

    fn lean(&self, _: &Ctx<'_>, changed: &[String]) -> Lean {
        lean(&self.schema, changed)
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(self.make(ctx, true))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(self.make(ctx, false))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let definition = |name: &str| self.definition(&ctx.wanted.properties, name);
        at_once(go_on(ctx, &definition, |data| Change::default().data(data)))
    }

    /// Any output of the deployments, by the names of the servers.
    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        let name = path.first().and_then(Value::as_str).unwrap_or_default();
        if name == "show" {
            return Ok(Value::Null);
        }
        let of_member =
            GATHERED.iter().find(|(group, _)| *group == name).map_or(name, |(_, member)| member);
        let gathered = view::map_of(seen, Order::Named, &[Value::String(of_member.to_owned())]);
        Ok(walk(&gathered, path.get(1..).unwrap_or_default()))
    }
}

fn whole(schema: ResourceSchema, is_structured: bool) -> ResourceSchema {
    let servers = PropertySchema::map(
        "Ids of servers by names; a name is what the deployment to that server is called.",
    );
    let mut schema = policies(
        common(schema.property(SERVERS, servers.required().updatable()), is_structured),
        false,
    );
    let words = ["What was written", "What was complained of", "What it ended with"];
    for ((name, _), what) in GATHERED.iter().zip(words) {
        schema = schema.attribute(
            name,
            AttributeSchema::new(&format!("{what}, by the names of the servers.")).of(Kind::Map),
        );
    }
    schema.open_attributes.push(String::new());
    schema
}

#[cfg(test)]
mod tests {
    use super::super::super::super::ChildWish;
    use super::super::super::bench::{Bench, child_of, done, got, member, waits};
    use super::*;
    use hostler_model::stack::{DeedKind, StackAction, StackStanding};
    use serde_json::json;

    #[test]
    fn there_is_a_deployment_for_every_server() {
        let plugin = DeploymentGroup::software();
        let properties =
            json!({"servers": {"a": "id-1", "b": "id-2"}, "config": "c", "input_values": null});
        let bench = Bench::new("d").properties(properties).deed(DeedKind::Create);
        let (change, _) = waits(bench.run(|ctx| got(plugin.create(ctx))));
        let Some(ChildWish::Apply(form)) = change.child.clone() else { panic!("not applied") };
        let wanted = json!({"type": "OS::Heat::SoftwareDeployment", "properties": {"config": "c", "server": "id-2"}});
        assert_eq!(form.template["resources"]["b"], wanted);
        let rows = vec![
            member("a", 1.0, json!({"deploy_stdout": "hi", "own": 1})),
            member("b", 1.0, json!({"deploy_stdout": "ho"})),
        ];
        let bench = bench.after(&change).child(child_of(
            StackStanding::completed(StackAction::Create),
            form.template,
            rows,
        ));
        done(bench.run(|ctx| got(plugin.look(ctx))));
        let seen = bench.seen();
        assert_eq!(
            plugin.attribute(&seen, &[json!("deploy_stdouts")]),
            Ok(json!({"a": "hi", "b": "ho"}))
        );
        assert_eq!(plugin.attribute(&seen, &[json!("own"), json!("a")]), Ok(json!(1)));
        assert_eq!(DeploymentGroup::structured().kind, "OS::Heat::StructuredDeployment");
    }
}
