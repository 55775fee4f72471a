//! Terraform, with the state in a file beside the configuration and nothing to fetch.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use super::program::{self, Ran};
use super::shape::Shape;

/// What takes longer is not waited for.
const MOST: Duration = Duration::from_secs(900);

/// Where the program is, if it is on this machine.
pub fn find() -> Option<PathBuf> {
    let places = std::env::var_os("PATH")?;
    std::env::split_paths(&places)
        .map(|folder| folder.join("terraform"))
        .find(|program| program.is_file())
}

/// How one round went; nothing for what took too long, and for what comes after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    pub apply: Option<Ran>,
    pub plan: Option<Ran>,
    pub destroy: Option<Ran>,
}

/// A way to ask for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// One block with `count` instead of a block for each.
    pub is_counted: bool,
    pub parallelism: usize,
}

impl Manner {
    /// All that are tried: as anybody would have it first, then what makes it faster.
    pub const ALL: [Manner; 3] = [
        Manner { is_counted: false, parallelism: 10 },
        Manner { is_counted: false, parallelism: 100 },
        Manner { is_counted: true, parallelism: 100 },
    ];

    pub fn words(self) -> String {
        let Manner { is_counted, parallelism } = self;
        match is_counted {
            true => format!("one block with `count`, -parallelism={parallelism}"),
            false => format!("-parallelism={parallelism}"),
        }
    }

    /// What it reads; nothing where the shape cannot be said so.
    pub fn configuration(self, shape: Shape) -> Option<String> {
        match self.is_counted {
            true => shape.terraform_count(),
            false => Some(shape.terraform()),
        }
    }
}

/// A configuration in a folder of its own.
pub struct Place {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl Place {
    pub async fn new(program: &Path, configuration: &str) -> anyhow::Result<Place> {
        let folder = tempfile::Builder::new().prefix("hostler-bench-").tempdir()?;
        std::fs::write(folder.path().join("main.tf"), configuration)?;
        let place = Place { program: program.to_owned(), folder };
        place.run(&["init"]).await?.context("terraform init takes too long")?;
        Ok(place)
    }

    async fn run(&self, words: &[&str]) -> anyhow::Result<Option<Ran>> {
        let mut command = program::command(&self.program, self.folder.path());
        command.env("CHECKPOINT_DISABLE", "1").args(words).args(["-input=false", "-no-color"]);
        program::run(command, MOST).await
    }

    /// Makes everything, looks whether it is as it should be, and takes it down.
    pub async fn round(&self, parallelism: usize) -> anyhow::Result<Round> {
        let at_once = format!("-parallelism={parallelism}");
        let apply = self.run(&["apply", "-auto-approve", &at_once]).await?;
        let mut round = Round { apply, ..Round::default() };
        if round.apply.is_some() {
            round.plan = self.run(&["plan", "-detailed-exitcode", &at_once]).await?;
            round.destroy = self.run(&["destroy", "-auto-approve", &at_once]).await?;
        }
        Ok(round)
    }
}
