//! What was read from files: workloads that are right, each with where it came from.

use std::collections::BTreeMap;

use hostler_model::{Name, WorkloadSpec};

/// Where a workload is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub file: String,
    /// The line its name is in, from 1.
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub spec: WorkloadSpec,
    pub source: Source,
}

/// Workloads by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    pub workloads: BTreeMap<Name, Item>,
}

impl Set {
    pub fn is_empty(&self) -> bool {
        self.workloads.is_empty()
    }

    pub fn len(&self) -> usize {
        self.workloads.len()
    }

    pub fn get(&self, name: &str) -> Option<&WorkloadSpec> {
        let name: Name = name.parse().ok()?;
        self.workloads.get(&name).map(|item| &item.spec)
    }
}
