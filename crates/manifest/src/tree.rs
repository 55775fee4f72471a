//! A document as a tree in which every value knows where it stands.
//!
//! The tree is changed while it is read: what is wrong is taken out, so that the rest can be read
//! too. A [`Step`] path always means the tree as it is now.

use crate::mistake::Place;
use crate::scalar::Scalar;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Could not be read; what is wrong was noted already.
    Lost,
    /// An item that was taken out of its list. The others keep their numbers.
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub key: String,
    pub place: Place,
    pub node: Node,
}

/// One step down a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Node {
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Takes an entry of a mapping out.
    pub fn take(&mut self, key: &str) -> Option<Entry> {
        match &mut self.value {
            Value::Map(entries) => {
                let at = entries.iter().position(|entry| entry.key == key)?;
                Some(entries.remove(at))
            }
            _ => None,
        }
    }

    fn child_mut(&mut self, step: &Step) -> Option<&mut Node> {
        match (&mut self.value, step) {
            (Value::Map(entries), Step::Key(key)) => {
                entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.node)
            }
            (Value::List(items), Step::Index(at)) => items.get_mut(*at),
            _ => None,
        }
    }

    pub fn at_mut(&mut self, path: &[Step]) -> Option<&mut Node> {
        path.iter().try_fold(self, |node, step| node.child_mut(step))
    }

    /// Takes out what stands at the end of the path; `false` when there is nothing.
    pub fn remove(&mut self, path: &[Step]) -> bool {
        let Some((last, above)) = path.split_last() else {
            return false;
        };
        let Some(parent) = self.at_mut(above) else {
            return false;
        };
        match (&mut parent.value, last) {
            (Value::List(items), Step::Index(at)) if *at < items.len() => {
                items[*at].value = Value::Gone;
                true
            }
            (Value::Map(_), Step::Key(key)) => parent.take(key).is_some(),
            _ => false,
        }
    }

    /// Where the path ends, or the deepest place on the way when it does not lead all the way. An
    /// absent value is where its key is.
    pub fn place_of(&self, path: &[Step]) -> Place {
        let mut place = self.place;
        let mut node = self;
        for step in path {
            let (next, here) = match (&node.value, step) {
                (Value::Map(_), Step::Key(key)) => match node.entry(key) {
                    Some(entry) if entry.node.is_nothing() => (&entry.node, entry.place),
                    Some(entry) => (&entry.node, entry.node.place),
                    None => return place,
                },
                (Value::List(items), Step::Index(at)) => match items.get(*at) {
                    Some(item) => (item, item.place),
                    None => return place,
                },
                _ => return place,
            };
            (node, place) = (next, here);
        }
        place
    }

    /// Where the key is that the path ends with.
    pub fn key_place(&self, path: &[Step]) -> Place {
        if let Some((Step::Key(key), above)) = path.split_last() {
            let parent = above.iter().try_fold(self, |node, step| match (&node.value, step) {
                (Value::Map(_), Step::Key(key)) => node.get(key),
                (Value::List(items), Step::Index(at)) => items.get(*at),
                _ => None,
            });
            if let Some(entry) = parent.and_then(|parent| parent.entry(key)) {
                return entry.place;
            }
        }
        self.place_of(path)
    }

    /// The steps of a JSON pointer into what was read from this tree.
    pub fn steps(&self, pointer: &str) -> Vec<Step> {
        let mut node = Some(self);
        let mut steps = Vec::new();
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let list = match node.map(|node| &node.value) {
                Some(Value::List(items)) => Some(items),
                _ => None,
            };
            let item = list.zip(part.parse::<usize>().ok()).and_then(|(items, at)| {
                items.iter().enumerate().filter(|(_, item)| item.value != Value::Gone).nth(at)
            });
            match item {
                Some((at, item)) => {
                    steps.push(Step::Index(at));
                    node = Some(item);
                }
                None => {
                    node = node.and_then(|node| node.get(&part));
                    steps.push(Step::Key(part));
                }
            }
        }
        steps
    }

    pub fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.is_nothing())
    }

    /// How many values, and how many bytes of text.
    pub fn weight(&self) -> (usize, usize) {
        let add = |(a, b): (usize, usize), (c, d): (usize, usize)| (a + c, b + d);
        match &self.value {
            Value::Scalar(scalar) => (1, scalar.text.len()),
            Value::List(items) => items.iter().map(Node::weight).fold((1, 0), add),
            Value::Map(entries) => entries
                .iter()
                .map(|entry| add(entry.node.weight(), (0, entry.key.len())))
                .fold((1, 0), add),
            Value::Lost | Value::Gone => (1, 0),
        }
    }
}
