//! Three hundred workloads of every mode, while everything that can happen to them does: they end and
//! are killed, their files change, the clock jumps, the agent is killed. Afterwards the books must
//! agree and nothing may be left over. `HOSTLER_SOAK_SECONDS` makes it longer than a test should be.
//!
//! There are two sets of books. The programs keep their own: each run writes its id down before it does
//! anything else, and a hook does so after its end, however that came. The agent's are what it says it
//! has launched, and its history. Runs of files that never change are compared one by one; where files
//! change, a run can be stopped before it has said a word, and such runs are counted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use hostler_agent::door::view::{PastView, WorkloadView};
use hostler_agent::local::{self, Answer, Question};
use hostler_agent::{AgentConfig, Standalone};
use hostler_base::Clock;
use hostler_model::ExitReason;
use rustix::process::{Pid, Signal, kill_process};

use crate::fake::{Agent, agent_config};
use crate::support::find_executor;

const WORKLOADS: usize = 300;
const PER_FILE: usize = 30;
/// The first files are never changed.
const UNCHANGED: usize = 5 * PER_FILE;
const HOUR: i64 = 3_600_000_000;
/// Ended runs that keep their directory.
const KEEP_RUNS: usize = 200;
/// Emptied directories that the agent keeps at hand, and what may be on its way out.
const SPARE_RUNS: usize = 256 + 64;
const LEDGER_BYTES_MAX: u64 = 20 << 20;
const HISTORY: usize = 20;
/// How much this process, with the agent in it, may grow between the end of the warm-up and the end.
const GROWTH_MAX: u64 = 12 << 20;
/// What the allocator keeps for the threads of agents that are dead would count as growth; with one arena
/// for everybody it keeps nothing.
const ARENAS: &str = "MALLOC_ARENA_MAX";

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

struct Soak {
    folder: PathBuf,
    shift: Arc<AtomicI64>,
    /// Files whose workloads were changed, and how often.
    changes: BTreeMap<usize, u32>,
}

fn workload(n: usize, counts: &Path, change: u32) -> String {
    let begun = format!("echo $HOSTLER_RUN >> {}/w{n}", counts.display());
    let ended = format!("echo $HOSTLER_RUN >> {}/w{n}.ended", counts.display());
    let (mode, script) = match n % 6 {
        0 => ("forever", "exec sleep 1000"),
        1 => ("forever", "sleep 0.3; exit 1"),
        2 => ("{times: 4}", "exit 0"),
        3 => ("{schedule: {cron: '*/2 * * * * *'}}", "exit 0"),
        4 => ("once", "exit 2"),
        _ => ("forever", "sleep 1000 & sleep 0.7"),
    };
    format!(
        "  - name: w{n}\n    mode: {mode}\n    command: [sh, -c, '{begun}; {script}']\n    \
         hooks: {{postStop: {{command: [sh, -c, '{ended}']}}}}\n    \
         restart: {{delay: 200ms, maxDelay: 2s, resetAfter: 1s}}\n    stop: {{grace: 2s}}\n    env: {{CHANGE: '{change}'}}\n"
    )
}

impl Soak {
    fn counts(&self) -> PathBuf {
        self.folder.join("counts")
    }

    /// Ten files of thirty workloads. Each is changed at once: an agent may be starting just now, and
    /// half a file would say that the other half's workloads are gone.
    fn write(&self, file: usize) {
        let change = self.changes.get(&file).copied().unwrap_or(0);
        let each: String = (0..WORKLOADS)
            .filter(|n| n / PER_FILE == file)
            .map(|n| workload(n, &self.counts(), change))
            .collect();
        let draft = self.folder.join("draft");
        std::fs::write(&draft, format!("workloads:\n{each}")).unwrap();
        std::fs::rename(draft, self.files().join(format!("{file}.yaml"))).unwrap();
    }

    fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn agent(&self) -> Agent {
        let config = AgentConfig {
            standalone: Some(Standalone::new(&self.files(), None).unwrap()),
            keep_runs: KEEP_RUNS,
            ..agent_config(&self.data())
        };
        Agent::start_at(config, Clock::shifted(self.shift.clone()))
    }

    async fn ask(&self, question: Question) -> Option<Answer> {
        let answers = local::ask(&self.data(), &question, &Clock::system()).await.ok()?;
        answers.only().await.ok()
    }

    async fn list(&self) -> Vec<WorkloadView> {
        match self.ask(Question::List).await {
            Some(Answer::List(workloads)) => workloads,
            _ => Vec::new(),
        }
    }

    async fn history(&self, name: &str) -> Vec<PastView> {
        match self.ask(Question::History { name: name.to_owned() }).await {
            Some(Answer::History(past)) => past,
            _ => panic!("{name} has no history"),
        }
    }

