//! The tables of names and patterns by locale, as text inside the binary: reading them takes no memory of a program's.

use std::sync::OnceLock;

/// The tables of one locale, its own first and then those of its parents.
#[derive(Clone)]
pub(super) struct Locale {
    tables: Vec<&'static str>,
}

impl Locale {
    /// The locale of exactly this name, if it has a table.
    pub(super) fn find(name: &str) -> Option<Self> {
        let (mut parent, first) = heading(name)?;
        let mut tables = vec![first];
        while !parent.is_empty() {
            let Some((next, table)) = heading(parent) else { break };
            tables.push(table);
            parent = next;
        }
        Some(Self { tables })
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'static str> {
        let value = self.tables.iter().find_map(|table| value(table, key))?;
        (value != NOTHING).then_some(value)
    }

    /// The value of a key, or no text.
    pub(super) fn text(&self, key: &str) -> &'static str {
        self.get(key).unwrap_or_default()
    }

    /// The form of a message for a plural category; one that is not written is that of `other`.
    pub(super) fn form(&self, key: &str, category: &str) -> Option<&'static str> {
        self.get(&format!("{key}.{category}")).or_else(|| self.get(&format!("{key}.other")))
    }

    /// All lines whose key starts with `prefix`: of each key the line that counts, without the prefix.
    pub(super) fn starting_with(&self, prefix: &str) -> Vec<(&'static str, &'static str)> {
        let mut lines: Vec<(&str, &str)> = Vec::new();
        for table in &self.tables {
            let start = line_starts(table, |line| line < prefix);
            for line in table[start..].lines().take_while(|line| line.starts_with(prefix)) {
                let Some((key, value)) = line[prefix.len()..].split_once('\t') else { continue };
                if lines.iter().all(|(known, _)| *known != key) {
                    lines.push((key, value));
                }
            }
        }
        lines.retain(|(_, value)| *value != NOTHING);
        lines.sort_unstable();
        lines
    }
}

/// What belongs to no locale: digits of numbering systems, habits of regions, zones.
pub(super) fn supplemental(key: &str) -> Option<&'static str> {
    value(SUPPLEMENTAL, key)
}

/// The name of a locale's parent, and the locale's own table.
fn heading(name: &str) -> Option<(&'static str, &'static str)> {
    let language = name.split('-').next()?;
    let at = LANGUAGES.iter().position(|(known, _)| *known == language)?;
    let headings = HEADINGS[at].get_or_init(|| headings(LANGUAGES[at].1));
    headings.iter().find(|heading| heading.name == name).map(|heading| (heading.parent, heading.table))
}

/// Where the table of one locale is in the file of its language.
struct Heading {
    name: &'static str,
    parent: &'static str,
    table: &'static str,
}

/// Those of each language, from when one is asked for first.
static HEADINGS: [OnceLock<Vec<Heading>>; LANGUAGES.len()] = [const { OnceLock::new() }; LANGUAGES.len()];

fn headings(file: &'static str) -> Vec<Heading> {
    let mut headings = Vec::new();
    let mut rest = file;
    while let Some((line, body)) = rest.strip_prefix('@').and_then(|rest| rest.split_once('\n')) {
        // A locale that is just like its parent has an empty table.
        let end = if body.starts_with('@') { 0 } else { body.find("\n@").map_or(body.len(), |at| at + 1) };
        let (name, parent) = line.split_once(' ').unwrap_or((line, ""));
        headings.push(Heading { name, parent, table: &body[..end] });
        rest = &body[end..];
    }
    headings
}

/// Halves sorted lines until the key's own is found.
fn value(table: &'static str, key: &str) -> Option<&'static str> {
    let start = line_starts(table, |line| line.split('\t').next().unwrap_or_default() < key);
    let line = table[start..].lines().next()?;
    let (found, value) = line.split_once('\t')?;
    (found == key).then_some(value)
}

/// Where the first line starts that is not `before` what is looked for.
fn line_starts(table: &str, before: impl Fn(&str) -> bool) -> usize {
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start =
            table.as_bytes()[low..middle].iter().rposition(|byte| *byte == b'\n').map_or(low, |at| low + at + 1);
        let length = table.as_bytes()[start..].iter().position(|byte| *byte == b'\n').unwrap_or(table.len() - start);
        // A line starts and ends beside a line feed, which is a character of its own.
        if before(&table[start..start + length]) {
            low = (start + length + 1).min(table.len());
        } else {
            high = start;
        }
    }
    low
}

macro_rules! languages {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("data/", $name, ".txt")))),*]
    };
}

const LANGUAGES: &[(&str, &str)] = languages!["ar" "cs" "da" "de" "el" "en" "es" "fi" "fr" "he" "hi" "hu" "id" "it" "ja" "ko" "nb" "nl" "no" "pl" "pt" "ro" "ru" "sv" "tr" "uk" "vi" "zh"];

const SUPPLEMENTAL: &str = include_str!("data/supplemental.txt");

/// Takes a parent's line away.
const NOTHING: &str = "∅";
