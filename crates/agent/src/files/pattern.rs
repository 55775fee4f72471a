//! `*` and `?` within one name of a path.

/// Whether there is anything to look for.
pub fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?'])
}

/// Whether a name fits. A name that begins with a dot has to be meant.
pub fn fits(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Where to go on when what follows the last star does not fit after all.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, eaten)) => {
                    star = Some((at, eaten + 1));
                    p = at + 1;
                    n = eaten + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_anything() {
        let good = [
            ("a", "a"),
            ("*", "abc"),
            ("*", ""),
            ("*.log", "a.b.log"),
            ("a*b*c", "axxbyybzc"),
            ("?-?", "1-2"),
            ("**", "x"),
            (".*", ".hidden"),
            ("ä?", "äö"),
        ];
        for (pattern, name) in good {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        let bad = [("a", "b"), ("*.log", "log"), ("?", ""), ("a*b", "acd"), ("*", ".hidden")];
        for (pattern, name) in bad {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        assert!(!fits(&"*a".repeat(30), &"a".repeat(2000).replace("aa", "ab")));
    }
}
