//! The size of a store under other parameters: its fingerprints, or the keys of a key index, are encoded again, in
//! memory, and measured.
//!
//! Sizes are those of the encoder, codes and index included, and memory is that of the tables opened for reading: a
//! store that is loaded with these parameters has exactly these numbers. The planner's model predicts the cost of a
//! query from the real number of keys of a block.

mod encoded;
mod keys;

use self::keys::WIDTH;
use crate::admin::{TableStatistics, empty_tables, information_bound};
use crate::error::{Error, Result};
use crate::format::Parameters;
use crate::inspect::segment_view::SegmentView;
use crate::plan::filter_shape::{FilterShape, filters_of};
use crate::plan::{Cost, Workload, predict};
use encoded::{Encoded, Tables};
use keys::{Keys, bits_of};

/// A store under other parameters, summed over segments.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Alternative {
    /// The parameters.
    pub parameters: Parameters,
    /// Sizes and counts of the tables, as [`Statistics`](crate::admin::Statistics) has them.
    pub tables: Vec<TableStatistics>,
    /// Memory of the open store, as [`Statistics`](crate::admin::Statistics) has it.
    pub resident_bytes: u64,
    /// Memory of the prefix filters, if they are made.
    pub filter_bytes: u64,
    /// Whether sizes were scaled up from a sample.
    pub estimated: bool,
    /// Number of fingerprints or keys, and of blocks of a table, of each segment.
    shapes: Vec<(u64, u64)>,
}

/// The predicted work of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QueryCost {
    /// Prefixes probed.
    pub probes: f64,
    /// Blocks read and decoded.
    pub blocks: f64,
    /// Fingerprints decoded and compared.
    pub candidates: f64,
}

/// Encodes the fingerprints of each segment with each of the `parameters`, in parallel. Of a key index, the segments
/// are those of keys, and the parameters may have fewer bits of keys.
///
/// Of a segment with more than `sample` distinct fingerprints, about this many are encoded for each table, and the
/// sizes are scaled up: they are estimates. Takes eight bytes of memory for each encoded fingerprint, and up to a
/// gibibyte for the tables that are encoded at the same time.
///
/// # Errors
/// `InvalidInput` if no store can have some of the parameters; `Damaged`, `Io`.
pub fn what_if(segments: &[SegmentView], parameters: &[Parameters], sample: usize) -> Result<Vec<Alternative>> {
    let mut alternatives = parameters.iter().map(Alternative::empty).collect::<Result<Vec<_>>>()?;
    let tables = Tables::of(parameters, segments.first().map_or(WIDTH, |segment| bits_of(segment.parameters())))?;
    for segment in segments {
        let encoded = segment.executor.run(|| tables.encode(segment, &Keys::new(segment, sample)?))?;
        for (alternative, own) in alternatives.iter_mut().zip(encoded) {
            alternative.add(&own);
            alternative.resident_bytes += segment.segment.ids().resident_bytes();
        }
    }
    for alternative in &mut alternatives {
        for table in &mut alternative.tables {
            table.information_bound_bits = information_bound(bits_of(&alternative.parameters), table.fingerprints);
        }
    }
    Ok(alternatives)
}

impl Alternative {
    /// The predicted cost of a query within a distance, with the prefix filters that the store would make, or without
    /// any.
    ///
    /// # Errors
    /// None: [`what_if()`] has checked the parameters.
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

    fn add(&mut self, tables: &[Encoded]) {
        let fingerprints = tables.first().map_or(0, |table| table.keys);
        for (table, encoded) in self.tables.iter_mut().zip(tables) {
            table.fingerprints += encoded.keys;
            table.blocks += encoded.blocks;
            table.data_bytes += encoded.data_bytes;
            table.index_bytes += encoded.index_bytes;
            table.code_bytes += encoded.code_bytes;
            self.resident_bytes += encoded.resident_bytes;
            self.estimated |= encoded.estimated;
        }
        let filters = filters_of(self.parameters.design(), WIDTH, fingerprints, self.parameters.max_distance());
        self.filter_bytes += filters.into_iter().flatten().map(FilterShape::bytes).sum::<u64>();
        let blocks = tables.iter().map(|table| table.blocks).sum::<u64>() / (tables.len() as u64).max(1);
        self.shapes.push((fingerprints, blocks));
    }
}

/// The planner's prediction for tables of this many blocks. Its model derives the number of blocks from the block size,
/// for evenly spread keys; so this asks for the block size at which evenly spread keys fill as many blocks.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "predicted")]
fn predicted(parameters: &Parameters, workload: Workload, blocks: u64) -> Result<Cost> {
    let fingerprints = workload.fingerprints as f64;
    let evenly = predict(parameters.design(), &workload)?;
    let (assumed, found) = (evenly.candidates / evenly.blocks, fingerprints / blocks.max(1) as f64);
    let block_size = (f64::from(workload.block_size) * found / assumed).round() as u32;
    let mut cost = predict(parameters.design(), &Workload { block_size, ..workload })?;
    // The last block of the model is full.
    cost.candidates = cost.candidates.min(fingerprints);
    Ok(cost)
}
