//! What expressions compute with.
//!
//! Values share their parts, so each knows how large and how deep it is when everything shared is counted
//! again and again: a value that would be too large to be written down cannot be made in the first place.

use std::rc::Rc;

use regex::Regex;
use serde_json::{Map, Number, Value};

use super::machine::Machine;
use super::trouble::Trouble;
use super::{ITEMS_MAX, QUOTA};
use crate::function::python::{self, Numeric};

/// Values within each other.
const DEPTH_MAX: usize = 64;
/// Values in one value, each counted as often as it is there, and the bytes of its texts.
const WEIGHT_MAX: usize = 8 << 20;

#[derive(Clone, Debug)]
pub(super) enum Val {
    Null,
    Bool(bool),
    Whole(i128),
    Real(f64),
    Text(Rc<str>),
    Seq(Rc<Seq>),
    Dict(Rc<Dict>),
    Regex(Rc<Regex>),
    /// What `let` gives: names for what comes after `->`.
    Names(Rc<Names>),
}

/// Several values in an order.
#[derive(Debug)]
pub(super) struct Seq {
    pub kind: Kind,
    pub items: Vec<Val>,
    weight: usize,
    depth: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    /// What a query gives. It can be gone through, but has no indexes, and is always true.
    Stream,
    /// The values of a map, or what was sorted: neither a list nor a stream.
    View,
    Set,
}

#[derive(Debug)]
pub(super) struct Dict {
    pub entries: Vec<(Val, Val)>,
    weight: usize,
    depth: usize,
}

/// What `$name` means.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub own: Vec<(String, Val)>,
    pub outer: Option<Rc<Names>>,
}

impl Names {
    pub fn get(&self, name: &str) -> Option<&Val> {
        let mut names = self;
        loop {
            if let Some((_, value)) = names.own.iter().rev().find(|(own, _)| own == name) {
                return Some(value);
            }
            names = names.outer.as_deref()?;
        }
    }
}

impl Val {
    pub fn text(text: impl AsRef<str>) -> Val {
        Val::Text(Rc::from(text.as_ref()))
    }

    pub fn seq(kind: Kind, items: Vec<Val>) -> Result<Val, Trouble> {
        let (weight, depth) = measure(items.iter())?;
        Ok(Val::Seq(Rc::new(Seq { kind, items, weight, depth })))
    }

    pub fn list(items: Vec<Val>) -> Result<Val, Trouble> {
        Val::seq(Kind::List, items)
    }

    pub fn stream(items: Vec<Val>) -> Result<Val, Trouble> {
        Val::seq(Kind::Stream, items)
    }

    /// A map; the keys are known to differ.
    pub fn dict(entries: Vec<(Val, Val)>) -> Result<Val, Trouble> {
        let (weight, depth) = measure(entries.iter().flat_map(|(key, value)| [key, value]))?;
        Ok(Val::Dict(Rc::new(Dict { entries, weight, depth })))
    }

    pub fn of(value: &Value) -> Result<Val, Trouble> {
        Ok(match value {
            Value::Null => Val::Null,
            Value::Bool(value) => Val::Bool(*value),
            Value::Number(number) => match Numeric::of(number) {
                Numeric::Whole(whole) => Val::Whole(whole),
                Numeric::Real(real) => Val::Real(real),
            },
            Value::String(text) => Val::text(text),
            Value::Array(items) => Val::list(items.iter().map(Val::of).collect::<Result<_, _>>()?)?,
            Value::Object(map) => {
                let entries = map.iter().map(|(key, value)| Ok((Val::text(key), Val::of(value)?)));
                Val::dict(entries.collect::<Result<_, Trouble>>()?)?
            }
        })
    }

    /// As data again.
    pub fn to_json(&self) -> Result<Value, Trouble> {
        Ok(match self {
            Val::Null => Value::Null,
            Val::Bool(value) => Value::Bool(*value),
            Val::Whole(whole) => Value::Number(whole_number(*whole)?),
            Val::Real(real) => {
                let number = Number::from_f64(*real).ok_or_else(|| Trouble::no_number(*real))?;
                Value::Number(number)
            }
            Val::Text(text) => Value::String(text.to_string()),
            Val::Seq(seq) => {
                limit(seq.items.len())?;
                Value::Array(seq.items.iter().map(Val::to_json).collect::<Result<_, _>>()?)
            }
            Val::Dict(dict) => {
                limit(dict.entries.len())?;
                let mut map = Map::new();
                for (key, value) in &dict.entries {
                    map.insert(key.key_text()?, value.to_json()?);
                }
                Value::Object(map)
            }
            Val::Regex(_) => return Err(Trouble::other("A regular expression is no result")),
            Val::Names(_) => return Err(Trouble::other("Names are no result: `let(..) -> ..`")),
        })
    }

