//! Clusters of near records, and which record of each is kept.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use fpstore::clusters::{Clustered, Clustering, Clusters, Decision, Keeper, Label, Linkage, Nearness, Removed};
use fpstore::{Fingerprint, Id, IdKind, IdRef, Result};

use crate::among::Among;
use crate::input::{IdColumn, invalid};
use crate::open::{AnySnapshot, with_snapshot};
use crate::output::{Answers, Kind, Layout, Rows, Sender};

/// How clusters are made.
#[derive(Clone, Debug, Default)]
pub struct ClusterOptions {
    /// The rule.
    pub linkage: Linkage,
    /// Which record of a cluster is kept.
    pub keeper: Keeper,
    /// Bytes of memory; 1 GiB by default.
    pub memory: Option<u64>,
    /// Directory of temporary files.
    pub temp_dir: Option<PathBuf>,
    /// Records of smaller clusters are left out of [`clusters`].
    pub min_size: u64,
    /// More records, and the part of the pairs that make clusters; not of a key index.
    pub among: Among,
}

/// What is told of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The ids of those that are kept.
    Kept,
    /// A row for each of the others: its id, that of its keeper and of its cluster, and how near it is.
    Evidence,
}

/// A keeper that ranks records by their place in a column of ids, for a store with ids of this kind; ids that are not
/// there follow, the smallest first.
///
/// # Errors
/// `InvalidInput` if the column is not one of such ids, or has a null; if the store has no ids.
pub fn ranked(column: &ArrayRef, kind: IdKind) -> Result<Keeper> {
    let ids = IdColumn::new(Some(column))?;
    if kind == IdKind::None {
        return Err(invalid("records without ids cannot be ranked by ids"));
    }
    if let Some(given) = ids.kind().filter(|given| *given != kind && !column.is_empty()) {
        return Err(invalid(format!("the ids that rank records are of kind {given}; those of the store are {kind}")));
    }
    let mut ranks = HashMap::with_capacity(column.len());
    for row in 0..column.len() {
        let id = match ids.get(row)? {
            IdRef::Text(text) => Id::from(text),
            IdRef::Number(number) => Id::Number(number),
            IdRef::None => continue,
        };
        ranks.entry(id).or_insert(row as u64);
    }
    Ok(Keeper::Ranked(Arc::new(move |id| ranks.get(id).copied())))
}

/// What is known of how near a removed record is to its keeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Distance,
    Keys,
}

impl ClusterOptions {
    pub(crate) fn apply<F: Fingerprint>(&self, clusters: Clusters<F>) -> Clusters<F> {
        let mut clusters = clusters.with_linkage(self.linkage);
        if let Some(memory) = self.memory {
            clusters = clusters.with_memory(memory);
        }
        match &self.temp_dir {
            Some(directory) => clusters.with_temp_dir(directory),
            None => clusters,
        }
    }
}

/// The cluster of every record within distance `k`: `id` and `cluster`, the smallest id of the cluster; without ids,
/// `fingerprint` and `cluster`.
///
/// # Errors
/// Those of [`fpstore::Store::clusters`]; those of the search come as the last batch.
pub fn clusters(snapshot: &AnySnapshot, k: u32, options: &ClusterOptions) -> Result<Answers> {
    let kind = snapshot.parameters().ids();
    with_snapshot!(snapshot, snapshot => {
        let clusters = options.among.clusters(options.apply(snapshot.clusters(k)?), k)?;
        start_clusters(clusters, kind, options)
    })
}

/// Which records are kept at distance `k`, or the evidence on the others: `id`, `keeper`, `cluster` and `distance`;
/// without ids, `fingerprint`, `keeper`, `cluster`, `distance` and `count`.
///
/// # Errors
/// As [`clusters`].
pub fn keep(snapshot: &AnySnapshot, k: u32, what: Kept, options: &ClusterOptions) -> Result<Answers> {
    let kind = snapshot.parameters().ids();
    with_snapshot!(snapshot, snapshot => {
        start_keep(options.apply(snapshot.clusters(k)?), kind, (what, Known::Distance), options.keeper.clone())
    })
}

/// The column that names a record.
fn name<F: Fingerprint>(kind: IdKind) -> (&'static str, Kind) {
    if kind == IdKind::None { ("fingerprint", Kind::Fingerprint(F::WIDTH)) } else { ("id", Kind::Id(kind)) }
}

