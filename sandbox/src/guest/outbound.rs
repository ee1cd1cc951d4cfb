//! Requests of the program, from the guest's side: what `fetch` calls for each hop. To the host a
//! request is a call like one of a tool: it starts when made, counts among those in flight, and is waited for as one.

use std::cell::Cell;
use std::ffi::c_int;

use codemode_protocol::{OutboundRequest, OutboundResponse, text};
use rquickjs::qjs;

use super::alloc::Charge;
use super::dispatch::{Outgoing, QUEUED_BYTES, Queued, Settle};
use super::js::{Cx, Js, Pending, Val, answer, arguments};
use super::state::{State, state};
use super::views::{Binary, BinaryKind, new_binary};
use crate::frame::{HEAD_BYTES, OutboundSpec};

/// What requests of a run may be.
#[derive(Debug)]
pub(super) struct Outbound {
    mode: Cell<OutboundSpec>,
    body_bytes: Cell<u64>,
    last_token: Cell<i32>,
}

impl Outbound {
    pub(super) const fn new() -> Self {
        Self { mode: Cell::new(OutboundSpec::Blocked), body_bytes: Cell::new(0), last_token: Cell::new(0) }
    }

    /// Sets the mode and bound of a run.
    pub(super) fn begin(&self, mode: OutboundSpec, body_bytes: u64) {
        self.mode.set(mode);
        self.body_bytes.set(body_bytes);
    }

    /// Whether requests are performed by the pool's own client.
    pub(super) fn is_executors(&self) -> bool {
        self.mode.get() == OutboundSpec::Executor
    }
}

/// The function that `fetch` calls: `(method, url, [[name, value]…], bytes | null, register)`. `register` is called
/// with a function to be called when the program gives the request up, and may return one that takes that back. A promise of `{status, statusText, headers,
/// body}`.
pub(super) fn hook(cx: Cx) -> Js<Val> {
    cx.function(fetch, c"", 5, 0, &[])
}

unsafe extern "C" fn fetch(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    _: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    let state = state();
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { arguments(argc, argv) }.iter().map(|arg| state.cx.borrow(*arg)).collect::<Vec<_>>();
    answer(start(state, &args))
}

fn start(state: &State, args: &[Val]) -> Js<Val> {
    let cx = state.cx;
    let (promise, resolve, reject) = cx.promise()?;
    let outbound = &state.outbound;
    let token = outbound.last_token.get() + 1;
    outbound.last_token.set(token);
    match prepare(state, args) {
        Ok((address, request)) => {
            let size = head_bytes(&request) as usize + request.body.as_ref().map_or(0, Vec::len);
            let settle = Settle { resolve, reject, address, token, forget: None };
            let charge = Charge::of(QUEUED_BYTES + size);
            state.calls.start(state, Queued { settle, outgoing: Outgoing::Fetch(request), charge });
            if let Some(register) = args.get(4).filter(|register| register.is_function()) {
                let forget = register.call(&[&cx.function(give_up, c"", 0, token, &[])?])?;
                if forget.is_function() {
                    state.calls.forget_with(token, forget);
                }
            }
        }
        Err(Pending) => {
            reject.call(&[&cx.exception()])?;
        }
    }
    Ok(promise)
}

unsafe extern "C" fn give_up(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    _: c_int,
    _: *mut qjs::JSValue,
    token: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    let state = state();
    state.calls.abort(state, token);
    qjs::JS_UNDEFINED
}

fn prepare(state: &State, args: &[Val]) -> Js<(String, OutboundRequest)> {
    let cx = state.cx;
    let outbound = &state.outbound;
    let [method, url, headers, body, ..] = args else { return Err(cx.throw_type_error(c"fetch is called wrongly")) };
    if outbound.mode.get() == OutboundSpec::Blocked {
        return Err(state.captured.throw_type_error(cx, text::NETWORK_OFF));
    }
    let mut request =
        OutboundRequest { method: method.to_text()?, url: url.to_text()?, headers: Vec::new(), body: None };
    for at in 0..headers.length()? {
        let pair = headers.get_index(at)?;
        request.headers.push((pair.get_index(0)?.to_text()?, pair.get_index(1)?.to_text()?));
    }
    let address = text::shortened(&format!("{} {}", request.method, request.url), ADDRESS_BYTES).into_owned();
    let (size, bound) = (head_bytes(&request), HEAD_BYTES);
    if size > bound {
        return Err(state
            .captured
            .throw_type_error(cx, &text::outbound_too_large("request head", &address, size, bound)));
    }
    if body.is_object() {
        let Some(binary) = Binary::of(state, body) else { return Err(cx.throw_type_error(c"the body is not binary")) };
        let bytes = binary.bytes(cx);
        let (size, bound) = (bytes.len() as u64, outbound.body_bytes.get());
        if size > bound {
            return Err(state
                .captured
                .throw_type_error(cx, &text::outbound_too_large("request body", &address, size, bound)));
        }
        let _charge = Charge::of(bytes.len());
        request.body = Some(bytes.to_vec());
    }
    Ok((address, request))
}

/// What `fetch` gets for the host's answer.
pub(super) fn read(state: &State, outcome: Result<OutboundResponse, String>) -> Js<Val> {
    let cx = state.cx;
    let OutboundResponse { status, status_text, headers, body } =
        outcome.map_err(|message| state.captured.throw_type_error(cx, &message))?;
    let headers = serde_json::to_string(&headers).unwrap_or_else(|_| "[]".to_owned());
    // Inherits nothing, so that nothing of the program's is asked whether it is a promise.
    let response = cx.bare_object()?;
    response.define(c"status", cx.int(i32::from(status)), qjs::JS_PROP_C_W_E)?;
    response.define(c"statusText", cx.string(&status_text)?, qjs::JS_PROP_C_W_E)?;
    response.define(c"headers", cx.parse_json(&headers)?, qjs::JS_PROP_C_W_E)?;
    response.define(c"body", new_binary(cx, BinaryKind::Bytes, &body)?, qjs::JS_PROP_C_W_E)?;
    Ok(response)
}

fn head_bytes(request: &OutboundRequest) -> u64 {
    let headers: usize = request.headers.iter().map(|(name, value)| name.len() + value.len() + 8).sum();
    (request.method.len() + request.url.len() + headers) as u64
}

/// Bytes of a request's method and address that texts show.
const ADDRESS_BYTES: u64 = 512;
