//! What computes and what moves bytes: texts, numbers, data, time, files, requests, databases.
//!
//! `given` and `keep` are shared: what functions are given, and what is kept for as long as a step runs.

mod given;
mod keep;

mod crypto;
mod data;
mod db;
mod fs;
mod http;
mod io;
mod math;
mod net;
mod network;
mod os;
mod strings;
mod time;
mod web;
mod workdir;

pub(super) use network::{certificate, headers, scan};
pub(crate) use os::Exit;
pub(super) use web::{client, tls};

use super::Module;

pub(super) const MODULES: &[&Module] = &[
    &crypto::MODULE,
    &data::MODULE,
    &data::JSON,
    &data::TOML,
    &data::YAML,
    &db::MODULE,
    &fs::MODULE,
    &http::MODULE,
    &io::MODULE,
    &math::MODULE,
    &net::MODULE,
    &network::MODULE,
    &os::MODULE,
    &strings::MODULE,
    &time::MODULE,
    &workdir::MODULE,
];
