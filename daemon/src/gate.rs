//! Who a session is: what it may do before it has shown a token, and what a token opens.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use codemode_protocol::{
    ErrorCode, Executor, ExecutorError, PROTOCOL_VERSION,
    capnweb::{ErrorValue, IncomingCall, PathKey, Target, Value, target_fn},
    text,
    wire::{self, method},
};
use codemode_transport::Connection;
use futures_util::future::{BoxFuture, FutureExt, ready};
use tokio::sync::{oneshot, watch};
use tracing::{info, warn};

use crate::{
    interface::Interface,
    places::{Place, Places},
    tokens::{Grant, Tokens},
};

/// Decides who one session is. It is somebody once, and nobody else afterwards.
pub(crate) struct Gate {
    /// None where whoever connects is trusted.
    tokens: Option<Tokens>,
    places: Arc<Places>,
    address: IpAddr,
    admission: watch::Sender<Option<Admission>>,
    wrong: AtomicU64,
    connection: OnceLock<Connection>,
}

/// What a session that may do everything has.
#[derive(Clone)]
pub(crate) struct Admission {
    /// None where whoever connects is trusted.
    pub(crate) grant: Option<Grant>,
    _place: Arc<Place>,
}

impl Admission {
    /// Somebody who takes that place.
    pub(crate) fn new(grant: Option<Grant>, place: Place) -> Self {
        Self { grant, _place: Arc::new(place) }
    }
}

impl Gate {
    /// The gate of a session that comes from `address`, and that is admitted already or not yet.
    pub(crate) fn new(
        tokens: Option<Tokens>,
        places: Arc<Places>,
        address: IpAddr,
        admission: Option<Admission>,
    ) -> Self {
        let admission = watch::Sender::new(admission);
        Self { tokens, places, address, admission, wrong: AtomicU64::new(0), connection: OnceLock::new() }
    }

    /// Names the session's connection, before the session runs.
    pub(crate) fn connect(&self, connection: Connection) {
        // Set once: a session has one connection.
        let _ = self.connection.set(connection);
    }

    /// The tenant, if the session is somebody's.
    pub(crate) fn tenant(&self) -> Option<Arc<str>> {
        self.admission.borrow().as_ref()?.grant.as_ref().map(|grant| grant.tenant.clone())
    }

    /// Whether the session is somebody's, or need not be.
    pub(crate) fn is_admitted(&self) -> bool {
        self.admission.borrow().is_some()
    }

    /// Resolves when the session is admitted.
    pub(crate) async fn admitted(&self) {
        // An error means that the sender is gone, and `self` holds it.
        let _ = self.admission.subscribe().wait_for(Option::is_some).await;
    }

    /// Resolves when the token that admitted the session is no longer one.
    pub(crate) async fn expelled(&self) {
        let grant = self.admission.borrow().as_ref().and_then(|admission| admission.grant.clone());
        match (&self.tokens, grant) {
            (Some(tokens), Some(grant)) => tokens.removed(&grant).await,
            _ => std::future::pending().await,
        }
    }

    /// Answers `authenticate(token)`: `Ok` means that the session is admitted, under the name that the token proves.
    pub(crate) fn authenticate(&self, args: Vec<Value>) -> Result<(), ExecutorError> {
        let Some(tokens) = &self.tokens else { return Ok(()) };
        let token = wire::token(args)?;
        let Some(grant) = tokens.find(&token) else { return Err(self.refuse()) };
        drop(token);
        let mut refused = None;
        self.admission.send_if_modified(|admission| match admission {
            Some(admission) => {
                if admission.grant.as_ref() != Some(&grant) {
                    refused = Some(ExecutorError::invalid("token", text::AUTHENTICATED_OTHERWISE));
                }
                false
            }
            nobody => match self.places.take(self.address) {
                Ok(place) => {
                    info!(tenant = &*grant.tenant, "session authenticated");
                    *nobody = Some(Admission::new(Some(grant.clone()), place));
                    true
                }
                Err(full) => {
                    refused = Some(ExecutorError::new(ErrorCode::Overloaded, full.text()));
                    false
                }
            },
        });
        refused.map_or(Ok(()), Err)
    }

