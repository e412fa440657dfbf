//! Labels as rows of the output.

use fpstore::clusters::{Clustered, Label};
use fpstore::{Fingerprint, Id, Record};
use fpstore_tools::output::Rows;

/// Appends a record and its label as a row.
pub(crate) fn push<F: Fingerprint>(rows: &mut Rows, one: &Clustered<F>) {
    push_record(rows, &one.record);
    push_label(rows, &one.label);
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
