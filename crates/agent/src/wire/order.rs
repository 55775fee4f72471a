//! What the agent tells its executor about a run: numbers only, so that a shim never has to read the
//! spec. Both ends are the same program, so this format may change freely.

use hostler_model::{CpuSet, Hooks, Limits, Name, RunId, Span};

use super::Command;

/// Everything a shim must know itself; the rest is in the run's `spec.json`, which only children read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartOrder {
    pub run_id: RunId,
    /// Zero is none.
    pub timeout_ms: u64,
    pub signal: i32,
    pub grace_ms: u64,
    pub segment_bytes: u64,
    pub segments_max: u32,
    pub bounds: Bounds,
    pub binding: Binding,
    pub hooks: HookTimes,
    /// What is started is the keeper of a container.
    pub is_container: bool,
    /// What it prints has to be scrubbed of secrets, which its record says where to find.
    pub has_secrets: bool,
    /// Whose account what it prints is kept on.
    pub project: Project,
}

/// The name of a project.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Project([u8; Project::SIZE]);

impl Project {
    const SIZE: usize = 64;

    pub fn new(name: &Name) -> Project {
        let mut bytes = [0; Self::SIZE];
        for (place, byte) in bytes.iter_mut().zip(name.as_str().bytes()) {
            *place = byte;
        }
        Project(bytes)
    }

    /// `None` when it is none.
    pub fn name(&self) -> Option<&str> {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(Self::SIZE);
        std::str::from_utf8(&self.0[..end]).ok().filter(|name| !name.is_empty())
    }
}

impl std::fmt::Debug for Project {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&self.name(), f)
    }
}

/// The limits that are kept by cgroups. Zero is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    pub memory: u64,
    pub memory_high: u64,
    /// In thousandths of a core.
    pub cpu: u64,
    pub cpu_weight: u64,
    pub pids: u64,
    pub io_weight: u64,
}

impl Bounds {
    pub fn of(limits: &Limits) -> Bounds {
        let number = |value: Option<u32>| value.map_or(0, u64::from);
        Bounds {
            memory: limits.memory.map_or(0, |memory| memory.get()),
            memory_high: limits.memory_high.map_or(0, |memory| memory.get()),
            cpu: limits.cpu.map_or(0, |cpu| u64::from(cpu.millis())),
            cpu_weight: number(limits.cpu_weight),
            pids: number(limits.pids),
            io_weight: number(limits.io_weight),
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Bounds::default()
    }
}

/// Which processors, and the memory of which NUMA node, a run is bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// One bit for each; none where it is not bound.
    cpus: [u64; Binding::CPU_WORDS],
    pub numa: Option<u32>,
    /// Some are beyond what can be written here.
    pub is_cut: bool,
}

impl Binding {
    const CPU_WORDS: usize = 16;
    /// What the kernel's usual interfaces have room for.
    pub const CPUS_MAX: u32 = 64 * 16;
    const WORDS: usize = Self::CPU_WORDS + 2;

    pub fn new(cpus: &CpuSet, numa: Option<u32>) -> Binding {
        let mut binding = Binding { numa, ..Binding::default() };
        for cpu in cpus.iter() {
            match binding.cpus.get_mut(cpu as usize / 64) {
                Some(word) => *word |= 1 << (cpu % 64),
                None => binding.is_cut = true,
            }
        }
        binding
    }

    pub fn is_none(&self) -> bool {
        *self == Binding::default()
    }

    pub fn cpus(&self) -> CpuSet {
        let has = |cpu: &u32| self.cpus[*cpu as usize / 64] & (1 << (cpu % 64)) != 0;
        (0..Self::CPUS_MAX).filter(has).collect()
    }

    fn words(&self) -> [u64; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        words[..Self::CPU_WORDS].copy_from_slice(&self.cpus);
        words[Self::CPU_WORDS] = self.numa.map_or(0, |numa| u64::from(numa) + 1);
        words[Self::CPU_WORDS + 1] = self.is_cut.into();
        words
    }

