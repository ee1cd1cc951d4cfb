//! A thin, owning layer over the engine's C interface: values that free themselves, and results instead of sentinels.
//!
//! Everything here may run guest code (getters, proxies, `toString`), so no borrow of the run's state may be held
//! across a call. The raw interface is used rather than the binding's own types where memory may run out at any moment
//! or where guest objects have to be walked without building anything.

use std::ffi::{CStr, c_char, c_int};
use std::mem::{ManuallyDrop, MaybeUninit};

use rquickjs::qjs;

pub(super) use super::web::wtf8::{Piece, lossy, pieces};

/// The exception that the engine holds pending in its context.
#[derive(Debug)]
pub(super) struct Pending;

/// A value, or an exception that is pending in the context.
pub(super) type Js<T> = Result<T, Pending>;

/// A native function as the engine calls it, with values bound to it.
pub(super) type Native = unsafe extern "C" fn(
    *mut qjs::JSContext,
    qjs::JSValue,
    c_int,
    *mut qjs::JSValue,
    c_int,
    *mut qjs::JSValue,
) -> qjs::JSValue;

/// A native function without bound values.
pub(super) type Plain =
    unsafe extern "C" fn(*mut qjs::JSContext, qjs::JSValue, c_int, *mut qjs::JSValue) -> qjs::JSValue;

/// The engine's context. A process has one runtime and one context, and one thread that touches them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Cx(pub(super) *mut qjs::JSContext);

/// One owned reference to a value.
pub(super) struct Val {
    cx: Cx,
    raw: qjs::JSValue,
}

/// What a value is, as far as a walk over data has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Undefined,
    Null,
    Bool(bool),
    Int(i32),
    Float,
    BigInt,
    String,
    Symbol,
    Object,
    /// Engine-internal values that no program can hold.
    Other,
}

impl Drop for Val {
    fn drop(&mut self) {
        // SAFETY: `raw` is a reference that this value owns, of the runtime of `cx`, which is never freed.
        unsafe { qjs::JS_FreeValue(self.cx.0, self.raw) }
    }
}

impl Clone for Val {
    fn clone(&self) -> Self {
        // SAFETY: `raw` is alive as long as `self`.
        Self { cx: self.cx, raw: unsafe { qjs::JS_DupValue(self.cx.0, self.raw) } }
    }
}

impl Val {
    /// Hands the reference to the engine.
    pub(super) fn into_raw(self) -> qjs::JSValue {
        ManuallyDrop::new(self).raw
    }

    /// The value, still owned by `self`.
    pub(super) fn raw(&self) -> qjs::JSValue {
        self.raw
    }

    /// The context that the value belongs to.
    pub(super) fn cx(&self) -> Cx {
        self.cx
    }

    pub(super) fn kind(&self) -> Kind {
        kind(self.raw)
    }

    pub(super) fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    pub(super) fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    pub(super) fn is_undefined(&self) -> bool {
        self.kind() == Kind::Undefined
    }

    pub(super) fn is_function(&self) -> bool {
        // SAFETY: a live value of this context.
        unsafe { qjs::JS_IsFunction(self.cx.0, self.raw) }
    }

    /// True for arrays and for proxies of arrays.
    pub(super) fn is_array(&self) -> bool {
        // SAFETY: live values throughout; the target of a revoked proxy is an exception, which is dropped.
        unsafe {
            if !qjs::JS_IsProxy(self.raw) {
                return qjs::JS_IsArray(self.raw);
            }
            let mut target = self.clone();
            while qjs::JS_IsProxy(target.raw) {
                match self.cx.own(qjs::JS_GetProxyTarget(self.cx.0, target.raw)) {
                    Ok(next) => target = next,
                    Err(Pending) => {
                        drop(self.cx.exception());
                        return false;
                    }
                }
            }
            qjs::JS_IsArray(target.raw)
        }
    }

    /// The engine's class of an object; 0 for anything else.
    pub(super) fn class_id(&self) -> u32 {
        // SAFETY: a live value.
        unsafe { qjs::JS_GetClassID(self.raw) }
    }

    /// The address of an object, as its identity while it lives.
    pub(super) fn identity(&self) -> usize {
        // SAFETY: only read as a number, and only compared between values that are objects.
        unsafe { qjs::JS_VALUE_GET_PTR(self.raw) as usize }
    }

    /// The number in a value of kind `Float`.
    pub(super) fn float(&self) -> f64 {
        // SAFETY: callers have seen `Kind::Float`.
        unsafe { qjs::JS_VALUE_GET_FLOAT64(self.raw) }
    }

