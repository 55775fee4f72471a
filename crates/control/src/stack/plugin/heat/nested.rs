//! Templates as resources: types that are templates, `OS::Heat::Stack` and `AWS::CloudFormation::Stack`.
//!
//! The stack below decides by itself what changes, so every update of the stack above is passed on.

use hostler_model::Span;
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use hostler_template::template::Template;
use serde_json::{Map, Value, json};

use super::super::read::Read;
use super::super::{
    Change, ChildEnvironment, ChildForm, Ctx, Doing, Given, Lean, NoAttribute, Plugin, Progress,
    Seen, at_once, walk,
};
use super::below::{apply, arn, deeds_below, follow, is_making};
use super::plain::plain;
use super::since;

const OUTPUTS: &str = "outputs";
/// Names what a reference to the resource gives, in the outputs of a template.
const REFERENCE: &str = "OS::stack_id";

/// A type that is a template. Its properties are the parameters, its attributes the outputs.
pub(crate) struct TemplateResource(ResourceSchema);

impl TemplateResource {
    pub(super) fn new() -> TemplateResource {
        let about = "A type that is a template: its properties are the parameters of the template, its attributes are the outputs.";
        TemplateResource(ResourceSchema {
            takes_anything: true,
            ..since("template", about, "2014.1")
        })
    }

    fn make(ctx: &Ctx<'_>) -> Progress {
        let Some(template) = ctx.wanted.template.clone() else {
            return Progress::failed(
                "ValueError",
                format!("Unknown error retrieving {}", ctx.row.kind),
            );
        };
        let form = ChildForm {
            template,
            parameters: parameters(&ctx.wanted.properties),
            wraps: Some(ctx.row.kind.clone()),
            ..ChildForm::default()
        };
        apply(ctx, Change::of_metadata(ctx), form)
    }

    fn told(ctx: &Ctx<'_>) -> Progress {
        follow(ctx, || if is_making(ctx) { remembered(&ctx.seen) } else { Change::default() })
    }
}

/// Values as parameters: a list is a text with commas, and a list of maps names every value by its place.
fn parameters(properties: &Map<String, Value>) -> Map<String, Value> {
    let of = |(name, value): (&String, &Value)| match value {
        Value::Null => None,
        Value::Array(items) => Some((name.clone(), Value::String(listed(items)))),
        other => Some((name.clone(), other.clone())),
    };
    properties.iter().filter_map(of).collect()
}

fn listed(items: &[Value]) -> String {
    if !items.first().is_some_and(Value::is_object) {
        let text = |item: &Value| if item.is_null() { String::new() } else { plain(item) };
        return items.iter().map(text).collect::<Vec<_>>().join(",");
    }
    let maps = items.iter().enumerate().filter_map(|(at, item)| Some((at, item.as_object()?)));
    let pairs = maps.flat_map(|(at, map)| {
        map.iter().map(move |(key, value)| format!(".member.{at}.{key}={}", plain(value)))
    });
    pairs.collect::<Vec<_>>().join(",")
}

/// The outputs are kept, and so is what a reference gives.
fn remembered(seen: &Seen<'_>) -> Change {
    let Some(child) = seen.child else { return Change::default() };
    let reference = child.outputs.get(REFERENCE).cloned().or_else(|| arn(seen));
    Change {
        reference: reference.as_ref().map(plain),
        attributes: Some(child.outputs.clone()),
        ..Change::default()
    }
}

/// What lies in the stack below: `resource.NAME`, or `resource.NAME.ATTRIBUTE` with the rest of the path.
pub(super) fn into_member(seen: &Seen<'_>, path: &[Value]) -> Option<Value> {
    let name = path.first().and_then(Value::as_str)?.strip_prefix("resource.")?;
    let child = seen.child?;
    let (member, attribute) = match name.split_once('.') {
        Some((member, attribute)) => (member, Some(attribute)),
        None => (name, None),
    };
    let member = child.members.iter().find(|one| one.name == member)?;
    let rest = &path[1..];
    match (attribute, rest.split_first()) {
        (Some(attribute), _) => Some(walk(member.attributes.get(attribute)?, rest)),
        (None, Some((Value::String(attribute), rest))) => {
            Some(walk(member.attributes.get(attribute)?, rest))
        }
        (None, _) => Some(member.reference.clone()),
    }
}

