//! What must hold of keys that a program brings, and of what it encrypts by them. Fuzzing drives it by coverage, a test
//! from seeds.

use crate::base64url::{decode, encode};
use crate::gcm::{Parameters, open, seal};
use crate::seeded::Random;

/// Four bytes say how long a key, a vector, associated data and a tag are; the rest is all of them, one after the other,
/// and what is encrypted, and the text of a key.
pub fn hold(data: &[u8]) {
    let [key, iv, associated, tag_length, data @ ..] = data else { return };
    held_by_texts(data);
    let cut = |data: &[u8], length: u8| {
        let (head, tail) = data.split_at(usize::from(length).min(data.len()));
        (head.to_vec(), tail.to_vec())
    };
    let (key, rest) = cut(data, key % 40);
    let (iv, rest) = cut(&rest, iv % 40);
    let (associated, text) = cut(&rest, *associated);
    let tag_length = usize::from(tag_length % 20);
    let parameters = Parameters { key: &key, iv: &iv, associated: &associated, tag_length };
    let sealed = seal(&parameters, text.clone());
    let fits = [16, 24, 32].contains(&key.len()) && !iv.is_empty() && tag_length <= 16;
    assert_eq!(sealed.is_some(), fits, "a key of {} bytes, a vector of {}, a tag of {tag_length}", key.len(), iv.len());
    let _ = open(&parameters, text.clone());
    let Some(sealed) = sealed else { return };
    assert_eq!(sealed.len(), text.len() + tag_length);
    assert_eq!(open(&parameters, sealed.clone()), Some(text));
    // A short tag fits by chance.
    if tag_length >= 8 {
        for at in [0, sealed.len() / 2, sealed.len() - 1] {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert_eq!(open(&parameters, damaged), None, "byte {at} was changed");
        }
        assert_eq!(open(&parameters, sealed[1..].to_vec()), None);
    }
}

/// The text of a key is read exactly when it is one.
fn held_by_texts(data: &[u8]) {
    assert_eq!(decode(&encode(data)).as_deref(), Some(data));
    let text = String::from_utf8_lossy(data);
    let is_one = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) && text.len() % 4 != 1;
    let read = decode(&text);
    assert_eq!(read.is_some(), is_one, "{text:?}");
    if let Some(bytes) = read {
        let written = encode(&bytes);
        let last = text.len().saturating_sub(1);
        assert_eq!(
            (written.len(), &written[..last]),
            (text.len(), &text[..last]),
            "only bits of the last digit are lost"
        );
    }
}

/// Bytes for [`hold`], the same for a seed everywhere: keys and texts of keys, some of them damaged.
pub fn generated(seed: u64) -> Vec<u8> {
    let mut random = Random::of(seed);
    let lengths = [*random.pick(&[0, 15, 16, 24, 32, 33]), *random.pick(&[0, 1, 12, 16, 39]), random.below(40)];
    let tag_length = *random.pick(&[4, 8, 12, 16, 17]);
    let mut bytes = random.bytes(160);
    if random.below(2) == 0 {
        bytes = encode(&bytes).into_bytes();
        random.damage(&mut bytes);
    }
    lengths.into_iter().chain([tag_length]).map(|length| length as u8).chain(bytes).collect()
}
