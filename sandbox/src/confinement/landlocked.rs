//! Landlock with no rules: no file, no port, no abstract socket and no signal beyond the domain.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, RestrictionStatus, Ruleset, RulesetAttr, RulesetError,
    RulesetStatus, Scope,
};

/// The first version with file system, network and scopes.
const WANTED: ABI = ABI::V6;

pub(super) fn restrict() -> Result<String, String> {
    match apply().map_err(|error| error.to_string())?.ruleset {
        RulesetStatus::FullyEnforced => Ok("no file, port, abstract socket or signal outside".to_owned()),
        RulesetStatus::PartiallyEnforced => {
            Ok("no file; this kernel knows only a part of the rest (ports, abstract sockets, signals)".to_owned())
        }
        RulesetStatus::NotEnforced => Err("this kernel has no Landlock, or it is switched off".to_owned()),
    }
}

fn apply() -> Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .handle_access(AccessNet::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))?
        .create()?
        .restrict_self()
}
