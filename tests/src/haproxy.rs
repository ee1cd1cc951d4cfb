//! HAProxy with the configuration of `deploy/haproxy.cfg`, in front of two daemons.

use std::{
    env,
    ffi::OsString,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{daemon::repository, processes};

/// A running HAProxy; ends with its value.
pub struct HaProxy {
    child: Child,
    address: String,
}

/// The HAProxy of this machine: what `CODEMODE_HAPROXY` names, else `haproxy` where programs are looked for.
pub fn installed() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CODEMODE_HAPROXY") {
        return Some(named.into());
    }
    let folders = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect::<Vec<_>>();
    folders.iter().chain(&[PathBuf::from("/usr/sbin")]).map(|folder| folder.join("haproxy")).find(|file| file.is_file())
}

impl HaProxy {
    /// Starts `program` in front of the daemons at these addresses and waits until it listens. Blocks.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start(program: &Path, nodes: [&str; 2]) -> Self {
        // Nobody else takes the port between the two: the kernel hands out others first.
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a port is free").to_string();
        let child = Command::new(program)
            .args(["-db", "-q", "-f"])
            .arg(repository().join("deploy/haproxy.cfg"))
            .envs([("BIND", address.as_str()), ("NODE_A", nodes[0]), ("NODE_B", nodes[1])])
            .envs(libraries(program).map(|folder| ("LD_LIBRARY_PATH", folder)))
            .stdin(Stdio::null())
            .spawn()
            .expect("haproxy starts");
        let listens = || TcpStream::connect(&address).ok();
        assert!(processes::eventually(Duration::from_secs(10), listens).is_some(), "haproxy does not listen");
        Self { child, address }
    }

    /// Where it listens: `ws://HOST:PORT`.
    pub fn url(&self) -> String {
        format!("ws://{}", self.address)
    }
}

impl Drop for HaProxy {
    fn drop(&mut self) {
        // An error means that it ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The libraries that came with a program that was unpacked to a folder of its own: `ROOT/usr/sbin/haproxy` has them in
/// `ROOT/usr/lib/TRIPLE`.
fn libraries(program: &Path) -> Option<OsString> {
    let root = program.ancestors().nth(3).filter(|root| *root != Path::new("/"))?;
    let folders = std::fs::read_dir(root.join("usr/lib")).ok()?;
    env::join_paths(folders.flatten().map(|folder| folder.path())).ok()
}
