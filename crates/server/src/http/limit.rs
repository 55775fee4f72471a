//! Budgets: how often an address, an account or a principal may ask.
//!
//! Each key has a bucket that holds `burst` tokens and refills at a steady rate; a request takes one.
//! Buckets live in memory of this process and are forgotten on a restart: they slow guessing and
//! floods down, they are not a record. The number of buckets is bounded; when it is reached, those
//! that are full again (and so say nothing) are dropped, and if none is, the newcomer is refused
//! rather than memory spent.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
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

    /// Asks whether a token is there without taking it.
    pub fn look(&self, key: K, now: Duration) -> Result<(), Duration> {
        self.change(key, now, 0.0)
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
    /// Failed logins to one account, wherever they come from.
    pub login_account: Rate,
    /// Joins of one address: a rack behind one gateway joins at once.
    pub join_source: Rate,
    /// Questions of one address that need no login but do need the database.
    pub probe_source: Rate,
    /// All requests of one principal.
    pub principal: Rate,
}

impl Default for Rates {
    fn default() -> Rates {
        Rates {
            login_source: Rate::new(30.0, 0.5),
            login_account: Rate::new(10.0, 0.1),
            join_source: Rate::new(2000.0, 100.0),
            probe_source: Rate::new(1000.0, 200.0),
            principal: Rate::new(4000.0, 2000.0),
        }
    }
}

/// All budgets of a server.
pub struct Limits {
    login_source: Buckets<IpAddr>,
    login_account: Buckets<String>,
    join_source: Buckets<IpAddr>,
    probe_source: Buckets<IpAddr>,
    principal: Buckets<PrincipalId>,
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
            login_account: Buckets::new(rates.login_account),
            join_source: Buckets::new(rates.join_source),
            probe_source: Buckets::new(rates.probe_source),
            principal: Buckets::new(rates.principal),
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

    /// Before a password is checked: whether the account has failures left.
    pub(crate) fn account_check(&self, account: &str, now: Duration) -> Result<(), Error> {
        self.login_account.look(account_key(account), now).map_err(rate_limited)
    }

    /// After a password was wrong.
    pub(crate) fn account_failed(&self, account: &str, now: Duration) {
        let _ = self.login_account.take(account_key(account), now);
    }

    pub(crate) fn principal(&self, id: PrincipalId, now: Duration) -> Result<(), Error> {
        self.principal.take(id, now).map_err(rate_limited)
    }
}

fn account_key(account: &str) -> String {
    account.chars().take(64).collect()
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
        assert!(buckets.look("a", at(12)).is_ok());
        assert!(buckets.look("a", at(12)).is_ok());
        for _ in 0..3 {
            assert!(buckets.take("a", at(1000)).is_ok());
        }
        assert!(buckets.take("a", at(1000)).is_err());
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
