//! Types that only keep what they are given: `OS::Heat::Value`, `OS::Heat::None` and `OS::Heat::AccessPolicy`.

use serde_json::{Map, Number, Value};

use super::super::read::{Read, spaced};
use super::super::{Change, Ctx, Doing, Given, Lean, NoAttribute, Plugin, Progress, Seen, at_once};
use super::since;
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema, Status};

/// A value with a name, of a type where one is chosen.
pub(super) struct Kept(ResourceSchema);

const TYPES: [&str; 5] = ["string", "number", "comma_delimited_list", "json", "boolean"];

impl Kept {
    pub(super) fn new() -> Kept {
        let about = "A value with a name: what several places use is written, or worked out, once.";
        Kept(
            since("OS::Heat::Value", about, "7.0.0")
                .property("value", PropertySchema::any("Anything.").required().updatable())
                .property(
                    "type",
                    PropertySchema::string(
                        "What it is turned into; as it is where nothing is said.",
                    )
                    .updatable()
                    .allowed(TYPES),
                )
                .attribute(
                    "value",
                    AttributeSchema::new("The value, of the type that was chosen."),
                ),
        )
    }
}

/// The value as one of a type; nothing where it cannot be one.
fn convert(value: &Value, kind: Option<&str>) -> Result<Value, String> {
    let wrong = |what: &str| Err(format!("Value '{}' is not {what}", plain(value)));
    match (kind, value) {
        (None, _) | (Some("json"), Value::Object(_)) | (Some("boolean"), Value::Bool(_)) => {
            Ok(value.clone())
        }
        (Some("comma_delimited_list"), Value::Array(_)) => Ok(value.clone()),
        (Some("string"), Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            Ok(Value::String(plain(value)))
        }
        (Some("number"), Value::Number(_)) => Ok(value.clone()),
        (Some("number"), Value::String(text)) => match number(text) {
            Some(number) => Ok(Value::Number(number)),
            None => wrong("a number"),
        },
        (Some("boolean"), Value::String(text)) => match text.to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => wrong("a valid boolean"),
        },
        (Some("comma_delimited_list"), _) => wrong("a list"),
        (Some("json"), _) => wrong("a map"),
        (Some("boolean"), _) => wrong("a valid boolean"),
        (Some("string"), _) => Err(format!("Value must be a string; got {}", spaced(value))),
        (Some(_), _) => wrong("a number"),
    }
}

fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let whole = text.parse::<i64>().ok().map(Number::from);
    whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
}

/// As a text: flags with a capital letter.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => spaced(other),
    }
}

impl Kept {
    fn keep(ctx: &Ctx<'_>) -> Progress {
        let given = ctx.wanted.properties.get("value").unwrap_or(&Value::Null);
        let kind = ctx.property("type").and_then(Value::as_str);
        let change = Change {
            physical: Some(ctx.object_name()),
            metadata: Some(ctx.wanted.metadata.clone()),
            ..Change::default()
        };
        match convert(given, kind) {
            Ok(value) => Progress::Done(change.attribute("value", value)),
            Err(words) => Progress::failed("ValueError", words),
        }
    }
}

impl Plugin for Kept {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let kind = given.properties.text("type");
        let value = given.properties.get("value").filter(|value| !value.is_null());
        value.and_then(|value| convert(value, kind).err()).into_iter().collect()
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        at_once(Kept::keep(ctx))
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        at_once(Kept::keep(ctx))
    }

    /// What it is follows from its properties; what it was called stays.
    fn adopt<'a>(&'a self, ctx: &'a Ctx<'a>, left: &'a Map<String, Value>) -> Doing<'a> {
        let left = Change::adopted(left);
        at_once(match Kept::keep(ctx) {
            Progress::Done(change) => Progress::Done(Change {
                physical: left.physical.or(change.physical),
                metadata: left.metadata.or(change.metadata),
                ..change
            }),
            other => other,
        })
    }

    fn is_kept_after_failure(&self, seen: &Seen<'_>) -> bool {
        seen.row.physical.is_some()
    }
}

/// Stands for something that is not wanted here: it takes any properties, and has any attribute, with nothing in it.
pub(super) struct Nothing(ResourceSchema);

impl Nothing {
    pub(super) fn new() -> Nothing {
        let about = "Nothing. Environments map types to it that are not wanted: every property is taken, every attribute is empty.";
        Nothing(ResourceSchema { takes_anything: true, ..since("OS::Heat::None", about, "5.0.0") })
    }

    /// A type that there is no more; stacks that have one can go on.
    pub(super) fn restarter() -> Nothing {
        let about = "Nothing any more: it stands where older templates have it.";
        let mut schema = ResourceSchema {
            takes_anything: true,
            ..since("OS::Heat::HARestarter", about, "10.0.0")
        };
        schema.support.status = Status::Hidden;
        Nothing(schema)
    }
}

