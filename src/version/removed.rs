//! The records of a key index that were removed.

use crate::bitset::NumberSet;
use crate::error::Result;
use crate::segment::Scratch;
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
