//! Jobs: calls of the peer and values it sent, which may have to wait for results that they mention.

use std::sync::Arc;

use super::cells::{Left, Producer, Settled, Sink};
use super::memory::{Budget, Charge, CopyError, Size, Source, Stored};
use super::plan::{At, CellId, Expr, Hole, HoleSource, Subject};
use super::queue::Item;
use super::{Fault, InvocationId, Output, Running, Session};
use crate::capnweb::cancel::CancelSource;
use crate::capnweb::expression::EncodeError;
use crate::capnweb::is_dropped_key;
use crate::capnweb::stub::Stub;
use crate::capnweb::target::{IncomingCall, PathKey, Target};
use crate::capnweb::text;
use crate::capnweb::value::{ErrorValue, Value};

use super::imports::Owner;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct JobId(pub(crate) u64);

/// Something to do once its inputs are known.
pub(crate) struct Job {
    work: Work,
    /// What is filled in where. The job holds each cell.
    inputs: Vec<(At, CellId)>,
    result: CellId,
    /// Inputs, and the subject, that are not known yet.
    missing: usize,
    /// Memory of what the peer sent for it, while it waits.
    charge: Option<Charge>,
}

enum Work {
    Call { subject: Subject, path: Vec<PathKey>, args: Option<Vec<Value>> },
    Build(Value),
}

