//! Whether a group is scaled now.

use hostler_model::{Span, Timestamp};

use super::{Adjustment, Bounds};

/// What counts of a group when a policy wants to scale it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupState {
    pub size: u32,
    pub bounds: Bounds,
    /// Whatever was done to it last is complete. While it is scaled it is not.
    pub is_complete: bool,
    /// When it was made, changed or scaled last.
    pub time_scaled: Option<Timestamp>,
    /// How long it is left alone after that.
    pub cooldown: Option<Span>,
}

/// Why a group is left as it is. Nobody is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// Something is being done to it, or was in vain.
    NotComplete,
    /// Until that time.
    Cooldown(Timestamp),
    /// It has as many members as it would have.
    Unchanged,
}

/// How many members a group is to have now. The cooldown of a policy counts instead of the group's.
pub fn scale(
    group: &GroupState,
    adjustment: Adjustment,
    policy_cooldown: Option<Span>,
    now: Timestamp,
) -> Result<u32, Ignored> {
    if !group.is_complete {
        return Err(Ignored::NotComplete);
    }
    if let (Some(since), Some(cooldown)) = (group.time_scaled, policy_cooldown.or(group.cooldown)) {
        let until = since.plus(cooldown.duration());
        if now < until {
            return Err(Ignored::Cooldown(until));
        }
    }
    let size = adjustment.apply(group.size, group.bounds);
    if size == group.size { Err(Ignored::Unchanged) } else { Ok(size) }
}

#[cfg(test)]
mod tests {
    use hostler_model::stack::AdjustmentKind;

    use super::*;

    #[test]
    fn groups_are_left_alone_for_a_reason() {
        let at = |secs: i64| Timestamp::from_micros(secs * 1_000_000);
        let group = GroupState {
            size: 3,
            bounds: Bounds::new(1, 5).unwrap(),
            is_complete: true,
            time_scaled: Some(at(100)),
            cooldown: Some(Span::from_secs(60)),
        };
        let by =
            |number| Adjustment { kind: AdjustmentKind::ChangeInCapacity, number, min_step: None };
        let short = Some(Span::from_secs(10));
        assert_eq!(scale(&group, by(1), None, at(159)), Err(Ignored::Cooldown(at(160))));
        assert_eq!(scale(&group, by(1), None, at(160)), Ok(4));
        assert_eq!(scale(&group, by(1), short, at(110)), Ok(4));
        assert_eq!(scale(&group, by(1), short, at(109)), Err(Ignored::Cooldown(at(110))));
        assert_eq!(scale(&group, by(0), short, at(200)), Err(Ignored::Unchanged));
        let full = GroupState { size: 5, time_scaled: None, ..group };
        assert_eq!(scale(&full, by(2), None, at(0)), Err(Ignored::Unchanged));
        let busy = GroupState { is_complete: false, ..group };
        assert_eq!(scale(&busy, by(1), None, at(500)), Err(Ignored::NotComplete));
    }
}
