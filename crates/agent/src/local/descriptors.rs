//! Lines that come with descriptors over a Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

/// As many as a program has from its start: stdin, stdout, stderr.
pub(super) const MOST: usize = 3;

/// Reads up to the end of the first line, and takes what descriptors come with it. Without a line,
/// what came before the end.
pub(super) async fn receive_line(
    stream: &UnixStream,
    max: usize,
) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut line, mut descriptors) = (Vec::new(), Vec::new());
    let mut buffer = [0; 4096];
    loop {
        stream.readable().await?;
        let got = stream
            .try_io(Interest::READABLE, || receive(stream.as_fd(), &mut buffer, &mut descriptors));
        match got {
            Ok(0) => return Ok((line, descriptors)),
            Ok(read) => line.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return Ok((line, descriptors));
        }
        if line.len() > max {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"));
        }
    }
}

fn receive(
    from: BorrowedFd<'_>,
    buffer: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let got = recvmsg(from, &mut [IoSliceMut::new(buffer)], &mut control, flags)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights.take(MOST.saturating_sub(descriptors.len())));
        }
    }
    Ok(got.bytes)
}

/// Sends bytes; the descriptors travel with the first of them.
pub(super) async fn send(
    stream: &mut UnixStream,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    if descriptors.is_empty() {
        return stream.write_all(bytes).await;
    }
    let sent = loop {
        stream.writable().await?;
        let put = stream.try_io(Interest::WRITABLE, || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            control.push(SendAncillaryMessage::ScmRights(descriptors));
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            Ok(sendmsg(stream.as_fd(), &[IoSlice::new(bytes)], &mut control, flags)?)
        });
        match put {
            Ok(sent) => break sent,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    };
    stream.write_all(&bytes[sent..]).await
}
