//! What agents say of services: of the runs they made, and of how a placement stands.
//!
//! A run comes to be known by its first report; after that only newer ones change it. So reports may
//! come late, twice and in any order, and still add up to the same rows and the same events: one when
//! the run began, and one more when it ended badly. Runs so old that they are no longer kept are not
//! made again by a late report.
//!
//! A status is a level, not an event: it says how things stand, and what happened between two of them
//! is not told. Events come from the difference of two levels, once for each change.

use hostler_model::{
    EventKind, Exit, ExitReason, Freshness, Generation, Health, Phase, Placement, PlacementStatus,
    Report, ReportState, Run, RunCause, RunEvent, RunState, Timestamp,
};

/// A run as it is to be written, known before or not.
#[derive(Clone, Debug, PartialEq)]
pub struct RunChange {
    pub run: Run,
    pub events: Vec<(EventKind, String)>,
}

/// Applies a report about a run that an agent made for `placement`. `oldest` is the number of the
/// oldest run that would still be kept. `None` when nothing changes.
pub fn report(
    known: Option<&Run>,
    placement: &Placement,
    oldest: u32,
    report: &Report,
    now: Timestamp,
) -> Option<RunChange> {
    let mut run = match (known, report.origin) {
        (Some(run), _) => run.clone(),
        (None, None) => return None,
        (None, Some(origin)) => Run {
            id: report.run_id,
            placement_id: placement.id,
            workload_id: placement.workload_id,
            project_id: placement.project_id,
            node_id: placement.node_id,
            attempt: u32::try_from(origin.number).unwrap_or(u32::MAX),
            cause: Some(origin.cause),
            fire: origin.fire,
            state: RunState::Assigned,
            report_generation: Generation::ZERO,
            time_created: now,
            time_started: None,
            time_ended: None,
        },
    };
    if known.is_none() && run.attempt < oldest {
        return None;
    }
    match report.generation.freshness_over(run.report_generation) {
        Freshness::Older | Freshness::Equal => return None,
        Freshness::Newer => {}
    }
    run.report_generation = report.generation;
    let mut events = Vec::new();
    match &report.state {
        ReportState::Running { pid, since } => {
            begin(&mut run, *pid, *since, &mut events);
            run.time_ended = None;
        }
        ReportState::Paused { pid, since } => {
            begin(&mut run, *pid, *since, &mut events);
            step(&mut run, RunEvent::Paused { pid: *pid, time: *since });
            run.time_ended = None;
        }
        ReportState::Exited { started, pid, exit } => {
            if let (Some(since), Some(pid)) = (started, pid) {
                begin(&mut run, *pid, *since, &mut events);
            }
            step(&mut run, RunEvent::Exited { exit: exit.clone() });
            run.time_ended = Some(exit.time);
            let kind = match exit.reason {
                ExitReason::OutOfMemory => Some(EventKind::WorkloadOom),
                ExitReason::Vanished => Some(EventKind::WorkloadVanished),
                ExitReason::Exited
                | ExitReason::Stopped
                | ExitReason::TimedOut
                | ExitReason::Unhealthy
                | ExitReason::StartFailed
                | ExitReason::GivenUp => None,
            };
            events.extend(kind.map(|kind| (kind, format!("run {}: {exit}", run.attempt))));
        }
    }
    Some(RunChange { run, events })
}

fn begin(run: &mut Run, pid: u32, since: Timestamp, events: &mut Vec<(EventKind, String)>) {
    step(run, RunEvent::Started { pid, time: since });
    if run.time_started.is_none() {
        let kind = match run.cause {
            Some(RunCause::Restart) => EventKind::WorkloadRestarted,
            Some(RunCause::Start | RunCause::Schedule) | None => EventKind::WorkloadStarted,
        };
        events.push((kind, format!("run {} began", run.attempt)));
    }
    run.time_started = Some(since);
}

fn step(run: &mut Run, event: RunEvent) {
    if let Some(next) = run.state.apply(event) {
        run.state = next;
    }
}

/// The verdict that a run's node is gone for good; `None` when the run has ended.
pub fn lost(run: &Run, why: &str, now: Timestamp) -> Option<Run> {
    let state = run.state.apply(RunEvent::Lost { why: why.to_owned(), time: now })?;
    Some(Run { state, time_ended: Some(now), ..run.clone() })
}

