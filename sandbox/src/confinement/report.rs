//! How a layer's result is told.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One barrier, and whether it holds here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// A stable name, such as `landlock`.
    pub name: String,
    /// Whether it holds.
    pub on: bool,
    /// What it does when it holds, why it does not otherwise.
    pub detail: String,
}

impl Layer {
    pub(super) fn on(name: &str, detail: impl fmt::Display) -> Self {
        Self { name: name.to_owned(), on: true, detail: detail.to_string() }
    }

    pub(super) fn off(name: &str, reason: impl fmt::Display) -> Self {
        Self { name: name.to_owned(), on: false, detail: reason.to_string() }
    }

    pub(super) fn of<T: fmt::Display, E: fmt::Display>(name: &str, result: Result<T, E>) -> Self {
        match result {
            Ok(detail) => Self::on(name, detail),
            Err(reason) => Self::off(name, reason),
        }
    }
}

/// How strongly children are confined. Levels are ordered; a higher one includes the lower ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A process of its own for each run, and the engine's own walls.
    #[default]
    Process,
    /// Also: no new privileges, resource limits, and only harmless system calls.
    Filtered,
    /// Also: Landlock without a single rule, and an unprivileged user.
    Layered,
}

impl Level {
    /// Every level, weakest first.
    pub const ALL: &'static [Level] = &[Level::Process, Level::Filtered, Level::Layered];

    /// The level's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Filtered => "filtered",
            Self::Layered => "layered",
        }
    }

    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Process => &["process"],
            Self::Filtered => &["descriptors", "rlimits", "no_new_privs", "seccomp"],
            Self::Layered => &["landlock", "uid"],
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Every layer with its state, and the level that they add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementReport {
    /// Outermost first.
    pub layers: Vec<Layer>,
    /// The highest level whose layers all hold.
    pub level: Level,
}

impl ConfinementReport {
    pub(crate) fn new(layers: Vec<Layer>) -> Self {
        let holds = |name: &&str| layers.iter().any(|layer| layer.name == **name && layer.on);
        let reached = Level::ALL.iter().copied().take_while(|level| level.needs().iter().all(&holds));
        let level = reached.last().unwrap_or_default();
        Self { layers, level }
    }

    /// The names of the layers that hold.
    pub fn active(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().filter(|layer| layer.on).map(|layer| layer.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_reached_only_with_all_layers_below_it() {
        let level = |names: &[&str]| {
            let layers = names.iter().map(|name| Layer::on(name, "")).collect();
            ConfinementReport::new(layers).level
        };
        let filtered = ["process", "descriptors", "rlimits", "no_new_privs", "seccomp"];
        assert_eq!(level(&["process", "landlock", "uid"]), Level::Process);
        assert_eq!(level(&filtered), Level::Filtered);
        assert_eq!(level(&[&filtered[..], &["landlock", "uid"]].concat()), Level::Layered);
    }
}
