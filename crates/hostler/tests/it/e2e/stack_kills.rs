//! A stack of two hundred resources, of every kind that leaves something outside, whose servers are killed at any moment while
//! it is made, changed, rolled back, cancelled and taken down: one server on SQLite, two on PostgreSQL, which is crashed too.
//!
//! After each of them exactly what the template says has to be there: as the rows have it, and as the records of whoever
//! keeps the objects have it. `HOSTLER_STACK_KILLS` says how many kills there are of each database (a few when nothing is
//! said), `HOSTLER_STACK_SEED` which moments are chosen; it is printed.

mod plot;
mod world;

use std::time::{Duration, Instant};

use crate::rig::Rig;
use plot::{Plot, Wave, number_of};
use world::World;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How long each thing takes on this machine, at first as guessed.
struct Spans {
    make: Duration,
    change: Duration,
    remove: Duration,
}

struct Campaign<'a> {
    world: World<'a>,
    spans: Spans,
    left: usize,
}

impl Campaign<'_> {
    /// As many kills as are left, and no more than three at a time.
    fn kills(&mut self) -> usize {
        let most = self.left.min(3) as u64;
        let kills = if most == 0 { 0 } else { 1 + self.world.dice.roll(most) };
        let kills = usize::try_from(kills).unwrap();
        self.left -= kills;
        kills
    }

    fn plot(&self, cycle: usize, number: usize, fails: bool) -> Plot {
        Plot::of(Wave { cycle, number, fails }, &self.world.folder)
    }

    fn apply(&mut self, plot: &Plot, more: &[&str], kills: usize, span: Duration) -> String {
        let file = plot.write("big.yaml");
        let words = ["stack", "apply", &file, "--name", "big", "--yes", "--detach"];
        self.world.ordeal(&[&words[..], more].concat(), kills, span)
    }

    fn make(&mut self, cycle: usize) {
        let (plot, kills) = (self.plot(cycle, 0, false), self.kills());
        let begun = Instant::now();
        let ended = self.apply(&plot, &[], kills, self.spans.make);
        assert!(["create complete", "update complete"].contains(&ended.as_str()), "{ended}");
        if kills == 0 {
            self.spans.make = begun.elapsed();
        }
        self.world.must_be(&plot);
    }

    fn change(&mut self, cycle: usize, number: usize) {
        let (plot, kills) = (self.plot(cycle, number, false), self.kills());
        let begun = Instant::now();
        let ended = self.apply(&plot, &["--no-rollback"], kills, self.spans.change);
        assert_eq!(ended, "update complete");
        if kills == 0 {
            self.spans.change = begun.elapsed();
        }
        self.world.must_be(&plot);
    }

    /// An update that fails, and is undone.
    fn fail(&mut self, cycle: usize, number: usize) {
        let (plot, kills) = (self.plot(cycle, number + 1, true), self.kills());
        let ended = self.apply(&plot, &["--rollback"], kills, self.spans.change * 2);
        assert_eq!(ended, "rollback complete");
        self.world.must_be(&self.plot(cycle, number, false));
    }

    /// An update that somebody cancels.
    fn cancel(&mut self, cycle: usize, number: usize) -> usize {
        let (plot, kills) = (self.plot(cycle, number + 1, false), self.kills());
        let file = plot.write("big.yaml");
        let words = ["stack", "apply", &file, "--name", "big", "--yes", "--detach", "--rollback"];
        self.world.cli().run(&words).must(0);
        let ended =
            self.world.ordeal(&["stack", "cancel", "big", "--detach"], kills, self.spans.change);
        let number = match ended.as_str() {
            "rollback complete" => number,
            "update complete" => number + 1,
            other => panic!("{other}"),
        };
        self.world.must_be(&self.plot(cycle, number, false));
        number
    }

    fn remove(&mut self) {
        let kills = self.kills();
        let begun = Instant::now();
        let words = ["stack", "rm", "big", "--yes", "--detach"];
        let ended = self.world.ordeal(&words, kills, self.spans.remove);
        assert_eq!(ended, "gone");
        if kills == 0 {
            self.spans.remove = begun.elapsed();
        }
        self.world.must_be_empty();
    }
}

fn campaign(is_shared: bool) {
    let seed = number("HOSTLER_STACK_SEED").unwrap_or(0x2545_f491_4f6c_dd1d);
    let whole = number("HOSTLER_STACK_KILLS").map(|kills| usize::try_from(kills).unwrap());
    println!("seed {seed}");
    let begun = Instant::now();
    let rig = Rig::new();
    let Some(world) = World::new(&rig, is_shared, seed) else { return };
    let second = Duration::from_secs(1);
    let spans = Spans { make: 10 * second, change: 10 * second, remove: 5 * second };
    let mut campaign = Campaign { world, spans, left: 0 };
    let mut cycle = 0;
    if let Some(kills) = whole {
        // Nobody is killed at first, to know how long it takes.
        campaign.make(cycle);
        campaign.change(cycle, 1);
        campaign.remove();
        campaign.left = kills;
    } else {
        campaign.left = 3;
    }
    while campaign.left > 0 {
        cycle += 1;
        campaign.make(cycle);
        campaign.change(cycle, 1);
        if whole.is_some() {
            campaign.fail(cycle, 1);
            let number = campaign.cancel(cycle, 1);
            campaign.change(cycle, number + 1);
        }
        campaign.remove();
        println!("cycle {cycle}: {} after {:?}", campaign.world.summary(), begun.elapsed());
    }
    assert_eq!(campaign.world.cli().json(&["audit", "verify"])["isIntact"], true);
}

/// Ten updates at once: exactly one of them is what there is afterwards, the one that the stack says it is as.
#[test]
fn ten_updates_at_once_leave_one_whoever_is_killed() {
    let rig = Rig::new();
    let seed = number("HOSTLER_STACK_SEED").unwrap_or(0x5851_f42d_4c95_7f2d);
    let Some(world) = World::new(&rig, false, seed) else { return };
    let spans = Spans { make: Duration::ZERO, change: Duration::ZERO, remove: Duration::ZERO };
    let mut campaign = Campaign { world, spans, left: 0 };
    campaign.make(0);
    let files: Vec<String> =
        (1..=10).map(|i| campaign.plot(0, i, false).write(&format!("big-{i}.yaml"))).collect();
    let ask = |file| vec!["stack", "apply", file, "--name", "big", "--yes", "--detach"];
    let asks: Vec<Vec<&str>> = files.iter().map(|file| ask(file.as_str())).collect();
    let ended = campaign.world.race(&asks, 2, Duration::from_secs(4));
    assert_eq!(ended, "update complete");
    let number = number_of(&campaign.world.template()).expect("a template says which one it is");
    assert!((1..=10).contains(&number), "{number}");
    let plot = campaign.plot(0, number, false);
    campaign.world.must_be(&plot);
    campaign.remove();
}

#[test]
fn one_server_is_killed_at_any_moment() {
    campaign(false);
}

#[test]
fn two_servers_and_their_database_are_killed_at_any_moment() {
    campaign(true);
}
