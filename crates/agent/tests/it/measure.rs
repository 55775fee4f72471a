//! Figures: how fast short runs go through, and what a shim weighs.

use std::time::Instant;

use hostler_agent::output::{Item, Start, Streams};
use hostler_model::WorkloadSpec;

use crate::support::{World, bytes, executor_pid, order, parent};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_short_runs() {
    let mut world = World::new().await;
    for wave in ["first", "second"] {
        let begun = Instant::now();
        run_five_hundred(&mut world).await;
        let took = begun.elapsed();
        let rate = 500.0 / took.as_secs_f64();
        println!("{wave} 500 runs of `true`, forgotten again, in {took:?}, {rate:.0} a second");
    }
}

async fn run_five_hundred(world: &mut World) {
    let mut starts = tokio::task::JoinSet::new();
    let gate = std::sync::Arc::new(tokio::sync::Semaphore::new(64));
    for _ in 0..500 {
        let (runner, gate) = (world.runner.clone(), gate.clone());
        starts.spawn(async move {
            let _turn = gate.acquire().await;
            let order = order(WorkloadSpec::command(["true"]));
            runner.start_run(order).await.map(|_| ())
        });
    }
    let mut forgotten = tokio::task::JoinSet::new();
    for _ in 0..500 {
        let news = world.exits.recv().await.unwrap();
        assert_eq!(news.exit.code, Some(0));
        let runner = world.runner.clone();
        forgotten.spawn(async move { runner.forget(news.run_id).await });
    }
    for result in starts.join_all().await {
        result.unwrap();
    }
    for result in forgotten.join_all().await {
        result.unwrap();
    }
}

#[tokio::test]
async fn a_chatty_program_is_not_held_up() {
    let mut world = World::new().await;
    let size: u64 = 256 << 20;
    let begun = Instant::now();
    let news = world.run_sh(&format!("head -c {size} /dev/zero")).await;
    let rate = (size >> 20) as f64 / begun.elapsed().as_secs_f64();
    println!("a program wrote {rate:.0} MiB/s");
    assert_eq!(news.exit.code, Some(0));
    let items = world.items(news.run_id, Start::Beginning, Streams::Both).await;
    let Some(Item::Gap { bytes: Some(gap) }) = items.first() else {
        panic!("more was kept than allowed");
    };
    assert_eq!(gap + bytes(&items).len() as u64, size);
}

/// Proportional memory of a process, in kB: all of it, and what only it has.
fn memory(pid: u32) -> (u64, u64) {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let field = |name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("Pss:"), field("Private_Dirty:"))
}

#[tokio::test]
async fn a_shim_is_light() {
    let mut world = World::new().await;
    let mut runs = Vec::new();
    for _ in 0..50 {
        runs.push(world.start_sh("echo hello; exec sleep 1000").await);
    }
    for (run_id, _) in &runs {
        let out = world.run_dir(*run_id).join("out.000001");
        crate::support::until("it has spoken", || out.exists()).await;
    }
    let weights: Vec<_> = runs.iter().map(|(_, s)| memory(parent(s.pid))).collect();
    let mean = weights.iter().map(|(pss, _)| pss).sum::<u64>() / 50;
    let own = weights.iter().map(|(_, dirty)| dirty).sum::<u64>() / 50;
    let executor = memory(executor_pid(&world.data).await).0;
    println!("a shim: {mean} kB proportional, {own} kB of its own; the executor: {executor} kB");
    for (run_id, _) in runs {
        world.kill(run_id).await;
    }
    assert!(mean <= 300, "{mean} kB");
}
