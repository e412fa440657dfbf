//! Writes sketches as Parquet files, a row for each document.
//!
//! | column | type |
//! |---|---|
//! | `fingerprint` | UINT_64 up to 64 bits, else bytes of fixed length, most significant first |
//! | `terms` | text: hexadecimal digits |
//! | `keys` | list of UINT_64 |
//! | `id` | UINT_64, or text if the first id is a text; null if the document has none |

use std::sync::Arc;

use anyhow::{Context, bail};
use arrow_array::builder::{ListBuilder, UInt64Builder};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::HEADER_KEY;
use super::sketch::{Kind, Sketch};
use crate::documents::{DocumentId, Fault, FaultKind};
use crate::input::Header;
use crate::output::File;

/// Bytes of rows that are collected before they are encoded.
const GATHERED: usize = 1 << 20;
/// Bytes of a row group, which is in memory until it is full.
const GROUP: usize = 8 << 20;

/// A Parquet file that is being written.
pub(super) struct Writer {
    name: String,
    kind: Kind,
    header: String,
    rows: Vec<(DocumentId, Sketch)>,
    gathered: usize,
    /// Whether ids are texts; `None` before the first id.
    texts: Option<bool>,
    to: To,
}

/// The types of the columns are known from the first rows on.
enum To {
    Waiting(Option<File>),
    Open { writer: Box<ArrowWriter<File>>, schema: Arc<Schema> },
}

impl Writer {
    pub(super) fn new(file: File, kind: Kind, header: &Header) -> anyhow::Result<Self> {
        let (name, header) = (file.name(), header.to_string());
        Ok(Self { name, kind, header, rows: Vec::new(), gathered: 0, texts: None, to: To::Waiting(Some(file)) })
    }

    /// Checks that the id has the type of the column, which the first id determines. A number is accepted among texts.
    pub(super) fn check(&mut self, id: &DocumentId) -> Result<(), Fault> {
        let texts = match id {
            DocumentId::None => return Ok(()),
            DocumentId::Number(_) => false,
            DocumentId::Text(_) => true,
        };
        // A file whose first rows had no ids has a column of numbers.
        let begun = matches!(self.to, To::Open { .. });
        let column = *self.texts.get_or_insert(texts && !begun);
        if texts && !column {
            let message = "the id is a text, those before it are numbers or missing, and a column of Parquet has one \
                           type; \
                           write .tsv or .ndjson";
            return Err(Fault::new(FaultKind::Id, message));
        }
        Ok(())
    }

    pub(super) fn push(&mut self, id: DocumentId, sketch: Sketch) -> anyhow::Result<()> {
        let text = if let DocumentId::Text(text) = &id { text.len() } else { 0 };
        self.gathered += sketch.bytes() + size_of::<DocumentId>() + text;
        self.rows.push((id, sketch));
        if self.gathered >= GATHERED { self.encode() } else { Ok(()) }
    }

    /// Encodes the collected rows.
    fn encode(&mut self) -> anyhow::Result<()> {
        self.gathered = 0;
        let rows = std::mem::take(&mut self.rows);
        let texts = self.texts == Some(true);
        let (writer, schema) = self.open(texts)?;
        if rows.is_empty() {
            return Ok(());
        }
        let ids = ids(&rows, texts);
        let sketches: ArrayRef = match schema.field(0).data_type() {
            DataType::FixedSizeBinary(_) => {
                Arc::new(FixedSizeBinaryArray::try_from_iter(rows.iter().map(|(_, sketch)| sketch.cell()))?)
            }
            DataType::Utf8 => {
                let texts = rows.iter().map(|(_, sketch)| String::from_utf8(sketch.cell()));
                Arc::new(StringArray::from(texts.collect::<Result<Vec<String>, _>>()?))
            }
            DataType::List(item) => {
                let mut lists = ListBuilder::new(UInt64Builder::new()).with_field(Arc::clone(item));
                for (_, sketch) in &rows {
                    let keys = if let Sketch::Keys(keys) = sketch { keys.as_slice() } else { &[] };
                    lists.values().append_slice(keys);
                    lists.append(true);
                }
                Arc::new(lists.finish())
            }
            _ => Arc::new(rows.iter().map(|(_, sketch)| number(sketch)).collect::<UInt64Array>()),
        };
        let batch = RecordBatch::try_new(Arc::clone(schema), vec![sketches, ids])?;
        writer.write(&batch)?;
        if writer.memory_size() >= GROUP {
            writer.flush()?;
        }
        Ok(())
    }

    /// Opens the writer, with ids that are texts or numbers.
    fn open(&mut self, texts: bool) -> anyhow::Result<(&mut ArrowWriter<File>, &Arc<Schema>)> {
        if let To::Waiting(file) = &mut self.to {
            let schema = Arc::new(schema(self.kind, texts));
            let properties =
                WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
            let file = file.take().context("the file is gone")?;
            let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))?;
            writer.append_key_value_metadata(KeyValue::new(HEADER_KEY.to_owned(), self.header.clone()));
            self.to = To::Open { writer: Box::new(writer), schema };
        }
        match &mut self.to {
            To::Open { writer, schema } => Ok((writer, schema)),
            To::Waiting(_) => bail!("the file is gone"),
        }
    }

    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        self.encode().with_context(|| self.name.clone())?;
        match self.to {
            To::Open { writer, .. } => writer.into_inner().context(self.name)?.finish(),
            To::Waiting(_) => Ok(()),
        }
    }
}

fn schema(kind: Kind, texts: bool) -> Schema {
    let sketches = match kind {
        Kind::Bits(..=64) => Field::new("fingerprint", DataType::UInt64, false),
        Kind::Bits(bits) => {
            let bytes = i32::try_from(bits.div_ceil(8)).unwrap_or(i32::MAX);
            Field::new("fingerprint", DataType::FixedSizeBinary(bytes), false)
        }
        Kind::Terms => Field::new("terms", DataType::Utf8, false),
        Kind::Keys => Field::new_list("keys", Field::new("element", DataType::UInt64, false), false),
    };
    Schema::new(vec![sketches, Field::new("id", if texts { DataType::Utf8 } else { DataType::UInt64 }, true)])
}

/// Returns the column of ids.
fn ids(rows: &[(DocumentId, Sketch)], texts: bool) -> ArrayRef {
    let ids = rows.iter().map(|(id, _)| id);
    if texts {
        let text = |id: &DocumentId| match id {
            DocumentId::None => None,
            DocumentId::Number(number) => Some(number.to_string()),
            DocumentId::Text(text) => Some(text.clone()),
        };
        return Arc::new(ids.map(text).collect::<StringArray>());
    }
    let number = |id: &DocumentId| if let DocumentId::Number(number) = id { Some(*number) } else { None };
    Arc::new(ids.map(number).collect::<UInt64Array>())
}

/// Returns a fingerprint of up to 64 bits.
fn number(sketch: &Sketch) -> Option<u64> {
    let cell = sketch.cell();
    Some(cell.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
