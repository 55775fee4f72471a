//! The floor: what starting 2,000 programs costs when nobody records anything.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};

use crate::figures::Section;
use crate::throughput::TASKS;

const THREADS: usize = 2;

pub async fn measure() -> anyhow::Result<Section> {
    let rate = tokio::task::spawn_blocking(rate).await.context("the floor panicked")??;
    let mut section = Section::new(
        "Floor",
        format!("{TASKS} times fork, exec and wait of `true`, by {THREADS} threads of the bench."),
    );
    section.note("fork and exec of `true`", format!("{rate:.0} /s"));
    Ok(section)
}

fn rate() -> anyhow::Result<f64> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(share)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(_) => anyhow::bail!("a thread panicked"),
        })
    })?;
    Ok(TASKS as f64 / begun.elapsed().as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "what starting a program costs without an executor")]
fn share() -> anyhow::Result<()> {
    for _ in 0..TASKS / THREADS {
        ensure!(
            Command::new("true").status().context("starting `true`")?.success(),
            "`true` failed"
        );
    }
    Ok(())
}
