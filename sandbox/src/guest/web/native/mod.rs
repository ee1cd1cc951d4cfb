//! Natives of the Web surface. They are handed to the scripts and are never reachable from a program; the scripts
//! check what programs pass before they call one.

mod buffer;
pub(in super::super) mod bytes;
mod cipher;
mod compress;
mod derive;
mod hash;
mod kinds;
mod net;
mod random;
mod text;
mod time;
mod url;
mod url_pattern;

use rquickjs::{Ctx, Function, Object, Result};

/// All natives in one object without a prototype.
///
/// # Errors
/// The engine's exception when memory runs out.
pub(super) fn functions<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set_prototype(None)?;
    time::add(ctx, &natives)?;
    text::add(ctx, &natives)?;
    kinds::add(ctx, &natives)?;
    net::add(ctx, &natives)?;
    hash::add(ctx, &natives)?;
    url::add(ctx, &natives)?;
    url_pattern::add(ctx, &natives)?;
    buffer::add(ctx, &natives)?;
    natives.set("lateScript", Function::new(ctx.clone(), super::node::late_script)?)?;
    natives.set("trackRejections", Function::new(ctx.clone(), super::rejections::track)?)?;
    random::add(ctx, &natives)?;
    derive::add(ctx, &natives)?;
    cipher::add(ctx, &natives)?;
    compress::add(ctx, &natives)?;
    super::intl::add(ctx, &natives)?;
    Ok(natives)
}
