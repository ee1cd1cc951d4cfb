//! Reading expressions: JSON text into values, and into a plan where the text refers to something not known yet.

use super::expression::DecodeError;
use super::jsstring::JsString;
use super::limits::WireLimits;
use super::reader::Reader;
use super::session::plan::{At, CellId, Expr, Hole, HoleSource, PlannedCall, Subject};
use super::tags;
use super::target::PathKey;
use super::value::{BytesKind, ErrorValue, Object, Value};

type Result<T> = std::result::Result<T, DecodeError>;

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

/// The bounds that apply while reading one text.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) depth: usize,
    pub(crate) bigint_digits: usize,
    pub(crate) path_parts: usize,
    pub(crate) path_part_bytes: usize,
    pub(crate) references: usize,
    pub(crate) memory: usize,
}

pub(crate) struct Decoder<'t, 'r> {
    reader: Reader<'t>,
    bounds: Bounds,
    refs: Option<&'r mut dyn References>,
    /// Where the value that is being read stands inside the outermost one.
    at: At,
    holes: Vec<Hole>,
    calls: Vec<PlannedCall>,
    unsupported: Option<&'static str>,
    references: usize,
    /// Memory that the values read so far take, in bytes.
    memory: usize,
}

impl Bounds {
    pub(crate) fn of(limits: &WireLimits) -> Self {
        Self {
            depth: limits.depth,
            bigint_digits: limits.bigint_digits,
            path_parts: limits.path_parts,
            path_part_bytes: limits.path_part_bytes,
            references: limits.references,
            memory: limits.message_memory,
        }
    }

    /// Without references only values matter.
    pub(crate) fn data(depth: usize, bigint_digits: usize) -> Self {
        Self { depth, bigint_digits, path_parts: 0, path_part_bytes: 0, references: 0, memory: usize::MAX }
    }
}

impl<'t, 'r> Decoder<'t, 'r> {
    pub(crate) fn new(text: &'t str, nodes: usize, bounds: Bounds, refs: Option<&'r mut dyn References>) -> Self {
        Self {
            reader: Reader::new(text, nodes),
            bounds,
            refs,
            at: At::new(),
            holes: Vec::new(),
            calls: Vec::new(),
            unsupported: None,
            references: 0,
            memory: 0,
        }
    }

