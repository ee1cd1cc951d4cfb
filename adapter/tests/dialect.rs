//! The adapter over an executor that does what a test tells it.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail as the test does")]

use std::{
    future::Future,
    io,
    sync::{Arc, Mutex},
};

use codemode_adapter::{
    CodemodeExecutor, CodemodeResult, Connector, ConnectorBinding, ExecuteOptions, OutboundTarget, Provider, Tools,
};
use codemode_protocol::{
    CancelSource, CancelToken, Dispatch, Encoded, ErrorCode, ExecuteRequest, Executor, ExecutorError, Host, HostCall,
    HostCallError, LogLevel, LogLine, Outbound, OutboundMode, OutboundRequest, OutboundResponse, Outcome,
    ProviderDescriptor, ResultEncoding, Stats, Termination, TimeBound,
    capnweb::{BytesKind, Object, Value},
};
use futures_util::future::{BoxFuture, FutureExt};

/// Keeps what it was asked for, makes the calls that it is told to make, and gives the outcome that it is told to give.
#[derive(Clone, Default)]
struct Fake {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    calls: Vec<(&'static str, &'static str, &'static str)>,
    outcome: Option<Result<Outcome, ExecutorError>>,
    requests: Vec<ExecuteRequest>,
    outbound: Vec<bool>,
    answers: Vec<String>,
    dispatch: Option<Arc<dyn Dispatch>>,
    disposed: u32,
}

impl Executor for Fake {
    async fn execute(&self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        let (calls, outcome) = {
            let mut state = self.state.lock().unwrap();
            state.requests.push(request);
            state.outbound.push(host.outbound.is_some());
            state.dispatch = host.dispatch.clone();
            (state.calls.clone(), state.outcome.take())
        };
        let dispatch = host.dispatch.expect("dispatch rides every request");
        for call in calls {
            let answer = ask(&*dispatch, call).await;
            self.state.lock().unwrap().answers.push(answer);
        }
        outcome.unwrap_or_else(|| Ok(completed(&Value::Undefined)))
    }

    fn dispose(&self) -> impl Future<Output = ()> + Send {
        self.state.lock().unwrap().disposed += 1;
        async {}
    }
}

async fn ask(dispatch: &dyn Dispatch, (provider, tool, args): (&str, &str, &str)) -> String {
    let call =
        HostCall { provider: provider.into(), tool: tool.into(), args_json: args.into(), cancel: CancelToken::never() };
    dispatch.call(call).await.unwrap_or_else(|error| format!("rejected: {error}"))
}

fn completed(value: &Value) -> Outcome {
    Outcome {
        result: Some(Encoded::from_value(value).unwrap()),
        error: None,
        error_details: None,
        logs: Vec::new(),
        termination: Termination::Completed,
        execution_id: None,
        handles_refused: false,
        stats: Stats::default(),
    }
}

fn failed(error: &str, termination: Termination) -> Outcome {
    Outcome { result: None, error: Some(error.into()), termination, ..completed(&Value::Undefined) }
}

impl Fake {
    fn giving(outcome: Result<Outcome, ExecutorError>) -> Self {
        let fake = Self::default();
        fake.state.lock().unwrap().outcome = Some(outcome);
        fake
    }

