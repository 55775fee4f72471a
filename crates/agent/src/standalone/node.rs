//! Who an agent is that nobody gave an identity: an id that stays, and the machine's own name.

use std::path::Path;

use hostler_base::{Ids, fs, host};
use hostler_model::{Name, NodeId};
use uuid::Uuid;

use crate::facts::text;

const ID_FILE: &str = "standalone-id";
const MACHINE_IDS: [&str; 2] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/// The id follows from the machine's; where it has none, a fresh one is kept in the data directory.
pub(crate) fn this_node(data_dir: &Path) -> Result<(NodeId, Name), fs::Error> {
    let machine = MACHINE_IDS.iter().map(|path| text(path).trim().to_owned());
    let is_id = |id: &String| id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit());
    let id = match machine.into_iter().find(is_id) {
        Some(machine) => NodeId::from_uuid(derived(&["standalone-node", &machine])),
        None => kept_id(&data_dir.join(ID_FILE))?,
    };
    Ok((id, node_name(&host::host_name())))
}

fn kept_id(path: &Path) -> Result<NodeId, fs::Error> {
    let kept = fs::read_optional(path)?;
    let kept = kept.and_then(|bytes| String::from_utf8(bytes).ok()?.trim().parse().ok());
    match kept {
        Some(id) => Ok(id),
        None => {
            let id: NodeId = Ids::system().fresh();
            fs::write_atomic(path, format!("{id}\n").as_bytes(), 0o644)?;
            Ok(id)
        }
    }
}

/// An id that follows from words: the same for the same, another for others.
pub(super) fn derived(words: &[&str]) -> Uuid {
    let hash = blake3::hash(words.join("/").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

fn node_name(host: &str) -> Name {
    let first = host.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let label: String = first
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(Name::MAX)
        .collect();
    let local = || "localhost".parse().expect("a word of lowercase letters is a name");
    label.trim_matches('-').parse().unwrap_or_else(|_| local())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_words_and_are_marked_as_made_here() {
        let id = derived(&["standalone", "default", "web"]);
        assert_eq!(id, derived(&["standalone", "default", "web"]));
        assert_ne!(id, derived(&["standalone", "default", "api"]));
        assert_eq!(id.get_version_num(), 8);
    }

    #[test]
    fn an_id_without_a_machine_id_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ID_FILE);
        let first = kept_id(&path).unwrap();
        assert_eq!(kept_id(&path).unwrap(), first);
    }

    #[test]
    fn host_names_become_names() {
        assert_eq!(node_name("Pi_4.lan").as_str(), "pi-4");
        assert_eq!(node_name("--").as_str(), "localhost");
    }
}
