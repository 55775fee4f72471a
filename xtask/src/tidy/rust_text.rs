//! Finds string literals in Rust source: enough of a lexer to know code, comments and strings apart.

/// Every string literal with the number of the line it begins on. Escapes are left as written.
pub fn string_literals(source: &str) -> Vec<(usize, &str)> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source.as_bytes()[at..];
        if rest.starts_with(b"//") {
            at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            at += block_comment(rest);
        } else if let Some(hashes) = raw_opening(bytes, at) {
            let begin = at + hashes + 2;
            let closing = format!("\"{}", "#".repeat(hashes));
            let length = find(&bytes[begin..], closing.as_bytes());
            found.push((line_of(source, begin), &source[begin..begin + length]));
            at = begin + length + closing.len();
        } else if rest[0] == b'"' {
            let begin = at + 1;
            let length = plain_length(&bytes[begin..]);
            found.push((line_of(source, begin), &source[begin..begin + length]));
            at = begin + length + 1;
        } else if rest[0] == b'\'' {
            at += char_or_lifetime(rest);
        } else {
            at += 1;
        }
    }
    found
}

/// `r"`, `r#"`, `br##"`: the number of hashes, when a raw string begins here.
fn raw_opening(bytes: &[u8], at: usize) -> Option<usize> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let before = at.checked_sub(1).map(|i| &bytes[i]);
    let is_prefixed = match before {
        Some(b'b' | b'c') => at >= 2 && is_word(&bytes[at - 2]),
        Some(byte) => is_word(byte),
        None => false,
    };
    if bytes[at] != b'r' || is_prefixed {
        return None;
    }
    let hashes = bytes[at + 1..].iter().take_while(|b| **b == b'#').count();
    (bytes.get(at + 1 + hashes) == Some(&b'"')).then_some(hashes)
}

fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

fn block_comment(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// Length of a character literal, or 1 for the tick of a lifetime.
fn char_or_lifetime(bytes: &[u8]) -> usize {
    if bytes.get(1) == Some(&b'\\') {
        return 3 + find(bytes.get(3..).unwrap_or_default(), b"'") + 1;
    }
    let width = match bytes.get(1) {
        Some(first) if first.is_ascii() => 1,
        Some(first) => usize::try_from(first.leading_ones()).unwrap_or(1),
        None => return 1,
    };
    if bytes.get(1 + width) == Some(&b'\'') { width + 2 } else { 1 }
}

fn find(bytes: &[u8], needle: &[u8]) -> usize {
    bytes.windows(needle.len()).position(|window| window == needle).unwrap_or(bytes.len())
}

fn line_of(source: &str, at: usize) -> usize {
    source.as_bytes()[..at.min(source.len())].iter().filter(|b| **b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        string_literals(source).into_iter().map(|(_, t)| t).collect()
    }

    #[test]
    fn plain_raw_and_escaped_strings() {
        assert_eq!(texts(r#"f("a", "b\"c")"#), ["a", "b\\\"c"]);
        assert_eq!(texts("r\"a\" r#\"b\"c\"# br\"d\""), ["a", "b\"c", "d"]);
        assert_eq!(texts("for_r\"a\""), ["a"]);
    }

    #[test]
    fn comments_chars_and_lifetimes_are_not_strings() {
        assert_eq!(texts("// \"no\"\n/* \"no /* \" */ */ \"yes\""), ["yes"]);
        assert_eq!(texts(r#"'"' 'a '\'' '\n' 'é' &'static "yes""#), ["yes"]);
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(string_literals("\n\n\"x\ny\" \"z\""), [(3, "x\ny"), (4, "z")]);
    }
}
