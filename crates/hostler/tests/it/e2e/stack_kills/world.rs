//! Servers, a node, and whoever kills them; and what there is outside of any stack, as its own records say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::plot::{Outside, Plot};
use crate::rig::{Agent, Cli, Https, Output, Postgres, Process, Rig, Server, pids, until_within};

/// Until a stack has to be where it is asked to go.
const PATIENCE: Duration = Duration::from_secs(240);
/// How often a stack is looked at.
const LOOK: Duration = Duration::from_millis(150);
const STACK: &str = "/api/v1/projects/default/stacks/big";

/// Numbers that nobody can foresee, and that can be had again.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

pub struct World<'a> {
    rig: &'a Rig,
    servers: Vec<Server>,
    clis: Vec<Cli<'a>>,
    https: Vec<Https>,
    postgres: Option<Postgres<'a>>,
    _agent: Agent,
    pub dice: Dice,
    /// What was killed, and when after the ask.
    pub kills: usize,
    crashes: usize,
    pub folder: PathBuf,
    looked: Instant,
}

impl<'a> World<'a> {
    /// One server, or two on a PostgreSQL of their own. Nothing where there is none.
    pub fn new(rig: &'a Rig, is_shared: bool, seed: u64) -> Option<World<'a>> {
        let postgres = match is_shared {
            true => Some(Postgres::start(rig)?),
            false => None,
        };
        let database = postgres.as_ref().map(|postgres| postgres.url.clone());
        let mut servers = vec![Server::alone(rig, "one", database.as_deref())];
        let mut clis = vec![servers[0].first_login(rig)];
        if is_shared {
            servers.push(Server::alone(rig, "two", database.as_deref()));
            clis.push(servers[1].login(rig, &[]));
        }
        let agent = Agent::join(rig, &clis[0], &servers[0], "node-1");
        let token = clis[0].ok(&["token", "create", "looks", "--role", "admin", "-q"]);
        let https = servers.iter().map(|one| one.https().token(token.trim())).collect();
        let folder = rig.path("world");
        std::fs::create_dir_all(folder.join("files")).unwrap();
        Some(World {
            rig,
            servers,
            clis,
            https,
            postgres,
            _agent: agent,
            dice: Dice(seed | 1),
            kills: 0,
            crashes: 0,
            folder,
            looked: Instant::now(),
        })
    }

    pub fn cli(&mut self) -> Cli<'a> {
        let which = self.pick();
        self.clis[which].clone()
    }

    fn pick(&mut self) -> usize {
        usize::try_from(self.dice.roll(self.servers.len() as u64)).unwrap()
    }

    /// What was done to whom, for whoever reads it.
    pub fn summary(&self) -> String {
        format!("{} kills of servers, {} of PostgreSQL", self.kills - self.crashes, self.crashes)
    }

    /// Kills a server, or the database under both of them, and starts it again.
    fn strike(&mut self) {
        self.kills += 1;
        if self.postgres.is_some() && self.dice.roll(5) == 0 {
            self.crashes += 1;
            if let Some(postgres) = &mut self.postgres {
                postgres.crash();
            }
            return;
        }
        let which = self.pick();
        self.servers[which].restart(self.rig);
    }

    /// Asks for something, and kills so often while it is done, at moments within this time. Says how the stack stands
    /// when it has come to rest.
    pub fn ordeal(&mut self, words: &[&str], kills: usize, within: Duration) -> String {
        let which = self.pick();
        let ask = self.clis[which].spawn("ask", words);
        self.strikes(kills, within);
        self.insist(ask, words);
        self.rest()
    }

    /// The same, of many asks at once; whoever is refused, or not heard, does not ask again, as long as one is heard.
    pub fn race(&mut self, asks: &[Vec<&str>], kills: usize, within: Duration) -> String {
        let begun: Vec<Process> = asks
            .iter()
            .enumerate()
            .map(|(i, words)| {
                let which = self.pick();
                self.clis[which].spawn(&format!("ask-{i}"), words)
            })
            .collect();
        self.strikes(kills, within);
        let codes: Vec<i32> =
            begun.into_iter().map(|mut ask| ask.wait_within(PATIENCE).0).collect();
        if !codes.contains(&0) {
            self.cli().run(&asks[0]).must(0);
        }
        self.rest()
    }

    /// What the stack is as, or goes towards.
    pub fn template(&mut self) -> Value {
        let which = self.pick();
        self.https[which].get(&format!("{STACK}/definition")).json()["template"].clone()
    }

    fn strikes(&mut self, kills: usize, within: Duration) {
        let limit = u64::try_from(within.as_millis()).unwrap().max(1);
        let mut moments: Vec<u64> = (0..kills).map(|_| self.dice.roll(limit)).collect();
        moments.sort_unstable();
        let begun = Instant::now();
        for moment in moments {
            let moment = Duration::from_millis(moment);
            while begun.elapsed() < moment {
                self.tend();
                std::thread::park_timeout(Duration::from_millis(5));
            }
            self.strike();
        }
    }

    /// An ask that was not heard, or whose answer was not, is made again.
    fn insist(&mut self, mut ask: Process, words: &[&str]) {
        let (code, _) = ask.wait_within(PATIENCE);
        assert_ne!(code, 2, "{words:?}: {}", ask.log());
        let mut heard = code == 0;
        let begun = Instant::now();
        while !heard {
            let said: Output = self.cli().run(words);
            // What is to be removed or cancelled may be gone, or over, by now.
            let is_over = words[1] != "apply" && [3, 5].contains(&said.code);
            heard = said.code == 0 || is_over;
            let is_wrong = said.code == 2;
            assert!(!is_wrong && begun.elapsed() < PATIENCE, "{words:?} is refused: {}", said.err);
            if !heard {
                self.tend();
            }
        }
    }

