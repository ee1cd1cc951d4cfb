//! The words of a JavaScript source, each with the place that the engine gives to it.
//!
//! Only as much of the language as is needed to know words apart and to bring brackets together; the engine has compiled
//! the source before, so it is well-formed. Where words cannot be known apart without a parser, there are none.

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Number,
    Text,
    Regex,
    /// A template, or of one with substitutions each of its parts.
    Template,
    Sign,
}

/// One word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The line it begins in, counted from 0.
    pub(super) line: i32,
    /// The column that the engine gives to a word that is no name: that of the white space or name before it.
    pub(super) mark: i32,
    /// The column at which it begins, in bytes from 1.
    pub(super) column: i32,
    /// The bracket that belongs to this one; of a template's part the one before it, of the first the one behind it.
    pub(super) pair: Option<usize>,
}

/// Names that are no expression.
pub(super) const KEYWORDS: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "export",
    "extends",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "of",
    "return",
    "static",
    "switch",
    "throw",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// A statement follows behind the parenthesis of these.
pub(super) const HEADS: &[&str] = &["if", "for", "while", "with"];

/// All words of a source; nothing when some cannot be known apart.
pub(super) fn words(source: &str) -> Option<Vec<Word>> {
    let mut reader = Reader { text: source, at: 0, line: 0, eol: 0, line_start: 0, mark: 0, words: Vec::new() };
    let mut open: Vec<usize> = Vec::new();
    loop {
        reader.skip_space()?;
        let (start, line, column) = (reader.at, reader.line, reader.column());
        let Some(first) = reader.rest().chars().next() else { break };
        let in_template = open.last().is_some_and(|at| reader.words[*at].kind == Kind::Template);
        let kind = reader.word(first, in_template)?;
        let (index, text) = (reader.words.len(), &source[start..reader.at]);
        let closes = match kind {
            Kind::Template => text.starts_with('}'),
            Kind::Sign => matches!(text, ")" | "]" | "}"),
            _ => false,
        };
        let opens = match kind {
            Kind::Template => text.ends_with("${"),
            Kind::Sign => matches!(text, "(" | "[" | "{"),
            _ => false,
        };
        let pair = if closes { Some(open.pop()?) } else { None };
        if let Some(pair) = pair
            && reader.words[pair].pair.is_none()
        {
            reader.words[pair].pair = Some(index);
        }
        if opens {
            open.push(index);
        }
        let mark = (reader.mark as i32 - reader.eol as i32).max(1);
        reader.words.push(Word { kind, start, end: reader.at, line, mark, column, pair });
    }
    open.is_empty().then_some(reader.words)
}

