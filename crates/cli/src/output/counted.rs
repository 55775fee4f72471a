//! How many of something there are, in words: `1 node`, `2 nodes`, `0 entries`.

use std::fmt::Display;

pub fn counted<N: Copy + Display + TryInto<u64>>(count: N, noun: &str) -> String {
    if matches!(count.try_into(), Ok(1)) {
        return format!("{count} {noun}");
    }
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match stem {
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        for (count, noun, words) in [
            (0_u64, "entry", "0 entries"),
            (1, "entry", "1 entry"),
            (1, "node", "1 node"),
            (2, "node", "2 nodes"),
            (3, "day", "3 days"),
        ] {
            assert_eq!(counted(count, noun), words);
        }
        assert_eq!(counted(1_usize, "file"), "1 file");
        assert_eq!(counted(1_u32, "file"), "1 file");
    }
}
