//! One task per run that lives: it listens to the run's shim and passes on what is asked of it.
//!
//! A connection can be lost while the run goes on (the shim drops an agent that does not read), and a
//! start can be lost on its way (the executor was killed with the order in its queue). Both show as an
//! end of file; the run's directory then says how things stand, and the task goes on from there:
//! connect again, send the order again, or report the end.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::chain;
use hostler_model::{Exit, ExitReason, Mode, RunId};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot, watch};

use super::containers::Unready;
use super::files::Furnishing;
use super::secrets::Entrusting;
use super::settle::{self, Settled};
use super::{Ended, RunExited, Shared, StartError, Started};
use crate::rundir::Request;
use crate::sys;
use crate::wire::{self, Command, EXEC_FDS, Event, StartOrder};
use crate::writes::{BLOCK, What};

/// How often an order that was lost on its way is sent again.
const ATTEMPTS: u32 = 5;
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The first thing there is to say of a run.
#[derive(Debug)]
pub enum Reply {
    Running(Started),
    Ended { exit: Exit, started: Option<Started> },
    NotStarted(StartError),
}

pub struct Attendant {
    shared: Arc<Shared>,
    run_id: RunId,
    /// Absent for a run that was found, not started.
    order: Option<StartOrder>,
    commands: mpsc::Receiver<Asked>,
    output: watch::Sender<u64>,
    /// Until it is known whether the run runs.
    reply: Option<oneshot::Sender<Reply>>,
    started: Option<Started>,
    /// Limits that a container engine knows nothing of, in words.
    unenforced: Vec<String>,
    is_over: bool,
    /// Something of it may have to be kept: it is said so, or it was found.
    may_leave_files: bool,
    /// It may have secrets: it is said so, or it was found.
    may_have_secrets: bool,
    attempts: u32,
    /// Whether the run is entered as ours.
    is_entered: bool,
}

/// Why there is no shim to attend to.
pub(super) enum Unbegun {
    /// Nothing was executed, and nothing will be.
    Over(Exit),
    Failed(StartError),
}

impl From<StartError> for Unbegun {
    fn from(e: StartError) -> Unbegun {
        Unbegun::Failed(e)
    }
}

impl From<Unready> for Unbegun {
    fn from(unready: Unready) -> Unbegun {
        match unready {
            Unready::Later(why) => Unbegun::Failed(StartError::Refused(why)),
            Unready::Never(exit) => Unbegun::Over(exit),
        }
    }
}

/// Something to pass on to a shim.
pub struct Asked {
    pub command: Command,
    pub fds: Vec<OwnedFd>,
}

impl From<Command> for Asked {
    fn from(command: Command) -> Asked {
        Asked { command, fds: Vec::new() }
    }
}

/// A connection to a shim.
pub struct Shim {
    stream: UnixStream,
    buffer: Vec<u8>,
}

impl Shim {
    pub fn new(stream: UnixStream) -> Shim {
        Shim { stream, buffer: Vec::new() }
    }

    /// The next event; `None` when the shim is gone. Loses nothing when cancelled.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match wire::take_event(&mut self.buffer) {
                Ok(Some(event)) => return Some(event),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(%error, "shim not understood, connecting again");
                    return None;
                }
            }
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Gives an order to a shim that is free; false when it did not go out whole.
    pub fn order(&self, order: &StartOrder) -> bool {
        let bytes = order.encode_again();
        self.stream.try_write(&bytes).is_ok_and(|sent| sent == bytes.len())
    }

    /// It has said nothing that was not listened to.
    pub fn is_silent(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Passes something on. A shim that is gone is noticed when it is listened to.
    async fn ask(&mut self, asked: Asked) -> io::Result<()> {
        let bytes = asked.command.encode();
        if asked.fds.is_empty() {
            return self.stream.write_all(&bytes).await;
        }
        let fds: Vec<_> = asked.fds.iter().map(AsFd::as_fd).collect();
        let attempt = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(EXEC_FDS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            control.push(SendAncillaryMessage::ScmRights(&fds));
            let parts = [IoSlice::new(&bytes)];
            rustix::net::sendmsg(&self.stream, &parts, &mut control, SendFlags::NOSIGNAL)?;
            Ok(())
        };
        self.stream.async_io(Interest::WRITABLE, attempt).await
    }
}

impl Attendant {
    pub fn new(
        shared: Arc<Shared>,
        run_id: RunId,
        order: Option<StartOrder>,
        commands: mpsc::Receiver<Asked>,
        output: watch::Sender<u64>,
        reply: oneshot::Sender<Reply>,
    ) -> Attendant {
        Attendant {
            shared,
            run_id,
            order,
            commands,
            output,
            reply: Some(reply),
            started: None,
            unenforced: Vec::new(),
            is_over: false,
            may_leave_files: true,
            may_have_secrets: true,
            attempts: 0,
            is_entered: true,
        }
    }

