//! Versions that nobody needs any more leave the node.
//!
//! Only what this agent brought here is looked at (`notes`), and of that a version goes when no container
//! and no run that is being started uses it, no workload on this node means it, and the server says either
//! that it is not kept any more, or that it is not the newest and nobody has used it for long. Where no
//! server answers, everything stays: a node on its own must be able to start again what it ran.
//!
//! Nothing is remembered of a decision but what is to be told of it (`news`). Killed in the middle, the next
//! look finds what is left to do; what is removed too early is fetched again. One that the engine does not
//! remove keeps no other from being removed, and is tried again soon. A run pins the version it is about to
//! use; between the last look and the removal nobody can pin (`gate`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use hostler_model::{Digest, ImagePick, ImageRef, Name, StoredImage, Timestamp};
use tonic::transport::Channel;

use super::notes::Used;
use super::resolve::ANSWER_TIME;
use super::{Images, engine_name, locked, names};
use crate::blobs::BlobError;
use crate::container::{EngineError, ImageRow};
use crate::sys;

/// What the server says of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Newest,
    /// There is a newer one.
    Older,
    /// It is not kept any more.
    Gone,
    /// Nobody has said.
    Unknown,
}

/// A version that this agent brought here.
struct Case {
    is_used: bool,
    is_wanted: bool,
    standing: Standing,
    idle: Duration,
}

/// Why a version goes; `None` when it stays.
fn reason_to_go(case: &Case, keep_for: Duration) -> Option<&'static str> {
    if case.is_used || case.is_wanted {
        return None;
    }
    match case.standing {
        Standing::Newest | Standing::Unknown => None,
        Standing::Gone => Some("it is not kept any more"),
        Standing::Older => (case.idle >= keep_for).then_some("there is a newer one"),
    }
}

/// A version that the engine has, whoever brought it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    called: String,
    /// The engine's id of it.
    id: String,
    name: Name,
    version: u32,
    digest: Digest,
}

fn versions(rows: Vec<ImageRow>) -> Vec<Version> {
    let of_row = |row: ImageRow| {
        let id = row.id;
        row.names.into_iter().filter_map(move |called| {
            let (name, version, digest) = names::stored(&called)?;
            Some(Version { called, id: id.clone(), name, version, digest })
        })
    };
    rows.into_iter().flat_map(of_row).collect()
}

/// What workloads would run in if they were started here without a server: of each that is meant the newest.
fn meant_here(here: &[Version], wanted: &[ImageRef]) -> HashSet<String> {
    let newest = |reference: &ImageRef| {
        let meant =
            here.iter().filter(|it| names::is_meant(reference, &it.name, it.version, it.digest));
        meant.max_by_key(|it| it.version).map(|it| it.called.clone())
    };
    wanted.iter().filter_map(newest).collect()
}

/// How it stood before anything else was looked at. Taken first, so that whatever begins to be used while the
/// engine and the server are asked shows as a difference.
pub(crate) struct Look {
    /// When each was used last.
    brought: Used,
    /// On their way here, or about to be used.
    busy: HashSet<String>,
}

/// See [`Images::pin`].
pub(crate) struct Pinned {
    images: Images,
    called: String,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut pins = locked(&self.images.inner.pins);
        if let Some(count) = pins.get_mut(&self.called) {
            *count -= 1;
            if *count == 0 {
                pins.remove(&self.called);
            }
        }
    }
}

impl Images {
    /// Keeps a version from being cleaned up until what comes back is dropped; whoever pins it uses it.
    pub async fn pin(&self, image: &StoredImage) -> Pinned {
        let called = engine_name(image);
        let gate = self.inner.gate.lock().await;
        *locked(&self.inner.pins).entry(called.clone()).or_insert(0) += 1;
        drop(gate);
        self.inner.notes.used([&called], sys::now()).await;
        Pinned { images: self.clone(), called }
    }

    /// What could be cleaned up; `None` when nothing could.
    pub async fn look(&self) -> Option<Look> {
        let brought = self.inner.notes.all().await;
        let is_coming = |called: &&String| {
            names::stored(called).is_some_and(|(.., digest)| self.is_coming(digest))
        };
        let mut busy: HashSet<String> = brought.keys().filter(is_coming).cloned().collect();
        busy.extend(locked(&self.inner.pins).keys().cloned());
        (!brought.is_empty()).then_some(Look { brought, busy })
    }

