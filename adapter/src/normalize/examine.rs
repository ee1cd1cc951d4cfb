//! A walk over the parser's tree before its semantic check: what the dialect's parser refuses and this one accepts, and
//! how long the check may take.

use std::collections::HashSet;

use oxc_ast::{AstKind, ast::*};
use oxc_ast_visit::Visit;

/// What the walk found.
#[derive(Debug)]
pub(super) struct Examination {
    /// The program holds what is no ECMAScript yet, a jump out of an arrow function, or a private name without a member.
    pub(super) refused: bool,
    /// An upper bound on the steps of the semantic check, about a nanosecond each.
    pub(super) steps: u64,
}

/// Walks over `program`.
pub(super) fn examine(program: &Program<'_>) -> Examination {
    let mut examiner = Examiner::default();
    examiner.visit_program(program);
    // The check measures the distance of every name that it misses to every name that there is.
    let export_pairs = examiner.exported.saturating_mul(examiner.bindings);
    let steps = examiner.steps.saturating_add(export_pairs.saturating_mul(EXPORT_PAIR));
    Examination { refused: examiner.refused, steps }
}

#[derive(Default)]
struct Examiner<'a> {
    refused: bool,
    steps: u64,
    depth: u64,
    bindings: u64,
    exported: u64,
    /// Open classes, outermost first.
    classes: Vec<PrivateNames<'a>>,
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

/// The private names of one class.
#[derive(Default)]
struct PrivateNames<'a> {
    members: HashSet<&'a str>,
    /// Members, private or not.
    elements: u64,
    /// As they are used in the class, their members' own included.
    uses: Vec<&'a str>,
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
            AstKind::Class(_) => self.classes.push(PrivateNames::default()),
            AstKind::MethodDefinition(member) => self.element(&member.key),
            AstKind::PropertyDefinition(member) => self.element(&member.key),
            AstKind::PrivateIdentifier(name) => match self.classes.last_mut() {
                Some(class) => class.uses.push(name.name.as_str()),
                None => self.refused = true,
            },
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
            AstKind::Class(_) => self.leave_class(),
            AstKind::VariableDeclaration(declaration) => self.inside.vars -= u32::from(declaration.kind.is_var()),
            _ if is_loop(kind) => self.inside.loops -= 1,
            _ => {}
        }
    }
}

impl<'a> Examiner<'a> {
    fn element(&mut self, key: &PropertyKey<'a>) {
        let Some(class) = self.classes.last_mut() else { return };
        class.elements += 1;
        if let PropertyKey::PrivateIdentifier(name) = key {
            class.members.insert(name.name.as_str());
        }
    }

    /// Names that the class does not have are looked for in the class around it. The check does the same by comparing
    /// name by name, and takes far longer over those that it does not find: here they end the examination.
    fn leave_class(&mut self) {
        let Some(mut class) = self.classes.pop() else { return };
        self.steps += class.uses.len() as u64 * class.elements * PRIVATE_PAIR;
        class.uses.retain(|name| !class.members.contains(name));
        match self.classes.last_mut() {
            Some(outer) => outer.uses.append(&mut class.uses),
            None => self.refused |= !class.uses.is_empty(),
        }
    }

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

/// Steps for one node around another.
const ANCESTOR: u64 = 3;
/// Steps for one scope in which a name is entered.
const SCOPE: u64 = 128;
/// Steps for one label that is compared.
const LABEL: u64 = 128;
/// Steps for one use of a private name against one member.
const PRIVATE_PAIR: u64 = 16;
/// Steps for one exported name against one binding.
const EXPORT_PAIR: u64 = 100;
