//! A YAML document with the place of everything in it.
//!
//! Compose allows several types almost everywhere (a string or a list, a list or a map), so the file
//! is read as a tree first and understood afterwards. Scalars are kept as their text: `8080`, `"8080"`
//! and `${PORT}` are the same to whoever asks for a port.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use crate::plan::{Place, Source, Unreadable};

/// A value and where it is.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    pub place: Place<'a>,
    pub content: Content<'a>,
}

#[derive(Clone, Debug)]
pub enum Content<'a> {
    Null,
    Scalar(String),
    List(Vec<Node<'a>>),
    Map(Vec<Pair<'a>>),
}

#[derive(Clone, Debug)]
pub struct Pair<'a> {
    pub key: String,
    /// Of the key.
    pub place: Place<'a>,
    pub value: Node<'a>,
}

impl<'a> Node<'a> {
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.pairs().iter().find(|pair| pair.key == key).map(|pair| &pair.value)
    }

    /// Of a map; none of anything else.
    pub fn pairs(&self) -> &[Pair<'a>] {
        match &self.content {
            Content::Map(pairs) => pairs,
            Content::Null | Content::Scalar(_) | Content::List(_) => &[],
        }
    }

    pub fn scalar(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(text) => Some(text),
            Content::Null | Content::List(_) | Content::Map(_) => None,
        }
    }

    pub fn is_true(&self) -> bool {
        self.scalar().is_some_and(|text| text == "true")
    }

    /// A list of texts, or one text by itself.
    pub fn texts(&self) -> Vec<(Place<'a>, &str)> {
        match &self.content {
            Content::Scalar(text) => vec![(self.place, text.as_str())],
            Content::List(items) => {
                items.iter().filter_map(|item| Some((item.place, item.scalar()?))).collect()
            }
            Content::Null | Content::Map(_) => Vec::new(),
        }
    }

    /// `KEY=VALUE` items of a list, or the pairs of a map. A value may be missing.
    pub fn entries(&self) -> Vec<(Place<'a>, String, Option<String>)> {
        match &self.content {
            Content::Map(pairs) => pairs
                .iter()
                .map(|pair| (pair.place, pair.key.clone(), pair.value.scalar().map(str::to_owned)))
                .collect(),
            Content::List(_) | Content::Scalar(_) => self
                .texts()
                .into_iter()
                .map(|(place, text)| match text.split_once('=') {
                    Some((key, value)) => (place, key.to_owned(), Some(value.to_owned())),
                    None => (place, text.to_owned(), None),
                })
                .collect(),
            Content::Null => Vec::new(),
        }
    }

    /// Calls for every scalar; it may change the text.
    pub fn each_scalar(&mut self, change: &mut impl FnMut(Place<'a>, &mut String)) {
        match &mut self.content {
            Content::Null => {}
            Content::Scalar(text) => change(self.place, text),
            Content::List(items) => items.iter_mut().for_each(|item| item.each_scalar(change)),
            Content::Map(pairs) => pairs.iter_mut().for_each(|pair| pair.value.each_scalar(change)),
        }
    }

    /// A later file over an earlier one: maps are joined, lists grow, everything else is replaced.
    pub fn overlay(&mut self, over: Node<'a>) {
        match (&mut self.content, over.content) {
            (Content::Map(own), Content::Map(pairs)) => {
                for pair in pairs {
                    match own.iter_mut().find(|known| known.key == pair.key) {
                        Some(known) if is_replaced_whole(&pair.key) => *known = pair,
                        Some(known) => known.value.overlay(pair.value),
                        None => own.push(pair),
                    }
                }
            }
            (Content::List(own), Content::List(items)) => own.extend(items),
            (own, content) => {
                *own = content;
                self.place = over.place;
            }
        }
    }
}

fn is_replaced_whole(key: &str) -> bool {
    matches!(key, "command" | "entrypoint" | "test")
}

/// Reads a whole document.
pub fn read<'a>(source: Source<'a>) -> Result<Node<'a>, Unreadable> {
    match serde_saphyr::from_str::<Option<Raw>>(source.text) {
        Ok(Some(raw)) => Ok(located(raw, source.file)),
        Ok(None) => {
            let place = Place { file: source.file, line: 1 };
            Ok(Node { place, content: Content::Null })
        }
        Err(error) => {
            let at = error.location();
            let number = |n: Option<u64>| n.and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
            let place = Place { file: source.file, line: number(at.map(|at| at.line())) };
            let told = error.without_snippet().to_string();
            let column = number(at.map(|at| at.column()));
            let detail = told.lines().next().unwrap_or_default();
            Err(place.unreadable(
                column,
                detail,
                "correct the YAML; `docker compose config` may say more",
            ))
        }
    }
}

