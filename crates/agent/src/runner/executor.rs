//! Keeping an executor process: starting it, sending it orders, replacing it when it dies.
//!
//! The executor is our own program run again with another verb, which is safe from a process with
//! threads. Its standard input is a datagram socket that only it and this runner hold: when either
//! dies the other notices at once. A dead executor is replaced without end, at a growing interval.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
    SocketType,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::process::{Child, Command};

use super::{Config, Shared, blocking};
use crate::executor::READY;
use crate::shim;
use crate::wire::StartOrder;

/// How long an executor may take to be ready, and a start may wait for one.
pub const PATIENCE: Duration = Duration::from_secs(15);
const RETRY_MIN: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(10);

/// What is freed is free for everything: shims live on few pages, and have no use for a cache of
/// freed pieces scattered over them.
const NO_CACHES: &str = "glibc.malloc.tcache_count=0";

#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    #[error("its program cannot be run")]
    Spawn(#[source] io::Error),
    #[error("it cannot work: {0}")]
    Unable(String),
    #[error("it ended before it was ready")]
    Died,
    #[error(
        "it is not ready after {} s; another agent may be using the same data directory",
        PATIENCE.as_secs()
    )]
    Busy,
}

/// The way to a running executor.
pub struct Link {
    socket: AsyncFd<OwnedFd>,
}

pub struct Launched {
    pub link: Arc<Link>,
    child: Child,
}

impl Link {
    /// Hands an order over, with the shim's end of its socket.
    pub async fn send(&self, order: &StartOrder, shim: OwnedFd) -> io::Result<()> {
        let bytes = order.encode();
        let attempt = |socket: &OwnedFd| {
            let fds = [shim.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            control.push(SendAncillaryMessage::ScmRights(&fds));
            let parts = [IoSlice::new(&bytes)];
            rustix::net::sendmsg(socket, &parts, &mut control, SendFlags::NOSIGNAL)?;
            Ok(())
        };
        self.socket.async_io(Interest::WRITABLE, attempt).await
    }

    async fn greeting(&self) -> io::Result<String> {
        let mut bytes = [0; 512];
        let attempt = |socket: &OwnedFd| {
            let (length, _) = rustix::net::recv(socket, &mut bytes, RecvFlags::empty())?;
            Ok(length)
        };
        let length = self.socket.async_io(Interest::READABLE, attempt).await?;
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }
}

/// Starts an executor and waits until it is ready.
pub async fn launch(config: &Config) -> Result<Launched, ExecutorError> {
    let spawn = || -> io::Result<(AsyncFd<OwnedFd>, Child)> {
        let (ours, theirs) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let child = Command::new(&config.executor)
            .args(&config.executor_args)
            .arg("--data-dir")
            .arg(&config.data_dir)
            .env_clear()
            .env("GLIBC_TUNABLES", NO_CACHES)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok((crate::sys::asynchronous(ours)?, child))
    };
    let (socket, mut child) = spawn().map_err(ExecutorError::Spawn)?;
    let link = Arc::new(Link { socket });
    let refused = match tokio::time::timeout(PATIENCE, link.greeting()).await {
        Ok(Ok(text)) if text == READY => return Ok(Launched { link, child }),
        Ok(Ok(text)) if !text.is_empty() => ExecutorError::Unable(text),
        Ok(Ok(_) | Err(_)) => ExecutorError::Died,
        Err(_) => ExecutorError::Busy,
    };
    let _ = child.kill().await;
    Err(refused)
}

/// Waits until no shim of an agent before this one can take an order any more. Its executor is gone, so
/// the agent is too, and they go with it.
pub async fn outwait_idle(runs: &Path) -> Result<(), ExecutorError> {
    let runs = runs.to_owned();
    let wait = move || {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        shim::outwait(&rustix::fs::open(&runs, flags, Mode::empty())?, PATIENCE)
    };
    match blocking(wait).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(ExecutorError::Busy),
        Err(e) => Err(ExecutorError::Unable(e.to_string())),
    }
}

/// Replaces the executor whenever it dies, until the runner goes.
pub async fn keep(shared: Arc<Shared>, first: Launched) {
    let mut current = first;
    loop {
        let status = tokio::select! {
            () = shared.cancel.cancelled() => break,
            status = current.child.wait() => status,
        };
        shared.executor.send_replace(None);
        tracing::warn!(status = ?status.ok(), "executor died, starting another");
        let mut delay = RETRY_MIN;
        current = loop {
            match launch(&shared.config).await {
                Ok(launched) => break launched,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, delay_ms = delay.as_millis(), "executor does not start");
                }
            }
            tokio::select! {
                () = shared.cancel.cancelled() => return,
                () = tokio::time::sleep(delay) => {}
            }
            delay = (delay * 2).min(RETRY_MAX);
        };
        shared.executor.send_replace(Some(current.link.clone()));
    }
    shared.executor.send_replace(None);
    drop(current.link);
    let _ = tokio::time::timeout(PATIENCE, current.child.wait()).await;
}

impl Shared {
    /// A live executor other than the one given; `None` when there is none for too long.
    pub(super) async fn executor_but(&self, dead: Option<&Arc<Link>>) -> Option<Arc<Link>> {
        let mut links = self.executor.subscribe();
        let is_new = |link: &Option<Arc<Link>>| match (link, dead) {
            (None, _) => false,
            (Some(link), Some(dead)) => !Arc::ptr_eq(link, dead),
            (Some(_), None) => true,
        };
        let found = tokio::time::timeout(PATIENCE, links.wait_for(is_new)).await;
        found.ok()?.ok()?.clone()
    }
}
