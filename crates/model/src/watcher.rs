//! Watchers: what agents look at on their machines, again and again, and tell of as events.
//!
//! A [`Watcher`] belongs to a project, names nodes, and says what is looked at ([`Watch`]). The nodes keep it on
//! their own disks and go on looking when no server can be reached. What one of them sees becomes news with a number
//! that only grows; a server makes an event of each piece once, and takes none whose number it has seen.
//!
//! There are two kinds of conditions. *Edges* (a file was changed, a port was closed) need two looks: what was so at the
//! first one is where the watcher starts from, and is not told. *Levels* (a disk is fuller than this, a certificate
//! ends soon) are told when they begin, also when that was before the first look, and again when they are over.
//!
//! Looking at a machine is what `node.inspect` is for, and running a command on it is what `node.administer` is for:
//! whoever writes a watcher has to have that, and the watcher is with its nodes only for as long as they do.

mod told;

use serde::{Deserialize, Serialize};

use crate::{
    Diagnostic, Generation, Labels, Mandate, Name, Permission, ProjectId, Span, Timestamp,
    WatcherId, label_problem,
};
pub use told::{
    NodeWatch, WatcherNews, WatcherOn, WatcherOrder, WatcherReport, WatcherStanding, WatcherTold,
    WatcherWord,
};

/// The most watchers of a project.
pub const WATCHERS_MAX: u64 = 500;
/// The most watchers that one node looks after.
pub const WATCHERS_PER_NODE: usize = 200;
/// The most entries of a directory that is watched, with everything below it where that is wanted.
pub const WATCHED_ENTRIES_MAX: usize = 10_000;
const NODES_MAX: usize = 1000;
const DESCRIPTION_MAX: usize = 1000;
const PATH_MAX: usize = 4095;
const PATTERN_MAX: usize = 1000;
/// What a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;
const WORD_MAX: usize = 255;
const COMMAND_MAX: usize = 8 << 10;
const INTERVAL_MIN: Span = Span::from_secs(1);
const DAY: Span = Span::from_secs(86_400);
const WEEK: Span = Span::from_secs(7 * 86_400);
const TIME_LIMIT: Span = Span::from_secs(10);
const TIME_LIMIT_MAX: Span = Span::from_secs(300);
const WITHIN: Span = Span::from_secs(30 * 86_400);
const WITHIN_MAX: Span = Span::from_secs(3660 * 86_400);

/// What somebody wrote about a watcher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WatcherSpec {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1000))]
    pub description: String,
    /// Only on these nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Name>,
    /// Only on nodes that have all these labels.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub selector: Labels,
    /// What is looked at.
    pub watch: Watch,
    /// From one look to the next; what is usual for what is looked at when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// For so long after it fired it does not fire again on the same node; what would have is counted.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub cooldown: Span,
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Watch {
    File(FileWatch),
    Directory(DirectoryWatch),
    Process(ProcessWatch),
    Port(PortWatch),
    Command(CommandWatch),
    Log(LogWatch),
    /// How busy the processors are, in percent.
    Cpu(Threshold),
    /// How much of the memory is in use, in percent.
    Memory(Threshold),
    Disk(DiskWatch),
    /// The load of the last minute.
    Load(Threshold),
    Service(ServiceWatch),
    Certificate(CertificateWatch),
}

crate::labels! {
    /// What a watcher fires on.
    pub enum WatchCondition ("condition of a watcher") {
        /// It was not there before.
        Created = "created",
        /// It is not as it was.
        Changed = "changed",
        /// It is not there any more.
        Removed = "removed",
        /// It runs and did not before.
        Started = "started",
        /// It does not run any more.
        Ended = "ended",
        /// A service does not run any more, and did not fail.
        Stopped = "stopped",
        /// Somebody listens and nobody did before.
        Opened = "opened",
        /// Nobody listens any more.
        Closed = "closed",
        /// A command, or a service, fails and did not before.
        Failed = "failed",
        /// A command that failed does not any more.
        Recovered = "recovered",
        /// A command prints something else than before.
        OutputChanged = "output-changed",
        /// A new line of a log fits, or what a command prints does and did not before.
        Matches = "matches",
        /// A figure is above the threshold.
        Above = "above",
        /// A figure is below the threshold.
        Below = "below",
        /// A certificate ends soon.
        Expires = "expires",
    }
}

