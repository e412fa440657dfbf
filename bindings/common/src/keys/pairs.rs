//! Pairs of records that share keys.

use std::ops::ControlFlow;

use fpstore::Result;
use fpstore::keys::{KeyRule, KeySnapshot};

use crate::output::{Answers, Kind, Layout};
use crate::pairs::PairOptions;

/// All pairs of records that share keys, each once, or those between two indexes: `id_a`, `id_b`, `shared`, `jaccard`.
///
/// # Errors
/// Those of [`fpstore::KeyIndex::pairs`] and [`fpstore::KeyIndex::pairs_with`].
pub fn key_pairs(
    snapshot: &KeySnapshot,
    other: Option<&KeySnapshot>,
    rule: KeyRule,
    options: &PairOptions,
) -> Result<Answers> {
    let mut kinds = [snapshot.parameters().ids(); 2];
    let mut pairs = match other {
        Some(other) => {
            kinds[1] = other.parameters().ids();
            snapshot.pairs_with(other, rule)?
        }
        None => snapshot.pairs(rule)?,
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
    let shape = layout.clone();
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
        sender.note_skipped(skipped);
        sender.send(rows).map(drop)
    })
}