/// As it was read, before it knows its file.
struct Raw(Spanned<RawContent>);

enum RawContent {
    Null,
    Scalar(String),
    List(Vec<Raw>),
    Map(Vec<(Spanned<RawKey>, Raw)>),
}

struct RawKey(String);

fn located(raw: Raw, file: &str) -> Node<'_> {
    let place = |line: u64| Place { file, line: u32::try_from(line).unwrap_or(u32::MAX) };
    let content = match raw.0.value {
        RawContent::Null => Content::Null,
        RawContent::Scalar(text) => Content::Scalar(text),
        RawContent::List(items) => {
            Content::List(items.into_iter().map(|item| located(item, file)).collect())
        }
        RawContent::Map(pairs) => {
            let pairs = pairs.into_iter().map(|(key, value)| Pair {
                place: place(key.referenced.line()),
                key: key.value.0,
                value: located(value, file),
            });
            Content::Map(pairs.collect())
        }
    };
    Node { place: place(raw.0.referenced.line()), content }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(Raw)
    }
}

impl<'de> Deserialize<'de> for RawKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(RawKey)
    }
}

impl<'de> Deserialize<'de> for RawContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = RawContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value, a list or a map")
    }
    fn visit_bool<E>(self, value: bool) -> Result<RawContent, E> {
        Ok(RawContent::Scalar(value.to_string()))
    }
    fn visit_i64<E>(self, value: i64) -> Result<RawContent, E> {
        Ok(RawContent::Scalar(value.to_string()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<RawContent, E> {
        Ok(RawContent::Scalar(value.to_string()))
    }
    fn visit_i128<E>(self, value: i128) -> Result<RawContent, E> {
        Ok(RawContent::Scalar(value.to_string()))
    }
    fn visit_u128<E>(self, value: u128) -> Result<RawContent, E> {
        Ok(RawContent::Scalar(value.to_string()))
    }
    fn visit_f64<E>(self, value: f64) -> Result<RawContent, E> {
        Ok(RawContent::Scalar(value.to_string()))
    }
    fn visit_str<E>(self, value: &str) -> Result<RawContent, E> {
        Ok(RawContent::Scalar(value.to_owned()))
    }
    fn visit_unit<E>(self) -> Result<RawContent, E> {
        Ok(RawContent::Null)
    }
    fn visit_none<E>(self) -> Result<RawContent, E> {
        Ok(RawContent::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawContent, D::Error> {
        deserializer.deserialize_any(Any)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawContent, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(RawContent::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawContent, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(RawContent::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_knows_its_line() {
        let text = "x: &x\n  a: 1\n\ny:\n  <<: *x\n  b: [t, 1.5, ~,\n      \"8\"]\n";
        let tree = read(Source { file: "f", text }).unwrap();
        let y = tree.get("y").unwrap();
        assert_eq!(y.get("a").unwrap().scalar(), Some("1"));
        let lines: Vec<_> =
            y.get("b").unwrap().texts().iter().map(|(p, t)| (p.line, t.to_string())).collect();
        assert_eq!(lines, [(6, "t".to_owned()), (6, "1.5".to_owned()), (7, "8".to_owned())]);
        assert_eq!(tree.pairs()[1].place.line, 4);
        let wrong = read(Source { file: "f", text: "a: [1\nb: 2\n" }).unwrap_err();
        assert!(wrong.line >= 1, "{wrong}");
        assert!(read(Source { file: "f", text: "a: 1\na: 2\n" }).is_err());
        assert!(matches!(read(Source { file: "f", text: "" }).unwrap().content, Content::Null));
    }

    #[test]
    fn later_files_lie_over_earlier_ones() {
        let mut below =
            read(Source { file: "a", text: "s: {command: [a], ports: [1], n: 1}\n" }).unwrap();
        below.overlay(
            read(Source { file: "b", text: "s: {command: [b], ports: [2], n: 2, m: 3}\n" })
                .unwrap(),
        );
        let s = below.get("s").unwrap();
        assert_eq!(s.get("command").unwrap().texts().len(), 1);
        assert_eq!(s.get("ports").unwrap().texts().len(), 2);
        assert_eq!(s.get("n").unwrap().scalar(), Some("2"));
        assert_eq!(s.get("m").unwrap().place.file, "b");
    }
}
