//! Listening on the socket and answering, each connection for itself.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::{OnError, Tasks};
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::Serialize;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::UCred;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

use super::{Answer, Question, Rule, descriptors, master_control, open_folder, socket_path};
use crate::door::exec::Descriptors;
use crate::door::view::{Refusal, RefusalCode};
use crate::door::{Door, LogAsk};

const QUESTION_MAX: usize = 2 << 20;
/// How long somebody may take to ask, and to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);
const CONNECTIONS_MAX: usize = 256;

/// Its members may talk to an agent that runs as root, where there is such a group.
const GROUP: &str = "hostler";

fn group_of_the_machine() -> Option<u32> {
    let group = nix::unistd::Group::from_name(GROUP).ok().flatten()?;
    nix::unistd::Uid::effective().is_root().then(|| group.gid.as_raw())
}

/// Answers questions.
#[derive(Clone)]
pub(crate) struct Local {
    door: Door,
}

impl Local {
    pub fn new(door: Door) -> Local {
        Local { door }
    }

    /// Listens in the data directory. The caller holds its lock, so a socket that is there is a
    /// dead agent's.
    pub fn start(self, data_dir: &Path, tasks: &Tasks) -> io::Result<()> {
        let folder = open_folder(data_dir)?;
        let path = socket_path(&folder);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        if let Some(group) = group_of_the_machine() {
            std::os::unix::fs::chown(&path, None, Some(group))?;
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660))?;
        let scope = tasks.clone();
        tasks.spawn("local socket", OnError::Log, async move {
            let token = scope.token();
            token.run_until_cancelled(self.accept(&listener, &scope)).await;
            let _ = std::fs::remove_file(socket_path(&folder));
        });
        Ok(())
    }

    async fn accept(&self, listener: &UnixListener, scope: &Tasks) {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok(place) = room.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let local = self.clone();
                    scope.spawn_until_cancelled("local question", OnError::Log, async move {
                        // Whoever asked may have gone.
                        let _ = local.answer(stream).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "local socket refused a connection");
                    self.door.clock().sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    async fn answer(&self, stream: UnixStream) -> io::Result<()> {
        let asked = descriptors::receive_line(&stream, QUESTION_MAX);
        let asked = self.door.clock().timeout(PATIENCE, asked).await;
        let (line, descriptors) = asked.map_err(|_| io::ErrorKind::TimedOut)??;
        let who = stream.peer_cred().ok();
        let mut peer = Peer { stream, door: &self.door };
        let question: Value = match serde_json::from_slice(&line) {
            Ok(question) => question,
            Err(error) => return peer.refuse(&error).await,
        };
        if question.get("command").is_some() && question.get("ask").is_none() {
            let command = question.get("command").and_then(Value::as_str).unwrap_or_default();
            note(command, master_control::rule(command), who);
            let answer = master_control::answer(&self.door, question);
            return match peer.unless_gone(answer).await {
                Some(answer) => peer.put(&answer).await,
                None => Ok(()),
            };
        }
        match serde_json::from_value::<Question>(question) {
            Ok(question) => {
                let (verb, rule) = question.rule();
                note(verb, rule, who);
                self.answer_ours(question, descriptors, &mut peer).await
            }
            Err(error) => peer.refuse(&error).await,
        }
    }

    async fn answer_ours(
        &self,
        question: Question,
        descriptors: Vec<OwnedFd>,
        peer: &mut Peer<'_>,
    ) -> io::Result<()> {
        let door = &self.door;
        let answer = match question {
            Question::Logs(ask) => return self.follow(&ask, peer).await,
            Question::Exec { name, command, timeout } => {
                let done = async {
                    let descriptors = standard(descriptors)?;
                    door.exec(&name, command, timeout, descriptors).await
                };
                match peer.unless_gone(done).await {
                    Some(end) => end.map(Answer::Exec),
                    None => return Ok(()),
                }
            }
            Question::Status => Ok(Answer::Status(Box::new(door.status()))),
            Question::List => Ok(Answer::List(door.list().await)),
            Question::Show { name } => door.show(&name).await.map(Box::new).map(Answer::Show),
            Question::Start { name } => door.start(&name).await.map(Answer::Done),
            Question::Stop { name } => door.stop(&name).await.map(Answer::Done),
            Question::Restart { name } => door.restart(&name).await.map(Answer::Done),
            Question::Reload => door.reload().await.map(Answer::Reload),
            Question::History { name } => door.history(&name).await.map(Answer::History),
            Question::Next { name, count } => door.next(&name, count).await.map(Answer::Next),
            Question::Metrics => Ok(Answer::Metrics(door.metrics().await)),
            Question::Shutdown { runs } => {
                peer.put(&Answer::Shutdown {}).await?;
                door.shutdown(runs);
                return Ok(());
            }
        };
        peer.put(&answer.unwrap_or_else(Answer::Error)).await
    }

    async fn follow(&self, ask: &LogAsk, peer: &mut Peer<'_>) -> io::Result<()> {
        let mut stream = match self.door.logs(ask).await {
            Ok(stream) => stream,
            Err(refusal) => return peer.put(&Answer::Error(refusal)).await,
        };
        loop {
            let Some(next) = peer.unless_gone(stream.next()).await else { return Ok(()) };
            match next {
                Ok(Some(records)) => {
                    for record in records {
                        peer.put(&Answer::Log(record)).await?;
                    }
                }
                Ok(None) => return peer.put(&Answer::End {}).await,
                Err(refusal) => return peer.put(&Answer::Error(refusal)).await,
            }
        }
    }
}

/// Tells in the log who asked for a change.
fn note(verb: &str, rule: Rule, who: Option<UCred>) {
    if rule == Rule::Change {
        let (uid, pid) = (who.map(|who| who.uid()), who.and_then(|who| who.pid()));
        tracing::info!(?verb, ?uid, ?pid, "asked for on the local socket");
    }
}

/// Two descriptors are stdout and stderr, three have stdin before them.
fn standard(descriptors: Vec<OwnedFd>) -> Result<Descriptors, Refusal> {
    let mut last_first = descriptors.into_iter().rev();
    match (last_first.next(), last_first.next()) {
        (Some(stderr), Some(stdout)) => {
            Ok(Descriptors { stdin: last_first.next(), stdout, stderr })
        }
        _ => Err(Refusal::new(
            RefusalCode::Malformed,
            "`exec` needs descriptors to write to; ask with {\"command\":\"exec\"} to have its output in the answer",
        )),
    }
}

/// Whoever asked.
struct Peer<'a> {
    stream: UnixStream,
    door: &'a Door,
}

