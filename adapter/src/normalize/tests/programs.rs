//! Programs as models write them, and as nobody does: made by a grammar from a seed, so that every run sees the same ones.

use std::fmt::Write as _;

use super::words::*;

/// A source of choices: SplitMix64, the same on every machine.
pub(super) struct Choices {
    state: u64,
}

impl Choices {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    fn of(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }

    /// One text of model output; `seeds` are programs to take pieces from.
    pub(super) fn program(&mut self, seeds: &[String]) -> String {
        let mut text = match self.below(16) {
            0..=4 => self.statements(4),
            5..=6 => self.statements(1),
            7 => self.arrow_alone(),
            8 => self.function_alone(),
            9 => self.default_export(),
            10 => self.statements(2) + self.separator() + "return " + &self.expression(3),
            11 => self.imports() + &self.statements(3),
            12 => self.soup(),
            13 => seeds[self.below(seeds.len())].clone(),
            14 => {
                let first = seeds[self.below(seeds.len())].clone();
                first + self.separator() + &seeds[self.below(seeds.len())]
            }
            _ => self.statements(1) + self.separator() + &seeds[self.below(seeds.len())],
        };
        if self.one_in(5) {
            for _ in 0..=self.below(3) {
                self.damage(&mut text);
            }
        }
        if self.one_in(5) {
            text = self.fenced(&text);
        }
        if self.one_in(8) {
            text = format!("{}{text}{}", self.of(SPACES), self.of(SPACES));
        }
        text
    }

    /// Expressions in expressions, so many levels deep.
    pub(super) fn nest(&mut self, levels: usize) -> String {
        let mut text = self.atom();
        for _ in 0..self.below(levels) {
            let (before, after) = NESTS[self.below(NESTS.len())];
            text = format!("{before}{text}{after}");
        }
        text
    }

