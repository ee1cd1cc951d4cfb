//! Host calls, from the guest's side: they start when invoked, run concurrently up to the bound in
//! flight, and settle by the host's envelope.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use codemode_protocol::{BINARY_TAG, OutboundRequest, OutboundResponse, text};

use super::alloc::Charge;
use super::js::{Cx, Js, Keys, Kind, Val, lossy};
use super::json::write_arguments;
use super::output::Output;
use super::state::State;
use super::views::{BinaryKind, new_binary};
use crate::frame::{FromChild, RunSpec, TOOL_NAME_BYTES, encode_call, encode_fetch};

/// The calls of the run.
pub(super) struct Calls {
    unanswered: RefCell<BTreeMap<u32, Settle>>,
    queue: RefCell<VecDeque<Queued>>,
    last_id: Cell<u32>,
    answered: Cell<u32>,
    in_flight: Cell<usize>,
    arguments_bytes: Cell<u64>,
    envelope_bytes: Cell<u64>,
}

/// How an unanswered call is settled.
pub(super) struct Settle {
    pub(super) resolve: Val,
    pub(super) reject: Val,
    /// The address that the program called.
    pub(super) address: String,
    /// Names a request for [`Calls::abort`]; 0 for a call of a tool.
    pub(super) token: i32,
    /// Takes back the wish to be told that a request is given up.
    pub(super) forget: Option<Val>,
}

impl Settle {
    /// Settles the promise by a value, or by the pending exception.
    fn settle(&self, state: &State, value: Js<Val>) {
        let settled = match value {
            Ok(value) => self.resolve.call(&[&value]),
            Err(_) => self.reject.call(&[&state.cx.exception()]),
        };
        let forgotten = self.forget.as_ref().map_or(Ok(()), |forget| forget.call(&[]).map(drop));
        for result in [settled.map(drop), forgotten] {
            if result.is_err() {
                drop(state.cx.exception());
            }
        }
    }
}

/// What goes to the host.
pub(super) enum Outgoing {
    /// A call of a tool.
    Tool { provider: String, tool: String, args_json: String },
    /// A request.
    Fetch(OutboundRequest),
}

/// A call that waits because too many are in flight.
pub(super) struct Queued {
    pub(super) settle: Settle,
    pub(super) outgoing: Outgoing,
    pub(super) charge: Charge,
}

impl Calls {
    pub(super) const fn new() -> Self {
        Self {
            unanswered: RefCell::new(BTreeMap::new()),
            queue: RefCell::new(VecDeque::new()),
            last_id: Cell::new(0),
            answered: Cell::new(0),
            in_flight: Cell::new(0),
            arguments_bytes: Cell::new(0),
            envelope_bytes: Cell::new(0),
        }
    }

    /// Sets the bounds of a run.
    pub(super) fn begin(&self, spec: &RunSpec) {
        self.unanswered.take();
        self.queue.take();
        self.last_id.set(0);
        self.answered.set(0);
        self.in_flight.set(spec.calls_in_flight.max(1) as usize);
        self.arguments_bytes.set(spec.arguments_bytes);
        self.envelope_bytes.set(spec.envelope_bytes);
    }

    /// Calls that went out.
    pub(super) fn made(&self) -> u32 {
        self.last_id.get()
    }

    /// Answers that came in.
    pub(super) fn answered(&self) -> u32 {
        self.answered.get()
    }

    /// Whether an answer is still to come.
    pub(super) fn is_waiting(&self) -> bool {
        !self.unanswered.borrow().is_empty()
    }

    /// Whether one of those answers is a response.
    pub(super) fn awaits_response(&self) -> bool {
        self.unanswered.borrow().values().any(|settle| settle.token != 0)
    }

    /// Sends what waits at the bound, because the program ended and its calls are to be started all the same.
    pub(super) fn flush(&self, state: &State) {
        let queue = self.queue.take();
        for call in queue {
            self.send(state, call);
        }
    }

