//! A node as placement sees it: what it has, what is given away, what it measures.
//!
//! What is given away is counted by reservation. Memory and disk are free only as far as neither
//! reservations nor what the machine itself measures has them in use, so a process that Hostler does
//! not know is counted too. Nothing is ever negative: a node that gives more than it has has nothing
//! free.
//!
//! Cores that are bound to a NUMA node, and cores that are somebody's own, are counted twice: against
//! the node, and against the NUMA node they lie in. What shares cores freely is counted against the
//! node alone, because it can always be moved to where there is room.

use std::collections::BTreeMap;

use hostler_model::{
    Bytes, Cores, CpuSet, GpuFact, Labels, Name, Node, NodeId, NodeState, NumaFact, ProjectId,
    Reservation, Resources, Timestamp,
};

use super::devices::is_particular;

/// A node as placement sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeOffer {
    pub id: NodeId,
    pub name: Name,
    pub labels: Labels,
    pub state: NodeState,
    /// Why nothing new goes there.
    pub cordon: Option<String>,
    pub about: About,
    /// Where others reach it; empty when it told none.
    pub address: String,
    pub capacity: Amounts,
    /// What is reserved of it.
    pub used: Amounts,
    pub observed: Observed,
    /// Processors that may be given away; those of the NUMA nodes are among them, each in one.
    pub cpus: CpuSet,
    /// Those that are somebody's own.
    pub held: CpuSet,
    pub numa: Vec<NumaOffer>,
    pub gpus: Vec<GpuOffer>,
    /// How many placements it has.
    pub runs: u64,
    /// When it was last given something.
    pub last_given: Timestamp,
    /// How many of its placements carry which tag.
    pub tags: Counts,
    /// How many of its placements belong to which family; see [`Shape::family`](super::Shape).
    pub families: Counts,
    /// What never ends by itself: the reservations of services, which are part of `used` too. Plain
    /// ones may be added up.
    pub lasting: Vec<Reservation>,
}

/// Counts of words, by project.
pub type Counts = BTreeMap<ProjectId, BTreeMap<String, u32>>;

/// What constraints look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub os: String,
    pub kernel: String,
    pub architecture: String,
    pub cgroup: String,
    pub cpu_model: String,
    pub agent: String,
    pub container_engine: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    pub cores: Cores,
    pub memory: Bytes,
    pub disk: Bytes,
}

