//! Tables, and what holds for every story. The judge keeps the rows itself and counts for itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hostler_model::{LOCK_WAITER_TTL, LockId, LockSighting, ProjectId};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);
const TTL: Span = Span::from_secs(30);

fn hold_id(n: u128) -> LockHoldId {
    LockHoldId::from_uuid(Uuid::from_u128(n))
}

fn principal(n: u128) -> PrincipalId {
    PrincipalId::from_uuid(Uuid::from_u128(1000 + n))
}

fn fresh() -> Lock {
    let id = LockId::from_uuid(Uuid::from_u128(7));
    let project = ProjectId::from_uuid(Uuid::from_u128(8));
    Lock::fresh(id, project, "deploy".parse().unwrap(), 40, NOW)
}

fn ask(n: u128, slots: u32) -> Ask {
    Ask {
        id: hold_id(n),
        principal_id: principal(n),
        by: format!("p{n}"),
        holder: LockHolder::default(),
        slots,
        ttl: TTL,
        can_wait: true,
    }
}

/// The rows of one lock, as a database would keep them.
#[derive(Clone, Debug)]
struct House {
    lock: Lock,
    holds: BTreeMap<LockHoldId, LockHold>,
    /// Ids in the order in which they were granted, with their tokens.
    grants: Vec<(LockHoldId, u64)>,
}

impl House {
    fn new() -> House {
        House { lock: fresh(), holds: BTreeMap::new(), grants: Vec::new() }
    }

    fn keep<T>(&mut self, decision: Decision<T>) -> T {
        if let Some(lock) = decision.lock {
            assert_eq!(lock.generation, self.lock.generation.next());
            self.lock = lock;
        }
        for change in decision.changes {
            let after = match change {
                Change::Insert(hold) => {
                    assert!(self.holds.insert(hold.id, hold.clone()).is_none(), "inserted twice");
                    hold
                }
                Change::Update(hold, expected) => {
                    let before = self.holds.insert(hold.id, hold.clone()).unwrap();
                    assert_eq!(before.generation, expected);
                    assert_eq!(hold.generation, expected.next());
                    if before.is_held() {
                        continue;
                    }
                    hold
                }
                Change::Delete(id) => {
                    assert!(self.holds.remove(&id).is_some(), "deleted twice");
                    continue;
                }
            };
            if let Some(token) = after.token {
                self.grants.push((after.id, token));
            }
        }
        decision.answer
    }

    fn acquire(&mut self, ask: &Ask) -> Result<LockOutcome, Refusal> {
        let own = self.holds.get(&ask.id).cloned();
        let decision = acquire(&self.lock, own.as_ref(), ask, NOW)?;
        Ok(self.keep(decision).0)
    }

    fn renew(&mut self, id: LockHoldId) -> bool {
        let Some(hold) = self.holds.get_mut(&id).filter(|hold| hold.is_held()) else {
            return false;
        };
        hold.generation = hold.generation.next();
        hold.is_taken = true;
        true
    }

    fn free(&mut self, gone: &[LockHold], going: &Going) -> Vec<Freed> {
        let is_gone = |id| gone.iter().any(|hold| hold.id == id);
        let mut next: Vec<LockHold> = self.holds.values().cloned().collect();
        next.retain(|hold| !hold.is_held() && !is_gone(hold.id));
        next.sort_by_key(|hold| hold.place);
        next.truncate(gone.len());
        let decision = free(&self.lock, gone, &next, going, NOW);
        self.keep(decision)
    }

    fn leave(&mut self, id: LockHoldId) -> Option<Freed> {
        let hold = self.holds.get(&id)?.clone();
        self.free(&[hold], &Going::Left).pop()
    }

    fn holders(&self) -> Vec<u64> {
        self.holds.values().filter_map(|hold| hold.token).collect()
    }

    fn sightings(&self) -> Vec<LockSighting> {
        let one =
            |h: &LockHold| LockSighting::new(h.id, h.generation, h.is_held(), h.is_taken, h.ttl);
        self.holds.values().map(one).collect()
    }

