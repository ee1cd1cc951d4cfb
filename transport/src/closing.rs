//! The last words on a socket: what is queued, the close frame, and patience until the peer has read them.

use std::{future::poll_fn, pin::Pin, time::Duration};

use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use crate::{
    outbound::{Cause, Outbound},
    socket::{Frame, Socket},
};

/// How a socket is left.
pub(crate) enum Farewell {
    /// The connection is gone.
    Dead,
    /// The peer sent its close frame, which the socket answers.
    Answer,
    /// We close.
    Close {
        code: u16,
        reason: String,
        /// Whether the socket can still be read.
        readable: bool,
    },
}

/// Closes the socket within `wait`.
pub(crate) async fn part<S: Socket>(mut socket: S, mut outbound: Outbound, farewell: Farewell, wait: Duration) {
    // A peer that takes longer loses what it did not read.
    let _ = timeout(wait, async {
        match farewell {
            Farewell::Dead => {}
            Farewell::Answer => {
                if poll_fn(|cx| Pin::new(&mut socket).poll_flush(cx)).await.is_ok() {
                    drain(&mut socket).await;
                }
            }
            Farewell::Close { code, reason, readable } => {
                outbound.push(Frame::Close { code, reason }, Cause::Own);
                // The instant matters to nobody any more: `wait` bounds all of it.
                if poll_fn(|cx| outbound.poll(&mut socket, cx, Duration::ZERO)).await.is_err() {
                    return;
                }
                // A socket that is dropped with unread bytes resets the connection, and a reset overtakes what the peer
                // has not read yet: our reasons. So read on until the peer is gone.
                if readable {
                    drain(&mut socket).await;
                } else {
                    sleep(LINGER).await;
                }
            }
        }
    })
    .await;
}

/// Reads, and drops, until the peer has closed.
async fn drain<S: Socket>(socket: &mut S) {
    while let Some(Ok(_)) = socket.next().await {}
}

/// How long a peer may take to read our reasons when we cannot see whether it has.
const LINGER: Duration = Duration::from_secs(1);
