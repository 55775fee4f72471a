//! How many members a group has after an adjustment.

use hostler_model::stack::AdjustmentKind;

/// How many members a group may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    min: u32,
    max: u32,
}

/// Bounds that nothing lies between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the group may have {max} members at most and {min} at least; make min_size the smaller one"
)]
pub struct BoundsFault {
    pub min: u32,
    pub max: u32,
}

impl Bounds {
    pub const fn new(min: u32, max: u32) -> Result<Bounds, BoundsFault> {
        if min > max { Err(BoundsFault { min, max }) } else { Ok(Bounds { min, max }) }
    }

    pub const fn min(self) -> u32 {
        self.min
    }

    pub const fn max(self) -> u32 {
        self.max
    }

    /// The allowed number that is nearest.
    pub fn clamp(self, size: i64) -> u32 {
        u32::try_from(size.clamp(i64::from(self.min), i64::from(self.max)))
            .expect("what lies between two sizes is a size")
    }

    /// How many there are at the beginning.
    pub fn initial(self, desired: Option<u32>) -> u32 {
        self.clamp(i64::from(desired.unwrap_or(self.min)))
    }
}

/// A change of how many members a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjustment {
    pub kind: AdjustmentKind,
    pub number: i32,
    /// How many come or go at least, where the number is percents.
    pub min_step: Option<u32>,
}

impl Adjustment {
    /// How many there are afterwards. A part of a member counts as none, unless it is all there is: then it is a whole one.
    pub fn apply(self, current: u32, bounds: Bounds) -> u32 {
        let (current, number) = (i64::from(current), i64::from(self.number));
        let wanted = match self.kind {
            AdjustmentKind::ChangeInCapacity => current + number,
            AdjustmentKind::ExactCapacity => number,
            AdjustmentKind::PercentChangeInCapacity => current + self.step(current * number),
        };
        bounds.clamp(wanted)
    }

    fn step(self, hundredths: i64) -> i64 {
        let step = if hundredths.abs() < 100 { hundredths.signum() } else { hundredths / 100 };
        let least = i64::from(self.min_step.unwrap_or(0));
        if step.abs() < least { least * i64::from(self.number.signum()) } else { step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjustments_round_as_heat_does() {
        use AdjustmentKind::{
            ChangeInCapacity as Change, ExactCapacity as Exact, PercentChangeInCapacity as Percent,
        };
        let cases = [
            (Change, 4, 2, None, 6),
            (Change, 4, -3, None, 1),
            (Change, 4, -30, None, 0),
            (Change, 4, 30, None, 10),
            (Exact, 4, 7, None, 7),
            (Exact, 4, -1, None, 0),
            (Exact, 4, 99, None, 10),
            // Less than one member is one member, in either direction.
            (Percent, 3, 10, None, 4),
            (Percent, 3, -10, None, 2),
            // More than one is cut off towards none.
            (Percent, 5, 30, None, 6),
            (Percent, 5, 39, None, 6),
            (Percent, 5, -39, None, 4),
            (Percent, 4, 50, None, 6),
            (Percent, 4, 25, None, 5),
            (Percent, 4, 0, None, 4),
            (Percent, 0, 50, None, 0),
            (Percent, 4, 25, Some(3), 7),
            (Percent, 4, -25, Some(3), 1),
            (Percent, 4, 75, Some(2), 7),
            (Percent, 0, 50, Some(2), 2),
            (Percent, 4, 0, Some(2), 4),
            // A least step is one of percents only.
            (Change, 4, 1, Some(3), 5),
        ];
        let bounds = Bounds::new(0, 10).unwrap();
        for (kind, current, number, min_step, expected) in cases {
            let adjustment = Adjustment { kind, number, min_step };
            assert_eq!(adjustment.apply(current, bounds), expected, "{adjustment:?} of {current}");
        }
    }

    #[test]
    fn sizes_stay_between_the_bounds() {
        let bounds = Bounds::new(2, 5).unwrap();
        assert_eq!(
            [None, Some(0), Some(3), Some(9)].map(|desired| bounds.initial(desired)),
            [2, 2, 3, 5]
        );
        assert_eq!(Bounds::new(3, 2), Err(BoundsFault { min: 3, max: 2 }));
        let far = Adjustment {
            kind: AdjustmentKind::PercentChangeInCapacity,
            number: i32::MIN,
            min_step: Some(u32::MAX),
        };
        assert_eq!(far.apply(u32::MAX, bounds), 2);
    }
}
