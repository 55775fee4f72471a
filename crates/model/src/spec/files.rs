//! Files that are put before a task, and files that it leaves: blobs, by their digest.

use serde::{Deserialize, Serialize};

use super::{Mode, Problems, WorkloadSpec};
use crate::Digest;

const FILES_MAX: usize = 1000;
const PATH_MAX: usize = 1024;

/// A file, or an archive, that is put into the run's working directory before it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Digest of a blob of the project.
    pub blob: Digest,
    /// Where it goes, relative to the working directory. Of an archive: the directory it is unpacked
    /// into, `.` for the working directory itself.
    pub path: String,
    /// Permissions in octal; `644` when absent. Not for archives, which bring their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// It is a tar archive (plain, gzip or zstd) to be unpacked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpack: bool,
}

impl Input {
    pub fn mode_bits(&self) -> u32 {
        self.mode.as_deref().and_then(super::parse_umask).unwrap_or(0o644)
    }
}

/// A file, or a directory, that is kept when the run has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Relative to the working directory; `*` and `?` stand for anything within one name. A directory
    /// is kept as a tar archive.
    pub path: String,
    /// What it is called; its path when absent. Where several files fit the path, they keep theirs
    /// below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "OutputWhen::is_default")]
    pub when: OutputWhen,
}

crate::labels! {
    /// After which ends outputs are kept.
    #[derive(Default)]
    pub enum OutputWhen ("output condition") {
        /// When the run has succeeded.
        #[default]
        Success = "success",
        /// However it ended.
        Always = "always",
    }
}

impl OutputWhen {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    fn is_default(&self) -> bool {
        *self == OutputWhen::default()
    }
}

/// Why this cannot be a place in the working directory, or `None`.
pub fn inner_path_problem(path: &str) -> Option<&'static str> {
    if path.is_empty() || path.len() > PATH_MAX || path.contains(char::is_control) {
        return Some("a path has 1 to 1024 printable characters");
    }
    if path.starts_with('/') {
        return Some("the path is relative to the run's working directory");
    }
    let mut parts = path.split('/');
    parts.any(|part| part == "..").then_some("`..` would lead out of the working directory")
}

impl WorkloadSpec {
    pub(super) fn look_at_files(&self, say: &mut Problems<'_>) {
        if self.inputs.is_empty() && self.outputs.is_empty() {
            return;
        }
        let at = if self.inputs.is_empty() { "/outputs" } else { "/inputs" };
        if self.mode != Mode::Once {
            say.at(at, "files are for tasks; a service finds what it needs on its node");
        }
        if self.workdir.is_some() {
            say.at("/workdir", "files go to and come from the run's own directory; leave it out");
        }
        for (at, count) in [("/inputs", self.inputs.len()), ("/outputs", self.outputs.len())] {
            if count > FILES_MAX {
                say.at(at, "at most 1000; put them into an archive or a directory");
            }
        }
        for (i, input) in self.inputs.iter().enumerate() {
            input.look(&format!("/inputs/{i}"), say);
        }
        for (i, output) in self.outputs.iter().enumerate() {
            output.look(&format!("/outputs/{i}"), say);
        }
    }
}

impl Input {
    fn look(&self, at: &str, say: &mut Problems<'_>) {
        if let Some(why) = inner_path_problem(&self.path) {
            say.at(&format!("{at}/path"), why);
        }
        let is_place = self.path.split('/').all(|part| part.is_empty() || part == ".");
        if !self.unpack && (is_place || self.path.ends_with('/')) {
            say.at(&format!("{at}/path"), "a file needs a name; with `unpack` it is a directory");
        }
        match &self.mode {
            Some(_) if self.unpack => {
                say.at(&format!("{at}/mode"), "an archive brings its own permissions");
            }
            Some(mode) if super::parse_umask(mode).is_none() => {
                say.at(&format!("{at}/mode"), "permissions are three octal digits, such as '755'");
            }
            Some(_) | None => {}
        }
    }
}

impl Output {
    fn look(&self, at: &str, say: &mut Problems<'_>) {
        if let Some(why) = inner_path_problem(&self.path) {
            say.at(&format!("{at}/path"), why);
        }
        if let Some(name) = &self.name
            && let Some(why) = inner_path_problem(name)
        {
            say.at(&format!("{at}/name"), why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(inputs: Vec<Input>, outputs: Vec<Output>) -> Vec<String> {
        let spec = WorkloadSpec { inputs, outputs, ..WorkloadSpec::command(["true"]) };
        spec.problems("").into_iter().map(|problem| problem.pointer).collect()
    }

    fn input(path: &str) -> Input {
        Input { blob: Digest::from_bytes([7; 32]), path: path.into(), mode: None, unpack: false }
    }

    #[test]
    fn places_outside_the_working_directory_are_refused() {
        for good in ["a", "a/b.txt", "./a", "..a", "a..b/c"] {
            assert!(problems(vec![input(good)], Vec::new()).is_empty(), "{good}");
        }
        for bad in ["", "/etc/passwd", "..", "a/../../b", "a\0b", ".", "a/", &"x".repeat(2000)] {
            assert!(!problems(vec![input(bad)], Vec::new()).is_empty(), "{bad}");
        }
        let unpacked = Input { unpack: true, ..input(".") };
        assert!(problems(vec![unpacked], Vec::new()).is_empty());
        let output = Output { path: "../x".into(), name: None, when: OutputWhen::Always };
        assert_eq!(problems(Vec::new(), vec![output]), ["/outputs/0/path"]);
    }

    #[test]
    fn permissions_are_octal_and_not_for_archives() {
        let with = |mode: &str, unpack| Input { mode: Some(mode.into()), unpack, ..input("a") };
        assert!(problems(vec![with("755", false)], Vec::new()).is_empty());
        assert_eq!(with("755", false).mode_bits(), 0o755);
        assert_eq!(problems(vec![with("4755", false)], Vec::new()), ["/inputs/0/mode"]);
        assert_eq!(problems(vec![with("755", true)], Vec::new()), ["/inputs/0/mode"]);
    }
}
