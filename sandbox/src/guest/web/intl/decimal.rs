//! Decimal numbers of any length, and rounding them as ECMA-402 wants.

use std::cmp::Ordering;

/// A number as its decimal digits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decimal {
    pub(super) negative: bool,
    pub(super) kind: Kind,
    /// Values 0 to 9, the first and the last not zero; none for zero.
    digits: Vec<u8>,
    /// How many digits stand in front of the decimal point; negative when zeros follow the point.
    point: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Finite,
    Infinite,
    NotANumber,
}

/// How a number becomes one of fewer digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rounding {
    Ceil,
    Floor,
    Expand,
    Trunc,
    HalfCeil,
    HalfFloor,
    HalfExpand,
    HalfTrunc,
    HalfEven,
}

impl Rounding {
    /// The mode of this name in JavaScript.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "ceil" => Self::Ceil,
            "floor" => Self::Floor,
            "expand" => Self::Expand,
            "trunc" => Self::Trunc,
            "halfCeil" => Self::HalfCeil,
            "halfFloor" => Self::HalfFloor,
            "halfTrunc" => Self::HalfTrunc,
            "halfEven" => Self::HalfEven,
            _ => Self::HalfExpand,
        }
    }

    /// Whether what is dropped is made up for, seen from zero.
    fn up(self, negative: bool, half: Ordering, odd: bool) -> bool {
        match self {
            Self::Ceil => !negative,
            Self::Floor => negative,
            Self::Expand => true,
            Self::Trunc => false,
            _ if half != Ordering::Equal => half == Ordering::Greater,
            Self::HalfCeil => !negative,
            Self::HalfFloor => negative,
            Self::HalfExpand => true,
            Self::HalfTrunc => false,
            Self::HalfEven => odd,
        }
    }
}

impl Decimal {
    /// The shortest digits that read back as this number.
    pub(super) fn from_f64(value: f64) -> Self {
        let kind = match value {
            _ if value.is_nan() => Kind::NotANumber,
            _ if value.is_infinite() => Kind::Infinite,
            _ => Kind::Finite,
        };
        let mut decimal = if kind == Kind::Finite { Self::parse(&format!("{:e}", value.abs())) } else { Self::zero() };
        decimal.kind = kind;
        decimal.negative = value.is_sign_negative() && kind != Kind::NotANumber;
        decimal
    }

    /// Reads digits with an optional sign, point and exponent; what is no digit is passed over. Its caller has checked
    /// that the number is finite as a double, so the exponent is small.
    pub(super) fn parse(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let values = |text: &str| text.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect::<Vec<_>>();
        let mut digits = values(whole);
        let whole = digits.len();
        digits.extend(values(fraction));
        let exponent: i64 = exponent.parse().unwrap_or(0);
        // Both are far below 2^31: a string is, and the exponent may only move the point near to zero.
        let point = (whole as i64 + exponent).clamp(i64::from(i32::MIN / 2), i64::from(i32::MAX / 2)) as i32;
        let mut decimal = Self { negative: text.starts_with('-'), kind: Kind::Finite, digits, point };
        decimal.trim();
        decimal
    }

    pub(super) fn zero() -> Self {
        Self { negative: false, kind: Kind::Finite, digits: Vec::new(), point: 0 }
    }

