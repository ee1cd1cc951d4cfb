//! Who the process is, and what it may become.

use std::io;

/// `nobody`: owns nothing.
const UNPRIVILEGED: u32 = 65_534;

/// The version of the kernel's capability structures with two words a set.
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

pub(super) fn is_root() -> bool {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Leaves the superuser for good. Clears the parent-death signal as a side effect.
pub(super) fn drop_root() -> Result<String, String> {
    if !is_root() {
        // SAFETY: no arguments, cannot fail.
        return Ok(format!("started as user {}, not as root", unsafe { libc::geteuid() }));
    }
    let failed = |what: &str| format!("{what}: {}", io::Error::last_os_error());
    // SAFETY: an empty list is given as length 0; the others take no pointers.
    unsafe {
        if libc::setgroups(0, std::ptr::null()) != 0 {
            return Err(failed("setgroups"));
        }
        if libc::setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) != 0 {
            return Err(failed("setresgid"));
        }
        if libc::setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) != 0 {
            return Err(failed("setresuid"));
        }
    }
    Ok(format!("dropped root for user {UNPRIVILEGED}"))
}

/// Gives up every capability: those of root where the uid could not be dropped, and those that a new user namespace
/// hands out. Also makes the process opaque to others of its user.
pub(super) fn drop_capabilities() -> Result<String, String> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header { version: CAPABILITY_VERSION_3, pid: 0 };
    let sets = [[0_u32; 3]; 2];
    // SAFETY: header and sets have the kernel's layout for this version and outlive the call.
    if unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) } != 0 {
        return Err(format!("capset: {}", io::Error::last_os_error()));
    }
    // SAFETY: takes no pointers.
    if unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) } != 0 {
        return Err(format!("dumpable: {}", io::Error::last_os_error()));
    }
    Ok("none left; not traceable by its own user".to_owned())
}

/// No exec gives privileges from here on; seccomp and Landlock need it.
pub(super) fn no_new_privileges() -> Result<&'static str, io::Error> {
    // SAFETY: takes no pointers.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok("no exec can gain privileges")
}
