//! What each attack of a hostile peer costs, counted by the allocator: every one is bounded by a stated number of MiB.
//!
//! One test, because the allocator counts the whole process.

#![allow(clippy::print_stdout, reason = "the measured costs are worth seeing")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use codemode_protocol::capnweb::{
    IncomingCall, InvocationId, Output, Session, SessionConfig, Value, WireLimits, target_fn,
};

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged; only numbers are kept besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are the ones asked for.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A session whose application never answers, or answers at once with what `answer` makes.
struct Victim {
    session: Session,
    answer: Option<fn() -> Value>,
    running: Vec<(InvocationId, IncomingCall)>,
    /// Whether the peer takes what we send. If not, one frame fits into the socket.
    reads: bool,
    buffered: String,
    sent: usize,
    aborted: Option<String>,
}

/// The driver stops reading while more than this waits to be sent.
const OUTBOUND: usize = 8 << 20;

impl Victim {
    fn new(answer: Option<fn() -> Value>) -> Self {
        let main = target_fn(|_| async { Ok(Value::Undefined) });
        let session = Session::new(SessionConfig { main, limits: WireLimits::default() }, Duration::ZERO);
        Self { session, answer, running: Vec::new(), reads: true, buffered: String::new(), sent: 0, aborted: None }
    }

    /// Takes a frame; `false` once the session is over or the driver would not read it.
    fn feed(&mut self, frame: &str) -> bool {
        if self.session.is_closed() || self.session.outbound_bytes() > OUTBOUND {
            return false;
        }
        self.session.receive(frame, Duration::ZERO);
        while self.reads || self.buffered.is_empty() {
            let Some(output) = self.session.poll_output() else { break };
            match output {
                Output::Send(text) => {
                    self.sent += text.len();
                    if !self.reads {
                        self.buffered = text;
                    } else if text.starts_with(r#"["abort""#) {
                        assert!(text.len() < 1024, "an abort does not repeat what it complains about");
                        self.aborted = Some(text);
                    }
                }
                Output::Invoke { id, call, .. } => match self.answer {
                    Some(answer) => {
                        drop(call);
                        self.session.respond(id, Ok(answer()));
                    }
                    None => self.running.push((id, call)),
                },
                Output::Settled { .. } | Output::Closed(_) => {}
            }
        }
        true
    }

    fn flood(&mut self, count: usize, frame: impl Fn(usize) -> String) {
        for at in 1..=count {
            if !self.feed(&frame(at)) {
                return;
            }
        }
    }
}

/// Runs one attack and states what it may cost at its peak.
fn attack(name: &str, mebibytes: usize, run: impl FnOnce() -> Victim) -> Victim {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let victim = run();
    let peak = PEAK.load(Ordering::Relaxed) - before;
    assert!(peak < mebibytes << 20, "{name}: {} KiB, more than {mebibytes} MiB", peak >> 10);
    println!("{name}: {} KiB at the peak, {} bytes sent", peak >> 10, victim.sent);
    victim
}

