//! Output over time: rotation, packing and following, with real programs and agents that die.

use std::time::Duration;

use hostler_agent::output::{
    Item, Keeper, KeptWorkload, Level, Limits, LineItem, LineReader, LogItem, Progress, Query,
    RunLog, Start, Streams, WorkloadFollower, compress_closed,
};
use hostler_model::{Bytes, LogPolicy, RunId, Span, Timestamp};
use tokio::sync::watch;

use crate::support::{DEADLINE, World, bytes, until};
use crate::survive::SmallDisk;

const NARROW: Limits = Limits { segment_bytes: 140 * 1024, segments_max: 1000 };

fn segments(dir: &std::path::Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("out."))
        .collect();
    names.sort();
    names
}

fn lines(dir: &std::path::Path, query: Query) -> Vec<String> {
    let mut reader = LineReader::open(dir, query).unwrap();
    let mut found = Vec::new();
    loop {
        let batch = reader.read(1 << 20).unwrap();
        for entry in batch.entries {
            match entry.item {
                LineItem::Line(line) => found.push(String::from_utf8(line.bytes).unwrap()),
                LineItem::Gap { bytes } => panic!("a gap of {bytes:?}"),
            }
        }
        if batch.progress == Progress::End {
            return found;
        }
    }
}

#[tokio::test]
async fn numbered_lines_survive_a_hundred_rotations_and_an_agent_kill() {
    let mut world = World::with(NARROW).await;
    let [half, go] = ["half", "go"].map(|name| world.data.join(name));
    let script = format!(
        "seq -f 'line number %.0f' 1 400000; touch {}; while [ ! -e {} ]; do sleep 0.01; done; \
         seq -f 'line number %.0f' 400001 800000",
        half.display(),
        go.display()
    );
    let (run_id, _) = world.start_sh(&script).await;
    let dir = world.run_dir(run_id);
    until("there are segments to pack", || segments(&dir).len() > 5).await;
    compress_closed(&dir).unwrap();
    until("half is said", || half.exists()).await;
    std::fs::write(&go, "").unwrap();
    world.agent_dies().await;
    compress_closed(&dir).unwrap();
    world.exit(run_id).await;
    compress_closed(&dir).unwrap();

    let names = segments(&dir);
    assert!(names.len() >= 100, "{} segments", names.len());
    assert!(names.iter().filter(|name| name.ends_with(".gz")).count() >= 99);
    let all = lines(&dir, Query::default());
    assert_eq!(all.len(), 800_000);
    assert!(all.iter().enumerate().all(|(i, line)| *line == format!("line number {}", i + 1)));
    let query = Query {
        grep: Some(regex::bytes::Regex::new("00000$").unwrap()),
        tail: Some(3),
        ..Query::default()
    };
    assert_eq!(lines(&dir, query), [600_000, 700_000, 800_000].map(|n| format!("line number {n}")));
}

#[tokio::test]
async fn a_program_that_prints_without_end_is_neither_held_up_nor_kept_whole() {
    const SIZE: u64 = 100_000_000;
    let limits = Limits { segment_bytes: 1 << 20, segments_max: 8 };
    let mut world = World::with(limits).await;
    let begin = std::time::Instant::now();
    let (run_id, _) = world.start_sh(&format!("yes 'all work' | head -c {SIZE}")).await;
    let dir = world.run_dir(run_id);
    let mut most = 0;
    until("it has said everything", || {
        let kept = segments(&dir).len();
        most = most.max(kept);
        dir.join("exit.json").exists()
    })
    .await;
    let seconds = begin.elapsed().as_secs_f64();
    println!("{:.0} MB/s", SIZE as f64 / 1e6 / seconds);
    assert_eq!(world.exit(run_id).await.exit.code, Some(0));
    assert!(most <= 10, "{most} segments at once");
    let items = world.items(run_id, Start::Beginning, Streams::Both).await;
    let Some(Item::Gap { bytes: Some(gap) }) = items.first() else {
        panic!("no gap at the beginning: {:?}", items.first());
    };
    assert_eq!(gap + bytes(&items).len() as u64, SIZE);
    assert_eq!(items.iter().filter(|item| matches!(item, Item::Gap { .. })).count(), 1);
}

