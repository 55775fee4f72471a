//! Files of tasks: what is sent before them, and what they left.
//!
//! A directory goes as a tar archive that is unpacked again on the node; it is packed while it is sent, so
//! that nothing is written here. What a task left is written under another name first, and gets its own
//! only when it is whole and right.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hostler_api::blob::{
    BlobGet, BlobList, BlobListQuery, BlobPath, BlobRemove, BlobView, OutputView, TaskOutputList,
};
use hostler_api::{Listing, ProjectPath};
use hostler_client::Progress;
use hostler_model::{Bytes, Input, WorkloadSpec, inner_path_problem};

use super::spec::Submission;
use super::{Cx, DONE, Link, NONE, PAGE};
use crate::args::{BlobCommand, FileArgs, LocalInput, TaskDownloadArgs};
use crate::failure::{Failure, Outcome};

/// Sends the files that are to be put before the tasks, and names them in their spec.
pub async fn attach(
    cx: &Cx,
    link: &Link,
    submission: &mut Submission,
    files: FileArgs,
) -> Result<(), Failure> {
    if files.inputs.is_empty() && files.keep.is_empty() {
        return Ok(());
    }
    let spec: &mut WorkloadSpec = match submission {
        Submission::One(body) => &mut body.spec,
        Submission::Array(body) => &mut body.spec,
        Submission::Batch(_) => {
            return Err(Failure::usage(
                "flags cannot change a file with many tasks",
                "write inputs and outputs into the file, or submit the tasks one by one",
            ));
        }
    };
    spec.outputs.extend(files.keep);
    for local in &files.inputs {
        spec.inputs.push(send(cx, link, local).await?);
    }
    Ok(())
}

async fn send(cx: &Cx, link: &Link, local: &LocalInput) -> Result<Input, Failure> {
    let shown = local.source.display().to_string();
    let cannot = |e: io::Error| {
        Failure::usage(format!("{shown} cannot be sent: {e}"), "give a file or a directory")
    };
    let about = std::fs::metadata(&local.source).map_err(cannot)?;
    let spinner = cx.ui.spinner(format!("sending {shown}"));
    let progress = |so_far: Progress| {
        let (read, sent) = (Bytes::new(so_far.read), Bytes::new(so_far.sent));
        spinner.message(format!("{shown}: {read} read, {sent} sent"));
    };
    let label = local.path.rsplit('/').next().unwrap_or(&shown).to_owned();
    if about.is_dir() {
        let (reader, writer) = io::pipe().map_err(cannot)?;
        let source = local.source.clone();
        let packing = tokio::task::spawn_blocking(move || pack(&source, writer));
        let sent = link.client.blob_upload(&link.project, &label, reader, progress).await;
        let packed = packing.await.map_err(io::Error::other).and_then(|packed| packed);
        packed.map_err(cannot)?;
        let (blob, path) = (sent?.digest, local.path.clone());
        return Ok(Input { blob, path, mode: None, unpack: true });
    }
    let file = File::open(&local.source).map_err(cannot)?;
    let sent = link.client.blob_upload(&link.project, &label, file, progress).await?;
    let mode = format!("{:03o}", about.permissions().mode() & 0o777);
    Ok(Input { blob: sent.digest, path: local.path.clone(), mode: Some(mode), unpack: false })
}

/// Packs a directory. Times are left out, so that the same files are the same content.
fn pack(directory: &Path, into: impl Write) -> io::Result<()> {
    let mut builder = tar::Builder::new(io::BufWriter::new(into));
    builder.mode(tar::HeaderMode::Deterministic);
    builder.follow_symlinks(false);
    let mut pending = vec![PathBuf::new()];
    while let Some(inside) = pending.pop() {
        let mut entries: Vec<_> =
            std::fs::read_dir(directory.join(&inside))?.collect::<Result<_, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = inside.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                builder.append_dir(&name, entry.path())?;
                pending.push(name);
            } else if kind.is_file() || kind.is_symlink() {
                builder.append_path_with_name(entry.path(), &name)?;
            }
        }
    }
    builder.into_inner()?.flush()
}

pub async fn outputs(cx: &Cx, task: &str) -> Outcome {
    let link = cx.link()?;
    cx.list::<TaskOutputList, _>(&link, &link.task(task), &NONE, None).await
}

