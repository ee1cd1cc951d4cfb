//! Memory of the guest: one counter for the engine and for natives, one limit, and the collector's threshold.
//!
//! The counter is per process and a child serves one run, so it is the run's. An engine allocation over the limit gets
//! null, which the guest sees as a catchable out-of-memory; a native one ends the process, because a null would abort
//! in Rust anyway. Both raise the flag that a termination `memory` needs.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::Relaxed};

use rquickjs::{allocator::Allocator, qjs};

use super::socket;
use crate::frame::{MEMORY_FRAME, RESERVED_MEMORY_EXIT};

/// Bytes that the run may hold.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes held by engine and natives.
static USED: AtomicUsize = AtomicUsize::new(0);
/// The most that was held since the run began.
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Whether anything was refused.
static REFUSED: AtomicBool = AtomicBool::new(false);
/// The runtime whose threshold is tuned, once there is one.
static RUNTIME: AtomicPtr<qjs::JSRuntime> = AtomicPtr::new(std::ptr::null_mut());
/// The threshold that was set last; another value in the engine means that it collected since.
static THRESHOLD: AtomicUsize = AtomicUsize::new(0);
/// Above this many bytes held the threshold is looked at again.
static LOOK_AT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// A collection costs a walk over everything alive, the shared prelude included, so small heaps grow by this much
/// between two.
const GROWTH: usize = 8 << 20;

/// The part of the limit that a heap grows at least between two collections.
const LAST_ROOM: usize = 64;

/// The first threshold of a run is at most this far above what is alive at its start.
const FIRST_GROWTH: usize = 64 << 20;

/// The allocator that the runtime is made with.
pub(super) struct Counting;

// SAFETY: every pointer comes from the C allocator, which aligns for any type and can tell the usable size.
unsafe impl Allocator for Counting {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !fits(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: any size may be asked for.
        counted(unsafe { libc::malloc(size) })
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        if !count.checked_mul(size).is_some_and(fits) {
            return std::ptr::null_mut();
        }
        // SAFETY: any size may be asked for.
        counted(unsafe { libc::calloc(count, size) })
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        // SAFETY: the caller passes a pointer of ours.
        unsafe {
            take_off(libc::malloc_usable_size(ptr.cast()));
            libc::free(ptr.cast());
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: the caller passes null or a pointer of ours.
        unsafe {
            let old = libc::malloc_usable_size(ptr.cast());
            if new_size > old && !fits(new_size - old) {
                return std::ptr::null_mut();
            }
            let new = libc::realloc(ptr.cast(), new_size);
            if new.is_null() {
                REFUSED.store(true, Relaxed);
            } else {
                take_off(old);
                counted(new);
            }
            new.cast()
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller passes a pointer of ours.
        unsafe { libc::malloc_usable_size(ptr.cast()) }
    }
}

/// Bytes held now.
pub(super) fn used() -> usize {
    USED.load(Relaxed)
}

/// Whether `size` more bytes could be held. Nothing is remembered: for what can be left undone.
pub(super) fn has_room(size: usize) -> bool {
    USED.load(Relaxed).saturating_add(size) <= LIMIT.load(Relaxed)
}

/// Whether `size` more bytes may be held; a refusal is remembered.
pub(super) fn fits(size: usize) -> bool {
    let wanted = USED.load(Relaxed).saturating_add(size);
    if wanted > LIMIT.load(Relaxed) {
        REFUSED.store(true, Relaxed);
        return false;
    }
    if wanted > LOOK_AT.load(Relaxed) {
        tune();
        LOOK_AT.store(wanted.saturating_add(LIMIT.load(Relaxed) / 32), Relaxed);
    }
    true
}

fn counted(ptr: *mut c_void) -> *mut u8 {
    if ptr.is_null() {
        REFUSED.store(true, Relaxed);
    } else {
        // SAFETY: the pointer came from the C allocator just now.
        put_on(unsafe { libc::malloc_usable_size(ptr) });
    }
    ptr.cast()
}

fn put_on(size: usize) {
    let used = USED.load(Relaxed) + size;
    USED.store(used, Relaxed);
    if used > PEAK.load(Relaxed) {
        PEAK.store(used, Relaxed);
    }
}

fn take_off(size: usize) {
    USED.store(USED.load(Relaxed).saturating_sub(size), Relaxed);
}

/// Bytes of a native buffer, counted as long as this lives.
#[derive(Debug, Default)]
pub(super) struct Charge(usize);

impl Charge {
    /// Counts nothing yet.
    pub(super) const NONE: Self = Self(0);

    /// Counts `size` bytes; a refusal ends the process with the memory frame.
    pub(super) fn of(size: usize) -> Self {
        let mut charge = Self(0);
        charge.resize(size);
        charge
    }

    /// Counts `size` bytes instead of what was counted before.
    pub(super) fn resize(&mut self, size: usize) {
        if size > self.0 {
            if !fits(size - self.0) {
                die();
            }
            put_on(size - self.0);
        } else {
            take_off(self.0 - size);
        }
        self.0 = size;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        take_off(self.0);
    }
}

/// Says that memory ran out and ends the process.
fn die() -> ! {
    REFUSED.store(true, Relaxed);
    socket::write_last(&MEMORY_FRAME);
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(RESERVED_MEMORY_EXIT) }
}

/// Notes the runtime whose collector is tuned.
pub(super) fn attach(runtime: *mut qjs::JSRuntime) {
    RUNTIME.store(runtime, Relaxed);
}

/// Puts a run's limit in force; the peak starts again from what is held now.
pub(super) fn begin(limit: u64) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let used = USED.load(Relaxed);
    LIMIT.store(limit, Relaxed);
    PEAK.store(used, Relaxed);
    REFUSED.store(false, Relaxed);
    let room = limit.saturating_sub(used) / 2;
    LOOK_AT.store(used + room, Relaxed);
    set_threshold(used + room.min(FIRST_GROWTH));
}

/// Lifts the limit, so that the end of a run can be told.
pub(super) fn lift() {
    LIMIT.store(usize::MAX, Relaxed);
}

/// Whether an allocation was refused since the run began.
pub(super) fn refused() -> bool {
    REFUSED.load(Relaxed)
}

/// The most bytes held since the run began.
pub(super) fn peak() -> u64 {
    PEAK.load(Relaxed) as u64
}

/// Sets the collector's threshold anew when the engine has collected since: it leaves 1.5 × live behind, which is
/// beyond the limit for a heap that is nearly full and too eager for a small one.
pub(super) fn tune() {
    let runtime = RUNTIME.load(Relaxed);
    if runtime.is_null() {
        return;
    }
    // SAFETY: reads a number of a runtime that is never freed; this allocates nothing.
    let now = unsafe { qjs::JS_GetGCThreshold(runtime) } as usize;
    if now == THRESHOLD.load(Relaxed) {
        return;
    }
    let live = now / 3 * 2;
    let limit = LIMIT.load(Relaxed);
    // Half of what is left, but not ever less, or a heap that fills up is walked for each of its last bytes.
    let room = (limit.saturating_sub(live) / 2).max(limit / LAST_ROOM);
    set_threshold(now.max(live.saturating_add(GROWTH)).min(live.saturating_add(room)));
}

fn set_threshold(threshold: usize) {
    let runtime = RUNTIME.load(Relaxed);
    if !runtime.is_null() {
        THRESHOLD.store(threshold, Relaxed);
        // SAFETY: writes a number of a runtime that is never freed; this allocates nothing.
        unsafe { qjs::JS_SetGCThreshold(runtime, threshold as qjs::size_t) };
    }
}
