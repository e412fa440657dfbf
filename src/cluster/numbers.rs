//! Numbers of fingerprints.

use crate::env::Array;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::segment::{Directory, Ranks, Scratch, Segment, fingerprints_of};
use rayon::prelude::*;
use std::sync::Arc;

/// Most bytes of the directory a fingerprint.
const DIRECTORY: u64 = 8;

/// Numbers the fingerprints of segments: by rank, one segment after the other. A fingerprint in several segments has
/// the number of the first.
#[derive(Debug)]
pub(crate) struct Numbers<F> {
    segments: Vec<Numbered<F>>,
}

#[derive(Debug)]
struct Numbered<F> {
    segment: Arc<Segment>,
    first: u32,
    /// All fingerprints, if there is memory for them: a lookup in them is faster than decoding a block.
    all: Option<(Array<F>, Directory)>,
}

impl<F: Fingerprint> Numbers<F> {
    /// Number of fingerprints of the segments. Fails with `Unsupported` if they do not fit 32 bits.
    pub(crate) fn count_of(segments: &[Arc<Segment>]) -> Result<u32> {
        let count = fingerprints_of(segments);
        u32::try_from(count).ok().filter(|&count| count < u32::MAX).ok_or_else(|| {
            let message = format!("clusters of {count} fingerprints: {} are the most", u32::MAX - 1);
            Error::new(ErrorKind::Unsupported, message).with_remedy("divide them among several stores")
        })
    }

    /// Takes at most `memory` bytes to look fingerprints up faster.
    pub(crate) fn new(segments: &[Arc<Segment>], memory: u64) -> Result<Self> {
        let count = Self::count_of(segments)?;
        let keep = u64::from(count).saturating_mul(F::BYTES as u64 + DIRECTORY) <= memory;
        let mut first = 0;
        let mut numbered = Vec::new();
        for segment in segments {
            let all = if keep { Some(all(segment)?) } else { None };
            numbered.push(Numbered { segment: Arc::clone(segment), first, all });
            // The sum fits, as it was counted.
            first += u32::try_from(segment.footer().fingerprints).unwrap_or(0);
        }
        Ok(Self { segments: numbered })
    }

    pub(crate) fn bytes(&self) -> u64 {
        let kept = self.segments.iter().filter_map(|one| one.all.as_ref());
        kept.map(|(all, _)| all.as_slice().len() as u64 * (F::BYTES as u64 + DIRECTORY)).sum()
    }

    pub(crate) fn release(&mut self) {
        self.segments.iter_mut().for_each(|one| one.all = None);
    }

    /// Looks up fingerprints that come in ascending order.
    pub(crate) fn ascending(&self) -> Result<Ascending<'_, F>> {
        let ranks = self.segments.iter().map(|one| Ranks::new(&one.segment));
        Ok(Ascending { segments: &self.segments, ranks: ranks.collect::<Result<_>>()? })
    }

    /// # Errors
    /// `Damaged` if no segment has it; `Io`.
    pub(crate) fn of(&self, fingerprint: F, scratch: &mut Scratch) -> Result<u32> {
        for one in &self.segments {
            let rank = match &one.all {
                Some((all, directory)) => rank_in(all.as_slice(), directory, fingerprint),
                None => one.segment.rank_of(fingerprint, scratch)?,
            };
            if let Some(rank) = rank {
                return Ok(one.first + u32::try_from(rank).unwrap_or(0));
            }
        }
        Err(missing())
    }
}

#[derive(Debug)]
pub(crate) struct Ascending<'a, F> {
    segments: &'a [Numbered<F>],
    ranks: Vec<Ranks<'a, F>>,
}

impl<F: Fingerprint> Ascending<'_, F> {
    pub(crate) fn of(&mut self, fingerprint: F) -> Result<u32> {
        for (one, ranks) in self.segments.iter().zip(&mut self.ranks) {
            if let Some(rank) = ranks.of(fingerprint)? {
                return Ok(one.first + u32::try_from(rank).unwrap_or(0));
            }
        }
        Err(missing())
    }

    /// The number of the next fingerprint, if there is only one segment: numbers are ranks there.
    pub(crate) fn of_next(&self, number: u32) -> Option<u32> {
        if self.segments.len() == 1 { number.checked_add(1) } else { None }
    }
}

#[cold]
fn missing() -> Error {
    Error::damaged("a fingerprint was there and is not found again")
}

/// Fingerprints with the same first word that are searched linearly.
const NEAR: usize = 8;

fn rank_in<F: Fingerprint>(all: &[F], directory: &Directory, fingerprint: F) -> Option<u64> {
    let head = fingerprint.word(0);
    let from = directory.lower_bound(all, directory.slot(head), head);
    // Many wide fingerprints may begin with the same word.
    let behind = all.get(from..)?;
    let near = behind.iter().take(NEAR).position(|one| *one >= fingerprint);
    let at = near.unwrap_or_else(|| behind.partition_point(|one| *one < fingerprint));
    behind.get(at).filter(|one| **one == fingerprint).map(|_| (from + at) as u64)
}

fn all<F: Fingerprint>(segment: &Segment) -> Result<(Array<F>, Directory)> {
    let table = segment.primary_table()?;
    let count = usize::try_from(table.index().fingerprints()).unwrap_or(usize::MAX);
    let mut all = Array::new(count).ok_or_else(|| {
        Error::new(ErrorKind::Io, "there is not enough memory for the fingerprints").with_remedy("allow less memory")
    })?;
    let mut rest = all.as_mut_slice();
    let blocks = table.index().len();
    let chunk = blocks.div_ceil(4 * rayon::current_num_threads()).max(1);
    let mut chunks = Vec::new();
    for from in (0..blocks).step_by(chunk) {
        let to = (from + chunk).min(blocks);
        let fingerprints = table.index().rank(to)? - table.index().rank(from)?;
        let length = usize::try_from(fingerprints).unwrap_or(0).min(rest.len());
        let (slots, behind) = rest.split_at_mut(length);
        rest = behind;
        chunks.push((from..to, slots));
    }
    chunks.into_par_iter().try_for_each(|(blocks, slots)| {
        let (mut scratch, mut block, mut slots) = (Scratch::default(), Vec::new(), slots.iter_mut());
        for number in blocks {
            table.prefetch_ahead(number);
            table.fingerprints(number, &mut scratch, &mut block)?;
            block.iter().zip(&mut slots).for_each(|(&one, slot)| *slot = one);
        }
        Ok::<(), Error>(())
    })?;
    let directory = Directory::new(all.as_slice());
    Ok((all, directory))
}
