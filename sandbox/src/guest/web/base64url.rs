//! How JSON Web Keys write bytes: "base64url" of RFC 7515, without padding. Knows nothing of the engine.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Bytes as text.
pub(crate) fn encode(bytes: &[u8]) -> String {
    UNPADDED.encode(bytes)
}

/// The bytes of a text; `None` for padding, for what is no digit, and for a digit that is left over. Bits that make no
/// byte are passed over.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    UNPADDED.decode(text).ok()
}

const UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);
