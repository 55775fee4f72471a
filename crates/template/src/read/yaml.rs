//! From YAML text to a document.
//!
//! Built from the parser's events. Aliases are copies of what their anchor names, with the places of the
//! original; merge keys (`<<`) are carried out: what is merged comes first, and what is written beside it
//! wins. A key that is written twice has its last value, and a warning is noted. One text is one document.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use serde_saphyr::granit_parser::{
    ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, Tag,
};

use super::scalar::{meaning, number};
use super::{Document, Kind, NESTING, VALUES, format, too_much};
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::place::{Path, Place};
use crate::value::{Data, Entry, Node};

/// Text that aliases may repeat, in bytes.
const TEXT: usize = 8 << 20;

/// Lines of texts in quotes that begin too far left, and are read all the same.
const OUTDENTED: usize = 64;

/// What such a line is moved by. Blanks at its beginning are no part of the text.
const MOVED: &str = "                                ";

/// A text in quotes may go on anywhere, though the parser wants it further right than what it belongs to: such lines are moved
/// there, one after the other.
pub fn read(kind: Kind, name: &str, text: &str) -> Result<Document, Diagnostics> {
    let mut moved: BTreeSet<usize> = BTreeSet::new();
    let mut whole = Cow::Borrowed(text);
    loop {
        match once(kind, name, &whole, &moved) {
            Err(Stopped::Outdented(line)) if moved.len() < OUTDENTED && moved.insert(line) => {
                let lines = text.split_inclusive('\n').enumerate();
                let lines = lines.map(|(at, line)| match moved.contains(&(at + 1)) {
                    true => format!("{MOVED}{line}").into(),
                    false => Cow::Borrowed(line),
                });
                whole = lines.collect::<String>().into();
            }
            Err(Stopped::Outdented(line)) => {
                let detail =
                    format!("too many lines of texts in quotes begin too far left, line {line}");
                return Err(format(kind, name, &detail).into());
            }
            Err(Stopped::Wrong(wrong)) => return Err(wrong),
            Ok(document) => return Ok(document),
        }
    }
}

/// Why a text was not read to its end.
enum Stopped {
    /// This line, counted from one, is to be moved to the right.
    Outdented(usize),
    Wrong(Diagnostics),
}

fn once(kind: Kind, name: &str, text: &str, moved: &BTreeSet<usize>) -> Result<Document, Stopped> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    options.block_nesting_limit = NESTING;
    options.flow_nesting_limit = NESTING;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder::new(kind, name);
    while let Some(next) = parser.next_event() {
        let done = match next {
            Ok((event, span)) => builder.event(event, unmoved(place(&span.start), moved)),
            Err(error) if *error.kind() == ErrorKind::InvalidQuotedScalarIndent => {
                return Err(Stopped::Outdented(error.marker().line()));
            }
            Err(error) => Err(builder.syntax(&error)),
        };
        if let Err(wrong) = done {
            let mut found = builder.wrong;
            found.push(*wrong);
            return Err(Stopped::Wrong(found));
        }
    }
    let Builder { root, wrong, warnings, .. } = builder;
    let root = root.unwrap_or_else(Node::null);
    wrong.or(Document { root, warnings }).map_err(Stopped::Wrong)
}

/// Where something was before its line was moved.
fn unmoved(place: Place, moved: &BTreeSet<usize>) -> Place {
    let is_moved = usize::try_from(place.line).is_ok_and(|line| moved.contains(&line));
    let by = if is_moved { u32::try_from(MOVED.len()).unwrap_or(0) } else { 0 };
    Place { column: place.column.saturating_sub(by).max(1), ..place }
}

fn place(marker: &Marker) -> Place {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place { line: number(marker.line()), column: number(marker.col() + 1) }
}

enum Frame {
    List { place: Place, anchor: usize, items: Vec<Node> },
    Map { place: Place, anchor: usize, mapping: Mapping },
}

