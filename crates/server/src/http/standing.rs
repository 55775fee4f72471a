//! How a workload stands over all its nodes, from how it stands on each. Pure.
//!
//! What its user wants comes first: one that is being removed or stopped says so. Then what runs:
//! everywhere is `running`, somewhere is `partly-running`. Where nothing runs, the most telling phase
//! wins: what needs somebody before what sorts itself out, and what is under way before what is over.
//! Nodes that are offline say nothing; when all are, nothing is known.

use hostler_api::workload::{WorkloadPhase, WorkloadStatus};
use hostler_control::{PlacementDetail, WorkloadDetail};
use hostler_model::{Desired, Health, Mode, NodeState, Phase, PlacementRules};

/// One placement, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seat {
    /// `None` before its node has said anything.
    phase: Option<Phase>,
    health: Option<Health>,
    is_heard: bool,
}

impl Seat {
    fn of(detail: &PlacementDetail) -> Seat {
        let status = detail.placement.status.as_ref();
        Seat {
            phase: status.map(|status| status.phase),
            health: status.and_then(|status| status.health),
            is_heard: !matches!(detail.node_state, NodeState::Offline | NodeState::Removed),
        }
    }

    /// Does what it should.
    fn is_ready(self) -> bool {
        self.is_heard
            && self.health != Some(Health::Unhealthy)
            && matches!(self.phase, Some(Phase::Running | Phase::Idle | Phase::Completed))
    }
}

pub(crate) fn status(detail: &WorkloadDetail) -> WorkloadStatus {
    let service = &detail.service;
    let staying: Vec<&PlacementDetail> =
        detail.placements.iter().filter(|p| p.placement.desired != Desired::Remove).collect();
    let seats: Vec<Seat> = staying.iter().map(|detail| Seat::of(detail)).collect();
    let wanted = wanted(&service.spec.placement, seats.len());
    let phase = phase(service.desired, &seats, wanted);
    let statuses = || staying.iter().filter_map(|detail| detail.placement.status.as_ref());
    let counts_restarts = matches!(service.spec.mode, Mode::Forever | Mode::Once);
    let restarts = statuses().map(|status| status.runs.saturating_sub(1)).sum();
    WorkloadStatus {
        phase,
        ready: count(seats.iter().filter(|seat| seat.is_ready()).count()),
        wanted: if service.desired == Desired::Run { count(wanted) } else { 0 },
        health: health(&seats),
        restarts: if counts_restarts { restarts } else { 0 },
        reason: reason(phase, &staying, wanted),
        next: statuses().filter_map(|status| status.next).min(),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn wanted(rules: &PlacementRules, placed: usize) -> usize {
    match rules.every {
        true => placed,
        false => rules.count.map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX)),
    }
}

fn health(seats: &[Seat]) -> Option<Health> {
    let said = || seats.iter().filter_map(|seat| seat.health);
    said().find(|health| *health == Health::Unhealthy).or_else(|| said().next())
}

/// Of what stands out, the first.
fn reason(phase: WorkloadPhase, staying: &[&PlacementDetail], wanted: usize) -> Option<String> {
    if phase == WorkloadPhase::Pending
        || (phase == WorkloadPhase::PartlyRunning && staying.len() < wanted)
    {
        let words = format!("it is on {} of {wanted} nodes", staying.len());
        return Some(words);
    }
    let away = |detail: &&&PlacementDetail| !Seat::of(detail).is_heard;
    if phase == WorkloadPhase::Unknown {
        return staying
            .iter()
            .find(away)
            .map(|detail| format!("node `{}` is {}", detail.node, detail.node_state));
    }
    let is_several = staying.len() > 1;
    let words = |detail: &PlacementDetail| {
        let reason = detail.placement.status.as_ref()?.reason.clone()?;
        Some(if is_several { format!("{}: {reason}", detail.node) } else { reason })
    };
    let unready = || staying.iter().filter(|detail| !Seat::of(detail).is_ready());
    unready().find_map(|detail| words(detail)).or_else(|| staying.iter().find_map(|d| words(d)))
}

