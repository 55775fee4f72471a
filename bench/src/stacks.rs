//! Stacks beside Terraform, beside what real Heat was measured at, and beside the targets of what belongs to them.
//!
//! A server on SQLite that syncs every commit, and resources that are nothing but rows: `OS::Heat::Value` beside
//! `terraform_data`, which both keep a value that they are given and give it out, and `OS::Heat::RandomString` where Heat was
//! measured with that. So what is measured is the machinery: reading the template, the graph, the plan, what is written
//! of each resource, and the history of it. Nobody waits for a provider.
//!
//! - Terraform has its state in a file beside its configuration. It is tried in every manner of [`Manner::ALL`], its own
//!   default among them, and the best of its medians is what we are compared with: at the command line, with the start of
//!   our process as with its own, and over the API. Where one round takes minutes there is only one, in the manner that was
//!   best before.
//! - How real Heat was measured, and which of its figures stand here, says [`heat`].
//! - What the server weighs is measured on a server of its own, on which nothing else was done before.
//!
//! `HOSTLER_BENCH_ROUNDS` says how many rounds there are, `HOSTLER_BENCH_RESOURCES` the most resources of a stack.

mod heat;
mod ours;
mod parts;
mod program;
mod shape;
mod terraform;

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use crate::figures::{Section, mb, quantile};
use crate::rig::Rig;
use crate::{proc, say};
use heat::{Heat, Known};
use ours::CommandLine;
use shape::Shape;
use terraform::{Manner, Place};

/// How often it is asked whether something is done.
const PACE: Duration = Duration::from_millis(2);
const ROUNDS: usize = 5;
const RESOURCES: usize = 5000;
const SHAPES: [Shape; 4] =
    [Shape::Flat(100), Shape::Flat(1000), Shape::Flat(5000), Shape::Chain(500)];
const HEAT_SHAPES: [Shape; 6] = [
    Shape::Flat(100),
    Shape::Flat(300),
    Shape::Flat(1000),
    Shape::Flat(5000),
    Shape::Chain(100),
    Shape::Chain(500),
];
/// From so many on Terraform has one round, in the manner that was best with fewer.
const ONCE_FROM: usize = 5000;
/// Long enough for everything that happens once after a start.
const SETTLE: Duration = Duration::from_secs(5);
/// How much faster than Heat.
const HEAT_TIMES: f64 = 20.0;
/// Time per resource with 5,000, to that with 1,000.
const GROWTH_MAX: f64 = 1.5;
/// What one more resource may weigh while it is made: its row, what is sealed of it, its events, and the template.
const RESOURCE_MAX_KIB: f64 = 24.0;
const SETTINGS: &str = "[limits]
requests_per_second = 1000000
requests_burst = 1000000
source_requests_per_second = 1000000
source_requests_burst = 1000000
";

fn chosen(name: &str, otherwise: usize) -> anyhow::Result<usize> {
    match std::env::var(name) {
        Ok(words) => words.parse().with_context(|| format!("{name} is a number")),
        Err(_) => Ok(otherwise),
    }
}

fn rounds() -> anyhow::Result<usize> {
    chosen("HOSTLER_BENCH_ROUNDS", ROUNDS)
}

/// Those that are not larger than what was chosen.
fn shapes(of: &[Shape]) -> anyhow::Result<Vec<Shape>> {
    let most = chosen("HOSTLER_BENCH_RESOURCES", RESOURCES)?;
    Ok(of.iter().copied().filter(|shape| shape.count() <= most).collect())
}

fn seconds(values: impl IntoIterator<Item = Duration>) -> Vec<f64> {
    values.into_iter().map(|value| value.as_secs_f64()).collect()
}

fn half(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Seconds as people read them.
fn shown(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1000.0) } else { format!("{seconds:.2} s") }
}

/// The three things that are done to a stack, in seconds: created, planned though nothing differs, deleted.
#[derive(Clone, Copy, Debug)]
struct Three([f64; 3]);

const DONE: [&str; 3] = ["create", "plan that finds nothing to do", "delete"];

