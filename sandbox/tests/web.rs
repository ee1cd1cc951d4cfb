//! The Web surface against the standards, against Node, and under attack. Data and its formats: folder `web`.
#![allow(missing_docs, unreachable_pub, dead_code)]

#[path = "web/check.rs"]
mod check;
#[path = "web/page.rs"]
mod page;
#[path = "../src/guest/web/mod.rs"]
mod web;

use check::{check_cases, compare_with_node};
use page::{Host, Page};

macro_rules! tests {
    ($($name:ident: $check:ident($argument:literal);)*) => {
        $(#[test] fn $name() { $check($argument) })*
    };
}

tests! {
    timers_follow_the_standard: check_cases("cases/timers.txt");
    events_follow_the_standard: check_cases("cases/events.txt");
    abort_follows_the_standard: check_cases("cases/abort.txt");
    encoding_follows_the_standard: check_cases("cases/encoding.txt");
    structured_clone_follows_the_standard: check_cases("cases/clone.txt");
    globals_look_as_they_should: check_cases("cases/globals.txt");
    hostile_programs_change_nothing_but_their_own_objects: check_cases("cases/hostile.txt");

    events_do_as_node: compare_with_node("events");
    encoding_does_as_node: compare_with_node("encoding");
    structured_clone_does_as_node: compare_with_node("clone");
    base64_does_as_node: compare_with_node("base64");
}

#[test]
fn every_timer_is_forgotten_by_a_new_run() {
    let page = Page::new();
    page.eval("setTimeout(() => {}, 1000)");
    page.with_ctx(|ctx| {
        assert!(web::next_timer(ctx).is_some());
        web::reset_for_run(ctx);
        assert_eq!(web::next_timer(ctx), None);
    });
    assert_eq!(
        page.outcome("return performance.now() < 1000 && Math.abs(performance.timeOrigin - Date.now()) < 1000"),
        "true"
    );
}

#[test]
fn a_decoder_that_would_not_fit_is_refused_before_it_is_made() {
    let page = Page::with(Host { charge: |bytes| bytes < 1 << 20, ..Host::default() });
    let body = "return new TextDecoder('utf-16le').decode(new Uint8Array(4 << 20))";
    assert_eq!(page.outcome(body), "!RangeError");
}
