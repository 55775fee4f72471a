//! `hostler step`, which only agents say: one step of a workflow, or one call of a plugin of stacks, in the working directory
//! of its run.
//!
//! What to do lies there, and so does what came of it when it is over; see `flow`. What the step prints is the output
//! of the task. `hostler step-as USER` is the same for a step of another user in an execution of this machine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use hostler_agent::STEP;
use hostler_flow::plugin::Lock;
use hostler_model::stack::PluginCall;
use hostler_trust::MasterKey;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;

/// What could not even be begun.
const NOT_BEGUN: u8 = 70;

pub fn is_asked_for(mut words: impl Iterator<Item = OsString>) -> bool {
    words.nth(1).is_some_and(|word| word == STEP) && words.next().is_none()
}

pub fn main() -> ExitCode {
    match perform() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            crate::server::tell(&format!("error: {message}"));
            ExitCode::from(NOT_BEGUN)
        }
    }
}

/// `hostler step-as USER`, which only executions on this machine say: a part of one, as that user.
pub fn user_asked_for(words: impl Iterator<Item = OsString>) -> Option<String> {
    let words: Vec<OsString> = words.skip(1).collect();
    match words.as_slice() {
        [word, user] if word == hostler_flow::STEP_AS => user.to_str().map(str::to_owned),
        _ => None,
    }
}

pub fn act_as(user: &str) -> ExitCode {
    match hostler_flow::act_as(user) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            crate::server::tell(&message);
            ExitCode::from(NOT_BEGUN)
        }
    }
}

/// Where it was started: by its path, or as it is where another user may not go along that path.
fn workdir() -> std::io::Result<PathBuf> {
    let place = std::env::current_dir()?;
    Ok(if place.join(".").metadata().is_ok() { place } else { PathBuf::from(".") })
}

/// With the key that a call of a plugin was given.
fn lock(key: &str) -> Result<Lock, String> {
    let key: MasterKey = key.parse().map_err(|_| "the key of the call is missing".to_owned())?;
    let other = key.clone();
    let open = move |sealed: &[u8]| {
        let opened = key.open(sealed, PluginCall::BOUND).map_err(|error| error.to_string())?;
        Ok(opened.to_vec())
    };
    let close =
        move |text: &[u8]| other.seal(text, PluginCall::BOUND).map_err(|error| error.to_string());
    Ok(Lock { open: Box::new(open), close: Box::new(close) })
}

fn perform() -> Result<bool, String> {
    let workdir = workdir().map_err(|error| error.to_string())?;
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let work = async {
        let mut asked = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let stop = async {
            asked.recv().await;
        };
        let scrub = |secrets: &_| hostler_flow::Scrub::new(hostler_agent::scrubber(secrets));
        match hostler_flow::is_plugin_call(&workdir) {
            true => hostler_flow::perform_plugin(&workdir, environment, lock, scrub, stop).await,
            false => hostler_flow::perform_job(&workdir, environment, scrub, stop).await,
        }
    };
    LocalSet::new().block_on(&runtime, work)
}
