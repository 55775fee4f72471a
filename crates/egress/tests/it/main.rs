//! The door, tried with servers on this machine and name servers that lie.
#![expect(clippy::unwrap_used, reason = "the whole crate is tests")]

mod calls;
mod outside;
mod redirects;
mod world;
