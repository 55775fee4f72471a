//! The state stream: numbered requests in, numbered answers out, over one HTTP request that stays open.
//!
//! The body of the request is read while its answer is written; both are driven by the connection that
//! carries them, and nothing is started for a request. Requests are handed in as they are read, and answers
//! are written as they come: all that are ready go out together. At most so many are under way
//! ([`STATE_IN_FLIGHT_MAX`]); then nothing more is read until some are answered, so that a client that does
//! not take its answers is not read from either.
//!
//! A line that is no JSON ends the stream, after what was handed in is answered: what follows it cannot be
//! trusted to be what was meant. A request that cannot be understood, or is refused, is answered with a problem
//! under its number, and the stream goes on. When the client has nothing more to ask it ends its body; the stream ends when everything is
//! answered. Every few seconds the credential is looked at again, as with every stream.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::{Buf, Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use hostler_api::state::{StateAsk, StateLine, StateProblem, StateStream};
use hostler_control::{Cx, STATE_IN_FLIGHT_MAX, StatePort, StatePrecondition, StateReply};
use hostler_model::{
    Diagnostic, Error, Need, Permission, ProjectId, STATE_TXN_BYTES_MAX, Scope, StateTxn,
};
use tokio::sync::mpsc;
use tracing::debug;

use super::app::StreamPermit;
use super::error::malformed;
use super::gate::{Gate, Presented};
use super::watch::{RECHECK, is_unchanged};
use super::{Answer, App, Call, state_body};

/// A line may have all values of a transaction, in base64 and escaped.
const LINE_MAX: usize = 2 * STATE_TXN_BYTES_MAX;

struct Talk {
    app: App,
    cx: Cx,
    presented: Presented,
    project: ProjectId,
    may_write: bool,
    port: StatePort,
    replies: mpsc::Receiver<StateReply>,
    in_flight: usize,
    /// What comes in, until its end.
    body: Option<BodyDataStream>,
    input: BytesMut,
    /// How much of it is known to hold no line end.
    scanned: usize,
    output: Vec<u8>,
    /// Both are waited for at every turn, and kept: to begin anew costs locks that all streams share.
    stopping: BoxFuture<'static, ()>,
    pause: BoxFuture<'static, ()>,
    time_checked: Duration,
    _permit: StreamPermit,
}

pub(crate) async fn open(app: App, call: Call<StateStream>) -> Result<Answer<StateLine>, Error> {
    let permit = app.stream_permit()?;
    let project = call.project().id;
    let need = Need { permission: Permission::StateWrite, scope: Scope::Project(project) };
    let (port, replies) = app.control().state_port(&call.cx);
    let talk = Talk {
        may_write: call.cx.caller.may(need),
        time_checked: app.clock().instant(),
        cx: call.cx,
        presented: call.presented,
        project,
        port,
        replies,
        in_flight: 0,
        body: Some(call.incoming.into_body().into_data_stream()),
        input: BytesMut::new(),
        scanned: 0,
        output: Vec::new(),
        stopping: app.stopping_owned().boxed(),
        pause: app.clock().sleep(RECHECK).boxed(),
        _permit: permit,
        app,
    };
    let stream = futures::stream::unfold(talk, |mut talk| async move {
        let bytes = talk.next().await?;
        Some((Ok::<_, Infallible>(bytes), talk))
    });
    Ok(Answer::stream("application/x-ndjson", Body::from_stream(stream)))
}

/// What happened while the stream waited.
enum Event {
    Reply(StateReply),
    Input(Option<Result<Bytes, axum::Error>>),
    Pause,
    Stopping,
}

