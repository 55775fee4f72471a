//! Which type stands for which, and what is said about single resources.
//!
//! A tree: at its root names of types lead to other types or to templates; below `resources` the same is said
//! for the resources of some name, with hooks and with what may not be done to them, and below their names
//! for the resources inside of them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::glob::glob_match;
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::place::Path;
use crate::value::{Data, Entry, Node};

const RESOURCES: &str = "resources";
const HOOKS: &str = "hooks";
const RESTRICTED: &str = "restricted_actions";

/// A point at which a resource waits until somebody lets it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hook {
    PreCreate,
    PreUpdate,
    PreDelete,
    PostCreate,
    PostUpdate,
    PostDelete,
}

impl Hook {
    pub const ALL: [Hook; 6] = [
        Hook::PreCreate,
        Hook::PreUpdate,
        Hook::PreDelete,
        Hook::PostCreate,
        Hook::PostUpdate,
        Hook::PostDelete,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Hook::PreCreate => "pre-create",
            Hook::PreUpdate => "pre-update",
            Hook::PreDelete => "pre-delete",
            Hook::PostCreate => "post-create",
            Hook::PostUpdate => "post-update",
            Hook::PostDelete => "post-delete",
        }
    }

    pub fn read(word: &str) -> Option<Hook> {
        Hook::ALL.into_iter().find(|hook| hook.name() == word)
    }
}

/// What may not be done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RestrictedAction {
    Update,
    Replace,
}

impl RestrictedAction {
    pub const ALL: [RestrictedAction; 2] = [RestrictedAction::Update, RestrictedAction::Replace];

    pub fn name(self) -> &'static str {
        match self {
            RestrictedAction::Update => "update",
            RestrictedAction::Replace => "replace",
        }
    }

    pub fn read(word: &str) -> Option<RestrictedAction> {
        RestrictedAction::ALL.into_iter().find(|action| action.name() == word)
    }
}

/// One level of the tree, in the order in which it was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Level(pub Vec<(String, Item)>);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A type, or where a template is.
    Target(String),
    Level(Level),
    /// Hooks or restrictions, as they were written.
    Words(Value),
}

impl Level {
    pub fn get(&self, name: &str) -> Option<&Item> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, item)| item)
    }

    pub fn level(&self, name: &str) -> Option<&Level> {
        match self.get(name) {
            Some(Item::Level(level)) => Some(level),
            _ => None,
        }
    }

    fn put(&mut self, name: &str, item: Item) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = item,
            None => self.0.push((name.to_owned(), item)),
        }
    }

    fn level_mut(&mut self, name: &str) -> &mut Level {
        let at = match self.0.iter().position(|(key, _)| key == name) {
            Some(at) => at,
            None => {
                self.0.push((name.to_owned(), Item::Level(Level::default())));
                self.0.len() - 1
            }
        };
        if !matches!(self.0[at].1, Item::Level(_)) {
            self.0[at].1 = Item::Level(Level::default());
        }
        match &mut self.0[at].1 {
            Item::Level(level) => level,
            Item::Target(_) | Item::Words(_) => unreachable!("it was made a level just now"),
        }
    }

    /// Takes out an entry, or everything that begins with what is before a `*`.
    fn take_out(&mut self, name: &str) {
        match name.strip_suffix('*') {
            Some(prefix) => self.0.retain(|(key, item)| {
                !(key.starts_with(prefix) && matches!(item, Item::Target(_)))
            }),
            None => self.0.retain(|(key, _)| key != name),
        }
    }

    fn absorb(&mut self, other: &Level) {
        for (key, item) in &other.0 {
            self.put(key, item.clone());
        }
    }

    fn to_json(&self) -> Map<String, Value> {
        let item = |item: &Item| match item {
            Item::Target(target) => Value::String(target.clone()),
            Item::Level(level) => Value::Object(level.to_json()),
            Item::Words(value) => value.clone(),
        };
        self.0.iter().map(|(key, one)| (key.clone(), item(one))).collect()
    }
}

/// Which type stands for which.
#[derive(Clone, Debug, PartialEq)]
pub struct Registry {
    pub(crate) root: Level,
}

impl Default for Registry {
    fn default() -> Registry {
        let resources = (RESOURCES.to_owned(), Item::Level(Level::default()));
        Registry { root: Level(vec![resources]) }
    }
}

pub(crate) fn is_template(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".template")
}

impl Registry {
    /// Takes entries in over what there is. Nothing as a value takes an entry out.
    pub(crate) fn load(&mut self, entries: &[Entry], path: &Path, wrong: &mut Diagnostics) {
        load(&mut self.root, entries, path, wrong);
        self.root.level_mut(RESOURCES);
    }

    pub fn to_json(&self) -> Value {
        Value::Object(self.root.to_json())
    }

