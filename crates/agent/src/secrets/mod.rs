//! Secrets of runs on this node.
//!
//! *How they come.* Just before a run starts, the agent asks the server of its session for what the
//! placement's workload names (`fetch`), over a connection of its own with the node's certificate. The
//! server decides what that is.
//!
//! *Where they are.* In memory, and nowhere else: a directory of the run on a memory file system
//! (`vault`), which its shim, its hooks and commands beside it read, and which goes when the run ends. The
//! ledger, the run's directory and every record know names only. What a crash leaves in memory the next
//! agent removes; a reboot leaves nothing.
//!
//! *Without a server.* The agent remembers, in its own memory, what it was given for services, and starts
//! them again with it as long as no server can be reached. An agent that was itself started anew remembers
//! nothing: the run then waits, and says so, until a server is there.
//!
//! *What a run prints* is scrubbed by its shim before it is written (`hostler_trust::scrub`): the value of a secret, and
//! what usual encodings make of it, is replaced by `[secret:NAME]`. So is what commands beside it print.
//!
//! *What a run proves itself with* are tokens that live shortly; they come the same way, and are replaced
//! while it runs (`proof`).

mod fetch;
mod proof;
mod vault;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use fetch::{Secrets, Unfetched};
pub(crate) use hostler_trust::scrub::{Forms, Scrub};
pub(crate) use proof::{ADDRESS_FILE, AUTHORITY_FILE};
pub(crate) use vault::{FILES, Given, Reader, forms_of, remove, variables};

/// A directory of this agent on a memory file system, through which every user of the machine may go and in which only
/// the agent makes names; nothing where there is none.
pub(crate) fn passage(data_dir: &Path) -> Option<PathBuf> {
    let root = vault::Vault::new(data_dir).root?;
    let name = format!("{}-steps", root.file_name()?.to_str()?);
    let passage = root.with_file_name(name);
    vault::open_root(&passage).ok().map(|_it_is_ours| passage)
}

/// Takes the values of secrets, by their names, out of texts, in every form that what a run prints is searched for.
pub fn scrubber(secrets: &BTreeMap<String, String>) -> impl Fn(&str) -> String + use<> {
    let forms = Forms::of(secrets.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
    let forms = forms.map(Arc::new);
    move |text| match &forms {
        Some(forms) => String::from_utf8_lossy(&forms.clean(text.as_bytes())).into_owned(),
        None => text.to_owned(),
    }
}
