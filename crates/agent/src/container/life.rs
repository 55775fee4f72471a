//! The life of one container, as its keeper sees to it: made, started once, followed, ended, removed.

use std::time::Duration;

use bollard::query_parameters::{CreateContainerOptionsBuilder, WaitContainerOptionsBuilder};
use futures::StreamExt;

use super::body::{self, body};
use super::engine::{ContainerState, Engine, EngineError};
use super::keeper::{Gate, Stops};
use super::logs::{Attached, Copier, OUTPUT_MAX};
use super::policy::{self, Checked};
use super::record::{BEGUN, IMAGE, Outcome, PROCESS, Process, Seen};
use super::{Plan, sweep};
use crate::rundir::{self, RunDir};

/// How long an engine may be away when nothing has been started yet, and when something is to end.
const PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE_TO_END: Duration = Duration::from_secs(10);
/// How long a start that may be on its way is waited for.
const START_MAX: Duration = Duration::from_secs(3);
/// How long the engine may take to end what was killed.
const KILL_MAX: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(3);
/// What engines tell of a program that was killed.
const KILLED: i32 = 137;
const MEMORY_TRIES: usize = 40;
/// How often the rest of the output is asked for from an engine that goes away meanwhile.
const REST_TRIES: usize = 5;

const INTERRUPTED: &str =
    "it was interrupted while its container was being started, and is never started twice";

/// The container's process, and its output where this keeper has started it.
type Settled = (Process, Option<Attached>);

pub struct Life<'a> {
    pub run: &'a RunDir,
    pub plan: &'a Plan,
    pub engine: Engine,
}

