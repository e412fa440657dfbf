//! The footer of a segment file: its parameters, its counts, and the places of its sections (format-spec/segment.md).

use super::fields::Fields;
use super::page::PageLayout;
use super::parameters::Parameters;
use super::{header, id_page};
use crate::error::{Error, Result};
use crate::fingerprint::IdKind;
use crate::format::CHECKSUM;
use crate::plan::TableForm;

const MAGIC: &[u8; 8] = b"fpsegend";
/// Size of the trailer after the footer: its length, the checksum of both, the magic bytes.
pub(crate) const TRAILER: usize = 4 + CHECKSUM + 8;
/// Longest footer: 256 tables and the fixed fields. Bounds the read if the length is damaged.
const MAX_LENGTH: u64 = 64 * 1024;
/// Sections of pages may begin at a multiple of this.
pub(crate) const ALIGNMENT: u64 = 4096;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl Span {
    pub(crate) fn end(self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableSections {
    pub(crate) data: Span,
    pub(crate) codes: Span,
    pub(crate) index: Span,
    pub(crate) blocks: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) parameters: Parameters,
    /// Number of (fingerprint, id) pairs.
    pub(crate) records: u64,
    /// Number of distinct fingerprints, which every table holds once.
    pub(crate) fingerprints: u64,
    /// XXH64 (seed 0) of all bytes of the file before the footer. It tells segments apart; a CRC-32 cannot, because it
    /// is constant over bytes followed by their own CRC-32.
    pub(crate) content_hash: u64,
    /// One entry for each table, in the order of the design.
    pub(crate) tables: Vec<TableSections>,
    pub(crate) ids: Span,
    /// How many fingerprints begin in each page or frame of ids.
    pub(crate) id_index: Span,
    /// The compression dictionary of text ids; empty for other ids.
    pub(crate) id_dictionary: Span,
    /// The sketches of the run's records; a section of segments of keys only.
    pub(crate) sketches: Option<Span>,
}

impl Footer {
    /// A footer without tables and sections.
    pub(crate) fn new(parameters: Parameters) -> Self {
        let (ids, id_index, id_dictionary) = Default::default();
        let sketches = parameters.keys().map(|_| Span::default());
        let (records, fingerprints, content_hash, tables) = (0, 0, 0, Vec::new());
        Self { parameters, records, fingerprints, content_hash, tables, ids, id_index, id_dictionary, sketches }
    }

    /// All sections in file order, named.
    pub(crate) fn sections(&self) -> Vec<(String, Span)> {
        let mut sections = Vec::new();
        for (number, table) in self.tables.iter().enumerate() {
            for (part, span) in [("data", table.data), ("codes", table.codes), ("index", table.index)] {
                sections.push((format!("table {number} {part}"), span));
            }
        }
        sections.push(("ids".to_owned(), self.ids));
        sections.push(("id index".to_owned(), self.id_index));
        sections.push(("id dictionary".to_owned(), self.id_dictionary));
        sections.extend(self.sketches.map(|span| ("sketches".to_owned(), span)));
        sections
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.parameters.write(&mut out);
        out.extend_from_slice(&self.records.to_le_bytes());
        out.extend_from_slice(&self.fingerprints.to_le_bytes());
        out.extend_from_slice(&self.content_hash.to_le_bytes());
        for table in &self.tables {
            out.extend_from_slice(&table.blocks.to_le_bytes());
        }
        for (_, span) in self.sections() {
            out.extend_from_slice(&span.offset.to_le_bytes());
            out.extend_from_slice(&span.length.to_le_bytes());
        }
        let length = u32::try_from(out.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&length.to_le_bytes());
        super::fields::seal(&mut out);
        out.extend_from_slice(MAGIC);
        out
    }

    /// Where the footer of a file of `file_length` bytes begins, and its checksum, from the file's last
    /// [`TRAILER`] bytes.
    pub(crate) fn locate(trailer: &[u8], file_length: u64) -> Result<(Span, u32)> {
        let mut fields = Fields::new(trailer, file_length.saturating_sub(TRAILER as u64));
        let length = u64::from(fields.u32("footer length")?);
        let checksum = fields.u32("checksum")?;
        fields.magic(MAGIC)?;
        let most = file_length.saturating_sub((TRAILER + header::SIZE) as u64);
        if length > most.min(MAX_LENGTH) {
            return Err(Error::damaged(format!("a footer of {length} bytes does not fit the file"))
                .at_offset(file_length.saturating_sub(TRAILER as u64)));
        }
        let offset = file_length - TRAILER as u64 - length;
        Ok((Span { offset, length: length + TRAILER as u64 }, checksum))
    }

    /// Where footer and trailer stand in a file of this length with these parameters; `None` if the file is too short.
    pub(crate) fn expected(parameters: &Parameters, file_length: u64) -> Option<Span> {
        let mut footer = Self::new(parameters.clone());
        footer.tables.resize_with(parameters.design().table_count(), TableSections::default);
        let length = footer.write().len() as u64;
        let offset = file_length.checked_sub(length)?;
        Some(Span { offset, length })
    }

    /// Replaces the trailer by the one that belongs to this checksum. The footer then parses only if it was written
    /// with it.
    pub(crate) fn set_trailer(bytes: &mut Vec<u8>, checksum: u32) {
        bytes.truncate(bytes.len().saturating_sub(TRAILER));
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes.extend_from_slice(MAGIC);
    }

    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        let start = fields.offset();
        fields.check_seal(MAGIC.len())?;
        let mut footer = Self::new(Parameters::parse(fields)?);
        (footer.records, footer.fingerprints) = (fields.u64("records")?, fields.u64("fingerprints")?);
        footer.content_hash = fields.hash("content hash")?;
        footer.tables.resize_with(footer.parameters.design().table_count(), TableSections::default);
        for (number, table) in footer.tables.iter_mut().enumerate() {
            table.blocks = fields.u64(&format!("table {number} blocks"))?;
        }
        let mut spans = Vec::new();
        for (name, _) in footer.sections() {
            let offset = fields.u64(&format!("{name} offset"))?;
            spans.push(Span { offset, length: fields.u64(&format!("{name} length"))? });
        }
        let mut next = spans.iter().copied();
        for table in &mut footer.tables {
            for span in [&mut table.data, &mut table.codes, &mut table.index] {
                *span = next.next().unwrap_or_default();
            }
        }
        footer.ids = next.next().unwrap_or_default();
        footer.id_index = next.next().unwrap_or_default();
        footer.id_dictionary = next.next().unwrap_or_default();
        footer.sketches = footer.sketches.and_then(|_| next.next());
        fields.u32("footer length")?;
        fields.checksum()?;
        fields.magic(MAGIC)?;
        fields.end()?;
        footer.check(&spans, start).map_err(|error| error.at_offset(start))?;
        Ok(footer)
    }

    /// Checks that the places of the sections and the counts agree.
    fn check(&self, spans: &[Span], footer_offset: u64) -> Result<()> {
        if end_of(spans)? != footer_offset {
            return Err(Error::damaged("the footer does not follow the last section"));
        }
        // Readers load the descriptions of blocks and ids into memory: there must be pages for them.
        let pages = |span: Span, size: usize| span.length.div_ceil(size as u64);
        let blocks_fit = |(number, table): (usize, &TableSections)| {
            let page = self.page_layout(number);
            table.blocks.div_ceil(page.blocks as u64) == pages(table.data, page.size)
        };
        let id_pages = pages(self.ids, id_page::SIZE).saturating_mul(id_page::MAX_RECORDS as u64);
        let ids_fit = match self.parameters.ids() {
            IdKind::Number => self.records <= id_pages,
            IdKind::None => self.fingerprints <= id_pages,
            // Their index counts them.
            IdKind::Text => true,
        };
        if self.parameters.ids() != IdKind::Text && self.id_dictionary.length > 0 {
            return Err(Error::damaged("a dictionary for ids that are no texts"));
        }
        let has_sketches = self.parameters.keys().is_some_and(|keys| keys.sketch_bits() > 0);
        if !has_sketches && self.sketches.is_some_and(|span| span.length > 0) {
            return Err(Error::damaged("sketches of records that have none"));
        }
        if !ids_fit || !self.tables.iter().enumerate().all(blocks_fit) {
            return Err(Error::damaged("the footer's counts do not fit its sections"));
        }
        let crowded = self.tables.iter().any(|table| table.blocks > self.fingerprints);
        let absent = self.tables.iter().any(|table| (table.blocks == 0) != (self.fingerprints == 0));
        let empty = (self.records == 0) != (self.fingerprints == 0);
        if self.fingerprints > self.records || crowded || absent || empty {
            return Err(Error::damaged("the footer's counts contradict each other"));
        }
        Ok(())
    }

    pub(crate) fn form(&self, table: usize, leading: u32) -> TableForm {
        TableForm::new(self.parameters.width(), table, leading, self.fingerprints)
    }

    pub(crate) fn page_layout(&self, table: usize) -> PageLayout {
        PageLayout::of_table(&self.parameters, table)
    }

    pub(crate) fn content_end(&self) -> u64 {
        self.sketches.unwrap_or(self.id_dictionary).end()
    }

    /// The padding between sections, which must be zero.
    pub(crate) fn padding(&self) -> Vec<Span> {
        let mut end = header::SIZE as u64;
        let mut gaps = Vec::new();
        for (_, span) in self.sections() {
            gaps.push(Span { offset: end, length: span.offset.saturating_sub(end) });
            end = span.end();
        }
        gaps.retain(|gap| gap.length > 0);
        gaps
    }
}

