//! Runs the catalogue and judges it.
//!
//! A case passes when our outcome is the expected one in this process and over a daemon, and when the reference's outcome
//! equals ours exactly where the catalogue says so. A listed difference that has become the same fails, and so does one
//! that is not listed.

#![allow(clippy::print_stdout, reason = "the report of a command line tool")]

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use crate::{
    case::{Case, Expectation, catalogue},
    ours::Ours,
    reference::{Column, Reference},
    report::{self, Fault, Report},
};

/// What is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Ids, or their beginnings; all cases when empty.
    pub cases: Vec<String>,
    /// Releases of the reference.
    pub columns: Vec<Column>,
    /// Prints outcomes instead of judging them.
    pub measure: bool,
    /// The program that makes our sandboxes; this one when absent.
    pub zygote: Option<PathBuf>,
}

/// The outcomes of a case on our side.
struct Outcomes {
    local: Value,
    remote: Value,
}

/// Runs the cases through ours and through each column, and prints the report.
///
/// # Errors
/// A side could not be started or ended on the way, or there is no such case.
pub async fn run(options: &Options) -> Result<Report> {
    let cases = catalogue()?;
    let chosen = |case: &Case| options.cases.is_empty() || options.cases.iter().any(|id| case.id.starts_with(id));
    let cases: Vec<Case> = cases.into_iter().filter(chosen).collect();
    ensure!(!cases.is_empty(), "there is no such case");

    let ours = Ours::start(options.zygote.clone()).await?;
    let both = async |case: &Case| {
        anyhow::Ok(Outcomes { local: ours.run(&case.lent).await?, remote: ours.run_remotely(&case.lent).await? })
    };
    let outcomes: Vec<Outcomes> = stream::iter(&cases).map(both).buffered(AT_ONCE).try_collect().await?;
    ours.stop().await;

    let mut report = Report::default();
    for column in &options.columns {
        let references = references(*column, &cases).await?;
        if options.measure {
            measure(*column, &cases, &outcomes, &references);
            continue;
        }
        let verdicts = cases.iter().zip(&outcomes).zip(references).map(|((case, ours), reference)| {
            let fault = judge(&case.expectation, ours, reference.as_ref());
            report::Verdict { skipped: case.skip_on.contains(column), fault }
        });
        let verdicts: Vec<_> = verdicts.collect();
        report.add(*column, &cases, &verdicts);
    }
    Ok(report)
}

/// The outcomes of one column; none where the reference is not asked.
async fn references(column: Column, cases: &[Case]) -> Result<Vec<Option<Value>>> {
    let asked = |case: &Case| {
        !case.skip_on.contains(&column) && !matches!(case.expectation, Expectation::ReferenceCannotRun { .. })
    };
    let shared = Reference::start(column).await?;
    println!("column {column}: @cloudflare/codemode {}", shared.version());
    let ask = async |case: &Case| {
        anyhow::Ok(if !asked(case) || case.disposable {
            None
        } else {
            Some(shared.run(&case.lent).await.with_context(|| format!("case `{}`", case.id))?)
        })
    };
    let mut outcomes: Vec<_> = stream::iter(cases).map(ask).buffered(AT_ONCE).try_collect().await?;
    for (case, outcome) in cases.iter().zip(&mut outcomes) {
        if asked(case) && case.disposable {
            *outcome = Some(Reference::run_in_disposable(column, &case.lent).await?);
        }
    }
    Ok(outcomes)
}

fn judge(expectation: &Expectation, ours: &Outcomes, reference: Option<&Value>) -> Option<Fault> {
    if ours.local.to_string() != ours.remote.to_string() {
        return Some(Fault::new("here and over the daemon", &ours.local, &ours.remote));
    }
    let ours = &ours.local;
    if let Expectation::Differs { ours: pinned, .. } | Expectation::ReferenceCannotRun { ours: pinned, .. } =
        expectation
        && ours.to_string() != pinned.to_string()
    {
        return Some(Fault::new("our outcome and the one that is listed", ours, pinned));
    }
    let reference = reference?;
    let same = ours.to_string() == reference.to_string();
    match expectation {
        Expectation::Same if !same => {
            Some(Fault::new("ours and the reference's, which is not listed", ours, reference))
        }
        Expectation::Differs { .. } if same => Some(Fault::new("listed, but both are the same", ours, reference)),
        _ => None,
    }
}

fn measure(column: Column, cases: &[Case], outcomes: &[Outcomes], references: &[Option<Value>]) {
    for ((case, ours), reference) in cases.iter().zip(outcomes).zip(references) {
        let remote = (ours.local.to_string() != ours.remote.to_string()).then_some(&ours.remote);
        let line = json!({
            "id": case.id, "column": column.name, "ours": ours.local, "remote": remote, "reference": reference,
        });
        println!("{line}");
    }
}

/// Cases under way at once.
const AT_ONCE: usize = 3;
