//! What members of a group of equals are called: by numbers, without those that somebody took out.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::stack::RemovalMode;

/// What is known of members that were taken out, or are.
#[derive(Clone, Copy, Debug)]
pub struct Removed<'a> {
    pub mode: RemovalMode,
    /// Names that are out already.
    pub before: &'a BTreeSet<String>,
    /// Members by name, with what `get_resource` gives for each.
    pub members: &'a BTreeMap<String, String>,
    /// What somebody wants out: names, or what `get_resource` gives.
    pub asked: &'a [String],
}

/// The names that are out. What is neither a member nor was one is not taken out: nobody can want a name out that there
/// never was.
pub fn removed(removed: Removed<'_>) -> BTreeSet<String> {
    let by_reference: BTreeMap<&str, &String> =
        removed.members.iter().map(|(name, reference)| (reference.as_str(), name)).collect();
    let mut found = match removed.mode {
        RemovalMode::Append => removed.before.clone(),
        RemovalMode::Update => BTreeSet::new(),
    };
    for asked in removed.asked {
        if removed.members.contains_key(asked) || removed.before.contains(asked) {
            found.insert(asked.clone());
        } else if let Some(name) = by_reference.get(asked.as_str()) {
            found.insert((*name).clone());
        }
    }
    found
}

/// The first `count` numbers whose names are not out.
pub fn names(count: usize, out: &BTreeSet<String>) -> Vec<String> {
    (0_u64..)
        .map(|number| number.to_string())
        .filter(|name| !out.contains(name))
        .take(count)
        .collect()
}

/// Names in sets of so many at most; all at once where nothing is said.
pub fn batches(names: &[String], at_once: Option<u32>) -> Vec<&[String]> {
    let size = at_once.map_or(names.len(), |size| size as usize).max(1);
    names.chunks(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_name_that_is_out_is_not_used_again() {
        assert_eq!(names(3, &set(&[])), ["0", "1", "2"]);
        assert_eq!(names(3, &set(&["1"])), ["0", "2", "3"]);
        assert_eq!(names(2, &set(&["1"])), ["0", "2"]);
        assert_eq!(names(0, &set(&["1"])), Vec::<String>::new());
    }

    #[test]
    fn members_are_taken_out_by_name_or_reference() {
        let members: BTreeMap<String, String> = [("0", "id-a"), ("2", "id-b"), ("3", "id-c")]
            .map(|(name, reference)| (name.to_owned(), reference.to_owned()))
            .into();
        let before = set(&["1"]);
        let cases: [(RemovalMode, &[&str], &[&str]); 5] = [
            (RemovalMode::Append, &["2"], &["1", "2"]),
            (RemovalMode::Append, &["id-c", "7", "id-z"], &["1", "3"]),
            (RemovalMode::Append, &[], &["1"]),
            (RemovalMode::Update, &["0"], &["0"]),
            (RemovalMode::Update, &["1", "id-b"], &["1", "2"]),
        ];
        for (mode, asked, expected) in cases {
            let asked: Vec<String> = asked.iter().map(|text| (*text).to_owned()).collect();
            let found =
                removed(Removed { mode, before: &before, members: &members, asked: &asked });
            assert_eq!(found, set(expected), "{mode} {asked:?}");
        }
    }

    #[test]
    fn batches_are_of_so_many_at_most() {
        let all = names(5, &BTreeSet::new());
        let sizes = |at_once| -> Vec<usize> {
            batches(&all, at_once).iter().map(|batch| batch.len()).collect()
        };
        assert_eq!(sizes(Some(2)), [2, 2, 1]);
        assert_eq!(sizes(Some(0)), [1, 1, 1, 1, 1]);
        assert_eq!(sizes(None), [5]);
        assert_eq!(batches(&[], None), Vec::<&[String]>::new());
    }
}
