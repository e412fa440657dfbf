//! Cuts the documents of one input out of it, one after another, on one thread; other threads do the rest of the work.

use std::io::Read;
use std::sync::Arc;

use anyhow::anyhow;

use super::content::Columns;
use super::fault::too_long;
use super::item::{Item, Location, Raw};
use super::parquet::Rows;
use super::recognised::Recognised;
use super::{DOCUMENT_LIMIT, DocumentFormat, DocumentId, DocumentOptions, Fault, FaultKind};
use crate::input::csv::{GivenUp, Rows as CsvRows, Table};
use crate::input::ids::text;
use crate::input::lines::Lines;
use crate::input::reader::warn_of_none;
use crate::input::source::Opened;
use crate::input::values::Values;
use crate::input::window::{Window, reading};
use crate::input::{Place, Source};
use crate::progress::Progress;

/// The documents of one input, in order.
#[derive(Debug)]
pub(super) struct Reader {
    name: Arc<str>,
    stream: Stream,
    /// Whether there was a document, or the warning that there is none.
    any: bool,
    /// Whether it is read as one document but looks like records.
    doubtful: bool,
}

#[derive(Debug)]
enum Stream {
    Ndjson(Lines),
    Json(Values),
    Csv(Box<Table>),
    Parquet(Box<Rows>),
    /// The one document, until it is returned.
    File(Option<Raw>),
}

impl Reader {
    /// Opens an input and recognises its format. An input that is a single document is read.
    pub(super) fn open(source: &Source, options: &DocumentOptions, progress: &Progress) -> anyhow::Result<Self> {
        Self::of(Recognised::open(source, options, progress)?, options, progress)
    }

    /// Returns the documents of an input. One that is a single document is read.
    pub(super) fn of(found: Recognised, options: &DocumentOptions, progress: &Progress) -> anyhow::Result<Self> {
        let Recognised { source, bytes, format, doubtful } = found;
        let columns = options.columns();
        let stream = match format {
            DocumentFormat::Ndjson => Stream::ndjson(bytes.window),
            DocumentFormat::Json => Stream::Json(Values::new(bytes.window, DOCUMENT_LIMIT)),
            DocumentFormat::Csv | DocumentFormat::Tsv => {
                Stream::csv(bytes.window, options.delimiter_of(format), columns)
            }
            DocumentFormat::Parquet => {
                Stream::Parquet(Box::new(Rows::open(&source, bytes, &columns, options.temp_dir.as_deref(), progress)?))
            }
            DocumentFormat::File => Stream::File(Some(file(&source, bytes)?)),
        };
        Ok(Self { name: source.name().into(), stream, any: false, doubtful })
    }

    /// Names of all columns of a table, read first if need be; none for other formats.
    pub(super) fn names(&mut self) -> anyhow::Result<Vec<Box<[u8]>>> {
        let Stream::Csv(table) = &mut self.stream else { return Ok(Vec::new()) };
        let names = table.all_names().map(<[_]>::to_vec);
        names.map_err(|message| anyhow!("{}: {message}", self.here()))
    }

    /// All cells of the row of a table that [`Self::next_item`] came to last; none for other formats.
    pub(super) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        let table = if let Stream::Csv(table) = &self.stream { Some(table) } else { None };
        table.into_iter().flat_map(|table| table.cells())
    }

    /// Name of the input if it is one document.
    pub(super) fn whole(&self) -> Option<&str> {
        matches!(self.stream, Stream::File(_)).then_some(&*self.name)
    }

    /// Name of the input if it is one document but looks like records of JSON.
    pub(super) fn doubtful(&self) -> Option<&str> {
        self.doubtful.then_some(&*self.name)
    }

    /// Returns the next document or its fault, with this number, or `None` at the end of the input. After an error,
    /// which names the place, nothing more can be read.
    pub(super) fn next_item(&mut self, number: u64) -> anyhow::Result<Option<Item>> {
        match self.stream.next_raw() {
            Ok(None) => {
                warn_of_none(&self.name, &mut self.any);
                Ok(None)
            }
            Ok(Some(raw)) => {
                self.any = true;
                Ok(Some(Item { place: self.here(), raw, number }))
            }
            Err(message) => Err(anyhow!("{}: {message}", self.here())),
        }
    }

    /// Most memory that pages have taken, in bytes and approximately; 0 for formats without pages.
    pub(super) fn page_memory(&self) -> u64 {
        if let Stream::Parquet(rows) = &self.stream { rows.page_memory() } else { 0 }
    }

    /// The place of the document that [`Self::next_item`] returned last, or failed on.
    fn here(&self) -> Location {
        let (unit, number) = match &self.stream {
            Stream::Ndjson(lines) => ("line", lines.number()),
            Stream::Json(values) => ("line", values.number()),
            Stream::Csv(table) => ("line", table.line()),
            Stream::Parquet(rows) => ("record", rows.number()),
            Stream::File(_) => return Location::Whole(Arc::clone(&self.name)),
        };
        Location::At(Place { input: Arc::clone(&self.name), unit, number })
    }
}

