//! Budgets: how often an address or a principal may ask.
//!
//! Each key has a bucket that holds `burst` tokens and refills at a steady rate; a request takes one.
//! The counting is `governor`'s, by the clock of the server. Buckets live in memory of this process and
//! are forgotten on a restart: they slow guessing and floods down, they are not a record. The number of
//! buckets is bounded; when it is reached, those that are full again (and so say nothing) are dropped,
//! and if none is, the newcomer is refused rather than memory spent. Who has a bucket is never refused
//! for that.
//!
//! Besides how often, there is a limit on how much of one principal is worked on at once, and on how long
//! a body may take to arrive.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::{HashMapStateStore, ShrinkableKeyedStateStore};
use governor::{Quota, RateLimiter};
use hostler_base::Clock;
use hostler_model::{Error, PrincipalId};

use super::error::rate_limited;

const KEYS_MAX: usize = 50_000;
/// How often at most buckets are looked through for those that are full again.
const TIDY_EVERY: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(3600);

/// A budget: so many at once, so many a second afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub burst: f64,
    pub per_second: f64,
}

impl Rate {
    pub const fn new(burst: f64, per_second: f64) -> Rate {
        Rate { burst, per_second }
    }

    /// How long one token takes to come back.
    fn interval(self) -> Duration {
        Duration::try_from_secs_f64(1.0 / self.per_second)
            .unwrap_or(WAIT_MAX)
            .clamp(Duration::from_nanos(1), WAIT_MAX)
    }

    fn quota(self) -> Quota {
        let interval = self.interval();
        // Filling a bucket has to take less time than fits into the nanoseconds it is counted in.
        let most = u128::from(u64::MAX / 4) / interval.as_nanos();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a conversion from floating point saturates"
        )]
        let burst = u128::from(self.burst as u32).min(most);
        let burst = u32::try_from(burst).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        Quota::with_period(interval).unwrap_or_else(|| Quota::per_second(burst)).allow_burst(burst)
    }
}

/// The server's clock, as the limiter asks it.
struct Beat(Clock);

impl governor::clock::Clock for Beat {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.instant()
    }
}

/// The limiter's store, which it keeps to itself, shared: to see who has a bucket already.
struct Held<K>(Arc<HashMapStateStore<K>>);

impl<K: Hash + Eq + Clone> StateStore for Held<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        self.0.measure_and_replace(key, f)
    }
}

impl<K: Hash + Eq + Clone> ShrinkableKeyedStateStore<K> for Held<K> {
    fn retain_recent(&self, drop_below: Nanos) {
        self.0.retain_recent(drop_below);
    }

