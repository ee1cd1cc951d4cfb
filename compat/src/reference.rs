//! The runner of the other side: a release of `@cloudflare/codemode` in workerd, as a child process.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use codemode_tests::processes::{self, Process};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::{Mutex as AsyncMutex, oneshot},
    time::timeout,
};

use crate::{case::Lent, outcome::canonical};

/// One release of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// What the command line calls it.
    pub name: &'static str,
    /// The package in `reference/package.json`.
    package: &'static str,
}

impl Column {
    /// Every release, the newest first.
    pub const ALL: [Self; 4] = [
        Self { name: "newest", package: "@cloudflare/codemode" },
        Self { name: "0.5.1", package: "codemode-0.5.1" },
        Self { name: "0.4.4", package: "codemode-0.4.4" },
        Self { name: "0.3.4", package: "codemode-0.3.4" },
    ];

    /// The newest release.
    pub const NEWEST: Self = Self::ALL[0];

    /// The others.
    pub const OLDER: &'static [Self] = Self::ALL.split_at(1).1;

    /// The release that `name` names.
    ///
    /// # Errors
    /// There is no such column.
    pub fn named(name: &str) -> Result<Self> {
        let all = Self::ALL.map(|column| column.name).join(", ");
        let found = Self::ALL.into_iter().find(|column| column.name == name);
        found.with_context(|| format!("there is no column `{name}`; there are: {all}"))
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// A running release. Its processes end with its value, whatever they do.
pub struct Reference {
    column: Column,
    version: String,
    requests: AsyncMutex<ChildStdin>,
    waiting: Arc<Waiting>,
    next: AtomicU64,
    // Last, because the answers end with it.
    _processes: Processes,
}

type Waiting = Mutex<HashMap<u64, oneshot::Sender<Value>>>;

impl Reference {
    /// Where the reference's packages are, or would be.
    pub fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("reference")
    }

    /// Starts a release.
    ///
    /// # Errors
    /// There is no Node, or the packages are not installed.
    pub async fn start(column: Column) -> Result<Self> {
        let mut command = Command::new("node");
        command.current_dir(Self::folder()).arg("serve.mjs").arg(column.package);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("node could not be started")?;
        let requests = child.stdin.take().context("standard input is a pipe")?;
        let answers = child.stdout.take().context("standard output is a pipe")?;
        let processes = Processes { child };
        let mut answers = BufReader::new(answers).lines();
        let ready = timeout(START, answers.next_line()).await.context("the reference does not come up")??;
        let ready: Value = serde_json::from_str(&ready.context("the reference ended before it came up")?)?;
        let version = ready["ready"].as_str().context("the reference does not tell its version")?.to_owned();
        let waiting = Arc::new(Waiting::default());
        tokio::spawn(read(answers, waiting.clone()));
        Ok(Self {
            column,
            version,
            requests: AsyncMutex::new(requests),
            waiting,
            next: AtomicU64::new(0),
            _processes: processes,
        })
    }

    /// The column.
    pub fn column(&self) -> Column {
        self.column
    }

    /// The release's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The outcome of one execution.
    ///
    /// # Errors
    /// The reference ended, or did not answer for long: a case that makes it do so must say `disposable`.
    pub async fn run(&self, lent: &Lent) -> Result<Value> {
        let answer = self.ask(lent).await?;
        match answer.get("outcome") {
            Some(outcome) => Ok(canonical(outcome.clone())),
            None => bail!("the reference died: {}", answer["failed"]),
        }
    }

    /// The outcome of one execution in an instance of its own, for a case at which the shared one failed: that may have
    /// ended of something else, as processes do on a machine that is short of memory.
    ///
    /// # Errors
    /// The instance could not be started, or it fails at the case as well.
    pub async fn run_again(column: Column, lent: &Lent) -> Result<Value> {
        Self::start(column).await?.run(lent).await
    }

    /// The outcome of one execution in an instance that is thrown away after it: `{"wedged": true}` where there is no
    /// answer in time, `{"died": true}` where the process ended.
    ///
    /// # Errors
    /// The instance could not be started.
    pub async fn run_in_disposable(column: Column, lent: &Lent) -> Result<Value> {
        let instance = Self::start(column).await?;
        match timeout(WEDGED + Duration::from_millis(lent.timeout), instance.ask(lent)).await {
            Err(_) => Ok(json!({ "wedged": true })),
            Ok(Err(_)) => Ok(json!({ "died": true })),
            Ok(Ok(answer)) => {
                Ok(answer.get("outcome").map_or_else(|| json!({ "died": true }), |it| canonical(it.clone())))
            }
        }
    }

    async fn ask(&self, lent: &Lent) -> Result<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let line = format!("{}\n", json!({ "id": id, "request": lent }));
        self.requests.lock().await.write_all(line.as_bytes()).await.context("the reference ended")?;
        let answer = timeout(ANSWER, answer).await.context("the reference does not answer")?;
        let answer = answer.context("the reference ended without an answer")?;
        ensure!(answer.is_object(), "the reference answered {answer}");
        Ok(answer)
    }
}

async fn read(mut answers: Lines<BufReader<ChildStdout>>, waiting: Arc<Waiting>) {
    while let Ok(Some(line)) = answers.next_line().await {
        let answer = serde_json::from_str::<Value>(&line).ok();
        let Some(id) = answer.as_ref().map_or_else(|| leading_id(&line), |answer| answer["id"].as_u64()) else {
            continue;
        };
        let answer =
            answer.unwrap_or_else(|| json!({ "outcome": { "unreadable": "nested too deep for JSON readers" } }));
        let sender = waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(sender) = sender {
            // The case may have given up.
            let _ = sender.send(answer);
        }
    }
    // Nobody answers any more: those who wait learn it from their dropped senders.
    waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// The id of an answer that our JSON reader refuses.
fn leading_id(line: &str) -> Option<u64> {
    line.strip_prefix("{\"id\":")?.split(',').next()?.parse().ok()
}

/// Node and its workerd.
struct Processes {
    child: Child,
}

impl Drop for Processes {
    fn drop(&mut self) {
        // None when the child was reaped. Its workerd goes first, for nobody else would end one that spins.
        let Some(node) = self.child.id() else { return };
        for process in processes::descendants(node).into_iter().chain(Process::of(node)) {
            process.signal(KILL);
        }
    }
}

/// Starting Node and bundling take a second, on a busy machine many.
const START: Duration = Duration::from_secs(240);

/// No case's answer takes so long.
const ANSWER: Duration = Duration::from_secs(120);

/// How long after a run's timeout a silent reference counts as wedged.
const WEDGED: Duration = Duration::from_secs(4);

/// `SIGKILL`.
const KILL: i32 = 9;
