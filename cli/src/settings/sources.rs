//! Where settings are given: flags, the environment, and a TOML file, the earlier before the later.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction, ArgMatches, Command, error::ErrorKind};

use super::{
    kinds::{Form, Kind},
    table::{PREFIX, Row, rows},
};
use crate::{files::read_small, run::TOKEN};

/// A value and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Set<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This flag.
    Flag(String),
    /// This variable of the environment.
    Environment(String),
    /// This file.
    File(PathBuf),
    /// Nobody gave it.
    Default,
    /// Nobody gave it, and the setting of this key, which somebody did give, leaves no room for the default.
    Lowered(&'static str),
}

impl Origin {
    /// Whether somebody wants it so.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Default | Self::Lowered(_))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Environment(name) => f.write_str(name),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
            Self::Lowered(key) => write!(f, "default, lowered to {key}"),
        }
    }
}

/// The settings that are given as flags, checked one by one, and the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    file: Option<PathBuf>,
    given: BTreeMap<&'static str, String>,
}

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        let file = Arg::new(CONFIG)
            .long(CONFIG)
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help(format!("TOML file of settings, whose keys are the names of flags [env: {PREFIX}CONFIG]"));
        command.arg(file).args(rows().iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.file = matches.get_one::<PathBuf>(CONFIG).cloned();
        for row in rows() {
            let Some(values) = matches
                .try_get_many::<String>(row.key)
                .map_err(|error| clap::Error::raw(ErrorKind::InvalidValue, format!("{}: {error}\n", row.flag())))?
            else {
                continue;
            };
            self.given.insert(row.key, values.map(String::as_str).collect::<Vec<_>>().join(","));
        }
        Ok(())
    }
}

fn argument(row: &Row) -> Arg {
    let check = row.check;
    let argument = Arg::new(row.key)
        .long(row.key)
        .value_name(row.value_name)
        .help(format!("{} [default: {}]", row.help(), row.default))
        .help_heading(row.heading)
        .allow_negative_numbers(true)
        .value_parser(move |text: &str| check(text).map(|()| text.to_owned()));
    match row.form {
        Form::One => argument,
        Form::List => argument.action(ArgAction::Append),
        Form::Switch => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
    }
}

/// Values that are given and not read yet, by key.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    given: BTreeMap<&'static str, (String, Origin)>,
}

