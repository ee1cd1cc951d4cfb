//! The catalogue: cases as they are written down, one TOML file for each group.

use std::{collections::BTreeMap, fmt};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{behaviour::Behaviour, outcome::canonical, reference::Column};

/// One program and what is expected of its two outcomes.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique in the catalogue.
    pub id: String,
    /// The file it stands in: the contact point that it belongs to.
    pub group: &'static str,
    /// The program and what it is lent; the request, in both runners.
    pub lent: Lent,
    /// What is expected.
    pub expectation: Expectation,
    /// Columns whose release behaves in a way of its own.
    pub skip_on: Vec<Column>,
    /// The reference may never answer or may die of it, so it gets an instance of its own that is killed in the end.
    pub disposable: bool,
}

/// A program and what it is lent, as both runners get it; serialised, it is the reference's request.
#[derive(Clone, Debug, Serialize)]
pub struct Lent {
    /// What the model wrote.
    pub code: String,
    /// In order.
    pub providers: Vec<Provider>,
    /// The older shape, a bare record of functions, in place of the providers.
    pub record: Option<Map<String, Value>>,
    /// In order.
    pub connectors: Vec<Provider>,
    /// Sources by specifier.
    pub modules: Option<BTreeMap<String, String>>,
    /// In milliseconds.
    pub timeout: u64,
    /// Whether requests of the program go to a function that answers what it was asked.
    pub outbound: bool,
}

impl Lent {
    /// A program that is lent nothing.
    pub(crate) fn of_code(code: &str) -> Self {
        Self {
            code: code.into(),
            providers: Vec::new(),
            record: None,
            connectors: Vec::new(),
            modules: None,
            timeout: TIMEOUT_MS,
            outbound: false,
        }
    }
}

/// A namespace of the program: a provider or a connector.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The namespace's name.
    pub name: String,
    /// What its tools do, by the names that the host knows them by, in order; see [`Behaviour`].
    #[serde(default)]
    pub tools: Map<String, Value>,
    /// Source that runs before the program.
    pub prelude: Option<String>,
    /// False passes exactly one argument. The reference's newer releases have no such field.
    pub positional_args: Option<bool>,
    /// Source of the namespace. The reference has no such field.
    pub proxy_source: Option<String>,
}

/// What is expected of the outcomes of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// Ours is the reference's.
    Same,
    /// Ours is this one and not the reference's.
    Differs {
        /// Our outcome.
        ours: Value,
        /// The class of the reason.
        because: Because,
        /// What differs, and why it should.
        reason: String,
    },
    /// The reference has no way to be asked.
    ReferenceCannotRun {
        /// Our outcome.
        ours: Value,
        /// The class of the reason.
        because: Because,
        /// Why it cannot.
        reason: String,
    },
}

/// The class of a reason: there are no others for a difference.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Because {
    /// The reference breaks the interface that it implements: it rejects, wedges, crashes or loses the error.
    ReferenceFails,
    /// The engine cannot: a named feature, or the wording of its own messages.
    Engine,
    /// What the protocol promises is otherwise on purpose; the reason says what.
    Contract,
    /// A fault of ours, or a feature that is still to come. The list of these is to become empty.
    NotYet,
}

impl Because {
    /// As it is written down.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ReferenceFails => "reference-fails",
            Self::Engine => "engine",
            Self::Contract => "contract",
            Self::NotYet => "not-yet",
        }
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ReferenceFails => "the reference fails its own interface",
            Self::Engine => "the engine cannot, or words it its own way",
            Self::Contract => "the contract decides otherwise",
            Self::NotYet => "NOT YET: ours to mend",
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Entry>,
}

