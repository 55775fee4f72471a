//! Configurations of software: `OS::Heat::SoftwareConfig`, `StructuredConfig`, `CloudConfig`, `MultipartMime` and
//! `SoftwareComponent`.
//!
//! A configuration is a document that never changes; another one takes its place. It lies in what its resource remembers
//! ([`CONFIG`]), under the id of the resource, which is its physical id: whoever has that id, in this stack or another of the
//! project, can have the document.

use hostler_model::Error;
use serde_json::{Map, Value, json};

use super::super::read::Read;
use super::super::{Change, Ctx, Doing, Given, Plugin, Progress};
use super::mime::{Part, parts_of, written};
use super::since;
use super::yaml;
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};

/// Under which name a resource remembers its document.
pub(crate) const CONFIG: &str = "config";
const UNGROUPED: &str = "Heat::Ungrouped";
const INPUT_TYPES: [&str; 5] = ["String", "Number", "CommaDelimitedList", "Json", "Boolean"];

/// Which of the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Software,
    Structured,
    Cloud,
    Mime,
    Component,
}

pub(super) struct SoftwareConfig {
    which: Which,
    schema: ResourceSchema,
}

/// A configuration, in whichever stack it is. In this stack it need not be committed.
pub(super) async fn find(ctx: &Ctx<'_>, id: &str) -> Result<Option<Map<String, Value>>, Error> {
    let sibling = ctx.desk.sibling(id).and_then(|seen| seen.body.data.map(CONFIG).cloned());
    match sibling {
        Some(config) => Ok(Some(config)),
        None => ctx.desk.software_config(id).await,
    }
}

impl SoftwareConfig {
    fn document(&self, ctx: &Ctx<'_>, config: Value) -> Map<String, Value> {
        let properties = &ctx.wanted.properties;
        let or = |name: &str, other: Value| {
            properties.get(name).filter(|value| !value.is_null()).cloned().unwrap_or(other)
        };
        let group = match self.which {
            Which::Component => json!("component"),
            _ => or("group", json!(UNGROUPED)),
        };
        let document = json!({
            "id": ctx.row.id.to_string(),
            "name": ctx.object_name(),
            "group": group,
            "config": config,
            "options": or("options", json!({})),
            "inputs": or("inputs", json!([])),
            "outputs": or("outputs", json!([])),
            "creation_time": ctx.begun.to_string(),
        });
        document.as_object().cloned().unwrap_or_default()
    }

    async fn content(&self, ctx: &Ctx<'_>) -> Result<Value, Error> {
        let properties = &ctx.wanted.properties;
        let config = properties.get("config").filter(|config| !config.is_null());
        Ok(match self.which {
            Which::Software => config.cloned().unwrap_or_else(|| json!("")),
            Which::Structured => config.cloned().unwrap_or_else(|| json!({})),
            Which::Component => json!({"configs": properties.list("configs")}),
            Which::Cloud => {
                let cloud =
                    properties.get("cloud_config").filter(|value| !value.is_null()).cloned();
                json!(format!(
                    "#cloud-config\n{}",
                    yaml::written(&cloud.unwrap_or_else(|| json!({})))
                ))
            }
            Which::Mime => json!(Self::message(ctx, properties.list("parts")).await?),
        })
    }

    /// A message of several parts. A part that is the id of a configuration is that configuration.
    async fn message(ctx: &Ctx<'_>, items: &[Value]) -> Result<String, Error> {
        let mut parts = Vec::new();
        for item in items.iter().filter_map(Value::as_object) {
            let mut text = item.text("config").unwrap_or_default().to_owned();
            if uuid::Uuid::try_parse(&text).is_ok()
                && let Some(config) = find(ctx, &text).await?
            {
                text = config.text("config").unwrap_or_default().to_owned();
            }
            let filename = item.text("filename").filter(|name| !name.is_empty());
            if item.text("type") == Some("multipart") {
                parts.extend(parts_of(&text));
            } else {
                parts.push(Part::new(text, item.text("subtype"), filename));
            }
        }
        Ok(written(&parts))
    }

    async fn make(&self, ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let content = self.content(ctx).await?;
        let document = self.document(ctx, content.clone());
        let data = Map::from_iter([(CONFIG.to_owned(), Value::Object(document))]);
        let change = Change::physical(ctx.row.id.to_string()).attribute("config", content);
        Ok(Progress::Done(change.data(data)))
    }
}