    /// Reads a property by its name.
    pub(super) fn get(&self, name: &CStr) -> Js<Val> {
        // SAFETY: a live value and a C string.
        self.cx.own(unsafe { qjs::JS_GetPropertyStr(self.cx.0, self.raw, name.as_ptr()) })
    }

    /// Reads an own property by its name; what is inherited reads as undefined.
    pub(super) fn get_own(&self, name: &CStr) -> Js<Val> {
        // SAFETY: a C string; the reference to the key is ours.
        let key = Atom { cx: self.cx, raw: unsafe { qjs::JS_NewAtom(self.cx.0, name.as_ptr()) } };
        if key.raw == 0 {
            return Err(Pending);
        }
        if self.has_own(key.raw)? { self.get_atom(key.raw) } else { Ok(self.cx.undefined()) }
    }

    pub(super) fn get_atom(&self, atom: qjs::JSAtom) -> Js<Val> {
        // SAFETY: a live value; the caller holds a reference to the atom.
        self.cx.own(unsafe { qjs::JS_GetProperty(self.cx.0, self.raw, atom) })
    }

    pub(super) fn get_index(&self, index: i64) -> Js<Val> {
        // SAFETY: a live value.
        self.cx.own(unsafe { qjs::JS_GetPropertyInt64(self.cx.0, self.raw, index) })
    }

    /// Defines an own data property, replacing what is there. `flags` are the engine's.
    pub(super) fn define(&self, name: &CStr, value: Val, flags: u32) -> Js<()> {
        let flags = flags | qjs::JS_PROP_THROW;
        // SAFETY: a live object; the reference to `value` goes to the engine.
        check(unsafe {
            qjs::JS_DefinePropertyValueStr(self.cx.0, self.raw, name.as_ptr(), value.into_raw(), flags as c_int)
        })
    }

    /// Sets a property by its name.
    pub(super) fn set(&self, name: &CStr, value: Val) -> Js<()> {
        // SAFETY: a live object and a C string; the reference to `value` goes to the engine.
        check(unsafe { qjs::JS_SetPropertyStr(self.cx.0, self.raw, name.as_ptr(), value.into_raw()) })
    }

    /// Defines an accessor.
    pub(super) fn define_accessor(&self, name: &CStr, getter: Val, setter: Val, flags: u32) -> Js<()> {
        // SAFETY: a live object and a C string; the references to the functions go to the engine.
        check(unsafe {
            let key = qjs::JS_NewAtom(self.cx.0, name.as_ptr());
            let (getter, setter) = (getter.into_raw(), setter.into_raw());
            let code = qjs::JS_DefinePropertyGetSet(self.cx.0, self.raw, key, getter, setter, flags as c_int);
            qjs::JS_FreeAtom(self.cx.0, key);
            code
        })
    }

    /// The length of an array or array-like.
    pub(super) fn length(&self) -> Js<i64> {
        let mut length = 0;
        // SAFETY: a live object and a place for the answer.
        check(unsafe { qjs::JS_GetLength(self.cx.0, self.raw, &raw mut length) })?;
        Ok(length)
    }

    /// Calls the value. `this` undefined.
    pub(super) fn call(&self, args: &[&Val]) -> Js<Val> {
        self.call_with(&self.cx.undefined(), args)
    }

    pub(super) fn call_with(&self, this: &Val, args: &[&Val]) -> Js<Val> {
        let mut raw: Vec<qjs::JSValue> = args.iter().map(|arg| arg.raw).collect();
        // SAFETY: live values; the engine borrows the arguments for the call.
        self.cx.own(unsafe { qjs::JS_Call(self.cx.0, self.raw, this.raw, raw.len() as c_int, raw.as_mut_ptr()) })
    }

    /// The text of a string, or of whatever converts to one. Lone surrogates come as three WTF-8 bytes.
    pub(super) fn text(&self) -> Js<Text> {
        let mut length = 0;
        // SAFETY: a live value; the answer is owned by `Text`.
        let start = unsafe { qjs::JS_ToCStringLen2(self.cx.0, &raw mut length, self.raw, false) };
        if start.is_null() { Err(Pending) } else { Ok(Text { cx: self.cx, start, length: length as usize }) }
    }

    /// The text as UTF-8, lone surrogates replaced.
    pub(super) fn to_text(&self) -> Js<String> {
        Ok(lossy(self.text()?.bytes()).into_owned())
    }