    fn trim(&mut self) {
        let leading = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..leading);
        self.point -= leading as i32;
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.kind == Kind::Finite && self.digits.is_empty()
    }

    /// The power of ten of the first digit; 0 for zero.
    pub(super) fn magnitude(&self) -> i32 {
        if self.digits.is_empty() { 0 } else { self.point - 1 }
    }

    /// Multiplies by a power of ten.
    pub(super) fn shift(&mut self, by: i32) {
        if !self.digits.is_empty() {
            self.point += by;
        }
    }

    /// Rounds to a multiple of `increment` times ten to the power `magnitude`.
    pub(super) fn round(&mut self, magnitude: i32, increment: u32, mode: Rounding) {
        if self.kind != Kind::Finite || self.digits.is_empty() {
            return;
        }
        let keep = self.point - magnitude;
        if increment <= 1 && keep >= self.digits.len() as i32 {
            return;
        }
        if keep < 0 {
            // Less than a tenth of the last place that is kept.
            let up = mode.up(self.negative, Ordering::Less, false);
            self.digits.clear();
            self.point = 0;
            if up {
                self.add(increment.max(1), magnitude);
            }
            return;
        }
        let keep = keep as usize;
        let rest: Vec<u8> = self.digits.get(keep..).unwrap_or_default().to_vec();
        self.digits.resize(keep, 0);
        let tail = self.digits.iter().rev().take(4).rev().fold(0u32, |sum, digit| sum * 10 + u32::from(*digit));
        let increment = increment.max(1);
        let over = tail % increment;
        let dropped = rest.iter().any(|digit| *digit != 0);
        if over == 0 && !dropped {
            self.trim();
            return;
        }
        // Twice what is dropped, against the increment.
        let first = rest.first().copied().unwrap_or(0);
        let beyond = rest.get(1..).is_some_and(|rest| rest.iter().any(|digit| *digit != 0));
        let fraction = match (first * 2).cmp(&10) {
            Ordering::Equal if beyond => Ordering::Greater,
            order => order,
        };
        let half = match (over * 2 + 1).cmp(&increment) {
            // An odd increment: its half is in the middle of a place.
            Ordering::Equal => fraction,
            Ordering::Less => Ordering::Less,
            Ordering::Greater if over * 2 == increment && !dropped => Ordering::Equal,
            Ordering::Greater => Ordering::Greater,
        };
        let odd = (tail / increment) % 2 == 1;
        let up = mode.up(self.negative, half, odd);
        self.set_tail(tail - over);
        let point = self.point;
        self.trim_after(point);
        if up {
            self.add(increment, magnitude);
        }
    }

    /// Replaces the last four digits.
    fn set_tail(&mut self, mut tail: u32) {
        for digit in self.digits.iter_mut().rev().take(4) {
            *digit = (tail % 10) as u8;
            tail /= 10;
        }
    }

    fn trim_after(&mut self, point: i32) {
        self.point = point;
        self.trim();
    }

    /// Adds `value` times ten to the power `magnitude`, away from zero.
    fn add(&mut self, value: u32, magnitude: i32) {
        if self.digits.is_empty() {
            self.point = magnitude;
        }
        let places = (self.point - magnitude).max(0) as usize;
        if self.digits.len() < places {
            self.digits.resize(places, 0);
        }
        let mut carry = value;
        for digit in self.digits.iter_mut().rev() {
            let sum = u32::from(*digit) + carry;
            *digit = (sum % 10) as u8;
            carry = sum / 10;
            if carry == 0 {
                break;
            }
        }
        while carry > 0 {
            self.digits.insert(0, (carry % 10) as u8);
            self.point += 1;
            carry /= 10;
        }
        self.trim();
    }

    /// The digits in front of the point, at least `least`, and those behind it, at least `fraction`.
    pub(super) fn written(&self, least: usize, fraction: usize) -> (String, String) {
        let digit = |at: i32| self.digits.get(at as usize).map_or('0', |digit| char::from(b'0' + digit));
        let mut whole = String::new();
        for _ in self.point.max(0)..least.min(i32::MAX as usize) as i32 {
            whole.push('0');
        }
        whole.extend((0..self.point.max(0)).map(digit));
        let mut behind = String::new();
        for _ in 0..(-self.point).max(0).min(if self.digits.is_empty() { 0 } else { i32::MAX }) {
            behind.push('0');
        }
        behind.extend((self.point.max(0)..self.digits.len() as i32).map(digit));
        while behind.len() < fraction {
            behind.push('0');
        }
        (whole, behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(text: &str, magnitude: i32, increment: u32, mode: Rounding) -> String {
        let mut decimal = Decimal::parse(text);
        decimal.round(magnitude, increment, mode);
        let (whole, fraction) = decimal.written(1, 0);
        format!("{}{whole}.{fraction}", if decimal.negative { "-" } else { "" })
    }

    #[test]
    fn every_mode_rounds_its_way() {
        let modes = [
            (Rounding::Ceil, ["2.", "3.", "-2.", "1.", "0."]),
            (Rounding::Floor, ["1.", "2.", "-3.", "0.", "-1."]),
            (Rounding::Expand, ["2.", "3.", "-3.", "1.", "-1."]),
            (Rounding::Trunc, ["1.", "2.", "-2.", "0.", "0."]),
            (Rounding::HalfCeil, ["2.", "3.", "-2.", "0.", "0."]),
            (Rounding::HalfFloor, ["1.", "2.", "-3.", "0.", "0."]),
            (Rounding::HalfExpand, ["2.", "3.", "-3.", "0.", "0."]),
            (Rounding::HalfTrunc, ["1.", "2.", "-2.", "0.", "0."]),
            (Rounding::HalfEven, ["2.", "2.", "-2.", "0.", "0."]),
        ];
        for (mode, expected) in modes {
            for (text, expected) in ["1.5", "2.5", "-2.5", "0.04", "-0.04"].into_iter().zip(expected) {
                assert_eq!(
                    rounded(text, 0, 1, mode).trim_start_matches("-0").trim_start_matches('0'),
                    expected.trim_start_matches('0'),
                    "{text} {mode:?}"
                );
            }
        }
    }

    #[test]
    fn increments_and_carries_reach_the_front() {
        assert_eq!(rounded("1.23", -2, 5, Rounding::HalfExpand), "1.25");
        assert_eq!(rounded("1.225", -2, 5, Rounding::HalfEven), "1.2");
        assert_eq!(rounded("9.98", -2, 25, Rounding::HalfExpand), "10.");
        assert_eq!(rounded("0.01", -2, 50, Rounding::Ceil), "0.5");
        assert_eq!(rounded("99999", 2, 1, Rounding::HalfExpand), "100000.");
        assert_eq!(rounded("4999", 0, 5000, Rounding::HalfExpand), "5000.");
        assert_eq!(rounded("0.000001", 0, 1, Rounding::Expand), "1.");
    }
}
