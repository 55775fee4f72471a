//! What came of it: whether something changed, what to tell a person, and the differences.
//!
//! A [`Change`] is one thing that is (or would be) different. Contents of files are kept whole where
//! they are text of a reasonable size, so that [`Change::unified`] can show the lines; anything else
//! is described by its size and digest, and what is secret by nothing but the word.

use serde::{Deserialize, Serialize};

use crate::diff;
use crate::digest::sha256_hex;

/// Contents up to here are kept in a change.
const CONTENT_MAX: usize = 256 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whether something is different now, or would be after a check.
    pub changed: bool,
    pub message: String,
    pub diff: Vec<Change>,
    /// What programs said on the way, bounded; empty after a check.
    pub output: String,
}

impl Outcome {
    pub fn unchanged(message: impl Into<String>) -> Outcome {
        Outcome { message: message.into(), ..Outcome::default() }
    }

    /// All differences as text, contents as unified diffs.
    pub fn render(&self) -> String {
        self.diff.iter().map(Change::unified).collect()
    }
}

/// One difference. `None` before means that it was not there, `None` after that it is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub what: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Change {
    pub fn new(
        what: impl Into<String>,
        before: Option<impl Into<String>>,
        after: Option<impl Into<String>>,
    ) -> Change {
        Change { what: what.into(), before: before.map(Into::into), after: after.map(Into::into) }
    }

    pub fn added(what: impl Into<String>, after: impl Into<String>) -> Change {
        Change { what: what.into(), before: None, after: Some(after.into()) }
    }

    pub fn removed(what: impl Into<String>, before: impl Into<String>) -> Change {
        Change { what: what.into(), before: Some(before.into()), after: None }
    }

    pub fn altered(
        what: impl Into<String>,
        before: impl Into<String>,
        after: impl Into<String>,
    ) -> Change {
        Change { what: what.into(), before: Some(before.into()), after: Some(after.into()) }
    }

    /// The contents of a file, kept or described.
    pub(crate) fn content(
        what: impl Into<String>,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Change {
        let is_shown = [before, after].into_iter().flatten().all(is_showable);
        let keep = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) if is_shown => text.to_owned(),
            _ => format!("({} bytes, sha256 {})", bytes.len(), sha256_hex(bytes)),
        };
        Change { what: what.into(), before: before.map(keep), after: after.map(keep) }
    }

    /// The difference as text: a unified diff where one side has lines, one line otherwise.
    pub fn unified(&self) -> String {
        let has_lines = |side: &Option<String>| side.as_ref().is_some_and(|s| s.contains('\n'));
        if has_lines(&self.before) || has_lines(&self.after) {
            let old = self.before.as_deref();
            let new = self.after.as_deref();
            return diff::unified(&self.what, old, new);
        }
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => format!("{}: {before} -> {after}\n", self.what),
            (None, Some(after)) => format!("+ {}: {after}\n", self.what),
            (Some(before), None) => format!("- {}: {before}\n", self.what),
            (None, None) => format!("{}\n", self.what),
        }
    }
}

fn is_showable(bytes: &[u8]) -> bool {
    bytes.len() <= CONTENT_MAX && !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_are_one_line_each() {
        let outcome = Outcome {
            changed: true,
            diff: vec![
                Change::altered("mode of /etc/x", "0644", "0600"),
                Change::added("package nginx", "installed"),
                Change::removed("user ann", "uid 1000"),
            ],
            ..Outcome::default()
        };
        assert_eq!(
            outcome.render(),
            "mode of /etc/x: 0644 -> 0600\n+ package nginx: installed\n- user ann: uid 1000\n"
        );
    }

    #[test]
    fn what_is_no_text_or_too_much_is_described() {
        let change = Change::content("/x", Some(b"plain\n"), Some(&[0, 1, 2]));
        assert!(change.before.unwrap().starts_with("(6 bytes, sha256 "));
        assert!(change.after.unwrap().starts_with("(3 bytes, sha256 ae4b3280"));
        let large = vec![b'a'; CONTENT_MAX + 1];
        let change = Change::content("/x", None, Some(&large));
        assert!(change.after.unwrap().starts_with("(262145 bytes"));
        let change = Change::content("/x", None, Some(b"a\n"));
        assert_eq!(change.after.as_deref(), Some("a\n"));
    }
}