#[tokio::test]
async fn a_full_disk_costs_counted_output_and_nothing_else() {
    let Some(disk) = SmallDisk::new() else { return };
    let outside = tempfile::tempdir().unwrap();
    let [full, said, room] = ["full", "said", "room"].map(|name| outside.path().join(name));
    let mut world = World::at(&disk.0.path().join("data"), NARROW).await;
    let wait =
        |file: &std::path::Path| format!("while [ ! -e {} ]; do sleep 0.01; done", file.display());
    let script = format!(
        "seq 1 5000; {}; seq 5001 60000; touch {}; {}; seq 60001 100000",
        wait(&full),
        said.display(),
        wait(&room)
    );
    let (run_id, _) = world.start_sh(&script).await;
    let dir = world.run_dir(run_id);
    until("it has begun", || dir.exists() && lines_so_far(&dir) == 5000).await;
    let ballast = disk.fill();
    std::fs::write(&full, "").unwrap();
    until("it has said more than there is room for", || said.exists()).await;
    std::fs::remove_file(ballast).unwrap();
    std::fs::write(&room, "").unwrap();
    assert_eq!(world.exit(run_id).await.exit.code, Some(0));

    let mut reader = LineReader::open(&dir, Query::default()).unwrap();
    let mut entries = Vec::new();
    let mut progress = Progress::More;
    while progress != Progress::End {
        let batch = reader.read(1 << 20).unwrap();
        entries.extend(batch.entries);
        progress = batch.progress;
    }
    let gap = entries.iter().position(|entry| matches!(entry.item, LineItem::Gap { .. })).unwrap();
    let (mut kept, mut missing) = (0, 0);
    for entry in &entries {
        match &entry.item {
            LineItem::Line(line) => kept += line.length + u64::from(line.has_end),
            LineItem::Gap { bytes } => missing += bytes.unwrap(),
        }
    }
    let total: u64 = (1..=100_000).map(|n: u32| n.to_string().len() as u64 + 1).sum();
    assert_eq!(kept + missing, total);
    assert!(missing > 100_000 && gap >= 5000, "{missing} {gap}");
    let after = &entries[entries.len() - 40_000..];
    for (entry, n) in after.iter().zip(60_001..) {
        let LineItem::Line(line) = &entry.item else { panic!("{entry:?}") };
        assert_eq!(line.bytes, format!("{n}").as_bytes());
    }
}

#[tokio::test]
async fn a_workload_is_followed_from_run_to_run() {
    let mut world = World::new().await;
    let go = world.data.join("go");
    let first = world.run_sh("echo one; printf unfinished; exit 1").await.run_id;
    let waits =
        format!("echo two; while [ ! -e {} ]; do sleep 0.01; done; echo three", go.display());
    let log = |world: &World, run_id: RunId, number| RunLog {
        run_id,
        number,
        dir: world.run_dir(run_id),
    };
    let (runs, known) = watch::channel(vec![log(&world, first, 1)]);
    let mut follower = WorkloadFollower::new(world.runner.clone(), known, Query::default(), None);
    let mut words = Vec::new();
    follow_until(&mut follower, &mut words, "[run 1 ended: exit code 1]").await;

    let (second, _) = world.start_sh(&waits).await;
    let next = log(&world, second, 2);
    runs.send_modify(|runs| runs.push(next));
    follow_until(&mut follower, &mut words, "two").await;
    std::fs::write(&go, "").unwrap();
    follow_until(&mut follower, &mut words, "[run 2 ended: exit code 0]").await;
    drop(runs);
    assert_eq!(follower.next(1 << 16).await.unwrap(), None);
    assert_eq!(
        words,
        [
            "[run 1 began]",
            "one",
            "unfinished",
            "[run 1 ended: exit code 1]",
            "[run 2 began]",
            "two",
            "three",
            "[run 2 ended: exit code 0]",
        ]
    );
    world.exit(second).await;
}

