//! What is wrong with a regular expression, in words for whoever wrote it.

/// One sentence; the error of the library has several lines, with a picture for a terminal.
pub fn pattern_mistake(error: &regex::Error) -> String {
    if let regex::Error::CompiledTooBig(_) = error {
        return "this regular expression would take too much memory".to_owned();
    }
    let words = error.to_string();
    let reason = words.lines().last().unwrap_or_default().trim();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    format!("this is not a regular expression: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_one_sentence() {
        let words = |text: &str| {
            let built = regex::RegexBuilder::new(text).size_limit(1 << 16).build();
            pattern_mistake(&built.unwrap_err())
        };
        assert_eq!(words("a("), "this is not a regular expression: unclosed group");
        assert_eq!(
            words("a(?=b)"),
            "this is not a regular expression: look-around, including look-ahead and look-behind, is not supported"
        );
        assert_eq!(
            words("(a{1,1000}){1,1000}"),
            "this regular expression would take too much memory"
        );
    }
}
