//! The differences of one corpus that are known, and the judgement by them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs, io,
    path::Path,
};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::case::Because;

/// One case and what came of it on both sides.
pub(crate) struct Compared<'a> {
    /// The body of an async function.
    pub(crate) source: &'a str,
    /// Our outcome as a line.
    pub(crate) ours: String,
    /// The reference's.
    pub(crate) reference: String,
}

/// The known differences of one API, in groups with one reason. A difference belongs to the first entry that it fits.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listed {
    group: Vec<Group>,
}

/// Differences that have the same reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    because: Because,
    /// Why they are there; told in the file.
    #[serde(rename = "reason")]
    _reason: String,
    /// Replacements, `[ours, the reference's]`. They explain a difference when ours, with all of them done everywhere, is
    /// the reference's.
    #[serde(default)]
    replaced: Vec<(String, String)>,
    /// Texts that are left out of both outcomes before they are compared, behind the replacements.
    #[serde(default)]
    ignored: Vec<String>,
    /// Two patterns, `[ours, the reference's]`, that both outcomes fit; `*` stands for any text.
    #[serde(default)]
    outcomes: Vec<(String, String)>,
    /// Texts of which all stand in the case's source, ` && ` between them.
    #[serde(default)]
    cases: Vec<String>,
}

/// What came of the comparison.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Judged {
    /// Cases with the same outcome.
    pub(crate) same: usize,
    /// Cases whose difference is listed, by the class of the reason.
    pub(crate) listed: BTreeMap<Because, usize>,
    /// What is not as it is listed.
    pub(crate) faults: Faults,
}

/// What a list does not say rightly.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// Differences that are not listed: source, ours, the reference's.
    unlisted: Vec<(String, String, String)>,
    /// Entries that no difference fits.
    stale: Vec<String>,
}

impl Listed {
    /// The list of an API; an empty one where there is no file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn of_api(api: &str) -> Result<Self> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("corpora/{api}.toml"));
        match fs::read_to_string(&file) {
            Ok(text) => toml::from_str(&text).with_context(|| file.display().to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| file.display().to_string()),
        }
    }

    /// Compares every case, and the list with what differs.
    pub(crate) fn judge(&self, cases: &[Compared<'_>]) -> Judged {
        let mut judged = Judged::default();
        let mut used = BTreeSet::new();
        for case in cases {
            if case.ours == case.reference {
                judged.same += 1;
                continue;
            }
            let mut fitting =
                self.group.iter().enumerate().filter_map(|(at, group)| Some((at, group, group.fits(case)?)));
            match fitting.next() {
                Some((at, group, entries)) => {
                    used.extend(entries.into_iter().map(|entry| (at, entry)));
                    *judged.listed.entry(group.because).or_default() += 1;
                }
                None => {
                    let difference = (case.source.to_owned(), case.ours.clone(), case.reference.clone());
                    judged.faults.unlisted.push(difference);
                }
            }
        }
        for (at, group) in self.group.iter().enumerate() {
            let stale = group.entries().enumerate().filter(|(entry, _)| !used.contains(&(at, *entry)));
            judged.faults.stale.extend(stale.map(|(_, text)| text.to_owned()));
        }
        judged
    }
}

impl Group {
    /// The entries that explain the difference of a case, by their places in [`Group::entries`]; none if there are no such.
    fn fits(&self, case: &Compared<'_>) -> Option<Vec<usize>> {
        let (mut left, mut right) = (case.ours.clone(), case.reference.clone());
        let mut entries = Vec::new();
        let mut ahead = 0;
        for (at, (ours, reference)) in self.replaced.iter().enumerate() {
            if left.contains(ours.as_str()) {
                left = left.replace(ours.as_str(), reference);
                entries.push(at);
            }
        }
        ahead += self.replaced.len();
        for (at, text) in self.ignored.iter().enumerate() {
            if left.contains(text.as_str()) || right.contains(text.as_str()) {
                (left, right) = (left.replace(text.as_str(), ""), right.replace(text.as_str(), ""));
                entries.push(ahead + at);
            }
        }
        if !entries.is_empty() && left == right {
            return Some(entries);
        }
        ahead += self.ignored.len();
        let outcome = |(ours, theirs): &(String, String)| fits(ours, &case.ours) && fits(theirs, &case.reference);
        if let Some(at) = self.outcomes.iter().position(outcome) {
            return Some(vec![ahead + at]);
        }
        ahead += self.outcomes.len();
        let stands = |texts: &String| texts.split(" && ").all(|text| case.source.contains(text));
        self.cases.iter().position(stands).map(|at| vec![ahead + at])
    }

