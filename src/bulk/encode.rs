//! Sorted records to the sections of a segment.

use super::{SortedRecords, keys_of, sorted};
use crate::format::Parameters;
use crate::plan::TableLayout;
use crate::segment::{Part, Pieces, encode_ids, encode_table};

/// Encodes a table, or, without a layout, the ids.
///
/// # Errors
/// That of `send`.
pub(super) fn section<E>(
    parameters: &Parameters,
    number: usize,
    layout: Option<&TableLayout>,
    records: &SortedRecords,
    send: &mut impl FnMut(Part) -> Result<(), E>,
) -> Result<(), E> {
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
        encode_table(parameters, number, &keys_of(fingerprints, &layout.permutation), pages)?
    };
    send(Part::Table(table))
}