impl Plugin for SoftwareConfig {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        if self.which != Which::Component {
            return Vec::new();
        }
        let configs = given.properties.list("configs").iter().filter_map(Value::as_object);
        let mut actions: Vec<&str> = configs.flat_map(|config| config.texts("actions")).collect();
        let number = actions.len();
        actions.sort_unstable();
        actions.dedup();
        if actions.len() == number {
            return Vec::new();
        }
        let name = given.name;
        vec![format!(
            "Defining more than one configuration for the same action in SoftwareComponent \"{name}\" is not allowed."
        )]
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        Box::pin(self.make(ctx))
    }
}

fn inputs() -> PropertySchema {
    let input = PropertySchema::fields(
        "An input",
        [
            ("name", PropertySchema::string("").required()),
            ("description", PropertySchema::string("")),
            ("type", PropertySchema::string("").default("String").allowed(INPUT_TYPES)),
            ("default", PropertySchema::any("")),
            (
                "replace_on_change",
                PropertySchema::boolean("Another value takes another deployment.").default(false),
            ),
        ],
    );
    PropertySchema::list_of("What deployments put in.", input)
}

fn outputs() -> PropertySchema {
    let output = PropertySchema::fields(
        "An output",
        [
            ("name", PropertySchema::string("").required()),
            ("description", PropertySchema::string("")),
            ("type", PropertySchema::string("").default("String").allowed(INPUT_TYPES)),
            (
                "error_output",
                PropertySchema::boolean("The deployment has failed when there is one.")
                    .default(false),
            ),
        ],
    );
    PropertySchema::list_of("What deployments give back.", output)
}

fn group() -> PropertySchema {
    PropertySchema::string("What the configuration is written for: `script`, `ansible`, ….")
        .default(UNGROUPED)
}

fn options() -> PropertySchema {
    PropertySchema::map("For the tool that the configuration is written for.")
}

impl SoftwareConfig {
    pub(super) fn software() -> SoftwareConfig {
        let about = "A script, or another text, that is deployed to servers.";
        let schema = since("OS::Heat::SoftwareConfig", about, "2014.1")
            .property("group", group())
            .property("config", PropertySchema::string("The text."))
            .property("options", options())
            .property("inputs", inputs())
            .property("outputs", outputs())
            .attribute("config", AttributeSchema::new("The text."));
        SoftwareConfig { which: Which::Software, schema }
    }

    pub(super) fn structured() -> SoftwareConfig {
        let about = "A document that is deployed to servers, with places for inputs.";
        let schema = since("OS::Heat::StructuredConfig", about, "2014.1")
            .property("group", group())
            .property("config", PropertySchema::map("The document."))
            .property("options", options())
            .property("inputs", inputs())
            .property("outputs", outputs())
            .attribute("config", AttributeSchema::new("The document."));
        SoftwareConfig { which: Which::Structured, schema }
    }

    pub(super) fn cloud() -> SoftwareConfig {
        let about = "A document for cloud-init, as the text that it reads.";
        let schema = since("OS::Heat::CloudConfig", about, "2014.1")
            .property("cloud_config", PropertySchema::map("The document."))
            .attribute("config", AttributeSchema::new("The text."));
        SoftwareConfig { which: Which::Cloud, schema }
    }

    pub(super) fn mime() -> SoftwareConfig {
        let part = PropertySchema::fields(
            "A part",
            [
                (
                    "config",
                    PropertySchema::string("A text, or the id of a configuration.").required(),
                ),
                ("filename", PropertySchema::string("")),
                ("type", PropertySchema::string("").default("text").allowed(["text", "multipart"])),
                ("subtype", PropertySchema::string("Such as `x-shellscript`.")),
            ],
        );
        let about = "Several texts for cloud-init in one, as a MIME message.";
        let schema = since("OS::Heat::MultipartMime", about, "2014.1")
            .property("group", group())
            .property("parts", PropertySchema::list_of("The texts.", part).default(json!([])))
            .attribute("config", AttributeSchema::new("The message."));
        SoftwareConfig { which: Which::Mime, schema }
    }