/// The widest design fits the longest footer.
const _: () = assert!(16 + 1024 + 4 + 16 + 24 + 256 * (8 + 48) + 48 <= MAX_LENGTH as usize);

/// Where the last of these consecutive sections ends. Sections follow one another without overlap. Only a section of
/// pages (every third one) may begin after padding, at the next multiple of a page's size.
pub(super) fn end_of(spans: &[Span]) -> Result<u64> {
    let mut end = header::SIZE as u64;
    for (number, span) in spans.iter().enumerate() {
        let has_pages = number % 3 == 0;
        let aligned = has_pages && Some(span.offset) == end.checked_next_multiple_of(ALIGNMENT);
        if (span.offset != end && !aligned) || span.offset.checked_add(span.length).is_none() {
            return Err(Error::damaged("sections overlap or leave a gap"));
        }
        end = span.end();
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::KeyFormat;
    use crate::plan::Design;

    fn sample() -> Footer {
        let mut at = header::SIZE as u64;
        let mut span = |length| {
            let span = Span { offset: at, length };
            at += length;
            span
        };
        let parameters = Parameters::new(3).with_block_size(512).with_design(Design::Choose { chosen: 2, parts: 5 });
        let tables = (0..10)
            .map(|_| TableSections { data: span(5000), codes: span(300), index: span(99), blocks: 10 })
            .collect();
        let (ids, id_index, id_dictionary) = (span(7000), span(10), span(0));
        let (records, fingerprints, content_hash) = (1200, 1000, 7);
        let sketches = None;
        Footer { parameters, records, fingerprints, content_hash, tables, ids, id_index, id_dictionary, sketches }
    }

    #[test]
    fn round_trip() {
        let footer = sample();
        let bytes = footer.write();
        let file_length = footer.id_index.end() + bytes.len() as u64;
        let (span, checksum) = Footer::locate(&bytes[bytes.len() - TRAILER..], file_length).unwrap();
        assert_eq!(span, Span { offset: footer.id_index.end(), length: bytes.len() as u64 });
        assert_eq!(Footer::expected(&footer.parameters, file_length), Some(span));
        let mut mended = bytes.clone();
        mended[bytes.len() - TRAILER..].fill(0);
        Footer::set_trailer(&mut mended, checksum);
        assert_eq!(mended, bytes);
        let mut fields = Fields::new(&bytes, span.offset).traced();
        assert_eq!(Footer::parse(&mut fields).unwrap(), footer);
        assert_eq!(fields.into_trace().iter().map(|field| field.bytes.len()).sum::<usize>(), bytes.len());
    }

    #[test]
    fn without_sketches_their_section_has_no_bytes() {
        let sizes = [(64, 0), (0, 0), (64, 40), (0, 40)];
        let parsed = sizes.map(|(bits, length)| {
            let parameters = Parameters::of_keys(KeyFormat::default().with_sketch(bits, 1)).with_ids(IdKind::Number);
            let mut footer = Footer::new(parameters);
            let mut at = header::SIZE as u64;
            let mut span = |length| {
                at += length;
                Span { offset: at - length, length }
            };
            footer.tables = vec![TableSections { data: span(40), codes: span(6), index: span(23), blocks: 1 }];
            (footer.ids, footer.id_index, footer.id_dictionary) = (span(30), span(6), span(0));
            footer.sketches = Some(span(length));
            (footer.records, footer.fingerprints) = (7, 5);
            Footer::parse(&mut Fields::new(&footer.write(), at)).is_ok()
        });
        assert_eq!(parsed, [true, true, true, false]);
    }
}
