//! Inputs that are out to crash or to stall the gateway.

use std::{thread, time::Duration};

use super::super::{
    normalize_code,
    parse::{DEEPEST, WORK, with_program},
    scan::scan,
};

const MIB: usize = 1 << 20;

/// The length of what is too long to be parsed and only scanned, which is slow without optimisation.
const LONG: usize = if cfg!(debug_assertions) { MIB / 8 } else { MIB };

/// Ten times what no input of 1 MiB may take a release build.
const PATIENCE: Duration = Duration::from_millis(2_500);

/// As many of each pattern as a scan lets pass, and the stack that the bound asks for: were the bound too low for one of
/// them, this test would end its process.
#[test]
fn whatever_nests_is_within_the_scans_bound() {
    for (head, opening, middle, closing, tail) in NESTS {
        let nested = |count: usize| format!("{head}{}{middle}{}{tail}", opening.repeat(count), closing.repeat(count));
        let per_level = scan(&nested(101)).nesting - scan(&nested(100)).nesting;
        assert!(per_level >= 1, "{opening} counts for nothing");
        let count = usize::try_from(DEEPEST / per_level).unwrap();
        let code = nested(count);
        let nesting = scan(&code).nesting;
        // Whether it parses is not the question.
        let _ = on_a_worker(move || with_program(&code, nesting, |_| ()));
    }
}

#[test]
fn nothing_nests_unseen_behind_a_slash() {
    let beginnings = [
        // A regular expression that holds a quote; what takes the slash for a division sees a string from there.
        "/\"/;",
        "let a\n/\"/;",
        "debugger\n/\"/;",
        "a: {}/\"/;",
        "if (a) {}/\"/;",
        "if (a) /\"/;",
        "do {} while (a) /\"/;",
        "else /\"/;",
        "try {} finally {}\n/\"/;",
        "function f() {}/\"/;",
        "class A {}/\"/;",
        "x => {}\n/\"/;",
        "x => /\"/;",
        "[...await /\"/,",
        "a\n++/\"/.b;",
        "a = /[/\"]/;",
        "for await (a of b) /\"/;",
        "return /\"/;",
        "`${/\"/}`;",
        "import 'x'\n/\"/;",
        "break\n/\"/;",
        "#!'\n/\"/;",
        "case a: /\"/;",
        "a = b\n/* \n */ /\"/;",
        "typeof /\"/;",
        // A division by a string; what takes the slash for a regular expression sees a string behind it.
        "a/\"/\"+",
        "(a)/\"/\"+",
        "[a]/\"/\"+",
        "this/\"/\"+",
        "1/\"/\"+",
        "1.5/\"/\"+",
        "'a'/\"/\"+",
        "`a`/\"/\"+",
        "`${a}`/\"/\"+",
        "x = {}/\"/\"+",
        "for(;;{}/\"/\")",
        "x = function(){}/\"/\"+",
        "x = class {}/\"/\"+",
        "1..in/\"/\"+",
        "a.if(b)/\"/\"+",
        "a?.in/\"/\"+",
        "async/\"/\"+",
        "of/\"/\"+",
        "i++/\"/\"+",
        "#in/\"/\"+",
        "return {a}/\"/\"+",
        "`${{}/\"/\"}`+",
        "/a/g/\"/\"+",
        "a\\u{62}/\"/\"+",
        "x = a ? b : {}/\"/\"+",
        "import.meta/\"/\"+",
        "new.target/\"/\"+",
        // Strings, comments and templates that end where they seem not to.
        "'\\\r\n';",
        "'\u{2028}\"';",
        "`\\``;",
        "`$`;",
        "`${`}`}`;",
        "//'\u{2028}",
        "/*'*/",
        "<!--'\n'';",
        "'",
        "\"\n",
        "`${a",
        "/*",
    ];
    for beginning in beginnings {
        let code = format!("{beginning}{}", "(".repeat(1_000));
        let seen = scan(&code).nesting;
        let hidden = beginning == "/*";
        assert!(seen >= 1_000 || hidden, "{beginning:?} hides {} of 1000", 1_000 - seen.min(1_000));
    }
    for blank in ["\u{200b}", "\u{85}", "\u{2028}", "\u{feff}", "/**/", "//\n"] {
        let code = format!("{}a", format!("await{blank}").repeat(1_000));
        assert!(scan(&code).nesting >= 1_000, "{blank:?} joins words");
    }
}

