//! Filters: small expressions over JSON documents, for lists, watch streams and event hooks.
//!
//! ```text
//! kind =~ "^task\\." and payload.exitCode > 0 and not (object.name startsWith "test-")
//! payload.labels["zone.name"] in ["eu-1", "eu-2"] or has(payload.reason)
//! ```
//!
//! A filter is compared, combined and nothing else: it has no loops, no functions but `has`, and no way to
//! fail. What is read is bounded ([`TEXT_MAX`], [`PARTS_MAX`], [`DEPTH_MAX`]), and regular expressions are
//! of the kind that takes linear time, with a bound on what they compile to, so an evaluation takes time
//! that is linear in the document.
//!
//! What is not there matches nothing: a comparison with a field that is absent, or of another type than it
//! is compared with, is false. `not` turns that round, so `not (payload.exitCode == 0)` holds where there is
//! no exit code and `payload.exitCode != 0` does not. Text is compared by its characters, and times, which
//! are text of one form, therefore by time.
//!
//! Mistakes say where ([`Mistake`]), and what is meant probably, where the fields are known ([`Fields`]). Where
//! it is known what their values are, too, a comparison that can never hold is a mistake, and lengths of time
//! and moments are compared as such ([`Kind`]).

mod fields;
mod kinds;
mod lex;
mod mistake;
mod parse;
mod value;

use std::fmt;
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

pub use fields::{Field, Fields, Kind};
pub use mistake::Mistake;
pub(crate) use value::Literal;

/// Characters of a filter, in bytes.
pub const TEXT_MAX: usize = 4096;
/// Comparisons, operators and literals in one filter.
pub const PARTS_MAX: usize = 256;
/// Parentheses and `not` within each other.
pub const DEPTH_MAX: usize = 32;
/// What one regular expression may compile to, in bytes.
const REGEX_MAX: usize = 256 << 10;
/// Groups of a regular expression within each other.
const REGEX_DEPTH_MAX: u32 = 32;
/// Regular expressions in one filter.
const REGEXES_MAX: usize = 8;

/// What there is below an open field, where that is known better than it is for all documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inner<'a> {
    pub open: &'a str,
    /// The first words below it; anything may be when absent.
    pub names: Option<&'a [String]>,
}

/// A filter that was read.
#[derive(Clone)]
pub struct Filter {
    text: String,
    root: Arc<Expr>,
}

/// What holds or does not.
enum Expr {
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Has(Vec<String>),
    /// A field that is `true`, or the word itself.
    Is(Operand),
    Compare(Operand, Comparison, Operand),
    In(Operand, Vec<Literal>),
    Matches(Operand, Regex),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    StartsWith,
    EndsWith,
    Contains,
}

enum Operand {
    Path(Vec<String>),
    /// A length of time at a path, in milliseconds.
    Length(Vec<String>),
    Literal(Literal),
}

impl Filter {
    /// Reads a filter; the first mistake ends it.
    pub fn read(text: &str, fields: &Fields) -> Result<Filter, Mistake> {
        Filter::read_within(text, fields, Inner::default())
    }

    /// The same, with more known of what the documents are.
    pub fn read_within(text: &str, fields: &Fields, inner: Inner<'_>) -> Result<Filter, Mistake> {
        let root = parse::parse(text, fields, inner)?;
        Ok(Filter { text: text.to_owned(), root: Arc::new(root) })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds of a document.
    pub fn matches(&self, document: &Value) -> bool {
        self.root.holds(document)
    }
}

impl PartialEq for Filter {
    fn eq(&self, other: &Filter) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Filter({:?})", self.text)
    }
}

impl Expr {
    fn holds(&self, document: &Value) -> bool {
        match self {
            Expr::And(all) => all.iter().all(|one| one.holds(document)),
            Expr::Or(any) => any.iter().any(|one| one.holds(document)),
            Expr::Not(one) => !one.holds(document),
            Expr::Has(path) => value::at(document, path).is_some(),
            Expr::Is(operand) => operand.of(document) == Some(Literal::Bool(true)),
            Expr::In(operand, list) => {
                operand.of(document).is_some_and(|given| list.contains(&given))
            }
            Expr::Matches(operand, regex) => match operand.of(document) {
                Some(Literal::Text(text)) => regex.is_match(&text),
                _ => false,
            },
            // What a list contains is asked of the list itself.
            Expr::Compare(Operand::Path(path), Comparison::Contains, part) => {
                match (value::at(document, path), part.of(document)) {
                    (Some(Value::Array(items)), Some(part)) => {
                        items.iter().any(|item| Literal::of(item).as_ref() == Some(&part))
                    }
                    (Some(whole), Some(part)) => Literal::of(whole)
                        .is_some_and(|whole| value::compare(&whole, Comparison::Contains, &part)),
                    _ => false,
                }
            }
            Expr::Compare(left, comparison, right) => {
                match (left.of(document), right.of(document)) {
                    (Some(left), Some(right)) => value::compare(&left, *comparison, &right),
                    _ => false,
                }
            }
        }
    }
}

impl Operand {
    fn of(&self, document: &Value) -> Option<Literal> {
        match self {
            Operand::Literal(literal) => Some(literal.clone()),
            Operand::Path(path) => Literal::of(value::at(document, path)?),
            Operand::Length(path) => value::length(value::at(document, path)?),
        }
    }
}

#[cfg(test)]
mod tests;
