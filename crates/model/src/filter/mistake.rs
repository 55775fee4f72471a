//! What is wrong with a filter, and how it is shown.

use std::fmt;

/// Something wrong in a filter, with where it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub detail: String,
    /// What to do about it; empty where the detail says it.
    pub hint: String,
    /// The line it is in.
    pub shown: String,
}

/// Longer lines are shown in part, around the column that matters.
const SHOWN: usize = 100;

impl Mistake {
    pub(super) fn new(
        text: &str,
        offset: usize,
        detail: impl Into<String>,
        hint: impl Into<String>,
    ) -> Box<Mistake> {
        let before = &text[..offset.min(text.len())];
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        Box::new(Mistake {
            line: line + 1,
            column: column + 1,
            detail: detail.into(),
            hint: hint.into(),
            shown: text.split('\n').nth(line).unwrap_or_default().to_owned(),
        })
    }
}

/// The mistake, the line with a caret below it, and the hint.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chars: Vec<char> =
            self.shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let at = self.column.saturating_sub(1).min(chars.len());
        let from = if chars.len() > SHOWN { at.saturating_sub(SHOWN / 2) } else { 0 };
        let part: String = chars.iter().skip(from).take(SHOWN).collect();
        write!(f, "line {}, column {}: {}", self.line, self.column, self.detail)?;
        write!(f, "\n  {}\n  {}^", part.trim_end(), " ".repeat(at - from))?;
        match self.hint.is_empty() {
            true => Ok(()),
            false => write!(f, "\n  hint: {}", self.hint),
        }
    }
}
