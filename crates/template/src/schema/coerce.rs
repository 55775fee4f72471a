//! From what a template gives for properties to what they are declared to be.

use serde_json::{Map, Value};

use super::kind::Kind;
use super::known::Known;
use super::number::{integer, number};
use super::property::{Nested, PropertySchema};
use crate::function::python;
use crate::parameter::Checks;
use crate::place::Path;

/// Something wrong with a value, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: Path,
    pub message: String,
    /// The name that was not known, with the names that are.
    pub unknown: Option<(String, Vec<String>)>,
}

pub type Problems = Vec<Problem>;

fn problem(path: &Path, message: impl Into<String>) -> Problem {
    Problem { path: path.clone(), message: message.into(), unknown: None }
}

/// Takes the entries of a mapping by their declarations. What is declared and not given is there, too: its
/// default, or nothing.
pub(crate) fn fields(
    fields: &[(String, PropertySchema)],
    given: &[(String, Known)],
    path: &Path,
    checks: &Checks<'_>,
    wrong: &mut Problems,
) -> Map<String, Value> {
    for (name, _) in given {
        if !fields.iter().any(|(known, _)| known == name) {
            let known =
                fields.iter().filter(|(_, one)| one.is_told()).map(|(name, _)| name.clone());
            wrong.push(Problem {
                unknown: Some((name.clone(), known.collect())),
                ..problem(path, format!("Unknown Property {name}"))
            });
        }
    }
    let mut taken = Map::new();
    for (name, schema) in fields {
        let value = given.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let path_of = path.key(name);
        let value = match value {
            Some(_) if schema.is_unimplemented => {
                wrong.push(problem(path, format!("Property {name} not implemented yet")));
                Value::Null
            }
            Some(value) => schema.take(value, &path_of, checks, wrong),
            None => match &schema.default {
                Some(default) => schema.take(&Known::from(default), &path_of, checks, wrong),
                None if schema.is_required => {
                    wrong.push(problem(path, format!("Property {name} not assigned")));
                    Value::Null
                }
                None => Value::Null,
            },
        };
        taken.insert(name.clone(), value);
    }
    taken
}

impl PropertySchema {
    /// Takes a value. What is wrong is noted; what is not known is nothing, and not wrong.
    pub(crate) fn take(
        &self,
        given: &Known,
        path: &Path,
        checks: &Checks<'_>,
        wrong: &mut Problems,
    ) -> Value {
        let default;
        let given = match given {
            Known::Unknown => return Value::Null,
            Known::Value(Value::Null) if self.kind != Kind::Any => {
                default = Known::from(&self.default.clone().unwrap_or_else(|| self.kind.empty()));
                &default
            }
            given => given,
        };
        let before = wrong.len();
        let taken = match self.shaped(given, path, checks, wrong) {
            Ok(taken) => taken,
            Err(message) => {
                wrong.push(problem(path, message));
                return Value::Null;
            }
        };
        if wrong.len() == before && given.is_whole() {
            for constraint in &self.constraints {
                if let Err(message) = constraint.check(&taken, self.kind, checks) {
                    wrong.push(problem(path, message));
                }
            }
        }
        taken
    }

    fn shaped(
        &self,
        given: &Known,
        path: &Path,
        checks: &Checks<'_>,
        wrong: &mut Problems,
    ) -> Result<Value, String> {
        match (self.kind, given) {
            (Kind::Map, Known::Map(entries)) => Ok(match &self.nested {
                Some(Nested::Fields(known)) => fields(known, entries, path, checks, wrong).into(),
                _ => given.to_json(),
            }),
            (Kind::List, Known::List(items)) => Ok(match &self.nested {
                Some(Nested::Each(item)) => {
                    let items = items.iter().enumerate();
                    items.map(|(at, one)| item.take(one, &path.index(at), checks, wrong)).collect()
                }
                _ => given.to_json(),
            }),
            (_, given) => self.scalar(&given.to_json()),
        }
    }

