//! The runs of a workload, one after the other.

use std::path::Path;

use hostler_model::RunId;
use regex::bytes::Regex;
use uuid::Uuid;

use super::shelf::{EXIT_ONE, at, end, segment};
use crate::output::{
    LogCursor, LogEntry, LogItem, Progress, Query, RunLog, Stream, WorkloadReader,
};

fn run(data: &Path, number: u64, text: &str, is_over: bool) -> RunLog {
    let dir = data.join(number.to_string());
    std::fs::create_dir(&dir).unwrap();
    let time = 100 * i64::try_from(number).unwrap();
    segment(&dir, 1, 0, true, &[(Stream::Stdout, time, text)]);
    let record = serde_json::json!({
        "boot_id": "b", "pid": 1, "shim_pid": 2, "start_ticks": 3,
        "time": at(time - 1), "cgroup": null, "unenforced": [],
    });
    std::fs::write(dir.join("started.json"), record.to_string()).unwrap();
    if is_over {
        let exit = EXIT_ONE.replace("2026-01-01T00:00:00Z", &at(time + 1).to_string());
        end(&dir, &exit);
    }
    RunLog { run_id: RunId::from_uuid(Uuid::from_u128(number.into())), number, dir }
}

fn words(entries: &[LogEntry]) -> Vec<String> {
    let word = |entry: &LogEntry| match &entry.item {
        LogItem::Line(line) => String::from_utf8(line.bytes.clone()).unwrap(),
        LogItem::Gap { .. } => "GAP".to_owned(),
        LogItem::Mark(mark) => format!("[{}]", mark.words),
    };
    entries.iter().map(word).collect()
}

fn all(mut reader: WorkloadReader) -> (Vec<LogEntry>, Progress) {
    let mut found = Vec::new();
    loop {
        let batch = reader.read(1 << 16).unwrap();
        found.extend(batch.entries);
        if batch.progress != Progress::More {
            return (found, batch.progress);
        }
    }
}

#[test]
fn runs_follow_each_other_with_marks_between() {
    let data = tempfile::tempdir().unwrap();
    let runs = vec![
        run(data.path(), 1, "a\nb", true),
        run(data.path(), 2, "c\n", true),
        run(data.path(), 3, "d\n", false),
    ];
    let reader = WorkloadReader::open(runs.clone(), Query::default()).unwrap();
    let (entries, progress) = all(reader);
    let expected = [
        "[run 1 began]",
        "a",
        "b",
        "[run 1 ended: exit code 1]",
        "[run 2 began]",
        "c",
        "[run 2 ended: exit code 1]",
        "[run 3 began]",
        "d",
    ];
    assert_eq!((words(&entries), progress), (expected.map(str::to_owned).to_vec(), Progress::Idle));
    for (index, entry) in entries.iter().enumerate() {
        let cursor: LogCursor = entry.cursor.to_string().parse().unwrap();
        assert_eq!(cursor, entry.cursor);
        let rest = all(WorkloadReader::open_at(runs.clone(), Query::default(), &cursor)).0;
        assert_eq!(words(&rest), expected[index + 1..], "{cursor}");
    }

    let mut reader = WorkloadReader::open(runs[..2].to_vec(), Query::default()).unwrap();
    while reader.read(1 << 16).unwrap().progress != Progress::End {}
    reader.add_runs(&runs);
    assert_eq!(words(&all(reader).0), ["[run 3 began]", "d"]);
}