#[test]
fn no_text_of_a_mebibyte_stalls_the_gateway() {
    let mut slowest = (Duration::ZERO, String::new());
    let mut time = |name: &str, code: &str| {
        let taken = time_of(|| normalize_code(code));
        if taken > slowest.0 {
            slowest = (taken, format!("{name}, {} bytes", code.len()));
        }
        assert!(taken < PATIENCE, "{name} of {} bytes took {taken:?}", code.len());
    };
    for (name, head, piece, tail) in floods() {
        let flood = |size: usize| {
            let mut code = head.clone();
            let mut index = 0;
            while code.len() + tail.len() < size {
                code += &piece(index);
                index += 1;
            }
            code + &tail
        };
        time(name, &flood(LONG));
        // The largest that is parsed, within a factor of two.
        let parsed = (9..=20).map(|doublings| flood(1 << doublings)).take_while(|code| {
            let bound = scan(code);
            bound.work <= WORK && bound.nesting <= DEEPEST
        });
        time(name, &parsed.last().unwrap_or_else(|| panic!("{name} is never parsed")));
    }
    for (head, opening, middle, closing, tail) in NESTS {
        let levels = LONG / (opening.len() + closing.len());
        time(opening, &format!("{head}{}{middle}{}{tail}", opening.repeat(levels), closing.repeat(levels)));
    }
    println!("the slowest took {:?}: {}", slowest.0, slowest.1);
}

#[test]
fn a_small_program_takes_no_time() {
    let line =
        "const page = await github.list_issues({ repo: 'octo/cat', page: 1 }).then((all) => all.map((x) => x.id));\n";
    let code =
        format!("{}1", (0..18).map(|index| line.replace("page =", &format!("page{index} ="))).collect::<String>());
    let mut times: Vec<Duration> = (0..101).map(|_| time_of(|| normalize_code(&code))).collect();
    times.sort_unstable();
    // Ten times what a release build may take; without optimisation it takes as much again and more.
    let bound = Duration::from_millis(if cfg!(debug_assertions) { 20 } else { 1 });
    assert!(times[50] < bound, "{} bytes took {:?} at the median", code.len(), times[50]);
}

/// What `work` takes of a processor's time: what others do on the machine is not counted.
fn time_of<R>(work: impl FnOnce() -> R) -> Duration {
    let start = processor_time();
    std::hint::black_box(work());
    processor_time() - start
}

fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the length of the call.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

