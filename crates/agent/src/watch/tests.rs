//! Watchers on this machine: real files, ports and processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostler_base::{Clock, Phase, Shutdown};
use hostler_engine::watch::{Ran, Seen};
use hostler_host::call::Running;
use hostler_host::{Call, Commands, Finished, Host, Privilege};
use hostler_model::{
    Generation, Span, Watch, WatchCondition, WatcherId, WatcherNews, WatcherOrder, WatcherReport,
};
use hostler_proto::v1;
use serde_json::json;

use super::Watching;
use super::book::Book;
use super::kept::Kept;
use super::look::{Eyes, Looked};
use crate::writes::Tally;

const PATIENCE: Duration = Duration::from_secs(20);

fn order(n: u128, revision: u64, watch: serde_json::Value) -> WatcherOrder {
    WatcherOrder {
        id: WatcherId::from_uuid(uuid::Uuid::from_u128(n)),
        revision: Generation::from_u64(revision),
        watch: serde_json::from_value(watch).unwrap(),
        interval: Span::from_millis(40),
        cooldown: Span::default(),
    }
}

fn message(generation: u64, orders: &[WatcherOrder]) -> v1::WatcherOrders {
    hostler_proto::watcher_orders_to_message(Generation::from_u64(generation), orders)
}

/// The part of an agent that is about watchers, on a directory of its own.
struct Part {
    watching: Watching,
    shutdown: Shutdown,
}

impl Part {
    async fn start(dir: &Path) -> Part {
        let clock = Clock::system();
        let shutdown = Shutdown::new(clock.clone());
        let tasks = shutdown.tasks(Phase::Sessions);
        let tally = Arc::new(Tally::open(dir, None, clock.clone()));
        let watching = Watching::start(dir, Host::local(), clock, tally, &tasks).await;
        Part { watching, shutdown }
    }

    async fn stop(self) {
        self.shutdown.run(Duration::from_secs(5)).await;
    }

