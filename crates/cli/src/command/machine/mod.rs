//! The machines of nodes, one or many at once. Who is asked and how answers come together is in `fleet`; what is
//! looked at in `look`; what is done in `deed`.

mod backup;
mod deed;
mod fleet;
mod look;

pub use backup::backup_command;
pub use deed::{packages_change, processes_kill, services_change, users_change};
pub use look::{disk, health, logs, packages, processes, search, service_status, services, users};

use super::Cx;
use crate::args::{
    NodePackagesCommand, NodeProcessesCommand, NodeServicesCommand, NodeUsersCommand,
};
use crate::failure::Outcome;

pub async fn packages_command(cx: &Cx, command: NodePackagesCommand) -> Outcome {
    match command {
        NodePackagesCommand::Ls(args) => packages(cx, args).await,
        NodePackagesCommand::Search(args) => search(cx, args).await,
        other => packages_change(cx, other).await,
    }
}

pub async fn services_command(cx: &Cx, command: NodeServicesCommand) -> Outcome {
    match command {
        NodeServicesCommand::Ls(args) => services(cx, args).await,
        NodeServicesCommand::Status(args) => service_status(cx, args).await,
        other => services_change(cx, other).await,
    }
}

pub async fn processes_command(cx: &Cx, command: NodeProcessesCommand) -> Outcome {
    match command {
        NodeProcessesCommand::Ls(args) => processes(cx, args).await,
        NodeProcessesCommand::Kill(args) => processes_kill(cx, args).await,
    }
}

pub async fn users_command(cx: &Cx, command: NodeUsersCommand) -> Outcome {
    match command {
        NodeUsersCommand::Ls(args) => users(cx, args).await,
        other => users_change(cx, other).await,
    }
}
