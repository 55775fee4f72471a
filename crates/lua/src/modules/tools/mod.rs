//! What others' programs do: version control, containers, clouds.
//!
//! Most of a module here is a table: for every function how it is called, and the usage line that turns its arguments
//! into the words of the program. Reading order: `usage` (lines to words), `tool` (a program on behalf of a step),
//! `class` (objects), `verb` (functions as data), then any module.

mod arguments;
mod class;
mod tool;
mod usage;
mod verb;

mod ai;
mod aws;
mod azure;
mod digitalocean;
mod docker;
mod frp;
mod gcp;
mod git;
mod gitops;
mod helm;
mod incus;
mod kubernetes;
mod pulumi;
mod python;
mod salt;
mod sloth;
mod stow;
mod terraform;

use super::Module;

pub(super) const MODULES: &[&Module] = &[
    &git::MODULE,
    &docker::MODULE,
    &python::MODULE,
    &terraform::MODULE,
    &pulumi::MODULE,
    &kubernetes::MODULE,
    &kubernetes::KUBECTL_MODULE,
    &kubernetes::K8S_MODULE,
    &helm::MODULE,
    &aws::MODULE,
    &gcp::MODULE,
    &azure::MODULE,
    &digitalocean::MODULE,
    &incus::MODULE,
    &salt::MODULE,
    &stow::MODULE,
    &frp::MODULE,
    &sloth::MODULE,
    &ai::MODULE,
    &gitops::MODULE,
];
