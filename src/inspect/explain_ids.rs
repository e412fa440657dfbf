//! Every byte of the ids of a segment, field by field.

use crate::error::Result;
use crate::fingerprint::IdKind;
use crate::format::fields::Fields;
use crate::format::footer::{Footer, Span};
use crate::format::id_page::{self, IdPage};
use crate::format::page::{Stream, checksum};
use crate::format::{CHECKSUM, id_index, text_index};
use crate::inspect::traced::{Visit, traced};
use crate::segment::SegmentFile;

/// Visits pages or frames, their index, and the dictionary.
pub(super) fn explain(file: &SegmentFile, footer: &Footer, visit: &mut Visit<'_>) -> Result<()> {
    match footer.parameters.ids() {
        IdKind::Number | IdKind::None => numbers(file, footer, visit),
        IdKind::Text => texts(file, footer, visit),
    }
}

fn numbers(file: &SegmentFile, footer: &Footer, visit: &mut Visit<'_>) -> Result<()> {
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

/// Frames are compressed: each is one field.
fn texts(file: &SegmentFile, footer: &Footer, visit: &mut Visit<'_>) -> Result<()> {
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

/// Bytes and their checksum.
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
