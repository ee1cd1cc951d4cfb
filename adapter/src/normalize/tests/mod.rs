//! The normaliser against what was recorded of the dialect's own parser, and against inputs that are out to hurt.

mod generated;
mod hostile;
mod programs;
mod reference;
mod words;

use oxc_ast::ast::*;
use oxc_span::GetSpan;
use serde::Deserialize;

use super::{
    parse::{Unparsed, with_program},
    scan::scan,
};

#[derive(Deserialize)]
struct Case {
    name: String,
    code: String,
    acorn: Verdict,
}

#[derive(Deserialize)]
struct Verdict {
    ok: bool,
    #[serde(default)]
    body: Vec<(String, usize, usize)>,
}

#[test]
fn every_verdict_and_every_span_is_the_dialects_parsers() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../../tests/data/parser-verdicts.json")).unwrap();
    assert_eq!(cases.len(), 292);
    let mut wrong = Vec::new();
    for case in cases {
        let ours = with_program(&case.code, scan(&case.code).nesting, |program| statements(program, &case.code));
        if ours != case.acorn.ok.then_some(case.acorn.body.clone()).ok_or(Unparsed::Syntax) {
            wrong.push(format!("{} {:?}: {ours:?}, expected {:?}", case.name, case.code, case.acorn.body));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The statements under the names of the ESTree, with their ends in UTF-16 units.
fn statements(program: &Program<'_>, source: &str) -> Vec<(String, usize, usize)> {
    let units = |bytes: u32| source[..bytes as usize].encode_utf16().count();
    let directives = program.directives.iter().map(|directive| ("ExpressionStatement", directive.span));
    let body = program.body.iter().map(|statement| (kind(statement), statement.span()));
    directives.chain(body).map(|(kind, span)| (kind.to_owned(), units(span.start), units(span.end))).collect()
}

fn kind(statement: &Statement<'_>) -> &'static str {
    match statement {
        Statement::BlockStatement(_) => "BlockStatement",
        Statement::BreakStatement(_) => "BreakStatement",
        Statement::ClassDeclaration(_) => "ClassDeclaration",
        Statement::ContinueStatement(_) => "ContinueStatement",
        Statement::DebuggerStatement(_) => "DebuggerStatement",
        Statement::DoWhileStatement(_) => "DoWhileStatement",
        Statement::EmptyStatement(_) => "EmptyStatement",
        Statement::ExportAllDeclaration(_) => "ExportAllDeclaration",
        Statement::ExportDefaultDeclaration(_) => "ExportDefaultDeclaration",
        Statement::ExportDeclaration(_)
        | Statement::ExportNamedDeclaration(_)
        | Statement::ExportFromDeclaration(_) => "ExportNamedDeclaration",
        Statement::ExpressionStatement(_) => "ExpressionStatement",
        Statement::ForInStatement(_) => "ForInStatement",
        Statement::ForOfStatement(_) => "ForOfStatement",
        Statement::ForStatement(_) => "ForStatement",
        Statement::FunctionDeclaration(_) => "FunctionDeclaration",
        Statement::IfStatement(_) => "IfStatement",
        Statement::ImportDeclaration(_) => "ImportDeclaration",
        Statement::LabeledStatement(_) => "LabeledStatement",
        Statement::SwitchStatement(_) => "SwitchStatement",
        Statement::TryStatement(_) => "TryStatement",
        Statement::VariableDeclaration(_) => "VariableDeclaration",
        Statement::WhileStatement(_) => "WhileStatement",
        _ => "other",
    }
}