/// A file, by its size, times and kind; what is in it is never told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileWatch {
    #[schemars(length(min = 1, max = 4095))]
    pub path: String,
    /// `created`, `changed`, `removed`; all of them when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<WatchCondition>,
    /// Whether what is in it decides if it was changed, instead of its times; up to 64 MiB.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hash: bool,
}

/// The entries of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct DirectoryWatch {
    #[schemars(length(min = 1, max = 4095))]
    pub path: String,
    /// `created`, `changed`, `removed`; all of them when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<WatchCondition>,
    /// Whether what is below it counts too, up to ten thousand entries; links are not followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
    /// Only entries with such names: `*` is anything, `?` one character.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 255))]
    pub pattern: String,
}

/// Processes, by name or by command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProcessWatch {
    /// What they are called, exactly; the kernel keeps 15 characters of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 255))]
    pub name: String,
    /// A regular expression that fits their command lines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1000))]
    pub command: String,
    /// `started`, `ended`; both when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<WatchCondition>,
    /// How many there have to be to count as running.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 10000))]
    pub count: u32,
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_one(n: &u32) -> bool {
    *n == 1
}

/// A TCP port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PortWatch {
    #[schemars(range(min = 1))]
    pub port: u16,
    /// Where it is asked for; the machine itself when absent.
    #[serde(default = "loopback", skip_serializing_if = "is_loopback")]
    #[schemars(length(min = 1, max = 255))]
    pub host: String,
    /// `opened`, `closed`; both when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<WatchCondition>,
}

fn loopback() -> String {
    "127.0.0.1".to_owned()
}

fn is_loopback(host: &str) -> bool {
    host == "127.0.0.1"
}

/// What a command says. It is run from its arguments, without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CommandWatch {
    pub command: Vec<String>,
    /// As whom; `nobody` when absent and the agent is root, and as the agent's own user otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub user: Option<String>,
    /// Then it is ended, and has failed.
    #[serde(default = "time_limit", skip_serializing_if = "is_time_limit")]
    pub time_limit: Span,
    /// `failed`, `recovered`, `changed` (its exit code), `output-changed`, `matches`; the first two when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<WatchCondition>,
    /// For `matches`: a regular expression that fits what it prints.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1000))]
    pub pattern: String,
}

const fn time_limit() -> Span {
    TIME_LIMIT
}

fn is_time_limit(span: &Span) -> bool {
    *span == TIME_LIMIT
}

/// New lines of a log: of a file below `/var/log`, or of what a unit of systemd wrote into the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LogWatch {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 4095))]
    pub path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 255))]
    pub unit: String,
    /// A regular expression that lines have to fit, of the kind that takes linear time.
    #[schemars(length(min = 1, max = 1000))]
    pub pattern: String,
}

/// When a figure counts as too high or too low: exactly one of `above` and `below`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Threshold {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<f64>,
    /// It has to be so at every look for this long.
    #[serde(rename = "for", skip_serializing_if = "Span::is_zero")]
    pub lasts: Span,
    /// Where it counts as over, so that a figure that goes up and down around the threshold is told once: 5 on the
    /// other side of it when absent, or a tenth of it for the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear: Option<f64>,
}

/// How full the file system is that a path is on, in percent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskWatch {
    #[serde(default = "root", skip_serializing_if = "is_root")]
    #[schemars(length(min = 1, max = 4095))]
    pub path: String,
    #[serde(flatten)]
    pub threshold: Threshold,
}

fn root() -> String {
    "/".to_owned()
}

fn is_root(path: &str) -> bool {
    path == "/"
}

/// A unit of systemd.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ServiceWatch {
    #[schemars(length(min = 1, max = 255))]
    pub unit: String,
    /// `started`, `stopped`, `failed`; all of them when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<WatchCondition>,
}

