//! What stands between a child and the machine, in layers. Each reports whether it holds; none is relied on alone.
//!
//! The zygote applies everything that is inherited, once ([`confine_zygote`]); a child adds what would have kept the
//! zygote from forking ([`Confined::confine_child`]).

use std::{fmt, io, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::sys;

mod attempts;
mod doctor;
mod identity;
mod landlocked;
mod limits;
mod namespaces;
mod report;
mod seccomp;

pub use attempts::{AttemptOutcome, AttemptReport};
pub use doctor::{AttemptPair, DoctorReport, KernelReport, doctor};
pub use report::{ConfinementReport, Layer, Level};

pub(crate) use attempts::{Place, run_attempts};

/// What the zygote keeps for confining its children.
pub(crate) struct Confined {
    /// How far it came.
    pub(crate) report: ConfinementReport,
    child_filter: Option<seccompiler::BpfProgram>,
}

/// Confines the calling, single-threaded process for good. `parent` is who must still be its parent at the end.
///
/// # Errors
/// Only what makes it pointless to go on: the parent is gone, or a process that had to die with it would not.
pub(crate) fn confine_zygote(parent: i32, address_space: u64) -> io::Result<Confined> {
    let mut layers = vec![Layer::on("process", "a process of its own for each run, ended after it")];
    layers.push(Layer::of("priority", limits::give_way()));
    layers.push(Layer::of("rlimits", limits::limit_zygote(address_space)));
    layers.push(Layer::on("descriptors", "a child holds its socket and the null device"));
    let separated = identity::is_root().then(namespaces::separate);
    layers.push(Layer::of("uid", identity::drop_root()));
    let separated = match separated {
        Some(Ok(detail)) => Ok(detail),
        Some(Err(_)) | None => namespaces::separate_as_user(),
    };
    layers.push(Layer::of("namespaces", separated));
    layers.push(Layer::of("capabilities", identity::drop_capabilities()));
    // A change of credentials clears the parent-death signal, so it is set again only now.
    if !sys::die_with_parent(parent) {
        return Err(io::Error::other("the parent process is gone"));
    }
    layers.push(Layer::of("no_new_privs", identity::no_new_privileges()));
    layers.push(Layer::of("landlock", landlocked::restrict()));
    let (layer, child_filter) = match seccomp::confine_zygote() {
        Ok(filter) => (Layer::on("seccomp", "allow-list; everything else is refused"), Some(filter)),
        Err(error) => (Layer::off("seccomp", error), None),
    };
    layers.push(layer);
    Ok(Confined { report: ConfinementReport::new(layers), child_filter })
}

impl Confined {
    /// Confines a child that was just forked, for good.
    ///
    /// # Errors
    /// A layer that holds in the zygote cannot be completed here: the child must not run anything.
    pub(crate) fn confine_child(&self) -> io::Result<()> {
        limits::limit_child()?;
        match &self.child_filter {
            Some(filter) => seccompiler::apply_filter(filter).map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Level::ALL.iter().copied().find(|level| level.as_str() == text).ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

/// A text that names no confinement level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownLevel(pub String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = Level::ALL.iter().map(|level| level.as_str()).collect();
        write!(f, "no confinement level {:?}; there are {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownLevel {}
