//! The types that the tests know.

use std::collections::BTreeMap;

use hostler_template::diagnostic::Diagnostics;
use hostler_template::environment::{Environment, Types};
use hostler_template::parameter::Identity;
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use hostler_template::template::{Files, Template};
use hostler_template::validate::{Validated, Validator};
use serde_json::json;

pub struct Catalogue(Vec<ResourceSchema>);

impl Catalogue {
    pub fn new() -> Catalogue {
        let p = PropertySchema::string;
        let class = PropertySchema::fields(
            "A class of characters.",
            [
                ("class", p("").default("lettersdigits").allowed(["lettersdigits", "digits"])),
                ("min", PropertySchema::integer("").default(1).range(Some(1), Some(512))),
            ],
        );
        let random = ResourceSchema::new("OS::Heat::RandomString", "Random text.")
            .property(
                "length",
                PropertySchema::integer("How long.").default(32).range(Some(1), Some(512)),
            )
            .property(
                "character_classes",
                PropertySchema::list_of("Classes.", class)
                    .default(json!([{"class": "lettersdigits", "min": 1}])),
            )
            .property("salt", p("Salt."))
            .property("sequence", p("Gone.").hidden())
            .attribute("value", AttributeSchema::new("The text.").of(Kind::String));
        let test = ResourceSchema::new("OS::Heat::TestResource", "For tests.")
            .property("value", p("").default("test_string").updatable())
            .property("fail", PropertySchema::boolean("").default(false).updatable())
            .property("wait_secs", PropertySchema::number("").default(0).updatable())
            .attribute("output", AttributeSchema::new("What was given."));
        let value = ResourceSchema::new("OS::Heat::Value", "A value.")
            .property("value", PropertySchema::any("It.").required().updatable())
            .property(
                "type",
                p("Its type.").updatable().allowed(["string", "number", "json", "boolean"]),
            )
            .attribute("value", AttributeSchema::new("It."));
        let none = ResourceSchema::new("OS::Heat::None", "Nothing.");
        let group = ResourceSchema::new("OS::Heat::ResourceGroup", "Several.")
            .of_members("resource_def")
            .property("index_var", p("").default("%index%"))
            .property(
                "count",
                PropertySchema::integer("").default(1).range(Some(0), None).updatable(),
            )
            .property("resource_def", PropertySchema::map("").required().updatable())
            .policy(
                "rolling_update",
                PropertySchema::fields(
                    "",
                    [(
                        "max_batch_size",
                        PropertySchema::integer("").default(1).range(Some(1), None),
                    )],
                ),
            );
        let group = ResourceSchema { open_attributes: vec![String::new()], ..group };
        Catalogue(vec![random, test, value, ResourceSchema { takes_anything: true, ..none }, group])
    }
}

impl Types for Catalogue {
    fn schema(&self, type_name: &str) -> Option<&ResourceSchema> {
        self.0.iter().find(|schema| schema.type_name == type_name)
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|schema| schema.type_name.as_str()).collect()
    }
}

pub fn files<const N: usize>(files: [(&str, &str); N]) -> Files {
    BTreeMap::from(files.map(|(name, text)| (name.to_owned(), text.to_owned())))
}

/// Reads a template and an environment and looks at all of it.
pub fn check(
    template: &str,
    environment: &str,
    files: &Files,
) -> Result<(Template, Validated), Diagnostics> {
    let template = Template::of_value("t.yaml", &template.into())?;
    let environment = Environment::from_text("env.yaml", environment)?;
    let types = Catalogue::new();
    let identity = Identity::nobody();
    let validated = Validator::new(&types, files, &identity).check(&template, &environment)?;
    Ok((template, validated))
}
