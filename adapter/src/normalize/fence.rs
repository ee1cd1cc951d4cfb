//! The one Markdown fence that is taken off: the one around the whole text.

use crate::space::is_space;

/// What stands inside the fence, when the whole of `text` (trimmed) is one fence with a tag that the dialect knows.
///
/// The line break that ends the opening line is the last one of the white space behind the tag, so the first line of the
/// content starts at its indentation or later.
pub(super) fn strip(text: &str) -> Option<&str> {
    let inside = text.strip_prefix(FENCE)?.strip_suffix(FENCE)?;
    // The longest tag first: `ts` is also the beginning of `tsx`.
    let rest = TAGS.iter().find_map(|tag| inside.strip_prefix(tag).filter(|rest| starts_with_line_break(rest)))?;
    let space = rest.len() - rest.trim_start_matches(is_space).len();
    let line_break = rest[..space].rfind('\n')?;
    Some(&rest[line_break + 1..])
}

fn starts_with_line_break(rest: &str) -> bool {
    rest.chars().take_while(|character| is_space(*character)).any(|character| character == '\n')
}

const FENCE: &str = "```";

/// The tag may also be absent.
const TAGS: [&str; 7] = ["javascript", "typescript", "tsx", "jsx", "js", "ts", ""];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_around_the_whole_text_is_taken_off() {
        for tag in ["js", "javascript", "ts", "typescript", "tsx", "jsx", ""] {
            assert_eq!(strip(&format!("```{tag}\n1\n```")), Some("1\n"), "{tag}");
            assert_eq!(strip(&format!("```{tag} \r\n\n  1 ```")), Some("  1 "), "{tag}");
        }
        assert_eq!(strip("```js\n```"), Some(""));
        assert_eq!(strip("```js\n1\n````"), Some("1\n`"));
        assert_eq!(strip("```js\nasync () => '```'\n```"), Some("async () => '```'\n"));
    }

    #[test]
    fn any_other_text_stays_as_it_is() {
        let texts = [
            "```JS\n1\n```",
            "```mjs\n1\n```",
            "```jsn\n1\n```",
            "```async () => 42```",
            "```js\r1```",
            "```js\n1",
            "1\n```",
            "````\n1\n```x",
            "Here:\n```js\n1\n```",
            "```js\n1\n```\nHope it helps",
            "``````",
            "```\n``",
            "```",
            "",
        ];
        for text in texts {
            assert_eq!(strip(text), None, "{text}");
        }
    }
}
