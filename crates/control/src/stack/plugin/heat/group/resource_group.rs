//! `OS::Heat::ResourceGroup`: many of the same, called by numbers.

use std::collections::{BTreeMap, BTreeSet};

use hostler_engine::stack::scale::{RemovalMode, Removed, names, removed};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::super::read::Read;
use super::super::super::{
    Change, Ctx, Doing, Given, Lean, NoAttribute, Plugin, Progress, Seen, at_once,
};
use super::super::below::{deeds_below, lean};
use super::super::plain::plain;
use super::super::since;
use super::plan::{Plan, Way, Who, begin, go_on};
use super::view::{self, Order};
use super::{whole, without_nothing};

/// Names that are out, with commas between them.
const OUT: &str = "name_blacklist";
const REMOVED: &str = "removed_rsrc_list";

pub(crate) struct ResourceGroup(ResourceSchema);

/// How a group is made and changed, by its update policy.
pub(super) fn way_of(policy: &Value, is_creation: bool) -> Way {
    let map = |name: &str| {
        policy.get(name).and_then(Value::as_object).filter(|policy| !policy.is_empty())
    };
    let pause = |policy: &Map<String, Value>| policy.number("pause_time").unwrap_or(0.0);
    if is_creation {
        return map("batch_create").map_or(Way::Together, |policy| Way::InBatches {
            size: whole(policy, "max_batch_size").unwrap_or(1),
            pause: pause(policy),
        });
    }
    map("rolling_update").map_or(Way::Together, |policy| Way::Rolling {
        min_in_service: whole(policy, "min_in_service").unwrap_or(0),
        max_batch_size: whole(policy, "max_batch_size").unwrap_or(1),
        pause: pause(policy),
    })
}

/// The policies that groups of names have.
pub(super) fn policies(schema: ResourceSchema, has_least: bool) -> ResourceSchema {
    let batch = || PropertySchema::integer("How many at once.").default(1).range(Some(1), None);
    let pause = || {
        PropertySchema::number("How many seconds between batches.").default(0).range(Some(0), None)
    };
    let about = "How members are changed, when what they are to be changes.";
    let rolling = if has_least {
        let least = PropertySchema::integer("How many are left alone at any time.")
            .default(0)
            .range(Some(0), None);
        PropertySchema::fields(
            about,
            [("min_in_service", least), ("max_batch_size", batch()), ("pause_time", pause())],
        )
    } else {
        PropertySchema::fields(about, [("max_batch_size", batch()), ("pause_time", pause())])
    };
    let create = [("max_batch_size", batch()), ("pause_time", pause())];
    schema
        .policy("rolling_update", rolling)
        .policy("batch_create", PropertySchema::fields("How members are made.", create))
}

/// The definition of a member: its number stands wherever the variable stood.
fn definition(properties: &Map<String, Value>, name: &str) -> Value {
    let variable =
        properties.text("index_var").filter(|variable| !variable.is_empty()).unwrap_or("%index%");
    let mut definition = properties.map("resource_def").cloned().unwrap_or_default();
    if let Some(inner) = definition.get_mut("properties") {
        put(inner, variable, name);
    }
    without_nothing(definition)
}

fn put(value: &mut Value, variable: &str, name: &str) {
    match value {
        Value::String(text) if text.contains(variable) => *text = text.replace(variable, name),
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, variable, name)),
        Value::Object(map) => map.values_mut().for_each(|item| put(item, variable, name)),
        _ => {}
    }
}

