//! A sequence of steps: a heading for each, their output as it comes, and a table at the end.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::repository::Repository;

/// One step: what it is called and what it does.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Repository) -> Result<()>,
}

/// Runs the steps in order and stops at the first that fails, naming it.
pub(crate) fn run(repository: &Repository, steps: &[Step]) -> Result<()> {
    let mut rows: Vec<(&str, Option<Duration>)> = Vec::new();
    let mut failure = None;
    for step in steps {
        println!("\n=== {} ===", step.name);
        let start = Instant::now();
        let result = (step.run)(repository);
        rows.push((step.name, Some(start.elapsed())));
        if let Err(error) = result {
            failure = Some((step.name, error));
            break;
        }
    }
    rows.extend(steps[rows.len()..].iter().map(|step| (step.name, None)));
    print_table(&rows, failure.as_ref().map(|(name, _)| *name));
    match failure {
        None => Ok(()),
        Some((name, error)) => Err(error).with_context(|| format!("step \"{name}\" failed")),
    }
}

fn print_table(rows: &[(&str, Option<Duration>)], failed: Option<&str>) {
    println!("\n{:<28} {:>8}  outcome", "step", "seconds");
    for (name, took) in rows {
        match took {
            Some(took) => {
                let outcome = if failed == Some(*name) { "FAILED" } else { "ok" };
                println!("{name:<28} {:>8.1}  {outcome}", took.as_secs_f64());
            }
            None => println!("{name:<28} {:>8}  not run", "-"),
        }
    }
    let total: Duration = rows.iter().filter_map(|(_, took)| *took).sum();
    println!("{:<28} {:>8.1}", "total", total.as_secs_f64());
}