    fn of_words(words: &[u64]) -> Option<Binding> {
        let numa = words.get(Self::CPU_WORDS)?;
        Some(Binding {
            cpus: words.get(..Self::CPU_WORDS)?.try_into().ok()?,
            numa: numa.checked_sub(1).and_then(|numa| u32::try_from(numa).ok()),
            is_cut: *words.get(Self::CPU_WORDS + 1)? != 0,
        })
    }
}

/// A moment in the life of a run at which a hook may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookKind {
    PreStart,
    PostStart,
    PreStop,
    PostStop,
}

impl HookKind {
    pub fn name(self) -> &'static str {
        match self {
            HookKind::PreStart => "preStart",
            HookKind::PostStart => "postStart",
            HookKind::PreStop => "preStop",
            HookKind::PostStop => "postStop",
        }
    }

    /// Its command.
    pub fn of(self, hooks: &Hooks) -> Option<&[String]> {
        let hook = match self {
            HookKind::PreStart => &hooks.pre_start,
            HookKind::PostStart => &hooks.post_start,
            HookKind::PreStop => &hooks.pre_stop,
            HookKind::PostStop => &hooks.post_stop,
        };
        hook.as_ref().map(|hook| hook.command.as_slice())
    }
}

/// How long each hook may take, in milliseconds; zero where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookTimes([u64; 4]);

impl HookTimes {
    pub fn of(hooks: &Hooks) -> HookTimes {
        HookTimes(hooks.all().map(|(_, hook)| hook.map_or(0, |h| Span::millis(h.timeout).max(1))))
    }

    /// `None` when there is no such hook.
    pub fn get(&self, kind: HookKind) -> Option<u64> {
        Some(self.0[kind as usize]).filter(|time| *time > 0)
    }
}

const FIRST_WORDS: usize = 16;
const WORDS: usize = FIRST_WORDS + Binding::WORDS;

impl StartOrder {
    const PROJECT_AT: usize = 16 + 8 * WORDS;
    pub const SIZE: usize = Self::PROJECT_AT + Project::SIZE;

    pub fn encode(&self) -> [u8; Self::SIZE] {
        let bounds = &self.bounds;
        let [pre_start, post_start, pre_stop, post_stop] = self.hooks.0;
        let first: [u64; FIRST_WORDS] = [
            self.timeout_ms,
            self.grace_ms,
            self.segment_bytes,
            self.segments_max.into(),
            self.signal.cast_unsigned().into(),
            bounds.memory,
            bounds.memory_high,
            bounds.cpu,
            bounds.cpu_weight,
            bounds.pids,
            bounds.io_weight,
            u64::from(self.is_container) | u64::from(self.has_secrets) << 1,
            pre_start,
            post_start,
            pre_stop,
            post_stop,
        ];
        let mut bytes = [0; Self::SIZE];
        bytes[..16].copy_from_slice(self.run_id.uuid().as_bytes());
        let words = first.into_iter().chain(self.binding.words());
        for (place, word) in bytes[16..].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[Self::PROJECT_AT..].copy_from_slice(&self.project.0);
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<StartOrder> {
        let bytes: &[u8; Self::SIZE] = bytes.try_into().ok()?;
        let mut words = [0; WORDS];
        for (word, place) in words.iter_mut().zip(bytes[16..].chunks_exact(8)) {
            *word = u64::from_le_bytes(place.try_into().ok()?);
        }
        let [timeout_ms, grace_ms, segment_bytes, segments_max, signal, ..] = words;
        let (first, rest) = words.split_at(FIRST_WORDS);
        let [.., pre_start, post_start, pre_stop, post_stop] = *first else { return None };
        Some(StartOrder {
            run_id: RunId::from_uuid(uuid::Uuid::from_slice(&bytes[..16]).ok()?),
            timeout_ms,
            grace_ms,
            segment_bytes,
            segments_max: u32::try_from(segments_max).ok()?,
            signal: u32::try_from(signal).ok()?.cast_signed(),
            bounds: Bounds {
                memory: words[5],
                memory_high: words[6],
                cpu: words[7],
                cpu_weight: words[8],
                pids: words[9],
                io_weight: words[10],
            },
            binding: Binding::of_words(rest)?,
            hooks: HookTimes([pre_start, post_start, pre_stop, post_stop]),
            is_container: words[11] & 1 != 0,
            has_secrets: words[11] & 2 != 0,
            project: Project(bytes[Self::PROJECT_AT..].try_into().ok()?),
        })
    }
}

/// Bytes of an order to a shim that is free.
pub const AGAIN: usize = Command::SIZE + StartOrder::SIZE;

impl StartOrder {
    /// For a shim that is free: after a word that is as long as a command, and is none.
    pub fn encode_again(&self) -> [u8; AGAIN] {
        let mut bytes = [0; AGAIN];
        bytes[0] = Command::AGAIN;
        bytes[Command::SIZE..].copy_from_slice(&self.encode());
        bytes
    }

