//! The runner of our side: the adapter over a pool in this process, and over a daemon of its own process.

use std::path::PathBuf;

use anyhow::{Context, Result};
use codemode_adapter::{
    CodemodeExecutor, Connector, ConnectorBinding, ExecuteOptions, OutboundTarget, Provider, Providers, Tools,
};
use codemode_client::RemoteExecutor;
use codemode_protocol::{CancelToken, Executor, HostCallError, TimeBound, capnweb::Value as Wire};
use codemode_sandbox::{PoolExecutor, PoolOptions};
use codemode_tests::daemon::Daemon;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value};
use std::{collections::HashMap, sync::Arc};

use crate::{
    behaviour::{Behaviour, Tool},
    case::Lent,
    outbound::Mirror,
    outcome,
};

/// This executor, in both places.
pub struct Ours {
    local: CodemodeExecutor<PoolExecutor>,
    remote: CodemodeExecutor<RemoteExecutor>,
    // Ends with its value, after the session.
    _daemon: Daemon,
}

impl Ours {
    /// A pool whose sandboxes are made by the program `zygote`, this one if absent, and a daemon with a session.
    ///
    /// # Errors
    /// The pool does not come up, or the daemon takes no session.
    pub async fn start(zygote: Option<PathBuf>) -> Result<Self> {
        let options = PoolOptions { zygote, ..PoolOptions::default() };
        let pool = PoolExecutor::new(options).await.context("the pool does not come up")?;
        let daemon = Daemon::start();
        let remote = daemon.connect().await;
        Ok(Self { local: CodemodeExecutor::new(pool), remote: CodemodeExecutor::new(remote), _daemon: daemon })
    }

    /// The outcome in this process.
    pub async fn run(&self, lent: &Lent) -> Result<Value> {
        run(&self.local, lent).await
    }

    /// The outcome of the daemon.
    pub async fn run_remotely(&self, lent: &Lent) -> Result<Value> {
        run(&self.remote, lent).await
    }

    /// Gives the processes back.
    pub async fn stop(self) {
        self.remote.dispose().await;
        self.local.dispose().await;
    }
}

async fn run<E: Executor>(executor: &CodemodeExecutor<E>, lent: &Lent) -> Result<Value> {
    let providers: Providers = match &lent.record {
        Some(record) => tools(record)?.into(),
        None => lent.providers.iter().map(provider).collect::<Result<Vec<_>>>()?.into(),
    };
    let connectors = lent.connectors.iter().map(|connector| {
        let tools = behaviours(&connector.tools)?.into_iter().collect();
        Ok(ConnectorBinding::new(connector.name.clone(), Described { tools }))
    });
    let options = ExecuteOptions {
        connectors: connectors.collect::<Result<_>>()?,
        modules: lent.modules.clone(),
        timeout: TimeBound::Milliseconds(lent.timeout),
        outbound: if lent.outbound { OutboundTarget::Function(Arc::new(Mirror)) } else { OutboundTarget::Default },
        ..ExecuteOptions::default()
    };
    Ok(outcome::ours(executor.execute(&lent.code, providers, options).await))
}

fn provider(described: &crate::Provider) -> Result<Provider> {
    Ok(Provider {
        prelude: described.prelude.clone(),
        positional_args: described.positional_args,
        proxy_source: described.proxy_source.clone(),
        ..Provider::new(described.name.clone(), tools(&described.tools)?)
    })
}

fn tools(described: &Map<String, Value>) -> Result<Tools> {
    let with = |tools: Tools, (name, tool): (String, Tool)| tools.with(name, move |call| tool(call.args));
    Ok(behaviours(described)?.into_iter().fold(Tools::new(), with))
}

fn behaviours(described: &Map<String, Value>) -> Result<Vec<(String, Tool)>> {
    described.iter().map(|(name, described)| Ok((name.clone(), Behaviour::read(described)?.tool()))).collect()
}

/// A connector whose tools are described.
struct Described {
    tools: HashMap<String, Tool>,
}

impl Connector for Described {
    fn call_tool(
        &self,
        tool: String,
        argument: Wire,
        _: CancelToken,
    ) -> BoxFuture<'static, Result<Wire, HostCallError>> {
        match self.tools.get(&tool) {
            Some(tool) => tool(vec![argument]),
            None => std::future::ready(Err(HostCallError::new(format!("the connector has no tool {tool}")))).boxed(),
        }
    }
}
