//! Questions to collections.

use super::super::tree::Infix;
use super::super::trouble::Trouble;
use super::super::value::{Kind, Val, limit};
use super::Shape::{Both, Function, Method};
use super::number::{larger, smaller};
use super::{Arguments, Builtin};
use crate::function::python;

type Outcome = Result<Val, Trouble>;

/// Values that a function may make out of nothing.
const MADE_MAX: usize = 10_000;

macro_rules! table {
    ($($name:literal $shape:ident [$($parameter:literal),*] $run:expr;)*) => {
        &[$(Builtin { name: $name, shape: $shape, parameters: &[$($parameter),*], run: $run }),*]
    };
}

pub(super) const TABLE: &[Builtin] = table! {
    "where" Method ["predicate"] filter;
    "filter" Method ["predicate"] filter;
    "select" Method ["selector"] select;
    "map" Method ["selector"] select;
    "selectMany" Method ["selector"] select_many;
    "skip" Method ["count"] skip;
    "limit" Method ["count"] take;
    "take" Method ["count"] take;
    "takeWhile" Method ["predicate"] take_while;
    "skipWhile" Method ["predicate"] skip_while;
    "first" Method ["default"] first;
    "last" Method ["default"] last;
    "single" Method [] single;
    "any" Both ["predicate"] any;
    "all" Both ["predicate"] all;
    "sum" Method ["initial"] sum;
    "max" Method ["initial"] max;
    "min" Method ["initial"] min;
    "reduce" Method ["selector", "seed"] reduce;
    "aggregate" Method ["selector", "seed"] reduce;
    "accumulate" Method ["selector", "seed"] accumulate;
    "distinct" Both ["keySelector"] distinct;
    "append" Both ["*"] append;
    "enumerate" Both ["start"] enumerate;
    "zip" Method ["*"] zip;
    "zipLongest" Method ["*", "default"] zip_longest;
    "reverse" Method [] reverse;
    "orderBy" Method ["selector"] order_by;
    "orderByDescending" Method ["selector"] order_by_descending;
    "thenBy" Method ["selector"] unsorted;
    "thenByDescending" Method ["selector"] unsorted;
    "groupBy" Method ["keySelector", "valueSelector", "aggregator"] group_by;
    "indexWhere" Method ["predicate"] index_where;
    "lastIndexWhere" Method ["predicate"] last_index_where;
    "slice" Method ["length"] slice;
    "splitAt" Method ["index"] split_at;
    "splitWhere" Method ["predicate"] split_where;
    "sliceWhere" Method ["predicate"] slice_where;
    "defaultIfEmpty" Method ["default"] default_if_empty;
    "repeat" Method ["times"] repeat;
    "range" Function ["start", "stop", "step"] range;
};

fn filter(given: &Arguments<'_>) -> Outcome {
    let predicate = given.needed_lambda(0)?;
    let mut kept = Vec::new();
    for item in &given.collection()?.items {
        if predicate.is_true(item)? {
            kept.push(item.clone());
        }
    }
    Val::stream(kept)
}

fn select(given: &Arguments<'_>) -> Outcome {
    let selector = given.needed_lambda(0)?;
    let items = given.collection()?.items.iter();
    let selected = items.map(|item| selector.call(std::slice::from_ref(item)));
    Val::stream(selected.collect::<Result<_, _>>()?)
}

fn select_many(given: &Arguments<'_>) -> Outcome {
    let selector = given.needed_lambda(0)?;
    let mut all = Vec::new();
    for item in &given.collection()?.items {
        match selector.call(std::slice::from_ref(item))? {
            Val::Seq(seq) => {
                given.machine.spend(seq.items.len())?;
                all.extend(seq.items.iter().cloned());
            }
            other => all.push(other),
        }
    }
    Val::stream(all)
}

/// So many, but never less than none.
fn many(given: &Arguments<'_>) -> Result<usize, Trouble> {
    usize::try_from(given.needed_whole(0)?).map_err(|_| given.no_match())
}

fn skip(given: &Arguments<'_>) -> Outcome {
    let skipped = many(given)?;
    Val::stream(given.collection()?.items.iter().skip(skipped).cloned().collect())
}

fn take(given: &Arguments<'_>) -> Outcome {
    let taken = many(given)?;
    Val::stream(given.beginning()?.iter().take(taken).cloned().collect())
}

/// How many at the beginning fulfil the predicate.
fn leading(given: &Arguments<'_>) -> Result<usize, Trouble> {
    let predicate = given.needed_lambda(0)?;
    let items = &given.collection()?.items;
    for (at, item) in items.iter().enumerate() {
        if !predicate.is_true(item)? {
            return Ok(at);
        }
    }
    Ok(items.len())
}

