//! On whose behalf a call is made.

use std::sync::Arc;

/// Whoever calls an executor that serves several: a tenant, and one of its sessions.
///
/// Capacity is shared out between tenants first and then between the sessions of each, and a retained execution belongs
/// to the tenant that made it. Both are opaque and only compared. `Default` is the one caller of an executor that a
/// program embeds for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller {
    /// The name under which it authenticated; absent where nobody does.
    pub tenant: Option<Arc<str>>,
    /// A number that no other session of the executor's life has.
    pub session: u64,
}
