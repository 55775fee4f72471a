//! What clients of state and locks saw, judged as a whole: while servers are killed and the database crashes, every
//! answer must fit one order of calls ([`linearizable`]).
//!
//! Values are written once each, so a revision stands for the value that was seen with it. A call without an answer may
//! have happened or not. The end of a hold by silence is a call that nobody made: it may happen from a TTL after the
//! holder was heard of last, never before, and need not happen at all.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use hostler_api::Nothing;
use hostler_api::lock::{
    LockAcquire, LockAcquireBody, LockHoldPath, LockRelease, LockRenew, LockRenewBody,
};
use hostler_api::state::{StateOpBody, StateVerb};
use hostler_base::Ids;
use hostler_client::{Client, ClientConfig, Error, RetryPolicy, StateCaller};
use hostler_model::{Code, LockHoldId, LockHolder, LockOutcome, Span, default_namespace};
use hostler_testkit::{Model, Operation, linearizable};

use super::state::config;
use crate::rig::{Postgres, Rig, Server, until};

/// Clients of each kind.
const CLIENTS: usize = 4;
const KEYS: [&str; 3] = ["a", "b", "c"];
const LOCKS: [&str; 2] = ["left", "right"];
const TTL: Span = Span::from_secs(1);

struct Register;

#[derive(Clone, Debug)]
enum Access {
    Get,
    Put(u64),
    Swap { from: Option<u64>, to: u64 },
    Delete,
}

#[derive(Clone, Debug)]
enum Seen {
    Value(Option<u64>),
    Done,
    /// Whether the condition held, or whether there was something to delete.
    Held(bool),
}

impl Model for Register {
    type State = Option<u64>;
    type Call = Access;
    type Answer = Seen;

    fn initial() -> Option<u64> {
        None
    }

    fn step(state: &Option<u64>, call: &Access, answer: Option<&Seen>) -> Option<Option<u64>> {
        let (holds, after) = match call {
            Access::Get => (true, *state),
            Access::Put(value) => (true, Some(*value)),
            Access::Swap { from, to } => (state == from, Some(*to)),
            Access::Delete => (state.is_some(), None),
        };
        match answer {
            Some(Seen::Value(value)) => (value == state).then_some(*state),
            Some(Seen::Done) => Some(after),
            Some(Seen::Held(true)) => holds.then_some(after),
            Some(Seen::Held(false)) => (!holds).then_some(*state),
            None => holds.then_some(after),
        }
    }
}

struct Counter;

impl Model for Counter {
    type State = i64;
    type Call = ();
    type Answer = i64;

    fn initial() -> i64 {
        0
    }

    fn step(state: &i64, _: &(), answer: Option<&i64>) -> Option<i64> {
        answer.is_none_or(|answer| *answer == state + 1).then_some(state + 1)
    }
}

struct Lock;

#[derive(Clone, Debug)]
enum Use {
    Try(LockHoldId),
    Renew(LockHoldId),
    Release(LockHoldId),
    /// By silence.
    End(LockHoldId),
}

#[derive(Clone, Debug)]
enum Got {
    /// It is held, with this token.
    Token(u64),
    /// It is still held, or was until now.
    Yes,
    /// Somebody else holds it, or one's own hold is over.
    No,
}

impl Model for Lock {
    /// Who holds it, and the newest token that anybody was told of.
    type State = (Option<LockHoldId>, u64);
    type Call = Use;
    type Answer = Got;

    fn initial() -> Self::State {
        (None, 0)
    }

    fn step(state: &Self::State, call: &Use, answer: Option<&Got>) -> Option<Self::State> {
        let (holder, token) = *state;
        match (call, answer) {
            (Use::Try(id), Some(Got::Token(new))) => {
                (holder.is_none() && *new > token).then_some((Some(*id), *new))
            }
            (Use::Try(id), None) => holder.is_none().then_some((Some(*id), token)),
            (Use::Try(id), _) => (holder.is_some() && holder != Some(*id)).then_some(*state),
            (Use::Renew(id), Some(Got::No)) => (holder != Some(*id)).then_some(*state),
            (Use::Renew(id), _) => (holder == Some(*id)).then_some(*state),
            (Use::Release(id), Some(Got::No)) => (holder != Some(*id)).then_some(*state),
            (Use::Release(id) | Use::End(id), _) => (holder == Some(*id)).then_some((None, token)),
        }
    }
}

type History<M> = Vec<Operation<<M as Model>::Call, <M as Model>::Answer>>;

/// What all clients saw, by key.
#[derive(Default)]
struct Records {
    registers: Mutex<BTreeMap<&'static str, History<Register>>>,
    counter: Mutex<History<Counter>>,
    locks: Mutex<BTreeMap<&'static str, History<Lock>>>,
    answered: AtomicU64,
    lost: AtomicU64,
    values: AtomicU64,
    stop: AtomicBool,
}

