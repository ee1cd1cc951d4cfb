//! Time values as dates of the proleptic Gregorian calendar.

/// The fields of a moment in one time zone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Civil {
    /// Astronomical: 0 is the year before 1.
    pub(super) year: i64,
    /// 0 to 11.
    pub(super) month: usize,
    pub(super) day: u32,
    /// 0 is Sunday.
    pub(super) weekday: usize,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) millisecond: u32,
}

impl Civil {
    /// The fields of milliseconds since the epoch, shifted by an offset from UTC in seconds.
    pub(super) fn at(time: i64, offset: i32) -> Self {
        let local = time + i64::from(offset) * 1000;
        let (days, millis) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        let part = |unit: i64, of: i64| (millis / unit % of) as u32;
        Self {
            year,
            month,
            day,
            weekday: (days + 4).rem_euclid(7) as usize,
            hour: part(3_600_000, 24),
            minute: part(60_000, 60),
            second: part(1000, 60),
            millisecond: part(1, 1000),
        }
    }
}

/// Year, month from 0 and day of a number of days since the epoch. Years are counted from March, in eras of 400.
fn date_of(days: i64) -> (i64, usize, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted + 2) / 5 + 1) as u32;
    let month = (shifted + 2) % 12;
    (year_of_era + era * 400 + i64::from(month < 2), month as usize, day)
}

/// Milliseconds.
const DAY: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates_at_every_edge() {
        for (days, expected) in [
            (0, (1970, 0, 1)),
            (-1, (1969, 11, 31)),
            (11_016, (2000, 1, 29)),
            (-719_528, (0, 0, 1)),
            (100_000_000, (275_760, 8, 13)),
            (-100_000_000, (-271_821, 3, 20)),
        ] {
            assert_eq!(date_of(days), expected, "{days}");
        }
        assert_eq!(Civil::at(-1, 0).millisecond, 999);
        assert_eq!(Civil::at(0, 0).weekday, 4);
    }
}
