//! What is generic, compiled once for every width.
//!
//! Where generic code is shared between crates (`opt-level` 1 and less, as for tests), what is compiled here is not compiled again in
//! every test, benchmark and program: all of them together took four times as long. Nothing here is ever called.

use crate::{
    BatchStrategy, ClusterUpdate, Fingerprint, Keeper, Label, Options, Parameters, RecordSorter, Records, Result,
    Store, U256, Visit, inspect,
};
use std::ops::ControlFlow;
use std::path::Path;

/// Mentions everything, for each width.
///
/// # Errors
/// Those of everything.
pub fn all(path: &Path, options: &Options) -> Result<()> {
    one::<u64>(path, options)?;
    one::<u128>(path, options)?;
    one::<U256>(path, options)
}

fn one<F: Fingerprint>(path: &Path, options: &Options) -> Result<()> {
    let parameters = Parameters::new(3).with_width(F::WIDTH);
    let store = Store::<F>::create(path, &parameters, options)?;
    store.bulk_load(Records::WithIds(Vec::new()))?;
    let mut sorter = RecordSorter::<F>::new(path, options);
    sorter.push(F::default(), crate::IdRef::None)?;
    let sorted = sorter.finish()?;
    let _ = sorted.skew();
    store.bulk_load(sorted)?;
    store.bulk_load_compact(RecordSorter::<F>::new(path, options).finish()?)?;
    store.bulk_remove(RecordSorter::<F>::new(path, options).finish()?)?;
    store.compact()?;
    let (store, _) = Store::create_loaded(path, &parameters, options, RecordSorter::<F>::new(path, options).finish()?)?;
    let store = if store.records().next().is_some() { store } else { Store::<F>::open(path, options)? };
    store.verify()?;
    store.make_filters(crate::Filters::Off);
    store.contains_near(F::default(), 3)?;
    store.nearest(F::default(), 3)?;
    store.query(F::default(), 3)?;
    let mut searcher = store.searcher();
    searcher.nearest_within(F::default(), 3, 3)?;
    searcher.scan_nearest(F::default(), 3, 3)?;
    searcher.count(F::default(), &Visit::within(3))?;
    let _ = searcher.visit(F::default(), &Visit::within(3), |_| ControlFlow::Continue(()))?;
    searcher.query_batch(&[], 3, BatchStrategy::Auto)?;
    searcher.visit_batch(&[], 3, 0, |_, _| (), |()| Ok::<_, crate::Error>(()))?;
    let pairs = store.pairs_with(&store, 3)?.sorted();
    pairs.visit_distinct(|_| (), |()| Ok(ControlFlow::Continue(())))?;
    pairs.visit_records(|(): &mut (), _| ControlFlow::Continue(()), |()| Ok(ControlFlow::Continue(())))?;
    pairs.clone().distinct()?.next();
    pairs.records()?.next();
    let clusters = store.clusters(3)?.with_new(&store.snapshot())?;
    let mut previous = clusters.previous()?;
    previous.push(&Label::Fingerprint(F::default()), &Label::Fingerprint(F::default()))?;
    clusters.find_from(previous, &Keeper::Smallest)?;
    if let ClusterUpdate::Changes(changes) = clusters.find_changes(clusters.previous()?)? {
        changes.visit(|(): &mut (), _| ControlFlow::Continue(()), |()| Ok(ControlFlow::Continue(())))?;
    }
    let clustering = clusters.find(&Keeper::Smallest)?;
    clustering.records()?.next();
    clustering.report(10)?;
    clustering.visit(|(): &mut (), _| ControlFlow::Continue(()), |()| Ok(ControlFlow::Continue(())))?;
    clustering.visit_labels(|_| Ok(ControlFlow::Continue(())))?;
    for view in inspect::open(path, options)? {
        view.records::<F>()?.next();
        view.get(F::default())?;
    }
    Ok(())
}
