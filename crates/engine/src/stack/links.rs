//! Stacks that depend on other stacks.
//!
//! A stack may ask for outputs of others, or simply come after them. What is applied together is applied in this
//! order, and removed in the opposite one; what depends on a stack is looked at again when its outputs change.

use std::collections::HashMap;

use hostler_model::stack::StackName;

use super::graph::{self, Circle};

/// A stack, and the stacks that it comes after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackLink {
    pub name: StackName,
    pub requires: Vec<StackName>,
}

/// Stacks of a project with what each comes after. Nobody waits for themselves, not even over others.
#[derive(Clone, Debug)]
pub struct StackLinks {
    names: Vec<StackName>,
    position: HashMap<StackName, usize>,
    requires: Vec<Vec<usize>>,
    followers: Vec<Vec<usize>>,
    order: Vec<usize>,
}

impl StackLinks {
    /// Stacks that are only named by others, and are not among them, are there already and have no place in the order.
    pub fn new(links: Vec<StackLink>) -> Result<StackLinks, Circle> {
        let position: HashMap<StackName, usize> =
            links.iter().enumerate().map(|(i, link)| (link.name.clone(), i)).collect();
        let requires: Vec<Vec<usize>> = links
            .iter()
            .map(|link| {
                let mut found: Vec<usize> =
                    link.requires.iter().filter_map(|name| position.get(name).copied()).collect();
                found.sort_unstable();
                found.dedup();
                found
            })
            .collect();
        let names: Vec<StackName> = links.into_iter().map(|link| link.name).collect();
        let order = graph::order(&requires).map_err(|circle| Circle {
            path: circle.into_iter().map(|i| names[i].to_string()).collect(),
        })?;
        let mut followers = vec![Vec::new(); names.len()];
        for (i, needs) in requires.iter().enumerate() {
            for &j in needs {
                followers[j].push(i);
            }
        }
        Ok(StackLinks { names, position, requires, followers, order })
    }

    /// First those that others come after.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = &StackName> {
        self.order.iter().map(|&i| &self.names[i])
    }

    /// What can be applied at the same time: each set needs only what is in those before it.
    pub fn waves(&self) -> Vec<Vec<&StackName>> {
        let mut depth = vec![0; self.names.len()];
        let mut waves: Vec<Vec<&StackName>> = Vec::new();
        for &i in &self.order {
            depth[i] = self.requires[i].iter().map(|&j| depth[j] + 1).max().unwrap_or(0);
            if waves.len() <= depth[i] {
                waves.resize(depth[i] + 1, Vec::new());
            }
            waves[depth[i]].push(&self.names[i]);
        }
        waves
    }

    /// Everything that comes after a stack, near and far, in the order in which it is looked at again.
    pub fn after(&self, name: &StackName) -> Vec<&StackName> {
        let Some(&start) = self.position.get(name) else { return Vec::new() };
        let mut is_after = vec![false; self.names.len()];
        let mut left = vec![start];
        while let Some(i) = left.pop() {
            for &j in &self.followers[i] {
                if !std::mem::replace(&mut is_after[j], true) {
                    left.push(j);
                }
            }
        }
        self.order.iter().filter(|&&i| is_after[i]).map(|&i| &self.names[i]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(lines: &[(&str, &[&str])]) -> Result<StackLinks, Circle> {
        let name = |text: &str| text.parse().unwrap();
        StackLinks::new(
            lines
                .iter()
                .map(|(stack, on)| StackLink {
                    name: name(stack),
                    requires: on.iter().map(|other| name(other)).collect(),
                })
                .collect(),
        )
    }

    fn texts<'a>(names: impl IntoIterator<Item = &'a StackName>) -> Vec<&'a str> {
        names.into_iter().map(StackName::as_str).collect()
    }

    #[test]
    fn what_others_need_comes_first_and_goes_last() {
        let links =
            links(&[("web", &["db", "net"]), ("db", &["net"]), ("net", &["outside"]), ("x", &[])])
                .unwrap();
        assert_eq!(texts(links.order()), ["net", "db", "web", "x"]);
        assert_eq!(texts(links.order().rev()), ["x", "web", "db", "net"]);
        let waves: Vec<_> = links.waves().into_iter().map(texts).collect();
        assert_eq!(waves, [vec!["net", "x"], vec!["db"], vec!["web"]]);
        assert_eq!(texts(links.after(&"net".parse().unwrap())), ["db", "web"]);
        assert_eq!(links.after(&"outside".parse().unwrap()), Vec::<&StackName>::new());
    }

    #[test]
    fn a_circle_is_named_by_its_path() {
        let refused = links(&[("z", &[]), ("a", &["c", "z"]), ("b", &["a"]), ("c", &["b"])]);
        assert_eq!(refused.unwrap_err().to_string(), "a -> c -> b -> a");
        assert_eq!(links(&[("a", &["a"])]).unwrap_err().to_string(), "a -> a");
    }
}
