//! Looking into a JSON text without building its values: what is asked for is handed out as it stands in the text.
//!
//! Host calls that are passed on to somebody else's process may be large, and nobody here needs the values.

use crate::capnweb::{JsString, reader::Reader};

/// The first element of a JSON array, as it stands there; `None` when it is empty, and the whole text when it is no array.
///
/// A text that is no JSON counts as no array: whoever reads it next says what is wrong.
pub fn first_element(json: &str) -> Option<&str> {
    let mut reader = Reader::new(json, usize::MAX);
    reader.peek()?;
    if !reader.eat(b'[') {
        return Some(json);
    }
    if reader.eat(b']') {
        return None;
    }
    reader.peek();
    let start = reader.at();
    reader.skip_value().map_or(Some(json), |()| Some(&json[start..reader.at()]))
}

/// The members of a JSON object under `names`, as they stand there; of members with one name the last counts, as in
/// JavaScript. `None` when the text is no object.
pub fn members<'t, const COUNT: usize>(json: &'t str, names: [&str; COUNT]) -> Option<[Option<&'t str>; COUNT]> {
    let mut found = [None; COUNT];
    let mut reader = Reader::new(json, usize::MAX);
    if !reader.eat(b'{') {
        return None;
    }
    let mut more = !reader.eat(b'}');
    while more {
        let key = reader.raw_key().ok()?;
        reader.peek();
        let start = reader.at();
        reader.skip_value().ok()?;
        let key = if key.escaped { key.decode() } else { JsString::from(key.text) };
        if let Some(place) = names.iter().position(|name| key.as_str() == Some(name)) {
            found[place] = Some(&json[start..reader.at()]);
        }
        more = reader.more(b'}').ok()?;
    }
    reader.finish().ok()?;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_is_found_whatever_it_is() {
        let cases = [
            ("[]", None),
            (" [ ] ", None),
            ("", None),
            ("  ", None),
            ("[1,2]", Some("1")),
            (" [ {\"a\":[1]} , 2]", Some("{\"a\":[1]}")),
            ("[\"],\\\"\",2]", Some("\"],\\\"\"")),
            ("[[],[]]", Some("[]")),
            ("{\"a\":1}", Some("{\"a\":1}")),
            ("7", Some("7")),
            ("[1", Some("1")),
            ("[,", Some("[,")),
        ];
        for (json, expected) in cases {
            assert_eq!(first_element(json), expected, "{json}");
        }
    }

    #[test]
    fn members_are_found_under_their_names_and_the_last_of_equal_ones_counts() {
        let cases = [
            ("{}", Some([None, None])),
            (" { \"b\" : [1, 2] , \"a\":\"x\" } ", Some([Some("\"x\""), Some("[1, 2]")])),
            ("{\"a\":1,\"a\":{\"a\":2}}", Some([Some("{\"a\":2}"), None])),
            ("{\"\\u0061\":1,\"\\ud800\":2}", Some([Some("1"), None])),
            ("{\"c\":{\"a\":1}}", Some([None, None])),
            ("[]", None),
            ("", None),
            ("{\"a\":1", None),
            ("{\"a\":1}x", None),
            ("{a:1}", None),
        ];
        for (json, expected) in cases {
            assert_eq!(members(json, ["a", "b"]), expected, "{json}");
        }
    }

    #[test]
    fn deep_texts_are_not_followed() {
        let deep = "[".repeat(100_000);
        assert_eq!(first_element(&deep), Some(deep.as_str()));
        assert_eq!(members(&format!("{{\"a\":{deep}"), ["a"]), None);
    }
}
