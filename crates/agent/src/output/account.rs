//! How much output of a project lies on this node, where all who write some of it see it.
//!
//! A project's account is a small file, `shares/NAME`: the node's share of the project's quota, its number,
//! how much is kept, and up to which number that is within the share. Every shim has the account of its
//! project open and asks it before each frame ([`Account::take`]), so that the share is kept to the byte,
//! with or without an agent.
//!
//! The file's lock makes it exact. Without a share, shims hold it together, only to notice when there is one.
//! With one, each holds it alone from the moment in which it takes room until what it wrote is in its
//! segment, or it has removed one of its own and given the room back. So whoever has it alone sees files that
//! are as the account says. A shim that is killed in between leaves an account that says too much, never too
//! little; so does whoever removes output without asking. The agent counts again now and then
//! (`accounts`).

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};

/// Beside the runs.
pub(super) const SHARES: &str = "shares";
/// No share: as much as there is room for.
const UNLIMITED: u64 = u64::MAX;
const SIZE: usize = 32;
const KEPT_AT: u64 = 16;
/// In place of what is kept, where nothing is counted: somebody waits to have the account alone.
const KNOCKED: u64 = 1;

/// What an account says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// `None` where nothing limits it.
    pub share: Option<u64>,
    /// Of the share.
    pub generation: u64,
    pub kept: u64,
    /// The share of this number has come into force: what was beyond it is gone.
    pub settled: u64,
}

impl Standing {
    fn encode(&self) -> [u8; SIZE] {
        let share = self.share.unwrap_or(UNLIMITED);
        let mut bytes = [0; SIZE];
        let words = [share, self.generation, self.kept, self.settled];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8; SIZE]) -> Standing {
        let word = |at: usize| {
            u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap_or_default())
        };
        Standing {
            share: Some(word(0)).filter(|share| *share != UNLIMITED),
            generation: word(1),
            kept: word(2),
            settled: word(3),
        }
    }
}

/// One project's account, as one process has it open.
pub struct Account {
    file: File,
    /// As it was when last looked at.
    share: Option<u64>,
}

impl Account {
    /// That of a project, from the directory of the runs; an error where it has none.
    pub fn of(runs: impl AsFd, project: &str) -> io::Result<Account> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let name = format!("../{SHARES}/{project}");
        let fd = rustix::fs::openat(runs, name, flags, Mode::empty())?;
        Ok(Account { file: File::from(fd), share: None })
    }

    pub(super) fn open(path: &Path) -> io::Result<Account> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Account { file: File::from(fd), share: None })
    }

    /// Opens it, making one that limits nothing where there is none.
    pub(super) fn make(path: &Path) -> io::Result<Account> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(Account { file: File::from(fd), share: None })
    }

    /// A file that was never written to says that there is no share.
    pub(super) fn read(&self) -> io::Result<Standing> {
        let mut bytes = [0; SIZE];
        let length = rustix::io::retry_on_intr(|| rustix::io::pread(&self.file, &mut bytes, 0))?;
        Ok(if length == SIZE { Standing::decode(&bytes) } else { Standing::default() })
    }

    pub(super) fn write(&self, standing: &Standing) -> io::Result<()> {
        let length = rustix::io::pwrite(&self.file, &standing.encode(), 0)?;
        if length == SIZE { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Asks those who hold it together to take turns, so that they cannot keep it for ever.
    pub(super) fn knock(&self) -> io::Result<()> {
        let standing = self.read()?;
        match standing.share {
            None => self.write(&Standing { kept: KNOCKED, ..standing }),
            Some(_) => Ok(()),
        }
    }

    /// Keeps all others out, until [`Account::unlock`].
    pub(super) fn lock_alone(&self) -> io::Result<()> {
        self.lock(FlockOperation::LockExclusive)
    }

    pub(super) fn unlock(&self) {
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }

    fn lock(&self, how: FlockOperation) -> io::Result<()> {
        Ok(rustix::io::retry_on_intr(|| rustix::fs::flock(&self.file, how))?)
    }

    /// The share, where there is one, as it was when last looked at.
    pub fn share(&self) -> Option<u64> {
        self.share
    }

    /// Takes room for so many bytes. When there was enough, the account is held until [`Account::done`].
    /// An account that cannot be read limits nothing.
    pub fn take(&mut self, bytes: u64) -> bool {
        let mut is_alone = self.share.is_some();
        loop {
            let how =
                if is_alone { FlockOperation::LockExclusive } else { FlockOperation::LockShared };
            let Ok(standing) = self.lock(how).and_then(|()| self.read()) else {
                self.share = None;
                return true;
            };
            self.share = standing.share;
            match standing.share {
                None if is_alone || standing.kept != KNOCKED => return true,
                Some(share) if is_alone => {
                    let kept = standing.kept.saturating_add(bytes);
                    if kept <= share && self.set_kept(kept) {
                        return true;
                    }
                    self.unlock();
                    return false;
                }
                None | Some(_) => self.unlock(),
            }
            is_alone = true;
        }
    }

    /// Lets others in, after giving back what of the room was not used.
    pub fn done(&mut self, unused: u64) {
        if unused > 0 {
            self.give_back(unused);
        }
        self.unlock();
    }

    /// Removes something, which says how many bytes it was: others may have removed it before.
    pub fn remove(&mut self, remove: impl FnOnce() -> u64) {
        let is_held = self.share.is_some() && self.lock_alone().is_ok();
        let bytes = remove();
        if is_held {
            self.give_back(bytes);
            self.unlock();
        }
    }

    fn give_back(&self, bytes: u64) {
        if let Ok(standing) = self.read()
            && standing.share.is_some()
        {
            self.set_kept(standing.kept.saturating_sub(bytes));
        }
    }

    fn set_kept(&self, kept: u64) -> bool {
        let written = rustix::io::pwrite(&self.file, &kept.to_le_bytes(), KEPT_AT);
        matches!(written, Ok(8))
    }
}
