//! Randomness from the kernel, asked at every call: there is no state here that a fork could copy.

use rquickjs::{Ctx, Error, Exception, Function, Object, Result, Value};
use uuid::Builder;

use super::bytes;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("randomBytes", Function::new(ctx.clone(), random_bytes)?)?;
    natives.set("fillRandom", Function::new(ctx.clone(), fill_random)?)?;
    natives.set("randomUuid", Function::new(ctx.clone(), random_uuid)?)
}

/// `randomBytes(count) -> Uint8Array`.
fn random_bytes(ctx: Ctx<'_>, count: u32) -> Result<Value<'_>> {
    bytes::charge(&ctx, count as usize)?;
    let mut bytes = vec![0; count as usize];
    random(&ctx, &mut bytes)?;
    bytes::new_bytes(&ctx, &bytes)
}

/// `fillRandom(buffer, offset, length)`: the same, in place.
fn fill_random<'js>(ctx: Ctx<'js>, buffer: Value<'js>, offset: f64, length: f64) -> Result<()> {
    bytes::with_bytes_mut(&buffer, offset, length, |bytes| random(&ctx, bytes))
}

/// `randomUuid() -> string`, of version 4.
fn random_uuid(ctx: Ctx<'_>) -> Result<String> {
    let mut bytes = [0; 16];
    random(&ctx, &mut bytes)?;
    Ok(Builder::from_random_bytes(bytes).into_uuid().to_string())
}

fn random(ctx: &Ctx<'_>, bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| no_random(ctx))
}

fn no_random(ctx: &Ctx<'_>) -> Error {
    Exception::throw_message(ctx, "The system gives no random bytes")
}