/// Beside Terraform, and how it grows.
pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let program = terraform::find();
    let rounds = rounds()?;
    let how = format!(
        "A server on SQLite that syncs every commit. Stacks of `OS::Heat::Value`, each of which keeps a value, over the API until a question every {} ms finds them complete, and with `hostler stack apply --yes`, `plan` and `rm --yes` from the start of the process to its end; beside Terraform{} with as many `terraform_data`, which keep a value too and need no provider, with local state. Medians of {rounds} rounds; Terraform with {ONCE_FROM} has one, in the manner that was best with 1000. It is compared with the best of its manners, each as a whole.",
        PACE.as_millis(),
        if program.is_some() { "" } else { " (which is not on this machine)" },
    );
    let mut section = Section::new("Beside Terraform", how);
    let rig = Rig::configured(binary, None, SETTINGS).await?;
    let mut best = Manner::ALL[0];
    let mut grown: Vec<(Shape, Three, f64)> = Vec::new();
    for shape in shapes(&SHAPES)? {
        say(&format!("    {}", shape.words()));
        let (api, update) = over_api(&rig, shape, rounds).await?;
        let (line, peak) = by_command(&rig, shape, rounds).await?;
        let mut theirs: Vec<(Manner, Theirs)> = Vec::new();
        for manner in Manner::ALL {
            let is_once = shape.count() >= ONCE_FROM;
            let (Some(program), Some(text)) = (&program, manner.configuration(shape)) else {
                continue;
            };
            if is_once && manner != best {
                continue;
            }
            say(&format!("    {}: terraform {}", shape.words(), manner.words()));
            let found =
                by_terraform(program, &text, manner, if is_once { 1 } else { rounds }).await?;
            theirs.push((manner, found));
        }
        let first = |(_, one): &&(Manner, Theirs)| one.three[0].unwrap_or(f64::MAX);
        let chosen = theirs.iter().min_by(|a, b| first(a).total_cmp(&first(b)));
        if let (Some((manner, _)), Shape::Flat(_)) = (chosen, shape) {
            best = *manner;
        }
        for (at, done) in DONE.iter().enumerate() {
            let what = format!("{done}: {}", shape.words());
            let fastest = theirs.iter().filter_map(|(_, one)| one.three[at]);
            let fastest = fastest.min_by(f64::total_cmp);
            for (who, value) in [("API", api.0[at]), ("command line", line.0[at])] {
                let what = format!("{what}, {who}");
                match fastest {
                    Some(fastest) => section.judge(
                        what,
                        shown(value),
                        format!("under {}", shown(fastest)),
                        value < fastest,
                    ),
                    None => section.note(what, shown(value)),
                }
            }
            for (manner, one) in &theirs {
                let value = one.three[at].map_or_else(|| "more than 15 min".to_owned(), shown);
                section.note(format!("{what}, Terraform with {}", manner.words()), value);
            }
        }
        let what = format!("update that changes nothing: {}, API", shape.words());
        section.note(what, shown(update));
        section.note(format!("the most that a command weighs: {}", shape.words()), mb(peak));
        for (manner, one) in &theirs {
            let what = format!("the same, Terraform with {}", manner.words());
            section.note(what, mb(one.peak));
        }
        grown.push((shape, api, update));
    }
    grow(&mut section, &grown);
    Ok(section)
}

/// How time per resource grows, where both sizes were measured.
fn grow(section: &mut Section, grown: &[(Shape, Three, f64)]) {
    let of = |count| grown.iter().find(|(shape, _, _)| *shape == Shape::Flat(count));
    let (Some((_, few, few_update)), Some((_, many, many_update))) = (of(1000), of(5000)) else {
        return;
    };
    let mut pairs: Vec<(&str, f64, f64)> =
        DONE.iter().zip(few.0).zip(many.0).map(|((done, few), many)| (*done, few, many)).collect();
    pairs.push(("update that changes nothing", *few_update, *many_update));
    for (done, few, many) in pairs {
        let times = many / few / 5.0;
        section.judge(
            format!("{done}, API: time per resource with 5000, to that with 1000"),
            format!("{times:.2}"),
            format!("at most {GROWTH_MAX}"),
            times <= GROWTH_MAX,
        );
    }
}

/// Medians over the API, and of an update that changes nothing.
async fn over_api(rig: &Rig, shape: Shape, rounds: usize) -> anyhow::Result<(Three, f64)> {
    let (name, template) = (shape.label(), shape.template());
    let mut found = Vec::new();
    for _ in 0..rounds {
        found.push(ours::round(&rig.client, &name, &template, shape.count()).await?);
    }
    let median = |of: fn(&ours::Round) -> Duration| half(&seconds(found.iter().map(of)));
    let three = Three([median(|it| it.create), median(|it| it.plan), median(|it| it.delete)]);
    Ok((three, median(|it| it.update)))
}

/// Medians at the command line, and the most that a command weighed.
async fn by_command(rig: &Rig, shape: Shape, rounds: usize) -> anyhow::Result<(Three, u64)> {
    let commands = CommandLine::new(rig, &shape.template())?;
    let mut found = Vec::new();
    for _ in 0..rounds {
        found.push(commands.round(&shape.label()).await?);
    }
    let median = |of: fn(&ours::Commands) -> Duration| half(&seconds(found.iter().map(of)));
    let three =
        Three([median(|it| it.apply.took), median(|it| it.plan.took), median(|it| it.remove.took)]);
    let each = found.iter().flat_map(|it| [it.apply.peak, it.plan.peak, it.remove.peak]);
    Ok((three, each.max().unwrap_or_default()))
}

/// Medians of Terraform in one manner; nothing where a round took too long.
struct Theirs {
    three: [Option<f64>; 3],
    peak: u64,
}

