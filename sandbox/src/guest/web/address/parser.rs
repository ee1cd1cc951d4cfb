//! The state machine of the basic URL parser (URL, 4.4). States, branches and their order are the standard's.

use super::{Address, host, is_normalized_drive, special_port};

/// Where the machine is. One that starts a setter's run is its "state override" as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    SchemeStart,
    Scheme,
    NoScheme,
    SpecialRelativeOrAuthority,
    PathOrAuthority,
    Relative,
    RelativeSlash,
    SpecialAuthoritySlashes,
    SpecialAuthorityIgnoreSlashes,
    Authority,
    Host,
    Hostname,
    Port,
    File,
    FileSlash,
    FileHost,
    PathStart,
    Path,
    OpaquePath,
    Query,
    Fragment,
}

/// The input is no URL, or no value for what is set.
#[derive(Debug)]
pub(super) struct Failure;

/// Runs the machine from `state` over `input`, into `url`. With `setter`, only what belongs to it is changed.
pub(super) fn run(
    input: &str,
    base: Option<&Address>,
    url: &mut Address,
    state: State,
    setter: Option<State>,
) -> Result<(), Failure> {
    let input: Vec<char> = input.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let mut machine = Machine {
        input: &input,
        base,
        url,
        setter,
        state,
        at: 0,
        buffer: String::new(),
        begun: 0,
        at_sign: false,
        password: false,
        brackets: false,
    };
    while machine.at <= input.len() {
        match machine.step(input.get(machine.at).copied())? {
            Next::Advance => machine.at += 1,
            Next::Stay => {}
            Next::End => break,
        }
    }
    Ok(())
}

/// What a step does with the pointer.
enum Next {
    Advance,
    /// The same code point once more, in another state.
    Stay,
    /// A setter has what it wanted.
    End,
}

struct Machine<'a> {
    input: &'a [char],
    base: Option<&'a Address>,
    url: &'a mut Address,
    setter: Option<State>,
    state: State,
    at: usize,
    buffer: String,
    /// Where the buffer of an authority began.
    begun: usize,
    at_sign: bool,
    password: bool,
    brackets: bool,
}

type Step = Result<Next, Failure>;

