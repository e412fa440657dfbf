//! Mapped memory: files, and large arrays in huge pages.
//!
//! This module and `codec::simd` are the only ones with `unsafe`. Mapping is unsafe because the borrow checker cannot
//! see other processes: [`crate::env`] describes the hazard if one cuts or overwrites the file, and the mode that is
//! immune to it. Within this process nothing writes to a mapped file: segment files are mapped after their final
//! rename, scratch files after their last append, and logs never.
#![expect(unsafe_code, reason = "memory maps")]

use crate::env::traits::ReadFile;
use crate::fingerprint::Fingerprint;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[derive(Debug)]
pub(super) struct Mapped {
    /// `None` for an empty file, which not every system can map.
    map: Option<memmap2::Mmap>,
}

impl Mapped {
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
            // Advice: the kernel starts to read and does not wait. Windows reads when a page is touched.
            let _ = map.advise_range(memmap2::Advice::WillNeed, offset, length);
        }
    }

    fn is_stable(&self) -> bool {
        true
    }
}

/// Below this many bytes a huge page would be mostly empty. (Miri is slow.)
const WORTH_MAPPING: usize = if cfg!(miri) { 4 << 10 } else { 4 << 20 };

/// Zeros in huge pages; `None` if there is not enough memory.
fn zeros(bytes: usize) -> Option<memmap2::MmapMut> {
    let map = memmap2::MmapMut::map_anon(bytes).ok()?;
    // Advice: without huge pages, as on other systems, the memory is slower.
    #[cfg(all(target_os = "linux", not(miri)))]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

/// An array of zeros, in huge pages where the system has them. Random accesses to a large array in small pages also
/// wait for the page table.
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
    /// `count` zeros; `None` if there is not enough memory.
    pub(crate) fn new(count: usize) -> Option<Self> {
        let bytes = count.checked_mul(size_of::<F>())?;
        let memory = if bytes < WORTH_MAPPING {
            Memory::Plain(vec![F::default(); count])
        } else {
            Memory::Mapped(zeros(bytes)?)
        };
        Some(Self { memory, count })
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[F] {
        match &self.memory {
            // SAFETY: a map begins at a page, so it is aligned, and has `count` fingerprints. These consist of words
            // (the trait is sealed), for which any bits are legal.
            Memory::Mapped(map) => unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), self.count) },
            Memory::Plain(words) => words,
        }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [F] {
        match &mut self.memory {
            // SAFETY: as above, and the map is borrowed mutably.
            Memory::Mapped(map) => unsafe { std::slice::from_raw_parts_mut(map.as_mut_ptr().cast(), self.count) },
            Memory::Plain(words) => words,
        }
    }
}

/// Memory for arrays that are made together, in one map if they fit: making and first touching a map may wait for other
/// threads that map or unmap memory.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Bytes of a map, unless an array has more.
    bytes: usize,
    /// The map for the next array, and its bytes in use.
    map: Option<(Arc<memmap2::MmapRaw>, usize)>,
}

impl Arena {
    /// Each array begins in a cache line of its own.
    const ALIGNMENT: usize = 64;

    /// For arrays of up to `bytes` bytes in all.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, map: None }
    }

    /// `count` zeros; `None` if there is not enough memory. The first page of a large array is touched now.
    pub(crate) fn array<A: Atomic>(&mut self, count: usize) -> Option<AtomicArray<A>> {
        let bytes = count.checked_mul(size_of::<A>())?;
        if self.bytes < WORTH_MAPPING {
            let numbers = (0..count).map(|_| A::default()).collect::<Vec<_>>();
            return Some(AtomicArray { first: numbers.as_ptr(), count, _memory: Shared::Plain(numbers) });
        }
        let fitting = self.map.take().filter(|(map, used)| map.len().saturating_sub(*used) >= bytes.max(1));
        let (map, begin) = match fitting {
            Some(fitting) => fitting,
            None => (Arc::new(zeros(bytes.max(self.bytes))?.into()), 0),
        };
        self.map = Some((Arc::clone(&map), begin.saturating_add(bytes).checked_next_multiple_of(Self::ALIGNMENT)?));
        // SAFETY: the map has `bytes` more bytes. It begins at a page, so `first` is aligned.
        let first = unsafe { map.as_ptr().add(begin) }.cast();
        let array = AtomicArray::<A> { first, count, _memory: Shared::Mapped(map) };
        array.as_slice().first().inspect(|first| first.clear());
        Some(array)
    }
}

