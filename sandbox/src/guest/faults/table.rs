//! What V8 says where the engine says something else: only where its text follows from what is known.

use super::calls::{Operation, Place, Source};

/// An error that the engine made, as far as its message may depend on it.
pub(super) struct Fault<'a> {
    /// The name of its class.
    pub(super) kind: &'a str,
    pub(super) message: &'a str,
    pub(super) by: Thrower<'a>,
}

/// Who threw it.
#[derive(Clone, Copy)]
pub(super) enum Thrower<'a> {
    /// A native function of that name.
    Native(&'a str),
    /// A function with a source, of that name, at that place.
    Code(&'a str, Place),
    /// The parser; what is known of the source from elsewhere.
    Parser(Option<&'static str>),
}

/// Where a row applies.
#[derive(Clone, Copy)]
enum By {
    Anyone,
    Code,
    Native(&'static [&'static str]),
}

/// The message that V8 has for a fault. `source` is that of the code which threw; `is_callable` says whether a global or
/// a member of one, as it is now, can be called.
pub(super) fn rewrite(
    fault: &Fault<'_>,
    source: impl Fn() -> Option<std::rc::Rc<Source>>,
    is_callable: impl Fn(&str) -> bool,
) -> Option<String> {
    match (fault.kind, fault.message, fault.by) {
        // Of patterns, also in a source.
        ("SyntaxError", "stack overflow", _) => return Some(super::STACK_USED_UP.to_owned()),
        ("SyntaxError", message, Thrower::Parser(known)) => {
            return known.map(str::to_owned).or_else(|| unparsed(message));
        }
        ("TypeError", "not a function" | "not a constructor", Thrower::Code(_, place)) => {
            let source = source().filter(|source| mentions_none(source, CALLED_BEHIND_THE_SCENES))?;
            let may_be = if fault.message == "not a function" { EITHER } else { &[Operation::New] };
            let (operation, text) = source.failed_call(place, may_be, is_callable)?;
            let what = if operation == Operation::New { "a constructor" } else { "a function" };
            return Some(format!("{text} is not {what}"));
        }
        ("TypeError", message, Thrower::Code(_, place)) if is_iteration(message) => {
            let text = source().and_then(|source| source.failed_iteration(place))?;
            return Some(format!("{text} is not iterable"));
        }
        ("TypeError", message, Thrower::Code(_, place)) if captured(message, "'{}' is read-only").is_some() => {
            let name = captured(message, "'{}' is read-only")?;
            let is_variable = !GLOBAL_CONSTANTS.contains(&name) && source()?.is_assignment(place, name);
            return is_variable.then(|| "Assignment to constant variable.".to_owned());
        }
        ("TypeError", "class constructors must be invoked with 'new'", Thrower::Code(name, _)) => {
            return Some(match name {
                "" => "Class constructors cannot be invoked without 'new'".to_owned(),
                name => format!("Class constructor {name} cannot be invoked without 'new'"),
            });
        }
        ("TypeError", "cannot convert BigInt to number", Thrower::Code(..)) => {
            source().filter(|source| mentions_none(source, TYPED))?;
        }
        ("TypeError", message, Thrower::Code(..))
            if message.starts_with("cannot read") || message.starts_with("cannot set") =>
        {
            source().filter(|source| mentions_none(source, &["Symbol("]))?;
        }
        _ => {}
    }
    let name = match fault.by {
        Thrower::Native(name) | Thrower::Code(name, _) => name,
        Thrower::Parser(_) => return None,
    };
    TABLE.iter().find_map(|(kind, pattern, by, text)| {
        let applies = match (by, fault.by) {
            (By::Anyone, _) | (By::Code, Thrower::Code(..)) => true,
            (By::Native(names), Thrower::Native(name)) => names.contains(&name),
            _ => false,
        };
        let found = (*kind == fault.kind && applies).then(|| captured(fault.message, pattern))??;
        is_whole(found).then(|| text.replace("{name}", name).replace("{}", found))
    })
}

/// What V8 says of a token that no expression begins with.
fn unparsed(message: &str) -> Option<String> {
    match captured(message, "unexpected token in expression: '{}'")? {
        "" => Some("Unexpected end of input".into()),
        token if token.bytes().all(|byte| byte.is_ascii_punctuation() && !b"\\@#`'\"".contains(&byte)) => {
            Some(format!("Unexpected token '{token}'"))
        }
        _ => None,
    }
}

/// What stands in the place of `{}`; empty for a pattern without one.
fn captured<'a>(message: &'a str, pattern: &str) -> Option<&'a str> {
    match pattern.split_once("{}") {
        Some((before, after)) => message.strip_prefix(before)?.strip_suffix(after),
        None => (message == pattern).then_some(""),
    }
}