    fn len(&self) -> usize {
        self.0.lock().len()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

/// Buckets by key.
pub struct Buckets<K: Hash + Eq + Clone> {
    interval: Duration,
    limiter: RateLimiter<K, Held<K>, Beat, NoOpMiddleware<Duration>>,
    held: Arc<HashMapStateStore<K>>,
    /// The door for newcomers, one at a time, so that their number is exact: when it was tidied last.
    tidied: Mutex<Duration>,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    pub fn new(rate: Rate, clock: Clock) -> Buckets<K> {
        let held = Arc::new(HashMapStateStore::new(HashMap::default()));
        Buckets {
            interval: rate.interval(),
            limiter: RateLimiter::new(rate.quota(), Held(Arc::clone(&held)), Beat(clock)),
            held,
            tidied: Mutex::new(Duration::ZERO),
        }
    }

    /// Takes one token; the error says how long to wait for the next.
    pub fn take(&self, key: &K) -> Result<(), Duration> {
        if self.held.lock().contains_key(key) {
            return self.check(key);
        }
        let mut tidied = self.tidied.lock().unwrap_or_else(PoisonError::into_inner);
        if self.limiter.len() >= KEYS_MAX {
            let now = self.limiter.clock().0.instant();
            if now.saturating_sub(*tidied) >= TIDY_EVERY {
                *tidied = now;
                self.limiter.retain_recent();
            }
            if self.limiter.len() >= KEYS_MAX {
                return Err(self.interval);
            }
        }
        self.check(key)
    }

    fn check(&self, key: &K) -> Result<(), Duration> {
        self.limiter
            .check_key(key)
            .map_err(|refused| refused.wait_time_from(self.limiter.clock().0.instant()))
    }
}

/// What each budget allows.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Logins and setups of one address.
    pub login_source: Rate,
    /// Joins of one address: a rack behind one gateway joins at once.
    pub join_source: Rate,
    /// Questions of one address that need no login but do need the database.
    pub probe_source: Rate,
    /// All requests of one principal.
    pub principal: Rate,
    /// All requests of one address that come with a credential, right or wrong.
    pub source: Rate,
    /// Requests of one principal that are worked on at once.
    pub at_once: usize,
    /// How long the body of a request may take to arrive.
    pub body_time: Duration,
}

impl Default for Rates {
    fn default() -> Rates {
        Rates {
            login_source: Rate::new(30.0, 0.5),
            join_source: Rate::new(2000.0, 100.0),
            probe_source: Rate::new(1000.0, 200.0),
            principal: Rate::new(4000.0, 2000.0),
            source: Rate::new(20_000.0, 10_000.0),
            at_once: 512,
            body_time: Duration::from_secs(30),
        }
    }
}

/// All budgets of a server.
pub struct Limits {
    login_source: Buckets<IpAddr>,
    join_source: Buckets<IpAddr>,
    probe_source: Buckets<IpAddr>,
    principal: Buckets<PrincipalId>,
    source: Buckets<IpAddr>,
    busy: Arc<Mutex<HashMap<PrincipalId, usize>>>,
    at_once: usize,
    body_time: Duration,
}

/// A request that is worked on, counted for its principal until it is dropped.
pub(crate) struct Busy {
    all: Arc<Mutex<HashMap<PrincipalId, usize>>>,
    principal: PrincipalId,
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.principal) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.principal);
            }
        }
    }
}

/// Which budget an unauthenticated endpoint draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Public {
    Login,
    Join,
    Probe,
}

impl Limits {
    pub fn new(rates: Rates, clock: &Clock) -> Limits {
        Limits {
            login_source: Buckets::new(rates.login_source, clock.clone()),
            join_source: Buckets::new(rates.join_source, clock.clone()),
            probe_source: Buckets::new(rates.probe_source, clock.clone()),
            principal: Buckets::new(rates.principal, clock.clone()),
            source: Buckets::new(rates.source, clock.clone()),
            busy: Arc::default(),
            at_once: rates.at_once,
            body_time: rates.body_time,
        }
    }

