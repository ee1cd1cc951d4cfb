//! The child protocol: what pool and child say to each other over one stream socket, both directions, in one place.
//!
//! A frame is `[u32 little-endian: length of the rest][u8 kind][payload]`. Numbers are little-endian, a string is
//! `[u32 length][UTF-8 bytes]`, an optional is `[u8 0 | 1][value]`.
//!
//! A child that has run guest code is not trusted: [`FromChild::decode`] accepts nothing that it does not know exactly,
//! and [`FrameReader`] refuses a frame by its header alone when it is longer than its kind may be. The other direction
//! comes from the pool, which the child trusts; it is decoded with the same care because that costs nothing.

use std::fmt;

use codemode_protocol::{ErrorDetails, LogLevel, OutboundRequest, OutboundResponse, Termination};

use bytes::{Reader, Writer};
use spec::{read_invoke, read_spec, write_invoke, write_spec};

pub(crate) use spec::{InvokeSpec, LogBounds, OutboundSpec, ProviderSpec, RunSpec, ToolNames};

/// Exit status of a child that could not serve a native allocation within its memory limit. The `Memory` frame went
/// out before it, unless the socket was gone.
pub(crate) const RESERVED_MEMORY_EXIT: i32 = 77;

/// Exit status of a child whose pool went away or broke the protocol.
pub(crate) const PROTOCOL_EXIT: i32 = 78;

/// Bytes ahead of every payload: the length and the kind.
pub(crate) const HEADER_BYTES: usize = 5;

/// The last word about a run or a call, of a child that could still speak.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DoneFrame {
    /// How the program ended.
    pub(crate) termination: Termination,
    /// The encoded result; present exactly when `termination` is `Completed`.
    pub(crate) result: Option<String>,
    /// The outcome's error text; present exactly when `termination` is not `Completed`.
    pub(crate) error: Option<String>,
    /// Present when the guest threw.
    pub(crate) details: Option<ErrorDetails>,
    /// The allocator's high-water mark since the run began, bytes.
    pub(crate) peak_memory: u64,
    /// Host calls that were written to the socket.
    pub(crate) host_calls: u64,
    /// Functions that the child holds for later calls, in all. With none it exits; with some it waits for an `Invoke`.
    pub(crate) handles: u32,
}

/// A frame towards the child.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToChild {
    /// The one run.
    Run(Box<RunSpec>),
    /// A call of a function that the run has left behind; between two of these the child does nothing.
    Invoke(Box<InvokeSpec>),
    /// The answer to a call: the envelope's JSON text, or the message of a rejected stub.
    Reply {
        /// The id of the `Call`.
        call: u32,
        /// The envelope, or the message of the rejection.
        outcome: Result<String, String>,
    },
    /// The answer to a request: the response, or the message of the TypeError.
    FetchReply {
        /// The id of the `Fetch`.
        call: u32,
        /// The response, or the message.
        outcome: Result<OutboundResponse, String>,
    },
}

/// A frame from the child.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FromChild {
    /// Warmed up and blocked on the socket.
    Ready,
    /// A console line, written as it happens.
    Log {
        /// Severity.
        level: LogLevel,
        /// The console method.
        method: String,
        /// Milliseconds since the run began.
        time_ms: f64,
        /// The rendered arguments.
        message: String,
    },
    /// A host call; ids are 1, 2, 3 … in the order of the frames, those of requests included.
    Call {
        /// The id that the `Reply` names.
        id: u32,
        /// The provider's name.
        provider: String,
        /// The tool's name.
        tool: String,
        /// A JSON array.
        args_json: String,
    },
    /// A request that the host performs; numbered together with the host calls, and a host call in all that follows.
    Fetch {
        /// The id that the `FetchReply` names.
        id: u32,
        /// The request.
        request: OutboundRequest,
    },
    /// The program does not want the answer to a request any more. One comes all the same.
    Abort {
        /// The id of the `Fetch`.
        id: u32,
    },
    /// No jobs left, at least one host call unanswered. The run clock stands still from here until the next frame
    /// towards the child, but only if `answered` is the number of replies sent so far: otherwise one is under
    /// way already and the child is about to go on.
    Waiting {
        /// `Reply` and `FetchReply` frames that the child has read.
        answered: u32,
    },
    /// The end of the run, or of a call; the child exits after it unless it holds functions for later.
    Done(Box<DoneFrame>),
    /// A native allocation did not fit the memory limit; the child exits with [`RESERVED_MEMORY_EXIT`] after it.
    Memory,
}

