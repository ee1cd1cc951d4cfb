//! The one table of settings: flags of `serve`, keys of the file, names in the environment and the documents follow
//! from it.
//!
//! A row is `field "key": type as kind => default;`, with the help as its documentation, and, where the default is no
//! number that can be shown, words for it after a comma.

use std::{net::SocketAddr, path::PathBuf, str::FromStr};

use codemode_daemon::{HostName, Origin, OutboundOrigin};
use codemode_protocol::{LEAST_MEMORY_BYTES, LEAST_STACK_BYTES, LOCAL_NODE, Limits};
use codemode_sandbox::Level;

use super::{
    Set, Sources,
    kinds::{
        Address, Choice, Confinement, Count, File, Form, HttpUrl, Kind, List, LogFilter, NodeName, Optional, Size,
        Switch, Time,
    },
};

/// What is known of a setting without its value.
pub(crate) struct Row {
    /// The key in the file; the flag is `--` and the key.
    pub(crate) key: &'static str,
    /// The part of the table that it stands in.
    pub(crate) heading: &'static str,
    help: &'static [&'static str],
    /// What stands for the value in the help.
    pub(crate) value_name: &'static str,
    /// How it is given.
    pub(crate) form: Form,
    /// Says which rule a text breaks.
    pub(crate) check: fn(&str) -> Result<(), String>,
    /// The default in words.
    pub(crate) default: String,
}

impl Row {
    /// The flag.
    pub(crate) fn flag(&self) -> String {
        format!("--{}", self.key)
    }

