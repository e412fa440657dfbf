//! Entry points of the fuzz targets (fuzz/), compiled for cargo-fuzz only. They call the decoders and decide nothing.

use crate::codec::{
    BlockBuffer, BlockKind, BlockShape, Codec, Codes, FlipsCode, decode_block, encode_block, fill_block, train,
};
use crate::env::{Env, Memory, ReadMode};
use crate::error::{Error, Result};
use crate::fingerprint::IdKind;
use crate::format::fields::{Field, Fields};
use crate::format::footer::{Footer, Span, TableSections};
use crate::format::id_page::IdPage;
use crate::format::index::{self, IndexCodec, IndexShape};
use crate::format::log::LogHeader;
use crate::format::manifest::ManifestData;
use crate::format::page::{self, PageLayout, Stream};
use crate::format::text_frame::TextFrame;
use crate::format::{Parameters, codes, header, id_index, text_index};
use crate::plan::TableForm;
use crate::segment::{IdScratch, IdVerifier, Ids, Scratch, SegmentFile, Table};
use crate::wal::LogReader;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The codes of a table.
#[derive(Clone, Debug)]
pub struct TableCodes(Codes);

impl TableCodes {
    /// Reads a section, with its checksum.
    pub fn parse(section: &[u8], codec: Codec, table: u8) -> Result<Self> {
        codes::parse(&mut Fields::new(section, 0), codec, table).map(Self)
    }

    /// Reads a flips code alone.
    pub fn parse_flips(bytes: &[u8]) -> Result<Self> {
        FlipsCode::parse(bytes).map(|flips| Self(Codes::Adaptive { flips: Some(flips) }))
    }

    /// A code without flips.
    #[must_use]
    pub fn none() -> Self {
        Self(Codes::Adaptive { flips: None })
    }

    /// The code for some keys.
    #[must_use]
    pub fn train(codec: Codec, keys: &[u64]) -> Self {
        Self(train(codec, keys))
    }

    /// The section.
    #[must_use]
    pub fn write(&self, table: u8) -> Vec<u8> {
        codes::write(&self.0, table)
    }

    /// The next block of some keys: its kind, how many keys it takes, its bytes.
    #[must_use]
    pub fn encode(&self, base: u64, keys: &[u64], budget: usize) -> (u8, usize, Vec<u8>) {
        let (kind, count) = fill_block(&self.0, base, keys, budget);
        let mut bytes = Vec::new();
        encode_block(&self.0, kind, base, keys.get(..count).unwrap_or_default(), &mut bytes);
        (kind.number(), count, bytes)
    }
}

/// A block's entry in the index.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The number of its kind.
    pub kind: u8,
    /// The least key that it may hold.
    pub base: u64,
    /// Its last key.
    pub last: u64,
    /// Number of keys.
    pub count: usize,
    /// Number of bytes.
    pub length: usize,
}

/// Decodes blocks, with memory that is used again.
#[derive(Debug, Default)]
pub struct Decoder(BlockBuffer);

impl Decoder {
    /// The keys of a block; `None` if there is no such kind.
    pub fn block(&mut self, codes: &TableCodes, bytes: &[u8], shape: Shape) -> Option<Result<&[u64]>> {
        let Shape { kind, base, last, count, length } = shape;
        let shape = BlockShape { kind: BlockKind::from_number(kind)?, base, last, count };
        Some(decode_block(&codes.0, bytes, length, shape, &mut self.0))
    }
}

/// Opens a page; streams 0 to 5 are those of [`Stream`].
pub fn page(page: &[u8], stream: u8, table: u8, number: u64) -> Result<&[u8]> {
    let stream = match stream {
        0 => Stream::Data(table),
        1 => Stream::Codes(table),
        2 => Stream::Index(table),
        3 => Stream::Ids,
        4 => Stream::IdIndex,
        _ => Stream::IdDictionary,
    };
    page::open(page, stream, number)
}

/// A block in an index: key, count, length and kind.
pub type Entry = (u64, u16, u16, u8);

