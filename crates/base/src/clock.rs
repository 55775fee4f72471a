//! Time, as something passed in.
//!
//! Every part that needs the time holds a [`Clock`]. In production it reads the machine's clocks; in
//! tests a [`ManualClock`] moves only when told to, so that "nine hours later" takes microseconds and
//! no test waits for real time.
//!
//! There are two kinds of time and they are not mixed. [`Clock::now`] is the wall clock: it may jump
//! either way and is only for records that people read and for cron. [`Clock::instant`] is
//! `CLOCK_BOOTTIME`: it never goes back, counts while the machine is suspended, and is comparable
//! between processes of the same boot (store it together with the boot id).

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use hostler_model::Timestamp;
use tokio::sync::{Notify, oneshot};

/// The source of time; cheap to clone.
#[derive(Clone)]
pub struct Clock(Kind);

#[derive(Clone)]
enum Kind {
    System,
    Shifted(Arc<AtomicI64>),
    Manual(ManualClock),
}

/// The time allowed for something ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer within {} ms", .0.as_millis())]
pub struct Elapsed(pub Duration);

impl Clock {
    /// The machine's clocks.
    pub fn system() -> Clock {
        Clock(Kind::System)
    }

    /// The machine's clocks, but for a wall clock that is wrong by so many microseconds, which may
    /// change at any time: for tests of what happens when somebody sets the clock.
    pub fn shifted(micros: Arc<AtomicI64>) -> Clock {
        Clock(Kind::Shifted(micros))
    }

