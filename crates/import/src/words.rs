//! Command lines as words, and words as shell text.

/// Why a text has no words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    #[error("a quote is not closed")]
    Quote,
    #[error("it ends with a backslash")]
    Backslash,
}

/// Splits as a POSIX shell does, without expanding anything: `'..'` as it stands, `".."` with
/// backslashes before `"`, `\`, `$` and `` ` ``, a backslash before any character outside quotes.
pub fn split(text: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(SplitError::Quote)? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(SplitError::Quote)? {
                        '"' => break,
                        '\\' => match rest.next().ok_or(SplitError::Quote)? {
                            '\n' => {}
                            c if "\"\\$`".contains(c) => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => match rest.next().ok_or(SplitError::Backslash)? {
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// The word so that a shell reads it as it stands.
pub fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

pub fn quote_all(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// A command for a shell.
pub fn shell(text: impl Into<String>) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), text.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (text, expected) in [
            ("", vec![]),
            ("  a  b ", vec!["a", "b"]),
            ("a 'b c' \"d e\"f", vec!["a", "b c", "d ef"]),
            (r#"a\ b "x\"y\n\$" '\'"#, vec!["a b", r#"x"y\n$"#, "\\"]),
            ("'' \"\"", vec!["", ""]),
            ("a \\\n b", vec!["a", "b"]),
        ] {
            assert_eq!(split(text).unwrap(), expected, "{text}");
        }
        assert_eq!(split("a 'b"), Err(SplitError::Quote));
        assert_eq!(split("a \"b"), Err(SplitError::Quote));
        assert_eq!(split("a\\"), Err(SplitError::Backslash));
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec(".{0,12}", 0..6)) {
            prop_assert_eq!(split(&quote_all(&words)).unwrap(), words);
        }
    }
}
