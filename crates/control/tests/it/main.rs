//! The application, with simulated agents on an in-memory database.

mod simulation;
mod story;
