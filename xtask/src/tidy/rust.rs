//! Just enough of Rust's lexical structure to tell code, literals and comments apart.

/// A source file taken apart.
pub(super) struct Source {
    /// The file with comments and the contents of literals blanked; same lines as the file.
    pub(super) code: String,
    /// Every string literal, unescaped as far as texts need it, with its line.
    pub(super) literals: Vec<(usize, String)>,
}

impl Source {
    /// Takes `text` apart, without the test module that ends it.
    pub(super) fn shipped(text: &str) -> Self {
        let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
        Self::read(&text[..end])
    }

    /// Takes `text` apart.
    pub(super) fn read(text: &str) -> Self {
        let mut lexer = Lexer { rest: text, line: 1, source: Self { code: String::new(), literals: Vec::new() } };
        lexer.run();
        lexer.source
    }

    /// The lines on which `name` stands as a word or a path of its own.
    pub(super) fn lines_naming(&self, name: &str) -> Vec<usize> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let names = |line: &str| {
            line.match_indices(name).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + name.len()..].chars().next();
                let goes_on = name.ends_with(is_word) && after.is_some_and(is_word);
                !before.is_some_and(is_word) && !goes_on
            })
        };
        self.code.lines().enumerate().filter(|(_, line)| names(line)).map(|(index, _)| index + 1).collect()
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    source: Source,
}

impl Lexer<'_> {
    fn run(&mut self) {
        let mut word = false; // whether the character before belongs to a word, so that `r"` is no raw string
        while let Some(next) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                self.blank(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.blank(self.rest.find("*/").map_or(self.rest.len(), |end| end + 2));
            } else if next == '"' {
                self.string();
            } else if !(!word && self.raw_string() || next == '\'' && self.character()) {
                self.take(next.len_utf8());
                word = next.is_alphanumeric() || next == '_';
                continue;
            }
            word = false;
        }
    }

    fn take(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.source.code.push_str(taken);
        self.rest = rest;
    }

    fn blank(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.source.code.extend(taken.chars().filter(|&c| c == '\n'));
        self.rest = rest;
    }

    fn string(&mut self) {
        let line = self.line;
        let mut value = String::new();
        let mut characters = self.rest.char_indices().skip(1).peekable();
        let mut end = self.rest.len();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match characters.next() {
                    Some((_, '\n')) => while characters.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, escaped)) => value.push(escaped),
                    None => {}
                },
                _ => value.push(c),
            }
        }
        self.source.literals.push((line, value));
        self.source.code.push_str("\"\"");
        self.blank(end);
    }

    fn raw_string(&mut self) -> bool {
        let after = self.rest.strip_prefix("br").or_else(|| self.rest.strip_prefix('r'));
        let Some(after) = after else { return false };
        let hashes = after.len() - after.trim_start_matches('#').len();
        if !after[hashes..].starts_with('"') {
            return false;
        }
        let start = self.rest.len() - after.len() + hashes + 1;
        let close = format!("\"{}", "#".repeat(hashes));
        let length = self.rest[start..].find(&close).unwrap_or(self.rest.len() - start);
        self.source.literals.push((self.line, self.rest[start..start + length].to_owned()));
        self.source.code.push_str("\"\"");
        self.blank((start + length + close.len()).min(self.rest.len()));
        true
    }

    /// A character literal; a lifetime is left to be code.
    fn character(&mut self) -> bool {
        let mut characters = self.rest.char_indices().skip(1);
        let length = match characters.next() {
            Some((_, '\\')) => self.rest[3..].find('\'').map(|end| end + 4),
            Some((at, c)) => self.rest[at + c.len_utf8()..].starts_with('\'').then(|| at + c.len_utf8() + 1),
            None => None,
        };
        let Some(length) = length else { return false };
        self.source.code.push_str("''");
        self.blank(length);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let source = Source::read(
            "// tokio\nlet a = \"tokio \\\"x\\\" \\\n   y\"; /* tokio\n */ let b = r#\"raw \"q\"\"#; let c = '\"'; fn f<'a>() { tokio::spawn() }",
        );
        assert_eq!(source.literals, [(2, "tokio \"x\" y".to_owned()), (4, "raw \"q\"".to_owned())]);
        assert_eq!(source.lines_naming("tokio"), [4]);
    }

    #[test]
    fn a_name_inside_a_longer_word_is_another_name() {
        let source = Source::read("use my_tokio::x;\nuse tokio_y;\nstd::net::TcpStream;");
        assert!(source.lines_naming("tokio").is_empty());
        assert_eq!(source.lines_naming("std::net"), [3]);
    }

    #[test]
    fn the_test_module_is_not_shipped() {
        let source = Source::shipped("fn a() {}\n#[cfg(test)]\nmod tests {\n  const X: &str = \"text\";\n}");
        assert!(source.literals.is_empty());
    }
}
