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
    corpora,
    ours::Ours,
    reference::{Column, Reference},
    report::{self, Fault, Report},
    surface,
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
    /// Which part is run.
    pub part: Part,
}

/// What of the suite is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// The cases. When all of them run against the newest release, the other parts follow.
    #[default]
    Cases,
    /// What programs find in their sandbox is compared.
    Surface,
    /// What programs find in the reference's sandbox is recorded anew, and the differences.
    SurfaceUpdate,
    /// The corpora of these APIs, or all when empty.
    Corpora(Vec<String>),
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
    let mut report = Report::default();
    match &options.part {
        Part::Cases => {
            report = run_cases(options).await?;
            if options.cases.is_empty() && options.columns.contains(&Column::NEWEST) && !options.measure {
                report.add_check(surface::run(options.zygote.clone(), false).await?);
                report.add_check(corpora::run(&[], false, options.zygote.clone()).await?);
            }
        }
        Part::Surface => report.add_check(surface::run(options.zygote.clone(), false).await?),
        Part::SurfaceUpdate => report.add_check(surface::run(options.zygote.clone(), true).await?),
        Part::Corpora(apis) => {
            report.add_check(corpora::run(apis, options.measure, options.zygote.clone()).await?);
        }
    }
    Ok(report)
}

async fn run_cases(options: &Options) -> Result<Report> {
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
            Some(match shared.run(&case.lent).await {
                Ok(outcome) => outcome,
                Err(failure) => {
                    println!("case `{}` is asked again alone: {failure:#}", case.id);
                    let again = Reference::run_again(column, &case.lent).await;
                    again.with_context(|| format!("case `{}`", case.id))?
                }
            })
        })
    };
    let mut outcomes: Vec<_> = stream::iter(cases).map(ask).buffered(AT_ONCE).try_collect().await?;
    drop(shared);
    let alone = cases.iter().enumerate().filter(|(_, case)| asked(case) && case.disposable);
    let ask =
        async |(at, case): (usize, &Case)| anyhow::Ok((at, Reference::run_in_disposable(column, &case.lent).await?));
    let alone: Vec<_> = stream::iter(alone).map(ask).buffer_unordered(WEDGED_AT_ONCE).try_collect().await?;
    for (at, outcome) in alone {
        outcomes[at] = Some(outcome);
    }
    Ok(outcomes)
}

fn judge(expectation: &Expectation, ours: &Outcomes, reference: Option<&Value>) -> Option<Fault> {
    if !same(&ours.local, &ours.remote) {
        return Some(Fault::new("here and over the daemon", &ours.local, &ours.remote));
    }
    let ours = &ours.local;
    if let Expectation::Differs { ours: pinned, .. } | Expectation::ReferenceCannotRun { ours: pinned, .. } =
        expectation
        && !same(ours, pinned)
    {
        return Some(Fault::new("our outcome and the one that is listed", ours, pinned));
    }
    let reference = reference?;
    let same = same(ours, reference);
    match expectation {
        Expectation::Same if !same => {
            Some(Fault::new("ours and the reference's, which is not listed", ours, reference))
        }
        Expectation::Differs { .. } if same => Some(Fault::new("listed, but both are the same", ours, reference)),
        _ => None,
    }
}

/// Whether two outcomes are equal, the order of members included: programs and models see it.
fn same(left: &Value, right: &Value) -> bool {
    let text = |outcome: &Value| outcome.to_string();
    text(left) == text(right)
}

fn measure(column: Column, cases: &[Case], outcomes: &[Outcomes], references: &[Option<Value>]) {
    for ((case, ours), reference) in cases.iter().zip(outcomes).zip(references) {
        let remote = (!same(&ours.local, &ours.remote)).then_some(&ours.remote);
        let line = json!({
            "id": case.id, "column": column.name, "ours": ours.local, "remote": remote, "reference": reference,
        });
        println!("{line}");
    }
}

/// Cases under way at once.
const AT_ONCE: usize = 3;

/// Instances of the reference at once that may each take a core for themselves.
const WEDGED_AT_ONCE: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Because;

    fn fault(expectation: &Expectation, local: i32, remote: i32, reference: Option<i32>) -> Option<&'static str> {
        let outcomes = Outcomes { local: local.into(), remote: remote.into() };
        judge(expectation, &outcomes, reference.map(Value::from).as_ref()).map(|fault| fault.what())
    }

    #[test]
    fn a_case_passes_when_its_outcomes_relate_as_listed_and_in_no_other_way() {
        let (because, reason) = (Because::Engine, String::new());
        let same = Expectation::Same;
        let differs = Expectation::Differs { ours: 1.into(), because, reason: reason.clone() };
        let cannot = Expectation::ReferenceCannotRun { ours: 1.into(), because, reason };
        assert_eq!(fault(&same, 1, 1, Some(1)), None);
        assert_eq!(fault(&same, 1, 1, None), None);
        assert_eq!(fault(&differs, 1, 1, Some(2)), None);
        assert_eq!(fault(&cannot, 1, 1, None), None);
        assert_eq!(fault(&same, 1, 2, Some(1)), Some("here and over the daemon"));
        assert_eq!(fault(&same, 1, 1, Some(2)), Some("ours and the reference's, which is not listed"));
        assert_eq!(fault(&differs, 1, 1, Some(1)), Some("listed, but both are the same"));
        assert_eq!(fault(&differs, 3, 3, Some(2)), Some("our outcome and the one that is listed"));
        assert_eq!(fault(&cannot, 3, 3, None), Some("our outcome and the one that is listed"));
    }

    #[test]
    fn the_catalogue_can_be_read_and_is_large() {
        let cases = catalogue().expect("every entry is complete");
        assert!(cases.len() >= 400, "there are {} cases", cases.len());
    }
}
