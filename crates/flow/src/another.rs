//! Steps of other users, where this process may become them.
//!
//! What such a step does, in functions as in programs, is done by a process of that user, as on a node: this program is
//! started again (`helper`), becomes the user before it does anything else, is told what to do as a line of JSON and
//! tells what happens line by line. It is wanted for as long as somebody holds its stdin open; then it ends with
//! everything that it started, also when whoever started it was killed.
//!
//! Nothing that belongs to the user is believed or followed. Files go both ways through a directory in which only root
//! makes names ([`Room`]): what the step consumes is given to the user there, what it leaves is taken back before it is
//! read. State, locks and events are asked for at a socket there, which answers that one process.

mod helper;
mod room;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;

use hostler_lua::Bundle;
use hostler_lua::account::Account;
use hostler_lua::body::{Sharing, services};
use hostler_lua::modules::Stream;
use hostler_lua::modules::services::Relay;
use hostler_lua::modules::services::wire::ASK_MAX;
use hostler_model::workflow::{JobOrder, StepEnd, StepResult};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::artifacts::Artifacts;
use crate::run::{Observer, Told};

use self::room::{PLACE, Room};

pub use helper::act_as;
pub(crate) use helper::tell;

/// How long a helper may take to end when it is not wanted any more.
const LET_GO: Duration = Duration::from_secs(10);
/// How long one listens to what it says of its end.
const LAST_WORDS: Duration = Duration::from_secs(1);
const SOCKET: &str = "socket";

/// What a helper is to do.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Errand {
    pub order: JobOrder,
    pub bundle: Bundle,
    pub workdir: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub secrets: BTreeMap<String, String>,
    pub outputs: BTreeMap<String, Json>,
    pub check: bool,
    /// Where it asks for what steps share.
    pub socket: Option<PathBuf>,
    /// Where files that it leaves are kept, and where those are that it needs.
    pub artifacts: Option<PathBuf>,
    pub consumed: Vec<PathBuf>,
}

/// What a helper tells.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Word {
    Said { is_error: bool, text: String },
    Warned { text: String },
    Ended { result: Box<StepResult> },
}

/// A step that somebody else is to carry out, and who.
pub(crate) struct Other {
    pub account: Account,
    /// This program, and the word that makes it a helper; the name of the user follows.
    pub helper: Vec<OsString>,
    pub errand: Errand,
    /// What it shares with others.
    pub sharing: Sharing,
    pub stack: Option<String>,
    /// Files that it needs are taken from there, and files that it leaves kept.
    pub artifacts: Option<Rc<Artifacts>>,
    pub consumes: Vec<String>,
    /// Whom it is told of as.
    pub step: usize,
}

/// Gives something in a room to somebody, or back to us.
fn give(path: &Path, (user, group): (u32, u32)) -> Result<(), String> {
    std::os::unix::fs::lchown(path, Some(user), Some(group))
        .map_err(|error| format!("{}: {error}", path.display()))
}

const OURS: (u32, u32) = (0, 0);

impl Other {
    /// Has it carried out; when `stop` is ready it is ended.
    pub async fn carry_out(
        mut self,
        observer: Rc<dyn Observer>,
        stop: impl Future<Output = ()>,
    ) -> StepResult {
        let failed = |message: String| StepResult::new(StepEnd::Failed, message);
        let room = match Room::make() {
            Ok(room) => room,
            Err(error) => return failed(format!("no directory can be made in {PLACE}: {error}")),
        };
        if let Err(message) = self.furnish(&room) {
            return failed(message);
        }
        let listener = match self.listen(&room) {
            Ok(listener) => listener,
            Err(message) => return failed(message),
        };
        let (told, left) = (self.talk(listener, &observer, stop).await, self.errand.artifacts);
        let (Some(artifacts), Some(left)) = (&self.artifacts, left) else { return told };
        if told.end != StepEnd::Succeeded {
            return told;
        }
        match give(&left, OURS).and_then(|()| artifacts.take_over(&left)) {
            Ok(()) => told,
            Err(message) => StepResult { end: StepEnd::Failed, message, ..told },
        }
    }

    /// Puts what it needs into its room.
    fn furnish(&mut self, room: &Room) -> Result<(), String> {
        let Some(artifacts) = &self.artifacts else { return Ok(()) };
        let whose = self.account.ids();
        if !self.consumes.is_empty() {
            let lent = room.own("in")?;
            artifacts.lend(&self.consumes, &lent)?;
            for entry in std::fs::read_dir(&lent).map_err(|error| error.to_string())?.flatten() {
                give(&entry.path(), whose)?;
            }
            give(&lent, whose)?;
            self.errand.consumed.push(lent);
        }
        let left = room.own("out")?;
        give(&left, whose)?;
        self.errand.artifacts = Some(left);
        Ok(())
    }