    /// Somebody says that there may be something to clean up.
    pub fn tidy_soon(&self) {
        self.inner.untidy.notify_one();
    }

    /// Resolves when somebody has said so since the last time.
    pub async fn untidy(&self) {
        self.inner.untidy.notified().await;
    }

    /// Removes what nobody needs. `wanted` is what workloads on this node ask for, `given` what runs that
    /// live were given, as the engine calls it. False when it is worth looking again soon: no server was
    /// there to say what is old, or the engine did not remove what it was asked to.
    pub async fn tidy(
        &self,
        look: Look,
        wanted: &[ImageRef],
        given: HashSet<String>,
    ) -> Result<bool, EngineError> {
        let Look { brought, busy } = look;
        let here = versions(self.inner.engine.images().await?);
        let called: HashSet<&String> = here.iter().map(|it| &it.called).collect();
        self.inner.news.settle(&called).await;
        let is_gone = |it: &&String| !called.contains(it) && !busy.contains(*it);
        self.inner.notes.forget(brought.keys().filter(is_gone)).await;
        let containers = self.inner.engine.containers().await?;
        let ids: HashSet<&str> = containers.iter().map(|row| row.image_id.as_str()).collect();
        let contained = here.iter().filter(|it| ids.contains(it.id.as_str()));
        let mut in_use: HashSet<String> = contained.map(|it| it.called.clone()).collect();
        in_use.extend(busy.into_iter().chain(given));
        let meant = meant_here(&here, wanted);
        let now = sys::now();
        self.inner.notes.used(in_use.iter().chain(&meant), now).await;
        let is_free = |it: &&Version| {
            let called = &it.called;
            brought.contains_key(called) && !in_use.contains(called) && !meant.contains(called)
        };
        let free: Vec<&Version> = here.iter().filter(is_free).collect();
        let standings = self.standings(&free).await;
        let mut is_done = !standings.values().any(|standing| *standing == Standing::Unknown);
        for it in &here {
            let Some(used) = brought.get(&it.called).copied() else { continue };
            let case = Case {
                is_used: in_use.contains(&it.called),
                is_wanted: meant.contains(&it.called),
                standing: standings.get(it.called.as_str()).copied().unwrap_or(Standing::Unknown),
                idle: now.since(used),
            };
            if let Some(why) = reason_to_go(&case, self.inner.keep_for) {
                is_done &= self.drop_version(it, used, why).await?;
            }
        }
        Ok(is_done)
    }

    /// Removes a version, unless somebody began to use it since it was looked at. False when the engine
    /// does not do it and does not say that it is used.
    async fn drop_version(
        &self,
        it: &Version,
        used: Timestamp,
        why: &'static str,
    ) -> Result<bool, EngineError> {
        let _gate = self.inner.gate.lock().await;
        let is_untouched = self.inner.notes.all().await.get(&it.called) == Some(&used);
        if !is_untouched || locked(&self.inner.pins).contains_key(&it.called) {
            return Ok(true);
        }
        let news = &self.inner.news;
        news.leaves(&it.called, why, sys::now()).await;
        match self.inner.engine.remove_image(&it.called, false).await {
            Ok(()) => {
                tracing::info!(image = %it.called, why, "image removed from this node");
                news.left().await;
            }
            Err(EngineError::NotFound(_)) => news.let_be(&[&it.called]).await,
            Err(EngineError::Conflict(words)) => {
                tracing::debug!(image = %it.called, words, "image is used and stays");
                news.let_be(&[&it.called]).await;
                return Ok(true);
            }
            Err(e @ (EngineError::Refused(_) | EngineError::Invalid(_))) => {
                let problem = e.to_string();
                if news.failed(&problem).await {
                    tracing::warn!(image = %it.called, why, problem, "image not removed from this node");
                }
                return Ok(false);
            }
            Err(e @ (EngineError::Away { .. } | EngineError::TimedOut(_))) => return Err(e),
        }
        self.inner.notes.forget([&it.called]).await;
        Ok(true)
    }

