//! What an arm prints: `{"unavailable": "why"}`, or
//! `{"programs": {"a": [milliseconds, …]}, "refused": {"e": "why"}, "throughput": {"a": {"8": runs per second}}}`; the
//! times of the runs that a rate was taken from stand among the programs as `a@8`, where an arm gives them.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// One program of the benchmark.
pub(super) struct Program {
    pub(super) id: String,
    pub(super) title: String,
}

/// The programs in the order of their file.
pub(super) fn programs(file: &Path) -> Result<Vec<Program>> {
    let listed: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let listed = listed.as_array().context("programs.json is not a list")?;
    let text = |program: &Value, member: &str| {
        program[member].as_str().map(String::from).with_context(|| format!("a program without `{member}`"))
    };
    listed.iter().map(|program| Ok(Program { id: text(program, "id")?, title: text(program, "title")? })).collect()
}

/// The samples of one arm, over all rounds.
#[derive(Default)]
pub(super) struct Arm {
    /// Why the arm could not run at all.
    pub(super) unavailable: Option<String>,
    programs: BTreeMap<String, Vec<f64>>,
    refused: BTreeMap<String, String>,
    throughput: BTreeMap<(String, u32), Vec<f64>>,
}

impl Arm {
    /// Reads the last line of what an arm printed.
    pub(super) fn parse(printed: &str) -> Result<Self> {
        let line = printed.lines().last().context("nothing was printed")?;
        let value: Value = serde_json::from_str(line)?;
        let mut arm = Self::default();
        if let Some(reason) = value["unavailable"].as_str() {
            arm.unavailable = Some(reason.to_owned());
            return Ok(arm);
        }
        for (id, samples) in members(&value["programs"]) {
            let samples = samples.as_array().map(Vec::as_slice).unwrap_or_default();
            arm.programs.insert(id.clone(), samples.iter().filter_map(Value::as_f64).collect());
        }
        for (id, reason) in members(&value["refused"]) {
            arm.refused.insert(id.clone(), reason.as_str().unwrap_or("no reason given").to_owned());
        }
        for (id, by_concurrency) in members(&value["throughput"]) {
            for (concurrency, rate) in members(by_concurrency) {
                let key = (id.clone(), concurrency.parse().context("a concurrency that is no number")?);
                arm.throughput.insert(key, vec![rate.as_f64().context("a rate that is no number")?]);
            }
        }
        if arm.programs.is_empty() {
            bail!("no program was measured");
        }
        Ok(arm)
    }

    /// Adds the samples of another round.
    pub(super) fn add(&mut self, round: Self) {
        self.unavailable = self.unavailable.take().or(round.unavailable);
        for (id, samples) in round.programs {
            self.programs.entry(id).or_default().extend(samples);
        }
        self.refused.extend(round.refused);
        for (key, rates) in round.throughput {
            self.throughput.entry(key).or_default().extend(rates);
        }
    }

    /// The quantile of a program's times, in milliseconds.
    pub(super) fn quantile(&self, program: &str, quantile: f64) -> Option<f64> {
        let mut samples = self.programs.get(program)?.clone();
        samples.sort_by(f64::total_cmp);
        let last = samples.len().checked_sub(1)?;
        samples.get((last as f64 * quantile).round() as usize).copied()
    }

    /// Why the arm refused a program.
    pub(super) fn refusal(&self, program: &str) -> Option<&str> {
        self.refused.get(program).map(String::as_str)
    }

    /// Runs per second at a concurrency: the middle one of the rounds.
    pub(super) fn rate(&self, program: &str, concurrency: u32) -> Option<f64> {
        let mut rates = self.throughput.get(&(program.to_owned(), concurrency))?.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied()
    }

    /// The concurrencies at which a program's rate was measured.
    pub(super) fn concurrencies(&self) -> impl Iterator<Item = &(String, u32)> {
        self.throughput.keys()
    }
}

/// The name under which an arm gives the times of `program` with so many in flight.
pub(super) fn under_load(program: &str, concurrency: u32) -> String {
    format!("{program}@{concurrency}")
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_add_up_and_quantiles_come_from_all_samples() {
        let round = |x: f64| {
            Arm::parse(&format!("noise\n{{\"programs\":{{\"a\":[{x},{x},9]}},\"throughput\":{{\"a\":{{\"8\":{x}}}}}}}"))
                .unwrap()
        };
        let mut arm = Arm::default();
        arm.add(round(1.0));
        arm.add(round(2.0));
        assert_eq!(arm.quantile("a", 0.0), Some(1.0));
        assert_eq!(arm.quantile("a", 1.0), Some(9.0));
        assert_eq!(arm.rate("a", 8), Some(2.0));
        assert_eq!(arm.quantile("b", 0.5), None);
    }
}