    fn scalar(&self, given: &Value) -> Result<Value, String> {
        match (self.kind, given) {
            (Kind::Any, _) | (Kind::String, Value::String(_)) | (Kind::Boolean, Value::Bool(_)) => {
                Ok(given.clone())
            }
            (Kind::String, Value::Bool(_)) => Ok(python::text(given).into()),
            (Kind::String, Value::Number(number)) if !number.is_f64() => {
                Ok(python::text(given).into())
            }
            (Kind::String, _) => {
                Err(format!("Value must be a string; got {}", python::repr(given)))
            }
            (Kind::Integer, _) => integer(given).map(Value::Number),
            (Kind::Number, _) => number(given).map(Value::Number),
            (Kind::Boolean, Value::String(text)) => match text.to_lowercase().as_str() {
                "true" => Ok(Value::Bool(true)),
                "false" => Ok(Value::Bool(false)),
                word => Err(format!("\"{word}\" is not a valid boolean")),
            },
            (Kind::Boolean, _) => {
                Err(format!("\"{}\" is not a valid boolean", python::text(given)))
            }
            (Kind::Map, Value::String(_)) if self.converts => Ok(given.clone()),
            (Kind::Map, Value::Array(_)) if self.converts => Ok(python::json(given, false).into()),
            (Kind::Map, _) => Err(format!("\"{}\" is not a map", python::text(given))),
            (Kind::List, Value::String(text)) if self.converts => Ok(match text.as_str() {
                "" => Value::Array(Vec::new()),
                text => text.split(',').collect(),
            }),
            (Kind::List, _) => Err(format!("\"{}\" is not a list", python::repr(given))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn take(schema: &PropertySchema, given: &Value) -> Result<Value, Vec<String>> {
        let mut wrong = Vec::new();
        let path = Path::of(["p"]);
        let taken = schema.take(&Known::from(given), &path, &Checks::default(), &mut wrong);
        match wrong.is_empty() {
            true => Ok(taken),
            false => {
                Err(wrong.iter().map(|one| format!("{}: {}", one.path, one.message)).collect())
            }
        }
    }

    #[test]
    fn values_become_what_they_are_declared_to_be() {
        let p = PropertySchema::new;
        let converting = |kind| PropertySchema { converts: true, ..PropertySchema::new(kind) };
        let bad = |text: &str| Err(vec![format!("p: {text}")]);
        for (schema, given, expected) in [
            (p(Kind::String), json!("a"), Ok(json!("a"))),
            (p(Kind::String), json!(1), Ok(json!("1"))),
            (p(Kind::String), json!(true), Ok(json!("True"))),
            (p(Kind::String), json!(1.5), bad("Value must be a string; got 1.5")),
            (p(Kind::String), json!({"a": 1}), bad("Value must be a string; got {'a': 1}")),
            (p(Kind::String), json!(null), Ok(json!(""))),
            (p(Kind::String).default("x"), json!(null), Ok(json!("x"))),
            (p(Kind::Integer), json!("7"), Ok(json!(7))),
            (p(Kind::Integer), json!(1.7), Ok(json!(1))),
            (p(Kind::Integer), json!("abc"), bad("Value 'abc' is not an integer")),
            (
                p(Kind::Integer).range(Some(1), Some(512)),
                json!(600),
                bad("600 is out of range (min: 1, max: 512)"),
            ),
            (p(Kind::Number), json!("1.5"), Ok(json!(1.5))),
            (p(Kind::Number), json!("x"), bad("could not convert string to float: 'x'")),
            (p(Kind::Boolean), json!("TRUE"), Ok(json!(true))),
            (p(Kind::Boolean), json!("0"), bad("\"0\" is not a valid boolean")),
            (p(Kind::Boolean), json!(1), bad("\"1\" is not a valid boolean")),
            (p(Kind::List), json!(["a", 1]), Ok(json!(["a", 1]))),
            (p(Kind::List), json!("a,b"), bad("\"'a,b'\" is not a list")),
            (converting(Kind::List), json!("a,b"), Ok(json!(["a", "b"]))),
            (converting(Kind::List), json!(""), Ok(json!([]))),
            (p(Kind::Map), json!([1]), bad("\"[1]\" is not a map")),
            (converting(Kind::Map), json!([{"a": 1}]), Ok(json!("[{\"a\": 1}]"))),
            (converting(Kind::Map), json!("{}"), Ok(json!("{}"))),
            (p(Kind::Map), json!(null), Ok(json!({}))),
            (p(Kind::Any), json!(null), Ok(json!(null))),
            (p(Kind::Any), json!([1]), Ok(json!([1]))),
        ] {
            assert_eq!(take(&schema, &given), expected, "{:?} {given}", schema.kind);
        }
    }

    #[test]
    fn everything_inside_is_found() {
        let class = PropertySchema::fields(
            "",
            [
                (
                    "class",
                    PropertySchema::string("").default("digits").allowed(["digits", "letters"]),
                ),
                ("min", PropertySchema::integer("").required().range(Some(1), None)),
                ("later", PropertySchema { is_unimplemented: true, ..PropertySchema::string("") }),
            ],
        );
        let list = PropertySchema::list_of("", class).length(Some(1), Some(4));
        assert_eq!(
            take(&list, &json!([{"min": "3"}])),
            Ok(json!([{"class": "digits", "min": 3, "later": null}]))
        );
        assert_eq!(
            take(
                &list,
                &json!([{"class": "x", "min": 1}, {"mim": 1}, 5, {"min": 0, "later": "a"}])
            ),
            Err(vec![
                "p[0].class: \"x\" is not an allowed value [\"digits\", \"letters\"]".to_owned(),
                "p[1]: Unknown Property mim".to_owned(),
                "p[1]: Property min not assigned".to_owned(),
                "p[2]: \"5\" is not a map".to_owned(),
                "p[3].min: 0 is out of range (min: 1, max: None)".to_owned(),
                "p[3]: Property later not implemented yet".to_owned(),
            ])
        );
        assert_eq!(
            take(&list, &json!([])),
            Err(vec!["p: length (0) is out of range (min: 1, max: 4)".to_owned()])
        );
    }

    #[test]
    fn what_is_not_known_is_not_wrong() {
        let mut wrong = Vec::new();
        let list = PropertySchema::list_of("", PropertySchema::integer("")).length(Some(9), None);
        let given = Known::List(vec![Known::Unknown, Known::Value(json!(1))]);
        let taken = list.take(&given, &Path::root(), &Checks::default(), &mut wrong);
        assert_eq!((taken, wrong), (json!([null, 1]), Vec::new()));
    }

    proptest! {
        #[test]
        fn taking_twice_changes_nothing(kind in 0..6_usize, text in "[a-z0-9,.-]{0,8}", n: i32, flag: bool) {
            let kinds = [Kind::String, Kind::Integer, Kind::Number, Kind::Boolean, Kind::List, Kind::Map];
            let schema = PropertySchema::new(kinds[kind]);
            for given in [json!(text), json!(n), json!(flag), json!([text, n]), json!({"k": text})] {
                if let Ok(once) = take(&schema, &given) {
                    prop_assert_eq!(take(&schema, &once), Ok(once.clone()));
                }
            }
        }
    }
}
