//! The caller's function for requests as an object that the daemon calls.

use std::{pin::pin, sync::Arc};

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
            // A request that the daemon releases is dropped, which cancels it: nobody reads the response.
            match select(self.outbound.fetch(request), pin!(cancel.cancelled())).await {
                Either::Left((Ok(response), _)) => Ok(outbound_response_to_value(response)),
                Either::Left((Err(message), _)) => Err(ErrorValue::new("TypeError", message).into()),
                Either::Right(_) => Err(Value::error(text::REQUEST_GIVEN_UP)),
            }
        }
        .boxed()
    }
}
