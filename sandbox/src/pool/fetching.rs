//! One request of a program, performed by the caller's function or the pool's own client.

use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc};

use codemode_protocol::{CancelToken, OutboundRequest, OutboundResponse, text};
use futures_util::{
    FutureExt,
    future::{BoxFuture, Either, select},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::calls::{Answer, CallBounds, Share};
use crate::frame::{HEAD_BYTES, ToChild};

/// A request that is under way.
pub(super) struct Fetching {
    id: u32,
    /// Method and address, for texts.
    address: String,
    bounds: CallBounds,
    /// Raised when nobody wants the answer.
    cancel: CancelToken,
    answers: mpsc::UnboundedSender<Answer>,
    /// Given back with the answer.
    _share: Share,
    /// Where it waits for its turn, if it has to.
    turns: Option<Arc<Semaphore>>,
}

impl Fetching {
    pub(super) fn new(
        id: u32,
        request: &OutboundRequest,
        bounds: CallBounds,
        cancel: CancelToken,
        answers: mpsc::UnboundedSender<Answer>,
        share: Share,
        turns: Option<Arc<Semaphore>>,
    ) -> Self {
        let address = text::shortened(&format!("{} {}", request.method, request.url), ADDRESS_BYTES).into_owned();
        Self { id, address, bounds, cancel, answers, _share: share, turns }
    }

    /// Waits for the response. A request that is given up, or takes too long, is dropped, which cancels it.
    pub(super) async fn run(self, future: BoxFuture<'static, Result<OutboundResponse, String>>) {
        let turns = self.turns.clone();
        let in_turn = async move {
            let permit = match turns {
                // Nobody closes it; then the request would go without a turn.
                Some(turns) => turns.acquire_owned().await.ok(),
                None => None,
            };
            (future.await, permit)
        };
        let performed = tokio::time::timeout(self.bounds.timeout, AssertUnwindSafe(in_turn).catch_unwind());
        let cancel = self.cancel.clone();
        match select(pin!(performed), pin!(cancel.cancelled())).await {
            Either::Left((Ok(Ok((outcome, permit))), _)) => {
                self.answer(outcome.and_then(|response| self.check(response)), permit);
            }
            Either::Left((Ok(Err(_)), _)) => self.panicked(),
            Either::Left((Err(_), _)) => {
                let bound = u64::try_from(self.bounds.timeout.as_millis()).unwrap_or(u64::MAX);
                self.answer(Err(text::host_call_timed_out(&self.address, bound)), None);
            }
            Either::Right(_) => self.answer(Err(text::REQUEST_GIVEN_UP.to_owned()), None),
        }
    }

    /// What performs requests panicked.
    pub(super) fn panicked(&self) {
        self.answer(Err(text::outbound_panicked(&self.address)), None);
    }

    fn check(&self, response: OutboundResponse) -> Result<OutboundResponse, String> {
        let OutboundResponse { status, status_text, headers, body } = &response;
        let head: usize = headers.iter().map(|(name, value)| name.len() + value.len() + 8).sum();
        let head = (status_text.len() + head) as u64;
        for (part, size, bound) in
            [("response head", head, HEAD_BYTES), ("response body", body.len() as u64, self.bounds.body_bytes)]
        {
            if size > bound {
                return Err(text::outbound_too_large(part, &self.address, size, bound));
            }
        }
        if !(200..=599).contains(status) {
            return Err(text::malformed_response(&self.address, "its status is not from 200 to 599"));
        }
        if !status_text.chars().all(is_of_a_reason) {
            let rule = "its statusText has a control character or one that is not Latin-1";
            return Err(text::malformed_response(&self.address, rule));
        }
        Ok(response)
    }

    fn answer(&self, outcome: Result<OutboundResponse, String>, permit: Option<OwnedSemaphorePermit>) {
        let outcome = outcome.map_err(|message| text::cut(&message, MESSAGE_BYTES).into_owned());
        // A run that has ended discards the answer.
        let _ = self.answers.send(Answer {
            id: self.id,
            frame: ToChild::FetchReply { call: self.id, outcome },
            _permit: permit,
        });
    }
}

/// Whether a reason phrase may have the character (RFC 9112, section 4), whose bytes beyond ASCII are Latin-1.
fn is_of_a_reason(character: char) -> bool {
    matches!(character, '\t' | ' '..='~' | '\u{80}'..='\u{ff}')
}

/// Bytes of a request's method and address that texts show.
const ADDRESS_BYTES: u64 = 512;

/// Bytes of the message of a failed request.
const MESSAGE_BYTES: u64 = 64 * 1024;
