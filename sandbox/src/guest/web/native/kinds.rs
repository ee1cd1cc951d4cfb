//! What a value is inside, whatever its prototype says.

use rquickjs::{Ctx, Function, Object, Result, Value, qjs};

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("classId", Function::new(ctx.clone(), class_id)?)
}

/// The engine's number of an object's class; 0 for what is no object. Scripts learn the numbers from samples.
fn class_id(value: Value<'_>) -> u32 {
    if !value.is_object() {
        return 0;
    }
    // SAFETY: reads the class of an object that is alive.
    unsafe { qjs::JS_GetClassID(value.as_raw()) }
}