fn out_before(data: &Map<String, Value>) -> BTreeSet<String> {
    let text = data.text(OUT).unwrap_or_default();
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The names that are out now.
fn out(properties: &Map<String, Value>, seen: &Seen<'_>) -> BTreeSet<String> {
    let policies = properties.list("removal_policies").iter().filter_map(Value::as_object);
    let asked: Vec<String> =
        policies.flat_map(|policy| policy.list("resource_list")).map(plain).collect();
    let members: BTreeMap<String, String> = match seen.child {
        Some(_) => view::members(seen, Order::Named)
            .into_iter()
            .map(|one| (one.name.clone(), plain(&one.reference)))
            .collect(),
        None => asked.iter().map(|name| (name.clone(), name.clone())).collect(),
    };
    let mode = properties
        .text("removal_policies_mode")
        .and_then(|mode| mode.parse().ok())
        .unwrap_or(RemovalMode::Append);
    removed(Removed {
        mode,
        before: &out_before(&seen.body.data),
        members: &members,
        asked: &asked,
    })
}

impl ResourceGroup {
    pub(crate) fn new() -> ResourceGroup {
        ResourceGroup(schema())
    }

    fn make(ctx: &Ctx<'_>, way: Way) -> Progress {
        let properties = &ctx.wanted.properties;
        let out = out(properties, &ctx.seen);
        let count = whole(properties, "count").unwrap_or(1);
        let mut data = ctx.body.data.clone();
        if out.is_empty() {
            data.shift_remove(OUT);
        } else {
            data.insert(OUT.to_owned(), json!(out.iter().cloned().collect::<Vec<_>>().join(",")));
        }
        let plan = Plan { who: Who::Names(names(count as usize, &out)), way, out };
        begin(ctx, &plan, &|name| definition(properties, name), Change::of_metadata(ctx), data)
    }
}

impl Plugin for ResourceGroup {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    deeds_below!();

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let kind =
            given.properties.map("resource_def").and_then(|definition| definition.get("type"));
        let is_wrong = kind.is_some_and(|kind| kind.as_str() == Some(""));
        if is_wrong { vec!["resource_def names no type".to_owned()] } else { Vec::new() }
    }

    fn lean(&self, _: &Ctx<'_>, changed: &[String]) -> Lean {
        lean(&self.0, changed)
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(ResourceGroup::make(ctx, way_of(&ctx.wanted.update_policy, true)))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, changed: &'a [String]) -> Doing<'a> {
        let is_other = changed.iter().any(|name| name == "resource_def");
        let way = if is_other { way_of(&ctx.wanted.update_policy, false) } else { Way::Together };
        at_once(ResourceGroup::make(ctx, way))
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let definition = |name: &str| definition(&ctx.wanted.properties, name);
        at_once(go_on(ctx, &definition, |data| Change::default().data(data)))
    }

    fn attribute(&self, seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
        named_attribute(seen, path)
    }

    fn attributes(&self, seen: &Seen<'_>) -> Map<String, Value> {
        let out: Vec<_> = out_before(&seen.body.data).into_iter().collect();
        let entries = [
            ("refs", view::refs(seen, Order::Named)),
            ("refs_map", view::refs_map(seen, Order::Named)),
            (REMOVED, json!(out)),
        ];
        entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Attributes of groups whose members have names: their own, those of one member, and any of all members, as a list.
pub(super) fn named_attribute(seen: &Seen<'_>, path: &[Value]) -> Result<Value, NoAttribute> {
    let name = path.first().and_then(Value::as_str).unwrap_or_default();
    let rest = path.get(1..).unwrap_or_default();
    let order = Order::Named;
    Ok(match name {
        "refs" => super::super::super::walk(&view::refs(seen, order), rest),
        "refs_map" => super::super::super::walk(&view::refs_map(seen, order), rest),
        REMOVED => json!(out_before(&seen.body.data).into_iter().collect::<Vec<_>>()),
        "attributes" if rest.is_empty() => return Err(NoAttribute(name.to_owned())),
        "attributes" => view::map_of(seen, order, rest),
        "show" => Value::Null,
        _ if name.starts_with("resource.") => {
            view::of_member(seen, order, path).unwrap_or_default()
        }
        _ => view::list_of(seen, order, path),
    })
}

fn schema() -> ResourceSchema {
    let definition = [
        ("type", PropertySchema::string("The type of every member.").required()),
        ("properties", PropertySchema::map("The properties of every member.")),
        ("metadata", PropertySchema::map("The metadata of every member.")),
    ];
    let removal = [(
        "resource_list",
        PropertySchema::list("Names of members, or what `get_resource` gives for them.")
            .default(json!([])),
    )];
    let about = "Many of the same, called by numbers from 0.";
    let mode = "Whether names that were taken out once stay out (`append`), or are out only as long as they are named (`update`).";
    let schema = since("OS::Heat::ResourceGroup", about, "2014.1")
        .property(
            "count",
            PropertySchema::integer("How many.").default(1).range(Some(0), None).updatable(),
        )
        .property(
            "index_var",
            PropertySchema::string(
                "Wherever it stands in the properties, the number of the member stands.",
            )
            .default("%index%")
            .length(Some(3), None),
        )
        .property(
            "resource_def",
            PropertySchema::fields("What every member is.", definition).required().updatable(),
        )
        .property(
            "removal_policies",
            PropertySchema::list_of(
                "Members that are taken out, and whose names are not used again.",
                PropertySchema::fields("Some members.", removal),
            )
            .default(json!([]))
            .updatable(),
        )
        .property(
            "removal_policies_mode",
            PropertySchema::string(mode)
                .default("append")
                .updatable()
                .allowed(["append", "update"]),
        )
        .attribute(
            "refs",
            AttributeSchema::new("What `get_resource` gives for every member.").of(Kind::List),
        )
        .attribute(
            "refs_map",
            AttributeSchema::new("The same, by the names of the members.").of(Kind::Map),
        )
        .attribute(
            "attributes",
            AttributeSchema::new(
                "An attribute of every member, by their names: `[group, attributes, NAME]`.",
            )
            .of(Kind::Map),
        )
        .attribute(REMOVED, AttributeSchema::new("Names that were taken out.").of(Kind::List));
    let mut schema = policies(schema, true).of_members("resource_def");
    schema.open_attributes.push(String::new());
    schema
}

#[cfg(test)]
mod tests {
    use super::super::super::super::ChildWish;
    use super::super::super::bench::{Bench, child_of, done, got, member, waits};
    use super::super::members_of;
    use super::*;
    use hostler_model::stack::{DeedKind, StackAction, StackStanding};

    fn properties(count: u32) -> Value {
        json!({"count": count, "index_var": "%index%", "removal_policies_mode": "append", "removal_policies": [],
               "resource_def": {"type": "T", "properties": {"name": "web-%index%", "l": ["%index%", 1], "n": null}}})
    }

    fn template(progress: Progress) -> (Value, Change) {
        let (change, _) = waits(progress);
        match change.child.clone() {
            Some(ChildWish::Apply(form)) => (form.template, change),
            other => panic!("not applied: {other:?}"),
        }
    }

    fn names_of(template: &Value) -> Vec<String> {
        members_of(template).into_iter().map(|(name, _)| name).collect()
    }

    fn with_members(bench: Bench, template: Value) -> Bench {
        let rows = names_of(&template).iter().map(|name| member(name, 1.0, json!({}))).collect();
        bench.child(child_of(StackStanding::completed(StackAction::Create), template, rows))
    }

    #[test]
    fn members_have_their_number() {
        let plugin = ResourceGroup::new();
        let bench = Bench::new("g").properties(properties(2)).deed(DeedKind::Create);
        let (template, change) = template(bench.run(|ctx| got(plugin.create(ctx))));
        assert_eq!(
            template["resources"]["1"],
            json!({"type": "T", "properties": {"name": "web-1", "l": ["1", 1]}})
        );
        let bench = with_members(bench.after(&change), template);
        let change = done(bench.run(|ctx| got(plugin.look(ctx))));
        assert_eq!(change.data, Some(Map::new()));
    }

    #[test]
    fn names_that_were_taken_out_are_not_used_again() {
        let plugin = ResourceGroup::new();
        let three = template_of_names(&["0", "1", "2"]);
        let mut wanted = properties(3);
        wanted["removal_policies"] = json!([{"resource_list": ["1", "unknown"]}]);
        let bench = with_members(Bench::new("g").properties(wanted).deed(DeedKind::Update), three);
        let (template, change) =
            template(bench.run(|ctx| got(plugin.update(ctx, &["removal_policies".to_owned()]))));
        assert_eq!(names_of(&template), ["0", "2", "3"]);
        assert_eq!(change.data.as_ref().unwrap()[OUT], json!("1"));
        let later = with_members(bench.after(&change).properties(properties(4)), template);
        let (template, _) =
            self::template(later.run(|ctx| got(plugin.update(ctx, &["count".to_owned()]))));
        assert_eq!(names_of(&template), ["0", "2", "3", "4"]);
    }

    #[test]
    fn a_reference_takes_its_member_out() {
        let plugin = ResourceGroup::new();
        let mut wanted = properties(1);
        wanted["removal_policies"] = json!([{"resource_list": ["id-0"]}]);
        let bench = with_members(Bench::new("g").properties(wanted), template_of_names(&["0"]));
        let (template, _) = template(bench.run(|ctx| got(plugin.update(ctx, &[]))));
        assert_eq!(names_of(&template), ["1"]);
    }

    fn template_of_names(names: &[&str]) -> Value {
        let properties = properties(1);
        super::super::template_of(
            names.iter().map(|name| {
                ((*name).to_owned(), definition(properties.as_object().unwrap(), name))
            }),
        )
    }

    #[test]
    fn another_definition_is_rolled_out() {
        let plugin = ResourceGroup::new();
        let mut wanted = properties(3);
        wanted["resource_def"]["type"] = json!("U");
        let policy = json!({"rolling_update": {"min_in_service": 1, "max_batch_size": 2, "pause_time": 10}, "batch_create": null});
        let bench = Bench::new("g").properties(wanted).policy(policy).deed(DeedKind::Update);
        let bench = with_members(bench, template_of_names(&["0", "1", "2"]));
        let (first, change) =
            template(bench.run(|ctx| got(plugin.update(ctx, &["resource_def".to_owned()]))));
        let types = |template: &Value| {
            members_of(template).iter().filter(|(_, one)| one["type"] == "U").count()
        };
        assert_eq!(types(&first), 2);
        let bench = with_members(bench.after(&change), first);
        let (paused, until) = waits(bench.at(1.0).run(|ctx| got(plugin.look(ctx))));
        assert_eq!((paused.child.clone(), until), (None, bench.seconds(11.0)));
        let bench = bench.after(&paused);
        let (second, change) = template(bench.at(11.0).run(|ctx| got(plugin.look(ctx))));
        assert_eq!(types(&second), 3);
        let bench = with_members(bench.after(&change), second);
        done(bench.at(20.0).run(|ctx| got(plugin.look(ctx))));
    }

    #[test]
    fn attributes_are_those_of_the_members() {
        let plugin = ResourceGroup::new();
        let bench = Bench::new("g").data(json!({OUT: "1,7"}));
        let rows = vec![member("0", 1.0, json!({"ip": "a"})), member("2", 1.0, json!({"ip": "b"}))];
        let bench = bench.child(child_of(
            StackStanding::completed(StackAction::Create),
            template_of_names(&["0", "2"]),
            rows,
        ));
        let seen = bench.seen();
        let of = |path: Value| plugin.attribute(&seen, path.as_array().unwrap());
        assert_eq!(of(json!(["refs", 1])), Ok(json!("id-2")));
        assert_eq!(of(json!(["attributes", "ip"])), Ok(json!({"0": "a", "2": "b"})));
        assert_eq!(of(json!(["ip"])), Ok(json!(["a", "b"])));
        assert_eq!(of(json!(["resource.2.ip"])), Ok(json!("b")));
        assert_eq!(of(json!([REMOVED])), Ok(json!(["1", "7"])));
        assert_eq!(of(json!(["attributes"])), Err(NoAttribute("attributes".to_owned())));
    }
}
