//! The shapes of raw model output, and what runs in their place.

use codemode_adapter::normalize_code;

/// What the model wrote, what runs.
const TABLE: &[(&str, &str)] = &[
    ("async () => 42", "async () => 42"),
    ("1 + 2", "async () => {\nreturn (1 + 2)\n}"),
    ("const a = 40\na + 2", "async () => {\nconst a = 40\nreturn (a + 2)\n}"),
    ("let a = 1\nif (a) { a += 1 }", "async () => {\nlet a = 1\nif (a) { a += 1 }\n}"),
    ("return 6 * 7", "async () => {\nreturn 6 * 7\n}"),
    ("function run() { return 42 }", "async () => {\nfunction run() { return 42 }\nreturn run();\n}"),
    ("export default async () => 42", "async () => 42"),
    ("export default function () { return 42 }", "async () => {\nreturn (function () { return 42 })();\n}"),
    ("export default class {}", "async () => {\nreturn (class {});\n}"),
    (
        "import { helper } from 'lib.js'\nconst a = helper()\na",
        "import { helper } from 'lib.js'\nasync () => {\nconst a = helper()\nreturn (a)\n}",
    ),
    ("", "async () => {}"),
    ("```js\nconst sum = 20 + 22\nsum\n```", "async () => {\nconst sum = 20 + 22\nreturn (sum)\n}"),
];

/// More of the same, in the words of no specification.
const MORE: &[(&str, &str)] = &[
    // Arrow functions alone.
    ("() => 1", "() => 1"),
    ("(async () => 1)", "(async () => 1)"),
    ("((x) => x)", "((x) => x)"),
    ("async () => 1;", "async () => 1;"),
    ("async () => 1 // done", "async () => 1 // done"),
    ("async () => { return 1; }; /* end */", "async () => { return 1; }; /* end */"),
    ("// plan\nasync () => 1", "// plan\nasync () => 1"),
    ("\u{feff}async () => 1\u{2028}", "async () => 1"),
    ("async () =>\u{a0}1", "async () =>\u{a0}1"),
    ("async () => 1;;", "async () => {\nasync () => 1;;\n}"),
    ("async () => 'é😀'", "async () => 'é😀'"),
    // A last expression.
    ("({ a: 1 })", "async () => {\nreturn ({ a: 1 })\n}"),
    ("(a, b)", "async () => {\nreturn (a, b)\n}"),
    ("((a), (b))", "async () => {\nreturn ((a), (b))\n}"),
    ("(a) + b", "async () => {\nreturn ((a) + b)\n}"),
    ("await f();", "async () => {\nreturn (await f())\n}"),
    ("let x; x = 5", "async () => {\nlet x; return (x = 5)\n}"),
    ("const a = 1\n;(async () => a)()", "async () => {\nconst a = 1\n;return ((async () => a)())\n}"),
    ("const a = 1\n(async () => a)()", "async () => {\nconst a = 1\n(async () => a)()\n}"),
    ("'use strict'", "async () => {\nreturn ('use strict')\n}"),
    ("'use strict'; ('x')", "async () => {\n'use strict'; return ('x')\n}"),
    ("a // c", "async () => {\nreturn (a)\n}"),
    ("// é😀\nconst 𠮷 = 'é'\r\n𠮷 + '😀'", "async () => {\n// é😀\nconst 𠮷 = 'é'\r\nreturn (𠮷 + '😀')\n}"),
    ("do x(); while(0) y()", "async () => {\ndo x(); while(0) return (y())\n}"),
    ("function a() {}\na()", "async () => {\nfunction a() {}\nreturn (a())\n}"),
    ("console.warn(\"late\")", "async () => {\nreturn (console.warn(\"late\"))\n}"),
    ("function () { return 12 }", "async () => {\nfunction () { return 12 }\n}"),
    ("(function () { return 12 })", "async () => {\nreturn (function () { return 12 })\n}"),
    ("a\n<!--b", "async () => {\nreturn (a\n<!--b)\n}"),
    // No value at the end.
    ("const main = async () => 13;", "async () => {\nconst main = async () => 13;\n}"),
    ("class A {}", "async () => {\nclass A {}\n}"),
    ("if (1) { 2 }", "async () => {\nif (1) { 2 }\n}"),
    ("foo: for (;;) { break foo }", "async () => {\nfoo: for (;;) { break foo }\n}"),
    ("throw new Error('top')", "async () => {\nthrow new Error('top')\n}"),
    ("// nothing", "async () => {\n// nothing\n}"),
    (" \n\t ", "async () => {}"),
    // Declarations that are called.
    ("async function main() { return 4 }", "async () => {\nasync function main() { return 4 }\nreturn main();\n}"),
    ("function* g() { yield 1 } // c", "async () => {\nfunction* g() { yield 1 } // c\nreturn g();\n}"),
    ("function \\u0061b() {}", "async () => {\nfunction \\u0061b() {}\nreturn ab();\n}"),
    ("function f() {};", "async () => {\nfunction f() {};\n}"),
    // Exports.
    ("export default async () => 5;", "async () => 5"),
    (
        "export default async function main() { return 7 }",
        "async () => {\nasync function main() { return 7 }\nreturn main();\n}",
    ),
    (
        "// c\nexport default async function () { return 6 }\n",
        "async () => {\nreturn (async function () { return 6 })();\n}",
    ),
    ("export default class A {}", "async () => {\nclass A {}\n}"),
    ("export default (1 + 2)", "async () => {\nreturn (1 + 2)\n}"),
    ("export default { fetch() { return 1 } }", "async () => {\n{ fetch() { return 1 } }\n}"),
    ("export default ```\nasync () => 1```", "async () => 1"),
    ("const x = 1;\nexport default x", "async () => {\nconst x = 1;\nexport default x\n}"),
    ("export const x = 1;", "async () => {\nexport const x = 1;\n}"),
    // Static imports.
    ("import 'a'", "import 'a'\nasync () => {}"),
    ("import 'a';async () => 1", "import 'a';\nasync () => 1"),
    ("// first\nimport 'a' // then\n\nreturn 1", "// first\nimport 'a'\nasync () => {\n// then\n\nreturn 1\n}"),
    ("import a from 'a'\nexport default () => a", "import a from 'a'\n() => a"),
    ("import('a')", "async () => {\nreturn (import('a'))\n}"),
    ("import.meta", "async () => {\nreturn (import.meta)\n}"),
    ("1\nimport 'a'", "async () => {\n1\nimport 'a'\n}"),
    // Fences.
    ("```JS\nasync () => 42\n```", "async () => {\nreturn (```JS\nasync () => 42\n```)\n}"),
    ("```async () => 42```", "async () => {\nreturn (```async () => 42```)\n}"),
    ("```tsx  \r\n\n  async () => 42  ```", "async () => 42"),
    ("Here is the code:\n```js\n1\n```", "async () => {\nHere is the code:\n```js\n1\n```\n}"),
    // Broken for real, and what would break out of its place.
    ("async () => { return 1 +; }", "async () => {\nasync () => { return 1 +; }\n}"),
    ("async () => { const x: number = 1 }", "async () => {\nasync () => { const x: number = 1 }\n}"),
    ("async () => 1)(), (async () => 2", "async () => {\nasync () => 1)(), (async () => 2\n}"),
    ("<!-- hi -->\n1", "async () => {\n<!-- hi -->\n1\n}"),
    ("() => { l: for (;;) (() => { break l })() }", "async () => {\n() => { l: for (;;) (() => { break l })() }\n}"),
    ("a\u{200b}", "async () => {\na\u{200b}\n}"),
    ("a\u{85}", "async () => {\na\u{85}\n}"),
    // A function of a function's own level is like a variable there.
    (
        "function f() { function g() {} { var g = 1 } }",
        "async () => {\nfunction f() { function g() {} { var g = 1 } }\nreturn f();\n}",
    ),
    (
        "function f() { { function g() {} { var g = 1 } } }",
        "async () => {\nfunction f() { { function g() {} { var g = 1 } } }\n}",
    ),
];

