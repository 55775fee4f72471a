//! Where steps of workflows ask for what they share with others: `<data>/steps.sock`.
//!
//! Nobody but the agent's user goes through its data directory. Where steps may be of other users, because the agent is
//! root, the socket itself is in a directory on a memory file system through which all of them may go, and what is in
//! the data directory is a link to it.
//!
//! One question and one answer, each a document of JSON that is only passed on: to the server of the session, over a
//! connection of its own, and with the words which run it is that asks. That is not believed of whoever asks: it is the
//! process at the other end of the socket that counts. It has to be the very program that was started for a run of a
//! workflow's step, which goes on; what such a step starts is somebody else. So everybody may open the socket (mode
//! 0666), and nobody speaks for another run. What the run may do is the server's to say.
//!
//! While there is no server, or too many ask at once, the step is told to come again later.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hostler_base::{Clock, OnError, Tasks};
use hostler_model::{PlacementId, RunId};
use hostler_proto::v1::{self, step_link_client::StepLinkClient};
use rustix::fs::{Mode, OFlags};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Mutex, Semaphore, watch};
use tonic::transport::Channel;
use tonic::{Code, Status};

use crate::blobs::BlobError;
use crate::runner::Runner;

const SOCKET: &str = "steps.sock";
/// The longest question, with its end.
const ASK_MAX: usize = (2 << 20) + 1;
const REPLY_MAX: usize = 24 << 20;
/// How long a step may take to ask, and to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a server may take, with the time that a step waits for a lock.
const ANSWER_TIME: Duration = Duration::from_secs(42);
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Questions that are looked at at once; others wait.
const AT_ONCE: usize = 128;

/// Where steps are told that the socket of an agent is.
pub(crate) fn socket(data_dir: &Path) -> PathBuf {
    match passage(data_dir) {
        Some(passage) => passage.join(SOCKET),
        None => own(data_dir),
    }
}

fn own(data_dir: &Path) -> PathBuf {
    std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned()).join(SOCKET)
}

/// Where everybody may go, if there can be others.
fn passage(data_dir: &Path) -> Option<PathBuf> {
    rustix::process::geteuid().is_root().then(|| crate::secrets::passage(data_dir)).flatten()
}

/// Passes on what steps ask.
#[derive(Clone)]
pub(crate) struct Steps {
    runner: Runner,
    clock: Clock,
    /// Whether it is known what runs here.
    is_ready: watch::Receiver<bool>,
    /// The connection of the last question that was answered.
    way: Arc<Mutex<Option<Channel>>>,
}

/// Why there is no answer.
enum NoAnswer {
    Refused(String),
    Later(String),
}

impl NoAnswer {
    /// As steps are told.
    fn reply(self) -> Vec<u8> {
        let reply = match self {
            NoAnswer::Refused(why) => json!({ "refused": why }),
            NoAnswer::Later(why) => json!({ "later": why }),
        };
        reply.to_string().into_bytes()
    }
}

impl Steps {
    pub fn new(runner: Runner, clock: Clock, is_ready: watch::Receiver<bool>) -> Steps {
        Steps { runner, clock, is_ready, way: Arc::default() }
    }

