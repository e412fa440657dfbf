//! Memory from the system's hands: a file mapped into memory, and large arrays in huge pages.
//!
//! This module and `codec::simd` are the only ones with `unsafe`. Mapping is unsafe because the borrow checker cannot
//! see other processes: see [`crate::env`] for what happens if one cuts or overwrites the file, and for the mode that
//! is immune to it. Within this process nothing ever writes to a file that is mapped: segment files are mapped after
//! their final rename, scratch files when nobody can append to them any more, and logs not at all.
#![expect(unsafe_code, reason = "memory maps")]

use super::ReadFile;
use crate::fingerprint::Fingerprint;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A read-only map of a whole file.
#[derive(Debug)]
pub(super) struct Mapped {
    /// `None` stands for an empty file, which not every system can map.
    map: Option<memmap2::Mmap>,
}

impl Mapped {
    /// Maps the file as long as it is now.
    pub(super) fn new(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is read-only and the library never changes a file that it maps; see the module's text.
        let map = unsafe { memmap2::Mmap::map(file)? };
        Ok(Self { map: Some(map) })
    }

    fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

impl ReadFile for Mapped {
    fn length(&self) -> u64 {
        self.bytes().len() as u64
    }

    fn read<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        super::slice(self.bytes(), offset, length)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self.map.as_deref().unwrap_or_default())
    }

    #[cfg(unix)]
    fn will_read(&self, offset: u64, length: u64) {
        if let (Some(map), Ok(offset), Ok(length)) = (&self.map, usize::try_from(offset), usize::try_from(length)) {
            // Only advice. The kernel begins to read and does not wait.
            let _ = map.advise_range(memmap2::Advice::WillNeed, offset, length);
        }
    }

    fn is_stable(&self) -> bool {
        true
    }
}

/// Below this many bytes a huge page would be mostly empty. (Miri is slow.)
const WORTH_MAPPING: usize = if cfg!(miri) { 4 << 10 } else { 4 << 20 };

/// Zeros in huge pages; `None` if there is not so much memory.
fn zeros(bytes: usize) -> Option<memmap2::MmapMut> {
    let map = memmap2::MmapMut::map_anon(bytes).ok()?;
    // Only advice: without it the memory is as good, but slower.
    #[cfg(all(target_os = "linux", not(miri)))]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

/// Numbers in memory, zeros at first, in huge pages where the system has them: random reads and writes of a large array
/// otherwise wait for the page table too.
#[derive(Debug)]
pub(crate) struct Array<F = u64> {
    memory: Memory<F>,
    count: usize,
}

#[derive(Debug)]
enum Memory<F> {
    Mapped(memmap2::MmapMut),
    Plain(Vec<F>),
}

impl<F: Fingerprint> Array<F> {
    /// So many zeros; `None` if there is not so much memory.
    pub(crate) fn new(count: usize) -> Option<Self> {
        let bytes = count.checked_mul(size_of::<F>())?;
        let memory = if bytes < WORTH_MAPPING {
            Memory::Plain(vec![F::default(); count])
        } else {
            Memory::Mapped(zeros(bytes)?)
        };
        Some(Self { memory, count })
    }

    /// The numbers.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[F] {
        match &self.memory {
            // SAFETY: a map begins at a page, so it is aligned, and has `count` fingerprints; these are made of words
            // alone (the trait is sealed), for which any bits are legal.
            Memory::Mapped(map) => unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), self.count) },
            Memory::Plain(words) => words,
        }
    }

    /// The numbers, to be changed.
    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [F] {
        match &mut self.memory {
            // SAFETY: as above, and the map is borrowed mutably.
            Memory::Mapped(map) => unsafe { std::slice::from_raw_parts_mut(map.as_mut_ptr().cast(), self.count) },
            Memory::Plain(words) => words,
        }
    }
}

/// Numbers that threads share, zeros at first. Memory is taken as they are touched, of large arrays in huge pages.
#[derive(Debug)]
pub(crate) struct AtomicArray<A> {
    memory: Shared<A>,
    count: usize,
}

#[derive(Debug)]
enum Shared<A> {
    Mapped(memmap2::MmapRaw),
    Plain(Vec<A>),
}

/// What an [`AtomicArray`] may be of: any bits are legal, and zeros are the default.
pub(crate) trait Atomic: Default + Send + Sync + sealed::Sealed {}
impl Atomic for AtomicU32 {}
impl Atomic for AtomicU64 {}

mod sealed {
    pub(crate) trait Sealed {}
    impl Sealed for super::AtomicU32 {}
    impl Sealed for super::AtomicU64 {}
}

impl<A: Atomic> AtomicArray<A> {
    /// So many zeros; `None` if there is not so much memory.
    pub(crate) fn new(count: usize) -> Option<Self> {
        let bytes = count.checked_mul(size_of::<A>())?;
        let memory = if bytes < WORTH_MAPPING {
            Shared::Plain((0..count).map(|_| A::default()).collect())
        } else {
            Shared::Mapped(zeros(bytes)?.into())
        };
        Some(Self { memory, count })
    }

    /// The numbers.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[A] {
        match &self.memory {
            // SAFETY: a map begins at a page, so it is aligned, and has `count` atomics, for which any bits are legal (the
            // trait is sealed); nobody has other references into it, and atomics may be changed through shared ones.
            Shared::Mapped(map) => unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), self.count) },
            Shared::Plain(numbers) => numbers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn arrays_in_pages_and_in_plain_memory_are_the_same() {
        for count in [10, WORTH_MAPPING / 8 - 1, WORTH_MAPPING / 8] {
            let mut array = Array::<u64>::new(count).unwrap();
            assert!(array.as_slice().len() == count && array.as_slice().iter().all(|&word| word == 0));
            array.as_mut_slice()[count - 1] = 7;
            assert_eq!(array.as_slice()[count - 2..], [0, 7]);
            let shared = AtomicArray::<AtomicU64>::new(count).unwrap();
            std::thread::scope(|threads| {
                for number in 0..2 {
                    let slice = shared.as_slice();
                    threads.spawn(move || slice[count - 1 - number].store(number as u64 + 1, Ordering::Relaxed));
                }
            });
            let last = shared.as_slice().iter().map(|word| word.load(Ordering::Relaxed)).skip(count - 3);
            assert_eq!(last.collect::<Vec<_>>(), [0, 2, 1]);
        }
        assert!(Array::<u64>::new(usize::MAX).is_none() && AtomicArray::<AtomicU32>::new(usize::MAX).is_none());
    }
}
