//! What speaks against a node, in words with numbers.
//!
//! `reasons` says everything at once, so that whoever reads it does not learn the next obstacle only
//! after removing the first. A node fits exactly when it finds nothing (property-tested).

use std::fmt;

use hostler_model::{Bytes, Cores, GpuRequest, Name, NodeState, NumaRequest, Timestamp};

use super::devices::{
    asked_cores, free_cpus, free_cpus_in, has_gpus, is_eligible, is_named, matches_gpu, numa_fits,
    own_cpus, share,
};
use super::offer::{GpuOffer, NodeOffer, NumaOffer};
use super::{Shape, rules};

/// Something that speaks against a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    NotNamed {
        asked: Name,
    },
    Label {
        key: String,
        asked: String,
        found: Option<String>,
    },
    Constraint {
        asked: String,
        found: Vec<String>,
    },
    NoEngine,
    NotOnline {
        state: NodeState,
    },
    Cordoned {
        reason: String,
    },
    Cores {
        asked: Cores,
        free: Cores,
        capacity: Cores,
    },
    Memory {
        asked: Bytes,
        free: Bytes,
        capacity: Bytes,
    },
    Disk {
        asked: Bytes,
        free: Bytes,
        capacity: Bytes,
    },
    OwnCores {
        asked: usize,
        free: usize,
        capacity: usize,
    },
    NoNuma {
        asked: NumaRequest,
        found: Vec<u32>,
    },
    Numa {
        asked: NumaAsk,
        nearest: NumaRoom,
    },
    Gpus(GpuRoom),
    NamedGpu {
        index: u32,
        trouble: GpuTrouble,
    },
    Alone {
        tags: Vec<String>,
    },
    Apart {
        tag: String,
    },
    /// `task` is its name, or its id where that is all that is known.
    HeldFor {
        task: String,
        expected: Option<Timestamp>,
    },
}

/// What is asked of one NUMA node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumaAsk {
    pub cores: Cores,
    pub is_own: bool,
    pub memory: Bytes,
}

/// What one NUMA node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumaRoom {
    pub index: u32,
    pub cores: Cores,
    pub all_cores: Cores,
    pub memory: Bytes,
    pub all_memory: Bytes,
}

/// What a node has of the GPUs that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuRoom {
    pub asked: u32,
    /// Of each, in thousandths.
    pub share: u16,
    pub free: u32,
    /// Of the kind that is asked for.
    pub matching: u32,
    pub all: u32,
    pub holders: Vec<String>,
    /// Those that nobody gets, and why.
    pub set_aside: Vec<String>,
}

/// Why a GPU that was named cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuTrouble {
    Missing,
    /// Another model, or less memory, than is asked for.
    OtherKind,
    SetAside {
        why: String,
    },
    Taken {
        free: u16,
        asked: u16,
        holders: Vec<String>,
    },
}

impl Reason {
    /// Whether waiting can help; otherwise the request or the node has to change.
    pub fn is_passing(&self) -> bool {
        match self {
            Reason::NotNamed { .. }
            | Reason::Label { .. }
            | Reason::Constraint { .. }
            | Reason::NoEngine
            | Reason::NoNuma { .. } => false,
            Reason::NotOnline { state } => *state != NodeState::Removed,
            Reason::Cores { asked, capacity, .. } => asked <= capacity,
            Reason::Memory { asked, capacity, .. } | Reason::Disk { asked, capacity, .. } => {
                asked <= capacity
            }
            Reason::OwnCores { asked, capacity, .. } => asked <= capacity,
            Reason::Numa { asked, nearest } => {
                asked.cores <= nearest.all_cores && asked.memory <= nearest.all_memory
            }
            Reason::Gpus(room) => room.asked <= room.matching,
            Reason::NamedGpu { trouble, .. } => {
                matches!(trouble, GpuTrouble::SetAside { .. } | GpuTrouble::Taken { .. })
            }
            Reason::Cordoned { .. }
            | Reason::Alone { .. }
            | Reason::Apart { .. }
            | Reason::HeldFor { .. } => true,
        }
    }
}