    /// The own property names of an object: strings only, enumerable only.
    pub(super) fn own_keys(&self) -> Js<Keys> {
        let mut start = std::ptr::null_mut();
        let mut count = 0;
        let flags = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY) as c_int;
        // SAFETY: a live object and places for the answer, which `Keys` owns.
        check(unsafe { qjs::JS_GetOwnPropertyNames(self.cx.0, &raw mut start, &raw mut count, self.raw, flags) })?;
        Ok(Keys { cx: self.cx, start, count })
    }

    /// Whether an object has an own property of that name.
    pub(super) fn has_own(&self, atom: qjs::JSAtom) -> Js<bool> {
        // SAFETY: a live object; a null descriptor asks for existence only.
        match unsafe { qjs::JS_GetOwnProperty(self.cx.0, std::ptr::null_mut(), self.raw, atom) } {
            found if found >= 0 => Ok(found > 0),
            _ => Err(Pending),
        }
    }

    /// State of a promise; `None` for anything else.
    pub(super) fn promise(&self) -> Option<Promise> {
        // SAFETY: live values; the result is a reference of its own.
        unsafe {
            match qjs::JS_PromiseState(self.cx.0, self.raw) {
                qjs::JSPromiseStateEnum_JS_PROMISE_PENDING => Some(Promise::Pending),
                qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => {
                    Some(Promise::Fulfilled(self.cx.take(qjs::JS_PromiseResult(self.cx.0, self.raw))))
                }
                qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => {
                    Some(Promise::Rejected(self.cx.take(qjs::JS_PromiseResult(self.cx.0, self.raw))))
                }
                _ => None,
            }
        }
    }

    /// Says that somebody watches a promise: nobody is told of its rejection.
    pub(super) fn mark_handled(&self) {
        // SAFETY: a live value; nothing happens to what is no promise.
        unsafe { qjs::JS_PromiseMarkAsHandled(self.cx.0, self.raw) }
    }

    pub(super) fn is_promise(&self) -> bool {
        // SAFETY: a live value.
        unsafe { qjs::JS_IsPromise(self.raw) }
    }

    pub(super) fn is_error(&self) -> bool {
        // SAFETY: a live value.
        unsafe { qjs::JS_IsError(self.raw) }
    }
}

/// State of a promise.
pub(super) enum Promise {
    Pending,
    Fulfilled(Val),
    Rejected(Val),
}

impl Cx {
    /// Takes over a reference that the engine gave, which may be its exception mark.
    pub(super) fn own(self, raw: qjs::JSValue) -> Js<Val> {
        // SAFETY: only reads the tag.
        if unsafe { qjs::JS_IsException(raw) } { Err(Pending) } else { Ok(self.take(raw)) }
    }

    /// Takes over a reference that is known to be a value.
    pub(super) fn take(self, raw: qjs::JSValue) -> Val {
        Val { cx: self, raw }
    }

    /// A reference of its own to a value that somebody else owns, such as an argument of a native function.
    pub(super) fn borrow(self, raw: qjs::JSValue) -> Val {
        // SAFETY: the owner keeps the value alive during the call.
        Val { cx: self, raw: unsafe { qjs::JS_DupValue(self.0, raw) } }
    }

    pub(super) fn undefined(self) -> Val {
        self.take(qjs::JS_UNDEFINED)
    }

    pub(super) fn int(self, value: i32) -> Val {
        self.take(qjs::JS_MKVAL(qjs::JS_TAG_INT, value))
    }

    pub(super) fn string(self, text: &str) -> Js<Val> {
        // SAFETY: the bytes are copied.
        self.own(unsafe { qjs::JS_NewStringLen(self.0, text.as_ptr().cast::<c_char>(), text.len() as qjs::size_t) })
    }

    pub(super) fn object(self) -> Js<Val> {
        // SAFETY: a live context.
        self.own(unsafe { qjs::JS_NewObject(self.0) })
    }

    /// An object that inherits nothing.
    pub(super) fn bare_object(self) -> Js<Val> {
        // SAFETY: a live context.
        self.own(unsafe { qjs::JS_NewObjectProto(self.0, qjs::JS_NULL) })
    }

    pub(super) fn global(self) -> Val {
        // SAFETY: a live context; the reference is ours.
        self.take(unsafe { qjs::JS_GetGlobalObject(self.0) })
    }

    /// Takes the pending exception away. It may be any value; `null` when there was no memory for an error, and also
    /// when the engine failed without raising anything, which it does only then.
    pub(super) fn exception(self) -> Val {
        // SAFETY: a live context; the reference is ours.
        let raw = unsafe { qjs::JS_GetException(self.0) };
        // SAFETY: only reads the tag.
        self.take(if unsafe { qjs::JS_IsUninitialized(raw) } { qjs::JS_NULL } else { raw })
    }