impl Sources {
    /// Gathers what is given; of several values for one key the first place in the order flag, environment, file wins.
    ///
    /// # Errors
    /// A name that is no setting, or a file that cannot be read; the text names the place, and the name that may have
    /// been meant.
    pub(super) fn gather(
        flags: Flags,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, String> {
        let rows = rows();
        let mut sources = Self::default();
        let mut file = flags.file;
        for (key, text) in flags.given {
            sources.given.insert(key, (text, Origin::Flag(format!("--{key}"))));
        }
        for (name, text) in environment {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
            if name == format!("{PREFIX}CONFIG") {
                file = file.or_else(|| (!text.is_empty()).then(|| PathBuf::from(text)));
                continue;
            }
            if OTHER_VARIABLES.contains(&name) || is_service_link(name, &text) {
                continue;
            }
            let Some(row) = rows.iter().find(|row| row.variable() == name) else {
                let names = rows.iter().map(Row::variable).chain(OTHER_VARIABLES.iter().map(|name| (*name).to_owned()));
                return Err(format!("the environment has {name}, which is no setting{}", suggestion(name, names)));
            };
            // An empty variable is how many tools say that there is none.
            if !text.is_empty() {
                let text = text.into_string().map_err(|_| format!("{name}: must be UTF-8 text"))?;
                sources.given.entry(row.key).or_insert_with(|| (text, Origin::Environment(name.to_owned())));
            }
        }
        if let Some(file) = file {
            sources.read_file(&file, &rows)?;
        }
        Ok(sources)
    }

    fn read_file(&mut self, path: &Path, rows: &[Row]) -> Result<(), String> {
        let place = path.display();
        let bytes = read_small(path).map_err(|error| format!("{place} could not be read: {error}"))?;
        let text = String::from_utf8(bytes).map_err(|error| format!("{place} is no UTF-8: {error}"))?;
        let table: toml::Table = text.parse().map_err(|error| format!("{place} is no TOML: {error}"))?;
        for (key, value) in table {
            let Some(row) = rows.iter().find(|row| row.key == key) else {
                let names = rows.iter().map(|row| row.key.to_owned());
                return Err(format!("{place} has {key:?}, which is no setting{}", suggestion(&key, names)));
            };
            let text = file_text(row, value).map_err(|rule| format!("{place}: {key} {rule}"))?;
            self.given.entry(row.key).or_insert_with(|| (text, Origin::File(path.to_owned())));
        }
        Ok(())
    }

    /// Reads the value of one key.
    ///
    /// # Errors
    /// Names the place of the value and the rule that it breaks.
    pub(super) fn take<K: Kind>(
        &mut self,
        key: &'static str,
        kind: &K,
        default: K::Value,
    ) -> Result<Set<K::Value>, String> {
        let Some((text, origin)) = self.given.remove(key) else {
            return Ok(Set { value: default, origin: Origin::Default });
        };
        match kind.read(&text) {
            Ok(value) => Ok(Set { value, origin }),
            Err(rule) => Err(match &origin {
                Origin::File(path) => format!("{}: {key} = {text:?}: {rule}", path.display()),
                other => format!("{other} {text:?}: {rule}"),
            }),
        }
    }
}

/// The text that a value of the file would have as a flag.
fn file_text(row: &Row, value: toml::Value) -> Result<String, String> {
    let of_one = |value: toml::Value| match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(switch) => Some(switch.to_string()),
        _ => None,
    };
    match (row.form, value) {
        (Form::List, toml::Value::Array(elements)) => {
            let elements: Option<Vec<_>> = elements.into_iter().map(of_one).collect();
            elements.map(|elements| elements.join(",")).ok_or_else(|| "must be an array of texts".into())
        }
        (Form::List, value) => of_one(value).ok_or_else(|| "must be an array of texts".into()),
        (Form::One | Form::Switch, value) => of_one(value).ok_or_else(|| "must be one text, number or boolean".into()),
    }
}

/// What may have been meant, as the end of a sentence.
fn suggestion(name: &str, names: impl Iterator<Item = String>) -> String {
    let same = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let meant = same(name);
    let near = names.map(|name| (strsim::jaro_winkler(&meant, &same(&name)), name));
    match near.max_by(|(one, _), (other, _)| one.total_cmp(other)) {
        Some((likeness, name)) if likeness > 0.85 => format!("; did you mean {name}?"),
        _ => "; `codemoded config` lists them all".into(),
    }
}

/// Whether a variable is one of those by which Docker and Kubernetes tell a container of services that are named alike:
/// `CODEMODED_SERVICE_HOST`, `CODEMODED_PORT_8787_TCP_ADDR` and their kin.
fn is_service_link(name: &str, text: &OsStr) -> bool {
    let is_address =
        text.to_str().is_some_and(|text| ["tcp://", "udp://", "sctp://"].iter().any(|one| text.starts_with(one)));
    let of_port = name.rsplit_once("_PORT_").is_some_and(|(_, rest)| {
        let mut parts = rest.split('_');
        parts.next().is_some_and(|port| port.parse::<u16>().is_ok())
            && parts.next().is_some_and(|protocol| ["TCP", "UDP", "SCTP"].contains(&protocol))
    });
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || of_port
        || (name.ends_with("_PORT") && is_address)
}

const CONFIG: &str = "config";

/// Variables of other commands.
const OTHER_VARIABLES: &[&str] = &[TOKEN, "CODEMODED_TOKEN_FILE", "CODEMODED_TLS_CA"];

#[cfg(test)]
mod tests {
    use std::io::Write;

    use clap::{Args, FromArgMatches};

    use super::{super::Settings, *};

    fn flags(arguments: &[&str]) -> Flags {
        let command = Flags::augment_args(Command::new("test").no_binary_name(true));
        Flags::from_arg_matches(&command.try_get_matches_from(arguments).unwrap()).unwrap()
    }

