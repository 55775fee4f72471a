//! Targets as `node[:numa][::gpu,gpu]`: a node by name, one of its NUMA nodes, some of its GPUs.

use std::str::FromStr;

use super::{GpuRequest, NumaRequest, WorkloadSpec};
use crate::Name;

/// Where exactly something is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub node: Name,
    pub numa: Option<u32>,
    pub gpus: Vec<u32>,
}

impl Target {
    /// Writes it into a spec.
    pub fn apply(&self, spec: &mut WorkloadSpec) {
        spec.placement.node = Some(self.node.clone());
        if let Some(index) = self.numa {
            spec.resources.numa = Some(NumaRequest::Index(index));
        }
        if !self.gpus.is_empty() {
            let share = spec.resources.gpus.share;
            spec.resources.gpus = GpuRequest { share, ..GpuRequest::ids(self.gpus.clone()) };
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let wrong = |what: &str| {
            format!(
                "`{text}` is not a target: {what}; write NODE, NODE:NUMA or NODE[:NUMA]::GPU,GPU"
            )
        };
        let (place, gpus) = match text.split_once("::") {
            Some((place, gpus)) => (place, Some(gpus)),
            None => (text, None),
        };
        let (node, numa) = match place.split_once(':') {
            Some((node, numa)) => (node, Some(numa)),
            None => (place, None),
        };
        let node = node.parse().map_err(|e| wrong(&format!("{e}")))?;
        let numa = numa
            .map(|numa| numa.parse().map_err(|_| wrong("the NUMA node is a number")))
            .transpose()?;
        let gpus = gpus.map_or(Ok(Vec::new()), |gpus| {
            gpus.split(',')
                .map(|gpu| {
                    gpu.trim().parse().map_err(|_| wrong("GPUs are numbers with commas between"))
                })
                .collect::<Result<Vec<u32>, String>>()
        })?;
        let mut once = gpus.clone();
        once.sort_unstable();
        once.dedup();
        if once.len() != gpus.len() {
            return Err(wrong("a GPU is named twice"));
        }
        Ok(Target { node, numa, gpus })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_names_node_numa_and_gpus() {
        let read = |text: &str| text.parse::<Target>();
        let target = |numa, gpus: &[u32]| Target {
            node: "box1".parse().unwrap(),
            numa,
            gpus: gpus.to_vec(),
        };
        assert_eq!(read("box1").unwrap(), target(None, &[]));
        assert_eq!(read("box1:1").unwrap(), target(Some(1), &[]));
        assert_eq!(read("box1::0,2").unwrap(), target(None, &[0, 2]));
        assert_eq!(read("box1:0::3").unwrap(), target(Some(0), &[3]));
        for wrong in
            ["", ":0", "box1:", "box1:x", "box1::", "box1::a", "box1::1,1", "box1:0:1", "a b"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
