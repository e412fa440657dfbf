//! The order in which documents come, by a column of the inputs.

use std::sync::Arc;

use anyhow::bail;
use fpstore::Id;
use fpstore::clusters::Keeper;
use fpstore_tools::documents::{CHANGED, Inputs, each_value};
use fpstore_tools::number::bytes;
use fpstore_tools::progress::Progress;
use fpstore_tools::ranks::{First, Ranker, Space};

use super::work::Work;

/// A column, and which of its values come first.
pub(super) struct Order<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) column: &'a str,
    pub(super) first: First,
}

impl Order<'_> {
    /// Returns the keeper, and the bytes that it takes: eight a document, and as many as `memory`.
    pub(super) fn keeper(&self, work: &Work, memory: u64, shown: &Progress) -> anyhow::Result<(Keeper, u64)> {
        let space = Space { memory, sorting: memory, temp_dir: work.directory().to_owned() };
        let mut ranker = Ranker::new(self.first, space);
        each_value(self.inputs, self.column, shown, |value| ranker.push((), value))?;
        shown.finish();
        if let Some(needed) = ranker.beyond_memory() {
            bail!(
                "--memory: the values of --keep-by {} need {} more; give that much more",
                self.column,
                bytes(2 * (needed - memory))
            );
        }
        let ranks: Vec<u64> = ranker.finish()?.into_iter().map(|((), rank)| rank).collect();
        if ranks.len() as u64 != work.state.documents {
            bail!(CHANGED);
        }
        let taken = 8 * ranks.len() as u64;
        let rank = move |id: &Id| ranks.get(usize::try_from(id.number()?).ok()?).copied();
        Ok((Keeper::Ranked(Arc::new(rank)), taken))
    }
}