    /// What is told until there is some of which this holds; nothing is taken.
    async fn until(&self, what: &str, is_so: impl Fn(&WatcherReport) -> bool) -> WatcherReport {
        let begun = Instant::now();
        loop {
            let report = self.watching.report().unwrap_or_default();
            if is_so(&report) {
                return report;
            }
            assert!(begun.elapsed() < PATIENCE, "{what}: {report:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The first so many news.
    async fn news(&self, count: usize) -> Vec<WatcherNews> {
        self.until("news", |report| report.news.len() >= count).await.news
    }

    /// Until everything was looked at, and that is known.
    async fn looked(&self) {
        let begun = Instant::now();
        while !self.watching.book.has_looked() {
            assert!(begun.elapsed() < PATIENCE, "a look");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if let Some(report) = self.watching.report() {
            self.watching.taken(&WatcherReport { news: Vec::new(), ..report });
        }
    }
}

fn words(news: &[WatcherNews]) -> Vec<String> {
    let word = |one: &WatcherNews| match one.told.condition {
        Some(condition) => condition.label().to_owned(),
        None => one.told.word.label().to_owned(),
    };
    news.iter().map(word).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_tells_no_edge_twice_and_misses_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("watched");
    let watch = json!({ "file": { "path": file } });
    let part = Part::start(dir.path()).await;
    part.watching.take(&message(3, &[order(1, 1, watch.clone())])).await;
    part.looked().await;
    std::fs::write(&file, "one").unwrap();
    part.news(1).await;
    std::fs::write(&file, "another").unwrap();
    let before = part.news(2).await;
    assert_eq!(words(&before), ["created", "changed"]);
    assert!(before[0].sequence < before[1].sequence);
    part.stop().await;

    let part = Part::start(dir.path()).await;
    assert_eq!(part.watching.generation().get(), 3, "the orders are on disk");
    let again = part.until("the former news", |report| report.news.len() >= 2).await;
    assert_eq!(again.news, before, "nobody took them");
    part.watching.taken(&again);
    part.looked().await;
    assert!(part.watching.report().is_none(), "nothing was told anew");
    part.stop().await;

    std::fs::remove_file(&file).unwrap();
    let part = Part::start(dir.path()).await;
    let after = part.news(1).await;
    assert_eq!(words(&after), ["removed"], "it happened while nobody looked");
    assert!(after[0].sequence > before[1].sequence);
    part.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_level_that_was_told_is_not_told_again_and_its_end_is() {
    let dir = tempfile::tempdir().unwrap();
    let above = |limit: f64| json!({ "disk": { "path": "/proc", "above": limit, "clear": limit } });
    // /proc has no blocks: it is never more than 0 percent full.
    let part = Part::start(dir.path()).await;
    let below = json!({ "disk": { "path": "/proc", "below": 50 } });
    part.watching.take(&message(1, &[order(1, 1, below)])).await;
    let told = part.news(1).await;
    assert_eq!(words(&told), ["below"]);
    let report =
        part.until("it fires", |report| report.standings.iter().any(|it| it.is_firing)).await;
    part.watching.taken(&report);
    part.stop().await;
    let part = Part::start(dir.path()).await;
    let report = part
        .until("a look", |report| report.standings.iter().any(|it| it.time_looked.is_some()))
        .await;
    assert!(report.news.is_empty(), "{report:?}");
    assert!(report.standings[0].is_firing);
    part.watching.take(&message(2, &[order(2, 1, above(10.0))])).await;
    part.looked().await;
    assert!(part.watching.report().is_none(), "the former one is forgotten");
    part.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn older_orders_are_refused_and_the_same_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let part = Part::start(dir.path()).await;
    let cpu = |n, revision| order(n, revision, json!({ "load": { "above": 1e6 } }));
    part.watching.take(&message(5, &[cpu(1, 1)])).await;
    part.looked().await;
    for generation in [4, 5] {
        part.watching.take(&message(generation, &[])).await;
        assert_eq!(part.watching.generation().get(), 5);
        assert!(part.watching.report().is_none());
    }
    part.watching.take(&message(6, &[cpu(1, 2), cpu(2, 1)])).await;
    let is_there = |report: &WatcherReport| report.standings.len() == 2;
    let report = part.until("both", is_there).await;
    assert_eq!(report.generation.get(), 6);
    part.looked().await;
    let mut strange = message(7, &[cpu(2, 1)]);
    let text = serde_json::to_string(&cpu(3, 9)).unwrap().replace("load", "moon");
    strange.orders_json.push(text);
    part.watching.take(&strange).await;
    let is_told = |report: &WatcherReport| report.standings.iter().any(|it| it.trouble.is_some());
    let report = part.until("the strange one", is_told).await;
    let standing = report.standings.iter().find(|it| it.trouble.is_some()).unwrap();
    assert_eq!(standing.revision.get(), 9);
    assert!(standing.trouble.as_ref().unwrap().contains("too old"), "{standing:?}");
    part.stop().await;
    assert!(!dir.path().join(format!("watchers/{}.json", cpu(1, 1).id)).exists());
}

#[tokio::test]
async fn of_too_many_news_the_oldest_are_given_up_and_that_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::system();
    let open = async || {
        let tally = Arc::new(Tally::open(dir.path(), None, clock.clone()));
        Book::open(Kept::new(dir.path(), tally), clock.clone()).await
    };
    let book = open().await;
    let watched = order(1, 1, json!({ "file": { "path": "/watched" } }));
    book.take(Generation::FIRST, vec![watched.clone()], Vec::new()).await;
    for n in 0..=53 {
        let seen = Ok(Some(Seen::File(Some(n))));
        book.note(&watched, Looked { seen, cursor: None }).await;
    }
    let report = book.report().unwrap();
    assert_eq!(report.news.len(), 50);
    assert_eq!((report.news[0].lost, report.standings[0].lost), (3, 3));
    assert!(report.news[1..].iter().all(|news| news.lost == 0));
    assert!(report.news.is_sorted_by(|a, b| a.sequence < b.sequence));
    let again = open().await.report().unwrap();
    assert_eq!(again.news, report.news, "so it is after a restart");
    book.taken(&report);
    book.save_later(true).await;
    assert!(open().await.report().unwrap().news.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_watchers_look_and_none_keeps_the_others_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let part = Part::start(dir.path()).await;
    let never = json!({ "command": { "command": ["sleep", "600"], "timeLimit": "1m" } });
    let mut orders: Vec<WatcherOrder> = (0..3).map(|n| order(n, 1, never.clone())).collect();
    for n in 3..230 {
        orders.push(order(n, 1, json!({ "file": { "path": "/etc/hostname" } })));
    }
    part.watching.take(&message(1, &orders)).await;
    let looked = |report: &WatcherReport| {
        report.standings.iter().filter(|it| it.time_looked.is_some()).count()
    };
    let report = part.until("all files", |report| looked(report) >= 197).await;
    assert_eq!(report.standings.len(), 200, "there is a limit");
    part.stop().await;
}

/// What one look after the other sees.
async fn look(watch: serde_json::Value) -> Result<Option<Seen>, String> {
    let watch: Watch = serde_json::from_value(watch).unwrap();
    Eyes::new(&watch, Host::local()).look(&Clock::system(), None).await.seen
}

fn problem(seen: Result<Option<Seen>, String>) -> String {
    seen.expect_err("it cannot be looked")
}

#[tokio::test]
async fn files_are_seen_and_only_plain_ones_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let file = |hash| json!({ "file": { "path": path, "hash": hash } });
    assert_eq!(look(file(true)).await, Ok(Some(Seen::File(None))));
    std::fs::write(&path, "one").unwrap();
    let (plain, hashed) = (look(file(false)).await, look(file(true)).await);
    std::fs::write(&path, "two").unwrap();
    std::fs::write(&path, "one").unwrap();
    assert_ne!(look(file(false)).await, plain, "it was written");
    assert_eq!(look(file(true)).await, hashed, "the same is in it");
    let pipe = dir.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for path in [pipe, PathBuf::from("/dev/zero"), dir.path().to_owned()] {
        let seen = look(json!({ "file": { "path": path, "hash": true } })).await;
        assert!(problem(seen).contains("not a plain file"), "{path:?}");
        assert!(look(json!({ "file": { "path": path } })).await.is_ok(), "its times are known");
    }
    let large = dir.path().join("large");
    std::fs::File::create(&large).unwrap().set_len(65 << 20).unwrap();
    let seen = look(json!({ "file": { "path": large, "hash": true } })).await;
    assert!(problem(seen).contains("larger than 64 MiB"));
}

#[tokio::test]
async fn entries_are_seen_by_name_and_never_through_links() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().join("top");
    std::fs::create_dir_all(top.join("in/deep")).unwrap();
    std::fs::create_dir(dir.path().join("outside")).unwrap();
    for name in ["a.csv", "b.txt", "in/c.csv", "in/deep/d.csv"] {
        std::fs::write(top.join(name), name).unwrap();
    }
    std::fs::write(dir.path().join("outside/e.csv"), "").unwrap();
    std::os::unix::fs::symlink(dir.path().join("outside"), top.join("link")).unwrap();
    let names = async |recursive: bool, pattern: &str| {
        let watch =
            json!({ "directory": { "path": top, "recursive": recursive, "pattern": pattern } });
        match look(watch).await {
            Ok(Some(Seen::Entries(entries))) => entries.into_keys().collect::<Vec<_>>(),
            seen => panic!("{seen:?}"),
        }
    };
    assert_eq!(names(false, "").await, ["a.csv", "b.txt", "in", "link"]);
    assert_eq!(names(true, "*.csv").await, ["a.csv", "in/c.csv", "in/deep/d.csv"]);
    let gone = look(json!({ "directory": { "path": dir.path().join("gone") } })).await;
    assert_eq!(gone, Ok(Some(Seen::Entries(std::collections::BTreeMap::new()))));
    let file = look(json!({ "directory": { "path": top.join("a.csv") } })).await;
    assert!(file.is_err(), "{file:?}");
    let many = dir.path().join("many");
    std::fs::create_dir(&many).unwrap();
    for n in 0..=10_000 {
        std::fs::File::create(many.join(n.to_string())).unwrap();
    }
    let seen = look(json!({ "directory": { "path": many } })).await;
    assert!(problem(seen).contains("more than 10000 entries"));
    let some = look(json!({ "directory": { "path": many, "pattern": "77?7" } })).await;
    assert!(matches!(some, Ok(Some(Seen::Entries(entries))) if entries.len() == 10));
}

#[tokio::test]
async fn processes_are_counted_by_name_and_by_command() {
    let child = tokio::process::Command::new("sleep").arg("598.25").kill_on_drop(true).spawn();
    let mut child = child.unwrap();
    let watch = json!({ "process": { "command": "^sleep 598[.]25$" } });
    let begun = Instant::now();
    // Between fork and exec it is still what it was.
    while look(watch.clone()).await != Ok(Some(Seen::Processes(1))) {
        assert!(begun.elapsed() < PATIENCE);
    }
    let named = look(json!({ "process": { "name": "sleep" } })).await;
    assert!(matches!(named, Ok(Some(Seen::Processes(1..)))), "{named:?}");
    child.start_kill().unwrap();
    while look(watch.clone()).await != Ok(Some(Seen::Processes(0))) {
        assert!(
            begun.elapsed() < PATIENCE,
            "one that ended does not run, also before it is waited for"
        );
    }
    child.wait().await.unwrap();
}

#[tokio::test]
async fn ports_are_open_or_closed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let watch = json!({ "port": { "port": port } });
    assert_eq!(look(watch.clone()).await, Ok(Some(Seen::Port(true))));
    drop(listener);
    assert_eq!(look(watch).await, Ok(Some(Seen::Port(false))));
    let nowhere = look(json!({ "port": { "port": port, "host": "no.such.host.invalid" } })).await;
    assert!(problem(nowhere).contains("cannot be looked up"));
}

fn is_running(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.into_iter().any(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(word)
    })
}

#[tokio::test]
async fn commands_are_judged_and_ended_with_everything_they_started() {
    let run = async |script: &str, limit: &str, pattern: &str| {
        let mut command = json!({ "command": ["sh", "-c", script], "timeLimit": limit });
        if !pattern.is_empty() {
            command["pattern"] = json!(pattern);
            command["on"] = json!(["matches"]);
        }
        match look(json!({ "command": command })).await {
            Ok(Some(Seen::Command(Ran { code, output, is_match }))) => (code, output, is_match),
            seen => panic!("{seen:?}"),
        }
    };
    let (code, output, _) = run("echo hi; exit 3", "5s", "").await;
    assert_eq!(code, Some(3));
    assert_eq!(run("echo hi", "5s", "h.").await, (Some(0), output, true));
    assert!(!run("echo hi", "5s", "^x").await.2);
    assert_eq!(run("kill -9 $$", "5s", "").await.0, None);
    let begun = Instant::now();
    let endless = "sleep 597.125 & setsid sleep 597.125 & sleep 597.125";
    assert_eq!(run(endless, "1s", "").await.0, None);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    while is_running("597.125") {
        assert!(begun.elapsed() < PATIENCE, "something is left");
    }
    assert_eq!(run("setsid sleep 597.375 & exit 0", "5s", "").await.0, Some(0));
    while is_running("597.375") {
        assert!(begun.elapsed() < PATIENCE, "something is left");
    }
    assert_eq!(run("yes", "1s", "").await.0, None, "what is printed without end is not kept");
    if nix::unistd::Uid::effective().is_root() {
        assert!(run("id -un", "5s", "^nobody$").await.2, "not root");
    }
    let missing = look(json!({ "command": { "command": ["/no/such/program"] } })).await;
    assert!(problem(missing).contains("/no/such/program"));
    let stranger =
        look(json!({ "command": { "command": ["true"], "user": "no-such-user" } })).await;
    assert!(problem(stranger).contains("no-such-user"));
}

fn host(root: &Path, commands: Arc<dyn Commands>) -> Host {
    Host::new(root, commands, Privilege::Ordinary)
}

/// A machine without programs, or with one that says something else each time.
#[derive(Debug, Default)]
struct Said(std::sync::Mutex<Vec<(String, String)>>);

impl Commands for Said {
    fn run(&self, call: Call) -> Running<'_> {
        let (marks, said) = self.0.lock().unwrap().remove(0);
        let line = call.argv().join(" ");
        assert!(line.contains(&marks), "{line} {marks}");
        let finished = Finished { code: Some(0), stdout: said.into_bytes(), ..Finished::default() };
        Box::pin(async move { Ok(finished) })
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        Some(PathBuf::from("/usr/bin").join(program))
    }
}