    fn look(&self, watch: &mut Watch, at: Duration) -> Vec<LockHoldId> {
        watch.look(at, &self.sightings()).into_iter().map(|silent| silent.id).collect()
    }
}

#[test]
fn a_mutex_goes_from_hand_to_hand_in_the_order_of_arrival() {
    let mut house = House::new();
    assert_eq!(house.acquire(&ask(1, 1)), Ok(LockOutcome::Held));
    assert_eq!(house.acquire(&ask(2, 1)), Ok(LockOutcome::Waiting));
    assert_eq!(house.acquire(&ask(3, 1)), Ok(LockOutcome::Waiting));
    let trying = Ask { can_wait: false, ..ask(4, 1) };
    assert_eq!(house.acquire(&trying), Ok(LockOutcome::Busy));
    let freed = house.leave(hold_id(1)).unwrap();
    assert_eq!(freed.past.unwrap().token, 41);
    assert_eq!(
        freed.granted.iter().map(|h| (h.id, h.token)).collect::<Vec<_>>(),
        [(hold_id(2), Some(42))]
    );
    assert_eq!(house.acquire(&ask(2, 1)), Ok(LockOutcome::Held), "it finds what it was given");
    house.leave(hold_id(2)).unwrap();
    house.leave(hold_id(3)).unwrap();
    assert!(house.lock.is_idle());
    let past: Vec<_> = house.lock.past.iter().map(|past| past.token).collect();
    assert_eq!(past, [43, 42, 41]);
}

#[test]
fn asking_again_keeps_what_one_has_and_is_being_heard_of() {
    let mut house = House::new();
    house.acquire(&ask(1, 1)).unwrap();
    house.acquire(&ask(2, 1)).unwrap();
    for n in [1, 2] {
        let before = house.holds[&hold_id(n)].clone();
        house.acquire(&Ask { ttl: Span::from_secs(5), ..ask(n, 1) }).unwrap();
        let after = &house.holds[&hold_id(n)];
        assert_eq!((after.place, after.token), (before.place, before.token));
        assert_eq!(after.ttl, Span::from_secs(5));
        assert!(after.generation > before.generation);
    }
    assert_eq!((house.lock.held, house.lock.waiting), (1, 1));
}

#[test]
fn what_cannot_be_is_refused() {
    let mut house = House::new();
    house.acquire(&ask(1, 2)).unwrap();
    assert_eq!(house.acquire(&ask(2, 3)), Err(Refusal::OtherSlots(2)));
    let stolen = Ask { principal_id: principal(9), ..ask(1, 2) };
    assert_eq!(house.acquire(&stolen), Err(Refusal::NotYours));
    house.leave(hold_id(1)).unwrap();
    assert_eq!(house.acquire(&stolen), Err(Refusal::NotYours));
    let again = house.acquire(&ask(1, 2)).unwrap_err();
    assert!(matches!(again, Refusal::Over(past) if past.end == LockEnd::Released));
    assert_eq!(house.acquire(&ask(3, 5)), Ok(LockOutcome::Held), "slots are free when it is idle");
    let full = Lock { waiting: LOCK_WAITERS_MAX, held: 5, ..house.lock.clone() };
    assert_eq!(acquire(&full, None, &ask(4, 5), NOW).unwrap_err(), Refusal::QueueFull);
}

#[test]
fn what_was_taken_away_says_by_whom_and_why() {
    let mut house = House::new();
    for n in 1..=4 {
        house.acquire(&ask(n, 2)).unwrap();
    }
    let forced = LockForced { by: "ada".into(), reason: "stuck".into() };
    let held: Vec<_> = house.holds.values().filter(|h| h.is_held()).cloned().collect();
    let freed = house.free(&held, &Going::Forced(forced.clone()));
    assert_eq!(freed.iter().map(|f| f.granted.len()).sum::<usize>(), 2);
    assert!(house.lock.past.iter().all(|past| past.forced.as_ref() == Some(&forced)));
    assert_eq!(house.holders(), [43, 44]);
}

