//! Fields that parsers tell of.

use crate::error::Result;
use crate::format::fields::{Field, Fields};

pub(super) type Visit<'a> = dyn FnMut(Field) -> Result<()> + 'a;

/// Runs a parser with a trace and visits what it read, also when it fails.
pub(super) fn traced(
    bytes: &[u8],
    offset: u64,
    parse: impl FnOnce(&mut Fields<'_>) -> Result<()>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut fields = Fields::new(bytes, offset).traced();
    let result = parse(&mut fields);
    fields.into_trace().into_iter().try_for_each(visit)?;
    result
}