#[test]
fn every_attack_costs_bounded_memory_and_only_its_own_session() {
    let call = |args: &str| format!(r#"["push",["pipeline",0,["f"],[{args}]]]"#);
    let is_over = |victim: &Victim| {
        let text = victim.aborted.as_deref().expect("the session is over");
        assert!(
            text.contains(r#""code":"LIMIT_EXCEEDED""#) || text.contains(r#""code":"PROTOCOL_VIOLATION""#),
            "{text}"
        );
    };

    is_over(&attack("literals never released", 8, || {
        let mut victim = Victim::new(None);
        victim.flood(20_000, |_| r#"["push",1]"#.into());
        victim
    }));
    is_over(&attack("calls never pulled", 8, || {
        let mut victim = Victim::new(Some(|| Value::Undefined));
        victim.flood(20_000, |_| call("1"));
        victim
    }));
    is_over(&attack("calls that never finish", 8, || {
        let mut victim = Victim::new(None);
        victim.flood(20_000, |_| call("1"));
        victim
    }));
    let large = format!(r#"["push","{}"]"#, "x".repeat(1 << 20));
    is_over(&attack("large literals never released", 72, || {
        let mut victim = Victim::new(None);
        victim.flood(200, |_| large.clone());
        victim
    }));
    let large_call = call(&format!(r#""{}""#, "x".repeat(1 << 20)));
    attack("large arguments of calls that never finish", 264, || {
        let mut victim = Victim::new(None);
        victim.flood(270, |_| large_call.clone());
        victim
    });
    is_over(&attack("exports", 8, || {
        let mut victim = Victim::new(None);
        victim.flood(20_000, |at| format!(r#"["push",["export",-{at}]]"#));
        victim
    }));
    is_over(&attack("one export, over and over", 8, || {
        let mut victim = Victim::new(None);
        victim.flood(20_000, |_| r#"["push",["export",-1]]"#.into());
        victim
    }));
    is_over(&attack("pipes", 1, || {
        let mut victim = Victim::new(None);
        victim.flood(20_000, |_| r#"["pipe"]"#.into());
        victim
    }));
    is_over(&attack("doubling", 72, || {
        let mut victim = Victim::new(None);
        victim.feed(r#"["push",[[1]]]"#);
        victim.flood(30, |id| format!(r#"["push",[[["pipeline",{id}],["pipeline",{id}]]]]"#));
        victim
    }));
    is_over(&attack("doubling, passed to a call", 72, || {
        let mut victim = Victim::new(None);
        victim.feed(r#"["push",[[1]]]"#);
        victim.flood(17, |id| format!(r#"["push",[[["pipeline",{id}],["pipeline",{id}]]]]"#));
        victim.flood(20, |_| call(&[r#"["pipeline",18]"#; 20].join(",")));
        victim
    }));
    attack("map over a large list", 4, || {
        let mut victim = Victim::new(None);
        victim.feed(&format!(r#"["push",[[{}1]]]"#, "1,".repeat(10_000)));
        victim.flood(200, |_| r#"["push",["remap",1,[],[],[["pipeline",0]]]]"#.into());
        victim
    });
    attack("large results pulled and never read", 24, || {
        let mut victim = Victim::new(Some(|| "x".repeat(1 << 20).into()));
        victim.reads = false;
        victim.flood(400, |at| if at % 2 == 1 { call("") } else { format!(r#"["pull",{}]"#, at / 2) });
        victim
    });
    attack("large results never released", 80, || {
        let mut victim = Victim::new(Some(|| "x".repeat(1 << 20).into()));
        victim.flood(400, |at| if at % 2 == 1 { call("") } else { format!(r#"["pull",{}]"#, at / 2) });
        victim
    });
    is_over(&attack("promises never settled", 2, || {
        let mut victim = Victim::new(None);
        victim.flood(20_000, |at| call(&format!(r#"["promise",-{at}]"#)));
        victim
    }));
    is_over(&attack("calls on a call that never finishes", 16, || {
        let mut victim = Victim::new(None);
        victim.feed(&call(""));
        victim.flood(20_000, |_| r#"["push",["pipeline",1,["f"],[1,2,3]]]"#.into());
        victim
    }));
    for frame in
        [r#"["release",1,-5]"#, r#"["release",0,1]"#, r#"["resolve",0,1]"#, r#"["push",["export",4294967294]]"#]
    {
        is_over(&attack(frame, 1, || {
            let mut victim = Victim::new(None);
            victim.feed(r#"["push",1]"#);
            victim.feed(frame);
            victim
        }));
    }
    let malformed = format!(r#"["{}"]"#, "x".repeat(4 << 20));
    is_over(&attack("a large malformed message", 1, || {
        let mut victim = Victim::new(None);
        victim.feed(&malformed);
        victim
    }));
    let brackets = format!(r#"["push",{}"#, "[".repeat(4 << 20));
    is_over(&attack("a deep message", 1, || {
        let mut victim = Victim::new(None);
        victim.feed(&brackets);
        victim
    }));
    let small_values = format!(r#"["push",[[{}1]]]"#, r#"{"a":1},"#.repeat(600_000));
    is_over(&attack("a message of small objects", 120, || {
        let mut victim = Victim::new(None);
        victim.feed(&small_values);
        victim
    }));
    attack("settled calls of a patient peer", 2, || {
        let mut victim = Victim::new(Some(|| Value::Undefined));
        for id in 1..=20_000 {
            victim.feed(&call(r#"["export",-1]"#));
            victim.feed(&format!(r#"["pull",{id}]"#));
            victim.feed(&format!(r#"["release",{id},1]"#));
        }
        assert!(victim.aborted.is_none());
        victim
    });
}
