//! What a run proves itself with: tokens of a short life, which are replaced while it runs.
//!
//! They are files beside those of its secrets, in the same directory in memory. Each is replaced as a whole:
//! whoever reads one reads the old one or the new one. When the next ones are due is noted in the run's
//! directory in memory too (`identity`, the agent's own), so that an agent that was started anew goes on
//! where the one before it was.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use hostler_model::{PlacementId, RunId, Timestamp, secret_file_problem};
use hostler_proto::v1;
use hostler_trust::SecretBytes;
use nix::unistd::{Gid, Uid};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::vault::{FILES, Reader, Vault, open_root, write_file};

/// Where the API is.
pub(crate) const ADDRESS_FILE: &str = "hostler-address";
/// The certificate of the API's authority.
pub(crate) const AUTHORITY_FILE: &str = "hostler-ca.pem";
const NOTE: &str = "identity";
const NOTE_MAX: u64 = 4096;

/// Files for a run, and how long they are good for.
pub(crate) struct Proof {
    files: Vec<(String, SecretBytes)>,
    valid: Duration,
}

impl Proof {
    /// Nothing yet, because no server is there: it is asked for as soon as one is.
    pub fn later() -> Proof {
        Proof { files: Vec::new(), valid: Duration::ZERO }
    }

    pub fn of(given: v1::DeliveredIdentity) -> Result<Proof, String> {
        let tokens = given.tokens.into_iter().map(|given| (given.file, given.token));
        let own = [
            (ADDRESS_FILE.to_owned(), given.address),
            (AUTHORITY_FILE.to_owned(), given.authority_pem),
        ];
        let mut files = Vec::new();
        for (name, text) in own.into_iter().chain(tokens) {
            if let Some(why) = secret_file_problem(&name) {
                return Err(format!("a token cannot be put into a file: {why}"));
            }
            files.push((name, SecretBytes::new(text)));
        }
        Ok(Proof { files, valid: Duration::from_secs(u64::from(given.valid_seconds)) })
    }
}

#[derive(Serialize, Deserialize)]
struct Note {
    placement: PlacementId,
    renew: Timestamp,
    valid_seconds: u64,
}

impl Note {
    /// Also when the clock was set back, far from where it was.
    fn is_due(&self, now: Timestamp) -> bool {
        now >= self.renew || self.renew.since(now) > Duration::from_secs(self.valid_seconds)
    }
}

impl Vault {
    /// Puts it in its place, or in the place of what is there. The run has its directory already.
    pub fn prove(
        &self,
        run: RunId,
        placement: PlacementId,
        proof: &Proof,
        now: Timestamp,
    ) -> io::Result<()> {
        let root = self.root.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let outer = open_root(root)?;
        let dir = open_dir(&outer, &run.to_string())?;
        let files = open_dir(&dir, FILES)?;
        let about = rustix::fs::fstat(&files)?;
        let mode = Mode::from_raw_mode(about.st_mode & 0o777);
        let is_own = about.st_uid == rustix::process::geteuid().as_raw();
        let reader = match (mode.contains(Mode::ROTH), is_own) {
            (true, _) => Reader::Container,
            (false, true) => Reader::Agent,
            (false, false) => {
                Reader::User(Uid::from_raw(about.st_uid), Gid::from_raw(about.st_gid))
            }
        };
        rustix::fs::fchmod(&files, mode | Mode::WUSR)?;
        let mut each = proof.files.iter();
        let placed =
            each.try_for_each(|(name, bytes)| replace(&files, name, bytes.expose(), reader));
        rustix::fs::fchmod(&files, mode)?;
        placed?;
        let renew = now.plus(proof.valid * 2 / 3);
        let note = Note { placement, renew, valid_seconds: proof.valid.as_secs() };
        replace(&dir, NOTE, &serde_json::to_vec(&note)?, Reader::Agent)
    }

    /// Runs that need new ones.
    pub fn unproven(&self, now: Timestamp) -> io::Result<Vec<(RunId, PlacementId)>> {
        let Some(root) = &self.root else { return Ok(Vec::new()) };
        let entries = match std::fs::read_dir(root) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        let mut due = Vec::new();
        for entry in entries {
            let entry = entry?;
            let run = entry.file_name().to_str().and_then(|name| name.parse::<RunId>().ok());
            let note = run.zip(read_note(&entry.path().join(NOTE)));
            due.extend(note.filter(|(_, n)| n.is_due(now)).map(|(run, n)| (run, n.placement)));
        }
        Ok(due)
    }
}

