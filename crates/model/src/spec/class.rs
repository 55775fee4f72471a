//! Which tasks of a project are alike for placement.
//!
//! Whatever keeps one task of a class from every node keeps all of the class from them: a queue of any
//! length is then looked at once for each class. Only what decides *whether* a node fits is part of it,
//! not which of the fitting ones is taken.
//!
//! The number is stored with the task. It is the same in every process, and a change of how it is made
//! only means that older tasks are looked at apart from newer ones.

use std::io;

use serde::Serialize;

use super::constraint::Constraint;
use super::{Resources, Runtime, WorkloadSpec};
use crate::{Labels, Name, Span};

#[derive(Serialize)]
struct ClassKey<'s> {
    resources: &'s Resources,
    node: Option<&'s Name>,
    selector: &'s Labels,
    constraints: &'s [Constraint],
    together: &'s [String],
    apart: &'s [String],
    priority: i32,
    timeout: Option<Span>,
    needs_engine: bool,
}

impl WorkloadSpec {
    /// The class of a task with this spec within its project; never 0, which stands for "not known".
    pub fn queue_class(&self) -> i64 {
        let rules = &self.placement;
        let key = ClassKey {
            resources: &self.resources,
            node: rules.node.as_ref(),
            selector: &rules.selector,
            constraints: &rules.constraints,
            together: &rules.together,
            apart: &rules.apart,
            priority: self.queue.priority,
            timeout: self.timeout,
            needs_engine: self.runtime == Runtime::Container,
        };
        let mut hash = Fnv::default();
        serde_json::to_writer(&mut hash, &key).expect("a spec is JSON, and hashing cannot fail");
        hash.0.cast_signed().max(i64::MIN + 1).abs().max(1)
    }
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl io::Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cores, Strategy};

    #[test]
    fn a_class_is_what_decides_whether_a_node_fits() {
        let plain = WorkloadSpec::command(["true"]);
        let class = plain.queue_class();
        let mut same = WorkloadSpec::command(["sleep", "9"]);
        same.tags = vec!["a".to_owned()];
        same.placement.strategy = Some(Strategy::BinPack);
        same.placement.prefer = vec!["node = n1".parse().unwrap()];
        assert_eq!(same.queue_class(), class);
        let others: [fn(&mut WorkloadSpec); 6] = [
            |spec| spec.resources.cores = Cores::from_millis(3),
            |spec| spec.queue.priority = 1,
            |spec| spec.timeout = Some(Span::from_secs(1)),
            |spec| spec.placement.apart = vec!["a".to_owned()],
            |spec| spec.placement.together = vec!["a".to_owned()],
            |spec| spec.runtime = Runtime::Container,
        ];
        let mut classes = vec![class];
        for change in others {
            let mut spec = plain.clone();
            change(&mut spec);
            assert!(spec.queue_class() > 0);
            classes.push(spec.queue_class());
        }
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), others.len() + 1);
    }
}
