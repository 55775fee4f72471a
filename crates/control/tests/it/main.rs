//! The application, with simulated agents on an in-memory database.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod metered;
mod postgres;
mod racing;
mod reload;
mod services;
mod simulation;
mod story;