fn phase(desired: Desired, seats: &[Seat], wanted: usize) -> WorkloadPhase {
    let heard: Vec<Option<Phase>> =
        seats.iter().filter(|seat| seat.is_heard).map(|seat| seat.phase).collect();
    let is = |phase: Phase| heard.contains(&Some(phase));
    match desired {
        Desired::Remove => return WorkloadPhase::Removing,
        Desired::Stop => {
            let is_over =
                |phase: &Option<Phase>| phase.is_some_and(|phase| Phase::SETTLED.contains(&phase));
            return match (heard.len() == seats.len(), heard.iter().all(is_over)) {
                (true, true) => WorkloadPhase::Stopped,
                (false, _) if heard.is_empty() => WorkloadPhase::Unknown,
                _ => WorkloadPhase::Stopping,
            };
        }
        Desired::Run | Desired::Pause => {}
    }
    if seats.is_empty() {
        return WorkloadPhase::Pending;
    }
    if heard.is_empty() {
        return WorkloadPhase::Unknown;
    }
    if is(Phase::Running) {
        let is_content = |seat: &Seat| {
            seat.is_heard
                && matches!(seat.phase, Some(Phase::Running | Phase::Idle | Phase::Completed))
        };
        let is_everywhere = seats.len() >= wanted && seats.iter().all(is_content);
        return match is_everywhere {
            true => WorkloadPhase::Running,
            false => WorkloadPhase::PartlyRunning,
        };
    }
    let telling = [
        (Phase::Failed, WorkloadPhase::Failed),
        (Phase::Backoff, WorkloadPhase::Backoff),
        (Phase::Stopping, WorkloadPhase::Stopping),
        (Phase::Starting, WorkloadPhase::Starting),
        (Phase::Waiting, WorkloadPhase::Waiting),
        (Phase::Idle, WorkloadPhase::Idle),
    ];
    if let Some((_, phase)) = telling.iter().find(|(phase, _)| is(*phase)) {
        return *phase;
    }
    if heard.contains(&None) {
        return WorkloadPhase::Starting;
    }
    if is(Phase::Stopped) || is(Phase::Removed) {
        return WorkloadPhase::Stopped;
    }
    match heard.len() == seats.len() {
        true => WorkloadPhase::Completed,
        false => WorkloadPhase::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(phase: Phase) -> Seat {
        Seat { phase: Some(phase), health: None, is_heard: true }
    }

    fn away(phase: Phase) -> Seat {
        Seat { is_heard: false, ..seat(phase) }
    }

    const UNTOLD: Seat = Seat { phase: None, health: None, is_heard: true };

    #[test]
    fn the_whole_follows_from_its_parts() {
        use Phase as P;
        use WorkloadPhase as W;
        let cases: Vec<(Desired, Vec<Seat>, usize, W)> = vec![
            (Desired::Run, vec![], 1, W::Pending),
            (Desired::Run, vec![UNTOLD], 1, W::Starting),
            (Desired::Run, vec![seat(P::Running)], 1, W::Running),
            (Desired::Run, vec![seat(P::Running)], 2, W::PartlyRunning),
            (Desired::Run, vec![seat(P::Running), seat(P::Backoff)], 2, W::PartlyRunning),
            (Desired::Run, vec![seat(P::Running), away(P::Running)], 2, W::PartlyRunning),
            (Desired::Run, vec![seat(P::Running), UNTOLD], 2, W::PartlyRunning),
            (Desired::Run, vec![seat(P::Running), seat(P::Idle)], 2, W::Running),
            (Desired::Run, vec![away(P::Running), away(P::Running)], 2, W::Unknown),
            (Desired::Run, vec![seat(P::Starting), seat(P::Failed)], 2, W::Failed),
            (Desired::Run, vec![seat(P::Waiting), seat(P::Backoff)], 2, W::Backoff),
            (Desired::Run, vec![seat(P::Waiting), seat(P::Idle)], 2, W::Waiting),
            (Desired::Run, vec![seat(P::Idle)], 1, W::Idle),
            (Desired::Run, vec![seat(P::Completed), seat(P::Completed)], 2, W::Completed),
            (Desired::Run, vec![seat(P::Completed), away(P::Running)], 2, W::Unknown),
            (Desired::Run, vec![seat(P::Stopped)], 1, W::Stopped),
            (Desired::Stop, vec![], 1, W::Stopped),
            (Desired::Stop, vec![seat(P::Stopped), seat(P::Completed)], 2, W::Stopped),
            (Desired::Stop, vec![seat(P::Stopped), seat(P::Running)], 2, W::Stopping),
            (Desired::Stop, vec![seat(P::Stopped), away(P::Running)], 2, W::Stopping),
            (Desired::Stop, vec![away(P::Running)], 1, W::Unknown),
            (Desired::Remove, vec![seat(P::Running)], 1, W::Removing),
            (Desired::Remove, vec![], 1, W::Removing),
        ];
        for (desired, seats, wanted, expected) in cases {
            assert_eq!(phase(desired, &seats, wanted), expected, "{desired} {seats:?} {wanted}");
        }
    }

    #[test]
    fn every_combination_has_an_answer_and_running_means_running() {
        let mut seats: Vec<Seat> = vec![UNTOLD];
        seats.extend(Phase::ALL.iter().flat_map(|phase| [seat(*phase), away(*phase)]));
        for first in &seats {
            for second in &seats {
                let pair = [*first, *second];
                let is = phase(Desired::Run, &pair, 2);
                let runs = pair.iter().any(|s| s.is_heard && s.phase == Some(Phase::Running));
                let says = matches!(is, WorkloadPhase::Running | WorkloadPhase::PartlyRunning);
                assert_eq!(runs, says, "{pair:?} {is}");
                let turned = phase(Desired::Run, &[*second, *first], 2);
                assert_eq!(is, turned);
            }
        }
    }

    #[test]
    fn one_that_is_unhealthy_makes_the_whole_so() {
        let healthy = Seat { health: Some(Health::Healthy), ..seat(Phase::Running) };
        let sick = Seat { health: Some(Health::Unhealthy), ..healthy };
        assert_eq!(health(&[seat(Phase::Running)]), None);
        assert_eq!(health(&[seat(Phase::Running), healthy]), Some(Health::Healthy));
        assert_eq!(health(&[healthy, sick]), Some(Health::Unhealthy));
        assert!(healthy.is_ready() && !sick.is_ready());
    }
}
