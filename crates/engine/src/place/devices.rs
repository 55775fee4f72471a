//! Which cores, which NUMA node and which GPUs a request becomes on a node.
//!
//! A request fits when each of its parts does, because the parts do not compete: amounts against what
//! is free of the node, a NUMA node against what is free of that one, own cores against processors
//! that are nobody's, GPUs against shares that are free. So `reserve` finds a reservation exactly when
//! one exists; what it prefers only chooses among them:
//!
//! - a NUMA node with enough matching GPUs beside it, then the fullest that has room;
//! - GPUs next to the chosen NUMA node, then all next to the same one; parts of GPUs on those that are
//!   shared already;
//! - own cores next to the GPUs, then all in one NUMA node, the fullest that has enough.

use std::cmp::Reverse;

use hostler_model::{
    Cores, CpuSet, GpuHold, GpuRequest, GpuShareSize, NumaRequest, Reservation, Resources,
};

use super::offer::{GpuOffer, NodeOffer, NumaOffer, cores_of};

/// The cores it takes; own ones are whole.
pub(super) fn asked_cores(asked: &Resources) -> Cores {
    if asked.exclusive { cores_of(own_cpus(asked)) } else { asked.cores }
}

/// How many processors of its own it wants.
pub(super) fn own_cpus(asked: &Resources) -> usize {
    if asked.exclusive { asked.cores.millis().div_ceil(1000) as usize } else { 0 }
}

/// Whether it asks for more than amounts.
pub(super) fn is_particular(asked: &Resources) -> bool {
    asked.exclusive || asked.numa.is_some() || !asked.gpus.is_none()
}

/// What it would hold of the node; none where it does not fit.
pub fn reserve(asked: &Resources, node: &NodeOffer) -> Option<Reservation> {
    let free = node.free();
    let cores = asked_cores(asked);
    if cores > free.cores || asked.memory > free.memory || asked.disk > free.disk {
        return None;
    }
    let plain =
        Reservation { cores, memory: asked.memory, disk: asked.disk, ..Reservation::default() };
    if !is_particular(asked) {
        return Some(plain);
    }
    if !has_devices(asked, node) {
        return None;
    }
    let numa =
        asked.numa.and_then(|wanted| choose_numa(wanted, asked, node)).map(|numa| numa.index);
    let gpus = choose_gpus(&asked.gpus, node, numa);
    let beside = numa.or_else(|| common_numa(&gpus, node));
    let cpus = match own_cpus(asked) {
        0 => CpuSet::default(),
        wanted => choose_cpus(wanted, node, numa, beside),
    };
    Some(Reservation { cpus, numa, gpus, ..plain })
}

/// Whether what is not an amount fits.
pub(super) fn has_devices(asked: &Resources, node: &NodeOffer) -> bool {
    let has_cores = match asked.numa {
        Some(wanted) => {
            node.numa.iter().any(|numa| is_named(wanted, numa) && numa_fits(asked, node, numa))
        }
        None => own_cpus(asked) <= free_cpus(node),
    };
    has_cores && has_gpus(&asked.gpus, node)
}

pub(super) fn is_named(wanted: NumaRequest, numa: &NumaOffer) -> bool {
    match wanted {
        NumaRequest::Any => true,
        NumaRequest::Index(index) => index == numa.index,
    }
}

pub(super) fn numa_fits(asked: &Resources, node: &NodeOffer, numa: &NumaOffer) -> bool {
    asked_cores(asked) <= numa.free_cores()
        && asked.memory <= numa.free_memory()
        && own_cpus(asked) <= free_cpus_in(node, numa)
}

/// Processors of a NUMA node that can become somebody's own.
pub(super) fn free_cpus_in(node: &NodeOffer, numa: &NumaOffer) -> usize {
    let unheld = numa.cpus.len().saturating_sub(held_in(node, numa));
    unheld.min((numa.free_cores().millis() / 1000) as usize)
}

/// Processors of a node that can become somebody's own.
pub(super) fn free_cpus(node: &NodeOffer) -> usize {
    let within: usize = node.numa.iter().map(|numa| free_cpus_in(node, numa)).sum();
    let in_numa: usize = node.numa.iter().map(|numa| numa.cpus.len()).sum();
    let held_in_numa: usize = node.numa.iter().map(|numa| held_in(node, numa)).sum();
    let loose = node.cpus.len().saturating_sub(in_numa);
    within + loose.saturating_sub(node.held.len().saturating_sub(held_in_numa))
}

fn held_in(node: &NodeOffer, numa: &NumaOffer) -> usize {
    node.held.iter().filter(|cpu| numa.cpus.contains(*cpu)).count()
}