#[test]
fn the_past_is_bounded() {
    let mut house = House::new();
    for n in 1..=50 {
        house.acquire(&ask(n, 1)).unwrap();
        house.leave(hold_id(n)).unwrap();
    }
    assert_eq!(house.lock.past.len(), LOCK_PAST_MAX);
    assert_eq!(house.lock.past[0].token, 90);
}

const S: Duration = Duration::from_secs(1);

#[test]
fn silence_is_counted_from_the_first_look_and_not_through_an_absence() {
    let mut house = House::new();
    house.acquire(&ask(1, 1)).unwrap();
    let mut watch = Watch::default();
    for second in 100..130 {
        assert_eq!(house.look(&mut watch, S * second), [], "{second}");
    }
    assert_eq!(watch.due_in(S * 129, &house.sightings()), Some(S));
    assert_eq!(house.look(&mut watch, S * 130), [hold_id(1)]);
    assert_eq!(house.look(&mut watch, S * 131), [hold_id(1)], "until somebody ends it");

    let mut watch = Watch::default();
    house.look(&mut watch, S * 200);
    assert_eq!(house.look(&mut watch, S * 260), [], "nobody looked for a minute");
    for second in 261..290 {
        assert_eq!(house.look(&mut watch, S * second), []);
    }
    assert_eq!(house.look(&mut watch, S * 290), [hold_id(1)]);
}

#[test]
fn who_was_granted_a_lock_and_never_asks_for_it_blocks_no_longer_than_in_the_queue() {
    let mut house = House::new();
    let day = Span::from_secs(86_400);
    house.acquire(&ask(1, 1)).unwrap();
    house.acquire(&Ask { ttl: day, ..ask(2, 1) }).unwrap();
    house.leave(hold_id(1)).unwrap();
    assert_eq!(house.sightings()[0].patience, LOCK_WAITER_TTL);
    house.acquire(&Ask { ttl: day, ..ask(2, 1) }).unwrap();
    assert_eq!(house.sightings()[0].patience, day);
}

/// One thing that happens in a story.
#[derive(Clone, Debug)]
enum Deed {
    Ask {
        who: u128,
        can_wait: bool,
    },
    Renew {
        who: u128,
    },
    Leave {
        who: u128,
    },
    Force,
    /// Time passes for everybody, and one of the servers looks.
    Pass {
        millis: u64,
        server: usize,
    },
    /// A server is started anew.
    Restart {
        server: usize,
    },
}

const PEOPLE: u128 = 8;
const SERVERS: usize = 2;

fn any_deed() -> impl Strategy<Value = Deed> {
    let who = 1..=PEOPLE;
    prop_oneof![
        4 => (who.clone(), any::<bool>()).prop_map(|(who, can_wait)| Deed::Ask { who, can_wait }),
        3 => who.clone().prop_map(|who| Deed::Renew { who }),
        2 => who.prop_map(|who| Deed::Leave { who }),
        1 => Just(Deed::Force),
        6 => (0..4000u64, 0..SERVERS).prop_map(|(millis, server)| Deed::Pass { millis, server }),
        1 => (0..SERVERS).prop_map(|server| Deed::Restart { server }),
    ]
}

/// What the judge knows of everybody.
#[derive(Default)]
struct Judge {
    /// Everybody who waits, in the order in which they came.
    queue: Vec<LockHoldId>,
    /// When each was heard of last, by the true clock.
    heard: BTreeMap<LockHoldId, Duration>,
    tokens: BTreeSet<u64>,
    granted: usize,
}

