//! Watchers: what agents look at.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::{Name, Span, WatchCondition};

use super::{ListArgs, labels_of};

#[derive(Clone, Debug, Subcommand)]
pub enum WatcherCommand {
    /// Make or change a watcher: what nodes look at, and what they tell of
    #[command(
        visible_alias = "apply",
        after_help = "Examples:\n  hostler watcher add certs --certificate /etc/ssl/x.pem --within 30d -l role=web\n  hostler watcher add site --certificate example.org:443 --on-node gate\n  hostler watcher add hosts --file /etc/hosts --hash\n  hostler watcher add drop --directory /srv/in --recursive --name '*.csv' --on created\n  hostler watcher add nginx --process nginx --on ended --cooldown 5m\n  hostler watcher add db --port 5432 --on closed --interval 10s\n  hostler watcher add errors --log /var/log/syslog --pattern 'ERROR|FATAL'\n  hostler watcher add logins --unit ssh --pattern 'Failed password'\n  hostler watcher add busy --cpu-above 90 --for 5m\n  hostler watcher add full --disk /srv --disk-above 85\n  hostler watcher add web --service nginx.service --on failed\n  hostler watcher add raid --on failed,recovered --interval 5m -- /usr/sbin/mdadm --detail --test /dev/md0\n  hostler watcher add from-file -f watcher.yaml\n\nNodes keep looking when no server can be reached, and tell later. What they see becomes the events\nwatcher.fired, watcher.cleared and watcher.trouble: `hostler event ls --kind watcher.fired`, and\n`hostler hook add NAME --on watcher.fired ...` to have something done.\nNodes look with your rights: this takes node.inspect, and commands take node.administer."
    )]
    Add(Box<WatcherAddArgs>),
    /// List watchers by name
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler watcher ls\n  hostler watcher ls -o wide\n  hostler watcher ls -o json"
    )]
    Ls(ListArgs),
    /// Show a watcher, and how it stands on each of its nodes
    #[command(
        visible_aliases = ["get", "describe"],
        after_help = "Examples:\n  hostler watcher show certs\n  hostler watcher show certs -o yaml"
    )]
    Show(WatcherRef),
    /// Have nodes look again
    #[command(after_help = "Examples:\n  hostler watcher enable certs")]
    Enable(WatcherRefs),
    /// Keep nodes from looking; what they have not told yet is forgotten
    #[command(after_help = "Examples:\n  hostler watcher disable certs")]
    Disable(WatcherRefs),
    /// Remove watchers; what nodes have not told yet is forgotten
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler watcher rm certs\n  hostler watcher rm certs hosts"
    )]
    Rm(WatcherRefs),
}

#[derive(Args, Clone, Debug)]
pub struct WatcherRef {
    /// Name or id of the watcher
    #[arg(value_name = "WATCHER")]
    pub watcher: String,
}

#[derive(Args, Clone, Debug)]
pub struct WatcherRefs {
    /// Names or ids of watchers
    #[arg(value_name = "WATCHER", required = true)]
    pub watchers: Vec<String>,
}