/// Free processors that no NUMA node claims.
fn loose_cpus(node: &NodeOffer) -> impl Iterator<Item = u32> {
    let is_loose = |cpu: &u32| !node.numa.iter().any(|numa| numa.cpus.contains(*cpu));
    node.cpus.iter().filter(|cpu| !node.held.contains(*cpu)).filter(is_loose)
}

fn choose_numa<'n>(
    wanted: NumaRequest,
    asked: &Resources,
    node: &'n NodeOffer,
) -> Option<&'n NumaOffer> {
    let gpus_beside = |numa: &NumaOffer| {
        let beside = node.gpus.iter().filter(|gpu| gpu.numa == Some(numa.index));
        let eligible = beside.filter(|gpu| is_eligible(&asked.gpus, gpu)).count();
        !asked.gpus.is_none() && eligible >= asked.gpus.count as usize
    };
    node.numa
        .iter()
        .filter(|numa| is_named(wanted, numa) && numa_fits(asked, node, numa))
        .min_by_key(|numa| (!gpus_beside(numa), numa.free_cores(), numa.index))
}

fn choose_cpus(wanted: usize, node: &NodeOffer, bound: Option<u32>, beside: Option<u32>) -> CpuSet {
    let mut groups: Vec<(usize, &NumaOffer)> = node
        .numa
        .iter()
        .filter(|numa| bound.is_none_or(|index| index == numa.index))
        .map(|numa| (free_cpus_in(node, numa), numa))
        .collect();
    let is_enough = |free: usize| free >= wanted;
    groups.sort_by_key(|(free, numa)| {
        let rank = if is_enough(*free) { *free } else { usize::MAX - *free };
        (!is_enough(*free), beside != Some(numa.index), rank, numa.index)
    });
    let mut chosen = CpuSet::default();
    for (free, numa) in groups {
        let unheld = numa.cpus.iter().filter(|cpu| !node.held.contains(*cpu));
        chosen.extend(unheld.take(free.min(wanted - chosen.len())));
    }
    let missing = wanted - chosen.len();
    chosen.extend(loose_cpus(node).take(missing));
    chosen
}

/// Whether a GPU has what is asked for, and enough of it is free.
pub(super) fn is_eligible(asked: &GpuRequest, gpu: &GpuOffer) -> bool {
    matches_gpu(asked, gpu) && gpu.free() >= share(asked)
}

/// Whether a GPU is of the kind that is asked for.
pub(super) fn matches_gpu(asked: &GpuRequest, gpu: &GpuOffer) -> bool {
    (asked.ids.is_empty() || asked.ids.contains(&gpu.index))
        && gpu.memory >= asked.memory
        && asked.model.as_deref().is_none_or(|model| contains_word(&gpu.model, model))
}

fn contains_word(text: &str, word: &str) -> bool {
    text.to_lowercase().contains(&word.to_lowercase())
}

/// How much of each GPU, in thousandths; never nothing.
pub(super) fn share(asked: &GpuRequest) -> u16 {
    asked.share.millis().clamp(1, 1000)
}

pub(super) fn has_gpus(asked: &GpuRequest, node: &NodeOffer) -> bool {
    let eligible = || node.gpus.iter().filter(|gpu| is_eligible(asked, gpu)).count();
    asked.is_none() || eligible() >= asked.count as usize
}

fn choose_gpus(asked: &GpuRequest, node: &NodeOffer, beside: Option<u32>) -> Vec<GpuHold> {
    if asked.is_none() {
        return Vec::new();
    }
    let wanted = asked.count as usize;
    let eligible: Vec<&GpuOffer> = node.gpus.iter().filter(|gpu| is_eligible(asked, gpu)).collect();
    let near = |gpu: &GpuOffer| eligible.iter().filter(|other| other.numa == gpu.numa).count();
    let mut ordered = eligible.clone();
    ordered.sort_by_key(|gpu| {
        let together = near(gpu);
        let is_beside = beside.is_some() && gpu.numa == beside;
        let rank = if together >= wanted { together } else { usize::MAX - together };
        (Reverse(is_beside), together < wanted, Reverse(gpu.used), rank, gpu.numa, gpu.index)
    });
    let share = GpuShareSize::from_millis(share(asked));
    let mut holds: Vec<GpuHold> =
        ordered.iter().take(wanted).map(|gpu| GpuHold { index: gpu.index, share }).collect();
    holds.sort_unstable();
    holds
}

/// The NUMA node that all of these GPUs are next to.
fn common_numa(gpus: &[GpuHold], node: &NodeOffer) -> Option<u32> {
    let numa_of = |hold: &GpuHold| node.gpus.iter().find(|gpu| gpu.index == hold.index)?.numa;
    let first = numa_of(gpus.first()?)?;
    gpus.iter().all(|hold| numa_of(hold) == Some(first)).then_some(first)
}