impl Judge {
    fn check(&mut self, house: &House, now: Duration) -> Result<(), TestCaseError> {
        let held = house.holds.values().filter(|h| h.is_held()).count();
        let waiting = house.holds.len() - held;
        prop_assert_eq!((house.lock.held as usize, house.lock.waiting as usize), (held, waiting));
        prop_assert!(held <= house.lock.slots as usize, "more holders than slots");
        prop_assert!(waiting == 0 || held == house.lock.slots as usize, "a slot is left unused");
        for (id, token) in &house.grants[self.granted..] {
            prop_assert!(self.tokens.last().is_none_or(|last| last < token), "a token went back");
            self.tokens.insert(*token);
            if let Some(at) = self.queue.iter().position(|waiter| waiter == id) {
                prop_assert_eq!(at, 0, "somebody came earlier and still waits");
                self.queue.remove(0);
            } else {
                prop_assert!(self.queue.is_empty(), "somebody overtook those who wait");
            }
            self.heard.insert(*id, now);
        }
        self.granted = house.grants.len();
        self.queue.retain(|id| house.holds.contains_key(id));
        for hold in house.holds.values().filter(|hold| !hold.is_held()) {
            if !self.queue.contains(&hold.id) {
                self.queue.push(hold.id);
            }
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn every_story_keeps_the_promises(
        slots in 1..=3u32,
        deeds in proptest::collection::vec(any_deed(), 1..120),
    ) {
        let mut house = House::new();
        let mut judge = Judge::default();
        let mut now = S * 1000;
        let mut watches: [Watch; SERVERS] = Default::default();
        let mut round = 0;
        let mut ids: BTreeMap<u128, u128> = BTreeMap::new();
        for deed in deeds {
            match deed {
                Deed::Ask { who, can_wait } => {
                    // Who is over asks anew, under another id.
                    let current = ids.get(&who).copied();
                    let id = match current.filter(|n| house.holds.contains_key(&hold_id(*n))) {
                        Some(id) => id,
                        None => { round += 1; who + 100 * round }
                    };
                    ids.insert(who, id);
                    let ask = Ask { can_wait, principal_id: principal(who), ..ask(id, slots) };
                    let outcome = house.acquire(&ask).unwrap();
                    if outcome != LockOutcome::Busy {
                        judge.heard.insert(hold_id(id), now);
                    }
                }
                Deed::Renew { who } => {
                    let id = hold_id(ids.get(&who).copied().unwrap_or_default());
                    if house.renew(id) {
                        judge.heard.insert(id, now);
                    }
                }
                Deed::Leave { who } => {
                    house.leave(hold_id(ids.get(&who).copied().unwrap_or_default()));
                }
                Deed::Force => {
                    let held: Vec<_> = house.holds.values().filter(|h| h.is_held()).cloned().collect();
                    if !held.is_empty() {
                        let forced = LockForced { by: "x".into(), reason: "y".into() };
                        house.free(&held, &Going::Forced(forced));
                    }
                }
                Deed::Pass { millis, server } => {
                    now += Duration::from_millis(millis);
                    for id in house.look(&mut watches[server], now) {
                        let hold = house.holds[&id].clone();
                        let silent = now - judge.heard[&id];
                        prop_assert!(silent >= hold.patience().duration(), "ended early: {silent:?}");
                        house.free(&[hold], &Going::Silent);
                        judge.check(&house, now)?;
                    }
                }
                Deed::Restart { server } => watches[server] = Watch::default(),
            }
            judge.check(&house, now)?;
        }
    }

    /// However often others look, come and go: who renews in time keeps what it has, and who dies is gone
    /// within its patience and one period of a server that watches.
    #[test]
    fn who_renews_in_time_keeps_it_and_who_dies_is_gone_in_time(
        period in 50..1000u64,
        renew_every in 100..29_000u64,
        renewals in 0..20u32,
    ) {
        let mut house = House::new();
        house.acquire(&ask(1, 1)).unwrap();
        let mut watch = Watch::default();
        let (mut now, mut renewed, mut left) = (Duration::ZERO, Duration::ZERO, renewals);
        loop {
            now += Duration::from_millis(period);
            while left > 0 && now >= renewed + Duration::from_millis(renew_every) {
                renewed += Duration::from_millis(renew_every);
                left -= 1;
                prop_assert!(house.renew(hold_id(1)));
            }
            if !house.look(&mut watch, now).is_empty() {
                break;
            }
        }
        prop_assert_eq!(left, 0, "it was ended although it renewed in time");
        let silent = now - renewed;
        let bound = TTL.duration() + 2 * Duration::from_millis(period);
        prop_assert!(silent >= TTL.duration() && silent <= bound, "{silent:?} of {bound:?}");
    }
}
