//! The bytes behind ArrayBuffers and their views.

use rquickjs::qjs;

use super::js::{Cx, Js, Val};
use super::state::State;

/// What kind of binary value an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryKind {
    /// A Uint8Array.
    Bytes,
    /// An ArrayBuffer.
    Buffer,
    /// A DataView.
    DataView,
    /// Another typed array, by its constructor's name.
    View(&'static str),
}

/// A binary value: a window on a buffer. Nothing of the guest runs between making one and reading it.
pub(super) struct Binary {
    pub(super) kind: BinaryKind,
    buffer: Option<Val>,
    offset: usize,
    length: usize,
}

impl Binary {
    /// Looks at an object; `None` when it is no binary value. Detached buffers and views out of bounds are empty.
    pub(super) fn of(state: &State, object: &Val) -> Option<Self> {
        let cx = state.cx;
        // SAFETY: live values in all three questions.
        let (is_view, is_buffer, element) = unsafe {
            (
                qjs::JS_IsDataView(object.raw()),
                qjs::JS_IsArrayBuffer(object.raw()),
                qjs::JS_GetTypedArrayType(object.raw()),
            )
        };
        let found = if is_buffer {
            return Some(Self {
                kind: BinaryKind::Buffer,
                buffer: Some(object.clone()),
                offset: 0,
                length: usize::MAX,
            });
        } else if is_view {
            (BinaryKind::DataView, state.captured.data_view(object))
        } else if element >= 0 {
            (element_kind(element as qjs::JSTypedArrayEnum), typed_array(cx, object))
        } else {
            return None;
        };
        Some(match found {
            (kind, Ok((buffer, offset, length))) => Self { kind, buffer: Some(buffer), offset, length },
            (kind, Err(_)) => {
                drop(cx.exception());
                Self { kind, buffer: None, offset: 0, length: 0 }
            }
        })
    }

    /// The bytes that the program sees through it.
    pub(super) fn bytes(&self, cx: Cx) -> &[u8] {
        let Some(buffer) = &self.buffer else { return &[] };
        let mut size = 0;
        // SAFETY: a live value; the pointer stays good while nothing of the guest runs.
        let start = unsafe { qjs::JS_GetArrayBuffer(cx.0, &raw mut size, buffer.raw()) };
        if start.is_null() {
            drop(cx.exception());
            return &[];
        }
        // SAFETY: the engine gave `size` bytes.
        let whole = unsafe { std::slice::from_raw_parts(start, size as usize) };
        let end = self.offset.saturating_add(self.length).min(whole.len());
        whole.get(self.offset..end).unwrap_or(&[])
    }
}

fn typed_array(cx: Cx, object: &Val) -> Js<(Val, usize, usize)> {
    let (mut offset, mut length, mut element) = (0, 0, 0);
    // SAFETY: a live value and places for the answers.
    let buffer = cx.own(unsafe {
        qjs::JS_GetTypedArrayBuffer(cx.0, object.raw(), &raw mut offset, &raw mut length, &raw mut element)
    })?;
    Ok((buffer, offset as usize, length as usize))
}

fn element_kind(element: qjs::JSTypedArrayEnum) -> BinaryKind {
    BinaryKind::View(match element {
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8 => return BinaryKind::Bytes,
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8C => "Uint8ClampedArray",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT8 => "Int8Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT16 => "Int16Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT16 => "Uint16Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_INT32 => "Int32Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT32 => "Uint32Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_INT64 => "BigInt64Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_UINT64 => "BigUint64Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT16 => "Float16Array",
        qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT32 => "Float32Array",
        _ => "Float64Array",
    })
}

/// A new Uint8Array or ArrayBuffer with a copy of `bytes`.
pub(super) fn new_binary(cx: Cx, kind: BinaryKind, bytes: &[u8]) -> Js<Val> {
    let length = bytes.len() as qjs::size_t;
    // SAFETY: the bytes are copied.
    cx.own(unsafe {
        match kind {
            BinaryKind::Buffer => qjs::JS_NewArrayBufferCopy(cx.0, bytes.as_ptr(), length),
            _ => qjs::JS_NewUint8ArrayCopy(cx.0, bytes.as_ptr(), length),
        }
    })
}
