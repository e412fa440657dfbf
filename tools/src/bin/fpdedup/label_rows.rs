//! Labels as rows of the output.

use fpstore::clusters::{Clustered, Label};
use fpstore::{Fingerprint, Id};
use fpstore_tools::output::Rows;

/// Appends a record and its label as a row.
pub(crate) fn push<F: Fingerprint>(rows: &mut Rows, one: &Clustered<F>) {
    match &one.record.id {
        Id::Count(_) => rows.fingerprint(one.record.fingerprint),
        id => rows.id(id),
    }
    push_label(rows, &one.label);
    rows.end_row();
}

/// Appends a label as a cell.
pub(crate) fn push_label<F: Fingerprint>(rows: &mut Rows, label: &Label<F>) {
    match label {
        Label::Id(id) => rows.id(id),
        Label::Fingerprint(fingerprint) => rows.fingerprint(*fingerprint),
    }
}