/// Everything that speaks against a node; empty means that it fits.
pub fn reasons(shape: &Shape, node: &NodeOffer) -> Vec<Reason> {
    let mut found = Vec::new();
    about_rules(shape, node, &mut found);
    about_amounts(shape, node, &mut found);
    about_cores(shape, node, &mut found);
    about_gpus(&shape.resources.gpus, node, &mut found);
    if !rules::is_together(shape, node) {
        found.push(Reason::Alone { tags: shape.rules.together.clone() });
    }
    if let Some(tag) = rules::conflict(shape, node) {
        found.push(Reason::Apart { tag: tag.clone() });
    }
    found
}

fn about_rules(shape: &Shape, node: &NodeOffer, found: &mut Vec<Reason>) {
    let rules = &shape.rules;
    if let Some(asked) = rules.node.as_ref().filter(|asked| **asked != node.name) {
        found.push(Reason::NotNamed { asked: asked.clone() });
    }
    for (key, asked) in &rules.selector {
        let value = node.labels.get(key);
        if value != Some(asked) {
            let (key, asked) = (key.clone(), asked.clone());
            found.push(Reason::Label { key, asked, found: value.cloned() });
        }
    }
    for constraint in rules.constraints.iter().filter(|constraint| !rules::holds(constraint, node))
    {
        let values = rules::values(&constraint.attribute, node);
        let values = values.into_iter().map(std::borrow::Cow::into_owned).collect();
        found.push(Reason::Constraint { asked: constraint.to_string(), found: values });
    }
    if !rules::has_engine(shape, node) {
        found.push(Reason::NoEngine);
    }
    if node.state != NodeState::Online {
        found.push(Reason::NotOnline { state: node.state });
    }
    if let Some(reason) = &node.cordon {
        found.push(Reason::Cordoned { reason: reason.clone() });
    }
}

fn about_amounts(shape: &Shape, node: &NodeOffer, found: &mut Vec<Reason>) {
    let (free, capacity) = (node.free(), node.capacity);
    let asked = asked_cores(&shape.resources);
    if asked > free.cores {
        found.push(Reason::Cores { asked, free: free.cores, capacity: capacity.cores });
    }
    let asked = shape.resources.memory;
    if asked > free.memory {
        found.push(Reason::Memory { asked, free: free.memory, capacity: capacity.memory });
    }
    let asked = shape.resources.disk;
    if asked > free.disk {
        found.push(Reason::Disk { asked, free: free.disk, capacity: capacity.disk });
    }
}

fn about_cores(shape: &Shape, node: &NodeOffer, found: &mut Vec<Reason>) {
    let resources = &shape.resources;
    let Some(wanted) = resources.numa else {
        let (asked, free) = (own_cpus(resources), free_cpus(node));
        if asked > free {
            found.push(Reason::OwnCores { asked, free, capacity: node.cpus.len() });
        }
        return;
    };
    let named: Vec<&NumaOffer> = node.numa.iter().filter(|numa| is_named(wanted, numa)).collect();
    if named.iter().any(|numa| numa_fits(resources, node, numa)) {
        return;
    }
    let asked = NumaAsk {
        cores: asked_cores(resources),
        is_own: resources.exclusive,
        memory: resources.memory,
    };
    let rooms = named.iter().map(|numa| NumaRoom {
        index: numa.index,
        cores: if asked.is_own {
            super::offer::cores_of(free_cpus_in(node, numa))
        } else {
            numa.free_cores()
        },
        all_cores: numa.capacity(),
        memory: numa.free_memory(),
        all_memory: numa.memory,
    });
    let nearness = |room: &NumaRoom| {
        let could = asked.cores <= room.all_cores && asked.memory <= room.all_memory;
        let missing = asked.cores.saturating_sub(room.cores);
        (!could, missing, asked.memory.saturating_sub(room.memory), room.index)
    };
    found.push(match rooms.min_by_key(nearness) {
        Some(nearest) => Reason::Numa { asked, nearest },
        None => Reason::NoNuma {
            asked: wanted,
            found: node.numa.iter().map(|numa| numa.index).collect(),
        },
    });
}

