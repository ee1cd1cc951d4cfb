//! Which module a specifier names, purely.
//!
//! The engine knows a module by one name, under which it finds it again and which stacks show. That is the caller's key,
//! but for keys that are names of ours already, and for modules that have to be loaded afresh: those get a suffix.

use std::collections::BTreeMap;
use std::ffi::CStr;

use super::builtins::{builtin_name, is_builtin, is_node_name};
use crate::guest::program::{FILE, PROXY_FILE};

/// The caller's modules.
#[derive(Debug, Default)]
pub(super) struct Graph {
    modules: Vec<Module>,
    by_key: BTreeMap<String, usize>,
    /// Keys that are paths with `.` and `..`, folded.
    by_path: BTreeMap<String, usize>,
    by_name: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Module {
    key: String,
    source: String,
    name: String,
}

/// What a name of the engine's stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found<'a> {
    /// The caller's key.
    pub(super) key: &'a str,
    pub(super) source: &'a str,
}

impl Graph {
    /// A graph of the caller's modules. A key [`IGNORED_KEY`] is passed over.
    pub(super) fn new(modules: Vec<(String, String)>) -> Self {
        let mut graph = Self::default();
        for (key, source) in modules.into_iter().filter(|(key, _)| key != IGNORED_KEY) {
            graph.by_key.insert(key.clone(), graph.modules.len());
            graph.modules.push(Module { key, source, name: String::new() });
        }
        for at in 0..graph.modules.len() {
            let key = &graph.modules[at].key;
            let path = fold("", key);
            if path != *key && !graph.by_key.contains_key(&path) {
                graph.by_path.entry(path).or_insert(at);
            }
            graph.rename(at);
        }
        graph
    }

    /// Bytes of all sources.
    pub(super) fn bytes(&self) -> usize {
        self.modules.iter().map(|module| module.source.len()).sum()
    }

    /// The engine's name of what `specifier` means in the module that the engine calls `importer`.
    ///
    /// # Errors
    /// There is none: the specifier as it was resolved.
    pub(super) fn resolve(&self, importer: &str, specifier: &str) -> Result<&str, String> {
        let importer = self.by_name.get(importer).map_or("", |at| self.modules[*at].key.as_str());
        let own = |key: &str| self.by_key.get(key).map(|at| self.modules[*at].name.as_str());
        if let Some(name) = own(specifier) {
            return Ok(name);
        }
        let path = if has_scheme(specifier) { fold("", specifier) } else { fold(importer, specifier) };
        if let Some(name) = own(&path) {
            return Ok(name);
        }
        if let Some(at) = self.by_path.get(&path) {
            return Ok(&self.modules[*at].name);
        }
        if let Some(name) = builtin_name(specifier) {
            return Ok(name);
        }
        Err(if is_node_name(specifier) { format!("node:{specifier}") } else { path })
    }

    /// The caller's module that the engine calls `name`.
    pub(super) fn find(&self, name: &str) -> Option<Found<'_>> {
        let Module { key, source, .. } = &self.modules[*self.by_name.get(name)?];
        Some(Found { key, source })
    }

    /// Has the module that the engine calls `name` loaded afresh the next time: it gets a new name.
    pub(super) fn forget(&mut self, name: &str) {
        if let Some(at) = self.by_name.get(name).copied() {
            self.rename(at);
        }
    }

    /// Gives a module a name that the engine has not seen.
    fn rename(&mut self, at: usize) {
        let key = self.modules[at].key.as_str();
        let ours = |name: &str| {
            let harness = [FILE, PROXY_FILE].map(CStr::to_bytes).contains(&name.as_bytes());
            harness || is_builtin(name)
        };
        let mut name = key.to_owned();
        while ours(&name) || self.by_name.contains_key(&name) || (name != key && self.by_key.contains_key(&name)) {
            name.push(SUFFIX);
        }
        self.by_name.insert(name.clone(), at);
        self.modules[at].name = name;
    }
}

