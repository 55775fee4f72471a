//! The agents connected to a shim: usually one, none while the agent is away.
//!
//! Nothing here may block or grow: an agent that does not read is dropped and may connect again.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendFlags,
};

use crate::output::Position;
use crate::sys::Slot;
use crate::wire::{self, Command, EXEC_FDS};

/// More agents than this at once are turned away.
pub const MAX: usize = 4;

#[derive(Default)]
pub struct Links([Option<Link>; MAX]);

struct Link {
    socket: OwnedFd,
    /// Part of a command.
    partial: [u8; Command::SIZE],
    filled: usize,
    /// What came with it.
    fds: Vec<OwnedFd>,
    /// Wants to hear of output beyond this position.
    watching: Option<Position>,
}

impl Links {
    /// False when there is no room.
    pub fn add(&mut self, socket: OwnedFd) -> bool {
        let Some(free) = self.0.iter_mut().find(|link| link.is_none()) else {
            return false;
        };
        *free = Some(Link {
            socket,
            partial: [0; Command::SIZE],
            filled: 0,
            fds: Vec::new(),
            watching: None,
        });
        true
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The only link, where nothing is left unsaid on it.
    pub fn take_only(&mut self) -> Option<OwnedFd> {
        let mut open = self.0.iter_mut().filter(|link| link.is_some());
        let (only, None) = (open.next()?, open.next()) else { return None };
        let link = only.take_if(|link| link.filled == 0 && link.fds.is_empty())?;
        Some(link.socket)
    }

    pub fn slots(&self) -> [Slot; MAX] {
        std::array::from_fn(|i| Slot::reading(self.0[i].as_ref().map(|link| &link.socket)))
    }

    /// What the agents whose slots are ready have said.
    pub fn receive(&mut self, slots: &[Slot], mut each: impl FnMut(Command, Vec<OwnedFd>)) {
        for (link, slot) in self.0.iter_mut().zip(slots) {
            if let Some(open) = link
                && slot.is_ready()
                && !open.receive(&mut each)
            {
                *link = None;
            }
        }
    }

    /// Tells every agent; how many took it.
    pub fn tell(&mut self, kind: u8, payload: &[u8]) -> usize {
        let mut told = 0;
        for link in &mut self.0 {
            if let Some(open) = link {
                if send(&open.socket, kind, payload) {
                    told += 1;
                } else {
                    *link = None;
                }
            }
        }
        told
    }

    /// Tells those who wait for output that there is some.
    pub fn tell_output(&mut self, end: Position) {
        for link in &mut self.0 {
            if let Some(open) = link
                && open.watching.is_some_and(|seen| seen < end)
            {
                open.watching = None;
                if !send(&open.socket, wire::kind::OUTPUT, &[]) {
                    *link = None;
                }
            }
        }
    }
}

impl Link {
    /// False when the agent is gone.
    fn receive(&mut self, each: &mut impl FnMut(Command, Vec<OwnedFd>)) -> bool {
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(EXEC_FDS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            let mut parts = [IoSliceMut::new(&mut self.partial[self.filled..])];
            match rustix::net::recvmsg(&self.socket, &mut parts, &mut control, flags) {
                Ok(message) if message.bytes == 0 => return false,
                Ok(message) => {
                    self.filled += message.bytes;
                    for message in control.drain() {
                        if let RecvAncillaryMessage::ScmRights(fds) = message {
                            self.fds.extend(fds);
                        }
                    }
                }
                Err(rustix::io::Errno::INTR) => continue,
                Err(e) => return e == rustix::io::Errno::AGAIN,
            }
            if self.filled < Command::SIZE {
                continue;
            }
            self.filled = 0;
            let fds = std::mem::take(&mut self.fds);
            match Command::decode(&self.partial) {
                Some(Command::Watch { segment, offset }) => {
                    self.watching = Some(Position { segment, offset });
                }
                Some(command) => each(command, fds),
                None => {}
            }
        }
    }
}

/// Sends one event without ever waiting; false when it did not go out whole.
pub fn send(socket: impl AsFd, kind: u8, payload: &[u8]) -> bool {
    send_all(socket, [(kind, payload)])
}

/// Sends several events in one go.
pub fn send_all<const N: usize>(socket: impl AsFd, events: [(u8, &[u8]); N]) -> bool {
    let headers = events.map(|(kind, payload)| wire::event_header(kind, payload.len()));
    let mut parts = Vec::with_capacity(2 * N);
    for (header, (_, payload)) in headers.iter().zip(events) {
        parts.push(IoSlice::new(header));
        parts.push(IoSlice::new(payload));
    }
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let mut control = SendAncillaryBuffer::default();
    rustix::io::retry_on_intr(|| rustix::net::sendmsg(&socket, &parts, &mut control, flags))
        .is_ok_and(|sent| sent == length)
}
