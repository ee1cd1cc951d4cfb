//! How texts name a host call.

use std::fmt;

use serde_json::value::RawValue;

/// What the program called: for a tool of the dialect's own (`__…`), whose first two arguments are texts that say it,
/// those; else provider and tool. Displayed as `<a>.<b>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallAddress {
    first: String,
    second: String,
}

impl CallAddress {
    /// The address of the call of `tool` with the arguments `args_json`.
    pub fn of(provider: &str, tool: &str, args_json: &str) -> Self {
        let spoken = tool.starts_with("__").then(|| first_two_texts(args_json)).flatten();
        let (first, second) = spoken.unwrap_or_else(|| (provider.to_owned(), tool.to_owned()));
        Self { first, second }
    }
}

impl fmt::Display for CallAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.first, self.second)
    }
}

fn first_two_texts(args_json: &str) -> Option<(String, String)> {
    let args: Vec<&RawValue> = serde_json::from_str(args_json).ok()?;
    let [first, second, ..] = args.as_slice() else { return None };
    Some((serde_json::from_str(first.get()).ok()?, serde_json::from_str(second.get()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_what_the_program_called() {
        let cases = [
            ("api", "get", "[\"a\",\"b\"]", "api.get"),
            ("host", "__call", "[\"github\",\"search\",{}]", "github.search"),
            ("host", "__call", "[1,\"b\"]", "host.__call"),
            ("host", "__call", "not JSON", "host.__call"),
        ];
        for (provider, tool, args, expected) in cases {
            assert_eq!(CallAddress::of(provider, tool, args).to_string(), expected);
        }
    }
}
