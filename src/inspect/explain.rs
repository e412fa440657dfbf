//! Every byte of a file, field by field.

use crate::codec::BlockKind;
use crate::env::ReadMode;
use crate::error::{Error, Result};
use crate::fingerprint::IdKind;
use crate::format::fields::{Field, Fields};
use crate::format::filters::{self, FiltersHead};
use crate::format::footer::{Footer, Span, TableSections};
use crate::format::id_page::{self, IdPage};
use crate::format::index::{self, IndexCodec, IndexShape, rows_per_page};
use crate::format::log::{FRAME_HEADER, FrameHeader, LogHeader, parse_operations};
use crate::format::manifest::ManifestData;
use crate::format::page::{MIN_SIZE, Stream, checksum};
use crate::format::{CHECKSUM, KeyFormat, codes, header, id_index, text_index};
use crate::inspect::logs::{is_log, logs};
use crate::options::Options;
use crate::segment::{SegmentFile, filters_path, is_filters, read_footer, segment_name};
use crate::version::manifest;
use crate::wal::LogReader;
use std::path::{Path, PathBuf};

type Visit<'a> = dyn FnMut(Field) -> Result<()> + 'a;

/// Runs a parser with a trace and visits what it read, also when it fails.
fn traced(
    bytes: &[u8],
    offset: u64,
    parse: impl FnOnce(&mut Fields<'_>) -> Result<()>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut fields = Fields::new(bytes, offset).traced();
    let result = parse(&mut fields);
    fields.into_trace().into_iter().try_for_each(visit)?;
    result
}

/// Calls `visit` with every field of a segment file, a log, a manifest, a file of filters, or of all files of a store,
/// in file order. Large runs of packed bits are one field each.
///
/// # Errors
/// `NotFound`, `Io`; the first damage, after all fields before it were visited; those of `visit`.
pub fn explain(
    path: impl AsRef<Path>,
    options: &Options,
    visit: &mut dyn FnMut(&Path, Field) -> Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    let env = &*options.env;
    if env.list(path).is_ok() {
        let state = manifest::read(env, path)?;
        explain(path.join(manifest::NAME), options, visit)?;
        let segments = state.segments().map(|segment| path.join(segment_name(segment.number)));
        let with_filters = |segment: PathBuf| [segment.clone(), filters_path(&segment)];
        let is_there = |file: &PathBuf| !is_filters(file) || env.open(file, ReadMode::Pread).is_ok();
        let segments = segments.flat_map(with_filters).filter(is_there);
        return segments.chain(logs(path, options)?).try_for_each(|file| explain(file, options, visit));
    }
    if path.file_name().is_some_and(|name| name == manifest::NAME) {
        let bytes = manifest::read_bytes(env, path.parent().unwrap_or(Path::new("")))?;
        return traced(&bytes, 0, |fields| ManifestData::parse(fields).map(|_| ()), &mut |field| visit(path, field))
            .map_err(|error| error.at_path(path));
    }
    if is_log(path) {
        return explain_log(path, options, &mut |field| visit(path, field)).map_err(|error| error.at_path(path));
    }
    let file = env.open(path, options.read_mode).map_err(|error| Error::io("cannot open", path, error))?;
    let file = SegmentFile::new(path, file);
    if is_filters(path) {
        return explain_filters(&file, &mut |field| visit(path, field)).map_err(|error| error.at_path(path));
    }
    explain_segment(&file, &mut |field| visit(path, field)).map_err(|error| error.at_path(path))
}

fn explain_segment(file: &SegmentFile, visit: &mut Visit<'_>) -> Result<()> {
    let mut buffer = Vec::new();
    let head = Span { offset: 0, length: header::SIZE as u64 };
    traced(file.read(head, &mut buffer)?, 0, header::parse, visit)?;
    let (footer, _) = read_footer(file)?;
    let mut padding = footer.padding().into_iter().peekable();
    let mut at = head.end();
    let mut pad = |until: u64, at: u64, visit: &mut Visit<'_>| {
        if let Some(gap) = padding.next_if(|gap| gap.offset == at && gap.end() == until) {
            let bytes = file.read(gap, &mut buffer)?.to_vec();
            visit(Field { offset: gap.offset, bytes, name: "padding".to_owned(), value: String::new() })?;
        }
        Ok::<(), Error>(())
    };
    for (number, sections) in (0..=u8::MAX).zip(&footer.tables) {
        pad(sections.data.offset, at, visit)?;
        explain_table(file, &footer, number, sections, visit)?;
        at = sections.index.end();
    }
    pad(footer.ids.offset, at, visit)?;
    match footer.parameters.ids() {
        IdKind::Number | IdKind::None => explain_id_pages(file, &footer, visit)?,
        IdKind::Text => explain_texts(file, &footer, visit)?,
    }
    if let Some(sketches) = footer.sketches {
        pad(sketches.offset, footer.id_dictionary.end(), visit)?;
        explain_sketches(file, &footer, sketches, visit)?;
    }
    let mut buffer = Vec::new();
    let end = footer.content_end();
    let tail = Span { offset: end, length: file.length() - end };
    let bytes = file.read(tail, &mut buffer)?;
    traced(bytes, tail.offset, |fields| Footer::parse(fields).map(|_| ()), visit)
}