fn take_while(given: &Arguments<'_>) -> Outcome {
    Val::stream(given.collection()?.items[..leading(given)?].to_vec())
}

fn skip_while(given: &Arguments<'_>) -> Outcome {
    Val::stream(given.collection()?.items[leading(given)?..].to_vec())
}

/// One of the values, or what is given for the case that there is none.
fn one_of(given: &Arguments<'_>, found: Option<&Val>) -> Outcome {
    match found {
        Some(value) => Ok(value.clone()),
        None => given.value(0)?.ok_or_else(|| Trouble::other("The collection is empty")),
    }
}

fn first(given: &Arguments<'_>) -> Outcome {
    one_of(given, given.beginning()?.first())
}

fn last(given: &Arguments<'_>) -> Outcome {
    one_of(given, given.collection()?.items.last())
}

fn single(given: &Arguments<'_>) -> Outcome {
    match given.beginning()? {
        [only] => Ok(only.clone()),
        [] => Err(Trouble::other("The collection is empty")),
        _ => Err(Trouble::other("Collection contains more than one item")),
    }
}

fn any(given: &Arguments<'_>) -> Outcome {
    let predicate = given.lambda(0);
    for item in given.beginning()? {
        if predicate.map_or(Ok(true), |predicate| predicate.is_true(item))? {
            return Ok(Val::Bool(true));
        }
    }
    Ok(Val::Bool(false))
}

fn all(given: &Arguments<'_>) -> Outcome {
    let predicate = given.lambda(0);
    for item in &given.collection()?.items {
        if !predicate.map_or(Ok(item.is_true()), |predicate| predicate.is_true(item))? {
            return Ok(Val::Bool(false));
        }
    }
    Ok(Val::Bool(true))
}

/// All values made one, from the left.
fn fold(given: &Arguments<'_>, seed: Option<Val>, step: impl Fn(Val, Val) -> Outcome) -> Outcome {
    let mut items = given.collection()?.items.iter().cloned();
    let empty = || Trouble::other("reduce() of empty iterable with no initial value");
    let first = seed.or_else(|| items.next()).ok_or_else(empty)?;
    items.try_fold(first, |total, item| {
        let total = step(total, item)?;
        match total.is_over_quota() {
            true => Err(Trouble::too_large()),
            false => Ok(total),
        }
    })
}

fn sum(given: &Arguments<'_>) -> Outcome {
    fold(given, given.value(0)?, |a, b| given.machine.infix(Infix::Plus, &a, &b))
}

fn max(given: &Arguments<'_>) -> Outcome {
    fold(given, given.value(0)?, |a, b| larger(given, a, b))
}

fn min(given: &Arguments<'_>) -> Outcome {
    fold(given, given.value(0)?, |a, b| smaller(given, a, b))
}

fn reduce(given: &Arguments<'_>) -> Outcome {
    let selector = given.needed_lambda(0)?;
    fold(given, given.value(1)?, |a, b| selector.call(&[a, b]))
}

fn accumulate(given: &Arguments<'_>) -> Outcome {
    let selector = given.needed_lambda(0)?;
    let seed = given.value(1)?;
    let mut items = given.collection()?.items.iter().cloned();
    let empty = || Trouble::other("accumulate() of empty sequence with no initial value");
    let mut totals = vec![seed.or_else(|| items.next()).ok_or_else(empty)?];
    for item in items {
        let total = totals.last().cloned().unwrap_or(Val::Null);
        totals.push(selector.call(&[total, item])?);
    }
    Val::stream(totals)
}

fn distinct(given: &Arguments<'_>) -> Outcome {
    let selector = given.lambda(0);
    let (mut keys, mut kept) = (Vec::new(), Vec::new());
    for item in &given.collection()?.items {
        let key = match selector {
            Some(selector) => selector.call(std::slice::from_ref(item))?,
            None => item.clone(),
        };
        if !given.machine.is_in(&key, &keys)? {
            keys.push(key);
            kept.push(item.clone());
        }
    }
    Val::stream(kept)
}

fn append(given: &Arguments<'_>) -> Outcome {
    Val::stream([given.collection()?.items.as_slice(), &given.rest()?].concat())
}

