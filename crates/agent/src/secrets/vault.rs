//! Where the secrets of a run are while it runs: a directory on a memory file system.
//!
//! | path below `/dev/shm/hostler-…/<run id>/` | whose | what |
//! |---|---|---|
//! | `values` | the agent's | every value with its name, and the variable that holds it |
//! | `files/` | the run's user | one file for each secret that is given so, and for each token |
//! | `identity` | the agent's | when its tokens are to be replaced (`proof`) |
//!
//! The directory around all runs belongs to the agent, and whoever it does not belong to is not trusted:
//! anybody may make directories in `/dev/shm`. Nothing is written through a name that others could have
//! changed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hostler_model::{RunId, SecretUse};
use hostler_trust::SecretBytes;
use nix::unistd::{Gid, Uid};
use rustix::fs::{AtFlags, Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::Forms;
use crate::container::data_label;
use crate::rundir::RunDir;

const PLACES: [&str; 2] = ["/dev/shm", "/run"];
/// tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
const VALUES: &str = "values";
/// What a run sees.
pub(crate) const FILES: &str = "files";

/// What a run is given, as its record says: names, and where the values are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    pub uses: Vec<SecretUse>,
    /// Tokens with which it proves itself, too.
    #[serde(default)]
    pub has_identity: bool,
    /// Absent where the node has no memory file system.
    pub dir: Option<PathBuf>,
}

impl Given {
    /// The directory with its files, where it has any.
    pub fn files(&self) -> Option<PathBuf> {
        self.dir.as_ref().filter(|_| self.has_files()).map(|dir| dir.join(FILES))
    }

    pub fn has_files(&self) -> bool {
        self.has_identity || self.uses.iter().any(|given| given.file.is_some())
    }
}

/// Whom the files are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The agent's own user.
    Agent,
    User(Uid, Gid),
    /// Whoever the program in a container runs as.
    Container,
}

/// A value, what it is called, and the variable that holds it.
struct Value {
    name: String,
    variable: Option<String>,
    bytes: SecretBytes,
}

pub(crate) struct Vault {
    pub(super) root: Option<PathBuf>,
}

impl Vault {
    pub fn new(data_dir: &Path) -> Vault {
        let hash = blake3::hash(data_label(data_dir).as_bytes()).to_hex();
        let name = format!("hostler-{}", &hash[..16]);
        let place = PLACES.into_iter().map(Path::new).find(|place| is_in_memory(place));
        Vault { root: place.map(|place| place.join(name)) }
    }

