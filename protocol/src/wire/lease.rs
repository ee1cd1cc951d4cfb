//! Leases on the wire: the options of `acquire`, and the members of the capability that it answers.

use super::fields::{object, positive, take};
use crate::{
    AcquireOptions, Caller, ExecutorError,
    capnweb::{Object, Value},
};

/// Runs the lease's one program.
pub const EXECUTE: &str = "execute";
/// Gives the permit back; further calls do nothing.
pub const RELEASE: &str = "release";
/// A property: how long admission took, in milliseconds.
pub const WAIT_MS: &str = "waitMs";

/// The options as an object that holds just the members that the caller set.
pub fn acquire_options_to_value(options: &AcquireOptions) -> Value {
    let memory = options.memory_limit.map(|bytes| ("memoryLimit", Value::Number(bytes as f64)));
    Value::Object(memory.into_iter().collect::<Object>())
}

/// The options that a peer sent, on behalf of `caller`; undefined and null are none. Their rules are checked by
/// [`AcquireOptions::validate`].
///
/// # Errors
/// `INVALID_REQUEST`, naming the member and the type that it must have.
pub fn acquire_options_from_value(value: Value, caller: Caller) -> Result<AcquireOptions, ExecutorError> {
    if value.is_nullish() {
        return Ok(AcquireOptions { caller, ..AcquireOptions::default() });
    }
    let mut members = object("options", value)?;
    let memory = take(&mut members, "memoryLimit").map(|value| positive("memoryLimit", value));
    Ok(AcquireOptions { memory_limit: memory.transpose()?, caller })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_the_wire_and_the_caller_is_never_the_peers_to_say() {
        let caller = Caller { tenant: Some("a".into()), session: 7 };
        for memory_limit in [None, Some(5)] {
            let sent = AcquireOptions { memory_limit, caller: Caller::default() };
            let value = acquire_options_to_value(&sent);
            let read = acquire_options_from_value(value, caller.clone()).unwrap();
            assert_eq!(read, AcquireOptions { memory_limit, caller: caller.clone() });
        }
        for none in [Value::Undefined, Value::Null] {
            let read = acquire_options_from_value(none, caller.clone()).unwrap();
            assert_eq!(read, AcquireOptions { memory_limit: None, caller: caller.clone() });
        }
    }

    #[test]
    fn a_wrong_option_is_named() {
        let refused = |value: Value| acquire_options_from_value(value, Caller::default()).unwrap_err().message;
        assert_eq!(refused(5.into()), "options: must be an object, not a number");
        let members = |value: Value| Value::Object([("memoryLimit", value)].into_iter().collect());
        assert_eq!(refused(members("1".into())), "memoryLimit: must be a number, not a string");
        assert_eq!(refused(members(0.into())), "memoryLimit: is 0; it must be a finite number of at least 1");
    }
}
