//! Rust code for the messages of `proto/agent.proto`, committed so that no build needs a generator.

use std::path::Path;

use anyhow::Context;

use super::Document;

const FOLDER: &str = "crates/proto/src/gen";
/// What must not be printed; `proto` says what is shown of it.
const SECRET: [&str; 2] = ["hostler.agent.v1.DeliveredSecret", "hostler.agent.v1.DeliveredToken"];

pub fn documents(root: &Path) -> anyhow::Result<Vec<Document>> {
    let source = root.join("proto");
    let descriptors = protox::compile([source.join("agent.proto")], [source])
        .context("compiling proto/agent.proto")?;
    let scratch = tempfile::tempdir().context("making a scratch folder")?;
    tonic_prost_build::configure()
        .out_dir(scratch.path())
        .skip_debug(SECRET)
        .compile_fds(descriptors)
        .context("generating code from proto/agent.proto")?;
    let mut documents = Vec::new();
    for entry in std::fs::read_dir(scratch.path())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let content = std::fs::read_to_string(entry.path())?;
        documents.push(Document::new(&format!("{FOLDER}/{name}"), content));
    }
    documents.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(documents)
}
