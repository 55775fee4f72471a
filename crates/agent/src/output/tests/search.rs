//! Searching by time, pattern and level, also where lines cross frames and segments.

use regex::bytes::Regex;

use super::lines::{lines_from, text, texts};
use super::shelf::{EXIT_ONE, at, end, segment};
use crate::output::pack::pack;
use crate::output::{Level, LineItem, LineReader, Query, Stream, packed_name, segment_name};

const OUT: Stream = Stream::Stdout;
const ERR: Stream = Stream::Stderr;

/// Ten segments of a hundred seconds each, a line every ten seconds; every segment ends within a
/// line, and what is said on stderr takes three segments to say.
fn century() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut base = 0;
    for number in 1..=10_i64 {
        let begin = number * 100;
        let mut frames = Vec::new();
        for step in 0..10 {
            let time = begin + step * 10;
            let tail =
                if number > 1 && step == 0 { format!("ends {time}\n") } else { String::new() };
            let head = if step == 9 { "split begins " } else { "" };
            frames.push((OUT, time, format!("{tail}line {time}\n{head}")));
        }
        match number {
            3 => frames.push((ERR, 395, "slow ".to_owned())),
            5 => frames.insert(2, (ERR, 511, "and steady\n".to_owned())),
            _ => {}
        }
        let frames: Vec<_> = frames.iter().map(|(s, t, text)| (*s, *t, text.as_str())).collect();
        segment(dir.path(), u32::try_from(number).unwrap(), base, number == 1, &frames);
        base += frames.iter().map(|(.., text)| text.len() as u64).sum::<u64>();
    }
    end(dir.path(), EXIT_ONE);
    dir
}

fn grep(pattern: &str) -> Query {
    Query { grep: Some(Regex::new(pattern).unwrap()), ..Query::default() }
}

#[test]
fn lines_are_found_by_the_time_they_began() {
    let dir = century();
    let between =
        |since, until| Query { since: Some(at(since)), until: Some(at(until)), ..Query::default() };
    assert_eq!(texts(dir.path(), between(230, 250)), ["line 230", "line 240", "line 250"]);
    assert_eq!(
        texts(dir.path(), between(280, 290)),
        ["line 280", "line 290", "split begins ends 300"]
    );
    assert_eq!(texts(dir.path(), between(300, 300)), ["line 300"]);
    assert_eq!(texts(dir.path(), between(395, 395)), ["slow and steady"]);
    assert_eq!(texts(dir.path(), between(396, 410)), ["line 400", "line 410"]);
    assert_eq!(texts(dir.path(), between(2000, 3000)), [""; 0]);
    assert_eq!(texts(dir.path(), Query { since: Some(at(1080)), ..Query::default() }).len(), 3);
    assert_eq!(texts(dir.path(), Query { until: Some(at(120)), ..Query::default() }).len(), 3);
    let last = Query { tail: Some(2), ..between(250, 290) };
    assert_eq!(texts(dir.path(), last), ["line 290", "split begins ends 300"]);
    for tail in 1..40 {
        let all = texts(dir.path(), between(300, 560));
        let some = texts(dir.path(), Query { tail: Some(tail), ..between(300, 560) });
        assert_eq!(some, all[all.len().saturating_sub(tail)..], "{tail}");
    }
}

#[test]
fn segments_outside_the_time_are_not_read() {
    let dir = century();
    for number in [1, 2, 3, 7, 8, 9, 10] {
        let path = dir.path().join(segment_name(number));
        let time = path.metadata().unwrap().modified().unwrap();
        let content = std::fs::read(&path).unwrap();
        let damaged: Vec<_> = content[..40].to_vec();
        std::fs::write(&path, damaged).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    let query = Query { since: Some(at(520)), until: Some(at(580)), ..Query::default() };
    let reader = LineReader::open(dir.path(), query).unwrap();
    let found: Vec<_> = lines_from(reader).iter().map(|(line, _)| text(line)).collect();
    assert_eq!(found.len(), 7);
}

#[test]
fn patterns_see_whole_lines() {
    let dir = century();
    for number in [2, 3, 6] {
        pack(dir.path(), number).unwrap();
        assert!(dir.path().join(packed_name(number)).exists());
    }
    assert_eq!(
        texts(dir.path(), grep("^split begins ends [56]00$")),
        ["split begins ends 500", "split begins ends 600",]
    );
    assert_eq!(texts(dir.path(), grep("^slow and steady$")), ["slow and steady"]);
    assert_eq!(
        texts(dir.path(), Query { streams: crate::output::Streams::Only(OUT), ..grep("steady") }),
        [""; 0]
    );
    let inverted = Query { invert: true, ..grep("line|split begins e") };
    assert_eq!(texts(dir.path(), inverted), ["slow and steady", "split begins "]);
    for tail in 0..14 {
        let all = texts(dir.path(), grep("ends|steady"));
        let some = texts(dir.path(), Query { tail: Some(tail), ..grep("ends|steady") });
        assert_eq!(some, all[all.len().saturating_sub(tail)..], "{tail}");
    }
}

#[test]
fn levels_pick_structured_lines() {
    let dir = tempfile::tempdir().unwrap();
    let said = concat!(
        "starting\n",
        "{\"level\":\"info\",\"msg\":\"a\"}\n",
        "{\"severity\":\"WARNING\",\"message\":\"b\"}\n",
        "{\"level\":50,\"msg\":\"c\"}\n",
        "{\"msg\":\"d\"}\n",
    );
    segment(dir.path(), 1, 0, true, &[(OUT, 1, said)]);
    let query = Query { level: Some(Level::Warn), ..Query::default() };
    let found = lines_from(LineReader::open(dir.path(), query).unwrap());
    let messages: Vec<_> =
        found.iter().map(|(line, _)| line.fields().unwrap().message.unwrap()).collect();
    assert_eq!(messages, ["b", "c"]);
    let all = lines_from(LineReader::open(dir.path(), Query::default()).unwrap());
    assert_eq!(all.iter().filter(|(line, _)| line.is_json()).count(), 4);
    let bytes: String = all.iter().map(|(line, _)| text(line) + "\n").collect();
    assert_eq!(bytes, said);
}

#[test]
fn what_is_missing_is_told_where_it_is_missing() {
    let dir = century();
    let entries =
        |query| LineReader::open(dir.path(), query).unwrap().read(1 << 20).unwrap().entries;
    for number in [1, 5] {
        std::fs::remove_file(dir.path().join(segment_name(number))).unwrap();
    }
    let found = entries(Query::default());
    let gaps: Vec<_> = found.iter().filter(|e| matches!(e.item, LineItem::Gap { .. })).collect();
    assert_eq!(gaps.len(), 2);
    assert!(matches!(found[0].item, LineItem::Gap { bytes: Some(103) }), "{:?}", found[0]);
    let LineItem::Line(first) = &found[1].item else { panic!("{:?}", found[1]) };
    assert_eq!((text(first).as_str(), first.has_start), ("ends 200", false));
    let unfinished: Vec<_> = found
        .iter()
        .filter_map(|entry| match &entry.item {
            LineItem::Line(line) if !line.has_end => Some(text(line)),
            _ => None,
        })
        .collect();
    assert_eq!(unfinished, ["slow ", "split begins ", "split begins "]);

    let query = Query { since: Some(at(250)), until: Some(at(290)), ..Query::default() };
    assert!(entries(query).iter().all(|e| matches!(e.item, LineItem::Line(_))));
    let query = Query { since: Some(at(150)), until: Some(at(290)), ..Query::default() };
    assert!(matches!(entries(query)[0].item, LineItem::Gap { bytes: Some(103) }));
}