#[derive(Default)]
struct Mapping {
    entries: Vec<Entry>,
    /// Where in `entries` a key is.
    seen: BTreeMap<String, usize>,
    merged: Vec<Node>,
    key: Option<Key>,
}

enum Key {
    Word(String, Option<Place>),
    Merge,
    /// No key we can use; its value is dropped.
    Bad,
}

struct Builder<'a> {
    kind: Kind,
    name: &'a str,
    wrong: Diagnostics,
    warnings: Diagnostics,
    frames: Vec<Frame>,
    anchors: BTreeMap<usize, Node>,
    root: Option<Node>,
    /// Whether the last value was a word without quotes, so that it may be a merge key.
    is_plain: bool,
    values: usize,
    text: usize,
}

type Done = Result<(), Box<Diagnostic>>;

impl<'a> Builder<'a> {
    fn new(kind: Kind, name: &'a str) -> Builder<'a> {
        Builder {
            kind,
            name,
            wrong: Diagnostics::new(),
            warnings: Diagnostics::new(),
            frames: Vec::new(),
            anchors: BTreeMap::new(),
            root: None,
            is_plain: false,
            values: 0,
            text: 0,
        }
    }

    fn event(&mut self, event: Event<'_>, place: Place) -> Done {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let wrong = "expected a single document in the stream but found another document";
                let wrong = self.broken(place, wrong);
                return Err(Box::new(wrong.hint("one file is one document: remove the `---`")));
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                let text = text.into_owned();
                self.pay(place, 1, text.len())?;
                let data = self.scalar(text, is_plain, tag.as_deref(), place);
                self.is_plain = is_plain;
                self.done(Node { place: Some(place), data }, anchor)?;
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    let wrong = self.broken(place, "found an alias inside of what it stands for");
                    return Err(Box::new(wrong));
                };
                let (values, text) = weight(&node);
                self.pay(place, values, text)?;
                if self.frames.len() + depth(&node) > NESTING {
                    return Err(Box::new(too_much(self.kind).at(Some(place))));
                }
                self.is_plain = false;
                self.done(node, 0)?;
            }
            Event::UnresolvedAlias(name) => {
                let hint =
                    "a text that begins with `*` needs quotes; an alias needs an anchor before it";
                let wrong =
                    self.broken(place, &format!("found undefined alias '{name}'")).hint(hint);
                self.wrong.push(wrong);
                self.done(Node { place: Some(place), data: Data::Null }, 0)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", place);
                self.frames.push(Frame::List { place, anchor, items: Vec::new() });
            }
            Event::MappingStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", place);
                self.frames.push(Frame::Map { place, anchor, mapping: Mapping::default() });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.is_plain = false;
                match self.frames.pop() {
                    Some(Frame::List { place, anchor, items }) => {
                        self.pay(place, 1, 0)?;
                        self.done(Node { place: Some(place), data: Data::List(items) }, anchor)?;
                    }
                    Some(Frame::Map { place, anchor, mapping }) => {
                        self.pay(place, 1, 0)?;
                        let data = Data::Map(self.merge(mapping));
                        self.done(Node { place: Some(place), data }, anchor)?;
                    }
                    None => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn pay(&mut self, place: Place, values: usize, text: usize) -> Done {
        self.values = self.values.saturating_add(values);
        self.text = self.text.saturating_add(text);
        let is_deep = self.frames.len() > NESTING;
        match self.values > VALUES || self.text > TEXT || is_deep {
            true => Err(Box::new(too_much(self.kind).at(Some(place)))),
            false => Ok(()),
        }
    }

    fn broken(&self, place: Place, detail: &str) -> Diagnostic {
        let at = format!("{detail}, line {}, column {}", place.line, place.column);
        format(self.kind, self.name, &at).at(Some(place))
    }

    fn syntax(&self, error: &ScanError) -> Box<Diagnostic> {
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return Box::new(too_much(self.kind).at(Some(place(error.marker()))));
        }
        let wrong = self.broken(place(error.marker()), &error.info());
        Box::new(wrong.hint(syntax_hint(error.kind())))
    }