pub async fn download(cx: &Cx, args: TaskDownloadArgs) -> Outcome {
    let link = cx.link()?;
    let path = link.task(&args.task);
    let Listing { items, .. } = link.client.call::<TaskOutputList>(&path, &NONE, &NONE).await?;
    let newest = items.first().map(|output| output.run);
    let of_newest = items.into_iter().filter(|output| Some(output.run) == newest);
    let is_meant = |output: &OutputView| args.names.is_empty() || args.names.contains(&output.name);
    let meant: Vec<OutputView> = of_newest.filter(is_meant).collect();
    let unknown = args.names.iter().find(|name| meant.iter().all(|output| output.name != **name));
    if let Some(name) = unknown {
        return Err(Failure::told(
            crate::exit::Code::NotFound,
            format!("task {} left nothing called {name}", args.task),
            "`hostler task outputs TASK` lists what it left",
        ));
    }
    if meant.is_empty() {
        cx.ui.say(&format!("task {} left nothing; has it ended?", args.task));
    }
    for output in meant {
        match &output.problem {
            Some(why) => cx.ui.warn(&format!("{} was not kept: {why}", output.name)),
            None => fetch(cx, &link, &output, &args.to).await?,
        }
    }
    Ok(DONE)
}

async fn fetch(cx: &Cx, link: &Link, output: &OutputView, to: &Path) -> Result<(), Failure> {
    let Some(digest) = output.digest else { return Ok(()) };
    let name = match output.is_archive {
        true => format!("{}.tar", output.name.trim_end_matches('/')),
        false => output.name.clone(),
    };
    if let Some(why) = inner_path_problem(&name) {
        return Err(Failure::usage(format!("{name} cannot be written: {why}"), ""));
    }
    let path = to.join(&name);
    let shown = path.display().to_string();
    let cannot = |e: io::Error| {
        Failure::usage(format!("{shown} cannot be written: {e}"), "give another place with --to")
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(cannot)?;
    }
    let part = PathBuf::from(format!("{shown}.part"));
    let mut file = File::create(&part).map_err(cannot)?;
    let spinner = cx.ui.spinner(format!("fetching {name}"));
    let progress = |bytes| spinner.message(format!("{name}: {}", Bytes::new(bytes)));
    let fetched = link.client.blob_download(&link.project, digest, &mut file, progress).await;
    let size = fetched.inspect_err(|_| {
        let _nothing_stays = std::fs::remove_file(&part);
    })?;
    std::fs::rename(&part, &path).map_err(cannot)?;
    drop(spinner);
    cx.ui.say(&format!("{shown} ({})", Bytes::new(size)));
    Ok(())
}

pub async fn blobs(cx: &Cx, command: BlobCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        BlobCommand::Ls(args) => {
            let path = ProjectPath { project: link.project.clone() };
            let query = BlobListQuery {
                kind: args.kind,
                filter: args.list.filter,
                limit: PAGE,
                cursor: None,
            };
            cx.list::<BlobList, BlobView>(&link, &path, &query, args.list.limit).await
        }
        BlobCommand::Show(args) => {
            let path = BlobPath { project: link.project.clone(), blob: args.blob };
            cx.one(&link.client.call::<BlobGet>(&path, &NONE, &NONE).await?)
        }
        BlobCommand::Rm(args) => {
            for blob in args.blobs {
                let path = BlobPath { project: link.project.clone(), blob };
                link.client.call::<BlobRemove>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("blob {} removed", blob.short()));
            }
            Ok(DONE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_packed_the_same_way_every_time() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("b")).unwrap();
        for (path, text) in [("z", "last"), ("a", "first"), ("b/c", "inner")] {
            std::fs::write(dir.path().join(path), text).unwrap();
        }
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let packed = || {
            let mut bytes = Vec::new();
            pack(dir.path(), &mut bytes).unwrap();
            bytes
        };
        let first = packed();
        std::fs::write(dir.path().join("z"), "last").unwrap();
        assert_eq!(first, packed());
        let mut archive = tar::Archive::new(first.as_slice());
        let names = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.path().unwrap().display().to_string(), entry.header().entry_type().as_byte())
        });
        let expected = [("a", b'0'), ("b", b'5'), ("link", b'2'), ("z", b'0'), ("b/c", b'0')];
        assert_eq!(names.collect::<Vec<_>>(), expected.map(|(name, kind)| (name.to_owned(), kind)));
    }
}
