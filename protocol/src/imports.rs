//! Splitting a program's leading static `import` declarations off its body.
//!
//! Import declarations are legal at module scope only and the entry wraps the body in a function, so they have to stand
//! ahead of it. Whatever is no well-formed declaration stays in the body, where the engine reports its syntax error.

use crate::{JAVASCRIPT_RESERVED_WORDS, is_line_terminator, is_white_space};

/// A program's two parts. Together they are the program, without a byte lost between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeparatedImports<'a> {
    /// From the first byte to the end of the last import declaration; empty when there is none.
    pub imports: &'a str,
    /// Everything after that.
    pub body: &'a str,
}

/// Splits the leading static `import` declarations off `code` (ECMA-262, section 16.2.2).
pub fn separate_imports(code: &str) -> SeparatedImports<'_> {
    let mut scanner = Scanner { text: code, at: 0 };
    let mut end = 0;
    while scanner.declaration().is_some() {
        end = scanner.at;
    }
    let (imports, body) = code.split_at(end);
    SeparatedImports { imports, body }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    String,
    Punctuator(char),
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Passes over one declaration and its semicolon; on `None` the position is of no use any more.
    fn declaration(&mut self) -> Option<()> {
        self.trivia()?;
        if self.token()? != Token::Word("import") {
            return None;
        }
        self.clause_and_specifier()?;
        self.attributes()?;
        self.end_of_statement()
    }

    /// What is imported, and from where: strictly by the grammar, for the engine accepts more than that.
    fn clause_and_specifier(&mut self) -> Option<()> {
        let first = self.next()?;
        if first == Token::String {
            return Some(());
        }
        let mut clause = first;
        if is_binding(first) {
            let next = self.next()?;
            if next == Token::Word("from") {
                return (self.next()? == Token::String).then_some(());
            }
            if next != Token::Punctuator(',') {
                return None;
            }
            clause = self.next()?;
        }
        match clause {
            Token::Punctuator('*') => {
                let is_whole = self.next()? == Token::Word("as") && is_binding(self.next()?);
                is_whole.then_some(())?;
            }
            Token::Punctuator('{') => self.named()?,
            _ => return None,
        }
        (self.next()? == Token::Word("from") && self.next()? == Token::String).then_some(())
    }

    /// What stands in braces, and the closing one.
    fn named(&mut self) -> Option<()> {
        let mut name = self.next()?;
        while name != Token::Punctuator('}') {
            let mut after = match name {
                Token::Word(_) | Token::String => self.next()?,
                Token::Punctuator(_) => return None,
            };
            let mut local = name;
            if after == Token::Word("as") {
                local = self.next()?;
                after = self.next()?;
            }
            if !is_binding(local) {
                return None;
            }
            match after {
                Token::Punctuator('}') => break,
                Token::Punctuator(',') => name = self.next()?,
                _ => return None,
            }
        }
        Some(())
    }

    /// The next token, behind white space and comments.
    fn next(&mut self) -> Option<Token<'a>> {
        self.trivia()?;
        self.token()
    }

    fn attributes(&mut self) -> Option<()> {
        let before = self.at;
        self.trivia()?;
        if self.token() != Some(Token::Word("with")) {
            self.at = before;
            return Some(());
        }
        self.trivia()?;
        if self.token() != Some(Token::Punctuator('{')) {
            self.at = before;
            return Some(());
        }
        loop {
            self.trivia()?;
            match self.token()? {
                Token::Punctuator('}') => return Some(()),
                Token::Word(_) | Token::String | Token::Punctuator(',' | ':') => {}
                Token::Punctuator(_) => return None,
            }
        }
    }

    /// A semicolon, or what stands in for one: a line break or the end.
    fn end_of_statement(&mut self) -> Option<()> {
        let before = self.at;
        let line_break = self.trivia()?;
        if self.text[self.at..].starts_with(';') {
            self.at += 1;
            return Some(());
        }
        let ended = line_break || self.at == self.text.len();
        self.at = before;
        ended.then_some(())
    }

    /// Passes over white space and comments; whether a line break was among them. `None` on an open comment.
    fn trivia(&mut self) -> Option<bool> {
        let mut line_break = false;
        loop {
            let rest = &self.text[self.at..];
            let length = if rest.starts_with("//") {
                rest.find(is_line_terminator).unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.find("*/")? + 4
            } else if let Some(space) = rest.chars().next().filter(|c| is_white_space(*c)) {
                space.len_utf8()
            } else {
                return Some(line_break);
            };
            line_break |= rest[..length].contains(is_line_terminator);
            self.at += length;
        }
    }

    fn token(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (length, token) = match first {
            '"' | '\'' => (string_length(rest, first)?, Token::String),
            _ if is_word(first) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                (length, Token::Word(&rest[..length]))
            }
            other => (other.len_utf8(), Token::Punctuator(other)),
        };
        self.at += length;
        Some(token)
    }
}

