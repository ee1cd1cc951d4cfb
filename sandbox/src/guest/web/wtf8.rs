//! The engine's strings as bytes: UTF-8, in which a lone surrogate stands as the three bytes that it would have.

/// WTF-8 to UTF-8: a lone surrogate becomes U+FFFD.
pub(crate) fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => {
            let mut out = String::with_capacity(bytes.len());
            for piece in pieces(bytes) {
                match piece {
                    Piece::Text(text) => out.push_str(text),
                    Piece::Surrogate(_) => out.push('\u{fffd}'),
                }
            }
            out.into()
        }
    }
}

/// A run of proper text, or one lone surrogate.
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Surrogate(u16),
}

/// Cuts WTF-8 into proper text and lone surrogates.
pub(crate) fn pieces(bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let proper = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => {
                let (proper, _) = rest.split_at(error.valid_up_to());
                // An empty run falls through to the surrogate that stands at the front.
                std::str::from_utf8(proper).unwrap_or_default()
            }
        };
        if !proper.is_empty() {
            rest = &rest[proper.len()..];
            return Some(Piece::Text(proper));
        }
        match *rest {
            [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
                rest = &rest[3..];
                Some(Piece::Surrogate(0xd000 | (u16::from(second & 0x3f) << 6) | u16::from(third & 0x3f)))
            }
            _ => {
                rest = &rest[1..];
                Some(Piece::Text("\u{fffd}"))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_told_from_text() {
        let bytes = b"a\xed\xa0\x80\xc3\xa9\xed\xbf\xbf";
        let seen: Vec<String> = pieces(bytes)
            .map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Surrogate(unit) => format!("{unit:04x}"),
            })
            .collect();
        assert_eq!(seen, ["a", "d800", "\u{e9}", "dfff"]);
        assert_eq!(lossy(bytes), "a\u{fffd}\u{e9}\u{fffd}");
        assert_eq!(lossy(b"\xff\xed"), "\u{fffd}\u{fffd}");
    }
}
