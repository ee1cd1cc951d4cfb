//! Resource limits and priorities.

use std::{fs, io};

/// The user-visible number of bytes, descriptors or processes.
type Bound = u64;

/// Descriptors of the zygote. It holds few, but the kernel also counts those that it has sent and the pool has not yet
/// taken, over all processes of the user.
const ZYGOTE_DESCRIPTORS: Bound = 4096;

/// Descriptors of a child: the null device three times, and its socket.
const CHILD_DESCRIPTORS: Bound = 4;

/// Below every other process of the machine that did not ask for it.
const NICE: i32 = 5;

/// Makes the kernel sacrifice this process and its children before anything else, in memory and in CPU.
pub(super) fn give_way() -> Result<String, String> {
    // SAFETY: takes no pointers.
    let nice = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    if nice != 0 {
        return Err(format!("nice: {}", io::Error::last_os_error()));
    }
    fs::write("/proc/self/oom_score_adj", "1000").map_err(|error| format!("oom_score_adj: {error}"))?;
    Ok(format!("nice {NICE}, first to go when memory is short"))
}

/// Everything but the number of processes, which would keep the zygote from forking.
pub(super) fn limit_zygote(address_space: Bound) -> Result<String, String> {
    let bounds = [
        ("AS", libc::RLIMIT_AS, address_space),
        ("NOFILE", libc::RLIMIT_NOFILE, ZYGOTE_DESCRIPTORS),
        ("CORE", libc::RLIMIT_CORE, 0),
        ("FSIZE", libc::RLIMIT_FSIZE, 0),
    ];
    for (name, resource, bound) in bounds {
        limit(resource, bound).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(format!("{} MiB of address space, no files, no core, no processes", address_space >> 20))
}

/// No further process, no further descriptor. The superuser is exempt from the first; seccomp is not.
pub(super) fn limit_child() -> io::Result<()> {
    limit(libc::RLIMIT_NPROC, 0)?;
    limit(libc::RLIMIT_NOFILE, CHILD_DESCRIPTORS)
}

fn limit(resource: libc::__rlimit_resource_t, bound: Bound) -> io::Result<()> {
    let bound = libc::rlimit { rlim_cur: bound, rlim_max: bound };
    // SAFETY: `bound` is a valid rlimit for the length of the call.
    if unsafe { libc::setrlimit(resource, &raw const bound) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