struct Campaign {
    records: Arc<Records>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

/// One client, with chance and a clock of its own that all clients share the beginning of.
#[derive(Clone)]
struct Person {
    config: ClientConfig,
    records: Arc<Records>,
    epoch: Instant,
    seed: u64,
}

impl Person {
    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap()
    }

    fn chance(&mut self, of: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed % of as u64).unwrap()
    }

    fn is_over(&self) -> bool {
        self.records.stop.load(Ordering::SeqCst)
    }

    fn count(&self, is_answered: bool) {
        let counter = if is_answered { &self.records.answered } else { &self.records.lost };
        counter.fetch_add(1, Ordering::SeqCst);
    }

    fn operation<C, A>(&self, call: C, began: u64, answer: Option<A>) -> Operation<C, A> {
        self.count(answer.is_some());
        Operation { call, began, ended: answer.map(|answer| (self.now(), answer)) }
    }

    async fn uses_state(mut self) {
        while !self.is_over() {
            let client = Client::new(self.config.clone()).unwrap();
            let Ok(mut caller) = client.state_caller("default").await else {
                tokio::task::yield_now().await;
                continue;
            };
            let mut known = HashMap::new();
            while !self.is_over() && self.step(&mut caller, &mut known).await {}
        }
    }

    /// Says whether the stream is still there.
    async fn step(
        &mut self,
        caller: &mut StateCaller,
        known: &mut HashMap<&'static str, (Option<u64>, u64)>,
    ) -> bool {
        let of =
            |verb, key: &str| StateOpBody::new(verb, default_namespace(), key.parse().unwrap());
        let began = self.now();
        if self.chance(5) == 0 {
            let answer = caller.call(of(StateVerb::Increment, "n"), None).await;
            let number = answer.ok().map(|answer| answer.results[0].number.unwrap());
            let operation = self.operation((), began, number);
            self.records.counter.lock().unwrap().push(operation);
            return number.is_some();
        }
        let key = KEYS[self.chance(KEYS.len())];
        let fresh = self.records.values.fetch_add(1, Ordering::SeqCst) + 1;
        let (call, verb, if_revision) = match (self.chance(8), known.get(key)) {
            (0, _) => (Access::Delete, StateVerb::Delete, None),
            (1 | 2, _) => (Access::Put(fresh), StateVerb::Put, None),
            (3..=5, Some((from, revision))) => {
                (Access::Swap { from: *from, to: fresh }, StateVerb::Put, Some(*revision))
            }
            _ => (Access::Get, StateVerb::Get, None),
        };
        let mut op = of(verb, key);
        op.value = matches!(verb, StateVerb::Put).then(|| fresh.to_string());
        let seen = caller.call(op, if_revision).await.ok().map(|answer| {
            let result = answer.results.first();
            match &call {
                Access::Get => {
                    let entry = result.and_then(|result| result.entry.as_ref());
                    let value = entry.map(|e| e.value.as_ref().unwrap().parse().unwrap());
                    known.insert(key, (value, result.map_or(0, |result| result.revision)));
                    Seen::Value(value)
                }
                Access::Put(_) => Seen::Done,
                Access::Swap { .. } => Seen::Held(answer.held),
                Access::Delete => Seen::Held(result.unwrap().deleted.unwrap_or_default()),
            }
        });
        let is_there = seen.is_some();
        let operation = self.operation(call, began, seen);
        self.records.registers.lock().unwrap().entry(key).or_default().push(operation);
        is_there
    }

    async fn uses_locks(mut self) {
        self.config.retry = RetryPolicy::NONE;
        let client = Client::new(self.config.clone()).unwrap();
        let ids = Ids::system();
        while !self.is_over() {
            let lock = LOCKS[self.chance(LOCKS.len())];
            self.holds_once(&client, lock, ids.fresh()).await;
            tokio::task::yield_now().await;
        }
    }

    fn note(&self, lock: &'static str, call: Use, began: u64, got: Option<Got>) {
        let operation = self.operation(call, began, got);
        self.records.locks.lock().unwrap().entry(lock).or_default().push(operation);
    }

    /// Tries to have the lock, and says now and then that it is there; most release it, some are never heard of again.
    async fn holds_once(&mut self, client: &Client, lock: &'static str, id: LockHoldId) {
        let path =
            LockHoldPath { project: "default".to_owned(), lock: lock.parse().unwrap(), hold: id };
        let body =
            LockAcquireBody { slots: 1, ttl: TTL, wait: None, holder: LockHolder::default() };
        let mut heard = self.now();
        let got = client.call::<LockAcquire>(&path, &Nothing {}, &body).await.ok();
        let got = got.map(|got| match (got.outcome, got.hold) {
            (LockOutcome::Held, Some(hold)) => Got::Token(hold.token.unwrap()),
            _ => Got::No,
        });
        let (is_held, is_lost) = (matches!(got, Some(Got::Token(_))), got.is_none());
        self.note(lock, Use::Try(id), heard, got);
        if is_lost {
            return self.may_end(lock, id, heard);
        }
        if !is_held {
            return;
        }
        for _ in 0..self.chance(3) {
            let began = self.now();
            let got = client.call::<LockRenew>(&path, &Nothing {}, &LockRenewBody::default()).await;
            match judged(&got) {
                Some(Got::Yes) => heard = began,
                Some(_) => {
                    self.note(lock, Use::Renew(id), began, Some(Got::No));
                    return self.may_end(lock, id, heard);
                }
                None => {}
            }
            self.note(lock, Use::Renew(id), began, judged(&got));
        }
        if self.chance(8) == 0 {
            return self.may_end(lock, id, heard);
        }
        let began = self.now();
        let got = judged(&client.call::<LockRelease>(&path, &Nothing {}, &Nothing {}).await);
        let is_over = matches!(got, Some(Got::Yes));
        self.note(lock, Use::Release(id), began, got);
        if !is_over {
            self.may_end(lock, id, heard);
        }
    }

    fn may_end(&self, lock: &'static str, id: LockHoldId, heard: u64) {
        let began = heard + TTL.millis() * 1_000_000;
        let end = Operation { call: Use::End(id), began, ended: None };
        self.records.locks.lock().unwrap().entry(lock).or_default().push(end);
    }
}

