//! Which expression of a source failed, found from the place that the engine gives.
//!
//! The engine gives an operation the place of whatever it wrote down last before that operation: a name that is read,
//! the word behind a call's parenthesis, behind `new` or behind a binary operator. Several operations may share one
//! place, so all that could have failed there are found, and only when there is one, or all read the same, is it named.

use std::cell::Cell;
use std::rc::Rc;

use crate::guest::alloc::{self, Charge};

use super::words::{HEADS, KEYWORDS, Kind, Word, words};

/// A source that was looked through.
#[derive(Debug)]
pub(super) struct Source {
    text: Rc<str>,
    /// Number of its first line.
    first_line: i32,
    words: Vec<Word>,
    /// For a word that begins a function's parameters, the last word of its body.
    functions: Vec<Option<usize>>,
    /// For the two above.
    _charge: Charge,
    /// Steps that may still be taken: what is nested deeply costs more than it is worth.
    steps: Cell<u32>,
}

/// A place in a source: line and column as the engine counts them.
pub(super) type Place = (i32, i32);

/// What could have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Call,
    New,
    /// A loop over, or a spread of, what cannot be iterated.
    Iteration,
}

/// An operation and where the engine places it. Without a text it cannot be named.
struct Candidate {
    operation: Operation,
    place: Span,
    text: Option<String>,
}

/// Where the engine places an operation: there, or somewhere in between.
#[derive(Clone, Copy)]
enum Span {
    At(Place),
    Within(Place, Place),
}

impl Span {
    fn holds(self, place: Place) -> bool {
        match self {
            Self::At(at) => at == place,
            Self::Within(from, to) => from <= place && place <= to,
        }
    }
}

impl Source {
    /// Looks through a source whose first line has the number `first_line`; nothing if that cannot be done.
    pub(super) fn new(text: Rc<str>, first_line: i32) -> Option<Self> {
        let each = size_of::<Word>() + size_of::<Option<usize>>();
        // A message is not worth a run's last memory. A word has one byte at least, and lists grow by doubling.
        if text.len() > LONGEST || !alloc::has_room(2 * each * text.len()) {
            return None;
        }
        let words = words(&text)?;
        let functions = vec![None; words.len()];
        let charge = Charge::of(each * words.capacity());
        let mut source = Self { text, first_line, words, functions, _charge: charge, steps: Cell::new(STEPS) };
        for at in 0..source.words.len() {
            if let Some((begin, end)) = source.function(at)
                && let Some(function) = source.functions.get_mut(begin)
            {
                *function = Some(end);
            }
        }
        (source.steps.get() > 0).then_some(source)
    }

    /// The source's text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The expression that failed at `place` because it is no function: as V8 writes it, and how it was used.
    /// `is_callable` says of a global's member, or of a global, whether it can be called for sure.
    pub(super) fn failed_call(
        &self,
        place: Place,
        may_be: &[Operation],
        is_callable: impl Fn(&str) -> bool,
    ) -> Option<(Operation, String)> {
        self.steps.set(STEPS);
        let mut found: Option<(Operation, String)> = None;
        for at in 0..self.words.len() {
            let Some(candidate) = self.call_at(at) else { continue };
            if !candidate.place.holds(place) || !may_be.contains(&candidate.operation) {
                continue;
            }
            let text = candidate.text?;
            if candidate.operation == Operation::Call && self.is_global(&text) && is_callable(&text) {
                continue;
            }
            let this = (candidate.operation, text);
            if found.as_ref().is_some_and(|other| *other != this) {
                return None;
            }
            found = Some(this);
        }
        found.filter(|_| self.steps.get() > 0)
    }

    /// The expression that failed at `place` because it cannot be iterated: how the message begins.
    pub(super) fn failed_iteration(&self, place: Place) -> Option<String> {
        self.steps.set(STEPS);
        let mut found = None;
        for at in 0..self.words.len() {
            let Some(candidate) = self.iteration_at(at) else { continue };
            if candidate.place.holds(place) && found.replace(candidate.text?).is_some() {
                return None;
            }
        }
        found.filter(|_| self.steps.get() > 0)
    }

    /// Takes a step; false when there were too many.
    fn step(&self) -> bool {
        let left = self.steps.get().saturating_sub(1);
        self.steps.set(left);
        left > 0
    }

