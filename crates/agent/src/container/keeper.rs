//! The process that keeps one container, as a hidden verb of our own program; only shims start it.
//!
//! Its working directory is the run's directory, from which it takes everything else. It runs in one
//! thread, and may be killed at any moment. The gate is a socket to the shim: it hears there that the
//! container runs, or in words why it does not.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Plan;
use super::engine::Engine;
use super::exec;
use super::life::Life;
use super::record::{END, Outcome};
use crate::rundir::{self, Request, RunDir};
use crate::sys;

/// The hidden verb.
pub(crate) const VERB: &str = "container-keeper";

/// What a keeper is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Start the container, or find it again, and stay until it ends.
    Keep,
    /// Make an end of it.
    End,
    /// Run a command inside.
    Exec,
}

impl Task {
    pub const fn word(self) -> &'static str {
        match self {
            Task::Keep => "keep",
            Task::End => "end",
            Task::Exec => "exec",
        }
    }
}

/// A keeper that this process was started as.
pub struct Keeper {
    task: Task,
    gate: i32,
    /// The file with the command, for [`Task::Exec`].
    command: Option<i32>,
}

impl Keeper {
    /// `container-keeper TASK GATE [COMMAND]`, which only shims say; `None` for anything else.
    pub fn asked_for(args: impl IntoIterator<Item = OsString>) -> Option<Keeper> {
        let mut args = args.into_iter().skip(1);
        args.next().filter(|word| word == VERB)?;
        let task = args.next()?;
        let task = [Task::Keep, Task::End, Task::Exec].into_iter().find(|t| task == t.word())?;
        let mut number = || args.next()?.to_str()?.parse().ok();
        Some(Keeper { task, gate: number()?, command: number() })
    }

    /// Its whole life. Call it first thing in `main`.
    pub fn main(self) -> ! {
        let _ = rustix::thread::set_name(c"hostler-keeper");
        let gate = Gate(sys::inherited(self.gate).ok());
        let command = self.command.and_then(|number| sys::inherited(number).ok());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let code = match (runtime, read_plan()) {
            (Ok(runtime), Ok((run, plan))) => {
                runtime.block_on(self.work(&run, &plan, gate, command))
            }
            (Err(e), _) => gate.give_up(&format!("the container's keeper cannot work: {e}")),
            (_, Err(why)) => gate.give_up(&why),
        };
        sys::exit_now(code)
    }

    async fn work(&self, run: &RunDir, plan: &Plan, gate: Gate, command: Option<OwnedFd>) -> i32 {
        let engine = Engine::new(&plan.socket);
        if self.task == Task::Exec {
            return exec::run(&engine, &plan.name(), command, gate).await;
        }
        let life = Life { run, plan, engine };
        let outcome = match self.task {
            Task::End => life.end().await,
            Task::Keep | Task::Exec => match Stops::listen() {
                Ok(mut stops) => life.keep(gate, &mut stops).await,
                Err(e) => Outcome::failed(format!("signals cannot be listened for: {e}")),
            },
        };
        if outcome.write(run).is_err() {
            return 1;
        }
        life.remove(&plan.name()).await;
        0
    }
}

fn read_plan() -> Result<(RunDir, Plan), String> {
    let run = RunDir::open_path(Path::new("."))
        .map_err(|e| format!("the run's directory cannot be opened: {e}"))?;
    let request: Option<Request> =
        run.read_json(rundir::SPEC).map_err(|e| format!("the run's spec cannot be read: {e}"))?;
    let plan = request.and_then(|request| request.container);
    Ok((run, plan.ok_or("the run's spec has no container")?))
}

/// The way to the shim, until there is something to say.
pub struct Gate(Option<OwnedFd>);

impl Gate {
    /// Says it, and closes.
    pub fn tell(self, words: &str) {
        if let Some(socket) = self.0 {
            let words = &words.as_bytes()[..words.len().min(crate::shim::MESSAGE_MAX)];
            let _ = rustix::net::send(&socket, words, rustix::net::SendFlags::NOSIGNAL);
        }
    }

    fn give_up(self, why: &str) -> i32 {
        self.tell(why);
        if let Ok(run) = RunDir::open_path(Path::new("."))
            && !run.has(END)
        {
            let _ = Outcome::failed(why).write(&run);
        }
        1
    }
}

/// Signals that ask a run to end, as they come.
pub struct Stops(Vec<(i32, Signal)>);

impl Stops {
    fn listen() -> std::io::Result<Stops> {
        use hostler_model::StopSignal;
        let heard = StopSignal::ALL.iter().filter(|stop| **stop != StopSignal::Kill);
        let each = heard.map(|stop| {
            let number = stop.number();
            Ok((number, signal(SignalKind::from_raw(number))?))
        });
        Ok(Stops(each.collect::<std::io::Result<_>>()?))
    }

    pub async fn next(&mut self) -> i32 {
        std::future::poll_fn(|context| {
            for (number, signal) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*number);
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &[&str]) -> Option<(Task, i32, Option<i32>)> {
        let words = words.iter().map(OsString::from);
        Keeper::asked_for(words).map(|keeper| (keeper.task, keeper.gate, keeper.command))
    }

    #[test]
    fn only_its_own_words_make_a_keeper() {
        assert_eq!(asked(&["x", VERB, "keep", "7"]), Some((Task::Keep, 7, None)));
        assert_eq!(asked(&["x", VERB, "exec", "7", "8"]), Some((Task::Exec, 7, Some(8))));
        assert_eq!(asked(&["x", VERB, "end", "7"]), Some((Task::End, 7, None)));
        for words in [&["x"][..], &["x", VERB], &["x", VERB, "keep"], &["x", "agent", "keep", "7"]]
        {
            assert_eq!(asked(words), None);
        }
    }
}
