//! `codemoded doctor`: what this machine offers, what confines a child here, and whether the walls hold.

use std::{ffi::CStr, fs, io::Read, mem::MaybeUninit};

use serde::{Deserialize, Serialize};

use super::{AttemptOutcome, AttemptReport, ConfinementReport};
use crate::{
    pool::{PoolError, PoolOptions},
    zygote::{ChildId, Request, launch_control, launch_zygote},
};

/// Everything that the self-test found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// The version of this crate.
    pub version: String,
    /// What the kernel offers.
    pub kernel: KernelReport,
    /// The layers around a child.
    pub confinement: ConfinementReport,
    /// Each escape attempt, in a child and outside.
    pub attempts: Vec<AttemptPair>,
}

impl DoctorReport {
    /// Whether every attempt failed inside.
    pub fn holds(&self) -> bool {
        !self.attempts.is_empty() && self.attempts.iter().all(|pair| pair.inside != AttemptOutcome::Succeeded)
    }
}

/// One escape attempt, made twice.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptPair {
    /// What was tried.
    pub name: String,
    /// In a confined child; must be refused.
    pub inside: AttemptOutcome,
    /// In a plain process; a refusal here says why the machine or its user may not do it anyway, so that the refusal
    /// inside proves nothing.
    pub outside: AttemptOutcome,
}

/// What matters of the kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KernelReport {
    /// Such as `6.18.0`.
    pub release: String,
    /// Such as `x86_64`.
    pub architecture: String,
    /// The version of Landlock's interface; absent when there is none.
    pub landlock: Option<i64>,
    /// Whether filters can be installed.
    pub seccomp: bool,
    /// Whether users may make user namespaces; absent when the kernel does not say.
    pub user_namespaces: Option<bool>,
    /// The controllers of the unified control group hierarchy; absent when there is none.
    pub cgroup_controllers: Option<String>,
}

/// Starts a zygote as a pool with these options would, lets a child of it try to escape, tries the same outside, and
/// ends it all again. Blocks for some tenths of a second; needs no runtime.
///
/// # Errors
/// Those of [`PoolExecutor::new`](crate::PoolExecutor::new), and a child that ends without a report.
pub fn doctor(options: &PoolOptions) -> Result<DoctorReport, PoolError> {
    let outside = launch_control(options)?;
    let zygote = launch_zygote(options)?;
    let confinement = zygote.confinement.clone();
    zygote.send(Request::SelfTest { child: ChildId(0) }).map_err(PoolError::Channel)?;
    let mut child = zygote.wait_for_child()?;
    let mut report = Vec::new();
    child.socket.read_to_end(&mut report).map_err(PoolError::Channel)?;
    let inside: Vec<AttemptReport> = serde_json::from_slice(&report).map_err(|_| PoolError::SelfTest)?;
    let attempts = inside.into_iter().zip(outside).map(|(inside, outside)| AttemptPair {
        name: inside.name,
        inside: inside.outcome,
        outside: outside.outcome,
    });
    Ok(DoctorReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: kernel(),
        confinement,
        attempts: attempts.collect(),
    })
}

fn kernel() -> KernelReport {
    KernelReport {
        release: release(),
        architecture: std::env::consts::ARCH.to_owned(),
        landlock: landlock_version(),
        seccomp: fs::metadata("/proc/sys/kernel/seccomp").is_ok(),
        user_namespaces: fs::read_to_string("/proc/sys/user/max_user_namespaces").ok().map(|most| most.trim() != "0"),
        cgroup_controllers: fs::read_to_string("/sys/fs/cgroup/cgroup.controllers")
            .ok()
            .map(|controllers| controllers.trim().to_owned()),
    }
}

fn release() -> String {
    let mut names = MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: `names` is a valid place for the answer; zeroed, its texts are C strings also after a failure.
    let names = unsafe {
        libc::uname(names.as_mut_ptr());
        names.assume_init()
    };
    // SAFETY: the kernel ends each name with a zero.
    unsafe { CStr::from_ptr(names.release.as_ptr()) }.to_string_lossy().into_owned()
}

fn landlock_version() -> Option<i64> {
    const VERSION: u32 = 1;
    // SAFETY: without attributes and with this flag, the call only answers a number.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0, VERSION) };
    (version > 0).then_some(version)
}
