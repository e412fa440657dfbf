//! Sorting by fingerprint, several times as fast as by comparing alone.
//!
//! Values are dealt to buckets by the leading bits that tell them apart, each thread its share, and every bucket, small
//! enough for a core's cache by now, is sorted by itself. Where the leading bits are skewed a bucket holds much; it is
//! then sorted by all threads, so skew costs what comparing costs and never more.

use rayon::prelude::*;

/// Buckets, as a power of two.
const BUCKET_BITS: u32 = 11;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// Fewer values than this are sorted at once.
const SMALL: usize = 1 << 16;

/// Sorts values whose order is first of all that of `key`. Takes the memory of a second copy of them meanwhile.
pub(crate) fn sort<T: Copy + Ord + Send + Sync>(values: &mut [T], key: impl Fn(&T) -> u64 + Sync) {
    let (least, greatest) = bounds(values, &key);
    if values.len() < SMALL || least >= greatest {
        values.par_sort_unstable();
        return;
    }
    let shift = (64 - (greatest - least).leading_zeros()).saturating_sub(BUCKET_BITS);
    let bucket = |value: &T| ((key(value) - least) >> shift) as usize;
    let share = values.len().div_ceil(rayon::current_num_threads().max(1));
    let dealt: Vec<Dealt<T>> = values.par_chunks(share).map(|share| Dealt::new(share, &bucket)).collect();
    let mut rest = values;
    let mut buckets = Vec::with_capacity(BUCKETS);
    for number in 0..BUCKETS {
        let (this, behind) = rest.split_at_mut(dealt.iter().map(|share| share.bucket(number).len()).sum());
        buckets.push((number, this));
        rest = behind;
    }
    buckets.into_par_iter().for_each(|(number, bucket)| {
        let mut rest = &mut *bucket;
        for share in &dealt {
            let from = share.bucket(number);
            let (this, behind) = rest.split_at_mut(from.len());
            this.copy_from_slice(from);
            rest = behind;
        }
        if bucket.len() < SMALL { bucket.sort_unstable() } else { bucket.par_sort_unstable() }
    });
}

/// The least and the greatest key; the least one greater where there is none.
fn bounds<T: Sync>(values: &[T], key: &(impl Fn(&T) -> u64 + Sync)) -> (u64, u64) {
    let both = values.par_chunks(SMALL).map(|chunk| {
        chunk.iter().map(key).fold((u64::MAX, 0), |(least, greatest), key| (least.min(key), greatest.max(key)))
    });
    both.reduce(|| (u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// One thread's share of the values, bucket by bucket.
struct Dealt<T> {
    values: Vec<T>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

impl<T: Copy> Dealt<T> {
    fn new(share: &[T], bucket: &impl Fn(&T) -> usize) -> Self {
        // First how many each bucket gets, then where it begins; dealing moves that to where it ends.
        let mut ends = vec![0; BUCKETS];
        share.iter().for_each(|value| ends.iter_mut().skip(bucket(value)).take(1).for_each(|count| *count += 1));
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut values = share.to_vec();
        for &value in share {
            if let Some(end) = ends.get_mut(bucket(&value)) {
                values.iter_mut().skip(*end).take(1).for_each(|slot| *slot = value);
                *end += 1;
            }
        }
        Self { values, ends }
    }

    fn bucket(&self, number: usize) -> &[T] {
        let end = |number: usize| self.ends.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end);
        self.values.get(start..end(number)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_by_comparing() {
        let even = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
        let shapes: [fn(u64, u64) -> u64; 5] = [
            |e, _| e,
            |e, _| e >> 40,
            |e, i| if i % 9 == 0 { e } else { e % 1000 },
            |_, _| 7,
            |e, _| e | u64::MAX << 50,
        ];
        for shape in shapes {
            for count in [0, 1, 1000, SMALL as u64, 3 * SMALL as u64 + 1] {
                let values: Vec<(u64, u64)> = (0..count).map(|i| (shape(even(i), i), even(i) % 5)).collect();
                let (mut sorted, mut compared) = (values.clone(), values);
                sort(&mut sorted, |value| value.0);
                compared.sort_unstable();
                assert_eq!(sorted, compared);
            }
        }
    }
}
