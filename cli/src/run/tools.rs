//! The tools of `run`: each call of the program is one run of the user's command.

use std::{collections::HashMap, process::ExitStatus, sync::Arc};

use codemode_protocol::{
    CancelSource, Dispatch, HostCall, HostCallError, capnweb::Value, encode_error, encode_result, text,
};
use futures_util::future::{BoxFuture, FutureExt, select};
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::{
    command::{self, End, Printed},
    spec::ToolSpec,
};
use crate::terminal::{Harmless, say};

/// Answers host calls by running commands.
#[derive(Clone)]
pub(crate) struct CommandTools {
    commands: Arc<HashMap<(String, String), String>>,
    /// The most that a command may print, in bytes.
    bound: u64,
    stop: CancelSource,
    /// The calls that run, by name.
    running: watch::Sender<Vec<String>>,
}

impl CommandTools {
    /// The tools of the command line; `bound` is the most that one call may print, in bytes.
    pub(crate) fn new(tools: Vec<ToolSpec>, bound: u64) -> Self {
        let commands = tools.into_iter().map(|tool| ((tool.namespace, tool.name), tool.command));
        Self {
            commands: Arc::new(commands.collect()),
            bound,
            stop: CancelSource::new(),
            running: watch::Sender::new(Vec::new()),
        }
    }

    /// Stops every command that runs.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// The names of the calls that run.
    pub(crate) fn running(&self) -> Vec<String> {
        self.running.borrow().clone()
    }

    /// Resolves when no command runs.
    pub(crate) async fn idle(&self) {
        // An error means that the sender is gone, and `self` holds one.
        let _ = self.running.subscribe().wait_for(Vec::is_empty).await;
    }
}

impl Dispatch for CommandTools {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, HostCallError>> {
        let HostCall { provider, tool, args_json, cancel } = call;
        let Some(command) = self.commands.get(&(provider.clone(), tool.clone())).cloned() else {
            return std::future::ready(Ok(encode_error(&text::tool_not_found(&tool)))).boxed();
        };
        let name = format!("{provider}.{tool}");
        let running = Running::begin(&self.running, &name);
        let (bound, stop) = (self.bound, self.stop.token());
        // In a task of its own, because it has to come to its end also when nobody polls for the answer.
        let run = tokio::spawn(async move {
            let envelope =
                answer(&name, &command, &args_json, bound, select(cancel.cancelled(), stop.cancelled()).map(drop))
                    .await;
            drop(running);
            envelope
        });
        async move { run.await.map_err(|failure| HostCallError::new(failure.to_string())) }.boxed()
    }
}

/// Runs the command and puts what it printed into an envelope.
async fn answer(name: &str, command: &str, args_json: &str, bound: u64, cancelled: impl Future<Output = ()>) -> String {
    let input = if args_json.trim_ascii().is_empty() { "[]" } else { args_json };
    let (end, printed) = match command::run(command, input, bound, cancelled).await {
        Ok(ran) => ran,
        Err(error) => return encode_error(&format!("{name} could not be started: {error}")),
    };
    match end {
        End::Exited(status) if status.success() => {
            for line in String::from_utf8_lossy(&printed.err).lines() {
                say(format_args!("[{name}] {}", Harmless(line)));
            }
            success(printed.out)
        }
        End::Exited(status) => encode_error(&failure(name, status, &printed)),
        End::TooMuch => encode_error(&format!("{name} printed more than its {bound} byte bound. Print less.")),
        End::Cancelled => encode_error(&format!("{name} was stopped")),
    }
}

/// JSON is passed on as it is, anything else as text without its last line end.
fn success(out: Vec<u8>) -> String {
    if let Ok(json) = serde_json::from_slice::<&RawValue>(&out) {
        return format!("{{\"result\":{}}}", json.get());
    }
    let mut text = String::from_utf8_lossy(&out).into_owned();
    if text.ends_with('\n') {
        text.pop();
    }
    encode_result(&Value::from(text)).unwrap_or_else(|error| encode_error(&error.to_string()))
}

