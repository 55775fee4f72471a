//! One binary for the integration tests of this crate.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod authority;
mod handshake;
mod keyring;
mod secrets;