    /// Makes `value` the pending exception.
    pub(super) fn throw(self, value: Val) -> Pending {
        // SAFETY: the reference goes to the engine.
        unsafe { qjs::JS_Throw(self.0, value.into_raw()) };
        Pending
    }

    pub(super) fn throw_type_error(self, message: &CStr) -> Pending {
        // SAFETY: a constant format with one string argument.
        unsafe { qjs::JS_ThrowTypeError(self.0, c"%s".as_ptr(), message.as_ptr()) };
        Pending
    }

    pub(super) fn throw_range_error(self, message: &CStr) -> Pending {
        // SAFETY: a constant format with one string argument.
        unsafe { qjs::JS_ThrowRangeError(self.0, c"%s".as_ptr(), message.as_ptr()) };
        Pending
    }

    /// A native function with values bound to it; `magic` reaches it unchanged.
    pub(super) fn function(self, native: Native, name: &CStr, length: i32, magic: i32, data: &[&Val]) -> Js<Val> {
        let mut data: Vec<qjs::JSValue> = data.iter().map(|value| value.raw).collect();
        // SAFETY: the engine takes references of its own to the bound values and copies the name.
        self.own(unsafe {
            qjs::JS_NewCFunctionData2(
                self.0,
                Some(native),
                name.as_ptr(),
                length,
                magic,
                data.len() as c_int,
                data.as_mut_ptr(),
            )
        })
    }

    /// A native function without bound values.
    pub(super) fn plain_function(self, native: Plain, name: &CStr, length: i32, kind: qjs::JSCFunctionEnum) -> Js<Val> {
        // SAFETY: the engine copies the name.
        self.own(unsafe { qjs::JS_NewCFunction2(self.0, Some(native), name.as_ptr(), length, kind, 0) })
    }

    /// A promise with its resolve and reject functions.
    pub(super) fn promise(self) -> Js<(Val, Val, Val)> {
        let mut functions = [qjs::JS_UNDEFINED; 2];
        // SAFETY: a place for two references, which become ours when the promise was made.
        let promise = self.own(unsafe { qjs::JS_NewPromiseCapability(self.0, functions.as_mut_ptr()) })?;
        let [resolve, reject] = functions;
        Ok((promise, self.take(resolve), self.take(reject)))
    }

    /// Evaluates or compiles source. `line` is the number of its first line.
    pub(super) fn eval(self, source: &str, file: &CStr, line: i32, flags: u32) -> Js<Val> {
        // The engine reads the byte after the source, which has to be zero. It takes line 0 for "not given".
        let mut terminated = Vec::with_capacity(source.len() + 2);
        let line = if line == 0 {
            terminated.push(b'\n');
            -1
        } else {
            line
        };
        terminated.extend_from_slice(source.as_bytes());
        terminated.push(0);
        let mut options = qjs::JSEvalOptions {
            version: qjs::JS_EVAL_OPTIONS_VERSION as c_int,
            eval_flags: flags as c_int,
            filename: file.as_ptr(),
            line_num: line,
        };
        // SAFETY: the source is zero-terminated and outlives the call, as do options and file name.
        self.own(unsafe {
            qjs::JS_Eval2(
                self.0,
                terminated.as_ptr().cast::<c_char>(),
                (terminated.len() - 1) as qjs::size_t,
                &raw mut options,
            )
        })
    }

    /// Parses JSON text.
    pub(super) fn parse_json(self, text: &str) -> Js<Val> {
        let mut terminated = Vec::with_capacity(text.len() + 1);
        terminated.extend_from_slice(text.as_bytes());
        terminated.push(0);
        // SAFETY: zero-terminated as the engine demands, and outlives the call.
        self.own(unsafe {
            qjs::JS_ParseJSON(
                self.0,
                terminated.as_ptr().cast::<c_char>(),
                text.len() as qjs::size_t,
                c"<json>".as_ptr(),
            )
        })
    }

    /// This context for code that is written against the safe interface.
    pub(super) fn ctx(&self) -> rquickjs::Ctx<'_> {
        // SAFETY: the context is alive as long as the process; `NonNull` because it was made.
        unsafe { rquickjs::Ctx::from_raw(std::ptr::NonNull::new_unchecked(self.0)) }
    }

    /// The runtime of this context.
    pub(super) fn runtime(self) -> *mut qjs::JSRuntime {
        // SAFETY: a live context.
        unsafe { qjs::JS_GetRuntime(self.0) }
    }
}

/// Turns a native function's result into what the engine expects.
pub(super) fn answer(result: Js<Val>) -> qjs::JSValue {
    match result {
        Ok(value) => value.into_raw(),
        Err(Pending) => qjs::JS_EXCEPTION,
    }
}

