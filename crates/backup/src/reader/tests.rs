use hostler_model::Timestamp;
use hostler_model::backup::{ColumnKind, ColumnShape};
use hostler_trust::SecretString;
use proptest::prelude::*;

use super::*;
use crate::Writer;

fn head() -> Head {
    Head {
        product: "0.1.0".into(),
        schema: 15,
        installation: "here".into(),
        time: Timestamp::from_micros(1_790_000_000_000_000),
        digest: "blake3".into(),
        lock: None,
        needs_keys: Vec::new(),
        has_keys: false,
        has_content: true,
    }
}

fn shape(name: &str) -> TableShape {
    let column = |name: &str, kind| ColumnShape { name: name.to_owned(), kind };
    TableShape {
        name: name.to_owned(),
        columns: vec![
            column("a", ColumnKind::Int),
            column("b", ColumnKind::Text),
            column("c", ColumnKind::Bytes),
        ],
        key: vec!["a".to_owned()],
    }
}

fn key(n: u8) -> LockKey {
    LockKey::File(MasterKey::from_bytes([n; 32]))
}

fn file(rows: &[Vec<Cell>], lock: Option<&LockKey>) -> (Vec<u8>, Summary) {
    let (lock, stream) = lock.map(|key| key.lock().unwrap()).unzip();
    let mut writer = Writer::new(&Head { lock, ..head() }, stream).unwrap();
    let mut bytes = Vec::new();
    for table in ["one", "two"] {
        writer.table(&shape(table)).unwrap();
        for row in rows {
            writer.row(row).unwrap();
            bytes.extend(writer.take());
        }
    }
    let (rest, summary) = writer.finish().unwrap();
    bytes.extend(rest);
    (bytes, summary)
}

fn read(bytes: &[u8], key: Option<&LockKey>) -> Result<Summary, Error> {
    verify(Opened::new(bytes)?, key)
}

fn sample(count: i64) -> Vec<Vec<Cell>> {
    let text = |n: i64| Cell::Text(format!("line {n} äöü"));
    // Bytes that do not pack, so that there are several pieces.
    let noise = |n: i64| {
        let mut bytes = vec![0; 96];
        blake3::Hasher::new().update(&n.to_le_bytes()).finalize_xof().fill(&mut bytes);
        Cell::Bytes(bytes)
    };
    (0..count).map(|n| vec![Cell::Int(n), text(n), noise(n)]).collect()
}

#[test]
fn what_is_written_is_read() {
    for lock in [None, Some(key(1))] {
        let rows = [sample(5000), vec![vec![Cell::Null, Cell::Null, Cell::Null]]].concat();
        let (bytes, written) = file(&rows, lock.as_ref());
        assert!(bytes.len() > 300 << 10, "several pieces: {}", bytes.len());
        let mut reader = Opened::new(&bytes[..]).unwrap().unlock(lock.as_ref()).unwrap();
        let (mut found, mut tables) = (Vec::new(), Vec::new());
        let summary = loop {
            match reader.next().unwrap().unwrap() {
                Item::Keys(_) => panic!("there are none"),
                Item::Table(shape) => tables.push(shape.name),
                Item::Row(cells) => found.push(cells),
                Item::TableEnd(sum) => assert_eq!(sum.rows, 5001),
                Item::End(summary) => break summary,
            }
        };
        assert_eq!(reader.next().unwrap().map(drop), None);
        assert_eq!(tables, ["one", "two"]);
        assert_eq!(found, [rows.clone(), rows].concat());
        assert_eq!(summary, written);
        assert_eq!(summary.rows, 10_002);
        assert_ne!(summary.tables[0].digest, summary.tables[1].digest, "the name counts");
    }
}

#[test]
fn keys_travel_only_in_what_is_sealed() {
    let has_keys = Head { has_keys: true, ..head() };
    assert!(matches!(Writer::new(&has_keys, None), Err(Error::Misuse(_))));
    let (lock, stream) = key(3).lock().unwrap();
    let locked = Head { lock: Some(lock), ..has_keys };
    assert!(matches!(Writer::new(&locked, None), Err(Error::Misuse(_))));
    let other = key(3).lock().unwrap().1;
    assert!(matches!(Writer::new(&locked, Some(other)), Err(Error::Misuse(_))));
    let mut writer = Writer::new(&locked, Some(stream)).unwrap();
    let master = MasterKey::from_bytes([9; 32]);
    writer.keys(std::slice::from_ref(&master)).unwrap();
    let (bytes, _) = writer.finish().unwrap();
    let secret = master.to_base64();
    let found = bytes.windows(20).any(|part| part == &secret.expose().as_bytes()[..20]);
    assert!(!found, "the key is sealed");
    let mut reader = Opened::new(&bytes[..]).unwrap().unlock(Some(&key(3))).unwrap();
    let Some(Item::Keys(keys)) = reader.next().unwrap() else { panic!("keys come first") };
    assert_eq!(keys[0].id(), master.id());
}

