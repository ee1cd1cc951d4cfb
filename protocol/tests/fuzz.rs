//! The fuzz functions, driven from seeded generators: a fixed number of seeds, or `FUZZ_SECONDS` of them.
//!
//! A find becomes a named test at the end.

use std::time::{Duration, Instant};

use codemode_protocol::{capnweb::fuzz, fuzz as programs};

/// A small generator (splitmix64), so that a seed means the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn text(&mut self, pieces: &[&str]) -> String {
        (0..self.below(16)).map(|_| self.pick(pieces)).collect()
    }

    /// Mostly an id that exists, at times one that does not.
    fn id(&mut self, used: u64, sign: &str) -> String {
        match self.below(20) {
            0 => "0".into(),
            1 => format!("{sign}{}", used + 3),
            2 => self.pick(&["-0", "1.5", "1e3", "9007199254740993", "null", "\"1\""]).into(),
            _ => format!("{sign}{}", 1 + self.below(used.max(1))),
        }
    }

    fn expr(&mut self, depth: u64, state: &mut Ids) -> String {
        match self.below(if depth > 4 { 9 } else { 17 }) {
            0 => {
                self.pick(&["1", "-0", "1e400", "true", "null", "\"x\"", "\"\\ud800\"", "12345678901234567890"]).into()
            }
            1 => {
                self.pick(&[r#"["undefined"]"#, r#"["inf"]"#, r#"["nan"]"#, r#"["date",5]"#, r#"["date",null]"#]).into()
            }
            2 => self
                .pick(&[
                    r#"["bytes","AQID"]"#,
                    r#"["bigint","-12"]"#,
                    r#"["url","http://h/"]"#,
                    r#"["headers",[["a","b"]]]"#,
                ])
                .into(),
            3 => {
                state.objects += u64::from(self.below(4) > 0);
                format!(r#"["export",-{}]"#, state.objects.max(1))
            }
            4 => {
                state.objects += 1;
                state.promises.push(state.objects);
                format!(r#"["promise",-{}]"#, state.objects)
            }
            5 => format!(r#"["pipeline",{}]"#, self.id(state.pushes, "")),
            6 => format!(r#"["import",{}]"#, self.id(5, "-")),
            7 => self
                .pick(&[r#"["writable",-999]"#, r#"["readable",1]"#, r#"["remap",0,[],[],[]]"#, r#"["blob","t",null]"#])
                .into(),
            8 => self.pick(&[r#"["foo"]"#, "[]", "[1]", r#"["bigint","x"]"#, "{", "[[1],[2]]", "tru"]).into(),
            9 | 10 => {
                let items: Vec<String> = (0..self.below(4)).map(|_| self.expr(depth + 1, state)).collect();
                format!("[[{}]]", items.join(","))
            }
            11 | 12 => {
                let key = self.pick(&["a", "b", "__proto__", "a"]);
                format!(r#"{{"{key}":{},"c":{}}}"#, self.expr(depth + 1, state), self.expr(depth + 1, state))
            }
            13 => format!(r#"["error","Error","m",null,{{"code":{}}}]"#, self.expr(depth + 1, state)),
            14 => format!(r#"["pipeline",{},["a",{}]]"#, self.id(state.pushes, ""), self.below(3)),
            _ => {
                let subject = if self.below(2) == 0 { "0".into() } else { self.id(state.pushes, "") };
                let path = self.pick(&["[]", r#"["f"]"#, r#"["keep","it"]"#, r#"["constructor"]"#]);
                let args: Vec<String> = (0..self.below(3)).map(|_| self.expr(depth + 1, state)).collect();
                format!(r#"["pipeline",{subject},{path},[{}]]"#, args.join(","))
            }
        }
    }

    fn frame(&mut self, state: &mut Ids) -> String {
        match self.below(14) {
            0..=4 => {
                let expr = self.expr(0, state);
                state.pushes += 1;
                format!(r#"["push",{expr}]"#)
            }
            5 => {
                let expr = self.expr(0, state);
                state.pushes += 1;
                format!(r#"["stream",{expr}]"#)
            }
            6 | 7 => format!(r#"["pull",{}]"#, self.id(state.pushes, "")),
            8 => format!(r#"["release",{},1]"#, self.id(state.pushes, "")),
            9 | 10 => {
                let at = self.below(state.promises.len().max(1) as u64) as usize;
                let id = state.promises.get(at).copied().unwrap_or(7);
                let kind = self.pick(&["resolve", "resolve", "reject"]);
                format!(r#"["{kind}",-{id},{}]"#, self.expr(1, state))
            }
            11 => format!(r#"["resolve",{},{}]"#, 1 + self.below(8), self.expr(1, state)),
            12 => {
                state.pushes += u64::from(self.below(3) == 0);
                r#"["pipe"]"#.into()
            }
            _ => self.pick(&[r#"["release",-1,1]"#, r#"["abort",1]"#, r#"["bogus"]"#, "x", r#"["pull",1] "#]).into(),
        }
    }

    fn damage(&mut self, text: &mut Vec<u8>) {
        for _ in 0..self.below(3) {
            let at = self.below(text.len() as u64 + 1) as usize;
            match self.below(3) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => text.insert(at, self.pick(&["[", "]", "\"", "{", ",", "0", "\\"]).as_bytes()[0]),
                _ => text.truncate(at),
            }
        }
    }
}

#[derive(Default)]
struct Ids {
    pushes: u64,
    objects: u64,
    promises: Vec<u64>,
}

#[test]
fn no_sequence_of_frames_breaks_more_than_its_own_session() {
    for_each_seed(1500, |mut random| {
        let mut state = Ids::default();
        let mut text = Vec::new();
        for _ in 0..1 + random.below(40) {
            let mut frame = random.frame(&mut state).into_bytes();
            if random.below(40) == 0 {
                random.damage(&mut frame);
            }
            text.extend_from_slice(&frame);
            text.push(b'\n');
        }
        fuzz::frames(&text);
    });
}

#[test]
fn no_text_is_judged_differently_by_the_check_and_the_parser() {
    for_each_seed(3000, |mut random| {
        let mut text = random.expr(0, &mut Ids::default()).into_bytes();
        if random.below(2) == 0 {
            random.damage(&mut text);
        }
        fuzz::data(&text);
    });
}

#[test]
fn two_peers_settle_every_call_once_and_leave_nothing_behind() {
    for_each_seed(1500, |mut random| {
        let length = 20 + random.below(600);
        let ops: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        fuzz::peers(&ops);
    });
}

#[test]
fn no_program_loses_anything_between_its_imports_and_its_body() {
    for_each_seed(20_000, |mut random| {
        let text = random.text(&[
            "import",
            "import ",
            " ",
            "\n",
            ";",
            "'a'",
            "\"b\"",
            "from",
            " from ",
            "{",
            "}",
            "a",
            ", ",
            "*",
            " as ",
            "with",
            "type:",
            "//c",
            "/*",
            "*/",
            "\u{2028}",
            "\u{feff}",
            "é",
            "'",
            "\\",
            "`",
            "(",
            ".meta",
            "async () => 1",
        ]);
        programs::imports(text.as_bytes());
    });
}

#[test]
fn no_arguments_are_read_differently_by_who_only_looks_into_them() {
    for_each_seed(20_000, |mut random| {
        let text = random.text(&[
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"result\"",
            "\"error\"",
            "\"a\"",
            "\"\\u0061\"",
            "\"\\ud800\"",
            "1",
            "-0.5e3",
            "1e400",
            "null",
            "true",
            " ",
            "{\"result\":",
            "[[",
            "]]",
            "}}",
            "\"",
            "\\",
            "\u{c}",
            "{\"__codemode_binary_v1__\":\"Uint8Array\",\"data\":\"AQI=\"}",
            "\"__codemode_binary_v1__\":",
            "é",
        ]);
        programs::arguments(text.as_bytes());
    });
}

/// Runs a case with each seed and names the one that fails.
fn for_each_seed(seeds: u64, case: impl Fn(Random) + std::panic::RefUnwindSafe) {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    for seed in 0.. {
        if until.map_or(seed >= seeds, |until| Instant::now() >= until) {
            break;
        }
        if let Err(panic) = std::panic::catch_unwind(|| case(Random(seed))) {
            let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            panic!("seed {seed}: {message}");
        }
    }
}
