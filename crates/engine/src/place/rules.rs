//! What a node has to be like: name, labels, constraints, tags, a container engine.
//!
//! All of it but the tags stays as it is during a pass, so `matches` is asked once for each set of
//! rules and node.

use std::borrow::Cow;

use hostler_model::{Attribute, Constraint, PlacementRules, selector_matches};

use super::{NodeOffer, Shape};

/// Whether the node is what is asked for, however full it is.
pub(super) fn matches(shape: &Shape, node: &NodeOffer) -> bool {
    is_wanted(&shape.rules, node) && has_engine(shape, node)
}

/// As `matches`, without what the runtime needs.
pub(crate) fn is_wanted(rules: &PlacementRules, node: &NodeOffer) -> bool {
    rules.node.as_ref().is_none_or(|asked| *asked == node.name)
        && selector_matches(&rules.selector, &node.labels)
        && rules.constraints.iter().all(|constraint| holds(constraint, node))
}

pub(super) fn has_engine(shape: &Shape, node: &NodeOffer) -> bool {
    !shape.needs_engine || node.about.container_engine.is_some()
}

/// Whether what has to be there is there.
pub(super) fn is_together(shape: &Shape, node: &NodeOffer) -> bool {
    let together = &shape.rules.together;
    together.is_empty() || together.iter().any(|tag| node.tagged(shape.project, tag) > 0)
}

/// The tag of something there that it has to be apart from.
pub(super) fn conflict<'s>(shape: &'s Shape, node: &NodeOffer) -> Option<&'s String> {
    shape.rules.apart.iter().find(|tag| node.tagged(shape.project, tag) > 0)
}

/// How many of the preferences hold.
pub(super) fn preferences(rules: &PlacementRules, node: &NodeOffer) -> u32 {
    let held = rules.prefer.iter().filter(|constraint| holds(constraint, node)).count();
    u32::try_from(held).unwrap_or(u32::MAX)
}

pub(super) fn holds(constraint: &Constraint, node: &NodeOffer) -> bool {
    let values = values(&constraint.attribute, node);
    let words: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
    constraint.holds(&words)
}

/// What a node has of an attribute; nothing where it is not known.
pub(super) fn values<'n>(attribute: &Attribute, node: &'n NodeOffer) -> Vec<Cow<'n, str>> {
    let about = &node.about;
    let one = |text: &'n str| if text.is_empty() { Vec::new() } else { vec![Cow::Borrowed(text)] };
    match attribute {
        Attribute::Node => one(node.name.as_str()),
        Attribute::Os => one(&about.os),
        Attribute::Kernel => one(&about.kernel),
        Attribute::Architecture => one(&about.architecture),
        Attribute::Cgroup => one(&about.cgroup),
        Attribute::CpuModel => one(&about.cpu_model),
        Attribute::Agent => one(&about.agent),
        Attribute::Cores => vec![node.capacity.cores.to_string().into()],
        Attribute::Memory => vec![node.capacity.memory.get().to_string().into()],
        Attribute::GpuCount => vec![node.gpus.len().to_string().into()],
        Attribute::GpuModel => node.gpus.iter().map(|gpu| gpu.model.as_str().into()).collect(),
        Attribute::Label(key) => {
            node.labels.get(key).map(|value| value.as_str().into()).into_iter().collect()
        }
    }
}
