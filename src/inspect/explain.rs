//! Every byte of a file, field by field.

use super::{BlockKind, explain_ids, explain_log};
use crate::error::{Error, Result};
use crate::format::fields::{Field, Fields};
use crate::format::footer::{Footer, Span, TableSections};
use crate::format::index::{self, IndexCodec, IndexShape};
use crate::format::manifest::ManifestData;
use crate::format::page::{Stream, checksum};
use crate::format::{CHECKSUM, codes, header};
use crate::inspect::traced::{Visit, traced};
use crate::options::Options;
use crate::segment::{SegmentFile, name as bulk, read_footer};
use crate::version::manifest;
use std::path::Path;

/// Calls `visit` with every field of a segment file, a manifest, or of all files of a store, in file order. Large runs
/// of packed bits are one field each.
///
/// # Errors
/// `NotFound`, `Io`, or the first damage after all fields before it were visited, or what `visit` returns.
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
        let names = state.segments().map(|segment| bulk::segment_name(segment.number)).collect::<Vec<_>>();
        let logs = super::logs(path, options)?;
        return names
            .into_iter()
            .map(|name| path.join(name))
            .chain(logs)
            .try_for_each(|file| explain(file, options, visit));
    }
    if path.file_name().is_some_and(|name| name == manifest::NAME) {
        let bytes = manifest::read_bytes(env, path.parent().unwrap_or(Path::new("")))?;
        return traced(&bytes, 0, |fields| ManifestData::parse(fields).map(|_| ()), &mut |field| visit(path, field))
            .map_err(|error| error.at_path(path));
    }
    if super::is_log(path) {
        return explain_log::explain(path, options, &mut |field| visit(path, field))
            .map_err(|error| error.at_path(path));
    }
    let file = env.open(path, options.read_mode).map_err(|error| Error::io("cannot open", path, error))?;
    let file = SegmentFile::new(path, file);
    explain_segment(&file, &mut |field| visit(path, field)).map_err(|error| error.at_path(path))
}

fn explain_segment(file: &SegmentFile, visit: &mut Visit<'_>) -> Result<()> {
    let mut buffer = Vec::new();
    let head = Span { offset: 0, length: header::SIZE as u64 };
    traced(file.read(head, &mut buffer)?, 0, header::parse, visit)?;
    let (footer, _) = read_footer(file)?;
    let mut padding = footer.padding().into_iter().peekable();
    let mut at = head.end();
    let mut pad = |until: u64, at: &mut u64, visit: &mut Visit<'_>| {
        if let Some(gap) = padding.next_if(|gap| gap.offset == *at && gap.end() == until) {
            let bytes = file.read(gap, &mut buffer)?.to_vec();
            visit(Field { offset: gap.offset, bytes, name: "padding".to_owned(), value: String::new() })?;
        }
        Ok::<(), Error>(())
    };
    for (number, sections) in (0..=u8::MAX).zip(&footer.tables) {
        pad(sections.data.offset, &mut at, visit)?;
        explain_table(file, &footer, number, sections, visit)?;
        at = sections.index.end();
    }
    pad(footer.ids.offset, &mut at, visit)?;
    explain_ids::explain(file, &footer, visit)?;
    let mut buffer = Vec::new();
    let end = footer.content_end();
    let tail = Span { offset: end, length: file.length() - end };
    let bytes = file.read(tail, &mut buffer)?;
    traced(bytes, tail.offset, |fields| Footer::parse(fields).map(|_| ()), visit)
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
