//! What a child is told about its run, and how that is written.

use codemode_protocol::ResultLimits;

use super::{
    FrameError,
    bytes::{Reader, Writer},
};

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

/// Where requests of the program go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutboundSpec {
    /// Nowhere.
    Blocked,
    /// To the host; waiting for it is a host wait.
    Host,
    /// To the pool's own client; the run clock goes on meanwhile.
    Executor,
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

/// One call of a function that a run has left behind. What it does not say is as in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvokeSpec {
    /// The function: 1 for the first that became a handle.
    pub(crate) function: u32,
    /// A JSON array.
    pub(crate) args_json: String,
    /// The run clock's bound, milliseconds.
    pub(crate) timeout_ms: u64,
    /// The CPU clock's bound, milliseconds.
    pub(crate) cpu_ms: u64,
    /// The bound of plain wall time, milliseconds.
    pub(crate) max_wall_ms: u64,
    /// True makes the run clock plain wall time.
    pub(crate) count_host_waits: bool,
    /// True lets functions inside the result vanish, where they become handles otherwise.
    pub(crate) drop_functions: bool,
    /// Where requests go.
    pub(crate) outbound: OutboundSpec,
    /// As in the run's specification.
    pub(crate) escaped_units: u64,
}

impl RunSpec {
    /// The bounds of a call of a function that this run has left behind.
    pub(crate) fn apply(&mut self, invoke: &InvokeSpec) {
        self.timeout_ms = invoke.timeout_ms;
        self.cpu_ms = invoke.cpu_ms;
        self.max_wall_ms = invoke.max_wall_ms;
        self.count_host_waits = invoke.count_host_waits;
        self.drop_functions = invoke.drop_functions;
        self.outbound = invoke.outbound;
        self.escaped_units = invoke.escaped_units;
    }
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
    /// Present when functions in the result are kept for later calls: what their handles begin with, unknown to the
    /// program.
    pub(crate) retain: Option<String>,
    /// Where requests go.
    pub(crate) outbound: OutboundSpec,
    /// Bytes of one request's body.
    pub(crate) outbound_bytes: u64,
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

pub(super) fn write_spec(out: &mut Writer, spec: &RunSpec) {
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
    out.optional_text(spec.retain.as_deref());
    out.u8(outbound_code(spec.outbound));
    out.u64(spec.outbound_bytes);
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

pub(super) fn read_spec(input: &mut Reader<'_>) -> Result<RunSpec, FrameError> {
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
        retain: input.optional(Reader::text)?,
        outbound: read_outbound(input)?,
        outbound_bytes: input.u64()?,
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

pub(super) fn write_invoke(out: &mut Writer, spec: &InvokeSpec) {
    out.u32(spec.function);
    out.text(&spec.args_json);
    for number in [spec.timeout_ms, spec.cpu_ms, spec.max_wall_ms, spec.escaped_units] {
        out.u64(number);
    }
    out.u8(u8::from(spec.count_host_waits));
    out.u8(u8::from(spec.drop_functions));
    out.u8(outbound_code(spec.outbound));
}

pub(super) fn read_invoke(input: &mut Reader<'_>) -> Result<InvokeSpec, FrameError> {
    let (function, args_json) = (input.u32()?, input.text()?);
    let [timeout_ms, cpu_ms, max_wall_ms, escaped_units] = [input.u64()?, input.u64()?, input.u64()?, input.u64()?];
    Ok(InvokeSpec {
        function,
        args_json,
        timeout_ms,
        cpu_ms,
        max_wall_ms,
        escaped_units,
        count_host_waits: input.bool()?,
        drop_functions: input.bool()?,
        outbound: read_outbound(input)?,
    })
}

fn outbound_code(outbound: OutboundSpec) -> u8 {
    match outbound {
        OutboundSpec::Blocked => 0,
        OutboundSpec::Host => 1,
        OutboundSpec::Executor => 2,
    }
}

fn read_outbound(input: &mut Reader<'_>) -> Result<OutboundSpec, FrameError> {
    match input.u8()? {
        0 => Ok(OutboundSpec::Blocked),
        1 => Ok(OutboundSpec::Host),
        2 => Ok(OutboundSpec::Executor),
        _ => Err(FrameError::BadField),
    }
}
