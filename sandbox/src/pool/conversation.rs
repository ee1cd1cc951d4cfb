//! What a child says in its one run, purely: accepts what an honest child can say and nothing else, keeps the log, and
//! says which host calls start when. A child that has run guest code is not trusted, so every bound that the guest side
//! keeps politely is kept here again.

use std::{
    cmp::Ordering,
    collections::{HashSet, VecDeque},
};

use codemode_protocol::{LogLine, OutboundRequest, text};

use crate::frame::{DoneFrame, FrameError, FromChild, LogBounds, OutboundSpec, RunSpec};

/// What follows from a frame.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// Nothing to do.
    Nothing,
    /// Start this host call now.
    Call(Call),
    /// Give this request up and answer it.
    Abort(u32),
    /// The program waits only on host calls.
    Waiting,
    /// The program has ended.
    Done(Box<DoneFrame>),
    /// The program is out of memory and the child ends.
    Memory,
}

/// A host call as the child made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: u32,
    pub(super) what: What,
}

/// What a host call asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A tool.
    Tool { provider: String, tool: String, args_json: String },
    /// The performance of a request.
    Fetch(OutboundRequest),
}

/// What no honest child does. The child is killed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Violation {
    /// Bytes that are no frame.
    #[error("it sent bytes that are no frame: {0}")]
    Frame(#[from] FrameError),
    /// A second `Ready`, or anything before the first.
    #[error("it sent frames out of order")]
    Order,
    /// Call ids are 1, 2, 3 …
    #[error("it numbered host call {found} where {expected} comes next")]
    CallId {
        /// The number that it gave.
        found: u32,
        /// The number that is due.
        expected: u32,
    },
    /// A request that `fetch` would not have made.
    #[error("it made a request that is none: {0}")]
    Request(&'static str),
    /// More held back here than its memory could have held.
    #[error("it made more host calls than fit its memory limit")]
    CallFlood,
    /// Lines past the bound, which the guest side cuts itself.
    #[error("it wrote log lines past their bound")]
    LogFlood,
    /// A result that breaks the bounds that the guest side keeps itself.
    #[error("its result breaks the rules: {0}")]
    Result(String),
    /// A bound that is not over.
    #[error("it reported a bound that was not reached")]
    Bound,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Conversation {
    logs: Vec<LogLine>,
    log_bytes: u64,
    log_bounds: LogBounds,
    ready: bool,
    last_call: u32,
    open: HashSet<u32>,
    /// Requests among them that the pool's own client performs.
    own: HashSet<u32>,
    performs_requests: bool,
    replies: u32,
    in_flight: usize,
    held: VecDeque<Call>,
    held_bytes: u64,
    held_bound: u64,
}

impl Conversation {
    /// The conversation of the run that `spec` describes.
    pub(super) fn new(spec: &RunSpec) -> Self {
        Self {
            logs: Vec::new(),
            log_bytes: 0,
            log_bounds: spec.logs,
            ready: false,
            last_call: 0,
            open: HashSet::new(),
            own: HashSet::new(),
            performs_requests: spec.outbound == OutboundSpec::Executor,
            replies: 0,
            in_flight: spec.calls_in_flight as usize,
            held: VecDeque::new(),
            held_bytes: 0,
            held_bound: spec.memory_limit,
        }
    }

    /// The conversation about one call of a function that the run of `spec` has left behind: the child is there.
    pub(super) fn resumed(spec: &RunSpec) -> Self {
        Self { ready: true, ..Self::new(spec) }
    }

    /// Takes a frame.
    pub(super) fn hear(&mut self, frame: FromChild) -> Result<Heard, Violation> {
        if self.ready == (frame == FromChild::Ready) {
            return Err(Violation::Order);
        }
        match frame {
            FromChild::Ready => {
                self.ready = true;
                Ok(Heard::Nothing)
            }
            FromChild::Log { level, method, time_ms, message } => {
                self.log(LogLine { level, method, message, time_ms })?;
                Ok(Heard::Nothing)
            }
            FromChild::Call { id, provider, tool, args_json } => {
                self.call(Call { id, what: What::Tool { provider, tool, args_json } })
            }
            FromChild::Fetch { id, request } => {
                check_request(&request).map_err(Violation::Request)?;
                self.call(Call { id, what: What::Fetch(request) })
            }
            FromChild::Abort { id } => self.abort(id),
            FromChild::Waiting { answered } => self.waiting(answered),
            FromChild::Done(done) => Ok(Heard::Done(done)),
            FromChild::Memory => Ok(Heard::Memory),
        }
    }

    /// A call's answer goes to the child. [`Conversation::next_held`] has the call that may take its place in flight.
    pub(super) fn answer(&mut self, id: u32) {
        if self.open.remove(&id) {
            self.own.remove(&id);
            self.replies += 1;
        }
    }

    /// A call that waited for room in flight and may start now.
    pub(super) fn next_held(&mut self) -> Option<Call> {
        if self.open.len() >= self.in_flight { None } else { self.release() }
    }

    /// The program has ended by itself: what it had called before that starts all the same.
    pub(super) fn all_held(&mut self) -> impl Iterator<Item = Call> {
        std::iter::from_fn(|| self.release())
    }

    /// Whether only the caller can answer what is open.
    pub(super) fn waits_for_the_caller(&self) -> bool {
        self.own.is_empty()
    }

    /// Host calls that were started.
    pub(super) fn started(&self) -> u64 {
        u64::from(self.last_call) - self.held.len() as u64
    }

    /// The log, which nobody else may have.
    pub(super) fn take_logs(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.logs)
    }

    fn log(&mut self, line: LogLine) -> Result<(), Violation> {
        let LogBounds { line_bytes, lines, total_bytes } = self.log_bounds;
        self.log_bytes += line.message.len() as u64;
        // One line more than the bound, for the marker, and what that marker is long.
        if self.logs.len() as u64 > u64::from(lines)
            || self.log_bytes > total_bytes + u64::from(line_bytes) + MARKER_BYTES
        {
            return Err(Violation::LogFlood);
        }
        self.logs.push(line);
        Ok(())
    }

    /// The frame and an answer of ours may have crossed: then the program is at work again already.
    fn waiting(&self, answered: u32) -> Result<Heard, Violation> {
        match answered.cmp(&self.replies) {
            Ordering::Less => Ok(Heard::Nothing),
            Ordering::Equal if !self.own.is_empty() => Ok(Heard::Nothing),
            Ordering::Equal if !self.open.is_empty() => Ok(Heard::Waiting),
            Ordering::Equal | Ordering::Greater => Err(Violation::Order),
        }
    }

    fn call(&mut self, call: Call) -> Result<Heard, Violation> {
        let expected = self.last_call.wrapping_add(1);
        if call.id != expected || expected == 0 {
            return Err(Violation::CallId { found: call.id, expected });
        }
        self.last_call = expected;
        if self.open.len() < self.in_flight {
            self.begin(&call);
            return Ok(Heard::Call(call));
        }
        self.held_bytes += weight(&call);
        if self.held_bytes > self.held_bound {
            return Err(Violation::CallFlood);
        }
        self.held.push_back(call);
        Ok(Heard::Nothing)
    }

    /// A request that waits here is answered like one that is under way; one that is answered already is let be.
    fn abort(&mut self, id: u32) -> Result<Heard, Violation> {
        if id == 0 || id > self.last_call {
            return Err(Violation::Order);
        }
        if let Some(at) = self.held.iter().position(|call| call.id == id)
            && let Some(call) = self.held.remove(at)
        {
            self.held_bytes -= weight(&call);
            self.open.insert(id);
        }
        Ok(if self.open.contains(&id) { Heard::Abort(id) } else { Heard::Nothing })
    }

    fn release(&mut self) -> Option<Call> {
        let call = self.held.pop_front()?;
        self.held_bytes -= weight(&call);
        self.begin(&call);
        Some(call)
    }

    fn begin(&mut self, call: &Call) {
        self.open.insert(call.id);
        if self.performs_requests && matches!(call.what, What::Fetch(_)) {
            self.own.insert(call.id);
        }
    }
}

/// A text of a child, at most as long as the guest side would have let it be.
pub(super) fn cut(text: String, bound: u64) -> String {
    match text::cut(&text, bound) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(cut) => cut,
    }
}

