//! Secrets. A value never is an argument: others on the machine see arguments, and shells remember them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hostler_model::{Name, RoleName, SecretRef, SecretUse};

use super::ListArgs;

#[derive(Clone, Debug, Subcommand)]
pub enum SecretCommand {
    /// List secrets; never their values
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler secret ls\n  hostler secret ls --environment prod -o wide"
    )]
    Ls(SecretListArgs),
    Set(SecretSetArgs),
    /// Read a value; the audit trail tells of it
    #[command(
        after_help = "Examples:\n  hostler secret get db\n  hostler secret get prod/db --version 3 > db.txt\n  hostler secret get db -o json\n\nThe value is printed as it is, without a newline of its own; with -o json in base64. Needs the role\noperator in the project."
    )]
    Get {
        #[command(flatten)]
        secret: SecretArg,
        /// Number of the version; the current one when absent
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        version: Option<u32>,
    },
    Rotate(SecretRotateArgs),
    Link(SecretLinkArgs),
    /// List the vaults that secrets of the project can lead to
    #[command(
        after_help = "Examples:\n  hostler secret vaults\n  hostler secret vaults -o json\n\nVaults are in the configuration of the servers, as `[vault.NAME]`.\nPaths of links are below the prefix."
    )]
    Vaults,
    /// List the versions of a secret, newest first
    #[command(
        after_help = "Examples:\n  hostler secret versions db\n  hostler secret versions prod/db -o json"
    )]
    Versions {
        #[command(flatten)]
        secret: SecretArg,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Remove secrets; with a version, destroy only that
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler secret rm db\n  hostler secret rm prod/db:2 --yes\n\nWhat runs keeps what it was given. What starts afterwards and names it does not start."
    )]
    Rm {
        /// [ENVIRONMENT/]NAME[:VERSION]
        #[arg(value_name = "SECRET", required = true)]
        secrets: Vec<SecretRef>,
    },
    /// Seal everything with the present master key that is sealed with a former one
    #[command(
        after_help = "Examples:\n  hostler secret rewrap\n\nThe last step of replacing the master key, when every server was started with the new one: see\n`hostler server rekey`. It can be stopped and repeated at any time. Needs the role admin on the whole\ninstallation. Exits with 1 when something is left that could not be opened."
    )]
    Rewrap,
}

#[derive(Args, Clone, Debug)]
pub struct SecretArg {
    /// [ENVIRONMENT/]NAME
    #[arg(value_name = "SECRET")]
    pub secret: SecretRef,
}

#[derive(Args, Clone, Debug)]
pub struct SecretListArgs {
    /// Only secrets of this environment
    #[arg(long, value_name = "ENVIRONMENT")]
    pub environment: Option<Name>,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Where a value comes from.
#[derive(Args, Clone, Debug, Default)]
pub struct SecretValueArgs {
    /// File that holds the value, as it is; `-` for stdin
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Have a value made from this many random bytes; nobody sees it
    #[arg(
        long,
        value_name = "BYTES",
        conflicts_with_all = ["file", "stdin"],
        value_parser = clap::value_parser!(u32).range(16..=1024)
    )]
    pub generate: Option<u32>,
    /// `-` to read the value from stdin
    #[arg(value_name = "-", conflicts_with = "file")]
    pub stdin: Option<String>,
}

/// Set a secret: its first value, or a new version
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler secret set db --file password.txt
  printf %s \"$PASSWORD\" | hostler secret set prod/db -
  hostler secret set session-key --generate 32
  hostler secret set db                     asks for it, on a terminal

A value has 1 byte to 64 KiB and is kept as it is, with the newline at its end if there is one. Setting
the value that is current already changes nothing. Workloads get it with --secret-env or --secret-file,
or `secrets` in their file.")]
pub struct SecretSetArgs {
    #[command(flatten)]
    pub secret: SecretArg,
    #[command(flatten)]
    pub value: SecretValueArgs,
}

/// Give a secret that is there a new version
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler secret rotate session-key --generate 32
  hostler secret rotate prod/db --file password.txt

What runs keeps the version it was given; runs that start afterwards get the new one, unless they name
a version.")]
pub struct SecretRotateArgs {
    #[command(flatten)]
    pub secret: SecretArg,
    #[command(flatten)]
    pub value: SecretValueArgs,
}

/// Have a secret lead to a value in a vault outside
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler secret link db --provider corp --path db/app --field password
  hostler secret link prod/db --provider corp --path db/app#password@3

`hostler secret vaults` lists vaults. The value is asked for when a run starts or somebody reads
it, and never stored. It is used as any other secret: --secret-env DB_PASSWORD=db. Linking again
leads elsewhere; `hostler secret rm` removes the link, not what is in the vault. Whether it can be
had shows `hostler secret get`.")]
pub struct SecretLinkArgs {
    #[command(flatten)]
    pub secret: SecretArg,
    /// Name of the vault
    #[arg(long, value_name = "VAULT")]
    pub provider: Name,
    /// Where it is, below what the vault has for the project
    #[arg(long, value_name = "PATH[#FIELD][@VERSION]")]
    pub path: String,
    /// Which field of what is there; not needed where there is only one
    #[arg(long, value_name = "FIELD")]
    pub field: Option<String>,
    /// As the vault counts versions; the newest when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub version: Option<u32>,
}

/// Secrets that it is given.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Secrets")]
pub struct SecretUseArgs {
    /// Give it a secret in a variable; not for containers
    #[arg(long = "secret-env", value_name = "KEY=SECRET[:VERSION]", value_parser = in_variable)]
    pub variables: Vec<SecretUse>,
    /// Give it a secret in a file of this name, in the directory that HOSTLER_SECRETS names
    #[arg(long = "secret-file", value_name = "FILE=SECRET[:VERSION]", value_parser = in_file)]
    pub files: Vec<SecretUse>,
    /// Let it call Hostler's API with this role in its project, with the token in HOSTLER_TOKEN_FILE
    #[arg(long, value_name = "ROLE")]
    pub identity: Option<RoleName>,
}

fn in_variable(text: &str) -> Result<SecretUse, String> {
    let (name, secret) = pair(text, "DB_PASSWORD=db")?;
    Ok(SecretUse { secret, env: Some(name), file: None })
}

fn in_file(text: &str) -> Result<SecretUse, String> {
    let (name, secret) = pair(text, "tls.key=prod/tls-key:2")?;
    Ok(SecretUse { secret, env: None, file: Some(name) })
}

fn pair(text: &str, example: &str) -> Result<(String, SecretRef), String> {
    let (name, secret) = text
        .split_once('=')
        .ok_or_else(|| format!("it names a place and a secret, such as {example}"))?;
    let secret = secret.parse::<SecretRef>().map_err(|e| e.to_string())?;
    Ok((name.to_owned(), secret))
}
