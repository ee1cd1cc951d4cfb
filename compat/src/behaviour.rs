//! Tools made from the catalogue's descriptions. `reference/tools.mjs` makes the same ones.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use codemode_protocol::{
    HostCallError,
    capnweb::{BytesKind, Object, Value},
    from_json, to_json,
};
use futures_util::future::{BoxFuture, FutureExt};
use serde::Deserialize;

/// What a tool does. Written as a word (`"arguments"`) or as a table (`{ delay_ms = 20, then = "first" }`).
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Behaviour {
    /// One of a few that need no data.
    Word(Word),
    /// Answers with the value of a JSON text.
    Json {
        /// The text.
        json: String,
    },
    /// Answers with a Uint8Array.
    Bytes {
        /// Its elements.
        bytes: Vec<u8>,
    },
    /// Answers `{name, body}`, the body being the bytes 1, 2 and 3.
    BytesIn {
        /// The name.
        bytes_in: String,
    },
    /// Answers with a string.
    Text {
        /// Repeated.
        text: String,
        /// So many times; once when absent.
        times: Option<usize>,
    },
    /// Throws an Error.
    Throws(Thrown),
    /// Throws a value that is no Error.
    ThrowsJson {
        /// Its JSON text; empty means undefined.
        throws_json: String,
    },
    /// Answers with a member of a table, and throws `KEY VALUE not found` where there is none.
    Table {
        /// The table as JSON text.
        table: String,
        /// The member of the first argument that says which.
        key: String,
    },
    /// Answers with a page `{items, next_cursor}` of rows; takes `{cursor}`.
    Pages {
        /// All the rows as JSON text.
        pages: String,
        /// Rows in a page.
        size: usize,
    },
    /// Throws at first and does something else afterwards.
    Fails {
        /// How many calls fail.
        fails: u64,
        /// What they throw.
        with: Thrown,
        /// What is done afterwards.
        then: Box<Behaviour>,
    },
    /// Does something after a while.
    Delay {
        /// The while, in milliseconds.
        delay_ms: u64,
        /// What is done then.
        then: Box<Behaviour>,
    },
}

/// A behaviour without data.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Answers with the array of its arguments.
    Arguments,
    /// Answers with their number.
    Count,
    /// Answers with the first.
    First,
    /// Answers with their sum.
    Sum,
    /// Answers with the kind and the content of the first, in words.
    Describe,
    /// Never answers.
    Never,
    /// Answers with undefined.
    Undefined,
    /// Answers with null.
    Null,
    /// Answers with `1n`, which JSON cannot carry.
    Bigint,
    /// Answers with `[NaN, Infinity, -0]`.
    Nan,
    /// Answers with the first instant of 1970.
    Date,
    /// Answers with a function, which JSON leaves out.
    Function,
    /// Answers with an object that holds itself.
    Cycle,
}

/// An Error.
#[derive(Clone, Debug, Deserialize)]
pub struct Thrown {
    /// Its message.
    throws: String,
    /// Its name, which does not cross.
    #[serde(rename = "name")]
    _name: Option<String>,
}

/// A call's answer: a value, or the message that the program catches.
pub(crate) type Answer = Result<Value, HostCallError>;

/// A tool of the program's arguments.
pub(crate) type Tool = Arc<dyn Fn(Vec<Value>) -> BoxFuture<'static, Answer> + Send + Sync>;

impl Behaviour {
    /// Reads a description.
    ///
    /// # Errors
    /// It describes nothing.
    pub fn read(described: &serde_json::Value) -> Result<Self> {
        serde_json::from_value(described.clone()).with_context(|| format!("no tool behaves like {described}"))
    }

    pub(crate) fn tool(self) -> Tool {
        match self {
            Self::Delay { delay_ms, then } => {
                let then = then.tool();
                Arc::new(move |arguments| {
                    let then = then.clone();
                    async move {
                        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
                        then(arguments).await
                    }
                    .boxed()
                })
            }
            Self::Fails { fails, with, then } => {
                let (calls, then) = (AtomicU64::new(0), then.tool());
                Arc::new(move |arguments| {
                    if calls.fetch_add(1, Ordering::Relaxed) < fails {
                        return std::future::ready(Err(HostCallError::new(with.throws.clone()))).boxed();
                    }
                    then(arguments)
                })
            }
            Self::Word(Word::Never) => Arc::new(|_| std::future::pending().boxed()),
            at_once => Arc::new(move |arguments| std::future::ready(at_once.answer(arguments)).boxed()),
        }
    }

