//! Choosing, and naming.

use std::rc::Rc;

use super::super::tree::Tree;
use super::super::trouble::Trouble;
use super::super::value::{Names, Val};
use super::Shape::{Function, Method};
use super::{Arguments, Builtin};

type Outcome = Result<Val, Trouble>;

pub(super) const TABLE: &[Builtin] = &[
    Builtin { name: "coalesce", shape: Function, parameters: &["*"], run: coalesce },
    Builtin { name: "switch", shape: Function, parameters: &["=>"], run: switch },
    Builtin { name: "selectCase", shape: Function, parameters: &["*"], run: select_case },
    Builtin { name: "switchCase", shape: Method, parameters: &["*"], run: switch_case },
    Builtin { name: "examine", shape: Function, parameters: &["*"], run: examine },
    Builtin { name: "let", shape: Function, parameters: &["*", "=>"], run: give_names },
    Builtin { name: "with", shape: Function, parameters: &["*"], run: give_names },
    Builtin { name: "unpack", shape: Method, parameters: &["*"], run: unpack },
];

fn coalesce(given: &Arguments<'_>) -> Outcome {
    for tree in given.trees() {
        match given.machine.evaluate(tree, given.names)? {
            Val::Null => {}
            value => return Ok(value),
        }
    }
    Ok(Val::Null)
}

fn switch(given: &Arguments<'_>) -> Outcome {
    for (case, value) in given.pairs() {
        if given.machine.evaluate(case, given.names)?.is_true() {
            return given.machine.evaluate(value, given.names);
        }
    }
    Ok(Val::Null)
}

fn select_case(given: &Arguments<'_>) -> Outcome {
    let mut many = 0;
    for tree in given.trees() {
        if given.machine.evaluate(tree, given.names)?.is_true() {
            break;
        }
        many += 1;
    }
    Ok(Val::Whole(many))
}

fn switch_case(given: &Arguments<'_>) -> Outcome {
    let Val::Whole(case) = given.receiver() else { return Err(given.no_match()) };
    let trees = given.trees();
    let chosen = usize::try_from(*case).ok().and_then(|case| trees.get(case)).or(trees.last());
    chosen.map_or(Ok(Val::Null), |tree| given.machine.evaluate(tree, given.names))
}

fn examine(given: &Arguments<'_>) -> Outcome {
    let answers = given.rest()?.iter().map(|value| Val::Bool(value.is_true())).collect();
    Val::stream(answers)
}

/// Names for what comes after `->`, in what is named already.
fn name_all(given: &Arguments<'_>, own: Vec<(String, Val)>) -> Outcome {
    match own.iter().any(|(_, value)| matches!(value, Val::Names(_))) {
        true => Err(given.no_match()),
        false => Ok(Val::Names(Rc::new(Names { own, outer: Some(Rc::clone(given.names)) }))),
    }
}

fn give_names(given: &Arguments<'_>) -> Outcome {
    let plain = given.rest()?.into_iter().enumerate();
    let mut own: Vec<(String, Val)> = plain.map(|(i, v)| ((i + 1).to_string(), v)).collect();
    for (name, value) in given.pairs() {
        let Tree::Word(name) = name else {
            return Err(Trouble::other("Cannot convert mapping to keyword argument"));
        };
        own.push((name.clone(), given.machine.evaluate(value, given.names)?));
    }
    name_all(given, own)
}

fn unpack(given: &Arguments<'_>) -> Outcome {
    let items = &given.collection()?.items;
    let mut names = Vec::new();
    for name in given.rest()? {
        let Val::Text(name) = name else { return Err(given.no_match()) };
        names.push(name.to_string());
    }
    if names.is_empty() {
        names = (1..=items.len()).map(|i| i.to_string()).collect();
    }
    if names.len() != items.len() {
        let (have, want) = (items.len(), names.len());
        return Err(Trouble::other(format!("Cannot unpack {have} elements into {want}")));
    }
    name_all(given, names.into_iter().zip(items.iter().cloned()).collect())
}
