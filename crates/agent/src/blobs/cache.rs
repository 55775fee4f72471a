//! Chunks that were fetched once, packed as they came, below `blobs/chunks`; the least recently used go
//! when there is no room: neither in what the cache may hold, nor on the disk for what is being fetched.
//!
//! Nothing is synced and nothing is believed: a file whose bytes do not unpack to the digest that is its
//! name is deleted when that is noticed, and counts as not there. What is known of the order in which
//! chunks were used is lost with the agent; the next one takes the files' times for it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hostler_blob::unpack;
use hostler_model::Digest;

const CHUNKS: &str = "chunks";
const NEW: &str = ".new-";

pub(super) struct Cache {
    dir: PathBuf,
    max: u64,
    bytes: u64,
    known: HashMap<Digest, Entry>,
    /// By when they were used last.
    order: BTreeMap<u64, Digest>,
    clock: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    size: u64,
    used: u64,
}

impl Cache {
    pub fn open(dir: &Path, max: u64) -> io::Result<Cache> {
        let dir = dir.join(CHUNKS);
        super::make_private(&dir)?;
        let mut found: Vec<(SystemTime, Digest, u64)> = Vec::new();
        for entry in std::fs::read_dir(&dir)? {
            let entry = entry?;
            let digest = entry.file_name().to_str().and_then(|name| name.parse().ok());
            match (digest, entry.metadata()) {
                (Some(digest), Ok(file)) if file.is_file() => {
                    found.push((file.modified()?, digest, file.len()));
                }
                _ => {
                    let _ = std::fs::remove_file(entry.path());
                }
            }
        }
        found.sort_unstable();
        let (known, order) = (HashMap::new(), BTreeMap::new());
        let mut cache = Cache { dir, max, bytes: 0, known, order, clock: 0 };
        for (_, digest, size) in found {
            cache.enter(digest, size);
        }
        cache.make_room();
        Ok(cache)
    }

    /// The plain bytes, if they are there and right.
    pub fn get(&mut self, digest: Digest) -> Option<Vec<u8>> {
        let Entry { size, .. } = *self.known.get(&digest)?;
        let plain = std::fs::read(self.path(digest)).ok().and_then(|p| unpack(&p, digest).ok());
        match &plain {
            Some(_) => self.enter(digest, size),
            None => self.remove(digest),
        }
        plain
    }

    /// Keeps a chunk; how much was written.
    pub fn put(&mut self, digest: Digest, packed: &[u8]) -> io::Result<u64> {
        let size = packed.len() as u64;
        if self.known.contains_key(&digest) || size > self.max {
            return Ok(0);
        }
        let fresh = self.dir.join(format!("{NEW}{digest}"));
        let written = std::fs::write(&fresh, packed)
            .and_then(|()| std::fs::rename(&fresh, self.path(digest)));
        if written.is_err() {
            let _ = std::fs::remove_file(&fresh);
        }
        written?;
        self.enter(digest, size);
        self.make_room();
        Ok(size)
    }

    fn path(&self, digest: Digest) -> PathBuf {
        self.dir.join(digest.to_string())
    }

    /// It is there, and was used just now.
    fn enter(&mut self, digest: Digest, size: u64) {
        self.clock += 1;
        let entry = Entry { size, used: self.clock };
        match self.known.insert(digest, entry) {
            Some(before) => {
                self.order.remove(&before.used);
                self.bytes = self.bytes - before.size + size;
            }
            None => self.bytes += size,
        }
        self.order.insert(self.clock, digest);
    }

    fn remove(&mut self, digest: Digest) {
        if let Some(entry) = self.known.remove(&digest) {
            self.order.remove(&entry.used);
            self.bytes -= entry.size;
            let _ = std::fs::remove_file(self.path(digest));
        }
    }

    /// Lets go of so much, because the disk is full and something else needs it; false when there is nothing.
    pub fn give_way(&mut self, room: u64) -> bool {
        let (before, aim) = (self.bytes, self.bytes.saturating_sub(room));
        while self.bytes > aim
            && let Some((_, digest)) = self.order.first_key_value().map(|(k, d)| (*k, *d))
        {
            self.remove(digest);
        }
        self.bytes < before
    }

    fn make_room(&mut self) {
        while self.bytes > self.max
            && let Some((_, digest)) = self.order.first_key_value().map(|(k, d)| (*k, *d))
        {
            self.remove(digest);
        }
    }
}

#[cfg(test)]
mod tests {
    use hostler_blob::{digest_of, pack};

    use super::*;

    fn chunk(n: u8) -> (Digest, Vec<u8>, Vec<u8>) {
        let plain: Vec<u8> = (0..1000_u32)
            .flat_map(|i| {
                digest_of(&[n, i.to_le_bytes()[0], i.to_le_bytes()[1]]).bytes()[..4].to_vec()
            })
            .collect();
        (digest_of(&plain), pack(&plain), plain)
    }

    #[test]
    fn the_least_recently_used_go_first_and_the_rest_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let chunks: Vec<_> = (0..5).map(chunk).collect();
        let size = chunks[0].1.len() as u64;
        let mut cache = Cache::open(dir.path(), size * 3 + size / 2).unwrap();
        for (digest, packed, _) in &chunks[..3] {
            assert_eq!(cache.put(*digest, packed).unwrap(), packed.len() as u64);
        }
        assert_eq!(cache.get(chunks[0].0).as_ref(), Some(&chunks[0].2));
        cache.put(chunks[3].0, &chunks[3].1).unwrap();
        assert_eq!(cache.get(chunks[1].0), None);
        for i in [0, 2, 3] {
            assert_eq!(cache.get(chunks[i].0).as_ref(), Some(&chunks[i].2));
        }
        drop(cache);
        let mut cache = Cache::open(dir.path(), size * 3 + size / 2).unwrap();
        assert_eq!(cache.get(chunks[3].0).as_ref(), Some(&chunks[3].2));
        assert!(cache.give_way(1));
        assert_eq!(cache.known.len(), 2);
        assert_eq!(cache.get(chunks[3].0).as_ref(), Some(&chunks[3].2));
        assert!(Cache::open(dir.path(), size * 9).unwrap().give_way(size * 9));
        assert!(!Cache::open(dir.path(), size * 9).unwrap().give_way(1));
        for (digest, packed, _) in &chunks[..3] {
            Cache::open(dir.path(), size * 9).unwrap().put(*digest, packed).unwrap();
        }
        let smaller = Cache::open(dir.path(), size + size / 2).unwrap();
        assert_eq!(smaller.known.len(), 1);
    }

    #[test]
    fn damage_is_noticed_and_leftovers_go() {
        let dir = tempfile::tempdir().unwrap();
        let (digest, packed, plain) = chunk(1);
        let mut cache = Cache::open(dir.path(), 1 << 20).unwrap();
        cache.put(digest, &packed).unwrap();
        let path = dir.path().join(CHUNKS).join(digest.to_string());
        std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        assert_eq!(cache.get(digest), None);
        assert!(!path.exists());
        cache.put(digest, &packed).unwrap();
        let left = dir.path().join(CHUNKS).join(format!("{NEW}x"));
        std::fs::write(&left, b"half").unwrap();
        let mut cache = Cache::open(dir.path(), 1 << 20).unwrap();
        assert!(!left.exists());
        assert_eq!(cache.get(digest), Some(plain));
    }
}