/// The blocks of the index section of a table.
pub fn index(section: &[u8], blocks: u64, parameters: &Parameters, table: u8) -> Result<Vec<Entry>> {
    let layout = PageLayout::of_table(parameters, table.into());
    let codec = IndexCodec::of_table(parameters, table.into());
    let mut entries = Vec::new();
    index::parse(&mut Fields::new(section, 0), IndexShape { blocks, layout, codec, table }, |entry| {
        entries.push((entry.key, entry.count, entry.length, entry.kind.number()));
    })?;
    Ok(entries)
}

/// Checks that a text may be an id.
pub fn check_text(text: &str) -> Result<()> {
    crate::fingerprint::check_text(text)
}

/// Reads a header.
pub fn header(bytes: &[u8]) -> Result<()> {
    header::parse(&mut Fields::new(bytes, 0)).and(if bytes.len() == header::SIZE {
        Ok(())
    } else {
        Err(Error::damaged("more than a header"))
    })
}

/// Returns the offset of a file's footer, and its length with the trailer.
pub fn locate_footer(trailer: &[u8], file_length: u64) -> Result<(u64, u64)> {
    Footer::locate(trailer, file_length).map(|(span, _)| (span.offset, span.length))
}

/// Reads footer and trailer, and writes them again.
pub fn footer(bytes: &[u8], offset: u64) -> Result<Vec<u8>> {
    Footer::parse(&mut Fields::new(bytes, offset)).map(|footer| footer.write())
}

/// Returns the traced fields of the same bytes, sound or not.
#[must_use]
pub fn footer_fields(bytes: &[u8], offset: u64) -> Vec<Field> {
    let mut fields = Fields::new(bytes, offset).traced();
    let _ = Footer::parse(&mut fields);
    fields.into_trace()
}

/// Reads a manifest, and writes it again.
pub fn manifest(bytes: &[u8]) -> Result<Vec<u8>> {
    ManifestData::parse(&mut Fields::new(bytes, 0)).map(|manifest| manifest.write())
}

/// Returns the traced fields of the same bytes, sound or not.
#[must_use]
pub fn manifest_fields(bytes: &[u8]) -> Vec<Field> {
    let mut fields = Fields::new(bytes, 0).traced();
    let _ = ManifestData::parse(&mut fields);
    fields.into_trace()
}

/// Reads the header of a log, and writes it again.
pub fn log_header(bytes: &[u8]) -> Result<Vec<u8>> {
    LogHeader::parse(&mut Fields::new(bytes, 0)).map(|header| header.write())
}

/// Returns the offsets of the frames of a log that hold, those after damaged ones included.
pub fn log_frames(bytes: &[u8]) -> Result<Vec<u64>> {
    let (env, path) = (Memory::default(), Path::new("fuzzed"));
    env.set_bytes(path, bytes.to_vec());
    Ok(LogReader::open_file(&env, path)?.scan()?.into_iter().map(|frame| frame.offset).collect())
}