/// Why bytes are no frame. From a child this means that the child is to be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    /// The kind byte is not known in this direction.
    #[error("unknown frame kind {0}")]
    UnknownKind(u8),
    /// The header announces more than the kind may have.
    #[error("frame of kind {kind} announces {length} bytes, {bound} are allowed")]
    Oversize {
        /// The kind byte.
        kind: u8,
        /// Payload bytes announced.
        length: u64,
        /// Payload bytes allowed.
        bound: u64,
    },
    /// The length does not even cover the kind byte.
    #[error("frame without a kind")]
    Empty,
    /// The payload ends before its last field.
    #[error("frame ends early")]
    Truncated,
    /// The payload goes on after its last field.
    #[error("frame has trailing bytes")]
    Trailing,
    /// A string is not UTF-8.
    #[error("frame text is not UTF-8")]
    NotUtf8,
    /// A field has a value that does not exist.
    #[error("frame field out of range")]
    BadField,
}

/// The longest payload of each kind from a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameBounds {
    /// Payload bytes of a `Log`.
    pub(crate) log: u64,
    /// Payload bytes of a `Call`.
    pub(crate) call: u64,
    /// Payload bytes of a `Fetch`; 0 when the run may make none.
    pub(crate) fetch: u64,
    /// Payload bytes of a `Done`.
    pub(crate) done: u64,
}

impl FrameBounds {
    /// The bounds that follow from a run's own: what an honest child can need, and no byte more.
    pub(crate) fn of(spec: &RunSpec) -> Self {
        // Names are bounded by the longest code, because a tool's name may be any string that the program made; the
        // child refuses names over TOOL_NAME_BYTES. UTF-8 takes at most three bytes for one UTF-16 unit.
        let result = spec.result.units.saturating_mul(3);
        Self {
            log: 1 + 8 + 4 + METHOD_BYTES + 4 + u64::from(spec.logs.line_bytes) + MARKER_BYTES,
            call: 4 + 4 + TOOL_NAME_BYTES + 4 + TOOL_NAME_BYTES + 4 + spec.arguments_bytes,
            fetch: match spec.outbound {
                OutboundSpec::Blocked => 0,
                OutboundSpec::Host | OutboundSpec::Executor => 64 + HEAD_BYTES + spec.outbound_bytes,
            },
            done: result.saturating_add(4 * (u64::from(spec.error_bytes) + MARKER_BYTES) + 128),
        }
    }

    fn bound(&self, kind: u8) -> Option<u64> {
        match kind {
            kind::READY | kind::MEMORY => Some(0),
            kind::WAITING | kind::ABORT => Some(4),
            kind::LOG => Some(self.log),
            kind::CALL => Some(self.call),
            kind::FETCH => Some(self.fetch),
            kind::DONE => Some(self.done),
            _ => None,
        }
    }
}

/// Cuts a child's byte stream into frames. Feed it through [`FrameReader::buffer`], then call
/// [`FrameReader::next`] until it has none. After an error the stream has no meaning any more.
pub(crate) struct FrameReader {
    bounds: FrameBounds,
    buffer: Vec<u8>,
    start: usize,
}

impl FrameReader {
    /// A reader for a child that has no run yet: only frames without text are allowed.
    pub(crate) fn new() -> Self {
        Self { bounds: FrameBounds { log: 0, call: 0, fetch: 0, done: 0 }, buffer: Vec::new(), start: 0 }
    }

    /// Replaces the bounds, when a run is handed to the child.
    pub(crate) fn set_bounds(&mut self, bounds: FrameBounds) {
        self.bounds = bounds;
    }

