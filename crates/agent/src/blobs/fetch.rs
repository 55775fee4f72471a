//! From a digest to a file.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use hostler_base::fs::is_disk_full;
use hostler_blob::{Hasher, unpack};
use hostler_model::{ChunkRef, Digest};
use hostler_proto::{digests_to_message, parse_chunks, parse_digest, v1};

use super::cache::Cache;
use super::reach::{ANSWER_TIME, Link};
use super::{BlobError, BlobFile, Blobs, Progress, Wanted, Whose, blocking, locked};

/// How many chunks are at hand at once.
const WINDOW: usize = 32;

/// A file that grows, and what it is so far.
struct Growing {
    file: File,
    hasher: Hasher,
}

impl Blobs {
    /// Brings a blob here. Dropped, it stops; asked for again, it goes on with what has come.
    pub async fn fetch(
        &self,
        wanted: Wanted,
        mut progress: impl FnMut(Progress) + Send,
    ) -> Result<BlobFile, BlobError> {
        let cache = self.cache().await?;
        let turn = self.shared.transfers.acquire().await;
        let _turn = turn.map_err(|_| BlobError::Away("the agent is stopping".to_owned()))?;
        let mut link = Link::new(self.reach());
        let request = v1::FetchBlobRequest {
            digest: wanted.digest.bytes().to_vec(),
            run_id: run_words(wanted),
            restore_id: restore_words(wanted),
        };
        let manifest = link
            .ask(|mut client| {
                let request = request.clone();
                async move { client.fetch_blob(request).await }
            })
            .await?;
        let wrong = |_| BlobError::Wrong(wanted.digest);
        let chunks = parse_chunks(&manifest.chunks).map_err(wrong)?;
        let path = self.fresh_file(wanted.digest);
        let file = File::create_new(&path).map_err(|source| self.disk(source))?;
        let made = BlobFile { path, size: manifest.size, digest: wanted.digest };
        let mut growing = Growing { file, hasher: Hasher::new() };
        let mut done = Progress { total: manifest.size, ..Progress::default() };
        progress(done);
        for window in chunks.chunks(WINDOW) {
            let kept = self.kept(&cache, window).await?;
            let missing: Vec<Digest> = distinct(window, |digest| !kept.contains_key(&digest));
            let come = self.come(&mut link, wanted, missing).await?;
            let may_cache = !matches!(wanted.whose, Whose::Restore(_)) && self.may_cache();
            growing =
                self.append((&cache, may_cache), growing, window.to_vec(), kept, come).await?;
            done.bytes += window.iter().map(|chunk| u64::from(chunk.size)).sum::<u64>();
            progress(done);
        }
        if growing.hasher.digest() != wanted.digest || done.bytes != manifest.size {
            return Err(BlobError::Wrong(wanted.digest));
        }
        Ok(made)
    }

    /// Those of a window that are kept here.
    async fn kept(
        &self,
        cache: &Arc<Mutex<Cache>>,
        window: &[ChunkRef],
    ) -> Result<HashMap<Digest, Vec<u8>>, BlobError> {
        let (cache, asked) = (cache.clone(), distinct(window, |_| true));
        let look = move || {
            let found = asked.into_iter().filter_map(|digest| {
                let plain = locked(&cache).get(digest)?;
                Some((digest, plain))
            });
            Ok(found.collect())
        };
        blocking(look).await.map_err(|source| self.disk(source))
    }

