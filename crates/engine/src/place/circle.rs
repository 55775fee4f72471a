//! Circles: the open nodes that are what some requests ask for, however full they are.
//!
//! Requests with the same rules, grades and strategy share one, whatever amounts they want. The nodes of
//! each grade are in an order of their own, so that the best grade is looked through before the next. A
//! circle is made when many nodes were passed by for the want of it, and not before: rules that are found
//! to hold at the first node cost no look at the others.

use hostler_model::Strategy;

use super::grade::Grade;
use super::hash::HashMap;
use super::order::Order;

#[derive(PartialEq, Eq, Hash)]
pub(super) struct CircleKey {
    pub rules: u32,
    pub grades: Option<u32>,
    pub strategy: Strategy,
}

/// Orders by grade, best first.
pub(super) type Parts = Vec<(Grade, Order)>;

#[derive(Default)]
pub(super) struct Circles {
    all: Vec<Circle>,
    ids: HashMap<CircleKey, u32>,
}

#[derive(Default)]
struct Circle {
    /// How many were passed by for the want of it.
    passed_by: usize,
    parts: Option<Parts>,
}

impl Circles {
    pub fn id(&mut self, key: CircleKey) -> u32 {
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.all.push(Circle::default());
        }
        id
    }

    /// For as long as somebody walks through it; none where it is not made yet.
    pub fn lend(&mut self, id: u32) -> Option<Parts> {
        self.all[id as usize].parts.take()
    }

    pub fn give_back(&mut self, id: u32, parts: Parts) {
        self.all[id as usize].parts = Some(parts);
    }

    /// Counts what was passed by; says whether it is time to make it, among so many nodes.
    pub fn is_due(&mut self, id: u32, passed_by: usize, nodes: usize) -> bool {
        let circle = &mut self.all[id as usize];
        circle.passed_by += passed_by;
        circle.passed_by > 2 * nodes
    }
}
