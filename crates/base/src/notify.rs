//! Telling the service manager how we are, in systemd's notification protocol.
//!
//! The manager names a datagram socket in `NOTIFY_SOCKET` (a path, or an abstract name that begins with
//! `@`) and reads lines of `KEY=value` there. One datagram is one message. Where there is no manager
//! nothing is sent, and nobody has to ask: a [`Notifier`] made outside a service is silent.
//!
//! 1. Nothing here can fail or block the caller. A message that cannot be sent is dropped; the manager
//!    then thinks what it thought before, and in the end restarts us, which is harmless.
//! 2. [`Watchdog::beat`] is the only thing that says "alive". Whoever calls it must have seen the heart
//!    of the process work just before; a timer that beats by itself would hide exactly the hangs that a
//!    watchdog is for.
//! 3. The variables are for this process alone. Children are started with an environment of their own.

use std::ffi::{OsStr, OsString};
use std::future::Future;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use crate::clock::Clock;

/// The way to the service manager, where there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notifier {
    address: Option<OsString>,
    /// After how much silence the manager acts.
    patience: Option<Duration>,
}

impl Notifier {
    /// Tells nobody.
    pub fn silent() -> Notifier {
        Notifier::default()
    }

    /// What the service manager has put in the environment of this process.
    pub fn from_environment() -> Notifier {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let is_for_us =
            number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        Notifier {
            address: std::env::var_os("NOTIFY_SOCKET").filter(|address| !address.is_empty()),
            patience: number("WATCHDOG_USEC")
                .filter(|usec| *usec > 0 && is_for_us)
                .map(Duration::from_micros),
        }
    }

    /// A manager that listens at `address` and waits for signs of life for `patience`.
    pub fn new(address: impl Into<OsString>, patience: Option<Duration>) -> Notifier {
        Notifier { address: Some(address.into()), patience }
    }

    pub fn is_silent(&self) -> bool {
        self.address.is_none()
    }

    /// Everything that belongs to starting, or to reading the configuration again, is done.
    pub fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={}", one_line(status)));
    }

    /// One line for people who ask the manager.
    pub fn status(&self, status: &str) {
        self.tell(&format!("STATUS={}", one_line(status)));
    }

    pub fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    /// The duty to show signs of life, where the manager asks for them.
    pub fn watchdog(&self) -> Option<Watchdog> {
        let patience = self.patience.filter(|_| !self.is_silent())?;
        Some(Watchdog { notifier: self.clone(), every: patience / 2 })
    }

    fn tell(&self, message: &str) {
        let Some(address) = &self.address else { return };
        if let Err(error) = send(address, message) {
            tracing::debug!(%error, "service manager not told");
        }
    }
}

fn send(address: &OsStr, message: &str) -> io::Result<()> {
    let address = match address.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(address)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.send_to_addr(message.as_bytes(), &address).map(|_| ())
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// The duty to show signs of life.
#[derive(Clone, Debug)]
pub struct Watchdog {
    notifier: Notifier,
    every: Duration,
}

impl Watchdog {
    /// How often a sign is due: half of what the manager bears.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// One sign of life.
    pub fn beat(&self) {
        self.notifier.tell("WATCHDOG=1");
    }

    /// Beats whenever it is time and `is_alive` has said so; never returns. While the answer is no, or
    /// does not come, nothing is sent.
    pub async fn keep<F, Answer>(self, clock: Clock, mut is_alive: F)
    where
        F: FnMut() -> Answer,
        Answer: Future<Output = bool>,
    {
        loop {
            if is_alive().await {
                self.beat();
            }
            clock.sleep(self.every).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager() -> (tempfile::TempDir, UnixDatagram, Notifier) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let notifier = Notifier::new(path, Some(Duration::from_secs(60)));
        (dir, socket, notifier)
    }

    fn next(socket: &UnixDatagram) -> String {
        let mut bytes = [0; 512];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    #[test]
    fn messages_are_lines_and_text_cannot_add_any() {
        let (_dir, socket, notifier) = manager();
        notifier.ready("supervises 3 workloads\nMAINPID=1");
        assert_eq!(next(&socket), "READY=1\nSTATUS=supervises 3 workloads MAINPID=1");
        notifier.status("all is well");
        assert_eq!(next(&socket), "STATUS=all is well");
        notifier.stopping();
        assert_eq!(next(&socket), "STOPPING=1");
        let watchdog = notifier.watchdog().unwrap();
        assert_eq!(watchdog.every(), Duration::from_secs(30));
        watchdog.beat();
        assert_eq!(next(&socket), "WATCHDOG=1");
    }

    #[test]
    fn abstract_names_are_understood() {
        let name = format!("hostler-notify-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let socket = UnixDatagram::bind_addr(&address).unwrap();
        Notifier::new(format!("@{name}"), None).stopping();
        assert_eq!(next(&socket), "STOPPING=1");
    }

    #[test]
    fn nobody_listening_is_no_trouble() {
        Notifier::silent().ready("nobody hears");
        assert!(Notifier::silent().watchdog().is_none());
        let gone = Notifier::new("/nonexistent/notify", None);
        gone.stopping();
        assert!(gone.watchdog().is_none(), "no duty without a period");
    }

    #[tokio::test]
    async fn a_heart_that_stands_still_gives_no_sign() {
        let (_dir, socket, notifier) = manager();
        socket.set_nonblocking(true).unwrap();
        let socket = tokio::net::UnixDatagram::from_std(socket).unwrap();
        let time = crate::ManualClock::new(hostler_model::Timestamp::EPOCH);
        let mut answers = [true, false, true].into_iter();
        let watchdog = notifier.watchdog().unwrap();
        let keep = watchdog.keep(time.clock(), move || {
            let answer = answers.next();
            async move {
                match answer {
                    Some(answer) => answer,
                    None => std::future::pending().await,
                }
            }
        });
        let drive = async {
            for _ in 0..3 {
                time.wait_for_sleepers(1).await;
                time.advance(Duration::from_secs(30));
                tokio::task::yield_now().await;
            }
            tokio::task::yield_now().await;
        };
        tokio::select! {
            () = keep => unreachable!("it goes on for ever"),
            () = drive => {}
        }
        let mut bytes = [0; 64];
        let mut beats = 0;
        while let Ok(length) = socket.try_recv(&mut bytes) {
            assert_eq!(&bytes[..length], b"WATCHDOG=1");
            beats += 1;
        }
        assert_eq!(beats, 2, "one for each yes");
    }
}
