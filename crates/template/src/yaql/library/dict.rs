//! Maps.

use super::super::trouble::Trouble;
use super::super::value::{Dict, Kind, Val};
use super::Shape::{Function, Method};
use super::{Arguments, Builtin};

type Outcome = Result<Val, Trouble>;

/// Entries of a map that a call makes; more are more than the memory that expressions have.
const ENTRIES_MAX: usize = 341;

pub(super) const TABLE: &[Builtin] = &[
    Builtin { name: "dict", shape: Function, parameters: &["items", "=>"], run: dict },
    Builtin {
        name: "toDict",
        shape: Method,
        parameters: &["keySelector", "valueSelector"],
        run: to_dict,
    },
    Builtin { name: "get", shape: Method, parameters: &["key", "default"], run: get },
    Builtin { name: "set", shape: Method, parameters: &["key", "value", "=>"], run: set },
    Builtin { name: "keys", shape: Method, parameters: &[], run: keys },
    Builtin { name: "values", shape: Method, parameters: &[], run: values },
    Builtin { name: "items", shape: Method, parameters: &[], run: items },
    Builtin { name: "containsKey", shape: Method, parameters: &["key"], run: contains_key },
    Builtin { name: "containsValue", shape: Method, parameters: &["value"], run: contains_value },
    Builtin { name: "deleteAll", shape: Method, parameters: &["keys"], run: delete_all },
    Builtin { name: "isDict", shape: Function, parameters: &["arg"], run: is_dict },
    Builtin {
        name: "mergeWith",
        shape: Method,
        parameters: &["another", "listMerger", "itemMerger", "maxLevels"],
        run: merge_with,
    },
];

fn own<'v>(given: &'v Arguments<'_>) -> Result<&'v Dict, Trouble> {
    match given.receiver() {
        Val::Dict(dict) => Ok(dict),
        _ => Err(given.no_match()),
    }
}

fn made(entries: Vec<(Val, Val)>) -> Outcome {
    match entries.len() > ENTRIES_MAX {
        true => Err(Trouble::too_large()),
        false => Val::dict(entries),
    }
}

fn dict(given: &Arguments<'_>) -> Outcome {
    let Some(pairs) = (match given.pairs() {
        [] => given.value(0)?,
        pairs if given.trees().is_empty() => {
            return given.machine.dict(given.machine.pairs(pairs, given.names)?);
        }
        _ => return Err(given.no_match()),
    }) else {
        return Val::dict(Vec::new());
    };
    let mut entries = Vec::new();
    for pair in &given.as_collection(&pairs)?.items {
        match pair {
            Val::Seq(pair) if pair.items.len() >= 2 => {
                entries.push((pair.items[0].clone(), pair.items[1].clone()));
            }
            _ => return Err(Trouble::other("dict() takes pairs of a key and a value")),
        }
    }
    given.machine.dict(entries)
}

fn to_dict(given: &Arguments<'_>) -> Outcome {
    let (key, value) = (given.needed_lambda(0)?, given.lambda(1));
    let mut entries = Vec::new();
    for item in &given.collection()?.items {
        let one = std::slice::from_ref(item);
        let value = value.map_or(Ok(item.clone()), |value| value.call(one))?;
        entries.push((key.call(one)?, value));
    }
    given.machine.dict(entries)
}

fn get(given: &Arguments<'_>) -> Outcome {
    let key = given.needed(0)?;
    let found = own(given)?.get(&key, given.machine)?.cloned();
    match found {
        Some(value) => Ok(value),
        None => Ok(given.value(1)?.unwrap_or(Val::Null)),
    }
}

fn set(given: &Arguments<'_>) -> Outcome {
    let more = match (given.value(0)?, given.value(1)?, given.pairs()) {
        (Some(key), Some(value), []) => vec![(key, value)],
        (Some(Val::Dict(more)), None, []) => more.entries.clone(),
        (None, None, pairs) => given.machine.pairs(pairs, given.names)?,
        _ => return Err(given.no_match()),
    };
    given.machine.dict(own(given)?.entries.iter().cloned().chain(more))
}