fn judged<T>(answer: &Result<T, Error>) -> Option<Got> {
    match answer {
        Ok(_) => Some(Got::Yes),
        Err(Error::Problem(problem)) if matches!(problem.code, Code::NotFound | Code::Conflict) => {
            Some(Got::No)
        }
        Err(_) => None,
    }
}

impl Campaign {
    fn start(configs: &[ClientConfig]) -> Campaign {
        let (records, epoch) = (Arc::<Records>::default(), Instant::now());
        let threads = (0..2 * CLIENTS).map(|n| {
            let person = Person {
                config: configs[n % configs.len()].clone(),
                records: records.clone(),
                epoch,
                seed: 0x9e37_79b9_7f4a_7c15 ^ (n as u64 + 1),
            };
            std::thread::spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                if n < CLIENTS {
                    runtime.block_on(person.uses_state());
                } else {
                    runtime.block_on(person.uses_locks());
                }
            })
        });
        let threads = threads.collect();
        Campaign { records, threads }
    }

    fn wait(&self, more: u64) {
        let goal = self.records.answered.load(Ordering::SeqCst) + more;
        until("more is answered", || {
            (self.records.answered.load(Ordering::SeqCst) >= goal).then_some(())
        });
    }

    fn judge(self) {
        self.records.stop.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(self.records.lost.load(Ordering::SeqCst) > 0, "nothing was in the way");
        for (key, history) in &*self.records.registers.lock().unwrap() {
            check::<Register>(key, history);
        }
        check::<Counter>("n", &self.records.counter.lock().unwrap());
        for (lock, history) in &*self.records.locks.lock().unwrap() {
            assert!(history.iter().any(|o| matches!(o.ended, Some((_, Got::Token(_))))));
            check::<Lock>(lock, history);
        }
    }
}

fn check<M: Model>(key: &str, history: &History<M>)
where
    M::Call: std::fmt::Debug,
    M::Answer: std::fmt::Debug,
{
    if let Err(violation) = linearizable::<M>(history) {
        let stuck = &history[violation.stuck];
        let last = violation.ordered.iter().rev().take(20).rev().map(|n| &history[*n]);
        let last: Vec<String> = last.map(|operation| format!("{operation:?}")).collect();
        panic!("{key}: nothing explains {stuck:?} after\n{}", last.join("\n"));
    }
}

#[test]
fn every_answer_of_a_server_that_is_killed_again_and_again_fits_one_order() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "one", None);
    let cli = server.first_login(&rig);
    let campaign = Campaign::start(&[config(&server, &cli)]);
    for _ in 0..5 {
        campaign.wait(300);
        server.restart(&rig);
    }
    campaign.wait(300);
    campaign.judge();
}

#[test]
fn every_answer_of_two_servers_on_a_database_that_crashes_fits_one_order() {
    let rig = Rig::new();
    let Some(mut database) = Postgres::start(&rig) else { return };
    let mut one = Server::alone(&rig, "one", Some(&database.url));
    let cli = one.first_login(&rig);
    let mut two = Server::alone(&rig, "two", Some(&database.url));
    let second = two.login(&rig, &[]);
    let campaign = Campaign::start(&[config(&one, &cli), config(&two, &second)]);
    for _ in 0..2 {
        campaign.wait(300);
        one.restart(&rig);
        campaign.wait(300);
        database.crash();
        campaign.wait(300);
        two.restart(&rig);
    }
    campaign.wait(300);
    campaign.judge();
}
