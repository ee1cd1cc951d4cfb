//! What a message asks for, before anything of it happens: values with holes, and calls that fill them.

use std::sync::Arc;

use crate::capnweb::expression::DecodeError;
use crate::capnweb::target::{PathKey, Target};
use crate::capnweb::value::Value;

/// One expression as it was read.
#[derive(Default)]
pub(crate) struct Expr {
    /// The value, `undefined` where a hole is.
    pub(crate) value: Value,
    pub(crate) holes: Vec<Hole>,
    /// Calls to make, each before the ones that come later and may use its result.
    pub(crate) calls: Vec<PlannedCall>,
    /// A part of the protocol that the expression uses and we do not have.
    pub(crate) unsupported: Option<&'static str>,
}

impl Expr {
    /// Whether the value is nothing but the result of something else.
    pub(crate) fn is_one_result(&self) -> bool {
        matches!(self.holes.as_slice(), [hole] if hole.at.is_root())
    }
}

/// A call or property read that the peer asks for.
pub(crate) struct PlannedCall {
    pub(crate) subject: Subject,
    pub(crate) path: Vec<PathKey>,
    pub(crate) args: Option<Vec<Value>>,
    /// Holes in the arguments; their places start with the argument's number.
    pub(crate) holes: Vec<Hole>,
}

/// What a call is made on.
pub(crate) enum Subject {
    Target(Arc<dyn Target>),
    Cell(CellId),
}

/// A result that is known, or will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellId(pub(crate) u64);

/// A place to be filled with the value of something.
pub(crate) struct Hole {
    pub(crate) at: At,
    pub(crate) source: HoleSource,
}

#[derive(Clone, Copy)]
pub(crate) enum HoleSource {
    Cell(CellId),
    /// The result of the call with this number in the same expression.
    Call(usize),
}

/// A place inside a value: the number of the child on each level.
#[derive(Clone, Debug, Default)]
pub(crate) struct At(Vec<u32>);

impl At {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push(&mut self, child: u32) {
        self.0.push(child);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// Moves to another child on the innermost level.
    pub(crate) fn step(&mut self, child: usize) -> Result<(), DecodeError> {
        let child = u32::try_from(child)
            .map_err(|_| DecodeError::Limit { bound: "elements of one value", limit: u32::MAX.into() })?;
        if let Some(last) = self.0.last_mut() {
            *last = child;
        }
        Ok(())
    }

    /// The value at this place, counted from a list of arguments.
    pub(crate) fn find_in<'v>(&self, items: &'v mut [Value]) -> Option<&'v mut Value> {
        let (first, rest) = self.0.split_first()?;
        rest.iter().try_fold(items.get_mut(*first as usize)?, child)
    }

    /// The value at this place.
    pub(crate) fn find<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        self.0.iter().try_fold(value, child)
    }
}

fn child<'v>(value: &'v mut Value, at: &u32) -> Option<&'v mut Value> {
    let at = *at as usize;
    match value {
        Value::Array(items) => items.get_mut(at),
        Value::Object(object) => object.entries_mut().get_mut(at).map(|(_, value)| value),
        Value::Error(error) => error.props.entries_mut().get_mut(at).map(|(_, value)| value),
        _ => None,
    }
}
