//! What a text would cost to parse, found without parsing it.
//!
//! The parser recurses with its input's nesting and has no guard of its own, and the adapter runs in the gateway's own
//! process, on what a model wrote. So a scan of the tokens comes first. It never underestimates: where it cannot tell a
//! regular expression from a division it stops telling strings from code and counts every character that is left.

use super::token::{Keyword, Lexer, Token, is_name};

/// An upper bound on what parsing a text takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scan {
    /// Steps of recursion, in the parser or in a walk over its tree.
    pub(super) nesting: u64,
    /// Tokens, each as often as it may be read, weighted.
    pub(super) work: u64,
    /// Whether the text is one arrow function with a bracketed body, should it be well-formed.
    pub(super) lone_arrow: bool,
}

/// Scans `source`.
pub(super) fn scan(source: &str) -> Scan {
    let mut scanner = Scanner::default();
    let mut lexer = Lexer::new(source);
    while let Some(token) = lexer.next() {
        if !scanner.token(token, &mut lexer) {
            return scanner.give_up(lexer.rest());
        }
    }
    scanner.finish()
}

#[derive(Default)]
struct Scanner {
    /// Open brackets, outermost first.
    open: Vec<Frame>,
    root: Level,
    work: u64,
    /// How many of the open parentheses may be read twice: as parameters of an arrow function, then as an expression.
    speculative: u64,
    /// The tokens outside all brackets, a bracketed group counting as one; no more than are needed.
    outline: Vec<Part>,
}

struct Frame {
    level: Level,
    kind: FrameKind,
    speculative: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Parentheses and square brackets: expressions between commas.
    List,
    /// Braces that are surely an object: between its commas nothing nests on.
    Object,
    /// Braces behind which a statement begins.
    Statement,
    /// Any other braces: bodies of functions and classes, and what cannot be told from them.
    Block,
    /// A substitution in a template.
    Substitution,
}

/// The nesting at one level of brackets.
///
/// A chain deepens what stands before it as well as what comes behind (`f(a)()()` nests `a` under three calls), so a
/// bracket's own nesting is added to the whole of the chain that it stands in, when that chain ends.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Statements that go on behind a semicolon: `if (a) b; else …`, labels, loops.
    statement: u64,
    /// The chain of the current expression.
    chain: u64,
    /// The deepest bracket in that chain.
    inner: u64,
    /// The deepest nesting of the chains that have ended.
    deepest: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Word,
    Async,
    Group(char),
    Arrow,
    Semicolon,
    Other,
}

impl Scanner {
    /// Takes one token; false when the rest cannot be told apart.
    fn token(&mut self, token: Token, lexer: &mut Lexer<'_>) -> bool {
        self.work = self.work.saturating_add(TOKEN + self.speculative);
        match token {
            Token::Word { keyword, adjacent } => {
                self.level().chain += u64::from(adjacent);
                self.word(keyword);
            }
            Token::Literal => self.outlined(Part::Other),
            Token::Template => {
                self.level().chain += 1;
                self.outlined(Part::Other);
            }
            Token::Regex { groups, named, length } => {
                let inner = groups * REGEX_GROUP;
                let level = self.level();
                level.inner = level.inner.max(inner);
                self.work = self.work.saturating_add(length * REGEX_BYTE + named * named / REGEX_NAMES);
                self.outlined(Part::Other);
            }
            Token::Open { bracket, speculative } => self.open(bracket, speculative, lexer),
            Token::Substitution => self.push(FrameKind::Substitution, false),
            Token::Close(bracket) => return self.close(bracket, lexer),
            Token::Comma => {
                self.level().end_chain();
                self.outlined(Part::Other);
            }
            Token::Semicolon => {
                self.level().end_chain();
                self.outlined(Part::Semicolon);
            }
            Token::Colon => {
                if self.in_block() {
                    self.level().statement += 1;
                } else {
                    self.level().chain += 1;
                }
                self.outlined(Part::Other);
            }
            Token::Arrow => {
                self.level().chain += 1;
                self.outlined(Part::Arrow);
            }
            Token::Operator => {
                self.level().chain += 1;
                self.outlined(Part::Other);
            }
            Token::OperatorTail => {}
            Token::Lost => return false,
        }
        true
    }

    fn word(&mut self, keyword: Keyword) {
        if self.in_block() && matches!(keyword, Keyword::Statement | Keyword::NestingStatement) {
            // A reserved word that only begins statements ends every expression before it.
            self.level().end_chain();
        }
        match keyword {
            Keyword::NestingStatement if self.in_block() => self.level().statement += 1,
            Keyword::NestingStatement | Keyword::Operator => self.level().chain += 1,
            Keyword::Async | Keyword::None | Keyword::Statement => {}
        }
        self.outlined(match keyword {
            Keyword::None => Part::Word,
            Keyword::Async => Part::Async,
            _ => Part::Other,
        });
    }

