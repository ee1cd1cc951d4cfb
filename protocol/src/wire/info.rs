//! What `info()` answers.

use super::fields::{array, figure, object, string, take};
use crate::{
    ExecutorError, PROTOCOL_VERSION,
    capnweb::{Object, Value},
};

/// What a server is, and which bounds it applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    /// The server's name, such as `codemoded`.
    pub server: String,
    /// The server's version.
    pub version: String,
    /// The protocol's version.
    pub protocol_version: i64,
    /// The node's name, which ids of retained executions begin with.
    pub node: String,
    /// The bounds by their name in the contract.
    pub limits: Vec<(String, f64)>,
    /// The confinement layers that are on.
    pub confinement: Vec<String>,
    /// What this server offers beyond the minimum.
    pub features: Vec<String>,
}

impl Info {
    /// The information of this protocol version, with empty lists.
    pub fn new(server: impl Into<String>, version: impl Into<String>, node: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            version: version.into(),
            protocol_version: PROTOCOL_VERSION,
            node: node.into(),
            limits: Vec::new(),
            confinement: Vec::new(),
            features: Vec::new(),
        }
    }

    /// The object on the wire.
    pub fn to_value(&self) -> Value {
        let texts = |texts: &[String]| Value::Array(texts.iter().map(|text| Value::from(text.as_str())).collect());
        let limits: Object = self.limits.iter().map(|(name, value)| (name.as_str(), Value::Number(*value))).collect();
        Value::Object(
            [
                ("server", Value::from(self.server.as_str())),
                ("version", Value::from(self.version.as_str())),
                ("protocolVersion", Value::Number(self.protocol_version as f64)),
                ("node", Value::from(self.node.as_str())),
                ("limits", Value::Object(limits)),
                ("confinement", texts(&self.confinement)),
                ("features", texts(&self.features)),
            ]
            .into_iter()
            .collect(),
        )
    }

    /// The information that a server sent.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, naming the member that has another type.
    pub fn from_value(value: Value) -> Result<Self, ExecutorError> {
        let mut members = object("info", value)?;
        let mut member = |name: &str| take(&mut members, name).unwrap_or_default();
        let texts = |name: &str, value: Value| {
            array(name, value)?.into_iter().map(|text| string(name, text)).collect::<Result<Vec<_>, _>>()
        };
        let limit = |(name, value)| Ok((string("limits", Value::String(name))?, figure("limits", value)?));
        Ok(Self {
            server: string("server", member("server"))?,
            version: string("version", member("version"))?,
            protocol_version: figure("protocolVersion", member("protocolVersion"))? as i64,
            node: string("node", member("node"))?,
            limits: object("limits", member("limits"))?.into_iter().map(limit).collect::<Result<_, _>>()?,
            confinement: texts("confinement", member("confinement"))?,
            features: texts("features", member("features"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_survives_the_wire() {
        let mut info = Info::new("codemoded", "0.1.0", "n1");
        info.limits = vec![("timeout".into(), 60_000.0)];
        info.confinement = vec!["seccomp".into()];
        info.features = vec!["text".into()];
        assert_eq!(Info::from_value(info.to_value()).unwrap(), info);
    }
}
