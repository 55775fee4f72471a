//! An image that comes as a stream: what can be told of it without keeping it.
//!
//! A stream is sent on while it is read, so what is in it is not looked at. But a program that fails writes
//! nothing, or half of it: whether a stream begins and ends as a tar file does is seen in passing
//! ([`Passing`]), and asked when it is over ([`Seen::judge`]).

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use crate::image_tar::{BLOCK, ImageTarError, is_compressed, is_sound};

/// Hands a stream on and remembers its two ends.
pub struct Passing<R> {
    inner: R,
    seen: Seen,
}

#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Ends>>);

#[derive(Default)]
struct Ends {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl<R: Read> Passing<R> {
    pub fn new(inner: R) -> (Passing<R>, Seen) {
        let seen = Seen::default();
        (Passing { inner, seen: seen.clone() }, seen)
    }
}

impl<R: Read> Read for Passing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).note(&buffer[..length]);
        Ok(length)
    }
}

impl Ends {
    fn note(&mut self, bytes: &[u8]) {
        let lacking = (BLOCK - self.first.len()).min(bytes.len());
        self.first.extend_from_slice(&bytes[..lacking]);
        self.last.extend_from_slice(&bytes[bytes.len().saturating_sub(BLOCK)..]);
        self.last.drain(..self.last.len().saturating_sub(BLOCK));
    }
}

impl Seen {
    /// Whether what has passed can be an image.
    pub fn judge(&self) -> Result<(), ImageTarError> {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_compressed(&ends.first) {
            return Err(ImageTarError::Compressed);
        }
        let first: &[u8; BLOCK] = match ends.first.as_slice().try_into() {
            Ok(first) => first,
            Err(_) if ends.first.is_empty() => {
                return Err(ImageTarError::NoImage(
                    "nothing came, so whatever makes it has failed",
                ));
            }
            Err(_) => return Err(ImageTarError::NoImage("it is no tar file")),
        };
        if !is_sound(first) {
            return Err(ImageTarError::NoImage("it is no tar file"));
        }
        if ends.last.iter().any(|byte| *byte != 0) {
            return Err(ImageTarError::NoImage("it breaks off before its end"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(bytes: &[u8], piece: usize) -> Result<(), String> {
        let (mut passing, seen) = Passing::new(bytes);
        let mut buffer = vec![0; piece];
        let mut read = Vec::new();
        loop {
            let length = passing.read(&mut buffer).unwrap();
            if length == 0 {
                break;
            }
            read.extend_from_slice(&buffer[..length]);
        }
        assert_eq!(read, bytes, "it is handed on as it is");
        seen.judge().map_err(|e| e.to_string())
    }

    /// One file of 700 bytes, and the end.
    fn tar() -> Vec<u8> {
        let mut header = [0; BLOCK];
        header[..5].copy_from_slice(b"layer");
        header[124..135].copy_from_slice(b"00000001274");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        let content = [[7; 700].as_slice(), &[0; 324], &[0; 2 * BLOCK]].concat();
        [header.as_slice(), &content].concat()
    }

    #[test]
    fn only_what_begins_and_ends_like_a_tar_file_passes() {
        let tar = tar();
        for piece in [1, 100, 512, 700, 100_000] {
            assert_eq!(judged(&tar, piece), Ok(()));
            for (bytes, why) in [
                (&[][..], "nothing came"),
                (&tar[..100], "no tar file"),
                (&tar[..1100], "breaks off"),
                (&[b'x'; 5000][..], "no tar file"),
                (&[0; 5000][..], "no tar file"),
                (&b"\x1f\x8b\x08..."[..], "compressed"),
            ] {
                let judged = judged(bytes, piece).unwrap_err();
                assert!(judged.contains(why), "{judged}");
            }
        }
    }
}