fn about_gpus(asked: &GpuRequest, node: &NodeOffer, found: &mut Vec<Reason>) {
    if has_gpus(asked, node) {
        return;
    }
    if asked.ids.is_empty() {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let matching: Vec<&GpuOffer> =
            node.gpus.iter().filter(|gpu| matches_gpu(asked, gpu)).collect();
        let (free, taken): (Vec<&GpuOffer>, Vec<&GpuOffer>) =
            matching.iter().partition(|gpu| is_eligible(asked, gpu));
        let set_aside = taken.iter().filter_map(|gpu| {
            Some(format!("GPU {} is out of service: {}", gpu.index, gpu.trouble.as_ref()?))
        });
        let mut holders: Vec<String> = taken.iter().flat_map(|gpu| gpu.holders.clone()).collect();
        holders.sort();
        holders.dedup();
        found.push(Reason::Gpus(GpuRoom {
            asked: asked.count,
            share: share(asked),
            free: number(free.len()),
            matching: number(matching.len()),
            all: number(node.gpus.len()),
            holders,
            set_aside: set_aside.collect(),
        }));
        return;
    }
    for index in &asked.ids {
        let gpu = node.gpus.iter().find(|gpu| gpu.index == *index);
        let trouble = match gpu {
            None => GpuTrouble::Missing,
            Some(gpu) if !matches_gpu(asked, gpu) => GpuTrouble::OtherKind,
            Some(GpuOffer { trouble: Some(why), .. }) => GpuTrouble::SetAside { why: why.clone() },
            Some(gpu) if is_eligible(asked, gpu) => continue,
            Some(gpu) => GpuTrouble::Taken {
                free: gpu.free(),
                asked: share(asked),
                holders: gpu.holders.clone(),
            },
        };
        found.push(Reason::NamedGpu { index: *index, trouble });
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotNamed { asked } => write!(f, "it asks for node `{asked}`"),
            Reason::Label { key, asked, found: Some(found) } => {
                write!(f, "label {key} is `{found}`, it asks for `{asked}`")
            }
            Reason::Label { key, asked, found: None } => {
                write!(f, "label {key} is missing, it asks for `{asked}`")
            }
            Reason::Constraint { asked, found } if found.is_empty() => {
                write!(f, "it asks for `{asked}`, of which the node tells nothing")
            }
            Reason::Constraint { asked, found } => {
                write!(f, "it asks for `{asked}`, the node has `{}`", found.join("`, `"))
            }
            Reason::NoEngine => {
                f.write_str("it runs in a container, and no container engine answers there")
            }
            Reason::NotOnline { state } => write!(f, "the node is {state}"),
            Reason::Cordoned { reason } => write!(f, "the node is cordoned: {reason}"),
            Reason::Cores { asked, free, capacity } => {
                write_amount(f, &format!("{asked} cores"), free, capacity, asked > capacity)
            }
            Reason::Memory { asked, free, capacity } => {
                write_amount(f, &format!("{asked} of memory"), free, capacity, asked > capacity)
            }
            Reason::Disk { asked, free, capacity } => {
                write_amount(f, &format!("{asked} of disk"), free, capacity, asked > capacity)
            }
            Reason::OwnCores { asked, free, capacity } => write_amount(
                f,
                &format!("{asked} cores of its own"),
                free,
                capacity,
                asked > capacity,
            ),
            Reason::NoNuma { asked: NumaRequest::Index(index), found } if !found.is_empty() => {
                let found: Vec<String> = found.iter().map(u32::to_string).collect();
                write!(f, "it asks for NUMA node {index}, the node has {}", found.join(", "))
            }
            Reason::NoNuma { .. } => f.write_str("it asks for a NUMA node, the node tells of none"),
            Reason::Numa { asked, nearest } => write_numa(f, asked, nearest),
            Reason::Gpus(room) => write_gpus(f, room),
            Reason::NamedGpu { index, trouble } => write!(f, "it asks for GPU {index}, {trouble}"),
            Reason::Alone { tags } => {
                write!(
                    f,
                    "it wants to be beside something tagged `{}`, nothing of that is there",
                    tags.join("` or `")
                )
            }
            Reason::Apart { tag } => {
                write!(f, "it wants to be apart from what is tagged `{tag}`, and that is there")
            }
            Reason::HeldFor { task, expected: None } => {
                write!(f, "the room is kept for `{task}`, which has waited longer")
            }
            Reason::HeldFor { task, expected: Some(time) } => write!(
                f,
                "the room is kept for `{task}`, which has waited longer and can start at {time}; a timeout that ends before that would fit"
            ),
        }
    }
}

