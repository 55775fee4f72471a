//! Lines of a file between two markers.
//!
//! The markers are lines of their own. A block that is there is replaced in place; a new one is added
//! at the end. Markers that do not pair are refused, because nobody knows what is between them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::text::{Text, joined, lines};
use crate::plan::{Plan, Primitive};
use crate::values::one_line;
use crate::{Host, HostError};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub path: PathBuf,
    #[serde(default)]
    pub block: String,
    #[serde(default = "marker_begin")]
    pub marker_begin: String,
    #[serde(default = "marker_end")]
    pub marker_end: String,
    /// Whether a missing file is made.
    #[serde(default)]
    pub create: bool,
    #[serde(default)]
    pub follow: bool,
}

fn marker_begin() -> String {
    "# BEGIN MANAGED BLOCK".to_owned()
}

fn marker_end() -> String {
    "# END MANAGED BLOCK".to_owned()
}

impl Block {
    pub fn new(path: impl Into<PathBuf>, block: impl Into<String>) -> Block {
        Block {
            path: path.into(),
            block: block.into(),
            marker_begin: marker_begin(),
            marker_end: marker_end(),
            create: false,
            follow: false,
        }
    }

    fn validate(&self) -> Result<(), HostError> {
        one_line("the marker", &self.marker_begin)?;
        one_line("the marker", &self.marker_end)?;
        if self.marker_begin.trim().is_empty() || self.marker_begin == self.marker_end {
            let problem = "the two markers must be different lines with something in them";
            return Err(HostError::invalid("the marker", &self.marker_begin, problem));
        }
        let is_marker = |line: &&str| *line == self.marker_begin || *line == self.marker_end;
        match lines(&self.block).iter().find(|line| is_marker(line)) {
            Some(line) => {
                Err(HostError::invalid("the block", *line, "it has a marker as one of its lines"))
            }
            None => Ok(()),
        }
    }

    /// Where the markers are.
    fn find(&self, all: &[&str]) -> Result<Option<(usize, usize)>, String> {
        let at = |marker: &str| -> Vec<usize> {
            all.iter().enumerate().filter(|(_, line)| **line == marker).map(|(at, _)| at).collect()
        };
        match (at(&self.marker_begin).as_slice(), at(&self.marker_end).as_slice()) {
            ([], []) => Ok(None),
            ([begin], [end]) if begin < end => Ok(Some((*begin, *end))),
            _ => Err(format!(
                "its markers `{}` and `{}` do not pair; mend them by hand",
                self.marker_begin, self.marker_end
            )),
        }
    }

    fn put(&self, old: &str) -> Result<String, String> {
        let all = lines(old);
        let (head, tail) = match self.find(&all)? {
            Some((begin, end)) => (&all[..begin], &all[end + 1..]),
            None => (&all[..], &[][..]),
        };
        let inside = lines(&self.block);
        let made = head
            .iter()
            .copied()
            .chain([self.marker_begin.as_str()])
            .chain(inside)
            .chain([self.marker_end.as_str()])
            .chain(tail.iter().copied());
        let made = joined(made);
        let is_same = made.strip_suffix('\n') == Some(old);
        Ok(if is_same { old.to_owned() } else { made })
    }

    fn take(&self, old: &str) -> Result<String, String> {
        let all = lines(old);
        match self.find(&all)? {
            None => Ok(old.to_owned()),
            Some((begin, end)) => Ok(joined(all[..begin].iter().chain(&all[end + 1..]).copied())),
        }
    }
}

impl Primitive for Block {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        self.validate()?;
        let block = self.clone();
        let text = Text { path: self.path.clone(), follow: self.follow, create: self.create };
        text.edit(host, move |old| block.put(old)).await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        self.validate()?;
        let block = self.clone();
        let text = Text { path: self.path.clone(), follow: self.follow, create: true };
        text.edit(host, move |old| block.take(old)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        Block {
            marker_begin: "# B".to_owned(),
            marker_end: "# E".to_owned(),
            ..Block::new("/x", text)
        }
    }

    #[test]
    fn a_block_is_put_once_and_replaced_in_place() {
        for (old, text, new) in [
            ("", "x", "# B\nx\n# E\n"),
            ("a\n", "x\ny\n", "a\n# B\nx\ny\n# E\n"),
            ("a", "x", "a\n# B\nx\n# E\n"),
            ("a\n# B\nold\nold\n# E\nb\n", "x", "a\n# B\nx\n# E\nb\n"),
            ("# B\nx\n# E", "x", "# B\nx\n# E"),
            ("a\n", "", "a\n# B\n# E\n"),
        ] {
            assert_eq!(block(text).put(old).unwrap(), new, "{old:?}");
            assert_eq!(block(text).put(new).unwrap(), new, "twice: {old:?}");
        }
    }

    #[test]
    fn a_block_is_taken_with_its_markers() {
        assert_eq!(block("").take("a\n# B\nx\n# E\nb\n").unwrap(), "a\nb\n");
        assert_eq!(block("").take("a\nb").unwrap(), "a\nb");
    }

    #[test]
    fn markers_that_do_not_pair_are_refused() {
        for old in ["# B\nx\n", "x\n# E\n", "# E\n# B\n", "# B\n# B\n# E\n", "# B\n# E\n# B\n# E\n"]
        {
            assert!(block("x").put(old).is_err(), "{old:?}");
            assert!(block("x").take(old).is_err(), "{old:?}");
        }
        assert!(block("a\n# E\nb").validate().is_err());
        assert!(Block { marker_end: "# B".to_owned(), ..block("x") }.validate().is_err());
        assert!(Block { marker_begin: "a\nb".to_owned(), ..block("x") }.validate().is_err());
    }
}
