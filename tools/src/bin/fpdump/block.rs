//! `fpdump block N`: one block, and every key in it beside the one before.

use std::io::Write;
use std::path::Path;

use anyhow::{anyhow, bail};
use fpstore::inspect::{BlockView, SegmentView};
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::hex;
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::blocks::BlockRow;
use crate::opened::{Versioned, file_name, segments};

#[derive(Serialize)]
struct Decoded {
    #[serde(flatten)]
    row: BlockRow,
    /// The key before the first one: the previous block's last.
    base: Option<String>,
    keys: Vec<String>,
    /// The fingerprints of the keys.
    fingerprints: Vec<String>,
}

pub(crate) fn run(
    path: &Path,
    table: usize,
    number: usize,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let segment = only_segment(path)?;
    let block = segment.block(table, number)?;
    let base = match number.checked_sub(1) {
        Some(previous) => segment.block(table, previous)?.keys.last().copied(),
        None => None,
    };
    let tables = segment.tables();
    let (layout, _) = tables.get(table).ok_or_else(|| anyhow!("there is no table {table}"))?;
    let fingerprints = block.keys.iter().map(|key| layout.permutation.invert(*key));
    let row = BlockRow::new(segment.path(), table, &block);
    if json {
        let decoded = Decoded {
            row,
            base: base.map(hex),
            keys: block.keys.iter().map(|key| hex(*key)).collect(),
            fingerprints: fingerprints.map(hex).collect(),
        };
        report::json(out, &Versioned::new(decoded))?;
        return Ok(Outcome::Done);
    }
    report::facts(
        out,
        &[
            ("file", row.file.clone()),
            ("block", format!("{} of table {table}, page {}", row.block, row.page)),
            ("bytes", format!("{} at offset {}", row.bytes, row.offset)),
            ("kind", row.kind_for_people()),
            ("fingerprints", format!("{} from rank {}", row.count, row.rank)),
            ("base", base.map_or("none: this is the first block".to_owned(), hex)),
        ],
    )?;
    writeln!(out)?;
    keys(&block, base, fingerprints).write(out)?;
    Ok(Outcome::Done)
}

/// Keys are numbered within a segment, so there has to be one.
fn only_segment(path: &Path) -> anyhow::Result<SegmentView> {
    let mut segments = segments(path)?;
    match (segments.pop(), segments.as_slice()) {
        (Some(segment), []) => Ok(segment),
        (None, _) => bail!("{}: the store is empty", path.display()),
        (Some(last), others) => {
            let names: Vec<String> = others.iter().chain([&last]).map(|segment| file_name(segment.path())).collect();
            bail!("{}: which segment? name one of its files: {}", path.display(), names.join(", "))
        }
    }
}

fn keys(block: &BlockView, base: Option<u64>, fingerprints: impl Iterator<Item = u64>) -> Columns {
    let mut columns = Columns::new(&[">rank", "key", "fingerprint", ">bits flipped", ">gap"]);
    let mut previous = base;
    for ((key, fingerprint), rank) in block.keys.iter().zip(fingerprints).zip(block.rank..) {
        let difference = |of: &dyn Fn(u64) -> String| previous.map_or("-".to_owned(), of);
        columns.row([
            rank.to_string(),
            hex(*key),
            hex(fingerprint),
            difference(&|previous| (previous ^ key).count_ones().to_string()),
            difference(&|previous| key.wrapping_sub(previous).to_string()),
        ]);
        previous = Some(*key);
    }
    columns
}
