//! Binding a run to its processors and to the memory of its NUMA node.
//!
//! The shim binds itself, before anything of the run is there: hooks, the program and commands beside it
//! are its children and inherit both, across exec and a change of user. What the node does not allow is
//! told in words, and the run goes on without it.

use std::io;

use rustix::thread::CpuSet;

use crate::sys;
use crate::wire::Binding;

/// What could not be done.
pub fn bind(binding: &Binding) -> Vec<String> {
    if binding.is_none() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if binding.is_cut {
        problems.push(format!("cpus: only the first {} can be bound to", Binding::CPUS_MAX));
    } else if let Err(why) = bind_cpus(binding) {
        problems.push(format!("cpus: this node refuses {}: {why}", binding.cpus()));
    }
    if let Some(numa) = binding.numa
        && let Err(why) = sys::bind_memory(numa)
    {
        problems.push(format!("numa: this node refuses memory of node {numa} alone: {why}"));
    }
    problems
}

fn bind_cpus(binding: &Binding) -> io::Result<()> {
    let cpus = binding.cpus();
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(cpu as usize));
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}
