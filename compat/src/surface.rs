//! What programs find in their sandbox, ours and the reference's, compared member by member.
//!
//! The reference's inventory is recorded in `surface/reference.txt`, so that the comparison needs no reference; a live one
//! confirms the record. Every difference is listed in `surface/differences.toml` with its reason: one that is not listed
//! fails, and so does a listed one that is gone.

#![allow(clippy::print_stdout, reason = "the report of a command line tool")]

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use codemode_adapter::{CodemodeExecutor, ExecuteOptions};
use codemode_sandbox::{PoolExecutor, PoolOptions};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    case::{Because, Lent},
    outcome,
    reference::{Column, Reference},
};

/// Every member that a program finds, with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    members: BTreeMap<String, String>,
}

impl Surface {
    /// What programs find in a sandbox of ours; `zygote` is the program that makes it, this one if absent.
    ///
    /// # Errors
    /// The pool does not come up, or the inventory cannot be taken.
    pub async fn ours(zygote: Option<PathBuf>) -> Result<Self> {
        let pool = PoolExecutor::new(PoolOptions { zygote, ..PoolOptions::default() }).await?;
        let executor = CodemodeExecutor::new(pool);
        let outcome = outcome::ours(executor.execute(INVENTORY, [], ExecuteOptions::default()).await);
        executor.dispose().await;
        Self::of_outcome(&outcome).context("in our sandbox")
    }

    /// What programs find in the newest release of the reference.
    ///
    /// # Errors
    /// The reference does not come up, or the inventory cannot be taken.
    pub async fn live() -> Result<Self> {
        let lent = Lent::of_code(INVENTORY);
        let outcome = Reference::start(Column::NEWEST).await?.run(&lent).await?;
        Self::of_outcome(&outcome).context("in the reference")
    }

    /// What is recorded of the reference.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn recorded() -> Result<Self> {
        let record = include_str!("../surface/reference.txt");
        Self::of_lines(record.lines().filter(|line| !line.starts_with('#'))).context("surface/reference.txt")
    }

    fn of_outcome(outcome: &Value) -> Result<Self> {
        let lines = outcome["result"].as_array();
        let lines = lines.with_context(|| format!("the inventory ended with {outcome}"))?;
        Self::of_lines(lines.iter().filter_map(Value::as_str))
    }

    fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self> {
        let member = |line: &str| {
            let (path, kind) =
                line.rsplit_once(": ").with_context(|| format!("`{line}` is no member with its kind"))?;
            Ok((path.to_owned(), kind.to_owned()))
        };
        let members: BTreeMap<_, _> = lines.map(member).collect::<Result<_>>()?;
        ensure!(members.len() > 1000, "only {} members are there", members.len());
        Ok(Self { members })
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none, which no inventory says.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Where this differs from `reference`. What is missing on one side is told once, not again for its members.
    pub fn differences(&self, reference: &Self) -> Vec<Difference> {
        let paths =
            self.members.keys().chain(reference.members.keys().filter(|path| !self.members.contains_key(*path)));
        let mut differences: Vec<Difference> = paths
            .map(|path| Difference {
                path: path.clone(),
                ours: self.members.get(path).cloned(),
                reference: reference.members.get(path).cloned(),
            })
            .filter(|difference| difference.ours != difference.reference)
            .collect();
        differences.sort();
        let missing = |path: &str| self.members.contains_key(path) != reference.members.contains_key(path);
        differences.retain(|difference| !owners(&difference.path).any(missing));
        differences
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.members.iter().try_for_each(|(path, kind)| writeln!(f, "{path}: {kind}"))
    }
}

/// One member that is not the same on both sides; `None` where it is not there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// Where it is found.
    pub path: String,
    /// Its kind here.
    pub ours: Option<String>,
    /// Its kind there.
    pub reference: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = |kind: &Option<String>| kind.clone().unwrap_or_else(|| "nothing".into());
        write!(f, "{}: {} | {}", self.path, kind(&self.ours), kind(&self.reference))
    }
}

