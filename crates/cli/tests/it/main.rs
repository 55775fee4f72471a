//! The command line as a person or a script meets it: words in, bytes and a code out, against a
//! server that the test writes.

#![cfg(test)]

#[path = "../../../client/tests/it/fake.rs"]
mod fake;

mod workloads;
mod world;

mod access;
mod approvals;
mod arrays;
mod attack;
mod described;
mod help;
mod hooks;
mod images;
mod import;
mod locks;
mod output;
mod people;
mod queue;
mod roles;
mod schedules;
mod secrets;
mod setup;
mod tasks;
mod timelines;
