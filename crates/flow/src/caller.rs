//! Who calls handlers, and what undoes steps: a thread with an interpreter, and none before something is called.
//!
//! Calls are carried out one after the other, in the order in which they were made, and share what handlers keep in
//! globals: each takes a place in a line when it is made, and is sent to the thread when its turn has come. Each has its
//! time. One that waits is dropped when that is over, one that computes is interrupted, and the
//! next goes on with the same interpreter. Where nobody wants to wait any more, or a call does not even end then, the
//! thread is left to itself and the next call gets another: no handler keeps an execution from going on.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use hostler_lua::body::{Input, Performer, Say, Sharing, services};
use hostler_lua::modules::{Acting, Sink, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::{Handler, StepEnd, StepResult};
use serde_json::Value as Json;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::run::{Observer, Told};

/// How much longer than its time a call may take until its thread is left to itself.
const STUCK: Duration = Duration::from_secs(2);
/// What is told of an execution that does not begin because what is called first gives back `false`.
pub(crate) const NOT_WANTED: &str = "its `on_start` says no: nothing is begun";
/// How many words of a handler wait for whoever hears them.
const WORDS: usize = 256;

/// What a call is given: all of it can leave the thread that asks.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    pub workdir: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub secrets: BTreeMap<String, String>,
    pub check: bool,
    pub services: Sharing,
    pub stack: Option<String>,
}

/// What is called.
#[derive(Debug)]
pub(crate) enum What {
    Around {
        handler: Handler,
        arguments: Vec<Json>,
    },
    Step {
        step: String,
        handler: Handler,
        result: StepResult,
        input: Input,
    },
    Undo {
        step: String,
        output: Json,
        input: Input,
    },
    /// Only waits for its turn.
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub workflow: String,
    pub what: What,
    pub ground: Ground,
    pub limit: Duration,
}

/// How a call did not end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Late,
    Stopped,
}

/// How a call ended; what a handler gives back, or the error that it raised.
#[derive(Debug)]
pub(crate) enum Reply {
    Returned(Json),
    Undone(StepResult),
    Raised(String),
    Cut(Cut),
}

impl Reply {
    pub fn is_no(&self) -> bool {
        matches!(self, Reply::Returned(Json::Bool(false)))
    }

    pub fn is_yes(&self) -> bool {
        matches!(self, Reply::Returned(Json::Bool(true)))
    }

    /// What is wrong, if something is.
    pub fn complaint(&self, limit: Duration) -> Option<String> {
        match self {
            Reply::Returned(_) | Reply::Undone(_) => None,
            Reply::Raised(message) => Some(message.clone()),
            Reply::Cut(Cut::Late) => Some(late(limit)),
            Reply::Cut(Cut::Stopped) => Some("it was stopped".to_owned()),
        }
    }

    /// What it means where a step was undone.
    pub fn undone(self, limit: Duration) -> StepResult {
        match self {
            Reply::Undone(result) => result,
            Reply::Returned(_) => StepResult::new(StepEnd::Succeeded, ""),
            Reply::Raised(message) => StepResult::new(StepEnd::Failed, message),
            Reply::Cut(Cut::Late) => StepResult::new(StepEnd::TimedOut, late(limit)),
            Reply::Cut(Cut::Stopped) => StepResult::new(StepEnd::Cancelled, "it was stopped"),
        }
    }
}

fn late(limit: Duration) -> String {
    let limit =
        hostler_model::Span::from_millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    format!("it took longer than {limit}, and was ended")
}

pub(crate) struct Caller {
    bundle: Arc<Bundle>,
    given: Arc<Given>,
    line: RefCell<Option<Line>>,
    /// Whose turn it is: one place, given in the order in which it was asked for.
    turn: Arc<Semaphore>,
    /// How often everything that waited was sent away.
    sent_away: Cell<u64>,
}

type Waiting = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>>>>;

/// A place in the line, taken when it is made.
enum Turn {
    Now(OwnedSemaphorePermit),
    Later(Waiting),
}

