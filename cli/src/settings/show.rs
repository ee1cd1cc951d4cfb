//! `config`: the settings as they would be used, as a TOML file that says where each comes from; and as a table for the
//! documents.

use std::fmt::Write as _;

use codemode_sandbox::machine_memory;

use super::table::Settings;
use crate::{
    access::Access,
    exit::{Failure, Status},
    terminal::deliver,
};

/// Prints the settings.
///
/// # Errors
/// `serve` could not use them, whatever is in the files that they name; or they could not be written.
pub(crate) fn print(settings: &Settings) -> Result<Status, Failure> {
    settings.limits(machine_memory()).map_err(Failure::usage)?;
    Access::check(settings).map_err(Failure::usage)?;
    deliver(file(settings).trim_end()).map_err(Failure::infrastructure)?;
    Ok(Status::Success)
}

/// The settings as a TOML file.
fn file(settings: &Settings) -> String {
    let lines: Vec<_> = settings
        .shown()
        .into_iter()
        .map(|(key, value, origin)| match value {
            Some(value) => (format!("{key} = {value}"), origin),
            None => (format!("# {key} is not set"), origin),
        })
        .collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (line, origin) in lines {
        // A line end in a path would end the comment.
        let origin: String = origin.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line:width$}  # {origin}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    use super::{
        super::{
            sources::{Flags, Sources},
            table::rows,
        },
        *,
    };

    #[test]
    fn what_is_printed_is_a_file_of_the_same_settings() {
        let printed = file(&Settings::read(&mut Sources::default()).unwrap());
        let table: toml::Table = printed.parse().unwrap();
        assert!(table.keys().all(|key| rows().iter().any(|row| row.key == *key)));
        let saved = tempfile::NamedTempFile::new().unwrap();
        fs::write(saved.path(), &printed).unwrap();
        let path = saved.path().to_str().unwrap();
        let again = Settings::load(Flags::default(), [("CODEMODED_CONFIG".into(), path.into())]).unwrap();
        let values = |text: &str| -> Vec<_> {
            text.lines().map(|line| line.split("  # ").next().unwrap().trim_end().to_owned()).collect()
        };
        assert_eq!(values(&file(&again)), values(&printed));
        assert!(file(&again).contains(path));
    }

    /// The table of the documents; the test writes it anew when `UPDATE_DOCUMENTS` is set.
    #[test]
    fn the_documents_list_every_setting() {
        let mut table = String::from("| flag and key | in the environment | default | what |\n|---|---|---|---|\n");
        for row in rows() {
            let (flag, variable, default, help) = (row.flag(), row.variable(), &row.default, row.help());
            let default = if default.is_empty() { "none" } else { default };
            table += &format!("| `{flag}` | `{variable}` | {default} | {help} |\n");
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("CONFIGURATION.md");
        let document = fs::read_to_string(&path).unwrap();
        let (open, close) = ("<!-- settings -->\n", "<!-- end of settings -->");
        let (before, rest) = document.split_once(open).expect("the document has a place for the table");
        let (found, after) = rest.split_once(close).expect("the place ends");
        if env::var_os("UPDATE_DOCUMENTS").is_some() {
            fs::write(&path, [before, open, &table, close, after].concat()).unwrap();
        } else {
            assert_eq!(
                found, table,
                "`UPDATE_DOCUMENTS=1 cargo test -p codemode-cli the_documents_list` writes it anew"
            );
        }
    }
}
