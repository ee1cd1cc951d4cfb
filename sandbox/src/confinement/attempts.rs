//! The escape attempts of the self-test. The same functions run in a confined child, where each must fail, and in a
//! plain process, where each should succeed: a refusal proves something only beside a success.

use std::{
    ffi::{CStr, CString},
    io, ptr,
};

use serde::{Deserialize, Serialize};

use crate::sys::{self, check};

/// How one attempt went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttemptOutcome {
    /// It worked.
    Succeeded,
    /// It did not; which step failed and how.
    Refused(String),
}

/// One attempt and how it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptReport {
    /// What was tried.
    pub name: String,
    /// What came of it.
    pub outcome: AttemptOutcome,
}

/// Where the attempts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a confined child, directly; `victim` is a process of somebody else.
    Inside {
        /// Whom to attack.
        victim: i32,
    },
    /// In a plain process with one thread, each in a process of its own, so that a success changes nothing.
    Outside,
}

/// Makes every attempt.
pub(crate) fn run_attempts(place: Place) -> Vec<AttemptReport> {
    // Something to be found by the attempt that looks for what its parent holds.
    let _inherited = (place == Place::Outside).then(|| std::fs::File::open("/"));
    let outcome = |attempt: &Attempt| match place {
        Place::Inside { victim } => (attempt.run)(victim),
        Place::Outside => in_own_process(attempt.run),
    };
    let report = |attempt: &Attempt| AttemptReport {
        name: attempt.name.to_owned(),
        outcome: match outcome(attempt) {
            Ok(()) => AttemptOutcome::Succeeded,
            Err(error) => AttemptOutcome::Refused(error.to_string()),
        },
    };
    ATTEMPTS.iter().map(report).collect()
}

struct Attempt {
    name: &'static str,
    run: fn(victim: i32) -> io::Result<()>,
}

/// `execute a program` stands last: where it works, nothing after it is reported.
const ATTEMPTS: &[Attempt] = &[
    Attempt { name: "find an inherited descriptor", run: |_| inherited_descriptor() },
    Attempt { name: "open a file for reading", run: |_| open(c"/etc/passwd", libc::O_RDONLY) },
    Attempt { name: "create a file", run: |_| create_file() },
    Attempt { name: "stat a path", run: |_| stat() },
    Attempt { name: "list a directory", run: |_| open(c"/", libc::O_RDONLY | libc::O_DIRECTORY) },
    Attempt { name: "open the memory of another process", run: open_memory },
    Attempt { name: "connect a TCP socket", run: |_| connect_tcp() },
    Attempt { name: "send on a UDP socket", run: |_| socket(libc::AF_INET, libc::SOCK_DGRAM) },
    Attempt { name: "connect an abstract Unix socket", run: |_| connect_abstract() },
    Attempt { name: "open a netlink socket", run: |_| socket(libc::AF_NETLINK, libc::SOCK_RAW) },
    Attempt { name: "fork", run: |_| fork() },
    Attempt { name: "start a thread", run: |_| thread() },
    Attempt { name: "trace another process", run: trace },
    Attempt { name: "signal another process", run: signal },
    Attempt {
        name: "open a handle on another process",
        run: |victim| raw(libc::SYS_pidfd_open, [victim as i64, 0, 0]),
    },
    Attempt { name: "read the memory of another process", run: read_memory },
    Attempt { name: "map executable memory", run: |_| map_executable() },
    Attempt { name: "make memory executable", run: |_| protect_executable() },
    Attempt { name: "create an anonymous file", run: |_| memfd() },
    Attempt { name: "enter new namespaces", run: |_| raw(libc::SYS_unshare, [libc::CLONE_NEWUSER as i64, 0, 0]) },
    Attempt { name: "set up io_uring", run: |_| io_uring() },
    Attempt { name: "create a BPF map", run: |_| bpf() },
    Attempt { name: "open a performance counter", run: |_| perf() },
    Attempt { name: "become root", run: |_| raw(libc::SYS_setresuid, [0, 0, 0]) },
    Attempt { name: "change the root directory", run: |_| change_root() },
    Attempt { name: "add a key to the kernel's keyring", run: |_| add_key() },
    Attempt { name: "raise a resource limit", run: |_| raise_limit() },
    Attempt { name: "use the x32 system calls", run: |_| raw(X32 | libc::SYS_getpid, [0, 0, 0]) },
    Attempt { name: "execute a program", run: |_| execute() },
];

/// The bit that marks a call of the x32 numbering on x86-64.
const X32: i64 = 0x4000_0000;

fn raw(call: i64, arguments: [i64; 3]) -> io::Result<()> {
    let [a, b, c] = arguments;
    // SAFETY: only called with calls whose arguments are numbers.
    check(unsafe { libc::syscall(call, a, b, c) }).map(drop)
}