type Flood = (&'static str, String, fn(usize) -> String, String);

/// Texts that are long in one way: a name, a beginning, a piece that is repeated, an end.
fn floods() -> Vec<Flood> {
    let flat = |name, piece: fn(usize) -> String| (name, String::new(), piece, String::new());
    let within =
        |name, head: &str, piece: fn(usize) -> String, tail: &str| (name, head.to_owned(), piece, tail.to_owned());
    let deep = |name, head: &str, opening: &str, piece: fn(usize) -> String, closing: &str, tail: &str| {
        let levels = if opening.contains('(') { LEVELS / 4 } else { LEVELS };
        (name, format!("{head}{}", opening.repeat(levels)), piece, format!("{}{tail}", closing.repeat(levels)))
    };
    vec![
        flat("a program", |index| {
            format!(
                "async function step{index}(a, b) {{\n  const found = await codemode.list_issues({{ page: a + {index} }});\n  return found.map((x) => x.title + ':' + b);\n}}\n"
            )
        }),
        within(
            "an arrow function",
            "async () => {",
            |index| format!("const a{index} = await codemode.f({index});\n"),
            "}",
        ),
        flat("declarations", |index| format!("let a{index};")),
        flat("redeclarations", |_| "let a;".into()),
        flat("repeated vars", |_| "var a;".into()),
        flat("references", |index| format!("a{index};")),
        within("numbers", "[", |_| "1,".into(), "]"),
        within("strings", "[", |_| "'ab',".into(), "]"),
        within("objects", "[", |index| format!("{{id:{index},name:'n',tags:['a']}},"), "]"),
        within("one string", "'", |_| "\\u{41}".into(), "'"),
        within("one template", "`", |_| "a\r\n".into(), "`"),
        within("substitutions", "`", |_| "${1}".into(), "`"),
        flat("regular expressions", |_| "/a(b|c)*d/u;".into()),
        within("alternatives", "/", |_| "a|".into(), "/u"),
        within("named groups", "/", |index| format!("(?<n{index}>)"), "/u"),
        within("equally named groups", "/", |_| "(?<n>)|".into(), "/u"),
        within("lookbehinds", "/", |_| "(?<=a)".into(), "/u"),
        within("character classes", "/[", |_| "[a-z]".into(), "]/v"),
        within("properties", "/", |_| "\\p{L}".into(), "/u"),
        flat("semicolons", |_| ";".into()),
        flat("braces", |_| "{}".into()),
        flat("comments", |_| "/**/".into()),
        flat("line comments", |_| "//\n".into()),
        flat("spaces", |_| " \u{a0}".into()),
        flat("imports", |_| "import 'a';".into()),
        flat("HTML comments", |_| "<!--\n".into()),
        flat("HTML operators", |_| "a\n<!--b;".into()),
        within("private members", "class A{", |index| format!("#a{index};"), "}"),
        within("private names", "class A{#a;m(){", |_| "this.#a;".into(), "}}"),
        within("private members and names", "class A{", |index| format!("#a{index};m{index}(){{this.#a{index}}}"), "}"),
        within(
            "private names that are not there",
            "class A{",
            |index| format!("#a{index};m{index}(){{this.#b{index}}}"),
            "}",
        ),
        flat("exports that are not there", |index| format!("let a{index};export{{b{index}}};")),
        within("one export of many names", "let a;export{", |index| format!("a as b{index},"), "}"),
        deep("breaks", "for(;;)", "{", |_| "break;".into(), "}", ""),
        deep("continues", "l:for(;;)", "{", |_| "continue l;".into(), "}", ""),
        deep("labels", "", "{", |index| format!("l{index}:;"), "}", ""),
        deep("labels that are not there", "", "l:{", |_| "break m;".into(), "}", ""),
        deep("vars", "", "{", |index| format!("var x{index};"), "}", ""),
        deep("deep references", "", "{", |index| format!("x{index};"), "}", ""),
        deep("references in functions", "", "((a=1)=>{", |index| format!("x{index};"), "})", ""),
        deep("arguments", "function f(){", "{", |_| "arguments;".into(), "}", "}"),
        deep("super", "class A extends B{m(){", "(()=>{", |_| "super.x;".into(), "})", "}}"),
        deep("super calls", "class A extends B{constructor(){", "{", |_| "super();".into(), "}", "}}"),
        deep("awaits", "async function f(){", "[", |_| "await 1,".into(), "]", "}"),
        deep("new.target", "function f(){", "{", |_| "new.target;".into(), "}", "}"),
        deep("deep functions", "", "{", |index| format!("function x{index}(){{}}"), "}", ""),
        deep("what may be parameters", "", "(a=", |_| "b,".into(), "1)", ""),
        deep("what may be patterns", "", "([a=", |_| "b,".into(), "1])", ""),
        deep("what may be async parameters", "", "async(a=", |_| "b,".into(), "1)", ""),
        flat("parentheses", |_| "(a,b,c);".into()),
        flat("calls of async", |_| "async(a,b);".into()),
        flat("octal numbers", |_| "010;".into()),
        flat("reserved words", |_| "x=public;".into()),
        flat("classes", |_| "(class{#a;m(){this.#a}});".into()),
        within("parameters", "function f(", |index| format!("a{index},"), "){}"),
        within("equal parameters", "function f(", |_| "a,".into(), "){}"),
        within("prototypes", "({", |_| "__proto__:1,".into(), "})"),
        within("attributes", "x;import 'x'with{", |_| "a:'',".into(), "}"),
        within("cases", "switch(a){", |index| format!("case 1:let a{index};"), "}"),
        within("constructors", "class A{", |_| "constructor(){}".into(), "}"),
        flat("digits", |_| "7".into()),
        flat("letters", |_| "é".into()),
        flat("astral letters", |_| "𠮷;".into()),
        flat("no code", |_| "@#".into()),
        flat("prose", |_| "Here is what I would do next. ".into()),
        flat("backquotes", |_| "```js\n".into()),
        flat("nested exports", |_| "export default ```\n".into()),
        within("division after a function", "x=function(){}/", |_| "a(b)/".into(), "1"),
        within("a regular expression after a function", "function f(){}\n/a/.b(", |_| "(a)=>b,".into(), "c)"),
    ]
}

/// How deep the floods are that are deep.
const LEVELS: usize = 400;

/// A worker thread of tokio has a stack of 2 MiB.
fn on_a_worker<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    thread::Builder::new().stack_size(2 * MIB).spawn(run).unwrap().join().unwrap()
}