/// `None` where there is none: most runs have no identity, and those that end take theirs with them.
fn read_note(path: &Path) -> Option<Note> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    file.take(NOTE_MAX).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn open_dir(around: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::openat(around, name, flags, Mode::empty())?)
}

/// No file that a run is given begins with a dot, so the draft is in nobody's way.
fn replace(dir: &OwnedFd, name: &str, bytes: &[u8], reader: Reader) -> io::Result<()> {
    let draft = format!(".{name}");
    match rustix::fs::unlinkat(dir, draft.as_str(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(e) => return Err(e.into()),
    }
    write_file(dir, &draft, bytes, reader)?;
    Ok(rustix::fs::renameat(dir, draft.as_str(), dir, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::MetadataExt;
    use uuid::Uuid;

    const MINUTE: Duration = Duration::from_mins(1);

    fn given(token: &str) -> v1::DeliveredIdentity {
        v1::DeliveredIdentity {
            tokens: vec![v1::DeliveredToken { file: "hostler-token".into(), token: token.into() }],
            address: "https://h:7443".into(),
            authority_pem: "PEM".into(),
            valid_seconds: 900,
        }
    }

    fn vault() -> (tempfile::TempDir, Vault) {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault { root: Some(dir.path().join("hostler-test")) };
        (dir, vault)
    }

    #[test]
    fn tokens_are_replaced_at_two_thirds_of_their_life() {
        let (_dir, vault) = vault();
        let [run, other] = [1, 2].map(|n| RunId::from_uuid(Uuid::from_u128(n)));
        let placement = PlacementId::from_uuid(Uuid::from_u128(3));
        let start = Timestamp::from_micros(1_790_000_000_000_000);
        for (run, reader) in [(run, Reader::Agent), (other, Reader::Container)] {
            vault.write(run, &[], &BTreeMap::new(), reader).unwrap();
        }
        assert!(vault.unproven(start).unwrap().is_empty());
        let first = Proof::of(given("one")).unwrap();
        for run in [run, other] {
            vault.prove(run, placement, &first, start).unwrap();
        }
        let token = |run| vault.dir(run).unwrap().join("files/hostler-token");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(std::fs::read(token(run)).unwrap(), b"one");
        assert_eq!((mode(&token(run)), mode(&token(other))), (0o400, 0o444));
        assert_eq!(mode(token(run).parent().unwrap()), 0o500, "as it was");
        assert!(vault.unproven(start.plus(MINUTE * 9)).unwrap().is_empty());
        let mut due = vault.unproven(start.plus(MINUTE * 10)).unwrap();
        due.sort();
        assert_eq!(due, [(run, placement), (other, placement)]);
        let second = Proof::of(given("two")).unwrap();
        vault.prove(run, placement, &second, start.plus(MINUTE * 10)).unwrap();
        assert_eq!(std::fs::read(token(run)).unwrap(), b"two");
        let names = std::fs::read_dir(token(run).parent().unwrap()).unwrap();
        assert_eq!(names.count(), 3, "no drafts are left");
        assert_eq!(vault.unproven(start.plus(MINUTE * 10)).unwrap(), [(other, placement)]);
        assert_eq!(vault.unproven(start.minus(MINUTE * 60)).unwrap().len(), 2, "set back");
        vault.remove(other);
        assert!(vault.prove(other, placement, &second, start).is_err(), "it is over");
        assert!(!vault.dir(other).unwrap().exists());
    }

    #[test]
    fn what_could_not_be_had_is_due_at_once_and_odd_names_are_refused() {
        let (_dir, vault) = vault();
        let run = RunId::from_uuid(Uuid::from_u128(1));
        let placement = PlacementId::from_uuid(Uuid::from_u128(3));
        vault.write(run, &[], &BTreeMap::new(), Reader::Agent).unwrap();
        let now = Timestamp::from_micros(1_790_000_000_000_000);
        vault.prove(run, placement, &Proof::later(), now).unwrap();
        assert_eq!(vault.unproven(now).unwrap(), [(run, placement)]);
        let mut odd = given("x");
        odd.tokens[0].file = "../x".into();
        assert!(Proof::of(odd).is_err());
    }
}
