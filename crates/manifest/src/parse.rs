//! From YAML text to trees.
//!
//! Built from the parser's events. Aliases are copies of what their anchor names, with the places of
//! the original; merge keys (`<<`) are carried out. A syntax error costs its document, and reading
//! goes on at the next `---`; everything milder (a key twice, an unknown alias) is noted and reading
//! goes on at once.
//!
//! A file cannot make its trees larger than [`VALUES`] values or [`TEXT`] bytes, however its aliases
//! multiply; that also keeps the depth such that walking a tree by recursion is safe.

use std::collections::BTreeMap;
use std::mem;

use serde_saphyr::granit_parser::{
    ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, Tag,
};

use crate::mistake::{Notes, Place};
use crate::scalar::Scalar;
use crate::tree::{Entry, Node, Value};

const VALUES: usize = 200_000;
const TEXT: usize = 16 << 20;
const NESTING: usize = 64;

/// The documents of a text, without empty ones.
#[derive(Debug)]
pub(crate) struct Stream {
    pub documents: Vec<Node>,
    /// A document was lost to a syntax error.
    pub is_broken: bool,
}

pub(crate) fn parse(text: &str, notes: &mut Notes<'_>) -> Stream {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.emit_unresolved_aliases = true;
    options.block_nesting_limit = NESTING;
    options.flow_nesting_limit = NESTING;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder::new(notes);
    let mut stream = Stream { documents: Vec::new(), is_broken: false };
    while let Some(next) = parser.next_event() {
        let next = match next {
            Ok((event, span)) => builder.event(event, place(&span.start)),
            Err(error) => {
                note_syntax(builder.notes, &error);
                Err(Broken::Document)
            }
        };
        match next {
            Ok(document) => stream.documents.extend(document.filter(|node| !node.is_nothing())),
            Err(broken) => {
                stream.is_broken = true;
                builder.forget();
                let is_over = broken == Broken::File
                    || !parser.proceed_next_document().is_ok_and(|has_more| has_more);
                if is_over {
                    break;
                }
            }
        }
    }
    stream
}

fn place(marker: &Marker) -> Place {
    Place { line: marker.line(), column: marker.col() + 1 }
}

fn note_syntax(notes: &mut Notes<'_>, error: &ScanError) {
    let hint = match error.kind() {
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
        ErrorKind::RecursionLimitExceeded => "nothing in a workload file nests this deep",
        ErrorKind::UnknownQuotedScalarEscape => {
            "in double quotes `\\` begins an escape; use single quotes to have it as it stands"
        }
        _ => "look at the indentation and the quotes here and just above",
    };
    notes.at(place(error.marker()), format!("not valid YAML: {}", error.info()), hint);
}

#[derive(Debug, PartialEq, Eq)]
enum Broken {
    Document,
    File,
}

enum Frame {
    List { place: Place, anchor: usize, items: Vec<Node> },
    Map(Mapping),
}

struct Mapping {
    place: Place,
    anchor: usize,
    entries: Vec<Entry>,
    seen: BTreeMap<String, Place>,
    merged: Vec<Node>,
    key: Option<Key>,
}

enum Key {
    Word(String, Place),
    Merge,
    /// No key we can use; its value is dropped.
    Bad,
}

struct Builder<'n, 't> {
    notes: &'n mut Notes<'t>,
    frames: Vec<Frame>,
    anchors: BTreeMap<usize, Node>,
    root: Option<Node>,
    values: usize,
    text: usize,
}

impl<'n, 't> Builder<'n, 't> {
    fn new(notes: &'n mut Notes<'t>) -> Builder<'n, 't> {
        let anchors = BTreeMap::new();
        Builder { notes, frames: Vec::new(), anchors, root: None, values: 0, text: 0 }
    }

    /// Abandons the document at hand.
    fn forget(&mut self) {
        self.frames.clear();
        self.anchors.clear();
        self.root = None;
    }

