//! Radix sort by leading bits, several times as fast as a comparison sort.
//!
//! The threads deal values to buckets by their leading varying bits, each thread its share. Every bucket then fits a
//! core's cache and is dealt once more, to buckets of a few values, which are sorted by comparison. A large bucket of
//! skewed values is sorted by all threads, so skew never costs more than a comparison sort.

use crate::extsort::deal::{Dealer, cut, deal};
use rayon::prelude::*;

/// Buckets, as a power of two.
const BUCKET_BITS: u32 = 11;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// Most buckets of a bucket: their counts fit the first-level cache.
const SMALL_BUCKETS: usize = 1 << 11;
/// Values of a small bucket, if they are evenly spread and [`SMALL_BUCKETS`] are enough.
const FEW: usize = 4;
/// Least small buckets that are worth dealing to; fewer values are sorted by comparison.
const LEAST_BUCKETS: usize = 16;
/// Least values of a bucket that all threads sort.
const LARGE: usize = 1 << 20;
/// Fewer values than this are sorted by comparison.
const SMALL: usize = 1 << 16;

/// The values that `make` returns for each element of `source` and its number, in ascending order. Values with
/// different keys are ordered as their keys.
///
/// Calls `make` three times for each element instead of storing its values twice. Memory: the result and a bucket a
/// thread.
pub(crate) fn sorted<S: Sync, T: Copy + Ord + Default + Send + Sync>(
    source: &[S],
    make: impl Fn(usize, &S) -> T + Sync,
    key: impl Fn(&T) -> u64 + Sync,
) -> Vec<T> {
    sorted_in(Vec::new(), source, make, key)
}

/// As [`sorted`], in the memory of `space` if that is enough.
pub(crate) fn sorted_in<S: Sync, T: Copy + Ord + Default + Send + Sync>(
    space: Vec<T>,
    source: &[S],
    make: impl Fn(usize, &S) -> T + Sync,
    key: impl Fn(&T) -> u64 + Sync,
) -> Vec<T> {
    let length = source.len().div_ceil(rayon::current_num_threads().max(1)).max(1);
    let shares: Vec<(usize, &[S])> = (0..).step_by(length).zip(source.chunks(length)).collect();
    sorted_from(space, &shares, make, key)
}

/// As [`sorted`], of the elements of several lists, which the threads share as they are. Takes 48 KiB more for each.
pub(crate) fn sorted_lists<T: Copy + Ord + Default + Send + Sync>(
    lists: &[Vec<T>],
    key: impl Fn(&T) -> u64 + Sync,
) -> Vec<T> {
    let filled = lists.iter().filter(|list| !list.is_empty());
    let shares: Vec<(usize, &[T])> = filled.map(|list| (0, list.as_slice())).collect();
    sorted_from(Vec::new(), &shares, |_, &value| value, key)
}

/// The values of shares, each with the number of its first element.
fn sorted_from<S: Sync, T: Copy + Ord + Default + Send + Sync>(
    space: Vec<T>,
    shares: &[(usize, &[S])],
    make: impl Fn(usize, &S) -> T + Sync,
    key: impl Fn(&T) -> u64 + Sync,
) -> Vec<T> {
    let length = shares.iter().map(|share| share.1.len()).sum();
    let mut sorted = of_length(length, space);
    let bounds = shares.par_iter().map(|share| bounds(values(share, &make).map(|value| key(&value))));
    let (least, greatest) = bounds.reduce(|| NOTHING, |a, b| (a.0.min(b.0), a.1.max(b.1)));
    if length < SMALL || least >= greatest {
        let all = shares.iter().flat_map(|share| values(share, &make));
        sorted.iter_mut().zip(all).for_each(|(slot, value)| *slot = value);
        sorted.par_sort_unstable();
        return sorted;
    }
    let shift = (64 - (greatest - least).leading_zeros()).saturating_sub(BUCKET_BITS);
    let bucket = |value: &T| ((key(value) - least) >> shift) as usize;
    let counts: Vec<Vec<usize>> = shares.par_iter().map(|share| count(values(share, &make), &bucket)).collect();
    let slices: Vec<&[usize]> = counts.iter().map(Vec::as_slice).collect();
    deal(&mut sorted, &slices).into_par_iter().zip(shares).for_each(|(slots, share)| {
        let mut dealer = Dealer::new(slots);
        values(share, &make).for_each(|value| dealer.enter(bucket(&value), value));
        dealer.finish();
    });
    let lengths = (0..BUCKETS).map(|bucket| counts.iter().filter_map(|counts| counts.get(bucket)).sum());
    cut(&mut sorted, lengths).into_par_iter().for_each_init(Default::default, |(scratch, starts), bucket| {
        if bucket.len() < LARGE { sort_bucket(bucket, &key, scratch, starts) } else { bucket.par_sort_unstable() }
    });
    sorted
}