impl Turn {
    fn of(turns: &Arc<Semaphore>) -> Turn {
        let mut waiting: Waiting = Box::pin(Arc::clone(turns).acquire_owned());
        // Whoever asks first is first: a place is taken when it is asked for the first time.
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(permit)) => Turn::Now(permit),
            Poll::Ready(Err(_)) | Poll::Pending => Turn::Later(waiting),
        }
    }

    /// Nothing once there is no line any more.
    async fn come(self) -> Option<OwnedSemaphorePermit> {
        match self {
            Turn::Now(permit) => Some(permit),
            Turn::Later(waiting) => waiting.await.ok(),
        }
    }
}

/// To the thread. Who drops it does not want anything of it any more.
struct Line {
    errands: mpsc::Sender<Errand>,
    flag: Arc<AtomicBool>,
    _wanted: watch::Sender<()>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Release);
    }
}

struct Errand {
    call: Call,
    words: mpsc::Sender<Word>,
    told: oneshot::Sender<Reply>,
}

enum Word {
    Began,
    Said(Stream, String),
}

impl Caller {
    pub fn new(bundle: Arc<Bundle>, given: Arc<Given>) -> Rc<Caller> {
        let (line, sent_away) = Default::default();
        Rc::new(Caller { bundle, given, line, turn: Arc::new(Semaphore::new(1)), sent_away })
    }

    /// Ends what is being called, and what waits for its turn.
    pub fn hang_up(&self) {
        self.sent_away.set(self.sent_away.get() + 1);
        self.line.take();
    }

    /// Has something called in its turn, which is taken at once; the future is the answer, and passes the words on.
    pub fn call(
        self: &Rc<Self>,
        call: Call,
        step: Option<usize>,
        observer: &Rc<dyn Observer>,
    ) -> impl Future<Output = Reply> + use<> {
        let limit = call.limit;
        let turn = Turn::of(&self.turn);
        let (caller, observer) = (Rc::clone(self), Rc::clone(observer));
        let known = self.sent_away.get();
        async move {
            let Some(_until_it_is_answered) = turn.come().await else {
                return Reply::Cut(Cut::Stopped);
            };
            if caller.sent_away.get() != known {
                return Reply::Cut(Cut::Stopped);
            }
            let (words, mut heard) = mpsc::channel(WORDS);
            let (told, mut answer) = oneshot::channel();
            if let Err(error) = caller.send(Errand { call, words, told }).await {
                return Reply::Raised(format!("no thread can be had: {error}"));
            }
            let patience = tokio::time::sleep(Duration::MAX);
            let mut patience = std::pin::pin!(patience);
            loop {
                tokio::select! {
                    biased;
                    Some(word) = heard.recv() => match word {
                        Word::Began => {
                            let at = tokio::time::Instant::now() + limit.saturating_add(STUCK);
                            patience.as_mut().reset(at);
                        }
                        Word::Said(stream, text) => {
                            observer.told(&Told::Said { step, stream, text: &text });
                        }
                    },
                    answer = &mut answer => return answer.unwrap_or(Reply::Cut(Cut::Stopped)),
                    () = &mut patience => {
                        caller.line.take();
                        return Reply::Cut(Cut::Late);
                    }
                }
            }
        }
    }

    async fn send(&self, errand: Errand) -> std::io::Result<()> {
        let known = self.line.borrow().as_ref().map(|line| line.errands.clone());
        let unsent = match known {
            None => errand,
            Some(errands) => match errands.send(errand).await {
                Ok(()) => return Ok(()),
                Err(unsent) => unsent.0,
            },
        };
        let errands = self.another_line()?;
        let _it_has_just_begun = errands.send(unsent).await;
        Ok(())
    }

    fn another_line(&self) -> std::io::Result<mpsc::Sender<Errand>> {
        let (errands, waiting) = mpsc::channel(1);
        let (wanted, unwanted) = watch::channel(());
        let flag = Arc::new(AtomicBool::new(false));
        let desk = Desk {
            bundle: Arc::clone(&self.bundle),
            given: Arc::clone(&self.given),
            flag: Arc::clone(&flag),
            waiting,
            unwanted,
        };
        std::thread::Builder::new().name("handlers".to_owned()).spawn(move || desk.work())?;
        *self.line.borrow_mut() = Some(Line { errands: errands.clone(), flag, _wanted: wanted });
        Ok(errands)
    }
}