fn string_length(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '\n' | '\r' => return None,
            _ if character == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Whether a token may name what is imported: no reserved word of module code (ECMA-262, section 12.7.2).
fn is_binding(token: Token<'_>) -> bool {
    matches!(token, Token::Word(name) if UNRESERVED.contains(&name) || !JAVASCRIPT_RESERVED_WORDS.contains(&name))
}

/// Names on the list that are no reserved words. The engine takes the one and refuses to bind the others.
const UNRESERVED: [&str; 3] = ["async", "arguments", "eval"];

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_declarations_are_split_off() {
        let cases = [
            ("import 'x'\nasync () => 1", "import 'x'"),
            ("import { a as b } from \"y\"; async () => b", "import { a as b } from \"y\";"),
            ("import d, * as n from 'z' ; () => d", "import d, * as n from 'z' ;"),
            ("import from from 'x'\n1", "import from from 'x'"),
            ("import{\"a b\" as c}from'x';c", "import{\"a b\" as c}from'x';"),
            ("import j from './j.json' with { type: 'json' };\nj", "import j from './j.json' with { type: 'json' };"),
            (
                "// first\nimport 'a'; /* then */ import 'b'\n\n// body\nx",
                "// first\nimport 'a'; /* then */ import 'b'",
            ),
            ("import 'a' /* \n */ x", "import 'a'"),
            ("\u{feff}import 'a'\nx", "\u{feff}import 'a'"),
            ("import 'it\\'s'\nx", "import 'it\\'s'"),
            ("import 'last'", "import 'last'"),
            ("import{}from'x'", "import{}from'x'"),
            ("import a,{default as b,if as c,}from'x'", "import a,{default as b,if as c,}from'x'"),
            ("import {as, as as as, from} from 'x'", "import {as, as as as, from} from 'x'"),
            ("import {a, a} from 'x'", "import {a, a} from 'x'"),
            ("import async, {arguments} from 'x'", "import async, {arguments} from 'x'"),
        ];
        for (code, imports) in cases {
            let separated = separate_imports(code);
            assert_eq!(separated.imports, imports, "{code}");
            assert_eq!(separated.body, &code[imports.len()..], "{code}");
        }
    }

    #[test]
    fn what_is_no_declaration_stays_in_the_body() {
        let cases = [
            "",
            "async () => 1",
            "import('x')",
            "import.meta.url",
            "import /* c */ ('x')",
            "imports from 'x'",
            "import 'x' async () => 1",
            "import x 'y'",
            "import { a from 'x'",
            "import a, from 'x'",
            "import a b from 'x'",
            "import a, b from 'x'",
            "import * from 'x'",
            "import * as if from 'x'",
            "import defer * as a from 'x'",
            "import {a}, b from 'x'",
            "import {a},  {b} from 'x'",
            "import {a b} from 'x'",
            "import {,} from 'x'",
            "import {if} from 'x'",
            "import {a as await} from 'x'",
            "import {'a b'} from 'x'",
            "import {a as 'b'} from 'x'",
            "import let from 'x'",
            "import from 'x'",
            "import {a} 'x'",
            "import ; from 'x'",
            "import a from `x`",
            "/* open import 'x'",
            "x; import 'y'",
            "import 'x\n'",
            "\u{85}import 'x'",
        ];
        for code in cases {
            assert_eq!(separate_imports(code), SeparatedImports { imports: "", body: code }, "{code}");
        }
    }
}
