//! Dealing values to buckets on several threads.
//!
//! Each thread has a share of the values, and the values of each share in each bucket were counted before. So every
//! share has its own slots in every bucket, and the order of values in a bucket is that of the shares, for any number
//! of threads.

/// The slots of each share, bucket by bucket; the slots of a bucket are neighbours, share after share. `counts` has for
/// each share the number of its values in every bucket.
pub(crate) fn deal<'a, T>(values: &'a mut [T], counts: &[&[usize]]) -> Vec<Vec<&'a mut [T]>> {
    let buckets = counts.first().map_or(0, |counts| counts.len());
    let lengths = (0..buckets).flat_map(|bucket| counts.iter().filter_map(move |counts| counts.get(bucket)));
    let mut dealt: Vec<Vec<&mut [T]>> = counts.iter().map(|_| Vec::with_capacity(buckets)).collect();
    let mut slots = cut(values, lengths.copied()).into_iter();
    for _ in 0..buckets {
        dealt.iter_mut().zip(&mut slots).for_each(|(share, slots)| share.push(slots));
    }
    dealt
}

pub(crate) fn cut<T>(mut rest: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut pieces = Vec::with_capacity(lengths.size_hint().0);
    for length in lengths {
        let (piece, behind) = rest.split_at_mut(length);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Values that are written together: with 8 bytes each they fill a cache line.
const TOGETHER: usize = 8;

/// Writes values to the slots of one share. It gathers a few of each bucket and writes them together: single writes
/// would go to more places than the processor's store buffers and TLB hold.
#[derive(Debug)]
pub(crate) struct Dealer<'a, T> {
    slots: Vec<&'a mut [T]>,
    gathered: Vec<[T; TOGETHER]>,
    counts: Vec<u8>,
}

impl<'a, T: Copy + Default> Dealer<'a, T> {
    pub(crate) fn new(slots: Vec<&'a mut [T]>) -> Self {
        let gathered = vec![[T::default(); TOGETHER]; slots.len()];
        Self { gathered, counts: vec![0; slots.len()], slots }
    }

    /// Adds a value to a bucket; drops it if the bucket is full or does not exist.
    #[inline]
    pub(crate) fn enter(&mut self, bucket: usize, value: T) {
        let (Some(count), Some(gathered)) = (self.counts.get_mut(bucket), self.gathered.get_mut(bucket)) else {
            return;
        };
        if let Some(slot) = gathered.get_mut(usize::from(*count)) {
            *slot = value;
        }
        *count += 1;
        if usize::from(*count) < TOGETHER {
            return;
        }
        *count = 0;
        if let Some(slots) = self.slots.get_mut(bucket)
            && let Some((now, later)) = std::mem::take(slots).split_first_chunk_mut()
        {
            *now = *gathered;
            *slots = later;
        }
    }

    pub(crate) fn finish(self) {
        for ((slots, gathered), count) in self.slots.into_iter().zip(self.gathered).zip(self.counts) {
            slots.iter_mut().zip(gathered).take(count.into()).for_each(|(slot, value)| *slot = value);
        }
    }
}
