//! From a caller's source to a promise of its entry.
//!
//! The program is evaluated as a module whose default export takes the namespaces and returns the entry. Its body stands
//! at the lines and columns that it has in the caller's own source, so nothing has to be rebased: the lines of imports
//! and preludes ahead of it are numbered down from there, below one if need be.

use std::ffi::{CStr, c_int};
use std::rc::Rc;

use codemode_protocol::separate_imports;
use rquickjs::qjs;

use super::body::{line_feeds, lines, without_semicolon};
use super::errors::place_in;
use super::js::{Cx, Js, Pending, Val, answer};
use super::modules::definition;
use super::namespace;
use super::stack::Lines;
use super::state::{State, state};
use crate::frame::ProviderSpec;

/// The program's name in stacks.
pub(super) const FILE: &CStr = c"program.js";

/// The same as text.
pub(super) const NAME: &str = match FILE.to_str() {
    Ok(name) => name,
    Err(_) => panic!("the name is ASCII"),
};

/// The name of proxy sources in stacks.
pub(super) const PROXY_FILE: &CStr = c"proxy.js";

/// What stands behind the body where it has to be one expression.
const CHECK_END: &str = "\n)";

/// Why there is no entry.
pub(super) enum Failure {
    /// The program does not parse; the error is pending.
    Syntax(Pending),
    /// Something was thrown and is pending.
    Threw(Pending),
    /// The prelude or proxy source of the provider at this position failed; the error is pending.
    Prelude(usize, Pending),
}

/// The sources of a run.
pub(super) struct Sources {
    /// Has to compile besides `module`: what passes both is one expression.
    check: String,
    module: Rc<str>,
    lines: Lines,
    /// The first line of each prelude, numbered down from one.
    prelude_lines: Vec<(usize, i32)>,
}

impl Sources {
    /// Arranges the sources. `random` makes names that no source contains.
    pub(super) fn assemble(code: &str, providers: &[ProviderSpec], random: u64) -> Self {
        let separated = separate_imports(code);
        let body = without_semicolon(separated.body);
        let imports = line_feeds(separated.imports);
        let first_line = 1 + lines(&imports);
        // The body's first line may begin behind an import; spaces keep its column.
        let column = imports.rsplit('\n').next().unwrap_or_default().chars().count();
        let padding = " ".repeat(column);
        let (marker, binding) = fresh_names(code, providers, random);

        let mut module = imports.clone().into_owned();
        if !module.is_empty() {
            module.push('\n');
        }
        // Constants, as in the dialect: a program that assigns to one is told so.
        let parameters: Vec<String> = (0..providers.len()).map(|at| format!("{binding}{at}")).collect();
        let names =
            providers.iter().zip(&parameters).map(|(provider, value)| format!("const {}={value};", provider.name));
        let names: String = names.collect();
        module.push_str(&format!(
            "export default async({}{marker})=>{{{names}\n",
            parameters.iter().map(|name| format!("{name},")).collect::<String>()
        ));
        let mut prelude_starts = Vec::new();
        for (index, prelude) in providers.iter().enumerate().filter_map(|(at, one)| Some((at, one.prelude.as_deref()?)))
        {
            prelude_starts.push((index, lines(&module)));
            module.push_str(&line_feeds(prelude));
            module.push_str(&format!("\n;{marker}({});\n", index + 1));
        }
        // Where one expression may stand and no list of them.
        module.push_str("return[1?\n");
        let ahead = lines(&module);
        module.push_str(&padding);
        module.push_str(&body);
        module.push_str("\n:0]}");

        Self {
            check: format!("(\n{padding}{body}{CHECK_END}"),
            module: module.into(),
            lines: Lines { body: first_line, ahead },
            prelude_lines: prelude_starts.into_iter().map(|(index, start)| (index, start - ahead + 1)).collect(),
        }
    }

    /// How the lines of the module relate to the caller's own.
    pub(super) fn lines(&self) -> Lines {
        self.lines
    }

    /// The module's text.
    pub(super) fn module(&self) -> Rc<str> {
        Rc::clone(&self.module)
    }

    /// Compiles the sources, with all that they import, and begins to evaluate the module: a promise of that, because
    /// what it imports may await.
    pub(super) fn begin(&self, state: &State) -> Result<Started, Failure> {
        let cx = state.cx;
        let flags = qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        self.compile_check(state, &self.check).map_err(|pending| self.check_failure(state, pending))?;
        let compile = || cx.eval(&self.module, FILE, self.lines.module(), flags);
        let module = compile().map_err(|pending| self.module_failure(state, pending, compile))?;
        // Linking fails here, as an exception: an export that is imported and is not there. Nothing has run then.
        start(cx, module).map_err(|pending| self.compile_failure(state, pending))
    }

