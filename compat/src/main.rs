//! `codemode-compat [OPTION...]`: runs the catalogue, and compares the surface and the corpora.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a command line tool speaks on its standard streams

use std::process::ExitCode;

use codemode_compat::{
    Column,
    suite::{self, Part},
};

fn main() -> ExitCode {
    codemode_sandbox::run_if_zygote();
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("codemode-compat: {error:#}\n\n{HELP}");
            return ExitCode::FAILURE;
        }
    };
    let runtime = tokio::runtime::Runtime::new();
    let ended = runtime.map_err(anyhow::Error::from).and_then(|runtime| runtime.block_on(suite::run(&options)));
    match ended {
        Ok(report) if report.passed() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("codemode-compat: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> anyhow::Result<suite::Options> {
    let mut options = suite::Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| anyhow::anyhow!("{argument} needs a value"));
        match argument.as_str() {
            "--case" => options.cases.push(value()?),
            "--column" => match value()?.as_str() {
                "all" => options.columns = Column::ALL.to_vec(),
                "older" => options.columns = Column::OLDER.to_vec(),
                name => options.columns.push(Column::named(name)?),
            },
            "--corpora" => choose(&mut options.part, Part::Corpora(Vec::new()))?,
            "--corpus" => {
                let api = value()?;
                match &mut options.part {
                    Part::Corpora(apis) => apis.push(api),
                    part => choose(part, Part::Corpora(vec![api]))?,
                }
            }
            "--measure" => options.measure = true,
            "--surface" => choose(&mut options.part, Part::Surface)?,
            "--update" if options.part == Part::Surface => options.part = Part::SurfaceUpdate,
            "--update" => anyhow::bail!("--update goes with --surface, behind it"),
            unknown => anyhow::bail!("there is no option `{unknown}`"),
        }
    }
    if options.columns.is_empty() {
        options.columns.push(Column::NEWEST);
    }
    Ok(options)
}

/// Sets the one part that is run alone.
fn choose(part: &mut Part, chosen: Part) -> anyhow::Result<()> {
    anyhow::ensure!(*part == Part::Cases, "one of --surface and --corpora is run, once");
    *part = chosen;
    Ok(())
}

const HELP: &str = "\
codemode-compat [OPTION...]

  --case ID        this case, or those whose ids begin with ID; may be given several times
  --column NAME    newest (the default), 0.5.1, 0.4.4, 0.3.4, older or all; may be given several times
  --measure        prints the outcomes of each case as a line of JSON and judges nothing; of corpora, those that differ
  --surface        compares what programs find in their sandbox, and nothing else
  --update         with --surface: records the reference's surface and the differences anew; reasons stay
  --corpora        compares the corpora of the Web surface, and nothing else
  --corpus API     one of them; may be given several times";
