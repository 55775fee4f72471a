//! `OS::Heat::DeployedServer`: a server that is there already, for configurations to be deployed to.

use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::json;

use super::super::read::Read;
use super::super::{Change, Ctx, Doing, Plugin, Progress, at_once};
use super::since;

const TRANSPORTS: [&str; 4] =
    ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"];

pub(super) struct DeployedServer(ResourceSchema);

impl DeployedServer {
    pub(super) fn new() -> DeployedServer {
        let about = "A server that is there already. Its id is what deployments name as their server; the server asks for them \
                     under that id, as somebody who may read the stack.";
        let field = |about: &str| PropertySchema::string(about).length(Some(1), None);
        let swift = [("container", field("The container.")), ("object", field("The object."))];
        let transport = "How the server has its deployments; here it always asks for them.";
        let schema = since("OS::Heat::DeployedServer", about, "8.0.0")
            .property("name", PropertySchema::string("What it is called.").updatable())
            .property("metadata", PropertySchema::map("Kept with it.").updatable())
            .property(
                "software_config_transport",
                PropertySchema::string(transport)
                    .default("POLL_SERVER_CFN")
                    .updatable()
                    .allowed(TRANSPORTS),
            )
            .property(
                "deployment_swift_data",
                PropertySchema::fields("Taken; there is no object store here.", swift)
                    .default(json!({}))
                    .updatable(),
            )
            .attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
            .attribute(
                "os_collect_config",
                AttributeSchema::new("Where its agent finds its deployments.").of(Kind::Map),
            );
        DeployedServer(schema)
    }

    fn keep(ctx: &Ctx<'_>) -> Progress {
        let name =
            ctx.wanted.properties.text("name").map_or_else(|| ctx.object_name(), str::to_owned);
        let heat = json!({"heat": {
            "stack_id": format!("{}/{}", ctx.stack.name, ctx.stack.id),
            "resource_name": ctx.row.name,
            "project_id": ctx.stack.project_id.to_string(),
        }});
        let id = ctx.row.id.to_string();
        let change = Change { metadata: Some(ctx.wanted.metadata.clone()), ..Change::physical(id) };
        Progress::Done(change.attribute("name", name).attribute("os_collect_config", heat))
    }
}

impl Plugin for DeployedServer {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(DeployedServer::keep(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(DeployedServer::keep(ctx))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, got};
    use super::*;

    #[test]
    fn its_id_is_that_of_its_resource() {
        let plugin = DeployedServer::new();
        let bench = Bench::new("s").properties(json!({"name": "web-1"}));
        let change = done(bench.run(|ctx| got(plugin.create(ctx))));
        assert_eq!(change.physical, Some(bench.row.id.to_string()));
        let attributes = change.attributes.unwrap();
        assert_eq!(
            (&attributes["name"], &attributes["os_collect_config"]["heat"]["resource_name"]),
            (&json!("web-1"), &json!("s"))
        );
        let unnamed = Bench::new("s").properties(json!({}));
        let change = done(unnamed.run(|ctx| got(plugin.update(ctx, &[]))));
        assert!(change.attributes.unwrap()["name"].as_str().unwrap().starts_with("demo-s-"));
    }
}
