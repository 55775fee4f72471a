//! Budgets: how often an address or a principal may ask.
//!
//! Each key has a bucket that holds `burst` tokens and refills at a steady rate; a request takes one.
//! Buckets live in memory of this process and are forgotten on a restart: they slow guessing and
//! floods down, they are not a record. The number of buckets is bounded; when it is reached, those
//! that are full again (and so say nothing) are dropped, and if none is, the newcomer is refused
//! rather than memory spent.
//!
//! Besides how often, there is a limit on how much of one principal is worked on at once, and on how long
//! a body may take to arrive.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hostler_model::{Error, PrincipalId};

use super::error::rate_limited;

const KEYS_MAX: usize = 50_000;

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
}

/// Buckets by key.
pub struct Buckets<K> {
    rate: Rate,
    held: Mutex<HashMap<K, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    time: Duration,
}

impl Bucket {
    fn refilled(self, rate: Rate, now: Duration) -> f64 {
        let gained = now.saturating_sub(self.time).as_secs_f64() * rate.per_second;
        (self.tokens + gained).min(rate.burst)
    }
}

impl<K: Hash + Eq> Buckets<K> {
    pub fn new(rate: Rate) -> Buckets<K> {
        Buckets { rate, held: Mutex::new(HashMap::new()) }
    }

    /// Takes one token; the error says how long to wait for the next.
    pub fn take(&self, key: K, now: Duration) -> Result<(), Duration> {
        self.change(key, now, 1.0)
    }

    fn change(&self, key: K, now: Duration, cost: f64) -> Result<(), Duration> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= KEYS_MAX && !held.contains_key(&key) {
            let rate = self.rate;
            held.retain(|_, bucket| bucket.refilled(rate, now) < rate.burst);
            if held.len() >= KEYS_MAX {
                return Err(self.wait_for(1.0));
            }
        }
        let bucket = held.entry(key).or_insert(Bucket { tokens: self.rate.burst, time: now });
        let tokens = bucket.refilled(self.rate, now);
        let is_enough = tokens >= 1.0;
        *bucket = Bucket { tokens: if is_enough { tokens - cost } else { tokens }, time: now };
        if is_enough { Ok(()) } else { Err(self.wait_for(1.0 - tokens)) }
    }

    fn wait_for(&self, tokens: f64) -> Duration {
        Duration::try_from_secs_f64(tokens / self.rate.per_second)
            .unwrap_or(Duration::from_secs(60))
            .min(Duration::from_secs(3600))
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
    pub fn new(rates: Rates) -> Limits {
        Limits {
            login_source: Buckets::new(rates.login_source),
            join_source: Buckets::new(rates.join_source),
            probe_source: Buckets::new(rates.probe_source),
            principal: Buckets::new(rates.principal),
            source: Buckets::new(rates.source),
            busy: Arc::default(),
            at_once: rates.at_once,
            body_time: rates.body_time,
        }
    }

    pub(crate) fn public(
        &self,
        which: Public,
        source: Option<IpAddr>,
        now: Duration,
    ) -> Result<(), Error> {
        let source = network(source.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
        let buckets = match which {
            Public::Login => &self.login_source,
            Public::Join => &self.join_source,
            Public::Probe => &self.probe_source,
        };
        buckets.take(source, now).map_err(rate_limited)
    }

    /// Before a credential is looked at.
    pub(crate) fn source(&self, source: Option<IpAddr>, now: Duration) -> Result<(), Error> {
        let source = network(source.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
        self.source.take(source, now).map_err(rate_limited)
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

    pub(crate) fn principal(&self, id: PrincipalId, now: Duration) -> Result<(), Error> {
        self.principal.take(id, now).map_err(rate_limited)
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
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_then_its_rate() {
        let buckets = Buckets::new(Rate::new(3.0, 1.0));
        let at = Duration::from_secs;
        for _ in 0..3 {
            assert!(buckets.take("a", at(10)).is_ok());
        }
        assert_eq!(buckets.take("a", at(10)), Err(Duration::from_secs(1)));
        assert!(buckets.take("b", at(10)).is_ok());
        assert!(buckets.take("a", at(11)).is_ok());
        assert!(buckets.take("a", at(11)).is_err());
        for _ in 0..3 {
            assert!(buckets.take("a", at(1000)).is_ok());
        }
        assert!(buckets.take("a", at(1000)).is_err());
    }

    #[test]
    fn so_many_of_one_principal_are_worked_on_at_once() {
        let limits = Limits::new(Rates { at_once: 2, ..Rates::default() });
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
        let buckets = Buckets::new(Rate::new(2.0, 1.0));
        for key in 0..KEYS_MAX {
            assert!(buckets.take(key, Duration::ZERO).is_ok());
        }
        assert!(buckets.take(KEYS_MAX, Duration::ZERO).is_err());
        assert!(buckets.take(KEYS_MAX, Duration::from_secs(5)).is_ok());
        assert_eq!(buckets.held.lock().unwrap().len(), 1);
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
