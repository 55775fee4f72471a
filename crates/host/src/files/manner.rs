//! Owner and mode of something that is there, compared with what is told.

use rustix::fs::Stat;

use crate::outcome::Change;
use crate::place::Manner;
use crate::values::Mode;

/// What would be different about it, named as the machine knows it.
pub(crate) fn manner_changes(name: &str, manner: Manner, stat: &Stat) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut compare = |what: &str, before: String, after: Option<String>| {
        if let Some(after) = after.filter(|after| *after != before) {
            changes.push(Change::altered(format!("{what} of {name}"), before, after));
        }
    };
    let mode = |bits: u32| Mode::new(bits).to_string();
    compare("mode", mode(stat.st_mode), manner.mode.map(mode));
    compare("owner", stat.st_uid.to_string(), manner.uid.map(|uid| uid.to_string()));
    compare("group", stat.st_gid.to_string(), manner.gid.map(|gid| gid.to_string()));
    changes
}
