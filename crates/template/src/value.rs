//! A document that was read: data in which every value knows where it stands.
//!
//! The order of a mapping is that of the text. A key stands in a mapping once; reading sees to that
//! ([`crate::read`]), and so does [`Node::from_json`]. Keys are texts: other keys became the texts that
//! JSON would make of them.

use serde_json::{Map, Number, Value};

use crate::place::{Path, Place, Step};

/// A value. What nobody wrote has no place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub place: Option<Place>,
    pub data: Data,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key with its value. The place is that of the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub place: Option<Place>,
    pub node: Node,
}

impl Node {
    /// A value that nobody wrote.
    pub fn made(data: Data) -> Node {
        Node { place: None, data }
    }

    pub fn null() -> Node {
        Node::made(Data::Null)
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.as_map().and_then(|entries| entries.iter().find(|entry| entry.key == key))
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The value at the end of a path.
    pub fn at(&self, path: &Path) -> Option<&Node> {
        path.steps().iter().try_fold(self, |node, step| match (&node.data, step) {
            (_, Step::Key(key)) => node.get(key),
            (Data::List(items), Step::Index(index)) => items.get(*index),
            _ => None,
        })
    }

    /// Where the path ends, or the deepest place on the way when it does not lead all the way. A value
    /// without a place of its own is where its key is.
    pub fn place_of(&self, path: &Path) -> Option<Place> {
        let mut place = self.place;
        let mut node = self;
        for step in path.steps() {
            let (next, here) = match (&node.data, step) {
                (_, Step::Key(key)) => match node.entry(key) {
                    Some(entry) => (&entry.node, entry.node.place.or(entry.place)),
                    None => return place,
                },
                (Data::List(items), Step::Index(index)) => match items.get(*index) {
                    Some(item) => (item, item.place),
                    None => return place,
                },
                _ => return place,
            };
            (node, place) = (next, here.or(place));
        }
        place
    }

    pub fn is_null(&self) -> bool {
        self.data == Data::Null
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match &self.data {
            Data::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.data {
            Data::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// What stands here, in words: `a text`, `a list`.
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "true or false",
            Data::Number(_) => "a number",
            Data::String(_) => "a text",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
        }
    }

    /// The plain data of this value.
    pub fn to_json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(number) => Value::Number(number.clone()),
            Data::String(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Data::Map(entries) => Value::Object(
                entries.iter().map(|e| (e.key.clone(), e.node.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// A value without places.
    pub fn from_json(value: &Value) -> Node {
        Node::made(match value {
            Value::Null => Data::Null,
            Value::Bool(value) => Data::Bool(*value),
            Value::Number(number) => Data::Number(number.clone()),
            Value::String(text) => Data::String(text.clone()),
            Value::Array(items) => Data::List(items.iter().map(Node::from_json).collect()),
            Value::Object(entries) => Data::Map(
                entries
                    .iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        place: None,
                        node: Node::from_json(value),
                    })
                    .collect(),
            ),
        })
    }
}
