//! AES in Galois/Counter Mode (NIST SP 800-38D), with initialization vectors and tags of every length that Web
//! Cryptography allows. Knows nothing of the engine.

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncrypt, BlockSizeUser, InnerIvInit, KeyInit, StreamCipher, StreamCipherCoreWrapper};
use aes::{Aes128, Aes192, Aes256, Block};
use ctr::CtrCore;
use ctr::flavors::Ctr32BE;
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use subtle::ConstantTimeEq as _;

/// What goes into a tag beside the text.
pub(crate) struct Parameters<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) iv: &'a [u8],
    pub(crate) associated: &'a [u8],
    /// In bytes.
    pub(crate) tag_length: usize,
}

/// Encrypts and appends the tag.
///
/// `None` when the key has none of the lengths of AES, the vector is empty, or the tag would be longer than a block.
pub(crate) fn seal(parameters: &Parameters<'_>, data: Vec<u8>) -> Option<Vec<u8>> {
    with_aes(parameters, data, seal_with::<Aes128>, seal_with::<Aes192>, seal_with::<Aes256>)
}

/// Checks the tag at the end, and decrypts what is before it.
///
/// `None` when the tag is not of these bytes, and as [`seal`].
pub(crate) fn open(parameters: &Parameters<'_>, data: Vec<u8>) -> Option<Vec<u8>> {
    with_aes(parameters, data, open_with::<Aes128>, open_with::<Aes192>, open_with::<Aes256>)
}