    /// Looks at the stack now and then, and signals what waits to be.
    fn tend(&mut self) -> Option<String> {
        if self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        let which = self.pick();
        let https = self.https[which].clone();
        let waits = https.get(&format!("{STACK}/resources/wait")).json();
        if waits["action"] == "create" && waits["status"] == "in-progress" {
            let body = r#"{"data":{"id":"1","data":"go on"}}"#;
            https.post(&format!("{STACK}/resources/handle/signal"), body);
        }
        let found = https.get(STACK);
        let standing = &found.json()["standing"];
        match found.status {
            404 => Some("gone".to_owned()),
            200 => Some(format!(
                "{} {}",
                standing["action"].as_str().unwrap_or_default(),
                standing["status"].as_str().unwrap_or_default()
            )),
            _ => None,
        }
    }

    /// Waits until nothing is done to the stack any more.
    fn rest(&mut self) -> String {
        until_within(PATIENCE, "the stack comes to rest", || {
            self.tend().filter(|standing| !standing.ends_with("in-progress"))
        })
    }

    fn list(&mut self, words: &[&str]) -> Vec<Value> {
        self.cli().json(words)["items"].as_array().unwrap().clone()
    }

    /// Every row of the stack and of those below it stands well, there are as many as there are to be, and outside is what
    /// they say and nothing else.
    pub fn must_be(&mut self, plot: &Plot) {
        let rows = self.list(&["stack", "resources", "big", "--nested", "5"]);
        for row in &rows {
            let is_well = row["status"] == "complete" && row["underWay"].is_null();
            assert!(is_well && row["action"] != "delete", "{row}");
        }
        assert_eq!(rows.len(), plot.rows, "rows");
        for (kind, count) in &plot.unnamed {
            let of_kind = rows.iter().filter(|row| row["type"] == *kind);
            let mut physical: Vec<String> =
                of_kind.map(|row| row["physical"].as_str().unwrap().to_owned()).collect();
            physical.sort();
            assert_eq!(physical.len(), *count, "{kind}");
            assert_eq!(
                self.objects(kind, &physical),
                physical,
                "{kind}: what is there, and what rows say"
            );
        }
        assert_eq!(self.outside(), plot.outside);
        self.once();
    }

    /// Nothing is left, in whoever's records.
    pub fn must_be_empty(&mut self) {
        for kind in KINDS {
            assert_eq!(
                self.objects(kind.0, &[]),
                Vec::<String>::new(),
                "{} that nobody has",
                kind.0
            );
        }
        until_within(PATIENCE, "processes have ended", || {
            self.processes().is_empty().then_some(())
        });
        assert_eq!(self.outside(), Outside::default());
        assert!(self.list(&["stack", "ls", "--nested"]).is_empty());
        self.once();
    }

    /// Objects of a type that have names which nobody gave, as their own list has them: each as rows know it, by its id or
    /// by its name, or by its id where none does.
    fn objects(&mut self, kind: &str, known: &[String]) -> Vec<String> {
        let (_, words) = KINDS.iter().find(|one| one.0 == kind).unwrap();
        let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
        let called = |one: &Value| {
            let (id, name) = (text(one, "id"), text(one, "name"));
            let whole = format!("{}/{name}", text(one, "environment"));
            let all = [&whole, &name].into_iter().find(|it| known.contains(it)).cloned();
            all.unwrap_or(id)
        };
        let mut found: Vec<String> = self.list(words).iter().map(called).collect();
        found.sort();
        found
    }

    fn processes(&self) -> Vec<String> {
        let folder = self.folder.as_os_str().as_encoded_bytes();
        let marker = |pid: u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let is_marker = |word: &&[u8]| {
                word.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/w"))
            };
            let found = words.split(|byte| *byte == 0).find(is_marker)?;
            Some(String::from_utf8_lossy(found).into_owned())
        };
        let mut found: Vec<String> = pids().into_iter().filter_map(marker).collect();
        found.sort();
        found
    }

    fn outside(&mut self) -> Outside {
        let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
        let entries = self.list(&["state", "ls", "-n", "kills", "--values"]);
        let state = entries.iter().map(|one| (text(one, "key"), text(one, "value"))).collect();
        let files = std::fs::read_dir(self.folder.join("files")).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let content = std::fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), content)
        });
        let running = self.processes();
        let processes: BTreeSet<String> = running.iter().cloned().collect();
        assert_eq!(running.len(), processes.len(), "a process runs twice: {running:?}");
        Outside { state, files: files.collect(), processes }
    }

    /// No task was ever done twice.
    fn once(&self) {
        let done = std::fs::read_to_string(self.folder.join("done")).unwrap_or_default();
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for line in done.lines() {
            *times.entry(line).or_default() += 1;
        }
        let twice: Vec<_> = times.into_iter().filter(|(_, times)| *times > 1).collect();
        assert!(twice.is_empty(), "done twice: {twice:?}");
    }
}

/// Types whose objects have names that nobody gave, and how they are listed.
const KINDS: [(&str, &[&str]); 5] = [
    ("Hostler::Secret", &["secret", "ls"]),
    ("Hostler::Schedule", &["schedule", "ls"]),
    ("Hostler::Hook", &["hook", "ls"]),
    ("Hostler::Task", &["task", "ls"]),
    ("Hostler::Workload", &["workload", "ls"]),
];
