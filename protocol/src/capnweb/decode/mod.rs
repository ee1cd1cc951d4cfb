//! Reading expressions: JSON text into values, and into a plan where the text refers to something not known yet.

use super::expression::DecodeError;
use super::jsstring::JsString;
use super::limits::WireLimits;
use super::reader::Reader;
use super::session::plan::{At, Expr, Hole, PlannedCall};
use super::value::{Object, Value};

mod references;
mod tags;

pub(crate) use references::{DATA_ONLY, Problem, References};

type Result<T> = std::result::Result<T, DecodeError>;

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

    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.memory = self.memory.saturating_add(bytes);
        if self.memory > self.bounds.memory {
            let limit = self.bounds.memory as u64;
            return Err(DecodeError::Limit { bound: "bytes of memory for one message", limit });
        }
        Ok(())
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

/// What an array means.
enum Head<'t> {
    List,
    Error,
    Call,
    Remap,
    Body(&'t str),
    Leaf(&'t str),
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

pub(crate) fn has_repeated_key(entries: &[(JsString, Value)]) -> bool {
    if entries.len() <= 8 {
        return entries.iter().enumerate().any(|(at, (key, _))| entries[..at].iter().any(|(other, _)| other == key));
    }
    let mut keys: Vec<&JsString> = entries.iter().map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

/// What an allocation costs beyond its bytes.
const ALLOCATION: usize = 16;