impl Peer<'_> {
    async fn put(&mut self, answer: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(answer).map_err(io::Error::other)?;
        line.push(b'\n');
        let write = self.stream.write_all(&line);
        self.door.clock().timeout(PATIENCE, write).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    async fn refuse(&mut self, error: &serde_json::Error) -> io::Result<()> {
        let detail = format!(
            "the question is not understood, ask for example {{\"ask\":\"status\"}}: {error}"
        );
        self.put(&Answer::Error(Refusal::new(RefusalCode::Malformed, detail))).await
    }

    /// Does the work; `None` when the other side goes before it is done.
    async fn unless_gone<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let gone = async {
            let mut buffer = [0; 64];
            while self.stream.readable().await.is_ok() {
                match self.stream.try_read(&mut buffer) {
                    Ok(1..) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Ok(0) if !self.is_hung_up() => std::future::pending().await,
                    Ok(0) | Err(_) => return,
                }
            }
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = gone => None,
        }
    }

    /// Both ways are closed; one who has only asked all there is to ask still listens.
    fn is_hung_up(&self) -> bool {
        let mut looked_at = [PollFd::new(&self.stream, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let _ = rustix::event::poll(&mut looked_at, Some(&at_once));
        looked_at[0].revents().contains(PollFlags::HUP)
    }
}
