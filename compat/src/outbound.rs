//! Where the program's requests go when a case lends a function for them. `reference/outbound.mjs` answers in the same way.

use codemode_protocol::{Outbound, OutboundRequest, OutboundResponse};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::json;
use url::Url;

/// Answers with what it was asked.
pub(crate) struct Mirror;

impl Outbound for Mirror {
    fn fetch(&self, request: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
        std::future::ready(answer(&request)).boxed()
    }
}

fn answer(request: &OutboundRequest) -> Result<OutboundResponse, String> {
    let url = Url::parse(&request.url).map_err(|error| error.to_string())?;
    let status = url.query_pairs().find(|(name, _)| name == "status").and_then(|(_, value)| value.parse().ok());
    let body = String::from_utf8_lossy(request.body.as_deref().unwrap_or_default());
    let answered = json!({ "method": request.method, "url": url.as_str(), "body": body });
    Ok(OutboundResponse {
        status: status.unwrap_or(200),
        status_text: String::new(),
        headers: vec![("content-type".into(), "application/json".into()), ("x-answered-by".into(), "outbound".into())],
        body: answered.to_string().into_bytes(),
    })
}
