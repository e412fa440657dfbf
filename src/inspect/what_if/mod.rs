//! What a store would weigh under other parameters: its fingerprints are encoded anew, in memory, and measured.
//!
//! Sizes are those of the encoder itself, codes and index included, and memory is that of the tables opened for
//! reading: a store that is loaded with these parameters has exactly these numbers. What a query costs is predicted by
//! the planner's model, which is told how many keys a block really holds.

mod encoded;
mod keys;

use crate::admin::{TableStatistics, empty_tables, information_bound};
use crate::error::{Error, Result};
use crate::format::Parameters;
use crate::inspect::segment_view::SegmentView;
use crate::inspect::what_if::keys::WIDTH;
use crate::plan::filter_shape::{FilterShape, filters_of};
use crate::plan::{Cost, Workload, predict};
use encoded::{Encoded, Tables};
use keys::Keys;

/// A store as it would be under some parameters. Everything is summed over segments.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Alternative {
    /// The parameters.
    pub parameters: Parameters,
    /// Sizes and counts of the tables, as [`Statistics`](crate::admin::Statistics) has them.
    pub tables: Vec<TableStatistics>,
    /// Memory that stays in use while the store is open, as [`Statistics`](crate::admin::Statistics) has it.
    pub resident_bytes: u64,
    /// Further memory of the prefix filters, if they are made.
    pub filter_bytes: u64,
    /// Whether sizes were scaled up from a sample.
    pub estimated: bool,
    /// Fingerprints, and blocks of a table, of each segment.
    shapes: Vec<(u64, u64)>,
}

/// What one query is predicted to do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QueryCost {
    /// Prefixes asked for.
    pub probes: f64,
    /// Blocks read and decoded.
    pub blocks: f64,
    /// Fingerprints decoded and compared.
    pub candidates: f64,
}

/// Encodes the fingerprints of the segments, each segment by itself as it is, with each of the `parameters`, in
/// parallel.
///
/// Of a segment with more than `sample` distinct fingerprints about so many are encoded for each table, and its sizes
/// are scaled up: they are estimates then. Eight bytes of memory are taken for each fingerprint that is encoded, and up
/// to a gibibyte for the tables that are encoded at the same time.
///
/// # Errors
/// `InvalidInput` if no store can have some of the parameters; `Damaged`, `Io`.
pub fn what_if(segments: &[SegmentView], parameters: &[Parameters], sample: usize) -> Result<Vec<Alternative>> {
    let mut alternatives = parameters.iter().map(Alternative::empty).collect::<Result<Vec<_>>>()?;
    let tables = Tables::of(parameters)?;
    for segment in segments {
        let (keys, encoded) = segment.executor.run(|| {
            let keys = Keys::new(segment, sample)?;
            let encoded = tables.encode(segment, &keys)?;
            Ok((keys, encoded))
        })?;
        for (alternative, own) in alternatives.iter_mut().zip(encoded) {
            alternative.add(&own, keys.fingerprints());
            alternative.resident_bytes += segment.segment.ids().resident_bytes();
        }
    }
    for table in alternatives.iter_mut().flat_map(|alternative| &mut alternative.tables) {
        table.information_bound_bits = information_bound(WIDTH, table.fingerprints);
    }
    Ok(alternatives)
}

impl Alternative {
    /// What a query within a distance is predicted to cost, with prefix filters where the store makes them, or without
    /// any.
    ///
    /// # Errors
    /// None that the parameters have not given before.
    pub fn query_cost(&self, distance: u32, filters: bool) -> Result<QueryCost> {
        self.shapes.iter().try_fold(QueryCost::default(), |sum, &(fingerprints, blocks)| {
            let block_size = self.parameters.block_size();
            let workload = Workload { fingerprints, width: WIDTH, distance, block_size, filter: filters };
            let cost = predicted(&self.parameters, workload, blocks)?;
            Ok(QueryCost {
                probes: sum.probes + cost.probes,
                blocks: sum.blocks + cost.blocks,
                candidates: sum.candidates + cost.candidates,
            })
        })
    }

    fn empty(parameters: &Parameters) -> Result<Self> {
        parameters.check()?;
        if parameters.width() != WIDTH {
            return Err(Error::invalid(format!("only stores of {WIDTH}-bit fingerprints can be encoded anew so far"))
                .with_remedy("`plan::predict` predicts the sizes of the others"));
        }
        Ok(Self {
            parameters: parameters.clone(),
            tables: empty_tables(parameters.design(), WIDTH),
            resident_bytes: 0,
            filter_bytes: 0,
            estimated: false,
            shapes: Vec::new(),
        })
    }

    /// Adds the tables of a segment.
    fn add(&mut self, tables: &[Encoded], fingerprints: u64) {
        for (table, encoded) in self.tables.iter_mut().zip(tables) {
            table.fingerprints += fingerprints;
            table.blocks += encoded.blocks;
            table.data_bytes += encoded.data_bytes;
            table.index_bytes += encoded.index_bytes;
            table.code_bytes += encoded.code_bytes;
            self.resident_bytes += encoded.resident_bytes;
            self.estimated |= encoded.estimated;
        }
        // The parameters were checked: their design fits the width.
        let filters = filters_of(self.parameters.design(), WIDTH, fingerprints, self.parameters.max_distance());
        self.filter_bytes += filters.into_iter().flatten().map(FilterShape::bytes).sum::<u64>();
        let blocks = tables.iter().map(|table| table.blocks).sum::<u64>() / (tables.len() as u64).max(1);
        self.shapes.push((fingerprints, blocks));
    }
}

/// What the planner predicts for tables of so many blocks. Its model derives their number from the block size, taking
/// keys to lie evenly; so it is asked for the block size at which evenly lying keys fill as many blocks as these keys
/// do.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "predicted")]
fn predicted(parameters: &Parameters, workload: Workload, blocks: u64) -> Result<Cost> {
    let fingerprints = workload.fingerprints as f64;
    let evenly = predict(parameters.design(), &workload)?;
    let (assumed, found) = (evenly.candidates / evenly.blocks, fingerprints / blocks.max(1) as f64);
    let block_size = (f64::from(workload.block_size) * found / assumed).round() as u32;
    let mut cost = predict(parameters.design(), &Workload { block_size, ..workload })?;
    // The model's last block is a full one.
    cost.candidates = cost.candidates.min(fingerprints);
    Ok(cost)
}
