//! `fpdump block N`: one block, with every key beside its predecessor.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use fpstore::inspect::{BlockView, SegmentView};
use fpstore::plan::TableForm;
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{hex, wide_hex};
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::blocks::BlockRow;
use crate::opened::{Versioned, file_name, segments};

#[derive(Serialize)]
struct Decoded {
    #[serde(flatten)]
    row: BlockRow,
    /// The key before the first one: the last key of the previous block.
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
    let width = segment.parameters().width();
    let fingerprints: Vec<String> =
        segment.fingerprints(table, number)?.into_iter().map(|fingerprint| wide_hex(fingerprint, width)).collect();
    let row = BlockRow::new(&segment, table, &block)?;
    if json {
        let decoded =
            Decoded { row, base: base.map(hex), keys: block.keys.iter().map(|key| hex(*key)).collect(), fingerprints };
        report::json(out, &Versioned::new(decoded))?;
        return Ok(Outcome::Done);
    }
    let mut facts = vec![
        ("file", row.file.clone()),
        ("block", format!("{} of table {table}, page {}", row.block, row.page)),
        ("bytes", format!("{} at offset {}", row.bytes, row.offset)),
        ("kind", row.kind_for_people()),
        ("fingerprints", format!("{} from rank {}", row.count, row.rank)),
    ];
    match segment.forms().get(table) {
        Some(TableForm::Rows) => {}
        form => {
            facts.push(("base", base.map_or("none: this is the first block".to_owned(), hex)));
            if let Some(TableForm::Narrow { lead, row }) = form {
                facts.push(("keys", format!("{lead} leading bits and {row} bits of a row's number")));
            }
        }
    }
    report::facts(out, &facts)?;
    writeln!(out)?;
    keys(&block, base, fingerprints).write(out)?;
    Ok(Outcome::Done)
}

/// Returns the one segment at the path; keys are numbered within a segment.
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

fn keys(block: &BlockView, base: Option<u64>, fingerprints: Vec<String>) -> Columns {
    let ranks = block.rank..;
    if block.keys.is_empty() {
        let mut columns = Columns::new(&[">rank", "fingerprint"]);
        ranks.zip(fingerprints).for_each(|(rank, fingerprint)| columns.row([rank.to_string(), fingerprint]));
        return columns;
    }
    let mut columns = Columns::new(&[">rank", "key", "fingerprint", ">bits flipped", ">gap"]);
    let mut previous = base;
    for ((key, fingerprint), rank) in block.keys.iter().zip(fingerprints).zip(ranks) {
        let difference = |of: &dyn Fn(u64) -> String| previous.map_or("-".to_owned(), of);
        columns.row([
            rank.to_string(),
            hex(*key),
            fingerprint,
            difference(&|previous| (previous ^ key).count_ones().to_string()),
            difference(&|previous| key.wrapping_sub(previous).to_string()),
        ]);
        previous = Some(*key);
    }
    columns
}
