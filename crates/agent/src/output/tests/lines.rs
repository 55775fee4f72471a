//! Lines against a model: whatever the frames, segments and forms, the same lines come out.

use std::path::Path;

use super::shelf::{EXIT_ONE, Shelf, end};
use crate::output::pack::pack;
use crate::output::{
    LINE_MAX, Limits, Line, LineCursor, LineItem, LineReader, Progress, Query, Stream, Streams,
    segment,
};

const TINY: Limits = Limits { segment_bytes: 0, segments_max: 1000 };

pub fn lines_from(mut reader: LineReader) -> Vec<(Line, LineCursor)> {
    let mut found = Vec::new();
    loop {
        let batch = reader.read(1 << 16).unwrap();
        let entries = match batch.progress {
            Progress::Idle => [batch.entries, reader.finish()].concat(),
            _ => batch.entries,
        };
        found.extend(entries.into_iter().map(|entry| match entry.item {
            LineItem::Line(line) => (line, entry.cursor),
            LineItem::Gap { bytes } => panic!("a gap of {bytes:?}"),
        }));
        if batch.progress != Progress::More {
            return found;
        }
    }
}

pub fn texts(dir: &Path, query: Query) -> Vec<String> {
    let reader = LineReader::open(dir, query).unwrap();
    lines_from(reader).into_iter().map(|(line, _)| text(&line)).collect()
}

