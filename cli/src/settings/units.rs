//! Durations and sizes as people write them: `250ms`, `5s`, `10m`, `128MiB`. A number alone is milliseconds or bytes.

/// Units of time, with their milliseconds, the largest first.
const TIMES: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Units of size, with their bytes, the largest first.
const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// A duration in milliseconds; none when the text is no duration, or one that is too long to count.
pub(crate) fn parse_time(text: &str) -> Option<u64> {
    parse(text, &TIMES)
}

/// A size in bytes; none when the text is no size, or one that is too large to count.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    parse(text, &SIZES)
}

/// A duration in the largest unit that says it in a whole number.
pub(crate) fn show_time(milliseconds: u64) -> String {
    show(milliseconds, &TIMES)
}

/// A size in the largest unit that says it in a whole number.
pub(crate) fn show_size(bytes: u64) -> String {
    show(bytes, &SIZES)
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim_start() {
        "" if unit.is_empty() => 1,
        unit => units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

fn show(amount: u64, units: &[(&str, u64)]) -> String {
    let whole = |(_, factor): &&(&str, u64)| amount > 0 && amount.is_multiple_of(*factor);
    // The last unit is one, so that only nothing at all has no unit; it takes the smallest.
    match units.iter().find(whole).or(units.last()) {
        Some((unit, factor)) => format!("{}{unit}", amount / factor),
        None => amount.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_meant() {
        for (text, milliseconds) in
            [("0", 0), ("250", 250), ("250ms", 250), ("5s", 5000), ("5 s", 5000), ("10m", 600_000), ("1D", 86_400_000)]
        {
            assert_eq!(parse_time(text), Some(milliseconds), "{text}");
        }
        for (text, bytes) in
            [("1048576", 1 << 20), ("7B", 7), ("64KiB", 65_536), ("128mib", 128 << 20), ("1GiB", 1 << 30)]
        {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        for text in
            ["", "s", "-5", "5.5s", "1m30s", "5 ", " 5", "5x", "5 minutes", "99999999999999999999", "999999999999d"]
        {
            assert_eq!(parse_time(text), None, "{text:?}");
        }
        for text in ["", "MiB", "64MB", "64M", "1k", "-1", "18446744073709551615KiB"] {
            assert_eq!(parse_size(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_the_same() {
        for amount in [0, 1, 59, 999, 1000, 1001, 1024, 60_000, 90_000, 65_536, 86_400_000, 128 << 20, u64::MAX] {
            assert_eq!(parse_time(&show_time(amount)), Some(amount));
            assert_eq!(parse_size(&show_size(amount)), Some(amount));
        }
        assert_eq!((show_time(300_000), show_time(90_000), show_time(0)), ("5m".into(), "90s".into(), "0ms".into()));
        assert_eq!((show_size(128 << 20), show_size(1000)), ("128MiB".into(), "1000B".into()));
    }
}