    /// Appends received bytes.
    #[cfg(test)]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer().extend_from_slice(bytes);
    }

    /// The buffer to append received bytes to, for example with `read_buf`; what is in it must stay.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        &mut self.buffer
    }

    /// The next whole frame, or `None` when more bytes are needed.
    ///
    /// # Errors
    /// Whatever [`FromChild::decode`] refuses, and a frame that is longer than its kind may be, as soon as its header is here.
    pub(crate) fn next(&mut self) -> Result<Option<FromChild>, FrameError> {
        let rest = &self.buffer[self.start..];
        let Some(header) = rest.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let (kind, length) = parse_header(*header)?;
        let bound = self.bounds.bound(kind).ok_or(FrameError::UnknownKind(kind))?;
        if length > bound {
            return Err(FrameError::Oversize { kind, length, bound });
        }
        let length = usize::try_from(length).map_err(|_| FrameError::BadField)?;
        let Some(payload) = rest[HEADER_BYTES..].get(..length) else { return Ok(None) };
        let frame = FromChild::decode(kind, payload)?;
        self.start += HEADER_BYTES + length;
        Ok(Some(frame))
    }

    /// True when the stream ends here in the middle of a frame.
    pub(crate) fn has_partial_frame(&self) -> bool {
        self.start < self.buffer.len()
    }
}

impl fmt::Debug for FrameReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameReader").field("bounds", &self.bounds).field("bytes", &self.buffer.len()).finish()
    }
}

/// Kind and payload length of a header.
///
/// # Errors
/// [`FrameError::Empty`] when the length does not cover the kind byte.
pub(crate) fn parse_header(header: [u8; HEADER_BYTES]) -> Result<(u8, u64), FrameError> {
    let [a, b, c, d, kind] = header;
    let rest = u64::from(u32::from_le_bytes([a, b, c, d]));
    rest.checked_sub(1).map(|length| (kind, length)).ok_or(FrameError::Empty)
}

impl ToChild {
    /// The whole frame. Texts beyond 4 GiB do not occur: every one of them is bounded by the contract.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Run(spec) => {
                let modules: usize = spec.modules.iter().map(|(name, source)| name.len() + source.len() + 8).sum();
                let mut out = Writer::new(kind::RUN, spec.code.len() + modules + 512);
                write_spec(&mut out, spec);
                out.finish()
            }
            Self::Invoke(spec) => {
                let mut out = Writer::new(kind::INVOKE, spec.args_json.len() + 64);
                write_invoke(&mut out, spec);
                out.finish()
            }
            Self::Reply { call, outcome } => {
                let (tag, text) = match outcome {
                    Ok(text) => (0, text),
                    Err(text) => (1, text),
                };
                let mut out = Writer::new(kind::REPLY, text.len() + 16);
                out.u32(*call);
                out.u8(tag);
                out.text(text);
                out.finish()
            }
            Self::FetchReply { call, outcome } => encode_fetch_reply(*call, outcome),
        }
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// Anything that [`ToChild::encode`] does not write.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Result<Self, FrameError> {
        let mut input = Reader::new(payload);
        let frame = match kind {
            kind::RUN => Self::Run(Box::new(read_spec(&mut input)?)),
            kind::INVOKE => Self::Invoke(Box::new(read_invoke(&mut input)?)),
            kind::REPLY => {
                let call = input.u32()?;
                let tag = input.u8()?;
                let text = input.text()?;
                let outcome = match tag {
                    0 => Ok(text),
                    1 => Err(text),
                    _ => return Err(FrameError::BadField),
                };
                Self::Reply { call, outcome }
            }
            kind::FETCH_REPLY => read_fetch_reply(&mut input)?,
            other => return Err(FrameError::UnknownKind(other)),
        };
        input.end()?;
        Ok(frame)
    }
}

