//! Labels as rows of the output.

use std::ops::ControlFlow;

use fpstore::clusters::{Clustered, Clustering, Label};
use fpstore::{Fingerprint, Id, Record};
use fpstore_tools::output::Rows;

use crate::job::Writing;

/// Writes the label of each record whose cluster has `min_size` records, if sizes were counted.
pub(crate) fn write_labels<F: Fingerprint>(
    clustering: &Clustering<F>,
    min_size: u64,
    writing: &mut Writing,
) -> fpstore::Result<()> {
    let empty = writing.empty();
    let add = |rows: &mut Option<Rows>, one: Clustered<F>| {
        let rows = rows.get_or_insert_with(|| empty.take());
        if one.size.is_none_or(|size| size >= min_size) {
            push(rows, &one);
        }
        if rows.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    clustering.visit(add, |rows| writing.write_found(rows))
}

/// Appends a record and its label as a row.
pub(crate) fn push<F: Fingerprint>(rows: &mut Rows, one: &Clustered<F>) {
    push_record(rows, &one.record);
    match (&one.label, &one.record.id) {
        // Most records are alone in their clusters.
        (Label::Id(label), id) if label == id => rows.same(),
        (label, _) => push_label(rows, label),
    }
    rows.end_row();
}

/// Appends the id of a record as a cell or, without ids, its fingerprint.
pub(crate) fn push_record<F: Fingerprint>(rows: &mut Rows, record: &Record<F>) {
    match &record.id {
        Id::Count(_) => rows.fingerprint(record.fingerprint),
        id => rows.id(id),
    }
}

/// Appends a label as a cell.
pub(crate) fn push_label<F: Fingerprint>(rows: &mut Rows, label: &Label<F>) {
    match label {
        Label::Id(id) => rows.id(id),
        Label::Fingerprint(fingerprint) => rows.fingerprint(*fingerprint),
    }
}
