//! Intrinsics that natives use, taken before any guest code could replace them.

use rquickjs::qjs;

use super::js::{Cx, Js, Kind, Pending, Val};

/// Functions and classes of the untouched engine.
pub(super) struct Captured {
    pub(super) error: Val,
    pub(super) eval_error: Val,
    pub(super) syntax_error: Val,
    pub(super) type_error: Val,
    pub(super) classes: Classes,
    pub(super) call_site: CallSite,
    /// Makes a call site as a program sees one, of name, file, line, column, and whether it was called with `new`.
    pub(super) make_site: Val,
    pub(super) json_parse: Val,
    pub(super) json_stringify: Val,
    /// In the order of [`ERROR_KINDS`].
    error_prototypes: Vec<Val>,
    error_text: Val,
    error_stack: Val,
    string: Val,
    async_function: Val,
    /// `valueOf` of numbers, strings, booleans and BigInts.
    primitives: [Val; 4],
    date_value: Val,
    bigint_text: Val,
    slice: Val,
    view_buffer: Val,
    view_offset: Val,
    view_length: Val,
}

/// What tells of one entry of a stack.
pub(super) struct CallSite {
    pub(super) is_native: Val,
    pub(super) is_constructor: Val,
    pub(super) file_name: Val,
    pub(super) function: Val,
    pub(super) function_name: Val,
    pub(super) line: Val,
    pub(super) column: Val,
}

/// Class numbers that the public interface does not name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classes {
    pub(super) generator: u32,
    pub(super) async_generator: u32,
    pub(super) number: u32,
    pub(super) string: u32,
    pub(super) boolean: u32,
    pub(super) bigint: u32,
    pub(super) raw_json: u32,
    pub(super) dom_exception: u32,
    pub(super) shared_buffer: u32,
}

impl Captured {
    /// Takes them from a fresh context.
    pub(super) fn take(cx: Cx) -> Js<Self> {
        let all = cx.eval(include_str!("captured.js"), c"", 1, qjs::JS_EVAL_FLAG_STRICT)?;
        let samples = all.get(c"samples")?;
        let class = |name| samples.get(name).map(|sample| sample.class_id());
        let (call_site, prototypes) = (all.get(c"callSite")?, all.get(c"errorPrototypes")?);
        Ok(Self {
            call_site: CallSite {
                is_native: call_site.get(c"isNative")?,
                is_constructor: call_site.get(c"isConstructor")?,
                file_name: call_site.get(c"getFileName")?,
                function: call_site.get(c"getFunction")?,
                function_name: call_site.get(c"getFunctionName")?,
                line: call_site.get(c"getLineNumber")?,
                column: call_site.get(c"getColumnNumber")?,
            },
            make_site: all.get(c"makeSite")?,
            json_parse: all.get(c"jsonParse")?,
            json_stringify: all.get(c"jsonStringify")?,
            error_prototypes: (0..prototypes.length()?).map(|at| prototypes.get_index(at)).collect::<Js<_>>()?,
            error_text: all.get(c"errorText")?,
            error_stack: all.get(c"errorStack")?,
            error: all.get(c"Error")?,
            eval_error: all.get(c"EvalError")?,
            syntax_error: all.get(c"SyntaxError")?,
            type_error: all.get(c"TypeError")?,
            string: all.get(c"String")?,
            async_function: all.get(c"asyncFunction")?,
            primitives: {
                let primitives = all.get(c"primitives")?;
                let get = |at| primitives.get_index(at);
                [get(0)?, get(1)?, get(2)?, get(3)?]
            },
            date_value: all.get(c"dateValue")?,
            bigint_text: all.get(c"bigintText")?,
            slice: all.get(c"slice")?,
            view_buffer: all.get(c"viewBuffer")?,
            view_offset: all.get(c"viewOffset")?,
            view_length: all.get(c"viewLength")?,
            classes: Classes {
                generator: class(c"generator")?,
                async_generator: class(c"asyncGenerator")?,
                number: class(c"number")?,
                string: class(c"string")?,
                boolean: class(c"boolean")?,
                bigint: class(c"bigint")?,
                raw_json: class(c"rawJson")?,
                dom_exception: class(c"domException")?,
                shared_buffer: class(c"sharedBuffer")?,
            },
        })
    }

