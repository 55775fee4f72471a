//! Who calls handlers, and what undoes steps: a thread with an interpreter, and none before something is called.
//!
//! Calls are carried out one after the other, in the order in which they were made, and share what handlers keep in
//! globals. Each has its time. One that waits is dropped when that is over, one that computes is interrupted, and the
//! next goes on with the same interpreter. Where nobody wants to wait any more, or a call does not even end then, the
//! thread is left to itself and the next call gets another: no handler keeps an execution from going on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hostler_lua::body::{Input, Performer, Say, Sharing, services};
use hostler_lua::modules::{Acting, Sink, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::{Handler, StepEnd, StepResult};
use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot, watch};

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
}

/// To the thread. Who drops it does not want anything of it any more.
struct Line {
    errands: mpsc::UnboundedSender<Errand>,
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
        Rc::new(Caller { bundle, given, line: RefCell::default() })
    }

    /// Ends what is being called, and what waits for its turn.
    pub fn hang_up(&self) {
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
        let (words, mut heard) = mpsc::channel(WORDS);
        let (told, mut answer) = oneshot::channel();
        let sent = self.send(Errand { call, words, told });
        let (caller, observer) = (Rc::clone(self), Rc::clone(observer));
        async move {
            if let Err(error) = sent {
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
                        caller.hang_up();
                        return Reply::Cut(Cut::Late);
                    }
                }
            }
        }
    }

    fn send(&self, errand: Errand) -> std::io::Result<()> {
        let mut line = self.line.borrow_mut();
        let unsent = match line.as_ref() {
            None => errand,
            Some(known) => match known.errands.send(errand) {
                Ok(()) => return Ok(()),
                Err(unsent) => unsent.0,
            },
        };
        self.send_on_another(&mut line, unsent)
    }

    fn send_on_another(&self, line: &mut Option<Line>, errand: Errand) -> std::io::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "each step has a few calls, and no more")]
        let (errands, waiting) = mpsc::unbounded_channel();
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
        let _it_has_just_begun = errands.send(errand);
        *line = Some(Line { errands, flag, _wanted: wanted });
        Ok(())
    }
}

/// What the thread has.
struct Desk {
    bundle: Arc<Bundle>,
    given: Arc<Given>,
    flag: Arc<AtomicBool>,
    waiting: mpsc::UnboundedReceiver<Errand>,
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