/// Values of any kind, which will be overwritten.
pub(crate) fn of_length<T: Copy + Default + Send>(length: usize, mut space: Vec<T>) -> Vec<T> {
    if space.capacity() < length {
        drop(space);
        space = Vec::with_capacity(length);
    }
    // The threads share the first touch of its pages, at which the system clears them.
    space.par_extend(rayon::iter::repeat_n(T::default(), length.saturating_sub(space.len())));
    space.truncate(length);
    space
}

/// Sorts values: deals them to buckets of a few. `scratch` and `starts` are reused.
fn sort_bucket<T: Copy + Ord>(
    values: &mut [T],
    key: &impl Fn(&T) -> u64,
    scratch: &mut Vec<T>,
    starts: &mut Vec<usize>,
) {
    let buckets = (values.len() / FEW).min(SMALL_BUCKETS).next_power_of_two();
    if buckets < LEAST_BUCKETS {
        return values.sort_unstable();
    }
    let (least, greatest) = bounds(values.iter().map(key));
    let shift = (64 - (greatest - least).leading_zeros()).saturating_sub(buckets.ilog2());
    let bucket = |value: &T| ((key(value) - least) >> shift) as usize;
    starts.clear();
    starts.resize(buckets, 0);
    values.iter().for_each(|value| starts.iter_mut().skip(bucket(value)).take(1).for_each(|count| *count += 1));
    let mut sum = 0;
    starts.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
    scratch.clear();
    scratch.extend_from_slice(values);
    for &value in &*scratch {
        if let Some(start) = starts.get_mut(bucket(&value)) {
            values.iter_mut().skip(*start).take(1).for_each(|slot| *slot = value);
            *start += 1;
        }
    }
    // Each start has moved to where the next bucket starts.
    let mut from = 0;
    let lengths = starts.iter().map(|&to| to - std::mem::replace(&mut from, to));
    cut(values, lengths).into_iter().for_each(<[T]>::sort_unstable);
}

/// The values of a share: the number of its first element, and its elements.
fn values<S, T>(&(first, share): &(usize, &[S]), make: &impl Fn(usize, &S) -> T) -> impl Iterator<Item = T> {
    share.iter().zip(first..).map(|(element, number)| make(number, element))
}

const NOTHING: (u64, u64) = (u64::MAX, 0);

fn bounds(keys: impl Iterator<Item = u64>) -> (u64, u64) {
    keys.fold(NOTHING, |(least, greatest), key| (least.min(key), greatest.max(key)))
}

fn count<T>(values: impl Iterator<Item = T>, bucket: &impl Fn(&T) -> usize) -> Vec<usize> {
    let mut counts = vec![0; BUCKETS];
    values.for_each(|value| counts.iter_mut().skip(bucket(&value)).take(1).for_each(|count| *count += 1));
    counts
}

/// As `dedup`, but without writes in the usual case of no equal items.
pub(crate) fn drop_equal<T: PartialEq + Sync>(sorted: &mut Vec<T>) {
    if sorted.par_windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
        sorted.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_values_with_one_key() {
        for none in [vec![], vec![vec![], vec![]]] {
            assert!(sorted_lists::<u64>(&none, |&value| value).is_empty());
        }
        let list: Vec<(u64, u64)> = (0..2 * SMALL as u64).map(|i| (7, i * 7919 % 1009)).collect();
        let mut expected = [&list[..], &list[..5]].concat();
        expected.sort_unstable();
        assert_eq!(sorted_lists(&[list.clone(), vec![], list[..5].to_vec()], |value| value.0), expected);
    }

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
            for count in [0, 1, 1000, SMALL, 3 * SMALL + 1] {
                let make = |i: usize, start: &u64| (shape(even(start + i as u64), i as u64), even(i as u64) % 5);
                let source = vec![7; count];
                let mut compared: Vec<(u64, u64)> = (0..).zip(&source).map(|(i, start)| make(i, start)).collect();
                compared.sort_unstable();
                let made: Vec<(u64, u64)> = (0..).zip(&source).map(|(i, start)| make(i, start)).collect();
                let lists: Vec<Vec<(u64, u64)>> =
                    [vec![], made[..count / 3].to_vec(), made[count / 3..].to_vec()].into();
                assert_eq!(sorted_lists(&lists, |value| value.0), compared);
                for space in [Vec::new(), vec![(9, 9); count / 2], vec![(9, 9); count + 5]] {
                    assert_eq!(sorted_in(space, &source, make, |value| value.0), compared);
                }
            }
        }
    }
}
