//! Plugins of stacks, called where they run: on a node as a task, or on this machine to be tried out.
//!
//! A plugin is a program that speaks lines of JSON ([`process`]) or a file of Lua ([`lua`]); whoever calls one sees no
//! difference. A plugin that dies, talks nonsense or says nothing is a [`Trouble`] of that call and of nothing else. What a
//! task is given and what it leaves are files ([`perform_plugin`]); [`kit`] tries everything out that a plugin has to hold.
//!
//! Always holds: a program has a group of processes of its own, which is killed when the call is over; a line has at most
//! [`PLUGIN_LINE_MAX`] bytes; a call ends when its time is over.
//!
//! [`PLUGIN_LINE_MAX`]: hostler_model::stack::PLUGIN_LINE_MAX

pub mod kit;
mod lua;
mod process;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use hostler_lua::Bundle;
use hostler_model::stack::{
    PluginAnswer, PluginCall, PluginKind, PluginManifest, PluginReply, PluginRequest,
};

use crate::scrub::Scrub;

/// What a plugin did wrong, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

/// Where its words go: whether it is of the errors, and a line.
pub type Hear = Rc<dyn Fn(bool, &str)>;

/// A plugin that can be called.
#[derive(Clone)]
pub struct Plugin {
    pub source: PluginSource,
    /// Where it is started.
    pub workdir: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub secrets: BTreeMap<String, String>,
    /// How long a call may take.
    pub timeout: Duration,
    pub hear: Hear,
}

#[derive(Clone, Debug)]
pub enum PluginSource {
    /// The path of a program.
    Executable(PathBuf),
    Lua(Bundle),
}

impl Plugin {
    /// What it says of itself; not looked at yet.
    pub async fn manifest(&self) -> Result<PluginManifest, Trouble> {
        match &self.source {
            PluginSource::Executable(program) => {
                process::converse(self, program, None).await.map(|(manifest, _)| manifest)
            }
            PluginSource::Lua(bundle) => lua::manifest(self, bundle).await,
        }
    }

    /// Has it do something, and says which manifest it has.
    pub async fn call(
        &self,
        request: &PluginRequest,
    ) -> Result<(PluginManifest, PluginReply), Trouble> {
        let nothing = || Trouble("it did not answer".to_owned());
        match &self.source {
            PluginSource::Executable(program) => {
                let (manifest, reply) = process::converse(self, program, Some(request)).await?;
                Ok((manifest, reply.ok_or_else(nothing)?))
            }
            PluginSource::Lua(bundle) => {
                // The text is the one that was registered: it says the same of itself every time.
                let manifest = lua::manifest(self, bundle).await?;
                Ok((manifest, lua::call(self, bundle, request).await?))
            }
        }
    }
}

/// What opens the order of a call and closes its answer: both hold what stacks keep sealed, and lie among files that more
/// people may read.
pub struct Lock {
    pub open: Key,
    pub close: Key,
}

/// One way through a lock, or why there is none.
pub type Key = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, String>>;

/// Whether a working directory holds a call of a plugin, and not a step of a workflow.
pub fn is_plugin_call(workdir: &Path) -> bool {
    workdir.join(PluginCall::ORDER).is_file()
}

/// Makes the call that a working directory holds, and leaves there what came of it. Says whether there is an answer.
pub async fn perform_plugin(
    workdir: &Path,
    mut environment: BTreeMap<String, String>,
    lock: impl FnOnce(&str) -> Result<Lock, String>,
    scrub: impl FnOnce(&BTreeMap<String, String>) -> Scrub,
    stop: impl Future<Output = ()>,
) -> Result<bool, String> {
    let at = |name: &str| workdir.join(name);
    let key = environment.remove(PluginCall::KEY).unwrap_or_default();
    let lock = lock(&key)?;
    let order = (lock.open)(&bytes(&at(PluginCall::ORDER))?)?;
    let order: PluginCall = serde_json::from_slice(&order).map_err(|error| error.to_string())?;
    let folder = environment.get("HOSTLER_SECRETS").map(PathBuf::from).unwrap_or_default();
    let mut secrets = BTreeMap::new();
    for (name, file) in &order.secrets {
        let value = std::fs::read_to_string(folder.join(file))
            .map_err(|error| format!("the secret `{name}` cannot be read: {error}"))?;
        secrets.insert(name.clone(), value);
    }
    let scrub = scrub(&secrets);
    let source = match order.kind {
        PluginKind::Executable => PluginSource::Executable(at(PluginCall::PROGRAM)),
        PluginKind::Lua => PluginSource::Lua(read(&at(PluginCall::BUNDLE))?),
    };
    let words = scrub.clone();
    let plugin = Plugin {
        source,
        workdir: workdir.to_owned(),
        environment,
        secrets,
        timeout: order.timeout.duration(),
        hear: Rc::new(move |is_error, line| print(is_error, &words.text(line))),
    };
    let work = answer(&plugin, &order);
    let answer = tokio::select! {
        answer = work => answer,
        () = stop => PluginAnswer {
            trouble: Some("it was stopped".to_owned()),
            ..PluginAnswer::default()
        },
    };
    let answer = PluginAnswer { trouble: answer.trouble.map(|text| scrub.text(&text)), ..answer };
    if let Some(trouble) = &answer.trouble {
        print(true, trouble);
    }
    let text = (lock.close)(&serde_json::to_vec(&answer).map_err(|error| error.to_string())?)?;
    let place = at(PluginCall::ANSWER);
    std::fs::write(&place, text).map_err(|error| format!("{}: {error}", place.display()))?;
    Ok(answer.trouble.is_none())
}

async fn answer(plugin: &Plugin, order: &PluginCall) -> PluginAnswer {
    let told = match &order.request {
        None => plugin.manifest().await.map(|manifest| (manifest, None)),
        Some(request) => {
            let called = plugin.call(request).await;
            called.map(|(manifest, reply)| (manifest, Some(reply)))
        }
    };
    match told {
        Err(trouble) => {
            PluginAnswer { trouble: Some(trouble.to_string()), ..PluginAnswer::default() }
        }
        Ok((manifest, reply)) => match &order.manifest {
            Some(digest) if *digest != manifest.digest() => {
                let text =
                    "what it says of its types is not what it was registered with; push it again";
                PluginAnswer { trouble: Some(text.to_owned()), ..PluginAnswer::default() }
            }
            Some(_) => PluginAnswer { reply, ..PluginAnswer::default() },
            None => PluginAnswer { manifest: Some(manifest), reply, trouble: None },
        },
    }
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    serde_json::from_slice(&bytes(path)?).map_err(|error| format!("{}: {error}", path.display()))
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn print(is_error: bool, line: &str) {
    use std::io::Write;
    let text = format!("{line}\n");
    let _nobody_reads = match is_error {
        true => std::io::stderr().write_all(text.as_bytes()),
        false => std::io::stdout().write_all(text.as_bytes()),
    };
}
