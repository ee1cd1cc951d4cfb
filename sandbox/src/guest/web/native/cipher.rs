//! Encryption by AES-GCM, and how JSON Web Keys write bytes.

use rquickjs::{Ctx, Function, Object, Result, Value};

use super::super::base64url;
use super::super::gcm::{self, Parameters};
use super::bytes;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("aesGcmSeal", Function::new(ctx.clone(), seal)?)?;
    natives.set("aesGcmOpen", Function::new(ctx.clone(), open)?)?;
    natives.set("base64Url", Function::new(ctx.clone(), base64_url)?)?;
    natives.set("fromBase64Url", Function::new(ctx.clone(), from_base64_url)?)
}

/// `aesGcmSeal(key, iv, associated, data, tagLength in bytes) -> Uint8Array`: the encrypted bytes and the tag.
fn seal<'js>(
    ctx: Ctx<'js>,
    key: Value<'js>,
    iv: Value<'js>,
    associated: Value<'js>,
    data: Value<'js>,
    tag_length: u32,
) -> Result<Option<Value<'js>>> {
    run(&ctx, gcm::seal, [key, iv, associated, data], tag_length)
}

/// `aesGcmOpen(…)`: the other way; undefined when key, vector, associated data, text and tag do not belong together.
fn open<'js>(
    ctx: Ctx<'js>,
    key: Value<'js>,
    iv: Value<'js>,
    associated: Value<'js>,
    data: Value<'js>,
    tag_length: u32,
) -> Result<Option<Value<'js>>> {
    run(&ctx, gcm::open, [key, iv, associated, data], tag_length)
}

fn run<'js>(
    ctx: &Ctx<'js>,
    operation: fn(&Parameters<'_>, Vec<u8>) -> Option<Vec<u8>>,
    [key, iv, associated, data]: [Value<'js>; 4],
    tag_length: u32,
) -> Result<Option<Value<'js>>> {
    let tag_length = tag_length as usize;
    bytes::charge(ctx, bytes::with_array(&data, <[u8]>::len).saturating_add(tag_length))?;
    let result = bytes::with_array(&key, |key| {
        bytes::with_array(&iv, |iv| {
            bytes::with_array(&associated, |associated| {
                let parameters = Parameters { key, iv, associated, tag_length };
                let data = bytes::with_array(&data, |data| {
                    let mut copy = Vec::with_capacity(data.len() + tag_length);
                    copy.extend_from_slice(data);
                    copy
                });
                operation(&parameters, data)
            })
        })
    });
    result.map(|result| bytes::new_bytes(ctx, &result)).transpose()
}

/// `base64Url(bytes) -> string`, without padding.
fn base64_url<'js>(ctx: Ctx<'js>, data: Value<'js>) -> Result<String> {
    bytes::charge(&ctx, bytes::with_array(&data, <[u8]>::len).saturating_mul(2))?;
    Ok(bytes::with_array(&data, base64url::encode))
}

/// `fromBase64Url(text) -> Uint8Array`; undefined for what is none.
fn from_base64_url<'js>(ctx: Ctx<'js>, text: String) -> Result<Option<Value<'js>>> {
    bytes::charge(&ctx, text.len())?;
    base64url::decode(&text).map(|decoded| bytes::new_bytes(&ctx, &decoded)).transpose()
}
