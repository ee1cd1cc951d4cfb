//! What is done to a daemon and its connections.

use std::time::{Duration, Instant};

use codemode_tests::{
    daemon::Daemon,
    processes::{self, Process},
    random::Random,
};
use tokio::{task::block_in_place, time::sleep};

use crate::proxy::{Flow, Proxy};

/// The hand that harms, by its generator's choices.
pub(crate) struct Harm<'a> {
    daemon: &'a Daemon,
    proxies: &'a [Proxy],
    random: Random,
    /// Stopped, to be continued.
    stopped: Vec<Process>,
}

impl<'a> Harm<'a> {
    pub(crate) fn new(daemon: &'a Daemon, proxies: &'a [Proxy], random: Random) -> Self {
        Self { daemon, proxies, random, stopped: Vec::new() }
    }

    /// One harm after another until then; whatever can be undone is.
    pub(crate) async fn until(mut self, end: Instant) {
        let mut done = 0_u32;
        while Instant::now() < end {
            self.one().await;
            done += 1;
            sleep(Duration::from_millis(10 + self.random.below(150))).await;
        }
        self.heal();
        println!("{done} harms");
    }

    async fn one(&mut self) {
        match self.random.below(16) {
            0..=4 => self.signal_a_sandbox(libc::SIGKILL),
            5 | 6 => self.signal_a_sandbox(libc::SIGSTOP),
            7 => self.signal_the_zygote(libc::SIGKILL),
            8 => {
                self.signal_the_zygote(libc::SIGSTOP);
                self.a_while().await;
                self.heal();
            }
            9..=11 => self.proxy().cut(),
            12 | 13 => {
                let proxy = self.proxy();
                proxy.flow(Flow::Frozen);
                self.a_while().await;
                proxy.flow(Flow::Open);
            }
            14 => {
                let proxy = self.proxy();
                proxy.flow(Flow::Trickling);
                self.a_while().await;
                proxy.flow(Flow::Open);
            }
            _ => {
                self.daemon.process().signal(libc::SIGSTOP);
                self.a_while().await;
                self.daemon.process().signal(libc::SIGCONT);
            }
        }
    }

    async fn a_while(&mut self) {
        sleep(Duration::from_millis(20 + self.random.below(300))).await;
    }

    fn proxy(&mut self) -> &'a Proxy {
        self.random.pick(self.proxies).expect("there are proxies")
    }

    fn signal_a_sandbox(&mut self, signal: i32) {
        let sandboxes: Vec<_> =
            zygotes(self.daemon).into_iter().flat_map(|zygote| processes::children(zygote.pid())).collect();
        if let Some(sandbox) = self.random.pick(&sandboxes) {
            self.signal(*sandbox, signal);
        }
    }

    fn signal_the_zygote(&mut self, signal: i32) {
        for zygote in zygotes(self.daemon) {
            self.signal(zygote, signal);
        }
    }

    fn signal(&mut self, process: Process, signal: i32) {
        process.signal(signal);
        if signal == libc::SIGSTOP {
            self.stopped.push(process);
        }
    }

    /// Continues whatever was stopped.
    fn heal(&mut self) {
        for process in self.stopped.drain(..) {
            process.signal(libc::SIGCONT);
        }
    }
}

/// One, or none or two for the moment in which one takes the place of another.
fn zygotes(daemon: &Daemon) -> Vec<Process> {
    block_in_place(|| processes::children(daemon.process().pid()))
}