/// The members that `path` is a member of.
fn owners(path: &str) -> impl Iterator<Item = &str> {
    path.char_indices().filter(|(at, character)| *at > 0 && matches!(character, '.' | '[')).map(|(at, _)| &path[..at])
}

/// The differences that are known, in groups with one reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    group: Vec<Group>,
}

/// Differences that have the same reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The class of the reason.
    pub because: Because,
    /// Why they are there.
    pub reason: String,
    /// As [`Difference`]s are displayed: `path: ours | reference`.
    pub members: Vec<String>,
}

/// What the table does not say rightly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Differences that are not listed.
    pub unlisted: Vec<String>,
    /// Listed ones that are gone, or have become others.
    pub stale: Vec<String>,
}

impl Table {
    /// The recorded table.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn recorded() -> Result<Self> {
        toml::from_str(include_str!("../surface/differences.toml")).context("surface/differences.toml")
    }

    /// The groups.
    pub fn groups(&self) -> &[Group] {
        &self.group
    }

    /// What is wrong with the table when these are the differences.
    pub fn judge(&self, differences: &[Difference]) -> Faults {
        let found: Vec<String> = differences.iter().map(Difference::to_string).collect();
        let listed: Vec<&String> = self.group.iter().flat_map(|group| &group.members).collect();
        Faults {
            unlisted: found.iter().filter(|line| !listed.contains(line)).cloned().collect(),
            stale: listed.into_iter().filter(|line| !found.contains(line)).cloned().collect(),
        }
    }

    /// The table of these differences: reasons stay with the members that they were given for, and what has none yet
    /// gets a group of its own.
    fn updated(&self, differences: &[Difference]) -> Self {
        let path_of = |line: &str| line.rsplit_once(": ").map_or(line, |(path, _)| path).to_owned();
        let mut open: BTreeMap<&str, &Difference> =
            differences.iter().map(|difference| (difference.path.as_str(), difference)).collect();
        let mut groups = Vec::new();
        for group in &self.group {
            let members = group.members.iter().filter_map(|line| open.remove(path_of(line).as_str()));
            let mut members: Vec<String> = members.map(Difference::to_string).collect();
            members.sort();
            groups.push(Group { members, ..group.clone() });
        }
        let rest: Vec<String> = open.values().map(|difference| difference.to_string()).collect();
        match groups.iter_mut().find(|group| group.reason == UNEXPLAINED) {
            Some(group) => group.members.extend(rest),
            None => groups.push(Group { because: Because::NotYet, reason: UNEXPLAINED.into(), members: rest }),
        }
        groups.retain(|group| !group.members.is_empty());
        Self { group: groups }
    }

    fn to_toml(&self) -> String {
        let mut text = String::from(TABLE_HEAD);
        for Group { because, reason, members } in &self.group {
            let reason = Value::from(reason.as_str());
            let _ = write!(text, "\n[[group]]\nbecause = \"{}\"\nreason = {reason}\nmembers = [\n", because.word());
            for member in members {
                let _ = writeln!(text, "    {},", Value::from(member.as_str()));
            }
            text.push_str("]\n");
        }
        text
    }
}

impl Faults {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.unlisted.is_empty() && self.stale.is_empty()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.unlisted.iter().try_for_each(|line| writeln!(f, "not listed: {line}"))?;
        self.stale.iter().try_for_each(|line| writeln!(f, "listed and not so: {line}"))
    }
}

