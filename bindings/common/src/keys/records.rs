//! All records of a key index.

use std::ops::ControlFlow;

use fpstore::keys::KeySnapshot;
use fpstore::{Progress, Result};

use crate::output::{Answers, Kind, Layout};

/// All records, in the order in which they were loaded: `id`, `keys` with zeros beyond the stored bits, ascending, and
/// `sketch` if the index has sketches.
///
/// # Errors
/// Those of starting a thread; those of [`KeySnapshot::visit_records`] come as the last batch.
pub fn key_records(snapshot: &KeySnapshot) -> Result<Answers> {
    let bytes = snapshot.parameters().keys().unwrap_or_default().sketch_bits().div_ceil(8);
    let mut columns = vec![("id", Kind::Id(snapshot.parameters().ids())), ("keys", Kind::Keys)];
    if bytes > 0 {
        columns.push(("sketch", Kind::Sketch(i32::from(bytes))));
    }
    let (layout, snapshot) = (Layout::new(&columns), snapshot.clone());
    let shape = layout.clone();
    let progress = Progress::default();
    Answers::start(&layout, progress.clone(), move |sender| {
        let (mut rows, mut sent) = (shape.rows(), Ok(ControlFlow::Continue(())));
        snapshot.visit_records(&progress, |id, keys, sketch| {
            rows.id(id);
            rows.keys(keys);
            rows.sketch(sketch);
            rows.end_row();
            if rows.is_full() {
                sent = sender.send(std::mem::replace(&mut rows, shape.rows()));
            }
            matches!(sent, Ok(ControlFlow::Continue(())))
        })?;
        if sent?.is_continue() { sender.send(rows).map(drop) } else { Ok(()) }
    })
}