fn write_amount(
    f: &mut fmt::Formatter<'_>,
    asked: &str,
    free: &dyn fmt::Display,
    capacity: &dyn fmt::Display,
    is_too_much: bool,
) -> fmt::Result {
    if is_too_much {
        write!(f, "asks for {asked}, the node has {capacity} in all ({free} free)")
    } else {
        write!(f, "asks for {asked}, {free} of {capacity} are free")
    }
}

fn write_numa(f: &mut fmt::Formatter<'_>, asked: &NumaAsk, room: &NumaRoom) -> fmt::Result {
    let own = if asked.is_own { " of its own" } else { "" };
    write!(f, "asks for {} cores{own}", asked.cores)?;
    if !asked.memory.is_zero() {
        write!(f, " and {} of memory", asked.memory)?;
    }
    write!(
        f,
        " of one NUMA node; nearest is {}, of which {} of {} cores and {} of {} are free",
        room.index, room.cores, room.all_cores, room.memory, room.all_memory
    )
}

fn write_gpus(f: &mut fmt::Formatter<'_>, room: &GpuRoom) -> fmt::Result {
    let GpuRoom { asked, share, free, matching, all, .. } = room;
    let part =
        if *share < 1000 { format!(" ({share} thousandths of each)") } else { String::new() };
    if *all == 0 {
        let plural = if *asked == 1 { "" } else { "s" };
        return write!(f, "asks for {asked} GPU{plural}, the node has none");
    }
    if matching < asked {
        let kind = if matching < all { " of the kind that is asked for" } else { "" };
        return write!(
            f,
            "asks for {asked} GPUs{part}, the node has {matching}{kind} in all ({free} free)"
        );
    }
    write!(f, "{free} of {matching} GPUs are free, asks for {asked}{part}")?;
    write_holders(f, &room.holders)?;
    room.set_aside.iter().try_for_each(|why| write!(f, "; {why}"))
}

fn write_holders(f: &mut fmt::Formatter<'_>, holders: &[String]) -> fmt::Result {
    match holders {
        [] => Ok(()),
        [one] => write!(f, "; `{one}` holds the rest"),
        several => write!(f, "; `{}` hold the rest", several.join("`, `")),
    }
}

impl fmt::Display for GpuTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuTrouble::Missing => f.write_str("the node has none of that number"),
            GpuTrouble::OtherKind => f.write_str("which is of another kind"),
            GpuTrouble::SetAside { why } => write!(f, "which is out of service: {why}"),
            GpuTrouble::Taken { free, asked, holders } => {
                write!(f, "of which {free} of 1000 parts are free and {asked} are asked for")?;
                write_holders(f, holders)
            }
        }
    }
}
