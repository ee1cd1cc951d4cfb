//! Reading objects, and what they inherit from, without running anything of the program's: no getters, no proxies.

use std::ffi::{CString, c_int};
use std::mem::MaybeUninit;

use rquickjs::qjs;

use super::js::{Cx, Js, Pending, Val};
use super::web::wtf8::{Piece, pieces};

impl Val {
    /// The value of an own property; nothing when there is no such property, when it is an accessor, and of a proxy.
    pub(super) fn own_data(&self, name: &str) -> Js<Option<Val>> {
        Ok(match self.own(name)? {
            Own::Data(value) => Some(value),
            Own::Absent | Own::Hidden => None,
        })
    }

    /// The value of a property, own or inherited, undefined when there is none; nothing when an accessor or a proxy is on
    /// the way.
    pub(super) fn inherited_data(&self, name: &str) -> Js<Option<Val>> {
        let mut object = self.clone();
        while object.is_object() {
            match object.own(name)? {
                Own::Data(value) => return Ok(Some(value)),
                Own::Hidden => return Ok(None),
                Own::Absent => object = object.prototype()?,
            }
        }
        Ok(Some(self.cx().undefined()))
    }

    /// Whether this is a proxy.
    pub(super) fn is_proxy(&self) -> bool {
        // SAFETY: a live value.
        unsafe { qjs::JS_IsProxy(self.raw()) }
    }

    /// The object that this one inherits from, or null. Of a proxy it would be asked.
    pub(super) fn prototype(&self) -> Js<Val> {
        let cx = self.cx();
        // SAFETY: a live value; the reference is ours.
        cx.own(unsafe { qjs::JS_GetPrototype(cx.0, self.raw()) })
    }

    /// Makes this object inherit from another. A proxy would be asked.
    pub(super) fn set_prototype(&self, prototype: &Val) -> Js<()> {
        // SAFETY: two live objects.
        let code = unsafe { qjs::JS_SetPrototype(self.cx().0, self.raw(), prototype.raw()) };
        if code < 0 { Err(Pending) } else { Ok(()) }
    }

    /// Whether this is a string of just that text.
    pub(super) fn is_text(&self, text: &str) -> bool {
        self.is_string() && self.text().is_ok_and(|own| own.bytes() == text.as_bytes())
    }

    /// The UTF-16 units of a string.
    pub(super) fn units(&self) -> Js<Vec<u16>> {
        let text = self.text()?;
        let mut units = Vec::with_capacity(text.bytes().len());
        for piece in pieces(text.bytes()) {
            match piece {
                Piece::Text(text) => units.extend(text.encode_utf16()),
                Piece::Surrogate(unit) => units.push(unit),
            }
        }
        Ok(units)
    }

    fn own(&self, name: &str) -> Js<Own> {
        let cx = self.cx();
        if !self.is_object() || self.is_proxy() {
            return Ok(Own::Hidden);
        }
        let name = CString::new(name).unwrap_or_default();
        let mut found = MaybeUninit::<qjs::JSPropertyDescriptor>::zeroed();
        // SAFETY: a live object, a C string and a place for the answer, whose references become ours.
        unsafe {
            let key = qjs::JS_NewAtom(cx.0, name.as_ptr());
            let code = qjs::JS_GetOwnProperty(cx.0, found.as_mut_ptr(), self.raw(), key);
            qjs::JS_FreeAtom(cx.0, key);
            if code < 0 {
                return Err(Pending);
            }
            if code == 0 {
                return Ok(Own::Absent);
            }
            let found = found.assume_init();
            let (value, getter, setter) = (cx.take(found.value), cx.take(found.getter), cx.take(found.setter));
            let is_accessor = found.flags & qjs::JS_PROP_GETSET as c_int != 0;
            drop((getter, setter));
            Ok(if is_accessor { Own::Hidden } else { Own::Data(value) })
        }
    }
}

/// What an object has under a name.
enum Own {
    Data(Val),
    Absent,
    /// An accessor, or whatever a proxy would say.
    Hidden,
}

impl Cx {
    /// What `String(value)` gives for anything but a symbol, which throws.
    pub(super) fn to_string(self, value: &Val) -> Js<Val> {
        // SAFETY: a live value; the reference is ours.
        self.own(unsafe { qjs::JS_ToString(self.0, value.raw()) })
    }
}