/// When a certificate ends: the first of a PEM file to end, or the one that a server shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CertificateWatch {
    /// A file of the machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 4095))]
    pub path: String,
    /// HOST:PORT that speaks TLS.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 262))]
    pub address: String,
    /// It is told when no more than this is left.
    #[serde(default = "within")]
    pub within: Span,
}

const fn within() -> Span {
    WITHIN
}

use WatchCondition as On;

const PRESENCE: &[On] = &[On::Created, On::Changed, On::Removed];
const PROCESS: &[On] = &[On::Started, On::Ended];
const PORT: &[On] = &[On::Opened, On::Closed];
const SERVICE: &[On] = &[On::Started, On::Stopped, On::Failed];
const COMMAND: &[On] = &[On::Failed, On::Recovered, On::Changed, On::OutputChanged, On::Matches];

impl Watch {
    /// As it is called in specs, events and flags.
    pub const fn label(&self) -> &'static str {
        match self {
            Watch::File(_) => "file",
            Watch::Directory(_) => "directory",
            Watch::Process(_) => "process",
            Watch::Port(_) => "port",
            Watch::Command(_) => "command",
            Watch::Log(_) => "log",
            Watch::Cpu(_) => "cpu",
            Watch::Memory(_) => "memory",
            Watch::Disk(_) => "disk",
            Watch::Load(_) => "load",
            Watch::Service(_) => "service",
            Watch::Certificate(_) => "certificate",
        }
    }

    /// What it fires on, of what was written and what this kind knows.
    fn conditions(&self) -> (&[On], &'static [On], &'static [On]) {
        match self {
            Watch::File(it) => (&it.on, PRESENCE, PRESENCE),
            Watch::Directory(it) => (&it.on, PRESENCE, PRESENCE),
            Watch::Process(it) => (&it.on, PROCESS, PROCESS),
            Watch::Port(it) => (&it.on, PORT, PORT),
            Watch::Service(it) => (&it.on, SERVICE, SERVICE),
            Watch::Command(it) => (&it.on, &[On::Failed, On::Recovered], COMMAND),
            Watch::Log(_) => (&[], &[On::Matches], &[On::Matches]),
            Watch::Certificate(_) => (&[], &[On::Expires], &[On::Expires]),
            Watch::Cpu(_) | Watch::Memory(_) | Watch::Disk(_) | Watch::Load(_) => {
                let on: &'static [On] = match self.threshold() {
                    Some(Threshold { above: Some(_), .. }) => &[On::Above],
                    _ => &[On::Below],
                };
                (&[], on, on)
            }
        }
    }

    pub fn fires_on(&self, condition: On) -> bool {
        self.on().contains(&condition)
    }

    /// Everything that it fires on.
    pub fn on(&self) -> &[On] {
        match self.conditions() {
            ([], usual, _) => usual,
            (given, ..) => given,
        }
    }

    pub const fn threshold(&self) -> Option<&Threshold> {
        match self {
            Watch::Cpu(it) | Watch::Memory(it) | Watch::Load(it) => Some(it),
            Watch::Disk(it) => Some(&it.threshold),
            _ => None,
        }
    }

    /// From one look to the next where nothing is said.
    pub const fn usual_interval(&self) -> Span {
        match self {
            Watch::Certificate(_) => Span::from_secs(3600),
            Watch::Command(_) => Span::from_secs(60),
            Watch::Disk(_) => Span::from_secs(30),
            _ => Span::from_secs(5),
        }
    }

    /// What whoever writes it has to be allowed on the machines of nodes.
    pub const fn needs(&self) -> Permission {
        match self {
            Watch::Command(_) => Permission::NodeAdminister,
            _ => Permission::NodeInspect,
        }
    }

    /// What it is about, in a few words.
    pub fn subject(&self) -> String {
        match self {
            Watch::File(it) => it.path.clone(),
            Watch::Directory(it) if it.pattern.is_empty() => it.path.clone(),
            Watch::Directory(it) => format!("{}/{}", it.path.trim_end_matches('/'), it.pattern),
            Watch::Process(it) if it.name.is_empty() => it.command.clone(),
            Watch::Process(it) => it.name.clone(),
            Watch::Port(it) if it.host.contains(':') => format!("[{}]:{}", it.host, it.port),
            Watch::Port(it) => format!("{}:{}", it.host, it.port),
            Watch::Command(it) => it.command.join(" ").chars().take(100).collect(),
            Watch::Log(it) if it.path.is_empty() => it.unit.clone(),
            Watch::Log(it) => it.path.clone(),
            Watch::Cpu(_) => "processors".to_owned(),
            Watch::Memory(_) => "memory".to_owned(),
            Watch::Load(_) => "load".to_owned(),
            Watch::Disk(it) => it.path.clone(),
            Watch::Service(it) => it.unit.clone(),
            Watch::Certificate(it) if it.path.is_empty() => it.address.clone(),
            Watch::Certificate(it) => it.path.clone(),
        }
    }

    /// What it is and what it fires on, for lists.
    pub fn summary(&self) -> String {
        let (kind, subject) = (self.label(), self.subject());
        match self {
            Watch::Cpu(it) | Watch::Memory(it) => format!("{kind} {}", it.words("%")),
            Watch::Load(it) => format!("{kind} {}", it.words("")),
            Watch::Disk(it) => format!("{kind} {subject} {}", it.threshold.words("%")),
            Watch::Log(it) => format!("{kind} {subject} matches {}", it.pattern),
            Watch::Certificate(it) => format!("{kind} {subject} within {}", it.within),
            _ => {
                let on: Vec<&str> = self.on().iter().map(|on| on.label()).collect();
                format!("{kind} {subject} {}", on.join(", "))
            }
        }
    }

    fn problems(&self, base: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let base = format!("{base}/watch/{}", self.label());
        let mut say = |at: &str, text: String| {
            found.push(Diagnostic::new(format!("{base}{at}"), text));
        };
        let (given, _, known) = self.conditions();
        if let Some(wrong) = given.iter().find(|on| !known.contains(on)) {
            let known: Vec<&str> = known.iter().map(|on| on.label()).collect();
            say("/on", format!("it fires on {}, not on `{wrong}`", known.join(", ")));
        }
        match self {
            Watch::File(it) => path(&it.path, "/path", &mut say),
            Watch::Directory(it) => {
                path(&it.path, "/path", &mut say);
                if it.pattern.len() > WORD_MAX || it.pattern.contains(['/', '\0']) {
                    say("/pattern", "a name has at most 255 bytes and no `/`".to_owned());
                }
            }
            Watch::Process(it) => {
                if it.name.is_empty() == it.command.is_empty() {
                    let text = "say which processes: either by `name` or by `command`";
                    say("", text.to_owned());
                }
                word(&it.name, "/name", &mut say);
                if !it.command.is_empty() {
                    regex(&it.command, "/command", &mut say);
                }
                if !(1..=10_000).contains(&it.count) {
                    say("/count", "a count is 1 to 10000".to_owned());
                }
            }
            Watch::Port(it) => {
                if it.port == 0 {
                    say("/port", "a port is 1 to 65535".to_owned());
                }
                host(&it.host, "/host", &mut say);
            }
            Watch::Command(it) => it.look(&mut say),
            Watch::Log(it) => {
                if it.path.is_empty() == it.unit.is_empty() {
                    let text = "say where lines come from: either `path` or `unit`";
                    say("", text.to_owned());
                }
                if !it.path.is_empty() {
                    path(&it.path, "/path", &mut say);
                    if !it.path.starts_with("/var/log/") {
                        say("/path", "only files below /var/log are read".to_owned());
                    }
                }
                word(&it.unit, "/unit", &mut say);
                regex(&it.pattern, "/pattern", &mut say);
            }
            Watch::Cpu(it) | Watch::Memory(it) => it.look(Some(100.0), &mut say),
            Watch::Load(it) => it.look(None, &mut say),
            Watch::Disk(it) => {
                path(&it.path, "/path", &mut say);
                it.threshold.look(Some(100.0), &mut say);
            }
            Watch::Service(it) => {
                if it.unit.is_empty() {
                    say("/unit", "name a unit such as nginx.service".to_owned());
                }
                word(&it.unit, "/unit", &mut say);
            }
            Watch::Certificate(it) => it.look(&mut say),
        }
        found
    }
}