    /// Ids of runs that wrote themselves down here, in order.
    fn noted(&self, file: &str) -> Vec<String> {
        let noted = std::fs::read_to_string(self.counts().join(file)).unwrap_or_default();
        noted.lines().map(str::to_owned).collect()
    }

    /// Kills the program of a run that has said its first word, if it is still the one that is meant.
    fn kill(&self, view: &WorkloadView) -> bool {
        let (Some(pid), Some(run)) = (view.pid, view.run_id) else { return false };
        let run = run.to_string();
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mark = format!("HOSTLER_RUN={run}");
        let is_meant = environ.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
            && self.noted(view.name.as_str()).contains(&run);
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        is_meant && kill_process(pid, Signal::KILL).is_ok()
    }

    /// Processes that carry these words.
    fn processes(&self, words: &Path) -> Vec<u32> {
        let sign = words.display().to_string();
        let is_ours = |pid: &u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&sign)
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|e| e.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    fn run_directories(&self) -> usize {
        entries(&self.data().join("runs")).count()
    }

    fn ledger_bytes(&self) -> u64 {
        std::fs::metadata(self.data().join("ledger-standalone")).unwrap().len()
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// Cgroups of runs, in whichever hierarchy.
fn cgroups() -> HashSet<String> {
    let top = Path::new("/sys/fs/cgroup");
    let places = entries(top).map(|name| top.join(name)).chain([top.to_owned()]);
    places.flat_map(|place| entries(&place.join("hostler")).collect::<Vec<_>>()).collect()
}

fn open_files(pid: &str) -> usize {
    entries(&Path::new("/proc").join(pid).join("fd")).count()
}

fn threads() -> usize {
    entries(Path::new("/proc/self/task")).count()
}

/// Resident memory of this process, in bytes.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * u64::try_from(rustix::param::page_size()).unwrap()
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
    assert!(waited.is_ok(), "in vain waited until {what}");
}

/// What the programs of one workload wrote down.
struct Book {
    begun: Vec<String>,
    ended: Vec<String>,
}

impl Book {
    /// Every run began once and ended once. Those that never spoke were stopped before they could.
    fn unspoken(&self, view: &WorkloadView) -> usize {
        let (name, launched) = (&view.name, usize::try_from(view.launched).unwrap());
        let begun: HashSet<&String> = self.begun.iter().collect();
        let ended: HashSet<&String> = self.ended.iter().collect();
        assert_eq!(begun.len(), self.begun.len(), "{name}: a run began twice");
        assert_eq!(ended.len(), self.ended.len(), "{name}: a run ended twice");
        let endless: Vec<_> = begun.difference(&ended).collect();
        assert!(endless.is_empty(), "{name}: {endless:?} began and never ended");
        assert!(ended.len() <= launched, "{name}: {} ends of {launched} runs", ended.len());
        launched - begun.len()
    }