    /// Calls the default export of the evaluated module: the promise of the entry, wrapped in an array.
    pub(super) fn enter(&self, state: &State, providers: &[ProviderSpec], started: &Started) -> Result<Val, Failure> {
        let cx = state.cx;
        let outer = started.default_export(cx).map_err(Failure::Threw)?;
        let mut args = Vec::with_capacity(providers.len() + 1);
        for (index, provider) in providers.iter().enumerate() {
            args.push(namespace(state, index, provider).map_err(|pending| Failure::Prelude(index, pending))?);
        }
        args.push(cx.function(mark, c"", 1, 0, &[]).map_err(Failure::Threw)?);
        state.preludes_done.set(0);
        let last = providers.iter().rposition(|provider| provider.prelude.is_some());
        state.last_prelude.set(last.map_or(0, |index| index + 1));
        if last.is_none() {
            read_error(state).map_err(Failure::Threw)?;
        }
        outer.call(&args.iter().collect::<Vec<_>>()).map_err(Failure::Threw)
    }

    fn compile_check(&self, state: &State, check: &str) -> Js<Val> {
        let flags = qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        state.cx.eval(check, FILE, Lines::engine(self.lines.body - 1), flags)
    }

    /// What it means that the body is no one expression. Where it fails only in what stands behind it, which the caller
    /// never wrote, it ends too early or closes a parenthesis too many: then it is compiled without that.
    fn check_failure(&self, state: &State, pending: Pending) -> Failure {
        let failure = self.compile_failure(state, pending);
        let Failure::Syntax(Pending) = failure else { return failure };
        let cx = state.cx;
        let thrown = cx.exception();
        let place = place_in(state, &thrown, NAME);
        let last = self.lines.body + lines(&self.check) - 1;
        if place.is_none_or(|(line, _)| line < last) {
            return Failure::Syntax(cx.throw(thrown));
        }
        let open = self.check.strip_suffix(CHECK_END).unwrap_or(&self.check);
        let failed = match self.compile_check(state, open) {
            // It is closed without our parenthesis.
            Ok(_) => state
                .faults
                .with_parse_message("Unexpected token ')'", || self.compile_check(state, &format!("0,{}", &open[1..]))),
            Err(Pending) => {
                let at_end = cx.exception();
                if place_in(state, &at_end, NAME) == place {
                    return Failure::Syntax(cx.throw(thrown));
                }
                state.faults.with_parse_message("Unexpected end of input", || self.compile_check(state, open))
            }
        };
        match failed {
            Ok(_) => Failure::Syntax(cx.throw(thrown)),
            Err(pending) => self.compile_failure(state, pending),
        }
    }

    /// What it means that the body compiles in parentheses and not in the module: it is a list of expressions, or closes
    /// the parenthesis itself.
    fn module_failure(&self, state: &State, pending: Pending, compile: impl FnOnce() -> Js<Val>) -> Failure {
        let failure = self.compile_failure(state, pending);
        let Failure::Syntax(Pending) = failure else { return failure };
        let thrown = state.cx.exception();
        let place = place_in(state, &thrown, NAME).filter(|(line, _)| *line >= self.lines.body);
        let Some((line, column)) = place else { return Failure::Syntax(state.cx.throw(thrown)) };
        let written = self.check.lines().nth((line - self.lines.body + 1) as usize).unwrap_or_default();
        let message = match written.chars().nth((column - 1) as usize) {
            Some(',') => "Unexpected token ','",
            Some(')') => "Unexpected token ')'",
            _ => return Failure::Syntax(state.cx.throw(thrown)),
        };
        match state.faults.with_parse_message(message, compile) {
            Ok(_) => Failure::Syntax(state.cx.throw(thrown)),
            Err(pending) => self.compile_failure(state, pending),
        }
    }

    /// What a source that does not compile means: memory and stack may fail too.
    fn compile_failure(&self, state: &State, pending: Pending) -> Failure {
        let cx = state.cx;
        let thrown = cx.exception();
        // SAFETY: live values; no guest code has run yet.
        let is_syntax = unsafe { qjs::JS_IsInstanceOf(cx.0, thrown.raw(), state.captured.syntax_error.raw()) } > 0;
        let line = place_in(state, &thrown, NAME).map(|(line, _)| line);
        let Pending = pending;
        let pending = cx.throw(thrown);
        if !is_syntax {
            return Failure::Threw(pending);
        }
        let prelude = line.filter(|line| *line < 1).and_then(|line| {
            self.prelude_lines.iter().rev().find(|(_, start)| line >= *start).map(|(index, _)| *index)
        });
        prelude.map_or(Failure::Syntax(Pending), |index| Failure::Prelude(index, Pending))
    }

    /// Takes the entry out of what the default export returned; a prelude may have returned something else.
    pub(super) fn entry(returned: &Val) -> Js<Option<Val>> {
        returned.is_array().then(|| returned.get_index(0)).transpose()
    }
}

