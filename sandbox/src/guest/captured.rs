//! Intrinsics that natives use, taken before any guest code could replace them.

use rquickjs::qjs;

use super::js::{Cx, Js, Kind, Pending, Val};

/// Functions and classes of the untouched engine.
pub(super) struct Captured {
    pub(super) error: Val,
    pub(super) eval_error: Val,
    pub(super) syntax_error: Val,
    pub(super) classes: Classes,
    type_error: Val,
    string: Val,
    date_value: Val,
    bigint_text: Val,
    slice: Val,
    view_buffer: Val,
    view_offset: Val,
    view_length: Val,
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
        let all = cx.eval(include_str!("captured.js"), c"captured.js", 1, qjs::JS_EVAL_FLAG_STRICT)?;
        let samples = all.get(c"samples")?;
        let class = |name| samples.get(name).map(|sample| sample.class_id());
        Ok(Self {
            error: all.get(c"Error")?,
            eval_error: all.get(c"EvalError")?,
            syntax_error: all.get(c"SyntaxError")?,
            type_error: all.get(c"TypeError")?,
            string: all.get(c"String")?,
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
        let error = cx.string(message).and_then(|message| {
            let mut args = [message.raw()];
            // SAFETY: live values; the result is a reference of its own.
            cx.own(unsafe { qjs::JS_CallConstructor(cx.0, self.type_error.raw(), 1, args.as_mut_ptr()) })
        });
        error.map_or_else(|pending| pending, |error| cx.throw(error))
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
