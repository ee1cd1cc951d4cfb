//! Every global and every member of one is as in the reference, or recorded with a reason.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use codemode_compat::surface::{Surface, Table};

#[tokio::test]
async fn the_surface_differs_from_the_recorded_one_where_the_table_says_so_and_nowhere_else() {
    // Our own binary makes the sandboxes: the harness's would start the tests again.
    let ours = Surface::ours(Some(env!("CARGO_BIN_EXE_codemode-compat").into())).await.unwrap();
    let faults = Table::recorded().unwrap().judge(&ours.differences(&Surface::recorded().unwrap()));
    assert!(faults.is_empty(), "{faults}where this is meant: cargo xtask compat --surface --update");
}
