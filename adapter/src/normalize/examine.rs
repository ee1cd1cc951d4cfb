//! A walk over the parser's tree before its semantic check: what the dialect's parser refuses and this one accepts, and
//! how long the check may take.

use oxc_ast::{AstKind, ast::*};
use oxc_ast_visit::Visit;

/// What the walk found.
#[derive(Debug)]
pub(super) struct Examination {
    /// The program holds what is no ECMAScript yet, or a jump out of an arrow function.
    pub(super) refused: bool,
    /// An upper bound on the steps of the semantic check, about a nanosecond each.
    pub(super) steps: u64,
}

/// Walks over `program`.
pub(super) fn examine(program: &Program<'_>) -> Examination {
    let mut examiner = Examiner::default();
    examiner.visit_program(program);
    let private_uses = examiner.private_names.saturating_sub(examiner.private_members);
    // The check compares names pair by pair, and measures the distance of those that it misses.
    let private_pairs = private_uses.saturating_mul(examiner.private_members);
    let export_pairs = examiner.exported.saturating_mul(examiner.bindings);
    let steps = examiner
        .steps
        .saturating_add(private_pairs.saturating_mul(PRIVATE_PAIR))
        .saturating_add(export_pairs.saturating_mul(EXPORT_PAIR));
    Examination { refused: examiner.refused, steps }
}

#[derive(Default)]
struct Examiner<'a> {
    refused: bool,
    steps: u64,
    depth: u64,
    bindings: u64,
    exported: u64,
    private_names: u64,
    private_members: u64,
    /// The innermost function, arrow function or static block.
    inside: Region<'a>,
    /// Those around it.
    outside: Vec<Region<'a>>,
}

/// What a jump may aim at, and whether names are declared for the whole function.
#[derive(Default)]
struct Region<'a> {
    loops: u32,
    switches: u32,
    labels: Vec<&'a str>,
    vars: u32,
}

impl<'a> Visit<'a> for Examiner<'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.depth += 1;
        // A check may look at all the nodes around one, and a few do so twice.
        self.steps += self.depth * ANCESTOR;
        match kind {
            AstKind::Decorator(_) | AstKind::AccessorProperty(_) => self.refused = true,
            AstKind::ImportDeclaration(import) => self.refused |= import.phase.is_some(),
            AstKind::ImportExpression(import) => self.refused |= import.phase.is_some(),
            AstKind::WithClause(clause) => self.refused |= clause.keyword == WithClauseKeyword::Assert,
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) | AstKind::StaticBlock(_) => {
                self.outside.push(std::mem::take(&mut self.inside));
            }
            AstKind::BreakStatement(statement) => {
                let place = &self.inside;
                self.jump(statement.label.as_ref(), place.loops + place.switches > 0);
            }
            AstKind::ContinueStatement(statement) => self.jump(statement.label.as_ref(), self.inside.loops > 0),
            AstKind::LabeledStatement(statement) => self.inside.labels.push(statement.label.name.as_str()),
            AstKind::SwitchStatement(_) => self.inside.switches += 1,
            AstKind::VariableDeclaration(declaration) => self.inside.vars += u32::from(declaration.kind.is_var()),
            AstKind::BindingIdentifier(_) => {
                self.bindings += 1;
                if self.inside.vars > 0 {
                    // It is declared in every scope up to the function's.
                    self.steps += self.depth * SCOPE;
                }
            }
            AstKind::ExportSpecifier(_) => self.exported += 1,
            AstKind::PrivateIdentifier(_) => self.private_names += 1,
            AstKind::MethodDefinition(member) => self.private_members += u64::from(is_private(&member.key)),
            AstKind::PropertyDefinition(member) => self.private_members += u64::from(is_private(&member.key)),
            _ if is_loop(kind) => self.inside.loops += 1,
            _ => {}
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        self.depth -= 1;
        match kind {
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) | AstKind::StaticBlock(_) => {
                self.inside = self.outside.pop().unwrap_or_default();
            }
            AstKind::LabeledStatement(_) => {
                self.inside.labels.pop();
            }
            AstKind::SwitchStatement(_) => self.inside.switches -= 1,
            AstKind::VariableDeclaration(declaration) => self.inside.vars -= u32::from(declaration.kind.is_var()),
            _ if is_loop(kind) => self.inside.loops -= 1,
            _ => {}
        }
    }
}

impl Examiner<'_> {
    /// The parser's own check looks past arrow functions (ECMA-262, section 8.3, stops at every function).
    fn jump(&mut self, label: Option<&LabelIdentifier<'_>>, has_unlabelled_target: bool) {
        match label {
            None => self.refused |= !has_unlabelled_target,
            Some(label) => {
                self.refused |= !self.inside.labels.contains(&label.name.as_str());
                self.steps += self.depth * LABEL;
            }
        }
    }
}

fn is_loop(kind: AstKind<'_>) -> bool {
    matches!(
        kind,
        AstKind::ForStatement(_)
            | AstKind::ForInStatement(_)
            | AstKind::ForOfStatement(_)
            | AstKind::WhileStatement(_)
            | AstKind::DoWhileStatement(_)
    )
}

fn is_private(key: &PropertyKey<'_>) -> bool {
    matches!(key, PropertyKey::PrivateIdentifier(_))
}

/// Steps for one node around another.
const ANCESTOR: u64 = 3;
/// Steps for one scope in which a name is entered.
const SCOPE: u64 = 128;
/// Steps for one label that is compared.
const LABEL: u64 = 128;
/// Steps for one use of a private name against one member.
const PRIVATE_PAIR: u64 = 700;
/// Steps for one exported name against one binding.
const EXPORT_PAIR: u64 = 100;
