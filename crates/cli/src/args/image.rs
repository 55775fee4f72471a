//! Images that the installation keeps, and the containers of nodes.

use clap::{Args, Subcommand};
use hostler_model::Name;

use super::ListArgs;

#[derive(Clone, Debug, Subcommand)]
pub enum ImageCommand {
    /// List images that are kept, or those that a node has
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler image ls\n  hostler image ls train -o wide\n  hostler image ls --node web-1"
    )]
    Ls(ImageListArgs),
    /// Show a version of an image, and the nodes that have it; the newest where none is named
    #[command(
        visible_alias = "get",
        after_help = "Examples:\n  hostler image show train\n  hostler image show train:3 -o json"
    )]
    Show(ImageArg),
    Push(ImagePushArgs),
    /// Keep versions of images no longer; a name alone stands for all its versions
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler image rm train:2\n  hostler image rm train --yes\n  hostler image rm --node web-1 debian:11\n\nNodes let go of it too, unless something there uses it. With --node, it goes from that node alone."
    )]
    Rm(ImageRemoveArgs),
    Sync(ImageSyncArgs),
    Export(ImageExportArgs),
}

#[derive(Args, Clone, Debug)]
pub struct ImageArg {
    /// NAME, NAME:VERSION or NAME@DIGEST
    #[arg(value_name = "IMAGE")]
    pub image: String,
}

#[derive(Args, Clone, Debug)]
pub struct ImageListArgs {
    /// Only versions of this image
    #[arg(value_name = "IMAGE", conflicts_with = "node")]
    pub name: Option<Name>,
    /// What this node's engine has
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Keep a version of an image: from a file that `docker save` made, or from a node
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler image push train train.tar
  docker save team/train:3 | hostler image push train -
  hostler image push train --from-node web-1 team/train:3

A workload that says `image: hostler://train` runs in the newest version, `hostler://train:3` in that
one. Nodes fetch it when they need it. Of a version that is like another only what differs is sent.")]
pub struct ImagePushArgs {
    /// Name of the image
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// File as `docker save` makes it, `-` for stdin; with --from-node, an image of that node
    #[arg(value_name = "FILE|IMAGE")]
    pub what: String,
    /// Take it from this node's engine
    #[arg(long, value_name = "NODE")]
    pub from_node: Option<String>,
    /// Do not wait until the node has sent it; prints the operation's id
    #[arg(long, requires = "from_node")]
    pub no_wait: bool,
}

#[derive(Args, Clone, Debug)]
pub struct ImageRemoveArgs {
    /// NAME, NAME:VERSION or NAME@DIGEST; with --node, as that node's engine calls it
    #[arg(value_name = "IMAGE", required = true)]
    pub images: Vec<String>,
    /// Remove them from this node's engine
    #[arg(long, value_name = "NODE")]
    pub node: Option<String>,
}

/// Have an image on nodes before anything needs it there
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler image sync train --node gpu-1 --node gpu-2
  hostler image sync train:3 --all
  hostler image sync train --all --no-wait

It goes on when the command, the server or a node's agent is stopped in the middle.")]
pub struct ImageSyncArgs {
    #[command(flatten)]
    pub image: ImageArg,
    /// To this node
    #[arg(long = "node", value_name = "NODE", required_unless_present = "all")]
    pub nodes: Vec<String>,
    /// To every node that is online and has a container engine
    #[arg(long, conflicts_with = "nodes")]
    pub all: bool,
    /// Do not wait until they have it; prints the operation's id
    #[arg(long)]
    pub no_wait: bool,
}

/// Write a version of an image to a file that `docker load` takes
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler image export train train.tar
  hostler image export train:3 | docker load")]
pub struct ImageExportArgs {
    #[command(flatten)]
    pub image: ImageArg,
    /// File to write; stdout when absent or `-`
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ContainerCommand {
    /// List the containers that a node's engine has
    #[command(
        visible_alias = "list",
        after_help = "Examples:\n  hostler container ls web-1\n  hostler container ls web-1 -o wide"
    )]
    Ls {
        /// Name or id of the node
        #[arg(value_name = "NODE")]
        node: String,
    },
    Commit(ContainerCommitArgs),
    /// Remove containers that no run needs
    #[command(
        visible_alias = "delete",
        after_help = "Examples:\n  hostler container rm web-1 left-behind\n\nThe container of a run goes with the run: kill its task, or stop its workload."
    )]
    Rm {
        /// Name or id of the node
        #[arg(value_name = "NODE")]
        node: String,
        /// Names or ids of containers
        #[arg(value_name = "CONTAINER", required = true)]
        containers: Vec<String>,
    },
    Export(ContainerExportArgs),
}

/// Keep what a container is now as a new version of an image
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler container commit web-1 hostler-0192f3c4-0000-7000-8000-000000000000 train

`hostler container ls NODE` shows what they are called. It is frozen while it is copied; what it has
mounted is not part of it.")]
pub struct ContainerCommitArgs {
    /// Name or id of the node
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Name or id of the container
    #[arg(value_name = "CONTAINER")]
    pub container: String,
    /// Name of the image
    #[arg(value_name = "NAME")]
    pub name: Name,
    /// Do not wait until the node has sent it; prints the operation's id
    #[arg(long)]
    pub no_wait: bool,
}

/// Write the files of a container to a tar file
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  hostler container export web-1 debug files.tar
  hostler container export web-1 debug | tar -x etc")]
pub struct ContainerExportArgs {
    /// Name or id of the node
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Name or id of the container
    #[arg(value_name = "CONTAINER")]
    pub container: String,
    /// File to write; stdout when absent or `-`
    #[arg(value_name = "FILE")]
    pub file: Option<String>,
}
