//! What a placement holds of its node: which cores, which devices, how much of the rest.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Bytes, Cores, GpuShareSize};

/// What a placement holds of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reservation {
    pub cores: Cores,
    pub memory: Bytes,
    #[serde(skip_serializing_if = "Bytes::is_zero")]
    pub disk: Bytes,
    /// Cores that are its own; empty where it shares.
    #[serde(skip_serializing_if = "CpuSet::is_empty")]
    pub cpus: CpuSet,
    /// The NUMA node it is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuHold>,
    /// Its place among others that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gang: Option<GangSeat>,
}

impl Reservation {
    /// Whether there is more to it than amounts of cores and memory.
    pub fn is_particular(&self) -> bool {
        !self.cpus.is_empty() || self.numa.is_some() || !self.gpus.is_empty() || self.gang.is_some()
    }
}

/// A GPU, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GpuHold {
    /// Its number on the node.
    pub index: u32,
    #[serde(default, skip_serializing_if = "GpuShareSize::is_whole")]
    pub share: GpuShareSize,
}

/// One of several that run at the same time on several nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GangSeat {
    pub rank: u32,
    pub size: u32,
    /// Names of all nodes, by rank.
    pub nodes: Vec<String>,
    /// Addresses of all nodes, by rank; empty text where a node told none.
    pub addresses: Vec<String>,
}

/// Numbers of processors, in Linux list form: `0-3,8`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<u32>);

impl CpuSet {
    const MAX: u32 = 8192;

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }
    pub fn insert(&mut self, cpu: u32) {
        self.0.insert(cpu);
    }
    pub fn remove_all(&mut self, other: &CpuSet) {
        self.0.retain(|cpu| !other.contains(*cpu));
    }
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuSet {
        CpuSet(cpus.into_iter().collect())
    }
}

impl Extend<u32> for CpuSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, cpus: I) {
        self.0.extend(cpus);
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == cpu => *last = cpu,
                _ => runs.push((cpu, cpu)),
            }
        }
        let words: Vec<String> = runs
            .into_iter()
            .map(
                |(first, last)| {
                    if first == last { first.to_string() } else { format!("{first}-{last}") }
                },
            )
            .collect();
        f.write_str(&words.join(","))
    }
}

impl FromStr for CpuSet {
    type Err = String;

    fn from_str(text: &str) -> Result<CpuSet, String> {
        let wrong = || format!("`{text}` is not a list of processors such as 0-3,8");
        let mut set = CpuSet::default();
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |word: &str| {
                word.trim().parse::<u32>().ok().filter(|n| *n < Self::MAX).ok_or_else(wrong)
            };
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(wrong());
            }
            set.0.extend(first..=last);
        }
        Ok(set)
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_read_and_written_as_linux_does() {
        for text in ["", "0", "0-3", "0-3,8", "1,3,5", "0-1,3-4"] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), text);
        }
        assert_eq!("3,1-2,0".parse::<CpuSet>().unwrap().to_string(), "0-3");
        for text in ["a", "3-1", "1-", "99999"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
    }
}
