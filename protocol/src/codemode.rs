//! What a caller asks for in the dialect of `@cloudflare/codemode` (PROTOCOL.md, "The dialect by wire").

use std::collections::BTreeMap;

use crate::{
    ExecutorError, Limits, OutboundMode, ProviderDescriptor, ResultEncoding, TimeBound,
    provider::validate_provider_bounds,
    request::{validate_code, validate_id, validate_modules},
    text,
};

/// One program of a model to run once, with tools that the caller's own process answers under their raw names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodemodeRequest {
    /// What the model wrote, as it came.
    pub code: String,
    /// Namespaces; `tools` holds the names that the caller knows its tools by, whatever characters they have.
    pub providers: Vec<ProviderDescriptor>,
    /// Namespaces whose tools only the caller knows.
    pub connectors: Vec<String>,
    /// Module sources by specifier; absent means the executor's default.
    pub modules: Option<BTreeMap<String, String>>,
    /// The bound on the run's wall time, host calls included; 0 milliseconds are taken as 1.
    pub timeout: TimeBound,
    /// Where the program's `fetch` goes.
    pub outbound: OutboundMode,
    /// How the result travels.
    pub result_encoding: ResultEncoding,
    /// Names the run for `cancel` and the logs: a UUID; absent means that the executor makes one.
    pub id: Option<String>,
}

impl CodemodeRequest {
    /// Checks sizes and the id. Names are a matter of the dialect, which answers a bad one as a program's failure.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, naming the field and the rule.
    pub fn validate(&self, limits: &Limits) -> Result<(), ExecutorError> {
        validate_code(&self.code, limits)?;
        validate_modules(self.modules.as_ref(), limits)?;
        validate_id(self.id.as_deref())?;
        validate_provider_bounds(&self.providers, limits)?;
        let namespaces = self.providers.len().saturating_add(self.connectors.len());
        if namespaces as u64 > limits.providers {
            return Err(ExecutorError::invalid("connectors", text::too_many_connectors(namespaces, limits.providers)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_the_id_are_checked_and_names_are_not() {
        let limits = Limits { code_bytes: 4, modules_bytes: 5, providers: 2, tools: 1, ..Limits::default() };
        let provider = |name: &str, tools: &[&str]| ProviderDescriptor {
            name: name.into(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            ..ProviderDescriptor::default()
        };
        let request = CodemodeRequest::default;
        let good = CodemodeRequest {
            code: "1234".into(),
            providers: vec![provider("class", &["a tool"])],
            connectors: vec!["Promise".into()],
            timeout: TimeBound::Milliseconds(0),
            ..request()
        };
        assert!(good.validate(&limits).is_ok());
        let cases = [
            (CodemodeRequest { code: "12345".into(), ..request() }, "code: takes 5 bytes"),
            (CodemodeRequest { id: Some("x".into()), ..request() }, "id: must be a UUID"),
            (
                CodemodeRequest { modules: Some([("a".into(), "12345".into())].into()), ..request() },
                "modules: takes 6 bytes",
            ),
            (CodemodeRequest { providers: vec![provider("a", &["b", "c"])], ..request() }, "providers: 2 tool names"),
            (
                CodemodeRequest {
                    connectors: vec![String::new(); 2],
                    providers: vec![provider("a", &[])],
                    ..request()
                },
                "connectors: 3 with the providers",
            ),
        ];
        for (request, rule) in cases {
            let error = request.validate(&limits).unwrap_err();
            assert!(error.message.starts_with(rule), "{rule}: {}", error.message);
        }
    }
}