    /// The text that JSON makes of a key.
    fn key_text(&self) -> Result<String, Trouble> {
        match self {
            Val::Text(text) => Ok(text.to_string()),
            Val::Null | Val::Bool(_) | Val::Whole(_) | Val::Real(_) => {
                Ok(python::json(&self.to_json()?, false))
            }
            _ => Err(Trouble::other("A list or a map cannot be a key of a result")),
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            Val::Null => false,
            Val::Bool(value) => *value,
            Val::Whole(whole) => *whole != 0,
            Val::Real(real) => *real != 0.0,
            Val::Text(text) => !text.is_empty(),
            Val::Seq(seq) => seq.kind == Kind::Stream || !seq.items.is_empty(),
            Val::Dict(dict) => !dict.entries.is_empty(),
            Val::Regex(_) | Val::Names(_) => true,
        }
    }

    pub fn numeric(&self) -> Option<Numeric> {
        match self {
            Val::Whole(whole) => Some(Numeric::Whole(*whole)),
            Val::Real(real) => Some(Numeric::Real(*real)),
            _ => None,
        }
    }

    pub fn weight(&self) -> usize {
        match self {
            Val::Text(text) => 1 + text.len(),
            Val::Seq(seq) => seq.weight,
            Val::Dict(dict) => dict.weight,
            _ => 1,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Val::Seq(seq) => seq.depth,
            Val::Dict(dict) => dict.depth,
            _ => 0,
        }
    }

    /// `==`
    pub fn equals(&self, other: &Val, machine: &Machine) -> Result<bool, Trouble> {
        machine.spend(1)?;
        Ok(match (self, other) {
            (Val::Null, Val::Null) => true,
            (Val::Text(left), Val::Text(right)) => {
                machine.spend(left.len().min(right.len()) / 16)?;
                left == right
            }
            (Val::Seq(left), Val::Seq(right)) => match (left.kind, right.kind) {
                _ if Rc::ptr_eq(left, right) => true,
                (Kind::List, Kind::List) => {
                    if left.items.len() != right.items.len() {
                        return Ok(false);
                    }
                    for (left, right) in left.items.iter().zip(&right.items) {
                        if !left.equals(right, machine)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                (Kind::Set, Kind::Set) if left.items.len() == right.items.len() => {
                    for item in &left.items {
                        if !machine.is_in(item, &right.items)? {
                            return Ok(false);
                        }
                    }
                    true
                }
                _ => false,
            },
            (Val::Dict(left), Val::Dict(right)) => {
                if left.entries.len() != right.entries.len() {
                    return Ok(false);
                }
                for (key, value) in &left.entries {
                    match right.get(key, machine)? {
                        Some(other) if value.equals(other, machine)? => {}
                        _ => return Ok(false),
                    }
                }
                true
            }
            _ => {
                let as_number = |value: &Val| match value {
                    Val::Bool(value) => Some(Numeric::Whole(i128::from(*value))),
                    other => other.numeric(),
                };
                match (as_number(self), as_number(other)) {
                    (Some(left), Some(right)) => left == right,
                    _ => false,
                }
            }
        })
    }

    /// Whether one value alone is more than expressions may hold.
    pub fn is_over_quota(&self) -> bool {
        let size = match self {
            Val::Text(text) if text.is_ascii() => 49 + text.len(),
            Val::Text(text) => {
                let count = text.chars().count();
                match text.chars().max().map_or(0, u32::from) {
                    0..=0xff => 73 + count,
                    0x100..=0xffff => 74 + 2 * count,
                    _ => 76 + 4 * count,
                }
            }
            Val::Seq(seq) if seq.kind == Kind::List => 40 + 8 * seq.items.len(),
            _ => 0,
        };
        size > QUOTA
    }

    /// As messages show it.
    pub fn shown(&self) -> String {
        match self {
            Val::Regex(_) => "a regular expression".to_owned(),
            Val::Names(_) => "names".to_owned(),
            Val::Seq(seq) if seq.items.len() > 20 => "a long list".to_owned(),
            other => match other.to_json() {
                Ok(value) => python::repr(&value).chars().take(80).collect(),
                Err(_) => "a value".to_owned(),
            },
        }
    }
}

impl Dict {
    pub fn get(&self, key: &Val, machine: &Machine) -> Result<Option<&Val>, Trouble> {
        for (own, value) in &self.entries {
            if own.equals(key, machine)? {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}

/// More values than expressions may go through.
pub(super) fn limit(length: usize) -> Result<(), Trouble> {
    match length > ITEMS_MAX {
        true => Err(Trouble::too_many()),
        false => Ok(()),
    }
}

fn measure<'v>(parts: impl Iterator<Item = &'v Val>) -> Result<(usize, usize), Trouble> {
    let (mut weight, mut depth) = (1_usize, 0);
    for part in parts {
        if matches!(part, Val::Names(_)) {
            return Err(Trouble::other("Names are no value: `let(..) -> ..`"));
        }
        weight = weight.saturating_add(part.weight());
        depth = depth.max(part.depth());
    }
    match weight > WEIGHT_MAX || depth >= DEPTH_MAX {
        true => Err(Trouble::too_large()),
        false => Ok((weight, depth + 1)),
    }
}

fn whole_number(whole: i128) -> Result<Number, Trouble> {
    let small = i64::try_from(whole).map(Number::from);
    small.or_else(|_| u64::try_from(whole).map(Number::from)).map_err(|_| Trouble::overflow())
}
