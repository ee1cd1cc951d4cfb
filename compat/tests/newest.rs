//! The catalogue, through us and through the newest release of the reference.

#![allow(clippy::print_stdout, reason = "a test that does not run says why")]

use codemode_compat::{Column, Reference, suite};

#[tokio::test(flavor = "multi_thread")]
async fn every_case_of_the_newest_column_is_as_the_catalogue_says() {
    if !Reference::is_installed() {
        assert!(std::env::var_os("CI").is_none(), "the reference's packages are not installed");
        println!("skipped: `npm ci` in {} brings the reference", Reference::folder().display());
        return;
    }
    let options = suite::Options {
        columns: vec![Column::NEWEST],
        zygote: Some(env!("CARGO_BIN_EXE_codemode-compat").into()),
        ..suite::Options::default()
    };
    let report = suite::run(&options).await.expect("both sides can be asked");
    assert!(report.passed(), "{} case(s) failed: see the report above", report.failed());
}
