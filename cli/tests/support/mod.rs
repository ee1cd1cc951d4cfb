//! The real binary.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How a run of the binary ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

pub fn codemoded(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codemoded"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CODEMODED_")) {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::null());
    // SAFETY: between fork and exec nothing but signal is called, which may be.
    unsafe {
        command.pre_exec(|| {
            // One that whoever runs the tests has ignored, as nohup does, would stay ignored.
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
    command
}

/// Runs the binary to its end with `input` on its standard input.
pub fn ended(args: &[&str], input: &str) -> Ended {
    let mut child =
        codemoded(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What does not read its input is fine.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A process of the test's that is killed with it.
pub struct Owned(pub Child);

impl Owned {
    pub fn signal(&self, signal: i32) {
        // SAFETY: `kill` takes two integers; the child is not reaped while it is ours.
        assert_eq!(unsafe { libc::kill(self.0.id() as i32, signal) }, 0);
    }

    /// Waits for the end within a minute.
    pub fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the process does not end");
            thread::yield_now();
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A daemon on a port of its own.
pub struct Daemon {
    pub process: Owned,
    pub url: String,
    out: BufReader<ChildStdout>,
}

impl Daemon {
    pub fn start(args: &[&str]) -> Self {
        let mut child = codemoded(&["serve", "--listen", "127.0.0.1:0", "--log", "error"])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let process = Owned(child);
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let url = line.strip_prefix("listening on ").and_then(|url| url.strip_suffix('\n'));
        let url = url.unwrap_or_else(|| panic!("the first line is {line:?}")).to_owned();
        Self { process, url, out }
    }

    /// Sends `signal` and waits for the end: the status, and what was printed after the first line.
    pub fn stop(mut self, signal: i32) -> (ExitStatus, String) {
        self.process.signal(signal);
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (self.process.end(), rest)
    }
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path)
}
