//! Tokens of JavaScript, as far as brackets and chains need them.
//!
//! A slash is the one character whose meaning depends on the grammar. Where what stands before it decides, it is decided;
//! where only a parser could tell, the lexer says that it is lost.

use super::{parse::NO_SPACE, scan::FrameKind};
use crate::space::{is_line_end, is_space};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// An identifier, a keyword or a number; `adjacent` when the token before it was one too.
    Word {
        keyword: Keyword,
        adjacent: bool,
    },
    /// A string.
    Literal,
    /// The first part of a template.
    Template,
    /// A regular expression with so many groups and classes, so many of them with a name, in so many bytes.
    Regex {
        groups: u64,
        named: u64,
        length: u64,
    },
    /// `(`, `[` or `{`; `speculative` when it is a parenthesis that stands where an expression begins.
    Open {
        bracket: char,
        speculative: bool,
    },
    /// `${` in a template.
    Substitution,
    Close(char),
    Comma,
    Semicolon,
    Colon,
    Arrow,
    /// Any other punctuator.
    Operator,
    /// A further character of the operator before it.
    OperatorTail,
    /// From here on strings, comments and code cannot be told apart.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    None,
    /// Begins a statement, and never an expression.
    Statement,
    /// The same, and another statement nests in it.
    NestingStatement,
    /// Stands before or between operands.
    Operator,
    Async,
}