#[test]
fn queries_go_over_all_runs() {
    let data = tempfile::tempdir().unwrap();
    let runs: Vec<_> = (1..=5)
        .map(|n| {
            run(
                data.path(),
                n,
                &format!("x {n}\ny {n}\n{}", if n % 2 == 0 { "even\n" } else { "" }),
                true,
            )
        })
        .collect();
    let found = |query| words(&all(WorkloadReader::open(runs.clone(), query).unwrap()).0);
    let grep = |pattern| Query { grep: Some(Regex::new(pattern).unwrap()), ..Query::default() };
    assert_eq!(
        found(grep("even")),
        [
            "[run 2 began]",
            "even",
            "[run 2 ended: exit code 1]",
            "[run 4 began]",
            "even",
            "[run 4 ended: exit code 1]",
        ]
    );
    let lines = |query| {
        let all = found(query).into_iter();
        all.filter(|word| !word.starts_with('[')).collect::<Vec<_>>()
    };
    let every = lines(Query::default());
    for tail in 0..=every.len() + 1 {
        let some = lines(Query { tail: Some(tail), ..Query::default() });
        assert_eq!(some, every[every.len().saturating_sub(tail)..], "{tail}");
    }
    assert_eq!(lines(Query { tail: Some(3), ..grep("x") }), ["x 3", "x 4", "x 5"]);
    let range = Query { since: Some(at(200)), until: Some(at(301)), ..Query::default() };
    assert_eq!(
        found(range),
        [
            "x 2",
            "y 2",
            "even",
            "[run 2 ended: exit code 1]",
            "[run 3 began]",
            "x 3",
            "y 3",
            "[run 3 ended: exit code 1]",
        ]
    );
}

#[test]
fn runs_that_are_gone_leave_a_gap() {
    let data = tempfile::tempdir().unwrap();
    let runs: Vec<_> = (1..=3).map(|n| run(data.path(), n, "said\n", n < 3)).collect();
    let first = all(WorkloadReader::open(runs.clone(), Query::default()).unwrap()).0;
    std::fs::remove_dir_all(&runs[1].dir).unwrap();
    let found = all(WorkloadReader::open(runs.clone(), Query::default()).unwrap()).0;
    assert_eq!(words(&found)[2..], ["[run 1 ended: exit code 1]", "GAP", "[run 3 began]", "said"]);
    let rest = WorkloadReader::open_at(runs[2..].to_vec(), Query::default(), &first[1].cursor);
    assert_eq!(words(&all(rest).0), ["GAP", "[run 3 began]", "said"]);
    for bad in ["", "x/end", "7", "7/", "~"] {
        assert!(bad.parse::<LogCursor>().is_err());
    }
}

/// Everything that is there, as somebody sees it who follows.
fn followed(mut reader: WorkloadReader) -> (Vec<LogEntry>, Progress) {
    reader.follow();
    all(reader)
}

#[test]
fn runs_that_live_are_followed_side_by_side() {
    let data = tempfile::tempdir().unwrap();
    let runs: Vec<_> = (1..=4).map(|n| run(data.path(), n, "", n == 1 || n == 3)).collect();
    let say = |n: usize, number: u32, time: i64, text: &str| {
        segment(&runs[n - 1].dir, number, 0, true, &[(Stream::Stdout, time, text)]);
    };
    let mut reader = WorkloadReader::open(runs.clone(), Query::default()).unwrap();
    reader.follow();
    let read = |reader: &mut WorkloadReader| {
        let mut found = Vec::new();
        loop {
            let batch = reader.read(1 << 16).unwrap();
            found.extend(batch.entries);
            if batch.progress != Progress::More {
                return found;
            }
        }
    };
    let began = words(&read(&mut reader));
    assert_eq!(
        began,
        [
            "[run 1 began]",
            "[run 1 ended: exit code 1]",
            "[run 2 began]",
            "[run 3 began]",
            "[run 3 ended: exit code 1]",
            "[run 4 began]",
        ]
    );
    say(2, 2, 1001, "a\nb\n");
    say(4, 2, 1000, "x\n");
    say(4, 3, 1002, "y\n");
    let found = read(&mut reader);
    assert_eq!(words(&found), ["x", "a", "b", "y"]);
    let ended = EXIT_ONE.replace("2026-01-01T00:00:00Z", &at(1003).to_string());
    end(&runs[3].dir, &ended);
    let found = [found, read(&mut reader)].concat();
    let expected = ["x", "a", "b", "y", "[run 4 ended: exit code 1]"];
    assert_eq!(words(&found), expected);
    for (index, entry) in found.iter().enumerate() {
        let cursor: LogCursor = entry.cursor.to_string().parse().unwrap();
        assert_eq!(cursor, entry.cursor);
        let again = followed(WorkloadReader::open_at(runs.clone(), Query::default(), &cursor)).0;
        let (mut rest, mut seen) = (expected[index + 1..].to_vec(), words(&again));
        rest.sort_unstable();
        seen.sort_unstable();
        assert_eq!(seen, rest, "{cursor}");
    }
}
