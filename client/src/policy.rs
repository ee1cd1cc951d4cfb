//! When sessions are opened, used and given up (CONTRACT section 16), decided without I/O.
//!
//! There is one session, from connect to dispose: a broken one stays broken. Rotation, reconnecting and the attempts
//! that both share are decisions of this machine.

/// What the client does with its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Calls go to the session, be it alive or broken.
    #[default]
    Open,
    /// Disposed: no call goes anywhere any more.
    Disposed,
}

/// Where a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// To the current session.
    Session,
    /// Nowhere: the client is closed.
    Closed,
}

impl Policy {
    /// A call arrives.
    pub(crate) fn admit(self) -> Admission {
        match self {
            Self::Open => Admission::Session,
            Self::Disposed => Admission::Closed,
        }
    }

    /// The client is disposed.
    pub(crate) fn dispose(&mut self) {
        *self = Self::Disposed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_admitted_after_dispose() {
        let mut policy = Policy::default();
        assert_eq!(policy.admit(), Admission::Session);
        policy.dispose();
        policy.dispose();
        assert_eq!(policy.admit(), Admission::Closed);
    }
}
