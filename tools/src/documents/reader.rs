//! The documents of one input, cut out one after another by one thread; the rest of the work on them is done elsewhere.

use std::io::Read;
use std::sync::Arc;

use anyhow::anyhow;

use super::content::Columns;
use super::item::{Item, Location, Raw};
use super::parquet::Rows;
use super::{DOCUMENT_LIMIT, DocumentFormat, DocumentId, DocumentOptions};
use crate::input::csv::Table;
use crate::input::ids::text;
use crate::input::lines::Lines;
use crate::input::reader::reading;
use crate::input::window::Window;
use crate::input::{Place, Source};
use crate::progress::Progress;

/// The documents of one input, in order.
#[derive(Debug)]
pub(super) struct Reader {
    name: Arc<str>,
    stream: Stream,
}

#[derive(Debug)]
enum Stream {
    Ndjson(Lines),
    Csv(Box<Table>),
    Parquet(Box<Rows>),
    /// The one document, until it is given.
    File(Option<Raw>),
}

impl Reader {
    /// Opens an input; one that is a single document is read.
    pub(super) fn open(
        source: &Source,
        format: DocumentFormat,
        options: &DocumentOptions,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let columns = options.columns();
        let window = || source.open(progress).map(Window::new);
        let stream = match format {
            DocumentFormat::Ndjson => Stream::ndjson(window()?),
            DocumentFormat::Csv => Stream::csv(window()?, columns),
            DocumentFormat::Parquet => {
                Stream::Parquet(Box::new(Rows::open(source, &columns, options.temp_dir.as_deref(), progress)?))
            }
            DocumentFormat::File => Stream::File(Some(file(source, progress)?)),
        };
        Ok(Self { name: source.name().into(), stream })
    }

    /// The next document, or `None` at the end of the input; an error names the place.
    pub(super) fn next_item(&mut self) -> anyhow::Result<Option<Item>> {
        match self.stream.next_raw() {
            Ok(None) => Ok(None),
            Ok(Some(raw)) => Ok(Some(Item { place: self.here(), raw })),
            Err(message) => Err(anyhow!("{}: {message}", self.here())),
        }
    }

    /// Where the document stands that [`Self::next_item`] gave last, or failed on.
    fn here(&self) -> Location {
        let (unit, number) = match &self.stream {
            Stream::Ndjson(lines) => ("line", lines.number()),
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

    fn csv(window: Window, columns: Columns) -> Self {
        Self::Csv(Box::new(Table::new(window, columns.selection, false, DOCUMENT_LIMIT)))
    }

    fn next_raw(&mut self) -> Result<Option<Raw>, String> {
        match self {
            Self::Ndjson(lines) => Ok(lines.next_record()?.then(|| Raw::Object(lines.line().to_vec()))),
            Self::Csv(table) => {
                if !table.next_record()? {
                    return Ok(None);
                }
                let (text, id) = table.record()?;
                Ok(Some(Raw::Cells(DocumentId::untyped(id)?, text.to_vec())))
            }
            Self::Parquet(rows) => rows.next_raw(),
            Self::File(file) => Ok(file.take()),
        }
    }
}

/// Reads a file that is one document. The path, as it was given, is the id.
fn file(source: &Source, progress: &Progress) -> anyhow::Result<Raw> {
    let name = source.name();
    let id = match source {
        Source::Standard => "-".to_owned(),
        Source::File(path) => {
            let id = path.to_str().ok_or_else(|| anyhow!("{name}: the path is the id, and it is not UTF-8; rename it"));
            let id = id?;
            text(id.as_bytes()).map_err(|message| anyhow!("{name}: the path is the id, but {message}"))?;
            id.to_owned()
        }
    };
    // Where it is longer by now, reading says so.
    let length = source.plain_length()?.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let mut bytes = Vec::with_capacity(length.min(DOCUMENT_LIMIT) + 1);
    let stream = source.open(progress)?;
    let read = stream.take(DOCUMENT_LIMIT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| anyhow!("{name}: {}", reading(&error)))?;
    if bytes.len() > DOCUMENT_LIMIT {
        return Err(anyhow!("{name}: {}", too_long()));
    }
    Ok(Raw::File(DocumentId::Text(id), bytes))
}

/// What a document is refused with whose end is not read.
pub(super) fn too_long() -> String {
    format!("the document is longer than {} MiB", DOCUMENT_LIMIT >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    /// Reads to the first error.
    fn error(mut stream: Stream) -> String {
        loop {
            match stream.next_raw() {
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
        let quote = error(Stream::csv(window("text\na\n\"", b'x'), columns()));
        assert_eq!(quote, "the row is longer than 64 MiB; is a quote not closed?");
        assert_eq!(error(Stream::csv(window("text\n", b','), columns())), "the row has more than 2097152 cells");
    }

    #[test]
    fn files_without_an_end_are_refused() {
        let zeros = Source::File("/dev/zero".into());
        if zeros.length().is_ok() {
            let error = file(&zeros, &Progress::hidden()).unwrap_err().to_string();
            assert_eq!(error, "/dev/zero: the document is longer than 64 MiB");
        }
    }
}
