//! `fpdedup pairs` and `fpdedup join`: pairs of near records, within a store or between two.

use std::ops::ControlFlow;
use std::path::Path;

use fpstore::pairs::{Pairs, RecordPairs};
use fpstore::{Fingerprint, IdKind, Store};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Ids, InputOptions};
use fpstore_tools::output::{Column, Output, Rows};

use crate::args::{Options, Which};
use crate::job::{Job, Writing, open};
use crate::loaded::Other;

const FP_A: Column = Column::fingerprint("fp_a");
const FP_B: Column = Column::fingerprint("fp_b");
const DISTANCE: Column = Column::number("distance");
const DISTINCT: &[Column] = &[FP_A, FP_B, DISTANCE];

/// Returns the columns of pairs of records, whose ids may be counts.
fn columns(a: IdKind, b: IdKind) -> &'static [Column] {
    const ID_A: Column = Column::id("id_a");
    const ID_B: Column = Column::id("id_b");
    const COUNT_A: Column = Column::number("count_a");
    const COUNT_B: Column = Column::number("count_b");
    match (a, b) {
        (IdKind::None, IdKind::None) => &[FP_A, FP_B, DISTANCE, COUNT_A, COUNT_B],
        (IdKind::None, _) => &[FP_A, FP_B, DISTANCE, COUNT_A, ID_B],
        (_, IdKind::None) => &[FP_A, FP_B, DISTANCE, ID_A, COUNT_B],
        _ => &[FP_A, FP_B, DISTANCE, ID_A, ID_B],
    }
}

/// Finds the pairs within one store.
pub(crate) fn pairs<F: Fingerprint>(
    common: Common,
    which: Which,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let store = open::<F>(store)?;
    let pairs = store.pairs(job.distance(&store)?)?.with_memory(job.memory(&[&store]));
    write(&job, which, pairs, [&store, &store])
}

/// Finds the pairs between two stores.
pub(crate) fn join<F: Fingerprint>(
    common: Common,
    which: Which,
    options: &Options,
    input: &InputOptions,
    store: &Path,
    other: &Path,
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let store = open::<F>(store)?;
    let other = Other::open(&job, &store, other, input, Ids::Auto)?;
    let pairs = store.pairs_with(&other.store, job.distance(&store)?)?;
    let pairs = pairs.with_memory(job.memory(&[&store, &other.store]));
    write(&job, which, pairs, [&store, &other.store])
}

fn write<F: Fingerprint>(
    job: &Job<'_>,
    which: Which,
    mut pairs: Pairs<F>,
    stores: [&Store<F>; 2],
) -> anyhow::Result<Outcome> {
    pairs = pairs.with_temp_dir(&job.temp_dir());
    if which.sort {
        pairs = pairs.sorted();
    }
    let kinds = stores.map(|store| store.parameters().ids());
    let columns = if which.distinct { DISTINCT } else { columns(kinds[0], kinds[1]) };
    let texts = kinds.map(|kind| kind == IdKind::Text);
    let path = job.options.output.as_deref();
    let output = Output::open(("--output", path), job.json(), columns, F::WIDTH, &texts)?;
    let mut writing = Writing::new(output);
    let empty = writing.empty();
    let shown = job.watch("pairs", pairs.progress())?;
    if which.distinct {
        let map = |pairs: &[fpstore::pairs::Pair<F>]| {
            let mut rows = empty.take();
            for pair in pairs {
                rows.fingerprint(pair.a);
                rows.fingerprint(pair.b);
                rows.number(pair.distance().into());
                rows.end_row();
            }
            Some(rows)
        };
        pairs.visit_distinct(map, |rows| writing.write_found(rows))?;
    } else {
        let add = |rows: &mut Option<Rows>, found: RecordPairs<'_, F>| {
            let rows = rows.get_or_insert_with(|| empty.take());
            push(rows, found);
            if rows.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        pairs.visit_records(add, |rows| writing.write_found(rows))?;
    }
    shown.finish();
    let count = writing.finish()?;
    job.done(count, "pair");
    Ok(if count > 0 { Outcome::Done } else { Outcome::NothingFound })
}

fn push<F: Fingerprint>(rows: &mut Rows, found: RecordPairs<'_, F>) {
    rows.fingerprint(found.pair.a);
    rows.fingerprint(found.pair.b);
    rows.number(found.pair.distance().into());
    rows.product(found.a, found.b);
}
