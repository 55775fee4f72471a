//! Doors for the fuzz targets (`crates/fuzz`) to what reads journals and what other machines left. Nothing else
//! uses them.

use std::path::Path;

use crate::Past;
use crate::artifacts::Artifacts;

/// What a journal with these bytes says, and how many of them are whole lines.
pub fn journal(bytes: &[u8]) -> Option<(Past, u64)> {
    Past::parse(Path::new("journal"), bytes).ok()
}

/// Puts an artifact that lies in `folder` into `workdir`, and says whether there is one with this name.
pub fn artifact(folder: &Path, name: &str, workdir: &Path) -> bool {
    let artifacts = Artifacts::new(workdir.join(".none"), vec![folder.to_owned()]);
    artifacts.place(name, workdir).is_ok()
}
