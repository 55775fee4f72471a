//! Backups of the control plane, and what is wrong with it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ServerOptions;

#[derive(Clone, Debug, Subcommand)]
pub enum BackupCommand {
    Create(BackupCreateArgs),
    Ls(BackupListArgs),
    Verify(BackupVerifyArgs),
    Restore(BackupRestoreArgs),
    Schedule(BackupScheduleArgs),
}

/// What a backup is sealed with.
#[derive(Args, Clone, Debug, Default)]
pub struct BackupKeyArgs {
    /// File whose first line is the passphrase, at least 20 characters; /dev/fd/3 will do
    #[arg(long, value_name = "FILE", group = "seal")]
    pub passphrase_file: Option<PathBuf>,
    /// File with a key: 32 bytes in base64, mode 0600; not the master key
    #[arg(long, value_name = "FILE", group = "seal")]
    pub key_file: Option<PathBuf>,
}

/// Which database is meant: that of a server's configuration, unless it is named
#[derive(Args, Clone, Debug, Default)]
pub struct BackupStoreArgs {
    /// TOML file with the settings of the server
    #[arg(long, value_name = "FILE", env = "HOSTLER_SERVER_CONFIG", hide_env_values = true)]
    pub config: Option<PathBuf>,
    /// Data directory of the server
    #[arg(long, value_name = "DIR", env = "HOSTLER_DATA_DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
    /// Database to use instead of the one in the data directory
    #[arg(long, value_name = "URL", env = "HOSTLER_DATABASE", hide_env_values = true)]
    pub database: Option<String>,
    /// File with the master key, if it is not in the data directory
    #[arg(long, value_name = "FILE", env = "HOSTLER_MASTER_KEY_FILE", hide_env_values = true)]
    pub master_key_file: Option<PathBuf>,
}

impl BackupStoreArgs {
    /// As a server would be told.
    pub fn into_options(self) -> ServerOptions {
        ServerOptions {
            config: self.config,
            data_dir: self.data_dir,
            database: self.database,
            master_key_file: self.master_key_file,
            ..ServerOptions::default()
        }
    }
}

/// Write everything the control plane knows, as it is at one moment, to a file
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "\
Examples:
  hostler backup create                                  asks for a passphrase
  hostler backup create hostler.backup --key-file backup.key
  hostler backup create --offline --with-master-key --data-dir /var/lib/hostler \\
      --passphrase-file pass.txt

The server goes on working meanwhile. The master key, which opens the secrets in the backup, is
not in it unless --with-master-key says so: that needs --offline, on a machine that has the key.
Without it keep a copy of the file `master.key`; a backup is restored only together with it.
Make a key with: (umask 077; head -c 32 /dev/urandom | base64 > backup.key)")]
pub struct BackupCreateArgs {
    /// File to write; `-` is standard output [default: hostler-TIME.backup]
    /// The backup
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub key: BackupKeyArgs,
    /// Do not seal it: whoever reads the file reads everything but the secrets
    #[arg(long, group = "seal")]
    pub plain: bool,
    /// Leave out images, and files that tasks left
    #[arg(long)]
    pub without_content: bool,
    /// Read the database itself, without a server; one may be running
    #[arg(long)]
    pub offline: bool,
    /// Write the master key into it, so that the file and its key are all that is needed
    #[arg(long, requires = "offline", conflicts_with = "plain")]
    pub with_master_key: bool,
    #[command(flatten)]
    pub store: BackupStoreArgs,
}

/// List backups: those of the server's directory, or of one on this machine
#[derive(Args, Clone, Debug, Default)]
#[command(
    visible_alias = "list",
    after_help = "Examples:\n  hostler backup ls\n  hostler backup ls /mnt/backups -o wide\n\nA backup that a server made is `verified`: it was read back to its end when it was written."
)]
pub struct BackupListArgs {
    /// Directory on this machine
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// Check a backup to its last byte, without a database
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler backup verify hostler.backup --key-file backup.key\n  hostler backup verify hostler.backup --key-file backup.key --drill\n\nWith --drill it is restored into a database that is thrown away, and compared table by table."
)]
pub struct BackupVerifyArgs {
    /// The backup
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub key: BackupKeyArgs,
    /// Restore it, into a database that is thrown away
    #[arg(long)]
    pub drill: bool,
}

/// Put a backup into an empty database, of either kind
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler backup restore hostler.backup --key-file backup.key --data-dir /var/lib/hostler
  hostler backup restore hostler.backup --key-file backup.key \\
      --database postgres://hostler@db/hostler --data-dir /var/lib/hostler

Stop all servers first. The file is read to its end before anything is touched, and the database is
compared with it afterwards; until then no server starts on it. SQLite becomes PostgreSQL and back:
it is also the way from one to the other. Browsers log in again; open invitations, join tokens
and password resets are void; nodes say what they hold before they are told anything.")]
pub struct BackupRestoreArgs {
    /// The backup
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub key: BackupKeyArgs,
    #[command(flatten)]
    pub store: BackupStoreArgs,
    /// Although the database is not empty: everything in it is lost
    #[arg(long)]
    pub force: bool,
}

/// Show how often the server makes backups by itself, and when the next is due
#[derive(Args, Clone, Debug, Default)]
#[command(
    after_help = "Examples:\n  hostler backup schedule\n  hostler backup schedule --now\n\nIt is set in the section `[backup]` of the server's configuration: directory, every, keep, key_file;\ndocs/reference/config.md lists all. --now makes one at once."
)]
pub struct BackupScheduleArgs {
    /// Make one now
    #[arg(long)]
    pub now: bool,
}
