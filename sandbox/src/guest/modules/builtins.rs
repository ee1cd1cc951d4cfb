//! The modules that exist without the caller's doing.

use crate::guest::web::NODE_MODULES;

/// Whether `name`, with its `node:`, is a builtin module. Those have no source: the Web surface makes them.
pub(super) fn is_builtin(name: &str) -> bool {
    NODE_MODULES.contains(&name)
}

/// The name of the builtin module that a specifier means, with or without `node:`.
pub(super) fn builtin_name(specifier: &str) -> Option<&'static str> {
    let bare = specifier.strip_prefix(PREFIX).unwrap_or(specifier);
    NODE_MODULES.iter().copied().find(|name| name.strip_prefix(PREFIX) == Some(bare))
}

const PREFIX: &str = "node:";

/// Whether a bare specifier names one of Node's own modules, so that a miss names it as `node:` module.
pub(super) fn is_node_name(specifier: &str) -> bool {
    let root = specifier.split('/').next().unwrap_or_default();
    NODE_NAMES.binary_search(&root).is_ok()
}

/// First segments of the names that Node resolves without a package, in order.
const NODE_NAMES: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_names_are_found_with_and_without_a_path() {
        assert!(NODE_NAMES.is_sorted());
        for (specifier, expected) in
            [("fs", true), ("fs/promises", true), ("lodash", false), ("", false), ("./fs", false)]
        {
            assert_eq!(is_node_name(specifier), expected, "{specifier}");
        }
    }
}