fn keys(given: &Arguments<'_>) -> Outcome {
    Val::seq(Kind::Set, own(given)?.entries.iter().map(|(key, _)| key.clone()).collect())
}

fn values(given: &Arguments<'_>) -> Outcome {
    Val::seq(Kind::View, own(given)?.entries.iter().map(|(_, value)| value.clone()).collect())
}

fn items(given: &Arguments<'_>) -> Outcome {
    let pairs = own(given)?.entries.iter();
    let pairs = pairs.map(|(key, value)| Val::list(vec![key.clone(), value.clone()]));
    Val::seq(Kind::Set, pairs.collect::<Result<_, _>>()?)
}

fn contains_key(given: &Arguments<'_>) -> Outcome {
    Ok(Val::Bool(own(given)?.get(&given.needed(0)?, given.machine)?.is_some()))
}

fn contains_value(given: &Arguments<'_>) -> Outcome {
    let value = given.needed(0)?;
    for (_, own) in &own(given)?.entries {
        if own.equals(&value, given.machine)? {
            return Ok(Val::Bool(true));
        }
    }
    Ok(Val::Bool(false))
}

fn delete_all(given: &Arguments<'_>) -> Outcome {
    let keys = given.needed(0)?;
    let keys = given.as_collection(&keys)?;
    let mut kept = Vec::new();
    for (key, value) in &own(given)?.entries {
        if !given.machine.is_in(key, &keys.items)? {
            kept.push((key.clone(), value.clone()));
        }
    }
    made(kept)
}

fn is_dict(given: &Arguments<'_>) -> Outcome {
    Ok(Val::Bool(matches!(given.needed(0)?, Val::Dict(_))))
}

fn merge_with(given: &Arguments<'_>) -> Outcome {
    let Val::Dict(another) = given.needed(0)? else { return Err(given.no_match()) };
    let levels = given.whole(3)?.unwrap_or(0);
    merge(given, own(given)?, &another, levels)
}

/// Maps are merged within, lists joined, and of anything else the second wins. No levels are all levels.
fn merge(given: &Arguments<'_>, first: &Dict, second: &Dict, levels: i128) -> Outcome {
    let mut merged = Vec::new();
    for (key, left) in &first.entries {
        let value = match second.get(key, given.machine)? {
            None => left.clone(),
            Some(right) => merge_values(given, left, right, levels)?,
        };
        merged.push((key.clone(), value));
    }
    for (key, right) in &second.entries {
        if first.get(key, given.machine)?.is_none() {
            merged.push((key.clone(), right.clone()));
        }
    }
    made(merged)
}

fn merge_values(given: &Arguments<'_>, left: &Val, right: &Val, levels: i128) -> Outcome {
    let cannot = || {
        let (left, right) = (left.shown(), right.shown());
        Trouble::other(format!("Cannot merge {left} with {right}"))
    };
    match (left, right) {
        (Val::Dict(left), Val::Dict(right)) if levels != 1 => {
            merge(given, left, right, if levels == 0 { 0 } else { levels - 1 })
        }
        (_, Val::Dict(_)) if levels != 1 => Err(cannot()),
        (Val::Seq(first), Val::Seq(second))
            if levels != 1 && first.kind == Kind::List && second.kind == Kind::List =>
        {
            if let Some(merger) = given.lambda(1) {
                return merger.call(&[left.clone(), right.clone()]);
            }
            let mut joined: Vec<Val> = Vec::new();
            for item in first.items.iter().chain(&second.items) {
                if !given.machine.is_in(item, &joined)? {
                    joined.push(item.clone());
                }
            }
            Val::list(joined)
        }
        (_, Val::Seq(second)) if levels != 1 && second.kind == Kind::List => Err(cannot()),
        _ => match given.lambda(2) {
            Some(merger) => merger.call(&[left.clone(), right.clone()]),
            None => Ok(right.clone()),
        },
    }
}
