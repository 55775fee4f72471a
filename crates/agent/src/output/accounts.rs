//! The accounts of all projects that have run here, as the agent keeps them: it puts shares into force, counts
//! again what is kept, and makes room before the last of a share is used.
//!
//! Putting a share into force is two things. It is written down first: from then on nothing more is kept than
//! it allows. Then what is beyond it goes ([`Accounts::settle`]): the oldest output of ended runs, then the
//! oldest closed segments of running ones, and at last what says of ended runs that there was output. What
//! cannot go is the segment that a running program writes to; it goes when the program next prints, and until
//! then the share does not count as settled.
//!
//! Shims that find no room make it from what their own run has kept. So that ended runs go first, the agent
//! looks every now and then, and where an account is nearly full it lets their oldest output go.
//!
//! The keeper packs and removes beside all this, without asking: it makes things smaller only. While a segment
//! is packed both of its forms are there, and one counts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::Clock;
use hostler_model::{Bytes, Generation, Name, OutputKept, RunId};
use serde::Deserialize;
use tokio::sync::Notify;

use super::account::{Account, SHARES, Standing};
use super::keeper::leave_trace;
use super::pack::{self, Stored, survey};
use super::{SEGMENT_HEADER, packed_name, segment_name};
use crate::rundir::{self, RunDir};

/// How often accounts are looked at, where there are any with a share.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What a project may keep here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub project: Name,
    pub bytes: u64,
    pub generation: Generation,
}

/// All accounts of a node. Cheap to clone.
#[derive(Clone)]
pub struct Accounts(Arc<Inner>);

struct Inner {
    dir: PathBuf,
    runs: PathBuf,
    /// Projects whose accounts were made.
    known: Mutex<HashSet<Name>>,
    /// Which project's each run is.
    whose: Mutex<HashMap<RunId, Name>>,
    /// What was last written down.
    told: Mutex<Option<Vec<Share>>>,
    changed: Notify,
    has_news: AtomicBool,
}

/// What a run says of itself.
#[derive(Deserialize)]
struct Whose {
    #[serde(default)]
    project: Option<Name>,
}

/// One segment of a project.
struct Piece {
    dir: PathBuf,
    stored: Stored,
    is_ended: bool,
    is_last_of_run: bool,
}

impl Accounts {
    pub fn new(data_dir: &Path, runs: &Path) -> Accounts {
        Accounts(Arc::new(Inner {
            dir: data_dir.join(SHARES),
            runs: runs.to_owned(),
            known: Mutex::default(),
            whose: Mutex::default(),
            told: Mutex::default(),
            changed: Notify::new(),
            has_news: AtomicBool::new(false),
        }))
    }

    fn path(&self, project: &Name) -> PathBuf {
        self.0.dir.join(project.as_str())
    }

