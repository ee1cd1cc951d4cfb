//! The engine and the natives under AddressSanitizer, unconfined: the tests of the Web surface in one process, and those
//! of the guest, each in a fork.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{fuzz::nightly, process, repository::Repository};

/// Bytes of stack for a program: instrumented code takes several times more than other code for the same depth.
const STACK: &str = "8388608";

/// Bytes of stack for a thread that a test runs on.
const THREAD_STACK: &str = "67108864";

/// What is run, as arguments of `cargo test`.
const TESTS: [&[&str]; 2] = [&["--test", "web"], &["--lib", "guest::"]];

pub(crate) fn run(repository: &Repository) -> Result<()> {
    if let Some(reason) = obstacle(repository) {
        bail!("AddressSanitizer cannot be had here: {reason}");
    }
    let target = host()?;
    for test in TESTS {
        process::run(
            nightly(repository)
                .args(["test", "--package", "codemode-sandbox", "--target", &target, "--target-dir"])
                .arg(repository.target().join("sanitize"))
                .args(test)
                // The engine's build script instruments C when it sees this.
                .env("RUSTFLAGS", "-Zsanitizer=address")
                .env("RUST_MIN_STACK", THREAD_STACK)
                .env("CODEMODE_TEST_STACK", STACK)
                // Children end without freeing anything, and a bound on memory is tested by asking for too much.
                .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1"),
        )?;
    }
    Ok(())
}

/// Why the tests cannot be built with it, if they cannot.
fn obstacle(repository: &Repository) -> Option<&'static str> {
    if !cfg!(all(target_os = "linux", target_env = "gnu")) {
        return Some("the tests are run with it on Linux with glibc");
    }
    if !process::succeeds(nightly(repository).arg("--version")) {
        return Some("it needs a nightly toolchain (`rustup toolchain install nightly` brings it)");
    }
    None
}

/// The target that this machine is: instrumentation must not reach build scripts, which are kept apart by naming it.
fn host() -> Result<String> {
    let version = process::output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}