/// What a call takes, about.
pub(super) fn weight(call: &Call) -> u64 {
    let size = match &call.what {
        What::Tool { provider, tool, args_json } => provider.len() + tool.len() + args_json.len(),
        What::Fetch(OutboundRequest { method, url, headers, body }) => {
            let headers: usize = headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
            method.len() + url.len() + headers + body.as_ref().map_or(0, Vec::len)
        }
    };
    (size_of::<Call>() + size) as u64
}

/// What the guest side sees to, so that the caller's function may rely on it: a method, an address of the two schemes,
/// and headers of one line each.
fn check_request(request: &OutboundRequest) -> Result<(), &'static str> {
    let is_token = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
    let is_line = |text: &str| !text.contains(['\r', '\n', '\0']);
    if !is_token(&request.method) {
        return Err("its method is no token");
    }
    if !["http://", "https://"].iter().any(|scheme| request.url.starts_with(scheme)) || !is_line(&request.url) {
        return Err("its address is not of the scheme http or https");
    }
    if !request.headers.iter().all(|(name, value)| is_token(name) && is_line(value)) {
        return Err("a header is none");
    }
    Ok(())
}

/// No marker line is longer.
const MARKER_BYTES: u64 = 512;

#[cfg(test)]
mod hold;
#[cfg(test)]
mod tests;
