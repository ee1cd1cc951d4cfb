//! The texts that are contract: each stands here and nowhere else.
//!
//! Hosts parse some of them and models read all of them, so a change of a letter is a change of the contract. A bound's
//! text says which bound, its value and what to do.

use std::borrow::Cow;

/// The opening phrase of a run that hit its run clock; the dialect shows this much and no more.
pub const TIMEOUT_MESSAGE: &str = "Execution timed out";

/// A host call made after its program ended.
pub const ALREADY_COMPLETED: &str = "Execution has already completed";

/// `eval` and every function constructor.
pub const CODE_GENERATION_REFUSED: &str = "Code generation from strings disallowed for this context";

/// A call on an executor after its `dispose`.
pub const REMOTE_CLOSED: &str = "RemoteExecutor is closed";

/// A run that came while the executor drains, and so was never started.
pub const NOT_STARTED_SHUTTING_DOWN: &str = "The executor is shutting down; the program was not started";

/// A run whose permit there was no place to wait for. `queue` is the bound on places.
pub fn queue_full(queue: u64) -> String {
    format!(
        "Every permit is taken and all {queue} places in the queue. The program was not started. Try again after \
         retryAfterMs, with fewer runs at once."
    )
}

/// A run that lost its place in the full queue to a caller that held fewer. `queue` is the bound on places.
pub fn displaced(queue: u64) -> String {
    format!(
        "All {queue} places in the queue are taken, and this run's went to a caller that held fewer of them. The \
         program was not started. Try again after retryAfterMs, with fewer runs at once."
    )
}

/// A run whose permit there was no place of its tenant's to wait for. `queue` is the tenant's bound.
pub fn tenant_queue_full(queue: u64) -> String {
    format!(
        "Every permit is taken and all {queue} places that this tenant may have in the queue. The program was not \
         started. Try again after retryAfterMs, with fewer runs at once."
    )
}

/// A run that was not admitted in time.
pub fn queue_wait_exceeded(wait_ms: u64) -> String {
    format!(
        "No permit became free within the queue's {wait_ms} ms wait bound. The program was not started. Try again \
         after retryAfterMs, with fewer or shorter runs at once."
    )
}

/// A run that was admitted and for which no sandbox could be made in time.
pub fn no_sandbox_in_time(wait_ms: u64) -> String {
    format!(
        "No sandbox could be made within the {wait_ms} ms wait bound. The program was not started. Try again after \
         retryAfterMs."
    )
}

/// A lease that was not used in time.
pub fn lease_expired(lease_ms: u64) -> String {
    format!("The lease expired: it was not used within its {lease_ms} ms bound. Acquire another.")
}

/// A second program on one lease.
pub const LEASE_USED: &str = "The lease was used: it takes one program. Acquire another.";

/// A program on a lease that was given back.
pub const LEASE_RELEASED: &str = "The lease was released. Acquire another.";

/// A program on a lease that asks for more memory than was leased.
pub fn above_lease(asked: u64, leased: u64) -> String {
    format!("{asked} bytes; the lease is for {leased} bytes. Acquire one for more.")
}

/// The end of a session whose executor stops.
pub const SESSION_SHUT_DOWN: &str = "The executor has shut down";

/// An upgrade while the server drains.
pub const UPGRADE_SHUTTING_DOWN: &str = "The executor is shutting down. Try again, or another one.";

/// A run that its caller cancelled.
pub const RUN_CANCELLED: &str = "The run was cancelled";

/// A run that its caller cancelled before any server had it.
pub const CANCELLED_UNSUBMITTED: &str = "The run was cancelled before it was submitted";

/// A run whose pool was disposed.
pub const POOL_DISPOSED: &str = "The run was cancelled: its pool was disposed";

/// A run that was still under way at the end of a drain of `drain_ms` milliseconds.
pub fn run_shut_down(drain_ms: u64) -> String {
    format!(
        "The executor was shut down at its {drain_ms} ms drain timeout while the run was under way; the run was ended. \
         Its caller did not cancel it."
    )
}

/// A session died under an `execute`.
pub const BROKE_DURING_EXECUTION: &str = "Executor connection broke during execution";

/// A session died under another call.
pub const BROKE_DURING_CALL: &str = "Executor connection broke during a call";

/// The end of a text that was cut at its bound of `bound` bytes.
fn cut_marker(bound: u64) -> String {
    format!("… [cut at its {bound} byte bound: write shorter texts]")
}

