//! The system calls that zygote and children may make. Everything else, also under the x32 numbering, gets `EPERM`;
//! another architecture's entry kills.
//!
//! Refused calls get an error, not a signal: a call that some library makes in a corner nobody thought of degrades
//! instead of crashing the run, and the self-test can try them all in one process.

use std::collections::BTreeMap;

use libc::{
    CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, PROT_EXEC, SIGCHLD, SIGKILL,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// One permission.
struct Rule {
    call: i64,
    /// What must hold of the arguments; all conditions of one rule together.
    when: &'static [Condition],
    /// Why it cannot be left out.
    #[allow(dead_code, reason = "documentation that stands beside the rule and nowhere else")]
    reason: &'static str,
}

struct Condition {
    argument: u8,
    test: Test,
}

enum Test {
    Equals(i64),
    /// None of these bits.
    Lacks(i64),
}

const fn allow(call: i64, reason: &'static str) -> Rule {
    Rule { call, when: &[], reason }
}

const fn allow_if(call: i64, when: &'static [Condition], reason: &'static str) -> Rule {
    Rule { call, when, reason }
}

const fn equals(argument: u8, value: i32) -> Condition {
    Condition { argument, test: Test::Equals(value as i64) }
}

const NOT_EXECUTABLE: &[Condition] = &[Condition { argument: 2, test: Test::Lacks(PROT_EXEC as i64) }];

/// What a plain `fork` of the C library asks for: no thread, no namespace, no shared memory.
const FORK_FLAGS: i32 = CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD;

/// A child that runs a program.
const CHILD: &[Rule] = &[
    allow(libc::SYS_read, "its socket"),
    allow(libc::SYS_write, "its socket; the null device behind standard error"),
    allow(libc::SYS_recvfrom, "its socket"),
    allow(libc::SYS_sendto, "its socket"),
    allow(libc::SYS_ppoll, "waiting for the socket or the next timer"),
    allow(libc::SYS_close, "giving up what it has"),
    allow(libc::SYS_brk, "memory, bounded by our allocator and RLIMIT_AS"),
    allow_if(libc::SYS_mmap, NOT_EXECUTABLE, "memory, never executable"),
    allow_if(libc::SYS_mprotect, NOT_EXECUTABLE, "guard pages and heap growth of the C library, never executable"),
    allow(libc::SYS_munmap, "giving memory back"),
    allow(libc::SYS_mremap, "growing a large block in place"),
    allow(libc::SYS_madvise, "giving memory back"),
    allow(libc::SYS_futex, "locks of the standard library"),
    allow(libc::SYS_clock_gettime, "CPU clock; wall clock where the vDSO has none"),
    allow(libc::SYS_gettimeofday, "the engine's clock where the vDSO has none"),
    allow(libc::SYS_getrandom, "seeds and crypto"),
    allow(libc::SYS_restart_syscall, "going on waiting after a stop: a frozen control group, a debugger"),
    allow(libc::SYS_rt_sigreturn, "the end of a signal handler"),
    allow(libc::SYS_exit, "its end"),
    allow(libc::SYS_exit_group, "its end"),
];

/// What the zygote needs on top, to make children and bury them. It runs no guest code.
const ZYGOTE: &[Rule] = &[
    allow_if(libc::SYS_clone, &[equals(0, FORK_FLAGS)], "fork, and nothing else that clone can do"),
    allow(libc::SYS_set_robust_list, "the C library in a new child"),
    allow(libc::SYS_rt_sigprocmask, "the C library around fork"),
    allow(libc::SYS_wait4, "reaping"),
    allow_if(libc::SYS_kill, &[equals(1, SIGKILL)], "ending its children when the pool goes away"),
    allow(libc::SYS_setpriority, "lowering the priority of a child that computes"),
    allow_if(libc::SYS_socketpair, &[equals(0, libc::AF_UNIX)], "a child's channel"),
    allow(libc::SYS_sendmsg, "handing a child's channel to the pool"),
    allow(libc::SYS_recvmsg, "the pool's requests"),
    allow(libc::SYS_pidfd_open, "the handle by which the pool kills a child"),
    #[cfg(target_arch = "x86_64")]
    allow(libc::SYS_poll, "waiting for a request or a child's end"),
    #[cfg(target_arch = "x86_64")]
    allow(libc::SYS_dup2, "the one descriptor of a new child"),
    allow(libc::SYS_dup3, "the one descriptor of a new child"),
    allow(libc::SYS_close_range, "no other descriptor in a new child"),
    allow(libc::SYS_getpid, "a new child compares its parent"),
    allow(libc::SYS_getppid, "a new child compares its parent"),
    allow_if(libc::SYS_prctl, &[equals(0, PR_SET_PDEATHSIG)], "a new child dies with the zygote"),
    allow_if(libc::SYS_prctl, &[equals(0, PR_SET_NO_NEW_PRIVS)], "installing the second filter in a new child"),
    allow(libc::SYS_seccomp, "installing the second filter in a new child"),
    allow(libc::SYS_prlimit64, "no processes in a new child"),
];

/// Installs the zygote's filter; returns the tighter one for its children.
pub(super) fn confine_zygote() -> Result<BpfProgram, String> {
    let child = compile(CHILD.iter())?;
    let zygote = compile(CHILD.iter().chain(ZYGOTE))?;
    seccompiler::apply_filter(&zygote).map_err(|error| error.to_string())?;
    Ok(child)
}

fn compile<'a>(rules: impl Iterator<Item = &'a Rule>) -> Result<BpfProgram, String> {
    let mut map: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for rule in rules {
        let conditions = map.entry(rule.call).or_default();
        if !rule.when.is_empty() {
            let all = rule.when.iter().map(Condition::compile).collect::<Result<_, _>>();
            conditions.push(all.and_then(SeccompRule::new).map_err(|error| error.to_string())?);
        }
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    SeccompFilter::new(map, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow, arch)
        .and_then(BpfProgram::try_from)
        .map_err(|error| error.to_string())
}

impl Condition {
    fn compile(&self) -> Result<SeccompCondition, seccompiler::BackendError> {
        let (length, operator, value) = match self.test {
            Test::Equals(value) => (SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value as u64),
            Test::Lacks(bits) => (SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits as u64), 0),
        };
        SeccompCondition::new(self.argument, length, operator, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_may_nothing_that_reaches_beyond_its_socket() {
        let forbidden = [
            libc::SYS_openat,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_execve,
            libc::SYS_kill,
            libc::SYS_ptrace,
            libc::SYS_sendmsg,
            libc::SYS_recvmsg,
            libc::SYS_ioctl,
            libc::SYS_prctl,
        ];
        for call in forbidden {
            assert!(CHILD.iter().all(|rule| rule.call != call), "system call {call}");
        }
    }

    #[test]
    fn every_rule_has_its_reason_and_both_filters_compile() {
        assert!(CHILD.iter().chain(ZYGOTE).all(|rule| !rule.reason.is_empty()));
        assert!(compile(CHILD.iter()).is_ok());
        assert!(compile(CHILD.iter().chain(ZYGOTE)).is_ok());
    }
}
