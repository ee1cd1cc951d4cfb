//! What holds for any text that a model may write.

use std::time::{Duration, Instant};

use codemode_protocol::separate_imports;
use oxc_ast::{AstKind, ast::Program};
use oxc_ast_visit::Visit;

use super::{
    super::{
        normalize_code,
        parse::{Budget, Shape, shape, with_program},
        scan::scan,
    },
    programs::{Choices, seeds},
};
use crate::space::trim;

const PROGRAMS: usize = 6_000;

#[test]
fn generated_programs_become_fixed_points_in_bounded_time() {
    let seeds = seeds();
    let mut choices = Choices::new(0x5eed);
    let (mut longest, mut functions) = (Duration::ZERO, 0);
    for _ in 0..PROGRAMS {
        let code = choices.program(&seeds);
        let start = Instant::now();
        let normalized = normalize_code(&code);
        longest = longest.max(start.elapsed());
        // What breaks out of its wrap parses, but not as the one function that an executor takes.
        if shape(trim(separate_imports(&normalized).body), &mut Budget::default()) == Shape::Arrow {
            functions += 1;
            assert_eq!(normalize_code(&normalized), normalized, "{code:?}");
        }
    }
    assert!(functions > PROGRAMS / 3, "only {functions} of {PROGRAMS} are functions");
    assert!(longest < Duration::from_secs(2), "one program took {longest:?}");
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
