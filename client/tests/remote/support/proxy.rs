//! A TCP proxy that does to connections what networks do.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::future::pending;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::{AbortHandle, JoinHandle},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    ToClient,
}

/// What a connection does with the bytes that come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Open,
    /// Byte by byte.
    Trickling,
    /// Nothing is read and nothing is written, and nobody is told.
    Frozen,
    /// One direction has ended, the other goes on.
    HalfClosed(Direction),
}

/// When something happens by itself, on the next connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trap {
    pub direction: Direction,
    /// So many bytes are passed on in that direction before it snaps.
    pub after: usize,
    pub then: Snap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Snap {
    Cut,
    Freeze,
}

pub(crate) struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    listener: AbortHandle,
}

struct Shared {
    accepted: AtomicUsize,
    open: watch::Sender<usize>,
    snapped: watch::Sender<usize>,
    state: Mutex<State>,
}

struct State {
    /// Where new connections go.
    server: SocketAddr,
    /// Of new connections.
    flow: Flow,
    trap: Option<Trap>,
    links: Vec<Link>,
}

struct Link {
    flow: watch::Sender<Flow>,
    task: AbortHandle,
}

impl Proxy {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        Self::listen(TcpListener::bind("127.0.0.1:0").await.unwrap(), server)
    }

    fn listen(listener: TcpListener, server: SocketAddr) -> Self {
        let state = State { server, flow: Flow::Open, trap: None, links: Vec::new() };
        let shared = Arc::new(Shared {
            accepted: AtomicUsize::new(0),
            open: watch::Sender::new(0),
            snapped: watch::Sender::new(0),
            state: Mutex::new(state),
        });
        let address = listener.local_addr().unwrap();
        let accepting = tokio::spawn({
            let shared = shared.clone();
            async move {
                loop {
                    let (client, _) = listener.accept().await.unwrap();
                    shared.accept(client);
                }
            }
        });
        Self { address, shared, listener: accepting.abort_handle() }
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/", self.address)
    }

    /// Connections ever accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::Acquire)
    }

    /// Resolves when so many connections have been accepted.
    pub(crate) async fn accepts(&self, count: usize) {
        let mut open = self.shared.open.subscribe();
        while self.accepted() < count {
            open.changed().await.unwrap();
        }
    }

    /// Resolves when no connection is open.
    pub(crate) async fn idle(&self) {
        self.shared.open.subscribe().wait_for(|open| *open == 0).await.unwrap();
    }

    /// From now on, for open connections and new ones.
    pub(crate) fn flow(&self, flow: Flow) {
        self.flow_of_new(flow);
        self.flow_of_open(flow);
    }

    pub(crate) fn flow_of_new(&self, flow: Flow) {
        self.shared.state().flow = flow;
    }

    pub(crate) fn flow_of_open(&self, flow: Flow) {
        for link in &self.shared.state().links {
            link.flow.send_replace(flow);
        }
    }

    /// Where new connections go from now on.
    pub(crate) fn point_to(&self, server: SocketAddr) {
        self.shared.state().server = server;
    }

    /// Sets a trap for the next connection.
    pub(crate) fn trap(&self, trap: Trap) {
        self.shared.state().trap = Some(trap);
    }

    /// Resolves when so many traps have snapped.
    pub(crate) async fn snaps(&self, count: usize) {
        self.shared.snapped.subscribe().wait_for(|snapped| *snapped >= count).await.unwrap();
    }

    /// Ends every open connection at once.
    pub(crate) fn cut(&self) {
        for link in self.shared.state().links.drain(..) {
            link.task.abort();
        }
    }

    /// Ends every connection and refuses new ones.
    pub(crate) async fn stop(&self) {
        self.listener.abort();
        // The listener is closed when its task is gone.
        while !self.listener.is_finished() {
            tokio::task::yield_now().await;
        }
        self.cut();
    }

    /// Listens again where it did, with an address that nobody took in between.
    pub(crate) async fn restart(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        let again = Self::listen(listener, self.shared.state().server);
        *self = again;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listener.abort();
        self.cut();
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, client: TcpStream) {
        let mut state = self.state();
        let (flow, watched) = watch::channel(state.flow);
        let (server, trap) = (state.server, state.trap.take());
        let place = Place::new(self.clone());
        let link: JoinHandle<()> = tokio::spawn(async move {
            // Dropped after the sockets.
            let place = place;
            let _ = join(client, server, watched, trap, &place.0).await;
        });
        state.links.push(Link { flow, task: link.abort_handle() });
        self.accepted.fetch_add(1, Ordering::AcqRel);
        // Whoever waits for a number of connections looks at each.
        self.open.send_modify(|_| ());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// One of the open connections.
struct Place(Arc<Shared>);

impl Place {
    fn new(shared: Arc<Shared>) -> Self {
        shared.open.send_modify(|open| *open += 1);
        Self(shared)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

async fn join(
    client: TcpStream,
    server: SocketAddr,
    flow: watch::Receiver<Flow>,
    trap: Option<Trap>,
    shared: &Shared,
) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let of = |direction| trap.filter(|trap| trap.direction == direction);
    let pipe = |direction| Pipe { direction, flow: flow.clone(), trap: of(direction), shared };
    // The first failure, a trap included, ends both directions; an end of one direction does not.
    tokio::try_join!(
        pipe(Direction::ToServer).run(from_client, to_server),
        pipe(Direction::ToClient).run(from_server, to_client)
    )?;
    Ok(())
}

struct Pipe<'a> {
    direction: Direction,
    flow: watch::Receiver<Flow>,
    trap: Option<Trap>,
    shared: &'a Shared,
}

impl Pipe<'_> {
    async fn run(mut self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let flow = self.thawed().await;
            if flow == Flow::HalfClosed(self.direction) {
                to.shutdown().await?;
                return pending().await;
            }
            let read = tokio::select! {
                read = from.read(&mut buffer) => read?,
                _ = self.flow.changed() => continue,
            };
            // What was read before a freeze is held back.
            self.thawed().await;
            if read == 0 {
                return to.shutdown().await;
            }
            self.pass(&buffer[..read], &mut to).await?;
        }
    }

    async fn thawed(&mut self) -> Flow {
        let flow = self.flow.wait_for(|flow| *flow != Flow::Frozen).await.map(|flow| *flow);
        // Without a proxy, this task is about to be gone as well.
        if let Ok(flow) = flow { flow } else { pending().await }
    }

    async fn pass(&mut self, mut bytes: &[u8], to: &mut OwnedWriteHalf) -> io::Result<()> {
        while !bytes.is_empty() {
            if let Some(trap) = self.trap.filter(|trap| trap.after == 0) {
                self.shared.snapped.send_modify(|snapped| *snapped += 1);
                match trap.then {
                    Snap::Cut => return Err(io::ErrorKind::ConnectionAborted.into()),
                    Snap::Freeze => return pending().await,
                }
            }
            let step = if *self.flow.borrow() == Flow::Trickling { 1 } else { bytes.len() };
            let step = self.trap.map_or(step, |trap| step.min(trap.after));
            to.write_all(&bytes[..step]).await?;
            bytes = &bytes[step..];
            if let Some(trap) = &mut self.trap {
                trap.after -= step;
            }
        }
        Ok(())
    }
}