    fn environment(variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        variables.iter().map(|(name, text)| (name.into(), text.into())).collect()
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn settings(arguments: &[&str], variables: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::load(flags(arguments), environment(variables))
    }

    #[test]
    fn a_flag_goes_before_the_environment_before_the_file_before_the_default() {
        let file = file("queue = 1\nwarm = 1\nqueue-wait = \"7s\"\nnode = \"filed\"\n");
        let path = file.path().to_str().unwrap();
        let variables = [("CODEMODED_QUEUE", "2"), ("CODEMODED_WARM", "2"), ("CODEMODED_NODE", ""), ("PATH", "x")];
        let found = settings(&["--config", path, "--queue", "3"], &variables).unwrap();
        assert_eq!((found.queue.value, found.queue.origin.to_string()), (3, "--queue".into()));
        assert_eq!((found.warm.value, found.warm.origin.to_string()), (2, "CODEMODED_WARM".into()));
        assert_eq!((found.queue_wait.value, found.queue_wait.origin.to_string()), (7000, path.into()));
        assert_eq!(found.node.value, "filed", "an empty variable says nothing");
        assert_eq!((found.max_sessions.value, found.max_sessions.origin), (1024, Origin::Default));
        let by_variable = settings(&[], &[("CODEMODED_CONFIG", path)]).unwrap();
        assert_eq!(by_variable.queue.value, 1);
    }

    #[test]
    fn a_name_that_is_no_setting_is_an_error_that_says_what_was_meant() {
        let cases = [
            ("max-sesions = 1", "has \"max-sesions\", which is no setting; did you mean max-sessions?"),
            ("max_sessions = 1", "did you mean max-sessions?"),
            ("[bounds]\nqueue = 1", "has \"bounds\", which is no setting; `codemoded config` lists them all"),
        ];
        for (text, error) in cases {
            let file = file(text);
            let path = file.path().to_str().unwrap();
            let found = settings(&["--config", path], &[]).unwrap_err();
            assert!(found.starts_with(path) && found.ends_with(error), "{text}: {found}");
        }
        assert_eq!(
            settings(&[], &[("CODEMODED_MAX_SESSION", "1")]).unwrap_err(),
            "the environment has CODEMODED_MAX_SESSION, which is no setting; did you mean CODEMODED_MAX_SESSIONS?"
        );
    }

    #[test]
    fn what_a_platform_says_of_its_services_is_no_setting() {
        let links = [
            ("CODEMODED_SERVICE_HOST", "10.0.0.1"),
            ("CODEMODED_SERVICE_PORT", "8787"),
            ("CODEMODED_SERVICE_PORT_WS", "8787"),
            ("CODEMODED_PORT", "tcp://10.0.0.1:8787"),
            ("CODEMODED_PORT_8787_TCP", "tcp://10.0.0.1:8787"),
            ("CODEMODED_PORT_8787_TCP_PROTO", "tcp"),
            ("CODEMODED_CANARY_PORT_8787_TCP_ADDR", "10.0.0.1"),
        ];
        assert!(settings(&[], &links).is_ok());
        for typo in [("CODEMODED_PORT", "8787"), ("CODEMODED_PORT_X_TCP", "1")] {
            assert!(settings(&[], &[typo]).is_err(), "{typo:?}");
        }
    }

    #[test]
    fn a_bad_value_is_named_with_its_place_and_its_rule() {
        let error = settings(&[], &[("CODEMODED_QUEUE", "many")]).unwrap_err();
        assert_eq!(error, "CODEMODED_QUEUE \"many\": must be a whole number, from 0 to 1000000");
        for (text, rule) in [
            ("queue = -1", "queue = \"-1\": must be a whole number, from 0 to 1000000"),
            ("queue = 1.5", "queue must be one text, number or boolean"),
            ("queue-wait = \"soon\"", "queue-wait = \"soon\": must be a time such as 250ms, 5s or 2m, at least 1ms"),
            ("memory-max = \"64MB\"", "memory-max = \"64MB\": must be a size such as 64KiB, 128MiB or 1GiB"),
            ("queue = ", "is no TOML"),
        ] {
            let file = file(text);
            let found = settings(&["--config", file.path().to_str().unwrap()], &[]).unwrap_err();
            assert!(found.contains(rule), "{text}: {found}");
        }
        let error = settings(&["--config", "/no/such/file.toml"], &[]).unwrap_err();
        assert!(error.starts_with("/no/such/file.toml could not be read"), "{error}");
    }
}
