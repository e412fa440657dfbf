//! The fingerprints of several segments, in the order of a table that each of them has, as if they were one segment.

use super::order::Visit;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::plan::TableForm;
use crate::segment::{Scratch, Segment, Table};
use crate::version::Share;
use std::ops::Range;
use std::sync::Arc;

/// Fingerprints that are decoded ahead of a merge, at least, of each table.
const AHEAD: usize = 512;

/// Tables that have whole fingerprints in the same order, one of each segment.
#[derive(Clone, Debug)]
pub(super) struct MergedTables<'a>(Vec<&'a Table>);

/// Memory for visits, to be used again.
#[derive(Debug, Default)]
pub(super) struct MergeBuffers<F> {
    ahead: Vec<Ahead<F>>,
    merging: Merging<F>,
    fingerprints: Vec<F>,
}

impl<'a> MergedTables<'a> {
    /// The primary tables of segments: their fingerprints, ascending.
    pub(super) fn primary(segments: &'a [Arc<Segment>]) -> Result<Self> {
        segments.iter().map(|segment| segment.primary_table()).collect::<Result<_>>().map(Self)
    }

    /// Tables whose keys are permuted alike.
    pub(super) fn new(tables: Vec<&'a Table>) -> Self {
        Self(tables)
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// An upper bound of the number of fingerprints whose keys are in a share.
    pub(super) fn at_most(&self, share: Share) -> Result<usize> {
        self.0.iter().try_fold(0, |sum, table| Ok(sum + share.at_most_of(table.index())?))
    }

    pub(super) fn blocks(&self) -> usize {
        self.0.iter().map(|table| table.index().len()).sum()
    }

    /// Cuts the keys into about `count` shares of about the same size.
    pub(super) fn cut(&self, count: usize) -> Result<Vec<Share>> {
        Share::cut(&self.0.iter().map(|table| table.index()).collect::<Vec<_>>(), count)
    }

    /// Replaces `out` by the fingerprints whose keys are in a share.
    pub(super) fn read<F: Fingerprint>(
        &self,
        share: Share,
        buffers: &mut MergeBuffers<F>,
        out: &mut Vec<F>,
    ) -> Result<()> {
        out.clear();
        out.reserve_exact(self.at_most(share)?);
        self.visit(share, buffers, &mut |fingerprints| out.extend_from_slice(fingerprints))
    }

    /// Calls `take` with these fingerprints, some at a time, in the order of the tables, each once.
    pub(super) fn visit<F: Fingerprint>(
        &self,
        share: Share,
        buffers: &mut MergeBuffers<F>,
        take: Visit<'_, F>,
    ) -> Result<()> {
        let MergeBuffers { ahead, merging, fingerprints } = buffers;
        // Other keys are the fingerprints themselves.
        let permuted = self.0.first().filter(|table| table.form() == TableForm::Full && !table.is_first());
        let permutation = permuted.map(|table| &table.layout().permutation);
        let mut take = |keys: &[F]| match permutation {
            None => take(keys),
            Some(permutation) => {
                fingerprints.clear();
                fingerprints.extend(keys.iter().map(|key| F::from_words(|_| permutation.invert(key.word(0)))));
                take(fingerprints);
            }
        };
        let mut all = self.cursors(share, ahead)?;
        if let [cursor] = &mut all[..] {
            while cursor.next_block()? {
                take(cursor.rest());
            }
            return Ok(());
        }
        while next_lists(&mut all, merging)? {
            take(merging.merge());
        }
        Ok(())
    }

    /// Calls `take` with the keys of a share that several tables have, ascending, each once.
    pub(super) fn visit_common<F: Fingerprint>(
        &self,
        share: Share,
        MergeBuffers { ahead, merging, fingerprints: common }: &mut MergeBuffers<F>,
        take: Visit<'_, F>,
    ) -> Result<()> {
        let mut all = self.cursors(share, ahead)?;
        while next_lists(&mut all, merging)? {
            common.clone_from(&merging.items);
            if merging.merge().len() < common.len() {
                common.sort_unstable();
                let mut last = None;
                common.retain(|&one| last.replace(one) == Some(one));
                common.dedup();
                take(common);
            }
        }
        Ok(())
    }

    fn cursors<'b, F: Fingerprint>(
        &self,
        share: Share,
        ahead: &'b mut Vec<Ahead<F>>,
    ) -> Result<Vec<Cursor<'a, 'b, F>>> {
        ahead.resize_with(self.0.len(), Ahead::default);
        let cursor = |(&table, ahead): (&&'a Table, &'b mut Ahead<F>)| {
            ahead.keys.clear();
            let (index, rest) = (table.index(), 0..0);
            Ok(Cursor { table, share, blocks: index.find(share.from)?..index.len(), rest, ahead })
        };
        self.0.iter().zip(ahead).map(cursor).collect()
    }
}

/// Replaces the lists by the next keys of each table, up to a key before which all are decoded; false after the last.
fn next_lists<F: Fingerprint>(all: &mut [Cursor<'_, '_, F>], merging: &mut Merging<F>) -> Result<bool> {
    all.iter_mut().try_for_each(Cursor::fill)?;
    merging.clear();
    let Some(&last) = all.iter().filter_map(|cursor| cursor.rest().last()).min() else { return Ok(false) };
    // The oldest segment, mostly the largest, comes last: of an odd number of lists, it is copied and not compared.
    all.iter_mut().rev().for_each(|cursor| merging.add(cursor.up_to(last)));
    Ok(true)
}

