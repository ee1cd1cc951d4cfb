//! The zygote as a program of its own, for embedding programs that do not call `run_if_zygote` themselves.

use std::{
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    codemode_sandbox::run_if_zygote();
    let _ = writeln!(io::stderr(), "codemode-zygote is started by a pool of sandboxes; it does nothing by itself");
    ExitCode::from(2)
}
