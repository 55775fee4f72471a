//! A vault that is a program of the operator's: whatever keeps secrets, spoken to in JSON.
//!
//! The program and its arguments are in the configuration of the servers; nothing that a user says becomes an
//! argument. For every reading it is started anew, with an empty environment, a process group of its own and
//! `/` as its directory. On its input it gets one document, on its output it says one:
//!
//! ```json
//! {"project": "shop", "path": "teams/shop/db", "field": "password", "version": 3}
//! {"value": "hunter2", "version": 3}
//! {"valueBase64": "aHVudGVyMg=="}
//! {"error": "absent", "message": "no such entry"}
//! ```
//!
//! `field` and `version` are there only where they are meant. An error is `absent`, `denied` or `away`;
//! anything else, a status other than 0 or too long an answer is as if it were away. When the time is up, its
//! whole group is killed; its output has to be closed by then by everything that it started.

use std::process::Stdio;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hostler_trust::{SecretBytes, SecretString};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::{Ask, Fetched, Provider, VaultError, words};

/// A value of the largest size in base64, and what is said around it.
const OUTPUT_MAX: u64 = 128 << 10;

pub(super) struct Exec {
    command: Vec<String>,
}

#[derive(Serialize)]
struct Question<'a> {
    project: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Said {
    value: Option<SecretString>,
    value_base64: Option<SecretString>,
    #[serde(default)]
    version: u32,
    error: Option<String>,
    #[serde(default)]
    message: String,
}

/// Kills the whole group when it is dropped before its first process was seen to end: at the time limit, or
/// when nobody waits any more. Afterwards its number may be somebody else's.
struct Group {
    child: Child,
    leader: Option<Pid>,
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            let _gone_already = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Exec {
    pub(super) fn new(command: Vec<String>) -> Exec {
        Exec { command }
    }

    async fn ask(&self, ask: &Ask) -> Result<Fetched, VaultError> {
        let away = |what: &str, error: &dyn std::fmt::Display| {
            VaultError::Away(format!("its program {what}: {error}"))
        };
        let (program, arguments) =
            self.command.split_first().ok_or_else(|| away("is not named", &"it has no words"))?;
        let question = Question {
            project: ask.project.as_str(),
            path: &ask.path,
            field: ask.field.as_deref(),
            version: ask.version,
        };
        let mut line = serde_json::to_vec(&question).map_err(|e| away("cannot be asked", &e))?;
        line.push(b'\n');
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|e| away("cannot be started", &e))?;
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let mut group = Group { child, leader };
        let (stdin, stdout) = (group.child.stdin.take(), group.child.stdout.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                let _it_may_not_listen = stdin.write_all(&line).await;
            }
        };
        let mut output = Vec::new();
        let read = async {
            match stdout {
                Some(stdout) => stdout.take(OUTPUT_MAX + 1).read_to_end(&mut output).await,
                None => Ok(0),
            }
        };
        let ((), read) = tokio::join!(write, read);
        let output = SecretBytes::new(output);
        read.map_err(|e| away("cannot be listened to", &e))?;
        if output.len() as u64 > OUTPUT_MAX {
            return Err(away("says too much", &format!("more than {OUTPUT_MAX} bytes")));
        }
        let status = group.child.wait().await.map_err(|e| away("cannot be awaited", &e))?;
        group.leader = None;
        if !status.success() {
            return Err(away("failed", &status));
        }
        let said: Said = serde_json::from_slice(output.expose())
            .map_err(|_| away("answers wrongly", &"not with the document that is expected"))?;
        understood(said)
    }
}

impl Provider for Exec {
    fn read<'a>(&'a self, ask: &'a Ask, _: Duration) -> BoxFuture<'a, Result<Fetched, VaultError>> {
        Box::pin(self.ask(ask))
    }
}

fn understood(said: Said) -> Result<Fetched, VaultError> {
    let version = said.version;
    let message = match words(&said.message) {
        empty if empty.is_empty() => empty,
        message => format!(" ({message})"),
    };
    match (said.error.as_deref(), said.value, said.value_base64) {
        (None, Some(text), None) => {
            Ok(Fetched { value: SecretBytes::new(text.expose().as_bytes()), version })
        }
        (None, None, Some(text)) => match STANDARD.decode(text.expose()) {
            Ok(bytes) => Ok(Fetched { value: SecretBytes::new(bytes), version }),
            Err(_) => Err(VaultError::Unusable("its value is not base64".to_owned())),
        },
        (Some("absent"), None, None) => {
            Err(VaultError::Absent(format!("it is not there{message}")))
        }
        (Some("denied"), None, None) => {
            Err(VaultError::Denied(format!("the servers may not read it{message}")))
        }
        (Some("away"), None, None) => {
            Err(VaultError::Away(format!("it cannot answer now{message}")))
        }
        _ => Err(VaultError::Away(
            "its program answers with neither one value nor an error of a known kind".to_owned(),
        )),
    }
}
