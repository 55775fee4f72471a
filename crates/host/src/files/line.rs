//! One line of a file: there as written, or not there.
//!
//! Present: the last line that fits `regexp` becomes `line`; where none fits, the line is added once,
//! after or before the last line that fits `insert_after` or `insert_before`, or at the end. Absent:
//! every line that fits `regexp`, or is `line`, goes.

use std::path::PathBuf;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::text::{Text, joined, lines, pattern};
use crate::plan::{Plan, Primitive};
use crate::values::one_line;
use crate::{Host, HostError};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub path: PathBuf,
    /// May be left out only for removing by `regexp`.
    #[serde(default)]
    pub line: Option<String>,
    #[serde(default)]
    pub regexp: Option<String>,
    #[serde(default)]
    pub insert_after: Option<String>,
    #[serde(default)]
    pub insert_before: Option<String>,
    /// Whether a missing file is made.
    #[serde(default)]
    pub create: bool,
    #[serde(default)]
    pub follow: bool,
}

impl Line {
    fn text(&self, create: bool) -> Text {
        Text { path: self.path.clone(), follow: self.follow, create }
    }

    fn parts(&self) -> Result<Parts, HostError> {
        let fit = |given: &Option<String>| given.as_deref().map(pattern).transpose();
        if let Some(line) = &self.line {
            one_line("the line", line)?;
        }
        if let (Some(_), Some(before)) = (&self.insert_after, &self.insert_before) {
            let problem = "`insert_after` is given too; keep one";
            return Err(HostError::invalid("`insert_before`", before, problem));
        }
        Ok(Parts {
            line: self.line.clone(),
            regexp: fit(&self.regexp)?,
            after: fit(&self.insert_after)?,
            before: fit(&self.insert_before)?,
        })
    }
}

impl Primitive for Line {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let parts = self.parts()?;
        if parts.line.is_none() {
            return Err(HostError::invalid("the line", "", "say which line is to be there"));
        }
        self.text(self.create).edit(host, move |old| Ok(parts.put(old))).await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let parts = self.parts()?;
        if parts.line.is_none() && parts.regexp.is_none() {
            return Err(HostError::invalid("the line", "", "say which line, or a `regexp`"));
        }
        self.text(true).edit(host, move |old| Ok(parts.take(old))).await
    }
}

struct Parts {
    line: Option<String>,
    regexp: Option<Regex>,
    after: Option<Regex>,
    before: Option<Regex>,
}

impl Parts {
    fn put(&self, old: &str) -> String {
        let wanted = self.line.as_deref().unwrap_or_default();
        let mut all = lines(old);
        let last = |fit: &Option<Regex>| {
            let fit = fit.as_ref()?;
            all.iter().rposition(|line| fit.is_match(line))
        };
        if let Some(at) = last(&self.regexp) {
            if all[at] == wanted {
                return old.to_owned();
            }
            all[at] = wanted;
        } else if all.contains(&wanted) {
            return old.to_owned();
        } else {
            let at = last(&self.after).map(|at| at + 1).or_else(|| last(&self.before));
            all.insert(at.unwrap_or(all.len()), wanted);
        }
        joined(all)
    }

    fn take(&self, old: &str) -> String {
        let goes = |line: &str| match &self.regexp {
            Some(fit) => fit.is_match(line),
            None => self.line.as_deref() == Some(line),
        };
        let all = lines(old);
        let kept: Vec<&str> = all.iter().copied().filter(|line| !goes(line)).collect();
        if kept.len() == all.len() { old.to_owned() } else { joined(kept) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str, regexp: &str, after: &str, before: &str) -> Parts {
        let fit = |text: &str| (!text.is_empty()).then(|| Regex::new(text).unwrap());
        let line = (!line.is_empty()).then(|| line.to_owned());
        Parts { line, regexp: fit(regexp), after: fit(after), before: fit(before) }
    }

    #[test]
    fn a_line_is_put_where_it_belongs_and_only_once() {
        for (old, line, regexp, after, before, new) in [
            ("", "x", "", "", "", "x\n"),
            ("a\nb\n", "x", "", "", "", "a\nb\nx\n"),
            ("a\nb", "x", "", "", "", "a\nb\nx\n"),
            ("a\nx\nb", "x", "", "", "", "a\nx\nb"),
            ("a=1\nb=2\na=3\n", "a=9", "^a=", "", "", "a=1\nb=2\na=9\n"),
            ("b=2\n", "a=9", "^a=", "", "", "b=2\na=9\n"),
            ("a=9\n", "a=9", "^a=", "", "", "a=9\n"),
            ("[s]\nk\n[t]\n", "x", "", r"^\[s\]", "", "[s]\nx\nk\n[t]\n"),
            ("[s]\nk\n[t]\n", "x", "", "", r"^\[t\]", "[s]\nk\nx\n[t]\n"),
            ("a\n", "x", "", "^none", "", "a\nx\n"),
            ("#port 22\n", "port 2222", "^#?port", "", "", "port 2222\n"),
        ] {
            let parts = parts(line, regexp, after, before);
            assert_eq!(parts.put(old), new, "{old:?} {line}");
            assert_eq!(parts.put(new), new, "twice: {old:?} {line}");
        }
    }

    #[test]
    fn lines_are_taken_by_pattern_or_word_for_word() {
        for (old, line, regexp, new) in [
            ("a\nx\nb\nx\n", "x", "", "a\nb\n"),
            ("a\nxx\n", "x", "", "a\nxx\n"),
            ("a=1\nb\na=2", "", "^a=", "b\n"),
            ("a=1\n", "other", "^a=", ""),
            ("no end", "x", "", "no end"),
        ] {
            assert_eq!(parts(line, regexp, "", "").take(old), new, "{old:?}");
        }
    }
}
