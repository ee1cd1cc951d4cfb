//! The self-test of `codemoded doctor`: every attempt fails in a child, and the same attempt succeeds outside.

use codemode_sandbox::{AttemptOutcome, Level, doctor};

use crate::common::options;

#[test]
fn every_escape_attempt_fails_inside_and_its_control_succeeds_outside() {
    let report = doctor(&options()).unwrap();
    for layer in &report.confinement.layers {
        println!("{:3} {}: {}", if layer.on { "on" } else { "off" }, layer.name, layer.detail);
    }
    println!("level {}, {:?}", report.confinement.level, report.kernel);
    assert!(report.attempts.len() >= 20);
    let mut proven = 0;
    for pair in &report.attempts {
        println!("{}: inside {:?}", pair.name, pair.inside);
        assert!(matches!(pair.inside, AttemptOutcome::Refused(_)), "{} worked inside", pair.name);
        match &pair.outside {
            AttemptOutcome::Succeeded => proven += 1,
            AttemptOutcome::Refused(why) => println!("    no control for it on this machine: {why}"),
        }
    }
    assert!(report.holds());
    assert!(proven >= 20, "only {proven} controls succeeded");
    assert!(report.confinement.level >= Level::Filtered);
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["kernel"]["release"].is_string() && json["confinement"]["layers"].is_array());
}
