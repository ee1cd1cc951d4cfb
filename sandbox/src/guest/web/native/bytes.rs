//! Reaching into buffers and making them.

use std::ffi::c_void;
use std::ptr::NonNull;

use rquickjs::{ArrayBuffer, CString, Ctx, Error, Exception, Result, TypedArray, Value, qjs};

use super::super::Web;
use super::super::script::owned;
use super::super::wtf8;

/// Runs `read` over `length` bytes of `buffer` from `offset`; a part that the buffer does not have (it may have been
/// detached or shrunk since the script looked) is left out. `read` runs no JavaScript.
pub(in super::super) fn with_bytes<T>(
    buffer: &Value<'_>,
    offset: f64,
    length: f64,
    read: impl FnOnce(&[u8]) -> T,
) -> T {
    let (start, length) = place(buffer, offset, length);
    // SAFETY: the bytes are inside the buffer, and nothing writes to them until `read` is done: it runs no JavaScript
    // and the process has one thread.
    read(unsafe { std::slice::from_raw_parts(start, length) })
}

/// Like [`with_bytes`], to write.
pub(in super::super) fn with_bytes_mut<T>(
    buffer: &Value<'_>,
    offset: f64,
    length: f64,
    write: impl FnOnce(&mut [u8]) -> T,
) -> T {
    let (start, length) = place(buffer, offset, length);
    // SAFETY: as there, and no other reference to the bytes exists while `write` runs.
    write(unsafe { std::slice::from_raw_parts_mut(start, length) })
}

/// The start and number of those bytes.
fn place(buffer: &Value<'_>, offset: f64, length: f64) -> (*mut u8, usize) {
    let mut size = 0;
    // SAFETY: the engine answers null for anything that is no attached buffer, and leaves an exception then.
    let start = unsafe { qjs::JS_GetArrayBuffer(buffer.ctx().as_raw().as_ptr(), &raw mut size, buffer.as_raw()) };
    if start.is_null() {
        let _ = buffer.ctx().catch();
        return (NonNull::dangling().as_ptr(), 0);
    }
    let size = size as usize;
    let from = (offset as usize).min(size);
    let to = from.saturating_add(length as usize).min(size);
    // SAFETY: `from` is at most the size of the buffer.
    (unsafe { start.add(from) }, to - from)
}

/// Runs `read` over the bytes of a Uint8Array; anything else, and one that lost its buffer, has none. `read` runs no
/// JavaScript.
pub(super) fn with_array<T>(array: &Value<'_>, read: impl FnOnce(&[u8]) -> T) -> T {
    let mut size = 0;
    // SAFETY: the engine answers null for anything else, and leaves an exception then.
    let start = unsafe { qjs::JS_GetUint8Array(array.ctx().as_raw().as_ptr(), &raw mut size, array.as_raw()) };
    if start.is_null() {
        // An empty buffer may have no address, and leaves none.
        let _ = array.ctx().catch();
        return read(&[]);
    }
    // SAFETY: the bytes are the array's, and nothing writes to them until `read` is done: it runs no JavaScript and the
    // process has one thread.
    read(unsafe { std::slice::from_raw_parts(start, size as usize) })
}

/// A new Uint8Array with a copy of `bytes`, in the engine's memory.
///
/// # Errors
/// The engine's out-of-memory.
pub(in super::super) fn new_bytes<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    Ok(TypedArray::<u8>::from_arraybuffer(ArrayBuffer::new_copy(ctx.clone(), bytes)?)?.into_value())
}

/// Asks the engine for room for a native buffer of `size` bytes that is about to be made.
///
/// # Errors
/// A RangeError that the program can catch.
pub(in super::super) fn charge(ctx: &Ctx<'_>, size: usize) -> Result<()> {
    if size < BIG || ctx.userdata::<Web<'_>>().is_none_or(|web| (web.charge)(size)) {
        return Ok(());
    }
    Err(Exception::throw_range(ctx, "Array buffer allocation failed"))
}

/// Native memory that outlives a call, counted by the engine as its own: against the run's limit, and as garbage to come
/// by its collector. The block that stands for it is never touched, so it costs the system no page.
pub(super) struct Held {
    runtime: *mut qjs::JSRuntime,
    block: NonNull<c_void>,
}

impl Held {
    /// Counts `size` bytes as long as the value lives.
    ///
    /// # Errors
    /// The engine's out-of-memory.
    pub(super) fn of(ctx: &Ctx<'_>, size: usize) -> Result<Self> {
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: any size may be asked for; a live context has a runtime.
        let (block, runtime) = unsafe { (qjs::js_malloc(raw, size as qjs::size_t), qjs::JS_GetRuntime(raw)) };
        Ok(Self { runtime, block: NonNull::new(block).ok_or(Error::Exception)? })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: taken from this runtime, which outlives every object of its own.
        unsafe { qjs::js_free_rt(self.runtime, self.block.as_ptr()) };
    }
}

/// Runs `read` over a string, once there is room for `copies` of it. Lone surrogates are U+FFFD there.
///
/// # Errors
/// The engine's out-of-memory, or [`charge`]'s refusal.
pub(super) fn with_text<T>(
    ctx: &Ctx<'_>,
    string: rquickjs::String<'_>,
    copies: usize,
    read: impl FnOnce(&str) -> T,
) -> Result<T> {
    let text = string.to_cstring()?;
    let bytes = engine_bytes(&text);
    charge(ctx, bytes.len().saturating_mul(copies))?;
    Ok(read(&wtf8::lossy(bytes)))
}

/// The bytes of a text of the engine's. They are no UTF-8 where the string has a lone surrogate, whatever the type says.
pub(super) fn engine_bytes<'text>(text: &'text CString<'_>) -> &'text [u8] {
    // SAFETY: that many bytes are there as long as the text lives, and nobody writes to them.
    unsafe { std::slice::from_raw_parts(text.as_ptr().cast(), text.len()) }
}

/// The UTF-16 code units of a string.
///
/// # Errors
/// The engine's out-of-memory.
pub(in super::super) fn with_units<T>(string: &rquickjs::String<'_>, read: impl FnOnce(&[u16]) -> T) -> Result<T> {
    let ctx = string.as_value().ctx().as_raw().as_ptr();
    let mut len = 0;
    // SAFETY: the value is a string; the engine hands out a pointer that stays valid until it is freed below.
    unsafe {
        let units = qjs::JS_ToCStringLenUTF16(ctx, &raw mut len, string.as_value().as_raw());
        if units.is_null() {
            return Err(Error::Exception);
        }
        let result = read(std::slice::from_raw_parts(units, len as usize));
        qjs::JS_FreeCStringUTF16(ctx, units);
        Ok(result)
    }
}

/// A new string of UTF-16 code units.
///
/// # Errors
/// The engine's out-of-memory, or its bound on the length of a string.
pub(in super::super) fn new_string<'js>(ctx: &Ctx<'js>, units: &[u16]) -> Result<Value<'js>> {
    // SAFETY: the engine copies the units.
    unsafe { owned(ctx, qjs::JS_NewStringUTF16(ctx.as_raw().as_ptr(), units.as_ptr(), units.len() as _)) }
}

/// Below this a buffer is not worth asking for.
const BIG: usize = 64 * 1024;