    fn open(&mut self, bracket: char, speculative: bool, lexer: &mut Lexer<'_>) {
        self.level().chain += 1;
        let kind = lexer.opens(bracket, self.open.last().map(|frame| frame.kind));
        lexer.opened(bracket);
        self.outlined(Part::Group(bracket));
        self.push(kind, speculative);
    }

    fn push(&mut self, kind: FrameKind, speculative: bool) {
        self.speculative += u64::from(speculative);
        self.open.push(Frame { level: Level::default(), kind, speculative });
    }

    /// Closes the innermost bracket; false when it is not one that `bracket` closes.
    fn close(&mut self, bracket: char, lexer: &mut Lexer<'_>) -> bool {
        let Some(mut frame) = self.open.pop() else { return false };
        if (bracket == '}') == (frame.kind == FrameKind::List) {
            return false;
        }
        frame.level.end_chain();
        self.speculative -= u64::from(frame.speculative);
        let level = self.level();
        level.inner = level.inner.max(frame.level.deepest);
        lexer.closed(bracket, frame.kind);
        true
    }

    fn level(&mut self) -> &mut Level {
        self.open.last_mut().map_or(&mut self.root, |frame| &mut frame.level)
    }

    /// Whether statements may stand here.
    fn in_block(&self) -> bool {
        self.open.last().is_none_or(|frame| matches!(frame.kind, FrameKind::Statement | FrameKind::Block))
    }

    fn outlined(&mut self, part: Part) {
        if self.open.is_empty() && self.outline.len() <= LONGEST_ARROW {
            self.outline.push(part);
        }
    }

    fn finish(mut self) -> Scan {
        // Brackets that are still open: the parser fails at the end, as deep as this.
        while let Some(mut frame) = self.open.pop() {
            frame.level.end_chain();
            let level = self.level();
            level.inner = level.inner.max(frame.level.deepest);
        }
        self.root.end_chain();
        let lone_arrow = is_lone_arrow(&self.outline);
        Scan { nesting: self.root.deepest, work: self.work, lone_arrow }
    }

    /// The bound when `rest` could be anything: every character of it nests and is read again under all parentheses.
    fn give_up(self, rest: &str) -> Scan {
        let levels = self.open.iter().map(|frame| &frame.level).chain([&self.root]);
        let above: u64 = levels.map(|level| level.statement + level.chain + level.inner + level.deepest).sum();
        let (mut tokens, mut parentheses, mut brackets) = (0, 0, 0);
        let named = rest.matches("(?<").count() as u64;
        let mut word = None;
        for (at, character) in rest.char_indices() {
            if character.is_alphanumeric() || matches!(character, '_' | '$') {
                tokens += u64::from(word.is_none());
                word = word.or(Some(at));
                continue;
            }
            tokens += u64::from(!character.is_whitespace());
            brackets += u64::from(matches!(character, '(' | '['));
            // Right behind a name it is a call's.
            parentheses += u64::from(character == '(' && !word.is_some_and(|start| is_name(&rest[start..at])));
            word = None;
        }
        Scan {
            nesting: above + tokens + brackets * REGEX_GROUP,
            work: self
                .work
                .saturating_add(tokens * (TOKEN + self.speculative + parentheses))
                .saturating_add(rest.len() as u64 * REGEX_BYTE + named * named / REGEX_NAMES),
            lone_arrow: false,
        }
    }
}

impl Level {
    fn end_chain(&mut self) {
        self.deepest = self.deepest.max(self.statement + self.chain + self.inner);
        self.chain = 0;
        self.inner = 0;
    }
}

/// `async? (parameters) => {body}` or `async? parameter => (body)`, and at most one semicolon.
fn is_lone_arrow(outline: &[Part]) -> bool {
    let outline = outline.strip_suffix(&[Part::Semicolon]).unwrap_or(outline);
    let outline = outline.strip_prefix(&[Part::Async]).unwrap_or(outline);
    matches!(outline, [Part::Word | Part::Async | Part::Group('('), Part::Arrow, Part::Group(_)])
}

/// `async`, parameters, arrow, body and semicolon.
const LONGEST_ARROW: usize = 5;

/// What one token weighs, and what every parenthesis adds that may be read twice.
const TOKEN: u64 = 2;
/// What one byte of a regular expression weighs: its grammar is read by a slower parser.
const REGEX_BYTE: u64 = 2;
/// How many comparisons of group names weigh as much as half a token: each name is compared with all before it.
const REGEX_NAMES: u64 = 32;
/// Steps of recursion that a group of a regular expression may take of the stack.
const REGEX_GROUP: u64 = 4;
