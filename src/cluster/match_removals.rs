//! Matches the evidence of earlier stars with the records of the store, by their ids, both sorted.
//!
//! A record without a row was kept. A fingerprint has at most one kept record, as records of one fingerprint are near
//! each other: its place among the fingerprint's ids is noted. The rows are sorted again, by their keepers, together
//! with the kept records; so each removed fingerprint gets the number of its keeper's.

use crate::cluster::clusters::Clusters;
use crate::cluster::components::Components;
use crate::cluster::groups::{Groups, shares};
use crate::cluster::keys::{Key, Keys};
use crate::cluster::labels::LabelRef;
use crate::cluster::numbers::Numbers;
use crate::error::{Error, Result};
use crate::extsort::{Sorted, Sorter, Spool, Walk};
use crate::fingerprint::Fingerprint;
use crate::join::{Output, ordered};
use crate::version::Share;
use std::ops::ControlFlow;

/// Records that threads hand on together.
const CHUNK: usize = 1 << 13;
pub(crate) const NONE: u32 = u32::MAX;

/// The keys of a removed record and, after the line of the row, of its keeper.
pub(crate) type Row<K> = (K, (u64, K));

/// Earlier decisions.
pub(crate) struct Earlier {
    /// The place of the kept record among the ids of each old fingerprint, by its number; [`NONE`] without one.
    pub(crate) kept: Vec<u32>,
    /// The numbers of the fingerprints of each removed record and its keeper, four bytes each.
    pub(crate) removed: Spool,
    /// Number of rows.
    pub(crate) rows: u64,
}

/// An error about a row of the evidence.
#[cold]
pub(crate) fn fault(line: u64, message: &str) -> Error {
    Error::invalid(format!("line {line}: {message}"))
        .with_remedy("the evidence of this very store is needed; without it, search all again")
}

