//! The runs of a key index together: all keys in order, the sketches of records, and which records were removed.

use crate::bitset::{NumberRanks, NumberSet};
use crate::error::Result;
use crate::segment::{PageBuffer, Ranks, Scratch, Segment, SegmentRecords};
use crate::version::newest::NewestEntries;
use crate::version::run::Run;
use std::sync::Arc;

/// The numbers of the records that some runs of a key index remove. A number is never given again.
pub(crate) fn removed_numbers(runs: &[Arc<Run>]) -> Result<NumberSet> {
    let mut numbers = Vec::new();
    for segment in runs.iter().filter_map(|run| run.tombstones.as_ref()) {
        let (table, mut scratch, mut block) = (segment.primary_table()?, Scratch::default(), Vec::<u64>::new());
        for number in 0..table.index().len() {
            table.fingerprints(number, &mut scratch, &mut block)?;
            numbers.append(&mut block);
        }
    }
    Ok(NumberSet::new(numbers))
}

/// The least and the greatest number of a run's records.
pub(crate) fn number_bounds(records: &Segment) -> Result<(u64, u64)> {
    let (table, mut block) = (records.primary_table()?, Vec::<u64>::new());
    table.fingerprints(0, &mut Scratch::default(), &mut block)?;
    Ok((block.first().copied().unwrap_or(0), table.index().last_key()))
}

/// The ranks of the numbers of a run's records.
pub(crate) fn record_ranks(records: &Segment) -> Result<NumberRanks> {
    let (least, most) = number_bounds(records)?;
    let (table, bounds) = (records.primary_table()?, (least, most, records.footer().fingerprints));
    let (mut scratch, mut block) = (Scratch::default(), Vec::<u64>::new());
    let blocks =
        (0..table.index().len()).flat_map(|number| match table.fingerprints(number, &mut scratch, &mut block) {
            Ok(()) => std::mem::take(&mut block).into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
    NumberRanks::of_ascending(bounds, blocks)
}

/// The keys of some runs with the numbers of their records, in order; those of removed records may be among them.
pub(crate) fn keys_of<'a>(runs: impl DoubleEndedIterator<Item = &'a Arc<Run>>) -> NewestEntries<u64> {
    let mut merge = NewestEntries::default();
    let keys = runs.rev().filter_map(|run| run.keys.as_ref());
    keys.for_each(|keys| merge.add_records(SegmentRecords::new(Arc::clone(keys)), false));
    merge
}

/// Finds the sketches of records whose numbers ascend.
pub(crate) struct SketchCursor<'a>(Vec<(Ranks<'a, u64>, &'a Segment)>);

impl<'a> SketchCursor<'a> {
    pub(crate) fn new(runs: impl Iterator<Item = &'a Arc<Run>>) -> Result<Self> {
        let parts = runs.filter_map(|run| Some((run.records.as_ref()?, run.keys.as_ref()?)));
        parts.map(|(records, keys)| Ok((Ranks::new(records)?, &**keys))).collect::<Result<_>>().map(Self)
    }

    /// The sketch of a record; empty if it has none, or no run has the record.
    pub(crate) fn of<'b>(&mut self, number: u64, buffer: &'b mut PageBuffer) -> Result<&'b [u8]>
    where
        'a: 'b,
    {
        for (ranks, keys) in &mut self.0 {
            if let Some(rank) = ranks.of(number)? {
                return keys.sketch(rank, buffer);
            }
        }
        Ok(&[])
    }
}