fn open(path: &CStr, flags: i32) -> io::Result<()> {
    // SAFETY: the path is a C string.
    let fd = check(unsafe { libc::openat(libc::AT_FDCWD, path.as_ptr(), flags | libc::O_CLOEXEC) }.into())?;
    close(fd)
}

fn open_memory(victim: i32) -> io::Result<()> {
    let path = CString::new(format!("/proc/{victim}/mem"))?;
    open(&path, libc::O_RDWR)
}

fn create_file() -> io::Result<()> {
    let path = c"/tmp/codemode-self-test";
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the path is a C string.
    let fd = check(unsafe { libc::openat(libc::AT_FDCWD, path.as_ptr(), flags, 0o600) }.into())?;
    // SAFETY: the path is a C string.
    unsafe { libc::unlink(path.as_ptr()) };
    close(fd)
}

fn stat() -> io::Result<()> {
    let mut place = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path is a C string and `place` is a valid place for the answer.
    check(unsafe { libc::stat(c"/".as_ptr(), place.as_mut_ptr()) }.into()).map(drop)
}

fn inherited_descriptor() -> io::Result<()> {
    // One by one: a limit on descriptors also bounds how many may be polled at once.
    for fd in 4..256 {
        let mut polled = libc::pollfd { fd, events: 0, revents: 0 };
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: one valid entry, a valid time, no mask.
        check(unsafe { libc::ppoll(&raw mut polled, 1, &raw const now, ptr::null()) }.into())?;
        if polled.revents & libc::POLLNVAL == 0 {
            return Ok(());
        }
    }
    Err(io::Error::other("there is none"))
}

fn socket(family: i32, kind: i32) -> io::Result<()> {
    // SAFETY: takes no pointers.
    close(check(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, 0) }.into())?)
}

fn connect_tcp() -> io::Result<()> {
    // Not the standard library's: it would take a failed socket for a failed connect.
    // SAFETY: all-zero is a valid sockaddr_in.
    let mut address = unsafe { std::mem::zeroed::<libc::sockaddr_in>() };
    address.sin_family = libc::AF_INET as u16;
    address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
    connect_to_itself(libc::AF_INET, (&raw mut address).cast(), size_of_val(&address))
}

fn connect_abstract() -> io::Result<()> {
    // SAFETY: all-zero is a valid sockaddr_un.
    let mut address = unsafe { std::mem::zeroed::<libc::sockaddr_un>() };
    address.sun_family = libc::AF_UNIX as u16;
    let name = format!("\0codemode-self-test-{}", sys::own_pid());
    for (to, from) in address.sun_path.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + name.len();
    connect_to_itself(libc::AF_UNIX, (&raw mut address).cast(), length)
}

/// Listens on `address` and connects to what that came to.
fn connect_to_itself(family: i32, address: *mut libc::sockaddr, length: usize) -> io::Result<()> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    let mut size = length as libc::socklen_t;
    // SAFETY: the callers give a valid address of `length` bytes, which outlives the calls.
    unsafe {
        let listener = check(libc::socket(family, kind, 0).into())? as i32;
        check(libc::bind(listener, address, size).into())?;
        check(libc::listen(listener, 1).into())?;
        check(libc::getsockname(listener, address, &raw mut size).into())?;
        let stream = check(libc::socket(family, kind, 0).into())? as i32;
        check(libc::connect(stream, address, size).into())?;
        close(stream.into())?;
        close(listener.into())
    }
}

fn fork() -> io::Result<()> {
    // SAFETY: the caller has one thread, and the new process only exits.
    match check(unsafe { libc::fork() }.into())? {
        // SAFETY: ends the new process at once.
        0 => unsafe { libc::_exit(0) },
        child => reap(child as i32).map(drop),
    }
}

fn thread() -> io::Result<()> {
    std::thread::Builder::new().spawn(|| ()).map(|thread| drop(thread.join()))
}

fn trace(victim: i32) -> io::Result<()> {
    let nothing = ptr::null_mut::<libc::c_void>();
    // SAFETY: this request takes no addresses. The tracing ends with this process.
    check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, victim, nothing, nothing) }).map(drop)
}

fn signal(victim: i32) -> io::Result<()> {
    // SAFETY: takes no pointers; the signal changes nothing in a process that is not stopped.
    check(unsafe { libc::kill(victim, libc::SIGCONT) }.into()).map(drop)
}

fn read_memory(victim: i32) -> io::Result<()> {
    let mut word = 0_usize;
    // A fork has the same addresses; inside, the victim is the zygote, of which that is true as well.
    let address = (&raw const SEEN_BY_ALL).cast_mut().cast();
    let local = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size_of::<usize>() };
    let remote = libc::iovec { iov_base: address, iov_len: size_of::<usize>() };
    // SAFETY: `local` is a valid place; `remote` is only looked at in the other process.
    check(unsafe { libc::process_vm_readv(victim, &raw const local, 1, &raw const remote, 1, 0) } as i64).map(drop)
}

