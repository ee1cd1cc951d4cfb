//! Whether much of the stack is left.

use super::compiler::Script;

/// Four times a text.
macro_rules! four {
    ($text:expr) => {
        concat!($text, $text, $text, $text)
    };
}

/// `lib.needStack()` throws the engine's error unless 64 KiB of stack are left: the call in it, which is never made, has
/// 4096 arguments, for which the engine wants room before it runs the function. Called before a change of state that the
/// end of the stack must not interrupt.
pub(super) const NEED_STACK: Script = Script {
    name: "web/stack.js",
    source: concat!(
        "(function (lib) { lib.needStack = (call) => { if (call) call(",
        four!(four!(four!(four!(four!(four!("0,")))))),
        "); }; });"
    ),
};
