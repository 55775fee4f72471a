//! Packing: the same output in less room, whatever is interrupted.

use super::shelf::{EXIT_ONE, Shelf, end, stdout_text};
use crate::output::pack::take_stock;
use crate::output::{
    Batch, Item, Limits, Packed, Reader, Start, Streams, compress_closed, packed_name, segment,
    segment_name,
};
use crate::rundir;

const SMALL: Limits = Limits { segment_bytes: 0, segments_max: 1000 };

fn chatty() -> (Shelf, String) {
    let mut shelf = Shelf::new(SMALL);
    let mut said = String::new();
    for i in 0..20 {
        let text: String = (0..3000).map(|j| format!("line {i} {j}\n")).collect();
        shelf.say(&text);
        said.push_str(&text);
    }
    (shelf, said)
}

#[test]
fn closed_segments_are_packed_once_and_read_as_before() {
    let (mut shelf, mut said) = chatty();
    let segments = segment::list(shelf.path()).unwrap();
    let live = *segments.last().unwrap();
    let packed = compress_closed(shelf.path()).unwrap();
    assert_eq!(packed.segments, segments.len() as u64 - 1);
    assert!(packed.bytes_after * 3 < packed.bytes_before, "{packed:?}");
    assert!(shelf.path().join(segment_name(live)).exists());
    assert_eq!(compress_closed(shelf.path()).unwrap(), Packed::default());
    assert_eq!(stdout_text(shelf.path()), said);
    shelf.say("more\n");
    said.push_str("more\n");
    assert_eq!(stdout_text(shelf.path()), said);

    end(shelf.path(), EXIT_ONE);
    assert_eq!(compress_closed(shelf.path()).unwrap().segments, 1);
    assert_eq!(segment::list(shelf.path()).unwrap(), segments);
    assert_eq!(stdout_text(shelf.path()), said);
    for start in [Start::TailBytes(100_000), Start::TailLines(10_000)] {
        let mut reader = Reader::open(shelf.path(), start, Streams::Both).unwrap();
        let mut tail = Vec::new();
        loop {
            let Batch { items, is_end, .. } = reader.read(4096).unwrap();
            tail.extend(items);
            if is_end {
                break;
            }
        }
        let text: Vec<u8> = tail
            .iter()
            .flat_map(|item| match item {
                Item::Output(frame) => frame.bytes.clone(),
                Item::Gap { .. } => panic!("{item:?}"),
            })
            .collect();
        assert!(said.as_bytes().ends_with(&text));
    }
}

#[test]
fn a_reader_in_the_middle_does_not_notice() {
    let (shelf, said) = chatty();
    end(shelf.path(), EXIT_ONE);
    let mut reader = Reader::open(shelf.path(), Start::Beginning, Streams::Both).unwrap();
    let mut text = Vec::new();
    let mut has_packed = false;
    loop {
        let batch = reader.read(70_000).unwrap();
        for item in batch.items {
            let Item::Output(frame) = item else { panic!("{item:?}") };
            text.extend(frame.bytes);
        }
        if batch.is_end {
            break;
        }
        if !std::mem::replace(&mut has_packed, true) {
            compress_closed(shelf.path()).unwrap();
        }
        reader = Reader::open(shelf.path(), Start::At(batch.position), Streams::Both).unwrap();
    }
    assert_eq!(String::from_utf8(text).unwrap(), said);
}

#[test]
fn what_an_interrupted_round_leaves_is_cleared_up() {
    let (shelf, said) = chatty();
    let leftover = shelf.path().join(rundir::temporary(&packed_name(2)));
    std::fs::write(&leftover, "half").unwrap();
    std::fs::write(shelf.path().join(packed_name(3)), "torn").unwrap();
    assert_eq!(stdout_text(shelf.path()), said);
    let stock = take_stock(shelf.path()).unwrap();
    assert!(!leftover.exists());
    assert!(!shelf.path().join(packed_name(3)).exists());
    assert_eq!(stock.len(), segment::list(shelf.path()).unwrap().len());
    assert!(stock.iter().rev().skip(1).all(|stored| stored.is_closed));
    assert!(!stock.last().unwrap().is_closed);

    std::fs::write(shelf.path().join(packed_name(3)), "torn").unwrap();
    std::fs::write(&leftover, "half").unwrap();
    compress_closed(shelf.path()).unwrap();
    assert!(!leftover.exists());
    assert!(!shelf.path().join(segment_name(3)).exists());
    assert_eq!(stdout_text(shelf.path()), said);
}

#[test]
fn damage_to_a_packed_segment_costs_only_what_is_damaged() {
    let (shelf, said) = chatty();
    end(shelf.path(), EXIT_ONE);
    compress_closed(shelf.path()).unwrap();
    for keep in [0, 5, 4000] {
        let path = shelf.path().join(packed_name(2));
        let content = std::fs::read(&path).unwrap();
        std::fs::write(&path, &content[..keep.min(content.len())]).unwrap();
        let mut reader = Reader::open(shelf.path(), Start::Beginning, Streams::Both).unwrap();
        let (mut kept, mut lost, mut is_end) = (0, 0, false);
        while !is_end {
            let batch = reader.read(1 << 20).unwrap();
            is_end = batch.is_end;
            for item in batch.items {
                match item {
                    Item::Output(frame) => kept += frame.bytes.len() as u64,
                    Item::Gap { bytes } => lost += bytes.unwrap(),
                }
            }
        }
        assert!(lost > 0);
        assert_eq!(kept + lost, said.len() as u64);
        std::fs::write(&path, content).unwrap();
    }
}

#[test]
fn a_segment_deleted_while_it_is_packed_stays_deleted() {
    let (shelf, _) = chatty();
    std::fs::remove_file(shelf.path().join(segment_name(1))).unwrap();
    assert_eq!(crate::output::pack::pack(shelf.path(), 1).unwrap(), Packed::default());
    assert_eq!(compress_closed(&shelf.path().join("gone")).unwrap(), Packed::default());
    assert!(!shelf.path().join(packed_name(1)).exists());
}