    /// Makes a call, now or when fewer are in flight.
    pub(super) fn start(&self, state: &State, call: Queued) {
        if self.unanswered.borrow().len() < self.in_flight.get() {
            self.send(state, call);
        } else {
            self.queue.borrow_mut().push_back(call);
        }
    }

    fn send(&self, state: &State, call: Queued) {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        let Queued { settle, outgoing, charge } = call;
        state.socket.write(&match &outgoing {
            Outgoing::Tool { provider, tool, args_json } => encode_call(id, provider, tool, args_json),
            Outgoing::Fetch(request) => encode_fetch(id, request),
        });
        drop(charge);
        self.unanswered.borrow_mut().insert(id, settle);
    }

    /// Keeps what is to be called when a request is answered.
    pub(super) fn forget_with(&self, token: i32, forget: Val) {
        let mut unanswered = self.unanswered.borrow_mut();
        let mut queue = self.queue.borrow_mut();
        let queued = queue.iter_mut().map(|call| &mut call.settle);
        if let Some(settle) = unanswered.values_mut().chain(queued).find(|settle| settle.token == token) {
            settle.forget = Some(forget);
        }
    }

    /// Takes back a request, wherever it is.
    pub(super) fn abort(&self, state: &State, token: i32) {
        let sent = self.unanswered.borrow().iter().find(|(_, settle)| settle.token == token).map(|(id, _)| *id);
        match sent {
            Some(id) => state.socket.write(&FromChild::Abort { id }.encode()),
            None => {
                let mut queue = self.queue.borrow_mut();
                let taken = queue.iter().position(|call| call.settle.token == token).and_then(|at| queue.remove(at));
                drop(queue);
                drop(taken);
            }
        }
    }

    /// Takes the host's answer to a call and settles its promise; the next waiting call goes out first.
    pub(super) fn answer(&self, state: &State, id: u32, outcome: Result<String, String>) {
        if let Some(settle) = self.take(state, id) {
            settle.settle(state, self.read(state, &settle.address, outcome));
        }
    }

    /// Takes the host's answer to a request.
    pub(super) fn answer_fetch(&self, state: &State, id: u32, outcome: Result<OutboundResponse, String>) {
        if let Some(settle) = self.take(state, id) {
            settle.settle(state, super::outbound::read(state, outcome));
        }
    }

    fn take(&self, state: &State, id: u32) -> Option<Settle> {
        self.answered.set(self.answered.get() + 1);
        let settle = self.unanswered.borrow_mut().remove(&id)?;
        let next = self.queue.borrow_mut().pop_front();
        if let Some(next) = next {
            self.send(state, next);
        }
        Some(settle)
    }

    /// What a call gives: a value, or a pending exception.
    fn read(&self, state: &State, address: &str, outcome: Result<String, String>) -> Js<Val> {
        let envelope = match outcome {
            Ok(envelope) => envelope,
            Err(message) => return Err(fail(state, &message)),
        };
        let bound = self.envelope_bytes.get();
        if envelope.len() as u64 > bound {
            return Err(fail(state, &text::call_result_too_large(address, envelope.len() as u64, bound)));
        }
        // The engine's parser reads a copy that ends in a zero byte.
        let _charge = Charge::of(2 * envelope.len());
        let parsed = match state.cx.parse_json(&envelope) {
            Ok(parsed) => parsed,
            Err(_) => {
                let thrown = state.cx.exception();
                // Deep nesting and memory are the guest's own, catchable, errors.
                let is_syntax = is_instance(state.cx, &thrown, &state.captured.syntax_error);
                return Err(if is_syntax { malformed(state, address) } else { state.cx.throw(thrown) });
            }
        };
        if !parsed.is_object() || parsed.is_array() {
            return Err(malformed(state, address));
        }
        let error = parsed.get_own(c"error")?;
        if error.is_string() {
            return Err(throw_error(state, error));
        }
        let result = parsed.get_own(c"result")?;
        if !error.is_undefined() || (result.is_undefined() && parsed.own_keys()?.len() > 0) {
            return Err(malformed(state, address));
        }
        if !may_hold_binary(&envelope) {
            return Ok(result);
        }
        decode_binaries(state, &parsed, address)?;
        parsed.get_own(c"result")
    }
}

