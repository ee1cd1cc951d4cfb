//! `run`: one program, its tools, its result.

mod command;
mod dialect;
mod output;
mod remote;
mod spec;
mod tools;

use std::{fs, io::Read, path::Path, sync::Arc, time::Duration};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{
    CodemodeRequest, ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, Limits, Outcome, TimeBound,
};
use codemode_sandbox::{PoolExecutor, PoolOptions, machine_memory};
use futures_util::future::{Either, select};
use tokio::time::timeout;

pub(crate) use self::{
    dialect::Dialect,
    remote::TOKEN,
    spec::{ToolSpec, Url},
};
use self::{dialect::Program, output::Report, tools::CommandTools};
use crate::{
    args,
    exit::{Failure, Status},
    settings::memory_fits,
    signals,
    terminal::say,
};

/// Runs the program and reports how it ended.
///
/// # Errors
/// What keeps the program from being sent to an executor, unless it was reported as JSON.
pub(crate) async fn run(args: args::Run) -> Result<Status, Failure> {
    let (json, file) = (args.json, args.file.clone());
    match attempt(args).await {
        Err(failure) if json => {
            let status = failure.status;
            Report { json, file: &file }.ended(&Err(failure.into_error()));
            Ok(status)
        }
        ended => ended,
    }
}

async fn attempt(args: args::Run) -> Result<Status, Failure> {
    if let (None, Some(bytes)) = (&args.url, args.memory_limit) {
        memory_fits("--memory-limit", bytes, machine_memory()).map_err(Failure::usage)?;
    }
    let limits = limits(&args);
    let program = program(&args, &limits)?;
    // After the program is read: a read of the terminal blocks, and a signal has to end it.
    let mut interrupted = signals::interruption()?;
    let remote_options = if args.url.is_some() { remote::options(&args)? } else { RemoteOptions::default() };
    let tools = CommandTools::new(args.tools, limits.call_result_bytes);
    let dispatch = (!program.request().providers.is_empty()).then(|| Arc::new(tools.clone()) as _);
    let (request, host, read) = program.into_parts(Host { dispatch, ..Host::default() });
    let report = Report { json: args.json, file: &args.file };
    let work = async {
        match &args.url {
            None => {
                let options = PoolOptions { limits, ..PoolOptions::default() };
                let pool =
                    PoolExecutor::new(options).await.map_err(|error| Failure::infrastructure(error.to_string()))?;
                Ok(execute(pool, request, host).await)
            }
            Some(Url(url)) => match RemoteExecutor::connect(url.as_str(), remote_options).await {
                Ok(remote) => Ok(execute(remote, request, host).await),
                Err(failure) => Ok(Err(failure)),
            },
        }
    };
    let ended = match select(Box::pin(work), Box::pin(interrupted.recv())).await {
        Either::Left((ended, _)) => Some(ended?),
        Either::Right(_) => None,
    };
    let Some(ended) = ended else {
        stop(&tools).await;
        if args.json {
            return Err(Failure { status: Status::Interrupted, message: "interrupted".into() });
        }
        say("interrupted");
        return Ok(Status::Interrupted);
    };
    let leaves_calls = ended.as_ref().is_ok_and(|outcome| outcome.termination.leaves_calls());
    let status = report.ended(&ended.map(read));
    if !leaves_calls {
        // Nobody is there any more who could use what they do.
        stop(&tools).await;
    }
    let left = tools.running();
    if !left.is_empty() {
        say(format_args!("waiting for what the program did not wait for: {}; interrupt to stop it", left.join(", ")));
        if let Either::Right(_) = select(Box::pin(tools.idle()), Box::pin(interrupted.recv())).await {
            stop(&tools).await;
        }
    }
    Ok(status)
}

async fn execute<E: Executor>(executor: E, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
    let ended = executor.execute(request, host).await;
    executor.dispose().await;
    ended
}

/// Stops all commands; each ends within a bound of its own.
async fn stop(tools: &CommandTools) {
    tools.stop();
    // Past the bound they are killed, so the wait is for the reaping.
    let _ = timeout(STOP_WAIT, tools.idle()).await;
}

/// One program at a time, and every bound that the user names is theirs to name.
fn limits(args: &args::Run) -> Limits {
    let mut limits = Limits { max_concurrent: 1, warm_children: 1, ..Limits::default() };
    limits.max_timeout_ms = limits.max_timeout_ms.max(args.timeout.unwrap_or(0));
    limits.max_cpu_time_ms = limits.max_timeout_ms;
    limits.max_wall_ms = limits.max_wall_ms.max(limits.max_timeout_ms);
    if let Some(bytes) = args.memory_limit {
        limits.max_memory_limit = limits.max_memory_limit.max(bytes);
        limits.memory_budget = limits.clone().on_machine(machine_memory()).memory_budget.max(bytes);
    }
    limits
}

fn program(args: &args::Run, limits: &Limits) -> Result<Program, Failure> {
    let tool_failure = |error| Failure::usage(format!("--tool: {error}"));
    let providers = spec::providers(&args.tools).map_err(tool_failure)?;
    let timeout = args.timeout.map_or(TimeBound::Default, TimeBound::Milliseconds);
    let code = source(&args.file, limits.code_bytes)?;
    let program = match args.dialect {
        Dialect::Native => Program::Native(ExecuteRequest {
            providers,
            timeout,
            // One bound on time is enough for a person.
            cpu_time: TimeBound::Ceiling,
            memory_limit: args.memory_limit,
            ..ExecuteRequest::new(code)
        }),
        Dialect::Codemode => {
            let request = CodemodeRequest { code, providers, timeout, ..CodemodeRequest::default() };
            Program::codemode(request, args.memory_limit).map_err(tool_failure)?
        }
    };
    program.request().validate(limits).map_err(|error| Failure::usage(error.message))?;
    Ok(program)
}

/// Reads the program, which may take `bound` bytes.
fn source(file: &Path, bound: u64) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let enough = bound.saturating_add(1);
    // How large it is, where the system says so without reading it all.
    let mut whole = None;
    let (name, read) = if file == Path::new("-") {
        ("standard input".to_owned(), std::io::stdin().take(enough).read_to_end(&mut bytes))
    } else {
        let read = fs::File::open(file).and_then(|open| {
            whole = open.metadata().ok().filter(fs::Metadata::is_file).map(|about| about.len());
            open.take(enough).read_to_end(&mut bytes)
        });
        (file.display().to_string(), read)
    };
    read.map_err(|error| Failure::usage(format!("{name} could not be read: {error}")))?;
    if bytes.len() as u64 > bound {
        let size = match whole.filter(|size| *size > bound) {
            Some(size) => format!("takes {size} bytes"),
            None => format!("takes more than {bound} bytes"),
        };
        return Err(Failure::usage(format!("{name} {size}; a program may take at most {bound}")));
    }
    let program = String::from_utf8(bytes)
        .map_err(|error| Failure::usage(format!("{name} must be UTF-8 text: {}", error.utf8_error())))?;
    if program.trim().is_empty() {
        return Err(Failure::usage(format!("{name} is empty; it must hold a program")));
    }
    Ok(program)
}

/// How the failure of the infrastructure ends the process: what the request itself breaks is a matter of usage.
fn status_of(failure: &ExecutorError) -> Status {
    match failure.code {
        ErrorCode::InvalidRequest => Status::Usage,
        _ => Status::Infrastructure,
    }
}

const STOP_WAIT: Duration = Duration::from_secs(2);
