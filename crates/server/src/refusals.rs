//! What is refused below the API, counted.
//!
//! A connection that ends before a request has no endpoint, no caller and no request id, and an event for each would be
//! a way to fill the database. So it is counted, by listener and reason, and a scrape shows it. The counts
//! are those of this process, like its processor time, whichever listener adds to them.

use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    Http,
    Agents,
}

impl Listener {
    const ALL: [Listener; 2] = [Listener::Http, Listener::Agents];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Listener::Http => "http",
            Listener::Agents => "agents",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// One address has as many connections as it may.
    Crowd,
    /// A node asked for, or spoke of, what is not its own; it may have been until a moment ago.
    Foreign,
    /// The handshake failed: no certificate, a foreign or an expired one, an old version, plain text.
    Handshake,
    /// What came is not HTTP as it is written, or too much of it.
    Malformed,
    /// A certificate of ours, but of another kind of peer than may say this.
    Role,
    /// The handshake or the head of a request did not come in time, or the answer was not taken.
    Slow,
    /// A certificate of ours that speaks for nobody: revoked, never written down, or of a node that was removed.
    Unknown,
}

impl Reason {
    const ALL: [Reason; 7] = [
        Reason::Crowd,
        Reason::Foreign,
        Reason::Handshake,
        Reason::Malformed,
        Reason::Role,
        Reason::Slow,
        Reason::Unknown,
    ];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Reason::Crowd => "crowd",
            Reason::Foreign => "foreign",
            Reason::Handshake => "handshake",
            Reason::Malformed => "malformed",
            Reason::Role => "role",
            Reason::Slow => "slow",
            Reason::Unknown => "unknown",
        }
    }
}

const REASONS: usize = Reason::ALL.len();

static COUNTS: [AtomicU64; Listener::ALL.len() * REASONS] =
    [const { AtomicU64::new(0) }; Listener::ALL.len() * REASONS];

fn place(listener: Listener, reason: Reason) -> &'static AtomicU64 {
    &COUNTS[listener as usize * REASONS + reason as usize]
}

pub(crate) fn count(listener: Listener, reason: Reason) {
    place(listener, reason).fetch_add(1, Ordering::Relaxed);
}

/// Every listener and reason, with how often.
pub(crate) fn counts() -> impl Iterator<Item = (Listener, Reason, u64)> {
    let reasons = |listener| Reason::ALL.into_iter().map(move |reason| (listener, reason));
    let all = Listener::ALL.into_iter().flat_map(reasons);
    all.map(|(listener, reason)| {
        (listener, reason, place(listener, reason).load(Ordering::Relaxed))
    })
}

/// Why a connection of ours ended, where that is the peer's doing and worth counting.
pub(crate) fn reason_of(error: &(dyn Error + 'static)) -> Option<Reason> {
    if is_timeout(error) || error.source().is_some_and(is_timeout) {
        return Some(Reason::Slow);
    }
    let error = error.downcast_ref::<hyper::Error>()?;
    error.is_parse().then_some(Reason::Malformed)
}

fn is_timeout(error: &(dyn Error + 'static)) -> bool {
    let by_http = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout);
    let by_us = error.downcast_ref::<io::Error>();
    by_http || by_us.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_place_of_its_own() {
        let before: Vec<_> = counts().collect();
        count(Listener::Agents, Reason::Slow);
        let grown: Vec<_> =
            counts().zip(before).filter(|(now, then)| now != then).map(|(now, _)| now).collect();
        assert_eq!(grown.len(), 1, "{grown:?}");
        assert_eq!((grown[0].0, grown[0].1), (Listener::Agents, Reason::Slow));
    }
}
