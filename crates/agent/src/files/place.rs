//! Puts a run's inputs into its working directory.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use hostler_base::chain;
use hostler_model::{Input, RunId};
use rustix::fs::Mode;

use super::inner::{self, Owner};
use super::unpack::{self, Bounds};
use crate::blobs::{BlobError, BlobFile, Blobs, Progress, Wanted, Whose};

#[derive(Debug, thiserror::Error)]
pub(crate) enum FurnishError {
    #[error("the input {path} cannot be had")]
    Blob {
        path: String,
        #[source]
        source: BlobError,
    },
    #[error("the input {path} cannot be put in its place: {why}")]
    Place { path: String, why: String },
    #[error("the working directory cannot be made")]
    Work(#[source] io::Error),
}

impl FurnishError {
    /// Whether trying again later can help.
    pub fn is_passing(&self) -> bool {
        match self {
            FurnishError::Blob { source, .. } => source.is_passing(),
            FurnishError::Place { .. } => false,
            FurnishError::Work(source) => hostler_base::fs::is_disk_full(source),
        }
    }
}

/// What is being done about an input.
pub(crate) enum Doing {
    /// It is about to be fetched.
    Asking,
    Fetching(Progress),
    /// It is here, and is put in its place.
    Placing,
}

/// Makes the working directory anew, with the inputs in it.
pub(crate) async fn furnish(
    blobs: &Blobs,
    run: RunId,
    (work, mode): (&Path, u32),
    inputs: &[Input],
    owner: Owner,
    mut tell: impl FnMut(&Input, Doing) + Send,
) -> Result<(), FurnishError> {
    let path = work.to_owned();
    blocking(move || make_anew(&path, mode)).await.map_err(FurnishError::Work)?;
    for input in inputs {
        let wanted = Wanted { digest: input.blob, whose: Whose::Run(run) };
        tell(input, Doing::Asking);
        let fetched = blobs.fetch(wanted, |done| tell(input, Doing::Fetching(done))).await;
        let path = input.path.clone();
        let fetched = fetched.map_err(|source| FurnishError::Blob { path, source })?;
        tell(input, Doing::Placing);
        let (work, given) = (work.to_owned(), input.clone());
        let placed = blocking(move || Ok(place(&work, &given, &fetched, owner))).await;
        let placed = placed.unwrap_or_else(|e| Err(e.to_string()));
        placed.map_err(|why| FurnishError::Place { path: input.path.clone(), why })?;
    }
    Ok(())
}

fn make_anew(work: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    match std::fs::remove_dir_all(work) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    std::fs::create_dir(work)?;
    std::fs::set_permissions(work, std::fs::Permissions::from_mode(mode))
}

fn place(work: &Path, input: &Input, blob: &BlobFile, owner: Owner) -> Result<(), String> {
    let words = |e: io::Error| e.to_string();
    let parts = inner::parts(&PathBuf::from(&input.path))?;
    let root = inner::open_dir(work).map_err(words)?;
    let mut from = File::open(blob.path()).map_err(words)?;
    if input.unpack {
        let into = inner::descend(&root, &parts, owner).map_err(words)?;
        let unpacked = unpack::unpack(from, into, owner, Bounds::default());
        return unpacked.map_err(|e| chain(&e).to_string());
    }
    let (name, parents) = parts.split_last().ok_or("it has no name")?;
    let dir = inner::descend(&root, parents, owner).map_err(words)?;
    let mut file = inner::create(&dir, name).map_err(words)?;
    io::copy(&mut from, &mut file).map_err(words)?;
    let mode = Mode::from_raw_mode(input.mode_bits());
    rustix::fs::fchmod(&file, mode).map_err(|e| words(e.into()))?;
    inner::give(&file, owner).map_err(words)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(io::Error::other(e)),
    }
}
