//! The kinds of values that settings have: how each is written, read and shown.

use std::{fmt::Debug, net::SocketAddr, path::PathBuf};

use codemode_sandbox::Level;
use tracing_subscriber::{EnvFilter, filter::LevelFilter};
use url::Url;

use super::units::{parse_size, parse_time, show_size, show_time};

/// How often and in which form a setting is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One value.
    One,
    /// Any number of values: a repeated flag, a TOML array, or one text with commas.
    List,
    /// `true` or `false`; the flag alone means true.
    Switch,
}

/// A kind of value.
pub(crate) trait Kind {
    /// What it is read into.
    type Value: Clone + Debug;

    /// What stands for the value in the help.
    fn value_name(&self) -> &'static str;

    /// How it is given.
    fn form(&self) -> Form {
        Form::One
    }

    /// Reads a value.
    ///
    /// # Errors
    /// The rule that the text breaks, such as `must be a whole number, from 1 to 9`.
    fn read(&self, text: &str) -> Result<Self::Value, String>;

    /// The value as TOML; none when there is none.
    fn show(&self, value: &Self::Value) -> Option<String>;
}

/// A whole number.
pub(crate) struct Count {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Kind for Count {
    type Value = u64;

    fn value_name(&self) -> &'static str {
        "N"
    }

    fn read(&self, text: &str) -> Result<u64, String> {
        let Self { least, most } = *self;
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("must be a whole number, from {least} to {most}"))
    }

    fn show(&self, value: &u64) -> Option<String> {
        Some(value.to_string())
    }
}

/// What may be absent.
pub(crate) struct Optional<K>(pub(crate) K);

impl<K: Kind> Kind for Optional<K> {
    type Value = Option<K::Value>;

    fn value_name(&self) -> &'static str {
        self.0.value_name()
    }

    fn form(&self) -> Form {
        self.0.form()
    }

    fn read(&self, text: &str) -> Result<Self::Value, String> {
        self.0.read(text).map(Some)
    }

    fn show(&self, value: &Self::Value) -> Option<String> {
        value.as_ref().and_then(|value| self.0.show(value))
    }
}

/// A duration, in milliseconds.
pub(crate) struct Time {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Kind for Time {
    type Value = u64;

    fn value_name(&self) -> &'static str {
        "TIME"
    }

    fn read(&self, text: &str) -> Result<u64, String> {
        let Self { least, most } = *self;
        let time = parse_time(text).filter(|time| (least..=most).contains(time));
        time.ok_or_else(|| {
            let most = if most == u64::MAX { String::new() } else { format!(", at most {}", show_time(most)) };
            format!("must be a time such as 250ms, 5s or 2m, at least {}{most}", show_time(least))
        })
    }

    fn show(&self, value: &u64) -> Option<String> {
        Some(quoted(&show_time(*value)))
    }
}

/// A size, in bytes.
pub(crate) struct Size {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Kind for Size {
    type Value = u64;

    fn value_name(&self) -> &'static str {
        "SIZE"
    }

    fn read(&self, text: &str) -> Result<u64, String> {
        let Self { least, most } = *self;
        let size = parse_size(text).filter(|size| (least..=most).contains(size));
        size.ok_or_else(|| {
            let most = if most == u64::MAX { String::new() } else { format!(", at most {}", show_size(most)) };
            format!("must be a size such as 64KiB, 128MiB or 1GiB, at least {}{most}", show_size(least))
        })
    }

    fn show(&self, value: &u64) -> Option<String> {
        Some(quoted(&show_size(*value)))
    }
}

/// An address and a port.
pub(crate) struct Address;

impl Kind for Address {
    type Value = SocketAddr;

    fn value_name(&self) -> &'static str {
        "ADDR"
    }

    fn read(&self, text: &str) -> Result<SocketAddr, String> {
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let rule = || "must be an address and a port, such as 127.0.0.1:8787 or [::1]:0".to_owned();
        numeric.as_deref().unwrap_or(text).parse().map_err(|_| rule())
    }

    fn show(&self, value: &SocketAddr) -> Option<String> {
        Some(quoted(&value.to_string()))
    }
}

/// A level of confinement.
pub(crate) struct Confinement;

impl Kind for Confinement {
    type Value = Level;

    fn value_name(&self) -> &'static str {
        "LEVEL"
    }

    fn read(&self, text: &str) -> Result<Level, String> {
        Level::ALL.iter().find(|level| level.as_str() == text).copied().ok_or_else(|| {
            let names: Vec<_> = Level::ALL.iter().map(|level| level.as_str()).collect();
            format!("must be one of {}", names.join(", "))
        })
    }

    fn show(&self, value: &Level) -> Option<String> {
        Some(quoted(value.as_str()))
    }
}

/// What is logged. A word alone is a level: as a target, which it could be too, it would say nothing and hide all.
pub(crate) struct LogFilter;

impl Kind for LogFilter {
    type Value = String;

    fn value_name(&self) -> &'static str {
        "FILTER"
    }

    fn read(&self, text: &str) -> Result<String, String> {
        let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
        let plain = text.split(',').map(str::trim).filter(|part| !part.contains(['=', '[']));
        if let Some(word) = plain.clone().find(|word| !is_level(word)) {
            return Err(format!(
                "{word:?} is no level; it must be off, error, warn, info, debug, trace, or a filter such as \
                 codemode_daemon=debug"
            ));
        }
        EnvFilter::try_new(text).map_err(|error| error.to_string())?;
        Ok(text.to_owned())
    }

    fn show(&self, value: &String) -> Option<String> {
        Some(quoted(value))
    }
}