/// The words of a filter are several fields.
fn explain_filters(file: &SegmentFile, visit: &mut Visit<'_>) -> Result<()> {
    let mut buffer = Vec::new();
    let mut span = Span { offset: 0, length: filters::FIXED as u64 };
    span.length = FiltersHead::length(file.read(span, &mut buffer)?);
    let mut head = None;
    let parse = |fields: &mut Fields<'_>| FiltersHead::parse(fields, file.length()).map(|parsed| head = Some(parsed));
    traced(file.read(span, &mut buffer)?, 0, parse, visit)?;
    for (filter, span) in head.iter().flat_map(FiltersHead::places) {
        let name = format!("table {} words", filter.table);
        file.visit(span, |offset, bytes| {
            visit(Field { offset, bytes: bytes.to_vec(), name: name.clone(), value: String::new() })
        })?;
    }
    Ok(())
}

/// The blocks of a table by the index, then codes and index themselves.
fn explain_table(
    file: &SegmentFile,
    footer: &Footer,
    number: u8,
    sections: &TableSections,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let layout = footer.page_layout(number.into());
    let (mut data, mut buffer) = (Vec::new(), Vec::new());
    let mut entries = Vec::new();
    let index_bytes = file.read(sections.index, &mut buffer)?.to_vec();
    let mut fields = Fields::new(&index_bytes, sections.index.offset);
    let codec = IndexCodec::of_table(&footer.parameters, number.into());
    let shape = IndexShape { blocks: sections.blocks, layout, codec, table: number };
    index::parse(&mut fields, shape, |entry| entries.push(entry))?;
    let pages = entries.chunks(layout.blocks).zip(0u64..);
    for (blocks, page) in pages {
        let start = page * layout.size as u64;
        let length = (layout.size as u64).min(sections.data.length.saturating_sub(start));
        let place = Span { offset: sections.data.offset + start, length };
        let bytes = file.read(place, &mut data)?;
        let mut fields = Fields::new(bytes, place.offset).traced();
        for (entry, slot) in blocks.iter().zip(0u64..) {
            let block = page * layout.blocks as u64 + slot;
            let kind = match entry.kind {
                BlockKind::Gap { low_width } => format!("gap with {low_width} low bits"),
                kind => kind.to_string(),
            };
            let what = format!("{kind}, {} keys, the last {:016x} in the index", entry.count, entry.key);
            fields.bytes(&format!("table {number} block {block}"), entry.length.into(), &what)?;
        }
        close_page(&mut fields, Stream::Data(number), page)?;
        fields.into_trace().into_iter().try_for_each(&mut *visit)?;
    }
    let codec = codec.of_codes();
    let bytes = file.read(sections.codes, &mut buffer)?;
    traced(bytes, sections.codes.offset, |fields| codes::parse(fields, codec, number).map(|_| ()), visit)?;
    let parse = |fields: &mut Fields<'_>| index::parse(fields, shape, |_| {});
    traced(&index_bytes, sections.index.offset, parse, visit)
}

fn close_page(fields: &mut Fields<'_>, stream: Stream, page: u64) -> Result<()> {
    let padding = fields.remaining().saturating_sub(CHECKSUM);
    if padding > 0 {
        fields.bytes("padding", padding, &"")?;
    }
    let expected = checksum(stream, page, fields.taken());
    fields.checksum_of(expected)
}

fn explain_id_pages(file: &SegmentFile, footer: &Footer, visit: &mut Visit<'_>) -> Result<()> {
    let mut buffer = Vec::new();
    let pages = footer.ids.length.div_ceil(id_page::SIZE as u64);
    for page in 0..pages {
        let start = page * id_page::SIZE as u64;
        let length = (id_page::SIZE as u64).min(footer.ids.length - start);
        let place = Span { offset: footer.ids.offset + start, length };
        let bytes = file.read(place, &mut buffer)?;
        let (payload, closing) = bytes.split_at(bytes.len().saturating_sub(CHECKSUM));
        traced(payload, place.offset, |fields| IdPage::parse(fields).map(|_| ()), visit)?;
        let expected = checksum(Stream::Ids, page, payload);
        traced(closing, place.offset + payload.len() as u64, |fields| fields.checksum_of(expected), visit)?;
    }
    let bytes = file.read(footer.id_index, &mut buffer)?;
    traced(bytes, footer.id_index.offset, |fields| id_index::parse(fields, pages).map(|_| ()), visit)
}

