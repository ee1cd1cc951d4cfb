//! The daemon under a service manager and inside a container.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    os::unix::{net::UnixDatagram, process::CommandExt},
    process::{Child, Command, Stdio},
    time::Duration,
};

use codemode_client::{RemoteExecutor, RemoteOptions};
use codemode_protocol::{Executor, Termination};
use codemode_tests::{
    daemon::{binary, repository},
    processes::Process,
    programs::{Tools, program},
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use tokio::task::block_in_place;

/// A `serve` that was started by hand; ends with its value.
struct Served(Child);

impl Served {
    fn start(command: &mut Command) -> (Self, String) {
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--warm", "1"])
            .env("CODEMODED_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("codemoded starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("codemoded prints text");
        let url = line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("codemoded printed {line:?}"));
        (Self(child), url.to_owned())
    }

    fn terminate(&mut self) {
        Process::of(self.0.id()).expect("it runs").signal(libc::SIGTERM);
        assert!(self.0.wait().expect("a child of ours").success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An error means that it ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_manager_is_told_when_the_daemon_is_ready_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let told = || {
        let mut text = [0; 256];
        let length = block_in_place(|| manager.recv(&mut text)).expect("the manager is told");
        String::from_utf8_lossy(&text[..length]).trim_end().to_owned()
    };
    let (mut daemon, url) = Served::start(Command::new(binary()).env("NOTIFY_SOCKET", &path));
    assert_eq!(told(), "READY=1");
    RemoteExecutor::connect(url, RemoteOptions::default()).await.expect("ready means that sessions open");
    Process::of(daemon.0.id()).expect("it runs").signal(libc::SIGTERM);
    assert_eq!(told(), "STOPPING=1");
    assert!(block_in_place(|| daemon.0.wait()).unwrap().success());
}

#[test]
fn systemd_takes_the_unit() {
    if Command::new("systemd-analyze").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: no systemd-analyze on this machine");
        return;
    }
    let unit = std::fs::read_to_string(repository().join("deploy/codemoded.service")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("codemoded.service");
    std::fs::write(&file, unit.replace("/usr/local/bin/codemoded", &binary().to_string_lossy())).unwrap();
    let output = Command::new("systemd-analyze").arg("verify").arg(&file).output().unwrap();
    // What it says of other units of the machine is not ours.
    let errors = String::from_utf8_lossy(&output.stderr);
    let ours: Vec<_> = errors.lines().filter(|line| line.contains("codemoded")).collect();
    assert!(ours.is_empty(), "{errors}");
}

/// What Docker's default profile refuses and a program could call without privileges
/// (<https://docs.docker.com/engine/security/seccomp/>, "Significant syscalls blocked by the default profile").
const REFUSED_BY_DOCKER: [libc::c_long; 39] = [
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mbind,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_set_mempolicy,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// The flags of clone that make namespaces.
const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u64;

/// Docker's profile as far as it refuses what a daemon might try, with its answers: EPERM, and ENOSYS for clone3, the
/// flags of which a filter cannot see.
fn container_filters() -> [BpfProgram; 2] {
    let program = |rules, answer: i32| -> BpfProgram {
        let architecture = std::env::consts::ARCH.try_into().expect("an architecture with seccomp");
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(answer as u32), architecture)
            .and_then(TryInto::try_into)
            .expect("a filter of our own")
    };
    let mut refused: BTreeMap<_, _> = REFUSED_BY_DOCKER.into_iter().map(|call| (call, Vec::new())).collect();
    let each_flag = (0..32).map(|bit| 1 << bit).filter(|flag| NAMESPACES & flag != 0);
    let with_flag = |flag| {
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag);
        SeccompRule::new(vec![condition.expect("the first argument")]).expect("a rule with a condition")
    };
    refused.insert(libc::SYS_clone, each_flag.map(with_flag).collect());
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    [program(refused, libc::EPERM), program(unknown, libc::ENOSYS)]
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_run_confined_under_a_containers_seccomp_profile() {
    let filters = container_filters();
    let mut command = Command::new(binary());
    // SAFETY: between fork and exec, prctl and seccomp are called on memory that was made before the fork.
    unsafe {
        command.pre_exec(move || {
            for filter in &filters {
                seccompiler::apply_filter(filter).map_err(|_| std::io::ErrorKind::Other)?;
            }
            Ok(())
        });
    }
    // The level that the manifests of `deploy` ask for.
    let (mut daemon, url) = Served::start(command.env("CODEMODED_REQUIRE_CONFINEMENT", "filtered"));
    let filtered = std::fs::read_to_string(format!("/proc/{}/status", daemon.0.id())).unwrap();
    assert!(filtered.lines().any(|line| line == "Seccomp_filters:\t2"), "the filters are there: {filtered}");
    let executor = RemoteExecutor::connect(url, RemoteOptions::default()).await.unwrap();
    let outcome = executor.execute(program("async () => await api.echo(42)"), Tools::default().host()).await.unwrap();
    assert_eq!(outcome.termination, Termination::Completed, "{:?}", outcome.error);
    let confinement = executor.info().await.unwrap().confinement;
    assert!(confinement.iter().any(|layer| layer == "seccomp"), "{confinement:?}");
    executor.dispose().await;
    block_in_place(|| daemon.terminate());
}