impl FromChild {
    /// The whole frame.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Ready => Writer::new(kind::READY, 0).finish(),
            Self::Waiting { answered } => {
                let mut out = Writer::new(kind::WAITING, 4);
                out.u32(*answered);
                out.finish()
            }
            Self::Memory => MEMORY_FRAME.to_vec(),
            Self::Log { level, method, time_ms, message } => encode_log(*level, method, *time_ms, message),
            Self::Call { id, provider, tool, args_json } => encode_call(*id, provider, tool, args_json),
            Self::Fetch { id, request } => encode_fetch(*id, request),
            Self::Abort { id } => {
                let mut out = Writer::new(kind::ABORT, 4);
                out.u32(*id);
                out.finish()
            }
            Self::Done(done) => {
                let mut out = Writer::new(kind::DONE, done.result.as_ref().map_or(0, String::len) + 256);
                out.u8(termination_code(done.termination));
                out.optional_text(done.result.as_deref());
                out.optional_text(done.error.as_deref());
                out.u8(u8::from(done.details.is_some()));
                if let Some(details) = &done.details {
                    out.text(&details.name);
                    out.text(&details.message);
                    out.optional_text(details.stack.as_deref());
                    out.optional_u32(details.line);
                    out.optional_u32(details.column);
                }
                out.u64(done.peak_memory);
                out.u64(done.host_calls);
                out.u32(done.handles);
                out.finish()
            }
        }
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// Anything that [`FromChild::encode`] does not write.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Result<Self, FrameError> {
        let mut input = Reader::new(payload);
        let frame = match kind {
            kind::READY => Self::Ready,
            kind::WAITING => Self::Waiting { answered: input.u32()? },
            kind::MEMORY => Self::Memory,
            kind::LOG => Self::Log {
                level: nth(LogLevel::ALL, input.u8()?)?,
                time_ms: input.f64()?,
                method: input.text()?,
                message: input.text()?,
            },
            kind::CALL => {
                Self::Call { id: input.u32()?, provider: input.text()?, tool: input.text()?, args_json: input.text()? }
            }
            kind::FETCH => Self::Fetch { id: input.u32()?, request: read_request(&mut input)? },
            kind::ABORT => Self::Abort { id: input.u32()? },
            kind::DONE => Self::Done(Box::new(read_done(&mut input)?)),
            other => return Err(FrameError::UnknownKind(other)),
        };
        input.end()?;
        Ok(frame)
    }
}

/// A whole `Log` frame, without owning its texts.
pub(crate) fn encode_log(level: LogLevel, method: &str, time_ms: f64, message: &str) -> Vec<u8> {
    let mut out = Writer::new(kind::LOG, method.len() + message.len() + 24);
    out.u8(level_code(level));
    out.u64(time_ms.to_bits());
    out.text(method);
    out.text(message);
    out.finish()
}

/// A whole `Call` frame, without owning its texts.
pub(crate) fn encode_call(id: u32, provider: &str, tool: &str, args_json: &str) -> Vec<u8> {
    let mut out = Writer::new(kind::CALL, provider.len() + tool.len() + args_json.len() + 24);
    out.u32(id);
    out.text(provider);
    out.text(tool);
    out.text(args_json);
    out.finish()
}

/// A whole `Fetch` frame.
pub(crate) fn encode_fetch(id: u32, request: &OutboundRequest) -> Vec<u8> {
    let OutboundRequest { method, url, headers, body } = request;
    let mut out = Writer::new(kind::FETCH, url.len() + body.as_ref().map_or(0, Vec::len) + 256);
    out.u32(id);
    out.text(method);
    out.text(url);
    write_headers(&mut out, headers);
    out.u8(u8::from(body.is_some()));
    if let Some(body) = body {
        out.bytes(body);
    }
    out.finish()
}

fn read_request(input: &mut Reader<'_>) -> Result<OutboundRequest, FrameError> {
    Ok(OutboundRequest {
        method: input.text()?,
        url: input.text()?,
        headers: read_headers(input)?,
        body: input.optional(|input| input.bytes().map(<[u8]>::to_vec))?,
    })
}

fn encode_fetch_reply(call: u32, outcome: &Result<OutboundResponse, String>) -> Vec<u8> {
    let size = outcome.as_ref().map_or_else(String::len, |response| response.body.len() + 1024);
    let mut out = Writer::new(kind::FETCH_REPLY, size + 16);
    out.u32(call);
    out.u8(u8::from(outcome.is_err()));
    match outcome {
        Ok(OutboundResponse { status, status_text, headers, body }) => {
            out.u32(u32::from(*status));
            out.text(status_text);
            write_headers(&mut out, headers);
            out.bytes(body);
        }
        Err(message) => out.text(message),
    }
    out.finish()
}

