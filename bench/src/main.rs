//! Measures the real binary, and says plainly which targets are met.
//!
//! Every measurement starts `hostler` as processes of their own in a temporary directory, on loopback
//! and on ports that the kernel chooses, and speaks with it as its users and agents do: over the REST
//! API with `hostler-client`, and over the agents' protocol with certificates that were really issued.
//! Nothing is measured inside the binary but what it says of itself. Only `placement` is measured
//! as a library, because it is a pure function and its time is what counts.
//!
//! 1. A measurement checks what it measures: tasks that did not all end well, or records that do not
//!    add up, are an error and not a number.
//! 2. A miss is written as a miss. The exit code is 0 all the same, because a busy machine misses
//!    targets that a quiet one meets; the file of results is what a person reviews.
//! 3. What was started ends with the measurement, well or with an error: processes are killed by pid,
//!    and whatever else has to do with the temporary directory (shims and tasks outlive their agents
//!    by design) after them. SIGINT and SIGTERM end it the same way; only SIGKILL leaves them behind.

mod access;
mod figures;
mod fleet;
mod floor;
mod hooks;
mod latency;
mod machine;
mod placement;
mod proc;
mod queue;
mod rig;
mod schedules;
mod stacks;
mod state;
mod throughput;
mod weight;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use hostler_base::{Clock, chain};
use tokio::signal::unix::{SignalKind, signal};

use access::Weather;
use figures::{Document, Figures};

const DOCUMENTS: [Document; 7] = [
    Document {
        title: "Foundation",
        command: "bench/run",
        path: "bench/results/foundation.md",
        names: &["floor", "throughput", "latency", "memory", "fleet"],
    },
    Document {
        title: "Placement",
        command: "bench/placement",
        path: "bench/results/placement.md",
        names: &["placement", "queue"],
    },
    Document {
        title: "Access",
        command: "bench/access",
        path: "bench/results/access.md",
        names: &["access", "guesses"],
    },
    Document {
        title: "State",
        command: "bench/state",
        path: "bench/results/state.md",
        names: &["state"],
    },
    Document {
        title: "Schedules",
        command: "bench/schedules",
        path: "bench/results/schedules.md",
        names: &["schedules"],
    },
    Document {
        title: "Hooks",
        command: "bench/hooks",
        path: "bench/results/hooks.md",
        names: &["hooks"],
    },
    Document {
        title: "Stacks",
        command: "bench/stacks",
        path: "bench/results/stacks.md",
        names: &["stacks", "stacks-heat", "stacks-weight", "stacks-parts"],
    },
];
/// Asks for everything of the second document.
const PLACEMENT: &str = "--placement";
/// Asks for everything of the third.
const ACCESS: &str = "--access";
/// Asks for everything of the fourth.
const STATE: &str = "--state";
/// Asks for everything of the fifth.
const SCHEDULES: &str = "--schedules";
/// Asks for everything of the sixth.
const HOOKS: &str = "--hooks";
/// Asks for everything of the seventh.
const STACKS: &str = "--stacks";
/// How long to wait for a quiet machine before numbers that are written down.
const QUIET_DEADLINE: Duration = Duration::from_secs(180);

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(async {
            tokio::select! {
                done = measure(std::env::args().skip(1).collect()) => done,
                told = interrupted() => told,
            }
        }),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {}", chain(error.as_ref())));
            ExitCode::FAILURE
        }
    }
}

async fn measure(names: Vec<String>) -> anyhow::Result<()> {
    let [foundation, placement, access, state, schedules, hooks, stacks] = &DOCUMENTS;
    let all: Vec<&str> = DOCUMENTS.iter().flat_map(|document| document.names).copied().collect();
    let document = match names.as_slice() {
        [] => Some(foundation),
        [one] if one == PLACEMENT => Some(placement),
        [one] if one == ACCESS => Some(access),
        [one] if one == STATE => Some(state),
        [one] if one == SCHEDULES => Some(schedules),
        [one] if one == HOOKS => Some(hooks),
        [one] if one == STACKS => Some(stacks),
        _ => None,
    };
    if document.is_none()
        && let Some(unknown) = names.iter().find(|name| !all.contains(&name.as_str()))
    {
        bail!("there is no measurement `{unknown}`; there are {}", all.join(", "));
    }
    let wanted = |name: &&str| match document {
        Some(document) => document.names.contains(name),
        None => names.iter().any(|wanted| wanted == name),
    };
    let clock = Clock::system();
    let patience = if document.is_some() { QUIET_DEADLINE } else { Duration::ZERO };
    let busy = machine::wait_until_quiet(patience).await?;
    let mut figures = Figures::default();
    for name in all.iter().copied().filter(wanted) {
        say(&format!("==> {name}"));
        let section = match name {
            "floor" => floor::measure().await,
            "throughput" => Box::pin(throughput::measure(&binary()?)).await,
            "latency" => Box::pin(latency::measure(&binary()?)).await,
            "memory" => Box::pin(weight::measure(&binary()?)).await,
            "fleet" => Box::pin(fleet::measure(&binary()?)).await,
            "queue" => Box::pin(queue::measure(&binary()?)).await,
            "access" => Box::pin(access::measure(&binary()?, Weather::Calm)).await,
            "state" => Box::pin(state::measure(&binary()?)).await,
            "schedules" => Box::pin(schedules::measure(&binary()?)).await,
            "hooks" => Box::pin(hooks::measure(&binary()?)).await,
            "stacks" => Box::pin(stacks::measure(&binary()?)).await,
            "stacks-heat" => Box::pin(stacks::measure_heat(&binary()?)).await,
            "stacks-weight" => Box::pin(stacks::measure_weight(&binary()?)).await,
            "stacks-parts" => Box::pin(stacks::measure_parts(&binary()?)).await,
            "guesses" => Box::pin(access::measure(&binary()?, Weather::Guessing)).await,
            _ => placement::measure().await,
        };
        let section = section.with_context(|| format!("measuring {name}"))?;
        say(&section.plain());
        figures.sections.push(section);
    }
    if let Some(document) = document {
        let text = figures.document(document, &machine::describe(clock.now(), busy)?);
        let path = document.path;
        std::fs::write(path, text).with_context(|| format!("writing {path}"))?;
        say(&format!("written to {path}"));
    }
    for miss in figures.misses() {
        say(&format!("MISSED: {miss}"));
    }
    Ok(())
}

/// Ends with an error when somebody wants the bench to end; dropping the measurement cleans up.
async fn interrupted() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        told = tokio::signal::ctrl_c() => told?,
        _ = terminate.recv() => {}
    }
    bail!("interrupted")
}

/// The binary that was built beside this one.
fn binary() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe().context("finding this program")?.with_file_name("hostler");
    if !path.is_file() {
        bail!("{} is missing; start this with bench/run", path.display());
    }
    Ok(path)
}

/// Words for the person who waits.
fn say(text: &str) {
    let _nobody_listens =
        std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}
