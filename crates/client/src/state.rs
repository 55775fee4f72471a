//! The state stream: any number of requests over one connection, answered as they are done.
//!
//! The two halves are independent: one task may send while another receives. An answer has the number of
//! its request; they come in any order. Dropping the sender says that nothing more is asked, and the
//! receiver ends when everything is answered. A stream that breaks is not made again by itself: of what
//! was not answered nobody knows whether it happened.

use bytes::Bytes;
use hostler_api::state::{StateAnswerView, StateAsk, StateLine, StateOpBody, StateStream};
use hostler_api::{Problem, ProjectPath};
use tokio::sync::mpsc;

use crate::request::Parts;
use crate::stream::{Dropped, Lines};
use crate::{Client, Error};

/// Lines that may wait to be sent.
const WAITING_MAX: usize = 64;

/// Where requests go.
#[derive(Clone, Debug)]
pub struct StateSender {
    address: String,
    lines: mpsc::Sender<Bytes>,
}

/// Where answers come.
pub struct StateReceiver {
    address: String,
    lines: Lines,
}

/// A stream for one request at a time.
pub struct StateCaller {
    sender: StateSender,
    receiver: StateReceiver,
    last: u64,
}

impl Client {
    /// Opens a stream to the state of a project.
    pub async fn state_stream(&self, project: &str) -> Result<(StateSender, StateReceiver), Error> {
        let path = ProjectPath { project: project.to_owned() };
        let nothing = hostler_api::Nothing {};
        let parts = Parts::of::<StateStream>(&path, &nothing, &nothing)?;
        let (sender, mut waiting) = mpsc::channel::<Bytes>(WAITING_MAX);
        let lines = futures::stream::poll_fn(move |cx| waiting.poll_recv(cx));
        let lines = futures::StreamExt::map(lines, Ok::<Bytes, std::io::Error>);
        let body = reqwest::Body::wrap_stream(lines);
        let response =
            self.send_stream::<StateStream>(&parts, body).await.map_err(|failed| failed.error)?;
        let address = self.address().to_owned();
        let receiver =
            StateReceiver { address: address.clone(), lines: Lines::new(response, None) };
        Ok((StateSender { address, lines: sender }, receiver))
    }

    /// Opens a stream for one request at a time.
    pub async fn state_caller(&self, project: &str) -> Result<StateCaller, Error> {
        let (sender, receiver) = self.state_stream(project).await?;
        Ok(StateCaller { sender, receiver, last: 0 })
    }
}

fn broken(address: &str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Unexpected {
        address: address.to_owned(),
        detail: "the state stream ended; of what was not answered nobody knows whether it happened"
            .to_owned(),
        source: Some(why.into()),
    }
}

impl StateSender {
    /// Sends a request; waits while there is no room.
    pub async fn send(&self, ask: &StateAsk) -> Result<(), Error> {
        let mut line = serde_json::to_vec(ask).map_err(|error| Error::Setup(error.into()))?;
        line.push(b'\n');
        self.lines.send(line.into()).await.map_err(|error| broken(&self.address, error))
    }
}

impl StateReceiver {
    /// The next answer; `None` when nothing more is asked and everything is answered.
    pub async fn next(&mut self) -> Result<Option<StateLine>, Error> {
        let line = match self.lines.next().await {
            Ok(line) => line,
            Err(Dropped::Closed) => return Ok(None),
            Err(error) => return Err(broken(&self.address, error)),
        };
        let read = serde_json::from_str(&line).map_err(|error| Error::Unexpected {
            address: self.address.clone(),
            detail: "the state stream says something unknown".to_owned(),
            source: Some(error.into()),
        })?;
        Ok(Some(read))
    }
}

impl StateCaller {
    /// One operation, only if the entry's revision is this where one is named; 0 is that there is none.
    pub async fn call(
        &mut self,
        op: StateOpBody,
        if_revision: Option<u64>,
    ) -> Result<StateAnswerView, Error> {
        self.last += 1;
        let ask = StateAsk { id: self.last, op: Some(op), if_revision, txn: None };
        self.sender.send(&ask).await?;
        let Some(line) = self.receiver.next().await? else {
            return Err(broken(&self.receiver.address, "it was closed"));
        };
        match (line.answer, line.problem) {
            (Some(answer), _) => Ok(answer),
            (None, Some(problem)) => Err(Error::Problem(Box::new(Problem {
                kind: String::new(),
                title: problem.code.to_string(),
                status: 0,
                detail: problem.detail,
                code: problem.code,
                hint: problem.hint,
                request_id: String::new(),
                errors: problem.errors,
            }))),
            (None, None) => Err(broken(&self.receiver.address, "an answer says nothing")),
        }
    }
}