    /// Fetches chunks, packed as they are, for as long as there are some missing.
    async fn come(
        &self,
        link: &mut Link<'_>,
        wanted: Wanted,
        mut missing: Vec<Digest>,
    ) -> Result<Vec<(Digest, Vec<u8>)>, BlobError> {
        let mut come = Vec::with_capacity(missing.len());
        while !missing.is_empty() {
            let (before, mut client) = (come.len(), link.client().await?);
            let request = v1::FetchChunksRequest {
                blob: wanted.digest.bytes().to_vec(),
                run_id: run_words(wanted),
                digests: digests_to_message(&missing),
                restore_id: restore_words(wanted),
            };
            let listen = async {
                let mut stream = client.fetch_chunks(request).await?.into_inner();
                while let Some(data) = stream.message().await? {
                    if let Ok(digest) = parse_digest(&data.digest)
                        && let Some(at) = missing.iter().position(|known| *known == digest)
                    {
                        missing.swap_remove(at);
                        come.push((digest, data.packed));
                    }
                }
                Ok::<_, tonic::Status>(())
            };
            let late = || Err(tonic::Status::deadline_exceeded("the chunks did not come in time"));
            let outcome =
                tokio::time::timeout(ANSWER_TIME, listen).await.unwrap_or_else(|_| late());
            if come.len() > before {
                link.works();
            }
            match outcome {
                Err(status) => link.failed(&status).await?,
                Ok(()) if missing.is_empty() => {}
                Ok(()) => return Err(BlobError::Wrong(wanted.digest)),
            }
        }
        Ok(come)
    }

    /// Checks what has come, keeps it for the next time, and writes the window to the file.
    async fn append(
        &self,
        (cache, may_cache): (&Arc<Mutex<Cache>>, bool),
        mut growing: Growing,
        window: Vec<ChunkRef>,
        mut plain: HashMap<Digest, Vec<u8>>,
        come: Vec<(Digest, Vec<u8>)>,
    ) -> Result<Growing, BlobError> {
        let cache = cache.clone();
        let write = move || {
            let mut written = 0;
            for (digest, packed) in come {
                let Ok(unpacked) = unpack(&packed, digest) else { return Ok(Err(digest)) };
                plain.insert(digest, unpacked);
                if may_cache {
                    written += match locked(&cache).put(digest, &packed) {
                        Err(e) if is_disk_full(&e) => 0,
                        kept => kept?,
                    };
                }
            }
            for chunk in window {
                let bytes = plain.get(&chunk.digest).filter(|b| b.len() == chunk.size as usize);
                let Some(bytes) = bytes else { return Ok(Err(chunk.digest)) };
                write_whole(&mut growing.file, bytes, |room| locked(&cache).give_way(room))?;
                growing.hasher.update(bytes);
                written += bytes.len() as u64;
            }
            Ok(Ok((growing, written)))
        };
        let (growing, written) =
            blocking(write).await.map_err(|source| self.disk(source))?.map_err(BlobError::Wrong)?;
        self.count(written);
        Ok(growing)
    }
}

/// Writes everything; where there is no space, only after `give_way` could make some.
fn write_whole(
    file: &mut impl Write,
    mut bytes: &[u8],
    mut give_way: impl FnMut(u64) -> bool,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if is_disk_full(&e) && give_way(bytes.len() as u64) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn run_words(wanted: Wanted) -> String {
    match wanted.whose {
        Whose::Run(run) => run.to_string(),
        Whose::Everybody | Whose::Restore(_) => String::new(),
    }
}

fn restore_words(wanted: Wanted) -> String {
    match wanted.whose {
        Whose::Restore(operation) => operation.to_string(),
        Whose::Everybody | Whose::Run(_) => String::new(),
    }
}

fn distinct(window: &[ChunkRef], is_meant: impl Fn(Digest) -> bool) -> Vec<Digest> {
    let mut seen = HashSet::new();
    let digests = window.iter().map(|chunk| chunk.digest);
    digests.filter(|digest| is_meant(*digest) && seen.insert(*digest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with so much room.
    struct Disk {
        room: usize,
        holds: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room);
            if fits == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= fits;
            self.holds.extend(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn content_is_written_as_long_as_something_gives_way() {
        let mut disk = Disk { room: 3, holds: Vec::new() };
        let (bytes, mut asked) = (b"0123456789", Vec::new());
        let full = write_whole(&mut disk, bytes, |room| {
            asked.push(room);
            asked.len() < 2
        });
        assert!(is_disk_full(&full.unwrap_err()));
        assert_eq!((asked, disk.holds.as_slice()), (vec![7, 7], &b"012"[..]));
        let mut disk = Disk { room: 10, holds: Vec::new() };
        write_whole(&mut disk, bytes, |_| false).unwrap();
        assert_eq!(disk.holds, bytes);
    }
}
