//! `doctor`: what this machine offers, and whether the walls around a program hold.

use codemode_sandbox::{AttemptOutcome, DoctorReport, PoolOptions};

use crate::{
    args,
    exit::{Failure, Status},
    terminal::{Harmless, deliver},
};

/// Makes the self-test and prints what it found.
///
/// # Errors
/// No child could be started for the self-test.
pub(crate) fn run(args: &args::Doctor) -> Result<Status, Failure> {
    let report = codemode_sandbox::doctor(&PoolOptions::default())
        .map_err(|error| Failure::infrastructure(error.to_string()))?;
    let shown = if args.json {
        serde_json::to_string_pretty(&report).map_err(|error| Failure::infrastructure(error.to_string()))?
    } else {
        table(&report)
    };
    deliver(shown).map_err(Failure::infrastructure)?;
    Ok(if report.holds() { Status::Success } else { Status::Infrastructure })
}

fn table(report: &DoctorReport) -> String {
    let kernel = &report.kernel;
    let landlock = kernel.landlock.map_or("none".to_owned(), |version| format!("interface {version}"));
    let namespaces = match kernel.user_namespaces {
        Some(true) => "allowed",
        Some(false) => "forbidden",
        None => "unknown",
    };
    let yes_no = |flag| if flag { "yes" } else { "no" };
    let mut rows = vec![
        ["codemoded".into(), report.version.clone(), String::new()],
        ["kernel".into(), kernel.release.clone(), kernel.architecture.clone()],
        ["landlock".into(), landlock, String::new()],
        ["seccomp".into(), yes_no(kernel.seccomp).into(), String::new()],
        ["user namespaces".into(), namespaces.into(), String::new()],
        [
            "cgroup controllers".into(),
            kernel.cgroup_controllers.clone().unwrap_or_else(|| "none".into()),
            String::new(),
        ],
    ];
    let mut text = section("Machine", std::mem::take(&mut rows));
    rows.extend(report.confinement.layers.iter().map(|layer| {
        [layer.name.clone(), if layer.on { "on" } else { "off" }.into(), Harmless(&layer.detail).to_string()]
    }));
    text += &section(&format!("Layers (level reached: {})", report.confinement.level), std::mem::take(&mut rows));
    rows.extend(report.attempts.iter().map(|attempt| {
        [attempt.name.clone(), outcome(&attempt.inside), format!("outside: {}", outcome(&attempt.outside))]
    }));
    text += &section("Attempts from inside a child", rows);
    text + &verdict(report)
}

/// The last line: what the attempts say, and which of them say nothing because they fail outside as well.
fn verdict(report: &DoctorReport) -> String {
    if !report.holds() {
        return "AN ATTEMPT SUCCEEDED: do not run programs here.".into();
    }
    let idle = report.attempts.iter().filter(|attempt| attempt.outside != AttemptOutcome::Succeeded);
    let idle: Vec<_> = idle.map(|attempt| attempt.name.as_str()).collect();
    match idle.as_slice() {
        [] => "Every attempt was refused, and succeeds outside.".into(),
        names => format!(
            "Every attempt was refused. On this machine {} of {} fail outside too, which proves nothing of them: {}.",
            names.len(),
            report.attempts.len(),
            names.join(", ")
        ),
    }
}

fn outcome(outcome: &AttemptOutcome) -> String {
    match outcome {
        AttemptOutcome::Succeeded => "succeeded".into(),
        AttemptOutcome::Refused(how) => format!("refused ({})", Harmless(how)),
    }
}

fn section(title: &str, rows: Vec<[String; 3]>) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text = format!("{title}\n");
    for [name, state, detail] in &rows {
        let line = format!("  {name:first$}  {state:second$}  {detail}");
        text += line.trim_end();
        text += "\n";
    }
    text + "\n"
}
