//! Mistakes in files, and how they are shown.

use std::fmt;

use serde::Serialize;

/// Where something stands in a text: line and column, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Place {
    pub line: usize,
    pub column: usize,
}

/// Something wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mistake {
    pub file: String,
    /// From 1; 0 when the file as a whole is meant.
    pub line: usize,
    /// In characters, from 1; 0 when the file as a whole is meant.
    pub column: usize,
    pub detail: String,
    /// What to do about it; empty when the detail says it already.
    pub hint: String,
    /// The line of the file, for people to see.
    #[serde(skip)]
    pub text: Option<String>,
}

/// `file:line:column: detail`, and below it the hint.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.headline(f)?;
        if !self.hint.is_empty() {
            write!(f, "\n  hint: {}", self.hint)?;
        }
        Ok(())
    }
}

/// Longer lines are shown in part, around the column that matters.
const SHOWN: usize = 100;

impl Mistake {
    fn headline(&self, f: &mut impl fmt::Write) -> fmt::Result {
        match (self.line, self.column) {
            (0, _) => write!(f, "{}: {}", self.file, self.detail),
            (line, column) => write!(f, "{}:{line}:{column}: {}", self.file, self.detail),
        }
    }

    /// The same with the line of the file and a caret below it.
    pub fn with_source(&self) -> String {
        let Some(text) = self.text.as_deref().filter(|_| self.line > 0) else {
            return self.to_string();
        };
        let chars: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let at = self.column.saturating_sub(1).min(chars.len());
        let from = if chars.len() > SHOWN { at.saturating_sub(SHOWN / 2) } else { 0 };
        let shown: String = chars.iter().skip(from).take(SHOWN).collect();
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let mut out = String::new();
        self.headline(&mut out).expect("writing to a String cannot fail");
        out.push_str(&format!("\n {margin} |\n {number} | {}", shown.trim_end()));
        out.push_str(&format!("\n {margin} | {}^", " ".repeat(at - from)));
        if !self.hint.is_empty() {
            out.push_str(&format!("\n  hint: {}", self.hint));
        }
        out
    }
}

/// Every mistake that was found, by file and place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    pub mistakes: Vec<Mistake>,
}

impl Report {
    pub(crate) fn new(mut mistakes: Vec<Mistake>) -> Report {
        mistakes.sort_by(|a, b| {
            (&a.file, a.line, a.column, &a.detail).cmp(&(&b.file, b.line, b.column, &b.detail))
        });
        mistakes.dedup();
        Report { mistakes }
    }

    /// All of them, each with its line of the file.
    pub fn with_source(&self) -> String {
        let all: Vec<String> = self.mistakes.iter().map(Mistake::with_source).collect();
        all.join("\n\n")
    }

    /// How many there are, in words: `1 mistake`, `3 mistakes in 2 files`.
    pub fn summary(&self) -> String {
        let mut files: Vec<&str> = self.mistakes.iter().map(|m| m.file.as_str()).collect();
        files.dedup();
        match (self.mistakes.len(), files.len()) {
            (1, _) => "1 mistake".to_owned(),
            (n, 1) => format!("{n} mistakes"),
            (n, files) => format!("{n} mistakes in {files} files"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, mistake) in self.mistakes.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// More mistakes than this in one text help nobody.
pub(crate) const MOST: usize = 1000;

/// One text being read, and what was found wrong in it so far.
pub(crate) struct Notes<'a> {
    pub file: &'a str,
    pub text: &'a str,
    /// Added to every hint; empty when the places are those of the file itself.
    pub caution: &'static str,
    pub found: Vec<Mistake>,
}

impl<'a> Notes<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Notes<'a> {
        Notes { file, text, caution: "", found: Vec::new() }
    }

    pub fn at(&mut self, place: Place, detail: impl Into<String>, hint: impl Into<String>) {
        match self.found.len() {
            0..MOST => self.found.push(self.mistake(place, detail, hint)),
            MOST => {
                let hint = "correct the ones above first";
                self.found.push(self.mistake(place, "there are more mistakes here", hint));
            }
            _ => {}
        }
    }

    fn mistake(&self, place: Place, detail: impl Into<String>, hint: impl Into<String>) -> Mistake {
        let mut hint = hint.into();
        if !self.caution.is_empty() {
            hint = [hint.as_str(), self.caution].join(if hint.is_empty() { "" } else { "; " });
        }
        Mistake {
            file: self.file.to_owned(),
            line: place.line,
            column: place.column,
            detail: detail.into(),
            hint,
            text: place
                .line
                .checked_sub(1)
                .and_then(|before| self.text.lines().nth(before))
                .map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str, column: usize) -> Mistake {
        Mistake {
            file: "a.yaml".into(),
            line: 12,
            column,
            detail: "no".into(),
            hint: "yes".into(),
            text: Some(text.into()),
        }
    }

    #[test]
    fn the_caret_stands_below_the_column() {
        let shown = mistake("umläut: x", 9).with_source();
        assert_eq!(shown, "a.yaml:12:9: no\n    |\n 12 | umläut: x\n    |         ^\n  hint: yes");
    }

    #[test]
    fn long_lines_are_shown_in_part() {
        let shown = mistake(&format!("{}!{}", "a".repeat(500), "b".repeat(500)), 501).with_source();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[2].len() < 120);
        assert_eq!(lines[2].find('!'), lines[3].find('^'));
        assert!(!mistake("x", 99).with_source().is_empty());
    }

    #[test]
    fn files_as_a_whole_have_no_line() {
        let whole = Mistake { line: 0, column: 0, hint: String::new(), ..mistake("", 0) };
        assert_eq!(whole.to_string(), "a.yaml: no");
        assert_eq!(whole.with_source(), "a.yaml: no");
        assert_eq!(mistake("x", 3).to_string(), "a.yaml:12:3: no\n  hint: yes");
    }
}
