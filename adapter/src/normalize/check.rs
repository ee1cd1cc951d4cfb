//! The semantic check: the early errors that the grammar does not say.

use std::collections::HashSet;

use oxc_ast::{AstKind, ast::*};
use oxc_ast_visit::Visit;
use oxc_semantic::SemanticBuilder;
use oxc_span::Span;

/// Whether `program` has no early error (ECMA-262, section 16.2.1.1 and what it calls in).
pub(super) fn has_no_early_error(program: &Program<'_>) -> bool {
    let errors = SemanticBuilder::new().with_check_syntax_error(true).build(program).diagnostics;
    if errors.is_empty() {
        return true;
    }
    // What is told of as a redeclaration is legal when it is a `var` in a block whose function declares a function of that
    // name at its own level. There functions are like `var` (ECMA-262, section 8.2.10); the check takes them as lexical.
    let mut legal = LegalDeclarations::default();
    legal.visit_program(program);
    errors.iter().all(|error| match error.labels.as_slice() {
        [first, second] => legal.functions.contains(&first.span()) && legal.vars.contains(&second.span()),
        _ => false,
    })
}

#[derive(Default)]
struct LegalDeclarations {
    /// Names of functions that are declared at a function's own level.
    functions: HashSet<Span>,
    /// Declarators of `var`.
    vars: HashSet<Span>,
}

impl<'a> Visit<'a> for LegalDeclarations {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::FunctionBody(body) => self.level(&body.statements),
            AstKind::StaticBlock(block) => self.level(&block.body),
            AstKind::VariableDeclaration(declaration) if declaration.kind.is_var() => {
                self.vars.extend(declaration.declarations.iter().map(|declarator| declarator.span));
            }
            _ => {}
        }
    }
}

impl LegalDeclarations {
    fn level(&mut self, statements: &[Statement<'_>]) {
        let names = statements.iter().filter_map(|statement| match statement {
            Statement::FunctionDeclaration(function) => function.id.as_ref().map(|id| id.span),
            _ => None,
        });
        self.functions.extend(names);
    }
}