    /// There is an account for the project's runs to find.
    pub fn ensure(&self, project: &Name) -> io::Result<()> {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(project) {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0.dir)?;
            Account::make(&self.path(project))?;
            known.insert(project.clone());
        }
        Ok(())
    }

    /// Writes down what each project may keep here; one that is not named may keep all.
    pub async fn set(&self, shares: Vec<Share>) -> io::Result<()> {
        if self.told().as_ref() == Some(&shares) {
            return Ok(());
        }
        let this = self.clone();
        blocking(move || {
            this.write_down(&shares)?;
            *this.told() = Some(shares);
            Ok(())
        })
        .await?;
        self.0.changed.notify_one();
        Ok(())
    }

    fn told(&self) -> MutexGuard<'_, Option<Vec<Share>>> {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_down(&self, shares: &[Share]) -> io::Result<()> {
        for share in shares {
            self.ensure(&share.project)?;
            self.change(&share.project, Some(share))?;
        }
        for project in self.projects()? {
            if !shares.iter().any(|share| share.project == project) {
                self.change(&project, None)?;
            }
        }
        Ok(())
    }

    /// Puts a share into force, or lifts the one there is.
    fn change(&self, project: &Name, share: Option<&Share>) -> io::Result<()> {
        self.know_runs()?;
        let account = Account::open(&self.path(project))?;
        if share.is_some() {
            account.knock()?;
        }
        account.lock_alone()?;
        let changed = self.change_held(project, share, &account);
        account.unlock();
        changed
    }

    fn change_held(
        &self,
        project: &Name,
        share: Option<&Share>,
        account: &Account,
    ) -> io::Result<()> {
        let now = account.read()?;
        let Some(share) = share else {
            return match now.share {
                Some(_) => account.write(&Standing::default()).and_then(|()| account.sync()),
                None => Ok(()),
            };
        };
        if now.share.is_some() && share.generation.get() == now.generation {
            return Ok(());
        }
        account.write(&Standing {
            share: Some(share.bytes),
            generation: share.generation.get(),
            // What was not counted yet could be anything.
            kept: if now.share.is_some() { now.kept } else { u64::MAX },
            settled: now.settled,
        })?;
        account.sync()?;
        if now.share.is_none() {
            std::fs::File::open(&self.0.dir)?.sync_all()?;
        }
        if self.settle_held(project, account)? {
            self.0.has_news.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn projects(&self) -> io::Result<Vec<Name>> {
        let entries = match std::fs::read_dir(&self.0.dir) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let names =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<Name>().ok());
        Ok(names.collect())
    }

    /// The accounts that have a share.
    fn limited(&self) -> io::Result<Vec<(Name, Standing)>> {
        let mut found = Vec::new();
        for project in self.projects()? {
            let standing = Account::open(&self.path(&project))?.read()?;
            if standing.share.is_some() {
                found.push((project, standing));
            }
        }
        Ok(found)
    }

    /// For the server: what is kept of each project that has a share, and which share is in force.
    pub fn kept(&self) -> Vec<OutputKept> {
        let limited = self.limited().unwrap_or_default().into_iter();
        let told = limited.map(|(project, standing)| OutputKept {
            project,
            generation: Generation::from_u64(standing.settled),
            bytes: Bytes::new(standing.kept),
        });
        told.collect()
    }

    /// Whether a share has come into force since this was last asked.
    pub fn has_news(&self) -> bool {
        self.0.has_news.swap(false, Ordering::Relaxed)
    }

    /// Counts every account that has a share again, and brings it within that.
    pub async fn settle_all(&self) {
        for (project, _) in self.limited().unwrap_or_default() {
            self.settle(project).await;
        }
    }

    async fn settle(&self, project: Name) {
        let this = self.clone();
        let name = project.clone();
        let settled = blocking(move || {
            this.know_runs()?;
            let account = Account::open(&this.path(&name))?;
            account.lock_alone()?;
            let settled = this.settle_held(&name, &account);
            account.unlock();
            settled
        });
        match settled.await {
            Ok(true) => self.0.has_news.store(true, Ordering::Relaxed),
            Ok(false) => {}
            Err(error) => tracing::warn!(%project, %error, "kept output cannot be counted"),
        }
    }

    /// Looks after the accounts for as long as the agent lives.
    pub async fn keep(self, clock: Clock) {
        let mut seen: BTreeMap<Name, Standing> = BTreeMap::new();
        loop {
            let limited = self.limited().unwrap_or_default();
            if limited.is_empty() {
                seen.clear();
                self.0.changed.notified().await;
                continue;
            }
            for (project, standing) in limited {
                let is_unsettled = standing.settled != standing.generation;
                let is_new = seen.get(&project) != Some(&standing);
                if is_unsettled || is_new && is_nearly_full(&standing) {
                    self.settle(project.clone()).await;
                    let path = self.path(&project);
                    if let Ok(now) = Account::open(&path).and_then(|account| account.read()) {
                        seen.insert(project, now);
                    }
                }
            }
            tokio::select! {
                () = clock.sleep(LOOK_EVERY) => {}
                () = self.0.changed.notified() => {}
            }
        }
    }

    /// Brings what is kept within the share and writes down what that is. True when a share has come into
    /// force. The account is held.
    fn settle_held(&self, project: &Name, account: &Account) -> io::Result<bool> {
        let standing = account.read()?;
        let Some(share) = standing.share else { return Ok(false) };
        let mut pieces = self.pieces(project)?;
        let mut kept: u64 = pieces.iter().map(|piece| piece.stored.bytes).sum();
        let nearly = share - share / 8;
        let comfortable = if kept > nearly { share - share / 4 } else { share };
        let has_output = |piece: &Piece| piece.stored.bytes > SEGMENT_HEADER as u64;
        let ended = |piece: &Piece| piece.is_ended && has_output(piece);
        trim(&mut pieces, &mut kept, comfortable, true, ended)?;
        let closed = |piece: &Piece| piece.stored.is_closed && has_output(piece);
        trim(&mut pieces, &mut kept, share, true, closed)?;
        trim(&mut pieces, &mut kept, share, false, |piece| piece.is_ended)?;
        let is_within = kept <= share;
        let settled = if is_within { standing.generation } else { standing.settled };
        account.write(&Standing { kept, settled, ..standing })?;
        Ok(is_within && settled != standing.settled)
    }

    /// Every segment of the project's runs, the oldest first.
    fn pieces(&self, project: &Name) -> io::Result<Vec<Piece>> {
        self.know_runs()?;
        let dirs: Vec<PathBuf> = {
            let whose = self.0.whose.lock().unwrap_or_else(PoisonError::into_inner);
            let theirs = whose.iter().filter(|(_, its)| *its == project);
            theirs.map(|(run, _)| self.0.runs.join(run.to_string())).collect()
        };
        let mut found = Vec::new();
        for dir in dirs {
            let is_ended = dir.join(rundir::EXIT).exists();
            let mut is_last_of_run = true;
            for stored in survey(&dir)?.into_iter().rev() {
                found.push(Piece { dir: dir.clone(), stored, is_ended, is_last_of_run });
                is_last_of_run = false;
            }
        }
        found.sort_by_key(|piece| (piece.stored.time, piece.stored.number));
        Ok(found)
    }

    /// Finds out whose the runs are that have come since this was last done, and forgets those that are gone.
    fn know_runs(&self) -> io::Result<()> {
        let mut found = HashSet::new();
        for entry in std::fs::read_dir(&self.0.runs)? {
            let name = entry?.file_name();
            found.extend(name.to_str().and_then(|name| name.parse::<RunId>().ok()));
        }
        let mut whose = self.0.whose.lock().unwrap_or_else(PoisonError::into_inner);
        whose.retain(|run, _| found.contains(run));
        for run in found {
            if !whose.contains_key(&run)
                && let Some(project) = project_of(&self.0.runs.join(run.to_string()))
            {
                whose.insert(run, project);
            }
        }
        Ok(())
    }
}