/// Whether a specifier is an address or a `node:` name, which no path is put in front of.
fn has_scheme(specifier: &str) -> bool {
    let scheme = specifier.split_once(':').map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// `specifier` as a path beside the module `importer`, without empty, `.` and `..` segments. What leads out of the root
/// stays in it.
fn fold(importer: &str, specifier: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let beside = if specifier.starts_with('/') { "" } else { importer };
    let folder = beside.rsplit_once('/').map_or("", |(folder, _)| folder);
    for segment in folder.split('/').chain(specifier.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    segments.join("/")
}

/// A key that callers may not use, as the reference's own program stands there; no module has it.
const IGNORED_KEY: &str = "executor.js";

const SUFFIX: char = '?';

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(keys: &[&str]) -> Graph {
        Graph::new(keys.iter().map(|key| ((*key).to_owned(), format!("// {key}"))).collect())
    }

    #[test]
    fn an_exact_key_wins_then_the_path_beside_the_importer() {
        let graph =
            graph(&["lib/a.js", "lib/b.js", "b.js", "./c.js", "lib/deep/d.js", "../up.js", "fs", "https://x/y"]);
        let cases = [
            ("program.js", "b.js", Ok("b.js")),
            ("program.js", "./b.js", Ok("b.js")),
            ("program.js", "/b.js", Ok("b.js")),
            ("program.js", "./lib//./a.js", Ok("lib/a.js")),
            ("lib/a.js", "b.js", Ok("b.js")),
            ("lib/a.js", "./b.js", Ok("lib/b.js")),
            ("lib/a.js", "deep/d.js", Ok("lib/deep/d.js")),
            ("lib/deep/d.js", "../a.js", Ok("lib/a.js")),
            ("lib/deep/d.js", "../../../../b.js", Ok("b.js")),
            ("lib/a.js", "/b.js", Ok("b.js")),
            ("program.js", "./c.js", Ok("./c.js")),
            ("lib/a.js", "../c.js", Ok("./c.js")),
            ("program.js", "../up.js", Ok("../up.js")),
            ("lib/a.js", "fs", Ok("fs")),
            ("lib/a.js", "https://x/y", Ok("https://x/y")),
            ("program.js", "nope.js", Err("nope.js")),
            ("lib/a.js", "./nope.js", Err("lib/nope.js")),
            ("lib/a.js", "lodash", Err("lib/lodash")),
            ("lib/a.js", "path", Ok("node:path")),
            ("lib/a.js", "vm", Err("node:vm")),
            ("lib/a.js", "node:vm", Err("node:vm")),
            ("program.js", "fs/promises", Err("node:fs/promises")),
            ("program.js", "https://esm.sh/lodash", Err("https:/esm.sh/lodash")),
            ("lib/a.js", "https://esm.sh/lodash", Err("https:/esm.sh/lodash")),
            ("program.js", "data:text/javascript,export default 1", Err("data:text/javascript,export default 1")),
            ("program.js", "", Err("")),
            ("program.js", "program.js", Err("program.js")),
        ];
        for (importer, specifier, expected) in cases {
            assert_eq!(
                graph.resolve(importer, specifier),
                expected.map_err(str::to_owned),
                "{specifier} in {importer}"
            );
        }
    }

    #[test]
    fn names_of_ours_are_not_the_callers() {
        let graph = graph(&["program.js", "program.js?", "proxy.js", "executor.js"]);
        assert_eq!(graph.resolve("", "program.js"), Ok("program.js??"));
        assert_eq!(graph.resolve("", "program.js?"), Ok("program.js?"));
        assert_eq!(graph.resolve("", "proxy.js"), Ok("proxy.js?"));
        assert_eq!(graph.resolve("", "executor.js"), Err("executor.js".to_owned()));
        assert_eq!(graph.find("program.js??").map(|found| found.key), Some("program.js"));
        assert_eq!(graph.find("program.js"), None);
    }

    #[test]
    fn a_forgotten_module_comes_back_under_a_new_name() {
        let mut graph = graph(&["lib/a.js", "lib/b.js"]);
        graph.forget("lib/a.js");
        assert_eq!(graph.resolve("", "lib/a.js"), Ok("lib/a.js?"));
        graph.forget("lib/a.js?");
        assert_eq!(graph.resolve("", "lib/a.js"), Ok("lib/a.js??"));
        assert_eq!(graph.resolve("lib/a.js??", "./b.js"), Ok("lib/b.js"));
    }
}