/// A run over its run clock of `timeout_ms` milliseconds.
pub fn timed_out(timeout_ms: u64) -> String {
    format!(
        "{TIMEOUT_MESSAGE} at its {timeout_ms} ms bound. Do less work per run and return the part that is already \
         finished."
    )
}

/// A run over the wall time that ends any run.
pub fn wall_exceeded(max_wall_ms: u64) -> String {
    format!(
        "Execution reached the {max_wall_ms} ms bound on its whole duration, host waits included. Split the work over \
         several runs."
    )
}

/// A run over its CPU clock.
pub fn cpu_exceeded(cpu_ms: u64) -> String {
    format!(
        "Execution used up its {cpu_ms} ms CPU bound. Compute less per run and return the part that is already \
         finished."
    )
}

/// A run over its memory limit.
pub fn memory_exceeded(limit_bytes: u64) -> String {
    format!(
        "Execution ran out of memory at its {limit_bytes} byte bound. Hold less data at once: work in parts and keep \
         only what is needed."
    )
}

/// A program that awaits what can never settle.
pub const STALLED: &str = "Execution stalled: the program awaits a promise that nothing left to run can settle (no \
                           jobs, timers or host calls remain). Await only what will settle.";

/// A program, module, or argument list of a request over its bound on size.
pub fn field_too_large(size: u64, bound: u64) -> String {
    format!("takes {size} bytes; at most {bound} are allowed. Send less in one request.")
}

/// More providers than a request may have.
pub fn too_many_providers(count: usize, bound: u64) -> String {
    format!("{count} providers; at most {bound} are allowed. Offer only those that the program needs.")
}

/// More connectors than a request may have beside its providers. `count` is both together.
pub fn too_many_connectors(count: usize, bound: u64) -> String {
    format!("{count} with the providers; at most {bound} are allowed. Offer only those that the program needs.")
}

/// More tool names than all providers of a request may have together.
pub fn too_many_tools(count: u64, bound: u64) -> String {
    format!(
        "{count} tool names in all; at most {bound} are allowed. Name fewer, or none: a provider without names takes any."
    )
}

/// More source in the preludes and proxy sources of a request than they may have together.
pub fn preludes_too_large(size: u64, bound: u64) -> String {
    format!("preludes and proxy sources take {size} bytes; at most {bound} are allowed. Send less source.")
}

/// A limit of a request under the least that a sandbox can work with.
pub fn limit_too_small(asked: u64, least: u64) -> String {
    format!("{asked} bytes; at least {least} bytes are needed. Ask for more, or leave it off for the default.")
}

/// An entry that is not a function; `found` is what `typeof` says of it.
pub fn entry_not_a_function(found: &str) -> String {
    format!("The program is not a function but of type {found}. Send one arrow function, such as `async () => 42`.")
}

/// A prelude that failed.
pub fn prelude_failed(provider: &str, message: &str) -> String {
    format!("Prelude of provider \"{provider}\" failed: {message}")
}

/// A module that does not exist.
pub fn no_such_module(specifier: &str) -> String {
    format!("No such module \"{specifier}\".")
}

/// An import attribute, of which there is none that means anything here.
pub fn import_attribute_refused(attribute: &str) -> String {
    format!(
        "Import attribute \"{attribute}\" is not supported: modules are JavaScript sources. Export the data from a module."
    )
}

/// More module loads than one run may make.
pub fn too_many_modules(bound: u32) -> String {
    format!("The program loads more than {bound} modules, which is the bound of one run. Put several into one source.")
}

/// A module's source that does not parse, and where.
pub fn in_module(message: &str, module: &str, line: i32, column: i32) -> String {
    format!("{message} (module \"{module}\", line {line}, column {column})")
}

/// A retained execution that is not there.
pub fn execution_not_found(execution_id: &str) -> String {
    format!(
        "There is no retained execution \"{execution_id}\": it was closed, it crashed, it expired (handleTtl of info() without \
         a call), or it never was. Run the program again."
    )
}

/// A retained execution of another node.
pub fn execution_elsewhere(execution_id: &str, node: &str, here: &str) -> String {
    format!(
        "The retained execution \"{execution_id}\" belongs to the node \"{node}\", and this is the node \"{here}\". \
         Send the call there."
    )
}

/// A handle that a retained execution does not have.
pub fn handle_not_found(execution_id: &str, handle_id: &str) -> String {
    format!("The retained execution \"{execution_id}\" has no handle \"{handle_id}\"")
}