/// Reads the payload of a page of ids as a verifier does: which records begin a fingerprint, and the ids.
pub fn id_page(payload: &[u8], last: bool) -> Result<(Vec<bool>, Vec<u64>)> {
    let page = IdPage::parse(&mut Fields::new(payload, 0))?;
    page.check(last)?;
    let mut all = (Vec::new(), Vec::new());
    _ = page.visit_all(|begins, id| {
        all.0.push(begins);
        all.1.push(id);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// Reads the ids of single fingerprints of a page of which nothing was verified.
pub fn single_ids(payload: &[u8]) -> Result<Vec<Vec<u64>>> {
    let page = IdPage::parse(&mut Fields::new(payload, 0))?;
    let again = IdPage::parsed(payload).ok_or_else(|| Error::damaged("not parsed again"))?;
    let ids_of = |part| {
        let mut ids = Vec::new();
        _ = again.visit(part, |id| {
            ids.push(id);
            ControlFlow::Continue(())
        })?;
        Ok(ids)
    };
    (0..page.begun().min(100)).filter_map(|nth| again.part(nth)).map(ids_of).collect()
}

/// Reads the id index of numbers: ranks.
pub fn id_index(section: &[u8], pages: u64) -> Result<Vec<u64>> {
    let begun = id_index::parse(&mut Fields::new(section, 0), pages)?;
    let mut rank = 0;
    let ranks = begun.into_iter().map(|begun| {
        rank += u64::from(begun);
        rank
    });
    Ok(std::iter::once(0).chain(ranks).collect())
}

/// Records of a frame of text ids: whether they begin a fingerprint, and the text.
pub type Texts = Vec<(bool, String)>;

/// Reads the payload of a frame, and writes it again.
pub fn text_payload(payload: &[u8]) -> Result<(Texts, Vec<u8>)> {
    let (mut frame, mut again) = (TextFrame::default(), Vec::new());
    frame.parse(payload)?;
    frame.write(&mut again);
    let record = |record| (frame.begins(record), frame.text(record).to_owned());
    Ok(((0..frame.records()).map(record).collect(), again))
}

/// Reads the index of text ids: lengths and fingerprints begun.
pub fn text_index(section: &[u8], length: u64) -> Result<Vec<(u16, u16)>> {
    let mut entries = Vec::new();
    text_index::parse(&mut Fields::new(section, 0), length, |entry| entries.push((entry.length, entry.begun)))?;
    Ok(entries)
}

/// Three adjacent sections from the beginning of a file, by their lengths.
fn spans(lengths: [u64; 3]) -> [Span; 3] {
    let mut offset = 0u64;
    lengths.map(|length| {
        let span = Span { offset, length };
        offset = offset.saturating_add(length);
        span
    })
}

fn file(bytes: &[u8], mode: ReadMode) -> Result<Arc<SegmentFile>> {
    let (env, path) = (Memory::default(), Path::new("fuzzed"));
    env.set_bytes(path, bytes.to_vec());
    let file = env.open(path, mode).map_err(|error| Error::io("cannot open", path, error))?;
    Ok(Arc::new(SegmentFile::new(path, file)))
}

/// Verifies the three sections of text ids (ids, index, dictionary) and reads all records.
pub fn text_ids(bytes: &[u8], lengths: [u64; 3], mode: ReadMode) -> Result<Texts> {
    let reader = Ids::of_sections(&file(bytes, mode)?, IdKind::Text, spans(lengths))?;
    let (mut scratch, mut verifier, mut texts) = (IdScratch::default(), IdVerifier::default(), Vec::new());
    for number in 0..reader.unit_count() {
        verifier.check(&reader, number)?;
        reader.unit(number, &mut scratch, |begins, id| texts.push((begins, id.to_string())))?;
    }
    Ok(texts)
}

/// The ids of some fingerprints of the same, of which nothing was verified.
pub fn single_text_ids(bytes: &[u8], lengths: [u64; 3], ranks: &[u64]) -> Result<Vec<Vec<Box<str>>>> {
    let reader = Ids::of_sections(&file(bytes, ReadMode::Mmap)?, IdKind::Text, spans(lengths))?;
    let mut scratch = IdScratch::default();
    let of = |&rank: &u64| {
        let mut ids = Vec::new();
        reader.ids_of(rank, &mut scratch, |id| ids.push(id.to_string().into())).map(|()| ids)
    };
    ranks.iter().map(of).collect()
}

/// Opens table `number` (adjacent data, codes and index) of a segment of this many fingerprints, and decodes all
/// blocks: the keys, filled up with zeros to 64 bits, or the leading 64 bits of rows.
pub fn table(
    bytes: &[u8],
    lengths: [u64; 3],
    blocks: u64,
    fingerprints: u64,
    parameters: &Parameters,
    number: u8,
    mode: ReadMode,
) -> Result<Vec<Vec<u64>>> {
    let [data, codes, index] = spans(lengths);
    let layouts = parameters.design().tables(parameters.width())?;
    let layout = layouts.get(usize::from(number)).ok_or_else(|| Error::invalid("no such table"))?.clone();
    let form = TableForm::new(parameters.width(), number.into(), layout.leading, fingerprints);
    let sections = TableSections { data, codes, index, blocks };
    let table = Table::open(&file(bytes, mode)?, number, &sections, layout, parameters, form)?;
    let mut scratch = Scratch::default();
    (0..table.index().len()).map(|block| table.heads(block, &mut scratch).map(<[u64]>::to_vec)).collect()
}