    /// Where the secrets of a run would be.
    pub fn dir(&self, run: RunId) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join(run.to_string()))
    }

    /// Puts everything in its place, anew.
    pub fn write(
        &self,
        run: RunId,
        uses: &[SecretUse],
        values: &BTreeMap<String, SecretBytes>,
        reader: Reader,
    ) -> io::Result<()> {
        let root = self.root.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        let outer = open_root(root)?;
        remove(&root.join(run.to_string()));
        let dir = make(&outer, &run.to_string())?;
        let files = make(&dir, FILES)?;
        let mut document = Vec::new();
        for given in uses {
            let name = given.secret.to_string();
            let value = values.get(&name).ok_or(io::ErrorKind::NotFound)?.expose();
            put(&mut document, name.as_bytes());
            put(&mut document, given.env.as_deref().unwrap_or_default().as_bytes());
            put(&mut document, value);
            if let Some(name) = &given.file {
                write_file(&files, name, value, reader)?;
            }
        }
        write_file(&dir, VALUES, &document, Reader::Agent)?;
        // Only now, when nothing is to be made in it any more.
        let (inner, around) = match reader {
            Reader::Agent => (0o500, 0o700),
            Reader::Container => (0o555, 0o700),
            Reader::User(uid, gid) => {
                nix::unistd::fchown(&files, Some(uid), Some(gid))?;
                (0o500, 0o711)
            }
        };
        rustix::fs::fchmod(&files, Mode::from_raw_mode(inner))?;
        rustix::fs::fchmod(&dir, Mode::from_raw_mode(around))?;
        Ok(())
    }

    /// What is to be taken out of what a run prints, if anything is.
    pub fn forms(&self, run: RunId) -> io::Result<Option<Arc<Forms>>> {
        let Some(dir) = self.dir(run) else { return Ok(None) };
        match forms_of(&dir) {
            Ok(forms) => Ok(forms.map(Arc::new)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub fn remove(&self, run: RunId) {
        if let Some(dir) = self.dir(run) {
            remove(&dir);
        }
    }

    /// Removes what belongs to runs for which nobody acts any more.
    pub fn sweep(&self, runs: &Path) -> io::Result<()> {
        let Some(root) = &self.root else { return Ok(()) };
        let entries = match std::fs::read_dir(root) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(e),
        };
        open_root(root)?;
        for entry in entries {
            let name = entry?.file_name();
            let run = name.to_str().and_then(|name| name.parse::<RunId>().ok());
            let is_live = run.is_some_and(|run| {
                let dir = RunDir::open_path(&runs.join(run.to_string()));
                dir.and_then(|dir| dir.try_lock()).is_ok_and(|is_free| !is_free)
            });
            if !is_live {
                remove(&root.join(name));
            }
        }
        Ok(())
    }
}

fn is_in_memory(place: &Path) -> bool {
    let system = rustix::fs::statfs(place);
    system.is_ok_and(|system| u64::try_from(system.f_type).is_ok_and(|t| IN_MEMORY.contains(&t)))
}

/// The directory around all runs, which has to be ours.
pub(super) fn open_root(root: &Path) -> io::Result<OwnedFd> {
    match rustix::fs::mkdir(root, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(e) => return Err(e.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let dir = rustix::fs::open(root, flags, Mode::empty())?;
    if rustix::fs::fstat(&dir)?.st_uid != rustix::process::geteuid().as_raw() {
        let why = format!("{} belongs to somebody else; remove it", root.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    rustix::fs::fchmod(&dir, Mode::from_raw_mode(0o711))?;
    Ok(dir)
}

fn make(around: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    rustix::fs::mkdirat(around, name, Mode::RWXU)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::openat(around, name, flags, Mode::empty())?)
}

pub(super) fn write_file(
    dir: &OwnedFd,
    name: &str,
    bytes: &[u8],
    reader: Reader,
) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(bytes)?;
    let mode = match reader {
        Reader::Agent => 0o400,
        Reader::Container => 0o444,
        Reader::User(uid, gid) => {
            nix::unistd::fchown(&file, Some(uid), Some(gid))?;
            0o400
        }
    };
    Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?)
}

/// Removes the secrets of a run; links in it are not followed.
pub(crate) fn remove(dir: &Path) {
    // The files' directory may not be written by its owner, which would keep us from emptying it.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    if let Ok(files) = rustix::fs::open(dir.join(FILES), flags, Mode::empty()) {
        let _ = rustix::fs::fchmod(&files, Mode::RWXU);
    }
    match std::fs::remove_dir_all(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            let _ = rustix::fs::unlinkat(rustix::fs::CWD, dir, AtFlags::empty());
        }
        Ok(()) | Err(_) => {}
    }
}

fn put(document: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    document.extend_from_slice(&length.to_le_bytes());
    document.extend_from_slice(bytes);
}

fn take<'d>(document: &mut &'d [u8]) -> Option<&'d [u8]> {
    let (length, rest) = document.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (bytes, rest) = rest.split_at_checked(length)?;
    *document = rest;
    Some(bytes)
}

fn read(dir: &Path) -> io::Result<Vec<Value>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut document = Vec::new();
    File::from(rustix::fs::open(dir.join(VALUES), flags, Mode::empty())?)
        .read_to_end(&mut document)?;
    let document = SecretBytes::new(document);
    let (mut rest, mut values) = (document.expose(), Vec::new());
    while !rest.is_empty() {
        let mut next = || take(&mut rest).ok_or(io::Error::from(io::ErrorKind::InvalidData));
        let (name, variable, bytes) = (next()?, next()?, next()?);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        values.push(Value {
            name: text(name),
            variable: Some(text(variable)).filter(|name| !name.is_empty()),
            bytes: SecretBytes::new(bytes),
        });
    }
    Ok(values)
}

/// What is to be taken out of what a run prints; `None` when there is nothing.
pub(crate) fn forms_of(dir: &Path) -> io::Result<Option<Forms>> {
    let values = read(dir)?;
    Ok(Forms::of(values.iter().map(|value| (value.name.as_str(), value.bytes.expose()))))
}

