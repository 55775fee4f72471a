//! When a schedule says "now": from faces of a clock, intervals or one appointment to moments, in order.
//!
//! Cron is only asked for faces; the rules for changed clocks (see the parent's essay) are applied here.

use std::time::Duration;

use hostler_model::schedule::FireRemark;
use hostler_model::{Cron, Timestamp};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// The times of a schedule.
#[derive(Clone, Debug)]
pub(super) enum Times {
    Cron(Box<Cron>, TimeZone),
    /// All that are a multiple of the length away from a moment.
    Every(Duration, Timestamp),
    At(Timestamp),
}

impl Times {
    /// The first one after this.
    pub(super) fn after(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Times::Cron(cron, zone) => {
                let after = jiff::Timestamp::from_microsecond(after.micros()).ok()?;
                let moment = match cron.is_interval() {
                    true => match_after(cron, zone, after),
                    false => appointment_after(cron, zone, after),
                };
                Some(Timestamp::from_micros(moment?.as_microsecond()))
            }
            Times::Every(every, anchor) => {
                let every = i64::try_from(every.as_micros()).ok().filter(|every| *every > 0)?;
                let since = after.micros().checked_sub(anchor.micros())?;
                let steps = since.div_euclid(every).checked_add(1)?;
                let moment = steps.checked_mul(every)?.checked_add(anchor.micros())?;
                Some(Timestamp::from_micros(moment))
            }
            Times::At(at) => Some(*at).filter(|at| *at > after),
        }
    }

    /// What is special about one of the times, given the one before.
    pub(super) fn remark(&self, time: Timestamp, before: Option<Timestamp>) -> Option<FireRemark> {
        let Times::Cron(cron, zone) = self else { return None };
        let moment = jiff::Timestamp::from_microsecond(time.micros()).ok()?;
        let face = zone.to_datetime(moment);
        if cron.next_from(face) != Some(face) {
            return Some(FireRemark::Skipped);
        }
        if matches!(zone.to_ambiguous_timestamp(face).offset(), AmbiguousOffset::Fold { .. }) {
            let is_interval = cron.is_interval();
            return Some(if is_interval { FireRemark::Twice } else { FireRemark::FirstOfTwo });
        }
        let before = jiff::Timestamp::from_microsecond(before?.micros()).ok()?;
        let is_changed = zone.to_offset(before) != zone.to_offset(moment);
        is_changed.then_some(FireRemark::Changed)
    }
}

/// *At a time*: each face that matches has one moment.
fn appointment_after(
    cron: &Cron,
    zone: &TimeZone,
    after: jiff::Timestamp,
) -> Option<jiff::Timestamp> {
    let mut face = zone.to_datetime(after);
    loop {
        face = cron.next_after(face)?;
        let moment = moment(zone, face)?;
        if moment > after {
            return Some(moment);
        }
    }
}

/// The moment for which a face stands; grows with the face.
fn moment(zone: &TimeZone, face: DateTime) -> Option<jiff::Timestamp> {
    let ambiguous = zone.to_ambiguous_timestamp(face);
    match ambiguous.offset() {
        AmbiguousOffset::Gap { after, .. } => {
            let before_the_change = after.to_timestamp(face).ok()?;
            let change = zone.following(before_the_change).find(|change| change.offset() == after);
            change.map(|change| change.timestamp())
        }
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => {
            ambiguous.earlier().ok()
        }
    }
}

/// *Every so often*: each moment whose face matches, stretch by stretch between two changes.
fn match_after(cron: &Cron, zone: &TimeZone, after: jiff::Timestamp) -> Option<jiff::Timestamp> {
    let mut offset = zone.to_offset(after);
    let mut face = cron.next_after(offset.to_datetime(after))?;
    for change in zone.following(after) {
        let moment = offset.to_timestamp(face).ok()?;
        if moment < change.timestamp() {
            return Some(moment);
        }
        offset = change.offset();
        face = cron.next_from(offset.to_datetime(change.timestamp()))?;
    }
    offset.to_timestamp(face).ok()
}
