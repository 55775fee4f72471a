//! Lists and sets as such.

use super::super::trouble::Trouble;
use super::super::value::{Kind, Seq, Val, limit};
use super::Shape::{Both, Function, Method};
use super::{Arguments, Builtin};

type Outcome = Result<Val, Trouble>;

pub(super) const TABLE: &[Builtin] = &[
    Builtin { name: "list", shape: Function, parameters: &["*"], run: list },
    Builtin { name: "set", shape: Function, parameters: &["*"], run: set },
    Builtin { name: "toList", shape: Method, parameters: &[], run: to_list },
    Builtin { name: "toSet", shape: Method, parameters: &[], run: to_set },
    Builtin { name: "flatten", shape: Method, parameters: &[], run: flatten },
    Builtin { name: "len", shape: Both, parameters: &[], run: len },
    Builtin { name: "count", shape: Method, parameters: &[], run: count },
    Builtin { name: "contains", shape: Method, parameters: &["value"], run: contains },
    Builtin { name: "isList", shape: Function, parameters: &["arg"], run: is_list },
    Builtin { name: "isSet", shape: Function, parameters: &["arg"], run: is_set },
    Builtin { name: "isIterable", shape: Function, parameters: &["value"], run: is_iterable },
    Builtin { name: "union", shape: Method, parameters: &["right"], run: union },
    Builtin { name: "intersect", shape: Method, parameters: &["right"], run: intersect },
    Builtin { name: "difference", shape: Method, parameters: &["right"], run: difference },
    Builtin {
        name: "symmetricDifference",
        shape: Method,
        parameters: &["right"],
        run: symmetric_difference,
    },
    Builtin { name: "add", shape: Method, parameters: &["*"], run: add },
    Builtin { name: "remove", shape: Method, parameters: &["*"], run: remove },
];

/// The values; of streams among them what they give.
fn spread(given: &Arguments<'_>) -> Result<Vec<Val>, Trouble> {
    fn into(values: &[Val], out: &mut Vec<Val>) {
        for value in values {
            match value {
                Val::Seq(seq) if seq.kind == Kind::Stream => into(&seq.items, out),
                other => out.push(other.clone()),
            }
        }
    }
    let values = given.rest()?;
    given.machine.spend(values.iter().map(Val::weight).fold(0, usize::saturating_add))?;
    let mut out = Vec::new();
    into(&values, &mut out);
    limit(out.len())?;
    Ok(out)
}

fn list(given: &Arguments<'_>) -> Outcome {
    Val::list(spread(given)?)
}

fn set(given: &Arguments<'_>) -> Outcome {
    given.machine.set(spread(given)?)
}

fn to_list(given: &Arguments<'_>) -> Outcome {
    Val::list(given.collection()?.items.clone())
}

fn to_set(given: &Arguments<'_>) -> Outcome {
    given.machine.set(given.collection()?.items.clone())
}

fn flatten(given: &Arguments<'_>) -> Outcome {
    fn into(values: &[Val], out: &mut Vec<Val>) {
        for value in values {
            match value {
                Val::Seq(seq) => into(&seq.items, out),
                other => out.push(other.clone()),
            }
        }
    }
    let items = &given.collection()?.items;
    given.machine.spend(given.receiver().weight())?;
    let mut out = Vec::new();
    into(items, &mut out);
    Val::stream(out)
}

fn len(given: &Arguments<'_>) -> Outcome {
    let many = match given.receiver() {
        Val::Text(text) => text.chars().count(),
        Val::Dict(dict) => dict.entries.len(),
        Val::Seq(seq) if seq.kind != Kind::View => seq.items.len(),
        _ => return Err(given.no_match()),
    };
    whole(many)
}

fn whole(many: usize) -> Outcome {
    i128::try_from(many).map(Val::Whole).map_err(|_| Trouble::overflow())
}

fn count(given: &Arguments<'_>) -> Outcome {
    whole(given.collection()?.items.len())
}

fn contains(given: &Arguments<'_>) -> Outcome {
    let value = given.needed(0)?;
    let items = &given.collection()?.items;
    Ok(Val::Bool(given.machine.is_in(&value, items)?))
}

fn is_kind(given: &Arguments<'_>, fits: fn(Kind) -> bool) -> Outcome {
    Ok(Val::Bool(matches!(given.needed(0)?, Val::Seq(seq) if fits(seq.kind))))
}

fn is_list(given: &Arguments<'_>) -> Outcome {
    is_kind(given, |kind| kind == Kind::List)
}

fn is_set(given: &Arguments<'_>) -> Outcome {
    is_kind(given, |kind| kind == Kind::Set)
}

fn is_iterable(given: &Arguments<'_>) -> Outcome {
    is_kind(given, |_| true)
}

fn sets<'v>(given: &'v Arguments<'_>, right: &'v Val) -> Result<[&'v [Val]; 2], Trouble> {
    match (given.receiver(), right) {
        (Val::Seq(left), Val::Seq(right)) if left.kind == Kind::Set && right.kind == Kind::Set => {
            Ok([&left.items, &right.items])
        }
        _ => Err(given.no_match()),
    }
}

fn union(given: &Arguments<'_>) -> Outcome {
    let right = given.needed(0)?;
    let [left, right] = sets(given, &right)?;
    given.machine.set([left, right].concat())
}

/// Of the first those that are, or are not, in the second.
fn sieve(
    given: &Arguments<'_>,
    first: &[Val],
    second: &[Val],
    is_wanted: bool,
) -> Result<Vec<Val>, Trouble> {
    let mut kept = Vec::new();
    for item in first {
        if given.machine.is_in(item, second)? == is_wanted {
            kept.push(item.clone());
        }
    }
    Ok(kept)
}

fn intersect(given: &Arguments<'_>) -> Outcome {
    let right = given.needed(0)?;
    let [left, right] = sets(given, &right)?;
    Val::seq(Kind::Set, sieve(given, left, right, true)?)
}

fn difference(given: &Arguments<'_>) -> Outcome {
    let right = given.needed(0)?;
    let [left, right] = sets(given, &right)?;
    Val::seq(Kind::Set, sieve(given, left, right, false)?)
}

fn symmetric_difference(given: &Arguments<'_>) -> Outcome {
    let right = given.needed(0)?;
    let [left, right] = sets(given, &right)?;
    let mut kept = sieve(given, left, right, false)?;
    kept.extend(sieve(given, right, left, false)?);
    Val::seq(Kind::Set, kept)
}

fn add(given: &Arguments<'_>) -> Outcome {
    given.machine.set([own_set(given)?.items.as_slice(), &given.rest()?].concat())
}

fn remove(given: &Arguments<'_>) -> Outcome {
    let kept = sieve(given, &own_set(given)?.items, &given.rest()?, false)?;
    Val::seq(Kind::Set, kept)
}

fn own_set<'v>(given: &'v Arguments<'_>) -> Result<&'v Seq, Trouble> {
    match given.receiver() {
        Val::Seq(seq) if seq.kind == Kind::Set => Ok(seq),
        _ => Err(given.no_match()),
    }
}