/// A module that is being evaluated.
pub(super) struct Started {
    definition: *mut qjs::JSModuleDef,
    /// Settled when the module is evaluated.
    pub(super) promise: Val,
}

impl Started {
    fn default_export(&self, cx: Cx) -> Js<Val> {
        // SAFETY: the definition of a linked module, which lives as long as the context.
        cx.own(unsafe { qjs::JS_GetModuleNamespace(cx.0, self.definition) })?.get(c"default")
    }
}

/// Links a module and begins to evaluate it.
fn start(cx: Cx, module: Val) -> Js<Started> {
    let definition = definition(&module);
    // SAFETY: the reference goes to the engine; a promise comes back.
    let promise = cx.own(unsafe { qjs::JS_EvalFunction(cx.0, module.into_raw()) })?;
    Ok(Started { definition, promise })
}

/// Links and evaluates a module that imports nothing; its default export.
fn run_module(cx: Cx, module: Val) -> Js<Val> {
    let started = start(cx, module)?;
    if let Some(super::js::Promise::Rejected(reason)) = started.promise.promise() {
        return Err(cx.throw(reason));
    }
    started.default_export(cx)
}

/// What the program sees under a provider's name.
fn namespace(state: &State, index: usize, provider: &ProviderSpec) -> Js<Val> {
    let number = index as i32;
    let Some(source) = &provider.proxy_source else { return namespace::proxy(state, number) };
    // A module, so that it is strict; at its top level there are no namespaces.
    let flags = qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let module = state.cx.eval(&format!("export default (\n{source}\n)"), PROXY_FILE, 0, flags)?;
    let make = run_module(state.cx, module)?;
    if !make.is_function() {
        return Err(state.cx.throw_type_error(c"the proxy source is not a function"));
    }
    make.call(&[&namespace::dispatcher(state, number)?])
}

/// The marker: its argument says how many providers' preludes are done. After the last one `Error` is read, before a
/// letter of the program has run.
unsafe extern "C" fn mark(
    _: *mut qjs::JSContext,
    _: qjs::JSValue,
    argc: c_int,
    argv: *mut qjs::JSValue,
    _: c_int,
    _: *mut qjs::JSValue,
) -> qjs::JSValue {
    // SAFETY: the engine passes `argc` live values.
    let args = unsafe { super::js::arguments(argc, argv) };
    let state = state();
    if let Some(super::js::Kind::Int(done)) = args.first().map(|arg| super::js::kind(*arg)) {
        let done = usize::try_from(done).unwrap_or(0);
        state.preludes_done.set(done);
        if done == state.last_prelude.get() {
            return answer(read_error(state).map(|()| state.cx.undefined()));
        }
    }
    qjs::JS_UNDEFINED
}

fn read_error(state: &State) -> Js<()> {
    let error = state.cx.global().get(c"Error")?;
    state.error.replace(error);
    Ok(())
}

/// Two names that stand in no source of the run.
fn fresh_names(code: &str, providers: &[ProviderSpec], random: u64) -> (String, String) {
    let sources = || {
        let preludes = providers.iter().filter_map(|provider| provider.prelude.as_deref());
        preludes.chain(providers.iter().map(|provider| provider.name.as_str())).chain([code])
    };
    let mut number = random;
    loop {
        let stem = format!("_{number:016x}");
        if !sources().any(|source| source.contains(&stem)) {
            return (format!("{stem}m"), format!("{stem}e"));
        }
        number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_keeps_its_lines_whatever_stands_ahead_of_it() {
        let provider = |prelude: Option<&str>| ProviderSpec {
            name: "api".into(),
            tools: Default::default(),
            prelude: prelude.map(str::to_owned),
            positional_args: true,
            proxy_source: None,
        };
        let cases: [(&str, Option<&str>, i32); 4] = [
            ("async () => 1", None, 1),
            ("async () => 1", Some("let a = 1;\r\nlet b;\rlet c"), 1),
            ("import 'x';\n\nasync () => 1", Some("1"), 1),
            ("import 'x';\r\nimport 'y'; async () => 1", None, 2),
        ];
        for (code, prelude, first) in cases {
            let sources = Sources::assemble(code, &[provider(prelude)], 7);
            let ahead = sources.module.find("return[1?").unwrap();
            let body = sources.lines.module() + lines(&sources.module[..ahead]) + 1;
            assert_eq!((sources.lines.body, sources.lines.callers(body)), (first, first), "{code}");
        }
    }

    #[test]
    fn fresh_names_avoid_every_source() {
        let (marker, _) = fresh_names("x", &[], 5);
        let (other, _) = fresh_names(&marker, &[], 5);
        assert_ne!(marker, other);
    }
}