/// Arguments of a native function, borrowed for the call; absent ones are undefined.
///
/// # Safety
/// `argv` holds `argc` live values.
pub(super) unsafe fn arguments<'a>(argc: c_int, argv: *mut qjs::JSValue) -> &'a [qjs::JSValue] {
    match usize::try_from(argc) {
        // SAFETY: promised by the caller.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(argv, count) },
        _ => &[],
    }
}

fn check(code: c_int) -> Js<()> {
    if code < 0 { Err(Pending) } else { Ok(()) }
}

/// What a raw value is.
pub(super) fn kind(raw: qjs::JSValue) -> Kind {
    // SAFETY: reads the tag, and the payload that belongs to it.
    unsafe {
        match qjs::JS_VALUE_GET_NORM_TAG(raw) {
            qjs::JS_TAG_UNDEFINED => Kind::Undefined,
            qjs::JS_TAG_NULL => Kind::Null,
            qjs::JS_TAG_BOOL => Kind::Bool(qjs::JS_VALUE_GET_BOOL(raw)),
            qjs::JS_TAG_INT => Kind::Int(qjs::JS_VALUE_GET_INT(raw)),
            qjs::JS_TAG_FLOAT64 => Kind::Float,
            qjs::JS_TAG_BIG_INT | qjs::JS_TAG_SHORT_BIG_INT => Kind::BigInt,
            qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => Kind::String,
            qjs::JS_TAG_SYMBOL => Kind::Symbol,
            qjs::JS_TAG_OBJECT => Kind::Object,
            _ => Kind::Other,
        }
    }
}

/// The bytes of a string, owned by the engine's heap. WTF-8.
pub(super) struct Text {
    cx: Cx,
    start: *const c_char,
    length: usize,
}

impl Text {
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the engine gave `length` bytes that live until they are freed in `drop`.
        unsafe { std::slice::from_raw_parts(self.start.cast::<u8>(), self.length) }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: `start` came from the engine and is freed once.
        unsafe { qjs::JS_FreeCString(self.cx.0, self.start) }
    }
}

/// Property names that the engine allocated.
pub(super) struct Keys {
    cx: Cx,
    start: *mut qjs::JSPropertyEnum,
    count: u32,
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    /// The name at `index`, which is below `len`; `self` keeps its reference.
    pub(super) fn atom(&self, index: usize) -> qjs::JSAtom {
        assert!(index < self.len(), "callers stay below len");
        // SAFETY: the engine gave `count` entries.
        unsafe { (*self.start.add(index)).atom }
    }

    /// The name's text.
    pub(super) fn text(&self, index: usize) -> Js<Text> {
        atom_text(self.cx, self.atom(index))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // SAFETY: the table came from the engine and is freed once.
        unsafe { qjs::JS_FreePropertyEnum(self.cx.0, self.start, self.count) }
    }
}

fn atom_text(cx: Cx, atom: qjs::JSAtom) -> Js<Text> {
    let mut length = 0;
    // SAFETY: the caller holds a reference to the atom; the answer is owned by `Text`.
    let start = unsafe { qjs::JS_AtomToCStringLen(cx.0, &raw mut length, atom) };
    if start.is_null() { Err(Pending) } else { Ok(Text { cx, start, length: length as usize }) }
}

/// An owned property key.
pub(super) struct Atom {
    cx: Cx,
    raw: qjs::JSAtom,
}

impl Atom {
    /// The key that `value` stands for; a string or a symbol runs no guest code.
    pub(super) fn of(cx: Cx, value: qjs::JSValue) -> Js<Self> {
        // SAFETY: a live value; the reference is ours.
        let raw = unsafe { qjs::JS_ValueToAtom(cx.0, value) };
        if raw == 0 { Err(Pending) } else { Ok(Self { cx, raw }) }
    }

    pub(super) fn raw(&self) -> qjs::JSAtom {
        self.raw
    }
}

impl Drop for Atom {
    fn drop(&mut self) {
        // SAFETY: the reference is ours and is freed once.
        unsafe { qjs::JS_FreeAtom(self.cx.0, self.raw) }
    }
}

/// Runs one pending job. `None` when there was none.
pub(super) fn run_job(cx: Cx) -> Option<Js<()>> {
    let mut context = MaybeUninit::uninit();
    // SAFETY: the runtime is alive and `context` is only written to.
    match unsafe { qjs::JS_ExecutePendingJob(cx.runtime(), context.as_mut_ptr()) } {
        0 => None,
        code => Some(check(code)),
    }
}