/// The variables that hold secrets of a run.
pub(crate) fn variables(given: &Given) -> Result<BTreeMap<String, String>, String> {
    if given.uses.iter().all(|given| given.env.is_none()) {
        return Ok(BTreeMap::new());
    }
    let dir = given.dir.as_ref().ok_or("there is no place in memory for its secrets")?;
    let values = read(dir).map_err(|e| format!("its secrets cannot be read: {e}"))?;
    let with_variable = values.into_iter().filter(|value| value.variable.is_some());
    with_variable
        .map(|Value { name, variable, bytes }| {
            let text = std::str::from_utf8(bytes.expose()).ok().filter(|text| !text.contains('\0'));
            let text = text.ok_or_else(|| {
                format!(
                    "the secret `{name}` is not text and cannot be in a variable; give it as a file"
                )
            })?;
            Ok((variable.unwrap_or_default(), text.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use uuid::Uuid;

    fn vault() -> (tempfile::TempDir, Vault) {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault { root: Some(dir.path().join("hostler-test")) };
        (dir, vault)
    }

    fn uses() -> Vec<SecretUse> {
        let given = |secret: &str, env: Option<&str>, file: Option<&str>| SecretUse {
            secret: secret.parse().unwrap(),
            env: env.map(str::to_owned),
            file: file.map(str::to_owned),
        };
        vec![given("db", Some("DB"), None), given("prod/key:2", None, Some("tls.key"))]
    }

    fn values() -> BTreeMap<String, SecretBytes> {
        let value = |name: &str, bytes: &[u8]| (name.to_owned(), SecretBytes::new(bytes));
        BTreeMap::from([value("db", b"hunter2!"), value("prod/key:2", b"\0\xff binary")])
    }

    #[test]
    fn secrets_are_written_read_and_removed() {
        let (_dir, vault) = vault();
        let run = RunId::from_uuid(Uuid::from_u128(7));
        for _ in 0..2 {
            vault.write(run, &uses(), &values(), Reader::Agent).unwrap();
        }
        let dir = vault.dir(run).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(std::fs::read(dir.join("files/tls.key")).unwrap(), b"\0\xff binary");
        assert!(!dir.join("files/db").exists());
        assert_eq!(mode(&dir.join("files/tls.key")), 0o400);
        assert_eq!(
            (mode(&dir), mode(&dir.join(FILES)), mode(&dir.join(VALUES))),
            (0o700, 0o500, 0o400)
        );
        let given = Given { uses: uses(), has_identity: false, dir: Some(dir.clone()) };
        assert_eq!(variables(&given).unwrap(), BTreeMap::from([("DB".into(), "hunter2!".into())]));
        let forms = vault.forms(run).unwrap().unwrap();
        assert_eq!(forms.clean(b"pw hunter2!\n"), b"pw [secret:db]\n");
        vault.remove(run);
        assert!(!dir.exists());
        assert!(vault.forms(run).unwrap().is_none());
        assert!(variables(&given).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn what_is_not_text_is_no_variable() {
        let (_dir, vault) = vault();
        let run = RunId::from_uuid(Uuid::from_u128(8));
        let mut uses = uses();
        (uses[1].env, uses[1].file) = (Some("KEY".to_owned()), None);
        vault.write(run, &uses, &values(), Reader::Container).unwrap();
        let given = Given { uses, has_identity: false, dir: vault.dir(run) };
        let why = variables(&given).unwrap_err();
        assert!(why.contains("prod/key:2") && !why.contains("binary"), "{why}");
    }

    #[test]
    fn what_nobody_acts_for_is_swept_away() {
        let (dir, vault) = vault();
        let runs = dir.path().join("runs");
        let [live, dead, gone] = [1, 2, 3].map(|n| RunId::from_uuid(Uuid::from_u128(n)));
        for run in [live, dead] {
            std::fs::create_dir_all(runs.join(run.to_string())).unwrap();
        }
        vault.sweep(&runs).unwrap();
        for run in [live, dead, gone] {
            vault.write(run, &uses(), &values(), Reader::Agent).unwrap();
        }
        let held = RunDir::open_path(&runs.join(live.to_string())).unwrap();
        assert!(held.try_lock().unwrap());
        vault.sweep(&runs).unwrap();
        let is_there = |run| vault.dir(run).unwrap().exists();
        assert_eq!([live, dead, gone].map(is_there), [true, false, false]);
    }

    #[test]
    fn memory_is_told_from_disks() {
        assert!(!is_in_memory(Path::new("/proc")));
        assert!(!is_in_memory(Path::new("/not/there")));
    }
}
