//! Bytes as text in the encodings of the Encoding standard, over the tables of `encoding_rs`. Knows nothing of the engine.

use encoding_rs::{CoderResult, DecoderResult, Encoding, UTF_8};

/// The lower-case name of the encoding with this label, if there is one that can be read.
pub(crate) fn name(label: &str) -> Option<String> {
    Encoding::for_label_no_replacement(label.as_bytes()).map(|encoding| encoding.name().to_ascii_lowercase())
}

/// UTF-8 that is valid as it stands, which nearly all text is, without its byte order mark unless that is kept.
pub(crate) fn valid_utf8(bytes: &[u8], ignore_bom: bool) -> Option<&str> {
    let bytes = if ignore_bom { bytes } else { bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes) };
    std::str::from_utf8(bytes).ok()
}

/// Reads one stream of bytes.
pub(crate) struct Decoder {
    decoder: encoding_rs::Decoder,
    /// Whether malformed bytes end it; otherwise they become U+FFFD.
    fatal: bool,
}

impl Decoder {
    /// `encoding` is a name that [`name`] gave. With `ignore_bom` a byte order mark is text like any other.
    pub(crate) fn new(encoding: &str, fatal: bool, ignore_bom: bool) -> Self {
        let encoding = Encoding::for_label(encoding.as_bytes()).unwrap_or(UTF_8);
        let decoder = match ignore_bom {
            true => encoding.new_decoder_without_bom_handling(),
            false => encoding.new_decoder_with_bom_removal(),
        };
        Self { decoder, fatal }
    }

    /// UTF-16 units that the next so many bytes become at most; `None` for more than can be counted.
    pub(crate) fn most_units(&self, bytes: usize) -> Option<usize> {
        self.decoder.max_utf16_buffer_length(bytes)
    }

    /// Reads the next bytes into `units`, which has room for [`Decoder::most_units`], and returns how many were written.
    /// `None` when bytes are malformed and that is fatal. After that, and after the `last` bytes, it is not called again.
    pub(crate) fn decode(&mut self, bytes: &[u8], units: &mut [u16], last: bool) -> Option<usize> {
        if self.fatal {
            let (result, _, written) = self.decoder.decode_to_utf16_without_replacement(bytes, units, last);
            matches!(result, DecoderResult::InputEmpty).then_some(written)
        } else {
            let (result, _, written, _) = self.decoder.decode_to_utf16(bytes, units, last);
            matches!(result, CoderResult::InputEmpty).then_some(written)
        }
    }
}
