//! The caller's function for requests as an object that the daemon calls.

use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc};

use codemode_protocol::{
    Outbound,
    capnweb::{ErrorValue, IncomingCall, Target, Value},
    text,
    wire::{error_to_value, outbound_call, outbound_response_to_value},
};
use futures_util::future::{BoxFuture, Either, FutureExt, select};

use crate::dispatch::Run;

/// The outbound object of one run.
pub(crate) struct OutboundTarget {
    outbound: Arc<dyn Outbound>,
    run: Run,
}

impl OutboundTarget {
    pub(crate) fn new(outbound: Arc<dyn Outbound>, run: Run) -> Self {
        Self { outbound, run }
    }
}

impl Target for OutboundTarget {
    fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
        self.run.called();
        let IncomingCall { path, args, cancel } = call;
        async move {
            let Some(args) = args.filter(|_| path.is_empty()) else {
                return Err(ErrorValue::new("TypeError", "outbound is a function and has no members").into());
            };
            let request = outbound_call(args).map_err(error_to_value)?;
            let name = text::shortened(&format!("{} {}", request.method, request.url), NAME_BYTES).into_owned();
            // A function that panics fails its request, in the words of an executor in this process.
            let performed = AssertUnwindSafe(async { self.outbound.fetch(request).await }).catch_unwind();
            // A request that the daemon releases is dropped, which cancels it: nobody reads the response.
            match select(pin!(performed), pin!(cancel.cancelled())).await {
                Either::Left((Ok(Ok(response)), _)) => Ok(outbound_response_to_value(response)),
                Either::Left((Ok(Err(message)), _)) => Err(ErrorValue::new("TypeError", message).into()),
                Either::Left((Err(_), _)) => Err(ErrorValue::new("TypeError", text::outbound_panicked(&name)).into()),
                Either::Right(_) => Err(Value::error(text::REQUEST_GIVEN_UP)),
            }
        }
        .boxed()
    }
}

/// Bytes of a request's method and address that texts show.
const NAME_BYTES: u64 = 512;

#[cfg(test)]
mod tests {
    use codemode_protocol::{CancelSource, OutboundRequest, OutboundResponse, wire::outbound_arguments};

    use super::*;

    struct Rash;

    impl Outbound for Rash {
        fn fetch(&self, _: OutboundRequest) -> BoxFuture<'static, Result<OutboundResponse, String>> {
            panic!("a bug of the function")
        }
    }

    #[test]
    fn a_function_that_panics_fails_its_request_and_the_request_is_named() {
        let request = OutboundRequest {
            method: "GET".into(),
            url: "https://example.org/".into(),
            headers: Vec::new(),
            body: None,
        };
        let target = Arc::new(OutboundTarget::new(Arc::new(Rash), Run::default()));
        let args = Some(outbound_arguments(request));
        let call = IncomingCall { path: Vec::new(), args, cancel: CancelSource::new().token() };
        let message = "GET https://example.org/ failed: the function that performs requests panicked";
        assert_eq!(target.call(call).now_or_never(), Some(Err(ErrorValue::new("TypeError", message).into())));
    }
}
