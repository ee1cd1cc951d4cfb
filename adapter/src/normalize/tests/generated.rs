//! What holds for any text that a model may write.

use std::time::{Duration, Instant};

use super::{
    super::{
        normalize_code,
        parse::{Budget, Shape, shape},
    },
    programs::{Choices, seeds},
};
use crate::space::trim;

const PROGRAMS: usize = 6_000;

#[test]
fn generated_programs_become_fixed_points_in_bounded_time() {
    let seeds = seeds();
    let mut choices = Choices::new(0x5eed);
    let (mut longest, mut parsed) = (Duration::ZERO, 0);
    for _ in 0..PROGRAMS {
        let code = choices.program(&seeds);
        let start = Instant::now();
        let normalized = normalize_code(&code);
        longest = longest.max(start.elapsed());
        // What breaks out of its wrap parses, but not as the one function that an executor takes.
        let body = trim(codemode_protocol::separate_imports(&normalized).body);
        if shape(body, &mut Budget::default()) == Shape::Arrow {
            parsed += 1;
            assert_eq!(normalize_code(&normalized), normalized, "{code:?}");
        }
    }
    assert!(parsed > PROGRAMS / 3, "only {parsed} of {PROGRAMS} are functions");
    assert!(longest < Duration::from_secs(2), "one program took {longest:?}");
}
