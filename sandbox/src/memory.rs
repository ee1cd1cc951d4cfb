//! How much memory this machine lets us have.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The memory of the machine or of the control group that this process is in, whichever is less, in bytes; none when
/// the system does not say.
pub fn machine_memory() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let bounds = bound_files(&groups).into_iter().filter_map(|file| bound_of(&file));
    bounds.chain(installed()).min()
}

/// The files that may bound the memory of a process of these control groups, which are told as in `/proc/PID/cgroup`:
/// those of its own group and of all above it, in the unified hierarchy or in that of the memory controller.
fn bound_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            some if some.split(',').any(|controller| controller == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = Path::new(root).join(path.trim_start_matches('/'));
        files.extend(group.ancestors().take_while(|folder| folder.starts_with(root)).map(|folder| folder.join(file)));
    }
    files
}

/// The bound of one control group. Without one its file says `max`, or a number beyond all memory.
fn bound_of(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
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
        assert!(machine_memory().unwrap() >= 64 << 20);
    }

    #[test]
    fn bounds_are_looked_for_in_every_group_above_in_both_hierarchies() {
        let files = |groups| -> Vec<_> { bound_files(groups).iter().map(|file| file.display().to_string()).collect() };
        assert_eq!(
            files("0::/system.slice/codemoded.service\n"),
            [
                "/sys/fs/cgroup/system.slice/codemoded.service/memory.max",
                "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(
            files("12:cpu,cpuacct:/a\n4:memory:/docker/x:y\nnonsense\n"),
            [
                "/sys/fs/cgroup/memory/docker/x:y/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            ]
        );
    }
}
