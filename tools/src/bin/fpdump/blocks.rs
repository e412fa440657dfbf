//! `fpdump blocks`: the blocks of a table, a line each, as they are decoded.

use std::io::Write;
use std::path::Path;

use fpstore::inspect::{BlockKind, BlockView, SegmentView};
use fpstore::{Result, U256};
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{hex, wide_hex};
use fpstore_tools::report;
use serde::Serialize;

use crate::opened::{Versioned, file_name, segments};

/// What is shown of a block without its keys.
#[derive(Serialize)]
pub(crate) struct BlockRow {
    pub(crate) file: String,
    pub(crate) table: usize,
    pub(crate) block: usize,
    pub(crate) page: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) kind: String,
    /// Packed bits of a gap; only where the kind has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) low_width: Option<u32>,
    pub(crate) count: usize,
    /// Fingerprints before it in the table.
    pub(crate) rank: u64,
    pub(crate) first_key: Option<String>,
    pub(crate) last_key: Option<String>,
}

impl BlockRow {
    pub(crate) fn new(segment: &SegmentView, table: usize, block: &BlockView) -> Result<Self> {
        let low_width = match block.kind {
            BlockKind::Gap { low_width } => Some(low_width),
            _ => None,
        };
        let (first_key, last_key) = match block.kind {
            BlockKind::Rows => {
                let rows = segment.fingerprints(table, block.number)?;
                let text = |row: &U256| wide_hex(*row, segment.parameters().width());
                (rows.first().map(text), rows.last().map(text))
            }
            _ => (block.keys.first().map(|key| hex(*key)), block.keys.last().map(|key| hex(*key))),
        };
        Ok(Self {
            file: file_name(segment.path()),
            table,
            block: block.number,
            page: block.page,
            offset: block.offset,
            bytes: block.length,
            kind: block.kind.to_string(),
            low_width,
            count: block.count,
            rank: block.rank,
            first_key,
            last_key,
        })
    }

    /// The kind, with its packed bits.
    pub(crate) fn kind_for_people(&self) -> String {
        self.low_width.map_or(self.kind.clone(), |bits| format!("{} (low {bits} bits)", self.kind))
    }
}

pub(crate) fn run(path: &Path, table: usize, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    for segment in segments(path)? {
        let blocks = segment.blocks(table)?;
        if !json {
            // Columns of fixed width: a table may have millions of blocks, and none of them is kept.
            writeln!(out, "{}, table {table}", segment.path().display())?;
            writeln!(
                out,
                "{:>9} {:>8} {:>12} {:>6} {:>6}  {:<16}  {:<16}  kind",
                "block", "page", "offset", "bytes", "count", "first key", "last key"
            )?;
        }
        for block in blocks {
            let row = BlockRow::new(&segment, table, &block?)?;
            if json {
                report::json(out, &Versioned::new(row))?;
            } else {
                line(&row, out)?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn line(row: &BlockRow, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{:>9} {:>8} {:>12} {:>6} {:>6}  {:<16}  {:<16}  {}",
        row.block,
        row.page,
        row.offset,
        row.bytes,
        row.count,
        row.first_key.as_deref().unwrap_or("-"),
        row.last_key.as_deref().unwrap_or("-"),
        row.kind_for_people(),
    )
}