/// So many failures in a row are told of.
const CRASH_LOOP: u32 = 3;

/// What happened between two levels.
pub fn status(old: Option<&PlacementStatus>, new: &PlacementStatus) -> Vec<(EventKind, String)> {
    let mut events = Vec::new();
    events.extend(outcome(old, new));
    let failures = old.map_or(0, |old| old.failures);
    if new.failures >= CRASH_LOOP && failures < CRASH_LOOP && !Phase::SETTLED.contains(&new.phase) {
        let last = new.last_exit.as_ref().map(Exit::to_string).unwrap_or_default();
        events.push((
            EventKind::WorkloadCrashLoop,
            format!("ended quickly {} times in a row: {last}", new.failures),
        ));
    }
    if let Some(health) =
        new.health.filter(|health| old.and_then(|old| old.health) != Some(*health))
    {
        let reason = || new.reason.clone();
        events.push(match health {
            Health::Unhealthy => {
                let why = reason().unwrap_or_else(|| "its health checks fail".to_owned());
                (EventKind::WorkloadUnhealthy, why)
            }
            Health::Healthy => (EventKind::WorkloadHealthy, "its health checks pass".to_owned()),
        });
    }
    let missed = new.missed.saturating_sub(old.map_or(0, |old| old.missed));
    if missed > 0 {
        let text = format!("{missed} scheduled times were left out");
        events.push((EventKind::WorkloadFireMissed, text));
    }
    let untold = new.untold.saturating_sub(old.map_or(0, |old| old.untold));
    if untold > 0 {
        let text = format!("{untold} runs ended that could not be told of");
        events.push((EventKind::WorkloadRunsUntold, text));
    }
    events
}