fn path(path: &str, at: &str, say: &mut impl FnMut(&str, String)) {
    if !(1..=PATH_MAX).contains(&path.len()) || path.contains('\0') {
        say(at, format!("a path has 1 to {PATH_MAX} bytes, and no NUL"));
    } else if !path.starts_with('/') {
        say(at, "a path of the machine begins with `/`".to_owned());
    } else if path.split('/').any(|part| part == "..") {
        say(at, "a path has no `..` in it; write where it leads".to_owned());
    }
}

fn word(text: &str, at: &str, say: &mut impl FnMut(&str, String)) {
    if text.len() > WORD_MAX || text.contains(char::is_control) || text.starts_with('-') {
        say(at, "at most 255 printable characters, and no `-` in front".to_owned());
    }
}

fn host(text: &str, at: &str, say: &mut impl FnMut(&str, String)) {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b".:-_".contains(&b);
    if !(1..=WORD_MAX).contains(&text.len()) || !text.bytes().all(is_plain) {
        say(at, "name a host, or give an address such as 10.0.0.7".to_owned());
    }
}

/// What watchers look for, bounded in what it takes. `^` and `$` are where lines begin and end.
pub fn watch_pattern(text: &str) -> Result<regex::bytes::Regex, regex::Error> {
    regex::bytes::RegexBuilder::new(text)
        .multi_line(true)
        .size_limit(PATTERN_SIZE)
        .dfa_size_limit(PATTERN_SIZE)
        .build()
}

