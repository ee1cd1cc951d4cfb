//! Digests and keyed digests (HMAC), for `crypto` and for modules that hash.
//!
//! Algorithms are named `md5`, `sha1`, `sha256`, `sha384` and `sha512`; a function that is given another name answers
//! undefined. Bytes come and go as Uint8Array.

use hmac::digest::{FixedOutput, Update};
use hmac::{EagerHash, Hmac, KeyInit};
use md5::Md5;
use rquickjs::class::{Trace, Tracer};
use rquickjs::{Class, Ctx, Function, JsLifetime, Object, Result, Value, class, function};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use super::bytes;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("digest", Function::new(ctx.clone(), digest)?)?;
    natives.set("hmac", Function::new(ctx.clone(), hmac)?)?;
    natives.set("newHasher", Function::new(ctx.clone(), new_hasher)?)?;
    natives.set("updateHasher", Function::new(ctx.clone(), update_hasher)?)?;
    natives.set("copyHasher", Function::new(ctx.clone(), copy_hasher)?)?;
    natives.set("finishHasher", Function::new(ctx.clone(), finish_hasher)?)?;
    natives.set("equalBytes", Function::new(ctx.clone(), equal_bytes)?)
}

/// Runs the expression with the type of the hash of that name, or answers `None`. The types are to be in scope.
macro_rules! with_hash {
    ($name:expr, $hash:ident => $result:expr) => {
        match $name {
            "md5" => Some({
                type $hash = Md5;
                $result
            }),
            "sha1" => Some({
                type $hash = Sha1;
                $result
            }),
            "sha256" => Some({
                type $hash = Sha256;
                $result
            }),
            "sha384" => Some({
                type $hash = Sha384;
                $result
            }),
            "sha512" => Some({
                type $hash = Sha512;
                $result
            }),
            _ => None,
        }
    };
}
pub(super) use with_hash;

/// A digest in the making, keyed or not.
trait Sum {
    fn update(&mut self, bytes: &[u8]);
    fn copy(&self) -> Box<dyn Sum>;
    fn finish(&self) -> Vec<u8>;
}

impl<T: Update + FixedOutput + Clone + 'static> Sum for T {
    fn update(&mut self, bytes: &[u8]) {
        Update::update(self, bytes);
    }

    fn copy(&self) -> Box<dyn Sum> {
        Box::new(self.clone())
    }

    fn finish(&self) -> Vec<u8> {
        self.clone().finalize_fixed().to_vec()
    }
}

fn plain(algorithm: &str) -> Option<Box<dyn Sum>> {
    with_hash!(algorithm, H => Box::new(H::default()) as Box<dyn Sum>)
}

fn keyed(algorithm: &str, key: &[u8]) -> Option<Box<dyn Sum>> {
    with_hash!(algorithm, H => Box::new(hmac_of::<H>(key)) as Box<dyn Sum>)
}

/// HMAC with a key of any length.
fn hmac_of<H: EagerHash>(key: &[u8]) -> Hmac<H> {
    Hmac::new_from_slice(key).expect("a long key is hashed and a short one filled up")
}

/// `digest(algorithm, bytes) -> Uint8Array`.
fn digest<'js>(ctx: Ctx<'js>, algorithm: String, data: Value<'js>) -> Result<Option<Value<'js>>> {
    let Some(mut sum) = plain(&algorithm) else { return Ok(None) };
    bytes::with_array(&data, |data| sum.update(data));
    bytes::new_bytes(&ctx, &sum.finish()).map(Some)
}

/// `hmac(algorithm, key, bytes) -> Uint8Array`.
fn hmac<'js>(ctx: Ctx<'js>, algorithm: String, key: Value<'js>, data: Value<'js>) -> Result<Option<Value<'js>>> {
    let Some(mut sum) = bytes::with_array(&key, |key| keyed(&algorithm, key)) else { return Ok(None) };
    bytes::with_array(&data, |data| sum.update(data));
    bytes::new_bytes(&ctx, &sum.finish()).map(Some)
}

/// A digest between two calls.
struct Hasher {
    sum: Box<dyn Sum>,
    _held: bytes::Held,
}

