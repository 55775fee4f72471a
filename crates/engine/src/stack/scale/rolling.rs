//! A group is changed in batches, so that enough members are in service all the time.
//!
//! Before every batch the group is looked at as it is: who is as the group says now, and who is not. So whoever goes when
//! the group shrinks again to its size is chosen among those that are not as they should be, a batch that was half done is
//! gone on with, and when [`next_batch`] has nothing to say every member is current and there are as many as there should be.
//!
//! Where the group would have too few in service while a batch of its members is changed, it grows first: by the members
//! of the batch that would be missing.

use std::collections::BTreeSet;

use hostler_model::Span;

use super::Member;
use super::shrink::shrink_order;

/// How a group is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rolling {
    /// How many members are left alone at any time, as long as there are as many.
    pub min_in_service: u32,
    /// How many are changed or made at once.
    pub max_batch_size: u32,
    /// Between batches.
    pub pause: Span,
}

impl Default for Rolling {
    fn default() -> Rolling {
        Rolling { min_in_service: 0, max_batch_size: 1, pause: Span::default() }
    }
}

/// Who is in the group when it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// So many, whoever they are.
    Size(u32),
    /// Members of these names.
    Names(Vec<String>),
}

/// What is done at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Members that go.
    pub remove: Vec<String>,
    /// Members that become as the group says now.
    pub change: Vec<String>,
    /// Members that are made, as the group says now.
    pub create: Vec<String>,
}

impl Target {
    fn size(&self) -> usize {
        match self {
            Target::Size(size) => *size as usize,
            Target::Names(names) => names.len(),
        }
    }

    /// Who may stay, and who goes at last, first those that go first.
    fn part<'a>(&self, members: &'a [Member]) -> (Vec<&'a Member>, Vec<&'a Member>) {
        let mut order = shrink_order(members);
        order.sort_by_key(|member| member.is_current);
        match self {
            Target::Size(size) => {
                let stay = order.split_off(order.len().saturating_sub(*size as usize));
                (stay, order)
            }
            Target::Names(names) => {
                let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
                order.into_iter().partition(|member| names.contains(member.name.as_str()))
            }
        }
    }
}

/// What to do next so that every member is as the group says now; nothing when that is so. `fresh` gives names for members
/// that have none in the target.
pub fn next_batch(
    members: &[Member],
    target: &Target,
    rolling: Rolling,
    mut fresh: impl FnMut() -> String,
) -> Option<Batch> {
    let size = target.size();
    let (stay, mut go) = target.part(members);
    let current = stay.iter().filter(|member| member.is_current).count();
    if current == size && go.is_empty() {
        return None;
    }
    let batch = (rolling.max_batch_size.max(1) as usize).min(size - current);
    let in_service = (rolling.min_in_service as usize).min(size).min(members.len());
    let capacity = batch + members.len().min(size - batch).max(in_service);

    let mut found = Batch::default();
    go.truncate(members.len().saturating_sub(capacity));
    found.remove = go.into_iter().map(|member| member.name.clone()).collect();
    let left = members.len() - found.remove.len();
    let there: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut missing = match target {
        Target::Size(_) => Vec::new(),
        Target::Names(names) => {
            names.iter().filter(|name| !there.contains(name.as_str())).cloned().collect()
        }
    };
    missing.truncate(batch);
    let grown = capacity.saturating_sub(left).min(batch);
    found.create = missing;
    while found.create.len() < grown {
        found.create.push(fresh());
    }
    let stale = stay.into_iter().filter(|member| !member.is_current);
    found.change =
        stale.take(batch - found.create.len()).map(|member| member.name.clone()).collect();
    Some(found)
}

#[cfg(test)]
mod tests {
    use hostler_model::Timestamp;
    use proptest::prelude::*;

    use super::*;

    fn member(name: &str, at: i64, is_current: bool) -> Member {
        let time_created = Timestamp::from_micros(at);
        Member { name: name.to_owned(), is_failed: false, is_current, time_created }
    }

