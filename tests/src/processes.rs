//! Processes as the kernel lists them.

use std::{
    fs,
    time::{Duration, Instant},
};

/// A process, told apart from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    pid: u32,
    /// When it began, in the kernel's ticks since boot.
    began: u64,
}

impl Process {
    /// The process with this number, if there is one.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self { pid, began: Stat::read(pid)?.began })
    }

    /// Its number.
    pub fn pid(self) -> u32 {
        self.pid
    }

    /// Whether it still runs: one that only waits to be reaped does not.
    pub fn is_alive(self) -> bool {
        self.stat().is_some_and(|stat| stat.state != 'Z' && stat.state != 'X')
    }

    /// The CPU time that it used, in the kernel's ticks.
    pub fn cpu_ticks(self) -> u64 {
        self.stat().map_or(0, |stat| stat.cpu_ticks)
    }

    /// Its memory in bytes, as far as it is in RAM.
    pub fn resident_bytes(self) -> u64 {
        self.status_kib("VmRSS:") * 1024
    }

    /// The most memory that it ever had in RAM, in bytes.
    pub fn peak_resident_bytes(self) -> u64 {
        self.status_kib("VmHWM:") * 1024
    }

    /// What its open descriptors lead to, as the kernel names it.
    pub fn descriptors(self) -> Vec<String> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.pid)).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .map(|target| target.to_string_lossy().into_owned())
            .collect()
    }

    /// How many TCP sockets (of IPv4) it has open, its listeners included.
    pub fn tcp_sockets(self) -> usize {
        let table = fs::read_to_string(format!("/proc/{}/net/tcp", self.pid)).unwrap_or_default();
        // The inode is the tenth field.
        let inodes = table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(9));
        let sockets: Vec<_> = inodes.map(|inode| format!("socket:[{inode}]")).collect();
        self.descriptors().iter().filter(|target| sockets.contains(target)).count()
    }

    /// Sends a signal, unless the process is gone.
    pub fn signal(self, signal: i32) {
        if self.stat().is_some() {
            // SAFETY: kill takes two numbers and touches no memory of ours.
            unsafe { libc::kill(self.pid.cast_signed(), signal) };
        }
    }

    fn stat(self) -> Option<Stat> {
        Stat::read(self.pid).filter(|stat| stat.began == self.began)
    }

    fn status_kib(self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or_default()
    }
}

/// The living children of a process.
pub fn children(parent: u32) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, Stat::read(pid)?)))
        .filter(|(_, stat)| stat.parent == parent && stat.state != 'Z')
        .map(|(pid, stat)| Process { pid, began: stat.began })
        .collect()
}

/// The living children of a process, theirs, and so on.
pub fn descendants(ancestor: u32) -> Vec<Process> {
    let mut found = children(ancestor);
    let mut next = 0;
    while let Some(process) = found.get(next) {
        found.extend(children(process.pid));
        next += 1;
    }
    found
}

/// Looks again and again until `look` gives something, for at most `deadline`.
///
/// What is waited for is another process' doing, so there is nothing to be woken by.
pub fn eventually<T>(deadline: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + deadline;
    loop {
        let found = look();
        if found.is_some() || Instant::now() > end {
            return found;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Those of `processes` that still live after `deadline`; returns as soon as none does.
pub fn survivors(processes: &[Process], deadline: Duration) -> Vec<Process> {
    let living = || processes.iter().copied().filter(|process| process.is_alive()).collect::<Vec<_>>();
    eventually(deadline, || living().is_empty().then(Vec::new)).unwrap_or_else(living)
}

/// What `/proc/PID/stat` says.
struct Stat {
    state: char,
    parent: u32,
    cpu_ticks: u64,
    began: u64,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may hold anything; the fields after it are numbers, counted from 3.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: u32::try_from(number(4)?).ok()?,
            cpu_ticks: number(14)? + number(15)?,
            began: number(22)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_seen_until_it_ends() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::of(child.id()).unwrap();
        assert!(process.is_alive());
        assert!(descendants(std::process::id()).contains(&process));
        process.signal(libc::SIGKILL);
        assert_eq!(survivors(&[process], Duration::from_secs(5)), []);
        child.wait().unwrap();
        assert!(Process::of(process.pid()) != Some(process));
    }
}
