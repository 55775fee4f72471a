//! `OS::Heat::RandomString`: a text that nobody can guess, for passwords and names.
//!
//! Every class and every sequence of characters has its least number of characters in the text; the rest is of all of them
//! together, and the order is shuffled. The salt is in nothing: another salt is another text, because every change of a
//! property takes another resource.

use serde_json::{Map, Value};

use super::super::read::Read;
use super::super::{Change, Ctx, Doing, Given, Plugin, Progress, Seen, at_once};
use super::since;
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema};

pub(super) struct RandomString(ResourceSchema);

const LENGTH: usize = 32;
const LENGTH_MAX: usize = 512;
const CLASSES: [(&str, &str); 7] = [
    ("lettersdigits", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    ("letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("lowercase", "abcdefghijklmnopqrstuvwxyz"),
    ("uppercase", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("digits", "0123456789"),
    ("hexdigits", "0123456789ABCDEF"),
    ("octdigits", "01234567"),
];

/// Characters, and how many of them there are at least.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chars {
    allowed: Vec<char>,
    least: usize,
}

fn chars_of(allowed: &str, least: Option<i64>) -> Chars {
    let mut allowed: Vec<char> = allowed.chars().collect();
    allowed.sort_unstable();
    allowed.dedup();
    let least = least.and_then(|least| usize::try_from(least).ok()).unwrap_or(1);
    Chars { allowed, least: least.min(LENGTH_MAX) }
}

fn class_of(name: &str, least: Option<i64>) -> Option<Chars> {
    let (_, allowed) = CLASSES.iter().find(|(class, _)| *class == name)?;
    Some(chars_of(allowed, least))
}

/// Sequences first, then classes; the class that was once called `sequence` is one more.
fn wanted_chars(properties: &Map<String, Value>) -> Vec<Chars> {
    let maps = |name| properties.list(name).iter().filter_map(Value::as_object);
    let sequences = maps("character_sequences")
        .filter_map(|map| Some(chars_of(map.text("sequence")?, map.integer("min"))));
    let classes = maps("character_classes").filter_map(|map| {
        class_of(map.text("class").unwrap_or("lettersdigits"), map.integer("min"))
    });
    let old = properties.text("sequence").and_then(|name| class_of(name, None));
    sequences.chain(classes).chain(old).filter(|chars| !chars.allowed.is_empty()).collect()
}

fn wanted_length(properties: &Map<String, Value>) -> usize {
    let length = properties.integer("length").and_then(|length| usize::try_from(length).ok());
    length.unwrap_or(LENGTH).min(LENGTH_MAX)
}

/// A text; `pick(n)` gives a number below `n`, each as likely as the others.
fn generate(length: usize, wanted: &[Chars], pick: &mut dyn FnMut(usize) -> usize) -> String {
    let mut chosen = Vec::with_capacity(length);
    for chars in wanted {
        chosen.extend((0..chars.least).map(|_| chars.allowed[pick(chars.allowed.len())]));
    }
    let mut all: Vec<char> =
        wanted.iter().flat_map(|chars| chars.allowed.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    if !all.is_empty() {
        let rest = length.saturating_sub(chosen.len());
        chosen.extend((0..rest).map(|_| all[pick(all.len())]));
    }
    for last in (1..chosen.len()).rev() {
        chosen.swap(last, pick(last + 1));
    }
    chosen.truncate(length);
    chosen.into_iter().collect()
}

impl RandomString {
    pub(super) fn new() -> RandomString {
        RandomString(schema())
    }
}

impl Plugin for RandomString {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn validate(&self, given: &Given<'_>) -> Vec<String> {
        let mins = |name| {
            given.properties.list(name).iter().filter_map(|map| map.as_object()?.integer("min"))
        };
        let least: i64 = mins("character_sequences").chain(mins("character_classes")).sum();
        let Some(length) = given.properties.integer("length") else { return Vec::new() };
        let words = "Length property cannot be smaller than combined character class and character sequence minimums";
        if least > length { vec![words.to_owned()] } else { Vec::new() }
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        let properties = &ctx.wanted.properties;
        let mut pick = |below| rand::random_range(0..below);
        let text = generate(wanted_length(properties), &wanted_chars(properties), &mut pick);
        at_once(Progress::Done(made(ctx.object_name(), text)))
    }

    fn adopt<'a>(&'a self, ctx: &'a Ctx<'a>, left: &'a Map<String, Value>) -> Doing<'a> {
        let text = left.map("resource_data").and_then(|data| data.text("value"));
        let name = left.text("resource_id").map_or_else(|| ctx.object_name(), str::to_owned);
        match text {
            Some(text) => at_once(Progress::Done(made(name, text.to_owned()))),
            None => {
                at_once(Progress::failed("ValueError", "there is no value in what was left of it"))
            }
        }
    }

    fn is_kept_after_failure(&self, seen: &Seen<'_>) -> bool {
        seen.row.physical.is_some()
    }
}

fn made(name: String, text: String) -> Change {
    let data = Map::from_iter([("value".to_owned(), Value::String(text.clone()))]);
    Change::physical(name).attribute("value", text.clone()).reference(text).data(data)
}

fn schema() -> ResourceSchema {
    let class = PropertySchema::fields(
        "A class",
        [
            (
                "class",
                PropertySchema::string("")
                    .default("lettersdigits")
                    .allowed(CLASSES.map(|(name, _)| name)),
            ),
            ("min", PropertySchema::integer("").default(1).range(Some(1), Some(512))),
        ],
    );
    let sequence = PropertySchema::fields(
        "A sequence",
        [
            ("sequence", PropertySchema::string("The characters.").required()),
            ("min", PropertySchema::integer("").default(1).range(Some(1), Some(512))),
        ],
    );
    since("OS::Heat::RandomString", "A text that nobody can guess.", "2014.1")
        .property(
            "length",
            PropertySchema::integer("How many characters.").default(32).range(Some(1), Some(512)),
        )
        .property(
            "sequence",
            PropertySchema::string("One class of characters.")
                .allowed(CLASSES.map(|(name, _)| name))
                .hidden(),
        )
        .property(
            "character_classes",
            PropertySchema::list_of(
                "Classes of characters, and how many characters there are of each at least.",
                class,
            )
            .default(serde_json::json!([{"class": "lettersdigits", "min": 1}])),
        )
        .property(
            "character_sequences",
            PropertySchema::list_of(
                "Characters of one's own, and how many there are of each such set at least.",
                sequence,
            ),
        )
        .property("salt", PropertySchema::string("Another value makes another text."))
        .attribute("value", AttributeSchema::new("The text. `get_resource` gives it too.").secret())
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, done, got};
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn every_class_has_its_least_number() {
        let cases = [
            (
                json!({"length": 10, "character_classes": [{"class": "digits", "min": 4}, {"class": "uppercase", "min": 6}]}),
                10,
            ),
            (json!({"length": 512, "character_classes": [{"class": "hexdigits", "min": 1}]}), 512),
            (json!({"length": 5, "character_sequences": [{"sequence": "!?", "min": 5}]}), 5),
            (
                json!({"length": 8, "character_sequences": [{"sequence": "aab", "min": 2}], "character_classes": [{"class": "octdigits", "min": 3}]}),
                8,
            ),
            (json!({"length": 4, "sequence": "digits"}), 4),
            (json!({"character_classes": [{"class": "lettersdigits", "min": 1}]}), 32),
        ];
        for (properties, length) in cases {
            let properties = map(properties);
            let wanted = wanted_chars(&properties);
            for _ in 0..50 {
                let text = generate(wanted_length(&properties), &wanted, &mut |n| {
                    rand::random_range(0..n)
                });
                assert_eq!(text.chars().count(), length);
                assert!(
                    text.chars().all(|c| wanted.iter().any(|chars| chars.allowed.contains(&c))),
                    "{text}"
                );
                for chars in &wanted {
                    let there = text.chars().filter(|c| chars.allowed.contains(c)).count();
                    assert!(there >= chars.least, "{text} has {there} of {chars:?}");
                }
            }
        }
    }

    #[test]
    fn hexadecimal_digits_are_upper_case() {
        let wanted = [class_of("hexdigits", Some(1)).unwrap()];
        let mut next = 0;
        let text = generate(16, &wanted, &mut |n| {
            next += 1;
            next % n
        });
        assert!(text.chars().all(|c| c.is_ascii_digit() || ('A'..='F').contains(&c)), "{text}");
    }

    #[test]
    fn what_is_made_is_what_is_referred_to() {
        let plugin = RandomString::new();
        let bench = Bench::new("pw").properties(
            json!({"length": 12, "character_classes": [{"class": "letters", "min": 1}]}),
        );
        let change = done(bench.run(|ctx| got(plugin.create(ctx))));
        let text = change.reference.clone().unwrap();
        assert_eq!(text.len(), 12);
        assert_eq!(change.attributes.unwrap()["value"], json!(text));
        assert_eq!(change.data.unwrap()["value"], json!(text));
        assert!(change.physical.unwrap().starts_with("demo-pw-"));
        let other = done(bench.run(|ctx| got(plugin.create(ctx))));
        assert_ne!(other.reference.unwrap(), text);
    }

    #[test]
    fn what_was_left_is_taken_over() {
        let plugin = RandomString::new();
        let bench = Bench::new("pw");
        let left = map(json!({"resource_id": "x-1", "resource_data": {"value": "secret"}}));
        let change = done(bench.run(|ctx| got(plugin.adopt(ctx, &left))));
        assert_eq!(
            (change.physical.as_deref(), change.reference.as_deref()),
            (Some("x-1"), Some("secret"))
        );
        let nothing = Map::new();
        assert!(matches!(bench.run(|ctx| got(plugin.adopt(ctx, &nothing))), Progress::Failed(..)));
    }

    #[test]
    fn minimums_have_to_fit() {
        let plugin = RandomString::new();
        let said = |value| {
            let properties = map(value);
            plugin.validate(&Given::test("pw", &properties))
        };
        assert!(
            said(json!({"length": 3, "character_classes": [{"class": "digits", "min": 3}]}))
                .is_empty()
        );
        let much = json!({"length": 3, "character_classes": [{"class": "digits", "min": 2}], "character_sequences": [{"sequence": "!", "min": 2}]});
        assert!(said(much)[0].starts_with("Length property cannot be smaller"));
    }
}