    /// Carries batches out until there are none, and says how many members there were after each, and how many at least
    /// were left alone.
    fn roll(members: &mut Vec<Member>, target: &Target, rolling: Rolling) -> (Vec<usize>, usize) {
        let mut sizes = Vec::new();
        let mut least = usize::MAX;
        let mut number = 100;
        loop {
            let batch = next_batch(members, target, rolling, || {
                number += 1;
                format!("x{number}")
            });
            let Some(batch) = batch else { return (sizes, least) };
            assert!(sizes.len() < 1000, "it ends");
            let touched = batch.change.len() + batch.create.len();
            assert!(touched <= rolling.max_batch_size.max(1) as usize, "{batch:?}");
            members.retain(|member| !batch.remove.contains(&member.name));
            least = least.min(members.len() - batch.change.len());
            for member in members.iter_mut().filter(|member| batch.change.contains(&member.name)) {
                assert!(!member.is_current, "nobody is changed twice");
                member.is_current = true;
            }
            for name in batch.create {
                number += 1;
                members.push(member(&name, number, true));
            }
            sizes.push(members.len());
        }
    }

    #[test]
    fn nobody_stays_as_it_was_where_the_group_has_to_grow() {
        for (count, max_batch_size, min_in_service, expected) in [
            (3, 2, 2, vec![4, 3]),
            (4, 2, 3, vec![5, 5, 4]),
            (4, 2, 2, vec![4, 4]),
            (3, 1, 0, vec![3, 3, 3]),
            (3, 1, 3, vec![4, 4, 4, 3]),
        ] {
            let mut members: Vec<Member> =
                (0..count).map(|i| member(&format!("m{i}"), i, false)).collect();
            let rolling = Rolling { min_in_service, max_batch_size, pause: Span::default() };
            let target = Target::Size(u32::try_from(count).unwrap());
            let (sizes, least) = roll(&mut members, &target, rolling);
            assert!(members.iter().all(|member| member.is_current), "{members:?}");
            assert_eq!(sizes, expected, "{count} {max_batch_size} {min_in_service}");
            assert!(least >= min_in_service as usize);
        }
    }

    #[test]
    fn a_group_of_numbers_keeps_its_numbers() {
        let mut members: Vec<Member> = (0..3).map(|i| member(&i.to_string(), i, false)).collect();
        let names: Vec<String> = (0..3).map(|i| i.to_string()).collect();
        let rolling = Rolling { min_in_service: 2, max_batch_size: 2, pause: Span::default() };
        roll(&mut members, &Target::Names(names.clone()), rolling);
        let mut left: Vec<String> = members.into_iter().map(|member| member.name).collect();
        left.sort();
        assert_eq!(left, names);
    }

    proptest! {
        #[test]
        fn it_ends_with_everybody_current_and_enough_in_service(
            stale in proptest::collection::vec((any::<bool>(), any::<bool>(), 0..5_i64), 0..9),
            size in 0_u32..9,
            min_in_service in 0_u32..12,
            max_batch_size in 0_u32..6,
            has_names: bool,
        ) {
            let mut members: Vec<Member> = stale
                .iter()
                .enumerate()
                .map(|(i, (is_current, is_failed, at))| Member {
                    name: (i * 2).to_string(),
                    is_failed: *is_failed,
                    is_current: *is_current,
                    time_created: Timestamp::from_micros(*at),
                })
                .collect();
            let target = if has_names {
                Target::Names((0..size).map(|i| i.to_string()).collect())
            } else {
                Target::Size(size)
            };
            let before = members.len();
            let enough = (min_in_service.min(size) as usize).min(before);
            let rolling = Rolling { min_in_service, max_batch_size, pause: Span::default() };
            let (sizes, least) = roll(&mut members, &target, rolling);
            prop_assert!(members.iter().all(|member| member.is_current));
            prop_assert_eq!(members.len(), size as usize);
            prop_assert!(least >= enough, "{} of {} stay, {:?}", least, enough, sizes);
            if let Target::Names(names) = target {
                prop_assert!(members.iter().all(|member| names.contains(&member.name)));
            }
        }
    }
}
