//! Sorted records to the sections of a segment.

use super::{SortedRecords, sort, sorted};
use crate::format::Parameters;
use crate::plan::TableLayout;
use crate::segment::{Part, Pieces, Stopped, encode_ids, encode_table};

/// Encodes a table, or, without a layout, the ids.
pub(super) fn section(
    parameters: &Parameters,
    number: usize,
    layout: Option<&TableLayout>,
    records: &SortedRecords,
    send: &mut impl FnMut(Part) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    let mut pages = |pages| send(Part::Pages(pages));
    let pages = Pieces::new(&mut pages);
    let Some(layout) = layout else {
        let index = encode_ids(records.records.iter().map(|&packed| sorted::unpack(packed)), pages)?;
        return send(Part::Ids(index));
    };
    let fingerprints = &records.fingerprints[..];
    // A design has at most 256 tables.
    let number = u8::try_from(number).unwrap_or(u8::MAX);
    let table = if number == 0 {
        // Its keys are the fingerprints.
        encode_table(parameters, number, fingerprints, pages)?
    } else {
        let keys = sort::sorted(fingerprints, |_, &fingerprint| layout.permutation.apply(fingerprint), |&key| key);
        encode_table(parameters, number, &keys, pages)?
    };
    send(Part::Table(table))
}