fn regex(text: &str, at: &str, say: &mut impl FnMut(&str, String)) {
    if !(1..=PATTERN_MAX).contains(&text.len()) {
        return say(at, format!("a pattern has 1 to {PATTERN_MAX} bytes"));
    }
    if let Err(error) = watch_pattern(text) {
        say(at, crate::pattern_mistake(&error));
    }
}

impl CommandWatch {
    fn look(&self, say: &mut impl FnMut(&str, String)) {
        let length: usize = self.command.iter().map(|part| part.len() + 1).sum();
        if self.command.first().is_none_or(String::is_empty) {
            say("/command", "name a program, and its arguments".to_owned());
        } else if length > COMMAND_MAX || self.command.iter().any(|part| part.contains('\0')) {
            say("/command", "a command has at most 8 KiB, and no NUL".to_owned());
        }
        if self.time_limit < INTERVAL_MIN || self.time_limit > TIME_LIMIT_MAX {
            say("/timeLimit", "a time limit is 1s to 5m".to_owned());
        }
        if let Some(user) = &self.user {
            if user.is_empty() {
                say("/user", "name a user of the machine".to_owned());
            }
            word(user, "/user", say);
        }
        let is_wanted = self.on.contains(&On::Matches);
        if is_wanted == self.pattern.is_empty() {
            let text = "`matches` needs a pattern, and nothing else has one";
            say("/pattern", text.to_owned());
        } else if is_wanted {
            regex(&self.pattern, "/pattern", say);
        }
    }
}

impl CertificateWatch {
    fn look(&self, say: &mut impl FnMut(&str, String)) {
        if self.path.is_empty() == self.address.is_empty() {
            say("", "say which certificate: either `path` or `address`".to_owned());
        }
        if !self.path.is_empty() {
            path(&self.path, "/path", say);
        }
        if !self.address.is_empty() {
            match self.host_and_port() {
                Some((name, _)) => host(name, "/address", say),
                None => say("/address", "an address is HOST:PORT".to_owned()),
            }
        }
        if self.within.is_zero() || self.within > WITHIN_MAX {
            say("/within", "it is told some time before: at most 3660d".to_owned());
        }
    }

    /// Where it is asked for.
    pub fn host_and_port(&self) -> Option<(&str, u16)> {
        let (host, port) = self.address.rsplit_once(':')?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Some((bare, port.parse().ok().filter(|port| *port > 0)?))
    }
}