    /// All entries, by what stands for ours in them.
    fn entries(&self) -> impl Iterator<Item = &str> {
        let replaced = self.replaced.iter().map(|(ours, _)| ours).chain(&self.ignored);
        let others = self.outcomes.iter().map(|(ours, _)| ours).chain(&self.cases);
        replaced.chain(others).map(String::as_str)
    }
}

/// Whether the whole text fits a pattern, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.split_once(part) {
            Some((_, behind)) => text = behind,
            None => return false,
        }
    }
    text.ends_with(last)
}

impl Faults {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.unlisted.is_empty() && self.stale.is_empty()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (source, ours, reference) in &self.unlisted {
            writeln!(f, "not listed: {source}\n  ours      {ours}\n  reference {reference}")?;
        }
        self.stale.iter().try_for_each(|entry| writeln!(f, "listed and not so: {entry}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(list: &str, cases: &[(&str, &str, &str)]) -> Judged {
        let cases = cases.iter().map(|(source, ours, reference)| Compared {
            source,
            ours: (*ours).into(),
            reference: (*reference).into(),
        });
        let list: Listed = toml::from_str(list).expect("a list");
        list.judge(&cases.collect::<Vec<_>>())
    }

    const LIST: &str = r#"
        [[group]]
        because = "engine"
        reason = "these texts"
        replaced = [['null', 'undefined'], ['no', 'yes']]

        [[group]]
        because = "reference-fails"
        reason = "where these are"
        ignored = ['"pull", ']

        [[group]]
        because = "contract"
        reason = "these messages, and these programs"
        outcomes = [['["E", "*"]', '["E", *]']]
        cases = ['a( && )b']
    "#;

    #[test]
    fn a_difference_is_listed_by_texts_of_outcomes_by_both_as_a_whole_or_by_the_program() {
        let cases = [
            ("same", "1", "1"),
            ("one text", "[null, null]", "[undefined, undefined]"),
            ("both texts", "[null, no]", "[undefined, yes]"),
            ("another order", r#"["pull", 1, 2]"#, r#"[1, "pull", 2]"#),
            ("a message", r#"["E", "ours"]"#, r#"["E", undefined]"#),
            ("a(x)b", "3", "4"),
        ];
        let judged = judged(LIST, &cases);
        let classes = [Because::ReferenceFails, Because::Engine, Because::Contract].map(|class| judged.listed[&class]);
        assert_eq!((judged.same, classes), (1, [1, 2, 2]));
        assert!(judged.faults.is_empty(), "{}", judged.faults);
    }

    #[test]
    fn a_difference_that_is_not_listed_and_an_entry_that_none_fits_are_faults() {
        let cases = [("half", "[null, 1]", "[undefined, 2]"), ("a(x)c", "3", "4"), ("a(x)b", "5", "5")];
        let Faults { unlisted, stale } = judged(LIST, &cases).faults;
        let unlisted: Vec<_> = unlisted.iter().map(|(source, ..)| source.as_str()).collect();
        assert_eq!(unlisted, ["half", "a(x)c"]);
        assert_eq!(stale, ["null", "no", "\"pull\", ", r#"["E", "*"]"#, "a( && )b"]);
    }

    #[test]
    fn entries_with_the_same_text_of_ours_are_each_looked_for() {
        let list = r#"
            [[group]]
            because = "engine"
            reason = "the second is stale"
            outcomes = [['1', '2'], ['1', '3']]
        "#;
        assert_eq!(judged(list, &[("a", "1", "2")]).faults.stale, ["1"]);
        assert!(judged(list, &[("a", "1", "2"), ("b", "1", "3")]).faults.is_empty());
    }

    #[test]
    fn a_pattern_fits_the_whole_text() {
        for (pattern, text, expected) in [
            ("a*c", "abc", true),
            ("a*c", "abcd", false),
            ("a*c", "ac", true),
            ("a*a", "a", false),
            ("*b*", "abc", true),
            ("a*b*b", "ab", false),
            ("abc", "abc", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn every_list_can_be_read_and_is_of_a_corpus() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut lists = 0;
        for file in fs::read_dir(folder.join("corpora")).expect("the lists") {
            let file = file.expect("a file").file_name().into_string().expect("a name");
            let Some(api) = file.strip_suffix(".toml") else { continue };
            let corpora =
                ["../sandbox/tests/web/corpus", "corpora"].map(|place| folder.join(place).join(format!("{api}.mjs")));
            assert!(corpora.iter().any(|corpus| corpus.exists()), "{file} lists differences of no corpus");
            Listed::of_api(api).expect("a list");
            lists += 1;
        }
        assert!(lists > 0, "there is no list");
    }
}
