//! Tables of what operations do, and what holds of any sequence of them.

use std::collections::HashMap;
use std::time::Duration;

use hostler_model::{
    Actor, ActorKind, ProjectId, Span, StateAct, StateAddress, StateAnswer, StateChangeKind,
    StateCompare, StateCondition, StateEnd, StateHead, StateMark, StateOp, StateRelation, StateTtl,
    StateTxn, Timestamp,
};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;

/// Rows as a database would keep them.
#[derive(Clone, Default)]
struct Table {
    head: StateHead,
    rows: HashMap<StateAddress, StateRecord>,
    sums: HashMap<(ProjectId, Option<Name>), StateSum>,
    log: Vec<StateChange>,
    quota: Option<u64>,
    now: i64,
}

fn project() -> ProjectId {
    ProjectId::from_uuid(uuid::Uuid::from_u128(1))
}

fn at(key: &str) -> StateAddress {
    let (namespace, key) = key.split_once(':').unwrap_or(("app", key));
    StateAddress {
        project_id: project(),
        namespace: namespace.parse().unwrap(),
        key: key.parse().unwrap(),
    }
}

fn by(name: &str) -> Actor {
    Actor { kind: ActorKind::User, name: name.to_owned() }
}

fn op(key: &str, act: StateAct) -> StateOp {
    StateOp { at: at(key), act }
}

fn put(key: &str, value: &str) -> StateOp {
    op(key, StateAct::Put { value: value.as_bytes().into(), ttl: StateTtl::Never })
}

fn put_for(key: &str, value: &str, seconds: u64) -> StateOp {
    let ttl = StateTtl::After(Span::from_secs(seconds));
    op(key, StateAct::Put { value: value.as_bytes().into(), ttl })
}

fn get(key: &str) -> StateOp {
    op(key, StateAct::Get)
}

fn increment(key: &str, by: i64) -> StateOp {
    op(key, StateAct::Increment { by, ttl: StateTtl::Keep })
}

fn push(key: &str, items: &[&str], end: StateEnd) -> StateOp {
    let items =
        items.iter().map(|item| RawValue::from_string((*item).to_owned()).unwrap()).collect();
    op(key, StateAct::Push { items, end, ttl: StateTtl::Keep })
}

fn pop(key: &str, count: u32, end: StateEnd) -> StateOp {
    op(key, StateAct::Pop { count, end })
}

impl Table {
    fn open(&self, txns: &[StateTxn]) -> Book {
        let mut rows: HashMap<StateAddress, StateRecord> = HashMap::new();
        for at in txns.iter().flat_map(StateTxn::addresses) {
            if let Some(row) = self.rows.get(at) {
                rows.insert(at.clone(), StateRecord { value: None, ..row.clone() });
            }
        }
        for at in txns.iter().flat_map(StateTxn::values_needed) {
            if let (Some(row), Some(loaded)) = (self.rows.get(at), rows.get_mut(at)) {
                loaded.value = row.value.clone();
            }
        }
        Book::open(Pages {
            head: self.head,
            now: Timestamp::from_micros(self.now * 1_000_000),
            rows: rows.into_values().collect(),
            sums: self.sums.values().cloned().collect(),
            quotas: [(project(), self.quota)].into(),
        })
    }

    fn store(&mut self, written: Written) {
        assert_eq!(written.batch.is_some(), written.head.revision > self.head.revision);
        self.head = written.head;
        for mut row in written.rows {
            if !row.is_gone && row.value.is_none() {
                row.value = self.rows[&row.at].value.clone();
            }
            self.rows.insert(row.at.clone(), row);
        }
        for sum in written.sums {
            self.sums.insert((sum.project_id, sum.namespace.clone()), sum);
        }
        if let Some(batch) = written.batch {
            assert_eq!(batch.last, written.head.revision);
            self.log.extend(batch.changes);
        }
    }

    fn batch(&mut self, txns: &[StateTxn]) -> Vec<Result<StateAnswer, Refusal>> {
        let mut book = self.open(txns);
        let answers = txns.iter().map(|txn| book.perform(txn, &by("ann"))).collect();
        self.store(book.close());
        answers
    }

    fn run(&mut self, txn: StateTxn) -> Result<StateAnswer, Refusal> {
        self.batch(&[txn]).remove(0)
    }

    fn one(&mut self, op: StateOp) -> StateAnswer {
        self.run(StateTxn::one(op)).unwrap()
    }

