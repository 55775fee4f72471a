//! The writing side, inside a shim: one buffer, taken when the first output comes; one file open.

use std::fs::File;
use std::os::fd::AsFd;

use super::{
    FIRST, FRAME_HEADER, FrameHeader, FrameKind, PAYLOAD_MAX, Position, SEGMENT_HEADER, Stream,
    segment_header, segment_name,
};
use crate::rundir::{self, RunDir};
use crate::sys;

/// How much output of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A segment is not made larger than this.
    pub segment_bytes: u64,
    /// The oldest segment beyond this number is deleted.
    pub segments_max: u32,
}

impl Default for Limits {
    /// 64 MiB in 16 segments of 4 MiB.
    fn default() -> Limits {
        Limits { segment_bytes: 4 << 20, segments_max: 16 }
    }
}

impl Limits {
    /// A segment holds at least one frame, and there are at least two segments, so that there is
    /// always something to read.
    fn sane(self) -> Limits {
        Limits {
            segment_bytes: self
                .segment_bytes
                .max((SEGMENT_HEADER + 2 * (FRAME_HEADER + PAYLOAD_MAX)) as u64),
            segments_max: self.segments_max.max(2),
        }
    }
}

pub struct Writer {
    limits: Limits,
    buffer: Vec<u8>,
    file: Option<File>,
    /// Where the next frame goes.
    position: Position,
    /// Output so far, with what was dropped.
    total: u64,
    /// Bytes dropped that no gap frame tells of yet.
    dropped: u64,
}

impl Writer {
    pub fn new(limits: Limits) -> Writer {
        Writer {
            limits: limits.sane(),
            buffer: Vec::new(),
            file: None,
            position: Position::default(),
            total: 0,
            dropped: 0,
        }
    }

    /// The end of what is written.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Moves what `pipe` has ready into the output; 0 at its end. Never fails for reasons of the
    /// disk: such output is dropped and counted.
    pub fn pump(
        &mut self,
        run: &RunDir,
        stream: Stream,
        pipe: impl AsFd,
    ) -> rustix::io::Result<usize> {
        if self.buffer.capacity() == 0 {
            self.buffer.reserve_exact(FRAME_HEADER + PAYLOAD_MAX);
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0; FRAME_HEADER]);
        let space = rustix::buffer::spare_capacity(&mut self.buffer);
        let length = rustix::io::read(pipe, space)?;
        if length == 0 {
            return Ok(0);
        }
        self.report_gap(run);
        let header = FrameHeader { kind: FrameKind::Output(stream), length, time: sys::now() };
        self.buffer[..FRAME_HEADER].copy_from_slice(&header.encode());
        let frame = std::mem::take(&mut self.buffer);
        let is_kept = self.dropped == 0 && self.append(run, &frame);
        self.buffer = frame;
        self.total += length as u64;
        if !is_kept {
            self.dropped += length as u64;
        }
        Ok(length)
    }

    /// Says what was dropped at the very end, when that is possible by now.
    pub fn finish(&mut self, run: &RunDir) {
        self.report_gap(run);
    }

    fn report_gap(&mut self, run: &RunDir) {
        if self.dropped == 0 {
            return;
        }
        let header = FrameHeader { kind: FrameKind::Gap, length: 8, time: sys::now() };
        let mut frame = [0; FRAME_HEADER + 8];
        frame[..FRAME_HEADER].copy_from_slice(&header.encode());
        frame[FRAME_HEADER..].copy_from_slice(&self.dropped.to_le_bytes());
        if self.append(run, &frame) {
            self.dropped = 0;
        }
    }

    /// Writes one frame whole, or leaves the file as it was.
    fn append(&mut self, run: &RunDir, frame: &[u8]) -> bool {
        let size = frame.len() as u64;
        let is_full = self.position.offset + size > self.limits.segment_bytes;
        if (self.file.is_none() || is_full) && !self.begin_segment(run) {
            return false;
        }
        let Some(file) = &self.file else {
            return false;
        };
        match rustix::io::retry_on_intr(|| rustix::io::write(file, frame)) {
            Ok(n) if n == frame.len() => {
                self.position.offset += size;
                true
            }
            Ok(_) | Err(_) => {
                let _ = rustix::fs::ftruncate(file, self.position.offset);
                false
            }
        }
    }

    fn begin_segment(&mut self, run: &RunDir) -> bool {
        let number = self.position.segment + 1;
        if number > self.limits.segments_max {
            run.remove(&segment_name(number - self.limits.segments_max));
        }
        let name = segment_name(number);
        if name == FIRST {
            // One may be left from an earlier user of the directory.
            let _ = rustix::fs::renameat(run, rundir::temporary(FIRST), run, FIRST);
        }
        let Ok(file) = rundir::open_empty(run, &name) else {
            return false;
        };
        let base = self.total - self.dropped;
        let header = segment_header(base);
        if rustix::io::write(&file, &header) != Ok(SEGMENT_HEADER) {
            run.remove(&name);
            return false;
        }
        self.file = Some(file);
        self.position = Position { segment: number, offset: SEGMENT_HEADER as u64 };
        true
    }
}
