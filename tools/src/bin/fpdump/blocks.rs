//! `fpdump blocks`: the blocks of a table, one on each line.

use std::io::Write;
use std::path::Path;

use fpstore::inspect::{BlockKind, BlockView, SegmentRole, SegmentView};
use fpstore::{Result, U256};
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{hex, wide_hex};
use fpstore_tools::report::{self, FixedColumns};
use serde::Serialize;

use crate::opened::{Versioned, all_segments, file_name};

/// Description of a block without its keys.
#[derive(Serialize)]
pub(crate) struct BlockRow {
    pub(crate) file: String,
    pub(crate) table: usize,
    pub(crate) block: usize,
    pub(crate) page: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) kind: String,
    /// Packed bits of a gap, for kinds that have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) low_width: Option<u32>,
    pub(crate) count: usize,
    /// Number of fingerprints before the block in the table.
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

    fn cells(&self) -> [String; 8] {
        let key = |key: &Option<String>| key.clone().unwrap_or_else(|| "-".to_owned());
        [
            self.block.to_string(),
            self.page.to_string(),
            self.offset.to_string(),
            self.bytes.to_string(),
            self.count.to_string(),
            key(&self.first_key),
            key(&self.last_key),
            self.kind_for_people(),
        ]
    }

    /// Formats the kind, with its packed bits.
    pub(crate) fn kind_for_people(&self) -> String {
        self.low_width.map_or(self.kind.clone(), |bits| format!("{} (low {bits} bits)", self.kind))
    }
}

/// The columns for people, and their widths.
const HEADINGS: &[(&str, usize)] = &[
    (">block", 9),
    (">page", 8),
    (">offset", 12),
    (">bytes", 6),
    (">count", 6),
    ("first key", 16),
    ("last key", 16),
    ("kind", 0),
];

pub(crate) fn run(path: &Path, table: usize, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    // Of a key index, also those of keys.
    let has_blocks =
        |role: Option<SegmentRole>| role.is_none_or(|role| matches!(role, SegmentRole::Records | SegmentRole::Keys));
    for (_, segment) in all_segments(path)?.into_iter().filter(|(role, _)| has_blocks(*role)) {
        let blocks = segment.blocks(table)?;
        // A table may have millions of blocks, so none is kept.
        let columns = if json {
            None
        } else {
            writeln!(out, "{}, table {table}", segment.path().display())?;
            Some(FixedColumns::new(HEADINGS, out)?)
        };
        for block in blocks {
            let row = BlockRow::new(&segment, table, &block?)?;
            match &columns {
                Some(columns) => columns.row(row.cells(), out)?,
                None => report::json(out, &Versioned::new(row))?,
            }
        }
    }
    Ok(Outcome::Done)
}