static SEEN_BY_ALL: usize = 1;

fn map_executable() -> io::Result<()> {
    map(libc::PROT_READ | libc::PROT_EXEC).map(drop)
}

fn protect_executable() -> io::Result<()> {
    let page = map(libc::PROT_READ)?;
    // SAFETY: the page was just mapped and nobody uses it.
    check(unsafe { libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_EXEC) }.into()).map(drop)
}

const PAGE: usize = 4096;

fn map(protection: i32) -> io::Result<*mut libc::c_void> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice.
    let page = unsafe { libc::mmap(ptr::null_mut(), PAGE, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(page) }
}

fn memfd() -> io::Result<()> {
    // SAFETY: the name is a C string.
    close(check(unsafe { libc::syscall(libc::SYS_memfd_create, c"self-test".as_ptr(), libc::MFD_CLOEXEC) })?)
}

fn io_uring() -> io::Result<()> {
    let mut parameters = [0_u32; 30];
    // SAFETY: the kernel's io_uring_params has 120 bytes, as `parameters` has.
    close(check(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) })?)
}

fn bpf() -> io::Result<()> {
    // An array map with keys and values of 4 bytes and one entry.
    let attributes: [u32; 4] = [2, 4, 4, 1];
    // SAFETY: command 0 reads as many bytes of attributes as it is told.
    close(check(unsafe { libc::syscall(libc::SYS_bpf, 0, attributes.as_ptr(), size_of_val(&attributes)) })?)
}

fn perf() -> io::Result<()> {
    // A software counter (type 1) of the CPU clock (configuration 0), in the first published layout.
    let mut attributes = [0_u32; 16];
    (attributes[0], attributes[1]) = (1, 64);
    // SAFETY: the structure says its size in its second field.
    close(check(unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_mut_ptr(), 0, -1, -1, 0) })?)
}

fn change_root() -> io::Result<()> {
    // SAFETY: the path is a C string.
    check(unsafe { libc::chroot(c"/".as_ptr()) }.into()).map(drop)
}

fn add_key() -> io::Result<()> {
    const PROCESS_KEYRING: i64 = -2;
    // SAFETY: two C strings, then a payload of one byte.
    check(unsafe {
        libc::syscall(libc::SYS_add_key, c"user".as_ptr(), c"self-test".as_ptr(), c"x".as_ptr(), 1, PROCESS_KEYRING)
    })
    .map(drop)
}

fn raise_limit() -> io::Result<()> {
    let bound = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: `bound` is a valid rlimit for the length of the call.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const bound) }.into()).map(drop)
}

fn execute() -> io::Result<()> {
    let path = c"/bin/true";
    let arguments = [path.as_ptr(), ptr::null()];
    // SAFETY: path and arguments are C strings, the list ends with null, there is no environment.
    check(unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), arguments[1..].as_ptr()) }.into()).map(drop)
}

fn close(fd: i64) -> io::Result<()> {
    // SAFETY: the callers have just made `fd` and use it no further.
    check(unsafe { libc::close(fd as i32) }.into()).map(drop)
}

fn reap(child: i32) -> io::Result<i32> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the answer.
    check(unsafe { libc::waitpid(child, &raw mut status, 0) }.into())?;
    Ok(status)
}

/// Runs an attempt in a process of its own, against another one.
fn in_own_process(run: fn(i32) -> io::Result<()>) -> io::Result<()> {
    let victim = start(|| {
        // SAFETY: waits until the parent kills this process.
        unsafe { libc::pause() };
        0
    })?;
    let attacker = start(|| match run(victim) {
        Ok(()) => 0,
        Err(error) => error.raw_os_error().unwrap_or(UNNAMED_FAILURE),
    });
    let status = attacker.and_then(reap);
    // SAFETY: the victim is our child and is reaped only afterwards.
    unsafe { libc::kill(victim, libc::SIGKILL) };
    reap(victim)?;
    match status? {
        0 => Ok(()),
        status if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == libc::ENOSYS => {
            Err(io::Error::other("not offered by this kernel"))
        }
        status if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) != UNNAMED_FAILURE => {
            Err(io::Error::from_raw_os_error(libc::WEXITSTATUS(status)))
        }
        status => Err(io::Error::other(format!("the attempt's process ended with wait status {status}"))),
    }
}

/// The exit status for an error without a number; error numbers are smaller.
const UNNAMED_FAILURE: i32 = 255;

fn start(run: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: the caller has one thread, so the new process may do anything.
    match check(unsafe { libc::fork() }.into())? {
        0 => {
            let status = run();
            // SAFETY: ends the new process at once.
            unsafe { libc::_exit(status) }
        }
        child => Ok(child as i32),
    }
}
