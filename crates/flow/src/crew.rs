//! The crew: threads that carry out steps which are nothing but programs.
//!
//! There are as many as steps may run at once, and each takes one program after the other. The thread itself writes
//! down that a step begins, right before it does. Where nothing but programs is to be run, the loop puts more into the
//! queue than the crew can do at once, so that no thread waits for the loop between two short programs.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use hostler_lua::body::{Grip, Program, Sign};
use hostler_lua::modules::Stream;
use hostler_model::workflow::{StepEnd, StepResult};
use tokio::sync::mpsc;

use crate::journal::Note;

/// How much news waits for the loop before the crew does.
const NEWS: usize = 1024;

pub(crate) struct Crew {
    queue: Arc<Queue>,
    tell: mpsc::Sender<News>,
    news: mpsc::Receiver<News>,
    /// How many threads there may be, and are.
    most: usize,
    threads: usize,
    /// What was sent and has not ended.
    sent: BTreeMap<usize, Sent>,
}

struct Sent {
    attempt: u32,
    since: Instant,
    grip: Grip,
}

/// A try of a step, for the crew.
pub(crate) struct Errand {
    pub step: usize,
    pub attempt: u32,
    pub program: Program,
    /// What is written down before it begins.
    pub note: Option<Note>,
    /// It takes none of the places.
    pub background: bool,
}

/// What the crew tells.
pub(crate) enum News {
    /// Not told of what is over at once.
    Began {
        step: usize,
        at: Instant,
    },
    Said {
        step: usize,
        stream: Stream,
        text: String,
    },
    /// With when it began, where that was not told.
    Ended {
        step: usize,
        began: Option<Instant>,
        result: StepResult,
    },
}

/// A try that is over.
pub(crate) struct Over {
    pub attempt: u32,
    pub since: Instant,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    errands: VecDeque<(Errand, Grip)>,
    idle: usize,
    is_over: bool,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next errand, once there is one; nothing when no more comes.
    fn next(&self) -> Option<(Errand, Grip)> {
        let mut waiting = self.waiting();
        waiting.idle += 1;
        while waiting.errands.is_empty() && !waiting.is_over {
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.idle -= 1;
        waiting.errands.pop_front()
    }
}

impl Crew {
    pub fn new(most: usize) -> Crew {
        let (tell, news) = mpsc::channel(NEWS);
        let (queue, sent) = Default::default();
        Crew { queue, tell, news, most, threads: 0, sent }
    }

    /// Has somebody do it, as soon as somebody is free.
    pub fn send(&mut self, errand: Errand) -> std::io::Result<()> {
        let grip = Grip::default();
        let (step, attempt, since) = (errand.step, errand.attempt, Instant::now());
        let sent = Sent { attempt, since, grip: grip.clone() };
        let builder = Builder::new().name("hostler-program".to_owned());
        let tell = self.tell.clone();
        if errand.background {
            builder.spawn(move || carry(errand, &grip, &tell))?;
        } else {
            let mut waiting = self.queue.waiting();
            if waiting.idle <= waiting.errands.len() && self.threads < self.most {
                let queue = Arc::clone(&self.queue);
                builder.spawn(move || {
                    while let Some((errand, grip)) = queue.next() {
                        carry(errand, &grip, &tell);
                    }
                })?;
                self.threads += 1;
            }
            waiting.errands.push_back((errand, grip));
            drop(waiting);
            self.queue.arrived.notify_one();
        }
        self.sent.insert(step, sent);
        Ok(())
    }

    /// Ends a step, if the crew has it: it does not begin any more, or it is killed.
    pub fn stop(&self, step: usize) -> bool {
        let sent = self.sent.get(&step);
        sent.inspect(|sent| sent.grip.kill()).is_some()
    }

    /// What happened; nothing for as long as nothing happens.
    pub async fn news(&mut self) -> News {
        match self.news.recv().await {
            Some(news) => news,
            None => std::future::pending().await,
        }
    }

    pub fn began(&mut self, step: usize, at: Instant) {
        if let Some(sent) = self.sent.get_mut(&step) {
            sent.since = at;
        }
    }

    pub fn over(&mut self, step: usize) -> Option<Over> {
        self.sent.remove(&step).map(|Sent { attempt, since, .. }| Over { attempt, since })
    }
}

/// What nobody waits for any more ends.
impl Drop for Crew {
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting();
        waiting.is_over = true;
        waiting.errands.clear();
        drop(waiting);
        self.queue.arrived.notify_all();
        self.sent.values().for_each(|sent| sent.grip.kill());
    }
}

fn carry(errand: Errand, grip: &Grip, tell: &mpsc::Sender<News>) {
    let Errand { step, program, note, .. } = errand;
    let send = |news| {
        let _nobody_may_listen = tell.blocking_send(news);
    };
    let began = Cell::new(None);
    let begin = || {
        if let Some(note) = note {
            note.write().map_err(|error| error.to_string())?;
        }
        began.set(Some(Instant::now()));
        Ok(())
    };
    let tell = |sign: Sign<'_>| {
        if let Some(at) = began.take() {
            send(News::Began { step, at });
        }
        if let Sign::Said(stream, text) = sign {
            send(News::Said { step, stream, text: text.to_owned() });
        }
    };
    let run = || program.run(grip, begin, tell);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|_| {
        StepResult::new(StepEnd::Failed, "its thread broke: a defect of Hostler")
    });
    send(News::Ended { step, began: began.take(), result });
}