    /// Takes an event in; a document comes out at its end.
    fn event(&mut self, event: Event<'_>, place: Place) -> Result<Option<Node>, Broken> {
        match event {
            Event::DocumentEnd => {
                let document = self.root.take();
                self.forget();
                return Ok(document);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                let scalar = self.tagged(text.into_owned(), is_plain, tag.as_deref(), place);
                self.pay(place, 1, scalar.text.len())?;
                self.done(Node { place, value: Value::Scalar(scalar) }, anchor)?;
            }
            Event::Alias(anchor) => {
                let node = match self.anchors.get(&anchor) {
                    Some(node) => {
                        let (values, text) = node.weight();
                        let node = node.clone();
                        self.pay(place, values, text)?;
                        node
                    }
                    None => {
                        let hint = "an alias can only stand for something that ends before it";
                        self.notes.at(place, "this alias stands for what it is part of", hint);
                        Node { place, value: Value::Lost }
                    }
                };
                self.done(node, 0)?;
            }
            Event::UnresolvedAlias(name) => {
                self.notes.at(
                    place,
                    format!("nothing above is marked `&{name}`"),
                    "a text that begins with `*` needs quotes; an alias needs an anchor before it",
                );
                self.done(Node { place, value: Value::Lost }, 0)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.no_tag(tag.as_deref(), "seq", place);
                self.frames.push(Frame::List { place, anchor, items: Vec::new() });
            }
            Event::MappingStart(_, anchor, tag) => {
                self.no_tag(tag.as_deref(), "map", place);
                self.frames.push(Frame::Map(Mapping {
                    place,
                    anchor,
                    entries: Vec::new(),
                    seen: BTreeMap::new(),
                    merged: Vec::new(),
                    key: None,
                }));
            }
            Event::SequenceEnd | Event::MappingEnd => match self.frames.pop() {
                Some(Frame::List { place, anchor, items }) => {
                    self.pay(place, 1, 0)?;
                    self.done(Node { place, value: Value::List(items) }, anchor)?;
                }
                Some(Frame::Map(mapping)) => {
                    let (place, anchor) = (mapping.place, mapping.anchor);
                    self.pay(place, 1, 0)?;
                    let entries = self.merge(mapping)?;
                    self.done(Node { place, value: Value::Map(entries) }, anchor)?;
                }
                None => {}
            },
            _ => {}
        }
        Ok(None)
    }

    fn pay(&mut self, place: Place, values: usize, text: usize) -> Result<(), Broken> {
        self.values += values;
        self.text += text;
        if self.values <= VALUES && self.text <= TEXT {
            return Ok(());
        }
        self.notes.at(
            place,
            "this file is too much, with its aliases counted",
            format!("at most {VALUES} values and {} MiB of text; split it", TEXT >> 20),
        );
        Err(Broken::File)
    }

    fn tagged(&mut self, text: String, is_plain: bool, tag: Option<&Tag>, at: Place) -> Scalar {
        match tag.map(|tag| (tag.core_suffix(), tag)) {
            None | Some((Some("int" | "float" | "bool" | "null"), _)) => Scalar { text, is_plain },
            Some((Some("str"), _)) => Scalar { text, is_plain: false },
            Some((_, tag)) => {
                self.no_tag(Some(tag), "str", at);
                Scalar { text, is_plain }
            }
        }
    }

    fn no_tag(&mut self, tag: Option<&Tag>, fine: &str, place: Place) {
        if let Some(tag) = tag.filter(|tag| tag.core_suffix() != Some(fine)) {
            let detail = format!("the tag `{}` means nothing here", tag.original());
            self.notes.at(place, detail, "leave it out; a text that begins with `!` needs quotes");
        }
    }

