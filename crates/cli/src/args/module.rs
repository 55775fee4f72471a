//! Modules of one's own that the server keeps for workflows.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ListArgs;

#[derive(Clone, Debug, Subcommand)]
pub enum ModuleCommand {
    Push(ModulePushArgs),
    /// List the modules that the server keeps
    #[command(
        after_help = "Examples:\n  hostler workflow module ls\n  hostler workflow module ls --versions web\n  hostler workflow module ls -o json"
    )]
    Ls(ModuleListArgs),
    Show(ModuleShowArgs),
    /// Remove modules from the server, with all their versions
    #[command(
        after_help = "Examples:\n  hostler workflow module rm web\n\nWorkflows that were kept with a module still have it. Its numbers are never given again."
    )]
    Rm {
        /// Names of modules
        #[arg(value_name = "MODULE", required = true)]
        modules: Vec<String>,
    },
}

/// Keep modules on the server, for workflows to ask for with `require`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler workflow module push web.lua
  hostler workflow module push lib/deploy.lua --name acme.deploy
  hostler workflow module push web/
  hostler workflow module push modules/

A file is a module that is called like it, without its ending. A directory with an init.lua is
one module, called like the directory; of any other directory each file is a module.

Each gets a new version, with the files that it needs, unless nothing changed. Versions never
change: `require(\"web\")` means the newest when a workflow is pushed, `require(\"web@3\")` always
the third, and a workflow that was pushed keeps the one it was pushed with.")]
pub struct ModulePushArgs {
    /// Files (.lua, .luau or .sloth), or directories with them
    #[arg(value_name = "FILE|DIR", required = true)]
    pub paths: Vec<PathBuf>,
    /// What it is called, when it is not called like its file
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// What is only warned of otherwise is a mistake
    #[arg(long)]
    pub strict: bool,
}

#[derive(Args, Clone, Debug)]
pub struct ModuleListArgs {
    /// List the versions of this module, newest first
    #[arg(long, value_name = "MODULE")]
    pub versions: Option<String>,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Print the text of a module that the server keeps
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler workflow module show web\n  hostler workflow module show web --version 3\n  hostler workflow module show web -o json\n\nWith -o json the files and modules that it needs are told too."
)]
pub struct ModuleShowArgs {
    /// Name of the module
    #[arg(value_name = "MODULE")]
    pub module: String,
    /// Number of the version; the newest when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub version: Option<u32>,
}
