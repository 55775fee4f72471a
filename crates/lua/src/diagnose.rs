//! What is wrong with a file, where, and the line itself with a mark below.

use std::fmt;

use hostler_model::workflow::Place;

use crate::define::Remark;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    pub place: Place,
    /// Where in the line, from 1; 0 when nobody knows.
    pub column: u32,
    pub detail: String,
    /// The text of the line.
    pub line: String,
    /// What in the line it is about, where that is known.
    pub(crate) word: Option<String>,
}

impl Mistake {
    pub fn at(place: Place, detail: impl Into<String>) -> Mistake {
        Mistake { place, column: 0, detail: detail.into(), line: String::new(), word: None }
    }

    /// Adds the line, and where in it, from the text of the file.
    pub(crate) fn with_text(mut self, text: &str) -> Mistake {
        let number = usize::try_from(self.place.line).unwrap_or(0);
        let Some(line) = number.checked_sub(1).and_then(|n| text.lines().nth(n)) else {
            return self;
        };
        let quoted = self.detail.split('\'').skip(1).step_by(2);
        let quoted = quoted.last().filter(|word| !word.is_empty());
        let column = (self.word.as_deref().and_then(|word| line.find(word)))
            .or_else(|| quoted.and_then(|word| line.rfind(word)))
            .unwrap_or_else(|| line.len() - line.trim_start().len());
        self.column = u32::try_from(line[..column].chars().count() + 1).unwrap_or(0);
        self.line = line.chars().take(200).collect();
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        write!(f, ": {}", self.detail)?;
        if !self.line.is_empty() {
            let indent: String = self
                .line
                .chars()
                .take(usize::try_from(self.column).unwrap_or(1).saturating_sub(1))
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            write!(f, "\n    {}\n    {indent}^", self.line)?;
        }
        Ok(())
    }
}

/// Every mistake that was found, and what is worth telling beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>, pub Vec<Remark>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, mistake) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        for remark in &self.1 {
            write!(f, "\nwarning: {remark}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// So many characters of a text at most.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The mistake that an error of the interpreter tells of.
pub(crate) fn from_error(error: &mlua::Error, main: &str) -> Mistake {
    let message = match error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::RuntimeError(message) => message.clone(),
        mlua::Error::MemoryError(_) => "it takes too much memory".to_owned(),
        mlua::Error::CallbackError { cause, traceback } => {
            let inner = from_error(cause, main);
            if inner.place.is_unknown() {
                let place =
                    traceback.lines().find_map(|line| placed(line.trim()).map(|(place, _)| place));
                return Mistake { place: place.unwrap_or(inner.place), ..inner };
            }
            return inner;
        }
        other => other.to_string(),
    };
    let (message, trace) = message.split_once("\nstack traceback").unwrap_or((&message, ""));
    let message = message.trim();
    if let Some((place, detail)) = placed(message) {
        return Mistake::at(place, detail);
    }
    let place = trace.lines().find_map(|line| placed(line.trim()).map(|(place, _)| place));
    let place = place.unwrap_or(Place { file: main.to_owned(), line: 0 });
    Mistake::at(place, without_ours(message))
}

/// Without the place in a file of ours, `[builder]:12: `, which nobody can look at.
fn without_ours(message: &str) -> &str {
    let rest = message.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    match rest.and_then(|(_, rest)| rest.split_once(": ")) {
        Some((line, rest)) if line.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => message,
    }
}

/// Splits `file:12: text`, also with the quotes that Luau puts around names of chunks.
fn placed(message: &str) -> Option<(Place, &str)> {
    let message = message.strip_prefix("runtime error: ").unwrap_or(message);
    let (file, rest) = match message.strip_prefix("[string \"") {
        Some(rest) => rest.split_once("\"]:")?,
        None => {
            let at = message
                .match_indices(':')
                .find(|(at, _)| message[at + 1..].starts_with(|c: char| c.is_ascii_digit()))?
                .0;
            (&message[..at], &message[at + 1..])
        }
    };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let line = rest[..digits].parse().ok()?;
    // What is not written by people has no place that would help them.
    if file.contains('\n') || file.starts_with("__mlua") || file.starts_with('[') {
        return None;
    }
    let detail = rest[digits..].trim_start_matches([':', ' ']);
    Some((Place { file: file.trim_start_matches(['@', '=']).to_owned(), line }, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_messages() {
        for (message, expected) in [
            ("main.sloth:12: Expected identifier", Some(("main.sloth", 12, "Expected identifier"))),
            ("[string \"a b.lua\"]:3: x", Some(("a b.lua", 3, "x"))),
            ("runtime error: m.lua:1: boom", Some(("m.lua", 1, "boom"))),
            ("no place", None),
        ] {
            let found = placed(message);
            let found = found.as_ref().map(|(p, d)| (p.file.as_str(), p.line, *d));
            assert_eq!(found, expected, "{message}");
        }
    }

    #[test]
    fn places_in_files_of_ours_are_not_told() {
        let trace = "[builder]:293: it is nil\nstack traceback:\n[builder]:293\nw.sloth:7\n";
        let mistake = from_error(&mlua::Error::RuntimeError(trace.to_owned()), "w.sloth");
        assert_eq!((mistake.place.line, mistake.detail.as_str()), (7, "it is nil"));
        assert_eq!(without_ours("[1]: 2: 3"), "[1]: 2: 3");
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("äö", 2), "äö");
    }

    #[test]
    fn a_mark_stands_below_the_word() {
        let mistake = Mistake::at(
            Place { file: "w.sloth".into(), line: 2 },
            "Expected '=' when parsing assignment, got 'nope'",
        )
        .with_text("local a = 1\n\tlocal b nope\n");
        assert_eq!(
            mistake.to_string(),
            "w.sloth:2:10: Expected '=' when parsing assignment, got 'nope'\n    \tlocal b nope\n    \t        ^"
        );
    }
}
