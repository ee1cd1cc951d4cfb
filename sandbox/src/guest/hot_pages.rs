//! The pages of the zygote's heap that every program writes to, made a child's own at once.
//!
//! After a fork each page is copied by a fault of its own when it is first written to. Which ones that will be is known:
//! the engine's own objects, whose reference counts change all the time, and the free places between them, where programs
//! find their room (`web/holes.rs`), lie side by side at the start of the heap. One system call copies them all, for a
//! fraction of what it takes to run a program that happens to write to each.

use super::web::holes::end_of_heap;

/// Pages side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct HotPages {
    start: usize,
    length: usize,
}

impl HotPages {
    /// The heap from `start` to what is in use of it now; nothing where its end is not known.
    pub(super) fn of_heap(start: Option<usize>) -> Option<Self> {
        let (start, end, page) = (start?, end_of_heap()?, page_size()?);
        let start = start - start % page;
        let length = end.checked_next_multiple_of(page)?.checked_sub(start)?;
        (length > 0).then_some(Self { start, length })
    }

    /// Copies the pages for the calling process. False when the system cannot do that in one call: Linux can since 5.14.
    pub(super) fn make_own(self) -> bool {
        // SAFETY: changes what lies behind the addresses and not what they hold; refused where nothing is mapped.
        unsafe { libc::madvise(self.start as *mut libc::c_void, self.length, libc::MADV_POPULATE_WRITE) == 0 }
    }
}

fn page_size() -> Option<usize> {
    // SAFETY: takes no pointers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok().filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_were_made_ones_own_are_written_to_without_a_fault() {
        const PAGES: usize = 64;
        let page_size = page_size().unwrap();
        let faults = || {
            // SAFETY: all-zero is a valid rusage, and a valid place for the answer.
            unsafe {
                let mut usage = std::mem::zeroed::<libc::rusage>();
                assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
                usage.ru_minflt
            }
        };
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new pages, which stay until the process ends.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), PAGES * page_size, protection, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let pages = HotPages { start: start as usize, length: PAGES * page_size };
        let is_own = pages.make_own();
        if !is_own && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
            eprintln!("this kernel has no MADV_POPULATE_WRITE: nothing to test");
            return;
        }
        assert!(is_own, "{}", std::io::Error::last_os_error());
        let before = faults();
        for page in 0..PAGES {
            // SAFETY: inside of what was mapped above.
            unsafe { start.cast::<u8>().add(page * page_size).write_volatile(1) };
        }
        let taken = faults() - before;
        assert!(taken < PAGES as i64 / 4, "{taken} faults");
    }

    #[test]
    fn pages_that_are_not_there_are_refused() {
        assert!(!HotPages { start: 0, length: page_size().unwrap() }.make_own());
        assert!(HotPages::of_heap(None).is_none());
        assert!(HotPages::of_heap(Some(usize::MAX)).is_none());
    }
}