    fn scalar(&mut self, text: String, is_plain: bool, tag: Option<&Tag>, at: Place) -> Data {
        let Some(tag) = tag else {
            return if is_plain { data(meaning(&text)) } else { Data::String(text) };
        };
        match tag.core_suffix() {
            Some("str" | "timestamp") => Data::String(text),
            Some("null") => Data::Null,
            Some("bool" | "int") => data(meaning(&text)),
            Some("float") => match number(&text).and_then(|number| number.as_f64()) {
                Some(value) => {
                    serde_json::Number::from_f64(value).map_or(Data::String(text), Data::Number)
                }
                None => Data::String(text),
            },
            _ if tag.original() == "!" => Data::String(text),
            _ => {
                self.unknown_tag(tag, at);
                Data::String(text)
            }
        }
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, fine: &str, place: Place) {
        if let Some(tag) = tag.filter(|tag| tag.core_suffix() != Some(fine)) {
            self.unknown_tag(tag, place);
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, place: Place) {
        let detail = format!("could not determine a constructor for the tag '{}'", tag.original());
        let hint = match tag.original().strip_prefix('!') {
            Some(word @ ("Ref" | "Sub" | "GetAtt" | "Join" | "Select" | "If" | "FindInMap")) => {
                format!("short forms are not read: write `{{{}: …}}`", full_form(word))
            }
            _ => "leave it out; a text that begins with `!` needs quotes".to_owned(),
        };
        let wrong = self.broken(place, &detail).hint(hint);
        self.wrong.push(wrong);
    }

    /// A value is complete: it is remembered by its anchor and put where it belongs.
    fn done(&mut self, node: Node, anchor: usize) -> Done {
        if anchor > 0 {
            let (values, text) = weight(&node);
            self.pay(node.place.unwrap_or(Place { line: 1, column: 1 }), values, text)?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.frames.last_mut() {
            None => self.root = Some(node),
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map { mapping, .. }) => match mapping.key.take() {
                None => {
                    let key = self.key(node);
                    if let Some(Frame::Map { mapping, .. }) = self.frames.last_mut() {
                        mapping.key = Some(key);
                    }
                }
                Some(Key::Bad) => {}
                Some(Key::Merge) => mapping.merged.push(node),
                Some(Key::Word(key, place)) => {
                    if let Some(first) = mapping.put(Entry { key: key.clone(), place, node }) {
                        self.twice(&key, place, first);
                    }
                }
            },
        }
        Ok(())
    }

    fn key(&mut self, node: Node) -> Key {
        let word = match node.data {
            Data::String(text) if text == "<<" && self.is_plain => return Key::Merge,
            Data::String(text) => text,
            Data::Null => "null".to_owned(),
            Data::Bool(value) => value.to_string(),
            Data::Number(number) => python::number_text(&number),
            Data::List(_) | Data::Map(_) => {
                let place = node.place.unwrap_or(Place { line: 1, column: 1 });
                let hint = "a text that begins with `{` or `[` needs quotes";
                let wrong = self.broken(place, "found unhashable key").hint(hint);
                self.wrong.push(wrong);
                return Key::Bad;
            }
        };
        Key::Word(word, node.place)
    }

    fn twice(&mut self, key: &str, place: Option<Place>, first: Option<Place>) {
        let message = format!("`{key}` is written twice in one mapping; the last one is taken");
        let hint = first.map(|place| format!("the first is in line {}", place.line));
        let warning = Diagnostic::new(Fault::Warning, &Path::root(), message).at(place);
        self.warnings.push(warning.hint(hint.unwrap_or_default()));
    }

    fn merge(&mut self, mapping: Mapping) -> Vec<Entry> {
        if mapping.merged.is_empty() {
            return mapping.entries;
        }
        let mut all = Mapping::default();
        for node in mapping.merged {
            let sources = match node.data {
                Data::List(items) => items,
                _ => vec![node],
            };
            for source in sources.into_iter().rev() {
                match source.data {
                    Data::Map(entries) => entries.into_iter().for_each(|entry| {
                        all.put(entry);
                    }),
                    _ => {
                        let place = source.place.unwrap_or(Place { line: 1, column: 1 });
                        let detail = "expected a mapping or list of mappings for merging";
                        let hint = "write `<<: *anchor`, where the anchor marks a mapping";
                        let wrong = self.broken(place, detail).hint(hint);
                        self.wrong.push(wrong);
                    }
                }
            }
        }
        mapping.entries.into_iter().for_each(|entry| {
            all.put(entry);
        });
        all.entries
    }
}

impl Mapping {
    /// Puts an entry where its key is already, and says where that was, or at the end.
    fn put(&mut self, entry: Entry) -> Option<Option<Place>> {
        match self.seen.get(&entry.key) {
            Some(&at) => {
                let first = self.entries[at].place;
                self.entries[at] = entry;
                Some(first)
            }
            None => {
                self.seen.insert(entry.key.clone(), self.entries.len());
                self.entries.push(entry);
                None
            }
        }
    }
}

fn data(value: Value) -> Data {
    Node::from_json(&value).data
}

/// How many values, and how many bytes of text.
fn weight(node: &Node) -> (usize, usize) {
    let add = |(a, b): (usize, usize), (c, d): (usize, usize)| (a + c, b + d);
    match &node.data {
        Data::String(text) => (1, text.len()),
        Data::List(items) => items.iter().map(weight).fold((1, 0), add),
        Data::Map(entries) => entries
            .iter()
            .map(|entry| add(weight(&entry.node), (0, entry.key.len())))
            .fold((1, 0), add),
        _ => (1, 0),
    }
}

/// How many levels a value has.
fn depth(node: &Node) -> usize {
    match &node.data {
        Data::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Data::Map(entries) => 1 + entries.iter().map(|e| depth(&e.node)).max().unwrap_or(0),
        _ => 1,
    }
}

fn full_form(word: &str) -> String {
    if word == "Ref" { word.to_owned() } else { format!("Fn::{word}") }
}

fn syntax_hint(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => "indent with spaces, not with tabs",
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            "a text that contains `: ` needs quotes; otherwise look at the indentation"
        }
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            "a quote is opened here or above and never closed"
        }
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::MismatchedFlowCollectionEnd { .. } => {
            "look for a bracket or a comma that is missing"
        }
        ErrorKind::UnexpectedCharacter { character: '`' | '@' | '%' } => {
            "a text that begins with this character needs quotes"
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "in double quotes `\\` begins an escape; use single quotes to have it as it stands"
        }
        _ => "look at the indentation and the quotes here and just above",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn clean(text: &str) -> Node {
        let document = read(Kind::Template, "", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(document.warnings.is_empty(), "{}", document.warnings);
        document.root
    }

    fn wrong(text: &str) -> Vec<String> {
        let found = read(Kind::Template, "", text).unwrap_err();
        found.iter().map(|found| found.message.clone()).collect()
    }

    #[test]
    fn values_know_where_they_stand() {
        let node = clean("a:\n  - x\n  - {b: 1}\nc:\n");
        let at = |path: Path| node.place_of(&path).map(|place| (place.line, place.column));
        assert_eq!(at(Path::of(["a"]).index(0)), Some((2, 5)));
        assert_eq!(at(Path::of(["a"]).index(1).key("b")), Some((3, 9)));
        assert_eq!(at(Path::of(["a", "nothing"])), Some((2, 3)));
        assert_eq!(node.entry("c").unwrap().place, Some(Place { line: 4, column: 1 }));
    }

    #[test]
    fn merging_prefers_what_is_written_beside() {
        let node = clean(
            "x: &x {a: 1, b: 2}\ny: {b: 3, <<: *x}\nz: {<<: [*x, {c: 4, a: 5}], d: *x}\n'<<': 1\n",
        );
        assert_eq!(
            node.to_json().to_string(),
            json!({"x": {"a": 1, "b": 2}, "y": {"a": 1, "b": 3},
                   "z": {"c": 4, "a": 1, "b": 2, "d": {"a": 1, "b": 2}}, "<<": 1})
            .to_string()
        );
    }

    #[test]
    fn keys_become_texts_and_the_last_of_two_wins() {
        let node = clean("1: a\nyes: b\n1.50: c\n~: d\n2013-05-23: e\n\"yes\": f\n");
        assert_eq!(
            node.to_json(),
            json!({"1": "a", "true": "b", "1.5": "c", "null": "d", "2013-05-23": "e", "yes": "f"})
        );
        let document = read(Kind::Template, "", "a: 1\nb: 2\na: 3\n").unwrap();
        assert_eq!(document.root.to_json().to_string(), r#"{"a":3,"b":2}"#);
        assert_eq!(document.warnings.len(), 1);
        assert_eq!(document.warnings.0[0].place, Some(Place { line: 3, column: 1 }));
    }

    #[test]
    fn texts_in_quotes_may_go_on_anywhere() {
        let node = clean("a:\n  b: 'one\ntwo\n\n\n  three'\n  c: \"x\ny\"\n");
        assert_eq!(node.to_json(), json!({"a": {"b": "one two\n\nthree", "c": "x y"}}));
        let found = wrong("a:\n  b: 'one\ntwo' ? x\n  c: [\n");
        assert_eq!(found.len(), 1, "{found:?}");
        let many = format!("a:\n  b: '{}'\n", "x\n".repeat(OUTDENTED + 2));
        assert!(wrong(&many)[0].contains("too far left"), "{:?}", wrong(&many));
    }

    #[test]
    fn tags_may_say_what_a_word_is() {
        let node =
            clean("a: !!str 1\nb: !!int '7'\nc: !!float 3\nd: !!bool 'on'\ne: !!null x\nf: ! 1\n");
        assert_eq!(
            node.to_json(),
            json!({"a": "1", "b": 7, "c": 3.0, "d": true, "e": null, "f": "1"})
        );
    }

    #[test]
    fn every_mild_mistake_is_found() {
        let found = wrong("b: *gone\nc: !Ref x\n? [k]\n: 4\ne: {<<: 5}\nf: !!set {a}\n");
        assert_eq!(found.len(), 5, "{found:#?}");
        assert!(found[0].contains("found undefined alias 'gone', line 1, column 4"), "{found:?}");
        assert_eq!(wrong("d: &d [*d]\n").len(), 1);
        assert_eq!(wrong("a: 1\n---\nb: 2\n").len(), 1);
        assert_eq!(wrong("a: [1,\n").len(), 1);
    }

    #[test]
    fn aliases_cannot_multiply_without_end() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..12 {
            let last = format!("*a{}", i - 1);
            bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![last; 9].join(", ")));
        }
        assert!(wrong(&bomb)[0].starts_with("Request limit exceeded"));
        assert_eq!(wrong(&"[".repeat(10_000)).len(), 1);
        let mut deep = "a0: &a0 x\n".to_owned();
        for i in 1..5000 {
            deep.push_str(&format!("a{i}: &a{i} [*a{}]\n", i - 1));
        }
        assert_eq!(wrong(&deep).len(), 1);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "([a-c&*<:{}\\[\\],!#|>'\"-]|\n|  |\\PC){0,60}") {
            let _ = read(Kind::Template, "f", &text);
        }

        #[test]
        fn what_json_says_yaml_says_too(keys in prop::collection::vec("[a-z]{1,5}", 0..5), n: i32) {
            let value: Value = keys.into_iter().map(|k| (k.clone(), json!([k, n, {"x": null}]))).collect::<serde_json::Map<_, _>>().into();
            prop_assert_eq!(clean(&format!("{value:#}")).to_json(), value);
        }
    }
}
