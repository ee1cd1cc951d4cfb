//! Keys and bits from secrets: PBKDF2 (RFC 8018) and HKDF (RFC 5869), over the hashes of `hash.rs`.

use hkdf::Hkdf;
use md5::Md5;
use rquickjs::{Ctx, Function, Object, Result, Value};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::bytes;
use super::hash::with_hash;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("pbkdf2", Function::new(ctx.clone(), pbkdf2)?)?;
    natives.set("hkdf", Function::new(ctx.clone(), hkdf)?)
}

/// `pbkdf2(algorithm, password, salt, iterations, length) -> Uint8Array`; undefined for an unknown algorithm. Nothing
/// interrupts it: as with the engine's own long loops, the pool ends a child that is over its time.
fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    algorithm: String,
    password: Value<'js>,
    salt: Value<'js>,
    iterations: u32,
    length: u32,
) -> Result<Option<Value<'js>>> {
    bytes::charge(&ctx, length as usize)?;
    let mut derived = vec![0; length as usize];
    bytes::with_array(&password, |password| {
        bytes::with_array(&salt, |salt| {
            with_hash!(algorithm.as_str(), H => pbkdf2::pbkdf2_hmac::<H>(password, salt, iterations, &mut derived))
        })
    })
    .map(|()| bytes::new_bytes(&ctx, &derived))
    .transpose()
}

/// `hkdf(algorithm, secret, salt, info, length) -> Uint8Array`; undefined for an unknown algorithm, and for more bytes
/// than 255 digests.
fn hkdf<'js>(
    ctx: Ctx<'js>,
    algorithm: String,
    secret: Value<'js>,
    salt: Value<'js>,
    info: Value<'js>,
    length: u32,
) -> Result<Option<Value<'js>>> {
    if length > MOST {
        return Ok(None);
    }
    let mut derived = vec![0; length as usize];
    let made = bytes::with_array(&secret, |secret| {
        bytes::with_array(&salt, |salt| {
            bytes::with_array(
                &info,
                |info| with_hash!(algorithm.as_str(), H => Hkdf::<H>::new(Some(salt), secret).expand(info, &mut derived).ok()),
            )
        })
    });
    made.flatten().map(|()| bytes::new_bytes(&ctx, &derived)).transpose()
}

/// Of the longest digest.
const MOST: u32 = 255 * 64;
