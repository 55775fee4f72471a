//! What can be asked of a field, by what its values are. Lengths of time and moments are compared as what
//! they are, in whatever form they were written.

use super::fields::Kind;
use super::{Comparison, Literal, Operand};
use crate::suggest::nearest;
use crate::{Span, Timestamp};

/// What is wrong, and what to do about it.
pub(super) type Wrong = (String, String);

/// What a value is compared with, in the form in which it is; the field is read otherwise where it says so.
pub(super) struct Fitted {
    pub(super) literal: Literal,
    pub(super) is_length: bool,
}

pub(super) fn fitted(
    path: &[String],
    kind: &Kind,
    comparison: Comparison,
    literal: Literal,
) -> Result<Fitted, Wrong> {
    let name = path.join(".");
    let is_part =
        matches!(comparison, Comparison::StartsWith | Comparison::EndsWith | Comparison::Contains);
    let as_it_is = |literal| Ok(Fitted { literal, is_length: false });
    let wrong = |what: &str, hint: String| Err((format!("`{name}` is {what}"), hint));
    match (kind, &literal) {
        (Kind::Any, _) | (_, Literal::Null) => as_it_is(literal),
        (Kind::List, _) => match comparison {
            Comparison::Contains => as_it_is(literal),
            _ => wrong("a list", format!("ask {name} contains …, or of {name}[0]")),
        },
        (Kind::Number, Literal::Number(_)) if !is_part => as_it_is(literal),
        (Kind::Number, _) => wrong("a number", format!("compare it with one: {name} > 3")),
        (Kind::Bool, Literal::Bool(_)) if !is_part => as_it_is(literal),
        (Kind::Bool, _) => wrong("`true` or `false`", format!("ask {name}, or not {name}")),
        (Kind::Span, Literal::Text(text)) if !is_part => match text.parse::<Span>() {
            #[expect(clippy::cast_precision_loss, reason = "exact up to thousands of years")]
            Ok(span) => {
                Ok(Fitted { literal: Literal::Number(span.millis() as f64), is_length: true })
            }
            Err(_) => wrong("a length of time", format!("write it as {name} > \"1m30s\"")),
        },
        (Kind::Time, Literal::Text(text)) if !is_part => match moment(text) {
            Some(moment) => as_it_is(Literal::Text(moment)),
            None => wrong("a time", format!("write it as {name} > \"2026-01-31T12:00:00Z\"")),
        },
        (Kind::OneOf(words), Literal::Text(text)) if !is_part && !words.contains(text) => {
            let hint = match nearest(text, words.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("it is one of {}", words.join(", ")),
            };
            wrong(&format!("never {text:?}"), hint)
        }
        (Kind::Text | Kind::OneOf(_) | Kind::Time | Kind::Span, Literal::Text(_)) => {
            as_it_is(literal)
        }
        (Kind::Text | Kind::OneOf(_) | Kind::Time | Kind::Span, _) => {
            wrong("text", "text stands between quotes".to_owned())
        }
    }
}

/// The one form in which moments are said, of a time or a day.
fn moment(text: &str) -> Option<String> {
    let read = text.parse::<Timestamp>().or_else(|_| format!("{text}T00:00:00Z").parse());
    read.ok().map(|time| time.to_string())
}

/// What a regular expression can be asked of.
pub(super) fn is_text(kind: &Kind) -> bool {
    !matches!(kind, Kind::Number | Kind::Bool | Kind::List)
}

/// The operand of which a length is compared.
pub(super) fn length_of(operand: Operand) -> Operand {
    match operand {
        Operand::Path(path) => Operand::Length(path),
        other => other,
    }
}
