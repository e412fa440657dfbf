//! Writes tables as Parquet files: fingerprints of 64 bits and numeric ids as UINT_64, wider fingerprints as bytes of
//! fixed length, most significant first, text ids as UTF-8. The input format of the same name reads these files.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use arrow_array::{ArrayRef, FixedSizeBinaryArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::file::File;
use super::rows::{Column, Kind, Rows};

/// Rows of a group, which is in memory until it is full.
const GROUP: usize = 1 << 18;

/// A Parquet file that is being written.
pub(super) struct Writer {
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
    name: String,
}

impl Writer {
    pub(super) fn new(file: File, columns: &[Column], width: u32, texts: &[bool]) -> anyhow::Result<Self> {
        let bytes = i32::try_from(width / 8).unwrap_or(i32::MAX);
        let mut texts = texts.iter().copied();
        let field = |column: &Column| {
            let data_type = match column.kind {
                Kind::Fingerprint if width > 64 => DataType::FixedSizeBinary(bytes),
                Kind::Id if texts.next() == Some(true) => DataType::Utf8,
                Kind::Text => DataType::Utf8,
                Kind::Real => DataType::Float64,
                _ => DataType::UInt64,
            };
            Field::new(column.name, data_type, column.kind == Kind::Real)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP))
            .build();
        let name = file.name();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).with_context(|| name.clone())?;
        Ok(Self { schema, writer, name })
    }

    pub(super) fn write(&mut self, rows: &Rows) -> anyhow::Result<()> {
        if rows.count() == 0 {
            return Ok(());
        }
        let columns = self.schema.fields().len();
        let array = |(number, field): (usize, &Arc<Field>)| -> anyhow::Result<ArrayRef> {
            let cells = rows.cells(number, columns);
            Ok(match field.data_type() {
                DataType::FixedSizeBinary(_) => Arc::new(FixedSizeBinaryArray::try_from_iter(cells)?),
                DataType::Utf8 => {
                    let texts = cells.map(std::str::from_utf8).collect::<Result<Vec<&str>, _>>()?;
                    Arc::new(StringArray::from(texts))
                }
                DataType::Float64 => {
                    let real = |cell: &[u8]| Some(f64::from_bits(u64::from_be_bytes(cell.try_into().ok()?)));
                    Arc::new(Float64Array::from(cells.map(real).collect::<Vec<Option<f64>>>()))
                }
                _ => {
                    let number =
                        |cell: &[u8]| cell.try_into().map(u64::from_be_bytes).map_err(|_| anyhow!("not a number"));
                    Arc::new(UInt64Array::from(cells.map(number).collect::<Result<Vec<u64>, _>>()?))
                }
            })
        };
        let arrays: Vec<ArrayRef> = self.schema.fields().iter().enumerate().map(array).collect::<Result<_, _>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays)?;
        self.writer.write(&batch).with_context(|| self.name.clone())
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        let name = self.name;
        self.writer.into_inner().context(name)?.finish()
    }
}