    /// Starts the run and attends to it until it is over. What the start takes is not kept for as long
    /// as the run lives.
    pub async fn start(mut self, request: Request, mode: Mode) {
        let begun = Box::pin(self.begin(request, mode)).await;
        match &begun {
            Err(Unbegun::Failed(e)) => {
                self.shared.waits.failed(self.run_id, chain(e).to_string(), sys::now());
            }
            Ok(_) | Err(Unbegun::Over(_)) => self.shared.waits.over(self.run_id),
        }
        match begun {
            Ok(shim) => self.attend(shim).await,
            Err(Unbegun::Over(exit)) => Box::pin(self.give_up(exit)).await,
            Err(Unbegun::Failed(e)) => self.answer(Reply::NotStarted(e)).await,
        }
    }

    async fn begin(&mut self, request: Request, mode: Mode) -> Result<Shim, Unbegun> {
        let container = request.container.clone().map(|plan| (plan, request.hooks.clone()));
        let furnishing = Furnishing::of(&request);
        let entrusting = Entrusting::of(&request, &mode);
        self.may_have_secrets = request.secrets.is_some();
        self.may_leave_files = !request.files.outputs.is_empty();
        self.unenforced = container.iter().flat_map(|(plan, _)| plan.unenforced()).collect();
        let prepare = move |with: &Shared| settle::prepare(&with.runs, &with.spares, &request);
        match self.shared.at_desk(prepare).await {
            Some(prepared) => prepared?,
            None => return Err(StartError::Prepare(io::Error::other("a defect")).into()),
        }
        self.shared.count(What::Records, BLOCK);
        if let Some(furnishing) = furnishing {
            Box::pin(self.furnish(furnishing)).await?;
        }
        if let Some(entrusting) = entrusting {
            Box::pin(self.entrust(entrusting)).await?;
        }
        if let Some((plan, hooks)) = container {
            self.ready(&plan, &hooks).await?;
        }
        Ok(self.give_order().await?)
    }

    /// Ends a run before anything of it was executed.
    async fn give_up(&mut self, exit: Exit) {
        let (path, written) = (self.shared.runs.join(self.run_id.to_string()), exit.clone());
        let kept = tokio::task::spawn_blocking(move || settle::give_up(&path, &written)).await;
        match kept {
            Ok(Ok(())) => self.end(exit, None).await,
            Ok(Err(e)) => self.answer(Reply::NotStarted(StartError::Prepare(e))).await,
            Err(e) => {
                let e = StartError::Prepare(io::Error::other(e));
                self.answer(Reply::NotStarted(e)).await;
            }
        }
    }