    /// Takes another registry in over this one, entry by entry: what one says about single resources takes
    /// the place of all that the other says about them.
    pub(crate) fn merge(&mut self, other: &Registry) {
        let is_something = |item: &Item| !matches!(item, Item::Level(level) if level.0.is_empty());
        for (key, item) in other.root.0.iter().filter(|(_, item)| is_something(item)) {
            self.root.put(key, item.clone());
        }
    }

    /// Remembers a template that is used as a type without being registered.
    pub fn register(&mut self, template: &str) {
        if is_template(template) && self.root.get(template).is_none() {
            self.root.put(template, Item::Target(template.to_owned()));
        }
    }

    /// Whether a resource waits at this point.
    pub fn has_hook(&self, resource: &str, hook: Hook) -> bool {
        self.words(resource, HOOKS).iter().any(|word| word == hook.name())
    }

    /// What may not be done to a resource.
    pub fn restricted_actions(&self, resource: &str) -> BTreeSet<RestrictedAction> {
        let words = self.words(resource, RESTRICTED);
        words.iter().filter_map(|word| RestrictedAction::read(word)).collect()
    }

    fn words(&self, resource: &str, key: &str) -> Vec<String> {
        let Some(resources) = self.root.level(RESOURCES) else { return Vec::new() };
        let matching = resources.0.iter().filter(|(pattern, _)| glob_match(pattern, resource));
        let said = matching.filter_map(|(_, item)| match item {
            Item::Level(level) => level.get(key),
            _ => None,
        });
        said.flat_map(|item| match item {
            Item::Words(Value::String(word)) => vec![word.clone()],
            Item::Words(Value::Array(words)) => words.iter().map(python::text).collect(),
            _ => Vec::new(),
        })
        .collect()
    }

    /// Takes a template out.
    pub(crate) fn remove(&mut self, path: &[String]) {
        let Some((name, above)) = path.split_last() else { return };
        let mut level = &mut self.root;
        for key in above {
            level = level.level_mut(key);
        }
        if matches!(level.get(name), Some(Item::Target(_))) {
            level.take_out(name);
        }
    }

    /// What is said about the resources inside of one takes the place of what is said about all.
    pub(crate) fn narrow_to(&mut self, resource: &str) {
        let mut inside = Level::default();
        if let Some(resources) = self.root.level(RESOURCES) {
            let levels = resources.0.iter().filter_map(|(pattern, item)| match item {
                Item::Level(level) if glob_match(pattern, resource) => Some(level),
                _ => None,
            });
            levels.for_each(|level| inside.absorb(level));
            if let Some(exact) = resources.level(resource) {
                inside.absorb(exact);
            }
        }
        self.root.put(RESOURCES, Item::Level(inside));
    }
}

fn load(level: &mut Level, entries: &[Entry], path: &Path, wrong: &mut Diagnostics) {
    for entry in entries {
        let path = path.key(&entry.key);
        let place = entry.node.place.or(entry.place);
        match (&entry.node.data, entry.key.as_str()) {
            (Data::Null, name) => level.take_out(name),
            (_, HOOKS) => {
                let fault = Fault::HookInvalid;
                let message =
                    "hook type \"{}\" for resource breakpoint, acceptable hook types are: {}";
                let known = Hook::ALL.map(Hook::name);
                words(level, entry, &known, message, |text| {
                    wrong.push(Diagnostic::new(fault, &path, text).at(place));
                });
            }
            (_, RESTRICTED) => {
                let fault = Fault::RestrictionInvalid;
                let message = "restricted_action type \"{}\" for resource, acceptable \
                               restricted_action types are: {}";
                let known = RestrictedAction::ALL.map(RestrictedAction::name);
                words(level, entry, &known, message, |text| {
                    wrong.push(Diagnostic::new(fault, &path, text).at(place));
                });
            }
            (Data::Map(inner), name) => load(level.level_mut(name), inner, &path, wrong),
            (Data::String(target), name) => level.put(name, Item::Target(target.clone())),
            (_, name) => {
                let kind = entry.node.kind();
                let message = format!(
                    "Environment not in valid format: \"{name}\" of the resource_registry must be \
                     a type, a template or a mapping, not {kind}"
                );
                wrong.push(Diagnostic::new(Fault::InvalidFormat, &path, message).at(place));
            }
        }
    }
}

/// Takes one word or several out of those that are known.
fn words(
    level: &mut Level,
    entry: &Entry,
    known: &[&str],
    message: &str,
    say: impl FnOnce(String),
) {
    let is_known = |node: &Node| node.as_str().is_some_and(|word| known.contains(&word));
    let is_fine = match &entry.node.data {
        Data::List(items) => items.iter().all(is_known),
        _ => is_known(&entry.node),
    };
    let value = entry.node.to_json();
    if is_fine {
        level.put(&entry.key, Item::Words(value));
        return;
    }
    let known: Vec<String> = known.iter().map(|word| format!("'{word}'")).collect();
    let text = message.replacen("{}", &python::text(&value), 1);
    say(format!("Invalid {}", text.replacen("{}", &format!("({})", known.join(", ")), 1)));
}
