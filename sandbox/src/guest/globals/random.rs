//! `Math.random` with a state of each child's own: the engine's is copied by the fork, so that every child would give
//! the same numbers.

use std::cell::Cell;
use std::ffi::c_int;

use rquickjs::qjs;

use crate::guest::js::{Cx, Js};
use crate::guest::state::state;

/// The generator: xoshiro256++.
#[derive(Debug)]
pub(in crate::guest) struct Random {
    words: Cell<[u64; 4]>,
}

impl Random {
    pub(in crate::guest) const fn new() -> Self {
        Self { words: Cell::new([1, 2, 3, 4]) }
    }

    /// Takes a fresh seed from the kernel.
    ///
    /// # Errors
    /// The kernel gives none, which it may do only very early in its life.
    pub(in crate::guest) fn reseed(&self) -> Result<(), String> {
        let mut words = [[0; 8]; 4];
        getrandom::fill(words.as_flattened_mut()).map_err(|error| format!("no randomness: {error}"))?;
        self.words.set(words.map(u64::from_le_bytes));
        Ok(())
    }

    /// The next 64 bits.
    pub(in crate::guest) fn next(&self) -> u64 {
        let [a, b, c, d] = self.words.get();
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c2, d2) = (c ^ a, d ^ b);
        self.words.set([a ^ d2, b ^ c2, c2 ^ (b << 17), d2.rotate_left(45)]);
        result
    }
}

pub(super) fn install(cx: Cx) -> Js<()> {
    let random = cx.plain_function(random, c"random", 0, qjs::JSCFunctionEnum_JS_CFUNC_generic)?;
    let flags = qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE;
    cx.global().get(c"Math")?.define(c"random", random, flags)
}

unsafe extern "C" fn random(_: *mut qjs::JSContext, _: qjs::JSValue, _: c_int, _: *mut qjs::JSValue) -> qjs::JSValue {
    // The upper 53 bits are a fraction below one.
    qjs::JS_NewFloat64((state().random.next() >> 11) as f64 / (1u64 << 53) as f64)
}
