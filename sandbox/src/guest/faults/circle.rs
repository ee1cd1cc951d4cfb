//! What V8 says of an object that contains itself and is to become JSON.

use crate::guest::js::{Js, Kind, Val};
use crate::guest::state::State;

/// V8's message about the first circle below `root`; nothing when looking for it would run code of the program's.
pub(super) fn message(state: &State, root: &Val) -> Option<String> {
    let found = Search { open: Vec::new(), steps: 0 }.search(root);
    found.unwrap_or_else(|crate::guest::js::Pending| {
        drop(state.cx.exception());
        None
    })
}

struct Search {
    open: Vec<Open>,
    steps: u32,
}

/// An object on the way, and what is left of it.
struct Open {
    /// Under which key it was found.
    key: String,
    object: Val,
    keys: Vec<String>,
}

impl Search {
    /// Goes the way that JSON goes: depth first, keys in their order.
    fn search(mut self, root: &Val) -> Js<Option<String>> {
        if !self.enter(String::new(), root)? {
            return Ok(None);
        }
        while let Some(top) = self.open.last_mut() {
            let Some(key) = top.keys.pop() else {
                self.open.pop();
                continue;
            };
            self.steps += 1;
            let Some(child) = top.object.own_data(&key)? else { return Ok(None) };
            if self.steps > STEPS {
                return Ok(None);
            }
            // SAFETY: a live value.
            let is_date = unsafe { rquickjs::qjs::JS_IsDate(child.raw()) };
            if !child.is_object() || child.is_function() || is_date {
                continue;
            }
            if let Some(start) = self.open.iter().position(|open| open.object.identity() == child.identity()) {
                return self.describe(start, &key);
            }
            if !self.enter(key, &child)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Opens an object; false when it is none whose members can be read without running anything.
    fn enter(&mut self, key: String, object: &Val) -> Js<bool> {
        let is_plain = !object.is_proxy() && object.inherited_data("toJSON")?.is_some_and(|found| !found.is_function());
        if !is_plain {
            return Ok(false);
        }
        let mut keys = Vec::new();
        if object.is_array() {
            keys.extend((0..object.length()?.min(i64::from(STEPS))).map(|index| index.to_string()));
        } else {
            let own = object.own_keys()?;
            for at in 0..own.len() {
                keys.push(crate::guest::js::lossy(own.text(at)?.bytes()).into_owned());
            }
        }
        keys.reverse();
        self.open.push(Open { key, object: object.clone(), keys });
        Ok(true)
    }

    fn describe(&self, start: usize, last: &str) -> Js<Option<String>> {
        let circle = &self.open[start..];
        let mut lines = vec!["Converting circular structure to JSON".to_owned()];
        for (at, open) in circle.iter().enumerate() {
            let Some(class) = self.class(&open.object)? else { return Ok(None) };
            if at == 0 {
                lines.push(format!("    --> starting at object with constructor '{class}'"));
            } else if at <= FIRST || at + LAST >= circle.len() {
                lines.push(format!("    |     {} -> object with constructor '{class}'", shown(&open.key)));
            } else if at == FIRST + 1 {
                lines.push("    |     ...".to_owned());
            }
        }
        lines.push(format!("    --- {} closes the circle", shown(last)));
        Ok(Some(lines.join("\n")))
    }

    /// The name of an object's constructor; nothing if that is not what it seems.
    fn class(&self, object: &Val) -> Js<Option<String>> {
        let Some(constructor) = object.inherited_data("constructor")? else { return Ok(None) };
        if constructor.kind() == Kind::Undefined {
            return Ok(Some("Object".to_owned()));
        }
        if !constructor.is_function() {
            return Ok(None);
        }
        let name = constructor.own_data("name")?.filter(|name| name.is_string());
        name.map(|name| name.to_text()).transpose().map(|name| name.filter(|name| !name.is_empty()))
    }
}

/// A key as V8 writes it.
fn shown(key: &str) -> String {
    let is_index =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit()) && (key == "0" || !key.starts_with('0'));
    if is_index && key.len() < 10 { format!("index {key}") } else { format!("property '{key}'") }
}

/// Objects behind the first that are shown, and objects before the last one's key.
const FIRST: usize = 2;
const LAST: usize = 1;

/// Members that are looked at.
const STEPS: u32 = 100_000;