    pub(crate) fn reader(&mut self) -> &mut Reader<'t> {
        &mut self.reader
    }

    /// Reads one expression with everything that it plans.
    pub(crate) fn expr(&mut self) -> Result<Expr> {
        let value = self.expression(0)?;
        Ok(Expr {
            value,
            holes: std::mem::take(&mut self.holes),
            calls: std::mem::take(&mut self.calls),
            unsupported: self.unsupported.take(),
        })
    }

    /// Recursion is bounded by `bounds.depth`, and the stack by keeping what is bulky in functions that do not recurse.
    fn expression(&mut self, depth: usize) -> Result<Value> {
        match self.enter(depth)? {
            b'{' => self.object(depth, Keys::All).map(Value::Object),
            b'[' => match self.head()? {
                Head::List => self.list(depth),
                Head::Error => self.error(depth),
                Head::Call => self.call(depth),
                Head::Body(tag) => self.body(depth, tag),
                Head::Remap => self.remap(),
                Head::Leaf(tag) => self.leaf(tag),
            },
            first => self.scalar(first),
        }
    }

    /// Charges a value and tells how it begins.
    fn enter(&mut self, depth: usize) -> Result<u8> {
        if depth >= self.bounds.depth {
            return Err(DecodeError::Limit { bound: "levels of nested values", limit: self.bounds.depth as u64 });
        }
        self.reader.count_node()?;
        self.charge(size_of::<Value>())?;
        self.reader.peek().ok_or_else(|| self.reader.syntax("the text ends early"))
    }

    #[inline(never)]
    fn scalar(&mut self, first: u8) -> Result<Value> {
        match first {
            b'"' => {
                let raw = self.reader.raw_string()?;
                self.charge(ALLOCATION + raw.text.len())?;
                Ok(Value::String(raw.decode()))
            }
            b'-' | b'0'..=b'9' => Ok(Value::Number(self.reader.number()?)),
            b't' => self.reader.word("true").map(|()| Value::Bool(true)),
            b'f' => self.reader.word("false").map(|()| Value::Bool(false)),
            b'n' => self.reader.word("null").map(|()| Value::Null),
            _ => Err(self.reader.syntax("expected a value")),
        }
    }

    /// What an array means.
    #[inline(never)]
    fn head(&mut self) -> Result<Head<'t>> {
        self.reader.expect(b'[', "expected an array")?;
        match self.reader.peek() {
            Some(b'[') => Ok(Head::List),
            Some(b'"') => Ok(match self.reader.raw_string()?.text {
                "error" => Head::Error,
                "pipeline" | "import" => Head::Call,
                "remap" => Head::Remap,
                tag @ ("request" | "response" | "blob") => Head::Body(tag),
                tag => Head::Leaf(tag),
            }),
            _ => Err(self.reader.unexpected("an array that is neither wrapped nor tagged")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value> {
        let items = self.items(depth)?;
        self.reader.expect(b']', "an array stands alone inside another one")?;
        Ok(Value::Array(items))
    }

    /// A bare list of expressions.
    fn items(&mut self, depth: usize) -> Result<Vec<Value>> {
        self.reader.expect(b'[', "expected a list")?;
        let mut items = Vec::new();
        if self.reader.eat(b']') {
            return Ok(items);
        }
        self.at.push(0);
        loop {
            items.push(self.expression(depth + 1)?);
            if !self.reader.more(b']')? {
                break;
            }
            self.at.step(items.len())?;
        }
        self.at.pop();
        shrink(&mut items);
        Ok(items)
    }

    fn object(&mut self, depth: usize, keys: Keys) -> Result<Object> {
        self.reader.expect(b'{', "expected an object")?;
        let mut entries: Vec<(JsString, Value)> = Vec::new();
        if self.reader.eat(b'}') {
            return Ok(entries.into());
        }
        let first_hole = self.holes.len();
        self.at.push(0);
        loop {
            let keep = self.key(keys, &mut entries)?;
            let holes = self.holes.len();
            let value = self.expression(depth + 1)?;
            self.entry(keep, value, &mut entries, holes)?;
            if !self.reader.more(b'}')? {
                break;
            }
        }
        self.at.pop();
        if has_repeated_key(&entries) {
            self.keep_last(&mut entries, first_hole)?;
        }
        shrink(&mut entries);
        Ok(entries.into())
    }

    /// Reads a key and makes room for its value; `false` if the object does not keep it.
    #[inline(never)]
    fn key(&mut self, keys: Keys, entries: &mut Vec<(JsString, Value)>) -> Result<bool> {
        let raw = self.reader.raw_key()?;
        self.charge(size_of::<JsString>() + ALLOCATION + raw.text.len())?;
        let key = raw.decode();
        self.at.step(entries.len())?;
        if keys == Keys::ErrorProps && ["name", "message", "stack"].iter().any(|name| key == *name) {
            return Ok(false);
        }
        entries.push((key, Value::Undefined));
        Ok(true)
    }

    #[inline(never)]
    fn entry(&self, keep: bool, value: Value, entries: &mut [(JsString, Value)], holes: usize) -> Result<()> {
        match entries.last_mut() {
            Some((_, place)) if keep => *place = value,
            _ if self.holes.len() > holes => {
                return Err(self.reader.expression("a reference in a property that errors do not have"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Of equal keys the last value wins in the place of the first, as `JSON.parse` has it.
    fn keep_last(&mut self, entries: &mut Vec<(JsString, Value)>, first_hole: usize) -> Result<()> {
        // Holes point at places, which are about to move; nobody who serialises an object gets here.
        if self.holes.len() > first_hole {
            return Err(self.reader.expression("references in an object that repeats a key"));
        }
        let mut places: std::collections::BTreeMap<JsString, usize> = std::collections::BTreeMap::new();
        let mut kept: Vec<(JsString, Value)> = Vec::with_capacity(entries.len());
        for (key, value) in entries.drain(..) {
            match places.get(&key) {
                Some(&place) => kept[place].1 = value,
                None => {
                    places.insert(key.clone(), kept.len());
                    kept.push((key, value));
                }
            }
        }
        *entries = kept;
        Ok(())
    }

    /// Tags without expressions inside.
    #[inline(never)]
    fn leaf(&mut self, tag: &str) -> Result<Value> {
        let value = match tag {
            "undefined" => Value::Undefined,
            "inf" => Value::Number(f64::INFINITY),
            "-inf" => Value::Number(f64::NEG_INFINITY),
            "nan" => Value::Number(f64::NAN),
            "date" => {
                self.comma()?;
                self.reader.count_node()?;
                if self.reader.peek() == Some(b'n') {
                    self.reader.word("null")?;
                    Value::Date(f64::NAN)
                } else {
                    self.number_operand()?
                }
            }
            "bigint" => {
                self.comma()?;
                let text = self.operand()?;
                let digits = tags::bigint_digits(&text).ok_or_else(|| self.reader.expression(tags::BAD_BIGINT))?;
                if digits > self.bounds.bigint_digits {
                    let limit = self.bounds.bigint_digits as u64;
                    return Err(DecodeError::Limit { bound: "digits of a BigInt", limit });
                }
                Value::BigInt(tags::canonical_bigint(&text))
            }
            "bytes" => {
                self.comma()?;
                self.reader.count_node()?;
                let text = self.reader.raw_string()?;
                let bytes = if text.escaped {
                    text.decode().as_str().and_then(tags::decode_base64)
                } else {
                    tags::decode_base64(text.text)
                };
                let bytes = bytes.ok_or_else(|| self.reader.expression(tags::BAD_BASE64))?;
                let mut kind = BytesKind::Uint8Array;
                if self.reader.eat(b',') {
                    let name = self.operand()?;
                    kind = BytesKind::from_name(&name).ok_or_else(|| self.reader.expression(tags::BAD_KIND))?;
                }
                if !tags::fits_kind(bytes.len(), kind) {
                    return Err(self.reader.expression(tags::BAD_LENGTH));
                }
                Value::Bytes(kind, bytes)
            }
            "url" => {
                self.comma()?;
                let href = self.operand()?;
                if !tags::is_url(&href) {
                    return Err(self.reader.expression(tags::BAD_URL));
                }
                Value::Url(href)
            }
            "headers" => {
                self.comma()?;
                self.headers()?
            }
            "export" | "promise" | "writable" | "readable" => {
                self.comma()?;
                self.reference(tag)?
            }
            _ => return Err(self.reader.expression("unknown tag")),
        };
        self.close()?;
        Ok(value)
    }

    fn number_operand(&mut self) -> Result<Value> {
        if !matches!(self.reader.peek(), Some(b'-' | b'0'..=b'9')) {
            return Err(self.reader.unexpected("expected a number"));
        }
        Ok(Value::Date(tags::clip_date(self.reader.number()?)))
    }

    fn headers(&mut self) -> Result<Value> {
        let mut pairs = Vec::new();
        self.reader.expect(b'[', "expected a list of headers")?;
        if self.reader.eat(b']') {
            return Ok(Value::Headers(pairs));
        }
        loop {
            self.reader.count_node()?;
            self.reader.expect(b'[', "expected a header as a pair")?;
            let name = self.operand()?;
            self.comma()?;
            let value = self.operand()?;
            self.close()?;
            if !tags::is_header(&name, &value) {
                return Err(self.reader.expression(tags::BAD_HEADER));
            }
            pairs.push((name, value));
            if !self.reader.more(b']')? {
                return Ok(Value::Headers(pairs));
            }
        }
    }

    fn error(&mut self, depth: usize) -> Result<Value> {
        let mut error = self.error_texts()?;
        if self.reader.eat(b',') {
            error.props = self.object(depth, Keys::ErrorProps)?;
        }
        self.close()?;
        Ok(Value::Error(error))
    }

    #[inline(never)]
    fn error_texts(&mut self) -> Result<Box<ErrorValue>> {
        self.comma()?;
        let name = self.operand()?;
        self.comma()?;
        let message = self.operand()?;
        let mut error = Box::new(ErrorValue::new(name, message));
        if self.reader.eat(b',') {
            self.reader.count_node()?;
            if self.reader.peek() == Some(b'n') {
                self.reader.word("null")?;
            } else {
                error.stack = Some(self.reader.text()?);
            }
        }
        Ok(error)
    }

    #[inline(never)]
    fn reference(&mut self, tag: &str) -> Result<Value> {
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
    fn call(&mut self, depth: usize) -> Result<Value> {
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
    fn remap(&mut self) -> Result<Value> {
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
    fn body(&mut self, depth: usize, tag: &str) -> Result<Value> {
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

    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.memory = self.memory.saturating_add(bytes);
        if self.memory > self.bounds.memory {
            let limit = self.bounds.memory as u64;
            return Err(DecodeError::Limit { bound: "bytes of memory for one message", limit });
        }
        Ok(())
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

    /// A string operand of a tag.
    fn operand(&mut self) -> Result<String> {
        self.reader.count_node()?;
        self.reader.text()
    }

    fn comma(&mut self) -> Result<()> {
        self.reader.expect(b',', "an operand is missing")
    }

    fn close(&mut self) -> Result<()> {
        self.reader.expect(b']', "too many operands")
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

/// What an array means.
enum Head<'t> {
    List,
    Error,
    Call,
    Remap,
    Body(&'t str),
    Leaf(&'t str),
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

/// Which keys an object keeps.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    All,
    /// An error has name, message and stack already.
    ErrorProps,
}

/// Gives back the room of a list that is mostly empty: many small lists are how memory is wasted.
fn shrink<T>(items: &mut Vec<T>) {
    if items.capacity() > 2 * items.len() {
        items.shrink_to_fit();
    }
}

fn has_repeated_key(entries: &[(JsString, Value)]) -> bool {
    if entries.len() <= 8 {
        return entries.iter().enumerate().any(|(at, (key, _))| entries[..at].iter().any(|(other, _)| other == key));
    }
    let mut keys: Vec<&JsString> = entries.iter().map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

/// What an allocation costs beyond its bytes.
const ALLOCATION: usize = 16;

pub(crate) const DATA_ONLY: &str = "a reference where only data may stand";
