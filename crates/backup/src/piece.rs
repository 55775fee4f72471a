//! Pieces: the body of the file, cut, numbered and sealed.
//!
//! A piece is `is last (1) | length (4) | sealed bytes`. Its number, whether it is the last, and the
//! digest of the head are what it is sealed for. Without a key a sum over the same takes the tag's place.

use std::io::{self, Read, Write};

use hostler_trust::StreamKey;
use hostler_trust::lock::TAG_BYTES;

use crate::Error;

const PIECE: usize = 128 << 10;

/// How pieces are protected.
pub(crate) struct Seal {
    key: Option<StreamKey>,
    /// Digest of the head.
    head: [u8; 32],
}

impl Seal {
    pub(crate) fn new(key: Option<StreamKey>, head: &[u8]) -> Seal {
        Seal { key, head: *blake3::hash(head).as_bytes() }
    }

    fn sum(&self, number: u64, is_last: bool, plain: &[u8]) -> [u8; TAG_BYTES] {
        let mut hasher = blake3::Hasher::new_derive_key("hostler.backup-piece.v1");
        hasher.update(&self.head).update(&number.to_le_bytes()).update(&[u8::from(is_last)]);
        hasher.update(plain);
        let mut sum = [0; TAG_BYTES];
        sum.copy_from_slice(&hasher.finalize().as_bytes()[..TAG_BYTES]);
        sum
    }

    fn seal(&self, number: u64, is_last: bool, plain: &[u8]) -> Result<Vec<u8>, Error> {
        match &self.key {
            Some(key) => Ok(key.seal(number, is_last, &self.head, plain)?),
            None => Ok([plain, &self.sum(number, is_last, plain)].concat()),
        }
    }

    fn open(&self, number: u64, is_last: bool, mut sealed: Vec<u8>) -> Result<Vec<u8>, Error> {
        let damaged = || Error::damaged(format!("in its piece {}", number + 1));
        if let Some(key) = &self.key {
            return key.open(number, is_last, &self.head, &sealed).map_err(|_| damaged());
        }
        let length = sealed.len().checked_sub(TAG_BYTES).ok_or_else(damaged)?;
        let is_whole = self.sum(number, is_last, &sealed[..length]) == sealed[length..];
        sealed.truncate(length);
        is_whole.then_some(sealed).ok_or_else(damaged)
    }
}

/// Cuts what is written into pieces; they wait in `ready` until they are taken.
pub(crate) struct PieceWriter {
    seal: Seal,
    number: u64,
    plain: Vec<u8>,
    ready: Vec<u8>,
}

impl PieceWriter {
    pub(crate) fn new(seal: Seal, head: Vec<u8>) -> PieceWriter {
        PieceWriter { seal, number: 0, plain: Vec::with_capacity(PIECE), ready: head }
    }

    fn cut(&mut self, is_last: bool) -> Result<(), Error> {
        let sealed = self.seal.seal(self.number, is_last, &self.plain)?;
        let length = u32::try_from(sealed.len()).map_err(|e| Error::Misuse(e.to_string()))?;
        self.ready.push(u8::from(is_last));
        self.ready.extend(length.to_le_bytes());
        self.ready.extend(sealed);
        self.number += 1;
        self.plain.clear();
        Ok(())
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ready)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.cut(true)?;
        Ok(self.ready)
    }
}

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.plain.len());
        self.plain.extend_from_slice(&bytes[..taken]);
        if self.plain.len() == PIECE {
            self.cut(false)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads pieces and gives what is in them.
pub(crate) struct PieceReader<R> {
    from: R,
    seal: Seal,
    number: u64,
    is_over: bool,
    plain: Vec<u8>,
    at: usize,
}

impl<R: Read> PieceReader<R> {
    pub(crate) fn new(from: R, seal: Seal) -> PieceReader<R> {
        PieceReader { from, seal, number: 0, is_over: false, plain: Vec::new(), at: 0 }
    }

    fn next(&mut self) -> Result<(), Error> {
        let damaged = || Error::damaged(format!("in its piece {}", self.number + 1));
        let mut begin = [0; 5];
        self.from.read_exact(&mut begin).map_err(Error::from_io)?;
        let [last, a, b, c, d] = begin;
        let is_last = match last {
            0 => false,
            1 => true,
            _ => return Err(damaged()),
        };
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).map_err(|_| damaged())?;
        if length > PIECE + TAG_BYTES {
            return Err(damaged());
        }
        let mut sealed = vec![0; length];
        self.from.read_exact(&mut sealed).map_err(Error::from_io)?;
        self.plain = self.seal.open(self.number, is_last, sealed)?;
        self.at = 0;
        self.number += 1;
        self.is_over = is_last;
        if is_last && self.from.read(&mut [0]).map_err(Error::from_io)? != 0 {
            return Err(Error::damaged("after its end: there is more than belongs to it"));
        }
        Ok(())
    }
}

impl<R: Read> Read for PieceReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.plain.len() {
            if self.is_over {
                return Ok(0);
            }
            self.next()?;
        }
        let count = into.len().min(self.plain.len() - self.at);
        into[..count].copy_from_slice(&self.plain[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