/// What comes before, one level's opening, what is innermost, one level's closing, what comes behind.
const NESTS: &[(&str, &str, &str, &str, &str)] = &[
    ("", "(", "1", ")", ""),
    ("", "[", "", "]", ""),
    ("", "{", "", "}", ""),
    ("(", "{a:", "1", "}", ")"),
    ("", "f(", "", ")", ""),
    ("", "!", "1", "", ""),
    ("", "- ", "1", "", ""),
    ("", "typeof ", "1", "", ""),
    ("", "await ", "1", "", ""),
    ("", "new ", "X", "", ""),
    ("", "a=>", "1", "", ""),
    ("", "async a=>", "1", "", ""),
    ("", "()=>{", "", "}", ""),
    ("", "a=", "1", "", ""),
    ("", "a?b:", "1", "", ""),
    ("", "a?", "1", ":1", ""),
    ("", "a+", "1", "", ""),
    ("", "a**", "1", "", ""),
    ("", "a in ", "1", "", ""),
    ("", "a instanceof ", "1", "", ""),
    ("a", ".b", "", "", ""),
    ("a", "?.b", "", "", ""),
    ("a", "()", "", "", ""),
    ("a", "[0]", "", "", ""),
    ("a", "`x`", "", "", ""),
    ("", "`${", "1", "}`", ""),
    ("", "if(a)", "b", "", ""),
    ("", "if(a)b;else ", "c", "", ""),
    ("", "if(a){}else ", "c", "", ""),
    ("", "for(;;)", "b", "", ""),
    ("", "for(a of b)", "b", "", ""),
    ("", "while(a)", "b", "", ""),
    ("", "do ", "b", ";while(1)", ""),
    ("", "l:", "b", "", ""),
    ("", "try{", "", "}finally{}", ""),
    ("", "switch(a){case 1:", "", "}", ""),
    ("", "function f(){", "", "}", ""),
    ("x=", "function(){return ", "1", "}", ""),
    ("", "class A extends ", "B", "{}", ""),
    ("x=", "class{a=", "1", "}", ""),
    ("", "class A{static{", "", "}}", ""),
    ("x=", "{m(){return ", "1", "}}", ""),
    ("/", "(", "", ")", "/"),
    ("/", "(?=", "", ")", "/"),
    ("/", "[", "a", "]", "/v"),
    ("let ", "[", "a", "]", "=1"),
    ("let ", "{a:", "a", "}", "=1"),
    ("", "[", "a", "]", "=1"),
    ("(", "{a:", "a", "}", "=1)"),
    ("function*g(){", "yield ", "1", "", "}"),
    ("", "import(", "1", ")", ""),
    ("", "async(", "", ")", ""),
    // What stands in front of a chain is under all of it.
    ("", "(", "a", ")()()()()", ""),
    ("", "f(", "a", ").b.b.b.b", ""),
    ("", "[", "a", "]+b+b+b", ""),
    ("", "if(a){if(b){", "", "}else{}}else{}", ""),
];
