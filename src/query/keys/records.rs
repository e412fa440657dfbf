//! All records of a key index with their keys.

use crate::error::Result;
use crate::extsort::{Sorter, Workspace};
use crate::fingerprint::Id;
use crate::segment::PageBuffer;
use crate::version::{ReadView, SketchCursor, StoreContext, keys_of};

/// Calls `visit` with each record that is there, in the order of their numbers: its id, its stored keys as the leading
/// bits of 64, ascending, and its sketch, which is empty if there is none. Calls `check` for each key, too,
/// and ends with its error.
pub(crate) fn visit_records(
    context: &StoreContext,
    view: &ReadView,
    check: impl Fn() -> Result<()>,
    mut visit: impl FnMut(&Id, &[u64], &[u8]) -> Result<()>,
) -> Result<()> {
    let workspace = Workspace::new(&context.path, &context.options);
    let unused = 64 - u32::from(context.parameters.keys().unwrap_or_default().key_bits());
    let mut sorter = Sorter::<(u64, u64)>::new(&workspace, workspace.memory_of_records());
    for entry in keys_of(view.version.runs.iter()) {
        check()?;
        let record = entry?.entry.record;
        if let Some(number) = record.id.number() {
            sorter.push((number, record.fingerprint))?;
        }
    }
    let mut sketches = SketchCursor::new(view.version.runs.iter())?;
    let sorted = sorter.finish()?;
    let mut pairs = sorted.items(workspace.memory_of_chunks()).peekable();
    let (mut own, mut buffer) = (Vec::new(), PageBuffer::default());
    for record in view.newest_entries::<u64>().live() {
        check()?;
        let record = record?;
        own.clear();
        while let Some(pair) =
            pairs.next_if(|pair| pair.as_ref().map_or(true, |&(number, _)| number <= record.fingerprint))
        {
            let (number, key) = pair?;
            if number == record.fingerprint {
                own.push(key << unused);
            }
        }
        visit(&record.id, &own, sketches.of(record.fingerprint, &mut buffer)?)?;
    }
    Ok(())
}
