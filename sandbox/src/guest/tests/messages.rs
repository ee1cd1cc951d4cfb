//! The messages of the engine's own errors against those of the reference, which were measured there.

use serde::Deserialize;

use super::harness::run;

/// Something that throws, and what is said of it: by the reference, and by the engine by itself if that is another text.
#[derive(Deserialize)]
struct Row {
    code: String,
    #[serde(default)]
    r#async: bool,
    v8: String,
    engine: Option<String>,
    /// Whether V8's text is given.
    #[serde(default)]
    exact: bool,
}

fn rows() -> Vec<Row> {
    serde_json::from_str(include_str!("messages.json")).unwrap()
}

/// A program that gives the message of each.
fn program(rows: &[&Row]) -> String {
    let functions = rows.iter().map(|row| {
        let r#async = if row.r#async { "async " } else { "" };
        format!("{}function () {{\n{}\n}}", r#async, row.code)
    });
    let functions = functions.collect::<Vec<_>>().join(",\n");
    format!(
        "async () => {{ const out = []; for (const f of [{functions}]) {{ try {{ await f(); out.push(null) }} catch (e) {{ \
         out.push(e.message) }} }} return JSON.stringify(out) }}"
    )
}

#[test]
fn a_message_is_the_references_where_it_is_known_and_the_engines_elsewhere() {
    let rows = rows();
    let mut wrong = Vec::new();
    let mut exact = 0;
    // Some words of a source make others doubtful, so they stand apart.
    let (apart, together): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| {
        ["Symbol", "terator", "Proxy", "Array(", "hasInstance"].iter().any(|word| row.code.contains(word))
    });
    let chunks = together.chunks(40).chain(apart.chunks(1));
    for chunk in chunks {
        let ran = run(&program(chunk));
        let said: String = serde_json::from_str(ran.result()).unwrap();
        let said: Vec<Option<String>> = serde_json::from_str(&said).unwrap();
        for (row, said) in chunk.iter().zip(said) {
            let expected = row.engine.as_ref().filter(|_| !row.exact).unwrap_or(&row.v8);
            exact += u32::from(said.as_ref() == Some(&row.v8));
            if said.as_ref() != Some(expected) {
                wrong.push(format!("{}\n    said {said:?}\n    not  {expected:?}\n    v8   {:?}", row.code, row.v8));
            }
        }
    }
    println!("{exact} of {} messages are the reference's", rows.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn what_failed_is_named_only_when_nothing_else_can_have_failed() {
    let said = |code: &str| {
        let ran = run(&format!("async () => {{ try {{ {code} }} catch (e) {{ return e.message }} }}"));
        serde_json::from_str::<String>(ran.result()).unwrap()
    };
    let cases = [
        ("const api = {}; api.nope()", "api.nope is not a function"),
        ("const rows = {}; console.log(rows.map((row) => row.id))", "rows.map is not a function"),
        (
            "const rows = { items: 1 }; return rows.items.filter((row) => row.ok()).length",
            "rows.items.filter is not a function",
        ),
        ("return [{}].map((row) => row.nope())", "row.nope is not a function"),
        ("const o = {}; return `${o.nope()}`", "o.nope is not a function"),
        ("const o = {}; await Promise.all([o.nope()])", "o.nope is not a function"),
        ("class A { #x = 1; run() { return this.y() } } new A().run()", "this.y is not a function"),
        ("const o = {}; new o.Nope({ a: 1 })", "o.Nope is not a constructor"),
        // Two calls that the engine places alike, and none of them is surely a function.
        ("const o = {}, log = 5; log(o.nope)", "log is not a function"),
        ("const o = { f: () => 1 }, log = 5; log(o.f())", "not a function"),
        ("const console = { log: 5 }; console.log(String())", "console.log is not a function"),
        ("console.log = 5; console.log(String())", "console.log is not a function"),
        ("const String = 5, f = (g) => g; f(String())", "not a function"),
        ("const f = () => 1; f()()", "not a function"),
        ("const o = {}; o['a' + 'b']()", "not a function"),
        ("const x = 5; for (const y of x) y", "x is not iterable"),
        ("const x = [1]; for (const [y] of x) y", "value is not iterable"),
        ("const x = 1; const o = Object.freeze({ x: 1 }); o.x = 2", "'x' is read-only"),
        ("const x = 1; const o = Object.freeze({ x: 1 }); o.x = x", "'x' is read-only"),
        ("const x = 1; x = 2", "Assignment to constant variable."),
        ("const x = 1; const f = () => { x += 1 }; f()", "Assignment to constant variable."),
    ];
    for (code, expected) in cases {
        assert_eq!(said(code), expected, "{code}");
    }
}

#[test]
fn huge_and_deep_sources_cost_no_message_and_do_no_harm() {
    for source in [
        format!("{}1{}", "f(".repeat(30_000), ")".repeat(30_000)),
        format!("a{}", "()".repeat(30_000)),
        format!("a{}", ".b()".repeat(20_000)),
        format!("[{}]", "x => ".repeat(20_000) + "1"),
        "a.b(c);".repeat(40_000),
    ] {
        let code = format!(
            "async () => {{ try {{ const o = {{}}; o.x() }} catch (e) {{ return e.message }} return {source} }}"
        );
        let ran = run(&code);
        // Some are too deep for the engine.
        if ran.done().result.is_some() {
            assert!(ran.result().ends_with("not a function\""), "{}", ran.result());
        }
    }
}