impl Talk {
    /// The next bytes to send; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.hand_in().await;
            while let Ok(reply) = self.replies.try_recv() {
                self.tell(reply);
            }
            if !self.output.is_empty() {
                return Some(std::mem::take(&mut self.output).into());
            }
            if self.body.is_none() && self.in_flight == 0 {
                return None;
            }
            let event = self.wait().await;
            let is_pause = matches!(event, Event::Pause);
            match event {
                Event::Reply(reply) => self.tell(reply),
                Event::Input(Some(Ok(bytes))) => self.input.extend_from_slice(&bytes),
                Event::Input(Some(Err(error))) => {
                    debug!(error = %error, "state stream broke off");
                    return None;
                }
                Event::Input(None) => {
                    self.body = None;
                    self.input.extend_from_slice(b"\n");
                }
                Event::Pause => {}
                Event::Stopping => return None,
            }
            let now = self.app.clock().instant();
            if is_pause || now.saturating_sub(self.time_checked) >= RECHECK {
                self.time_checked = now;
                if !is_unchanged(&self.app, &self.presented, &self.cx).await {
                    debug!("state stream ended, its credential has changed");
                    return None;
                }
            }
        }
    }

    async fn wait(&mut self) -> Event {
        let has_room = self.in_flight < STATE_IN_FLIGHT_MAX;
        let input = async {
            match &mut self.body {
                Some(body) if has_room => body.next().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(reply) = self.replies.recv() => Event::Reply(reply),
            input = input => Event::Input(input),
            () = &mut self.stopping => Event::Stopping,
            () = &mut self.pause => {
                self.pause = self.app.clock().sleep(RECHECK).boxed();
                Event::Pause
            }
        }
    }

    /// Hands in every whole line that is there, as far as there is room.
    async fn hand_in(&mut self) {
        while self.in_flight < STATE_IN_FLIGHT_MAX {
            let unseen = self.input[self.scanned..].iter();
            let Some(length) = unseen.copied().position(|byte| byte == b'\n') else {
                self.scanned = self.input.len();
                if self.input.len() > LINE_MAX {
                    self.give_up(malformed("a line is too long", "send fewer values at once"));
                }
                return;
            };
            let end = self.scanned + length;
            let line = self.input.get(..end).unwrap_or_default().trim_ascii();
            let line = (!line.is_empty()).then(|| read(line));
            self.input.advance(end + 1);
            self.scanned = 0;
            let Some(line) = line else { continue };
            match line {
                Line::Ask(ask) => self.ask(*ask).await,
                Line::Unclear { id, text } => self.refuse(id, malformed(text, HINT)),
                Line::Noise(text) => {
                    self.give_up(malformed(text, HINT));
                    return;
                }
            }
        }
    }

    async fn ask(&mut self, ask: StateAsk) {
        let id = ask.id;
        let asked = match self.txn(ask) {
            Ok(txn) => self.port.send(id, txn).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(()) => self.in_flight += 1,
            Err(error) => self.refuse(id, error),
        }
    }

    fn refuse(&mut self, id: u64, error: Error) {
        self.write(&StateLine { id, answer: None, problem: Some(problem(error)) });
    }

    fn txn(&self, ask: StateAsk) -> Result<StateTxn, Error> {
        let txn = asked(self.project, ask)?;
        if txn.is_write() && !self.may_write {
            return Err(Error::forbidden("changing state needs the permission state.write"));
        }
        Ok(txn)
    }

    fn tell(&mut self, (id, outcome): StateReply) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let line = match outcome {
            Ok(answer) => StateLine { id, answer: Some(state_body::answer(answer)), problem: None },
            Err(error) => StateLine { id, answer: None, problem: Some(problem(error)) },
        };
        self.write(&line);
    }

    fn write(&mut self, line: &StateLine) {
        if serde_json::to_writer(&mut self.output, line).is_ok() {
            self.output.push(b'\n');
        }
    }

    /// Reads no more; a problem without a request has the number 0.
    fn give_up(&mut self, error: Error) {
        self.body = None;
        self.input.clear();
        self.scanned = 0;
        self.refuse(0, error);
    }
}

/// What a client may have meant to send.
const HINT: &str = r#"a line is one JSON object, such as {"id": 1, "do": {"op": "get", "key": "a"}}; POST …/state-stream in /docs has all of them"#;

/// What is on a line.
enum Line {
    Ask(Box<StateAsk>),
    /// JSON, and no request.
    Unclear {
        /// What it calls itself, 0 where it does not say.
        id: u64,
        text: String,
    },
    Noise(String),
}

fn read(line: &[u8]) -> Line {
    let error = match serde_json::from_slice::<StateAsk>(line) {
        Ok(ask) => return Line::Ask(Box::new(ask)),
        Err(error) => error,
    };
    let words = error.to_string().replace(" at line 1 column ", ", at byte ");
    match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(value) => {
            let id = value.get("id").and_then(serde_json::Value::as_u64).unwrap_or(0);
            Line::Unclear { id, text: format!("this is no request: {words}") }
        }
        Err(_) => Line::Noise(format!("a line is no JSON: {words}")),
    }
}

/// What a line asks for.
pub(super) fn asked(project: ProjectId, ask: StateAsk) -> Result<StateTxn, Error> {
    let invalid =
        |field: &str, text: &str| Error::invalid(vec![Diagnostic::new(format!("/{field}"), text)]);
    match (ask.op, ask.txn) {
        (Some(body), None) => {
            let op = state_body::op(project, body)
                .map_err(|(field, text)| invalid(&format!("do/{field}"), text))?;
            Ok(match ask.if_revision {
                None => StatePrecondition::None.txn(op),
                Some(0) => StatePrecondition::Absent.txn(op),
                Some(revision) => StatePrecondition::Revision(revision).txn(op),
            })
        }
        (None, Some(_)) if ask.if_revision.is_some() => {
            Err(invalid("ifRevision", "a transaction has conditions of its own"))
        }
        (None, Some(body)) => state_body::txn(project, body),
        _ => Err(invalid("do", "a request has either `do` or `txn`")),
    }
}

fn problem(error: Error) -> StateProblem {
    if error.code == hostler_model::Code::Internal {
        tracing::error!(error = %hostler_base::chain(&error), "a request of a state stream failed");
    }
    StateProblem { code: error.code, detail: error.detail, hint: error.hint, errors: error.errors }
}