fn lines(looked: &Looked) -> (u64, String) {
    match &looked.seen {
        Ok(Some(Seen::Lines { count, first })) => (*count, first.clone()),
        seen => panic!("{seen:?}"),
    }
}

#[tokio::test]
async fn logs_are_read_on_from_where_they_were_read_to() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("var/log/app");
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("a.log");
    let watch = json!({ "log": { "path": "/var/log/app/a.log", "pattern": "ERR" } });
    let watch: Watch = serde_json::from_value(watch).unwrap();
    let eyes = Eyes::new(&watch, host(dir.path(), Arc::new(Said::default())));
    let clock = Clock::system();
    let append = |text: &str| {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&log).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append("ERR of long ago\n");
    let mut cursor = None;
    let mut next = async || {
        let looked = eyes.look(&clock, cursor.clone()).await;
        let found = lines(&looked);
        cursor = looked.cursor;
        found
    };
    assert_eq!(next().await.0, 0, "what was there is not new");
    append("fine\nERR one\r\nERR two\nERR not yet");
    assert_eq!(next().await, (2, "ERR one".to_owned()));
    assert_eq!(next().await.0, 0);
    append(" done\n");
    assert_eq!(next().await, (1, "ERR not yet done".to_owned()));
    std::fs::rename(&log, folder.join("a.log.1")).unwrap();
    assert_eq!(next().await.0, 0, "it is away for a moment");
    append("ERR after\n");
    assert_eq!(next().await, (1, "ERR after".to_owned()));
    std::fs::write(&log, "ERR\n").unwrap();
    assert_eq!(next().await, (1, "ERR".to_owned()), "it became shorter");
    append(&"x".repeat(5 << 20));
    append(" ERR\n");
    assert_eq!(next().await.0, 0);
    assert_eq!(next().await.0, 1, "the rest is for the next look");
    std::fs::remove_file(&log).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &log).unwrap();
    let looked = eyes.look(&clock, None).await;
    assert!(problem(looked.seen).contains("leads out"));
    std::fs::remove_file(&log).unwrap();
    nix::unistd::mkfifo(&log, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(problem(eyes.look(&clock, None).await.seen).contains("not a plain file"));
}

