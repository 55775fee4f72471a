//! What edits of text share: a file is read as lines, a pure function makes the new text, and the
//! difference is the plan.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::io_at;
use crate::outcome::Change;
use crate::place::{Manner, Place, resolve};
use crate::plan::{Plan, blocking};
use crate::{Host, HostError};

/// Files larger than this are not edited.
pub(crate) const TEXT_MAX: u64 = 16 << 20;

/// Where a text is, and what is done when it is missing.
pub(crate) struct Text {
    pub path: PathBuf,
    pub follow: bool,
    pub create: bool,
}

impl Text {
    /// The plan that turns the text into what `edit` makes of it. A missing file is an empty one where
    /// it may be made; `edit` says in words why a text cannot be edited.
    pub async fn edit(
        self,
        host: &Host,
        edit: impl FnOnce(&str) -> Result<String, String> + Send + 'static,
    ) -> Result<Plan, HostError> {
        let mut path = host.path(&self.path)?;
        if self.follow {
            path = resolve(host, &path)?;
        }
        let name = self.path.display().to_string();
        let create = self.create;
        blocking(move || {
            let old = read_text(&path)?;
            if old.is_none() && !create {
                return Err(io_at("edited", &path)(io::Error::from(io::ErrorKind::NotFound)));
            }
            let made = edit(old.as_deref().unwrap_or_default());
            let new = made.map_err(|problem| HostError::Edit { path: path.clone(), problem })?;
            Ok(write_text(&path, &name, old.as_deref(), new, Manner::default()))
        })
        .await
    }
}

pub(crate) fn read_text(path: &Path) -> Result<Option<String>, HostError> {
    let place = Place::find(path)?;
    match place.map(|place| place.read(TEXT_MAX)).transpose()?.flatten() {
        None => Ok(None),
        Some(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(HostError::NotText { path: path.to_owned() }),
        },
    }
}

/// The plan that puts `new` in place of `old`; nothing where both are the same, or where an empty text
/// would be put in place of none.
pub(crate) fn write_text(
    path: &Path,
    name: &str,
    old: Option<&str>,
    new: String,
    manner: Manner,
) -> Plan {
    if old.unwrap_or_default() == new {
        return Plan::new(format!("{name} is already so"));
    }
    let change = Change::content(name, old.map(str::as_bytes), Some(new.as_bytes()));
    let verb = if old.is_some() { "is edited" } else { "is made" };
    let path = path.to_owned();
    Plan::new(format!("{name} {verb}"))
        .change(change)
        .files(move || Place::make(&path)?.replace(new.as_bytes(), manner))
}

/// Lines without their ends.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    lines
}

/// A text of lines, with an end to each of them.
pub(crate) fn joined<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}

pub(crate) fn pattern(given: &str) -> Result<regex::Regex, HostError> {
    let built = regex::RegexBuilder::new(given).size_limit(4 << 20).build();
    built.map_err(|source| HostError::Pattern {
        given: given.chars().take(200).collect(),
        source: Box::new(source),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_and_joined() {
        assert_eq!(lines(""), Vec::<&str>::new());
        assert_eq!(lines("a"), ["a"]);
        assert_eq!(lines("a\n\nb\n"), ["a", "", "b"]);
        assert_eq!(lines("\n"), [""]);
        assert_eq!(joined(["a", ""]), "a\n\n");
    }
}
