//! Merges the keys and sketches of runs of a key index.
//!
//! A record is in one run, and its number is never given again. So the tombstones of the merged runs name exactly the
//! records whose keys go.

use crate::db::run_builder::{Made, Maker};
use crate::error::{Error, Result};
use crate::segment::{Expected, Making, Ranks, Scratch, Segment, SegmentRecords, SketchSource, chunks};
use crate::version::{NewestEntries, Run, removed_numbers};
use std::sync::Arc;

/// The segment of keys of `records`, which were merged from these runs; `None` if they have no keys.
pub(super) fn merged_keys(
    maker: Maker<'_>,
    making: Making<'_>,
    runs: &[Arc<Run>],
    records: Option<&Made>,
) -> Result<Option<Made>> {
    let Some((_, records)) = records else { return Ok(None) };
    let mut merge = NewestEntries::<u64>::default();
    let with_keys: Vec<&Run> = runs.iter().map(|run| &**run).filter(|run| run.keys.is_some()).collect();
    for keys in with_keys.iter().rev().filter_map(|run| run.keys.as_ref()) {
        merge.add_records(SegmentRecords::new(Arc::clone(keys)), false);
    }
    if with_keys.is_empty() {
        return Ok(None);
    }
    let removed = removed_numbers(runs)?;
    let kept = merge.filter_map(|newest| match newest {
        Ok(newest) if newest.entry.record.id.number().is_some_and(|number| removed.has(number)) => None,
        Ok(newest) => Some(Ok(newest.entry.record)),
        Err(error) => Some(Err(error)),
    });
    let sketches = MergedSketches { runs: &with_keys, records };
    let has_sketches = maker.parameters.keys().is_some_and(|keys| keys.sketch_bits() > 0);
    let making = Making {
        expected: Expected::default(),
        secondary: None,
        sketches: if has_sketches { Some(&sketches) } else { None },
        ..making
    };
    maker.keys(making, chunks(kept, making.workspace.memory_of_chunks()))
}

/// The sketches of merged records: each is in the run that the record came from.
#[derive(Debug)]
struct MergedSketches<'a> {
    runs: &'a [&'a Run],
    records: &'a Arc<Segment>,
}

impl SketchSource for MergedSketches<'_> {
    fn visit(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut sources = Vec::new();
        for run in self.runs {
            if let Run { records: Some(records), keys: Some(keys), .. } = run
                && let Some(sketches) = keys.sketches()
            {
                sources.push((Ranks::<u64>::new(records)?, sketches, keys.file()));
            }
        }
        let (table, mut numbers) = (self.records.primary_table()?, Vec::<u64>::new());
        let (mut scratch, mut buffer) = (Scratch::default(), Vec::new());
        let keys = self.runs.first().and_then(|run| run.keys.as_ref()?.footer().parameters.keys());
        // A record of a run without keys has no sketch.
        let none = vec![0; keys.map_or(0, |keys| keys.sketch_bytes())];
        for block in 0..table.index().len() {
            table.fingerprints(block, &mut scratch, &mut numbers)?;
            for &number in &numbers {
                let mut found = None;
                for (ranks, sketches, file) in &mut sources {
                    if let Some(rank) = ranks.of(number)? {
                        found = Some((&*sketches, file, rank));
                        break;
                    }
                }
                match found {
                    Some((sketches, file, rank)) => visit(sketches.get(file, rank, &mut buffer)?)?,
                    None => visit(&none)?,
                }
            }
        }
        Ok::<_, Error>(())
    }
}