pub(crate) fn start_clusters<F: Fingerprint>(
    clusters: Clusters<F>,
    kind: IdKind,
    options: &ClusterOptions,
) -> Result<Answers> {
    let named = name::<F>(kind);
    let layout = Layout::new(&[named, ("cluster", named.1)]);
    let shape = layout.clone();
    // Of single linkage the smallest ids are the labels anyway; of the others they are known with the keepers.
    let is_single = options.linkage == Linkage::Single;
    let keeper = if is_single { Keeper::Smallest } else { options.keeper.clone() };
    let clusters = if is_single { clusters } else { clusters.with_keepers() };
    let min_size = options.min_size;
    let clusters = if min_size > 1 { clusters.with_sizes() } else { clusters };
    Answers::start(&layout, clusters.progress(), move |sender| {
        let clustering = clusters.find(&keeper)?.labelled_by_smallest();
        sender.note_skipped(clusters.skipped_keys());
        let add = |rows: &mut Option<Rows>, one: Clustered<F>| {
            if one.size.is_some_and(|size| size < min_size) {
                return ControlFlow::Continue(());
            }
            let rows = rows.get_or_insert_with(|| shape.rows());
            push_record(rows, one.record.fingerprint, &one.record.id);
            rows.label(&one.label);
            full(rows)
        };
        clustering.visit(add, |rows| send(sender, rows))
    })
}

pub(crate) fn start_keep<F: Fingerprint>(
    clusters: Clusters<F>,
    kind: IdKind,
    (what, known): (Kept, Known),
    keeper: Keeper,
) -> Result<Answers> {
    let named = name::<F>(kind);
    let mut columns = vec![named];
    if what == Kept::Evidence {
        columns.extend([("keeper", named.1), ("cluster", named.1)]);
        match known {
            Known::Distance => columns.push(("distance", Kind::Distance)),
            Known::Keys => columns.extend([("shared_keys", Kind::Number), ("jaccard", Kind::Estimate)]),
        }
        if kind == IdKind::None {
            columns.push(("count", Kind::Number));
        }
    }
    let layout = Layout::new(&columns);
    let shape = layout.clone();
    let clusters = clusters.with_keepers();
    Answers::start(&layout, clusters.progress(), move |sender| {
        let clustering = clusters.find(&keeper)?;
        sender.note_skipped(clusters.skipped_keys());
        decide(&clustering, what, &shape, sender)
    })
}

fn decide<F: Fingerprint>(clustering: &Clustering<F>, what: Kept, shape: &Layout, sender: &Sender) -> Result<()> {
    let sink = |rows| send(sender, rows);
    let keep = |rows: &mut Option<Rows>, label: Label<F>| {
        let rows = rows.get_or_insert_with(|| shape.rows());
        rows.label(&label);
        full(rows)
    };
    let decided = match what {
        Kept::Kept => clustering.visit_kept(keep, sink),
        Kept::Evidence => {
            let add = |rows: &mut Option<Rows>, decision| match decision {
                Decision::Kept(_) => ControlFlow::Continue(()),
                Decision::Removed(one) => {
                    let rows = rows.get_or_insert_with(|| shape.rows());
                    push_removed(rows, &one);
                    full(rows)
                }
            };
            clustering.visit_decisions(add, sink)
        }
    };
    decided.map(drop)
}

fn push_removed<F: Fingerprint>(rows: &mut Rows, one: &Removed<F>) {
    push_record(rows, one.record.fingerprint, &one.record.id);
    rows.label(&one.keeper);
    rows.label(&one.cluster);
    match one.nearness {
        Nearness::Distance(distance) => rows.distance(distance),
        Nearness::Keys { shared, jaccard } => {
            rows.number(shared);
            rows.estimate(jaccard);
        }
    }
    if let Id::Count(count) = one.record.id {
        rows.number(count);
    }
}

/// Pushes the name of a record.
fn push_record<F: Fingerprint>(rows: &mut Rows, fingerprint: F, id: &Id) {
    match id {
        Id::Count(_) => rows.fingerprint(fingerprint),
        id => rows.id(id),
    }
}

/// Ends the row; breaks if they are enough for a batch.
fn full(rows: &mut Rows) -> ControlFlow<()> {
    rows.end_row();
    if rows.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn send(sender: &Sender, rows: Option<Rows>) -> Result<ControlFlow<()>> {
    rows.map_or(Ok(ControlFlow::Continue(())), |rows| sender.send(rows))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use arrow_array::{StringArray, UInt64Array};

    #[test]
    fn ids_of_another_kind_do_not_rank() {
        let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![7]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let none: ArrayRef = Arc::new(StringArray::new_null(0));
        assert!(ranked(&numbers, IdKind::Number).is_ok() && ranked(&texts, IdKind::Text).is_ok());
        assert!(ranked(&none, IdKind::Number).is_ok());
        let refused = [ranked(&texts, IdKind::Number), ranked(&numbers, IdKind::Text), ranked(&none, IdKind::None)];
        for refused in refused {
            assert_eq!(refused.unwrap_err().kind(), fpstore::ErrorKind::InvalidInput);
        }
    }
}