fn enumerate(given: &Arguments<'_>) -> Outcome {
    let start = given.whole(0)?.unwrap_or(0);
    let items = given.collection()?.items.iter();
    let pairs = (start..).zip(items);
    let pairs = pairs.map(|(at, item)| Val::list(vec![Val::Whole(at), item.clone()]));
    Val::stream(pairs.collect::<Result<_, _>>()?)
}

/// The collections that are zipped, the first of them what is asked.
fn zipped(given: &Arguments<'_>) -> Result<Vec<Vec<Val>>, Trouble> {
    let mut all = vec![given.collection()?.items.clone()];
    for other in given.rest()? {
        all.push(given.as_collection(&other)?.items.clone());
    }
    Ok(all)
}

fn zip(given: &Arguments<'_>) -> Outcome {
    let all = zipped(given)?;
    let shortest = all.iter().map(Vec::len).min().unwrap_or(0);
    let rows = (0..shortest).map(|at| Val::list(all.iter().map(|one| one[at].clone()).collect()));
    Val::stream(rows.collect::<Result<_, _>>()?)
}

fn zip_longest(given: &Arguments<'_>) -> Outcome {
    let mut default = Val::Null;
    for (_, value) in given.pairs() {
        default = given.machine.evaluate(value, given.names)?;
    }
    let all = zipped(given)?;
    let longest = all.iter().map(Vec::len).max().unwrap_or(0);
    let row = |at: usize| {
        Val::list(all.iter().map(|one| one.get(at).unwrap_or(&default).clone()).collect())
    };
    Val::stream((0..longest).map(row).collect::<Result<_, _>>()?)
}

fn reverse(given: &Arguments<'_>) -> Outcome {
    Val::stream(given.collection()?.items.iter().rev().cloned().collect())
}

fn order(given: &Arguments<'_>, is_down: bool) -> Outcome {
    let selector = given.needed_lambda(0)?;
    let items = &given.collection()?.items;
    given
        .machine
        .sort(items, |item| Ok(vec![(selector.call(std::slice::from_ref(item))?, is_down)]))
}

fn order_by(given: &Arguments<'_>) -> Outcome {
    order(given, false)
}

fn order_by_descending(given: &Arguments<'_>) -> Outcome {
    order(given, true)
}

/// Sorting by more is done together with sorting, which comes before it.
fn unsorted(given: &Arguments<'_>) -> Outcome {
    Err(given.no_match())
}