/// The name of a node.
pub(crate) struct NodeName;

impl Kind for NodeName {
    type Value = String;

    fn value_name(&self) -> &'static str {
        "NAME"
    }

    fn read(&self, text: &str) -> Result<String, String> {
        let fits = (1..=63).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
            return Ok(text.to_owned());
        }
        // An execution's id is the node's name, a dot, and more.
        Err("must be 1 to 63 letters, digits, - and _".into())
    }

    fn show(&self, value: &String) -> Option<String> {
        Some(quoted(value))
    }
}

/// The path of a file.
pub(crate) struct File;

impl Kind for File {
    type Value = PathBuf;

    fn value_name(&self) -> &'static str {
        "FILE"
    }

    fn read(&self, text: &str) -> Result<PathBuf, String> {
        if text.is_empty() { Err("must be the path of a file".into()) } else { Ok(text.into()) }
    }

    fn show(&self, value: &PathBuf) -> Option<String> {
        Some(quoted(&value.to_string_lossy()))
    }
}

/// A URL of a server that speaks HTTP.
pub(crate) struct HttpUrl;

impl Kind for HttpUrl {
    type Value = String;

    fn value_name(&self) -> &'static str {
        "URL"
    }

    fn read(&self, text: &str) -> Result<String, String> {
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(text.to_owned()),
            _ => Err("must be a URL that begins with http:// or https://".into()),
        }
    }

    fn show(&self, value: &String) -> Option<String> {
        Some(quoted(value))
    }
}

/// One of several words.
#[allow(dead_code, reason = "no setting is one at present")]
pub(crate) struct Choice(pub(crate) &'static [&'static str]);

impl Kind for Choice {
    type Value = String;

    fn value_name(&self) -> &'static str {
        "WORD"
    }

    fn read(&self, text: &str) -> Result<String, String> {
        if self.0.contains(&text) { Ok(text.to_owned()) } else { Err(format!("must be one of {}", self.0.join(", "))) }
    }

    fn show(&self, value: &String) -> Option<String> {
        Some(quoted(value))
    }
}

/// On or off.
pub(crate) struct Switch;

impl Kind for Switch {
    type Value = bool;

    fn value_name(&self) -> &'static str {
        "BOOL"
    }

    fn form(&self) -> Form {
        Form::Switch
    }

    fn read(&self, text: &str) -> Result<bool, String> {
        text.parse().map_err(|_| "must be true or false".into())
    }

    fn show(&self, value: &bool) -> Option<String> {
        Some(value.to_string())
    }
}

/// Any number of texts, each of which `check` takes apart.
pub(crate) struct List<T> {
    pub(crate) value_name: &'static str,
    pub(crate) read: fn(&str) -> Result<T, String>,
}

impl<T: Clone + Debug + ToString> Kind for List<T> {
    type Value = Vec<T>;

    fn value_name(&self) -> &'static str {
        self.value_name
    }

    fn form(&self) -> Form {
        Form::List
    }

    fn read(&self, text: &str) -> Result<Vec<T>, String> {
        text.split(',').map(str::trim).filter(|element| !element.is_empty()).map(self.read).collect()
    }

    fn show(&self, value: &Vec<T>) -> Option<String> {
        let elements: Vec<_> = value.iter().map(|element| quoted(&element.to_string())).collect();
        Some(format!("[{}]", elements.join(", ")))
    }
}

/// A text as TOML, which takes JSON's form but for one character.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_levels_and_targets_with_levels() {
        for good in ["off", "INFO", "debug", "codemode_daemon=debug", "warn,codemode_daemon=trace"] {
            assert_eq!(LogFilter.read(good).as_deref(), Ok(good));
        }
        for bad in ["nonsense", "", "info,loud", "=[=", "a=loud"] {
            assert!(LogFilter.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_has_a_port() {
        for good in ["127.0.0.1:0", "[::1]:8787", "localhost:0", "0.0.0.0:8787"] {
            assert!(Address.read(good).is_ok(), "{good}");
        }
        for bad in ["8787", "localhost", "example.com:80", ""] {
            assert!(Address.read(bad).unwrap_err().contains("must be an address and a port"), "{bad}");
        }
    }

    #[test]
    fn a_nodes_name_can_begin_an_id() {
        for good in ["local", "node-1", "a_b", "7"] {
            assert_eq!(NodeName.read(good).as_deref(), Ok(good));
        }
        for bad in ["", "a.b", "a b", "ä", &"x".repeat(64)] {
            assert!(NodeName.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_list_is_read_as_it_is_shown() {
        let list = List { value_name: "X", read: |text| Ok(text.to_owned()) };
        assert_eq!(list.read("a, b,,c,"), Ok(vec!["a".to_owned(), "b".into(), "c".into()]));
        assert_eq!(list.show(&vec!["a".to_owned(), "\"".into()]).as_deref(), Some(r#"["a", "\""]"#));
        assert_eq!(list.read(""), Ok(Vec::new()));
    }
}
