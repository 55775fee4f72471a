//! The texts of the units. Pure: plan in, text out.
//!
//! Templates are `packaging/systemd/*`; `@WORD@` is replaced, and a line whose word has no value is left
//! out, with nothing else changed: what an administrator reads is what is written there, comments
//! included.

use std::path::{Path, PathBuf};

pub const AGENT: &str = "hostler-agent.service";
/// The slice in which the agent and, beside it, its workloads run.
pub const SLICE: &str = "hostler.slice";
pub const SERVER: &str = "hostler-server.service";
pub const SERVER_USER: &str = "hostler-server";

const AGENT_TEMPLATE: &str = include_str!("../../../../packaging/systemd/hostler-agent.service");
const SERVER_TEMPLATE: &str = include_str!("../../../../packaging/systemd/hostler-server.service");

const STATE: &str = "/var/lib";
const STOP_LIMIT: &str = "2min";
/// Where the agent moves itself, too (see its module `cgroup`).
const SUBGROUP: &str = "agent";

pub struct Unit {
    pub name: &'static str,
    pub text: String,
}

pub struct AgentPlan {
    pub program: PathBuf,
    pub data_dir: PathBuf,
    pub standalone: Option<PathBuf>,
    /// Root when absent.
    pub user: Option<String>,
    /// Whether systemd can put a service's own processes below its cgroup (from 254 on).
    pub has_subgroups: bool,
}

pub fn agent(plan: &AgentPlan) -> Result<Unit, String> {
    let program = word(&plan.program)?;
    let data_dir = word(&plan.data_dir)?;
    let directory = plan.standalone.as_deref().map(word).transpose()?;
    let command = match &directory {
        Some(directory) => {
            format!("{program} agent up --standalone {directory} --data-dir {data_dir}")
        }
        None => format!("{program} agent run --data-dir {data_dir}"),
    };
    let mounts = match &directory {
        Some(directory) => format!("{data_dir} {directory}"),
        None => data_dir.clone(),
    };
    let state = plan.data_dir.strip_prefix(STATE).ok().map(word).transpose()?;
    let is_root = plan.user.is_none();
    // Only root may have workloads outside its own unit; and a unit that holds them can be started a
    // second time only where systemd puts the agent below it.
    let is_delegated = is_root || plan.has_subgroups;
    let delegate = if is_delegated { "Delegate=yes" } else { "Delegate=@NOTHING@" };
    let values = [
        ("COMMAND", Some(command)),
        ("RELOAD", directory.map(|_| format!("{program} agent reload --data-dir {data_dir}"))),
        ("SHUTDOWN", Some(format!("{program} agent shutdown --runs stop --data-dir {data_dir}"))),
        ("MOUNTS", Some(mounts)),
        ("CONDITION", plan.standalone.is_none().then(|| format!("{data_dir}/identity"))),
        ("USER", plan.user.as_deref().map(|user| word(Path::new(user))).transpose()?),
        ("STATE", state),
        ("STOP_LIMIT", Some(STOP_LIMIT.to_owned())),
        ("SLICE", is_root.then(|| SLICE.to_owned())),
        ("SUBGROUP", (!is_root && plan.has_subgroups).then(|| SUBGROUP.to_owned())),
        ("NOTHING", None),
    ];
    let template = AGENT_TEMPLATE.replace("Delegate=yes", delegate);
    Ok(Unit { name: AGENT, text: fill(&template, &values) })
}

pub fn server(program: &Path) -> Result<Unit, String> {
    let command = format!("{} server run --data-dir /var/lib/hostler/server", word(program)?);
    let values = [("COMMAND", Some(command)), ("USER", Some(SERVER_USER.to_owned()))];
    Ok(Unit { name: SERVER, text: fill(SERVER_TEMPLATE, &values) })
}

/// A word of a unit file: paths with spaces and the like would have to be quoted differently in
/// different lines, and nobody needs them.
fn word(path: &Path) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@,=".contains(c);
    match path.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_plain) => Ok(text.to_owned()),
        _ => Err(format!(
            "`{}` cannot be written into a unit; use letters, digits and /._-+:@,= only",
            path.display()
        )),
    }
}

fn fill(template: &str, values: &[(&str, Option<String>)]) -> String {
    let mut text = String::new();
    for line in template.lines() {
        let mut line = line.to_owned();
        let mut is_wanted = true;
        for (key, value) in values {
            let mark = format!("@{key}@");
            if line.contains(&mark) {
                is_wanted &= value.is_some();
                line = line.replace(&mark, value.as_deref().unwrap_or_default());
            }
        }
        if is_wanted {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
