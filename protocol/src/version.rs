//! The version of the executor protocol. The wire of Cap'n Web has none of its own, so the first call of every session
//! reads `protocolVersion()` and compares it by exact equality.

use crate::{ErrorCode, ExecutorError, text};

/// The version that this crate speaks.
pub const PROTOCOL_VERSION: i64 = 1;

/// Refuses a server that speaks another version.
///
/// # Errors
/// `PROTOCOL_MISMATCH`, naming both versions.
pub fn assert_protocol_compatible(server: i64) -> Result<(), ExecutorError> {
    if server == PROTOCOL_VERSION {
        return Ok(());
    }
    Err(ExecutorError::new(ErrorCode::ProtocolMismatch, text::protocol_mismatch(PROTOCOL_VERSION, server)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_equality() {
        assert!(assert_protocol_compatible(PROTOCOL_VERSION).is_ok());
        let error = assert_protocol_compatible(2).unwrap_err();
        assert_eq!(error.code, ErrorCode::ProtocolMismatch);
        assert_eq!(error.message, "Executor protocol mismatch: client speaks v1, server speaks v2");
        assert!(!error.retryable);
    }
}
