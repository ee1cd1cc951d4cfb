//! One text as a language tag, as a time zone and as a number: what a program may pass to `Intl`.
#![no_main]
#![allow(dead_code, unreachable_pub)]

#[path = "../../sandbox/src/guest/web/intl/data.rs"]
mod data;
#[path = "../../sandbox/src/guest/web/intl/date/mod.rs"]
mod date;
#[path = "../../sandbox/src/guest/web/intl/decimal.rs"]
mod decimal;
#[path = "../../sandbox/src/guest/web/intl/number/mod.rs"]
mod number;
#[path = "../../sandbox/src/guest/web/intl/parts.rs"]
mod parts;
#[path = "../../sandbox/src/guest/web/intl/plural.rs"]
mod plural;
#[path = "../../sandbox/src/guest/web/intl/tag.rs"]
mod tag;

libfuzzer_sys::fuzz_target!(|input: &str| {
    if let Some(canonical) = tag::canonical(input) {
        assert_eq!(tag::canonical(&canonical).as_deref(), Some(canonical.as_str()));
        assert!(!tag::parts(&canonical).is_empty());
        tag::likely(&canonical, true);
        tag::likely(&canonical, false);
        tag::region(&canonical);
        if let Some(best) = tag::best(&canonical) {
            assert!(canonical.starts_with(&best) && tag::available(&best).is_some());
        }
        let keywords: Vec<String> = input.split('-').map(str::to_owned).collect();
        tag::with_keywords("en", &keywords);
        tag::with_parts("en", input, input, input);
    }
    if let Some(zone) = date::Zone::named(input) {
        let again = date::Zone::named(&zone.name).map(|zone| zone.name);
        assert_eq!(again, Some(zone.name));
    }
    let value = decimal::Decimal::parse(input);
    for mode in ["ceil", "floor", "halfEven", "halfExpand"] {
        for (magnitude, increment) in [(0, 1), (-2, 1), (-2, 5), (3, 1), (-1, 5000)] {
            let mut rounded = value.clone();
            rounded.round(magnitude, increment, decimal::Rounding::named(mode));
            let once = rounded.clone();
            rounded.round(magnitude, increment, decimal::Rounding::named(mode));
            assert_eq!(rounded, once);
        }
    }
});
