//! How much memory this machine lets us have.

use std::{fs, path::Path};

/// The memory of the machine or of the control group that this process is in, whichever is less, in bytes; none when
/// the system does not say.
pub(crate) fn memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let root = Path::new("/sys/fs/cgroup");
    let bounds =
        root.join(path).ancestors().take_while(|folder| folder.starts_with(root)).map(bound_of).collect::<Vec<_>>();
    bounds.into_iter().chain([installed()]).flatten().min()
}

/// The bound of one control group; its file says `max` when there is none.
fn bound_of(group: &Path) -> Option<u64> {
    fs::read_to_string(group.join("memory.max")).ok()?.trim().parse().ok()
}

fn installed() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_this_machine_is_known() {
        assert!(memory().unwrap() >= 64 << 20);
    }
}
