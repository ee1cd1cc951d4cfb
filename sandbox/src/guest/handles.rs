//! Functions that a result left behind, kept for later calls.

use std::cell::RefCell;
use std::collections::BTreeMap;

use codemode_protocol::HANDLE_TAG;

use super::js::{Js, Val};
use super::output::Output;

/// The functions, in the order in which they became handles. Each is one handle however often it occurs.
#[derive(Default)]
pub(super) struct Handles {
    functions: RefCell<Vec<Val>>,
    /// Positions by the function's identity, which stays its own while it is kept.
    positions: RefCell<BTreeMap<usize, u32>>,
}

impl Handles {
    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.functions.borrow().len() as u32
    }

    /// The function of a number, counted from 1.
    pub(super) fn function(&self, number: u32) -> Option<Val> {
        self.functions.borrow().get((number as usize).checked_sub(1)?).cloned()
    }

    /// Keeps a function and writes its handle in its place.
    pub(super) fn write(&self, out: &mut Output, function: &Val, nonce: &str) {
        let number = *self.positions.borrow_mut().entry(function.identity()).or_insert_with(|| {
            let mut functions = self.functions.borrow_mut();
            functions.push(function.clone());
            functions.len() as u32
        });
        out.push(&format!("{{\"{HANDLE_TAG}\":\"{nonce}.{number}\"}}"));
    }
}

/// The arguments of a call in its JSON: the elements of an array, with their binary values; anything else is one
/// argument.
pub(super) fn arguments(state: &super::state::State, args_json: &str) -> Js<Vec<Val>> {
    if args_json.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let parsed = super::dispatch::read_json(state, args_json, "invokeHandle")?;
    if !parsed.is_array() {
        return Ok(vec![parsed]);
    }
    (0..parsed.length()?).map(|at| parsed.get_index(at)).collect()
}
