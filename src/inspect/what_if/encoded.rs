//! Encoding tables in memory, several at a time, and measuring them.

use super::keys::{Keys, WIDTH, bits_of};
use crate::codec::Codec;
use crate::env::{Env, Memory, ReadMode};
use crate::error::{Error, Result};
use crate::format::footer::{Span, TableSections};
use crate::format::{Parameters, codes, index};
use crate::inspect::segment_view::SegmentView;
use crate::plan::{TableForm, TableLayout};
use crate::segment::{SegmentFile, Table, TableEncoder};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Keys of the tables that are encoded at the same time. Each takes some fourteen bytes, encoded ones included.
const KEYS_AT_ONCE: usize = 1 << 26;

/// The tables of several stores. A table that several designs share is encoded once.
pub(super) struct Tables {
    /// All distinct layouts, each with its distinct encodings.
    layouts: Vec<(TableLayout, Vec<Encoding>)>,
    /// For each store, the number of the layout and the encoding of each table.
    of_stores: Vec<Vec<(usize, Encoding)>>,
}

#[derive(Clone, Copy, PartialEq)]
struct Encoding {
    codec: Codec,
    block_size: u32,
    /// Number of the last bits that are left out of keys of a key index.
    dropped: u32,
}

impl Tables {
    /// The tables of stores whose keys have at most `bits` bits.
    pub(super) fn of(parameters: &[Parameters], bits: u32) -> Result<Self> {
        let mut layouts: Vec<(TableLayout, Vec<Encoding>)> = Vec::new();
        let mut of_stores = Vec::new();
        for parameters in parameters {
            let dropped = bits.checked_sub(bits_of(parameters)).ok_or_else(|| {
                Error::invalid(format!("keys of {} bits: the index has the first {bits} only", bits_of(parameters)))
                    .with_remedy("name no more bits than it has")
            })?;
            let encoding = Encoding { codec: parameters.codec(), block_size: parameters.block_size(), dropped };
            let mut tables = Vec::new();
            for layout in parameters.design().tables(WIDTH)? {
                let known = layouts.iter().position(|(other, _)| other.permutation == layout.permutation);
                tables.push((known.unwrap_or(layouts.len()), encoding));
                match known.and_then(|number| layouts.get_mut(number)) {
                    Some((_, encodings)) if encodings.contains(&encoding) => {}
                    Some((_, encodings)) => encodings.push(encoding),
                    None => layouts.push((layout, vec![encoding])),
                }
            }
            of_stores.push(tables);
        }
        Ok(Self { layouts, of_stores })
    }

    /// Encodes all tables of a segment, as many at a time as the memory allows. Returns the sizes of each store's
    /// tables.
    pub(super) fn encode(&self, segment: &SegmentView, keys: &Keys<'_>) -> Result<Vec<Vec<Encoded>>> {
        let lanes = rayon::current_num_threads().min(KEYS_AT_ONCE / keys.encoded().max(1)).max(1);
        let mut encoded = Vec::new();
        for together in self.layouts.chunks(lanes) {
            let done = together.par_iter().map(|(layout, encodings)| {
                let of_table = keys.of_table(&layout.permutation)?;
                let sizes = |encoding: &Encoding| {
                    let sizes = encoding.encode(segment, layout, &of_table, keys.fingerprints())?;
                    Ok((*encoding, sizes))
                };
                encodings.iter().map(sizes).collect::<Result<Vec<_>>>()
            });
            encoded.append(&mut done.collect::<Result<Vec<_>>>()?);
        }
        let find = |(layout, encoding): &(usize, Encoding)| {
            encoded.get(*layout)?.iter().find(|(other, _)| other == encoding).map(|&(_, sizes)| sizes)
        };
        Ok(self.of_stores.iter().map(|tables| tables.iter().filter_map(find).collect()).collect())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Encoded {
    /// Distinct keys.
    pub(super) keys: u64,
    pub(super) blocks: u64,
    pub(super) data_bytes: u64,
    pub(super) index_bytes: u64,
    pub(super) code_bytes: u64,
    pub(super) resident_bytes: u64,
    /// Whether the sizes are scaled up.
    pub(super) estimated: bool,
}

impl Encoding {
    /// The keys without the bits that are left out, each once.
    fn shorter<'a>(&self, keys: &'a [u64]) -> Cow<'a, [u64]> {
        if self.dropped == 0 {
            return Cow::Borrowed(keys);
        }
        let mut shorter: Vec<u64> = keys.iter().map(|key| key >> self.dropped).collect();
        shorter.dedup();
        Cow::Owned(shorter)
    }

    /// Encodes keys of a table of `all` keys and opens it as a reader does, without the pages, which opening does not
    /// read. Only checksums depend on the number of a table, so it is 0.
    fn encode(self, segment: &SegmentView, layout: &TableLayout, keys: &[u64], all: u64) -> Result<Encoded> {
        let shorter = self.shorter(keys);
        let (encoded, keys) = (keys.len() as u64, &*shorter);
        let parameters = Parameters::default().with_codec(self.codec).with_block_size(self.block_size);
        let mut encoder = TableEncoder::new(&parameters, 0, keys);
        encoder.push(keys);
        let (pages, table) = encoder.finish();
        let data_bytes = pages.len() as u64;
        drop(pages);
        let code_section = codes::write(&table.codes, 0);
        let index_section = index::write(&table.index, table.codec, 0);
        let codes = Span { offset: 0, length: code_section.len() as u64 };
        let index = Span { offset: codes.length, length: index_section.len() as u64 };
        let data = Span { offset: index.end(), length: data_bytes };
        let sections = TableSections { data, codes, index, blocks: table.index.len() as u64 };
        let (memory, path) = (Memory::default(), Path::new("(in memory)"));
        memory.set_bytes(path, [code_section, index_section].concat());
        let mode = if segment.segment.file().is_stable() { ReadMode::Mmap } else { ReadMode::Pread };
        let file = memory.open(path, mode).map_err(|error| Error::io("cannot open", path, error))?;
        let open = Table::open(
            &Arc::new(SegmentFile::new(path, file)),
            0,
            &sections,
            layout.clone(),
            &parameters,
            TableForm::Full,
        )?;
        let scaled = |size: u64| match encoded {
            0 => size,
            _ => u64::try_from(u128::from(size) * u128::from(all) / u128::from(encoded)).unwrap_or(u64::MAX),
        };
        // Coarse when scaled: every chunk of an index takes 256 bytes for searching, however few its blocks.
        let code_memory = table.codes.resident_bytes();
        Ok(Encoded {
            keys: scaled(keys.len() as u64),
            blocks: scaled(sections.blocks),
            data_bytes: scaled(data.length),
            index_bytes: scaled(index.length),
            code_bytes: codes.length,
            resident_bytes: scaled(open.resident_bytes().saturating_sub(code_memory)) + code_memory,
            estimated: encoded != all,
        })
    }
}
