//! The settings of `serve`: one [table] of them, given as flags, in the environment or in a TOML file.

mod bounds;
mod kinds;
mod show;
mod sources;
mod table;
mod units;

use std::ffi::OsString;

pub(crate) use self::{
    bounds::memory_fits,
    kinds::{Kind, Size, Time},
    show::print,
    sources::{Flags, Set, Sources},
    table::Settings,
};

impl Settings {
    /// The settings as they are given, those that contradict each other refused.
    ///
    /// # Errors
    /// Names what is wrong and where it stands.
    pub(crate) fn load(
        flags: Flags,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, String> {
        let mut settings = Self::read(&mut Sources::gather(flags, environment)?)?;
        settings.settle()?;
        Ok(settings)
    }
}