fn failure(name: &str, status: ExitStatus, printed: &Printed) -> String {
    let said = String::from_utf8_lossy(&printed.err);
    match said.trim() {
        "" => format!("{name} failed ({status})"),
        said => format!("{name} failed ({status}): {said}"),
    }
}

/// A call's place among those that run.
struct Running {
    running: watch::Sender<Vec<String>>,
    name: String,
}

impl Running {
    fn begin(running: &watch::Sender<Vec<String>>, name: &str) -> Self {
        running.send_modify(|names| names.push(name.to_owned()));
        Self { running: running.clone(), name: name.to_owned() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.running.send_modify(|names| {
            if let Some(at) = names.iter().position(|name| *name == self.name) {
                names.swap_remove(at);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use codemode_protocol::{CancelToken, EnvelopeError, parse_envelope};

    use super::*;

    fn tools(bound: u64, specs: &[&str]) -> CommandTools {
        CommandTools::new(specs.iter().map(|spec| spec.parse().unwrap()).collect(), bound)
    }

    async fn call(tools: &CommandTools, tool: &str, args: &str) -> Result<Result<Value, String>, EnvelopeError> {
        let cancel = CancelToken::never();
        let call = HostCall { provider: "t".into(), tool: tool.into(), args_json: args.into(), cancel };
        parse_envelope(&tools.call(call).await.unwrap())
    }

    #[tokio::test]
    async fn output_is_json_or_text() {
        let tools = tools(
            1000,
            &[
                "t.args=cat",
                "t.text=printf 'a\\nb\\n'",
                "t.number=echo ' 7 '",
                "t.nothing=:",
                "t.almost=echo '{\"a\":1} x'",
            ],
        );
        for (tool, args, expected) in [
            ("args", "[1,\"a\"]", Value::Array(vec![1.into(), "a".into()])),
            ("args", "", Value::Array(vec![])),
            ("text", "[]", "a\nb".into()),
            ("number", "[]", 7.into()),
            ("nothing", "[]", "".into()),
            ("almost", "[]", "{\"a\":1} x".into()),
        ] {
            assert_eq!(call(&tools, tool, args).await.unwrap().unwrap(), expected, "{tool}");
        }
    }

    #[tokio::test]
    async fn a_failure_carries_what_the_command_said() {
        let tools = tools(10, &["t.fail=echo no such thing >&2; exit 4", "t.silent=exit 1", "t.long=yes"]);
        for (tool, expected) in [
            ("fail", "t.fail failed (exit status: 4): no such thing"),
            ("silent", "t.silent failed (exit status: 1)"),
            ("long", "t.long printed more than its 10 byte bound. Print less."),
            ("other", "Tool \"other\" not found"),
        ] {
            assert_eq!(call(&tools, tool, "[]").await.unwrap().unwrap_err(), expected);
        }
    }

    #[tokio::test]
    async fn calls_run_at_the_same_time_and_stop_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        // Each waits for the other's sign, so they only end when both run.
        let meet =
            |own: &str, other: &str| format!("touch {path}/{own}; until [ -e {path}/{other} ]; do sleep 0.01; done");
        let tools =
            tools(10, &[&format!("t.a={}", meet("a", "b")), &format!("t.b={}", meet("b", "a")), "t.hang=sleep 60"]);
        let (a, b) = tokio::join!(call(&tools, "a", ""), call(&tools, "b", ""));
        assert_eq!((a.unwrap().unwrap(), b.unwrap().unwrap()), ("".into(), "".into()));
        tools.idle().await;

        let hang = call(&tools, "hang", "");
        let (answer, ()) = tokio::join!(hang, async {
            while tools.running() != ["t.hang"] {
                tokio::task::yield_now().await;
            }
            tools.stop();
        });
        assert_eq!(answer.unwrap().unwrap_err(), "t.hang was stopped");
        tools.idle().await;
    }
}