    pub(super) fn component() -> SoftwareConfig {
        let config = PropertySchema::fields(
            "A configuration",
            [
                (
                    "actions",
                    PropertySchema::list("")
                        .default(json!(["CREATE", "UPDATE"]))
                        .length(Some(1), None),
                ),
                ("config", PropertySchema::string("")),
                ("tool", PropertySchema::string("").required()),
            ],
        );
        let about = "Several configurations, each for some actions of a deployment.";
        let schema = since("OS::Heat::SoftwareComponent", about, "2014.2")
            .property(
                "configs",
                PropertySchema::list_of("Each action once.", config)
                    .required()
                    .length(Some(1), None),
            )
            .property("inputs", inputs())
            .property("outputs", outputs())
            .property("options", options())
            .attribute("config", AttributeSchema::new("The configurations."));
        SoftwareConfig { which: Which::Component, schema }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, got, map};
    use super::*;

    fn made(plugin: &SoftwareConfig, bench: &Bench) -> Map<String, Value> {
        let change = done(bench.run(|ctx| got(plugin.create(ctx))));
        assert_eq!(change.physical, Some(bench.row.id.to_string()));
        change.data.unwrap().map(CONFIG).unwrap().clone()
    }

    #[test]
    fn configurations_are_documents() {
        let properties = json!({"group": "script", "config": "echo", "inputs": [{"name": "a"}], "outputs": [{"name": "b"}]});
        let document = made(&SoftwareConfig::software(), &Bench::new("c").properties(properties));
        assert_eq!(document["config"], json!("echo"));
        assert_eq!(
            (&document["group"], &document["inputs"]),
            (&json!("script"), &json!([{"name": "a"}]))
        );
        let structured = Bench::new("c").properties(json!({"config": {"a": {"get_input": "x"}}}));
        assert_eq!(
            made(&SoftwareConfig::structured(), &structured)["config"]["a"],
            json!({"get_input": "x"})
        );
        let cloud =
            Bench::new("c").properties(json!({"cloud_config": {"runcmd": ["ls -l", "echo: x"]}}));
        assert_eq!(
            made(&SoftwareConfig::cloud(), &cloud)["config"],
            json!("#cloud-config\nruncmd:\n- ls -l\n- \"echo: x\"\n")
        );
        let component = Bench::new("c")
            .properties(json!({"configs": [{"tool": "script", "actions": ["CREATE"]}]}));
        let document = made(&SoftwareConfig::component(), &component);
        assert_eq!(
            (&document["group"], &document["config"]["configs"][0]["tool"]),
            (&json!("component"), &json!("script"))
        );
    }

    #[test]
    fn messages_are_made_of_configurations_and_texts() {
        let id = "0192f3c4-0000-7000-8000-000000000001";
        let other = "0192f3c4-0000-7000-8000-000000000002";
        let sibling =
            Bench::new("s").physical(id).data(json!({"config": {"config": "from this stack"}}));
        let bench = Bench::new("m")
            .properties(json!({"parts": [
                {"config": "#!/bin/sh", "subtype": "x-shellscript", "type": "text"},
                {"config": id, "type": "text"},
                {"config": other, "type": "text", "filename": "f.cfg"},
            ]}))
            .sibling(sibling)
            .config(other, json!({"config": "from another"}));
        let document = made(&SoftwareConfig::mime(), &bench);
        let text = document.text("config").unwrap();
        for there in ["text/x-shellscript", "from this stack", "from another", "filename=\"f.cfg\""]
        {
            assert!(text.contains(there), "{there} in {text}");
        }
        let again =
            Bench::new("n").properties(json!({"parts": [{"config": text, "type": "multipart"}]}));
        let nested = made(&SoftwareConfig::mime(), &again);
        assert!(nested.text("config").unwrap().contains("from another"));
    }

    #[test]
    fn an_action_has_one_configuration() {
        let properties =
            map(&json!({"configs": [{"actions": ["CREATE"]}, {"actions": ["UPDATE", "CREATE"]}]}));
        let said = SoftwareConfig::component().validate(&Given::test("c", &properties));
        assert!(said[0].contains("SoftwareComponent \"c\""));
        let properties =
            map(&json!({"configs": [{"actions": ["CREATE"]}, {"actions": ["UPDATE"]}]}));
        assert!(SoftwareConfig::component().validate(&Given::test("c", &properties)).is_empty());
    }
}
