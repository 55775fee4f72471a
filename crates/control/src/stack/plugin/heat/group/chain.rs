//! `OS::Heat::ResourceChain`: resources of several types with the same properties, one after the other.

use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::super::read::Read;
use super::super::super::{
    Change, ChildForm, Ctx, Doing, Lean, NoAttribute, Plugin, Progress, Seen, at_once,
};
use super::super::below::{apply, deeds_below, follow, lean};
use super::super::since;
use super::resource_group::named_attribute;
use super::view::{self, Order};
use super::{template_of, without_nothing};

pub(crate) struct ResourceChain(ResourceSchema);

/// Each requires the one before it, unless they are made at the same time.
fn chained(properties: &Map<String, Value>) -> Value {
    let given = properties.get("resource_properties").filter(|value| !value.is_null());
    let is_chained = !properties.flag("concurrent");
    let member = |(at, kind): (usize, &str)| {
        let mut member = Map::from_iter([("type".to_owned(), json!(kind))]);
        if let Some(given) = given {
            member.insert("properties".to_owned(), given.clone());
        }
        if is_chained && at > 0 {
            member.insert("depends_on".to_owned(), json!([(at - 1).to_string()]));
        }
        (at.to_string(), without_nothing(member))
    };
    template_of(properties.texts("resources").into_iter().enumerate().map(member))
}

impl ResourceChain {
    pub(crate) fn new() -> ResourceChain {
        let about =
            "Resources of several types with the same properties, each after the one before it.";
        let mut schema = since("OS::Heat::ResourceChain", about, "6.0.0")
            .property(
                "resources",
                PropertySchema::list("The types, in their order.").required().updatable(),
            )
            .property(
                "concurrent",
                PropertySchema::boolean("They do not wait for one another.").default(false),
            )
            .property("resource_properties", PropertySchema::map("The properties of all of them."))
            .attribute(
                "refs",
                AttributeSchema::new("What `get_resource` gives for every member.").of(Kind::List),
            )
            .attribute(
                "attributes",
                AttributeSchema::new("An attribute of every member, by their names.").of(Kind::Map),
            );
        schema.open_attributes.push(String::new());
        ResourceChain(schema)
    }

    fn make(ctx: &Ctx<'_>) -> Progress {
        let form = ChildForm { template: chained(&ctx.wanted.properties), ..ChildForm::default() };
        apply(ctx, Change::of_metadata(ctx), form)
    }
}

impl Plugin for ResourceChain {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    deeds_below!();

    fn lean(&self, _: &Ctx<'_>, changed: &[String]) -> Lean {
        lean(&self.0, changed)
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(ResourceChain::make(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(ResourceChain::make(ctx))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(follow(ctx, Change::default))
    }

    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        named_attribute(seen, path)
    }

    fn attributes(&self, seen: &Seen<'_>) -> Map<String, Value> {
        Map::from_iter([("refs".to_owned(), view::refs(seen, Order::Named))])
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::ChildWish;
    use super::super::super::bench::{Bench, child_of, done, got, member, waits};
    use super::*;
    use hostler_model::stack::{DeedKind, StackAction, StackStanding};

    #[test]
    fn members_follow_one_another() {
        let properties = json!({"resources": ["A", "B", "C"], "resource_properties": {"p": 1, "n": null}, "concurrent": false});
        let template = chained(properties.as_object().unwrap());
        assert_eq!(template["resources"]["0"], json!({"type": "A", "properties": {"p": 1}}));
        assert_eq!(template["resources"]["2"]["depends_on"], json!(["1"]));
        let properties = json!({"resources": ["A", "B"], "concurrent": true});
        assert_eq!(
            chained(properties.as_object().unwrap())["resources"],
            json!({"0": {"type": "A"}, "1": {"type": "B"}})
        );
    }

    #[test]
    fn a_chain_is_a_stack_below() {
        let plugin = ResourceChain::new();
        let bench = Bench::new("c").properties(json!({"resources": ["A"]})).deed(DeedKind::Create);
        let (change, _) = waits(bench.run(|ctx| got(plugin.create(ctx))));
        let Some(ChildWish::Apply(form)) = change.child else { panic!("not applied") };
        let view = child_of(
            StackStanding::completed(StackAction::Create),
            form.template,
            vec![member("0", 1.0, json!({"ip": "a"}))],
        );
        let bench = bench.child(view);
        done(bench.run(|ctx| got(plugin.look(ctx))));
        assert_eq!(plugin.attribute(&bench.seen(), &[json!("ip")]), Ok(json!(["a"])));
        assert_eq!(plugin.attributes(&bench.seen())["refs"], json!(["id-0"]));
        bench.with(|ctx| {
            assert_eq!(plugin.lean(ctx, &["concurrent".to_owned()]), Lean::BySchema);
            assert_eq!(plugin.lean(ctx, &["resources".to_owned()]), Lean::Update);
        });
    }
}
