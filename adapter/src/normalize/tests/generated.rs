//! What holds for any text that a model may write.

use std::time::{Duration, Instant};

use oxc_ast::{AstKind, ast::Program};
use oxc_ast_visit::Visit;

use super::{
    super::{parse::with_program, scan::scan},
    programs::{Choices, seeds},
};
use crate::fuzz;

const PROGRAMS: usize = 6_000;

/// With `FUZZ_SECONDS` so long, and from there on other programs than the usual ones.
#[test]
fn generated_programs_become_fixed_points() {
    let seeds = seeds();
    let mut choices = Choices::new(0x5eed);
    let mut functions = 0;
    let programs =
        for_each(PROGRAMS, || functions += usize::from(fuzz::normalizer(choices.program(&seeds).as_bytes())));
    assert!(functions > programs / 3, "only {functions} of {programs} are functions");
}

#[test]
fn damaged_programs_are_taken_as_well() {
    let seeds = seeds();
    let mut choices = Choices::new(0xdead);
    for_each(PROGRAMS, || {
        let mut code = choices.program(&seeds).into_bytes();
        choices.damage_bytes(&mut code);
        fuzz::normalizer(&code);
    });
}

#[test]
fn generated_names_become_identifiers_that_stay_as_they_are() {
    let mut choices = Choices::new(0x7001);
    for_each(PROGRAMS, || fuzz::tool_names(choices.tool_name().as_bytes()));
}

/// Does `case` so many times, or for `FUZZ_SECONDS`; gives how often.
fn for_each(times: usize, mut case: impl FnMut()) -> usize {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    (0..).take_while(|done| until.map_or(*done < times, |until| Instant::now() < until)).map(|_| case()).count()
}

#[test]
fn the_scans_bound_is_above_the_depth_of_every_tree() {
    let seeds = seeds();
    let mut choices = Choices::new(0xdee9);
    let mut trees = 0;
    for index in 0..PROGRAMS {
        let code = if index % 4 == 0 { choices.nest(60) } else { choices.program(&seeds) };
        let bound = scan(&code).nesting;
        let Ok(depth) = with_program(&code, bound, depth) else { continue };
        trees += 1;
        assert!(depth <= FLAT + NODES_PER_STEP * bound, "{depth} levels, the bound is {bound}: {code:?}");
    }
    assert!(trees > PROGRAMS / 3, "only {trees} of {PROGRAMS} are trees");
}

fn depth(program: &Program<'_>) -> u64 {
    #[derive(Default)]
    struct Depth {
        now: u64,
        most: u64,
    }

    impl<'a> Visit<'a> for Depth {
        fn enter_node(&mut self, _: AstKind<'a>) {
            self.now += 1;
            self.most = self.most.max(self.now);
        }

        fn leave_node(&mut self, _: AstKind<'a>) {
            self.now -= 1;
        }
    }

    let mut depth = Depth::default();
    depth.visit_program(program);
    depth.most
}

/// Levels of a tree without any nesting.
const FLAT: u64 = 12;
/// Levels of a tree that one step of nesting may make.
const NODES_PER_STEP: u64 = 3;