/// Parses JSON of the host's and puts binary values in the place of what stands for them. `name` says in errors what
/// the JSON belongs to.
pub(super) fn read_json(state: &State, json: &str, name: &str) -> Js<Val> {
    // The engine's parser reads a copy that ends in a zero byte; in an object of ours every value is some member's.
    let json = format!("{{\"value\":{json}}}");
    let _charge = Charge::of(2 * json.len());
    let holder = state.cx.parse_json(&json)?;
    if may_hold_binary(&json) {
        decode_binaries(state, &holder, name)?;
    }
    holder.get_own(c"value")
}

/// Makes a call: the promise that the program gets. Whatever goes wrong rejects that promise.
pub(super) fn call(state: &State, provider: i32, tool: &Val, args: Vec<Val>) -> Js<Val> {
    let cx = state.cx;
    let (promise, resolve, reject) = cx.promise()?;
    match prepare(state, provider, tool, args) {
        Ok((address, provider, tool, args_json)) => {
            let charge = Charge::of(QUEUED_BYTES + args_json.len() + tool.len() + provider.len() + address.len());
            let settle = Settle { resolve, reject, address, token: 0, forget: None };
            state.calls.start(state, Queued { settle, outgoing: Outgoing::Tool { provider, tool, args_json }, charge });
        }
        Err(_) => {
            reject.call(&[&cx.exception()])?;
        }
    }
    Ok(promise)
}

fn prepare(state: &State, provider: i32, tool: &Val, mut args: Vec<Val>) -> Js<(String, String, String, String)> {
    let Some(provider) = state.namespaces.provider(provider) else {
        return Err(fail(state, &text::tool_not_found("")));
    };
    let name = tool.text()?;
    let shown = lossy(name.bytes());
    if name.bytes().len() as u64 > TOOL_NAME_BYTES || !provider.knows(name.bytes()) {
        return Err(fail(state, &text::tool_not_found(&text::shortened(&shown, TOOL_NAME_BYTES))));
    }
    if !provider.positional_args {
        let first = args.into_iter().next().filter(|arg| !arg.is_undefined());
        args = vec![first.map_or_else(|| state.cx.object(), Ok)?];
    }
    let bound = state.calls.arguments_bytes.get();
    let mut out = Output::new(bound);
    write_arguments(state, &mut out, &args)?;
    let size = out.size();
    let address = address(state, &provider.name, &shown, &args)?;
    match out.finish() {
        Some(args_json) => Ok((address, provider.name.clone(), shown.into_owned(), args_json)),
        None => Err(fail(state, &text::arguments_too_large(&address, size, bound))),
    }
}

/// The address that the program called: a gateway hides its namespaces behind a tool named `__…` whose first two
/// arguments are the name and the member that the program wrote.
fn address(state: &State, provider: &str, tool: &str, args: &[Val]) -> Js<String> {
    if let [namespace, member, ..] = args
        && tool.starts_with("__")
        && namespace.is_string()
        && member.is_string()
    {
        let [namespace, member] = [namespace, member].map(|name| super::errors::shortened(state, name, ADDRESS_BYTES));
        return Ok(format!("{}.{}", namespace?, member?));
    }
    Ok(format!("{provider}.{}", text::shortened(tool, ADDRESS_BYTES)))
}

/// Throws an error of a failed call.
fn fail(state: &State, message: &str) -> super::js::Pending {
    match state.cx.string(message) {
        Ok(message) => throw_error(state, message),
        Err(pending) => pending,
    }
}