    pub(crate) fn public(&self, which: Public, source: Option<IpAddr>) -> Result<(), Error> {
        let source = network(source.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
        let buckets = match which {
            Public::Login => &self.login_source,
            Public::Join => &self.join_source,
            Public::Probe => &self.probe_source,
        };
        buckets.take(&source).map_err(rate_limited)
    }

    /// Before a credential is looked at.
    pub(crate) fn source(&self, source: Option<IpAddr>) -> Result<(), Error> {
        let source = network(source.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
        self.source.take(&source).map_err(rate_limited)
    }

    /// Counts a request of a principal for as long as the result lives.
    pub(crate) fn begin(&self, principal: PrincipalId) -> Result<Busy, Error> {
        let mut all = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(principal).or_default();
        if *count >= self.at_once {
            return Err(rate_limited(Duration::from_secs(1)));
        }
        *count += 1;
        Ok(Busy { all: Arc::clone(&self.busy), principal })
    }

    pub(crate) fn body_time(&self) -> Duration {
        self.body_time
    }

    pub(crate) fn principal(&self, id: PrincipalId) -> Result<(), Error> {
        self.principal.take(&id).map_err(rate_limited)
    }
}

/// One customer's worth of addresses: an IPv4 address, or the /64 of an IPv6 one.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(four) => IpAddr::V4(four),
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use hostler_base::ManualClock;
    use hostler_model::Timestamp;

    use super::*;

    fn buckets<K: Hash + Eq + Clone>(rate: Rate) -> (Buckets<K>, ManualClock) {
        let hands = ManualClock::new(Timestamp::EPOCH);
        (Buckets::new(rate, hands.clock()), hands)
    }

    #[test]
    fn a_bucket_gives_its_burst_then_its_rate() {
        let (buckets, hands) = buckets(Rate::new(3.0, 1.0));
        for _ in 0..3 {
            assert!(buckets.take(&"a").is_ok());
        }
        assert_eq!(buckets.take(&"a"), Err(Duration::from_secs(1)));
        assert!(buckets.take(&"b").is_ok());
        hands.advance(Duration::from_secs(1));
        assert!(buckets.take(&"a").is_ok());
        hands.advance(Duration::from_millis(250));
        assert_eq!(buckets.take(&"a"), Err(Duration::from_millis(750)));
        hands.advance(Duration::from_secs(1000));
        for _ in 0..3 {
            assert!(buckets.take(&"a").is_ok());
        }
        assert!(buckets.take(&"a").is_err());
    }

    #[test]
    fn rates_far_out_are_counted_too() {
        let (fast, _) = buckets(Rate::new(1e12, 1e12));
        let (slow, hands) = buckets(Rate::new(1e12, 0.0));
        assert!(fast.take(&"a").is_ok() && slow.take(&"a").is_ok());
        let (once, _) = buckets(Rate::new(0.5, 0.0));
        assert!(once.take(&"a").is_ok());
        assert_eq!(once.take(&"a"), Err(WAIT_MAX));
        hands.advance(Duration::from_secs(1_000_000_000));
        assert!(slow.take(&"a").is_ok());
    }

    #[test]
    fn so_many_of_one_principal_are_worked_on_at_once() {
        let limits = Limits::new(Rates { at_once: 2, ..Rates::default() }, &Clock::system());
        let id = |n| PrincipalId::from_uuid(uuid::Uuid::from_u128(n));
        let (one, two) = (limits.begin(id(1)).unwrap(), limits.begin(id(1)).unwrap());
        assert!(limits.begin(id(1)).is_err());
        assert!(limits.begin(id(2)).is_ok());
        drop(one);
        let three = limits.begin(id(1)).unwrap();
        assert!(limits.begin(id(1)).is_err());
        drop((two, three));
        assert!(limits.busy.lock().unwrap().is_empty());
    }

    #[test]
    fn the_number_of_buckets_is_bounded() {
        let (buckets, hands) = buckets(Rate::new(2.0, 1.0));
        for key in 0..KEYS_MAX {
            assert!(buckets.take(&key).is_ok());
        }
        assert_eq!(buckets.take(&KEYS_MAX), Err(Duration::from_secs(1)));
        assert!(buckets.take(&0).is_ok(), "who has a bucket is let in");
        assert!(buckets.take(&0).is_err());
        assert_eq!(buckets.limiter.len(), KEYS_MAX);
        hands.advance(Duration::from_secs(5));
        assert!(buckets.take(&KEYS_MAX).is_ok());
        assert_eq!(buckets.limiter.len(), 1);
    }

    #[test]
    fn neighbours_in_a_v6_network_share_a_budget() {
        let one: IpAddr = "2001:db8:1:2::1".parse().unwrap();
        let two: IpAddr = "2001:db8:1:2:ffff::9".parse().unwrap();
        let other: IpAddr = "2001:db8:1:3::1".parse().unwrap();
        assert_eq!(network(one), network(two));
        assert_ne!(network(one), network(other));
        assert_eq!(
            network("::ffff:10.0.0.1".parse().unwrap()),
            "10.0.0.1".parse::<IpAddr>().unwrap()
        );
    }
}