/// What stood before, as far as a slash, a brace or a parenthesis needs it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing, or what an operand must follow.
    Operator(char),
    /// A keyword that an operand must follow.
    Keyword,
    /// `if`, `while`, `for` or `with`: parentheses follow, and then a statement.
    Head,
    /// `else`, `do`, `try` or `finally`: a statement follows.
    Body,
    /// `=>`: a function's body follows.
    Arrow,
    /// The end of an operand.
    Operand,
    /// `async`: a name, or the beginning of an arrow function.
    Async,
    /// A dot: the next word is a name.
    Dot,
    /// The end of a statement's head: a statement follows.
    HeadEnd,
    /// An operand or not, for all that can be seen here.
    Unknown,
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    before: Before,
    /// Whether a line ended since the last token.
    new_line: bool,
    /// Whether a line ended before the last token.
    on_new_line: bool,
    /// Whether the last token was a word, so that a word beside it is adjacent.
    after_word: bool,
    /// For each open parenthesis, whether it belongs to a statement's head.
    heads: Vec<bool>,
    in_template: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut lexer = Self {
            text,
            at: 0,
            before: Before::Operator(';'),
            new_line: true,
            on_new_line: true,
            after_word: false,
            heads: Vec::new(),
            in_template: false,
        };
        if text.starts_with("#!") {
            lexer.line_comment();
        }
        lexer
    }

    /// What is not lexed yet.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        if self.in_template {
            return Some(self.template_part());
        }
        self.trivia();
        let first = self.byte(0)?;
        let after_word = std::mem::take(&mut self.after_word);
        let token = match first {
            b'"' | b'\'' => self.string(first),
            b'`' => {
                self.at += 1;
                self.in_template = true;
                Token::Template
            }
            b'(' | b'[' | b'{' => self.open(first.into()),
            b')' | b']' | b'}' => {
                self.at += 1;
                // What stands before the next token is set by `closed`.
                Token::Close(first.into())
            }
            b'/' => self.slash(),
            0x80.. => self.word(after_word),
            _ if is_word_byte(first) => self.word(after_word),
            _ => self.punctuator(first.into()),
        };
        self.on_new_line = std::mem::take(&mut self.new_line);
        Some(token)
    }

    /// What the bracket that was just opened begins; `parent` is the one around it.
    pub(super) fn opens(&self, bracket: char, parent: Option<FrameKind>) -> FrameKind {
        let in_expression = matches!(parent, Some(FrameKind::List | FrameKind::Object | FrameKind::Substitution));
        match self.before {
            _ if bracket != '{' => FrameKind::List,
            Before::Operator(':' | '{' | ';') if in_expression => FrameKind::Object,
            // On a new line `return` and `yield` have ended.
            Before::Keyword if !self.on_new_line => FrameKind::Object,
            Before::Operator(';' | '{') | Before::HeadEnd | Before::Body | Before::Arrow => FrameKind::Statement,
            Before::Operator(operator) if operator != ':' => FrameKind::Object,
            _ => FrameKind::Block,
        }
    }

    /// Told after a closing bracket, with the kind of what it closed.
    pub(super) fn closed(&mut self, bracket: char, kind: FrameKind) {
        self.before = match (bracket, kind) {
            (')', _) if self.heads.pop() == Some(true) => Before::HeadEnd,
            (')' | ']', _) | (_, FrameKind::Object) => Before::Operand,
            (_, FrameKind::Substitution) => {
                self.in_template = true;
                Before::Operand
            }
            (_, FrameKind::Statement) => Before::Operator(';'),
            // The end of a statement, or of a function that is an operand.
            _ => Before::Unknown,
        };
    }

    /// `before` stays as it is, because `opens` asks for it; `opened` sets it.
    fn open(&mut self, bracket: char) -> Token {
        self.at += 1;
        let speculative = bracket == '(' && !matches!(self.before, Before::Operand | Before::Head | Before::Dot);
        if bracket == '(' {
            self.heads.push(self.before == Before::Head);
        }
        Token::Open { bracket, speculative }
    }

    /// Told after an opening bracket has been placed.
    pub(super) fn opened(&mut self, bracket: char) {
        self.before = Before::Operator(bracket);
    }

    fn word(&mut self, after_word: bool) -> Token {
        let start = self.at;
        self.word_characters();
        let digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        if digit(self.text.as_bytes().get(start).copied()) && self.byte(0) == Some(b'.') && digit(self.byte(1)) {
            self.at += 1;
            self.word_characters();
        }
        let word = &self.text[start..self.at];
        self.after_word = true;
        let named = self.before == Before::Dot;
        let keyword = if named { Keyword::None } else { keyword(word) };
        self.before = match word {
            _ if named => Before::Operand,
            "await" if self.before == Before::Head => Before::Head,
            "if" | "while" | "for" | "with" => Before::Head,
            "async" => Before::Async,
            "of" => Before::Unknown,
            "else" | "do" | "try" | "finally" => Before::Body,
            "return" | "throw" | "case" | "default" => Before::Keyword,
            _ if keyword == Keyword::Operator && !matches!(word, "class") => Before::Keyword,
            _ => Before::Operand,
        };
        Token::Word { keyword, adjacent: after_word }
    }

    fn punctuator(&mut self, first: char) -> Token {
        if first == '.' && self.rest().starts_with("...") {
            self.at += 3;
            self.before = Before::Operator('.');
            return Token::Operator;
        }
        let previous = match self.before {
            Before::Operator(operator) => operator,
            _ => ' ',
        };
        let touches = self.text[..self.at].ends_with(previous);
        self.at += 1;
        if matches!(first, '+' | '-') && self.rest().starts_with(first) {
            self.at += 1;
            // Behind an operand on the same line it belongs to that operand, anywhere else to the next one.
            let postfix = !self.new_line && matches!(self.before, Before::Operand | Before::Async);
            self.before = match self.before {
                _ if postfix => Before::Operand,
                Before::Unknown if !self.new_line => Before::Unknown,
                _ => Before::Operator(first),
            };
            return Token::Operator;
        }
        self.before = match first {
            '.' => Before::Dot,
            _ => Before::Operator(first),
        };
        match first {
            ',' => Token::Comma,
            ';' => Token::Semicolon,
            ':' => Token::Colon,
            '=' if self.rest().starts_with('>') => {
                self.at += 1;
                self.before = Before::Arrow;
                Token::Arrow
            }
            '=' if touches && "=!<>+-*/%&|^?".contains(previous) => Token::OperatorTail,
            '.' if touches && previous == '?' => Token::OperatorTail,
            '&' | '|' | '?' | '*' | '<' | '>' if touches && first == previous => Token::OperatorTail,
            _ => Token::Operator,
        }
    }

    fn slash(&mut self) -> Token {
        match self.before {
            // On a new line the operand may have ended its statement: `let a⏎/b/`.
            Before::Operand if !self.new_line => {
                self.at += 1;
                self.before = Before::Operator('/');
                Token::Operator
            }
            Before::Operator(_) | Before::Keyword | Before::HeadEnd | Before::Body | Before::Arrow => self.regex(),
            _ => Token::Lost,
        }
    }

    fn regex(&mut self) -> Token {
        let start = self.at;
        let (mut groups, mut named) = (0, 0);
        let mut in_class = false;
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                _ if is_line_end(character) => break,
                '\\' if characters.next().is_none_or(|(_, escaped)| is_line_end(escaped)) => break,
                '/' if !in_class => {
                    self.at += offset + 1;
                    // The flags.
                    self.word_characters();
                    self.before = Before::Operand;
                    return Token::Regex { groups, named, length: offset as u64 };
                }
                '(' => {
                    groups += 1;
                    named += u64::from(self.text[start + offset..].starts_with("(?<"));
                }
                '[' => {
                    groups += 1;
                    in_class = true;
                }
                ']' => in_class = false,
                _ => {}
            }
        }
        Token::Lost
    }

    fn string(&mut self, quote: u8) -> Token {
        let mut bytes = self.rest().bytes().enumerate().skip(1).peekable();
        while let Some((offset, byte)) = bytes.next() {
            match byte {
                b'\\' => {
                    let escaped = bytes.next();
                    if escaped.is_some_and(|(_, escaped)| escaped == b'\r') {
                        bytes.next_if(|(_, next)| *next == b'\n');
                    }
                }
                b'\n' | b'\r' => break,
                _ if byte == quote => {
                    self.at += offset + 1;
                    self.before = Before::Operand;
                    return Token::Literal;
                }
                _ => {}
            }
        }
        Token::Lost
    }

    /// From inside a template to its end or to the next substitution.
    fn template_part(&mut self) -> Token {
        let mut bytes = self.rest().bytes().enumerate();
        while let Some((offset, byte)) = bytes.next() {
            match byte {
                b'\\' => {
                    bytes.next();
                }
                b'`' => {
                    self.at += offset + 1;
                    self.in_template = false;
                    self.before = Before::Operand;
                    return Token::OperatorTail;
                }
                b'$' if self.rest()[offset..].starts_with("${") => {
                    self.at += offset + 2;
                    self.in_template = false;
                    self.before = Before::Operator('{');
                    return Token::Substitution;
                }
                _ => {}
            }
        }
        self.in_template = false;
        Token::Lost
    }

    /// Passes over white space and comments.
    fn trivia(&mut self) {
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' | b'\r' => {
                    self.new_line = true;
                    self.at += 1;
                }
                b' ' | b'\t' | 0xb | 0xc => self.at += 1,
                b'/' if self.byte(1) == Some(b'/') => self.line_comment(),
                b'/' if self.byte(1) == Some(b'*') => {
                    let rest = self.rest();
                    let length = rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                    self.new_line |= rest[..length].contains(is_line_end);
                    self.at += length;
                }
                0x80.. => match self.rest().chars().next().filter(|first| is_blank(*first)) {
                    Some(space) => {
                        self.new_line |= is_line_end(space);
                        self.at += space.len_utf8();
                    }
                    None => return,
                },
                _ => return,
            }
        }
    }

    fn line_comment(&mut self) {
        let rest = self.rest();
        self.at += rest.find(is_line_end).unwrap_or(rest.len());
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Passes over the characters of a word.
    fn word_characters(&mut self) {
        while let Some(byte) = self.byte(0) {
            match byte {
                _ if is_word_byte(byte) => self.at += 1,
                0x80.. => match self.rest().chars().next().filter(|character| !is_blank(*character)) {
                    Some(character) => self.at += character.len_utf8(),
                    None => return,
                },
                _ => return,
            }
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'\\')
}

/// White space, and what the parser takes for it.
fn is_blank(character: char) -> bool {
    is_space(character) || NO_SPACE.contains(&character)
}

/// Whether `word` is a name wherever it stands.
pub(super) fn is_name(word: &str) -> bool {
    keyword(word) == Keyword::None && !matches!(word, "of" | "case" | "default")
}

fn keyword(word: &str) -> Keyword {
    match word {
        "if" | "else" | "for" | "while" | "do" | "with" => Keyword::NestingStatement,
        "const" | "var" | "return" | "throw" | "try" | "switch" | "break" | "continue" | "debugger" | "export" => {
            Keyword::Statement
        }
        "typeof" | "void" | "delete" | "await" | "yield" | "new" | "in" | "instanceof" | "extends" | "class" => {
            Keyword::Operator
        }
        "async" => Keyword::Async,
        _ => Keyword::None,
    }
}