    /// What `String(value)` gives: also for symbols; runs guest code and throws where that throws.
    pub(super) fn stringify(&self, value: &Val) -> Js<Val> {
        if value.is_string() { Ok(value.clone()) } else { self.string.call(&[value]) }
    }

    /// Throws a TypeError of a message of any length; the engine's own are cut.
    pub(super) fn throw_type_error(&self, cx: Cx, message: &str) -> Pending {
        self.throw(cx, &self.type_error, message)
    }

    /// Throws an error of a message of any length.
    pub(super) fn throw(&self, cx: Cx, constructor: &Val, message: &str) -> Pending {
        let error = cx.string(message).and_then(|message| {
            let mut args = [message.raw()];
            // SAFETY: live values; the result is a reference of its own.
            cx.own(unsafe { qjs::JS_CallConstructor(cx.0, constructor.raw(), 1, args.as_mut_ptr()) })
        });
        error.map_or_else(|pending| pending, |error| cx.throw(error))
    }

    /// The class of an error that inherits straight from an intrinsic prototype, if the engine makes such ones itself.
    pub(super) fn error_kind(&self, error: &Val) -> Option<&'static str> {
        if !error.is_error() {
            return None;
        }
        let prototype = error.prototype().ok()?.identity();
        let at = self.error_prototypes.iter().position(|known| known.identity() == prototype)?;
        ERROR_KINDS.get(at).copied()
    }

    /// Gives an error of the engine's own the class RangeError.
    pub(super) fn make_range_error(&self, error: &Val) -> Js<()> {
        error.set_prototype(&self.error_prototypes[RANGE_ERROR])
    }

    /// The stack that an error has, undefined while it has none.
    pub(super) fn stack_of(&self, error: &Val) -> Js<Val> {
        self.error_stack.call_with(error, &[])
    }

    /// An error as text, name and message; reads both, which may run code of the program's.
    pub(super) fn error_text(&self, error: &Val) -> Js<Val> {
        self.error_text.call_with(error, &[])
    }

    /// The primitive value in an object that was made of one; nothing for any other object. Runs no guest code.
    pub(super) fn primitive_in(&self, object: &Val) -> Js<Option<Val>> {
        let (classes, class) = (&self.classes, object.class_id());
        let kinds = [classes.number, classes.string, classes.boolean, classes.bigint];
        let Some(at) = kinds.iter().position(|kind| *kind == class) else { return Ok(None) };
        self.primitives[at].call_with(object, &[]).map(Some)
    }

    /// Makes a native function look like an async one.
    pub(super) fn as_async(&self, function: Val) -> Js<Val> {
        function.set_prototype(&self.async_function)?;
        Ok(function)
    }

    /// A string's first `units` UTF-16 units.
    pub(super) fn prefix(&self, cx: Cx, string: &Val, units: i32) -> Js<Val> {
        if string.length()? <= i64::from(units) {
            return Ok(string.clone());
        }
        self.slice.call_with(string, &[&cx.int(0), &cx.int(units)])
    }

    /// The time in a Date, NaN when invalid.
    pub(super) fn date_value(&self, date: &Val) -> Js<f64> {
        let time = self.date_value.call_with(date, &[])?;
        Ok(match time.kind() {
            Kind::Int(value) => f64::from(value),
            Kind::Float => time.float(),
            _ => f64::NAN,
        })
    }

    /// A BigInt's digits in a radix. Powers of two take linear time, ten takes quadratic.
    pub(super) fn bigint_text(&self, cx: Cx, value: &Val, radix: i32) -> Js<String> {
        self.bigint_text.call_with(value, &[&cx.int(radix)])?.to_text()
    }

    /// Buffer, offset and length of a DataView; a view that is out of bounds throws.
    pub(super) fn data_view(&self, view: &Val) -> Js<(Val, usize, usize)> {
        let number = |getter: &Val| -> Js<usize> {
            let value = getter.call_with(view, &[])?;
            Ok(match value.kind() {
                Kind::Int(value) => usize::try_from(value).unwrap_or(0),
                Kind::Float => value.float() as usize,
                _ => 0,
            })
        };
        Ok((self.view_buffer.call_with(view, &[])?, number(&self.view_offset)?, number(&self.view_length)?))
    }
}

/// Classes of errors that the engine makes.
const ERROR_KINDS: &[&str] = &["TypeError", "ReferenceError", "RangeError", "SyntaxError", "URIError", "InternalError"];

/// Where RangeError stands among them.
const RANGE_ERROR: usize = 2;
