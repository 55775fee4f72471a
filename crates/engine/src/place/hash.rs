//! Maps for the duration of a pass, with a hash that is quick instead of hard to attack.
//!
//! Keys are shapes and ids of this installation's own rows, and a map lives for milliseconds. Nothing
//! iterates over these maps where the order could matter, so the plan does not depend on the hash.

use std::hash::{BuildHasherDefault, Hasher};

use hostler_model::ProjectId;

pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Quick>>;

/// Something for each word of each project.
pub(super) type ByWord<T> = HashMap<ProjectId, HashMap<String, T>>;

/// Multiply and rotate, a word at a time.
#[derive(Default)]
pub(super) struct Quick(u64);

impl Quick {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    fn finish(&self) -> u64 {
        let word = self.0 ^ (self.0 >> 32);
        word.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}
