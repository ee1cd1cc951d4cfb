//! What the driver has to do next, in order.

use std::collections::VecDeque;

use super::cells::Settled;
use super::{CallId, Output};

/// One entry of the queue.
pub(crate) enum Item {
    Output(Output),
    /// An answer that is written when it is its turn: many answers may share one large value.
    Answer {
        id: i64,
        /// Whether the peer expects it although it holds nothing under this id.
        stream: bool,
        outcome: Settled,
    },
}

#[derive(Default)]
pub(crate) struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
}

impl Queue {
    pub(crate) fn send(&mut self, text: String) {
        self.push(Item::Output(Output::Send(text)));
    }

    pub(crate) fn push(&mut self, item: Item) {
        self.bytes += bytes(&item);
        self.items.push_back(item);
    }

    pub(crate) fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.bytes -= bytes(&item);
        Some(item)
    }

    /// Bytes of frames that wait, estimated where they are not written yet.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops everything that makes no sense once the session has ended: calls, and frames unless they can still leave.
    pub(crate) fn close(&mut self, keep_frames: bool) {
        self.items.retain(|item| match item {
            Item::Output(Output::Invoke { .. }) => false,
            Item::Output(Output::Send(_)) | Item::Answer { .. } => keep_frames,
            Item::Output(_) => true,
        });
        self.bytes = self.items.iter().map(bytes).sum();
    }

    /// Takes back what was about to be said of a call that nobody waits for any more.
    pub(crate) fn forget_settled(&mut self, forgotten: CallId) {
        self.items.retain(|item| !matches!(item, Item::Output(Output::Settled { call, .. }) if *call == forgotten));
    }
}

fn bytes(item: &Item) -> usize {
    match item {
        Item::Output(Output::Send(text)) => text.len(),
        Item::Output(_) => 0,
        Item::Answer { outcome: Ok(stored) | Err(stored), .. } => 32 + stored.size.bytes,
    }
}