/// What the node measures, whoever uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Share of the processors that is busy, in thousandths.
    pub cpu: u32,
    pub memory: Bytes,
    pub disk: Bytes,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaOffer {
    pub index: u32,
    pub cpus: CpuSet,
    pub memory: Bytes,
    /// What is bound to it, and processors of it that are somebody's own.
    pub used_cores: Cores,
    pub used_memory: Bytes,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuOffer {
    pub index: u32,
    pub model: String,
    pub memory: Bytes,
    /// The NUMA node it is next to, where that is known.
    pub numa: Option<u32>,
    /// Why it is not given to anybody.
    pub trouble: Option<String>,
    /// How much of it is given away, in thousandths.
    pub used: u16,
    /// Who holds it, for people; may be left empty.
    pub holders: Vec<String>,
}

impl GpuOffer {
    pub fn free(&self) -> u16 {
        if self.trouble.is_some() { 0 } else { 1000u16.saturating_sub(self.used) }
    }
}

impl NumaOffer {
    pub fn capacity(&self) -> Cores {
        cores_of(self.cpus.len())
    }
    pub fn free_cores(&self) -> Cores {
        self.capacity().saturating_sub(self.used_cores)
    }
    pub fn free_memory(&self) -> Bytes {
        self.memory.saturating_sub(self.used_memory)
    }
}

pub(super) fn cores_of(cpus: usize) -> Cores {
    Cores::from_millis(u32::try_from(cpus).unwrap_or(u32::MAX).saturating_mul(1000))
}

impl NodeOffer {
    /// The node with nothing given away yet.
    pub fn of(node: &Node) -> NodeOffer {
        let facts = node.facts.clone().unwrap_or_default();
        let metrics =
            node.lease.as_ref().and_then(|lease| lease.metrics.clone()).unwrap_or_default();
        let largest_disk = facts.disks.iter().map(|disk| disk.size).max().unwrap_or_default();
        let disk = if metrics.disk_size.is_zero() { largest_disk } else { metrics.disk_size };
        let numa: Vec<NumaOffer> = facts.numa.iter().filter_map(numa_of).collect();
        let mut cpus: CpuSet = numa.iter().flat_map(|numa| numa.cpus.iter()).collect();
        if cpus.is_empty() {
            cpus = (0..facts.cores.millis() / 1000).collect();
        }
        NodeOffer {
            id: node.id,
            name: node.name.clone(),
            labels: node.labels.clone(),
            state: node.state,
            cordon: node.cordon.as_ref().map(|cordon| cordon.reason.clone()),
            address: facts.addresses.first().cloned().unwrap_or_default(),
            capacity: Amounts { cores: facts.cores, memory: facts.memory, disk },
            used: Amounts::default(),
            observed: Observed {
                cpu: per_mille(metrics.cpu_ratio),
                memory: metrics.memory_used,
                disk: metrics.disk_used,
            },
            cpus,
            held: CpuSet::default(),
            numa,
            gpus: facts.gpus.iter().map(gpu_of).collect(),
            runs: 0,
            last_given: Timestamp::EPOCH,
            tags: Counts::new(),
            families: Counts::new(),
            lasting: Vec::new(),
            about: About {
                os: facts.os,
                kernel: facts.kernel,
                architecture: facts.architecture,
                cgroup: facts.cgroup,
                cpu_model: facts.cpu_model,
                agent: node.agent_version.clone(),
                container_engine: facts.container_engine,
            },
        }
    }

    /// Whether anything new may go there.
    pub fn is_open(&self) -> bool {
        self.state == NodeState::Online && self.cordon.is_none()
    }

    pub fn free(&self) -> Amounts {
        let (has, used, seen) = (self.capacity, self.used, self.observed);
        Amounts {
            cores: has.cores.saturating_sub(used.cores),
            memory: has.memory.saturating_sub(used.memory.max(seen.memory)),
            disk: has.disk.saturating_sub(used.disk.max(seen.disk)),
        }
    }

    /// Counts a placement with this reservation.
    pub fn take(&mut self, taken: &Reservation) {
        self.runs = self.runs.saturating_add(1);
        self.used.cores = self.used.cores.saturating_add(taken.cores);
        self.used.memory = self.used.memory.saturating_add(taken.memory);
        self.used.disk = self.used.disk.saturating_add(taken.disk);
        if !taken.is_particular() {
            return;
        }
        self.held.extend(taken.cpus.iter());
        for numa in &mut self.numa {
            let (cores, memory) = part_in(numa, taken);
            numa.used_cores = numa.used_cores.saturating_add(cores);
            numa.used_memory = numa.used_memory.saturating_add(memory);
        }
        for gpu in &mut self.gpus {
            gpu.used = gpu.used.saturating_add(share_of(gpu.index, taken));
        }
    }

    /// Takes a placement with this reservation away again.
    pub fn give_back(&mut self, taken: &Reservation) {
        self.runs = self.runs.saturating_sub(1);
        self.used.cores = self.used.cores.saturating_sub(taken.cores);
        self.used.memory = self.used.memory.saturating_sub(taken.memory);
        self.used.disk = self.used.disk.saturating_sub(taken.disk);
        if !taken.is_particular() {
            return;
        }
        self.held.remove_all(&taken.cpus);
        for numa in &mut self.numa {
            let (cores, memory) = part_in(numa, taken);
            numa.used_cores = numa.used_cores.saturating_sub(cores);
            numa.used_memory = numa.used_memory.saturating_sub(memory);
        }
        for gpu in &mut self.gpus {
            gpu.used = gpu.used.saturating_sub(share_of(gpu.index, taken));
        }
    }

    /// As `give_back`, where what it used is measured too and will be gone.
    pub(super) fn outlive(&mut self, taken: &Reservation) {
        self.give_back(taken);
        self.observed.memory = self.observed.memory.saturating_sub(taken.memory);
        self.observed.disk = self.observed.disk.saturating_sub(taken.disk);
    }

    /// As it will be when everything that ends has ended, as far as such a request looks at it.
    pub(super) fn emptied(&self, asked: &Resources) -> NodeOffer {
        let sum = |of: fn(&Reservation) -> Bytes| {
            self.lasting.iter().map(of).fold(Bytes::ZERO, Bytes::saturating_add)
        };
        let ending_memory = self.used.memory.saturating_sub(sum(|lasting| lasting.memory));
        let ending_disk = self.used.disk.saturating_sub(sum(|lasting| lasting.disk));
        let mut node = self.sketch(asked);
        (node.used, node.held, node.runs) = (Amounts::default(), CpuSet::default(), 0);
        node.observed.memory = node.observed.memory.saturating_sub(ending_memory);
        node.observed.disk = node.observed.disk.saturating_sub(ending_disk);
        for numa in &mut node.numa {
            (numa.used_cores, numa.used_memory) = (Cores::ZERO, Bytes::ZERO);
        }
        for gpu in &mut node.gpus {
            gpu.used = 0;
        }
        for reservation in &self.lasting {
            node.take(reservation);
        }
        node
    }

    /// A copy with what such a request looks at: for mere amounts that is little.
    pub(super) fn sketch(&self, asked: &Resources) -> NodeOffer {
        let is_particular = is_particular(asked);
        let devices = |set: &CpuSet| if is_particular { set.clone() } else { CpuSet::default() };
        NodeOffer {
            id: self.id,
            name: self.name.clone(),
            labels: Labels::new(),
            state: self.state,
            cordon: None,
            about: About::default(),
            address: String::new(),
            capacity: self.capacity,
            used: self.used,
            observed: self.observed,
            cpus: devices(&self.cpus),
            held: devices(&self.held),
            numa: if is_particular { self.numa.clone() } else { Vec::new() },
            gpus: if is_particular { self.gpus.clone() } else { Vec::new() },
            runs: self.runs,
            last_given: self.last_given,
            tags: Counts::new(),
            families: Counts::new(),
            lasting: Vec::new(),
        }
    }

    /// How many of its placements in a project carry a tag.
    pub fn tagged(&self, project: ProjectId, tag: &str) -> u32 {
        count(&self.tags, project, tag)
    }
}

pub(super) fn count(counts: &Counts, project: ProjectId, word: &str) -> u32 {
    counts.get(&project).and_then(|words| words.get(word)).copied().unwrap_or(0)
}

pub(super) fn count_one(counts: &mut Counts, project: ProjectId, word: &str) {
    let words = counts.entry(project).or_default();
    match words.get_mut(word) {
        Some(count) => *count += 1,
        None => {
            words.insert(word.to_owned(), 1);
        }
    }
}

/// What a reservation has of one NUMA node.
fn part_in(numa: &NumaOffer, taken: &Reservation) -> (Cores, Bytes) {
    match taken.numa {
        Some(index) if index == numa.index => (taken.cores, taken.memory),
        Some(_) => (Cores::ZERO, Bytes::ZERO),
        None => {
            let own = taken.cpus.iter().filter(|cpu| numa.cpus.contains(*cpu)).count();
            (cores_of(own), Bytes::ZERO)
        }
    }
}

fn share_of(gpu: u32, taken: &Reservation) -> u16 {
    let shares = taken.gpus.iter().filter(|hold| hold.index == gpu).map(|hold| hold.share.millis());
    shares.fold(0, u16::saturating_add)
}

fn numa_of(fact: &NumaFact) -> Option<NumaOffer> {
    let cpus: CpuSet = fact.cpus.parse().ok()?;
    Some(NumaOffer { index: fact.index, cpus, memory: fact.memory, ..NumaOffer::default() })
}

fn gpu_of(fact: &GpuFact) -> GpuOffer {
    GpuOffer {
        index: fact.index,
        model: fact.model.clone(),
        memory: fact.memory,
        numa: fact.numa,
        trouble: fact.trouble.clone(),
        ..GpuOffer::default()
    }
}

fn per_mille(ratio: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 0..1000"
    )]
    let thousandths = (ratio.clamp(0.0, 1.0) * 1000.0) as u32;
    thousandths
}
