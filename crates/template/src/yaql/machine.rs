//! Evaluation of a tree, step by step, with a bound on the steps.

use std::cell::Cell;
use std::cmp::Ordering;
use std::rc::Rc;

use serde_json::Value;

use super::library::{Arguments, pattern};
use super::tree::{Call, Infix, Prefix, Tree};
use super::trouble::Trouble;
use super::value::{Dict, Kind, Names, Val, limit};
use crate::function::python::{self, Numeric};

/// Steps of one evaluation; one is some ten nanoseconds.
const STEPS_MAX: usize = 10_000_000;

type Outcome = Result<Val, Trouble>;

pub(super) struct Machine {
    left: Cell<usize>,
}

/// The value of an expression over `{data: ..}`.
pub(super) fn evaluate(tree: &Tree, data: &Value) -> Result<Value, Trouble> {
    let machine = Machine { left: Cell::new(STEPS_MAX) };
    let root = Val::dict(vec![(Val::text("data"), Val::of(data)?)])?;
    let names = Rc::new(Names { own: vec![("1".to_owned(), root)], outer: None });
    let result = machine.evaluate(tree, &names)?;
    result.to_json()
}

impl Machine {
    pub fn spend(&self, steps: usize) -> Result<(), Trouble> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(Trouble::too_long()),
        }
    }

    pub fn is_in(&self, value: &Val, items: &[Val]) -> Result<bool, Trouble> {
        for item in items {
            if item.equals(value, self)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A map of pairs, of which the later win.
    pub fn dict(&self, pairs: impl IntoIterator<Item = (Val, Val)>) -> Outcome {
        let mut entries: Vec<(Val, Val)> = Vec::new();
        for (key, value) in pairs {
            let mut place = None;
            for (at, (own, _)) in entries.iter().enumerate() {
                if own.equals(&key, self)? {
                    place = Some(at);
                    break;
                }
            }
            match place {
                Some(at) => entries[at].1 = value,
                None => entries.push((key, value)),
            }
        }
        Val::dict(entries)
    }

    pub fn evaluate(&self, tree: &Tree, names: &Rc<Names>) -> Outcome {
        self.spend(1)?;
        let value = match tree {
            Tree::Null => Val::Null,
            Tree::Bool(value) => Val::Bool(*value),
            Tree::Whole(whole) => Val::Whole(*whole),
            Tree::Real(real) => Val::Real(*real),
            Tree::Text(text) | Tree::Word(text) => return Ok(Val::text(text)),
            Tree::Variable(name) => names.get(name).cloned().unwrap_or(Val::Null),
            Tree::List(items) => {
                let items = items.iter().map(|item| self.evaluate(item, names));
                Val::list(items.collect::<Result<_, _>>()?)?
            }
            Tree::Dict(pairs) => self.dict(self.pairs(pairs, names)?)?,
            Tree::Index(of, keys) => self.index(of, keys, names)?,
            Tree::Member { of, name, is_safe } => {
                let of = self.evaluate(of, names)?;
                match (&of, is_safe) {
                    (Val::Null, true) => Val::Null,
                    _ => self.member(&of, name)?,
                }
            }
            Tree::Method { of, call, is_safe } => self.method(of, call, *is_safe, names)?,
            Tree::Function(call) => Arguments::of_function(self, call, names)?.run()?,
            Tree::Unary(prefix, of) => self.prefix(*prefix, &self.evaluate(of, names)?)?,
            Tree::Binary(infix, left, right) => self.binary(*infix, left, right, names)?,
        };
        match value.is_over_quota() {
            true => Err(Trouble::too_large()),
            false => Ok(value),
        }
    }

    pub fn pairs(
        &self,
        pairs: &[(Tree, Tree)],
        names: &Rc<Names>,
    ) -> Result<Vec<(Val, Val)>, Trouble> {
        let pairs = pairs.iter();
        pairs.map(|(k, v)| Ok((self.evaluate(k, names)?, self.evaluate(v, names)?))).collect()
    }

    fn method(&self, of: &Tree, call: &Call, is_safe: bool, names: &Rc<Names>) -> Outcome {
        let receiver = match call.builtin.name {
            "thenBy" | "thenByDescending" => return self.ordered(of, call, names),
            _ => self.evaluate(of, names)?,
        };
        match (&receiver, is_safe) {
            (Val::Null, true) => Ok(Val::Null),
            _ => Arguments::of_method(self, receiver, call, names)?.run(),
        }
    }

    /// `orderBy(..).thenBy(..).thenBy(..)`: everything is sorted once, by all of it.
    fn ordered(&self, of: &Tree, last: &Call, names: &Rc<Names>) -> Outcome {
        let mut orders = vec![last];
        let mut of = of;
        loop {
            let Tree::Method { of: below, call, .. } = of else {
                return Err(Trouble::no_method(last.builtin.name, "what is not sorted"));
            };
            orders.push(call);
            of = below;
            match call.builtin.name {
                "thenBy" | "thenByDescending" => {}
                "orderBy" | "orderByDescending" => break,
                _ => return Err(Trouble::no_method(last.builtin.name, "what is not sorted")),
            }
        }
        let receiver = self.evaluate(of, names)?;
        let mut lambdas = Vec::new();
        for call in orders.into_iter().rev() {
            let arguments = Arguments::of_method(self, receiver.clone(), call, names)?;
            let is_down = call.builtin.name.ends_with("Descending");
            lambdas.push((arguments.needed_lambda(0)?, is_down));
        }
        let items = match &receiver {
            Val::Seq(seq) => &seq.items,
            _ => return Err(Trouble::no_method("orderBy", &receiver.shown())),
        };
        limit(items.len())?;
        self.sort(items, |item| {
            lambdas
                .iter()
                .map(|(by, is_down)| Ok((by.call(std::slice::from_ref(item))?, *is_down)))
                .collect()
        })
    }

    /// Sorted by keys, each up or down. What is equal keeps its order.
    pub fn sort(
        &self,
        items: &[Val],
        keys: impl Fn(&Val) -> Result<Vec<(Val, bool)>, Trouble>,
    ) -> Outcome {
        let keyed = items.iter().map(|item| Ok((keys(item)?, item)));
        let mut keyed = keyed.collect::<Result<Vec<_>, Trouble>>()?;
        let mut trouble = None;
        keyed.sort_by(|(left, _), (right, _)| {
            for ((left, is_down), (right, _)) in left.iter().zip(right) {
                match self.order(Infix::Less, left, right) {
                    Ok(Ordering::Equal) => {}
                    Ok(order) => return if *is_down { order.reverse() } else { order },
                    Err(found) => {
                        trouble.get_or_insert(found);
                    }
                }
            }
            Ordering::Equal
        });
        match trouble {
            Some(trouble) => Err(trouble),
            None => Val::seq(Kind::View, keyed.into_iter().map(|(_, item)| item.clone()).collect()),
        }
    }

    fn member(&self, of: &Val, name: &str) -> Outcome {
        match of {
            Val::Dict(dict) => self.at(dict, &Val::text(name)),
            Val::Seq(seq) => {
                limit(seq.items.len())?;
                let members = seq.items.iter().map(|item| self.member(item, name));
                Val::stream(members.collect::<Result<_, _>>()?)
            }
            _ => Err(Trouble::NoMatch(format!("Unknown function \"#property#{name}\""))),
        }
    }

    fn at(&self, dict: &Dict, key: &Val) -> Outcome {
        self.spend(1)?;
        let missing = || Trouble::Other(format!("The map has no key {}", key.shown()));
        dict.get(key, self)?.cloned().ok_or_else(missing)
    }

    fn index(&self, of: &Tree, keys: &[Tree], names: &Rc<Names>) -> Outcome {
        let of = self.evaluate(of, names)?;
        let keys = keys.iter().map(|key| self.evaluate(key, names));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        match (&of, keys.as_slice()) {
            (Val::Dict(dict), [key]) => self.at(dict, key),
            (Val::Dict(dict), [key, default]) => {
                Ok(dict.get(key, self)?.unwrap_or(default).clone())
            }
            (Val::Seq(seq), [Val::Whole(index)]) if seq.kind == Kind::List => {
                let at = python::position(*index, seq.items.len());
                let missing = || Trouble::Index(format!("The list has no index {index}"));
                at.map(|at| seq.items[at].clone()).ok_or_else(missing)
            }
            _ => Err(Trouble::no_function("#indexer")),
        }
    }

    fn prefix(&self, prefix: Prefix, of: &Val) -> Outcome {
        let overflow = Trouble::overflow;
        match (prefix, of) {
            (Prefix::Not, of) => Ok(Val::Bool(!of.is_true())),
            (Prefix::Plus, Val::Whole(_) | Val::Real(_)) => Ok(of.clone()),
            (Prefix::Minus, Val::Whole(whole)) => {
                whole.checked_neg().map(Val::Whole).ok_or_else(overflow)
            }
            (Prefix::Minus, Val::Real(real)) => Ok(Val::Real(-real)),
            _ => Err(Trouble::no_function(&format!("#unary_operator_{}", prefix.sign()))),
        }
    }

    fn binary(&self, infix: Infix, left: &Tree, right: &Tree, names: &Rc<Names>) -> Outcome {
        let first = self.evaluate(left, names)?;
        match infix {
            Infix::And if !first.is_true() => return Ok(first),
            Infix::Or if first.is_true() => return Ok(first),
            Infix::And | Infix::Or => return self.evaluate(right, names),
            Infix::Send => {
                return match first {
                    Val::Names(names) => self.evaluate(right, &names),
                    _ => Err(Trouble::no_function("#operator_->")),
                };
            }
            _ => {}
        }
        self.infix(infix, &first, &self.evaluate(right, names)?)
    }

    /// An operator that needs both sides.
    pub fn infix(&self, infix: Infix, left: &Val, right: &Val) -> Outcome {
        Ok(match infix {
            Infix::Equal => Val::Bool(left.equals(right, self)?),
            Infix::NotEqual => Val::Bool(!left.equals(right, self)?),
            Infix::Less => Val::Bool(self.order(infix, left, right)?.is_lt()),
            Infix::LessOrEqual => Val::Bool(self.order(infix, left, right)?.is_le()),
            Infix::Greater => Val::Bool(self.order(infix, left, right)?.is_gt()),
            Infix::GreaterOrEqual => Val::Bool(self.order(infix, left, right)?.is_ge()),
            Infix::In => match (left, right) {
                (Val::Text(part), Val::Text(whole)) => {
                    self.spend(whole.len() / 16)?;
                    Val::Bool(whole.contains(&**part))
                }
                (value, Val::Seq(seq)) => {
                    limit(seq.items.len())?;
                    Val::Bool(self.is_in(value, &seq.items)?)
                }
                _ => return Err(no_operator(infix)),
            },
            Infix::Matches => Val::Bool(pattern::is_match(self, left, right)?),
            Infix::MatchesNot => Val::Bool(!pattern::is_match(self, left, right)?),
            Infix::Plus => self.plus(left, right)?,
            Infix::Times => self.times(left, right)?,
            Infix::Minus => match (left, right) {
                (Val::Seq(left), Val::Seq(right))
                    if left.kind == Kind::Set && right.kind == Kind::Set =>
                {
                    let mut kept = Vec::new();
                    for item in &left.items {
                        if !self.is_in(item, &right.items)? {
                            kept.push(item.clone());
                        }
                    }
                    Val::seq(Kind::Set, kept)?
                }
                _ => arithmetic(infix, left, right)?,
            },
            _ => arithmetic(infix, left, right)?,
        })
    }

    /// Numbers with numbers, texts with texts; nothing comes before everything.
    pub fn order(&self, infix: Infix, left: &Val, right: &Val) -> Result<Ordering, Trouble> {
        self.spend(1)?;
        match (left, right) {
            (Val::Null, Val::Null) => Ok(Ordering::Equal),
            (Val::Null, _) => Ok(Ordering::Less),
            (_, Val::Null) => Ok(Ordering::Greater),
            (Val::Text(left), Val::Text(right)) => Ok(left.cmp(right)),
            _ => match (left.numeric(), right.numeric()) {
                (Some(left), Some(right)) => left.order(right).ok_or_else(|| no_operator(infix)),
                _ => Err(no_operator(infix)),
            },
        }
    }

    fn plus(&self, left: &Val, right: &Val) -> Outcome {
        match (left, right) {
            (Val::Text(left), Val::Text(right)) => {
                self.spend((left.len() + right.len()) / 16)?;
                Ok(Val::text(format!("{left}{right}")))
            }
            (Val::Seq(left), Val::Seq(right)) => {
                limit(left.items.len().max(right.items.len()))?;
                let joined: Vec<Val> = left.items.iter().chain(&right.items).cloned().collect();
                self.spend(joined.len())?;
                match (left.kind, right.kind) {
                    (Kind::List, Kind::List) => Val::list(joined),
                    (Kind::Set, Kind::Set) => self.set(joined),
                    _ => Val::stream(joined),
                }
            }
            (Val::Dict(left), Val::Dict(right)) => {
                self.dict(left.entries.iter().chain(&right.entries).cloned())
            }
            _ => arithmetic(Infix::Plus, left, right),
        }
    }

    /// A set: the first of those that are equal.
    pub fn set(&self, items: Vec<Val>) -> Outcome {
        let mut kept = Vec::new();
        for item in items {
            if !self.is_in(&item, &kept)? {
                kept.push(item);
            }
        }
        Val::seq(Kind::Set, kept)
    }

    fn times(&self, left: &Val, right: &Val) -> Outcome {
        let (value, times) = match (left, right) {
            (value @ (Val::Text(_) | Val::Seq(_)), Val::Whole(times))
            | (Val::Whole(times), value @ (Val::Text(_) | Val::Seq(_))) => (value, *times),
            _ => return arithmetic(Infix::Times, left, right),
        };
        let times = usize::try_from(times.max(0)).map_err(|_| Trouble::too_large())?;
        let weight = value.weight().saturating_mul(times);
        if weight > super::QUOTA {
            return Err(Trouble::too_large());
        }
        self.spend(weight)?;
        match value {
            Val::Text(text) => Ok(Val::text(text.repeat(times))),
            Val::Seq(seq) if seq.kind == Kind::List => {
                let many = seq.items.len().saturating_mul(times);
                Val::list(seq.items.iter().cycle().take(many).cloned().collect())
            }
            _ => Err(no_operator(Infix::Times)),
        }
    }
}

fn no_operator(infix: Infix) -> Trouble {
    Trouble::no_function(&format!("#operator_{}", infix.sign()))
}

fn arithmetic(infix: Infix, left: &Val, right: &Val) -> Outcome {
    let (Some(left), Some(right)) = (left.numeric(), right.numeric()) else {
        return Err(no_operator(infix));
    };
    if let (Numeric::Whole(left), Numeric::Whole(right)) = (left, right) {
        let result = match infix {
            Infix::Plus => left.checked_add(right),
            Infix::Minus => left.checked_sub(right),
            Infix::Times => left.checked_mul(right),
            Infix::Over | Infix::Modulo if right == 0 => return Err(by_zero()),
            Infix::Over => floored(left, right).map(|(quotient, _)| quotient),
            Infix::Modulo => floored(left, right).map(|(_, rest)| rest),
            _ => return Err(no_operator(infix)),
        };
        return result.map(Val::Whole).ok_or_else(Trouble::overflow);
    }
    let (left, right) = (left.real(), right.real());
    let result = match infix {
        Infix::Plus => left + right,
        Infix::Minus => left - right,
        Infix::Times => left * right,
        Infix::Over | Infix::Modulo if right == 0.0 => return Err(by_zero()),
        Infix::Over => left / right,
        Infix::Modulo => left - right * (left / right).floor(),
        _ => return Err(no_operator(infix)),
    };
    match result.is_finite() {
        true => Ok(Val::Real(result)),
        false => Err(Trouble::overflow()),
    }
}

/// Division towards less, and the rest that has the sign of what is divided by.
fn floored(left: i128, right: i128) -> Option<(i128, i128)> {
    let (quotient, rest) = (left.checked_div(right)?, left.checked_rem(right)?);
    match rest != 0 && (rest < 0) != (right < 0) {
        true => Some((quotient - 1, rest + right)),
        false => Some((quotient, rest)),
    }
}

fn by_zero() -> Trouble {
    Trouble::other("division by zero")
}
