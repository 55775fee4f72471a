//! Puts what a run left at the server.

use std::collections::BTreeMap;
use std::io::{self, Seek};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use hostler_base::chain;
use hostler_model::{KeptOutput, Output, RunId, RunOutput};

use super::gather::{self, Found};
use crate::blobs::{BlobError, Blobs, PutAs};
use crate::sys;

/// Everything that a run left, and is to be kept. An error means that it may be tried again; what cannot
/// be kept at all is told to the server in words.
pub(crate) async fn keep(
    blobs: &Blobs,
    run: RunId,
    work: &Path,
    outputs: Vec<Output>,
) -> Result<Vec<RunOutput>, BlobError> {
    let mut kept = Vec::new();
    let found = find(work.to_owned(), outputs.clone()).await;
    let found = found.unwrap_or_else(|e| {
        let unfit = |output: Output| {
            let why = format!("the working directory cannot be read: {e}");
            (output.name.unwrap_or(output.path), Found::Unfit(why))
        };
        outputs.into_iter().map(unfit).collect()
    });
    for (name, found) in found {
        let put = match found {
            Found::Unfit(why) => Ok(KeptOutput::Nothing(why)),
            Found::File(file) => {
                let file = tokio::fs::File::from_std(file);
                let content = blobs.put(&PutAs::Run(run), file, &label(&name), |_| {}).await;
                content.map(|c| KeptOutput::File { digest: c.digest, size: c.size })
            }
            Found::Directory(dir) => archive(blobs, run, &name, dir).await,
        };
        let put = match put {
            Err(e) if e.is_passing() => return Err(e),
            Err(e) => KeptOutput::Nothing(chain(&e).to_string()),
            Ok(put) => put,
        };
        if let KeptOutput::Nothing(why) = &put {
            tracing::warn!(%run, name, why, "output is not kept");
        }
        kept.push(RunOutput { run_id: run, name, kept: put, time: sys::now() });
    }
    blobs.put_outputs(run, &kept).await?;
    Ok(kept)
}

async fn find(work: PathBuf, outputs: Vec<Output>) -> io::Result<BTreeMap<String, Found>> {
    let look = move || gather::gather(&work, &outputs);
    tokio::task::spawn_blocking(look).await.map_err(io::Error::other)?
}

async fn archive(
    blobs: &Blobs,
    run: RunId,
    name: &str,
    dir: OwnedFd,
) -> Result<KeptOutput, BlobError> {
    let scratch = blobs.scratch().await?;
    let pack = move || {
        let mut file = scratch;
        gather::archive(&dir, &mut file)?;
        file.rewind()?;
        Ok(file)
    };
    let packed = tokio::task::spawn_blocking(pack).await.map_err(io::Error::other);
    let file = packed.and_then(|packed| packed).map_err(BlobError::Read)?;
    let file = tokio::fs::File::from_std(file);
    let content = blobs.put(&PutAs::Run(run), file, &label(name), |_| {}).await?;
    Ok(KeptOutput::Archive { digest: content.digest, size: content.size })
}

/// The last part of a name, for people.
fn label(name: &str) -> String {
    let last = name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(name);
    last.chars().filter(|c| !c.is_control()).take(60).collect()
}
