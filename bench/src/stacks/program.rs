//! Programs that are run to their end: how long that takes, and the most that they weigh.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::process::Command;

use crate::proc;

/// How often it is weighed. The kernel keeps the most there was, so only what is new in the last of these can be missed.
const WEIGHED_EVERY: Duration = Duration::from_millis(10);
/// Of what it said, shown when it did not go well.
const SHOWN: usize = 2000;

/// How a program went.
#[derive(Clone, Copy, Debug)]
pub struct Ran {
    pub took: Duration,
    /// The most that was resident, in KiB.
    pub peak: u64,
}

/// A program in a folder, without anything of whoever started the bench but where programs are.
pub fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(folder);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", folder);
    command
}

/// Runs it to its end, which has to be a good one; nothing when it takes longer than it may.
pub async fn run(mut command: Command, most: Duration) -> anyhow::Result<Option<Ran>> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let begun = Instant::now();
    let child = command.spawn().with_context(|| format!("starting {name}"))?;
    let pid = child.id().context("a process that was started has an id")?;
    let mut peak = 0;
    let ended = {
        let mut ending = std::pin::pin!(child.wait_with_output());
        loop {
            tokio::select! {
                ended = &mut ending => break ended?,
                () = tokio::time::sleep(WEIGHED_EVERY) => {
                    peak = peak.max(proc::peak(pid).unwrap_or_default());
                }
            }
            if begun.elapsed() > most {
                return Ok(None);
            }
        }
    };
    let took = begun.elapsed();
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        let said: String = said.chars().take(SHOWN).collect();
        bail!("{name} ended with {}:\n{said}", ended.status);
    }
    Ok(Some(Ran { took, peak }))
}
