//! The report: what failed, both outcomes side by side, and how many cases are in which class.

#![allow(clippy::print_stdout, reason = "the report of a command line tool")]

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    case::{Because, Case, Expectation},
    reference::Column,
};

/// What came of a run of the catalogue.
#[derive(Clone, Debug, Default)]
pub struct Report {
    failed: usize,
}

/// What came of a case.
pub(crate) struct Verdict {
    pub(crate) skipped: bool,
    pub(crate) fault: Option<Fault>,
}

/// Two outcomes that should relate otherwise.
pub(crate) struct Fault {
    what: &'static str,
    left: Value,
    right: Value,
}

impl Fault {
    pub(crate) fn new(what: &'static str, left: &Value, right: &Value) -> Self {
        Self { what, left: left.clone(), right: right.clone() }
    }

    #[cfg(test)]
    pub(crate) fn what(&self) -> &'static str {
        self.what
    }
}

impl Report {
    /// Whether every case passed.
    pub fn passed(&self) -> bool {
        self.failed == 0
    }

    /// How many cases failed, in all columns together, and checks beside them.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// Counts a check beside the cases.
    pub(crate) fn add_check(&mut self, passed: bool) {
        self.failed += usize::from(!passed);
    }

    pub(crate) fn add(&mut self, column: Column, cases: &[Case], verdicts: &[Verdict]) {
        let failed = verdicts.iter().filter(|verdict| verdict.fault.is_some()).count();
        self.failed += failed;
        print_groups(cases, verdicts);
        print_reasons(cases, verdicts);
        for (case, fault) in
            cases.iter().zip(verdicts).filter_map(|(case, verdict)| Some((case, verdict.fault.as_ref()?)))
        {
            print_fault(case, fault);
        }
        println!("\ncolumn {column}: {} cases, {failed} failed\n", cases.len());
    }
}

fn print_groups(cases: &[Case], verdicts: &[Verdict]) {
    let mut groups: Vec<(&str, [usize; 5])> = Vec::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        if groups.last().is_none_or(|(group, _)| *group != case.group) {
            groups.push((case.group, [0; 5]));
        }
        let Some((_, counts)) = groups.last_mut() else { continue };
        let class = match &case.expectation {
            _ if verdict.skipped => 3,
            Expectation::Same => 0,
            Expectation::Differs { .. } => 1,
            Expectation::ReferenceCannotRun { .. } => 2,
        };
        counts[class] += 1;
        counts[4] += usize::from(verdict.fault.is_some());
    }
    println!("\n{:<24} {:>6} {:>8} {:>11} {:>8} {:>7}", "group", "same", "differs", "cannot run", "skipped", "FAILED");
    for (group, [same, differs, cannot, skipped, failed]) in groups {
        println!("{group:<24} {same:>6} {differs:>8} {cannot:>11} {skipped:>8} {failed:>7}");
    }
}

fn print_reasons(cases: &[Case], verdicts: &[Verdict]) {
    let mut classes: BTreeMap<Because, usize> = BTreeMap::new();
    let mut to_mend = Vec::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let (Expectation::Differs { because, reason, .. } | Expectation::ReferenceCannotRun { because, reason, .. }) =
            &case.expectation
        else {
            continue;
        };
        if verdict.skipped {
            continue;
        }
        *classes.entry(*because).or_default() += 1;
        if *because == Because::NotYet {
            to_mend.push((reason, case));
        }
    }
    println!();
    for (because, count) in classes {
        println!("{because:<44} {count:>4}");
    }
    to_mend.sort_by_key(|(reason, _)| *reason);
    for (reason, case) in to_mend {
        println!("  {:<40} {reason}", case.id);
    }
}

fn print_fault(case: &Case, fault: &Fault) {
    println!("\nFAILED {}/{}: {}", case.group, case.id, fault.what);
    for line in case.lent.code.lines() {
        println!("    {line}");
    }
    let (left, right) = (pretty(&fault.left), pretty(&fault.right));
    let rows = left.len().max(right.len());
    for row in 0..rows {
        let cell = |side: &[String]| side.get(row).cloned().unwrap_or_default();
        println!("  {:<WIDTH$} | {}", cell(&left), cell(&right));
    }
}

/// The outcome in lines that fit beside another's.
fn pretty(outcome: &Value) -> Vec<String> {
    let text = serde_json::to_string_pretty(outcome).unwrap_or_default();
    let mut lines = Vec::new();
    for line in text.lines().take(ROWS) {
        let characters: Vec<char> = line.chars().take(WIDTH * ROWS).collect();
        lines.extend(characters.chunks(WIDTH).map(|piece| piece.iter().collect::<String>()));
    }
    lines.truncate(ROWS);
    lines
}

/// Columns of one outcome.
const WIDTH: usize = 72;

/// Lines of one outcome; what is longer is cut.
const ROWS: usize = 40;