    fn request(&self) -> ExecuteRequest {
        let requests = &self.state.lock().unwrap().requests;
        assert_eq!(requests.len(), 1);
        requests[0].clone()
    }
}

/// Answers with its arguments.
fn echo() -> Tools {
    Tools::new().with("echo", |call| async { Ok(Value::Array(call.args)) })
}

/// What the dispatch of an execution with these providers and connectors answers.
async fn answers(
    providers: Vec<Provider>,
    connectors: Vec<ConnectorBinding>,
    calls: &[(&'static str, &'static str, &'static str)],
) -> Vec<String> {
    let fake = Fake::default();
    fake.state.lock().unwrap().calls = calls.to_vec();
    let options = ExecuteOptions { connectors, ..ExecuteOptions::default() };
    CodemodeExecutor::new(fake.clone()).execute("1", providers, options).await.unwrap();
    let state = fake.state.lock().unwrap();
    state.answers.clone()
}

#[tokio::test]
async fn an_execution_without_options_sends_what_the_dialect_means_and_nothing_else() {
    let fake = Fake::default();
    let executor = CodemodeExecutor::new(fake.clone());
    let providers = [Provider::new("codemode", echo())];
    executor.execute("```js\n1 + 2\n```", providers, ExecuteOptions::default()).await.unwrap();
    let expected = ExecuteRequest {
        code: "async () => {\nreturn (1 + 2)\n}".into(),
        providers: vec![ProviderDescriptor {
            name: "codemode".into(),
            tools: vec!["echo".into()],
            prelude: None,
            positional_args: None,
            proxy_source: None,
        }],
        modules: None,
        timeout: TimeBound::Default,
        count_host_waits: true,
        outbound: OutboundMode::Default,
        memory_limit: None,
        stack_limit: Some(8 << 20),
        cpu_time: TimeBound::Ceiling,
        drop_functions: true,
        retain_handles: false,
        result_encoding: ResultEncoding::Value,
        id: None,
        traceparent: None,
    };
    assert_eq!(fake.request(), expected);
    assert_eq!(fake.state.lock().unwrap().outbound, [false]);
}

#[tokio::test]
async fn options_and_members_of_providers_are_passed_on_as_they_are() {
    struct Nowhere;
    impl Outbound for Nowhere {
        fn fetch(&self, _: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
            async { Err("nowhere".to_owned()) }.boxed()
        }
    }

    let fake = Fake::default();
    let provider = Provider {
        prelude: Some("x = 1".into()),
        positional_args: Some(false),
        proxy_source: Some("call => ({})".into()),
        ..Provider::new("api", Tools::new())
    };
    let options = ExecuteOptions {
        modules: Some([("lib.js".to_owned(), "export const a = 9".to_owned())].into()),
        timeout: TimeBound::Milliseconds(250),
        outbound: OutboundTarget::Function(Arc::new(Nowhere)),
        id: Some("123e4567-e89b-12d3-a456-426614174000".into()),
        ..ExecuteOptions::default()
    };
    CodemodeExecutor::new(fake.clone()).execute("1", [provider], options.clone()).await.unwrap();
    let request = fake.request();
    assert_eq!(request.modules, options.modules);
    assert_eq!(request.timeout, options.timeout);
    assert_eq!(request.outbound, OutboundMode::Stub);
    assert_eq!(request.id, options.id);
    assert_eq!(
        request.providers,
        [ProviderDescriptor {
            name: "api".into(),
            tools: Vec::new(),
            prelude: Some("x = 1".into()),
            positional_args: Some(false),
            proxy_source: Some("call => ({})".into()),
        }]
    );
    assert_eq!(fake.state.lock().unwrap().outbound, [true]);

    let fake = Fake::default();
    let options = ExecuteOptions { outbound: OutboundTarget::Blocked, ..ExecuteOptions::default() };
    CodemodeExecutor::new(fake.clone()).execute("1", [], options).await.unwrap();
    assert_eq!(fake.request().outbound, OutboundMode::Blocked);
    assert_eq!(fake.state.lock().unwrap().outbound, [false]);
}

#[tokio::test]
async fn a_timeout_of_zero_is_the_shortest_and_null_the_longest() {
    for (given, sent) in [
        (TimeBound::Milliseconds(0), TimeBound::Milliseconds(1)),
        (TimeBound::Milliseconds(1), TimeBound::Milliseconds(1)),
        (TimeBound::Ceiling, TimeBound::Ceiling),
        (TimeBound::Default, TimeBound::Default),
    ] {
        let fake = Fake::default();
        let options = ExecuteOptions { timeout: given, ..ExecuteOptions::default() };
        CodemodeExecutor::new(fake.clone()).execute("1", [], options).await.unwrap();
        assert_eq!(fake.request().timeout, sent);
    }
}

#[tokio::test]
async fn tools_are_found_under_their_sanitized_names_and_no_others() {
    let ok = |name: &str| Tools::new().with(name, |_| async { Ok(Value::from("ok")) });
    let mut tools = Tools::new();
    for name in ["list-issues", "delete", "3d", "greet/tool", "поиск"] {
        let one = ok(name);
        tools = tools.with(name, move |call| {
            let _ = &one;
            async move { Ok(Value::from(format!("ok {}", call.tool))) }
        });
    }
    let provider = Provider::new("codemode", tools);
    let found = [
        ("list_issues", "list_issues"),
        ("delete_", "delete_"),
        ("_3d", "_3d"),
        ("greettool", "greettool"),
        ("_", "_"),
    ];
    for (called, told) in found {
        let answer = answers(vec![provider.clone()], vec![], &[("codemode", called, "[]")]).await;
        assert_eq!(answer, [format!("{{\"result\":\"ok {told}\"}}")]);
    }
    let missing = ["list-issues", "nope", "toString", "constructor", "hasOwnProperty", "__proto__", "then", ""];
    for called in missing {
        let answer = answers(vec![provider.clone()], vec![], &[("codemode", called, "[]")]).await;
        assert_eq!(answer, [format!("{{\"error\":\"Tool \\\"{called}\\\" not found\"}}")]);
    }
    let undeclared = answers(vec![], vec![], &[("github", "list", "[]"), ("codemode", "echo", "")]).await;
    assert_eq!(
        undeclared,
        ["{\"error\":\"Tool \\\"list\\\" not found\"}", "{\"error\":\"Tool \\\"echo\\\" not found\"}"]
    );
}

#[tokio::test]
async fn descriptors_list_the_sanitized_names_in_the_order_of_the_record() {
    let fake = Fake::default();
    let names = ["b-c", "2", "delete", "1"];
    let tools = names.iter().fold(Tools::new(), |tools, name| tools.with(*name, |_| async { Ok(Value::Null) }));
    CodemodeExecutor::new(fake.clone())
        .execute("1", [Provider::new("p", tools)], ExecuteOptions::default())
        .await
        .unwrap();
    assert_eq!(fake.request().providers[0].tools, ["_1", "_2", "b_c", "delete_"]);
}

#[tokio::test]
async fn arguments_and_results_ride_in_the_envelope() {
    let tools = echo()
        .with("count", |call| async move { Ok(Value::Number(call.args.len() as f64)) })
        .with("kind", |call| async move {
            Ok(Value::from(match call.args.first() {
                Some(Value::Bytes(BytesKind::Uint8Array, bytes)) => format!("Uint8Array:{bytes:?}"),
                Some(Value::Bytes(BytesKind::ArrayBuffer, bytes)) => format!("ArrayBuffer:{bytes:?}"),
                other => format!("{other:?}"),
            }))
        })
        .with("nothing", |_| async { Ok(Value::Undefined) })
        .with("bytes", |_| async { Ok(Value::Bytes(BytesKind::Uint8Array, vec![1, 2])) })
        .with("bigint", |_| async { Ok(Value::BigInt("1".into())) })
        .with("bad", |_| async { Err(HostCallError::new("nope")) })
        .with("empty", |_| async { Err(HostCallError::new("")) });
    let cases = [
        ("count", "", "{\"result\":0}"),
        ("count", "[]", "{\"result\":0}"),
        ("count", "[1,null,3]", "{\"result\":3}"),
        ("count", "{\"a\":1}", "{\"result\":1}"),
        ("echo", "[null,{\"b\":1},\"x\"]", "{\"result\":[null,{\"b\":1},\"x\"]}"),
        ("echo", "[{\"__proto__\":{\"x\":1}}]", "{\"result\":[{\"__proto__\":{\"x\":1}}]}"),
        (
            "kind",
            "[{\"__codemode_binary_v1__\":\"Uint8Array\",\"data\":\"AQI=\"}]",
            "{\"result\":\"Uint8Array:[1, 2]\"}",
        ),
        (
            "kind",
            "[{\"__codemode_binary_v1__\":\"ArrayBuffer\",\"data\":\"AQI=\"}]",
            "{\"result\":\"ArrayBuffer:[1, 2]\"}",
        ),
        (
            "kind",
            "[{\"__codemode_binary_v1__\":\"ArrayBufferView\",\"data\":\"AQACAA==\"}]",
            "{\"result\":\"Uint8Array:[1, 0, 2, 0]\"}",
        ),
        ("nothing", "[]", "{}"),
        ("bytes", "[]", "{\"result\":{\"__codemode_binary_v1__\":\"Uint8Array\",\"data\":\"AQI=\"}}"),
        ("bigint", "[]", "{\"error\":\"Do not know how to serialize a BigInt\"}"),
        ("bad", "[]", "{\"error\":\"nope\"}"),
        ("empty", "[]", "{\"error\":\"\"}"),
    ];
    for (tool, args, answer) in cases {
        let given = answers(vec![Provider::new("codemode", tools.clone())], vec![], &[("codemode", tool, args)]).await;
        assert_eq!(given, [answer], "{tool}({args})");
    }
}

struct Desk;

impl Connector for Desk {
    fn call_tool(
        &self,
        tool: String,
        argument: Value,
        _: CancelToken,
    ) -> BoxFuture<'static, Result<Value, HostCallError>> {
        let marker = |control: &str, message: Option<Value>| {
            let mut object = Object::new();
            object.insert("__codemode_control__", Value::from(control));
            if let Some(message) = message {
                object.insert("message", message);
            }
            Ok(Value::Object(object))
        };
        async move {
            match tool.as_str() {
                "pause" => marker("pause", None),
                "error" => marker("error", Some(Value::from("refused"))),
                "number" => marker("error", Some(Value::Number(5.0))),
                "silent" => marker("error", None),
                "other" => marker("resume", None),
                "broken" => Err(HostCallError::new("broken")),
                _ => Ok(Value::Array(vec![Value::from(tool), Value::Bool(argument == Value::Undefined), argument])),
            }
        }
        .boxed()
    }
}

#[tokio::test]
async fn a_connector_answers_any_name_and_its_control_markers_are_failures() {
    let cases = [
        ("list-issues", "[{\"a\":1},2]", "{\"result\":[\"list-issues\",false,{\"a\":1}]}"),
        ("toString", "[]", "{\"result\":[\"toString\",true,null]}"),
        ("pause", "[]", "{\"error\":\"__CODEMODE_PAUSE__\"}"),
        ("error", "[]", "{\"error\":\"refused\"}"),
        ("number", "[]", "{\"error\":\"5\"}"),
        ("silent", "[]", "{\"error\":\"undefined\"}"),
        ("other", "[]", "{\"result\":{\"__codemode_control__\":\"resume\"}}"),
        ("broken", "[]", "{\"error\":\"broken\"}"),
    ];
    for (tool, args, answer) in cases {
        let given = answers(vec![], vec![ConnectorBinding::new("desk", Desk)], &[("desk", tool, args)]).await;
        assert_eq!(given, [answer], "{tool}");
    }
}

#[tokio::test]
async fn connectors_come_behind_providers_and_list_no_tools() {
    let fake = Fake::default();
    let options = ExecuteOptions { connectors: vec![ConnectorBinding::new("desk", Desk)], ..ExecuteOptions::default() };
    CodemodeExecutor::new(fake.clone()).execute("1", vec![Provider::new("codemode", echo())], options).await.unwrap();
    let names: Vec<_> = fake.request().providers.into_iter().map(|provider| (provider.name, provider.tools)).collect();
    assert_eq!(names, [("codemode".to_owned(), vec!["echo".to_owned()]), ("desk".to_owned(), vec![])]);
}

#[tokio::test]
async fn a_refused_execution_reaches_no_executor_and_has_no_logs() {
    let colliding =
        || ["a-b", "a_b"].iter().fold(Tools::new(), |tools, name| tools.with(*name, |_| async { Ok(Value::Null) }));
    let cases = [
        (vec![Provider::new("Promise", Tools::new())], vec![], "Provider name \"Promise\" is reserved"),
        (
            vec![Provider::new("my-tools", Tools::new())],
            vec![],
            "Provider name \"my-tools\" is not a valid JavaScript identifier",
        ),
        (vec![Provider::new("class", Tools::new())], vec![], "Provider name \"class\" is a JavaScript reserved word"),
        (vec![], vec!["my-api"], "Connector name \"my-api\" is not a valid JavaScript identifier"),
        (
            vec![Provider::new("api", Tools::new())],
            vec!["api"],
            "Duplicate name \"api\" (connector clashes with provider)",
        ),
        (
            vec![Provider::new("codemode", colliding())],
            vec![],
            "Tool names \"a-b\" and \"a_b\" both sanitize to \"a_b\" in provider \"codemode\"",
        ),
    ];
    for (providers, connectors, text) in cases {
        let fake = Fake::default();
        let connectors = connectors.into_iter().map(|name| ConnectorBinding::new(name, Desk)).collect();
        let options = ExecuteOptions { connectors, ..ExecuteOptions::default() };
        let result = CodemodeExecutor::new(fake.clone()).execute("async () => 1", providers, options).await.unwrap();
        assert_eq!(result, CodemodeResult { result: None, error: Some(text.into()), logs: None });
        assert!(fake.state.lock().unwrap().requests.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn an_outcome_is_rendered_for_hosts_of_the_dialect() {
    let line =
        |level, method: &str| LogLine { level, method: method.into(), message: format!("a {method}"), time_ms: 1.0 };
    let logs = vec![
        line(LogLevel::Log, "log"),
        line(LogLevel::Info, "info"),
        line(LogLevel::Warn, "warn"),
        line(LogLevel::Error, "error"),
    ];
    let flat = || Some(vec!["a log".to_owned(), "[warn] a warn".to_owned(), "[error] a error".to_owned()]);
    let whole =
        "Execution timed out at its 300 ms bound. Do less work per run and return the part that is already finished.";
    let cases = [
        (completed(&Value::from(42)), Some(Value::from(42)), None),
        (completed(&Value::Undefined), Some(Value::Undefined), None),
        (failed(whole, Termination::Timeout), None, Some("Execution timed out")),
        (failed("stalled", Termination::Stalled), None, Some("Execution timed out")),
        (failed("cpu", Termination::Cpu), None, Some("Execution timed out")),
        (failed(whole, Termination::Threw), None, Some(whole)),
        (failed("Execution timed out", Termination::Threw), None, Some("Execution timed out")),
        (failed("out of memory", Termination::Memory), None, Some("out of memory")),
        (failed("SyntaxError: x", Termination::Syntax), None, Some("SyntaxError: x")),
    ];
    for (outcome, value, error) in cases {
        let fake = Fake::giving(Ok(Outcome { logs: logs.clone(), ..outcome }));
        let result = CodemodeExecutor::new(fake).execute("1", [], ExecuteOptions::default()).await.unwrap();
        assert_eq!(result.result.map(|encoded| encoded.decode().unwrap()), value);
        assert_eq!(result.error.as_deref(), error);
        assert_eq!(result.logs, flat());
    }
}

#[tokio::test]
async fn an_error_of_the_executor_stays_one() {
    let error = ExecutorError::new(ErrorCode::Overloaded, "try later");
    let fake = Fake::giving(Err(error));
    let result = CodemodeExecutor::new(fake).execute("1", [], ExecuteOptions::default()).await;
    assert_eq!(result.unwrap_err().code, ErrorCode::Overloaded);
}

#[tokio::test]
async fn calls_after_the_end_are_refused_whatever_the_end_was() {
    let ends = [
        Ok(completed(&Value::Undefined)),
        Ok(failed("boom", Termination::Threw)),
        Err(ExecutorError::new(ErrorCode::ConnectionBroken, "gone")),
    ];
    for end in ends {
        let fake = Fake::giving(end);
        fake.state.lock().unwrap().calls = vec![("codemode", "echo", "[1]")];
        let executor = CodemodeExecutor::new(fake.clone());
        let _ = executor.execute("1", [Provider::new("codemode", echo())], ExecuteOptions::default()).await;
        let dispatch = fake.state.lock().unwrap().dispatch.clone().unwrap();
        let late = "{\"error\":\"Execution has already completed\"}";
        assert_eq!(fake.state.lock().unwrap().answers, ["{\"result\":[1]}"]);
        assert_eq!(ask(&*dispatch, ("codemode", "echo", "[1]")).await, late);
        assert_eq!(ask(&*dispatch, ("nobody", "echo", "[1]")).await, late);
    }
}

#[tokio::test]
async fn a_tool_sees_that_its_call_was_cancelled() {
    let tools = Tools::new().with("wait", |call| async move {
        call.cancel.cancelled().await;
        Err(HostCallError::new("cancelled"))
    });
    let fake = Fake::default();
    let executor = CodemodeExecutor::new(fake.clone());
    let cancel = CancelSource::new();
    let call = HostCall { provider: "p".into(), tool: "wait".into(), args_json: "[]".into(), cancel: cancel.token() };
    struct Calling(Fake, HostCall);
    impl Executor for Calling {
        async fn execute(&self, request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
            let answer = host.dispatch.clone().unwrap().call(self.1.clone()).await.unwrap();
            self.0.state.lock().unwrap().answers.push(answer);
            self.0.execute(request, host).await
        }

        async fn dispose(&self) {}
    }
    drop(executor);
    let executor = CodemodeExecutor::new(Calling(fake.clone(), call));
    cancel.cancel();
    executor.execute("1", [Provider::new("p", tools)], ExecuteOptions::default()).await.unwrap();
    assert_eq!(fake.state.lock().unwrap().answers, ["{\"error\":\"cancelled\"}"]);
}

#[tokio::test]
async fn disposing_disposes_of_the_native_executor() {
    let fake = Fake::default();
    CodemodeExecutor::new(fake.clone()).dispose().await;
    assert_eq!(fake.state.lock().unwrap().disposed, 1);
}

#[test]
fn a_bare_record_is_the_provider_codemode_and_warned_of_once_a_call() {
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);
    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    let fake = Fake::default();
    tracing::subscriber::with_default(subscriber, || {
        let executor = CodemodeExecutor::new(fake.clone());
        executor.execute("1", echo(), ExecuteOptions::default()).now_or_never().unwrap().unwrap();
    });
    assert_eq!(fake.request().providers[0].name, "codemode");
    assert_eq!(fake.request().providers[0].tools, ["echo"]);
    let written = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let warning = "[codemode-adapter] Passing a bare functions record to execute() is deprecated. Pass an array of providers \
                   instead.";
    assert_eq!(written.matches(warning).count(), 1, "{written}");
    assert!(written.contains("WARN"), "{written}");
}
