//! `format`: a text with places in braces that values are put into, by number, by name or in turn.

use super::super::tree::Tree;
use super::super::trouble::Trouble;
use super::super::value::Val;
use super::Shape::Method;
use super::{Arguments, Builtin};
use crate::function::python;

type Outcome = Result<Val, Trouble>;

pub(super) const TABLE: &[Builtin] =
    &[Builtin { name: "format", shape: Method, parameters: &["*", "=>"], run: format }];

/// What may stand in the places.
struct Values {
    plain: Vec<Val>,
    named: Vec<(String, Val)>,
    /// How many places without number or name there were.
    taken: usize,
}

impl Values {
    fn of(given: &Arguments<'_>) -> Result<Values, Trouble> {
        let mut named = Vec::new();
        for (name, value) in given.pairs() {
            let Tree::Word(name) = name else { return Err(given.no_match()) };
            named.push((name.clone(), given.machine.evaluate(value, given.names)?));
        }
        Ok(Values { plain: given.rest()?, named, taken: 0 })
    }

    fn at(&mut self, place: &str) -> Result<&Val, Trouble> {
        let number = match place {
            "" => {
                self.taken += 1;
                Some(self.taken - 1)
            }
            _ => place.parse::<usize>().ok(),
        };
        let found = match number {
            Some(number) => self.plain.get(number),
            None => self.named.iter().find(|(name, _)| name == place).map(|(_, value)| value),
        };
        found.ok_or_else(|| {
            Trouble::other(format!("format() was not given a value for {{{place}}}"))
        })
    }
}

fn format(given: &Arguments<'_>) -> Outcome {
    let pattern = given.string()?;
    let mut values = Values::of(given)?;
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        if let Some(after) = found.strip_prefix("{{").or_else(|| found.strip_prefix("}}")) {
            out.push_str(&found[..1]);
            rest = after;
            continue;
        }
        let inside = found.strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let Some((place, after)) = inside else {
            return Err(Trouble::other("format() found a single brace; write it twice"));
        };
        let text = text_of(values.at(place)?)?;
        given.machine.spend(1 + text.len() / 16)?;
        out.push_str(&text);
        rest = after;
    }
    out.push_str(rest);
    Ok(Val::text(out))
}

/// As templates write values into texts.
fn text_of(value: &Val) -> Result<String, Trouble> {
    match value {
        Val::Null => Ok("None".to_owned()),
        Val::Bool(true) => Ok("True".to_owned()),
        Val::Bool(false) => Ok("False".to_owned()),
        Val::Whole(whole) => Ok(whole.to_string()),
        Val::Real(real) => Ok(python::real_text(*real)),
        Val::Text(text) => Ok(text.to_string()),
        _ => Err(Trouble::other("format() takes texts, numbers and truths")),
    }
}