/// A tool that does not exist, or whose provider has no handler.
pub fn tool_not_found(tool: &str) -> String {
    format!("Tool \"{tool}\" not found")
}

/// An answer of the host that is no envelope. `call` is `<provider>.<tool>`.
pub fn malformed_envelope(call: &str) -> String {
    format!("The host answered {call} with something that is no result envelope")
}

/// A call whose arguments are over the bound. `call` is the address that the program called.
pub fn arguments_too_large(call: &str, size: u64, bound: u64) -> String {
    format!("The arguments of {call} take {size} bytes; the bound is {bound} bytes. Send less in one call.")
}

/// A call whose result is over the bound. `call` is the address that the program called.
pub fn call_result_too_large(call: &str, size: u64, bound: u64) -> String {
    format!("The result of {call} takes {size} bytes; the bound is {bound} bytes. Ask for less in one call.")
}

/// A call whose handler on the host panicked. `call` is the address that the program called.
pub fn handler_panicked(call: &str) -> String {
    format!("{call} failed: its handler on the host panicked")
}

/// A request whose function on the host panicked. `request` is its method and address.
pub fn outbound_panicked(request: &str) -> String {
    format!("{request} failed: the function that performs requests panicked")
}

/// `fetch` in a run without network access.
pub const NETWORK_OFF: &str = "Network access is off for this run: fetch can only read data: URLs.";

/// A request or its response over a bound. `part` such as `request body`, `request` its method and address.
pub fn outbound_too_large(part: &str, request: &str, size: u64, bound: u64) -> String {
    format!("The {part} of {request} takes {size} bytes; the bound is {bound} bytes. Send or ask for less at once.")
}

/// A response body that goes on beyond its bound. `request` is its method and address.
pub fn outbound_endless(request: &str, bound: u64) -> String {
    format!("The response body of {request} goes on beyond its bound, which is {bound} bytes. Ask for less at once.")
}

/// A request that the operator's policy forbids. `request` is its method and address, `rule` one of `OUTBOUND_…`.
pub fn outbound_refused(request: &str, rule: &str) -> String {
    format!("{request} is not allowed: {rule}")
}

/// The rule on origins.
pub const OUTBOUND_NOT_LISTED: &str =
    "the operator of this executor has not listed its origin. Go on without it, or ask the operator.";

/// The rule on addresses.
pub const OUTBOUND_NOT_PUBLIC: &str = "its host stands for no address of the open internet, and others (loopback, private, \
     link-local and the like) are closed unless the operator lists them.";

/// The rule on user names and passwords in addresses.
pub const OUTBOUND_CREDENTIALS: &str = "its address has a user name or a password. Send them in a header.";

/// The rule on schemes.
pub const OUTBOUND_NO_URL: &str = "its address is no http or https URL.";

/// The rule on methods.
pub const OUTBOUND_METHOD: &str = "its method is none that fetch has.";

/// The rule on headers.
pub const OUTBOUND_HEADER: &str = "one of its headers cannot be sent.";

/// A request that was allowed and got no response. `request` is its method and address, `what` one of `OUTBOUND_FAILED_…`.
pub fn outbound_failed(request: &str, what: &str) -> String {
    format!("{request} failed: {what}")
}

/// The resolver knows no such host, or did not answer.
pub const OUTBOUND_FAILED_HOST: &str = "its host was not found";

/// No server took the connection, or the secure one was not agreed on.
pub const OUTBOUND_FAILED_CONNECT: &str = "no connection could be made, or its certificate is not trusted";

/// The server broke the connection off or does not speak HTTP.
pub const OUTBOUND_FAILED_RESPONSE: &str = "the server gave no complete HTTP response";

/// The response body is shorter than announced.
pub const OUTBOUND_FAILED_BODY: &str = "the response body broke off";

/// An answer of the host that is no response. `request` is its method and address.
pub fn malformed_response(request: &str, rule: &str) -> String {
    format!("The host answered {request} with something that is no response: {rule}")
}

/// A request of a run that has ended, or that the program gave up.
pub const REQUEST_GIVEN_UP: &str = "The request was given up";

/// A call that got no answer in time. `call` is the address that the program called.
pub fn host_call_timed_out(call: &str, bound_ms: u64) -> String {
    format!("{call} gave no answer within its {bound_ms} ms bound. Try a smaller request, or go on without it.")
}

/// A result that cannot be carried: `path` is `result.items[3].cb`, `reason` such as `is a function`.
pub fn result_refused(path: &str, reason: &str) -> String {
    format!("The result cannot be returned: {path} {reason}. Return plain data.")
}