impl Plugin for Nothing {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn lean(&self, _: &Ctx<'_>, _: &[String]) -> Lean {
        Lean::Unchanged
    }

    fn is_kept_after_failure(&self, _: &Seen<'_>) -> bool {
        true
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let data =
            Map::from_iter([("is_placeholder".to_owned(), Value::String("True".to_owned()))]);
        at_once(Progress::Done(Change::physical(ctx.object_name()).data(data)))
    }

    fn attribute(&self, _: &Seen<'_>, _: &[Value]) -> Result<Value, NoAttribute> {
        Ok(Value::Null)
    }
}

/// Says which resources may be looked at by those who have only the credentials of a resource.
pub(super) struct AccessPolicy(ResourceSchema);

impl AccessPolicy {
    pub(super) fn new() -> AccessPolicy {
        let about = "Names resources that may be looked at from inside of others. Signed addresses give no right to look at anything, \
                     so here it is a note that is kept and checked.";
        AccessPolicy(since("OS::Heat::AccessPolicy", about, "2014.1").property(
            "AllowedResources",
            PropertySchema::list("Names of resources of this stack.").required(),
        ))
    }
}

impl Plugin for AccessPolicy {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let names = ctx.wanted.properties.texts("AllowedResources");
        let missing = names.into_iter().find(|name| ctx.desk.sibling(name).is_none());
        at_once(match missing {
            Some(name) => {
                let words = format!("AccessPolicy resource {name} not in stack");
                Progress::failed("ValueError", words)
            }
            None => Progress::Done(Change::physical(ctx.object_name())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, failed, got};
    use super::*;
    use serde_json::json;

    #[test]
    fn values_become_what_was_chosen() {
        let good = [
            (json!({"a": 1}), None, json!({"a": 1})),
            (json!(null), None, json!(null)),
            (json!("3"), Some("number"), json!(3)),
            (json!("1.5"), Some("number"), json!(1.5)),
            (json!(7), Some("number"), json!(7)),
            (json!(7), Some("string"), json!("7")),
            (json!(true), Some("string"), json!("True")),
            (json!("tRue"), Some("boolean"), json!(true)),
            (json!(false), Some("boolean"), json!(false)),
            (json!(["a"]), Some("comma_delimited_list"), json!(["a"])),
            (json!({"a": 1}), Some("json"), json!({"a": 1})),
        ];
        for (value, kind, wanted) in good {
            assert_eq!(convert(&value, kind), Ok(wanted), "{value} as {kind:?}");
        }
        let bad = [
            (json!("x"), "number"),
            (json!([1]), "number"),
            (json!("on"), "boolean"),
            (json!(1), "boolean"),
            (json!("a,b"), "comma_delimited_list"),
            (json!("{}"), "json"),
            (json!({"a": 1}), "string"),
        ];
        for (value, kind) in bad {
            assert!(convert(&value, Some(kind)).is_err(), "{value} as {kind}");
        }
    }

    #[test]
    fn a_value_is_changed_where_it_is() {
        let plugin = Kept::new();
        let bench = Bench::new("v").properties(json!({"value": "5", "type": "number"}));
        let change = done(bench.run(|ctx| got(plugin.update(ctx, &[]))));
        assert_eq!(change.attributes.unwrap()["value"], json!(5));
        let bench = Bench::new("v").properties(json!({"value": "x", "type": "number"}));
        assert_eq!(
            failed(bench.run(|ctx| got(plugin.create(ctx)))),
            "ValueError: Value 'x' is not a number"
        );
    }

    #[test]
    fn nothing_has_every_attribute_and_never_changes() {
        let plugin = Nothing::new();
        let bench = Bench::new("n").properties(json!({"whatever": 1}));
        assert!(done(bench.run(|ctx| got(plugin.create(ctx)))).physical.is_some());
        bench.with(|ctx| {
            assert_eq!(plugin.attribute(&ctx.seen, &[json!("any"), json!(1)]), Ok(Value::Null));
            assert_eq!(plugin.lean(ctx, &["whatever".to_owned()]), Lean::Unchanged);
        });
    }

    #[test]
    fn an_access_policy_names_what_is_there() {
        let plugin = AccessPolicy::new();
        let bench = Bench::new("p").properties(json!({"AllowedResources": ["other"]}));
        assert_eq!(
            failed(bench.run(|ctx| got(plugin.create(ctx)))),
            "ValueError: AccessPolicy resource other not in stack"
        );
        let bench = bench.sibling(Bench::new("other"));
        assert!(done(bench.run(|ctx| got(plugin.create(ctx)))).physical.is_some());
    }
}