    /// Some bytes of `text` taken away, put in or cut off, wherever that is.
    pub(super) fn damage_bytes(&mut self, text: &mut Vec<u8>) {
        for _ in 0..1 + self.below(3) {
            let at = self.below(text.len() + 1);
            match self.below(4) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => text.truncate(at),
                2 => text.insert(at, self.next() as u8),
                _ => text.insert(at, self.of(DAMAGE).as_bytes()[0]),
            }
        }
    }

    /// One tool name, of characters that matter to identifiers and some that do not.
    pub(super) fn tool_name(&mut self) -> String {
        if self.one_in(4) {
            let word = self.of(WORDS);
            return format!("{}{word}{}", self.of(NAME_ENDS), self.of(NAME_ENDS));
        }
        (0..self.below(8)).map(|_| self.name_character()).collect()
    }

    fn name_character(&mut self) -> char {
        match self.below(6) {
            0..=2 => char::from(b' ' + self.below(95) as u8),
            3 => char::from_u32(self.below(0x3100) as u32).unwrap_or('-'),
            4 => char::from_u32(self.below(0x11_0000) as u32).unwrap_or('.'),
            _ => self.of(SPACES).chars().next().unwrap_or('_'),
        }
    }

    fn statements(&mut self, most: usize) -> String {
        let mut text = String::new();
        for index in 0..=self.below(most) {
            if index > 0 {
                text += self.separator();
            }
            text += &self.statement(3);
        }
        if self.one_in(3) {
            text += self.of(ENDS);
        }
        text
    }

    fn separator(&mut self) -> &'static str {
        self.of(&["\n", ";\n", ";", "\n\n", " ; ", "\r\n", " // c\n", "\n/* c */ ", "\u{2028}", " /*\n*/ ", ";;"])
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.expression(1);
        }
        let deeper = depth - 1;
        match self.below(24) {
            0..=5 => self.expression(depth),
            6 => format!("const {} = {}", self.pattern(1), self.expression(deeper)),
            7 => format!("let {} = {}", self.name(), self.expression(deeper)),
            8 => format!("let {}", self.name()),
            9 => format!("var {} = {}", self.pattern(1), self.expression(deeper)),
            10 => format!("if ({}) {}", self.expression(deeper), self.branch(deeper)),
            11 => format!("if ({}) {} else {}", self.expression(1), self.branch(deeper), self.branch(deeper)),
            12 => format!("for (const {} of {}) {}", self.pattern(1), self.expression(1), self.branch(deeper)),
            13 => format!("for (let i = 0; i < {}; i++) {}", self.expression(1), self.branch(deeper)),
            14 => format!("while ({}) {{ {}; break }}", self.expression(1), self.statement(deeper)),
            15 => format!("do {} while ({})", self.branch(deeper), self.expression(1)),
            16 => {
                format!("try {{ {} }} catch ({}) {{ {} }}", self.statement(deeper), self.name(), self.statement(deeper))
            }
            17 => format!(
                "switch ({}) {{ case 1: {}; break; default: {} }}",
                self.name(),
                self.statement(deeper),
                self.statement(deeper)
            ),
            18 => format!(
                "{}function {}({}) {{ {} }}",
                self.of(&["", "async "]),
                self.name(),
                self.parameters(),
                self.statement(deeper)
            ),
            19 => format!("function* {}() {{ yield {} }}", self.name(), self.expression(1)),
            20 => format!("class {} {{ {} }}", self.name(), self.members(deeper)),
            21 => format!("{{ {} }}", self.statement(deeper)),
            22 => format!("{}: {}", self.name(), self.branch(deeper)),
            _ => match self.below(8) {
                0 => "'use strict'".into(),
                1 => format!("throw {}", self.expression(1)),
                2 => "debugger".into(),
                3 => format!("for await (const {} of {}) {{}}", self.name(), self.expression(1)),
                4 => format!("export const {} = 1", self.name()),
                5 => format!("using {} = {}", self.name(), self.expression(1)),
                6 => format!("for (const {} in {}) continue", self.name(), self.expression(1)),
                _ => format!("return {}", self.expression(1)),
            },
        }
    }

    fn branch(&mut self, depth: usize) -> String {
        match self.below(4) {
            0 => format!("{};", self.expression(1)),
            1 => "{}".into(),
            _ => format!("{{ {} }}", self.statement(depth)),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.atom();
        }
        let deeper = depth - 1;
        match self.below(34) {
            0..=5 => self.atom(),
            6 => format!(
                "{} {} {}",
                self.expression(deeper),
                self.usual_or_odd(BINARY, ODD_BINARY),
                self.expression(deeper)
            ),
            7 => format!("{}{}", self.usual_or_odd(UNARY, ODD_UNARY), self.operand(deeper)),
            8 => format!("await {}", self.operand(deeper)),
            9 => format!("codemode.{}({})", self.name(), self.expression(deeper)),
            10 => format!("{}.{}", self.operand(deeper), self.name()),
            11 => format!("{}?.{}", self.name(), self.of(&["a", "[0]", "()", "b.c", "d?.(1)"])),
            12 => format!("{}[{}]", self.name(), self.expression(deeper)),
            13 => format!("({})", self.expression(deeper)),
            14 => format!("({}, {})", self.expression(deeper), self.expression(deeper)),
            15 => format!("{}, {}", self.expression(deeper), self.expression(deeper)),
            16 => format!("{{ {} }}", self.properties(deeper)),
            17 => format!("({{ {} }})", self.properties(deeper)),
            18 => format!("[{}, ...{}]", self.expression(deeper), self.name()),
            19 => format!("({}) => {}", self.parameters(), self.expression(deeper)),
            20 => format!("async ({}) => {{ {} }}", self.parameters(), self.statement(deeper)),
            21 => format!("{} => {}", self.name(), self.expression(deeper)),
            22 => format!("async {} => {}", self.name(), self.expression(deeper)),
            23 => format!("function {}({}) {{ {} }}", self.of(&["", "f"]), self.parameters(), self.statement(deeper)),
            24 => format!("class {} {{ {} }}", self.of(&["", "A", "extends B"]), self.members(deeper)),
            25 => format!("`a${{{}}}b`", self.expression(deeper)),
            26 => format!("{}`x${{{}}}`", self.name(), self.expression(deeper)),
            27 if self.one_in(3) => format!("({} = {})", self.pattern(1), self.expression(deeper)),
            27 => {
                format!("{} {} {}", self.name(), self.of(&["=", "+=", "??=", "||=", "**="]), self.expression(deeper))
            }
            28 => format!("{} ? {} : {}", self.operand(deeper), self.expression(deeper), self.expression(deeper)),
            29 => format!("new {}({})", self.name(), self.expression(deeper)),
            30 => format!("(async () => {{ {} }})()", self.statement(deeper)),
            31 => format!("Promise.all([{}].map({}))", self.expression(deeper), self.expression(deeper)),
            32 => format!("{}\n.{}\n.{}", self.name(), self.name(), self.name()),
            _ => format!("import({})", self.expression(deeper)),
        }
    }

    /// An expression that may stand beside an operator, most of the time.
    fn operand(&mut self, depth: usize) -> String {
        match self.below(12) {
            0 => self.expression(depth),
            1..=4 => format!("({})", self.expression(depth)),
            5..=6 => format!("codemode.{}({})", self.name(), self.atom()),
            _ => self.name(),
        }
    }

    fn atom(&mut self) -> String {
        match self.below(5) {
            0..=1 => self.name(),
            _ => self.usual_or_odd(ATOMS, ODD_ATOMS).to_owned(),
        }
    }

    fn name(&mut self) -> String {
        self.usual_or_odd(NAMES, ODD_NAMES).to_owned()
    }

    fn usual_or_odd(&mut self, usual: &[&'static str], odd: &[&'static str]) -> &'static str {
        if self.one_in(300) { self.of(odd) } else { self.of(usual) }
    }

    fn pattern(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.name();
        }
        match self.below(8) {
            0 => format!("{{ {} }}", self.name()),
            1 => format!("{{ {}: {}, ...rest }}", self.name(), self.pattern(0)),
            2 => format!("[{}, {} = 1]", self.pattern(0), self.pattern(0)),
            3 => format!("{{ {} = {} }}", self.name(), self.atom()),
            _ => self.name(),
        }
    }

    fn parameters(&mut self) -> String {
        match self.below(6) {
            0..=1 => String::new(),
            2 => self.name(),
            3 => format!("{}, {}", self.pattern(1), self.pattern(1)),
            4 => format!("{} = {}", self.name(), self.atom()),
            _ => format!("...{}", self.name()),
        }
    }

    fn properties(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(3) {
            let property = match self.below(9) {
                0..=2 => format!("{}: {}", self.name(), self.expression(depth)),
                3 => self.name(),
                4 => format!("[{}]: {}", self.atom(), self.atom()),
                5 => format!("{}() {{ return {} }}", self.of(&["m", "async m", "*m", "if", "get"]), self.atom()),
                6 => format!("get {}() {{ return 1 }}", self.name()),
                7 => format!("...{}", self.name()),
                _ => format!("{}: {}", self.of(&["'a b'", "1", "__proto__", "class"]), self.expression(depth)),
            };
            let _ = write!(text, "{property}, ");
        }
        text
    }

    fn members(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(4) {
            let member = match self.below(9) {
                0 => format!("constructor({}) {{ {} }}", self.parameters(), self.of(&["", "super()", "this.a = 1"])),
                1 => format!("{} = {}", self.name(), self.expression(depth)),
                2 => format!("#x = {};", self.expression(depth)),
                3 => format!("static {{ {} }}", self.statement(depth)),
                4 => format!(
                    "{} {}() {{ return this.#x }}",
                    self.of(&["get", "static", "async", "static async *"]),
                    self.name()
                ),
                5 => format!("m() {{ {} }}", self.statement(depth)),
                6 => format!("static {};", self.name()),
                7 => format!("{} = super.{}", self.name(), self.name()),
                _ => format!("[{}]() {{ #x in this }}", self.atom()),
            };
            text += &member;
            text += self.of(&["\n", "; ", " "]);
        }
        text
    }

    fn arrow_alone(&mut self) -> String {
        let before = self.of(&["", "", "", "// plan\n", "/* plan */ ", "'use strict';", "(", "\u{feff}", ";"]);
        let kind = self.of(&["async ", "async ", "", "async\n", "await "]);
        let parameters = self.parameters();
        let body = match self.below(3) {
            0 => self.expression(2),
            1 => format!("{{ {} }}", self.statements(3)),
            _ => format!("{{\n  {}\n  return {}\n}}", self.statement(2), self.expression(2)),
        };
        let after =
            self.of(&["", "", ";", " // done", "; /* end */", ";;", ")", "()", ")()", "\n", "\n;", ";\n// end\n"]);
        format!("{before}{kind}({parameters}) => {body}{after}")
    }

    fn function_alone(&mut self) -> String {
        let kind = self.of(&["function ", "async function ", "function* ", "async function* ", "async\nfunction "]);
        let name = self.of(&["main", "run", "é", "𠮷", "\\u0061b", "await", "eval", "$", "", "async"]);
        let after = self.of(&["", "", ";", "\nmain()", "\nmain();", " // end", "\nrun", "()", "\n\n"]);
        format!("{kind}{name}({}) {{ {} }}{after}", self.parameters(), self.statements(2))
    }

    fn default_export(&mut self) -> String {
        let declaration = match self.below(9) {
            0..=1 => self.arrow_alone(),
            2..=3 => self.function_alone(),
            4 => format!("class {} {{ {} }}", self.of(&["", "A", "extends B"]), self.members(1)),
            5 => format!("({})", self.expression(2)),
            6 => "```\nasync () => 1```".into(),
            7 => format!("{{ {} }}", self.properties(1)),
            _ => self.expression(2),
        };
        let before = self.of(&["", "", "", "const x = 1;\n", "// c\n"]);
        let after = self.of(&["", "", ";", "\nx", " // c"]);
        format!("{before}export default {declaration}{after}")
    }

    fn imports(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..=self.below(2) {
            let clause = self.of(&[
                "a from ",
                "{ a } from ",
                "{ a as b, c } from ",
                "* as ns from ",
                "d, { e } from ",
                "",
                "defer * as z from ",
            ]);
            let after = self.of(&["\n", ";\n", ";", " with { type: 'json' }\n", "; // c\n", " "]);
            let _ = write!(text, "import {clause}{}{after}", self.of(&["'lib.js'", "\"x\"", "'node:path'", "`x`"]));
        }
        text
    }

    fn soup(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(14) {
            text += self.of(TOKENS);
            text += self.of(&["", " ", " ", "\n"]);
        }
        text
    }

    fn damage(&mut self, text: &mut String) {
        let at = text.floor_char_boundary(self.below(text.len() + 1));
        match self.below(6) {
            0 if at < text.len() => {
                text.remove(at);
            }
            1 => text.truncate(at),
            2 => text.insert_str(at, self.of(SPACES)),
            3 => {
                let rest = text[at..].to_owned();
                let end = rest.floor_char_boundary(self.below(12).min(rest.len()));
                text.insert_str(at, &rest[..end]);
            }
            _ => text.insert_str(at, self.of(TOKENS)),
        }
    }

    fn fenced(&mut self, text: &str) -> String {
        let tag =
            self.of(&["js", "javascript", "ts", "typescript", "tsx", "jsx", "", "", "JS", "mjs", "json", "js title=x"]);
        let open = self.of(&["\n", "\n", "\n", "\r\n", " \n", "\n\n", "", "\t\n  "]);
        let close = self.of(&[
            "\n```",
            "\n```",
            "\n```",
            "```",
            "\n```\n",
            "\n``` \n",
            "\n````",
            "\n```\nHope it helps",
            "",
            "\n``",
        ]);
        let before = self.of(&["", "", "", "", "Here is the code:\n", " \n"]);
        format!("{before}```{tag}{open}{text}{close}")
    }
}

/// Programs to take pieces from: those whose verdicts are recorded.
pub(super) fn seeds() -> Vec<String> {
    let cases: Vec<serde_json::Value> = serde_json::from_str(include_str!("../../../tests/data/parser-verdicts.json"))
        .expect("the recorded verdicts are JSON");
    cases.iter().filter_map(|case| case["code"].as_str().map(str::to_owned)).collect()
}

const DAMAGE: &[&str] = &["(", ")", "[", "{", "}", "`", "'", "/", "\\", "\n", ";", "=", ">", "#"];
