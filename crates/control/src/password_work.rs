//! Hashing passwords costs tens of milliseconds of a core and 19 MiB each, on purpose. So that nobody
//! can make a server do nothing else, few run at once, few wait, and of those that wait few are from
//! the same address: whoever floods one server with logins from one place keeps only themselves
//! waiting. Who finds no place is told at once to come back.
//!
//! The work holds its place until it has ended, even when whoever asked for it has gone away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hostler_engine::throttle::network;
use hostler_model::{Code, Error};
use tokio::sync::Semaphore;

/// Of all addresses together, running and waiting.
const PLACES: usize = 64;
/// Of one address.
const PLACES_PER_SOURCE: usize = 8;

pub(crate) struct PasswordWork {
    running: Arc<Semaphore>,
    places: Arc<Mutex<HashMap<String, usize>>>,
}

impl Default for PasswordWork {
    fn default() -> PasswordWork {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        PasswordWork {
            running: Arc::new(Semaphore::new((cores / 2).max(1))),
            places: Arc::default(),
        }
    }
}

/// Given back when dropped.
struct Place {
    source: String,
    places: Arc<Mutex<HashMap<String, usize>>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = places.get_mut(&self.source) {
            *held -= 1;
            if *held == 0 {
                places.remove(&self.source);
            }
        }
    }
}

impl PasswordWork {
    fn place(&self, source: &str) -> Option<Place> {
        let source = network(source);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let held = places.get(&source).copied().unwrap_or(0);
        if held >= PLACES_PER_SOURCE || places.values().sum::<usize>() >= PLACES {
            return None;
        }
        places.insert(source.clone(), held + 1);
        Some(Place { source, places: Arc::clone(&self.places) })
    }

    /// Does the work on a thread of its own, in its turn.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        source: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let place = self.place(source).ok_or_else(too_busy)?;
        let turn = Arc::clone(&self.running).acquire_owned().await.map_err(Error::internal)?;
        tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            drop(turn);
            done
        })
        .await
        .map_err(Error::internal)
    }
}

fn too_busy() -> Error {
    Error::new(
        Code::Unavailable,
        "too many passwords are being looked at already",
        "try again in a moment; if it goes on, somebody is guessing: see `hostler event ls --kind login.throttled`",
    )
    .with_retry_after(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn places_are_few_and_fewer_for_one_address() {
        let work = PasswordWork::default();
        let one: Vec<Place> = std::iter::from_fn(|| work.place("10.0.0.1")).collect();
        assert_eq!(one.len(), PLACES_PER_SOURCE);
        let refused = work.run("10.0.0.1", || ()).await.unwrap_err();
        assert_eq!((refused.code, refused.retry_after), (Code::Unavailable, Some(2)));
        assert_eq!(work.run("10.0.0.2", || 7).await.unwrap(), 7);
        let others: Vec<Place> =
            (0..PLACES).filter_map(|n| work.place(&format!("10.0.1.{n}"))).collect();
        assert_eq!(others.len() + one.len(), PLACES);
        assert!(work.run("10.0.0.2", || ()).await.is_err());
        drop((one, others));
        assert!(work.places.lock().unwrap().is_empty());
        assert_eq!(work.run("10.0.0.1", || 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_keeps_its_place_until_it_ends() {
        let work = PasswordWork::default();
        let (let_go, held) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = std::sync::mpsc::channel::<()>();
        let long = work.run("10.0.0.1", move || {
            begun.send(()).unwrap();
            held.recv()
        });
        let waited = tokio::time::timeout(std::time::Duration::from_millis(20), long).await;
        assert!(waited.is_err());
        has_begun.recv().unwrap();
        assert_eq!(work.places.lock().unwrap().len(), 1);
        let all = u32::try_from(work.running.available_permits() + 1).unwrap();
        let_go.send(()).unwrap();
        drop(work.running.acquire_many(all).await.unwrap());
        assert!(work.places.lock().unwrap().is_empty());
    }
}
