//! What a function is called with. Arguments are evaluated when a function asks for them, and those that
//! are lambdas as often as it likes.

use std::rc::Rc;

use super::super::machine::Machine;
use super::super::tree::{Call, Tree};
use super::super::trouble::Trouble;
use super::super::value::{Kind, Names, Seq, Val, limit};
use super::{Builtin, Shape};

pub(in super::super) struct Arguments<'a> {
    pub machine: &'a Machine,
    pub names: &'a Rc<Names>,
    builtin: &'static Builtin,
    receiver: Option<Val>,
    plain: &'a [Tree],
    named: &'a [(Tree, Tree)],
}

/// An argument that is evaluated for values that the function gives it.
#[derive(Clone, Copy)]
pub(in super::super) struct Lambda<'a> {
    machine: &'a Machine,
    names: &'a Rc<Names>,
    tree: &'a Tree,
}

impl Lambda<'_> {
    /// With `$1`, `$2` and so on; `$` is the first.
    pub fn call(&self, values: &[Val]) -> Result<Val, Trouble> {
        let own = values.iter().enumerate().map(|(i, value)| ((i + 1).to_string(), value.clone()));
        let names = Names { own: own.collect(), outer: Some(Rc::clone(self.names)) };
        self.machine.evaluate(self.tree, &Rc::new(names))
    }

    /// With names of one's own.
    pub fn within(&self, names: Rc<Names>) -> Result<Val, Trouble> {
        self.machine.evaluate(self.tree, &names)
    }

    pub fn is_true(&self, value: &Val) -> Result<bool, Trouble> {
        Ok(self.call(std::slice::from_ref(value))?.is_true())
    }
}

impl<'a> Arguments<'a> {
    pub fn of_function(
        machine: &'a Machine,
        call: &'a Call,
        names: &'a Rc<Names>,
    ) -> Result<Arguments<'a>, Trouble> {
        let (receiver, plain) = match (call.builtin.shape, call.arguments.split_first()) {
            (Shape::Both, Some((first, rest))) => (Some(machine.evaluate(first, names)?), rest),
            _ => (None, call.arguments.as_slice()),
        };
        Arguments { machine, names, builtin: call.builtin, receiver, plain, named: &call.named }
            .checked()
    }

    pub fn of_method(
        machine: &'a Machine,
        receiver: Val,
        call: &'a Call,
        names: &'a Rc<Names>,
    ) -> Result<Arguments<'a>, Trouble> {
        let (builtin, receiver) = (call.builtin, Some(receiver));
        Arguments { machine, names, builtin, receiver, plain: &call.arguments, named: &call.named }
            .checked()
    }

    fn checked(self) -> Result<Arguments<'a>, Trouble> {
        let parameters = self.builtin.parameters;
        let takes = |mark: &str| parameters.contains(&mark);
        let many = parameters.iter().filter(|name| **name != "=>" && **name != "*").count();
        let is_known = |tree: &Tree| match tree {
            Tree::Word(word) => parameters.contains(&word.as_str()),
            _ => false,
        };
        let is_named = takes("=>") || self.named.iter().all(|(name, _)| is_known(name));
        let is_counted = takes("*") || self.plain.len() <= many;
        let is_asked = self.builtin.shape != Shape::Both || self.receiver.is_some();
        match is_named && is_counted && is_asked {
            true => Ok(self),
            false => Err(self.no_match()),
        }
    }

    pub fn run(&self) -> Result<Val, Trouble> {
        self.machine.spend(1)?;
        (self.builtin.run)(self)
    }

    pub fn no_match(&self) -> Trouble {
        match (&self.receiver, self.builtin.shape) {
            (Some(receiver), Shape::Method) => {
                Trouble::no_method(self.builtin.name, &receiver.shown())
            }
            _ => Trouble::no_function(self.builtin.name),
        }
    }

    /// What it is asked of.
    pub fn receiver(&self) -> &Val {
        self.receiver.as_ref().unwrap_or(&Val::Null)
    }

    /// What it is asked of, when that is a collection that may be gone through.
    pub fn collection(&self) -> Result<&Seq, Trouble> {
        self.as_collection(self.receiver())
    }

    pub fn as_collection<'v>(&self, value: &'v Val) -> Result<&'v Seq, Trouble> {
        let Val::Seq(seq) = value else { return Err(self.no_match()) };
        limit(seq.items.len())?;
        self.machine.spend(seq.items.len())?;
        Ok(seq)
    }

    /// The beginning of a collection, which may go on for longer than one may go through.
    pub fn beginning(&self) -> Result<&[Val], Trouble> {
        match self.receiver() {
            Val::Seq(seq) if seq.kind == Kind::Stream => Ok(&seq.items),
            _ => Ok(&self.collection()?.items),
        }
    }

    /// What it is asked of, when that is a text.
    pub fn string(&self) -> Result<&str, Trouble> {
        match self.receiver() {
            Val::Text(text) => {
                self.machine.spend(text.len() / 16)?;
                Ok(text)
            }
            _ => Err(self.no_match()),
        }
    }

    fn tree(&self, index: usize) -> Option<&'a Tree> {
        let name = self.builtin.parameters.get(index).copied().unwrap_or_default();
        let is_it = |tree: &Tree| matches!(tree, Tree::Word(word) if word == name);
        let named = || self.named.iter().find(|(name, _)| is_it(name)).map(|(_, value)| value);
        self.plain.get(index).or_else(named)
    }

    pub fn value(&self, index: usize) -> Result<Option<Val>, Trouble> {
        self.tree(index).map(|tree| self.machine.evaluate(tree, self.names)).transpose()
    }

    pub fn needed(&self, index: usize) -> Result<Val, Trouble> {
        self.value(index)?.ok_or_else(|| self.no_match())
    }

    pub fn text(&self, index: usize) -> Result<Option<std::rc::Rc<str>>, Trouble> {
        match self.value(index)? {
            Some(Val::Text(text)) => Ok(Some(text)),
            None | Some(Val::Null) => Ok(None),
            Some(_) => Err(self.no_match()),
        }
    }

    pub fn needed_text(&self, index: usize) -> Result<std::rc::Rc<str>, Trouble> {
        self.text(index)?.ok_or_else(|| self.no_match())
    }

    pub fn whole(&self, index: usize) -> Result<Option<i128>, Trouble> {
        match self.value(index)? {
            Some(Val::Whole(whole)) => Ok(Some(whole)),
            None => Ok(None),
            Some(_) => Err(self.no_match()),
        }
    }

    pub fn needed_whole(&self, index: usize) -> Result<i128, Trouble> {
        self.whole(index)?.ok_or_else(|| self.no_match())
    }

    pub fn is_true(&self, index: usize, otherwise: bool) -> Result<bool, Trouble> {
        Ok(self.value(index)?.map_or(otherwise, |value| value.is_true()))
    }

    pub fn lambda(&self, index: usize) -> Option<Lambda<'a>> {
        let (machine, names) = (self.machine, self.names);
        self.tree(index).map(|tree| Lambda { machine, names, tree })
    }

    pub fn needed_lambda(&self, index: usize) -> Result<Lambda<'a>, Trouble> {
        self.lambda(index).ok_or_else(|| self.no_match())
    }

    /// All arguments without a name, not evaluated.
    pub fn trees(&self) -> &'a [Tree] {
        self.plain
    }

    pub fn rest(&self) -> Result<Vec<Val>, Trouble> {
        self.plain.iter().map(|tree| self.machine.evaluate(tree, self.names)).collect()
    }

    pub fn pairs(&self) -> &'a [(Tree, Tree)] {
        self.named
    }
}