#[test]
fn every_shape_becomes_what_the_table_says() {
    for (code, expected) in TABLE.iter().chain(MORE) {
        assert_eq!(&normalize_code(code), expected, "{code:?}");
    }
}

#[test]
fn every_shape_of_the_table_is_a_fixed_point() {
    for (code, expected) in TABLE {
        assert_eq!(&normalize_code(expected), expected, "{code:?}");
    }
}

#[test]
fn every_tag_that_the_dialect_knows_is_taken_off() {
    for tag in ["js", "javascript", "ts", "typescript", "tsx", "jsx", ""] {
        for (open, close) in [("\n", "\n"), ("\r\n", "\r\n"), (" \n\n", "\n  "), ("\n", "")] {
            let code = format!("  ```{tag}{open}async () => 42{close}```\n ");
            assert_eq!(normalize_code(&code), "async () => 42", "{code:?}");
        }
    }
}

#[test]
fn too_much_is_passed_on_or_wrapped_unread() {
    let big = "'x', ".repeat(200_000);
    let passed_on = [
        format!("async () => {{ return [{big}] }}"),
        format!("(a, b) => {{ return [{big}] }};"),
        format!("async a => ([{big}]) // end"),
        format!("// plan\n() => [{big}]"),
        // The parser takes it, its check would take too long.
        format!("async () => {{ {}{}{} }}", "{".repeat(400), "var x, y, z; ".repeat(2_000), "}".repeat(400)),
    ];
    for code in passed_on {
        assert_eq!(normalize_code(&code), code);
    }
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    for code in [format!("const a = [{big}]\na"), deep, "!".repeat(500_000)] {
        assert_eq!(normalize_code(&code), format!("async () => {{\n{code}\n}}"));
    }
}
