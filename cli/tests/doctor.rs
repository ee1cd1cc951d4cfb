//! `codemoded doctor` on this machine.

mod support;

use support::ended;

#[test]
fn the_report_is_a_table_or_one_object_and_both_say_the_same() {
    let table = ended(&["doctor"], "");
    let object = ended(&["doctor", "--json"], "");
    assert_eq!(table.code, object.code, "{table:?}");
    let object: serde_json::Value = serde_json::from_str(&object.out).unwrap();
    let level = object["confinement"]["level"].as_str().unwrap();
    assert!(table.out.contains(&format!("(level reached: {level})")), "{}", table.out);
    assert!(table.out.contains(object["kernel"]["release"].as_str().unwrap()), "{}", table.out);
    let attempts = object["attempts"].as_array().unwrap();
    assert!(!attempts.is_empty());
    for attempt in attempts {
        assert!(table.out.contains(attempt["name"].as_str().unwrap()), "{attempt}");
    }
    let held = attempts.iter().all(|attempt| attempt["inside"] != "succeeded");
    assert_eq!(table.code == Some(0), held, "{}", table.out);
}