fn malformed(state: &State, address: &str) -> super::js::Pending {
    fail(state, &text::malformed_envelope(address))
}

/// Throws what `globalThis.Error`, as the preludes left it, makes of `message`.
fn throw_error(state: &State, message: Val) -> super::js::Pending {
    let constructor = state.error.borrow().clone();
    let mut args = [message.raw()];
    // SAFETY: live values; the result is a reference of its own.
    let made =
        state.cx.own(unsafe { rquickjs::qjs::JS_CallConstructor(state.cx.0, constructor.raw(), 1, args.as_mut_ptr()) });
    match made {
        Ok(error) => state.cx.throw(error),
        Err(pending) => pending,
    }
}

fn is_instance(cx: Cx, value: &Val, constructor: &Val) -> bool {
    // SAFETY: live values.
    let answer = unsafe { rquickjs::qjs::JS_IsInstanceOf(cx.0, value.raw(), constructor.raw()) };
    if answer < 0 {
        drop(cx.exception());
    }
    answer > 0
}

/// Whether JSON text may hold the binary tag: written out, or with escapes.
fn may_hold_binary(json: &str) -> bool {
    json.contains(BINARY_TAG) || json.contains("\\u00")
}

/// Replaces every tagged object below `root`, which is fresh from the parser, by the binary value that it stands for.
/// Deep nesting costs memory of ours, never stack.
fn decode_binaries(state: &State, root: &Val, address: &str) -> Js<()> {
    let mut open = vec![root.clone()];
    let mut charge = Charge::NONE;
    while let Some(container) = open.pop() {
        charge.resize(open.capacity() * size_of::<Val>());
        let keys: Keys = container.own_keys()?;
        for at in 0..keys.len() {
            let child = container.get_atom(keys.atom(at))?;
            if !child.is_object() {
                continue;
            }
            match decode_binary(state, &child, address)? {
                Some(binary) => set(state.cx, &container, keys.atom(at), binary)?,
                None => open.push(child),
            }
        }
    }
    Ok(())
}

fn decode_binary(state: &State, object: &Val, address: &str) -> Js<Option<Val>> {
    if object.is_array() {
        return Ok(None);
    }
    let kind = object.get_own(TAG)?;
    if !kind.is_string() {
        return Ok(None);
    }
    let kind = match kind.text()?.bytes() {
        b"ArrayBuffer" => BinaryKind::Buffer,
        b"Uint8Array" | b"ArrayBufferView" => BinaryKind::Bytes,
        _ => return Ok(None),
    };
    let data = object.get_own(c"data")?;
    if data.kind() != Kind::String {
        return Ok(None);
    }
    use base64::engine::{Engine, general_purpose::STANDARD};
    let text = data.text()?;
    let _charge = Charge::of(text.bytes().len());
    match STANDARD.decode(text.bytes()) {
        Ok(bytes) => new_binary(state.cx, kind, &bytes).map(Some),
        Err(_) => Err(malformed(state, address)),
    }
}

fn set(cx: Cx, object: &Val, key: rquickjs::qjs::JSAtom, value: Val) -> Js<()> {
    use rquickjs::qjs;
    // SAFETY: a live object and key; the reference to the value goes to the engine.
    let code = unsafe {
        qjs::JS_DefinePropertyValue(cx.0, object.raw(), key, value.into_raw(), qjs::JS_PROP_C_W_E as std::ffi::c_int)
    };
    if code < 0 { Err(super::js::Pending) } else { Ok(()) }
}

/// [`BINARY_TAG`] for the engine's interface.
const TAG: &std::ffi::CStr = c"__codemode_binary_v1__";

/// What a waiting call holds besides its texts, roughly.
pub(super) const QUEUED_BYTES: usize = 512;

/// Bytes of each part of an address that texts show.
const ADDRESS_BYTES: u64 = 256;