#[derive(Args, Clone, Debug)]
#[command(group(clap::ArgGroup::new("watch").required(true).args([
    "spec", "file", "directory", "process", "process_command", "port", "log", "unit", "cpu_above",
    "cpu_below", "memory_above", "memory_below", "load_above", "load_below", "disk_above",
    "disk_below", "service", "certificate", "command",
])))]
pub struct WatcherAddArgs {
    /// Name of the watcher
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// File that says all of it, in YAML or JSON; - for standard input
    #[arg(
        short = 'f',
        long = "file-spec",
        value_name = "FILE",
        conflicts_with_all = ["on", "description", "nodes", "selector", "interval", "cooldown"]
    )]
    pub spec: Option<PathBuf>,
    /// A file that is created, changed or removed
    #[arg(long, value_name = "PATH", help_heading = "What is looked at")]
    pub file: Option<String>,
    /// With --file: read it to see whether it was changed, up to 64 MiB
    #[arg(long, help_heading = "What is looked at")]
    pub hash: bool,
    /// A directory whose entries are created, changed or removed
    #[arg(long, value_name = "PATH", help_heading = "What is looked at")]
    pub directory: Option<String>,
    /// With --directory: and everything below it
    #[arg(long, help_heading = "What is looked at")]
    pub recursive: bool,
    /// With --directory: only such names; * is anything, ? one character
    #[arg(
        long = "name",
        id = "entry_name",
        value_name = "PATTERN",
        default_value = "",
        hide_default_value = true,
        help_heading = "What is looked at"
    )]
    pub entry_name: String,
    /// Processes of this name that start or end
    #[arg(long, value_name = "NAME", help_heading = "What is looked at")]
    pub process: Option<String>,
    /// Processes whose command line fits this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "What is looked at")]
    pub process_command: Option<String>,
    /// With --process: how many there have to be
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        hide_default_value = true,
        help_heading = "What is looked at"
    )]
    pub count: u32,
    /// A TCP port that is opened or closed
    #[arg(long, value_name = "[HOST:]PORT", value_parser = port, help_heading = "What is looked at")]
    pub port: Option<(String, u16)>,
    /// New lines of a file below /var/log
    #[arg(long, value_name = "PATH", requires = "pattern", help_heading = "What is looked at")]
    pub log: Option<String>,
    /// New lines that a unit of systemd writes into the journal
    #[arg(long, value_name = "UNIT", requires = "pattern", help_heading = "What is looked at")]
    pub unit: Option<String>,
    /// Regular expression that lines fit, or what a command prints
    #[arg(
        long,
        value_name = "REGEX",
        default_value = "",
        hide_default_value = true,
        help_heading = "What is looked at"
    )]
    pub pattern: String,
    /// The processors are busier than this, in percent
    #[arg(long, value_name = "PERCENT", help_heading = "What is looked at")]
    pub cpu_above: Option<f64>,
    /// The processors are less busy than this
    #[arg(long, value_name = "PERCENT", help_heading = "What is looked at")]
    pub cpu_below: Option<f64>,
    /// More of the memory is in use than this, in percent
    #[arg(long, value_name = "PERCENT", help_heading = "What is looked at")]
    pub memory_above: Option<f64>,
    /// Less of the memory is in use than this
    #[arg(long, value_name = "PERCENT", help_heading = "What is looked at")]
    pub memory_below: Option<f64>,
    /// The load of the last minute is higher than this
    #[arg(long, value_name = "LOAD", help_heading = "What is looked at")]
    pub load_above: Option<f64>,
    /// The load of the last minute is lower than this
    #[arg(long, value_name = "LOAD", help_heading = "What is looked at")]
    pub load_below: Option<f64>,
    /// A file system is fuller than this, in percent
    #[arg(long, value_name = "PERCENT", help_heading = "What is looked at")]
    pub disk_above: Option<f64>,
    /// A file system is less full than this
    #[arg(long, value_name = "PERCENT", help_heading = "What is looked at")]
    pub disk_below: Option<f64>,
    /// With --disk-above: a path on the file system
    #[arg(long, value_name = "PATH", default_value = "/", help_heading = "What is looked at")]
    pub disk: String,
    /// It has to be so at every look for this long
    #[arg(long = "for", id = "lasts", value_name = "DURATION", help_heading = "What is looked at")]
    pub lasts: Option<Span>,
    /// Where a figure counts as over
    #[arg(long, value_name = "FIGURE", help_heading = "What is looked at")]
    pub clear: Option<f64>,
    /// A unit of systemd that starts, stops or fails
    #[arg(long, value_name = "UNIT", help_heading = "What is looked at")]
    pub service: Option<String>,
    /// A certificate that ends soon: a PEM file, or what a server shows
    #[arg(long, value_name = "PATH|HOST:PORT", help_heading = "What is looked at")]
    pub certificate: Option<String>,
    /// With --certificate: so long before
    #[arg(long, value_name = "DURATION", help_heading = "What is looked at")]
    pub within: Option<Span>,
    /// A command, run from its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// With a command: as whom; nobody when absent
    #[arg(long, value_name = "USER", help_heading = "What is looked at")]
    pub user: Option<String>,
    /// With a command: then it is ended, and has failed
    #[arg(long, value_name = "DURATION", help_heading = "What is looked at")]
    pub time_limit: Option<Span>,
    /// Only of these it tells; `hostler watcher show` says which there are
    #[arg(long, value_name = "CONDITION,..", value_delimiter = ',', value_parser = labels_of!(WatchCondition))]
    pub on: Vec<WatchCondition>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub description: String,
    /// Only on these nodes
    #[arg(long = "on-node", value_name = "NODE,..", value_delimiter = ',')]
    pub nodes: Vec<Name>,
    /// Only on nodes with these labels
    #[arg(short = 'l', long, value_name = "KEY=VALUE,..", value_delimiter = ',')]
    pub selector: Vec<String>,
    /// From one look to the next
    #[arg(long, value_name = "DURATION")]
    pub interval: Option<Span>,
    /// For so long after it fired it does not fire again on the same node
    #[arg(long, value_name = "DURATION")]
    pub cooldown: Option<Span>,
}

fn port(text: &str) -> Result<(String, u16), String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("127.0.0.1", text));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let number = port.parse().map_err(|_| "write it as PORT or HOST:PORT, such as 5432")?;
    Ok((bare.to_owned(), number))
}
