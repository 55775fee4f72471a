//! Files as people write them, right and wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod attack;
mod dialect;
mod examples;
mod folders;
mod mistakes;
mod round_trip;
mod schema;