#[tokio::test]
async fn the_journal_is_read_on_from_its_own_word() {
    let entry = |n: u32, text: &str| {
        format!("{}\n", json!({ "__CURSOR": format!("s={n}"), "MESSAGE": text }))
    };
    let said = Said(std::sync::Mutex::new(vec![
        ("-u ssh -n 1".to_owned(), entry(1, "Failed long ago")),
        (
            "--after-cursor=s=1".to_owned(),
            entry(2, "Failed for a") + &entry(3, "fine") + &entry(4, "Failed for b") + "{\"__CUR",
        ),
        ("--after-cursor=s=4".to_owned(), String::new()),
    ]));
    let dir = tempfile::tempdir().unwrap();
    let watch = json!({ "log": { "unit": "ssh", "pattern": "^Failed" } });
    let watch: Watch = serde_json::from_value(watch).unwrap();
    let eyes = Eyes::new(&watch, host(dir.path(), Arc::new(said)));
    let clock = Clock::system();
    let mut cursor = None;
    for expected in [(0, ""), (2, "Failed for a"), (0, "")] {
        let looked = eyes.look(&clock, cursor).await;
        assert_eq!(lines(&looked), (expected.0, expected.1.to_owned()));
        cursor = looked.cursor;
    }
}

#[tokio::test]
async fn figures_are_measured() {
    for watch in [
        json!({ "cpu": { "above": 90 } }),
        json!({ "memory": { "above": 90 } }),
        json!({ "disk": { "above": 90 } }),
    ] {
        let seen = look(watch.clone()).await;
        assert!(matches!(seen, Ok(Some(Seen::Figure(0.0..=100.0)))), "{watch} {seen:?}");
    }
    assert!(matches!(look(json!({ "load": { "above": 1 } })).await, Ok(Some(Seen::Figure(0.0..)))));
    let nowhere = look(json!({ "disk": { "path": "/no/such/path", "above": 1 } })).await;
    assert!(problem(nowhere).contains("/no/such/path"));
}

