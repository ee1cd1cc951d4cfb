//! The real binary, started and ended by a test.

use std::{
    env,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::OnceLock,
    time::Duration,
};

use codemode_client::{RemoteExecutor, RemoteOptions};

use crate::processes::{self, Process};

/// A `codemoded serve` of its own; ends with its value.
pub struct Daemon {
    child: Child,
    url: String,
}

impl Daemon {
    /// A daemon with every option at its default.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// A daemon with further options of `serve`.
    ///
    /// # Panics
    /// When it does not come up, or prints something else than the one line.
    pub fn start_with(options: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", options)
    }

    /// A daemon at this `HOST:PORT`, with further options of `serve`.
    ///
    /// # Panics
    /// As [`start_with`](Self::start_with).
    pub fn start_at(address: &str, options: &[&str]) -> Self {
        let child = Command::new(binary())
            .args(["serve", "--listen", address])
            .args(options)
            .env("CODEMODED_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("codemoded starts");
        Self::of(child)
    }

    /// A daemon that a test has started its own way, with its standard output piped.
    ///
    /// # Panics
    /// When it does not come up, or prints something else than the one line.
    pub fn of(mut child: Child) -> Self {
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("codemoded prints text");
        let url = line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("codemoded printed {line:?}"));
        Self { url: url.to_owned(), child }
    }

    /// Where it listens: `ws://HOST:PORT`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The daemon's own process.
    pub fn process(&self) -> Process {
        Process::of(self.child.id()).expect("the daemon is a child of ours, so its entry stays")
    }

    /// The zygote: the daemon's only child.
    ///
    /// # Panics
    /// When there is none, or more than one.
    pub fn zygote(&self) -> Process {
        match processes::children(self.child.id()).as_slice() {
            [zygote] => *zygote,
            others => panic!("the daemon should have one child, the zygote, but has {others:?}"),
        }
    }

    /// The sandboxes: the zygote's children.
    pub fn sandboxes(&self) -> Vec<Process> {
        processes::children(self.zygote().pid())
    }

    /// The sandbox whose program burns CPU, once there is one. Blocks.
    ///
    /// # Panics
    /// When there is none for long.
    pub fn spinning_sandbox(&self) -> Process {
        let spinning = |sandbox: &Process| sandbox.cpu_ticks() > SPINNING_TICKS;
        processes::eventually(Duration::from_secs(10), || self.sandboxes().into_iter().find(spinning))
            .expect("a sandbox spins")
    }

    /// Opens a session.
    ///
    /// # Panics
    /// When the daemon refuses it.
    pub async fn connect(&self) -> RemoteExecutor {
        RemoteExecutor::connect(&self.url, RemoteOptions::default()).await.expect("the daemon takes a session")
    }

    /// Asks it to stop, as an operator would.
    pub fn terminate(&self) {
        self.process().signal(libc::SIGTERM);
    }

    /// Ends it at once, as the kernel would.
    pub fn kill(&mut self) {
        // An error means that it ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for it to end.
    ///
    /// # Panics
    /// When the system does not say how it ended.
    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("the daemon is a child of ours")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// More CPU than a sandbox uses to get ready, in the kernel's ticks of 10 ms.
const SPINNING_TICKS: u64 = 10;

/// The repository's root.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in a folder of the repository")
}

/// The binary: the one that `CODEMODE_TEST_BIN` names, else the one beside this test, built first.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| env::var_os("CODEMODE_TEST_BIN").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    let test = env::current_exe().expect("a test knows its own executable");
    // target/PROFILE/deps/TEST
    let profile = test.ancestors().nth(2).expect("a test is built into a target folder");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository()).args(["build", "--quiet", "--package", "codemode-cli", "--bin", "codemoded"]);
    command.env("CARGO_TARGET_DIR", profile.parent().expect("a profile is a folder of the target folder"));
    if profile.ends_with("release") {
        command.arg("--release");
    }
    assert!(command.status().expect("cargo runs").success(), "codemoded could not be built");
    profile.join("codemoded")
}
