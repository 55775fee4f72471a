//! One binary: control plane, agent, command line.
//!
//! The executor comes first and alone: it must exist before any thread does, and what it never loads
//! no shim has to carry.

mod agent;
mod backup;
mod doctor;
mod install;
mod server;
mod step;
mod up;

use std::process::ExitCode;

use hostler_base::chain::chain;
use hostler_cli::Invocation;

/// The version of every part of the binary.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    if let Some(data_dir) = executor_data_dir() {
        hostler_agent::executor::executor_main(&data_dir)
    }
    if let Some(keeper) = hostler_agent::container::Keeper::asked_for(std::env::args_os()) {
        keeper.main()
    }
    if let Some(user) = step::user_asked_for(std::env::args_os()) {
        return step::act_as(&user);
    }
    if step::is_asked_for(std::env::args_os()) {
        return step::main();
    }
    hostler_cli::complete();
    match hostler_cli::parse() {
        Err(code) => code,
        Ok(Invocation::Client(command)) => {
            let command =
                command.with_scrubber(|secrets| Box::new(hostler_agent::scrubber(secrets)));
            hostler_cli::run(doctor::prepared(command))
        }
        Ok(Invocation::Up(args)) => ended(up::run(args)),
        Ok(Invocation::Server(invocation)) => server::run(invocation),
        Ok(Invocation::Agent(invocation)) => agent::run(invocation),
        Ok(Invocation::Backup(globals, invocation)) => backup::run(&globals, *invocation),
    }
}

/// What is told of a failure, and the code to end with.
fn ended(done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            server::tell(&format!("error: {}", chain(error.as_ref())));
            ExitCode::FAILURE
        }
    }
}

/// `hostler executor --data-dir DIR`, which only agents say.
fn executor_data_dir() -> Option<std::path::PathBuf> {
    let mut args = std::env::args_os().skip(1);
    let words = (args.next()?, args.next()?, args.next()?);
    (words.0 == "executor" && words.1 == "--data-dir").then(|| words.2.into())
}

/// A runtime with as many threads as the work deserves.
fn runtime(threads: usize) -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(32)
        .thread_keep_alive(std::time::Duration::from_secs(1))
        .enable_all()
        .build()
}