type Operation = fn(&Parameters<'_>, Vec<u8>) -> Option<Vec<u8>>;

fn with_aes(
    parameters: &Parameters<'_>,
    data: Vec<u8>,
    with_128: Operation,
    with_192: Operation,
    with_256: Operation,
) -> Option<Vec<u8>> {
    match parameters.key.len() {
        16 => with_128(parameters, data),
        24 => with_192(parameters, data),
        32 => with_256(parameters, data),
        _ => None,
    }
}

fn seal_with<A: Aes>(parameters: &Parameters<'_>, mut data: Vec<u8>) -> Option<Vec<u8>> {
    let run = Run::<A>::new(parameters)?;
    run.apply(&mut data);
    let tag = run.tag(parameters.associated, &data);
    data.extend_from_slice(tag.get(..parameters.tag_length)?);
    Some(data)
}

fn open_with<A: Aes>(parameters: &Parameters<'_>, mut data: Vec<u8>) -> Option<Vec<u8>> {
    let run = Run::<A>::new(parameters)?;
    let given = data.split_off(data.len().checked_sub(parameters.tag_length)?);
    let tag = run.tag(parameters.associated, &data);
    if !bool::from(tag.get(..parameters.tag_length)?.ct_eq(&given)) {
        return None;
    }
    run.apply(&mut data);
    Some(data)
}

trait Aes: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit {}

impl<T: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16> + KeyInit> Aes for T {}

/// One key with one initialization vector.
struct Run<A> {
    aes: A,
    hash: GHash,
    /// J0 of the standard: its encryption masks the tag, those of its successors the text.
    first: Block,
}

impl<A: Aes> Run<A> {
    fn new(parameters: &Parameters<'_>) -> Option<Self> {
        let aes = A::new_from_slice(parameters.key).ok()?;
        let mut zero = Block::default();
        aes.encrypt_block(&mut zero);
        let hash = GHash::new(&zero);
        let mut first = Block::default();
        match parameters.iv {
            [] => return None,
            iv if iv.len() == 12 => {
                first[..12].copy_from_slice(iv);
                first[15] = 1;
            }
            iv => {
                let mut hash = hash.clone();
                hash.update_padded(iv);
                hash.update(&[lengths(0, iv.len())]);
                first = hash.finalize();
            }
        }
        Some(Self { aes, hash, first })
    }

    /// The encryptions of `first` and its successors.
    fn stream(&self) -> StreamCipherCoreWrapper<CtrCore<&A, Ctr32BE>> {
        StreamCipherCoreWrapper::from_core(CtrCore::inner_iv_init(&self.aes, &self.first))
    }

    /// Encrypts or decrypts, which is the same.
    fn apply(&self, data: &mut [u8]) {
        let mut stream = self.stream();
        stream.apply_keystream(&mut Block::default());
        stream.apply_keystream(data);
    }

    fn tag(&self, associated: &[u8], encrypted: &[u8]) -> Block {
        let mut hash = self.hash.clone();
        hash.update_padded(associated);
        hash.update_padded(encrypted);
        hash.update(&[lengths(associated.len(), encrypted.len())]);
        let mut tag = hash.finalize();
        self.stream().apply_keystream(&mut tag);
        tag
    }
}

/// Two lengths of bytes, in bits.
fn lengths(first: usize, second: usize) -> Block {
    let mut block = Block::default();
    block[..8].copy_from_slice(&(first as u64 * 8).to_be_bytes());
    block[8..].copy_from_slice(&(second as u64 * 8).to_be_bytes());
    block
}

#[cfg(test)]
mod tests {
    use super::{Parameters, open, seal};

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
    }

    /// The test cases of "The Galois/Counter Mode of Operation" (McGrew and Viega, submitted to NIST), appendix B, by
    /// their numbers there.
    #[test]
    fn encryption_is_that_of_the_mode_s_own_test_cases() {
        let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
                    b16aedf5aa0de657ba637b39";
        let associated = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
        let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
        let long = "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b5254\
                    16aedbf5a0de6a57a637b39b";
        let cases = [
            (1, &"0".repeat(32)[..], "000000000000000000000000", "", "", "58e2fccefa7e3061367f1d57a4e7455a"),
            (
                4,
                &key[..32],
                "cafebabefacedbaddecaf888",
                associated,
                text,
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05\
                 1ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47",
            ),
            (
                5,
                &key[..32],
                "cafebabefacedbad",
                associated,
                text,
                "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b42\
                 4989b5e1ebac0f07c23f45983612d2e79e3b0785561be14aaca2fccb",
            ),
            (
                6,
                &key[..32],
                long,
                associated,
                text,
                "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6f\
                 d62875d2aca417034c34aee5619cc5aefffe0bfa462af43c1699d050",
            ),
            (7, &"0".repeat(48)[..], "000000000000000000000000", "", "", "cd33b28ac773f74ba00ed1f312572435"),
            (
                10,
                &key[..48],
                "cafebabefacedbaddecaf888",
                associated,
                text,
                "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f47\
                 18e2448b2fe324d9ccda27102519498e80f1478f37ba55bd6d27618c",
            ),
            (
                16,
                key,
                "cafebabefacedbaddecaf888",
                associated,
                text,
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838\
                 c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b",
            ),
        ];
        for (case, key, iv, associated, text, expected) in cases {
            let (key, iv, associated) = (bytes(key), bytes(iv), bytes(associated));
            for tag_length in [4, 8, 12, 13, 14, 15, 16] {
                let parameters = Parameters { key: &key, iv: &iv, associated: &associated, tag_length };
                let mut whole = bytes(expected);
                whole.truncate(whole.len() - 16 + tag_length);
                let sealed = seal(&parameters, bytes(text)).expect("valid parameters");
                assert_eq!(sealed, whole, "case {case}");
                assert_eq!(open(&parameters, sealed.clone()), Some(bytes(text)), "case {case}");
                for at in 0..sealed.len() {
                    let mut damaged = sealed.clone();
                    damaged[at] ^= 1;
                    assert_eq!(open(&parameters, damaged), None, "case {case} with byte {at} changed");
                }
                assert_eq!(open(&parameters, sealed[1..].to_vec()), None, "case {case} without its first byte");
            }
        }
    }

    #[test]
    fn what_is_no_key_no_vector_or_no_tag_is_refused() {
        let of = |key: &[u8], iv: &[u8], tag_length| {
            let parameters = Parameters { key, iv, associated: &[], tag_length };
            (seal(&parameters, vec![1, 2, 3]).is_some(), open(&parameters, vec![1, 2, 3]).is_some())
        };
        assert_eq!(of(&[0; 16], &[0; 12], 16), (true, false));
        assert_eq!(of(&[0; 15], &[0; 12], 16), (false, false));
        assert_eq!(of(&[], &[0; 12], 16), (false, false));
        assert_eq!(of(&[0; 16], &[], 16), (false, false));
        assert_eq!(of(&[0; 16], &[0; 12], 17), (false, false));
    }
}