impl Machine<'_> {
    fn step(&mut self, c: Option<char>) -> Step {
        match self.state {
            State::SchemeStart => self.scheme_start(c),
            State::Scheme => self.scheme(c),
            State::NoScheme => self.no_scheme(c),
            State::SpecialRelativeOrAuthority if c == Some('/') && self.follows('/') => {
                self.skip(State::SpecialAuthorityIgnoreSlashes)
            }
            State::SpecialRelativeOrAuthority => self.stay(State::Relative),
            State::PathOrAuthority if c == Some('/') => self.authority_begins(Next::Advance),
            State::PathOrAuthority => self.stay(State::Path),
            State::Relative => self.relative(c),
            State::RelativeSlash => self.relative_slash(c),
            State::SpecialAuthoritySlashes if c == Some('/') && self.follows('/') => {
                self.skip(State::SpecialAuthorityIgnoreSlashes)
            }
            State::SpecialAuthoritySlashes => self.stay(State::SpecialAuthorityIgnoreSlashes),
            State::SpecialAuthorityIgnoreSlashes if matches!(c, Some('/' | '\\')) => Ok(Next::Advance),
            State::SpecialAuthorityIgnoreSlashes => self.authority_begins(Next::Stay),
            State::Authority => self.authority(c),
            State::Host | State::Hostname => self.host(c),
            State::Port => self.port(c),
            State::File => self.file(c),
            State::FileSlash => self.file_slash(c),
            State::FileHost => self.file_host(c),
            State::PathStart => self.path_start(c),
            State::Path => self.path(c),
            State::OpaquePath => self.opaque_path(c),
            State::Query => self.query(c),
            State::Fragment => {
                if let (Some(c), Some(fragment)) = (c, &mut self.url.fragment) {
                    encode(c, in_fragment, fragment);
                }
                Ok(Next::Advance)
            }
        }
    }

    fn scheme_start(&mut self, c: Option<char>) -> Step {
        match c {
            Some(c) if c.is_ascii_alphabetic() => {
                self.buffer.push(c.to_ascii_lowercase());
                self.advance(State::Scheme)
            }
            _ if self.setter.is_none() => self.stay(State::NoScheme),
            _ => Err(Failure),
        }
    }

    fn scheme(&mut self, c: Option<char>) -> Step {
        match c {
            Some(c) if c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.') => {
                self.buffer.push(c.to_ascii_lowercase());
                Ok(Next::Advance)
            }
            Some(':') if self.setter.is_some() => {
                let url = &mut *self.url;
                let kept = url.is_special() != special_port(&self.buffer).is_some()
                    || (self.buffer == "file" && (url.has_credentials() || url.port.is_some()))
                    || (url.scheme == "file" && url.host.as_deref() == Some(""));
                if !kept {
                    url.scheme = std::mem::take(&mut self.buffer);
                    url.port = url.port.filter(|port| special_port(&url.scheme) != Some(Some(*port)));
                }
                Ok(Next::End)
            }
            Some(':') => {
                self.url.scheme = std::mem::take(&mut self.buffer);
                if self.url.scheme == "file" {
                    self.advance(State::File)
                } else if self.url.is_special() {
                    let same = self.base.is_some_and(|base| base.scheme == self.url.scheme);
                    self.advance(if same { State::SpecialRelativeOrAuthority } else { State::SpecialAuthoritySlashes })
                } else if self.follows('/') {
                    self.skip(State::PathOrAuthority)
                } else {
                    self.url.opaque = true;
                    self.advance(State::OpaquePath)
                }
            }
            _ if self.setter.is_none() => {
                self.buffer.clear();
                self.at = 0;
                self.stay(State::NoScheme)
            }
            _ => Err(Failure),
        }
    }

    fn no_scheme(&mut self, c: Option<char>) -> Step {
        let base = self.base.ok_or(Failure)?;
        if base.opaque {
            if c != Some('#') {
                return Err(Failure);
            }
            *self.url = Address { fragment: Some(String::new()), ..base.clone() };
            return self.advance(State::Fragment);
        }
        self.stay(if base.scheme == "file" { State::File } else { State::Relative })
    }

    fn relative(&mut self, c: Option<char>) -> Step {
        let base = self.base.ok_or(Failure)?;
        self.url.scheme.clone_from(&base.scheme);
        if self.is_slash(c) {
            return self.advance(State::RelativeSlash);
        }
        *self.url = Address { fragment: None, ..base.clone() };
        self.after_base(c, true)
    }

    /// What follows the path and the query that were taken from the base.
    fn after_base(&mut self, c: Option<char>, shortens: bool) -> Step {
        match c {
            Some('?' | '#') => self.query_or_fragment(c),
            Some(_) => {
                self.url.query = None;
                if shortens {
                    self.url.shorten();
                } else {
                    self.url.path.clear();
                }
                self.stay(State::Path)
            }
            None => Ok(Next::Advance),
        }
    }

    fn relative_slash(&mut self, c: Option<char>) -> Step {
        if self.url.is_special() && matches!(c, Some('/' | '\\')) {
            return self.advance(State::SpecialAuthorityIgnoreSlashes);
        }
        if c == Some('/') {
            return self.authority_begins(Next::Advance);
        }
        let base = self.base.ok_or(Failure)?;
        *self.url = Address { path: String::new(), query: None, fragment: None, ..base.clone() };
        self.stay(State::Path)
    }

    fn authority_begins(&mut self, next: Next) -> Step {
        self.state = State::Authority;
        self.begun = self.at + usize::from(matches!(next, Next::Advance));
        Ok(next)
    }

    fn authority(&mut self, c: Option<char>) -> Step {
        if c == Some('@') {
            if std::mem::replace(&mut self.at_sign, true) {
                self.buffer.insert_str(0, "%40");
            }
            for c in self.buffer.chars() {
                if c == ':' && !self.password {
                    self.password = true;
                } else {
                    encode(c, in_userinfo, if self.password { &mut self.url.password } else { &mut self.url.username });
                }
            }
            self.buffer.clear();
            self.begun = self.at + 1;
            return Ok(Next::Advance);
        }
        if self.ends_authority(c) {
            if self.at_sign && self.buffer.is_empty() {
                return Err(Failure);
            }
            self.at = self.begun;
            self.buffer.clear();
            return self.stay(State::Host);
        }
        self.buffer.extend(c);
        Ok(Next::Advance)
    }

    fn host(&mut self, c: Option<char>) -> Step {
        if self.setter.is_some() && self.url.scheme == "file" {
            return self.stay(State::FileHost);
        }
        if c == Some(':') && !self.brackets {
            if self.buffer.is_empty() || self.setter == Some(State::Hostname) {
                return Err(Failure);
            }
            self.take_host()?;
            return self.advance(State::Port);
        }
        if self.ends_authority(c) {
            let bare = !self.url.has_credentials() && self.url.port.is_none();
            if self.buffer.is_empty() && (self.url.is_special() || (self.setter.is_some() && !bare)) {
                return Err(Failure);
            }
            self.take_host()?;
            return if self.setter.is_some() { Ok(Next::End) } else { self.stay(State::PathStart) };
        }
        match c {
            Some('[') => self.brackets = true,
            Some(']') => self.brackets = false,
            _ => {}
        }
        self.buffer.extend(c);
        Ok(Next::Advance)
    }

    fn take_host(&mut self) -> Result<(), Failure> {
        self.url.host = Some(host(&self.buffer, self.url.is_special()).ok_or(Failure)?);
        self.buffer.clear();
        Ok(())
    }

    fn port(&mut self, c: Option<char>) -> Step {
        if let Some(digit) = c.filter(char::is_ascii_digit) {
            self.buffer.push(digit);
            return Ok(Next::Advance);
        }
        if !self.ends_authority(c) && self.setter.is_none() {
            return Err(Failure);
        }
        if !self.buffer.is_empty() {
            let digits = self.buffer.trim_start_matches('0');
            let port = if digits.is_empty() { 0 } else { digits.parse::<u16>().map_err(|_| Failure)? };
            self.url.port = Some(port).filter(|port| special_port(&self.url.scheme) != Some(Some(*port)));
            self.buffer.clear();
        }
        if self.setter.is_some() { Ok(Next::End) } else { self.stay(State::PathStart) }
    }

    fn file(&mut self, c: Option<char>) -> Step {
        self.url.scheme = "file".to_owned();
        self.url.host = Some(String::new());
        if matches!(c, Some('/' | '\\')) {
            return self.advance(State::FileSlash);
        }
        let Some(base) = self.base.filter(|base| base.scheme == "file") else { return self.stay(State::Path) };
        *self.url = Address { fragment: None, ..base.clone() };
        let drive = self.drive_follows();
        self.after_base(c, !drive)
    }

    fn file_slash(&mut self, c: Option<char>) -> Step {
        if matches!(c, Some('/' | '\\')) {
            return self.advance(State::FileHost);
        }
        if let Some(base) = self.base.filter(|base| base.scheme == "file") {
            self.url.host.clone_from(&base.host);
            let first = base.path.split('/').nth(1).unwrap_or_default();
            if !self.drive_follows() && is_normalized_drive(first) {
                self.url.path = format!("/{first}");
            }
        }
        self.stay(State::Path)
    }

    fn file_host(&mut self, c: Option<char>) -> Step {
        if !matches!(c, None | Some('/' | '\\' | '?' | '#')) {
            self.buffer.extend(c);
            return Ok(Next::Advance);
        }
        if self.setter.is_none() && is_drive(&self.buffer) {
            // The buffer is the first segment of the path.
            return self.stay(State::Path);
        }
        let host = if self.buffer.is_empty() { String::new() } else { host(&self.buffer, true).ok_or(Failure)? };
        self.url.host = Some(if host == "localhost" { String::new() } else { host });
        self.buffer.clear();
        if self.setter.is_some() { Ok(Next::End) } else { self.stay(State::PathStart) }
    }

    fn path_start(&mut self, c: Option<char>) -> Step {
        if self.url.is_special() {
            return if matches!(c, Some('/' | '\\')) { self.advance(State::Path) } else { self.stay(State::Path) };
        }
        match c {
            Some('?' | '#') if self.setter.is_none() => self.query_or_fragment(c),
            Some('/') => self.advance(State::Path),
            Some(_) => self.stay(State::Path),
            None => {
                if self.setter.is_some() && self.url.host.is_none() {
                    self.url.path.push('/');
                }
                Ok(Next::Advance)
            }
        }
    }

    fn path(&mut self, c: Option<char>) -> Step {
        let slash = self.is_slash(c);
        let sign = matches!(c, Some('?' | '#')) && self.setter.is_none();
        if let Some(c) = c.filter(|_| !slash && !sign) {
            encode(c, in_path, &mut self.buffer);
            return Ok(Next::Advance);
        }
        let segment = std::mem::take(&mut self.buffer);
        match dots(&segment) {
            Some(count) => {
                if count == 2 {
                    self.url.shorten();
                }
                if !slash {
                    self.url.path.push('/');
                }
            }
            None => {
                let drive = self.url.scheme == "file" && self.url.path.is_empty() && is_drive(&segment);
                self.url.path.push('/');
                self.url.path.push_str(if drive { &segment[..1] } else { &segment });
                if drive {
                    self.url.path.push(':');
                }
            }
        }
        if sign { self.query_or_fragment(c) } else { Ok(Next::Advance) }
    }

    fn opaque_path(&mut self, c: Option<char>) -> Step {
        match c {
            Some('?' | '#') => return self.query_or_fragment(c),
            Some(' ') if self.follows('?') || self.follows('#') => self.url.path.push_str("%20"),
            Some(c) => encode(c, in_control, &mut self.url.path),
            None => {}
        }
        Ok(Next::Advance)
    }

    fn query(&mut self, c: Option<char>) -> Step {
        if c == Some('#') && self.setter.is_none() {
            return self.query_or_fragment(c);
        }
        let set = if self.url.is_special() { in_special_query } else { in_query };
        if let (Some(c), Some(query)) = (c, &mut self.url.query) {
            encode(c, set, query);
        }
        Ok(Next::Advance)
    }

    fn query_or_fragment(&mut self, sign: Option<char>) -> Step {
        if sign == Some('?') {
            self.url.query = Some(String::new());
            return self.advance(State::Query);
        }
        self.url.fragment = Some(String::new());
        self.advance(State::Fragment)
    }

    fn advance(&mut self, state: State) -> Step {
        self.state = state;
        Ok(Next::Advance)
    }

    fn stay(&mut self, state: State) -> Step {
        self.state = state;
        Ok(Next::Stay)
    }

    /// Past the code point that follows, too.
    fn skip(&mut self, state: State) -> Step {
        self.at += 1;
        self.advance(state)
    }

    fn follows(&self, c: char) -> bool {
        self.input.get(self.at + 1) == Some(&c)
    }

    fn is_slash(&self, c: Option<char>) -> bool {
        c == Some('/') || (c == Some('\\') && self.url.is_special())
    }

    fn ends_authority(&self, c: Option<char>) -> bool {
        matches!(c, None | Some('?' | '#')) || self.is_slash(c)
    }

    /// Whether the rest starts with the letter of a drive.
    fn drive_follows(&self) -> bool {
        match &self.input[self.at.min(self.input.len())..] {
            [letter, ':' | '|', rest @ ..] if letter.is_ascii_alphabetic() => {
                matches!(rest.first(), None | Some('/' | '\\' | '?' | '#'))
            }
            _ => false,
        }
    }
}