async fn by_terraform(
    program: &Path,
    configuration: &str,
    manner: Manner,
    rounds: usize,
) -> anyhow::Result<Theirs> {
    let place = Place::new(program, configuration).await?;
    let mut found = Vec::new();
    for _ in 0..rounds {
        let round = place.round(manner.parallelism).await?;
        found.push(round);
        if round.destroy.is_none() {
            break;
        }
    }
    let median = |of: fn(&terraform::Round) -> Option<program::Ran>| {
        let took: Option<Vec<Duration>> =
            found.iter().map(|round| of(round).map(|ran| ran.took)).collect();
        took.map(|took| half(&seconds(took)))
    };
    let each = found.iter().flat_map(|it| [it.apply, it.plan, it.destroy]);
    Ok(Theirs {
        three: [median(|it| it.apply), median(|it| it.plan), median(|it| it.destroy)],
        peak: each.flatten().map(|ran| ran.peak).max().unwrap_or_default(),
    })
}

/// Beside what Heat was measured at, through the door for its clients.
pub async fn measure_heat(binary: &Path) -> anyhow::Result<Section> {
    let rounds = rounds()?;
    let how = format!(
        "A server on SQLite that syncs every commit, asked over its door for clients of Heat: stacks of `OS::Heat::RandomString`, until a question every {} ms finds them complete; medians of {rounds} rounds. Heat stands as the reference of this project has it: Heat 27.0.1 on two processors that others used as well, the better of two variants, one of which does not sleep a second after each resource as Heat does. It was measured with 100 resources (and the creation of 300); what stands for other numbers is a straight line from 100, though it was seen to grow faster.",
        PACE.as_millis()
    );
    let mut section = Section::new("Beside Heat", how);
    let settings = format!("{SETTINGS}{}", heat::SETTINGS);
    let mut rig = Rig::configured(binary, None, &settings).await?;
    let address = rig.server_word(heat::SERVED.0, heat::SERVED.1).await?;
    let mut door = Heat::connect(&address, rig.token()?).await?;
    for shape in shapes(&HEAT_SHAPES)? {
        let (name, template) = (shape.label(), shape.random());
        let mut found: [Vec<f64>; 3] = Default::default();
        for _ in 0..rounds {
            let round = door.round(&name, &template).await?;
            for (values, took) in found.iter_mut().zip(round) {
                values.push(took.as_secs_f64());
            }
        }
        let known = Known::of(shape);
        let word = if known.is_drawn { "about " } else { "" };
        for ((done, values), theirs) in ["create", "update that changes nothing", "delete"]
            .iter()
            .zip(&found)
            .zip([known.create, known.update, known.delete])
        {
            let took = half(values);
            let times = theirs / took;
            section.note(format!("{done}: {}", shape.words()), shown(took));
            section.judge(
                format!("{done}: {}, times as fast as Heat ({word}{theirs:.1} s)", shape.words()),
                format!("{times:.0}"),
                format!("at least {HEAT_TIMES}"),
                times >= HEAT_TIMES,
            );
        }
    }
    Ok(section)
}

/// What the server and its database weigh with many resources.
pub async fn measure_weight(binary: &Path) -> anyhow::Result<Section> {
    let count = chosen("HOSTLER_BENCH_RESOURCES", RESOURCES)?;
    let how = format!(
        "A server on SQLite of which nothing else was asked before; one stack of {count} independent `OS::Heat::Value` is made over the API. At rest is {} s after the start, and as long after the end. What is on disk is the database with its log of writes; a resource is its row, three events and what the template says of it.",
        SETTLE.as_secs()
    );
    let mut section = Section::new("What stacks weigh", how);
    let rig = Rig::configured(binary, None, SETTINGS).await?;
    tokio::time::sleep(SETTLE).await;
    let (rest, files) = (proc::memory(rig.server_pid())?, rig.server_files()?);
    let shape = Shape::Flat(count);
    ours::create(&rig.client, &shape.label(), &shape.template()).await?;
    tokio::time::sleep(SETTLE).await;
    let (after, grown) = (proc::memory(rig.server_pid())?, rig.server_files()?);
    let each = |kib: u64| kib as f64 / count as f64;
    let more = after.peak.saturating_sub(rest.rss);
    section.note("server at rest: RSS", mb(rest.rss));
    section.note("server, the most while they are made: RSS", mb(after.peak));
    section.judge(
        "of that, for each resource",
        format!("{:.1} KiB", each(more)),
        format!("at most {RESOURCE_MAX_KIB} KiB"),
        each(more) <= RESOURCE_MAX_KIB,
    );
    section.note("server at rest afterwards: RSS", mb(after.rss));
    section.note(
        "on disk, for each resource",
        format!("{:.1} KiB", grown.saturating_sub(files) as f64 / 1024.0 / count as f64),
    );
    Ok(section)
}

/// Locks, snapshots, drift, and looking at templates.
pub async fn measure_parts(binary: &Path) -> anyhow::Result<Section> {
    let rig = Rig::configured(binary, None, SETTINGS).await?;
    parts::measure(&rig.client).await
}