    /// The history is the end of the programs' own book, run by run.
    fn compare(&self, n: usize, view: &WorkloadView, history: &[PastView]) {
        let (name, unspoken) = (&view.name, self.unspoken(view));
        let numbers: Vec<u64> = history.iter().map(|past| past.number).collect();
        let expected: Vec<u64> = (1..=view.launched).rev().take(HISTORY).collect();
        assert_eq!(numbers, expected, "{name}: every run that was launched has ended");
        let (silent, spoken): (Vec<_>, Vec<_>) =
            history.iter().partition(|past| !self.begun.contains(&past.run_id.to_string()));
        assert_eq!(silent.len(), unspoken, "{name}: {silent:?}");
        for past in &silent {
            // Only the last one was stopped by anybody.
            assert_eq!(
                (past.number, past.exit.reason),
                (view.launched, ExitReason::Stopped),
                "{name}"
            );
        }
        let spoken: Vec<String> = spoken.iter().rev().map(|past| past.run_id.to_string()).collect();
        let first = self.begun.len() - spoken.len();
        assert_eq!(spoken, self.begun[first..], "{name}");
        for past in history {
            let exit = &past.exit;
            let is_expected = match (exit.reason, n % 6) {
                (ExitReason::Stopped, _) => past.number == view.launched,
                (ExitReason::Exited, kind) => {
                    let own = [None, Some(1), Some(0), Some(0), Some(2), Some(0)][kind];
                    exit.signal == Some(9) || own.is_some() && exit.code == own
                }
                _ => false,
            };
            assert!(is_expected, "{name}: {past:?}");
        }
        if n % 6 == 2 {
            assert_eq!(view.launched, 4, "{name} runs four times and no more, whatever happens");
        }
        if n % 6 == 4 {
            assert_eq!(view.launched, 1, "{name} runs once, whatever happens");
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the environment has to be there from the beginning")]
fn everything_happens_to_three_hundred_workloads() {
    if std::env::var_os(ARENAS).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(everything_happens());
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "soak::everything_happens_to_three_hundred_workloads", "--nocapture"]);
    assert!(again.env(ARENAS, "1").status().unwrap().success());
}

async fn everything_happens() {
    let seconds = std::env::var("HOSTLER_SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    let length = Duration::from_secs(seconds.unwrap_or(25));
    let folder = tempfile::tempdir().unwrap();
    let mut soak =
        Soak { folder: folder.path().to_owned(), shift: Arc::default(), changes: BTreeMap::new() };
    for part in [soak.counts(), soak.files()] {
        std::fs::create_dir(part).unwrap();
    }
    (0..WORKLOADS / PER_FILE).for_each(|file| soak.write(file));
    let (files_before, threads_before) = (open_files("self"), threads());

    let mut agent = Some(soak.agent());
    let mut dice = Dice(0x5eed);
    let begun = Instant::now();
    let warm_up = (length * 2 / 3).min(Duration::from_secs(60));
    let mut warm = None;
    let (mut kills, mut agents, mut jumps, mut reloads) = (0, 0, 0, 0);
    while begun.elapsed() < length {
        match dice.below(20) {
            0 => {
                agent.take().unwrap().kill();
                agent = Some(soak.agent());
                agents += 1;
            }
            1 | 2 => {
                let file = (UNCHANGED + dice.below(WORKLOADS - UNCHANGED)) / PER_FILE;
                *soak.changes.entry(file).or_default() += 1;
                soak.write(file);
                reloads += usize::from(soak.ask(Question::Reload).await.is_some());
            }
            3 => {
                let by = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR][dice.below(4)];
                soak.shift.fetch_add(by, Ordering::Relaxed);
                jumps += 1;
            }
            _ => {
                let mut views = soak.list().await;
                views.retain(|view| view.pid.is_some());
                if !views.is_empty() {
                    kills += usize::from(soak.kill(&views[dice.below(views.len())]));
                }
            }
        }
        if warm.is_none() && begun.elapsed() > warm_up {
            warm = Some(memory());
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    println!("{kills} kills of programs, {agents} of the agent, {jumps} jumps, {reloads} reloads");
    assert!(kills > 10 && agents > 0 && reloads > 0);

    until("all workloads are listed", async || soak.list().await.len() == WORKLOADS).await;
    for view in soak.list().await {
        let question = Question::Stop { name: view.name.to_string() };
        let _ = soak.ask(question).await;
    }
    until("everything has stopped", async || soak.list().await.iter().all(|w| w.run_id.is_none()))
        .await;
    until("no program is left", async || soak.processes(&soak.counts()).is_empty()).await;

    let mut everything: HashSet<String> = HashSet::new();
    let (mut starts, mut ends, mut unspoken) = (0, 0, 0);
    let views: HashMap<String, WorkloadView> =
        soak.list().await.into_iter().map(|view| (view.name.to_string(), view)).collect();
    for n in 0..WORKLOADS {
        let name = format!("w{n}");
        let view = &views[&name];
        let book = Book { begun: soak.noted(&name), ended: soak.noted(&format!("{name}.ended")) };
        if n < UNCHANGED {
            book.compare(n, view, &soak.history(&name).await);
        }
        unspoken += book.unspoken(view);
        starts += book.begun.len();
        ends += book.ended.len();
        for run in book.begun {
            assert!(everything.insert(run.clone()), "{run} of {name} was executed before");
        }
    }
    let launched: u64 = views.values().map(|view| view.launched).sum();
    assert_eq!(usize::try_from(launched).unwrap(), starts + unspoken);
    assert!(ends >= starts && ends <= starts + unspoken, "{starts} starts, {ends} ends");
    println!("{launched} runs: {starts} began and ended, {unspoken} were stopped before a word");

    until("directories of runs are bounded", async || {
        soak.run_directories() <= KEEP_RUNS + SPARE_RUNS
    })
    .await;
    assert!(soak.ledger_bytes() < LEDGER_BYTES_MAX, "{} bytes", soak.ledger_bytes());
    let executor = find_executor(&soak.data()).expect("an executor runs");
    let executors_files = open_files(&executor.to_string());
    assert!(executors_files < 32, "{executors_files} open files of the executor");
    let ours = || cgroups().intersection(&everything).count();
    until("no cgroup is left", async || ours() == 0).await;
    let (before, after) = (warm.unwrap(), memory());
    println!(
        "{} directories of runs, a ledger of {} bytes, {} kB resident after the warm-up and {} kB now",
        soak.run_directories(),
        soak.ledger_bytes(),
        before >> 10,
        after >> 10
    );
    assert!(after <= before + GROWTH_MAX, "{before} bytes became {after}");

    agent.take().unwrap().stop().await.unwrap();
    until("no process is left", async || soak.processes(&soak.folder).is_empty()).await;
    until("files are closed", async || open_files("self") <= files_before + 3).await;
    until("threads have ended", async || threads() <= threads_before + 3).await;
}