/// The first fault in the order of lines, which is not that of ids.
#[derive(Default)]
struct Faults(Option<(u64, &'static str)>);

impl Faults {
    fn note(&mut self, line: u64, message: &'static str) {
        if self.0.is_none_or(|(first, _)| line < first) {
            self.0 = Some((line, message));
        }
    }
}

pub(crate) fn matched<F: Fingerprint, K: Key>(
    clusters: &Clusters<F>,
    numbers: &Numbers<F>,
    keys: &Keys,
    rows: Sorter<Row<K>>,
    memory: u64,
) -> Result<Earlier> {
    let (rows, records) = (rows.finish()?, records::<F, K>(clusters, numbers, keys, memory / 4)?);
    let workspace = clusters.job.workspace(memory / 4);
    let mut earlier = Earlier { kept: Vec::new(), removed: Spool::within(&workspace), rows: 0 };
    let old = clusters.segments()?;
    let old = old.get(..clusters.old()?).unwrap_or_default();
    earlier.kept = vec![NONE; Numbers::<F>::count_of(old)? as usize];
    let (mut faults, mut is_near_itself) = (Faults::default(), false);
    // Kept records, then rows after their keepers: the key of the kept record or the keeper, the line, and the number.
    let mut by_keeper = Sorter::<(K, (u64, u64))>::new(&workspace, memory / 4);
    let mut walk = Walk::new(&records, memory / 8);
    let mut lines = Walk::new(&rows, memory / 8);
    loop {
        let heads = [lines.peek()?.map(|row| row.0), walk.peek()?.map(|record| record.0)];
        let Some(id) = heads.into_iter().flatten().min() else { break };
        let first = lines.peek()?.filter(|row| row.0 == id);
        let mut is_known = false;
        // Records that share an id are matched in order, which is right only if all of them are removed.
        while let Some((_, record)) = walk.next_if(|record| record.0 == id)? {
            is_known = true;
            match (lines.next_if(|row| row.0 == id)?, first) {
                (Some((_, (line, keeper))), _) => {
                    earlier.rows += 1;
                    by_keeper.push((keeper, (line.saturating_add(1), number_of(record).into())))?;
                }
                (None, Some((_, (line, _)))) => {
                    faults.note(line, "several records share this id, and not all of them are removed");
                }
                (None, None) => {
                    let slot = earlier.kept.get_mut(number_of(record) as usize);
                    #[expect(clippy::cast_possible_truncation, reason = "the place stands in the low half")]
                    let before = slot.map_or(NONE, |slot| std::mem::replace(slot, record as u32));
                    is_near_itself |= before != NONE;
                    by_keeper.push((id, (0, number_of(record).into())))?;
                }
            }
        }
        while let Some((_, (line, _))) = lines.next_if(|row| row.0 == id)? {
            faults
                .note(line, if is_known { "there was a row for this record" } else { "the store has no such record" });
        }
        clusters.job.progress.check()?;
    }
    let by_keeper = by_keeper.finish()?;
    keepers(clusters, &by_keeper, memory / 4, &mut earlier.removed, &mut faults)?;
    if let Some((line, message)) = faults.0 {
        return Err(fault(line, message));
    }
    if is_near_itself {
        let message = "the evidence keeps two records that have the same fingerprint: it is not complete, or of another \
                       store";
        return Err(Error::invalid(message).with_remedy("search all again"));
    }
    Ok(earlier)
}

/// Writes the numbers of removed fingerprints with those of their keepers.
fn keepers<F: Fingerprint, K: Key>(
    clusters: &Clusters<F>,
    by_keeper: &Sorted<(K, (u64, u64))>,
    memory: u64,
    removed: &mut Spool,
    faults: &mut Faults,
) -> Result<()> {
    let (mut keeper, mut chunk) = (None, Vec::new());
    for one in by_keeper.items(memory) {
        let (id, (line, number)) = one?;
        let same = keeper.filter(|(kept, _)| *kept == id);
        match (line.checked_sub(1), same) {
            (None, None) => keeper = Some((id, Some(number))),
            (None, Some(_)) => keeper = Some((id, None)),
            (Some(_), Some((_, Some(kept)))) => {
                for number in [number, kept] {
                    chunk.extend(number_of(number << 32).to_le_bytes());
                }
            }
            (Some(line), Some((_, None))) => faults.note(line, "several records share the id of its keeper"),
            (Some(line), None) => faults.note(line, "its keeper is not a record of the store that is kept"),
        }
        if chunk.len() >= 8 * CHUNK {
            clusters.job.progress.check()?;
            removed.append(&mut chunk)?;
        }
    }
    removed.append(&mut chunk)
}

/// The keys of the store's records, each with the number of its fingerprint and its place among the ids of that.
fn records<F: Fingerprint, K: Key>(
    clusters: &Clusters<F>,
    numbers: &Numbers<F>,
    keys: &Keys,
    memory: u64,
) -> Result<Sorted<(K, u64)>> {
    let segments = clusters.segments()?;
    let old = segments.get(..clusters.old()?).unwrap_or_default();
    let alone = Components::default();
    let work = |(): &mut (), share: Share, output: &Output<_>| {
        clusters.job.progress.check()?;
        let (mut found, mut ids) = (Vec::new(), Vec::new());
        let mut groups = Groups::new(old, numbers, &alone, share)?;
        while let Some((fingerprint, _)) = groups.next_fingerprint()? {
            let number = u64::from(groups.number()) << 32;
            let mut places = 0..u64::from(NONE);
            while groups.has_more(fingerprint) {
                groups.next_ids(fingerprint, &mut ids)?;
                let each = ids.iter().zip(&mut places);
                found
                    .extend(each.map(|(id, place)| (keys.key(LabelRef::of(fingerprint, id.as_ref())), number | place)));
                if found.len() >= CHUNK {
                    output.send(std::mem::take(&mut found))?;
                }
            }
        }
        output.send(found)
    };
    let mut sorter = Sorter::new(&clusters.job.workspace(memory), memory);
    let mut take = |found: Vec<(K, u64)>| sorter.extend(&found).map(ControlFlow::Continue);
    let _ = ordered(None, &*clusters.job.executor.crew()?, shares(old)?, || (), work, &mut take)?;
    sorter.finish()
}

fn number_of(record: u64) -> u32 {
    (record >> 32) as u32
}
