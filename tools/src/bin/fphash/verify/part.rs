//! A part of the evidence, as many rows as memory has space for.

use anyhow::{anyhow, bail};
use fpstore::clusters::LabelRef;
use fpstore_tools::common::Common;
use fpstore_tools::documents::Comparison;
use fpstore_tools::input::Evidence;

use super::sinks::{Row, Sinks};
use crate::wanted::{Budget, Collect, Ids};

/// Bytes of a row beside its ids: itself, and its similarity.
const ROW: u64 = 160;

/// Rows of evidence, with the documents that they need.
#[derive(Default)]
pub(super) struct Part {
    rows: Vec<Row>,
    /// Memory of the rows.
    bytes: u64,
    ids: Ids,
}

impl Part {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row; false if memory has no space for it.
    pub(super) fn add(&mut self, row: &Evidence<'_, u64>, budget: Budget) -> anyhow::Result<bool> {
        let text = |label: &LabelRef<'_, u64>| match label {
            LabelRef::Text(text) => Ok((*text).to_owned()),
            _ => Err(anyhow!("the evidence has no ids")),
        };
        let row = Row {
            id: text(&row.record)?,
            keeper: text(&row.keeper)?,
            cluster: text(&row.cluster)?,
            distance: row.measure,
            line: row.line,
        };
        let bytes = ROW + (row.id.len() + row.keeper.len() + row.cluster.len()) as u64;
        // The documents of a row are all there, or none of them.
        let limit = budget.ids().saturating_sub(self.bytes + bytes);
        if !(self.ids.want(&row.id, limit) && self.ids.want(&row.keeper, limit)) {
            return Ok(false);
        }
        self.bytes += bytes;
        self.rows.push(row);
        Ok(true)
    }

    /// Reads the documents, compares the pairs and writes the rows.
    pub(super) fn finish(
        self,
        collect: &Collect<'_>,
        comparison: &Comparison,
        budget: Budget,
        common: Common,
        sinks: &mut Sinks<'_>,
    ) -> anyhow::Result<()> {
        let texts = collect.texts(&self.ids, budget, common)?;
        let mut pairs = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let index = |id: &str| {
                let index = self.ids.index(id).filter(|index| texts.contents.length(*index).is_some());
                index.ok_or_else(|| {
                    anyhow!(
                        "--evidence: line {}: no document has the id '{id}'; name all inputs, and the column of the \
                         ids with --id-column",
                        row.line
                    )
                })
            };
            pairs.push((index(&row.id)?, index(&row.keeper)?));
        }
        let memory = budget.texts(&self.ids).saturating_sub(self.bytes);
        let similarities = comparison.of(&pairs, &texts.contents, memory / 2)?;
        if similarities.len() != pairs.len() {
            bail!("pairs were lost");
        }
        sinks.open(pairs.iter().all(|(id, keeper)| texts.is_number(*id) && texts.is_number(*keeper)))?;
        self.rows.iter().zip(similarities).try_for_each(|(row, similarity)| sinks.write(row, similarity))
    }
}