/// A username or a password as an address has it.
pub(super) fn userinfo(text: &str) -> String {
    let mut encoded = String::new();
    text.chars().for_each(|c| encode(c, in_userinfo, &mut encoded));
    encoded
}

/// One for a single-dot segment, two for a double-dot one.
fn dots(segment: &str) -> Option<usize> {
    // The longest is "%2e%2e".
    let plain = (segment.len() <= 6).then(|| segment.to_ascii_lowercase().replace("%2e", "."))?;
    matches!(plain.as_str(), "." | "..").then_some(plain.len())
}

fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// "UTF-8 percent-encode", with one of the sets below.
fn encode(c: char, set: fn(char) -> bool, text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if !set(c) {
        text.push(c);
        return;
    }
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        text.push('%');
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

fn in_control(c: char) -> bool {
    !matches!(c, ' '..='~')
}

fn in_fragment(c: char) -> bool {
    in_control(c) || matches!(c, ' ' | '"' | '<' | '>' | '`')
}

fn in_query(c: char) -> bool {
    in_control(c) || matches!(c, ' ' | '"' | '#' | '<' | '>')
}

fn in_special_query(c: char) -> bool {
    in_query(c) || c == '\''
}

fn in_path(c: char) -> bool {
    in_query(c) || matches!(c, '?' | '^' | '`' | '{' | '}')
}

fn in_userinfo(c: char) -> bool {
    in_path(c) || matches!(c, '/' | ':' | ';' | '=' | '@' | '[' | '\\' | ']' | '|')
}