#[tokio::test]
async fn runs_that_overlap_are_followed_as_they_speak() {
    let mut world = World::new().await;
    let places = ["a1", "b1", "a2", "b2"].map(|name| world.data.join(name));
    let wait = |place: &std::path::Path, word: &str| {
        format!("while [ ! -e {} ]; do sleep 0.01; done; echo {word}", place.display())
    };
    let script = |name: &str, first: usize, second: usize| {
        let (one, two) = (format!("{name} one"), format!("{name} two"));
        format!("{}; {}", wait(&places[first], &one), wait(&places[second], &two))
    };
    let (older, _) = world.start_sh(&script("older", 0, 2)).await;
    let (newer, _) = world.start_sh(&script("newer", 1, 3)).await;
    let log = |run_id, number| RunLog { run_id, number, dir: world.run_dir(run_id) };
    let (runs, known) = watch::channel(vec![log(older, 1)]);
    let mut follower = WorkloadFollower::new(world.runner.clone(), known, Query::default(), None);
    let mut words = Vec::new();
    follow_until(&mut follower, &mut words, "[run 1 began]").await;
    runs.send_modify(|runs| runs.push(log(newer, 2)));
    follow_until(&mut follower, &mut words, "[run 2 began]").await;
    let spoken = ["older one", "newer one", "older two", "newer two"];
    for (index, (place, word)) in places.iter().zip(spoken).enumerate() {
        std::fs::write(place, "").unwrap();
        if index < 2 {
            follow_until(&mut follower, &mut words, word).await;
        } else {
            let end = format!("[run {} ended: exit code 0]", index - 1);
            follow_until(&mut follower, &mut words, &end).await;
        }
    }
    drop(runs);
    assert_eq!(follower.next(1 << 16).await.unwrap(), None);
    assert_eq!(
        words[2..],
        [
            "older one",
            "newer one",
            "older two",
            "[run 1 ended: exit code 0]",
            "newer two",
            "[run 2 ended: exit code 0]",
        ]
    );
    world.exit(older).await;
    world.exit(newer).await;
}

async fn follow_until(follower: &mut WorkloadFollower, words: &mut Vec<String>, last: &str) {
    let followed = tokio::time::timeout(DEADLINE, async {
        while words.last().is_none_or(|word| word != last) {
            let batch = follower.next(1 << 16).await.unwrap().expect("there is more to come");
            words.extend(batch.entries.into_iter().map(|entry| match entry.item {
                LogItem::Line(line) => String::from_utf8(line.bytes).unwrap(),
                LogItem::Mark(mark) => format!("[{}]", mark.words),
                LogItem::Gap { .. } => "GAP".to_owned(),
            }));
        }
    });
    assert!(followed.await.is_ok(), "in vain waited for {last}: {words:?}");
}

#[tokio::test]
async fn the_output_of_many_runs_is_kept_within_bounds() {
    let mut world = World::with(NARROW).await;
    let mut runs = Vec::new();
    for n in 0..4 {
        let script = format!(
            "seq -f 'run {n} %.0f' 1 60000; echo '{{\"level\":\"error\",\"msg\":\"{n}\"}}' >&2"
        );
        runs.push(world.run_sh(&script).await.run_id);
    }
    let (live, _) = world.start_sh("seq 1 40000; exec sleep 1000").await;
    let live_dir = world.run_dir(live);
    until("the live one has spoken", || lines_so_far(&live_dir) == 40_000).await;
    runs.push(live);
    let dirs: Vec<_> = runs.iter().map(|run| world.run_dir(*run)).collect();
    let errors = Query { level: Some(Level::Error), ..Query::default() };
    assert_eq!(lines(&dirs[0], errors.clone()), [r#"{"level":"error","msg":"0"}"#]);

    let policy = LogPolicy { max_bytes: Bytes::new(600 * 1024), max_age: Span::from_secs(86_400) };
    let kept = [KeptWorkload { policy, runs: dirs.clone() }];
    let far: Timestamp = "2000-01-01T00:00:00Z".parse().unwrap();
    let keeper = Keeper { pack_after: Duration::ZERO, ..Keeper::default() };
    let pass = keeper.pass(&kept, far);
    assert_eq!(pass.problems, [""; 0]);
    assert!(pass.compressed.segments > 10 && pass.bytes_kept <= 600 * 1024, "{pass:?}");
    let disk: u64 = dirs
        .iter()
        .flat_map(|dir| segments(dir).into_iter().map(|name| dir.join(name)))
        .map(|path| path.metadata().unwrap().len())
        .sum();
    assert_eq!(disk, pass.bytes_kept);
    assert_eq!(lines(&dirs[3], errors), [r#"{"level":"error","msg":"3"}"#]);
    assert_eq!(lines_so_far(&live_dir), 40_000);
    world.kill(live).await;
}

fn lines_so_far(dir: &std::path::Path) -> usize {
    let mut reader = LineReader::open(dir, Query::default()).unwrap();
    let mut count = 0;
    loop {
        let batch = reader.read(1 << 20).unwrap();
        count += batch.entries.len();
        if batch.progress == Progress::Idle {
            return count;
        }
    }
}