/// A result over a bound: `bound` such as `nests deeper than 200 levels`.
pub fn result_over_bound(path: &str, bound: &str) -> String {
    format!("The result cannot be returned: {path} {bound}. Return less, or in a simpler shape.")
}

/// The line that takes the place of every log line past a bound.
pub fn logs_cut(bound: &str) -> String {
    format!("[logs cut: {bound}; the run goes on, later lines are not kept: log less]")
}

/// Two protocol versions that differ.
pub fn protocol_mismatch(client: i64, server: i64) -> String {
    format!("Executor protocol mismatch: client speaks v{client}, server speaks v{server}")
}

/// A WebSocket that could not be opened.
pub fn open_failed(url: &str) -> String {
    format!("Failed to open WebSocket to {url}")
}

/// A call of a session that has not authenticated.
pub const NOT_AUTHENTICATED: &str =
    "This session is not authenticated: give the client a token, or call authenticate(token) and use what it answers.";

/// A token that the server does not know.
pub const WRONG_TOKEN: &str = "The token is none that this server takes.";

/// A session that tried too many tokens.
pub fn too_many_wrong_tokens(bound: u64) -> String {
    format!(
        "{bound} wrong tokens, which is the bound of one session; it is closed. Open another with a token that this \
         server takes."
    )
}

/// A session whose token was taken off the server's list.
pub const TOKEN_REMOVED: &str = "The token of this session is no longer one that this server takes.";

/// A session that authenticates again, as somebody else.
pub const AUTHENTICATED_OTHERWISE: &str =
    "This session is authenticated with another token. Open another session for this one.";

/// A session that did not authenticate in time.
pub fn authentication_timed_out(bound_ms: u128) -> String {
    format!("The session was not authenticated within its {bound_ms} ms bound. Call authenticate(token) first.")
}

/// A session beyond the bound on all of them.
pub fn too_many_sessions(bound: usize) -> String {
    format!("{bound} sessions are open, which is the bound. Try again later.")
}

/// A session beyond the bound on those of one address.
pub fn too_many_sessions_of_address(bound: usize) -> String {
    format!("{bound} sessions of this address are open, which is the bound. Close one first.")
}

/// A part of the contract that this version does not offer.
pub fn not_available(what: &str) -> String {
    format!("{what} is not available in this version")
}

/// `text`, cut at the last character boundary that leaves room within `bound` bytes for a marker, which says what the
/// bound is unless that is too long itself.
pub fn cut(text: &str, bound: u64) -> Cow<'_, str> {
    cut_before(text, bound, || Some(cut_marker(bound)).filter(|marker| marker.len() as u64 <= bound))
}

/// A name inside one of these texts, cut so that it takes at most `bound` bytes.
pub fn shortened(name: &str, bound: u64) -> Cow<'_, str> {
    cut_before(name, bound, || None)
}

fn cut_before(text: &str, bound: u64, marker: impl FnOnce() -> Option<String>) -> Cow<'_, str> {
    let bound = usize::try_from(bound).unwrap_or(usize::MAX);
    if text.len() <= bound {
        return text.into();
    }
    let marker = marker().map_or(Cow::Borrowed("…"), Cow::Owned);
    let end = text.floor_char_boundary(bound.saturating_sub(marker.len()));
    format!("{}{marker}", &text[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_texts_are_exact() {
        assert_eq!(
            timed_out(300),
            "Execution timed out at its 300 ms bound. Do less work per run and return the part that is already finished."
        );
        assert_eq!(tool_not_found("x"), "Tool \"x\" not found");
        assert_eq!(prelude_failed("api", "boom"), "Prelude of provider \"api\" failed: boom");
        assert_eq!(no_such_module("a.js"), "No such module \"a.js\".");
        assert_eq!(protocol_mismatch(1, 2), "Executor protocol mismatch: client speaks v1, server speaks v2");
        assert_eq!(open_failed("ws://h:1"), "Failed to open WebSocket to ws://h:1");
    }

    #[test]
    fn a_cut_ends_on_a_character_and_within_the_bound() {
        assert_eq!(cut("short", 64), "short");
        let long = "é".repeat(100);
        let cut = cut(&long, 101);
        assert!(cut.len() <= 101 && cut.ends_with("é… [cut at its 101 byte bound: write shorter texts]"), "{cut}");
        assert_eq!(shortened(&long, 10), "ééé…");
        assert_eq!(super::cut(&long, 20), "éééééééé…", "no room for the whole marker");
    }
}
