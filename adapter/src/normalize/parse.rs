//! The verdict on a text: what kind of program it is, if it parses as a JavaScript module at all.

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
};

use oxc_allocator::Allocator;
use oxc_ast::ast::*;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};

use super::{check::has_no_early_error, examine::examine, scan::scan};

/// What a text is, as far as its place in an arrow function depends on it. Ranges are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One arrow function, alone.
    Arrow,
    /// `export default` of a function or a class without a name, alone.
    AnonymousDefault { declaration: Range<usize>, is_function: bool },
    /// `export default` of anything else, alone.
    Default { declaration: Range<usize> },
    /// One function declaration, alone.
    Function { name: String },
    /// Statements of which the last is an expression.
    Expression { statement: usize, expression: Range<usize> },
    /// Anything else: statements without a value at their end, what does not parse, what costs too much to parse.
    Other,
}

/// What the parser may spend on one text, over all the parts that it is parsed in.
#[derive(Debug)]
pub(super) struct Budget {
    work: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { work: WORK }
    }
}

/// The shape of `source`.
pub(super) fn shape(source: &str, budget: &mut Budget) -> Shape {
    let mut bound = scan(source);
    if source.contains(HTML_COMMENT) {
        bound.work *= 2;
    }
    let parsed = if source.len() > LONGEST || bound.nesting > DEEPEST || bound.work > budget.work {
        Err(Unparsed::Cost)
    } else {
        budget.work -= bound.work;
        with_program(source, bound.nesting, shape_of)
    };
    parsed.unwrap_or_else(|reason| match reason {
        Unparsed::Cost if bound.lone_arrow => Shape::Arrow,
        _ => Shape::Other,
    })
}

/// Why there is no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unparsed {
    /// The text is no JavaScript module.
    Syntax,
    /// It would take too long, or went wrong: nobody knows what the text is.
    Cost,
}

/// What `read` makes of the program that `source` is. `nesting` is the bound of [`scan`](scan()).
pub(super) fn with_program<R>(source: &str, nesting: u64, read: impl Fn(&Program<'_>) -> R) -> Result<R, Unparsed> {
    let stack = STACK_BASE + usize::try_from(nesting).unwrap_or(usize::MAX).saturating_mul(STACK_PER_STEP);
    let parse = || stacker::maybe_grow(stack, stack, || parse(source, read));
    // A parser that fails on some text has not parsed it; the gateway around us lives on.
    catch_unwind(AssertUnwindSafe(parse)).unwrap_or_else(|_| {
        tracing::error!(bytes = source.len(), "the parser panicked; the program runs as if it were too long for it");
        Err(Unparsed::Cost)
    })
}

fn parse<R>(source: &str, read: impl Fn(&Program<'_>) -> R) -> Result<R, Unparsed> {
    match parse_once(source, &read) {
        // Modules have no HTML comments, so this is three operators; the parser refuses them where a line begins. With
        // another one in their middle they have the same structure in the same places.
        Err(Unparsed::Syntax) if source.contains(HTML_COMMENT) => {
            parse_once(&source.replace(HTML_COMMENT, "<~--"), &read)
        }
        parsed => parsed,
    }
}

fn parse_once<R>(source: &str, read: &impl Fn(&Program<'_>) -> R) -> Result<R, Unparsed> {
    let allocator = Allocator::default();
    let options = ParseOptions { parse_regular_expression: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, source, SourceType::mjs()).with_options(options).parse();
    let is_no_space = |span: &Span| span.source_text(source).contains(NO_SPACE);
    if parsed.panicked || !parsed.diagnostics.is_empty() || parsed.irregular_whitespaces.iter().any(is_no_space) {
        return Err(Unparsed::Syntax);
    }
    let examination = examine(&parsed.program);
    if examination.refused {
        return Err(Unparsed::Syntax);
    }
    if examination.steps > STEPS {
        return Err(Unparsed::Cost);
    }
    if has_no_early_error(&parsed.program) { Ok(read(&parsed.program)) } else { Err(Unparsed::Syntax) }
}

fn shape_of(program: &Program<'_>) -> Shape {
    // Directives are kept apart from the statements, and stand before them.
    match (program.directives.as_slice(), program.body.as_slice()) {
        ([], [Statement::ExpressionStatement(statement)])
            if matches!(bare(&statement.expression), Expression::ArrowFunctionExpression(_)) =>
        {
            Shape::Arrow
        }
        ([], [Statement::ExportDefaultDeclaration(export)]) => shape_of_default(&export.declaration),
        ([], [Statement::FunctionDeclaration(function)]) => {
            Shape::Function { name: function.id.as_ref().map(|id| id.name.to_string()).unwrap_or_default() }
        }
        (_, [.., Statement::ExpressionStatement(statement)]) => Shape::Expression {
            statement: statement.span.start as usize,
            expression: range(bare(&statement.expression).span()),
        },
        ([.., directive], []) => {
            Shape::Expression { statement: directive.span.start as usize, expression: range(directive.expression.span) }
        }
        _ => Shape::Other,
    }
}

fn shape_of_default(declaration: &ExportDefaultDeclarationKind<'_>) -> Shape {
    let span = range(declaration.as_expression().map_or(declaration.span(), |expression| bare(expression).span()));
    match declaration {
        ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.id.is_none() => {
            Shape::AnonymousDefault { declaration: span, is_function: true }
        }
        ExportDefaultDeclarationKind::ClassDeclaration(class) if class.id.is_none() => {
            Shape::AnonymousDefault { declaration: span, is_function: false }
        }
        _ => Shape::Default { declaration: span },
    }
}

/// The expression inside any parentheses: the dialect's parser has no node for them.
fn bare<'a, 'b>(mut expression: &'b Expression<'a>) -> &'b Expression<'a> {
    while let Expression::ParenthesizedExpression(parenthesized) = expression {
        expression = &parenthesized.expression;
    }
    expression
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

const HTML_COMMENT: &str = "<!--";
/// What the parser takes for white space and ECMAScript does not: NEXT LINE and ZERO WIDTH SPACE.
pub(super) const NO_SPACE: [char; 2] = ['\u{85}', '\u{200b}'];
/// The longest text that is parsed, in bytes; no executor takes a longer program by default.
const LONGEST: usize = 1 << 20;
/// The deepest nesting that is parsed: more than any program has that was written to be read.
pub(super) const DEEPEST: u64 = 8_192;
/// The most work of [`scan`](scan()) that is parsed: some 250 KB of a program, or 100 ms of what takes longest.
pub(super) const WORK: u64 = 200_000;
/// The most steps of [`examine`] that are checked.
const STEPS: u64 = 60_000_000;
/// Stack that the parser takes however flat its input is, in bytes.
const STACK_BASE: usize = 128 << 10;
/// Stack that one step of nesting takes, in bytes: three times what the worst takes in a build without optimisation.
const STACK_PER_STEP: usize = 8 << 10;
