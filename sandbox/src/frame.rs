//! The child protocol: what pool and child say to each other over one stream socket, both directions, in one place.
//!
//! A frame is `[u32 little-endian: length of the rest][u8 kind][payload]`. Numbers are little-endian, a string is
//! `[u32 length][UTF-8 bytes]`, an optional is `[u8 0 | 1][value]`.
//!
//! A child that has run guest code is not trusted: [`FromChild::decode`] accepts nothing that it does not know exactly,
//! and [`FrameReader`] refuses a frame by its header alone when it is longer than its kind may be. The other direction
//! comes from the pool, which the child trusts; it is decoded with the same care because that costs nothing.
//!
//! Places for later: `Invoke` and `FetchReply` towards the child, `Fetch` towards the pool (handles and outbound).

use std::fmt;

use codemode_protocol::{ErrorDetails, LogLevel, ResultLimits, Termination};

use bytes::{Reader, Writer};

/// Exit status of a child that could not serve a native allocation within its memory limit. The `Memory` frame went
/// out before it, unless the socket was gone.
pub(crate) const RESERVED_MEMORY_EXIT: i32 = 77;

/// Exit status of a child whose pool went away or broke the protocol.
pub(crate) const PROTOCOL_EXIT: i32 = 78;

/// Bytes ahead of every payload: the length and the kind.
pub(crate) const HEADER_BYTES: usize = 5;

/// One provider as the child needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderSpec {
    /// The namespace's name in the program's scope; validated by the pool.
    pub(crate) name: String,
    /// Tools that the host answers; empty means that any name crosses.
    pub(crate) tools: ToolNames,
    /// Trusted source that runs before the program, in its scope.
    pub(crate) prelude: Option<String>,
    /// False passes exactly one argument.
    pub(crate) positional_args: bool,
    /// An expression evaluating to a function from the raw dispatcher to the namespace.
    pub(crate) proxy_source: Option<String>,
}

/// The tools of one provider, as they cross: one block of length-prefixed names, so that ten thousand names are one
/// copy for the child, which looks into it only when a tool is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolNames {
    block: Vec<u8>,
}

impl<T: AsRef<str>> FromIterator<T> for ToolNames {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        let mut block = Vec::new();
        for name in names {
            let name = name.as_ref().as_bytes();
            let length = u32::try_from(name.len()).expect("names are bounded far below 4 GiB by the contract");
            block.extend_from_slice(&length.to_le_bytes());
            block.extend_from_slice(name);
        }
        Self { block }
    }
}

impl ToolNames {
    /// True when any name crosses.
    pub(crate) fn is_empty(&self) -> bool {
        self.block.is_empty()
    }

    /// The names' bytes, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.block.as_slice();
        std::iter::from_fn(move || {
            let (length, tail) = rest.split_first_chunk::<4>()?;
            let (name, tail) = tail.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = tail;
            Some(name)
        })
    }
}

/// Bounds of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogBounds {
    /// Bytes of one line.
    pub(crate) line_bytes: u32,
    /// Lines of a run.
    pub(crate) lines: u32,
    /// Bytes of all lines together.
    pub(crate) total_bytes: u64,
}

/// Everything that a child needs to know about its one run. All bounds are effective values: defaults filled in,
/// clamped to the maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunSpec {
    /// The caller's source in entry form, unsplit.
    pub(crate) code: String,
    /// The namespaces, in order.
    pub(crate) providers: Vec<ProviderSpec>,
    /// Sources of modules, each after its specifier.
    pub(crate) modules: Vec<(String, String)>,
    /// The run clock's bound, milliseconds.
    pub(crate) timeout_ms: u64,
    /// The CPU clock's bound, milliseconds.
    pub(crate) cpu_ms: u64,
    /// The bound of plain wall time, milliseconds.
    pub(crate) max_wall_ms: u64,
    /// Bytes that engine and natives may hold together.
    pub(crate) memory_limit: u64,
    /// Bytes of stack that the engine may use.
    pub(crate) stack_limit: u64,
    /// True makes the run clock plain wall time.
    pub(crate) count_host_waits: bool,
    /// True lets functions inside the result vanish.
    pub(crate) drop_functions: bool,
    /// Host calls that may be unanswered at one moment.
    pub(crate) calls_in_flight: u32,
    /// Bytes of one call's arguments.
    pub(crate) arguments_bytes: u64,
    /// Bytes of one call's envelope.
    pub(crate) envelope_bytes: u64,
    /// Bytes of an error's text, name or stack.
    pub(crate) error_bytes: u32,
    /// Bounds of the result.
    pub(crate) result: ResultLimits,
    /// UTF-16 units of the encoded result once it is escaped again as a JSON string, for the encoding `text`;
    /// `u64::MAX` when it is carried as a value.
    pub(crate) escaped_units: u64,
    /// False refuses keys that JavaScript peers drop (those of `Object.prototype`, and `toJSON`).
    pub(crate) allow_dropped_keys: bool,
    /// Bounds of the console.
    pub(crate) logs: LogBounds,
}