    /// The wall clock.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::System => wall(),
            Kind::Shifted(by) => {
                let by = by.load(Ordering::Relaxed);
                Timestamp::from_micros(wall().micros().saturating_add(by))
            }
            Kind::Manual(manual) => manual.hands().wall,
        }
    }

    /// Time since the machine booted, suspension included; never goes back.
    pub fn instant(&self) -> Duration {
        match &self.0 {
            Kind::System | Kind::Shifted(_) => since_boot(),
            Kind::Manual(manual) => manual.hands().elapsed,
        }
    }

    /// Resolves after `length`. The wait is counted from this call, not from the first poll.
    pub fn sleep(&self, length: Duration) -> impl Future<Output = ()> + Send + use<> {
        enum Wait {
            System(tokio::time::Sleep),
            Manual(Option<oneshot::Receiver<()>>),
        }
        let wait = match &self.0 {
            Kind::System | Kind::Shifted(_) => Wait::System(tokio::time::sleep(length)),
            Kind::Manual(manual) => Wait::Manual(manual.sleeper(length)),
        };
        async move {
            match wait {
                Wait::System(sleep) => sleep.await,
                Wait::Manual(None) => {}
                Wait::Manual(Some(woken)) => {
                    if woken.await.is_err() {
                        std::future::pending::<()>().await;
                    }
                }
            }
        }
    }

    /// Runs `future` for at most `length`; it is dropped when the time is over.
    pub async fn timeout<F: Future>(
        &self,
        length: Duration,
        future: F,
    ) -> Result<F::Output, Elapsed> {
        let sleep = self.sleep(length);
        tokio::select! {
            biased;
            output = future => Ok(output),
            () = sleep => Err(Elapsed(length)),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::System => f.write_str("Clock(system)"),
            Kind::Shifted(by) => write!(f, "Clock(shifted {:?})", by),
            Kind::Manual(_) => write!(f, "Clock(manual {})", self.now()),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the place where the time comes from")]
fn wall() -> Timestamp {
    let now = SystemTime::now();
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => Timestamp::EPOCH.plus(after),
        Err(before) => Timestamp::EPOCH.minus(before.duration()),
    }
}

fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A clock for tests: it stands still until [`advance`](ManualClock::advance) moves it.
#[derive(Clone)]
pub struct ManualClock {
    hands: Arc<Mutex<Hands>>,
    slept: Arc<Notify>,
}

struct Hands {
    wall: Timestamp,
    elapsed: Duration,
    sleepers: Vec<Sleeper>,
}

struct Sleeper {
    due: Duration,
    wake: oneshot::Sender<()>,
}

impl ManualClock {
    pub fn new(wall: Timestamp) -> ManualClock {
        ManualClock {
            hands: Arc::new(Mutex::new(Hands {
                wall,
                elapsed: Duration::ZERO,
                sleepers: Vec::new(),
            })),
            slept: Arc::new(Notify::new()),
        }
    }

    /// The clock to hand to the code under test.
    pub fn clock(&self) -> Clock {
        Clock(Kind::Manual(self.clone()))
    }

    /// Moves both kinds of time forward and wakes whoever is due, earliest first.
    pub fn advance(&self, length: Duration) {
        let mut due = {
            let mut hands = self.hands();
            hands.elapsed += length;
            hands.wall = hands.wall.plus(length);
            let elapsed = hands.elapsed;
            let (due, rest) = std::mem::take(&mut hands.sleepers)
                .into_iter()
                .partition::<Vec<_>, _>(|sleeper| sleeper.due <= elapsed);
            hands.sleepers = rest;
            due
        };
        due.sort_by_key(|sleeper| sleeper.due);
        for sleeper in due {
            // A sleeper that was dropped meanwhile has nobody to wake.
            let _ = sleeper.wake.send(());
        }
    }

    /// Makes the wall clock jump, as an administrator or NTP would; sleepers notice nothing.
    pub fn set_wall(&self, wall: Timestamp) {
        self.hands().wall = wall;
    }

    /// How many sleeps are under way.
    pub fn sleepers(&self) -> usize {
        let mut hands = self.hands();
        hands.sleepers.retain(|sleeper| !sleeper.wake.is_closed());
        hands.sleepers.len()
    }

    /// Resolves when at least `count` sleeps are under way: the code under test has come to rest.
    pub async fn wait_for_sleepers(&self, count: usize) {
        loop {
            let slept = self.slept.notified();
            tokio::pin!(slept);
            slept.as_mut().enable();
            if self.sleepers() >= count {
                return;
            }
            slept.await;
        }
    }

    fn sleeper(&self, length: Duration) -> Option<oneshot::Receiver<()>> {
        if length.is_zero() {
            return None;
        }
        let (wake, woken) = oneshot::channel();
        let mut hands = self.hands();
        let due = hands.elapsed.saturating_add(length);
        hands.sleepers.push(Sleeper { due, wake });
        drop(hands);
        self.slept.notify_waiters();
        Some(woken)
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    #[tokio::test]
    async fn a_manual_clock_wakes_exactly_who_is_due() {
        let manual = ManualClock::new(START);
        let clock = manual.clock();
        let mut short = std::pin::pin!(clock.sleep(Duration::from_secs(1)));
        let mut long = std::pin::pin!(clock.sleep(Duration::from_hours(9)));
        manual.wait_for_sleepers(2).await;
        assert!(short.as_mut().now_or_never().is_none());

        manual.advance(Duration::from_secs(1));
        assert!(short.as_mut().now_or_never().is_some());
        assert!(long.as_mut().now_or_never().is_none());
        assert_eq!(manual.sleepers(), 1);

        manual.advance(Duration::from_hours(9));
        assert!(long.as_mut().now_or_never().is_some());
        assert_eq!(clock.instant(), Duration::from_hours(9) + Duration::from_secs(1));
        assert_eq!(clock.now(), START.plus(clock.instant()));
    }

    #[tokio::test]
    async fn a_dropped_sleep_is_forgotten_and_a_jump_wakes_nobody() {
        let manual = ManualClock::new(START);
        let clock = manual.clock();
        drop(clock.sleep(Duration::from_secs(5)));
        assert_eq!(manual.sleepers(), 0);
        let sleep = clock.sleep(Duration::from_secs(5));
        manual.set_wall(START.plus(Duration::from_hours(24)));
        assert_eq!(manual.sleepers(), 1);
        assert!(sleep.now_or_never().is_none());
        assert_eq!(clock.instant(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_timeout_prefers_the_answer() {
        let manual = ManualClock::new(START);
        let clock = manual.clock();
        let answer = clock.timeout(Duration::ZERO, std::future::ready(7)).await.unwrap();
        assert_eq!(answer, 7);
        let late = clock.timeout(Duration::from_secs(1), std::future::pending::<()>());
        let (result, ()) = tokio::join!(late, async {
            manual.wait_for_sleepers(1).await;
            manual.advance(Duration::from_secs(1));
        });
        assert_eq!(result, Err(Elapsed(Duration::from_secs(1))));
    }

    #[test]
    fn the_system_clock_moves_on() {
        let clock = Clock::system();
        let first = clock.instant();
        assert!(clock.instant() >= first);
        assert!(clock.now() > START);
    }
}
