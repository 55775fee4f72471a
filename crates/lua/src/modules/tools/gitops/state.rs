//! What is remembered of repositories and workflows: one file of JSON each, replaced as a whole.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::super::super::acting;

/// How many revisions a workflow remembers.
const REMEMBERED: usize = 20;

#[derive(Serialize, Deserialize)]
pub(super) struct Repository {
    pub url: String,
    pub branch: String,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Workflow {
    pub id: String,
    pub name: String,
    pub repository: String,
    /// The directory of the repository that it follows.
    pub path: String,
    pub command: Option<Vec<String>>,
    pub is_rolled_back_on_failure: bool,
    /// It is followed while `gitops.start_auto_sync` is at work.
    #[serde(default)]
    pub is_followed: bool,
    /// Revisions that were applied, the newest last.
    pub applied: Vec<String>,
    pub status: Option<String>,
    pub error: Option<String>,
}

impl Workflow {
    pub fn revision(&self) -> Option<&str> {
        self.applied.last().map(String::as_str)
    }

    /// The revision before the one that is applied.
    pub fn previous(&self) -> Option<&str> {
        let now = self.revision()?;
        self.applied.iter().rev().map(String::as_str).find(|revision| *revision != now)
    }

    pub fn applied(&mut self, revision: &str, status: &str) {
        if self.revision() != Some(revision) {
            self.applied.push(revision.to_owned());
        }
        let many = self.applied.len().saturating_sub(REMEMBERED);
        self.applied.drain(..many);
        self.status = Some(status.to_owned());
        self.error = None;
    }

    pub fn status_of(&self) -> Json {
        json!({
            "id": self.id,
            "name": self.name,
            "repository": self.repository,
            "target_path": self.path,
            "status": self.status.as_deref().unwrap_or("created"),
            "revision": self.revision(),
            "previous": self.previous(),
            "history": self.applied,
            "error": self.error,
            "auto_sync": self.is_followed,
        })
    }
}

/// The directory that everything is in.
pub(super) struct State {
    root: PathBuf,
}

impl State {
    pub fn open() -> State {
        let step = acting();
        let named = step.env("HOSTLER_GITOPS_DIR").filter(|path| !path.is_empty());
        State { root: step.path(named.as_deref().unwrap_or("~/.hostler/gitops")) }
    }

    fn file(&self, kind: &str, id: &str) -> Result<PathBuf, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if id.is_empty() || id.starts_with('.') || !id.chars().all(is_plain) {
            return Err(format!("`{id}` is no id: letters, digits, `-`, `_` and `.`"));
        }
        Ok(self.root.join(kind).join(format!("{id}.json")))
    }

    /// Where the files of a repository are checked out for a workflow.
    pub fn checkout(&self, id: &str) -> PathBuf {
        self.root.join("checkouts").join(id)
    }

    pub async fn register(&self, id: &str, url: &str, branch: &str) -> Result<(), String> {
        if url.starts_with('-') || branch.starts_with('-') {
            return Err("an address or a branch does not begin with a dash".to_owned());
        }
        let repository = Repository { url: url.to_owned(), branch: branch.to_owned() };
        write(&self.file("repositories", id)?, &repository).await
    }

    pub async fn repository(&self, id: &str) -> Result<Repository, String> {
        read(&self.file("repositories", id)?).await.ok_or_else(|| {
            format!("there is no repository `{id}`; register it with gitops.register_repository")
        })
    }

    /// Remembers a workflow; what was applied of one of that id stays known.
    pub async fn create(&self, wanted: &Workflow) -> Result<(), String> {
        self.repository(&wanted.repository).await?;
        let path = self.file("workflows", &wanted.id)?;
        let before: Workflow = read(&path).await.unwrap_or_default();
        let workflow = Workflow {
            id: wanted.id.clone(),
            name: wanted.name.clone(),
            repository: wanted.repository.clone(),
            path: wanted.path.clone(),
            command: wanted.command.clone(),
            is_rolled_back_on_failure: wanted.is_rolled_back_on_failure,
            is_followed: wanted.is_followed,
            ..before
        };
        write(&path, &workflow).await
    }

    pub async fn workflow(&self, id: &str) -> Result<Workflow, String> {
        read(&self.file("workflows", id)?).await.ok_or_else(|| {
            format!("there is no workflow `{id}`; make it with gitops.create_workflow")
        })
    }

    pub async fn save(&self, workflow: &Workflow) -> Result<(), String> {
        write(&self.file("workflows", &workflow.id)?, workflow).await
    }

    pub async fn workflows(&self) -> Vec<Workflow> {
        let mut all: Vec<Workflow> = Vec::new();
        if let Ok(mut entries) = tokio::fs::read_dir(self.root.join("workflows")).await {
            while let Ok(Some(entry)) = entries.next_entry().await {
                all.extend(read(&entry.path()).await);
            }
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }
}

async fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&tokio::fs::read(path).await.ok()?).ok()
}

async fn write(path: &Path, value: &impl Serialize) -> Result<(), String> {
    if acting().check {
        return Ok(());
    }
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = serde_json::to_vec_pretty(value).map_err(|error| error.to_string())?;
    if let Some(folder) = path.parent() {
        tokio::fs::create_dir_all(folder).await.map_err(told)?;
    }
    let aside = path.with_extension("new");
    tokio::fs::write(&aside, text).await.map_err(told)?;
    tokio::fs::rename(&aside, path).await.map_err(told)
}