    /// Listens in the data directory. The caller holds its lock, so a socket that is there is a dead agent's.
    pub fn start(self, data_dir: &Path, tasks: &Tasks) -> io::Result<()> {
        let folder = opened(data_dir)?;
        let passage_there = passage(data_dir);
        let passage = passage_there.as_deref().map(opened).transpose()?;
        let path = short(passage.as_ref().unwrap_or(&folder));
        gone(&path)?;
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666))?;
        if passage.is_some() {
            gone(&short(&folder))?;
            std::os::unix::fs::symlink(socket(data_dir), short(&folder))?;
        }
        let scope = tasks.clone();
        tasks.spawn("step socket", OnError::Log, async move {
            let token = scope.token();
            token.run_until_cancelled(self.accept(&listener, &scope)).await;
            for folder in passage.iter().chain([&folder]) {
                let _ = std::fs::remove_file(short(folder));
            }
            let _ = passage_there.map(std::fs::remove_dir);
        });
        Ok(())
    }

    async fn accept(&self, listener: &UnixListener, scope: &Tasks) {
        let room = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            let Ok(place) = room.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let steps = self.clone();
                    scope.spawn_until_cancelled("step question", OnError::Log, async move {
                        // Whoever asked may have gone.
                        let _ = steps.serve(stream).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "step socket refused a connection");
                    self.clock.sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }

    async fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let who = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
        let (hear, mut say) = stream.into_split();
        let mut hear = BufReader::new(hear);
        let asked = self.clock.timeout(PATIENCE, line(&mut hear)).await;
        let asked = asked.map_err(|_| io::ErrorKind::TimedOut)??;
        let gone = async {
            let mut nothing = [0; 1];
            while hear.read(&mut nothing).await.is_ok_and(|read| read > 0) {}
        };
        // A step that is not there any more waits for nothing: neither does the server.
        let answer = tokio::select! {
            biased;
            answer = self.answer(who, asked) => answer,
            () = gone => return Ok(()),
        };
        let reply = answer.unwrap_or_else(NoAnswer::reply);
        let write = say.write_all(&reply);
        self.clock.timeout(PATIENCE, write).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    async fn answer(&self, who: Option<u32>, asked: Vec<u8>) -> Result<Vec<u8>, NoAnswer> {
        if !*self.is_ready.borrow() {
            return Err(NoAnswer::Later("the agent has only just started".to_owned()));
        }
        let step = match who {
            Some(pid) => self.runner.step_of(pid).await,
            None => None,
        };
        if let Some((run, placement)) = step {
            return self.pass_on(run, placement, asked).await;
        }
        // The one that has just been started is known in a moment.
        let is_starting = match who {
            Some(pid) => self.runner.is_starting(pid).await,
            None => false,
        };
        Err(match is_starting {
            true => NoAnswer::Later("the agent does not know the step yet".to_owned()),
            false => NoAnswer::Refused(
                "only steps of workflows share state, locks and events through the agent, and only themselves: not the programs that they start; those use the API with an identity".to_owned(),
            ),
        })
    }

    async fn pass_on(
        &self,
        run: RunId,
        placement: PlacementId,
        ask_json: Vec<u8>,
    ) -> Result<Vec<u8>, NoAnswer> {
        let channel = self.channel().await?;
        let mut client = StepLinkClient::new(channel).max_decoding_message_size(REPLY_MAX);
        let request = v1::StepRequest {
            placement_id: placement.to_string(),
            run_id: run.to_string(),
            ask_json,
        };
        let asked = self.clock.timeout(ANSWER_TIME, client.ask(request)).await;
        let why = match asked {
            Ok(Ok(reply)) => return Ok(reply.into_inner().reply_json),
            Ok(Err(status)) => no_answer(&status),
            Err(_) => NoAnswer::Later("the server took too long".to_owned()),
        };
        if matches!(why, NoAnswer::Later(_)) {
            // The next one is asked anew, also where the session is with another server by then.
            self.way.lock().await.take();
        }
        Err(why)
    }

    async fn channel(&self) -> Result<Channel, NoAnswer> {
        let mut way = self.way.lock().await;
        if let Some(channel) = &*way {
            return Ok(channel.clone());
        }
        let connecting = self.runner.blobs().reach().channel();
        let connected = self.clock.timeout(CONNECT_TIME, connecting).await;
        match connected {
            Ok(Ok(channel)) => Ok(way.insert(channel).clone()),
            Ok(Err(BlobError::Alone)) => Err(NoAnswer::Refused(
                "an agent without a server shares nothing with others".to_owned(),
            )),
            Ok(Err(error)) if error.is_passing() => Err(NoAnswer::Later(error.to_string())),
            Ok(Err(error)) => Err(NoAnswer::Refused(error.to_string())),
            Err(_) => Err(NoAnswer::Later("no server can be reached".to_owned())),
        }
    }
}

fn opened(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

/// Removes a socket or a link that is there.
fn gone(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// One line, without its end; what comes before the end where there is none.
async fn line(
    hear: &mut (impl AsyncReadExt + tokio::io::AsyncBufRead + Unpin),
) -> io::Result<Vec<u8>> {
    use tokio::io::AsyncBufReadExt as _;
    let mut line = Vec::new();
    hear.take(ASK_MAX as u64 + 1).read_until(b'\n', &mut line).await?;
    if line.len() > ASK_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"));
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(line)
}

/// Short enough for a socket address however deep the data directory lies.
fn short(folder: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()).into()
}

fn no_answer(status: &Status) -> NoAnswer {
    let why = status.message().to_owned();
    match status.code() {
        Code::PermissionDenied
        | Code::Unauthenticated
        | Code::NotFound
        | Code::FailedPrecondition
        | Code::InvalidArgument
        | Code::OutOfRange => NoAnswer::Refused(why),
        Code::Unimplemented => NoAnswer::Refused(
            "the server is too old for steps that share state; update it".to_owned(),
        ),
        _ => NoAnswer::Later(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_question_is_a_line_and_no_longer_than_one_may_be() {
        for (said, heard) in [
            (b"{}\n".to_vec(), Some(b"{}".to_vec())),
            (b"{}\nmore".to_vec(), Some(b"{}".to_vec())),
            (b"{}".to_vec(), Some(b"{}".to_vec())),
            (Vec::new(), Some(Vec::new())),
            (vec![b'x'; ASK_MAX + 1], None),
        ] {
            let mut hear = BufReader::new(said.as_slice());
            assert_eq!(line(&mut hear).await.ok(), heard);
        }
    }

    #[test]
    fn what_may_pass_is_asked_again_and_what_is_refused_is_not() {
        let is_later = |status: Status| matches!(no_answer(&status), NoAnswer::Later(_));
        for (status, later) in [
            (Status::unavailable("x"), true),
            (Status::cancelled("x"), true),
            (Status::internal("x"), true),
            (Status::deadline_exceeded("x"), true),
            (Status::permission_denied("x"), false),
            (Status::unimplemented("x"), false),
            (Status::invalid_argument("x"), false),
        ] {
            let code = status.code();
            assert_eq!(is_later(status), later, "{code:?}");
        }
        let reply = String::from_utf8(NoAnswer::Later("w\"y".to_owned()).reply()).unwrap();
        assert_eq!(reply, r#"{"later":"w\"y"}"#);
    }
}
