//! Who comes before whom, and who waits for themselves.

use std::collections::BTreeSet;

/// Things that wait for one another in a circle: the first is named again at the end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", path.join(" -> "))]
pub struct Circle {
    pub path: Vec<String>,
}

/// Positions so that each comes after everything that it requires, and otherwise in their own order; or a circle, as positions.
pub(super) fn order(requires: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut open: Vec<usize> = requires.iter().map(Vec::len).collect();
    let mut followers = vec![Vec::new(); requires.len()];
    for (i, needs) in requires.iter().enumerate() {
        for &j in needs {
            followers[j].push(i);
        }
    }
    let mut ready: BTreeSet<usize> = (0..requires.len()).filter(|&i| open[i] == 0).collect();
    let mut found = Vec::with_capacity(requires.len());
    while let Some(i) = ready.pop_first() {
        found.push(i);
        for &j in &followers[i] {
            open[j] -= 1;
            if open[j] == 0 {
                ready.insert(j);
            }
        }
    }
    if found.len() == requires.len() { Ok(found) } else { Err(circle(requires, &open)) }
}

/// Whoever is left waits for somebody who is left, so going on from one to the next comes back at last.
fn circle(requires: &[Vec<usize>], open: &[usize]) -> Vec<usize> {
    let start = (0..open.len()).find(|&i| open[i] > 0).expect("somebody is left in a circle");
    let mut seen = vec![None; open.len()];
    let mut path = Vec::new();
    let mut at = start;
    loop {
        if let Some(since) = seen[at] {
            let mut found = path.split_off(since);
            let least = (0..found.len()).min_by_key(|&i| found[i]).expect("a circle has members");
            found.rotate_left(least);
            found.push(found[0]);
            return found;
        }
        seen[at] = Some(path.len());
        path.push(at);
        at = *requires[at]
            .iter()
            .find(|&&next| open[next] > 0)
            .expect("whoever is left waits for somebody who is left");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_in_their_own_order_where_nothing_else_is_said() {
        assert_eq!(order(&[vec![2], vec![], vec![]]), Ok(vec![1, 2, 0]));
        assert_eq!(order(&[]), Ok(vec![]));
    }

    #[test]
    fn a_circle_is_named_from_its_first_member_on() {
        assert_eq!(order(&[vec![0]]), Err(vec![0, 0]));
        assert_eq!(order(&[vec![3], vec![2], vec![3], vec![1], vec![]]), Err(vec![1, 2, 3, 1]));
    }
}