    fn answer(&self, arguments: Vec<Value>) -> Answer {
        match self {
            Self::Word(word) => word.answer(arguments),
            Self::Json { json } => Ok(value_of(json)),
            Self::Bytes { bytes } => Ok(Value::Bytes(BytesKind::Uint8Array, bytes.clone())),
            Self::BytesIn { bytes_in } => Ok(object([
                ("name", Value::from(bytes_in.as_str())),
                ("body", Value::Bytes(BytesKind::Uint8Array, vec![1, 2, 3])),
            ])),
            Self::Text { text, times } => Ok(Value::from(text.repeat(times.unwrap_or(1)))),
            Self::Throws(thrown) => Err(HostCallError::new(thrown.throws.clone())),
            Self::ThrowsJson { throws_json } => Err(HostCallError::new(message_of(throws_json))),
            Self::Table { table, key } => {
                let wanted = key_of(arguments.first().and_then(|first| first.as_object()?.get(key)));
                let table = value_of(table);
                let found = table.as_object().and_then(|table| table.get(&wanted));
                found.cloned().ok_or_else(|| HostCallError::new(format!("{key} {wanted} not found")))
            }
            Self::Pages { pages, size } => {
                let rows = value_of(pages);
                let rows = rows.as_array().unwrap_or_default();
                let cursor = arguments.first().and_then(|first| first.as_object()?.get("cursor")?.as_number());
                let from = (cursor.unwrap_or(0.0) as usize).min(rows.len());
                let next = from + size;
                let more = next < rows.len();
                Ok(object([
                    ("items", Value::Array(rows[from..next.min(rows.len())].to_vec())),
                    ("next_cursor", if more { Value::from(next as f64) } else { Value::Null }),
                ]))
            }
            // Made by `tool`, for they do not answer at once.
            Self::Delay { .. } | Self::Fails { .. } => Ok(Value::Undefined),
        }
    }
}

impl Word {
    fn answer(self, arguments: Vec<Value>) -> Answer {
        Ok(match self {
            Self::Arguments => Value::Array(arguments),
            Self::Count => Value::from(arguments.len() as f64),
            Self::First => arguments.into_iter().next().unwrap_or_default(),
            Self::Sum => Value::from(arguments.iter().filter_map(Value::as_number).sum::<f64>()),
            Self::Describe => Value::from(describe(arguments.first().unwrap_or(&Value::Undefined))),
            // A function vanishes in JSON, as undefined does.
            Self::Undefined | Self::Function | Self::Never => Value::Undefined,
            Self::Null => Value::Null,
            Self::Bigint => Value::BigInt("1".into()),
            Self::Nan => Value::Array([f64::NAN, f64::INFINITY, -0.0].map(Value::from).into()),
            Self::Date => Value::Date(0.0),
            // A host in Rust has no such value; what it would be told is what serialising one says.
            Self::Cycle => return Err(HostCallError::new("Converting circular structure to JSON")),
        })
    }
}

fn object<const MEMBERS: usize>(members: [(&str, Value); MEMBERS]) -> Value {
    Value::Object(members.into_iter().collect::<Object>())
}

/// The value of a JSON text of the catalogue; undefined where it is empty.
fn value_of(json: &str) -> Value {
    from_json(json).unwrap_or_default()
}

/// What a host of the reference makes of a thrown value that is no Error.
fn message_of(json: &str) -> String {
    match value_of(json) {
        Value::Object(_) => "[object Object]".into(),
        other => key_of(Some(&other)),
    }
}

/// `String(value)` of a scalar.
fn key_of(value: Option<&Value>) -> String {
    match value.unwrap_or(&Value::Undefined) {
        Value::String(text) => text.to_string_lossy().into_owned(),
        other => to_json(other).ok().flatten().unwrap_or_else(|| "undefined".into()),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Bytes(kind, bytes) => {
            let elements: Vec<_> = bytes.iter().map(u8::to_string).collect();
            format!("{kind:?}({})", elements.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(describe).collect::<Vec<_>>().join(",")),
        Value::Object(object) => {
            let members = object.iter().map(|(key, member)| {
                format!("{}:{}", serde_json::Value::from(key.to_string_lossy()), describe(member))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => to_json(other).ok().flatten().unwrap_or_else(|| "undefined".into()),
    }
}
