//! All records of a store.

use std::ops::ControlFlow;

use fpstore::{Fingerprint, IdKind, Progress, Result, Snapshot};

use crate::open::{AnySnapshot, with_snapshot};
use crate::output::{Answers, Kind, Layout};

/// All records by fingerprint, then id: `fingerprint`, and `id`, or `count` where there are no ids.
///
/// # Errors
/// Those of starting a thread; those of reading come as the last batch.
pub fn records(snapshot: &AnySnapshot) -> Result<Answers> {
    with_snapshot!(snapshot, snapshot => start(snapshot.clone()))
}

fn start<F: Fingerprint>(snapshot: Snapshot<F>) -> Result<Answers> {
    let kind = snapshot.parameters().ids();
    let id = if kind == IdKind::None { "count" } else { "id" };
    let layout = Layout::new(&[("fingerprint", Kind::Fingerprint(F::WIDTH)), (id, Kind::Id(kind))]);
    let shape = layout.clone();
    Answers::start(&layout, Progress::default(), move |sender| {
        let mut rows = shape.rows();
        for record in snapshot.records() {
            let record = record?;
            rows.fingerprint(record.fingerprint);
            rows.id(&record.id);
            rows.end_row();
            if rows.is_full() && sender.send(std::mem::replace(&mut rows, shape.rows()))? == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        sender.send(rows).map(drop)
    })
}
