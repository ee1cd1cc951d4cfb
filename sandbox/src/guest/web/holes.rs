//! Free places in the heap that will be forked, and who gets to fill them.
//!
//! A child pays for a copy of every page that it writes to. The heap as the engine left it is small and dense, and an
//! ordinary program finds the room it needs on pages that it touches anyway. The Web surface is three times as large
//! and most programs use little of it; with free places all over it, a program's objects would be spread over all of
//! its pages. So the free places of before are put aside while the surface is made, those that it leaves are filled
//! for ever, and the old ones are given back: programs stay on the old pages.

use std::ffi::c_void;
use std::ptr::NonNull;

use rquickjs::{Ctx, qjs};

/// Places that were taken.
pub(super) struct Holes {
    runtime: *mut qjs::JSRuntime,
    /// Of the engine's own allocator.
    blocks: Vec<NonNull<c_void>>,
    /// Of the C allocator under it.
    chunks: Vec<NonNull<c_void>>,
}

impl Holes {
    /// Takes every free place. `used` tells how many bytes the engine's allocator holds: it changes when a new page of
    /// small blocks is begun, which means that there was no place left.
    pub(super) fn take(ctx: &Ctx<'_>, used: fn() -> usize) -> Self {
        // Large enough to live outside of the heap that is looked at.
        let (blocks, chunks) = (Vec::with_capacity(MOST), Vec::with_capacity(MOST));
        // SAFETY: a live context has a runtime.
        let runtime = unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) };
        let mut holes = Self { runtime, blocks, chunks };
        holes.take_blocks(used);
        holes.take_chunks();
        holes
    }

    /// Makes the places free again.
    pub(super) fn give_back(self) {
        // SAFETY: each was taken from this very allocator and is given back once. The last becomes the next to be used.
        unsafe {
            self.blocks.iter().rev().for_each(|block| qjs::js_free_rt(self.runtime, block.as_ptr()));
            self.chunks.iter().rev().for_each(|chunk| libc::free(chunk.as_ptr()));
        }
    }

    fn take_blocks(&mut self, used: fn() -> usize) {
        for size in (16..128).step_by(8).chain((128..256).step_by(16)).chain((256..=512).step_by(32)) {
            while self.blocks.len() < MOST {
                let before = used();
                // SAFETY: a live runtime; the header of a block counts in its size.
                let Some(block) = NonNull::new(unsafe { qjs::js_malloc_rt(self.runtime, size - HEADER) }) else {
                    break;
                };
                if used() != before {
                    // SAFETY: taken a moment ago.
                    unsafe { qjs::js_free_rt(self.runtime, block.as_ptr()) };
                    break;
                }
                self.blocks.push(block);
            }
        }
    }

    /// Places below the end of the heap; what comes from behind it goes back at once. Where the end is not known, only the
    /// engine's own blocks are put aside.
    fn take_chunks(&mut self) {
        let Some(end) = end_of_heap() else { return };
        let large = (0..).map(|halved| LARGEST >> halved).take_while(|size| *size > SMALL);
        for size in large.chain((24..=SMALL).rev().step_by(16)) {
            while self.chunks.len() < MOST {
                // SAFETY: any size may be asked for.
                let Some(chunk) = NonNull::new(unsafe { libc::malloc(size) }) else { break };
                if chunk.as_ptr() as usize >= end {
                    // SAFETY: taken a moment ago.
                    unsafe { libc::free(chunk.as_ptr()) };
                    break;
                }
                self.chunks.push(chunk);
            }
        }
    }
}

/// Where the room begins that nothing was taken from yet. Unknown with other C libraries.
#[cfg(target_env = "gnu")]
pub(crate) fn end_of_heap() -> Option<usize> {
    // SAFETY: both only report.
    let (end, unused) = unsafe { (libc::sbrk(0) as usize, libc::mallinfo2().keepcost) };
    end.checked_sub(unused)
}

#[cfg(not(target_env = "gnu"))]
pub(crate) fn end_of_heap() -> Option<usize> {
    None
}

/// More than a heap of some megabytes can have.
const MOST: usize = 1 << 17;

/// Of one block of the engine.
const HEADER: qjs::size_t = 8;

/// Below the size from which the C allocator asks the system for each chunk.
const LARGEST: usize = 96 << 10;

/// Up to here the C allocator has a list for each size.
const SMALL: usize = 1040;