/// Zeros that threads share. Memory is taken as they are touched, in huge pages for large arrays.
#[derive(Debug)]
pub(crate) struct AtomicArray<A> {
    first: *const A,
    count: usize,
    _memory: Shared<A>,
}

// SAFETY: the pointer gives only shared references to atomics, which the array owns.
unsafe impl<A: Atomic> Send for AtomicArray<A> {}
// SAFETY: as above.
unsafe impl<A: Atomic> Sync for AtomicArray<A> {}

#[derive(Debug)]
#[expect(dead_code, reason = "only dropped")]
enum Shared<A> {
    Mapped(Arc<memmap2::MmapRaw>),
    Plain(Vec<A>),
}

/// An element of an [`AtomicArray`]: any bits are legal, and zero is the default.
pub(crate) trait Atomic: Default + Send + Sync + sealed::Sealed {
    fn clear(&self);
}

impl Atomic for AtomicU32 {
    fn clear(&self) {
        self.store(0, Ordering::Relaxed);
    }
}

impl Atomic for AtomicU64 {
    fn clear(&self) {
        self.store(0, Ordering::Relaxed);
    }
}

mod sealed {
    pub(crate) trait Sealed {}
    impl Sealed for super::AtomicU32 {}
    impl Sealed for super::AtomicU64 {}
}

impl<A: Atomic> AtomicArray<A> {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[A] {
        // SAFETY: the arena gave `count` atomics from `first` on to this array alone, for as long as it lives. Any bits
        // are legal for them (the trait is sealed), and shared references may change them.
        unsafe { std::slice::from_raw_parts(self.first, self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_in_pages_and_in_plain_memory_are_the_same() {
        for count in [10, WORTH_MAPPING / 8 - 1, WORTH_MAPPING / 8] {
            let mut array = Array::<u64>::new(count).unwrap();
            assert!(array.as_slice().len() == count && array.as_slice().iter().all(|&word| word == 0));
            array.as_mut_slice()[count - 1] = 7;
            assert_eq!(array.as_slice()[count - 2..], [0, 7]);
            let mut arena = Arena::new(count * 8);
            let [before, shared, behind] = [3, count, 5].map(|count| arena.array::<AtomicU64>(count).unwrap());
            std::thread::scope(|threads| {
                for number in 0..2 {
                    let slice = shared.as_slice();
                    threads.spawn(move || slice[count - 1 - number].store(number as u64 + 1, Ordering::Relaxed));
                }
            });
            let last = shared.as_slice().iter().map(|word| word.load(Ordering::Relaxed)).skip(count - 3);
            assert_eq!(last.collect::<Vec<_>>(), [0, 2, 1]);
            let others = before.as_slice().iter().chain(behind.as_slice());
            assert_eq!(others.map(|word| word.load(Ordering::Relaxed)).collect::<Vec<_>>(), [0; 8]);
        }
        assert!(Array::<u64>::new(usize::MAX).is_none());
        let mut arena = Arena::new(WORTH_MAPPING);
        assert!([usize::MAX, usize::MAX / 4].into_iter().all(|count| arena.array::<AtomicU32>(count).is_none()));
        // An array that does not fit the map has one of its own.
        let large =
            [WORTH_MAPPING / 4 - 16, WORTH_MAPPING / 2, 0, 1].map(|count| arena.array::<AtomicU32>(count).unwrap());
        large.iter().filter_map(|array| array.as_slice().last()).for_each(|last| last.store(1, Ordering::Relaxed));
        let sum = |array: &AtomicArray<AtomicU32>| -> u32 {
            array.as_slice().iter().map(|number| number.load(Ordering::Relaxed)).sum()
        };
        assert_eq!(large.each_ref().map(sum), [1, 1, 0, 1]);
    }
}