/// Where a path leads.
enum Found<'v> {
    Target(&'v Arc<dyn Target>, usize),
    Stub(&'v Stub, usize),
    /// Text that has to be read before the rest of the path can be followed.
    Encoded(&'v Arc<str>, usize),
    Value(&'v Value),
    Undefined,
    Error(String),
}

impl Session {
    /// Begins what an expression asks for. The new cell of its value carries one hold for the caller.
    pub(crate) fn start(&mut self, mut expr: Expr) -> Result<CellId, Fault> {
        if expr.unsupported.is_none() && expr.is_one_result() {
            // The value is the result of something else: the same cell.
            let inputs = self.start_calls(&mut expr)?;
            if let Some((_, cell)) = inputs.into_iter().next() {
                return Ok(cell);
            }
        }
        let cell = self.cells.create(Producer::Other);
        self.start_into(expr, cell)?;
        Ok(cell)
    }

    /// Begins what an expression asks for; its value will settle `result`.
    pub(crate) fn start_into(&mut self, mut expr: Expr, result: CellId) -> Result<(), Fault> {
        if let Some(what) = expr.unsupported {
            self.discard(expr);
            self.settle(result, Err(self.own_error(text::unsupported(what))));
            return Ok(());
        }
        let inputs = self.start_calls(&mut expr)?;
        self.launch(Job { work: Work::Build(expr.value), inputs, result, missing: 0, charge: None })
    }

    /// Begins the calls of an expression and returns what its value waits for.
    fn start_calls(&mut self, expr: &mut Expr) -> Result<Vec<(At, CellId)>, Fault> {
        let mut results = Vec::with_capacity(expr.calls.len());
        for call in expr.calls.drain(..) {
            let result = self.cells.create(Producer::Other);
            let inputs = self.hold_inputs(call.holes, &results);
            if let Subject::Cell(cell) = call.subject {
                self.cells.hold(cell);
            }
            let work = Work::Call { subject: call.subject, path: call.path, args: call.args };
            self.launch(Job { work, inputs, result, missing: 0, charge: None })?;
            results.push(result);
        }
        Ok(self.hold_inputs(std::mem::take(&mut expr.holes), &results))
    }

    /// Drops an expression without doing what it asks for, and releases what it introduced.
    pub(crate) fn discard(&mut self, expr: Expr) {
        let holes = expr.holes.into_iter().chain(expr.calls.into_iter().flat_map(|call| call.holes));
        for hole in holes {
            if let HoleSource::Cell(cell) = hole.source {
                // Held and released, so that a promise nobody wants is noticed.
                self.cells.hold(cell);
                self.release_cell(cell);
            }
        }
    }

    /// Each hole as an input with a hold. The hold on the result of a call of the same expression is handed on.
    fn hold_inputs(&mut self, holes: Vec<Hole>, results: &[CellId]) -> Vec<(At, CellId)> {
        let input = |hole: Hole| match hole.source {
            HoleSource::Cell(cell) => {
                self.cells.hold(cell);
                Some((hole.at, cell))
            }
            // A call is planned before the hole that it fills.
            HoleSource::Call(number) => results.get(number).map(|cell| (hole.at, *cell)),
        };
        holes.into_iter().filter_map(input).collect()
    }

    /// Runs a job if it can run, or lets it wait.
    fn launch(&mut self, mut job: Job) -> Result<(), Fault> {
        let waits_for: Vec<CellId> = job.sources().filter(|cell| self.cells.is_pending(*cell)).collect();
        if waits_for.is_empty() {
            return self.run(job);
        }
        if self.jobs.len() >= self.limits.parked_calls {
            return Err(Fault::limit("calls that wait for a result", self.limits.parked_calls));
        }
        let size = match &job.work {
            Work::Call { args, .. } => Size::of_args(args.as_deref()),
            Work::Build(value) => Size::of(value),
        };
        job.missing = waits_for.len();
        job.charge = Some(self.held.charge(size.bytes));
        self.check_held()?;
        self.last_job += 1;
        let id = JobId(self.last_job);
        for cell in waits_for {
            if let Some(cell) = self.cells.get_mut(cell) {
                cell.sinks.push(Sink::Job(id));
            }
        }
        if let Some(result) = self.cells.get_mut(job.result) {
            result.producer = Producer::Parked(id);
        }
        self.jobs.insert(id, job);
        Ok(())
    }

    /// Runs jobs that have become ready, in the order in which they did.
    pub(crate) fn run_ready(&mut self) -> Result<(), Fault> {
        while let Some(job) = self.ready.pop_front() {
            self.run(job)?;
        }
        Ok(())
    }

    /// One input of a waiting job is known.
    pub(crate) fn job_input_settled(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.missing -= 1;
        if job.missing == 0
            && let Some(job) = self.jobs.remove(&id)
        {
            self.ready.push_back(job);
        }
    }

    /// Drops a waiting job whose result nobody wants.
    pub(crate) fn drop_job(&mut self, id: JobId) {
        let Some(job) = self.jobs.remove(&id) else { return };
        self.cells.forget(job.result);
        for cell in job.sources() {
            if let Some(cell) = self.cells.get_mut(cell) {
                cell.sinks.retain(|sink| *sink != Sink::Job(id));
            }
        }
        let sources: Vec<CellId> = job.sources().collect();
        for cell in sources {
            self.release_cell(cell);
        }
    }

    /// Gives back one hold of a cell, and the promise behind it when nobody waits for it.
    pub(crate) fn release_cell(&mut self, cell: CellId) {
        if let Left::Unwanted(Producer::Promise(id)) = self.cells.release(cell) {
            self.give_promise_back(id, cell);
        }
    }

    /// Gives back one hold of a cell and calls off what would settle it, if nobody else waits for it.
    pub(crate) fn cancel_cell(&mut self, cell: CellId) {
        match self.cells.release(cell) {
            Left::Unwanted(Producer::Running(invocation)) => {
                if let Some(running) = self.running.get(&invocation) {
                    running.cancel.cancel();
                }
            }
            Left::Unwanted(Producer::Parked(job)) => self.drop_job(job),
            Left::Unwanted(Producer::Promise(id)) => self.give_promise_back(id, cell),
            _ => {}
        }
    }

    fn give_promise_back(&mut self, id: i64, cell: CellId) {
        self.imports.remove_promise(id);
        self.cells.forget(cell);
        self.send_release(id, 1);
    }

    /// All inputs are known.
    fn run(&mut self, job: Job) -> Result<(), Fault> {
        let Job { work, inputs, result, charge: _charge, .. } = job;
        let mut failed = None;
        let mut subject_value = None;
        if let Work::Call { subject: Subject::Cell(cell), .. } = &work {
            match self.take_input(*cell) {
                Ok(stored) => subject_value = Some(stored),
                Err(error) => failed = Some(error),
            }
        }
        let mut known = Vec::with_capacity(inputs.len());
        for (at, cell) in inputs {
            match self.take_input(cell) {
                Ok(stored) => known.push((at, stored)),
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        if let Some(error) = failed {
            self.settle(result, Err(error));
            return Ok(());
        }
        let mut budget = self.budget();
        match work {
            Work::Build(mut value) => {
                if let [(at, _)] = known.as_slice()
                    && at.is_root()
                    && let Some((_, stored)) = known.pop()
                {
                    self.settle(result, Ok(stored));
                    return Ok(());
                }
                for (at, stored) in known {
                    match self.fill(&mut budget, stored)? {
                        Ok(filling) => {
                            if let Some(place) = at.find(&mut value) {
                                *place = filling;
                            }
                        }
                        Err(error) => {
                            self.settle(result, Err(error));
                            return Ok(());
                        }
                    }
                }
                self.settle_held(result, value)
            }
            Work::Call { subject, path, mut args } => {
                if self.running.len() >= self.limits.running_calls {
                    self.overloaded(result, text::too_many_calls(self.limits.running_calls));
                    return Ok(());
                }
                for (at, stored) in known {
                    match self.fill(&mut budget, stored)? {
                        Ok(filling) => {
                            if let Some(place) = args.as_deref_mut().and_then(|args| at.find_in(args)) {
                                *place = filling;
                            }
                        }
                        Err(error) => {
                            self.settle(result, Err(error));
                            return Ok(());
                        }
                    }
                }
                match (subject, subject_value) {
                    (Subject::Target(target), _) => self.deliver(target, path, args, result),
                    (Subject::Cell(_), Some(stored)) => return self.follow(stored, path, args, result, budget),
                    (Subject::Cell(_), None) => {}
                }
                Ok(())
            }
        }
    }

    /// Follows a path into a value and does there what was asked.
    fn follow(
        &mut self,
        mut stored: Arc<Stored>,
        mut path: Vec<PathKey>,
        args: Option<Vec<Value>>,
        result: CellId,
        mut budget: Budget,
    ) -> Result<(), Fault> {
        let mut from = 0;
        loop {
            let found = find(&stored.value, &path, from, args.is_some());
            match found {
                Found::Target(target, at) => {
                    let target = Arc::clone(target);
                    self.deliver(target, path.split_off(at), args, result);
                }
                Found::Stub(stub, at) => {
                    let stub = stub.clone();
                    self.forward(&stub, &path[at..], args.as_deref(), result);
                }
                Found::Encoded(text, at) => match budget.decode(text) {
                    Ok(value) => {
                        stored = Stored::new(value, Source::Peer, &self.held);
                        from = at;
                        continue;
                    }
                    Err(error) => {
                        let error = self.copy_failed(error)?;
                        self.settle(result, Err(error));
                    }
                },
                Found::Error(message) => self.settle(result, Err(self.type_error(message))),
                Found::Value(_) | Found::Undefined if args.is_some() => {
                    self.settle(result, Err(self.type_error(text::not_a_function(&path))));
                }
                Found::Undefined => return self.settle_held(result, Value::Undefined),
                Found::Value(value) if std::ptr::eq(value, &raw const stored.value) => {
                    self.settle(result, Ok(Arc::clone(&stored)));
                }
                Found::Value(value) => match budget.copy(value) {
                    Ok(copy) => return self.settle_held(result, copy),
                    Err(error) => {
                        let error = self.copy_failed(error)?;
                        self.settle(result, Err(error));
                    }
                },
            }
            return Ok(());
        }
    }

    /// Hands a call to the application.
    fn deliver(&mut self, target: Arc<dyn Target>, path: Vec<PathKey>, args: Option<Vec<Value>>, result: CellId) {
        let size = Size::of_args(args.as_deref());
        if self.running.len() >= self.limits.running_calls {
            self.overloaded(result, text::too_many_calls(self.limits.running_calls));
            return;
        }
        if self.running_memory.bytes() + size.bytes > self.limits.running_bytes {
            self.overloaded(result, text::too_many_bytes(self.limits.running_bytes));
            return;
        }
        self.last_invocation += 1;
        let id = InvocationId(self.last_invocation);
        let source = CancelSource::new();
        let cancel = source.token();
        let charge = self.running_memory.charge(size.bytes);
        self.running.insert(id, Running { result, cancel: source, _charge: charge });
        if let Some(cell) = self.cells.get_mut(result) {
            cell.producer = Producer::Running(id);
        }
        self.queue.push(Item::Output(Output::Invoke { id, target, call: IncomingCall { path, args, cancel } }));
    }

    /// Sends a call on to the peer, whose object the path led to.
    fn forward(&mut self, stub: &Stub, path: &[PathKey], args: Option<&[Value]>, result: CellId) {
        let sent = match stub.id_in(&self.shared) {
            Some(id) => self.send_call(id, path, args),
            None => Err(EncodeError::ForeignStub),
        };
        match sent {
            Ok(id) => {
                self.imports.await_call(id, Owner::Cell(result));
                self.send_pull(id);
            }
            Err(error) => self.settle(result, Err(self.encode_error(&error))),
        }
    }

    /// Settles a cell with a value that the peer sent and we hold.
    pub(crate) fn settle_held(&mut self, cell: CellId, value: Value) -> Result<(), Fault> {
        let stored = Stored::new(value, Source::Peer, &self.held);
        self.settle(cell, Ok(stored));
        self.check_held()
    }

    fn check_held(&self) -> Result<(), Fault> {
        if self.held.bytes() > self.limits.held_bytes {
            return Err(Fault::limit("bytes held for the peer", self.limits.held_bytes));
        }
        Ok(())
    }

    fn overloaded(&mut self, result: CellId, message: String) {
        let mut error = ErrorValue::new("Error", message).with_code(text::CODE_OVERLOADED);
        error.props.insert("retryable", Value::Bool(true));
        let error = Stored::new(error.into(), Source::Peer, &self.held);
        self.settle(result, Err(error));
    }

    /// The value of a settled input, whose hold is given back.
    fn take_input(&mut self, cell: CellId) -> Settled {
        let settled = self.cells.get(cell).and_then(|cell| cell.state.clone());
        self.release_cell(cell);
        // A job runs once all its inputs are settled, and its hold keeps them.
        settled.unwrap_or_else(|| Err(self.own_error(ErrorValue::new("Error", text::LOST_RESULT))))
    }

    /// The value to fill into a hole, moved if nobody else has it.
    fn fill(&self, budget: &mut Budget, stored: Arc<Stored>) -> Result<Result<Value, Arc<Stored>>, Fault> {
        let stored = match Arc::try_unwrap(stored) {
            Ok(stored) if stored.source == Source::Peer => return Ok(Ok(stored.value)),
            Ok(stored) => Arc::new(stored),
            Err(shared) => shared,
        };
        match budget.copy(&stored.value) {
            Ok(copy) => Ok(Ok(copy)),
            Err(error) => self.copy_failed(error).map(Err),
        }
    }

    fn budget(&self) -> Budget {
        Budget { nodes: self.limits.expansion_nodes, bytes: self.limits.expansion_bytes, data: self.limits.data() }
    }

    fn copy_failed(&self, error: CopyError) -> Result<Arc<Stored>, Fault> {
        match error {
            CopyError::OverNodes => Err(Fault::limit("values filled in", self.limits.expansion_nodes)),
            CopyError::OverBytes => Err(Fault::limit("bytes filled in", self.limits.expansion_bytes)),
            CopyError::Broken => Ok(self.type_error(text::BROKEN_RESULT.to_owned())),
        }
    }

    /// A value for the application, copied if entries of the table share it.
    pub(crate) fn unshare(&self, stored: Arc<Stored>) -> Value {
        match self.fill(&mut self.budget(), stored) {
            Ok(Ok(value)) => value,
            Ok(Err(error)) => error.value.clone(),
            Err(fault) => fault.error().into(),
        }
    }
}

impl Job {
    fn sources(&self) -> impl Iterator<Item = CellId> {
        let subject = match &self.work {
            Work::Call { subject: Subject::Cell(cell), .. } => Some(*cell),
            _ => None,
        };
        subject.into_iter().chain(self.inputs.iter().map(|(_, cell)| *cell))
    }
}

/// Follows a path as JavaScript peers do: own properties only, and nothing that `Object.prototype` has.
/// An object at the end of the path is a value to be had, unless it is what is called.
fn find<'v>(value: &'v Value, path: &[PathKey], from: usize, called: bool) -> Found<'v> {
    let mut place = Some(value);
    for (at, key) in path.iter().enumerate().skip(from) {
        place = match place {
            None | Some(Value::Undefined) => {
                // The names of `Object.prototype` are answered before the value is looked at.
                if is_prototype_name(key) {
                    continue;
                }
                return Found::Error(text::cannot_read(key));
            }
            Some(Value::Local(target)) => return Found::Target(target, at),
            Some(Value::Stub(stub)) => return Found::Stub(stub, at),
            Some(Value::Encoded(text)) => return Found::Encoded(text, at),
            Some(_) if is_prototype_name(key) => None,
            Some(Value::Object(object)) => match key {
                PathKey::Name(name) => object.get_wtf8(name.as_wtf8()),
                PathKey::Index(index) => object.get(&index.to_string()),
            },
            Some(Value::Array(items)) => match key {
                PathKey::Index(index) => usize::try_from(*index).ok().and_then(|index| items.get(index)),
                PathKey::Name(_) => None,
            },
            Some(_) => None,
        };
    }
    match place {
        Some(Value::Local(target)) if called => Found::Target(target, path.len()),
        Some(Value::Stub(stub)) if called => Found::Stub(stub, path.len()),
        Some(value) => Found::Value(value),
        None => Found::Undefined,
    }
}

fn is_prototype_name(key: &PathKey) -> bool {
    key.as_str().is_some_and(|name| name != "toJSON" && is_dropped_key(name))
}