    /// Whether this is how such an order begins.
    pub fn is_again(bytes: &[u8; AGAIN]) -> bool {
        bytes[0] == Command::AGAIN
    }

    pub fn decode_again(bytes: &[u8; AGAIN]) -> Option<StartOrder> {
        StartOrder::decode(&bytes[Command::SIZE..]).filter(|_| StartOrder::is_again(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Hook;

    #[test]
    fn orders_survive_the_wire() {
        let hook = |secs| {
            Some(Hook { command: vec![format!("take-{secs}")], timeout: Span::from_secs(secs) })
        };
        let hooks = Hooks { pre_start: hook(1), post_stop: hook(4), ..Hooks::default() };
        let order = StartOrder {
            run_id: RunId::from_uuid(uuid::Uuid::from_u128(77)),
            timeout_ms: 1,
            signal: 15,
            grace_ms: 2,
            segment_bytes: 3,
            segments_max: 4,
            bounds: Bounds {
                memory: 5,
                memory_high: 6,
                cpu: 7,
                cpu_weight: 8,
                pids: 9,
                io_weight: 10,
            },
            binding: Binding::new(&"0,63-65,1023".parse().unwrap(), Some(0)),
            hooks: HookTimes::of(&hooks),
            is_container: true,
            has_secrets: true,
            project: Project::new(&"lab".parse().unwrap()),
        };
        assert_eq!(order.project.name(), Some("lab"));
        assert_eq!(Project::new(&"x".repeat(63).parse().unwrap()).name().map(str::len), Some(63));
        assert_eq!(StartOrder::decode(&order.encode()), Some(order));
        assert_eq!(StartOrder::decode(&[0; 3]), None);
        assert_eq!(StartOrder::decode_again(&order.encode_again()), Some(order));
        assert_eq!(StartOrder::decode_again(&[1; AGAIN]), None);
        assert_eq!(order.binding.cpus().to_string(), "0,63-65,1023");
        assert!(!order.binding.is_cut);
        assert!(Binding::new(&"5,1024".parse().unwrap(), None).is_cut);
        assert!(Binding::new(&CpuSet::default(), None).is_none());
        assert_eq!(order.hooks.get(HookKind::PreStart), Some(1000));
        assert_eq!(order.hooks.get(HookKind::PostStart), None);
        assert_eq!(order.hooks.get(HookKind::PreStop), None);
        assert_eq!(order.hooks.get(HookKind::PostStop), Some(4000));
        assert_eq!(HookKind::PostStop.of(&hooks), Some(["take-4".to_owned()].as_slice()));
        for (kind, (name, _)) in
            [HookKind::PreStart, HookKind::PostStart, HookKind::PreStop, HookKind::PostStop]
                .into_iter()
                .zip(hooks.all())
        {
            assert_eq!(kind.name(), name);
        }
    }
}