/// What came of it, where it rests now.
fn outcome(old: Option<&PlacementStatus>, new: &PlacementStatus) -> Option<(EventKind, String)> {
    let last = || new.last_exit.as_ref().map_or_else(String::new, Exit::to_string);
    let is_elsewhere = old.is_none_or(|old| old.phase != new.phase);
    let has_ended = new.last_exit.is_some() && old.is_none_or(|old| old.last_exit != new.last_exit);
    match new.phase {
        Phase::Completed if is_elsewhere || has_ended => {
            Some((EventKind::WorkloadCompleted, last()))
        }
        Phase::Failed if is_elsewhere || has_ended => {
            Some((EventKind::WorkloadFailed, new.reason.clone().unwrap_or_else(last)))
        }
        Phase::Idle if has_ended && new.failures == 0 => {
            Some((EventKind::WorkloadCompleted, last()))
        }
        Phase::Idle if has_ended => Some((EventKind::WorkloadFailed, last())),
        Phase::Stopped | Phase::Removed if is_elsewhere => {
            let was_up = old.map_or(new.runs > 0, |old| !Phase::SETTLED.contains(&old.phase));
            let why = new.reason.clone().unwrap_or_else(|| "stopped on request".to_owned());
            was_up.then_some((EventKind::WorkloadStopped, why))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use hostler_model::{
        Desired, NodeId, Origin, PlacementId, ProjectId, Reservation, RunId, WorkloadId,
    };
    use proptest::prelude::*;
    use uuid::Uuid;

    fn at(n: i64) -> Timestamp {
        Timestamp::from_micros(n)
    }

    fn placement() -> Placement {
        let id = Uuid::from_u128;
        Placement {
            id: PlacementId::from_uuid(id(1)),
            workload_id: WorkloadId::from_uuid(id(2)),
            project_id: ProjectId::from_uuid(id(3)),
            node_id: NodeId::from_uuid(id(4)),
            run_id: None,
            desired: Desired::Run,
            desired_generation: Generation::FIRST,
            stop_grace: None,
            reservation: Reservation::default(),
            is_released: false,
            revision: Generation::FIRST,
            status: None,
            status_generation: Generation::ZERO,
            time_created: at(1),
            time_modified: at(1),
        }
    }

    fn exit(reason: ExitReason) -> Exit {
        Exit { reason, code: None, signal: None, message: None, time: at(9) }
    }

    /// The two reports of a run, in the order in which its agent made them.
    fn reports(number: u64, reason: ExitReason, has_started: bool) -> Vec<Report> {
        let cause = if number == 1 { RunCause::Start } else { RunCause::Restart };
        let origin = Origin { number, cause, fire: None, revision: Generation::FIRST };
        let report = |generation, state| Report {
            run_id: RunId::from_uuid(Uuid::from_u128(100 + u128::from(number))),
            placement_id: placement().id,
            generation: Generation::from_u64(generation),
            state,
            origin: Some(origin),
        };
        let (pid, since) = (7, at(5));
        let mut made = Vec::new();
        if has_started {
            made.push(report(1, ReportState::Running { pid, since }));
        }
        let (started, pid) = (has_started.then_some(since), has_started.then_some(pid));
        made.push(report(2, ReportState::Exited { started, pid, exit: exit(reason) }));
        made
    }

    type Rows = BTreeMap<RunId, Run>;

    fn take(rows: &mut Rows, given: &[Report], oldest: u32) -> Vec<EventKind> {
        let mut kinds = Vec::new();
        for report in given {
            let known = rows.get(&report.run_id);
            if let Some(change) = super::report(known, &placement(), oldest, report, at(20)) {
                kinds.extend(change.events.into_iter().map(|(kind, _)| kind));
                rows.insert(change.run.id, change.run);
            }
        }
        kinds.sort_unstable();
        kinds
    }

    #[test]
    fn a_run_is_told_of_once_when_it_begins_and_once_when_it_ends_badly() {
        let mut rows = Rows::new();
        let first = reports(1, ExitReason::OutOfMemory, true);
        assert_eq!(take(&mut rows, &first[..1], 0), [EventKind::WorkloadStarted]);
        assert_eq!(take(&mut rows, &first, 0), [EventKind::WorkloadOom]);
        let next = reports(2, ExitReason::Vanished, true);
        let told = take(&mut rows, &next[1..], 0);
        assert_eq!(told, [EventKind::WorkloadRestarted, EventKind::WorkloadVanished]);
        let run = rows.values().next().unwrap();
        assert_eq!((run.time_started, run.time_ended), (Some(at(5)), Some(at(9))));
        assert_eq!(run.state, RunState::Exited { exit: exit(ExitReason::OutOfMemory) });
    }

    #[test]
    fn what_is_no_longer_kept_is_not_made_again() {
        let old = reports(3, ExitReason::Exited, true);
        assert_eq!(take(&mut Rows::new(), &old, 4), []);
        let mut without = old[0].clone();
        without.origin = None;
        assert_eq!(take(&mut Rows::new(), &[without], 0), []);
    }

    #[test]
    fn a_lost_run_can_still_end() {
        let mut rows = Rows::new();
        let both = reports(1, ExitReason::Exited, true);
        take(&mut rows, &both[..1], 0);
        let run = rows.values().next().unwrap().clone();
        let gone = lost(&run, "its node was removed", at(30)).unwrap();
        assert_eq!(lost(&gone, "again", at(31)), None);
        rows.insert(gone.id, gone);
        take(&mut rows, &both, 0);
        let run = rows.values().next().unwrap();
        assert!(matches!(run.state, RunState::Exited { .. }));
    }

    fn level(phase: Phase) -> PlacementStatus {
        PlacementStatus::new(phase, Generation::FIRST)
    }

    #[test]
    fn levels_tell_of_their_difference() {
        use EventKind as E;
        let ended = |phase, failures| PlacementStatus {
            runs: 1,
            failures,
            last_exit: Some(exit(ExitReason::Exited)),
            ..level(phase)
        };
        let healthy = PlacementStatus { health: Some(Health::Healthy), ..level(Phase::Running) };
        let sick = PlacementStatus { health: Some(Health::Unhealthy), ..level(Phase::Running) };
        let missed = PlacementStatus { missed: 2, untold: 3, ..level(Phase::Idle) };
        let cases: Vec<(Option<PlacementStatus>, PlacementStatus, Vec<EventKind>)> = vec![
            (None, level(Phase::Running), vec![]),
            (None, level(Phase::Stopped), vec![]),
            (Some(level(Phase::Running)), level(Phase::Stopped), vec![E::WorkloadStopped]),
            (Some(level(Phase::Stopping)), level(Phase::Removed), vec![E::WorkloadStopped]),
            (Some(level(Phase::Stopped)), level(Phase::Removed), vec![]),
            (Some(level(Phase::Running)), ended(Phase::Completed, 0), vec![E::WorkloadCompleted]),
            (None, ended(Phase::Failed, 1), vec![E::WorkloadFailed]),
            (Some(ended(Phase::Failed, 1)), ended(Phase::Failed, 1), vec![]),
            (Some(level(Phase::Running)), ended(Phase::Idle, 0), vec![E::WorkloadCompleted]),
            (Some(level(Phase::Running)), ended(Phase::Idle, 1), vec![E::WorkloadFailed]),
            (Some(ended(Phase::Running, 2)), ended(Phase::Backoff, 3), vec![E::WorkloadCrashLoop]),
            (Some(ended(Phase::Backoff, 3)), ended(Phase::Backoff, 4), vec![]),
            (Some(level(Phase::Running)), healthy.clone(), vec![E::WorkloadHealthy]),
            (Some(healthy), sick.clone(), vec![E::WorkloadUnhealthy]),
            (Some(sick), level(Phase::Running), vec![]),
            (None, missed.clone(), vec![E::WorkloadFireMissed, E::WorkloadRunsUntold]),
            (Some(missed.clone()), missed, vec![]),
        ];
        for (old, new, expected) in cases {
            let told: Vec<_> =
                status(old.as_ref(), &new).into_iter().map(|(kind, _)| kind).collect();
            assert_eq!(told, expected, "from {old:?} to {new:?}");
        }
    }

    fn reason() -> impl Strategy<Value = ExitReason> {
        prop::sample::select(vec![
            ExitReason::Exited,
            ExitReason::OutOfMemory,
            ExitReason::Vanished,
            ExitReason::StartFailed,
        ])
    }

    fn any_level() -> impl Strategy<Value = PlacementStatus> {
        (
            prop::sample::select(Phase::ALL.to_vec()),
            prop::option::of(prop::sample::select(Health::ALL.to_vec())),
            0u32..6,
            0u64..4,
            prop::option::of(0i64..3),
        )
            .prop_map(|(phase, health, failures, missed, ended)| PlacementStatus {
                health,
                failures,
                missed,
                last_exit: ended.map(|time| Exit { time: at(time), ..exit(ExitReason::Exited) }),
                ..level(phase)
            })
    }

    proptest! {
        #[test]
        fn reports_in_any_order_and_number_come_to_the_same(
            ends in prop::collection::vec((reason(), prop::bool::ANY), 1..6),
            order in prop::collection::vec(prop::num::usize::ANY, 0..60),
        ) {
            let all: Vec<Report> = (1u64..)
                .zip(&ends)
                .flat_map(|(n, (reason, has_started))| reports(n, *reason, *has_started))
                .collect();
            let mut straight = Rows::new();
            let expected = take(&mut straight, &all, 0);
            let shuffled: Vec<Report> = order
                .iter()
                .map(|pick| all[pick % all.len()].clone())
                .chain(all.iter().rev().cloned())
                .collect();
            let mut mixed = Rows::new();
            let told = take(&mut mixed, &shuffled, 0);
            prop_assert_eq!(&mixed, &straight);
            prop_assert_eq!(told, expected);
            prop_assert_eq!(take(&mut mixed, &shuffled, 0), []);
        }

        #[test]
        fn the_same_level_is_told_once(levels in prop::collection::vec(any_level(), 1..12)) {
            let mut before: Option<PlacementStatus> = None;
            let mut missed = 0;
            for level in levels {
                let told = status(before.as_ref(), &level);
                prop_assert_eq!(status(Some(&level), &level), vec![]);
                let has = told.iter().any(|(kind, _)| *kind == EventKind::WorkloadFireMissed);
                prop_assert_eq!(has, level.missed > missed);
                missed = level.missed;
                before = Some(level);
            }
        }
    }
}