impl<'js> Trace<'js> for Hasher {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: holds nothing with a lifetime of the engine's.
unsafe impl<'js> JsLifetime<'js> for Hasher {
    type Changed<'to> = Hasher;
}

impl<'js> class::JsClass<'js> for Hasher {
    const NAME: &'static str = "Hasher";
    type Mutable = class::Writable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<function::Constructor<'js>>> {
        Ok(None)
    }
}

/// `newHasher(algorithm, key) -> hasher`: HMAC with a key, a plain digest when the key is undefined.
fn new_hasher<'js>(ctx: Ctx<'js>, algorithm: String, key: Value<'js>) -> Result<Option<Class<'js, Hasher>>> {
    let sum = match key.is_undefined() {
        true => plain(&algorithm),
        false => bytes::with_array(&key, |key| keyed(&algorithm, key)),
    };
    sum.map(|sum| hasher(ctx, sum)).transpose()
}

fn hasher(ctx: Ctx<'_>, sum: Box<dyn Sum>) -> Result<Class<'_, Hasher>> {
    let held = bytes::Held::of(&ctx, HASHER)?;
    Class::instance(ctx, Hasher { sum, _held: held })
}

/// `updateHasher(hasher, bytes)`.
fn update_hasher<'js>(hasher: Class<'js, Hasher>, data: Value<'js>) {
    let mut hasher = hasher.borrow_mut();
    bytes::with_array(&data, |data| hasher.sum.update(data));
}

/// `copyHasher(hasher) -> hasher` that goes on from here by itself.
fn copy_hasher<'js>(ctx: Ctx<'js>, original: Class<'js, Hasher>) -> Result<Class<'js, Hasher>> {
    hasher(ctx, original.borrow().sum.copy())
}

/// `finishHasher(hasher) -> Uint8Array`: the digest of what was put in so far; the hasher may go on.
fn finish_hasher<'js>(ctx: Ctx<'js>, hasher: Class<'js, Hasher>) -> Result<Value<'js>> {
    bytes::new_bytes(&ctx, &hasher.borrow().sum.finish())
}

/// `equalBytes(a, b) -> boolean`, in a time that depends on the lengths only.
fn equal_bytes(a: Value<'_>, b: Value<'_>) -> bool {
    bytes::with_array(&a, |a| bytes::with_array(&b, |b| a.ct_eq(b).into()))
}

/// Bytes of the largest digest in the making, and what is around it.
const HASHER: usize = 512;

#[cfg(test)]
mod tests {
    use super::{Sum, keyed, plain};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_those_of_their_standards() {
        // RFC 1321, A.5; FIPS 180, the example "abc".
        for (name, expected) in [
            ("md5", "900150983cd24fb0d6963f7d28e17f72"),
            ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "sha384",
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                "sha512",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
        ] {
            let mut sum = plain(name).expect(name);
            sum.update(b"a");
            let mut copy = sum.copy();
            sum.update(b"bc");
            assert_eq!(hex(&sum.finish()), expected, "{name}");
            copy.update(b"b");
            copy.update(b"c");
            assert_eq!(hex(&copy.finish()), expected, "a copy of {name}");
        }
        assert!(plain("sha3").is_none() && keyed("SHA256", b"").is_none());
    }

    #[test]
    fn keyed_digests_are_those_of_rfc_2202_and_rfc_4231() {
        let data = b"Test Using Larger Than Block-Size Key - Hash Key First";
        for (name, key, data, expected) in [
            ("md5", vec![0x0b; 16], &b"Hi There"[..], "9294727a3638bb1c13f48ef8158bfc9d"),
            ("sha1", vec![0xaa; 80], data, "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
            ("sha256", vec![0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            ("sha256", vec![0xaa; 131], data, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
            (
                "sha384",
                b"Jefe".to_vec(),
                b"what do ya want for nothing?",
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
            ),
            (
                "sha512",
                vec![0xaa; 20],
                &[0xdd; 50],
                "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39\
                 bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb",
            ),
        ] {
            let mut sum: Box<dyn Sum> = keyed(name, &key).expect(name);
            sum.update(data);
            assert_eq!(hex(&sum.finish()), expected, "{name}");
        }
    }
}
