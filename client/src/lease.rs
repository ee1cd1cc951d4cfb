//! Leases of a daemon: acquired on one session, and used on that one or not at all.

use std::time::Duration;

use codemode_protocol::{
    AcquireOptions, ErrorCode, ExecuteRequest, ExecutorError, Host, Lease, Outcome, ResultEncoding, ResultLimits,
    capnweb::{Stub, Value},
    wire::{acquire_options_to_value, lease, method, outcome_from_value, rehydrate, request_to_value},
};
use codemode_transport::{CallError, Connection};
use futures_util::future::FutureExt;

use crate::{
    dispatch::Run,
    failure::{Call, failed},
    policy::Kind,
    remote::{broken_contract, lend},
    sessions::{Arrival, Ticket},
};

/// Acquires a lease as the call `ticket`, which lasts as long as the lease, and as its run: a session is not given up
/// under either, and they count as one execution.
pub(crate) async fn acquire(mut ticket: Ticket, options: &AcquireOptions) -> Result<Lease, ExecutorError> {
    let mut arrival = Arrival::New { kind: Kind::Execution, name: None };
    let (connection, stub) = loop {
        let args = vec![acquire_options_to_value(options)];
        let submitted = ticket
            .submit(arrival, move |session| (session.clone(), session.call(&session.main(), &[method::ACQUIRE], args)));
        let (connection, pending) = submitted.await?;
        match pending.await {
            Ok(Value::Stub(stub)) => break (connection, stub),
            Ok(other) => return Err(broken_contract(method::ACQUIRE, "a lease", &other)),
            Err(CallError::Thrown(thrown)) => {
                let error = rehydrate(thrown);
                // Nothing was leased, so asking another server is no replay.
                if error.code != ErrorCode::ShuttingDown {
                    return Err(error);
                }
                arrival = Arrival::Refused(error);
            }
            Err(error) => return Err(failed(Call::Other, error, ticket.is_disposed())),
        }
    };
    let wait = connection.read(&stub, &[lease::WAIT_MS]).await;
    let wait = wait.map_err(|error| failed(Call::Other, error, ticket.is_disposed()))?;
    let wait = match wait.as_number() {
        Some(ms) if ms >= 0.0 => Duration::try_from_secs_f64(ms / 1000.0).unwrap_or(Duration::MAX),
        _ => return Err(broken_contract(lease::WAIT_MS, "a number of milliseconds", &wait)),
    };
    let leased = Leased { stub, connection, ticket };
    Ok(Lease::new(wait, Box::new(move |request, host| leased.execute(request, host).boxed())))
}

/// What a lease holds. Released in this order: the session that may be closed with the ticket is told of the lease first.
struct Leased {
    stub: Stub,
    connection: Connection,
    ticket: Ticket,
}

impl Leased {
    /// The result always travels as text, as that of every run.
    async fn execute(self, mut request: ExecuteRequest, host: Host) -> Result<Outcome, ExecutorError> {
        request.result_encoding = ResultEncoding::Text;
        self.ticket.name(request.id.clone());
        let run = Run::default();
        let [dispatch, outbound] = lend(&host, request.outbound, &run);
        let args = vec![request_to_value(&request), dispatch, outbound];
        let tracker = run.execute.clone();
        match self.connection.call_tracked(&self.stub, &[lease::EXECUTE], args, tracker).await {
            Ok(outcome) => outcome_from_value(outcome, &ResultLimits::default()),
            Err(error) => {
                Err(failed(Call::Execution { host_call: run.has_called() }, error, self.ticket.is_disposed()))
            }
        }
    }
}