pub fn text(line: &Line) -> String {
    String::from_utf8(line.bytes.clone()).unwrap()
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[derive(Default)]
struct Model {
    open: [(usize, String); 2],
    lines: Vec<(Stream, String, bool)>,
}

impl Model {
    fn frame(&mut self, count: usize, stream: Stream, bytes: &str) {
        let (_, open) = &mut self.open[stream.index()];
        for piece in bytes.split_inclusive('\n') {
            open.push_str(piece);
            if open.ends_with('\n') {
                open.pop();
                self.lines.push((stream, std::mem::take(open), true));
            }
        }
        self.open[stream.index()].0 = count;
    }

    fn finish(mut self) -> Vec<(Stream, String, bool)> {
        let mut rest: Vec<_> = [Stream::Stdout, Stream::Stderr]
            .into_iter()
            .zip(std::mem::take(&mut self.open))
            .filter(|(_, (_, open))| !open.is_empty())
            .collect();
        rest.sort_by_key(|(_, (count, _))| *count);
        self.lines.extend(rest.into_iter().map(|(stream, (_, open))| (stream, open, false)));
        self.lines
    }
}

fn random_output(seed: u64) -> (Shelf, Vec<(Stream, String, bool)>) {
    let mut dice = Dice(seed);
    let mut shelf = Shelf::new(TINY);
    let mut model = Model::default();
    for count in 0..120 {
        let stream = if dice.roll(4) == 0 { Stream::Stderr } else { Stream::Stdout };
        let mut bytes = String::new();
        for _ in 0..=dice.roll(3) {
            let length = if dice.roll(6) == 0 { 20_000 } else { 12 };
            let length = usize::try_from(dice.roll(length)).unwrap();
            bytes.push_str(&format!("{count}:{}", "x".repeat(length)));
            if dice.roll(3) > 0 {
                bytes.push('\n');
            }
        }
        shelf.frame(stream, bytes.as_bytes());
        model.frame(count, stream, &bytes);
    }
    end(shelf.path(), EXIT_ONE);
    let segments = segment::list(shelf.path()).unwrap();
    assert!(segments.len() > 1);
    for number in segments {
        if dice.roll(2) == 0 {
            pack(shelf.path(), number).unwrap();
        }
    }
    (shelf, model.finish())
}

fn plain(lines: &[(Line, LineCursor)]) -> Vec<(Stream, String, bool)> {
    lines.iter().map(|(line, _)| (line.stream, text(line), line.has_end)).collect()
}

#[test]
fn any_output_gives_the_same_lines_from_anywhere() {
    for seed in 0..6 {
        let (shelf, expected) = random_output(seed);
        for streams in [Streams::Both, Streams::Only(Stream::Stdout), Streams::Only(Stream::Stderr)]
        {
            let expected: Vec<_> =
                expected.iter().filter(|(stream, ..)| streams.contains(*stream)).cloned().collect();
            let query = Query { streams, ..Query::default() };
            let all = lines_from(LineReader::open(shelf.path(), query.clone()).unwrap());
            assert_eq!(plain(&all), expected, "seed {seed}");
            assert!(all.iter().all(|(line, _)| line.has_start && !line.is_cut()));

            for (index, (_, cursor)) in all.iter().enumerate().step_by(7) {
                let cursor: LineCursor = cursor.to_string().parse().unwrap();
                let reader = LineReader::open_at(shelf.path(), query.clone(), cursor).unwrap();
                assert_eq!(
                    plain(&lines_from(reader)),
                    expected[index + 1..],
                    "seed {seed} {cursor}"
                );
            }
            for tail in (0..=expected.len() + 1).step_by(5) {
                let query = Query { tail: Some(tail), ..query.clone() };
                let reader = LineReader::open(shelf.path(), query).unwrap();
                let from = expected.len().saturating_sub(tail);
                assert_eq!(plain(&lines_from(reader)), expected[from..], "seed {seed} tail {tail}");
            }
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_cut_with_a_mark() {
    let mut shelf = Shelf::new(TINY);
    shelf.say("before\n");
    for _ in 0..40 {
        shelf.say(&"y".repeat(60_000));
    }
    shelf.say("end\nafter\n");
    end(shelf.path(), EXIT_ONE);
    let check = |lines: Vec<(Line, LineCursor)>| {
        let long = &lines[0].0;
        assert_eq!((long.bytes.len(), long.length), (LINE_MAX, 2_400_003));
        assert!(long.is_cut() && long.has_start && long.has_end);
        assert_eq!(long.cut_words().unwrap(), "… (1351427 more bytes in this line)");
        assert_eq!((text(&lines[1].0).as_str(), lines.len()), ("after", 2));
    };
    let all = lines_from(LineReader::open(shelf.path(), Query::default()).unwrap());
    check(all[1..].to_vec());
    let query = Query { tail: Some(2), ..Query::default() };
    check(lines_from(LineReader::open(shelf.path(), query).unwrap()));
}

#[test]
fn an_unfinished_line_waits_while_the_run_goes_on() {
    let mut shelf = Shelf::new(TINY);
    shelf.say("one\ntw");
    let mut reader = LineReader::open(shelf.path(), Query::default()).unwrap();
    let batch = reader.read(1 << 16).unwrap();
    assert_eq!((batch.entries.len(), batch.progress), (1, Progress::Idle));
    let cursor = reader.cursor();
    shelf.frame(Stream::Stderr, b"oops\n");
    shelf.say("o\nthree");
    let batch = reader.read(1 << 16).unwrap();
    assert_eq!(batch.entries.len(), 2);
    end(shelf.path(), EXIT_ONE);
    let batch = reader.read(1 << 16).unwrap();
    assert_eq!((batch.entries.len(), batch.progress), (1, Progress::End));
    assert!(matches!(&batch.entries[0].item, LineItem::Line(line) if !line.has_end));

    let again = LineReader::open_at(shelf.path(), Query::default(), cursor).unwrap();
    let again: Vec<_> = lines_from(again).iter().map(|(line, _)| text(line)).collect();
    assert_eq!(again, ["oops", "two", "three"]);
}

#[test]
fn cursors_that_are_none_are_refused() {
    for bad in ["", "1", "1.2", "1.2.3.4", "1.2.3-", "-1.2.3", "a.b.c", "4294967296.1.1"] {
        assert!(bad.parse::<LineCursor>().is_err(), "{bad}");
    }
    assert_eq!("1.2.3".parse::<LineCursor>().unwrap().to_string(), "1.2.3");
}