impl Plugin for TemplateResource {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    deeds_below!();

    fn lean(&self, _: &Ctx<'_>, _: &[String]) -> Lean {
        Lean::Update
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(TemplateResource::make(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(TemplateResource::make(ctx))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(TemplateResource::told(ctx))
    }

    fn reference(&self, seen: &Seen<'_>) -> Value {
        let output = seen.child.and_then(|child| child.outputs.get(REFERENCE).cloned());
        output
            .or_else(|| arn(seen))
            .unwrap_or_else(|| Value::String(seen.reference_text().to_owned()))
    }

    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        if path.first().and_then(Value::as_str).is_some_and(|name| name.starts_with("resource.")) {
            return Ok(into_member(seen, path).unwrap_or_default());
        }
        seen.stored_attribute(path)
    }

    fn attributes(&self, seen: &Seen<'_>) -> Map<String, Value> {
        seen.body.attributes.clone()
    }
}

/// A stack that is given as the text of a template.
pub(super) struct Stack {
    is_aws: bool,
    schema: ResourceSchema,
}

impl Stack {
    pub(super) fn heat() -> Stack {
        let context = [
            ("region_name", PropertySchema::string("Taken: there is one region.")),
            (
                "credential_secret_id",
                PropertySchema::string("Refused: a stack is made in the name of the one above.")
                    .updatable(),
            ),
            ("ca_cert", PropertySchema::string("Taken.").updatable()),
            ("insecure", PropertySchema::boolean("Taken.").default(false).updatable()),
        ];
        let about = "A stack below this one, from the text of a template.";
        let schema = since("OS::Heat::Stack", about, "2014.2")
            .property(
                "context",
                PropertySchema::fields("Where the stack is made; here it is made here.", context)
                    .updatable(),
            )
            .property(
                "template",
                PropertySchema::string("The text of the template.").required().updatable(),
            )
            .property(
                "timeout",
                PropertySchema::integer("How many minutes a change of it may take.").updatable(),
            )
            .property(
                "parameters",
                PropertySchema::map("Values for its parameters.").default(json!({})).updatable(),
            )
            .attribute("stack_name", AttributeSchema::new("What it is called.").of(Kind::String))
            .attribute(OUTPUTS, AttributeSchema::new("What it gives.").of(Kind::Map));
        Stack { is_aws: false, schema }
    }

    pub(super) fn aws() -> Stack {
        let about = "A stack below this one, from a template among the files of this one.";
        let mut schema = since("AWS::CloudFormation::Stack", about, "2014.1")
            .property(
                "TemplateURL",
                PropertySchema::string("The name of the template among the files.")
                    .required()
                    .updatable(),
            )
            .property(
                "TimeoutInMinutes",
                PropertySchema::integer("How many minutes a change of it may take.").updatable(),
            )
            .property("Parameters", PropertySchema::map("Values for its parameters.").updatable());
        schema.open_attributes.push("Outputs.".to_owned());
        Stack { is_aws: true, schema }
    }

    /// The text of the template, and what it is called.
    fn text<'a>(
        &self,
        properties: &'a Map<String, Value>,
        files: &'a Map<String, Value>,
    ) -> Result<(&'a str, &'a str), String> {
        if !self.is_aws {
            return Ok(("template", properties.text("template").unwrap_or_default()));
        }
        let url = properties.text("TemplateURL").unwrap_or_default();
        let missing =
            || format!("Could not fetch remote template '{url}': it is not among the files");
        files.text(url).map(|text| (url, text)).ok_or_else(missing)
    }

    fn make(&self, ctx: &Ctx<'_>) -> Progress {
        let properties = &ctx.wanted.properties;
        let secret =
            properties.map("context").and_then(|context| context.text("credential_secret_id"));
        if secret.is_some_and(|secret| !secret.is_empty()) {
            return Progress::failed(
                "NotSupported",
                "stacks are made in the name of the stack above; leave out credential_secret_id",
            );
        }
        let read = self.text(properties, ctx.files);
        let read = read.and_then(|(name, text)| {
            Template::from_text(name, text).map_err(|wrong| wrong.to_string())
        });
        let template = match read {
            Ok(template) => template.to_json(),
            Err(words) => return Progress::failed("StackValidationFailed", words),
        };
        let (given, minutes) = if self.is_aws {
            ("Parameters", "TimeoutInMinutes")
        } else {
            ("parameters", "timeout")
        };
        let minutes = properties
            .integer(minutes)
            .and_then(|minutes| u64::try_from(minutes).ok())
            .filter(|minutes| *minutes > 0);
        let form = ChildForm {
            template,
            parameters: properties.map(given).cloned().unwrap_or_default(),
            timeout: minutes.map(|minutes| Span::from_secs(minutes.saturating_mul(60))),
            environment: ChildEnvironment::Whole,
            ..ChildForm::default()
        };
        apply(ctx, Change::of_metadata(ctx), form)
    }

