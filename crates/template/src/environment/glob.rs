//! Names with wildcards, as shells match them.

/// Whether a whole name matches: `*` is anything, `?` one letter, `[a-z]` one of these and `[!a-z]` none.
/// Case counts. It takes no longer than the lengths multiplied.
pub fn glob_match(pattern: &str, name: &str) -> bool {
    let parts = parts(pattern);
    let letters: Vec<char> = name.chars().collect();
    let (mut at, mut here) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    loop {
        match (parts.get(at), letters.get(here)) {
            (Some(Part::Any), _) => {
                again = Some((at + 1, here));
                at += 1;
            }
            (Some(part), Some(letter)) if part.takes(*letter) => {
                at += 1;
                here += 1;
            }
            (None, None) => return true,
            _ => match &mut again {
                Some((after, from)) if *from < letters.len() => {
                    *from += 1;
                    (at, here) = (*after, *from);
                }
                _ => return false,
            },
        }
    }
}

enum Part {
    Any,
    One,
    Letter(char),
    Set { is_not: bool, ranges: Vec<(char, char)> },
}

impl Part {
    fn takes(&self, letter: char) -> bool {
        match self {
            Part::Any => false,
            Part::One => true,
            Part::Letter(own) => *own == letter,
            Part::Set { is_not, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&letter)) != *is_not
            }
        }
    }
}

fn parts(pattern: &str) -> Vec<Part> {
    let letters: Vec<char> = pattern.chars().collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        at += 1;
        match letter {
            '*' => parts.push(Part::Any),
            '?' => parts.push(Part::One),
            '[' => match set(&letters[at..]) {
                Some((part, length)) => {
                    parts.push(part);
                    at += length;
                }
                None => parts.push(Part::Letter('[')),
            },
            letter => parts.push(Part::Letter(letter)),
        }
    }
    parts
}

/// The letters between brackets, and how many there are with the closing one.
fn set(rest: &[char]) -> Option<(Part, usize)> {
    let is_not = rest.first() == Some(&'!');
    let from = usize::from(is_not);
    let length = rest.iter().skip(from + 1).position(|c| *c == ']')? + 1;
    let inner = &rest[from..from + length];
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&first) = inner.get(at) {
        match (inner.get(at + 1), inner.get(at + 2)) {
            (Some('-'), Some(&last)) => {
                ranges.push((first, last));
                at += 3;
            }
            _ => {
                ranges.push((first, first));
                at += 1;
            }
        }
    }
    Some((Part::Set { is_not, ranges }, from + length + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_match_as_in_shells() {
        for (pattern, name, expected) in [
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("*", "", true),
            ("*", "x", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c*e", "abcde", true),
            ("a*c*f", "abcde", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[", "[", true),
            ("[a", "[a", true),
            ("[a-]", "-", true),
            ("A*", "abc", false),
            ("", "", true),
            ("", "a", false),
            ("**a", "bba", true),
        ] {
            assert_eq!(glob_match(pattern, name), expected, "{pattern} {name}");
        }
        assert!(!glob_match(&"*a".repeat(200), &"a".repeat(199)));
    }

    proptest! {
        #[test]
        fn a_name_matches_itself_and_what_hides_letters(name in "[a-z0-9_:.]{0,12}", cut in 0..12_usize) {
            prop_assert!(glob_match(&name, &name));
            let hidden: String = name.chars().take(cut).chain(['*']).collect();
            prop_assert!(glob_match(&hidden, &name));
        }

        #[test]
        fn no_pattern_is_too_strange(pattern in "[\\[\\]*?!a-c-]{0,16}", name: String) {
            let _ = glob_match(&pattern, &name);
        }
    }
}
