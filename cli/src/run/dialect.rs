//! Raw model output: what a request in the dialect of `@cloudflare/codemode` becomes, and where its tools are.

use std::sync::Arc;

use codemode_adapter::{CodemodeResult, ForwardedTools, normalize_code, plan_request};
use codemode_protocol::{CodemodeRequest, ExecuteRequest, Host, Outcome};

/// What `run` takes its program for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Dialect {
    /// One arrow function, which is not rewritten
    #[default]
    Native,
    /// What a model wrote for `@cloudflare/codemode`: fences, bare statements, `export default`
    Codemode,
}

/// A program that is ready to be sent, and how its tools are found and its outcome is read.
pub(crate) enum Program {
    Native(ExecuteRequest),
    Codemode(ExecuteRequest, ForwardedTools),
}

/// How a run ended, in the words of its dialect.
#[derive(Debug)]
pub(crate) enum Ended {
    Native(Outcome),
    Codemode(CodemodeResult),
}

impl Program {
    /// The program of `request`, in the dialect.
    ///
    /// # Errors
    /// The dialect refuses a name.
    pub(crate) fn codemode(request: CodemodeRequest, memory_limit: Option<u64>) -> Result<Self, String> {
        let plan = plan_request(request)?;
        let native = ExecuteRequest { code: normalize_code(&plan.native.code), memory_limit, ..plan.native };
        Ok(Self::Codemode(native, plan.tools))
    }

    pub(crate) fn request(&self) -> &ExecuteRequest {
        let (Self::Native(request) | Self::Codemode(request, _)) = self;
        request
    }

    /// What is sent, what answers it, and how its outcome is read.
    pub(crate) fn into_parts(self, host: Host) -> (ExecuteRequest, Host, fn(Outcome) -> Ended) {
        match self {
            Self::Native(request) => (request, host, Ended::Native),
            Self::Codemode(request, tools) => {
                let dispatch = Some(Arc::new(tools.lend(host.dispatch)) as _);
                (request, Host { dispatch, ..host }, |outcome| Ended::Codemode(outcome.into()))
            }
        }
    }
}