impl Life<'_> {
    /// From wherever it stands to its end.
    pub async fn keep(&self, gate: Gate, stops: &mut Stops) -> Outcome {
        let name = self.plan.name();
        let (process, attached) = match self.settle(&name).await {
            Ok(settled) => settled,
            Err(outcome) => {
                let words = outcome.failure.as_deref().or(outcome.note.as_deref());
                gate.tell(words.unwrap_or_default());
                return outcome;
            }
        };
        if let Ok(bytes) = serde_json::to_vec(&process)
            && !self.run.has(PROCESS)
        {
            let _ = self.run.write(PROCESS, &bytes);
        }
        gate.tell(&process.line());
        let mut followed = std::pin::pin!(self.follow(&name, attached));
        loop {
            tokio::select! {
                outcome = &mut followed => return outcome,
                signal = stops.next() => self.pass_on(&name, signal).await,
            }
        }
    }

    /// Passes a signal on; to the process itself where the engine does not answer.
    async fn pass_on(&self, name: &str, signal: i32) {
        if let Err(error) = self.engine.signal(name, signal).await
            && error.is_away()
            && let Some(process) = self.process()
        {
            sweep::signal_directly(process, signal);
        }
    }

    fn process(&self) -> Option<Process> {
        self.run.read_json(PROCESS).ok().flatten()
    }

    /// Makes and starts the container, or finds the one that was.
    async fn settle(&self, name: &str) -> Result<Settled, Outcome> {
        let limit = (!self.run.has(PROCESS)).then_some(PATIENCE);
        match self.find(name, limit).await.map_err(|e| Outcome::failed(e.to_string()))? {
            Some(state) if state.was_started => Ok((process_of(&state), None)),
            Some(_) => self.await_start(name).await,
            None if self.run.has(PROCESS) => {
                Err(Outcome::vanished("its container was removed by somebody else"))
            }
            None if self.run.has(BEGUN) => self.await_start(name).await,
            None => self.begin(name).await,
        }
    }

    /// How the container stands, as soon as the engine answers.
    async fn find(
        &self,
        name: &str,
        limit: Option<Duration>,
    ) -> Result<Option<ContainerState>, EngineError> {
        let began = crate::sys::boottime();
        let mut delay = STEP;
        loop {
            match self.engine.inspect_container(name).await {
                Err(e) if limit.is_none_or(|limit| crate::sys::boottime() - began < limit) => {
                    if !e.is_away() && limit.is_some() {
                        return Err(e);
                    }
                }
                found => return found,
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(RETRY_MAX);
        }
    }

    async fn begin(&self, name: &str) -> Result<Settled, Outcome> {
        let plan = self.plan;
        let mounts = policy::mounts(plan).map_err(Outcome::failed)?;
        if let Some(why) = body::too_long(plan) {
            return Err(Outcome::failed(why));
        }
        let named = self.run.read(IMAGE).ok().flatten();
        let named = named.and_then(|bytes| String::from_utf8(bytes).ok());
        let named = named.as_ref().unwrap_or(&plan.spec.image);
        let image = self.engine.image_facts(named).await;
        let image = image.map_err(|e| match e.is_missing() {
            true => Outcome::failed(format!("image {} is not on this node", plan.spec.image)),
            false => Outcome::failed(e.to_string()),
        })?;
        let failed = |e: EngineError| Outcome::failed(explain(&e, plan));
        let begun = self.run.write(BEGUN, b"");
        begun
            .map_err(|e| Outcome::failed(format!("the run's directory cannot be written: {e}")))?;
        let docker = self.engine.docker().await.map_err(failed)?;
        let options = CreateContainerOptionsBuilder::default().name(name).build();
        let body = body(plan, &image, &mounts);
        let made = docker.create_container(Some(options), body).await;
        made.map_err(|e| failed(self.engine.error(e)))?;
        if let Err(outcome) = self.check_again(&mounts) {
            self.remove(name).await;
            return Err(outcome);
        }
        // Without it the record will do.
        let attached = Attached::to(&self.engine, name).await.ok();
        match docker.start_container(name, None).await.map_err(|e| self.engine.error(e)) {
            Ok(()) => {}
            Err(e) if e.is_away() || matches!(e, EngineError::TimedOut(_)) => {
                return self.await_start(name).await;
            }
            Err(e) => {
                self.remove(name).await;
                return Err(failed(e));
            }
        }
        let state = self.find(name, Some(PATIENCE)).await.map_err(failed)?;
        let process = process_of(&state.unwrap_or_default());
        let changed = mounts.iter().find(|mount| !policy::is_as_checked(process.pid, mount));
        if let Some(mount) = changed.filter(|_| process.pid > 0) {
            self.remove(name).await;
            let why = "it changed while the container was being started";
            return Err(Outcome::failed(format!("{} is not mounted: {why}", mount.target)));
        }
        Ok((process, attached))
    }

    fn check_again(&self, before: &[Checked]) -> Result<(), Outcome> {
        let now = policy::mounts(self.plan).map_err(Outcome::failed)?;
        let same =
            |(a, b): (&Checked, &Checked)| (&a.source, a.identity) == (&b.source, b.identity);
        match now.len() == before.len() && now.iter().zip(before).all(same) {
            true => Ok(()),
            false => Err(Outcome::failed("what is to be mounted changes while it is mounted")),
        }
    }

    /// What an earlier keeper asked for may be on its way to the engine. When no start arrives, none ever
    /// will: the container is removed.
    async fn await_start(&self, name: &str) -> Result<Settled, Outcome> {
        let began = crate::sys::boottime();
        loop {
            let found = self.find(name, None).await.map_err(|e| Outcome::failed(e.to_string()))?;
            match found {
                Some(state) if state.was_started => return Ok((process_of(&state), None)),
                _ if crate::sys::boottime() - began < START_MAX => {}
                _ => {
                    self.remove(name).await;
                    return Err(Outcome::failed(INTERRUPTED));
                }
            }
            tokio::time::sleep(STEP).await;
        }
    }

    async fn follow(&self, name: &str, attached: Option<Attached>) -> Outcome {
        let mut copier = match Seen::open(self.run) {
            Ok(seen) => Copier::new(seen),
            Err(e) => return Outcome::vanished(format!("the run's directory cannot be used: {e}")),
        };
        let mut is_complete = match attached {
            Some(attached) => self.copy_attached(&mut copier, attached, name).await,
            None => false,
        };
        let mut was_away = false;
        let mut delay = STEP;
        loop {
            let began = crate::sys::boottime();
            match self.engine.inspect_container(name).await {
                Ok(Some(state)) if !state.is_running => {
                    if !is_complete {
                        self.copy_rest(&mut copier, name).await;
                    }
                    return outcome_of(&self.look_for_memory(name, state).await, was_away);
                }
                Ok(Some(_)) => {
                    is_complete = false;
                    let running = std::pin::pin!(self.ended(name));
                    let _ = copier.copy_record(&self.engine, name, Some(running)).await;
                }
                Ok(None) => {
                    return Outcome::vanished("its container was removed by somebody else");
                }
                Err(_) => (was_away, is_complete) = (true, false),
            }
            if crate::sys::boottime() - began > RETRY_MAX {
                delay = STEP;
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(RETRY_MAX);
        }
    }

    /// Passes on what comes until there is no more; true when the container has ended and that was all.
    async fn copy_attached(&self, copier: &mut Copier, attached: Attached, name: &str) -> bool {
        let mut attached = attached;
        let mut ended = std::pin::pin!(self.ended(name));
        let mut has_ended = false;
        loop {
            let next = tokio::select! {
                () = &mut ended, if !has_ended => {
                    has_ended = true;
                    continue;
                }
                next = attached.next() => next,
                () = tokio::time::sleep(OUTPUT_MAX), if has_ended => return false,
            };
            match next {
                Some(Ok((stream, bytes))) => {
                    let nanos = crate::sys::now().micros().saturating_mul(1000);
                    copier.pass_on(stream, &bytes, nanos);
                }
                Some(Err(_)) => return false,
                None => break,
            }
        }
        has_ended || tokio::time::timeout(OUTPUT_MAX, ended).await.is_ok()
    }

    /// Resolves when the engine says that the container has ended; never when it does not say.
    async fn ended(&self, name: &str) {
        use bollard::errors::Error;
        let waited = async {
            let docker = self.engine.docker().await.ok()?;
            let options = WaitContainerOptionsBuilder::default().condition("not-running").build();
            docker.wait_container(name, Some(options)).next().await
        };
        match waited.await {
            Some(Ok(_) | Err(Error::DockerContainerWaitError { .. })) => {}
            Some(Err(_)) | None => std::future::pending().await,
        }
    }

    /// The engine may hear that something was killed for memory only after it has heard of the end.
    async fn look_for_memory(&self, name: &str, state: ContainerState) -> ContainerState {
        let mut state = state;
        let may_be = self.plan.limits.memory.is_some() && state.exit_code == Some(KILLED);
        for _ in 0..MEMORY_TRIES {
            if !may_be || state.is_out_of_memory {
                break;
            }
            tokio::time::sleep(STEP).await;
            if let Ok(Some(now)) = self.engine.inspect_container(name).await {
                state = now;
            }
        }
        state
    }

    /// What the engine still has of an ended container's output.
    async fn copy_rest(&self, copier: &mut Copier, name: &str) {
        for _ in 0..REST_TRIES {
            match copier.copy_record(&self.engine, name, None).await {
                Err(e) if e.is_away() => tokio::time::sleep(RETRY_MAX).await,
                Ok(()) | Err(_) => return,
            }
        }
    }

    /// Makes an end, whatever state it is in.
    pub async fn end(&self) -> Outcome {
        let name = self.plan.name();
        let Ok(found) = self.find(&name, Some(PATIENCE_TO_END)).await else {
            return self.end_without_engine();
        };
        let Some(mut state) = found else { return Outcome::default() };
        let deadline = crate::sys::boottime() + KILL_MAX;
        while state.is_running && crate::sys::boottime() < deadline {
            let _ = self.engine.signal(&name, nix::libc::SIGKILL).await;
            let ended = tokio::time::timeout(Duration::from_secs(2), self.ended(&name)).await;
            match self.engine.inspect_container(&name).await {
                Ok(Some(now)) => state = now,
                Ok(None) => return Outcome::default(),
                Err(e) if e.is_away() => return self.end_without_engine(),
                Err(_) => {}
            }
            if ended.is_err() {
                self.process().inspect(|p| sweep::signal_directly(*p, nix::libc::SIGKILL));
            }
        }
        if !state.was_started {
            return Outcome::default();
        }
        if let Ok(seen) = Seen::open(self.run) {
            self.copy_rest(&mut Copier::new(seen), &name).await;
        }
        outcome_of(&state, false)
    }

    fn end_without_engine(&self) -> Outcome {
        if let Some(process) = self.process() {
            sweep::signal_directly(process, nix::libc::SIGKILL);
        }
        let note =
            "the container engine did not answer; its container was killed and is removed later";
        Outcome { note: Some(note.to_owned()), ..Outcome::default() }
    }

    /// What stays is removed by the agent.
    pub async fn remove(&self, name: &str) {
        let _ = tokio::time::timeout(KILL_MAX, self.engine.remove_container(name)).await;
    }
}

fn process_of(state: &ContainerState) -> Process {
    Process { pid: state.pid, start_ticks: rundir::start_ticks(state.pid).unwrap_or(0) }
}

fn outcome_of(state: &ContainerState, was_away: bool) -> Outcome {
    let away = (was_away && state.exit_code != Some(0))
        .then(|| "the container engine was restarted while it ran".to_owned());
    let words: Vec<_> = away.into_iter().chain(state.error.clone()).collect();
    Outcome {
        code: state.exit_code,
        is_out_of_memory: state.is_out_of_memory,
        note: (!words.is_empty()).then(|| words.join("; ")),
        ..Outcome::default()
    }
}

/// The engine's words about a start, for somebody who knows the workload.
fn explain(error: &EngineError, plan: &Plan) -> String {
    let words = error.to_string();
    let image = &plan.spec.image;
    if words.contains("could not select device driver") {
        return "this node's container engine cannot give GPUs to containers; the NVIDIA Container Toolkit is missing there".to_owned();
    }
    if words.contains("docker-init") {
        return format!("{words}; the container engine's init program is missing on this node");
    }
    if words.contains("executable file not found") || words.contains("no such file or directory") {
        let program = plan.command.first().map_or("its command", String::as_str);
        return format!(
            "program `{program}` cannot be run in image {image}: {}",
            last_part(&words)
        );
    }
    if words.contains("unable to find user") || words.contains("unable to find group") {
        return format!("image {image} has no such account: {}", last_part(&words));
    }
    words
}

/// Runtimes put their own steps in front of what matters.
fn last_part(words: &str) -> &str {
    let marks = ["unable to start container process: ", "runc create failed: "];
    let rest = marks.iter().find_map(|mark| words.split_once(mark)).map_or(words, |(_, rest)| rest);
    rest.trim_end_matches(": unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_understood() {
        let words = "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"x\": executable file not found in $PATH: unknown";
        assert_eq!(last_part(words), "exec: \"x\": executable file not found in $PATH");
        assert_eq!(last_part("plain"), "plain");
    }

    #[test]
    fn an_engine_that_was_away_is_blamed_only_for_failures() {
        let state = |code| ContainerState { exit_code: Some(code), ..ContainerState::default() };
        assert_eq!(outcome_of(&state(0), true).note, None);
        assert!(outcome_of(&state(137), true).note.unwrap().contains("restarted"));
        assert_eq!(outcome_of(&state(137), false).note, None);
    }
}
