//! Locks, state, schedules, watchers and hooks in numbers: counted in `control` and in rows, shown here.

use hostler_model::DeliveryState;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Sample;
use super::catalogue::*;
use super::lateness::Lateness;
use super::numbers::{Outcomes, States, add, copy, set_outcomes, set_states, signed};

pub(super) struct Coordination {
    locks: Outcomes,
    lock_holds: States,
    state: Outcomes,
    state_revision: Gauge,
    schedules: Gauge,
    schedules_paused: Gauge,
    schedule_fires: Outcomes,
    schedule_lateness: Lateness,
    watchers: Gauge,
    watchers_enabled: Gauge,
    watcher_news: Outcomes,
    watcher_lost: Counter,
    hook_deliveries: Outcomes,
    hook_queue: States,
    hook_lag: Gauge,
}

impl Coordination {
    pub(super) fn new(registry: &mut Registry) -> Coordination {
        Coordination {
            locks: add(registry, LOCKS, Family::default()),
            lock_holds: add(registry, LOCK_HOLDS, Family::default()),
            state: add(registry, STATE, Family::default()),
            state_revision: add(registry, STATE_REVISION, Gauge::default()),
            schedules: add(registry, SCHEDULES, Gauge::default()),
            schedules_paused: add(registry, SCHEDULES_PAUSED, Gauge::default()),
            schedule_fires: add(registry, SCHEDULE_FIRES, Family::default()),
            schedule_lateness: add(registry, SCHEDULE_LATENESS, Lateness::default()),
            watchers: add(registry, WATCHERS, Gauge::default()),
            watchers_enabled: add(registry, WATCHERS_ENABLED, Gauge::default()),
            watcher_news: add(registry, WATCHER_NEWS, Family::default()),
            watcher_lost: add(registry, WATCHER_LOST, Counter::default()),
            hook_deliveries: add(registry, HOOK_DELIVERIES, Family::default()),
            hook_queue: add(registry, HOOK_QUEUE, Family::default()),
            hook_lag: add(registry, HOOK_LAG, Gauge::default()),
        }
    }

    pub(super) fn set(&self, sample: &Sample) {
        let locks = sample.locks;
        set_outcomes(
            &self.locks,
            [
                ("granted", locks.granted),
                ("released", locks.released),
                ("expired", locks.expired),
                ("forced", locks.forced),
                ("place-lost", locks.waiters_lost),
            ],
        );
        set_states(&self.lock_holds, [("held", locks.held), ("waiting", locks.waiting)]);
        let state = sample.state;
        set_outcomes(
            &self.state,
            [
                ("transaction", state.transactions),
                ("failure", state.failures),
                ("change", state.changes),
                ("batch", state.batches),
                ("read", state.reads),
            ],
        );
        self.state_revision.set(signed(state.revision));
        let schedules = &sample.schedules;
        self.schedules.set(signed(schedules.schedules));
        self.schedules_paused.set(signed(schedules.paused));
        let fires = schedules.fires.iter().map(|(state, count)| (state.label(), *count));
        set_outcomes(&self.schedule_fires, fires);
        self.schedule_lateness.set(schedules);
        let watchers = &sample.watchers;
        self.watchers.set(signed(watchers.watchers));
        self.watchers_enabled.set(signed(watchers.enabled));
        let news = watchers.news.iter().map(|(word, count)| (word.label(), *count));
        set_outcomes(&self.watcher_news, news);
        copy(&self.watcher_lost, watchers.lost);
        let (tries, (queue, lag)) = &sample.hooks;
        let ended = [("done", tries.done), ("failed", tries.failed), ("dead", tries.dead)];
        set_outcomes(&self.hook_deliveries, ended);
        let queued = DeliveryState::ALL
            .iter()
            .map(|state| (state.label(), queue.get(state).copied().unwrap_or_default()));
        set_states(&self.hook_queue, queued);
        self.hook_lag.set(signed(lag.as_secs()));
    }
}