    /// The value as everybody would read it now.
    fn value(&self, key: &str) -> Option<String> {
        let row = self.rows.get(&at(key))?;
        let now = self.head.time.max(Timestamp::from_micros(self.now * 1_000_000));
        row.is_there(now).then(|| {
            let value = row.value.as_ref().expect("what is there has a value");
            String::from_utf8(value.to_vec()).unwrap()
        })
    }

    fn bytes(&self) -> u64 {
        self.sums.get(&(project(), None)).map_or(0, |sum| sum.bytes)
    }
}

#[test]
fn a_put_makes_and_changes_and_a_delete_ends() {
    let mut table = Table::default();
    let first = table.one(put("a", "one"));
    assert_eq!(first.revision, 1);
    let entry = first.results[0].entry.clone().unwrap();
    assert_eq!((entry.revision, entry.create_revision, entry.version), (1, 1, 1));
    table.one(put("b", "other"));
    let entry = table.one(put("a", "two!")).results[0].entry.clone().unwrap();
    assert_eq!((entry.revision, entry.create_revision, entry.version), (3, 1, 2));
    assert_eq!(table.value("a").as_deref(), Some("two!"));
    assert_eq!(table.bytes(), 5 + 6);

    let gone = table.one(op("a", StateAct::Delete));
    assert!(gone.results[0].is_deleted && gone.results[0].entry.is_none());
    let again = table.one(op("a", StateAct::Delete));
    assert!(!again.results[0].is_deleted);
    assert_eq!((gone.revision, again.revision), (4, 4), "what changes nothing has no revision");
    assert_eq!((table.value("a"), table.bytes()), (None, 6));

    let entry = table.one(put("a", "3")).results[0].entry.clone().unwrap();
    assert_eq!((entry.revision, entry.create_revision, entry.version), (5, 5, 1));
    let kinds: Vec<_> =
        table.log.iter().filter(|c| c.at == at("a")).map(|c| (c.revision, c.previous)).collect();
    assert_eq!(kinds, [(1, 0), (3, 1), (4, 3), (5, 4)], "each leads to the one before");
}

#[test]
fn conditions_choose_the_branch() {
    let mut table = Table::default();
    table.one(put("a", "m"));
    table.one(put("a", "m"));
    let mark = |mark, relation, number| StateCondition::Mark(mark, relation, number);
    use StateMark::*;
    use StateRelation::*;
    let value = |relation, text: &str| StateCondition::Value(relation, text.as_bytes().into());
    for (key, condition, expected) in [
        ("a", StateCondition::Present, true),
        ("a", StateCondition::Absent, false),
        ("b", StateCondition::Present, false),
        ("b", StateCondition::Absent, true),
        ("a", mark(Revision, Equal, 2), true),
        ("a", mark(Revision, Equal, 1), false),
        ("a", mark(Revision, NotEqual, 1), true),
        ("a", mark(Revision, Greater, 1), true),
        ("a", mark(Revision, Less, 2), false),
        ("a", mark(CreateRevision, Equal, 1), true),
        ("a", mark(Version, Equal, 2), true),
        ("b", mark(Revision, Equal, 0), true),
        ("b", mark(Version, Less, 1), true),
        ("a", value(Equal, "m"), true),
        ("a", value(NotEqual, "m"), false),
        ("a", value(Less, "n"), true),
        ("a", value(Greater, "lll"), true),
        ("b", value(Equal, ""), false),
        ("b", value(NotEqual, "x"), false),
    ] {
        let txn = StateTxn {
            compares: vec![StateCompare { at: at(key), condition: condition.clone() }],
            then: vec![get("a")],
            otherwise: vec![get("a"), get("b")],
        };
        let answer = table.run(txn).unwrap();
        assert_eq!(answer.is_held, expected, "{key} {condition:?}");
        assert_eq!(answer.results.len(), if expected { 1 } else { 2 });
    }
    let both = StateTxn {
        compares: vec![
            StateCompare { at: at("a"), condition: StateCondition::Present },
            StateCompare { at: at("b"), condition: StateCondition::Present },
        ],
        then: vec![put("a", "taken")],
        otherwise: vec![],
    };
    assert!(!table.run(both).unwrap().is_held);
    assert_eq!(table.value("a").as_deref(), Some("m"));
}

