//! The difference between two short texts, line by line.

/// In the usual form: what is there with `-`, what would be there with `+`, unchanged lines indented.
pub fn lines(title: &str, present: &str, wanted: &str) -> String {
    let old: Vec<&str> = present.lines().collect();
    let new: Vec<&str> = wanted.lines().collect();
    let common = common_lengths(&old, &new);
    let mut text = format!("--- {title}\n+++ what would be written\n");
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        let (sign, line) = if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            (' ', new[j - 1])
        } else if j >= new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            i += 1;
            ('-', old[i - 1])
        } else {
            j += 1;
            ('+', new[j - 1])
        };
        if sign != ' ' {
            text.push_str(&format!("{sign}{line}\n"));
        }
    }
    text
}

/// For every pair of places, how many lines the rests have in common.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut lengths = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i][j] = match old[i] == new[j] {
                true => lengths[i + 1][j + 1] + 1,
                false => lengths[i + 1][j].max(lengths[i][j + 1]),
            };
        }
    }
    lengths
}
