//! Tokens of JavaScript, as far as brackets and chains need them.
//!
//! A slash is the one character whose meaning depends on the grammar. Where what stands before it decides, it is decided;
//! where only a parser could tell, the lexer says that it is lost.

use super::scan::FrameKind;
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
        let first = self.rest().chars().next()?;
        let after_word = std::mem::take(&mut self.after_word);
        let token = match first {
            '"' | '\'' => self.string(first),
            '`' => {
                self.at += 1;
                self.in_template = true;
                Token::Template
            }
            '(' | '[' | '{' => self.open(first),
            ')' | ']' | '}' => {
                self.at += 1;
                // What stands before the next token is set by `closed`.
                Token::Close(first)
            }
            '/' => self.slash(),
            _ if is_word(first) => self.word(after_word),
            _ => self.punctuator(first),
        };
        self.new_line = false;
        Some(token)
    }

    /// Whether the brace that was just opened is an object for certain; `parent` is the bracket around it.
    pub(super) fn opens_object(&self, parent: Option<FrameKind>) -> bool {
        match self.before {
            Before::Operator(':') => {
                matches!(parent, Some(FrameKind::List | FrameKind::Object | FrameKind::Substitution))
            }
            Before::Operator(operator) => !matches!(operator, ';' | '{' | '}' | '>'),
            _ => false,
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
            // The end of a statement, or of a function that is an operand.
            _ => Before::Unknown,
        };
    }

    /// `before` stays as it is, because `opens_object` asks for it; `opened` sets it.
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
        let rest = self.rest();
        let mut length = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        if rest.starts_with(|first: char| first.is_ascii_digit())
            && rest[length..].strip_prefix('.').is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
        {
            length += 1;
            length += rest[length..].find(|character| !is_word(character)).unwrap_or(rest.len() - length);
        }
        let word = &rest[..length];
        self.at += length;
        self.after_word = true;
        let named = self.before == Before::Dot;
        let keyword = if named { Keyword::None } else { keyword(word) };
        self.before = match word {
            _ if named => Before::Operand,
            "await" if self.before == Before::Head => Before::Head,
            "if" | "while" | "for" | "with" => Before::Head,
            "async" => Before::Async,
            "of" => Before::Unknown,
            "return" | "throw" | "case" | "do" | "else" | "default" => Before::Keyword,
            _ if keyword == Keyword::Operator && !matches!(word, "class") => Before::Keyword,
            _ => Before::Operand,
        };
        Token::Word { keyword, adjacent: after_word }
    }

    fn punctuator(&mut self, first: char) -> Token {
        if self.rest().starts_with("...") {
            self.at += 3;
            self.before = Before::Operator('.');
            return Token::Operator;
        }
        let previous = match self.before {
            Before::Operator(operator) => operator,
            _ => ' ',
        };
        let touches = self.text[..self.at].ends_with(previous);
        self.at += first.len_utf8();
        if matches!(first, '+' | '-') && self.rest().starts_with(first) {
            self.at += 1;
            // Behind an operand on the same line it belongs to that operand, anywhere else to the next one.
            let postfix = !self.new_line && matches!(self.before, Before::Operand | Before::Async);
            self.before = match self.before {
                _ if postfix => Before::Operand,
                Before::Unknown | Before::HeadEnd if !self.new_line => Before::Unknown,
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
                self.before = Before::Operator('>');
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
            Before::Operator(_) | Before::Keyword | Before::HeadEnd => self.regex(),
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
                '\\' => {
                    if characters.next().is_none_or(|(_, escaped)| is_line_end(escaped)) {
                        break;
                    }
                }
                '/' if !in_class => {
                    let pattern = &self.text[start..start + offset];
                    let flags = &self.text[start + offset + 1..];
                    self.at += offset + 1 + flags.find(|character| !is_word(character)).unwrap_or(flags.len());
                    self.before = Before::Operand;
                    return Token::Regex { groups, named, length: pattern.len() as u64 };
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

    fn string(&mut self, quote: char) -> Token {
        let mut characters = self.rest().char_indices().skip(1).peekable();
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => {
                    let escaped = characters.next();
                    if escaped.is_some_and(|(_, escaped)| escaped == '\r') {
                        characters.next_if(|(_, next)| *next == '\n');
                    }
                }
                '\n' | '\r' => break,
                _ if character == quote => {
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
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.line_comment();
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let length = comment.find("*/").map_or(rest.len(), |end| end + 4);
                self.new_line |= rest[..length].contains(is_line_end);
                self.at += length;
            } else if let Some(space) = rest.chars().next().filter(|first| is_space(*first)) {
                self.new_line |= is_line_end(space);
                self.at += space.len_utf8();
            } else {
                return;
            }
        }
    }

    fn line_comment(&mut self) {
        let rest = self.rest();
        self.at += rest.find(is_line_end).unwrap_or(rest.len());
    }
}

fn is_word(character: char) -> bool {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' | '#' | '\\' => true,
        _ => !character.is_ascii() && !is_space(character),
    }
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