/// Reads words one by one, and keeps the books of places as the engine's own reader does.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: i32,
    /// Where the last line break was.
    eol: usize,
    line_start: usize,
    /// Behind the last white space, or at the last name.
    mark: usize,
    words: Vec<Word>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn column(&self) -> i32 {
        (self.at - self.line_start) as i32 + 1
    }

    fn break_line(&mut self, length: usize) {
        self.at += length;
        self.line += 1;
        self.line_start = self.at;
        self.eol = self.at - 1;
        self.mark = self.at;
    }

    fn skip_space(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            if rest.starts_with("\r\n") {
                self.break_line(2);
            } else if rest.starts_with(['\n', '\r']) {
                self.break_line(1);
            } else if rest.starts_with("//") {
                self.at += rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
                self.mark = self.at;
            } else if rest.starts_with("/*") {
                let end = self.at + rest.find("*/")? + 2;
                while self.at < end {
                    match self.rest().as_bytes().first() {
                        Some(b'\n') => self.break_line(1),
                        // The engine counts these in comments in another way.
                        Some(b'\r') => return None,
                        _ => self.at += 1,
                    }
                    while !self.text.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                }
                self.mark = self.at;
            } else {
                match rest.chars().next() {
                    Some('\u{2028}' | '\u{2029}') => return None,
                    Some(space) if codemode_protocol::is_white_space(space) => {
                        self.at += space.len_utf8();
                        self.mark = self.at;
                    }
                    _ => return Some(()),
                }
            }
        }
    }

    fn word(&mut self, first: char, in_template: bool) -> Option<Kind> {
        let rest = self.rest();
        Some(match first {
            '}' if in_template => return self.template(),
            '`' => return self.template(),
            '"' | '\'' => return self.string(first),
            '0'..='9' => self.number(),
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => self.number(),
            '/' if self.begins_regex()? => return self.regex(),
            // Escapes in names are left to parsers.
            '\\' => return None,
            '#' => self.name(1),
            _ if is_name(first) => self.name(0),
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                // `a?.5:b` is a conditional.
                let sign =
                    sign.filter(|sign| **sign != "?." || !rest[2..].starts_with(|next: char| next.is_ascii_digit()));
                self.at += sign.map_or(first.len_utf8(), |sign| sign.len());
                Kind::Sign
            }
        })
    }

    fn name(&mut self, prefix: usize) -> Kind {
        self.mark = self.at;
        let rest = &self.rest()[prefix..];
        self.at += prefix + rest.find(|next: char| !is_name(next)).unwrap_or(rest.len());
        Kind::Name
    }

    fn number(&mut self) -> Kind {
        let bytes = self.text.as_bytes();
        let start = self.at;
        while let Some(byte) = bytes.get(self.at) {
            let exponent = self.at > start
                && matches!(bytes[self.at - 1], b'e' | b'E')
                && !matches!(bytes.get(start + 1), Some(b'x' | b'X'));
            let signed = matches!(byte, b'+' | b'-') && exponent;
            if !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b'_') && !signed {
                break;
            }
            // `1..toString()` has one point that is the number's.
            if *byte == b'.' && self.text[start..self.at].contains('.') {
                break;
            }
            self.at += 1;
        }
        Kind::Number
    }

    fn string(&mut self, quote: char) -> Option<Kind> {
        self.at += 1;
        loop {
            let rest = self.rest();
            let next = rest.chars().next()?;
            if next == quote {
                self.at += 1;
                return Some(Kind::Text);
            }
            if next != '\\' {
                self.at += next.len_utf8();
                continue;
            }
            self.at += 1;
            match self.rest().chars().next()? {
                '\n' => self.break_line(1),
                '\r' => return None,
                escaped => self.at += escaped.len_utf8(),
            }
        }
    }

    fn template(&mut self) -> Option<Kind> {
        self.at += 1;
        loop {
            let rest = self.rest();
            match rest.chars().next()? {
                '`' => {
                    self.at += 1;
                    return Some(Kind::Template);
                }
                '$' if rest.starts_with("${") => {
                    self.at += 2;
                    return Some(Kind::Template);
                }
                // What follows is counted by the engine in another way.
                '\\' if rest[1..].starts_with(['\n', '\r']) => return None,
                '\\' => self.at += 1 + rest[1..].chars().next()?.len_utf8(),
                '\n' => self.break_line(1),
                '\r' => return None,
                other => self.at += other.len_utf8(),
            }
        }
    }

    /// Whether a slash begins a regular expression; unknown behind a brace.
    fn begins_regex(&self) -> Option<bool> {
        let Some(before) = self.words.last() else { return Some(true) };
        let text = &self.text[before.start..before.end];
        Some(match before.kind {
            Kind::Name => KEYWORDS.contains(&text),
            Kind::Sign if text == ")" => {
                let head = before.pair.and_then(|open| self.words[..open].last());
                head.is_some_and(|head| HEADS.contains(&&self.text[head.start..head.end]))
            }
            Kind::Sign if text == "}" => return None,
            Kind::Sign => !matches!(text, "]" | "++" | "--"),
            _ => before.kind == Kind::Template && text.ends_with("${"),
        })
    }

    fn regex(&mut self) -> Option<Kind> {
        self.at += 1;
        let mut in_class = false;
        loop {
            let next = self.rest().chars().next()?;
            self.at += next.len_utf8();
            match next {
                '\\' => self.at += self.rest().chars().next()?.len_utf8(),
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => break,
                '\n' | '\r' => return None,
                _ => {}
            }
        }
        let rest = self.rest();
        self.at += rest.find(|next: char| !is_name(next)).unwrap_or(rest.len());
        Some(Kind::Regex)
    }
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '$' | '_' | '\u{200c}' | '\u{200d}')
}

/// Signs of more than one character, longer ones first.
const SIGNS: &[&str] = &[
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=", ">=", "&&",
    "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Option<Vec<&str>> {
        words(source).map(|words| words.iter().map(|word| &source[word.start..word.end]).collect())
    }

    #[test]
    fn words_are_known_apart_or_not_at_all() {
        let cases: [(&str, Option<&[&str]>); 13] = [
            ("a.b?.c(1)", Some(&["a", ".", "b", "?.", "c", "(", "1", ")"])),
            ("a?.5:b", Some(&["a", "?", ".5", ":", "b"])),
            ("1..x", Some(&["1.", ".", "x"])),
            ("1e+5+0xe+1", Some(&["1e+5", "+", "0xe", "+", "1"])),
            ("x = a / b / c", Some(&["x", "=", "a", "/", "b", "/", "c"])),
            ("f(/[/)]\\//g)", Some(&["f", "(", "/[/)]\\//g", ")"])),
            ("if (a) /x/.y", Some(&["if", "(", "a", ")", "/x/", ".", "y"])),
            ("{} /x/", None),
            ("`a${b}c${`d`}e`", Some(&["`a${", "b", "}c${", "`d`", "}e`"])),
            ("'a\\'b' /* \n */ // c\n\"d\"", Some(&["'a\\'b'", "\"d\""])),
            ("this.#x >>>= žluť", Some(&["this", ".", "#x", ">>>=", "žluť"])),
            ("a\\u0062", None),
            ("'a", None),
        ];
        for (source, expected) in cases {
            assert_eq!(texts(source).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn places_are_those_of_the_engine() {
        let source = "\nlet a = 'ž'; b . c(d)\n  /* x */ e(1)";
        let found = words(source).unwrap();
        let places: Vec<_> = found
            .iter()
            .map(|word| (&source[word.start..word.end], word.line, word.mark, word.column))
            .filter(|(text, ..)| matches!(*text, "c" | "(" | "d" | "e" | "1"))
            .collect();
        assert_eq!(
            places,
            [
                ("c", 1, 19, 19),
                ("(", 1, 19, 20),
                ("d", 1, 21, 21),
                ("e", 2, 11, 11),
                ("(", 2, 11, 12),
                ("1", 2, 11, 13)
            ]
        );
    }
}