/// The last word of a child that could still speak.
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
}

/// A frame towards the child.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToChild {
    /// The one run.
    Run(Box<RunSpec>),
    /// The answer to a call: the envelope's JSON text, or the message of a rejected stub.
    Reply {
        /// The id of the `Call`.
        call: u32,
        /// The envelope, or the message of the rejection.
        outcome: Result<String, String>,
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
    /// A host call; ids are 1, 2, 3 … in the order of the frames.
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
    /// No jobs left, at least one host call unanswered. The run clock stands still from here until the next frame
    /// towards the child, but only if `answered` is the number of `Reply` frames sent so far: otherwise one is under
    /// way already and the child is about to go on.
    Waiting {
        /// `Reply` frames that the child has read.
        answered: u32,
    },
    /// The end; the child exits after it.
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
            done: result.saturating_add(4 * (u64::from(spec.error_bytes) + MARKER_BYTES) + 128),
        }
    }

    fn bound(&self, kind: u8) -> Option<u64> {
        match kind {
            kind::READY | kind::MEMORY => Some(0),
            kind::WAITING => Some(4),
            kind::LOG => Some(self.log),
            kind::CALL => Some(self.call),
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
        Self { bounds: FrameBounds { log: 0, call: 0, done: 0 }, buffer: Vec::new(), start: 0 }
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
    let (peak_memory, host_calls) = (input.u64()?, input.u64()?);
    if result.is_some() != (termination == Termination::Completed) || error.is_some() == result.is_some() {
        return Err(FrameError::BadField);
    }
    Ok(DoneFrame { termination, result, error, details, peak_memory, host_calls })
}

fn write_spec(out: &mut Writer, spec: &RunSpec) {
    out.text(&spec.code);
    out.length(spec.providers.len());
    for provider in &spec.providers {
        out.text(&provider.name);
        out.bytes(&provider.tools.block);
        out.optional_text(provider.prelude.as_deref());
        out.u8(u8::from(provider.positional_args));
        out.optional_text(provider.proxy_source.as_deref());
    }
    out.length(spec.modules.len());
    for (specifier, source) in &spec.modules {
        out.text(specifier);
        out.text(source);
    }
    for number in [spec.timeout_ms, spec.cpu_ms, spec.max_wall_ms, spec.memory_limit, spec.stack_limit] {
        out.u64(number);
    }
    out.u8(u8::from(spec.count_host_waits));
    out.u8(u8::from(spec.drop_functions));
    out.u32(spec.calls_in_flight);
    out.u64(spec.arguments_bytes);
    out.u64(spec.envelope_bytes);
    out.u32(spec.error_bytes);
    for number in [spec.result.depth, spec.result.digits, spec.result.nodes, spec.result.units, spec.escaped_units] {
        out.u64(number);
    }
    out.u8(u8::from(spec.allow_dropped_keys));
    out.u32(spec.logs.line_bytes);
    out.u32(spec.logs.lines);
    out.u64(spec.logs.total_bytes);
}

fn read_spec(input: &mut Reader<'_>) -> Result<RunSpec, FrameError> {
    let code = input.text()?;
    let mut providers = Vec::new();
    for _ in 0..input.u32()? {
        providers.push(ProviderSpec {
            name: input.text()?,
            tools: ToolNames { block: input.bytes()?.to_vec() },
            prelude: input.optional(Reader::text)?,
            positional_args: input.bool()?,
            proxy_source: input.optional(Reader::text)?,
        });
    }
    let mut modules = Vec::new();
    for _ in 0..input.u32()? {
        modules.push((input.text()?, input.text()?));
    }
    Ok(RunSpec {
        code,
        providers,
        modules,
        timeout_ms: input.u64()?,
        cpu_ms: input.u64()?,
        max_wall_ms: input.u64()?,
        memory_limit: input.u64()?,
        stack_limit: input.u64()?,
        count_host_waits: input.bool()?,
        drop_functions: input.bool()?,
        calls_in_flight: input.u32()?,
        arguments_bytes: input.u64()?,
        envelope_bytes: input.u64()?,
        error_bytes: input.u32()?,
        result: ResultLimits { depth: input.u64()?, digits: input.u64()?, nodes: input.u64()?, units: input.u64()? },
        escaped_units: input.u64()?,
        allow_dropped_keys: input.bool()?,
        logs: LogBounds { line_bytes: input.u32()?, lines: input.u32()?, total_bytes: input.u64()? },
    })
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

const METHOD_BYTES: u64 = 32;

mod bytes;

mod kind {
    pub(super) const RUN: u8 = 1;
    pub(super) const REPLY: u8 = 2;
    pub(super) const READY: u8 = 65;
    pub(super) const LOG: u8 = 66;
    pub(super) const CALL: u8 = 67;
    pub(super) const WAITING: u8 = 68;
    pub(super) const DONE: u8 = 69;
    pub(super) const MEMORY: u8 = 70;
}

#[cfg(test)]
mod tests;