#[test]
fn every_cut_is_noticed() {
    for lock in [None, Some(key(1))] {
        let (bytes, _) = file(&sample(2000), lock.as_ref());
        for end in (0..bytes.len()).step_by(997).chain([bytes.len() - 1]) {
            let error = read(&bytes[..end], lock.as_ref()).unwrap_err();
            let is_told =
                matches!(error, Error::Truncated) || end == 0 && matches!(error, Error::NotABackup);
            assert!(is_told, "at {end}: {error:?}");
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for lock in [None, Some(key(1))] {
        let (bytes, _) = file(&sample(300), lock.as_ref());
        for at in (0..400).chain((400..bytes.len()).step_by(131)) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            assert!(read(&bad, lock.as_ref()).is_err(), "byte {at}");
        }
    }
}

#[test]
fn pieces_that_are_moved_doubled_or_added_are_noticed() {
    let (bytes, _) = file(&sample(5000), Some(&key(1)));
    let start = {
        let mut rest = &bytes[..];
        Head::read(&mut rest).unwrap();
        bytes.len() - rest.len()
    };
    let length =
        |at: usize| 5 + u32::from_le_bytes(bytes[at + 1..at + 5].try_into().unwrap()) as usize;
    let second = start + length(start);
    let third = second + length(second);
    let (first, next) = (&bytes[start..second], &bytes[second..third]);
    let moved = [&bytes[..start], next, first, &bytes[third..]].concat();
    let doubled = [&bytes[..second], first, &bytes[second..]].concat();
    let dropped = [&bytes[..start], &bytes[second..]].concat();
    let longer = [&bytes[..], b"x"].concat();
    for bad in [moved, doubled, dropped, longer] {
        let error = read(&bad, Some(&key(1))).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    }
}

#[test]
fn a_head_cannot_be_put_on_another_body() {
    let (plain, _) = file(&sample(10), None);
    let at = plain.windows(5).position(|part| part == b"0.1.0").unwrap();
    let mut other = plain.clone();
    other[at..at + 5].copy_from_slice(b"0.2.0");
    assert!(Opened::new(&other[..]).unwrap().head().product == "0.2.0");
    assert!(matches!(read(&other, None), Err(Error::Damaged { .. })));
}

#[test]
fn keys_that_do_not_fit_are_told_apart() {
    let (sealed, _) = file(&sample(1), Some(&key(1)));
    let (plain, _) = file(&sample(1), None);
    assert!(matches!(read(&sealed, None), Err(Error::NeedsKey)));
    assert!(matches!(read(&plain, Some(&key(1))), Err(Error::NeedsNoKey)));
    let wrong = read(&sealed, Some(&key(2))).unwrap_err();
    assert!(
        matches!(&wrong, Error::Key(e) if matches!(**e, hostler_trust::seal::Error::WrongKey)),
        "{wrong:?}"
    );
    let words = LockKey::Passphrase(SecretString::new("long enough for anybody"));
    assert!(matches!(read(&sealed, Some(&words)), Err(Error::Key(_))));
    let (with_words, _) = file(&sample(1), Some(&words));
    read(&with_words, Some(&words)).unwrap();
}

#[test]
fn files_of_another_kind_or_a_newer_format_say_so() {
    for text in ["", "SQLite format 3\0 and so on", "hostler-backuq\n\u{1}"] {
        assert!(matches!(read(text.as_bytes(), None), Err(Error::NotABackup)), "{text:?}");
    }
    let (mut bytes, _) = file(&[], None);
    bytes[crate::MAGIC.len()] = 9;
    assert!(matches!(read(&bytes, None), Err(Error::Newer { found: 9, known: 1 })));
}

#[test]
fn rows_that_do_not_fit_are_not_written() {
    let mut writer = Writer::new(&head(), None).unwrap();
    assert!(matches!(writer.row(&[Cell::Null]), Err(Error::Misuse(_))));
    writer.table(&shape("one")).unwrap();
    assert!(matches!(writer.row(&[Cell::Null]), Err(Error::Misuse(_))));
    let bad = [Cell::Text("1".into()), Cell::Null, Cell::Null];
    assert!(matches!(writer.row(&bad), Err(Error::Misuse(_))));
}

proptest! {
    #[test]
    fn any_cells_come_back(
        rows in proptest::collection::vec(
            (any::<Option<i64>>(), any::<Option<String>>(), any::<Option<Vec<u8>>>()), 0..20)
    ) {
        let rows: Vec<Vec<Cell>> = rows.into_iter().map(|(a, b, c)| vec![
            a.map_or(Cell::Null, Cell::Int),
            b.map_or(Cell::Null, Cell::Text),
            c.map_or(Cell::Null, Cell::Bytes),
        ]).collect();
        let (bytes, written) = file(&rows, None);
        prop_assert_eq!(read(&bytes, None).unwrap(), written);
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let whole = [&file(&[], None).0[..20], &bytes].concat();
        prop_assert!(read(&whole, None).is_err());
    }
}