/// Whether a name in a message is a name: not cut, and not how the engine writes something that V8 writes otherwise.
fn is_whole(name: &str) -> bool {
    name.len() < CUT && !name.starts_with("Symbol.") && !name.starts_with(['{', '[']) && name != "<private>"
}

fn is_iteration(message: &str) -> bool {
    message == "value is not iterable" || message.starts_with("cannot read property 'Symbol.iterator' of ")
}

fn mentions_none(source: &Source, words: &[&str]) -> bool {
    words.iter().all(|word| !source.text().contains(word))
}

/// The engine cuts names at this many bytes.
const CUT: usize = 60;

const EITHER: &[Operation] = &[Operation::Call, Operation::New];

/// With these a program has functions of its own called by operations that are not calls.
const CALLED_BEHIND_THE_SCENES: &[&str] = &["toPrimitive", "terator", "hasInstance", "Proxy", "getOwnPropertySymbols"];

/// With these an assignment converts numbers.
const TYPED: &[&str] = &["8Array", "16Array", "32Array", "64Array", "ClampedArray", "Buffer", "TextEncoder"];

/// Properties of the global object that cannot be written to.
const GLOBAL_CONSTANTS: &[&str] = &["undefined", "NaN", "Infinity"];

/// Class, the engine's message, who throws it, V8's message. `{}` is the same in both, `{name}` the thrower's name.
const TABLE: &[(&str, &str, By, &str)] = &[
    (
        "TypeError",
        "cannot read property '{}' of undefined",
        By::Code,
        "Cannot read properties of undefined (reading '{}')",
    ),
    ("TypeError", "cannot read property '{}' of null", By::Code, "Cannot read properties of null (reading '{}')"),
    (
        "TypeError",
        "cannot set property '{}' of undefined",
        By::Code,
        "Cannot set properties of undefined (setting '{}')",
    ),
    ("TypeError", "cannot set property '{}' of null", By::Code, "Cannot set properties of null (setting '{}')"),
    (
        "TypeError",
        "cannot read property 'Symbol.iterator' of undefined",
        By::Native(&["all", "race", "allSettled", "from"]),
        "undefined is not iterable (cannot read property Symbol(Symbol.iterator))",
    ),
    (
        "TypeError",
        "cannot read property 'Symbol.iterator' of null",
        By::Native(&["all", "race", "allSettled", "from"]),
        "object null is not iterable (cannot read property Symbol(Symbol.iterator))",
    ),
    (
        "ReferenceError",
        "this is not initialized",
        By::Anyone,
        "Must call super constructor in derived class before accessing 'this' or returning from derived constructor",
    ),
    ("ReferenceError", "'this' can be initialized only once", By::Anyone, "Super constructor may only be called once"),
    ("ReferenceError", "{} is not initialized", By::Code, "Cannot access '{}' before initialization"),
    ("RangeError", "invalid array length", By::Code, "Invalid array length"),
    ("RangeError", "invalid array length", By::Native(&["Array"]), "Invalid array length"),
    ("RangeError", "invalid string length", By::Anyone, "Invalid string length"),
    // V8 has no such class; [`super::stack_of`] makes it a RangeError.
    ("InternalError", "string too long", By::Anyone, "Invalid string length"),
    (
        "SyntaxError",
        "too many captures",
        By::Anyone,
        "Invalid regular expression: more than 254 groups that capture, which is this engine's bound. Use (?:…) for groups \
         whose text is not needed.",
    ),
    ("RangeError", "Date value is NaN", By::Anyone, "Invalid time value"),
    ("TypeError", "empty array", By::Native(&["reduce", "reduceRight"]), "Reduce of empty array with no initial value"),
    (
        "TypeError",
        "cannot convert BigInt to number",
        By::Code,
        "Cannot mix BigInt and other types, use explicit conversions",
    ),
    ("TypeError", "bigint argument with unary +", By::Anyone, "Cannot convert a BigInt value to a number"),
    (
        "TypeError",
        "BigInt operands are forbidden for >>>",
        By::Anyone,
        "BigInts have no unsigned right shift, use >> instead",
    ),
    ("RangeError", "BigInt division by zero", By::Anyone, "Division by zero"),
    ("RangeError", "BigInt negative exponent", By::Anyone, "Exponent must be positive"),
    ("TypeError", "BigInt are forbidden in JSON.stringify", By::Anyone, "Do not know how to serialize a BigInt"),
    ("TypeError", "cannot convert symbol to string", By::Anyone, "Cannot convert a Symbol value to a string"),
    ("TypeError", "cannot convert symbol to number", By::Anyone, "Cannot convert a Symbol value to a number"),
    ("TypeError", "toPrimitive", By::Anyone, "Cannot convert object to primitive value"),
    ("URIError", "expecting hex digit", By::Anyone, "URI malformed"),
    ("URIError", "expecting surrogate pair", By::Anyone, "URI malformed"),
    ("URIError", "malformed UTF-8", By::Anyone, "URI malformed"),
    ("URIError", "expecting %", By::Anyone, "URI malformed"),
    ("URIError", "invalid character", By::Anyone, "URI malformed"),
    (
        "RangeError",
        "invalid number of digits",
        By::Native(&["toFixed"]),
        "toFixed() digits argument must be between 0 and 100",
    ),
    (
        "RangeError",
        "invalid number of digits",
        By::Native(&["toPrecision"]),
        "toPrecision() argument must be between 1 and 100",
    ),
    (
        "RangeError",
        "invalid number of digits",
        By::Native(&["toExponential"]),
        "toExponential() argument must be between 0 and 100",
    ),
    (
        "TypeError",
        "must be called with new",
        By::Native(&["Promise"]),
        "Promise constructor cannot be invoked without 'new'",
    ),
    (
        "TypeError",
        "must be called with new",
        By::Native(&["Map", "Set", "WeakMap", "WeakSet", "Proxy"]),
        "Constructor {name} requires 'new'",
    ),
    (
        "TypeError",
        "regexp must have the 'g' flag",
        By::Native(&["replaceAll", "matchAll"]),
        "String.prototype.{name} called with a non-global RegExp argument",
    ),
    (
        "TypeError",
        "regexp not supported",
        By::Native(&["startsWith", "endsWith", "includes"]),
        "First argument to String.prototype.{name} must not be a regular expression",
    ),
    (
        "RangeError",
        "bad normalization form",
        By::Anyone,
        "The normalization form should be one of NFC, NFD, NFKC, NFKD.",
    ),
    ("TypeError", "not a Date object", By::Anyone, "this is not a Date object."),
    ("TypeError", "cannot invoke a running generator", By::Anyone, "Generator is already running"),
    ("TypeError", "invalid value used as WeakMap key", By::Anyone, "Invalid value used as weak map key"),
    ("TypeError", "invalid value used as WeakSet key", By::Anyone, "Invalid value used in weak set"),
    ("RangeError", "invalid array index: {}", By::Native(&["with"]), "Invalid index : {}"),
    ("RangeError", "invalid typed array index", By::Native(&["with"]), "Invalid typed array index"),
    (
        "TypeError",
        "not an object",
        By::Native(&["Proxy"]),
        "Cannot create proxy with a non-object as target or handler",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, message: &str, by: Thrower<'_>, text: &str) -> Option<String> {
        let source = || Source::new(text.into(), 1).map(std::rc::Rc::new);
        rewrite(&Fault { kind, message, by }, source, |chain| chain == "console.log")
    }

    #[test]
    fn what_is_not_known_is_left_as_it_is() {
        let code = Thrower::Code("f", (1, 1));
        let long = format!("cannot read property '{}' of null", "x".repeat(63));
        assert_eq!(
            of("TypeError", "cannot read property 'x' of null", code, "null.x").as_deref(),
            Some("Cannot read properties of null (reading 'x')")
        );
        for (kind, message, text) in [
            ("TypeError", long.as_str(), "x"),
            ("TypeError", "cannot read property 'q' of null", "null[Symbol('q')]"),
            ("TypeError", "cannot read property '{}' of null", "null[{}]"),
            ("TypeError", "cannot read property 'Symbol.iterator' of null", "null[s]"),
            ("RangeError", "cannot read property 'x' of null", "x"),
            ("TypeError", "cannot convert BigInt to number", "new Uint8Array(1)[0] = 1n"),
            ("TypeError", "not a function", "a() /* Proxy */"),
            ("TypeError", "something new", "x"),
            ("TypeError", "'NaN' is read-only", "NaN = 1"),
        ] {
            assert_eq!(of(kind, message, code, text), None, "{message}");
        }
        assert_eq!(of("RangeError", "invalid array length", Thrower::Native("set"), ""), None);
    }
}