/// What the thread has.
struct Desk {
    bundle: Arc<Bundle>,
    given: Arc<Given>,
    flag: Arc<AtomicBool>,
    waiting: mpsc::Receiver<Errand>,
    unwanted: watch::Receiver<()>,
}

struct Voice(Say);

impl Sink for Voice {
    fn say(&self, stream: Stream, text: &str) {
        (self.0)(stream, text);
    }
}

impl Desk {
    fn work(mut self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let performer = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
            let (bundle, flag) = ((*self.bundle).clone(), Arc::clone(&self.flag));
            let performer = Performer::stoppable(bundle, &self.given, flag);
            Ok((runtime, performer.map_err(|mistakes| mistakes.to_string())?))
        });
        while let Some(Errand { call, words, told }) = self.waiting.blocking_recv() {
            let _nobody_listens = words.blocking_send(Word::Began);
            let answer = match &performer {
                _ if self.unwanted.has_changed().is_err() => Reply::Cut(Cut::Stopped),
                Err(message) => Reply::Raised(message.clone()),
                Ok((runtime, performer)) => {
                    let work = self.carry_out(performer, call, words);
                    tokio::task::LocalSet::new().block_on(runtime, work)
                }
            };
            let _nobody_waits = told.send(answer);
        }
    }

    async fn carry_out(
        &self,
        performer: &Performer,
        call: Call,
        words: mpsc::Sender<Word>,
    ) -> Reply {
        let Call { workflow, what, ground, limit } = call;
        let until = Instant::now() + limit;
        performer.until(Some(until));
        let on = Rc::new(Acting {
            workdir: ground.workdir,
            environment: ground.environment,
            secrets: ground.secrets,
            sink: Rc::new(Voice(Box::new(move |stream, text| {
                let word = Word::Said(stream, text.to_owned());
                let _nobody_listens = futures::executor::block_on(words.send(word));
            }))),
            check: ground.check,
            exported: RefCell::default(),
            services: services(&ground.services, ground.stack.as_deref()),
        });
        let mut unwanted = self.unwanted.clone();
        let mut work = Box::pin(performed(performer, &workflow, what, on));
        let cut = tokio::select! {
            biased;
            _ = unwanted.changed() => Cut::Stopped,
            () = tokio::time::sleep_until(until.into()) => Cut::Late,
            answer = &mut work => {
                drop(work);
                performer.until(None);
                // What computed was interrupted with an error.
                return match answer {
                    Reply::Returned(_) => answer,
                    _ if self.unwanted.has_changed().is_err() => Reply::Cut(Cut::Stopped),
                    _ if Instant::now() >= until => Reply::Cut(Cut::Late),
                    answer => answer,
                };
            }
        };
        // What waits is woken once more to let go of what it holds, and must not be interrupted in that.
        self.flag.store(false, Ordering::Release);
        performer.until(None);
        drop(work);
        performer.let_go();
        Reply::Cut(cut)
    }
}

async fn performed(performer: &Performer, workflow: &str, what: What, on: Rc<Acting>) -> Reply {
    match what {
        What::Nothing => Reply::Returned(Json::Null),
        What::Around { handler, arguments } => {
            match performer.workflow_handler(workflow, handler, &arguments, on).await {
                Ok(value) => Reply::Returned(value.unwrap_or_default()),
                Err(message) => Reply::Raised(message),
            }
        }
        What::Step { step, handler, result, input } => {
            match performer.step_handler(workflow, &step, handler, &result, input, on).await {
                Ok(_) => Reply::Returned(Json::Null),
                Err(message) => Reply::Raised(message),
            }
        }
        What::Undo { step, output, input } => {
            Reply::Undone(performer.compensate(workflow, &step, &output, input, on).await)
        }
    }
}