/// Decoded keys of a table.
#[derive(Debug, Default)]
struct Ahead<F> {
    scratch: Scratch,
    keys: Vec<F>,
}

/// Walks over the keys of a share in one table.
struct Cursor<'a, 'b, F> {
    table: &'a Table,
    share: Share,
    /// Those to come.
    blocks: Range<usize>,
    ahead: &'b mut Ahead<F>,
    /// The decoded keys that are in the share and still to come.
    rest: Range<usize>,
}

impl<F: Fingerprint> Cursor<'_, '_, F> {
    /// Replaces the decoded keys by those of the next block; false after the share.
    fn next_block(&mut self) -> Result<bool> {
        self.ahead.keys.clear();
        let found = self.append_block()?;
        self.rest = self.share.of(&self.ahead.keys);
        Ok(found)
    }

    fn append_block(&mut self) -> Result<bool> {
        let Some(block) = self.blocks.next() else { return Ok(false) };
        self.table.prefetch_ahead(block);
        self.table.append_fingerprints(block, &mut self.ahead.scratch, &mut self.ahead.keys)?;
        // To look up the end of the share would take longer than decoding, now and then, a block behind it.
        if self.ahead.keys.last().is_some_and(|&last| self.share.is_before(last)) {
            self.blocks.start = self.blocks.end;
        }
        Ok(true)
    }

    fn rest(&self) -> &[F] {
        self.ahead.keys.get(self.rest.clone()).unwrap_or_default()
    }

    /// Decodes blocks if no key is left.
    fn fill(&mut self) -> Result<()> {
        while self.rest.is_empty() && !self.blocks.is_empty() {
            self.ahead.keys.clear();
            while self.ahead.keys.len() < AHEAD && self.append_block()? {}
            self.rest = self.share.of(&self.ahead.keys);
        }
        Ok(())
    }

    /// Passes over the decoded keys up to `last` and returns them.
    fn up_to(&mut self, last: F) -> &[F] {
        let passed = self.rest.start..self.rest.start + count_up_to(self.rest(), last);
        self.rest.start = passed.end;
        self.ahead.keys.get(passed).unwrap_or_default()
    }
}

/// The number of keys up to `last`: all if the last of them is, even if they are damaged and do not ascend. So the
/// table with the least last key goes on, and a merge ends.
fn count_up_to<F: Fingerprint>(keys: &[F], last: F) -> usize {
    let all = keys.last().is_some_and(|&own| own <= last);
    if all { keys.len() } else { keys.partition_point(|&key| key <= last) }
}

/// Ascending lists, one behind another.
#[derive(Debug, Default)]
struct Merging<F> {
    items: Vec<F>,
    lengths: Vec<usize>,
    /// A buffer for the result of the next round.
    merged: Vec<F>,
}

impl<F: Fingerprint> Merging<F> {
    fn clear(&mut self) {
        self.items.clear();
        self.lengths.clear();
    }

    fn add(&mut self, list: &[F]) {
        if !list.is_empty() {
            self.items.extend_from_slice(list);
            self.lengths.push(list.len());
        }
    }

    /// Merges the lists two by two until one is left. Equal items of several lists become one.
    fn merge(&mut self) -> &[F] {
        while self.lengths.len() > 1 {
            self.merged.resize(self.items.len(), F::default());
            let (mut lists, mut space) = (&self.items[..], &mut self.merged[..]);
            let merge = |two: &[usize]| {
                let mut next = |number: usize| {
                    let (list, rest) = lists.split_at(two.get(number).copied().unwrap_or(0));
                    lists = rest;
                    list
                };
                let (a, b) = (next(0), next(1));
                let written = merge_two(a, b, space);
                space = std::mem::take(&mut space).split_at_mut(written).1;
                written
            };
            self.lengths = self.lengths.chunks(2).map(merge).collect();
            self.merged.truncate(self.lengths.iter().sum());
            std::mem::swap(&mut self.items, &mut self.merged);
        }
        &self.items
    }
}

/// Writes the items of two ascending lists, ascending, and those that both have once. Returns their number.
fn merge_two<F: Fingerprint>(mut a: &[F], mut b: &[F], out: &mut [F]) -> usize {
    let mut written = 0;
    for slot in &mut *out {
        // Which list has the next item is chance, so no branch depends on it.
        let (Some(&x), Some(&y)) = (a.first(), b.first()) else { break };
        *slot = x.min(y);
        a = a.get(usize::from(x <= y)..).unwrap_or_default();
        b = b.get(usize::from(y <= x)..).unwrap_or_default();
        written += 1;
    }
    let rest = if a.is_empty() { b } else { a };
    out.iter_mut().skip(written).zip(rest).for_each(|(slot, &one)| *slot = one);
    written + rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_that_do_not_ascend_are_passed_over_too() {
        assert_eq!([2, 5, 9].map(|last| count_up_to(&[1, 2, 7u64], last)), [2, 2, 3]);
        assert_eq!(count_up_to(&[5, 9, 3u64], 3), 3);
    }

    proptest! {
        #[test]
        fn lists_become_one_without_repetitions(lists in vec(btree_set(0u64..50, 0..20), 0..9)) {
            let mut merging = Merging::default();
            // A second time with what the first one left.
            for _ in 0..2 {
                merging.clear();
                lists.iter().for_each(|list| merging.add(&list.iter().copied().collect::<Vec<_>>()));
                let expected: BTreeSet<u64> = lists.iter().flatten().copied().collect();
                prop_assert_eq!(merging.merge(), expected.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