fn read_fetch_reply(input: &mut Reader<'_>) -> Result<ToChild, FrameError> {
    let call = input.u32()?;
    let outcome = if input.bool()? {
        Err(input.text()?)
    } else {
        Ok(OutboundResponse {
            status: u16::try_from(input.u32()?).map_err(|_| FrameError::BadField)?,
            status_text: input.text()?,
            headers: read_headers(input)?,
            body: input.bytes()?.to_vec(),
        })
    };
    Ok(ToChild::FetchReply { call, outcome })
}

fn write_headers(out: &mut Writer, headers: &[(String, String)]) {
    out.length(headers.len());
    for (name, value) in headers {
        out.text(name);
        out.text(value);
    }
}

fn read_headers(input: &mut Reader<'_>) -> Result<Vec<(String, String)>, FrameError> {
    let mut headers = Vec::new();
    for _ in 0..input.u32()? {
        headers.push((input.text()?, input.text()?));
    }
    Ok(headers)
}

fn read_done(input: &mut Reader<'_>) -> Result<DoneFrame, FrameError> {
    let termination = nth(Termination::ALL, input.u8()?)?;
    let result = input.optional(Reader::text)?;
    let error = input.optional(Reader::text)?;
    let details = input.optional(|input| {
        Ok(ErrorDetails {
            name: input.text()?,
            message: input.text()?,
            stack: input.optional(Reader::text)?,
            line: input.optional(Reader::u32)?,
            column: input.optional(Reader::u32)?,
        })
    })?;
    let (peak_memory, host_calls, handles) = (input.u64()?, input.u64()?, input.u32()?);
    if result.is_some() != (termination == Termination::Completed) || error.is_some() == result.is_some() {
        return Err(FrameError::BadField);
    }
    Ok(DoneFrame { termination, result, error, details, peak_memory, host_calls, handles })
}

fn termination_code(termination: Termination) -> u8 {
    let at = Termination::ALL.iter().position(|known| *known == termination);
    u8::try_from(at.expect("ALL holds every variant")).expect("there are fewer than 256 terminations")
}

fn level_code(level: LogLevel) -> u8 {
    let at = LogLevel::ALL.iter().position(|known| *known == level);
    u8::try_from(at.expect("ALL holds every variant")).expect("there are fewer than 256 levels")
}

fn nth<T: Copy>(all: &[T], code: u8) -> Result<T, FrameError> {
    all.get(usize::from(code)).copied().ok_or(FrameError::BadField)
}

/// The `Memory` frame, ready to be written when nothing can be allocated any more.
pub(crate) const MEMORY_FRAME: [u8; HEADER_BYTES] = [1, 0, 0, 0, kind::MEMORY];

/// Bytes of a tool's name that may cross; a longer one is refused in the guest.
pub(crate) const TOOL_NAME_BYTES: u64 = 64 * 1024;

/// Bytes that a cut text may have over its bound, for the marker that says so.
pub(crate) const MARKER_BYTES: u64 = 256;

/// Bytes of a request that are no body: method, address and headers, each header with 8 bytes more; the same of a
/// response.
pub(crate) const HEAD_BYTES: u64 = 256 * 1024;

const METHOD_BYTES: u64 = 32;

mod bytes;
mod spec;

mod kind {
    pub(super) const RUN: u8 = 1;
    pub(super) const REPLY: u8 = 2;
    pub(super) const FETCH_REPLY: u8 = 3;
    pub(super) const INVOKE: u8 = 4;
    pub(super) const READY: u8 = 65;
    pub(super) const LOG: u8 = 66;
    pub(super) const CALL: u8 = 67;
    pub(super) const WAITING: u8 = 68;
    pub(super) const DONE: u8 = 69;
    pub(super) const MEMORY: u8 = 70;
    pub(super) const FETCH: u8 = 71;
    pub(super) const ABORT: u8 = 72;
}

#[cfg(test)]
mod tests;