    fn told(&self, ctx: &Ctx<'_>) -> Progress {
        follow(ctx, || {
            let Some(child) = ctx.child.filter(|_| is_making(ctx)) else {
                return Change::default();
            };
            let outputs = Value::Object(child.outputs.clone());
            let change = Change::default();
            if self.is_aws {
                return Change { reference: arn(&ctx.seen).as_ref().map(plain), ..change }
                    .attribute(OUTPUTS, outputs);
            }
            change.attribute("stack_name", child.name.to_string()).attribute(OUTPUTS, outputs)
        })
    }
}

impl Plugin for Stack {
    fn schema(&self) -> &ResourceSchema {
        &self.schema
    }

    deeds_below!();

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let text = given.properties.text("template").filter(|_| !self.is_aws);
        let wrong = text.and_then(|text| Template::from_text("template", text).err());
        wrong
            .map(|wrong| format!("Failed validating stack template: {wrong}"))
            .into_iter()
            .collect()
    }

    fn lean(&self, _: &Ctx<'_>, _: &[String]) -> Lean {
        Lean::Update
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(self.make(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(self.make(ctx))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(self.told(ctx))
    }

    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        let name = path.first().and_then(Value::as_str).unwrap_or_default();
        if self.is_aws {
            let Some(output) = name.strip_prefix("Outputs.") else {
                return Err(NoAttribute(name.to_owned()));
            };
            let outputs = seen.body.attributes.map(OUTPUTS);
            let value = outputs
                .and_then(|outputs| outputs.get(output))
                .ok_or_else(|| NoAttribute(name.to_owned()))?;
            return Ok(walk(value, &path[1..]));
        }
        seen.stored_attribute(path)
    }

    fn attributes(&self, seen: &Seen<'_>) -> Map<String, Value> {
        seen.body.attributes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ChildWish;
    use super::super::bench::{Bench, child_of, done, failed, got, member, waits};
    use super::*;
    use hostler_model::stack::{DeedKind, StackAction, StackStanding};

    const TEMPLATE: &str =
        "heat_template_version: 2016-10-14\nresources:\n  a:\n    type: OS::Heat::None\n";

    fn form(progress: Progress) -> ChildForm {
        match waits(progress).0.child {
            Some(ChildWish::Apply(form)) => *form,
            other => panic!("not applied: {other:?}"),
        }
    }

    #[test]
    fn properties_become_parameters() {
        let cases = [
            (json!({"a": "x", "b": null, "c": 3}), json!({"a": "x", "c": 3})),
            (json!({"l": ["a", null, "b"]}), json!({"l": "a,,b"})),
            (json!({"l": []}), json!({"l": ""})),
            (
                json!({"l": [{"k": "v", "n": 1}, {"k": true}]}),
                json!({"l": ".member.0.k=v,.member.0.n=1,.member.1.k=True"}),
            ),
            (json!({"m": {"deep": [1]}}), json!({"m": {"deep": [1]}})),
        ];
        for (properties, wanted) in cases {
            assert_eq!(Value::Object(parameters(properties.as_object().unwrap())), wanted);
        }
    }

    #[test]
    fn a_template_is_a_stack_below() {
        let plugin = TemplateResource::new();
        let bench = Bench::new("n")
            .properties(json!({"p": ["x"]}))
            .template(json!({"heat_template_version": "2016-10-14"}));
        let form = form(bench.run(|ctx| got(plugin.update(ctx, &[]))));
        assert_eq!(
            (form.parameters["p"].clone(), form.wraps.as_deref()),
            (json!("x"), Some("OS::Heat::Whatever"))
        );
        assert!(
            failed(Bench::new("n").run(|ctx| got(plugin.create(ctx))))
                .contains("Unknown error retrieving")
        );
        assert_eq!(bench.with(|ctx| plugin.lean(ctx, &[])), Lean::Update);

        let mut child = child_of(
            StackStanding::completed(StackAction::Create),
            json!({}),
            vec![member("a", 1.0, json!({"ip": ["1", "2"]}))],
        );
        child.outputs = json!({"o": {"k": [5]}}).as_object().unwrap().clone();
        let bench = bench.child(child).deed(DeedKind::Create);
        let change = done(bench.run(|ctx| got(plugin.look(ctx))));
        assert!(change.reference.as_ref().unwrap().starts_with("arn:openstack:heat::"));
        let bench = bench.after(&change);
        let seen = bench.seen();
        let attribute = |path: Value| plugin.attribute(&seen, path.as_array().unwrap());
        assert_eq!(attribute(json!(["o", "k", 0])), Ok(json!(5)));
        assert_eq!(attribute(json!(["resource.a"])), Ok(json!("id-a")));
        assert_eq!(attribute(json!(["resource.a.ip", 1])), Ok(json!("2")));
        assert_eq!(attribute(json!(["resource.a", "ip", 0])), Ok(json!("1")));
        assert_eq!(attribute(json!(["resource.b", "ip"])), Ok(Value::Null));
        assert_eq!(attribute(json!(["nothing"])), Err(NoAttribute("nothing".to_owned())));
        let mut child = bench.child.clone().unwrap();
        child.outputs.insert(REFERENCE.to_owned(), json!("chosen"));
        assert_eq!(plugin.reference(&bench.child(child).seen()), json!("chosen"));
    }

    #[test]
    fn a_stack_is_the_text_of_a_template() {
        let plugin = Stack::heat();
        let bench = Bench::new("s")
            .properties(json!({"template": TEMPLATE, "timeout": 2, "parameters": {"p": 1}}));
        let form = form(bench.run(|ctx| got(plugin.create(ctx))));
        assert_eq!(
            (form.timeout, form.parameters["p"].clone()),
            (Some(Span::from_secs(120)), json!(1))
        );
        assert_eq!(
            (form.environment, &form.template["resources"]["a"]["type"]),
            (ChildEnvironment::Whole, &json!("OS::Heat::None"))
        );
        let elsewhere = Bench::new("s")
            .properties(json!({"template": TEMPLATE, "context": {"credential_secret_id": "x"}}));
        assert!(failed(elsewhere.run(|ctx| got(plugin.create(ctx)))).starts_with("NotSupported"));
        let properties = json!({"template": "- no"});
        assert_eq!(plugin.validate(&Given::test("s", properties.as_object().unwrap())).len(), 1);
        let mut child =
            child_of(StackStanding::completed(StackAction::Create), json!({}), Vec::new());
        child.outputs = json!({"o": "v"}).as_object().unwrap().clone();
        let bench = bench.child(child).deed(DeedKind::Create);
        let change = done(bench.run(|ctx| got(plugin.look(ctx))));
        let attributes = change.attributes.unwrap();
        assert_eq!(
            (&attributes["stack_name"], &attributes[OUTPUTS]),
            (&json!("demo-group-abc"), &json!({"o": "v"}))
        );
    }

    #[test]
    fn a_template_url_is_a_file() {
        let plugin = Stack::aws();
        let bench = Bench::new("s")
            .properties(json!({"TemplateURL": "http://x/t.yaml", "Parameters": {"p": "v"}}));
        assert!(
            failed(bench.run(|ctx| got(plugin.create(ctx))))
                .contains("Could not fetch remote template 'http://x/t.yaml'")
        );
        let bench = bench.file("http://x/t.yaml", TEMPLATE);
        assert_eq!(form(bench.run(|ctx| got(plugin.create(ctx)))).parameters["p"], json!("v"));
        let bench = bench.attributes(json!({"outputs": {"o": [7]}}));
        let seen = bench.seen();
        assert_eq!(plugin.attribute(&seen, &[json!("Outputs.o"), json!(0)]), Ok(json!(7)));
        assert!(plugin.attribute(&seen, &[json!("Outputs.x")]).is_err());
    }
}
