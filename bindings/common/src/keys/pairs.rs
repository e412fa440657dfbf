//! Pairs of records that share keys.

use std::ops::ControlFlow;
use std::sync::Arc;

use fpstore::Result;
use fpstore::keys::KeyRule;

use crate::open::Handle;
use crate::output::{Answers, Kind, Layout};
use crate::pairs::PairOptions;

/// All pairs of records that share keys, each once, or those between two indexes: `id_a`, `id_b`, `shared`, `jaccard`.
///
/// # Errors
/// Those of [`fpstore::KeyIndex::pairs`] and [`fpstore::KeyIndex::pairs_with`].
pub fn key_pairs(
    handle: &Arc<Handle>,
    other: Option<&Handle>,
    rule: KeyRule,
    options: &PairOptions,
) -> Result<Answers> {
    let index = handle.keys()?;
    let mut kinds = [index.parameters().ids(); 2];
    let mut pairs = match other {
        Some(other) => {
            kinds[1] = other.keys()?.parameters().ids();
            index.pairs_with(other.keys()?, rule)?
        }
        None => index.pairs(rule)?,
    };
    if let Some(memory) = options.memory {
        pairs = pairs.with_memory(memory);
    }
    if let Some(directory) = &options.temp_dir {
        pairs = pairs.with_temp_dir(directory);
    }
    let layout = Layout::new(&[
        ("id_a", Kind::Id(kinds[0])),
        ("id_b", Kind::Id(kinds[1])),
        ("shared", Kind::Number),
        ("jaccard", Kind::Estimate),
    ]);
    let (shape, held) = (layout.clone(), Arc::clone(handle));
    Answers::start(&layout, pairs.progress(), move |sender| {
        let mut rows = shape.rows();
        let skipped = pairs.visit(|pair| {
            rows.id(&pair.a);
            rows.id(&pair.b);
            rows.number(pair.shared);
            rows.estimate(pair.jaccard);
            rows.end_row();
            if rows.is_full() {
                sender.send(std::mem::replace(&mut rows, shape.rows()))
            } else {
                Ok(ControlFlow::Continue(()))
            }
        })?;
        drop(held);
        sender.note_skipped(skipped);
        sender.send(rows).map(drop)
    })
}