impl Stream {
    fn ndjson(window: Window) -> Self {
        Self::Ndjson(Lines::new(window, DOCUMENT_LIMIT))
    }

    fn csv(window: Window, delimiter: u8, columns: Columns) -> Self {
        let rows = CsvRows::new(window, delimiter, DOCUMENT_LIMIT);
        Self::Csv(Box::new(Table::new(rows, columns.selection, false)))
    }

    fn next_raw(&mut self) -> Result<Option<Raw>, String> {
        match self {
            Self::Ndjson(lines) => match lines.next_record() {
                Ok(more) => Ok(more.then(|| Raw::Object(lines.line().to_vec()))),
                Err(message) if lines.is_too_long() => Ok(Some(Raw::Bad(Fault::new(FaultKind::TooLong, message)))),
                Err(message) => Err(message),
            },
            Self::Json(values) => match values.next_record() {
                Ok(more) => Ok(more.then(|| Raw::Object(values.value().to_vec()))),
                Err(message) if values.is_too_long() => Ok(Some(Raw::Bad(Fault::new(FaultKind::TooLong, message)))),
                Err(message) => Err(message),
            },
            Self::Csv(table) => match table.next_record() {
                Ok(more) => Ok(more.then(|| row(table).unwrap_or_else(Raw::Bad))),
                Err(message) => match table.given_up() {
                    Some(GivenUp::TooLong) => Ok(Some(Raw::Bad(Fault::new(FaultKind::TooLong, message)))),
                    Some(GivenUp::Malformed) => Ok(Some(Raw::Bad(Fault::new(FaultKind::Malformed, message)))),
                    None => Err(message),
                },
            },
            Self::Parquet(rows) => rows.next_raw(),
            Self::File(file) => Ok(file.take()),
        }
    }
}

/// Returns the document of a row of CSV.
fn row(table: &Table) -> Result<Raw, Fault> {
    let (text, id) = table.record().map_err(|message| Fault::new(FaultKind::Malformed, message))?;
    let id = DocumentId::untyped(id).map_err(|message| Fault::new(FaultKind::Id, message))?;
    Ok(Raw::Cells(id, text.to_vec()))
}

/// Reads a file that is one document. The path, as it was given, is the id.
fn file(source: &Source, Opened { window, plain }: Opened) -> anyhow::Result<Raw> {
    let name = source.name();
    let id = match source {
        Source::Standard => "-".to_owned(),
        Source::File(path) => {
            let id = path.to_str().ok_or_else(|| "it is not UTF-8; rename it".to_owned());
            match id.and_then(|id| text(id.as_bytes())) {
                Ok(id) => id.to_owned(),
                Err(message) => {
                    let message = format!("the path is the id, but {message}");
                    return Ok(Raw::Bad(Fault::new(FaultKind::Id, message)));
                }
            }
        }
    };
    // If the file has grown since, reading reports it.
    let length = plain.and_then(|path| usize::try_from(path.metadata().ok()?.len()).ok()).unwrap_or(0);
    let mut bytes = Vec::with_capacity(length.min(DOCUMENT_LIMIT) + 1);
    let read = window.into_read().take(DOCUMENT_LIMIT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| anyhow!("{name}: {}", reading(&error)))?;
    if bytes.len() > DOCUMENT_LIMIT {
        return Ok(Raw::Bad(too_long()));
    }
    Ok(Raw::File(DocumentId::Text(id), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::ToldBy;
    use std::io;

    /// Reads to the first error.
    fn error(mut stream: Stream) -> String {
        loop {
            match stream.next_raw() {
                Ok(Some(Raw::Bad(fault))) => return fault.to_string(),
                Ok(raw) => assert!(raw.is_some()),
                Err(error) => return error,
            }
        }
    }

    fn window(head: &'static str, rest: u8) -> Window {
        Window::new(Box::new(head.as_bytes().chain(io::repeat(rest))))
    }

    #[test]
    fn documents_without_an_end_are_refused() {
        let columns = || DocumentOptions::default().columns();
        assert_eq!(error(Stream::ndjson(window("{}\n", b'x'))), "the line is longer than 64 MiB");
        let quote = error(Stream::csv(window("text\na\n\"", b'x'), b',', columns()));
        assert_eq!(quote, "the row is longer than 64 MiB; is a quote not closed?");
        assert_eq!(error(Stream::csv(window("text\n", b','), b',', columns())), "the row has more than 2097152 cells");
    }

    #[test]
    fn files_without_an_end_are_refused() {
        let zeros = Source::File("/dev/zero".into());
        if zeros.length().is_ok() {
            let bytes = zeros.bytes(&Progress::hidden(), ToldBy::Content).unwrap();
            let Raw::Bad(fault) = file(&zeros, bytes).unwrap() else { panic!("read") };
            assert_eq!(fault.to_string(), "the document is longer than 64 MiB");
        }
    }
}