#[test]
fn of_many_that_swap_the_same_revision_one_wins() {
    let mut table = Table::default();
    table.one(put("a", "0"));
    let swap = |n: usize| {
        let condition = StateCondition::Mark(StateMark::Revision, StateRelation::Equal, 1);
        StateTxn::one_if(condition, put("a", &n.to_string()))
    };
    let txns: Vec<StateTxn> = (1..=64).map(swap).collect();
    let held: Vec<bool> = table.batch(&txns).into_iter().map(|a| a.unwrap().is_held).collect();
    assert_eq!(held.iter().filter(|held| **held).count(), 1);
    assert!(held[0], "the first in the batch");
    assert_eq!((table.value("a").as_deref(), table.head.revision), (Some("1"), 2));
}

#[test]
fn numbers_count_and_what_is_none_is_told() {
    let mut table = Table::default();
    assert_eq!(table.one(increment("n", 5)).results[0].number, Some(5));
    assert_eq!(table.one(increment("n", -7)).results[0].number, Some(-2));
    assert_eq!(table.value("n").as_deref(), Some("-2"));
    for (text, is_number) in [
        ("9223372036854775806", true),
        ("", false),
        ("1.5", false),
        ("+1", false),
        ("ab", false),
        (" 1", false),
        ("-", false),
        ("9223372036854775808", false),
    ] {
        table.one(put("n", text));
        let result = table.run(StateTxn::one(increment("n", 1)));
        assert_eq!(result.is_ok(), is_number, "{text:?}");
        if let Err(error) = result {
            assert!(matches!(error, Refusal::NotANumber { .. }), "{error:?}");
        }
    }
    table.one(put("n", &i64::MAX.to_string()));
    let over = table.run(StateTxn::one(increment("n", 1))).unwrap_err();
    assert!(matches!(over, Refusal::Overflow { .. }));
    assert_eq!(table.value("n"), Some(i64::MAX.to_string()), "as it was");
}

