//! A plain engine with the Web surface, for tests: evaluates a program and drives jobs and timers until it settles.

use std::ffi::CStr;
use std::time::{Duration, Instant};

use rquickjs::{CatchResultExt, Context, Ctx, Function, Promise, Runtime, Value, qjs};

use crate::web;

/// One engine; programs that are evaluated in it share its globals.
pub struct Page {
    context: Context,
    runtime: Runtime,
}

/// What a test lends: room in memory, and a function for `fetch`.
#[derive(Clone, Copy)]
pub struct Host {
    pub charge: fn(usize) -> bool,
    /// A JavaScript function expression, as `WebHost::fetch` wants it.
    pub fetch: Option<&'static str>,
}

impl Default for Host {
    fn default() -> Self {
        Self { charge: |_| true, fetch: None }
    }
}

impl Page {
    pub fn new() -> Self {
        Self::with(Host::default())
    }

    pub fn with(host: Host) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        runtime.set_max_stack_size(stack_size());
        let context = Context::full(&runtime).expect("a context");
        context.with(|ctx| {
            let fetch = host.fetch.map(|source| ctx.eval::<Function<'_>, _>(source).expect("the test's fetch"));
            let host = web::WebHost { charge: host.charge, used: None, fetch, program: "eval_script" };
            // SAFETY: a live runtime; the function keeps to the engine's interface.
            unsafe {
                let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
                qjs::JS_SetModuleLoaderFunc(runtime, None, Some(load), std::ptr::null_mut());
            }
            web::install(&ctx, host).catch(&ctx).unwrap_or_else(|error| panic!("install: {error}"));
        });
        Self { context, runtime }
    }

    /// The outcome of an async function's body, as `render.js` renders it.
    pub fn outcome(&self, body: &str) -> String {
        self.context.with(|ctx| {
            let drive: Function<'_> = ctx.eval(include_str!("render.js")).expect("render.js");
            let program = format!("(async () => {{\n{body}\n}})");
            let program = match ctx.eval::<Function<'_>, _>(program).catch(&ctx) {
                Ok(program) => program,
                Err(error) => return format!("!does not parse: {error}"),
            };
            let promise: Promise<'_> = drive.call((program,)).expect("a promise");
            let settled = settle(&ctx, &promise, Duration::from_secs(20));
            settled.unwrap_or_else(|| "!stalled".to_owned())
        })
    }

    /// Evaluates a script and forgets its value; panics when it throws.
    pub fn eval(&self, source: &str) {
        self.context.with(|ctx| {
            ctx.eval::<Value<'_>, _>(source).catch(&ctx).unwrap_or_else(|error| panic!("{error}"));
        });
    }

    pub fn with_ctx<T>(&self, f: impl FnOnce(&Ctx<'_>) -> T) -> T {
        self.context.with(|ctx| f(&ctx))
    }

    pub fn heap_bytes(&self) -> i64 {
        self.runtime.run_gc();
        self.runtime.memory_usage().malloc_size
    }
}

/// Bytes of stack that a program may use. Code that is instrumented needs several times more for the same depth, and
/// `cargo xtask sanitize` lends it.
fn stack_size() -> usize {
    std::env::var("CODEMODE_TEST_STACK").map_or(512 * 1024, |bytes| bytes.parse().expect("a number of bytes"))
}

/// Loads Node's modules; there are no others.
unsafe extern "C" fn load(
    raw: *mut qjs::JSContext,
    name: *const std::ffi::c_char,
    _: *mut std::ffi::c_void,
) -> *mut qjs::JSModuleDef {
    // SAFETY: the engine passes its context and a C string.
    let (ctx, name) = unsafe { (Ctx::from_raw(std::ptr::NonNull::new(raw).expect("a context")), CStr::from_ptr(name)) };
    let known = name.to_str().is_ok_and(|name| web::NODE_MODULES.contains(&name));
    if !known {
        let _ = rquickjs::Exception::throw_message(&ctx, "No such module");
        return std::ptr::null_mut();
    }
    web::node_module(&ctx, name)
}

/// Runs one pending job, if there is one, and reports what it throws.
fn run_job(ctx: &Ctx<'_>) -> bool {
    let mut context = std::ptr::null_mut();
    // SAFETY: a live runtime and a place for the job's context.
    let code = unsafe {
        let runtime = qjs::JS_GetRuntime(ctx.as_raw().as_ptr());
        qjs::JS_ExecutePendingJob(runtime, &raw mut context)
    };
    if code < 0 {
        web::report_pending(ctx);
    }
    code != 0
}

fn settle(ctx: &Ctx<'_>, promise: &Promise<'_>, patience: Duration) -> Option<String> {
    let end = Instant::now() + patience;
    loop {
        if let Some(result) = promise.result::<String>() {
            return Some(result.catch(ctx).unwrap_or_else(|error| format!("!driver: {error}")));
        }
        if run_job(ctx) {
            continue;
        }
        if web::untold_rejections(ctx) > 0 {
            web::tell_rejection(ctx).expect("events report what listeners throw");
            continue;
        }
        if Instant::now() > end {
            return None;
        }
        if web::fire_timer(ctx).expect("timers report what callbacks throw") {
            continue;
        }
        // The event loop of the engine waits in ppoll; a test has nothing else to wait for.
        std::thread::sleep(web::next_timer(ctx)?);
    }
}