    /// A value is complete: it is remembered by its anchor and put where it belongs.
    fn done(&mut self, node: Node, anchor: usize) -> Result<(), Broken> {
        if anchor > 0 {
            let (values, text) = node.weight();
            self.pay(node.place, values, text)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Builder { notes, frames, root, .. } = self;
        match frames.last_mut() {
            None => *root = Some(node),
            Some(Frame::List { items, .. }) => items.push(node),
            Some(Frame::Map(mapping)) => mapping.put(node, notes),
        }
        Ok(())
    }

    fn merge(&mut self, mut mapping: Mapping) -> Result<Vec<Entry>, Broken> {
        let mut entries = mem::take(&mut mapping.entries);
        for node in mem::take(&mut mapping.merged) {
            let sources = match node.value {
                Value::List(items) => items,
                _ => vec![node],
            };
            for source in sources {
                match source.value {
                    Value::Map(more) => entries.extend(
                        more.into_iter()
                            .filter(|e| mapping.seen.insert(e.key.clone(), e.place).is_none()),
                    ),
                    Value::Lost | Value::Gone => {}
                    _ => self.notes.at(
                        source.place,
                        "only a mapping can be merged with `<<`",
                        "write `<<: *anchor`, where the anchor marks a mapping",
                    ),
                }
            }
        }
        Ok(entries)
    }
}

impl Mapping {
    fn put(&mut self, node: Node, notes: &mut Notes<'_>) {
        match self.key.take() {
            None => self.key = Some(key(node, notes)),
            Some(Key::Bad) => {}
            Some(Key::Merge) => self.merged.push(node),
            Some(Key::Word(key, place)) => match self.seen.get(&key) {
                Some(first) => notes.at(
                    place,
                    format!("`{key}` is written twice in one mapping"),
                    format!("the first is in line {}; keep one of them", first.line),
                ),
                None => {
                    self.seen.insert(key.clone(), place);
                    self.entries.push(Entry { key, place, node });
                }
            },
        }
    }
}

fn key(node: Node, notes: &mut Notes<'_>) -> Key {
    match node.value {
        Value::Scalar(Scalar { text, is_plain: true }) if text == "<<" => Key::Merge,
        Value::Scalar(scalar) => Key::Word(scalar.text, node.place),
        Value::Lost | Value::Gone => Key::Bad,
        Value::List(_) | Value::Map(_) => {
            let hint = "a text that begins with `{` or `[` needs quotes";
            notes.at(node.place, "a key is a word, not a list or a mapping", hint);
            Key::Bad
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Node>, Vec<String>) {
        let mut notes = Notes::new("f", text);
        let documents = parse(text, &mut notes).documents;
        let found = notes.found.iter();
        (documents, found.map(|m| format!("{}:{}: {}", m.line, m.column, m.detail)).collect())
    }

    fn clean(text: &str) -> Node {
        let (mut documents, found) = read(text);
        assert!(found.is_empty(), "{found:?}");
        assert_eq!(documents.len(), 1);
        documents.remove(0)
    }

    fn text<'a>(node: &'a Node, pointer: &str) -> &'a str {
        let mut here = node;
        for part in pointer.split('/').skip(1) {
            here = match &here.value {
                Value::List(items) => &items[part.parse::<usize>().unwrap()],
                _ => here.get(part).unwrap_or_else(|| panic!("no {part}")),
            };
        }
        match &here.value {
            Value::Scalar(scalar) => &scalar.text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_know_where_they_stand() {
        let node = clean("a:\n  - x\n  - {b: 1}\nc:\n");
        let at = |pointer: &str| {
            let place = node.place_of(&node.steps(pointer));
            (place.line, place.column)
        };
        assert_eq!(at("/a/0"), (2, 5));
        assert_eq!(at("/a/1/b"), (3, 9));
        assert_eq!(at("/c"), (4, 1));
        assert_eq!(at("/a/1/nothing/below"), (3, 5));
        let key = node.key_place(&node.steps("/a/1/b"));
        assert_eq!((key.line, key.column), (3, 6));
    }

    #[test]
    fn anchors_and_merge_keys_work() {
        let node = clean("x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: {<<: [*x, {c: 4}], d: *x}\n");
        assert_eq!(text(&node, "/y/a"), "1");
        assert_eq!(text(&node, "/y/b"), "3");
        assert_eq!(text(&node, "/z/c"), "4");
        assert_eq!(text(&node, "/z/d/b"), "2");
    }

    #[test]
    fn a_syntax_error_costs_one_document() {
        let (documents, found) = read("a: [1, 2\n---\nb: 1\n---\n---\nc: 'x\n---\nd: 1\n");
        assert_eq!(documents.len(), 2, "{documents:?} {found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn milder_mistakes_cost_only_their_value() {
        let (documents, found) =
            read("a: 1\na: 2\nb: *gone\nc: !thing 3\n? [k]\n: 4\nd: &d [*d]\ne: {<<: 5}\n");
        assert_eq!(documents.len(), 1);
        assert_eq!(found.len(), 6, "{found:#?}");
        assert_eq!(text(&documents[0], "/a"), "1");
    }

    #[test]
    fn aliases_cannot_multiply_without_end() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..12 {
            let last = format!("*a{}", i - 1);
            bomb.push_str(&format!("a{i}: &a{i} [{}]\n", vec![last; 9].join(", ")));
        }
        let (documents, found) = read(&bomb);
        assert!(documents.is_empty());
        assert_eq!(found.len(), 1, "{found:?}");
        let deep = "[".repeat(10_000);
        assert_eq!(read(&deep).1.len(), 1);
    }

    #[test]
    fn marks_and_line_ends_of_other_systems_are_read() {
        let node = clean("\u{feff}a: 1\r\nb: \"x\\x7b\"\r\n");
        assert_eq!(text(&node, "/a"), "1");
        assert_eq!(text(&node, "/b"), "x{");
    }
}
