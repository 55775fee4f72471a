//! What a machine is made to be: files, packages, services, users, and what is true of it.
//!
//! The modules stand on the crate `host`. `given` reads arguments, `machine` is the machine and how functions answer;
//! a module is then a table of descriptions and one small function for each.

mod given;
mod machine;

mod proc;
mod template;
mod wrapped;

mod cron;
mod facts;
mod file_ops;
mod firewall;
mod infra_test;
mod lvm;
mod nfs;
mod nixos;
mod pkg;
mod raid;
mod security;
mod smb;
mod ssh;
mod sysctl;
mod systemd;
mod user;

use super::Module;

pub(super) const MODULES: &[&Module] = &[
    &file_ops::MODULE,
    &pkg::MODULE,
    &systemd::MODULE,
    &user::MODULE,
    &cron::MODULE,
    &sysctl::MODULE,
    &firewall::MODULE,
    &ssh::MODULE,
    &infra_test::MODULE,
    &facts::MODULE,
    &lvm::MODULE,
    &raid::MODULE,
    &nfs::MODULE,
    &smb::MODULE,
    &nixos::MODULE,
    &security::MODULE,
];
