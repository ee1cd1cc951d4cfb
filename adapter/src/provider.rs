//! What a host lends to one execution: providers of tools, and connectors.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    future::Future,
    sync::Arc,
};

use codemode_protocol::{CancelToken, HostCallError, ToolCall, ToolHandler, capnweb::Value};
use futures_util::future::{BoxFuture, FutureExt};

/// A namespace of the program whose tools run in this process.
///
/// ```
/// use codemode_adapter::{Provider, Tools};
/// use codemode_protocol::capnweb::Value;
///
/// let tools = Tools::new().with("list-issues", |call| async move { Ok(Value::Array(call.args)) });
/// let provider = Provider { prelude: Some("github.me = 'octocat'".into()), ..Provider::new("github", tools) };
/// ```
#[derive(Clone, Debug, Default)]
pub struct Provider {
    /// The namespace's name in the program.
    pub name: String,
    /// Its tools, under the names that the host knows them by.
    pub tools: Tools,
    /// Host-authored source that runs before the program, in its scope.
    pub prelude: Option<String>,
    /// False passes exactly one argument, `{}` when the program gave none; absent or true passes all.
    pub positional_args: Option<bool>,
    /// An expression evaluating to a function that gets the raw dispatcher and returns the namespace.
    pub proxy_source: Option<String>,
}

impl Provider {
    /// A provider with `tools` and nothing else.
    pub fn new(name: impl Into<String>, tools: Tools) -> Self {
        Self { name: name.into(), tools, ..Self::default() }
    }
}

/// Functions by name, in the order in which JavaScript lists the properties of a record: names that are array indices
/// first, by number, then the others as they were added. A name that is added again keeps its place.
#[derive(Clone, Default)]
pub struct Tools {
    indices: BTreeMap<u32, (String, ToolHandler)>,
    names: Vec<(String, ToolHandler)>,
    /// Where each of `names` stands.
    places: HashMap<String, usize>,
}

impl Tools {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same tools and `function` under `name`. The function is told which identifier the program called, gets the
    /// program's arguments, and answers with a value or with the message that the program catches.
    #[must_use]
    pub fn with<F, Answer>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(ToolCall) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Result<Value, HostCallError>> + Send + 'static,
    {
        self.insert(name, Arc::new(move |call| function(call).boxed()));
        self
    }

    /// Adds `function` under `name`, in place of what was there.
    pub fn insert(&mut self, name: impl Into<String>, function: ToolHandler) {
        let name = name.into();
        if let Some(index) = array_index(&name) {
            self.indices.insert(index, (name, function));
        } else if let Some(place) = self.places.get(&name) {
            self.names[*place].1 = function;
        } else {
            self.places.insert(name.clone(), self.names.len());
            self.names.push((name, function));
        }
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries().map(|(name, _)| name.as_str())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &(String, ToolHandler)> {
        self.indices.values().chain(&self.names)
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// The providers of one execution.
#[derive(Clone, Debug)]
pub enum Providers {
    /// Any number of them, in order.
    List(Vec<Provider>),
    /// A bare record of functions, the older shape: one provider with the name `codemode`.
    Record(Tools),
}

impl From<Vec<Provider>> for Providers {
    fn from(providers: Vec<Provider>) -> Self {
        Self::List(providers)
    }
}

impl<const COUNT: usize> From<[Provider; COUNT]> for Providers {
    fn from(providers: [Provider; COUNT]) -> Self {
        Self::List(providers.into())
    }
}

impl From<Tools> for Providers {
    fn from(tools: Tools) -> Self {
        Self::Record(tools)
    }
}

impl Providers {
    /// The list; warns where a bare record stands for it.
    pub(crate) fn into_list(self) -> Vec<Provider> {
        match self {
            Self::List(providers) => providers,
            Self::Record(tools) => {
                tracing::warn!("{BARE_RECORD}");
                vec![Provider::new("codemode", tools)]
            }
        }
    }
}

/// A namespace whose tools are known to the connector alone.
pub trait Connector: Send + Sync + 'static {
    /// Calls `tool` with the first argument of the program's call, undefined when it gave none. `cancel` is raised when
    /// the answer is of no use any more.
    ///
    /// An answer `{"__codemode_control__": "pause"}` rejects the call in the program with `__CODEMODE_PAUSE__`, and
    /// `{"__codemode_control__": "error", "message": …}` with that message.
    fn call_tool(
        &self,
        tool: String,
        argument: Value,
        cancel: CancelToken,
    ) -> BoxFuture<'static, Result<Value, HostCallError>>;
}

/// A connector under the name that the program knows it by.
#[derive(Clone)]
pub struct ConnectorBinding {
    /// The namespace's name in the program.
    pub name: String,
    /// What answers its calls.
    pub connector: Arc<dyn Connector>,
}

impl ConnectorBinding {
    /// `connector` under `name`.
    pub fn new(name: impl Into<String>, connector: impl Connector) -> Self {
        Self { name: name.into(), connector: Arc::new(connector) }
    }
}

impl fmt::Debug for ConnectorBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorBinding").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The number that `name` is as an array index (ECMA-262, section 6.1.7): canonical, below 2³² − 1.
fn array_index(name: &str) -> Option<u32> {
    let canonical = name == "0" || !name.starts_with(['0', '+']);
    name.parse().ok().filter(|index| canonical && *index != u32::MAX)
}

const BARE_RECORD: &str = "[codemode-adapter] Passing a bare functions record to execute() is deprecated. Pass an array of \
                           providers instead.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_listed_as_javascript_lists_properties() {
        let mut tools = Tools::new();
        for name in ["b", "10", "a", "2", "01", "-1", "b", "4294967295", "4294967294", "+3", "0", ""] {
            tools = tools.with(name, |_| async { Ok(Value::Undefined) });
        }
        let listed: Vec<_> = tools.names().collect();
        assert_eq!(listed, ["0", "2", "10", "4294967294", "b", "a", "01", "-1", "4294967295", "+3", ""]);
    }
}