    fn listen(&mut self, room: &Room) -> Result<Option<UnixListener>, String> {
        if matches!(self.sharing, Sharing::Nothing) {
            return Ok(None);
        }
        let path = room.path().join(SOCKET);
        let listener = UnixListener::bind(&path).map_err(|error| error.to_string())?;
        give(&path, self.account.ids())?;
        self.errand.socket = Some(path);
        Ok(Some(listener))
    }

    fn start(&self) -> std::io::Result<Child> {
        let (program, words) = self.helper.split_first().ok_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::InvalidInput, "there is no helper")
        })?;
        Command::new(program)
            .args(words)
            .arg(&self.account.name)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
    }

    async fn talk(
        &self,
        listener: Option<UnixListener>,
        observer: &Rc<dyn Observer>,
        stop: impl Future<Output = ()>,
    ) -> StepResult {
        let name = &self.account.name;
        let mut child = match self.start() {
            Ok(child) => child,
            Err(error) => {
                let message = format!("nothing can be started as `{name}`: {error}");
                return StepResult::new(StepEnd::Failed, message);
            }
        };
        let pid = child.id();
        let (mut stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let Some(((stdin_now, stdout), stderr)) = stdin.as_mut().zip(stdout).zip(stderr) else {
            return StepResult::new(StepEnd::Failed, "its streams are gone");
        };
        let mut line = serde_json::to_vec(&self.errand).expect("an errand can be written");
        line.push(b'\n');
        let _it_says_why_it_ended = stdin_now.write_all(&line).await;
        let _it_says_why_it_ended = stdin_now.flush().await;
        let relay = Rc::new(Relay::new(services(&self.sharing, self.stack.as_deref())));
        let mut asked = JoinSet::new();
        let (mut words, mut complaints) =
            (BufReader::new(stdout).lines(), BufReader::new(stderr).lines());
        let (mut result, mut complaint, mut is_mute) = (None, String::new(), false);
        let mut stop = std::pin::pin!(stop);
        let mut until: Option<Instant> = None;
        loop {
            let late = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                word = words.next_line() => {
                    let Ok(Some(word)) = word else { break };
                    result = self.heard(&word, observer).or(result);
                }
                said = complaints.next_line(), if !is_mute => match said {
                    Ok(Some(said)) => complaint = said,
                    _ => is_mute = true,
                },
                stream = accepted(listener.as_ref()) => {
                    let is_it = stream.peer_cred().is_ok_and(|who| {
                        who.pid().and_then(|pid| u32::try_from(pid).ok()) == pid
                    });
                    if is_it {
                        asked.spawn_local(answer(stream, Rc::clone(&relay)));
                    }
                }
                Some(_) = asked.join_next() => {}
                () = &mut stop, if until.is_none() => {
                    stdin.take();
                    until = Some(Instant::now() + LET_GO);
                }
                () = late => {
                    let _it_may_be_gone = child.start_kill();
                    break;
                }
            }
        }
        drop(stdin);
        let last = tokio::time::timeout(LAST_WORDS, async {
            while let Ok(Some(said)) = complaints.next_line().await {
                complaint = said;
            }
        });
        let _what_it_left_may_hold_its_streams = last.await;
        let status = child.wait().await;
        result.unwrap_or_else(|| {
            let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            let why = if complaint.is_empty() { how } else { complaint };
            StepResult::new(StepEnd::Failed, format!("as `{name}`: {why}"))
        })
    }

    /// Passes on what it tells; its end, where it tells that.
    fn heard(&self, word: &str, observer: &Rc<dyn Observer>) -> Option<StepResult> {
        match serde_json::from_str::<Word>(word).ok()? {
            Word::Said { is_error, text } => {
                let stream = if is_error { Stream::Error } else { Stream::Out };
                observer.told(&Told::Said { step: Some(self.step), stream, text: &text });
                None
            }
            Word::Warned { text } => {
                observer.told(&Told::Warned { text: &text });
                None
            }
            Word::Ended { result } => Some(*result),
        }
    }
}

async fn accepted(listener: Option<&UnixListener>) -> UnixStream {
    loop {
        match listener {
            None => std::future::pending().await,
            Some(listener) => match listener.accept().await {
                Ok((stream, _)) => return stream,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

/// One question and its answer.
async fn answer(stream: UnixStream, relay: Rc<Relay>) {
    let (hear, mut say) = stream.into_split();
    let mut line = Vec::new();
    let most = u64::try_from(ASK_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let heard = BufReader::new(hear.take(most)).read_until(b'\n', &mut line).await;
    if heard.is_ok() && !line.is_empty() {
        let _nobody_waits = say.write_all(&relay.answer(&line).await).await;
    }
}