#[test]
fn lists_grow_and_shrink_at_both_ends() {
    let mut table = Table::default();
    let length = |answer: StateAnswer| answer.results[0].length;
    assert_eq!(length(table.one(push("l", &["1", "\"b\""], StateEnd::Back))), Some(2));
    assert_eq!(length(table.one(push("l", &["[0]"], StateEnd::Front))), Some(3));
    assert_eq!(table.value("l").as_deref(), Some(r#"[[0],1,"b"]"#));
    assert_eq!(length(table.one(op("l", StateAct::Length))), Some(3));
    let revision = table.head.revision;
    let taken = table.one(pop("l", 2, StateEnd::Front));
    let items: Vec<&str> = taken.results[0].items.iter().map(|item| item.get()).collect();
    assert_eq!((items, taken.results[0].length), (vec!["[0]", "1"], Some(1)));
    assert_eq!(taken.revision, revision + 1);
    table.one(pop("l", 9, StateEnd::Back));
    let none = table.one(pop("l", 1, StateEnd::Back));
    assert_eq!((none.results[0].items.len(), none.revision), (0, revision + 2));
    assert_eq!(table.value("l").as_deref(), Some("[]"));
    assert_eq!(length(table.one(op("absent", StateAct::Length))), None);
    assert_eq!(length(table.one(pop("absent", 1, StateEnd::Back))), None);
    table.one(put("l", "{}"));
    for act in
        [push("l", &["1"], StateEnd::Back), pop("l", 1, StateEnd::Back), op("l", StateAct::Length)]
    {
        let error = table.run(StateTxn::one(act)).unwrap_err();
        assert!(matches!(error, Refusal::NotAList { .. }), "{error:?}");
    }
    let large = format!("\"{}\"", "x".repeat(1 << 19));
    table.one(op("l", StateAct::Delete));
    table.one(push("l", &[&large], StateEnd::Back));
    let error = table.run(StateTxn::one(push("l", &[&large], StateEnd::Back))).unwrap_err();
    assert!(matches!(error, Refusal::TooLarge { .. }), "{error:?}");
}

#[test]
fn a_refused_operation_takes_the_whole_transaction_with_it() {
    let mut table = Table::default();
    table.one(put("word", "abc"));
    let txn = StateTxn {
        then: vec![put("a", "1"), increment("word", 1), put("b", "2")],
        ..StateTxn::default()
    };
    let error = table.run(txn).unwrap_err();
    assert_eq!(error.place(), Some(Place { is_then: true, index: 1 }));
    assert_eq!((table.value("a"), table.value("b"), table.head.revision), (None, None, 1));
    assert_eq!(table.log.len(), 1);
}

#[test]
fn a_transaction_sees_what_it_did_and_shares_one_revision() {
    let mut table = Table::default();
    table.one(put("a", "old"));
    let txn = StateTxn {
        then: vec![get("a"), put("a", "new"), get("a"), increment("n", 1), get("n")],
        ..StateTxn::default()
    };
    let answer = table.run(txn).unwrap();
    let seen: Vec<Option<String>> = [0, 2, 4]
        .map(|index: usize| {
            let value = answer.results[index].entry.as_ref()?.value.clone()?;
            Some(String::from_utf8(value.to_vec()).unwrap())
        })
        .to_vec();
    assert_eq!(seen, [Some("old".to_owned()), Some("new".to_owned()), Some("1".to_owned())]);
    let revisions: Vec<u64> = table.log.iter().map(|change| change.revision).collect();
    assert_eq!((answer.revision, revisions), (2, vec![1, 2, 2]));
}

#[test]
fn an_entry_is_gone_from_the_moment_its_time_has_come() {
    let mut table = Table { now: 100, ..Table::default() };
    table.one(put_for("a", "x", 10));
    table.now = 109;
    assert!(table.one(get("a")).results[0].entry.is_some());
    table.now = 110;
    assert_eq!(table.value("a"), None);
    assert!(table.rows.contains_key(&at("a")), "nobody has been there yet");
    let absent = StateTxn::one_if(StateCondition::Absent, put("a", "y"));
    let answer = table.run(absent).unwrap();
    assert!(answer.is_held);
    let entry = answer.results[0].entry.clone().unwrap();
    assert_eq!((entry.version, entry.create_revision), (1, 3));
    let kinds: Vec<_> = table.log.iter().map(|c| (c.kind, c.revision, c.previous)).collect();
    assert_eq!(
        kinds,
        [
            (StateChangeKind::Put, 1, 0),
            (StateChangeKind::Expired, 2, 1),
            (StateChangeKind::Put, 3, 2)
        ]
    );
    assert_eq!(table.bytes(), 2);
}

#[test]
fn a_touch_moves_the_end_and_keeps_the_value() {
    let mut table = Table { now: 100, ..Table::default() };
    table.one(put_for("a", "x", 10));
    table.now = 105;
    let ttl = StateTtl::After(Span::from_secs(10));
    assert!(table.one(op("a", StateAct::Touch { ttl })).results[0].entry.is_some());
    table.now = 114;
    assert_eq!(table.value("a").as_deref(), Some("x"));
    assert_eq!(table.log[1].kind, StateChangeKind::Touched);
    assert_eq!(table.log[1].value, None);
    table.one(op("a", StateAct::Touch { ttl: StateTtl::Never }));
    table.now = 10_000;
    assert_eq!(table.value("a").as_deref(), Some("x"));
    assert!(table.one(op("b", StateAct::Touch { ttl })).results[0].entry.is_none());
    for (act, stays) in [(increment("n", 1), true), (put("n", "1"), false)] {
        table.one(put_for("n", "1", 10));
        table.one(act);
        assert_eq!(table.rows[&at("n")].time_expires.is_some(), stays);
    }
}

#[test]
fn time_does_not_go_back_with_a_clock() {
    let mut table = Table { now: 100, ..Table::default() };
    table.one(put_for("a", "x", 10));
    table.now = 50;
    table.one(put("b", "y"));
    assert_eq!(table.head.time, Timestamp::from_micros(100_000_000));
    assert_eq!(table.rows[&at("b")].time_created, table.head.time);
    table.one(put_for("c", "z", 10));
    let expires = table.rows[&at("c")].time_expires.unwrap();
    assert_eq!(expires.since(table.head.time), Duration::from_secs(10));
}

#[test]
fn a_quota_is_kept_to_the_byte() {
    let mut table = Table { quota: Some(10), ..Table::default() };
    table.one(put("a", "12345"));
    let error = table.run(StateTxn::one(put("b", "1234"))).unwrap_err();
    assert_eq!(error, Refusal::Quota { limit: 10, has: 6, more: 5 });
    table.one(put("b", "123"));
    assert_eq!(table.bytes(), 10);
    let swap = StateTxn { then: vec![put("a", "1"), put("c", "123")], ..StateTxn::default() };
    table.run(swap).unwrap();
    assert_eq!(table.bytes(), 10, "what leaves makes room in the same transaction");
    table.quota = Some(3);
    table.one(put("b", "99"));
    assert_eq!(table.bytes(), 9, "what is smaller than before always goes");
    table.one(put("b", "98"));
    assert!(table.run(StateTxn::one(put("b", "987"))).is_err());
    table.one(op("c", StateAct::Delete));
    let nobody = Book::open(Pages::default()).perform(&StateTxn::one(put("a", "1")), &by("ann"));
    assert_eq!(nobody.unwrap_err(), Refusal::ProjectGone);
}

fn any_op() -> impl Strategy<Value = StateOp> {
    let key = prop_oneof![Just("a"), Just("b"), Just("c"), Just("other:a")];
    let act = prop_oneof![
        Just(StateAct::Get),
        Just(StateAct::Delete),
        Just(StateAct::Length),
        (0..3_u64, "[0-9]{0,3}").prop_map(|(ttl, text)| StateAct::Put {
            value: text.as_bytes().into(),
            ttl: match ttl {
                0 => StateTtl::Never,
                1 => StateTtl::Keep,
                _ => StateTtl::After(Span::from_secs(3)),
            },
        }),
        (-9..9_i64).prop_map(|by| StateAct::Increment { by, ttl: StateTtl::Keep }),
        Just(StateAct::Touch { ttl: StateTtl::After(Span::from_secs(2)) }),
        Just(push("a", &["1"], StateEnd::Back).act),
        Just(StateAct::Pop { count: 1, end: StateEnd::Front }),
    ];
    (key, act).prop_map(|(key, act)| op(key, act))
}

fn any_txn() -> impl Strategy<Value = StateTxn> {
    let compare = (prop_oneof![Just("a"), Just("b")], 0..2_u8).prop_map(|(key, absent)| {
        let condition = if absent == 0 { StateCondition::Absent } else { StateCondition::Present };
        StateCompare { at: at(key), condition }
    });
    let compares = prop::collection::vec(compare, 0..2);
    let ops = || prop::collection::vec(any_op(), 0..3);
    (compares, ops(), ops())
        .prop_map(|(compares, then, otherwise)| StateTxn { compares, then, otherwise })
        .prop_filter("a key is written once", |txn| txn.problems().is_empty())
}

proptest! {
    /// Whatever happens: sums are those of the rows, revisions have no gaps, every change leads to the
    /// one before, and it makes no difference whether transactions come together or one by one. (With a
    /// quota it can: what has expired makes room when somebody comes by.)
    #[test]
    fn sums_revisions_and_links_always_hold(
        batches in prop::collection::vec((0..4_i64, prop::collection::vec(any_txn(), 1..6)), 1..8),
        quota in prop_oneof![Just(None), (3..30_u64).prop_map(Some)],
    ) {
        let mut together = Table { quota, ..Table::default() };
        let mut apart = together.clone();
        for (pause, txns) in batches {
            together.now += pause;
            apart.now = together.now;
            together.batch(&txns);
            for txn in &txns {
                apart.batch(std::slice::from_ref(txn));
            }
        }
        for table in [&together, &apart] {
            let mut sums: HashMap<(ProjectId, Option<Name>), (u64, u64)> = HashMap::new();
            for row in table.rows.values().filter(|row| !row.is_gone) {
                prop_assert!(row.value.is_some());
                prop_assert_eq!(row.size, row.value.as_ref().unwrap().len() as u64);
                for namespace in [None, Some(row.at.namespace.clone())] {
                    let sum = sums.entry((project(), namespace)).or_default();
                    *sum = (sum.0 + 1, sum.1 + row.weight());
                }
            }
            for (of, sum) in &table.sums {
                prop_assert_eq!(sums.get(of).copied().unwrap_or_default(), (sum.entries, sum.bytes));
            }
            let mut newest: HashMap<StateAddress, u64> = HashMap::new();
            let mut last = 0;
            for change in &table.log {
                prop_assert!(change.revision == last || change.revision == last + 1);
                last = change.revision;
                prop_assert_eq!(newest.insert(change.at.clone(), change.revision).unwrap_or(0), change.previous);
            }
            prop_assert_eq!(last, table.head.revision);
            for (at, revision) in newest {
                prop_assert_eq!(table.rows[&at].revision, revision);
            }
        }
        for key in ["a", "b", "c", "other:a"].into_iter().filter(|_| quota.is_none()) {
            prop_assert_eq!(together.value(key), apart.value(key));
        }
    }
}
