//! What keeps a task from every node, in one word: for counting. Whoever wants to know exactly is told by
//! `explain`.

use hostler_model::Hindrance;

use super::{NodeOffer, Reason, Shape, reasons};

fn word(reason: &Reason) -> Hindrance {
    match reason {
        Reason::NotNamed { .. }
        | Reason::Label { .. }
        | Reason::Constraint { .. }
        | Reason::NoEngine => Hindrance::Rules,
        Reason::NotOnline { .. } => Hindrance::NotOnline,
        Reason::Cordoned { .. } => Hindrance::Cordoned,
        Reason::Cores { .. } | Reason::OwnCores { .. } => Hindrance::Cores,
        Reason::Memory { .. } => Hindrance::Memory,
        Reason::Disk { .. } => Hindrance::Disk,
        Reason::NoNuma { .. } | Reason::Numa { .. } => Hindrance::Numa,
        Reason::Gpus(_) | Reason::NamedGpu { .. } => Hindrance::Gpus,
        Reason::Alone { .. } | Reason::Apart { .. } => Hindrance::Neighbours,
        Reason::HeldFor { .. } => Hindrance::Queue,
    }
}

/// What keeps a task that was not placed from the node that comes nearest to taking it: one where waiting
/// can help before one where it cannot, then the one with the least against it.
pub fn hindrance(shape: &Shape, nodes: &[NodeOffer]) -> Hindrance {
    let against = nodes.iter().map(|node| reasons(shape, node));
    let distance = |found: &Vec<Reason>| (found.iter().any(|one| !one.is_passing()), found.len());
    let Some(nearest) = against.min_by_key(distance) else { return Hindrance::NoNodes };
    let worst = nearest.iter().find(|one| !one.is_passing()).or(nearest.first());
    worst.map_or(Hindrance::Queue, word)
}
