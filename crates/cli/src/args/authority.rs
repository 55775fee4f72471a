//! The certificate authority.

use clap::Subcommand;

#[derive(Clone, Debug, Subcommand)]
pub enum CaCommand {
    /// Show the authority, when it expires, and how far another is in taking its place
    #[command(
        after_help = "Examples:\n  hostler ca show\n  hostler ca show -o json\n  hostler ca show -o jsonpath='{.present.certificate}' > authority.pem\n\nWhile one authority takes the place of another, the nodes are named that still come with a certificate\nof the old one."
    )]
    Show,
    /// Begin to replace the authority by a new one, while everything goes on
    #[command(
        after_help = "Examples:\n  hostler ca rotate\n\nBoth authorities are trusted until `hostler ca finish`. Servers take the new one over within\nseconds, agents are told of it and renew their certificates, contexts of this command line learn it\nwith their next command. `hostler ca show` says which nodes have not renewed yet; when none is left,\n`hostler ca finish` drops the old authority. Needs the role admin on the whole installation."
    )]
    Rotate,
    /// Drop the old authority, when every node has a certificate of the new one
    #[command(
        after_help = "Examples:\n  hostler ca finish\n  hostler ca finish --force --yes\n\nRefused while nodes would be cut off, which are named. With --force they are cut off: what runs on them\ngoes on, and they come back when they join again with a token. Contexts that were not used since\n`hostler ca rotate` log in again."
    )]
    Finish {
        /// Although nodes are cut off by it, and have to join again
        #[arg(long)]
        force: bool,
    },
    /// Go back to the old authority
    #[command(
        after_help = "Examples:\n  hostler ca abort\n\nThe old authority issues again, nodes renew against it, and `hostler ca finish` drops the new one\nwhen every node is back."
    )]
    Abort,
}
