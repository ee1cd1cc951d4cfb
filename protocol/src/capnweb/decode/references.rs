//! Tags that refer to something: objects, promises, results, and calls on them.

use super::{Decoder, Result};
use crate::capnweb::expression::DecodeError;
use crate::capnweb::session::plan::{At, CellId, Hole, HoleSource, PlannedCall, Subject};
use crate::capnweb::target::PathKey;
use crate::capnweb::value::Value;

/// What reference tags mean. Answers concern one message; a problem ends the session.
pub(crate) trait References {
    /// What `import` and `pipeline` with this id refer to: an object or result of ours.
    fn subject(&mut self, id: i64) -> std::result::Result<Subject, Problem>;
    /// A new reference to an object of the peer.
    fn export(&mut self, id: i64) -> std::result::Result<Value, Problem>;
    /// A promise of the peer.
    fn promise(&mut self, id: i64) -> std::result::Result<CellId, Problem>;
    /// The read end of a pipe of ours.
    fn readable(&mut self, id: i64) -> std::result::Result<(), Problem>;
}

/// What is wrong with a reference.
pub(crate) enum Problem {
    Illegal(&'static str),
    Limit { bound: &'static str, limit: usize },
}

/// A call while its arguments are read.
struct BegunCall {
    subject: Subject,
    path: Vec<PathKey>,
    has_args: bool,
    args: Vec<Value>,
    outer_at: At,
    outer_holes: Vec<Hole>,
}

impl Decoder<'_, '_> {
    #[inline(never)]
    pub(super) fn reference(&mut self, tag: &str) -> Result<Value> {
        let id = self.reader.integer()?;
        let at = self.reader.at();
        self.charge_reference()?;
        let refs = self.refs.as_deref_mut().ok_or(DecodeError::Expression { at, problem: DATA_ONLY })?;
        match tag {
            "export" => refs.export(id).map_err(|problem| problem.at(at)),
            "promise" => {
                let cell = refs.promise(id).map_err(|problem| problem.at(at))?;
                Ok(self.hole(HoleSource::Cell(cell)))
            }
            "writable" => {
                // Dropping the reference releases it.
                drop(refs.export(id).map_err(|problem| problem.at(at))?);
                Ok(self.unsupported("writable streams"))
            }
            _ => {
                refs.readable(id).map_err(|problem| problem.at(at))?;
                Ok(self.unsupported("readable streams"))
            }
        }
    }

    /// `["pipeline" | "import", id, path?, args?]`: a result or object of ours, a property of it, or a call on it.
    pub(super) fn call(&mut self, depth: usize) -> Result<Value> {
        let mut begun = self.begin_call()?;
        if begun.has_args {
            begun.args = self.items(depth)?;
        }
        self.end_call(begun)
    }

    #[inline(never)]
    fn begin_call(&mut self) -> Result<Box<BegunCall>> {
        let subject = self.subject()?;
        let path = if self.reader.eat(b',') { self.path()? } else { Vec::new() };
        let has_args = self.reader.eat(b',');
        // The arguments are an assembly of their own, with their own places.
        let (outer_at, outer_holes) = if has_args {
            (std::mem::take(&mut self.at), std::mem::take(&mut self.holes))
        } else {
            (At::new(), Vec::new())
        };
        Ok(Box::new(BegunCall { subject, path, has_args, args: Vec::new(), outer_at, outer_holes }))
    }

    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "unboxed it would stand in a frame of the recursion")]
    fn end_call(&mut self, begun: Box<BegunCall>) -> Result<Value> {
        let BegunCall { subject, path, has_args, args, outer_at, outer_holes } = *begun;
        let mut holes = Vec::new();
        if has_args {
            self.at = outer_at;
            holes = std::mem::replace(&mut self.holes, outer_holes);
        }
        self.close()?;
        if path.is_empty() && !has_args {
            return Ok(match subject {
                Subject::Target(target) => Value::Local(target),
                Subject::Cell(cell) => self.hole(HoleSource::Cell(cell)),
            });
        }
        self.calls.push(PlannedCall { subject, path, args: has_args.then_some(args), holes });
        Ok(self.hole(HoleSource::Call(self.calls.len() - 1)))
    }

