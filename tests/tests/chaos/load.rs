//! Calls of every kind, each known by a number that its tool sees, and what became of them.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use codemode_client::RemoteExecutor;
use codemode_protocol::{
    AcquireOptions, EnvelopeDispatch, ErrorCode, ExecuteRequest, Executor, ExecutorError, HANDLE_TAG, Host,
    InvokeOptions, Outcome, Termination, ToolNotFoundError, capnweb::Value,
};
use codemode_tests::{
    programs::{program, program_for},
    random::Random,
};
use tokio::{task::JoinHandle, time::timeout};

/// How long a call may take at all: several times what its bounds, its queue and a reopening allow.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time bound of programs that are not about it, in milliseconds: what a stopped sandbox costs.
const BOUND_MS: u64 = 2000;

/// Workers that call without a pause.
pub(crate) struct Load {
    workers: Vec<JoinHandle<()>>,
    over: Arc<AtomicBool>,
    ledger: Arc<Ledger>,
}

/// What became of calls, by a word for it.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, u64>);

#[derive(Default)]
struct Ledger {
    next: AtomicU64,
    /// How often the tool was called with each number.
    calls: Mutex<HashMap<u64, u32>>,
    tally: Mutex<Tally>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Trivial,
    Tool,
    Logs,
    Spin,
    Memory,
    Abandoned,
    Handle,
    Lease,
}

const KINDS: [Kind; 11] = [
    Kind::Trivial,
    Kind::Trivial,
    Kind::Tool,
    Kind::Tool,
    Kind::Tool,
    Kind::Logs,
    Kind::Spin,
    Kind::Memory,
    Kind::Abandoned,
    Kind::Handle,
    Kind::Lease,
];

impl Load {
    pub(crate) fn start(clients: &[Arc<RemoteExecutor>], calls: usize, random: &mut Random) -> Self {
        let (over, ledger) = (Arc::<AtomicBool>::default(), Arc::<Ledger>::default());
        let workers = clients
            .iter()
            .flat_map(|client| (0..calls).map(move |_| client.clone()))
            .map(|client| {
                let mut worker = Worker { client, ledger: ledger.clone(), random: random.fork() };
                let over = over.clone();
                tokio::spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        worker.call().await;
                    }
                })
            })
            .collect();
        Self { workers, over, ledger }
    }

    /// Begins no further call and waits for those under way.
    ///
    /// # Panics
    /// When a call had an outcome that it cannot have, or none.
    pub(crate) async fn finish(self) -> Tally {
        self.over.store(true, Ordering::Relaxed);
        for worker in self.workers {
            worker.await.expect("every call ends as it may");
        }
        std::mem::take(&mut *self.ledger.tally.lock().unwrap())
    }
}

impl Tally {
    /// Calls whose program returned.
    pub(crate) fn completed(&self) -> u64 {
        self.0.get(Termination::Completed.as_str()).copied().unwrap_or_default()
    }

    /// Calls that failed for another reason than their program's doing.
    pub(crate) fn broken(&self) -> u64 {
        let own = [ErrorCode::Overloaded, ErrorCode::HandleNotFound];
        let codes = self.0.iter().filter(|(word, _)| match ErrorCode::from_text(word) {
            ErrorCode::Other(_) => false,
            code => !own.contains(&code),
        });
        codes.map(|(_, count)| count).sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(|(word, count)| format!("{count} {word}")).collect();
        f.write_str(&words.join(", "))
    }
}

struct Worker {
    client: Arc<RemoteExecutor>,
    ledger: Arc<Ledger>,
    random: Random,
}

impl Worker {
    async fn call(&mut self) {
        let number = self.ledger.next.fetch_add(1, Ordering::Relaxed);
        let kind = *self.random.pick(&KINDS).expect("there are kinds");
        let patience =
            if matches!(kind, Kind::Abandoned) { Duration::from_millis(self.random.below(30)) } else { PATIENCE };
        let word = match timeout(patience, self.run(kind, number)).await {
            Ok(Ok(outcome)) => {
                check(kind, number, &outcome, self.ledger.times_called(number));
                outcome.termination.as_str().to_owned()
            }
            Ok(Err(error)) => {
                assert!(may_fail_with(kind, &error), "{kind:?} failed with {error:?}");
                assert!(self.ledger.times_called(number) <= 1, "a call was sent twice");
                error.code.as_str().to_owned()
            }
            Err(_) => {
                assert!(matches!(kind, Kind::Abandoned), "{kind:?} never ended");
                "abandoned".to_owned()
            }
        };
        *self.ledger.tally.lock().unwrap().0.entry(word).or_default() += 1;
    }