    /// The next thing that is asked.
    pub(super) async fn asked(&mut self) -> Option<Asked> {
        self.commands.recv().await
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    pub(super) fn run_id(&self) -> RunId {
        self.run_id
    }

    /// Nobody waits for a first word.
    pub(super) fn no_reply(&mut self) {
        self.reply = None;
    }

    /// Attends to a run that was found alive.
    pub async fn resume(mut self, stream: StdUnixStream) {
        match connect(stream) {
            Ok(shim) => self.attend(shim).await,
            Err(_) => self.search().await,
        }
    }

    /// Attends to a run whose shim lives, as soon as that answers.
    pub async fn search(mut self) {
        self.reply = None;
        if let Some(shim) = Box::pin(self.look()).await {
            self.attend(shim).await;
        }
    }

    /// Has a shim start the run, one that is free or a new one; what becomes of it comes over the
    /// connection.
    async fn give_order(&mut self) -> Result<Shim, StartError> {
        let Some(order) = self.order else {
            return Err(StartError::ExecutorGone);
        };
        if let Some(shim) = self.shared.idle.give(&order) {
            return Ok(shim);
        }
        let cancel = self.shared.cancel.clone();
        let mut dead = None;
        loop {
            let link = tokio::select! {
                () = cancel.cancelled() => return Err(StartError::ShuttingDown),
                link = self.shared.executor_but(dead.as_ref()) => link,
            };
            let link = link.ok_or(StartError::ExecutorGone)?;
            let (ours, theirs) = StdUnixStream::pair().map_err(StartError::Prepare)?;
            match link.send(&order, OwnedFd::from(theirs)).await {
                Ok(()) => return connect(ours).map_err(StartError::Prepare),
                Err(_) => dead = Some(link),
            }
        }
    }

    async fn attend(&mut self, mut shim: Shim) {
        let cancel = self.shared.cancel.clone();
        loop {
            let event = tokio::select! {
                () = cancel.cancelled() => return,
                Some(command) = self.commands.recv() => {
                    let _ = shim.ask(command).await;
                    continue;
                }
                event = shim.next() => event,
            };
            match event {
                Some(Event::Started(greeting) | Event::Hello(greeting)) => {
                    if let Some(handle) = self.shared.live().get_mut(&self.run_id) {
                        handle.version = Some(greeting.version);
                    }
                    let mut started = Started::from(greeting);
                    started.unenforced.extend(self.unenforced.iter().cloned());
                    self.started = Some(started.clone());
                    self.answer(Reply::Running(started)).await;
                }
                Some(Event::AlreadyStarted) => {
                    let e = StartError::AlreadyStarted(self.run_id);
                    return self.answer(Reply::NotStarted(e)).await;
                }
                Some(Event::Refused(why)) => {
                    let e = StartError::Refused(why);
                    return self.answer(Reply::NotStarted(e)).await;
                }
                Some(Event::Exited(exit)) => self.end(exit, self.started.clone()).await,
                Some(Event::Output) => self.output.send_modify(|count| *count += 1),
                Some(Event::Wrote(bytes)) => self.shared.count(What::Output, bytes),
                Some(Event::Lost(lines)) => self.shared.count_lost(lines),
                Some(Event::Free) if self.is_over => return self.shared.keep_idle(shim),
                Some(Event::ExecEnded(_) | Event::ExecRefused(_)) => {}
                Some(Event::Free | Event::Unknown) => {}
                None if self.is_over => return,
                None => match Box::pin(self.look()).await {
                    Some(again) => shim = again,
                    None => return,
                },
            }
        }
    }

    /// The connection is gone: finds out why, for as long as that takes. `None` when there is nothing
    /// to attend to any more.
    async fn look(&mut self) -> Option<Shim> {
        loop {
            match self.shared.settle(self.run_id).await {
                Ok(Settled::Live(stream)) => match connect(stream) {
                    Ok(shim) => return Some(shim),
                    Err(error) => {
                        tracing::error!(run = %self.run_id, %error, "shim cannot be attended to");
                    }
                },
                Ok(Settled::Ended { exit, started }) => {
                    self.end(exit, started).await;
                    return None;
                }
                Ok(Settled::NeverStarted) => return self.start_again().await,
                Ok(Settled::Stuck { .. }) => {
                    tracing::warn!(run = %self.run_id, "shim does not answer");
                }
                Err(error) => {
                    tracing::error!(run = %self.run_id, %error, "run cannot be examined");
                }
            }
            tokio::select! {
                () = self.shared.cancel.cancelled() => return None,
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// Nothing was ever executed: sends the order again, if there is one that nobody has answered.
    async fn start_again(&mut self) -> Option<Shim> {
        if self.reply.is_none() {
            let exit = settle::vanished("its supervisor was killed and its records were removed");
            self.end(exit, self.started.clone()).await;
            return None;
        }
        self.attempts += 1;
        let outcome = if self.order.is_some() && self.attempts <= ATTEMPTS {
            tracing::warn!(run = %self.run_id, attempt = self.attempts, "start was lost, sent again");
            self.give_order().await
        } else {
            let why = "its shim died before anything was executed";
            Err(StartError::Refused(why.to_owned()))
        };
        match outcome {
            Ok(shim) => Some(shim),
            Err(e) => {
                self.answer(Reply::NotStarted(e)).await;
                None
            }
        }
    }

    pub(super) async fn end(&mut self, exit: Exit, started: Option<Started>) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        if self.may_have_secrets {
            self.shared.take_back(self.run_id).await;
        }
        if self.may_leave_files && !Box::pin(self.keep_outputs(&exit)).await {
            return;
        }
        let started = started.filter(|_| exit.reason != ExitReason::StartFailed);
        if let Some(handle) = self.shared.live().get_mut(&self.run_id) {
            handle.ended = Some(Ended { exit: exit.clone(), started: started.clone() });
        }
        self.shared.pool.release(self.run_id);
        if self.reply.is_some() {
            self.answer(Reply::Ended { exit, started }).await;
        } else {
            self.report(exit, started).await;
        }
    }

    /// Says the first thing; when the caller has gone, an end is still reported.
    async fn answer(&mut self, reply: Reply) {
        if let Reply::NotStarted(error) = &reply {
            if self.may_have_secrets && !matches!(error, StartError::AlreadyStarted(_)) {
                self.shared.take_back(self.run_id).await;
            }
            self.leave();
        }
        let Some(waiting) = self.reply.take() else {
            return;
        };
        if let Err(Reply::Ended { exit, started }) = waiting.send(reply) {
            self.report(exit, started).await;
        }
    }

    /// The run is no longer ours; somebody may enter it anew from here on.
    fn leave(&mut self) {
        if std::mem::replace(&mut self.is_entered, false) {
            self.shared.live().remove(&self.run_id);
            if !self.shared.cancel.is_cancelled() {
                self.shared.pool.release(self.run_id);
            }
        }
    }

    async fn report(&self, exit: Exit, started: Option<Started>) {
        let news = RunExited { run_id: self.run_id, exit, started };
        tokio::select! {
            () = self.shared.cancel.cancelled() => {}
            _ = self.shared.exits.send(news) => {}
        }
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        self.leave();
    }
}

fn connect(stream: StdUnixStream) -> io::Result<Shim> {
    stream.set_nonblocking(true)?;
    Ok(Shim::new(UnixStream::from_std(stream)?))
}