    #[inline(never)]
    fn subject(&mut self) -> Result<Subject> {
        self.comma()?;
        let id = self.reader.integer()?;
        let at = self.reader.at();
        self.charge_reference()?;
        let refs = self.refs.as_deref_mut().ok_or(DecodeError::Expression { at, problem: DATA_ONLY })?;
        refs.subject(id).map_err(|problem| problem.at(at))
    }

    #[inline(never)]
    fn path(&mut self) -> Result<Vec<PathKey>> {
        self.reader.expect(b'[', "expected a path")?;
        let mut path = Vec::new();
        if self.reader.eat(b']') {
            return Ok(path);
        }
        loop {
            if path.len() >= self.bounds.path_parts {
                return Err(DecodeError::Limit { bound: "steps of a path", limit: self.bounds.path_parts as u64 });
            }
            self.reader.count_node()?;
            path.push(if self.reader.peek() == Some(b'"') {
                let name = self.reader.string()?;
                if name.len() > self.bounds.path_part_bytes {
                    let limit = self.bounds.path_part_bytes as u64;
                    return Err(DecodeError::Limit { bound: "bytes of a name in a path", limit });
                }
                PathKey::Name(name)
            } else {
                let index = self.reader.integer()?;
                PathKey::Index(u64::try_from(index).map_err(|_| self.reader.expression("a negative index in a path"))?)
            });
            if !self.reader.more(b']')? {
                return Ok(path);
            }
        }
    }

    /// Read for its references, which count, and not run.
    #[inline(never)]
    pub(super) fn remap(&mut self) -> Result<Value> {
        drop(self.subject()?);
        self.comma()?;
        self.path()?;
        self.comma()?;
        self.reader.expect(b'[', "expected a list of captures")?;
        if !self.reader.eat(b']') {
            loop {
                self.reader.count_node()?;
                self.reader.expect(b'[', "expected a capture")?;
                match self.reader.raw_string()?.text {
                    "import" => drop(self.subject()?),
                    "export" => {
                        self.comma()?;
                        drop(self.reference("export")?);
                    }
                    _ => return Err(self.reader.expression("a capture is an import or an export")),
                }
                self.close()?;
                if !self.reader.more(b']')? {
                    break;
                }
            }
        }
        self.comma()?;
        if self.reader.peek() != Some(b'[') {
            return Err(self.reader.unexpected("expected a list of instructions"));
        }
        self.reader.skip_value()?;
        self.close()?;
        Ok(self.unsupported("map() calls"))
    }

    /// `request`, `response` and `blob`: read for the references in the body, and not built.
    pub(super) fn body(&mut self, depth: usize, tag: &str) -> Result<Value> {
        self.begin_body(tag)?;
        if tag != "request" {
            drop(self.expression(depth + 1)?);
        }
        self.end_body(tag)
    }

    #[inline(never)]
    fn begin_body(&mut self, tag: &str) -> Result<()> {
        if self.refs.is_none() {
            return Err(self.reader.expression(DATA_ONLY));
        }
        self.comma()?;
        if tag != "response" {
            self.operand()?;
            self.comma()?;
        }
        Ok(())
    }

    #[inline(never)]
    fn end_body(&mut self, tag: &str) -> Result<Value> {
        let what = match tag {
            "request" => {
                // Of the settings only a body can hold a reference, and only to a pipe, which costs us nothing.
                self.reader.skip_value()?;
                "Request objects"
            }
            "response" => {
                self.comma()?;
                self.reader.skip_value()?;
                "Response objects"
            }
            _ => "Blob objects",
        };
        self.close()?;
        Ok(self.unsupported(what))
    }

    fn hole(&mut self, source: HoleSource) -> Value {
        self.holes.push(Hole { at: self.at.clone(), source });
        Value::Undefined
    }

    fn unsupported(&mut self, what: &'static str) -> Value {
        self.unsupported.get_or_insert(what);
        Value::Undefined
    }

    fn charge_reference(&mut self) -> Result<()> {
        self.references += 1;
        if self.references > self.bounds.references && self.refs.is_some() {
            return Err(DecodeError::Limit {
                bound: "references in one message",
                limit: self.bounds.references as u64,
            });
        }
        self.reader.count_node()
    }
}

impl Problem {
    fn at(self, at: usize) -> DecodeError {
        match self {
            Problem::Illegal(problem) => DecodeError::Expression { at, problem },
            Problem::Limit { bound, limit } => DecodeError::Limit { bound, limit: limit as u64 },
        }
    }
}

pub(crate) const DATA_ONLY: &str = "a reference where only data may stand";