impl Threshold {
    /// The threshold itself.
    pub fn value(&self) -> f64 {
        self.above.or(self.below).unwrap_or_default()
    }

    pub const fn condition(&self) -> On {
        if self.above.is_some() { On::Above } else { On::Below }
    }

    fn words(&self, unit: &str) -> String {
        let (condition, value) = (self.condition(), self.value());
        match self.lasts.is_zero() {
            true => format!("{condition} {value}{unit}"),
            false => format!("{condition} {value}{unit} for {}", self.lasts),
        }
    }

    fn look(&self, most: Option<f64>, say: &mut impl FnMut(&str, String)) {
        let most = most.unwrap_or(1e6);
        let fits = |value: f64| (0.0..=most).contains(&value);
        match (self.above, self.below) {
            (Some(value), None) if !fits(value) => {
                say("/above", format!("a threshold is from 0 to {most}"))
            }
            (None, Some(value)) if !fits(value) => {
                say("/below", format!("a threshold is from 0 to {most}"))
            }
            (Some(_), None) | (None, Some(_)) => {}
            _ => say("", "give a threshold: either `above` or `below`".to_owned()),
        }
        if self.lasts > DAY {
            say("/for", "it lasts at most 1d".to_owned());
        }
        match (self.clear, self.above, self.below) {
            (Some(clear), ..) if !fits(clear) => {
                say("/clear", format!("it is over somewhere from 0 to {most}"))
            }
            (Some(clear), Some(above), None) if clear > above => {
                say("/clear", "it is over at or below the threshold, not above it".to_owned());
            }
            (Some(clear), None, Some(below)) if clear < below => {
                say("/clear", "it is over at or above the threshold, not below it".to_owned());
            }
            _ => {}
        }
    }
}

impl WatcherSpec {
    pub fn interval(&self) -> Span {
        self.interval.unwrap_or_else(|| self.watch.usual_interval())
    }

    /// Every mistake that can be seen without the machine.
    pub fn problems(&self, base: &str) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let mut say = |at: &str, text: String| {
            found.push(Diagnostic::new(format!("{base}{at}"), text));
        };
        if self.description.chars().count() > DESCRIPTION_MAX {
            say("/description", format!("at most {DESCRIPTION_MAX} characters"));
        }
        if self.nodes.len() > NODES_MAX {
            say("/nodes", format!("at most {NODES_MAX} nodes; give them a label and select that"));
        }
        if !self.nodes.is_empty() && !self.selector.is_empty() {
            say("/selector", "name nodes or select them by labels, not both".to_owned());
        }
        for (key, value) in &self.selector {
            if let Some(problem) = label_problem(key, value) {
                say("/selector", problem);
            }
        }
        if self.interval.is_some_and(|interval| interval < INTERVAL_MIN || interval > DAY) {
            say("/interval", "an interval is at least 1s and at most 1d".to_owned());
        }
        if self.cooldown > WEEK {
            say("/cooldown", "a cooldown is at most 7d".to_owned());
        }
        found.extend(self.watch.problems(base));
        found
    }

    /// Whether a node of this name with these labels is meant.
    pub fn is_for(&self, name: &Name, labels: &Labels) -> bool {
        let is_named = self.nodes.is_empty() || self.nodes.contains(name);
        is_named && crate::selector_matches(&self.selector, labels)
    }
}

/// A watcher as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Watcher {
    pub id: WatcherId,
    pub project_id: ProjectId,
    pub name: Name,
    pub spec: WatcherSpec,
    /// Of who wrote it last.
    pub mandate: Mandate,
    pub is_enabled: bool,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

impl Watcher {
    /// As nodes are told of it.
    pub fn order(&self) -> WatcherOrder {
        WatcherOrder {
            id: self.id,
            revision: self.generation,
            watch: self.spec.watch.clone(),
            interval: self.spec.interval(),
            cooldown: self.spec.cooldown,
        }
    }
}

#[cfg(test)]
mod tests;