fn project_of(dir: &Path) -> Option<Name> {
    let run = RunDir::open_path(dir).ok()?;
    run.read_json::<Whose>(rundir::SPEC).ok().flatten()?.project
}

fn is_nearly_full(standing: &Standing) -> bool {
    standing.share.is_some_and(|share| standing.kept > share - share / 8)
}

/// Removes the oldest of those that may go until no more than `limit` is kept.
fn trim(
    pieces: &mut Vec<Piece>,
    kept: &mut u64,
    limit: u64,
    leaves_trace: bool,
    may_go: impl Fn(&Piece) -> bool,
) -> io::Result<()> {
    let mut problem = None;
    let mut traces = Vec::new();
    pieces.retain(|piece| {
        if *kept <= limit || !may_go(piece) {
            return true;
        }
        let mut trace = 0;
        if leaves_trace && piece.is_last_of_run {
            trace = leave_trace(&piece.dir, piece.stored.number);
        }
        let number = piece.stored.number;
        let forms = [segment_name(number), packed_name(number)];
        let removed: io::Result<Vec<bool>> =
            forms.iter().map(|form| pack::remove(&piece.dir.join(form))).collect();
        if let Err(error) = removed {
            problem = Some(error);
            *kept += trace;
            return true;
        }
        *kept = (*kept + trace).saturating_sub(piece.stored.bytes);
        if trace > 0 {
            let (number, form) = (piece.stored.number + 1, super::Form::Plain);
            let stored = Stored { number, form, bytes: trace, ..piece.stored.clone() };
            let dir = piece.dir.clone();
            traces.push(Piece { dir, stored, is_ended: piece.is_ended, is_last_of_run: true });
        }
        false
    });
    pieces.extend(traces);
    problem.map_or(Ok(()), Err)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(io::Error::other(e)),
    }
}
