//! Three hundred workloads of every mode, while everything that can happen to them does: they end and
//! are killed, their files change, the clock jumps, the agent is killed. Afterwards the books must
//! agree and nothing may be left over. `HOSTLER_SOAK_SECONDS` makes it longer than a test should be.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use hostler_agent::door::view::WorkloadView;
use hostler_agent::local::{self, Answer, Question};
use hostler_agent::{AgentConfig, Standalone};
use hostler_base::Clock;
use rustix::process::{Pid, Signal, kill_process};

use crate::fake::{Agent, agent_config};

const WORKLOADS: usize = 300;
const HOUR: i64 = 3_600_000_000;

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

/// Every run writes its id down before it does anything.
fn workload(n: usize, counts: &Path, change: u32) -> String {
    let noted = format!("echo $HOSTLER_RUN >> {}/w{n}", counts.display());
    let (mode, script) = match n % 6 {
        0 => ("forever", "exec sleep 1000"),
        1 => ("forever", "sleep 0.3; exit 1"),
        2 => ("{times: 4}", "exit 0"),
        3 => ("{schedule: {cron: '*/2 * * * * *'}}", "exit 0"),
        4 => ("once", "exit 2"),
        _ => ("forever", "sleep 1000 & sleep 0.7"),
    };
    format!(
        "  - name: w{n}\n    mode: {mode}\n    command: [sh, -c, '{noted}; {script}']\n    \
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
            .filter(|n| n / 30 == file)
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

    /// Runs that were executed, of a workload.
    fn executed(&self, name: &str) -> Vec<String> {
        let noted = std::fs::read_to_string(self.counts().join(name)).unwrap_or_default();
        noted.lines().map(str::to_owned).collect()
    }

    /// Processes that carry this soak's data in their words.
    fn left_over(&self) -> Vec<u32> {
        let sign = self.counts().display().to_string();
        let is_ours = |pid: &u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(&sign)
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|e| e.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }
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

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn everything_happens_to_three_hundred_workloads() {
    let seconds = std::env::var("HOSTLER_SOAK_SECONDS").ok().and_then(|text| text.parse().ok());
    let length = Duration::from_secs(seconds.unwrap_or(25));
    let folder = tempfile::tempdir().unwrap();
    let mut soak =
        Soak { folder: folder.path().to_owned(), shift: Arc::default(), changes: BTreeMap::new() };
    for part in [soak.counts(), soak.files()] {
        std::fs::create_dir(part).unwrap();
    }
    (0..10).for_each(|file| soak.write(file));
    let files_before = open_files();

    let mut agent = Some(soak.agent());
    let mut dice = Dice(0x5eed);
    let begun = Instant::now();
    let (mut kills, mut agents, mut jumps, mut reloads) = (0, 0, 0, 0);
    while begun.elapsed() < length {
        match dice.below(20) {
            0 => {
                agent.take().unwrap().kill();
                agent = Some(soak.agent());
                agents += 1;
            }
            1 | 2 => {
                // The first file is never changed: its books are compared exactly.
                let file = 1 + dice.below(9);
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
                let pids: Vec<u32> = soak.list().await.iter().filter_map(|w| w.pid).collect();
                if !pids.is_empty() {
                    let pid = pids[dice.below(pids.len())];
                    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
                    kills += usize::from(kill_process(pid, Signal::KILL).is_ok());
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    println!("{kills} kills of programs, {agents} of the agent, {jumps} jumps, {reloads} reloads");
    assert!(kills > 20 && agents > 0 && reloads > 0);

    until("all workloads are listed", async || soak.list().await.len() == WORKLOADS).await;
    for view in soak.list().await {
        let question = Question::Stop { name: view.name.to_string() };
        let _ = soak.ask(question).await;
    }
    until("everything has stopped", async || soak.list().await.iter().all(|w| w.pid.is_none()))
        .await;
    until("no process is left", async || soak.left_over().is_empty()).await;

    let mut executed: HashSet<String> = HashSet::new();
    let mut starts = 0;
    let views: HashMap<String, WorkloadView> =
        soak.list().await.into_iter().map(|view| (view.name.to_string(), view)).collect();
    for n in 0..WORKLOADS {
        let name = format!("w{n}");
        let (noted, view) = (soak.executed(&name), &views[&name]);
        starts += noted.len();
        for run in &noted {
            assert!(executed.insert(run.clone()), "{run} of {name} was executed twice");
        }
        let launched = usize::try_from(view.launched).unwrap();
        assert!(noted.len() <= launched, "{name}: {} of {launched}", noted.len());
        if n < 30 {
            let Some(Answer::History(past)) =
                soak.ask(Question::History { name: name.clone() }).await
            else {
                panic!("{name} has no history")
            };
            assert!(past.iter().all(|past| past.time_started.is_some()), "{name}: {past:?}");
            let killed_early = launched - noted.len();
            assert!(killed_early <= 1, "{name}: {} noted, {launched} launched", noted.len());
        }
        if n % 6 == 2 && n < 30 {
            assert_eq!(launched, 4, "{name} runs four times and no more, whatever happens");
        }
    }
    println!("{starts} starts, each noted once");

    agent.take().unwrap().stop().await.unwrap();
    until("files are closed", async || open_files() <= files_before + 3).await;
}