    fn refuse(&self) -> ExecutorError {
        let wrong = self.wrong.fetch_add(1, Ordering::Relaxed) + 1;
        warn!(address = %self.address, wrong, "a session showed a wrong token");
        if wrong >= WRONG_TOKENS
            && let Some(connection) = self.connection.get()
        {
            connection.abort(unauthorized(text::too_many_wrong_tokens(WRONG_TOKENS)));
        }
        ExecutorError::new(ErrorCode::Unauthorized, text::WRONG_TOKEN)
    }
}

/// Why a session ends that may not go on.
pub(crate) fn unauthorized(text: impl Into<String>) -> ErrorValue {
    ErrorValue::new("Error", text).with_code(ErrorCode::Unauthorized.as_str())
}

/// The main object of a session that is nobody's yet.
pub(crate) struct Entrance<E> {
    gate: Arc<Gate>,
    /// What the right token gives.
    executor: Arc<Interface<E>>,
}

impl<E: Executor> Entrance<E> {
    /// The way to `executor`.
    pub(crate) fn new(gate: Arc<Gate>, executor: Arc<Interface<E>>) -> Self {
        Self { gate, executor }
    }

    fn answer(self: Arc<Self>, call: IncomingCall) -> Result<Value, Value> {
        let name = call.method().and_then(|name| OPEN_METHODS.iter().find(|open| **open == name)).copied();
        match (name, call.args) {
            (Some(method::PROTOCOL_VERSION), Some(_)) => Ok(Value::Number(PROTOCOL_VERSION as f64)),
            (Some(_), Some(args)) => match self.gate.authenticate(args) {
                Ok(()) => Ok(Value::Local(self.executor.clone())),
                Err(refused) => Err(self.executor.refused(refused)),
            },
            // A method read as a property: a function of its own.
            (Some(name), None) => Ok(Value::Local(target_fn(move |mut call: IncomingCall| {
                call.path.insert(0, PathKey::from(name));
                ready(self.clone().answer(call))
            }))),
            (None, _) => {
                let refused = ExecutorError::new(ErrorCode::Unauthorized, text::NOT_AUTHENTICATED);
                Err(self.executor.refused(refused))
            }
        }
    }
}

impl<E: Executor> Target for Entrance<E> {
    fn call(self: Arc<Self>, call: IncomingCall) -> BoxFuture<'static, Result<Value, Value>> {
        // Decided here and now, so that a session is somebody before its next frame is read.
        ready(self.answer(call)).boxed()
    }
}

/// The sessions that are nobody's yet. They take no place of those that are somebody's; the oldest gives way.
#[derive(Default)]
pub(crate) struct Strangers {
    waiting: Mutex<BTreeMap<u64, oneshot::Sender<()>>>,
}

impl Strangers {
    /// Notes one; the receiver resolves when it has to give way.
    pub(crate) fn enter(&self, session: u64) -> oneshot::Receiver<()> {
        let (stay, give_way) = oneshot::channel();
        let mut waiting = self.waiting();
        waiting.insert(session, stay);
        let oldest = if waiting.len() > STRANGERS { waiting.pop_first() } else { None };
        drop(waiting);
        drop(oldest);
        give_way
    }

    /// Forgets one: it is somebody, or gone.
    pub(crate) fn leave(&self, session: u64) {
        self.waiting().remove(&session);
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, oneshot::Sender<()>>> {
        // The map is consistent between any two statements that can panic.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session may call before it has shown a token.
const OPEN_METHODS: &[&str] = &[method::PROTOCOL_VERSION, method::AUTHENTICATE];

/// Wrong tokens after which a session is closed.
const WRONG_TOKENS: u64 = 3;

/// Sessions at once that have not shown a token where one is needed. An honest one shows it at once.
pub const STRANGERS: usize = 64;

/// Bytes that are read of a session before it has shown a token; more waits in the network. A token takes few, and what is
/// called ahead of the answer may be some more.
pub(crate) const STRANGER_BYTES: u64 = 64 << 10;