/// The frames of text ids, their index and the dictionary. Frames are compressed: each is one field.
fn explain_texts(file: &SegmentFile, footer: &Footer, visit: &mut Visit<'_>) -> Result<()> {
    let (mut buffer, mut frames) = (Vec::new(), Vec::new());
    let index = file.read(footer.id_index, &mut buffer)?.to_vec();
    let mut fields = Fields::new(&index, footer.id_index.offset);
    text_index::parse(&mut fields, footer.ids.length, |frame| frames.push(frame))?;
    let mut offset = footer.ids.offset;
    for (frame, number) in frames.iter().zip(0..) {
        let span = Span { offset, length: frame.length.into() };
        let what = format!("compressed; {} fingerprints begin", frame.begun);
        sealed(file, span, (Stream::Ids, number), &format!("frame {number}"), &what, visit)?;
        offset = span.end();
    }
    let parse = |fields: &mut Fields<'_>| text_index::parse(fields, footer.ids.length, |_| {});
    traced(&index, footer.id_index.offset, parse, visit)?;
    if footer.id_dictionary.length > 0 {
        sealed(file, footer.id_dictionary, (Stream::IdDictionary, 0), "dictionary", "compressed", visit)?;
    }
    Ok(())
}

/// The sketches, page by page, each with the rank of its record.
fn explain_sketches(file: &SegmentFile, footer: &Footer, span: Span, visit: &mut Visit<'_>) -> Result<()> {
    let size = footer.parameters.keys().map_or(0, KeyFormat::sketch_bytes).max(1);
    let (in_page, page_size, mut buffer) = (rows_per_page(size) as u64, MIN_SIZE as u64, Vec::new());
    for page in 0..span.length.div_ceil(page_size) {
        let start = page * page_size;
        let place = Span { offset: span.offset + start, length: page_size.min(span.length - start) };
        let parse = |fields: &mut Fields<'_>| {
            for rank in page * in_page..(page + 1) * in_page {
                if fields.remaining() >= size + CHECKSUM {
                    fields.bytes(&format!("sketch of record {rank}"), size, &"")?;
                }
            }
            close_page(fields, Stream::Sketches, page)
        };
        traced(file.read(place, &mut buffer)?, place.offset, parse, visit)?;
    }
    Ok(())
}

fn sealed(
    file: &SegmentFile,
    span: Span,
    (stream, number): (Stream, u64),
    name: &str,
    what: &str,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut buffer = Vec::new();
    let bytes = file.read(span, &mut buffer)?;
    let expected = checksum(stream, number, bytes.get(..bytes.len().saturating_sub(CHECKSUM)).unwrap_or_default());
    let parse = |fields: &mut Fields<'_>| {
        fields.bytes(name, fields.remaining().saturating_sub(CHECKSUM), &what)?;
        fields.checksum_of(expected)
    };
    traced(bytes, span.offset, parse, visit)
}

/// Bytes of a field without structure.
const PIECE: u64 = 1 << 20;

/// All fields of a log. Frames that do not hold are fields of torn bytes.
fn explain_log(path: &Path, options: &Options, visit: &mut Visit<'_>) -> Result<()> {
    let env = &*options.env;
    let mut reader = LogReader::open_file(env, path)?;
    let file = env.open(path, ReadMode::Pread).map_err(|error| Error::io("cannot open", path, error))?;
    let bytes_of = |from: u64, to: u64| -> Result<Vec<u8>> {
        let mut buffer = Vec::new();
        let length = usize::try_from(to - from).unwrap_or(usize::MAX);
        let bytes = file.read(from, length, &mut buffer).map_err(|error| Error::io("cannot read", path, error))?;
        Ok(bytes.to_vec())
    };
    let start = reader.position();
    traced(&bytes_of(0, start)?, 0, |fields| LogHeader::parse(fields).map(|_| ()), visit)?;
    let parameters = reader.header().parameters.clone();
    let no_frame = |at| Error::damaged("there is no frame that holds").at_path(path).at_offset(at);
    loop {
        let at = reader.position();
        let Some((header, _)) = reader.next_bytes()? else { break };
        let bytes = bytes_of(at, reader.position())?;
        let end = FRAME_HEADER + header.length as usize;
        let (frame, padding) = bytes.split_at_checked(end).ok_or_else(|| no_frame(at))?;
        let (front, operations) = frame.split_at_checked(FRAME_HEADER).ok_or_else(|| no_frame(at))?;
        traced(front, at, |fields| FrameHeader::parse(fields).map(|_| ()), visit)?;
        let (words, ids) = (parameters.words(), parameters.ids());
        let parse = |fields: &mut Fields<'_>| parse_operations(fields, words, ids).map(|_| ());
        traced(operations, at + FRAME_HEADER as u64, parse, visit)?;
        if !padding.is_empty() {
            let (name, value) = ("padding".to_owned(), String::new());
            visit(Field { offset: at + end as u64, bytes: padding.to_vec(), name, value })?;
        }
    }
    let (end, length) = (reader.position(), reader.length());
    let torn = reader.torn_bytes()?;
    for (name, from, to) in [("torn", end, end + torn), ("room", end + torn, length)] {
        let mut at = from;
        while at < to {
            let next = (at + PIECE).min(to);
            let (name, value) = (name.to_owned(), String::new());
            visit(Field { offset: at, bytes: bytes_of(at, next)?, name, value })?;
            at = next;
        }
    }
    Ok(())
}
