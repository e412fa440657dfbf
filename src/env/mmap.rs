//! Memory from the system's hands: a file mapped into memory, and large arrays in huge pages.
//!
//! This module and `codec::simd` are the only ones with `unsafe`. Mapping is unsafe because the borrow checker cannot
//! see other processes: see [`crate::env`] for what happens if one cuts or overwrites the file, and for the mode that
//! is immune to it. Within this process nothing ever writes to a file that is mapped: segment files are mapped after
//! their final rename, scratch files when nobody can append to them any more, and logs not at all.
#![expect(unsafe_code, reason = "memory maps")]

use crate::env::traits::ReadFile;
use crate::fingerprint::Fingerprint;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

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
            // Only advice. The kernel begins to read and does not wait. Windows reads when a page is touched.
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
    // Only advice: on other systems, without it, the memory is as good, but slower.
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

/// Memory for arrays that are made together, in one map if they fit: each map, and the first touch of each, may have to wait
/// for all other threads that map or unmap memory.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Bytes of a map, unless an array has more.
    bytes: usize,
    /// The map that the next array may be in, and how many of its bytes others have.
    map: Option<(Arc<memmap2::MmapRaw>, usize)>,
}

impl Arena {
    /// Arrays begin in cache lines of their own.
    const ALIGNMENT: usize = 64;

    /// For arrays of up to so many bytes in all.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, map: None }
    }

    /// So many zeros; `None` if there is not so much memory. The beginning of large arrays is taken from the system now.
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
        // SAFETY: there are `bytes` behind it in the map, which begins at a page; so it is aligned too.
        let first = unsafe { map.as_ptr().add(begin) }.cast();
        let array = AtomicArray::<A> { first, count, _memory: Shared::Mapped(map) };
        array.as_slice().first().inspect(|first| first.clear());
        Some(array)
    }
}

/// Numbers that threads share, zeros at first. Memory is taken as they are touched, of large arrays in huge pages.
#[derive(Debug)]
pub(crate) struct AtomicArray<A> {
    first: *const A,
    count: usize,
    _memory: Shared<A>,
}

// SAFETY: only shared references to atomics come from the pointer, and what it points to goes with the array.
unsafe impl<A: Atomic> Send for AtomicArray<A> {}
// SAFETY: as above.
unsafe impl<A: Atomic> Sync for AtomicArray<A> {}

/// What keeps the numbers of an array.
#[derive(Debug)]
#[expect(dead_code, reason = "only dropped")]
enum Shared<A> {
    Mapped(Arc<memmap2::MmapRaw>),
    Plain(Vec<A>),
}

/// What an [`AtomicArray`] may be of: any bits are legal, and zeros are the default.
pub(crate) trait Atomic: Default + Send + Sync + sealed::Sealed {
    /// Sets it to zero.
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
    /// The numbers.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[A] {
        // SAFETY: the arena gave `count` atomics from `first` on to this array alone, for as long as it lives. Any bits are legal for
        // them (the trait is sealed), and they may be changed through shared references.
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
        // An array that a map has no room for has one of its own.
        let large =
            [WORTH_MAPPING / 4 - 16, WORTH_MAPPING / 2, 0, 1].map(|count| arena.array::<AtomicU32>(count).unwrap());
        large.iter().filter_map(|array| array.as_slice().last()).for_each(|last| last.store(1, Ordering::Relaxed));
        let sum = |array: &AtomicArray<AtomicU32>| -> u32 {
            array.as_slice().iter().map(|number| number.load(Ordering::Relaxed)).sum()
        };
        assert_eq!(large.each_ref().map(sum), [1, 1, 0, 1]);
    }
}
