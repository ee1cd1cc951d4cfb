//! The tables that a person reads: latency of each program, rates, and how each arm compares with ours.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    OURS,
    samples::{Arm, Program, under_load},
};

pub(super) fn print(programs: &[Program], arms: &[&str], measured: &BTreeMap<&str, Arm>) {
    let present: Vec<(&str, &Arm)> = arms
        .iter()
        .filter_map(|name| Some((*name, measured.get(name)?)))
        .filter(|(_, arm)| arm.unavailable.is_none())
        .collect();
    let ours = measured.get(OURS);

    println!("\nwhole round trips, p50 / p99 in milliseconds (× is the arm's median over ours)\n");
    heading("program", &present);
    for program in programs {
        let cells = present.iter().map(|(name, arm)| latency(program, name, arm, ours));
        row(&format!("{}: {}", program.id, program.title), cells);
    }

    println!("\nruns per second, and p50 / p99 meanwhile where the arm says it (× is ours over the arm's)\n");
    heading("program, in flight", &present);
    let keys: BTreeSet<&(String, u32)> = present.iter().flat_map(|(_, arm)| arm.concurrencies()).collect();
    for (id, concurrency) in keys {
        let cells = present.iter().map(|(name, arm)| rate(id, *concurrency, name, arm, ours));
        row(&format!("{id}, {concurrency}"), cells);
    }

    for (name, arm) in measured {
        if let Some(reason) = &arm.unavailable {
            println!("\n{name} is left out: {reason}");
        }
        for program in programs {
            if let Some(reason) = arm.refusal(&program.id) {
                println!("\n{name} refused {}: {reason}", program.id);
            }
        }
    }
}

fn latency(program: &Program, name: &str, arm: &Arm, ours: Option<&Arm>) -> String {
    if arm.refusal(&program.id).is_some() {
        return "refused".into();
    }
    let (Some(p50), Some(p99)) = (arm.quantile(&program.id, 0.5), arm.quantile(&program.id, 0.99)) else {
        return "-".into();
    };
    let ratio = ours.filter(|_| name != OURS).and_then(|ours| ours.quantile(&program.id, 0.5)).map(|ours| p50 / ours);
    format!("{p50:.2} / {p99:.2}{}", times(ratio))
}

fn rate(program: &str, concurrency: u32, name: &str, arm: &Arm, ours: Option<&Arm>) -> String {
    let Some(rate) = arm.rate(program, concurrency) else { return "-".into() };
    let ratio = ours.filter(|_| name != OURS).and_then(|ours| ours.rate(program, concurrency)).map(|ours| ours / rate);
    let loaded = |quantile| arm.quantile(&under_load(program, concurrency), quantile);
    let latency = loaded(0.5).zip(loaded(0.99)).map(|(p50, p99)| format!(", {p50:.2} / {p99:.2} ms"));
    format!("{rate:.0}{}{}", latency.unwrap_or_default(), times(ratio))
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| format!(" ({ratio:.1}×)"))
}

fn heading(first: &str, arms: &[(&str, &Arm)]) {
    row(first, arms.iter().map(|(name, _)| (*name).to_owned()));
    println!("|{}", "---|".repeat(arms.len() + 1));
}

fn row(first: &str, cells: impl Iterator<Item = String>) {
    println!("| {first} | {} |", cells.collect::<Vec<_>>().join(" | "));
}