    async fn run(&self, kind: Kind, number: u64) -> Result<Outcome, ExecutorError> {
        match kind {
            Kind::Trivial => self.execute(program_for(BOUND_MS, &format!("async () => {number}"))).await,
            Kind::Tool => self.execute(program_for(BOUND_MS, &format!("async () => await api.once({number})"))).await,
            Kind::Logs => {
                let code = format!("async () => {{ for (let i = 0; i < 50; i++) console.log(i); return {number}; }}");
                self.execute(program_for(BOUND_MS, &code)).await
            }
            Kind::Spin | Kind::Abandoned => self.execute(program_for(100, "async () => { for (;;) {} }")).await,
            Kind::Memory => {
                let code = "async () => { const held = []; for (;;) held.push(new Uint8Array(1 << 20).fill(1)); }";
                let request = ExecuteRequest { memory_limit: Some(8 << 20), ..program_for(BOUND_MS, code) };
                self.execute(request).await
            }
            Kind::Handle => self.call_a_handle(number).await,
            Kind::Lease => {
                let lease = self.client.acquire(AcquireOptions::default()).await?;
                let request = program_for(BOUND_MS, &format!("async () => await api.once({number})"));
                lease.execute(request, self.host()).await
            }
        }
    }

    async fn execute(&self, request: ExecuteRequest) -> Result<Outcome, ExecutorError> {
        self.client.execute(request, self.host()).await
    }

    async fn call_a_handle(&self, number: u64) -> Result<Outcome, ExecutorError> {
        let request = ExecuteRequest {
            retain_handles: true,
            ..program(&format!("async () => ({{ call: () => api.once({number}) }})"))
        };
        let retained = self.execute(request).await?;
        let Some(execution) = retained.execution_id.clone() else { return Ok(retained) };
        let handle = handle(&retained);
        let answer = self.client.invoke_handle(&execution, &handle, "[]", self.host(), InvokeOptions::default()).await;
        let closed = self.client.close_handles(&execution).await;
        let answer = answer?;
        closed?;
        Ok(answer)
    }

    fn host(&self) -> Host {
        let ledger = self.ledger.clone();
        Host::with_dispatch(EnvelopeDispatch::new().provider("api", move |call| {
            let ledger = ledger.clone();
            async move {
                match (call.tool.as_str(), call.args.into_iter().next()) {
                    ("once", Some(Value::Number(number))) => {
                        ledger.called(number as u64);
                        Ok(Value::Number(number))
                    }
                    (tool, _) => Err(ToolNotFoundError::new(tool).into()),
                }
            }
        }))
    }
}

impl Ledger {
    fn called(&self, number: u64) {
        *self.calls.lock().unwrap().entry(number).or_default() += 1;
    }

    fn times_called(&self, number: u64) -> u32 {
        self.calls.lock().unwrap().get(&number).copied().unwrap_or_default()
    }
}

/// The handle in `{call}`.
fn handle(outcome: &Outcome) -> String {
    let result = outcome.result.as_ref().expect("a retained run has a result").decode().expect("the client checked it");
    let Value::Object(result) = result else { panic!("{result:?} is no object") };
    let Some(Value::Object(call)) = result.get("call") else { panic!("{result:?} holds no handle") };
    call.get(HANDLE_TAG).and_then(Value::as_str).expect("a handle is a text").to_owned()
}

/// Checks an outcome against what its program can do.
fn check(kind: Kind, number: u64, outcome: &Outcome, times_called: u32) {
    let returned = || {
        let result = outcome.result.as_ref().expect("a run that completed has a result");
        assert_eq!(result.decode().expect("the client checked it"), Value::Number(number as f64), "{kind:?}");
    };
    match (kind, outcome.termination) {
        (Kind::Trivial, Termination::Completed) => returned(),
        (Kind::Tool | Kind::Lease, Termination::Completed) => {
            returned();
            assert_eq!(times_called, 1, "the program of a call ran once");
        }
        (Kind::Logs, Termination::Completed) => {
            returned();
            assert_eq!(outcome.logs.len(), 50);
        }
        (Kind::Handle, Termination::Completed) if outcome.handles_refused => {}
        (Kind::Handle, Termination::Completed) => {
            returned();
            assert_eq!(times_called, 1, "a handle was called once");
        }
        (Kind::Memory, Termination::Memory) => {}
        // A sandbox that was stopped, or slow on a machine that is busy, ends at its bound.
        (_, Termination::Timeout) => assert!(times_called <= 1, "a call was sent twice"),
        (kind, termination) => panic!("{kind:?} ended as {termination:?}: {:?}", outcome.error),
    }
}

/// The typed errors that harm may give a call.
fn may_fail_with(kind: Kind, error: &ExecutorError) -> bool {
    match error.code {
        ErrorCode::ConnectionBroken
        | ErrorCode::ConnectionRejected
        | ErrorCode::SandboxCrashed
        | ErrorCode::Overloaded => true,
        ErrorCode::HandleNotFound => matches!(kind, Kind::Handle),
        _ => false,
    }
}
