//! From other programs' files to workloads.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Clone, Debug, Subcommand)]
pub enum ImportCommand {
    /// Services of Compose files; further files lie over the first
    #[command(after_help = "\
Examples:
  hostler import compose compose.yaml
  hostler import compose compose.yaml compose.prod.yaml --env-file .env --out workloads/

Variables come from the environment and from --env-file, which the environment overrides. Images are
not run: the programs have to be on the nodes.")]
    Compose(ImportComposeArgs),
    /// Crontabs, of users and of the system
    #[command(after_help = "\
Examples:
  crontab -l | hostler import crontab -
  hostler import crontab /etc/crontab /etc/cron.d/php --out workloads/")]
    Crontab(ImportCrontabArgs),
    /// systemd services, with their timers and drop-ins
    #[command(after_help = "\
Examples:
  hostler import systemd /etc/systemd/system/shop.service
  hostler import systemd backup.service backup.timer --out workloads/

Give what belongs together at once: dependencies are kept among the units that are given.")]
    Systemd(ImportFilesArgs),
    /// Procfiles
    #[command(after_help = "\
Examples:
  hostler import procfile Procfile
  hostler import procfile Procfile --env-file .env --out workloads/")]
    Procfile(ImportProcfileArgs),
    /// Programs of supervisord's configuration
    #[command(after_help = "\
Examples:
  hostler import supervisord /etc/supervisor/supervisord.conf /etc/supervisor/conf.d/*.conf")]
    Supervisord(ImportFilesArgs),
}

#[derive(Args, Clone, Debug)]
pub struct ImportFilesArgs {
    /// Files to read; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only show what the workloads would be, and what will not carry over (the default)
    #[arg(long, conflicts_with = "out")]
    pub plan: bool,
    /// Write each workload into a YAML file of its name in this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace files that are there already
    #[arg(long, requires = "out")]
    pub force: bool,
}

#[derive(Args, Clone, Debug)]
pub struct ImportComposeArgs {
    #[command(flatten)]
    pub files: ImportFilesArgs,
    /// File with a KEY=VALUE on each line, for `${KEY}`
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct ImportCrontabArgs {
    #[command(flatten)]
    pub files: ImportFilesArgs,
    /// Each line names a user before its command; known by itself for /etc/crontab and /etc/cron.d
    #[arg(long)]
    pub system: bool,
}

#[derive(Args, Clone, Debug)]
pub struct ImportProcfileArgs {
    #[command(flatten)]
    pub files: ImportFilesArgs,
    /// File with a KEY=VALUE on each line, for every process
    #[arg(long, value_name = "FILE")]
    pub env_file: Option<PathBuf>,
}
