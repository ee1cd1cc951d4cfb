//! What programs pass to `Intl`: language tags, time zones, numbers, dates and texts.
#![no_main]
#![allow(dead_code, unreachable_pub, unused_imports)]

#[path = "../../sandbox/src/guest/web/intl/cuts.rs"]
mod cuts;
#[path = "../../sandbox/src/guest/web/intl/data.rs"]
mod data;
#[path = "../../sandbox/src/guest/web/intl/date/mod.rs"]
mod date;
#[path = "../../sandbox/src/guest/web/intl/decimal.rs"]
mod decimal;
#[path = "../../sandbox/src/guest/web/intl/hold.rs"]
mod hold;
#[path = "../../sandbox/src/guest/web/intl/number/mod.rs"]
mod number;
#[path = "../../sandbox/src/guest/web/intl/parts.rs"]
mod parts;
#[path = "../../sandbox/src/guest/web/intl/plural.rs"]
mod plural;
#[path = "../../sandbox/tests/web/seeded.rs"]
mod seeded;
#[path = "../../sandbox/src/guest/web/intl/tag.rs"]
mod tag;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hold::hold(data));