    /// What the server says, as far as it answers.
    async fn standings<'a>(&self, of: &[&'a Version]) -> BTreeMap<&'a str, Standing> {
        let unknown = of.iter().map(|it| (it.called.as_str(), Standing::Unknown));
        let mut standings: BTreeMap<&str, Standing> = unknown.collect();
        if of.is_empty() {
            return standings;
        }
        let asking = async {
            let channel = self.inner.blobs.reach().channel().await?;
            let all: BTreeSet<&Name> = of.iter().map(|it| &it.name).collect();
            for name in all {
                let versions = of.iter().filter(|it| it.name == *name);
                self.ask_standings(&channel, name, versions, &mut standings).await?;
            }
            Ok::<_, BlobError>(())
        };
        match tokio::time::timeout(ANSWER_TIME, asking).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "no server says which images are old"),
            Err(_) => tracing::debug!("no server says in time which images are old"),
        }
        standings
    }

    async fn ask_standings<'a, 'b: 'a>(
        &self,
        channel: &Channel,
        name: &Name,
        versions: impl Iterator<Item = &'a &'b Version>,
        standings: &mut BTreeMap<&'b str, Standing>,
    ) -> Result<(), BlobError> {
        let newest = ImageRef { name: name.clone(), pick: ImagePick::Newest };
        let newest = self.ask_over(channel, &newest).await?;
        for it in versions {
            let is_same =
                |other: &StoredImage| (other.version, other.digest) == (it.version, it.digest);
            let standing = match &newest {
                None => Standing::Gone,
                Some(newest) if is_same(newest) => Standing::Newest,
                Some(_) => {
                    let pick = ImagePick::Version(it.version);
                    let exact = ImageRef { name: name.clone(), pick };
                    match self.ask_over(channel, &exact).await? {
                        Some(found) if is_same(&found) => Standing::Older,
                        _ => Standing::Gone,
                    }
                }
            };
            standings.insert(it.called.as_str(), standing);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: Duration = Duration::from_hours(7 * 24);

    #[test]
    fn a_version_goes_when_nobody_needs_it() {
        use Standing::{Gone, Newest, Older, Unknown};
        let long = WEEK + Duration::from_secs(1);
        for (is_used, is_wanted, standing, idle, goes) in [
            (false, false, Older, long, true),
            (false, false, Older, WEEK, true),
            (false, false, Older, WEEK - Duration::from_secs(1), false),
            (false, false, Gone, Duration::ZERO, true),
            (false, false, Gone, long, true),
            (false, false, Newest, long, false),
            (false, false, Unknown, long, false),
            (true, false, Older, long, false),
            (true, false, Gone, long, false),
            (false, true, Older, long, false),
            (false, true, Gone, long, false),
            (true, true, Gone, long, false),
        ] {
            let case = Case { is_used, is_wanted, standing, idle };
            let words = format!("{is_used} {is_wanted} {standing:?} {idle:?}");
            assert_eq!(reason_to_go(&case, WEEK).is_some(), goes, "{words}");
        }
    }

    #[test]
    fn what_workloads_mean_is_the_newest_that_is_here() {
        let row = |id: &str, names: &[String]| ImageRow {
            id: id.to_owned(),
            names: names.to_vec(),
            digests: Vec::new(),
            size: 1,
            time_created: Timestamp::EPOCH,
        };
        let digest = |n: u8| Digest::from_bytes([n; 32]);
        let called = |name: &str, version: u32, n: u8| {
            format!("hostler.local/{name}:v{version}.{}", digest(n))
        };
        let rows = vec![
            row("1", &[called("train", 1, 1), "team/train:4".to_owned()]),
            row("2", &[called("train", 2, 2), called("copy", 1, 2)]),
            row("3", &[called("train", 10, 3)]),
            row("4", &["debian:12".to_owned()]),
        ];
        let here = versions(rows);
        assert_eq!(here.len(), 4, "{here:?}");
        let meant = |wanted: &[&str]| {
            let wanted: Vec<ImageRef> = wanted.iter().map(|text| text.parse().unwrap()).collect();
            let mut meant: Vec<String> = meant_here(&here, &wanted).into_iter().collect();
            meant.sort();
            meant
        };
        assert_eq!(meant(&[]), Vec::<String>::new());
        assert_eq!(meant(&["train"]), [called("train", 10, 3)]);
        assert_eq!(meant(&["train:1", "copy"]), [called("copy", 1, 2), called("train", 1, 1)]);
        assert_eq!(meant(&[&format!("train@{}", digest(2))]), [called("train", 2, 2)]);
        assert_eq!(meant(&["train:3", "other"]), Vec::<String>::new());
    }
}
