//! How many digits a number is written with.

use super::super::decimal::{Decimal, Rounding};

/// The digit options of ECMA-402.
#[derive(Clone, Debug)]
pub(in super::super) struct Precision {
    /// Digits in front of the point, at least.
    pub(in super::super) whole: usize,
    /// Digits behind the point, at least and at most.
    pub(in super::super) fraction: (usize, usize),
    /// Significant digits, at least and at most.
    pub(in super::super) significant: (usize, usize),
    pub(in super::super) priority: Priority,
    pub(in super::super) increment: u32,
    pub(in super::super) mode: Rounding,
    /// Whether an integer is written without its zeros behind the point.
    pub(in super::super) strip: bool,
}

/// Which of the two bounds counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Priority {
    Fraction,
    Significant,
    MorePrecision,
    LessPrecision,
}

impl Precision {
    /// Rounds, and says how many digits are written behind the point at least.
    pub(super) fn round(&self, value: &mut Decimal) -> usize {
        let significant = value.magnitude() - self.significant.1 as i32 + 1;
        let fraction = -(self.fraction.1 as i32);
        let by_significant = match self.priority {
            Priority::Fraction => false,
            Priority::Significant => true,
            Priority::MorePrecision => significant <= fraction,
            Priority::LessPrecision => significant > fraction,
        };
        if !by_significant {
            value.round(fraction, self.increment, self.mode);
            return self.fraction.0;
        }
        value.round(significant, 1, self.mode);
        (self.significant.0 as i32 - 1 - value.magnitude()).max(0) as usize
    }
}
