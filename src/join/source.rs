//! The distinct fingerprints of some segments, in order of a table, any number of times.

use super::hash::Groups;
use super::merged::{MergeBuffers, MergedTables};
use super::order::Visit;
use super::stripes::Stripes;
use crate::bitset::Bitset;
use crate::env::Array;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::segment::{Scratch, Segment, fingerprints_of};
use crate::version::Share;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Fingerprints in memory that are passed on together.
const CHUNK: usize = 4096;
/// Blocks that are sampled for the bits that vary.
const SAMPLED: usize = 64;

/// Fingerprints of segments. Each visit decodes them again, which takes a nanosecond or two each, less than sorting or
/// writing them; selected ones, and those of very many segments, are kept in memory if it has space.
#[derive(Debug)]
pub(super) struct FingerprintSource<'a, F> {
    segments: Vec<Arc<Segment>>,
    /// The numbers of the fingerprints to visit; `None`: all.
    only: Option<&'a Bitset>,
    /// Each part is visited by one thread.
    parts: Vec<LoadedPart<'a, F>>,
    /// Number of fingerprints, or somewhat more: one that several segments have counts several times.
    at_most: u64,
}

#[derive(Debug)]
enum LoadedPart<'a, F> {
    Stored(Share),
    /// A share of the keys of tables, in their order.
    Ordered(Arc<Stripes<'a, F>>, Share),
    /// In memory, and their number.
    Buffered(Array<F>, usize),
}

impl<'a, F: Fingerprint> FingerprintSource<'a, F> {
    /// All fingerprints of these segments, or those with the numbers `only`, kept if they fit `memory` bytes. Has about
    /// two parts for each thread of the current pool.
    pub(super) fn new(segments: &[Arc<Segment>], only: Option<&'a Bitset>, memory: u64) -> Result<Self> {
        let shares = Share::cut_segments(segments, 2 * rayon::current_num_threads())?;
        let at_most = only.map_or_else(|| fingerprints_of(segments), Bitset::count);
        let parts = shares.into_iter().map(LoadedPart::Stored).collect();
        let stored = Self { segments: segments.to_vec(), only, parts, at_most };
        let fits = at_most.saturating_mul(F::BYTES as u64) <= memory;
        if !fits {
            return Ok(stored);
        }
        Ok(Self { segments: segments.to_vec(), ..Self::kept(&stored, |_| true)? })
    }

    /// The same fingerprints, in the order of tables.
    pub(super) fn striped(&self, stripes: Stripes<'a, F>) -> Result<Self> {
        let shares = stripes.tables.cut(2 * rayon::current_num_threads())?;
        let stripes = Arc::new(stripes);
        let parts = shares.into_iter().map(|share| LoadedPart::Ordered(Arc::clone(&stripes), share)).collect();
        Ok(Self { segments: Vec::new(), only: None, parts, at_most: self.at_most })
    }

    /// The fingerprints of another source that are `wanted`, kept in memory.
    pub(super) fn kept(all: &Self, wanted: impl Fn(F) -> bool + Sync) -> Result<Self> {
        let each = |visit: &dyn Fn(Visit<'_, F>) -> Result<()>, take: &mut dyn FnMut(F)| {
            visit(&mut |fingerprints| fingerprints.iter().copied().filter(|&one| wanted(one)).for_each(&mut *take))
        };
        let parts = all.each_part(|visit| {
            let mut count = 0;
            each(visit, &mut |_| count += 1)?;
            let mut kept = Array::new(count).ok_or_else(no_memory)?;
            let mut slots = kept.as_mut_slice().iter_mut();
            each(visit, &mut |one| slots.next().into_iter().for_each(|slot| *slot = one))?;
            Ok(LoadedPart::Buffered(kept, count))
        })?;
        let count = |part: &LoadedPart<F>| if let LoadedPart::Buffered(_, count) = part { *count as u64 } else { 0 };
        Ok(Self { segments: Vec::new(), only: None, at_most: parts.iter().map(count).sum(), parts })
    }