#[tokio::test]
async fn certificates_are_read_from_files_and_from_servers() {
    let dir = tempfile::tempdir().unwrap();
    let now = Clock::system().now();
    let authority = hostler_trust::Authority::create(now, "test").unwrap();
    let path = dir.path().join("a.pem");
    let watch = json!({ "certificate": { "path": path } });
    assert!(problem(look(watch.clone()).await).contains("is not there"));
    std::fs::write(&path, "no certificate").unwrap();
    assert!(look(watch.clone()).await.is_err());
    std::fs::write(&path, authority.certificate_pem()).unwrap();
    let expected = authority.certificate().time_expires();
    assert_eq!(look(watch).await, Ok(Some(Seen::Certificate(expected))));
    let fifo = dir.path().join("pipe");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let seen = look(json!({ "certificate": { "path": fifo } })).await;
    assert!(problem(seen).contains("not a plain file"));

    let id = hostler_model::ServerId::from_uuid(uuid::Uuid::from_u128(7));
    let names = ["localhost".to_owned()];
    let week = Duration::from_secs(7 * 86_400);
    let (issued, identity) = authority.issue_server(id, &names, now, week).unwrap();
    let config = hostler_trust::tls::server_public(&identity).unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = async {
        let (stream, _) = listener.accept().await.unwrap();
        let _shaken = acceptor.accept(stream).await;
    };
    let (seen, ()) = tokio::join!(look(json!({ "certificate": { "address": address } })), serving);
    let expected = issued.time_expires;
    assert_eq!(seen, Ok(Some(Seen::Certificate(expected))));
    drop(listener);
    assert!(look(json!({ "certificate": { "address": address } })).await.is_err());
}

#[tokio::test]
async fn a_service_needs_systemd() {
    let dir = tempfile::tempdir().unwrap();
    let watch: Watch = serde_json::from_value(json!({ "service": { "unit": "nginx" } })).unwrap();
    let eyes = Eyes::new(&watch, host(dir.path(), Arc::new(Said::default())));
    let looked = eyes.look(&Clock::system(), None).await;
    assert!(looked.seen.is_err(), "{looked:?}");
    assert!(watch.fires_on(WatchCondition::Failed));
}
