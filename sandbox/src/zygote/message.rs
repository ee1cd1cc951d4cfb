//! What pool and zygote say to each other: one message a packet, both directions.

use std::io;

use serde::{Deserialize, Serialize};

use crate::confinement::{AttemptReport, ConfinementReport};

/// Names this protocol and the child protocol, as they stand in the source. The two programs may have been built apart,
/// so the zygote says it first thing; a binary left over from yesterday's source is told apart as well.
pub(crate) fn protocol() -> String {
    format!("{}/{FINGERPRINT:016x}", env!("CARGO_PKG_VERSION"))
}

/// FNV-1a over the files that say what crosses.
const FINGERPRINT: u64 = {
    let files: [&[u8]; 4] = [
        include_bytes!("message.rs"),
        include_bytes!("../frame/mod.rs"),
        include_bytes!("../frame/bytes.rs"),
        include_bytes!("../frame/spec.rs"),
    ];
    let (mut hash, mut file) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while file < files.len() {
        let mut at = 0;
        while at < files[file].len() {
            hash = (hash ^ files[file][at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        file += 1;
    }
    hash
};

/// Longer than every message.
pub(crate) const MAX_MESSAGE: usize = 64 * 1024;

/// Names a child across zygotes; never reused within a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChildId(pub(crate) u64);

/// The first message to a new process in the zygote's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Start {
    /// Confine, build the engine, fork on request.
    Serve {
        /// Bytes of address space for the zygote and each child.
        address_space: u64,
        /// Bytes of stack for the engine.
        stack: u64,
    },
    /// Run the escape attempts without any confinement, report them and end: the control of the self-test.
    Control,
}

/// From the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Fork so many children, with ids from `first` on.
    Fork {
        /// The first child's id.
        first: ChildId,
        /// How many.
        count: u32,
    },
    /// Fork a child that runs the escape attempts instead of a program.
    SelfTest {
        /// The child's id.
        child: ChildId,
    },
    /// Kill this child, which the pool could not take.
    Kill {
        /// The child's id.
        child: ChildId,
    },
    /// Give this child less of the CPU. Done here, because only the reaper knows whose number a pid is.
    Renice {
        /// The child's id.
        child: ChildId,
    },
}

/// How a child ended, as `wait4` told the zygote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// The raw wait status.
    pub(crate) status: i32,
    /// CPU of its whole life, microseconds.
    pub(crate) cpu_us: u64,
    /// The most memory that it had resident, KiB.
    pub(crate) peak_rss_kib: u64,
}

/// From the zygote.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Report {
    /// Confined, engine built, ready to fork.
    Hello(Hello),
    /// The zygote cannot work; it ends after this.
    Failed(String),
    /// The answers of the escape attempts, outside.
    Control(Vec<AttemptReport>),
    /// A child was forked; its socket and its pidfd come along.
    Forked {
        /// The id that the pool gave.
        child: ChildId,
        /// Its number.
        pid: i32,
    },
    /// No child could be forked.
    ForkFailed {
        /// The id that the pool gave.
        child: ChildId,
        /// The system's error number.
        errno: i32,
    },
    /// A child was reaped.
    Exited {
        /// The id that the pool gave.
        child: ChildId,
        /// How it ended.
        exit: Exit,
    },
}

/// What a zygote says when it is ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// [`protocol`] of the zygote's program.
    pub(crate) protocol: String,
    /// What confines its children.
    pub(crate) confinement: ConfinementReport,
}

impl Request {
    pub(crate) fn encode(self) -> Vec<u8> {
        let (tag, child, count) = match self {
            Self::Fork { first, count } => (b'F', first, count),
            Self::SelfTest { child } => (b'T', child, 0),
            Self::Renice { child } => (b'N', child, 0),
            Self::Kill { child } => (b'K', child, 0),
        };
        [&[tag], &child.0.to_le_bytes()[..], &count.to_le_bytes()[..]].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut fields = Fields(bytes);
        let request = match fields.take::<1>()? {
            [b'F'] => Self::Fork { first: fields.child()?, count: fields.u32()? },
            [b'T'] => Self::SelfTest { child: fields.child()? },
            [b'N'] => Self::Renice { child: fields.child()? },
            [b'K'] => Self::Kill { child: fields.child()? },
            _ => return Err(garbled()),
        };
        Ok(request)
    }
}

impl Report {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => json(b'H', hello),
            Self::Failed(text) => [&b"X"[..], text.as_bytes()].concat(),
            Self::Control(attempts) => json(b'C', attempts),
            Self::Forked { child, pid } => [&b"F"[..], &child.0.to_le_bytes(), &pid.to_le_bytes()].concat(),
            Self::ForkFailed { child, errno } => [&b"f"[..], &child.0.to_le_bytes(), &errno.to_le_bytes()].concat(),
            Self::Exited { child, exit } => [
                &b"E"[..],
                &child.0.to_le_bytes(),
                &exit.status.to_le_bytes(),
                &exit.cpu_us.to_le_bytes(),
                &exit.peak_rss_kib.to_le_bytes(),
            ]
            .concat(),
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut fields = Fields(bytes);
        Ok(match fields.take::<1>()? {
            [b'H'] => Self::Hello(serde_json::from_slice(fields.0)?),
            [b'X'] => Self::Failed(String::from_utf8_lossy(fields.0).into_owned()),
            [b'C'] => Self::Control(serde_json::from_slice(fields.0)?),
            [b'F'] => Self::Forked { child: fields.child()?, pid: i32::from_le_bytes(fields.take()?) },
            [b'f'] => Self::ForkFailed { child: fields.child()?, errno: i32::from_le_bytes(fields.take()?) },
            [b'E'] => Self::Exited {
                child: fields.child()?,
                exit: Exit {
                    status: i32::from_le_bytes(fields.take()?),
                    cpu_us: u64::from_le_bytes(fields.take()?),
                    peak_rss_kib: u64::from_le_bytes(fields.take()?),
                },
            },
            _ => return Err(garbled()),
        })
    }
}

struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or_else(garbled)?;
        self.0 = tail;
        Ok(*head)
    }

    fn u32(&mut self) -> io::Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn child(&mut self) -> io::Result<ChildId> {
        self.take().map(u64::from_le_bytes).map(ChildId)
    }
}

fn json(tag: u8, value: &impl Serialize) -> Vec<u8> {
    let mut out = vec![tag];
    serde_json::to_writer(&mut out, value).expect("plain data without maps of odd keys can be written into a vector");
    out
}

fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message of the zygote protocol that makes no sense")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_their_bytes_and_damaged_ones_are_refused() {
        let child = ChildId(7);
        for request in [
            Request::Fork { first: child, count: 3 },
            Request::SelfTest { child },
            Request::Renice { child },
            Request::Kill { child },
        ] {
            assert_eq!(Request::decode(&request.encode()).unwrap(), request);
        }
        let exit = Exit { status: 9, cpu_us: 5, peak_rss_kib: 6 };
        for report in [
            Report::Failed("no".into()),
            Report::Control(Vec::new()),
            Report::Forked { child, pid: 4 },
            Report::ForkFailed { child, errno: 11 },
            Report::Exited { child, exit },
        ] {
            let bytes = report.encode();
            assert_eq!(Report::decode(&bytes).unwrap(), report);
        }
        assert!(Report::decode(b"E123").is_err());
        assert!(Report::decode(b"").is_err());
        assert!(Request::decode(b"?").is_err());
    }
}