/// Compares our surface with the live reference's, and the record with it; prints the report and says whether all is as it
/// is written. With `update`, record and table are written anew instead, reasons kept.
///
/// # Errors
/// A side could not be asked, or a file not be written.
pub async fn run(zygote: Option<PathBuf>, update: bool) -> Result<bool> {
    let (ours, live, table) = (Surface::ours(zygote).await?, Surface::live().await?, Table::recorded()?);
    let differences = ours.differences(&live);
    println!(
        "\nsurface: {} members here, {} in the reference, {} differences",
        ours.len(),
        live.len(),
        differences.len()
    );
    if update {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("surface");
        fs::write(folder.join("reference.txt"), format!("{RECORD_HEAD}{live}"))?;
        fs::write(folder.join("differences.toml"), table.updated(&differences).to_toml())?;
        println!("surface/reference.txt and surface/differences.toml are written; give a reason to what has none");
        return Ok(true);
    }
    for group in table.groups() {
        println!("{:<44} {:>4}  {}", group.because, group.members.len(), group.reason);
    }
    let drift = live.differences(&Surface::recorded()?);
    for difference in &drift {
        println!("the live reference and its record (live | recorded): {difference}");
    }
    let faults = table.judge(&differences);
    print!("{faults}");
    let good = drift.is_empty() && faults.is_empty();
    if !good {
        println!("surface FAILED; where the change is meant: cargo xtask compat --surface --update");
    }
    Ok(good)
}

/// The program that takes the inventory.
const INVENTORY: &str = include_str!("../surface/inventory.js");

/// The reason of what has none yet.
const UNEXPLAINED: &str = "not explained yet";

const RECORD_HEAD: &str = "\
# What a program finds in the newest release of the reference, as inventory.js lists it.
# Written by `cargo xtask compat --surface --update`.
";

const TABLE_HEAD: &str = "\
# Where our surface differs from the reference's, `path: ours | reference`, in groups with one reason. What is missing on one
# side stands for its members too. Kept by `cargo xtask compat --surface --update`, which leaves the reasons as they are.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(lines: &[&str]) -> Surface {
        let members = lines.iter().map(|line| line.rsplit_once(": ").expect("a member"));
        Surface { members: members.map(|(path, kind)| (path.into(), kind.into())).collect() }
    }

    fn table(members: &[&str]) -> Table {
        let members = members.iter().map(|member| (*member).to_owned()).collect();
        Table { group: vec![Group { because: Because::Engine, reason: "because".into(), members }] }
    }

    #[test]
    fn what_is_missing_on_one_side_stands_for_its_members() {
        let ours =
            surface(&["A: function of 0", "A.b: function", "Own: object", "Own.x: number", "C: object", "C[@@x]: get"]);
        let theirs = surface(&["A: function of 1", "A.c: get", "Theirs: object", "Theirs.y: number", "C: object"]);
        let lines: Vec<_> = ours.differences(&theirs).iter().map(Difference::to_string).collect();
        assert_eq!(
            lines,
            [
                "A: function of 0 | function of 1",
                "A.b: function | nothing",
                "A.c: nothing | get",
                "C[@@x]: get | nothing",
                "Own: object | nothing",
                "Theirs: nothing | object",
            ]
        );
    }

    #[test]
    fn a_difference_that_is_not_listed_or_is_gone_is_a_fault() {
        let (ours, theirs) = (surface(&["A: object", "B: get"]), surface(&["A: object", "B: set"]));
        let differences = ours.differences(&theirs);
        assert!(table(&["B: get | set"]).judge(&differences).is_empty());
        let faults = table(&["A: object | nothing", "B: set | get"]).judge(&differences);
        assert_eq!(faults.unlisted, ["B: get | set"]);
        assert_eq!(faults.stale, ["A: object | nothing", "B: set | get"]);
    }

    #[test]
    fn an_update_keeps_reasons_and_asks_for_those_that_are_missing() {
        let ours = surface(&["A: object", "B: get", "C: \"\\: get"]);
        let theirs = surface(&["A: get", "B: set", "C: \"\\: set"]);
        let updated = table(&["Gone: get | set", "B: get | nothing"]).updated(&ours.differences(&theirs));
        let written: Table = toml::from_str(&updated.to_toml()).expect("what is written can be read");
        let groups: Vec<_> = written.group.iter().map(|group| (group.reason.as_str(), group.members.clone())).collect();
        let rest = vec!["A: object | get".to_owned(), "C: \"\\: get | set".to_owned()];
        assert_eq!(groups, [("because", vec!["B: get | set".to_owned()]), (UNEXPLAINED, rest)]);
    }
}