fn group_by(given: &Arguments<'_>) -> Outcome {
    let key_of = given.needed_lambda(0)?;
    let value_of = given.lambda(1);
    let mut groups: Vec<(Val, Vec<Val>)> = Vec::new();
    for item in &given.collection()?.items {
        let one = std::slice::from_ref(item);
        let value = value_of.map_or(Ok(item.clone()), |value_of| value_of.call(one))?;
        let key = key_of.call(one)?;
        let mut place = None;
        for (at, (own, _)) in groups.iter().enumerate() {
            if own.equals(&key, given.machine)? {
                place = Some(at);
                break;
            }
        }
        match place {
            Some(at) => groups[at].1.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    let mut rows = Vec::new();
    let mut has_failed = None;
    for (key, values) in groups {
        rows.push(aggregated(given, key, Val::list(values)?, &mut has_failed)?);
    }
    Val::stream(rows)
}

/// A group with its values made one. An aggregator takes the values; older ones take the pair of key and
/// values, and are known by failing when they are given the values alone.
fn aggregated(
    given: &Arguments<'_>,
    key: Val,
    values: Val,
    has_failed: &mut Option<Trouble>,
) -> Outcome {
    let Some(aggregator) = given.lambda(2) else { return Val::list(vec![key, values]) };
    if has_failed.is_none() {
        match aggregator.call(std::slice::from_ref(&values)) {
            Ok(value) => return Val::list(vec![key, value]),
            Err(trouble @ (Trouble::NoMatch(_) | Trouble::Index(_))) => *has_failed = Some(trouble),
            Err(trouble) => return Err(trouble),
        }
    }
    match aggregator.call(&[Val::list(vec![key, values])?]) {
        Ok(Val::Seq(pair)) if pair.items.len() == 2 => Ok(Val::Seq(pair)),
        _ => Err(has_failed.take().unwrap_or_else(|| given.no_match())),
    }
}

fn place(at: Option<usize>) -> Outcome {
    let at = at.map_or(Ok(-1), i128::try_from).map_err(|_| Trouble::overflow())?;
    Ok(Val::Whole(at))
}

fn index_where(given: &Arguments<'_>) -> Outcome {
    let predicate = given.needed_lambda(0)?;
    for (at, item) in given.collection()?.items.iter().enumerate() {
        if predicate.is_true(item)? {
            return place(Some(at));
        }
    }
    place(None)
}

fn last_index_where(given: &Arguments<'_>) -> Outcome {
    let predicate = given.needed_lambda(0)?;
    let mut last = None;
    for (at, item) in given.collection()?.items.iter().enumerate() {
        if predicate.is_true(item)? {
            last = Some(at);
        }
    }
    place(last)
}

fn slice(given: &Arguments<'_>) -> Outcome {
    let length = many(given)?;
    if length == 0 {
        return Val::stream(Vec::new());
    }
    let slices = given.collection()?.items.chunks(length).map(|chunk| Val::list(chunk.to_vec()));
    Val::stream(slices.collect::<Result<_, _>>()?)
}

fn split_at(given: &Arguments<'_>) -> Outcome {
    let items = &given.collection()?.items;
    let index = given.needed_whole(0)?;
    let at = match python::position(index, items.len()) {
        Some(at) => at,
        None if index < 0 => 0,
        None => items.len(),
    };
    let (left, right) = items.split_at(at);
    Val::list(vec![Val::list(left.to_vec())?, Val::list(right.to_vec())?])
}

fn split_where(given: &Arguments<'_>) -> Outcome {
    let predicate = given.needed_lambda(0)?;
    let (mut parts, mut part) = (Vec::new(), Vec::new());
    let mut ends_in_cut = true;
    for item in &given.collection()?.items {
        ends_in_cut = predicate.is_true(item)?;
        match ends_in_cut {
            true => parts.push(Val::list(std::mem::take(&mut part))?),
            false => part.push(item.clone()),
        }
    }
    if !ends_in_cut {
        parts.push(Val::list(part)?);
    }
    Val::stream(parts)
}

fn slice_where(given: &Arguments<'_>) -> Outcome {
    let predicate = given.needed_lambda(0)?;
    let (mut parts, mut part) = (Vec::new(), Vec::new());
    let mut before: Option<Val> = None;
    for item in &given.collection()?.items {
        let now = predicate.call(std::slice::from_ref(item))?;
        if let Some(before) = &before
            && !before.equals(&now, given.machine)?
        {
            parts.push(Val::list(std::mem::take(&mut part))?);
        }
        part.push(item.clone());
        before = Some(now);
    }
    if !part.is_empty() {
        parts.push(Val::list(part)?);
    }
    Val::stream(parts)
}

fn default_if_empty(given: &Arguments<'_>) -> Outcome {
    let default = given.needed(0)?;
    given.as_collection(&default)?;
    let is_empty = given.beginning()?.is_empty();
    Ok(if is_empty { default } else { given.receiver().clone() })
}

fn repeat(given: &Arguments<'_>) -> Outcome {
    let Some(times) = given.whole(0)?.filter(|times| *times >= 0) else {
        return Err(Trouble::other("repeat() without a number of times never ends"));
    };
    let times = usize::try_from(times).ok().filter(|times| *times <= MADE_MAX);
    let times = times.ok_or_else(Trouble::too_many)?;
    given.machine.spend(times)?;
    Val::stream(vec![given.receiver().clone(); times])
}

fn range(given: &Arguments<'_>) -> Outcome {
    let first = given.needed_whole(0)?;
    let (start, stop) = match given.whole(1)? {
        Some(stop) => (first, stop),
        None => (0, first),
    };
    let step = given.whole(2)?.unwrap_or(1);
    if step == 0 {
        return Err(Trouble::other("range() arg 3 must not be zero"));
    }
    let mut items = Vec::new();
    let mut at = start;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        if items.len() >= MADE_MAX {
            return Err(Trouble::too_many());
        }
        items.push(Val::Whole(at));
        at = at.checked_add(step).ok_or_else(Trouble::overflow)?;
    }
    given.machine.spend(items.len())?;
    Val::seq(Kind::Stream, items)
}

/// `join` of two collections: every pair of values that belong together.
pub(super) fn join_collections(given: &Arguments<'_>) -> Outcome {
    let other = given.needed(0)?;
    let (predicate, selector) = (given.needed_lambda(1)?, given.needed_lambda(2)?);
    let other = given.as_collection(&other)?;
    let mut joined = Vec::new();
    for left in &given.collection()?.items {
        for right in &other.items {
            let pair = [left.clone(), right.clone()];
            if predicate.call(&pair)?.is_true() {
                joined.push(selector.call(&pair)?);
                limit(joined.len() / 50)?;
            }
        }
    }
    Val::stream(joined)
}
