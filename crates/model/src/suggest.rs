//! "Did you mean": the known word nearest to one that is not known.

/// The nearest of `known`, when it is near enough to be what was meant.
///
/// Case, `_` and `-` do not count, so that `memory_high` finds `memoryHigh`.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = plain(given);
    let allowed = match given.len() {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    let distances = known.into_iter().map(|word| (distance(&given, &plain(word)), word));
    distances.filter(|(far, _)| *far <= allowed).min().map(|(_, word)| word)
}

/// A word without what people write differently: case, `_` and `-`.
pub fn plain(word: &str) -> String {
    word.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).take(64).collect()
}

/// Letters to insert, delete, replace or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["command", "env", "memoryHigh", "mode", "tags"];
        for (given, meant) in [
            ("comand", Some("command")),
            ("commnad", Some("command")),
            ("memory_high", Some("memoryHigh")),
            ("MODE", Some("mode")),
            ("tag", Some("tags")),
            ("en", None),
            ("volumes", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, known), meant, "{given}");
        }
    }
}