    /// The name in the environment.
    pub(crate) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key.replace('-', "_").to_ascii_uppercase())
    }

    /// What it is for, in one paragraph.
    pub(crate) fn help(&self) -> String {
        self.help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// What the names of all settings in the environment begin with.
pub(crate) const PREFIX: &str = "CODEMODED_";

macro_rules! settings {
    ($($heading:literal {
        $($(#[doc = $help:literal])+ $field:ident $key:literal: $type:ty as $kind:expr => $default:expr $(, $words:literal)?;)+
    })+) => {
        /// The value of every setting, and where it comes from.
        #[derive(Clone, Debug)]
        #[allow(rustdoc::bare_urls, reason = "the help of the command line shows addresses as they are")]
        pub(crate) struct Settings {
            $($($(#[doc = $help])+ pub(crate) $field: Set<$type>,)+)+
        }

        impl Settings {
            /// Reads what the sources give; the rest is at its default.
            ///
            /// # Errors
            /// Names the place of the value and the rule that it breaks.
            pub(super) fn read(sources: &mut Sources) -> Result<Self, String> {
                Ok(Self { $($($field: sources.take($key, &$kind, $default)?,)+)+ })
            }

            /// Every value as TOML, none where there is none, with its key and its origin.
            pub(crate) fn shown(&self) -> Vec<(&'static str, Option<String>, String)> {
                vec![$($(($key, Kind::show(&$kind, &self.$field.value), self.$field.origin.to_string()),)+)+]
            }
        }

        /// Every row.
        pub(crate) fn rows() -> Vec<Row> {
            vec![$($(Row {
                key: $key,
                heading: $heading,
                help: &[$($help),+],
                value_name: Kind::value_name(&$kind),
                form: Kind::form(&$kind),
                check: |text| Kind::read(&$kind, text).map(drop),
                default: {
                    let words: &[&str] = &[$($words)?];
                    match words {
                        [] => Kind::show(&$kind, &$default).map_or_else(|| "none".into(), |shown| shown.replace('"', "")),
                        words => words.concat(),
                    }
                },
            },)+)+]
        }
    };
}

settings! {
    "Listening" {
        /// Address and port to listen on; port 0 takes a free one. One that others can reach needs tokens, or insecure
        listen "listen": SocketAddr as Address => SocketAddr::from(([127, 0, 0, 1], 8787));
        /// Name of this daemon in `info()`, and the beginning of the ids of executions that it retains
        node "node": String as NodeName => LOCAL_NODE.to_owned();
        /// Connections at once that are not sessions yet; a further one takes the place of the oldest
        max_connections "max-connections": u64 as Count { least: 1, most: 1_000_000 } => 256;
        /// Sessions at once; further ones get status 503
        max_sessions "max-sessions": u64 as Count { least: 1, most: 1_000_000 } => 1024;
        /// Refuse to start when programs are confined less than this: process, filtered or layered
        require_confinement "require-confinement": Level as Confinement => Level::Process;
        /// How long running programs may take to finish after SIGTERM
        drain_timeout "drain-timeout": u64 as Time { least: 0, most: DAY } => limits().drain_timeout_ms;
    }
    "Access" {
        /// File of tokens, without one of which nothing runs: name:sha256hex a line, as `codemoded token` makes it. SIGHUP
        /// reads it again, and ends the sessions of tokens that are gone
        tokens "tokens": Option<PathBuf> as Optional(File) => None;
        /// File of the certificate chain, PEM, for TLS; SIGHUP reads it and the key again
        tls_cert "tls-cert": Option<PathBuf> as Optional(File) => None;
        /// File of the certificate's private key, PEM
        tls_key "tls-key": Option<PathBuf> as Optional(File) => None;
        /// Origin of web pages that may open sessions, such as https://example.com; may be repeated
        allow_origin "allow-origin": Vec<Origin> as List { value_name: "ORIGIN", read: Origin::from_str } => Vec::new(), "none";
        /// Name by which the daemon may be called without tokens, beside localhost and addresses; may be repeated
        allow_host "allow-host": Vec<HostName> as List { value_name: "HOST", read: HostName::from_str } => Vec::new(), "none";
        /// Sessions of one address at once; further ones get status 429. Behind a balancer all are of one address
        max_sessions_per_address "max-sessions-per-address": Option<u64> as Optional(Count { least: 1, most: 1_000_000 })
            => None, "max-sessions";
        /// Listen on an address that others can reach without tokens: whoever reaches it may run programs
        insecure "insecure": bool as Switch => false;
    }
    "Logging" {
        /// What is logged to standard error: off, error, warn, info, debug, trace, or a filter such as
        /// `codemode_daemon=debug`
        log "log": String as LogFilter => "info".to_owned();
        /// How log lines look: text, or json for one object a line
        log_format "log-format": String as Choice(&["text", "json"]) => "text".to_owned();
        /// Log programs, the arguments and answers of their calls, and results: what users say is in them
        log_payloads "log-payloads": bool as Switch => false;
        /// URL of an OTLP collector (HTTP, protobuf) that spans are sent to, such as http://127.0.0.1:4318/v1/traces
        otlp "otlp": Option<String> as Optional(HttpUrl) => None;
    }
    "Admission" {
        /// Programs at once
        max_concurrent "max-concurrent": u64 as Count { least: 1, most: 100_000 } => limits().max_concurrent, "32 per core";
        /// Sandboxes kept ready
        warm "warm": u64 as Count { least: 0, most: 10_000 } => limits().warm_children, "4 per core";
        /// Programs that may wait for a sandbox
        queue "queue": u64 as Count { least: 0, most: 1_000_000 } => limits().queue;
        /// How long a program may wait for a sandbox
        queue_wait "queue-wait": u64 as Time { least: 1, most: DAY } => limits().queue_wait_ms;
        /// Memory that all programs may take together; what they may ask for adds up to `memory-overcommit` times as much
        memory_budget "memory-budget": Option<u64> as Optional(Size { least: LEAST_MEMORY_BYTES, most: u64::MAX }) => None,
            "75 % of what the machine or the control group has";
        /// How many times the memory budget programs may ask for, because most use little of it
        memory_overcommit "memory-overcommit": u64 as Count { least: 1, most: 1000 } => limits().memory_overcommit;
        /// Programs at once of one tenant; further ones wait
        tenant_concurrent "tenant-concurrent": Option<u64> as Optional(Count { least: 1, most: 100_000 }) => None;
        /// Programs of one tenant that may wait for a sandbox
        tenant_queue "tenant-queue": Option<u64> as Optional(Count { least: 0, most: 1_000_000 }) => None;
        /// Executions of one tenant retained at once
        tenant_retained "tenant-retained": Option<u64> as Optional(Count { least: 0, most: 100_000 }) => None;
        /// Executions retained at once for later calls of their functions
        max_retained "max-retained": u64 as Count { least: 0, most: 100_000 } => limits().max_retained;
        /// How long a retained execution lives without a call
        handle_ttl "handle-ttl": u64 as Time { least: 1, most: DAY } => limits().handle_ttl_ms;
    }
    "Bounds of a program" {
        /// Time limit of a program that names none, waits for tools not counted
        timeout_default "timeout-default": u64 as Time { least: 1, most: DAY } => limits().timeout_ms;
        /// Highest time limit that a program may ask for
        timeout_max "timeout-max": u64 as Time { least: 1, most: DAY } => limits().max_timeout_ms;
        /// CPU time of a program that names none
        cpu_time_default "cpu-time-default": u64 as Time { least: 1, most: DAY } => limits().cpu_time_ms;
        /// Highest CPU time that a program may ask for
        cpu_time_max "cpu-time-max": u64 as Time { least: 1, most: DAY } => limits().max_cpu_time_ms;
        /// Time at which every program ends, waits included
        max_wall "max-wall": u64 as Time { least: 1, most: DAY } => limits().max_wall_ms;
        /// How long one call of a tool may take
        host_call_timeout "host-call-timeout": u64 as Time { least: 1, most: DAY } => limits().host_call_timeout_ms;
        /// Memory limit of a program that names none
        memory_default "memory-default": u64 as Size { least: LEAST_MEMORY_BYTES, most: u64::MAX } => limits().memory_limit;
        /// Highest memory limit that a program may ask for
        memory_max "memory-max": u64 as Size { least: LEAST_MEMORY_BYTES, most: u64::MAX } => limits().max_memory_limit;
        /// Stack of a program that names none
        stack_default "stack-default": u64 as Size { least: LEAST_STACK_BYTES, most: 64 << 20 } => limits().stack_limit;
        /// Largest stack that a program may ask for
        stack_max "stack-max": u64 as Size { least: LEAST_STACK_BYTES, most: 64 << 20 } => limits().max_stack_limit;
        /// Calls of tools that one program may have in flight; further ones wait
        calls_in_flight "calls-in-flight": u64 as Count { least: 1, most: 10_000 } => limits().calls_in_flight;
        /// Arguments of one call of a tool
        call_arguments "call-arguments": u64 as Size { least: 1, most: 64 << 20 } => limits().call_arguments_bytes;
        /// Answer of one call of a tool
        call_result "call-result": u64 as Size { least: 1, most: 64 << 20 } => limits().call_result_bytes;
        /// Origins that `fetch` reaches when a request leaves it to this daemon, such as https://api.example.com; an address
        /// that is not public must be listed itself, such as http://127.0.0.1:8080
        outbound_allow "outbound-allow": Vec<OutboundOrigin> as List { value_name: "ORIGIN", read: OutboundOrigin::from_str } => Vec::new(), "none";
        /// Body of one request of `fetch`, and of its response
        outbound_body "outbound-body": u64 as Size { least: 0, most: 64 << 20 } => limits().outbound_body_bytes;
    }
    "Bounds of a request" {
        /// Source of a program
        max_code "max-code": u64 as Size { least: 1, most: 64 << 20 } => limits().code_bytes;
        /// Source of one module
        max_module "max-module": u64 as Size { least: 0, most: 64 << 20 } => limits().module_bytes;
        /// Sources of all modules
        max_modules "max-modules": u64 as Size { least: 0, most: 64 << 20 } => limits().modules_bytes;
        /// Preludes of all providers
        max_preludes "max-preludes": u64 as Size { least: 0, most: 64 << 20 } => limits().preludes_bytes;
        /// Providers
        max_providers "max-providers": u64 as Count { least: 0, most: 10_000 } => limits().providers;
        /// Names of tools, over all providers
        max_tools "max-tools": u64 as Count { least: 0, most: 1_000_000 } => limits().tools;
        /// One message on the wire
        wire_message "wire-message": u64 as Size { least: 1 << 20, most: 1 << 30 } => limits().wire_message_bytes;
    }
}

/// The contract's bounds, which are the defaults here.
fn limits() -> Limits {
    Limits::default()
}

const DAY: u64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_fields_names_and_no_two_are_the_same() {
        let rows = rows();
        let fields = format!("{:#?}", Settings::read(&mut Sources::default()).unwrap());
        for row in &rows {
            let field = row.key.replace('-', "_");
            assert!(fields.contains(&format!("\n    {field}: Set")), "{}", row.key);
            assert!(rows.iter().filter(|other| other.key == row.key).count() == 1, "{}", row.key);
            assert!(!row.help().ends_with('.'), "{}", row.key);
        }
    }

    #[test]
    fn every_default_would_be_taken_if_it_were_given() {
        for ((key, shown, _), row) in Settings::read(&mut Sources::default()).unwrap().shown().into_iter().zip(rows()) {
            assert_eq!(key, row.key);
            if let (Form::One, Some(shown)) = (row.form, shown) {
                assert_eq!((row.check)(shown.trim_matches('"')), Ok(()), "{key}");
            }
        }
    }
}