    /// Whether a visit of some groups of the stripes reads little more than these.
    pub(super) fn is_striped(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, LoadedPart::Ordered(..)))
    }

    pub(super) fn at_most(&self) -> u64 {
        self.at_most
    }

    /// Some fingerprints of the segments, also of those that are not to be visited.
    pub(super) fn sample(&self) -> Result<Vec<F>> {
        let mut sample = Vec::new();
        let (mut scratch, mut block) = (Scratch::default(), Vec::new());
        for segment in &self.segments {
            let table = segment.primary_table()?;
            let blocks = table.index().len();
            for number in (0..blocks).step_by((blocks / SAMPLED).max(1)) {
                table.fingerprints(number, &mut scratch, &mut block)?;
                sample.append(&mut block);
            }
        }
        Ok(sample)
    }

    /// The results of `make` for each part, in order, on the threads of the current pool. `make` gets a function that
    /// visits the fingerprints of the part, some at a time.
    pub(super) fn each_part<T: Send>(
        &self,
        make: impl Fn(&dyn Fn(Visit<'_, F>) -> Result<()>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.with_parts(vec![(); self.parts.len()], None, |(), visit| make(visit))
    }

    /// As [`FingerprintSource::each_part`]; `make` also gets an element of `given`. Fingerprints in other groups than
    /// the `wanted` ones may be left out.
    pub(super) fn with_parts<I: Send, T: Send>(
        &self,
        given: Vec<I>,
        wanted: Option<(Groups<F>, &Range<usize>)>,
        make: impl Fn(I, &dyn Fn(Visit<'_, F>) -> Result<()>) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let all = given.into_par_iter().zip(&self.parts);
        all.map(|(given, part)| {
            make(given, &|visit| match part {
                LoadedPart::Buffered(kept, count) => {
                    kept.as_slice().get(..*count).unwrap_or_default().chunks(CHUNK).for_each(visit);
                    Ok(())
                }
                LoadedPart::Ordered(stripes, share) => stripes.visit(*share, wanted, visit),
                LoadedPart::Stored(share) => match self.only {
                    None => visit_stored(&self.segments, *share, visit),
                    Some(only) => visit_wanted(&self.segments, *share, only, &mut |fingerprint, _| {
                        visit(&[fingerprint]);
                        Ok(())
                    }),
                },
            })
        })
        .collect()
    }
}

pub(super) fn no_memory() -> Error {
    Error::new(ErrorKind::Io, "there is not enough memory for the join").with_remedy("allow it less memory")
}

/// Calls `visit` with the fingerprints of a share whose numbers are `wanted`, and their numbers, each once, until it
/// fails. Decodes only blocks that have such fingerprints.
pub(crate) fn visit_wanted<F: Fingerprint>(
    segments: &[Arc<Segment>],
    share: Share,
    wanted: &Bitset,
    visit: &mut dyn FnMut(F, u32) -> Result<()>,
) -> Result<()> {
    let (mut scratch, mut block, mut first) = (Scratch::default(), Vec::new(), 0);
    let index_of = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    for segment in segments {
        let table = segment.primary_table()?;
        for number in share.blocks(table.index())? {
            let from = first + table.index().rank(number)?;
            let mut numbers = (from..first + table.index().rank(number + 1)?)
                .filter(|&number| wanted.has(index_of(number)))
                .peekable();
            if numbers.peek().is_none() {
                continue;
            }
            table.fingerprints(number, &mut scratch, &mut block)?;
            for number in numbers {
                if let Some(&fingerprint) = block.get(index_of(number - from))
                    && share.has(fingerprint)
                {
                    visit(fingerprint, u32::try_from(number).unwrap_or(u32::MAX))?;
                }
            }
        }
        first += segment.footer().fingerprints;
    }
    Ok(())
}

/// Calls `visit` with all fingerprints of a share, ascending, each once.
pub(crate) fn visit_stored<F: Fingerprint>(segments: &[Arc<Segment>], share: Share, visit: Visit<'_, F>) -> Result<()> {
    MergedTables::primary(segments)?.visit(share, &mut MergeBuffers::default(), visit)
}