    /// Whether what failed at `place`, because `name` cannot be written to, is an assignment to a variable.
    pub(super) fn is_assignment(&self, place: Place, name: &str) -> bool {
        let is_there = |word: &Word| word.kind == Kind::Name && (self.first_line + word.line, word.column) == place;
        let Some(at) = self.words.iter().position(is_there) else { return false };
        // From the place back to the assignment there is no other that could have failed.
        for target in (0..=at).rev().take(LONGEST_STATEMENT) {
            let text = self.word(target);
            if self.words[target].kind == Kind::Name && text == name {
                let before = self.before(target);
                let after = self.word(target + 1);
                let lines = target.checked_sub(1).map(|previous| (self.words[previous].line, self.words[target].line));
                let starts = matches!(before, "" | ";" | "{" | "}" | ")" | "=>" | "else" | "++" | "--")
                    || (lines.is_some_and(|(previous, this)| this > previous) && before != ".");
                let is_update = matches!(after, "++" | "--") || matches!(before, "++" | "--");
                if before != "." && before != "?." && (is_update || ASSIGNMENTS.contains(&after)) {
                    return starts;
                }
            }
            if text == ";" || ASSIGNMENTS.contains(&text) || matches!(text, "++" | "--" | "delete") {
                return false;
            }
        }
        false
    }

    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &self.text[word.start..word.end])
    }

    /// The word before this one; empty when there is none.
    fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.words.get(at).map(|word| word.kind)
    }

    /// The bracket that belongs to the one at `at`.
    fn pair(&self, at: usize) -> Option<usize> {
        self.words.get(at)?.pair
    }

    fn is_keyword(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.kind == Kind::Name)
            && KEYWORDS.contains(&self.word(at))
            && !self.is_member(at)
    }

    /// Whether the name at `at` is that of a member.
    fn is_member(&self, at: usize) -> bool {
        matches!(self.before(at), "." | "?.")
    }

    /// Whether an expression may end with this word.
    fn ends_expression(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        match word.kind {
            Kind::Name => !self.is_keyword(at),
            Kind::Sign => match self.word(at) {
                ")" => !word.pair.is_some_and(|open| open > 0 && HEADS.contains(&self.word(open - 1))),
                "]" | "}" => true,
                _ => false,
            },
            Kind::Template => self.text[..word.end].ends_with('`'),
            _ => true,
        }
    }

    /// The function that is written at `at`: its parameters and its body.
    fn function(&self, at: usize) -> Option<(usize, usize)> {
        match self.word(at) {
            "=>" => {
                let last = at.checked_sub(1)?;
                let begin = if self.word(last) == ")" { self.pair(last)? } else { last };
                if self.word(at + 1) == "{" {
                    return Some((begin, self.pair(at + 1)?));
                }
                let mut end = at + 1;
                while end < self.words.len() && !matches!(self.word(end), "," | ";" | ")" | "]" | "}") && self.step() {
                    let is_part = self.kind(end) == Some(Kind::Template) && self.word(end).starts_with('}');
                    if is_part {
                        break;
                    }
                    end = self.last_part(end) + 1;
                }
                Some((begin, end - 1))
            }
            // Parameters of functions and methods are followed by a body; so are the conditions of statements.
            "(" if at > 0 => {
                let close = self.pair(at)?;
                let is_head = HEADS.contains(&self.before(at)) || matches!(self.before(at), "switch" | "catch");
                (self.word(close + 1) == "{" && !is_head).then(|| Some((at, self.pair(close + 1)?)))?
            }
            _ => None,
        }
    }

    /// The word that closes what is opened at `at`; `at` itself when nothing is.
    fn last_part(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(pair) = self.pair(at).filter(|pair| *pair > at) {
            let is_template = self.kind(at) == Some(Kind::Template);
            at = pair;
            if !is_template || self.words.get(at).is_none_or(|word| self.text[..word.end].ends_with('`')) {
                break;
            }
        }
        at
    }

    /// The place that the engine writes down when it reads the name at `at`.
    fn read_place(&self, at: usize) -> Option<Place> {
        let word = self.words.get(at)?;
        let is_read = word.kind == Kind::Name
            && !self.is_keyword(at)
            && !self.is_member(at)
            && !matches!(self.word(at), "this" | "super" | "null" | "true" | "false")
            && !self.word(at).starts_with('#')
            && !self.is_function_word(at);
        // Keys and shorthand members of an object are not read in this way.
        let before = self.before(at);
        let after = self.word(at + 1);
        let is_key = matches!(before, "{" | ",") && self.is_in_braces(at) && matches!(after, ":" | "," | "}" | "=");
        (is_read && !is_key).then_some((self.first_line + word.line, word.column))
    }

    /// Whether the name at `at` belongs to the head of a function.
    fn is_function_word(&self, at: usize) -> bool {
        let before = self.before(at);
        let is_async = self.word(at) == "async"
            && (self.word(at + 1) == "function" || self.functions.get(at + 1).is_some_and(Option::is_some));
        is_async || before == "function" || (before == "*" && at > 1 && self.word(at - 2) == "function")
    }

    /// Whether the innermost bracket around `at` is a brace.
    fn is_in_braces(&self, at: usize) -> bool {
        let mut before = at;
        while before > 0 && self.step() {
            before -= 1;
            match self.word(before) {
                "{" => return true,
                "(" | "[" => return false,
                ")" | "]" | "}" => before = self.pair(before).unwrap_or(before),
                _ => {}
            }
        }
        false
    }

    /// The place of a word that is no name, as the engine writes it down.
    fn mark(&self, at: usize) -> Option<Place> {
        self.words.get(at).map(|word| (self.first_line + word.line, word.mark))
    }

    /// What the engine wrote down last in the words `from..to`, functions in there not looked at; not known when they
    /// hold what is written in another order.
    fn last_place(&self, from: usize, to: usize) -> Result<Option<Place>, Unknown> {
        let mut last = None;
        let mut at = from;
        while at < to {
            if !self.step() {
                return Err(Unknown);
            }
            if at > from && self.writes_place_before(at) {
                last = self.mark(at);
            }
            if let Some(end) = self.functions.get(at).copied().flatten().filter(|end| (at..to).contains(end)) {
                at = end + 1;
                continue;
            }
            let text = self.word(at);
            let is_pattern = text == "=" && at > 0 && matches!(self.before(at), "]" | "}");
            if is_pattern || matches!(text, "class" | "super" | "import" | "yield") && !self.is_member(at) {
                return Err(Unknown);
            }
            if let Some(read) = self.read_place(at) {
                last = Some(read);
            }
            at += 1;
        }
        Ok(last)
    }

    /// Whether the engine writes down the place of the word at `at` because of the one before it.
    fn writes_place_before(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        match self.word(before) {
            "(" => before > 0 && self.ends_callee(before - 1) && !self.is_new(before),
            "new" => !self.is_member(before) && self.word(at) != ".",
            "+" | "-" => before > 0 && self.ends_expression(before - 1),
            "in" | "instanceof" => !self.is_member(before),
            sign => OPERATORS.contains(&sign),
        }
    }

    /// Whether a parenthesis behind this word is a call's.
    fn ends_callee(&self, at: usize) -> bool {
        self.ends_expression(at) || self.word(at) == "?."
    }

    /// Whether the parenthesis at `open` belongs to a `new`.
    fn is_new(&self, open: usize) -> bool {
        open > 0 && self.callee(open - 1, Operation::New, 0).is_some_and(|(begin, _)| self.begins_new(begin))
    }

    fn begins_new(&self, begin: usize) -> bool {
        begin > 0 && self.before(begin) == "new" && !self.is_member(begin - 1)
    }

    /// The call whose callee ends before `at`, or the `new` at `at`.
    fn call_at(&self, at: usize) -> Option<Candidate> {
        let text = self.word(at);
        if text == "new" && !self.is_member(at) && self.word(at + 1) != "." {
            return self.new_at(at);
        }
        let is_tag = self.kind(at) == Some(Kind::Template) && text.starts_with('`');
        if at == 0 || !(text == "(" || is_tag) || !self.ends_callee(at - 1) {
            return None;
        }
        let (own, end) = match is_tag {
            true => (at, self.last_part(at)),
            false => (at + 1, self.pair(at)?),
        };
        // Parameters of an arrow function or of a method.
        if !is_tag && self.functions.get(at).is_some_and(Option::is_some) {
            return None;
        }
        if !is_tag && self.is_new(at) {
            return None;
        }
        let place = self.span(self.last_place(at + 1, end), own, end)?;
        let text = self.callee(at - 1, Operation::Call, 0).map(|(_, text)| text);
        Some(Candidate { operation: Operation::Call, place, text })
    }

    /// Where an operation is placed whose own place is the word `own` and whose last word is `end`.
    fn span(&self, last: Result<Option<Place>, Unknown>, own: usize, end: usize) -> Option<Span> {
        Some(match last {
            Ok(last) => Span::At(last.or_else(|| self.mark(own))?),
            // Somewhere in there, so nothing of there may be named.
            Err(Unknown) => Span::Within(self.mark(own)?, self.mark(end).unwrap_or((i32::MAX, 0))),
        })
    }

    fn new_at(&self, at: usize) -> Option<Candidate> {
        let mut end = at + 1;
        if matches!(self.word(end), "(" | "[" | "{") {
            end = self.pair(end)?;
        }
        while matches!(self.word(end + 1), "." | "[") {
            end = if self.word(end + 1) == "." { end + 2 } else { self.pair(end + 1)? };
        }
        let last = if self.word(end + 1) == "(" { self.pair(end + 1)? } else { end + 1 };
        let place = self.span(self.last_place(at + 1, last), at + 1, last)?;
        let text = self.callee(end, Operation::New, 0).filter(|(begin, _)| *begin == at + 1).map(|(_, text)| text);
        Some(Candidate { operation: Operation::New, place, text })
    }

    /// The loop head or spread at `at`.
    fn iteration_at(&self, at: usize) -> Option<Candidate> {
        let (from, to, nameable) = match self.word(at) {
            "of" if !self.is_member(at) && self.kind(at) == Some(Kind::Name) => {
                let open = self.opening(at)?;
                // A pattern of the head fails at the same place.
                let plain = (open + 1..at).all(|inner| self.step() && self.word(inner) != "[");
                let is_loop = open > 0 && self.before(open) == "for";
                (at + 1, is_loop.then(|| self.pair(open))??, plain)
            }
            "..." => {
                let open = self.opening(at)?;
                let mut end = at + 1;
                while end < self.words.len() && !matches!(self.word(end), "," | ")" | "]" | "}") && self.step() {
                    end = self.last_part(end) + 1;
                }
                let is_array = self.word(open) == "[" && (open == 0 || !self.ends_expression(open - 1));
                (at + 1, end, is_array)
            }
            _ => return None,
        };
        let place = match self.last_place(from, to) {
            Ok(last) => Span::At(last?),
            Err(Unknown) => self.span(Err(Unknown), from, to)?,
        };
        let whole = to
            .checked_sub(1)
            .and_then(|last| self.callee(last, Operation::Iteration, 0))
            .filter(|(begin, _)| *begin == from);
        let text = whole.filter(|_| nameable).map(|(_, text)| text).filter(|text| !text.contains("(...)"));
        Some(Candidate { operation: Operation::Iteration, place, text })
    }

    /// The innermost bracket around `at`.
    fn opening(&self, at: usize) -> Option<usize> {
        let mut before = (0..at).rev().take_while(|_| self.step());
        before.find(|open| self.pair(*open).is_some_and(|close| close > at))
    }

    /// The chain of members that ends at `end`: where it begins, and how V8 writes it. Nothing if that is not known.
    fn callee(&self, end: usize, operation: Operation, depth: u32) -> Option<(usize, String)> {
        if depth > DEEPEST {
            return None;
        }
        let mut at = end;
        let mut steps: Vec<String> = Vec::new();
        let base = loop {
            if !self.step() {
                return None;
            }
            let word = self.words.get(at)?;
            let text = self.word(at);
            match word.kind {
                Kind::Name if self.is_member(at) => {
                    steps.push(format!("{}{text}", self.before(at)));
                    at = at.checked_sub(2)?;
                    if !self.ends_expression(at) {
                        return None;
                    }
                }
                Kind::Name if text == "super" => break "(intermediate value)".to_owned(),
                Kind::Name if self.is_keyword(at) || text.starts_with('#') => return None,
                Kind::Name => break text.to_owned(),
                Kind::Text if at == end => return None,
                Kind::Text => break format!("\"{}\"", plain_text(text)?),
                Kind::Sign if text == "]" => {
                    let open = word.pair?;
                    steps.push(self.element(open, at)?);
                    at = open.checked_sub(1)?;
                    if self.word(at) == "?." || !self.ends_expression(at) || self.word(at) == "}" {
                        return None;
                    }
                }
                Kind::Sign if text == ")" => {
                    let open = word.pair?;
                    let before = open.checked_sub(1);
                    if before.is_some_and(|before| self.ends_expression(before)) {
                        // A `new` takes the first parentheses for its own.
                        if operation == Operation::New || self.is_new(open) {
                            return self.intermediate(open, steps, depth + 1);
                        }
                        steps.push("(...)".to_owned());
                        at = open - 1;
                        continue;
                    }
                    if before.is_some_and(|before| self.word(before) == "?.") || self.function(open).is_some() {
                        return None;
                    }
                    let inner = at.checked_sub(1)?;
                    at = open;
                    if self.word(open + 1) == "await" {
                        // What is awaited is one chain, or V8 would write the operators around it.
                        let (begin, _) = self.callee(inner, Operation::Call, depth + 1)?;
                        if begin != open + 2 {
                            return None;
                        }
                        break "(intermediate value)".to_owned();
                    }
                    let (begin, text) = self.callee(inner, operation, depth + 1)?;
                    if begin != open + 1 {
                        return None;
                    }
                    break text;
                }
                _ => return None,
            }
        };
        steps.reverse();
        Some((at, base + &steps.concat()))
    }

    /// A chain on what a `new` makes.
    fn intermediate(&self, open: usize, mut steps: Vec<String>, depth: u32) -> Option<(usize, String)> {
        if steps.is_empty() {
            return None;
        }
        let (begin, _) = self.callee(open.checked_sub(1)?, Operation::New, depth)?;
        steps.reverse();
        self.begins_new(begin).then(|| (begin - 1, format!("(intermediate value){}", steps.concat())))
    }

    /// An element's step: `[0]`, `[name]`, or `.text` for a text.
    fn element(&self, open: usize, close: usize) -> Option<String> {
        if close != open + 2 {
            return None;
        }
        let text = self.word(open + 1);
        match self.kind(open + 1)? {
            Kind::Text => Some(format!(".{}", plain_text(text)?)),
            Kind::Number if text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(format!("[{text}]"))
            }
            Kind::Name if !self.is_keyword(open + 1) => Some(format!("[{text}]")),
            _ => None,
        }
    }

    /// Whether a chain begins with a global that the source never declares: each time its name stands there it is read.
    fn is_global(&self, chain: &str) -> bool {
        let name = chain.split('.').next().unwrap_or_default();
        let all = (0..self.words.len()).take_while(|_| self.step());
        all.filter(|at| self.word(*at) == name && !self.is_member(*at)).all(|at| {
            let before = self.before(at);
            matches!(self.word(at + 1), "." | "(") && !matches!(before, "function" | "*" | "class")
        })
    }
}

/// A place that cannot be told without a parser.
struct Unknown;

/// The characters of a literal without escapes.
fn plain_text(literal: &str) -> Option<&str> {
    let text = literal.get(1..literal.len().checked_sub(1)?)?;
    (!text.contains('\\')).then_some(text)
}

/// Operators behind which the engine writes down a place.
const OPERATORS: &[&str] =
    &["*", "/", "%", "<<", ">>", ">>>", "<", ">", "<=", ">=", "==", "!=", "===", "!==", "&", "^", "|"];

const ASSIGNMENTS: &[&str] =
    &["=", "+=", "-=", "*=", "/=", "%=", "**=", "<<=", ">>=", ">>>=", "&=", "|=", "^=", "&&=", "||=", "??="];

/// Bytes of a source that is looked through.
const LONGEST: usize = 128 * 1024;

/// Words of a statement that are looked at.
const LONGEST_STATEMENT: usize = 500;

/// Parentheses in parentheses that are looked into.
const DEEPEST: u32 = 20;

/// Steps of one search.
const STEPS: u32 = 2_000_000;
