//! What a run gave: a result or the program's failure, its logs and its figures (PROTOCOL.md, "Interface").

use std::fmt;

use crate::Encoded;

macro_rules! named {
    ($(#[doc = $type_doc:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $variant:ident $text:literal,)+ }) => {
        $(#[doc = $type_doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $name {
            /// Every variant, in the contract's order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The text on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The variant that `text` names.
            pub fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

named! {
    /// How a run ended. Decided by the pool or the allocator, never read from a text that the guest can make.
    Termination {
        /// The program returned.
        Completed "completed",
        /// The program threw, or its entry is no function.
        Threw "threw",
        /// The program does not parse.
        Syntax "syntax",
        /// The run clock, or the bound on the whole duration, ended it.
        Timeout "timeout",
        /// The CPU clock ended it.
        Cpu "cpu",
        /// The memory limit ended it.
        Memory "memory",
        /// The program awaits what can never settle.
        Stalled "stalled",
        /// The result cannot be carried.
        Result "result",
    }
}

impl Termination {
    /// Whether the program came to its own end, so that host calls that it had made and not awaited run on. In every
    /// other end they were cut off.
    pub fn leaves_calls(self) -> bool {
        match self {
            Self::Completed | Self::Threw | Self::Syntax | Self::Result => true,
            Self::Timeout | Self::Cpu | Self::Memory | Self::Stalled => false,
        }
    }
}

named! {
    /// The level of a log line.
    LogLevel {
        /// `console.log`.
        Log "log",
        /// `console.info`, and every method without a level of its own.
        Info "info",
        /// `console.debug`.
        Debug "debug",
        /// `console.warn`.
        Warn "warn",
        /// `console.error`.
        Error "error",
    }
}

/// One line that the program wrote to its console.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// The line's level.
    pub level: LogLevel,
    /// The console method that wrote it, such as `table`.
    pub method: String,
    /// The rendered arguments.
    pub message: String,
    /// When it was written, in milliseconds since the run began.
    pub time_ms: f64,
}

/// What the guest threw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorDetails {
    /// The error's `name`.
    pub name: String,
    /// The error's `message`.
    pub message: String,
    /// Its stack, in lines of the caller's own source.
    pub stack: Option<String>,
    /// Line of the caller's own source, from 1.
    pub line: Option<u32>,
    /// Column of that line, from 1.
    pub column: Option<u32>,
}

/// Figures of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// From the moment at which the child had the run, in milliseconds.
    pub wall_ms: f64,
    /// The child's CPU, in milliseconds.
    pub cpu_ms: f64,
    /// Time spent waiting for a permit and a child, in milliseconds.
    pub queue_ms: f64,
    /// Host calls made.
    pub host_calls: u64,
    /// Time during which the program waited only on host calls, in milliseconds.
    pub host_wait_ms: f64,
    /// The most memory that engine and natives held at once, in bytes.
    pub peak_memory_bytes: u64,
}

/// A run that took place, whatever the program did in it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the program returned; absent when it failed. An undefined result is present and decodes to undefined.
    pub result: Option<Encoded>,
    /// A non-empty text whenever the run failed.
    pub error: Option<String>,
    /// What the guest threw, if it threw.
    pub error_details: Option<ErrorDetails>,
    /// The console's lines, in order.
    pub logs: Vec<LogLine>,
    /// How the run ended.
    pub termination: Termination,
    /// The retained execution, when the result holds handles.
    pub execution_id: Option<String>,
    /// Whether handles were asked for and refused because too many executions are retained.
    pub handles_refused: bool,
    /// Figures of the run.
    pub stats: Stats,
}
/// The one member of the object that stands in a result for a function of a retained execution; its value is the
/// handle's id.
pub const HANDLE_TAG: &str = "__codemode_handle__";
