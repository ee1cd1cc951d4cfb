//! Compiling the embedded scripts in an engine of their own, whose memory goes back as a whole.
//!
//! What compiling leaves behind in a heap is holes on most of its pages. A child would fill the zygote's, and pay for a
//! copy of a page each time. So only what is kept, the functions, is ever made in the heap that is forked.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::ptr::NonNull;
use std::rc::Rc;

use rquickjs::allocator::Allocator;
use rquickjs::{Context, Ctx, Error, Result, Runtime, qjs};

/// A script is one function expression; this is its name in messages about the script itself and its text.
pub(super) struct Script {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
}

/// The bytecode of scripts, without their source and positions, in memory that is not the heap's.
pub(super) struct Compiled {
    scripts: Vec<NonNull<[u8]>>,
    /// Where the bytes are.
    _region: Rc<RefCell<Region>>,
}

impl Compiled {
    /// Compiles all scripts.
    ///
    /// # Errors
    /// When the system gives no memory, or a script does not compile.
    pub(super) fn new(scripts: &[Script]) -> Result<Self> {
        let region = Rc::new(RefCell::new(Region::new().ok_or(Error::Allocation)?));
        let runtime = Runtime::new_with_alloc(InRegion(Rc::clone(&region)))?;
        let context = Context::full(&runtime)?;
        let scripts = context.with(|ctx| scripts.iter().map(|script| compile(&ctx, script)).collect::<Result<_>>())?;
        Ok(Self { scripts, _region: region })
    }

    /// The bytecode of each script, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        // SAFETY: the bytes are in the region, which lives as long as this; their engine is gone and nothing writes.
        self.scripts.iter().map(|bytes| unsafe { bytes.as_ref() })
    }
}

fn compile(ctx: &Ctx<'_>, script: &Script) -> Result<NonNull<[u8]>> {
    let (source, name) = (CString::new(script.source)?, CString::new(script.name)?);
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_STRICT | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let mut strip = qjs::JS_WRITE_OBJ_BYTECODE as i32;
    if STRIPPED {
        strip |= (qjs::JS_WRITE_OBJ_STRIP_SOURCE | qjs::JS_WRITE_OBJ_STRIP_DEBUG) as i32;
    }
    let compiled = |source: &CStr, name: &CStr| {
        // SAFETY: the source is NUL-terminated; the function is freed here, the bytes never: their region is.
        unsafe {
            let raw = ctx.as_raw().as_ptr();
            let code = qjs::JS_Eval(raw, source.as_ptr(), source.count_bytes() as _, name.as_ptr(), flags as i32);
            let mut length = 0;
            let bytes = match qjs::JS_IsException(code) {
                true => std::ptr::null_mut(),
                false => qjs::JS_WriteObject(raw, &raw mut length, code, strip),
            };
            qjs::JS_FreeValue(raw, code);
            NonNull::new(std::ptr::slice_from_raw_parts_mut(bytes, length as usize))
        }
    };
    compiled(&source, &name).ok_or(Error::Exception)
}

/// Address space, of which only what was used costs memory. Blocks are of powers of two with a header of 16 bytes; freed
/// ones are linked by size.
struct Region {
    start: NonNull<u8>,
    used: usize,
    free: [*mut u8; usize::BITS as usize],
}

impl Region {
    fn new() -> Option<Self> {
        // SAFETY: asks for new, private pages.
        let start = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), SIZE, protection, flags, -1, 0)
        };
        let start = (start != libc::MAP_FAILED).then(|| NonNull::new(start.cast()))??;
        Some(Self { start, used: 0, free: [std::ptr::null_mut(); usize::BITS as usize] })
    }

    fn take(&mut self, size: usize) -> *mut u8 {
        let Some(whole) = size.checked_add(HEADER).and_then(usize::checked_next_power_of_two) else {
            return std::ptr::null_mut();
        };
        let class = whole.trailing_zeros() as usize;
        let reused = self.free[class];
        // SAFETY: a freed block's first word is the next one of its class; a new block is inside the region; the header
        // is in front of what is handed out.
        unsafe {
            if !reused.is_null() {
                self.free[class] = reused.cast::<*mut u8>().read();
                return reused;
            }
            if SIZE - self.used < whole {
                return std::ptr::null_mut();
            }
            let block = self.start.add(self.used).as_ptr();
            self.used += whole;
            block.cast::<usize>().write(class);
            block.add(HEADER)
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the pages of `new`; whoever holds a block holds the region too.
        unsafe { libc::munmap(self.start.as_ptr().cast(), SIZE) };
    }
}

/// The size class of a block that was handed out.
///
/// # Safety
/// `ptr` comes from [`Region::take`].
unsafe fn class_of(ptr: *mut u8) -> usize {
    // SAFETY: the header of the block.
    unsafe { ptr.sub(HEADER).cast::<usize>().read() }
}

struct InRegion(Rc<RefCell<Region>>);

// SAFETY: blocks are inside the region, at multiples of 16, apart from each other, and as long as their class says.
unsafe impl Allocator for InRegion {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        self.0.borrow_mut().take(size)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(size) = count.checked_mul(size) else { return std::ptr::null_mut() };
        let block = self.0.borrow_mut().take(size);
        if !block.is_null() {
            // SAFETY: the block is that long.
            unsafe { block.write_bytes(0, size) };
        }
        block
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        if ptr.is_null() {
            return;
        }
        let mut region = self.0.borrow_mut();
        // SAFETY: a block of ours that nobody uses any more becomes the first of its class.
        unsafe {
            let class = class_of(ptr);
            ptr.cast::<*mut u8>().write(region.free[class]);
            region.free[class] = ptr;
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        if ptr.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: both blocks are at least as long as what is copied.
        unsafe {
            let old_size = Self::usable_size(ptr);
            if new_size <= old_size {
                return ptr;
            }
            let block = self.alloc(new_size);
            if !block.is_null() {
                block.copy_from_nonoverlapping(ptr, old_size);
                self.dealloc(ptr);
            }
            block
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        if ptr.is_null() {
            return 0;
        }
        // SAFETY: a block of ours.
        unsafe { (1 << class_of(ptr)) - HEADER }
    }
}

/// Far more than compiling all scripts takes.
const SIZE: usize = 256 << 20;

const HEADER: usize = 16;

/// Turn off while looking for a mistake in a script: stack traces then show its lines.
const STRIPPED: bool = true;
