//! All pairs of near records, of a store or between two.

use std::ops::ControlFlow;
use std::path::PathBuf;

use fpstore::pairs::{Pairs, RecordPairs};
use fpstore::{Fingerprint, IdKind, Result};

use crate::among::Among;
use crate::input::invalid;
use crate::open::{AnySnapshot, with_snapshot};
use crate::output::{Answers, Kind, Layout, Rows};

/// What work over all records may take.
#[derive(Clone, Debug, Default)]
pub struct PairOptions {
    /// Bytes of memory; 1 GiB by default.
    pub memory: Option<u64>,
    /// Directory of temporary files.
    pub temp_dir: Option<PathBuf>,
    /// More records, and the part of the pairs that is wanted; not for pairs between two stores.
    pub among: Among,
    /// A row for each pair of distinct fingerprints, with their smallest ids, instead of one for each pair of records.
    pub is_distinct: bool,
}

impl PairOptions {
    fn apply<F: Fingerprint>(&self, mut pairs: Pairs<F>) -> Pairs<F> {
        if let Some(memory) = self.memory {
            pairs = pairs.with_memory(memory);
        }
        if self.is_distinct {
            pairs = pairs.first_ids();
        }
        match &self.temp_dir {
            Some(directory) => pairs.with_temp_dir(directory),
            None => pairs,
        }
    }
}

/// All pairs of records within distance `k`, each once: `id_a`, `id_b`, `distance`, `fp_a`, `fp_b`; without ids,
/// `count_a` and `count_b` in their place.
///
/// # Errors
/// Those of [`fpstore::Store::pairs`].
pub fn pairs(snapshot: &AnySnapshot, k: u32, options: &PairOptions) -> Result<Answers> {
    let kind = snapshot.parameters().ids();
    with_snapshot!(snapshot, snapshot => {
        start(options.among.pairs(options.apply(snapshot.pairs(k)?), k)?, [kind, kind])
    })
}

/// All pairs of a record of one store and one of another within distance `k`; columns as of [`pairs`].
///
/// # Errors
/// `InvalidInput` if their widths differ; those of [`fpstore::Store::pairs_with`].
pub fn join(one: &AnySnapshot, two: &AnySnapshot, k: u32, options: &PairOptions) -> Result<Answers> {
    let kinds = [one, two].map(|snapshot| snapshot.parameters().ids());
    /// The pairs of two snapshots of the same width.
    macro_rules! of_width {
        ($($width:ident),*) => {
            match (one, two) {
                $((AnySnapshot::$width(one), AnySnapshot::$width(two)) => {
                    start(options.apply(one.pairs_with(two, k)?), kinds)
                })*
                _ => Err(different(one.parameters().width(), two.parameters().width())),
            }
        };
    }
    of_width!(Bits64, Bits128, Bits256)
}

fn different(one: u32, two: u32) -> fpstore::Error {
    invalid(format!("the fingerprints of one store have {one} bits, those of the other {two}"))
}

fn start<F: Fingerprint>(pairs: Pairs<F>, kinds: [IdKind; 2]) -> Result<Answers> {
    let name = |kind, id, count| if kind == IdKind::None { count } else { id };
    let layout = Layout::new(&[
        (name(kinds[0], "id_a", "count_a"), Kind::Id(kinds[0])),
        (name(kinds[1], "id_b", "count_b"), Kind::Id(kinds[1])),
        ("distance", Kind::Distance),
        ("fp_a", Kind::Fingerprint(F::WIDTH)),
        ("fp_b", Kind::Fingerprint(F::WIDTH)),
    ]);
    let shape = layout.clone();
    Answers::start(&layout, pairs.progress(), move |sender| {
        let add = |rows: &mut Option<Rows>, found: RecordPairs<'_, F>| {
            let rows = rows.get_or_insert_with(|| shape.rows());
            for (a, b) in found.a.iter().flat_map(|a| found.b.iter().map(move |b| (a, b))) {
                rows.id(a);
                rows.id(b);
                rows.distance(found.pair.distance());
                rows.fingerprint(found.pair.a);
                rows.fingerprint(found.pair.b);
                rows.end_row();
            }
            if rows.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        pairs.visit_records(add, |rows| rows.map_or(Ok(ControlFlow::Continue(())), |rows| sender.send(rows)))
    })
}