/// A case as it is written down.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    code: String,
    /// The tools of one provider, `codemode`: the usual case.
    tools: Option<Map<String, Value>>,
    providers: Option<Vec<Provider>>,
    record: Option<Map<String, Value>>,
    #[serde(default)]
    connectors: Vec<Provider>,
    modules: Option<BTreeMap<String, String>>,
    timeout: Option<u64>,
    #[serde(default)]
    outbound: bool,
    #[serde(default)]
    disposable: bool,
    /// Our outcome as JSON text, where it is not the reference's.
    ours: Option<String>,
    because: Option<Because>,
    reason: Option<String>,
    /// False where the reference cannot be asked.
    reference: Option<bool>,
    #[serde(default)]
    skip_on: Vec<String>,
    /// Why it is skipped there.
    skip_reason: Option<String>,
}

macro_rules! groups {
    ($($name:literal)+) => {
        [$(($name, include_str!(concat!("../cases/", $name, ".toml")))),+]
    };
}

/// The files, in the order of the report.
const GROUPS: [(&str, &str); 15] = groups! {
    "model-output" "models" "data" "results" "errors" "tools" "arguments" "binary" "names" "console" "timeouts" "promises" "modules" "globals"
    "platform"
};

/// Every case, group by group.
///
/// # Errors
/// An entry that is incomplete or contradicts itself, by its id.
pub fn catalogue() -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    for (group, text) in GROUPS {
        let file: File = toml::from_str(text).with_context(|| format!("cases/{group}.toml"))?;
        for entry in file.case {
            let id = entry.id.clone();
            ensure!(!cases.iter().any(|case| case.id == id), "there are two cases `{id}`");
            cases.push(entry.case(group).with_context(|| format!("case `{id}`"))?);
        }
    }
    Ok(cases)
}

impl Entry {
    fn case(self, group: &'static str) -> Result<Case> {
        let forms = [self.tools.is_some(), self.providers.is_some(), self.record.is_some()];
        ensure!(
            forms.iter().filter(|form| **form).count() <= 1,
            "`tools`, `providers` and `record` exclude each other"
        );
        ensure!(self.skip_on.is_empty() == self.skip_reason.is_none(), "`skip_on` and `skip_reason` come together");
        let expectation = match (self.ours, self.because, self.reason) {
            (None, None, None) if self.reference.is_none() => Expectation::Same,
            (Some(ours), Some(because), Some(reason)) => {
                let ours = canonical(serde_json::from_str(&ours).context("`ours` is not JSON")?);
                match self.reference {
                    None | Some(true) => Expectation::Differs { ours, because, reason },
                    Some(false) => Expectation::ReferenceCannotRun { ours, because, reason },
                }
            }
            _ => bail!("`ours`, `because` and `reason` come together, and `reference = false` with them"),
        };
        let codemode = |tools| Provider { name: "codemode".into(), tools, ..Provider::default() };
        let providers = match self.providers {
            Some(providers) => providers,
            None if self.record.is_some() => Vec::new(),
            None => vec![codemode(self.tools.unwrap_or_default())],
        };
        let extended = |provider: &Provider| provider.positional_args.is_some() || provider.proxy_source.is_some();
        ensure!(
            !providers.iter().any(extended) || self.reference == Some(false),
            "the reference has no field for what it lends, so it needs `reference = false`"
        );
        for provider in providers.iter().chain(&self.connectors) {
            for (name, described) in &provider.tools {
                Behaviour::read(described).with_context(|| format!("tool `{name}`"))?;
            }
        }
        Ok(Case {
            id: self.id,
            group,
            lent: Lent {
                code: self.code,
                providers,
                record: self.record,
                connectors: self.connectors,
                modules: self.modules,
                timeout: self.timeout.unwrap_or(TIMEOUT_MS),
                outbound: self.outbound,
            },
            expectation,
            skip_on: self.skip_on.iter().map(|name| Column::named(name)).collect::<Result<_>>()?,
            disposable: self.disposable,
        })
    }
}

/// The timeout of a case that says nothing: no case that ends by itself is near it, on a busy machine neither.
const TIMEOUT_MS: u64 = 20_000;
